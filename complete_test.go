package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// completeRequest is a modern completion/complete. more are further members of params.
func completeRequest(ref, argument, value string, more ...string) string {
	params := append([]string{`"ref":` + ref, fmt.Sprintf(`"argument":{"name":%q,"value":%q}`, argument, value)}, more...)
	return modernRequest("1", "completion/complete", params...)
}

const (
	promptRef   = `{"type":"ref/prompt","name":"p"}`
	templateRef = `{"type":"ref/resource","uri":"t://{city}/{street}/{size}"}`
)

// completionServer completes the arguments of the prompt "p" and of a template.
func completionServer() *mcp.Server {
	s := mcp.NewServer("s", "1", nil)
	type args struct {
		City   string `json:"city"`
		Street string `json:"street,omitempty"`
		Size   string `json:"size,omitempty" jsonschema:"enum=Small,enum=medium,enum=SOME"`
		Level  int    `json:"level,omitempty" jsonschema:"enum=1,enum=10,enum=1000000"`
		Free   string `json:"free,omitempty"`
	}
	many := func(n int) mcp.CompleteFunc {
		return func(context.Context, string, map[string]string) ([]string, error) {
			values := make([]string, n)
			for i := range values {
				values[i] = fmt.Sprintf("v%d", n-i) // in no order that sorting would keep
			}
			return values, nil
		}
	}
	echo := func(_ context.Context, prefix string, args map[string]string) ([]string, error) {
		return []string{prefix, args["city"]}, nil
	}
	mcp.AddPrompt(s, "p", "", returning[args]("")).Complete("city", many(150)).Complete("street", echo)
	mcp.AddPrompt(s, "full", "", returning[args]("")).Complete("city", many(100)).
		Complete("street", func(context.Context, string, map[string]string) ([]string, error) { return nil, errors.New("no map") }).
		Complete("free", func(context.Context, string, map[string]string) ([]string, error) { panic(secret) })
	mcp.AddPrompt(s, "off", "", returning[args]("")).Complete("city", many(1)).Disabled()
	mcp.AddTemplate(s, "t://{city}/{street}/{size}", "t", returning[args]("")).Complete("city", many(101)).Complete("street", echo)
	mcp.AddText(s, "r://x", "x", "", "")
	mcp.AddFS(s, "docs:///", fstest.MapFS{"a": file("")})
	return s
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	s := completionServer()
	values := func(n, of int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"v%d"`, of-i))
		}
		return `{"values":[` + strings.Join(all, ",") + `]`
	}
	for _, tt := range []struct{ name, request, want string }{
		{"CMP-03 CMP-06 150 values", completeRequest(promptRef, "city", ""), values(100, 150) + `,"total":150,"hasMore":true}`},
		{"CMP-03 M25 101 values", completeRequest(templateRef, "city", ""), values(100, 101) + `,"total":101,"hasMore":true}`},
		{"CMP-03 100 values", completeRequest(`{"type":"ref/prompt","name":"full"}`, "city", ""), values(100, 100) + `}`},
		{"CMP-02 CMP-04 what was typed, and the other arguments", completeRequest(promptRef, "street", "Ma", `"context":{"arguments":{"city":"Paris"}}`), `{"values":["Ma","Paris"]}`},
		{"CMP-02 of a template", completeRequest(templateRef, "street", "Ma", `"context":{"arguments":{"city":"Rome"}}`), `{"values":["Ma","Rome"]}`},
		{"CMP-02 of a resource that a template describes", completeRequest(`{"type":"ref/resource","uri":"t://a/b/c"}`, "street", "x"), `{"values":["x",""]}`},
		{"CMP-04 no other arguments", completeRequest(promptRef, "street", "Ma", `"context":{}`), `{"values":["Ma",""]}`},
		{"M25 an enumeration", completeRequest(promptRef, "size", ""), `{"values":["Small","medium","SOME"]}`},
		{"M25 an enumeration, in whatever case", completeRequest(promptRef, "size", "s"), `{"values":["Small","SOME"]}`},
		{"M25 an enumeration of a template", completeRequest(templateRef, "size", "M"), `{"values":["medium"]}`},
		{"M25 an enumeration of numbers", completeRequest(promptRef, "level", "1"), `{"values":["1","10","1000000"]}`},
		{"M25 none", completeRequest(promptRef, "size", "x"), `{"values":[]}`},
		{"M25 an argument without suggestions", completeRequest(promptRef, "free", ""), `{"values":[]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := string(resultIn(t, ask(t, s, tt.request))["completion"]); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		name, request string
		code          mcp.Code
		part          string
	}{
		{"CMP-05 M25 an unknown prompt", completeRequest(`{"type":"ref/prompt","name":"q"}`, "a", ""), -32602, "Unknown prompt"},
		{"CMP-05 a disabled prompt", completeRequest(`{"type":"ref/prompt","name":"off"}`, "city", ""), -32602, "Unknown prompt"},
		{"CMP-05 an unknown template", completeRequest(`{"type":"ref/resource","uri":"u://{x}"}`, "x", ""), -32602, "not found"},
		{"CMP-05 an unknown argument", completeRequest(promptRef, "planet", ""), -32602, `"planet"`},
		{"CMP-05 of a resource, of which nothing varies", completeRequest(`{"type":"ref/resource","uri":"r://x"}`, "a", ""), -32602, "there is no argument"},
		{"CMP-05 of a file", completeRequest(`{"type":"ref/resource","uri":"docs:///a"}`, "a", ""), -32602, "there is no argument"},
		{"CMP-02 another type", completeRequest(`{"type":"ref/tool","name":"p"}`, "a", ""), -32602, "ref.type"},
		{"CMP-02 no type", completeRequest(`{}`, "a", ""), -32602, "ref.type"},
		{"CMP-05 no ref", modernRequest("1", "completion/complete", `"argument":{"name":"a","value":""}`), -32602, "ref"},
		{"CMP-05 no argument", modernRequest("1", "completion/complete", `"ref":`+promptRef), -32602, "argument"},
		{"CMP-05 no value", modernRequest("1", "completion/complete", `"ref":`+promptRef, `"argument":{"name":"city"}`), -32602, "argument"},
		{"CMP-05 a value that is no string", modernRequest("1", "completion/complete", `"ref":`+promptRef, `"argument":{"name":"city","value":1}`), -32602, "argument"},
		{"CMP-05 arguments that are no strings", completeRequest(promptRef, "street", "", `"context":{"arguments":{"city":1}}`), -32602, "values are strings"},
		{"CMP-05 an error", completeRequest(`{"type":"ref/prompt","name":"full"}`, "street", ""), -32603, "no map"},
		{"CMP-05 a panic", completeRequest(`{"type":"ref/prompt","name":"full"}`, "free", ""), -32603, "internal error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := ask(t, s, tt.request)
			if e := faultIn(t, answer); e.Code != tt.code || !strings.Contains(e.Message, tt.part) || strings.Contains(answer, secret) {
				t.Errorf("%s", answer)
			}
		})
	}
}

func TestCompletionOffered(t *testing.T) {
	t.Parallel()
	type city struct {
		City string `json:"city"`
	}
	type size struct {
		Size string `json:"size" jsonschema:"enum=S"`
	}
	for _, tt := range []struct {
		name    string
		add     func(s *mcp.Server)
		offered bool
	}{
		{"without any", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[city]("")) }, false},
		{"without any of a template", func(s *mcp.Server) { mcp.AddTemplate(s, "t://{city}", "t", returning[city]("")) }, false},
		{"with one of a prompt", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[city]("")).Complete("city", noValues) }, true},
		{"with one of a template", func(s *mcp.Server) {
			mcp.AddTemplate(s, "t://{city}", "t", returning[city]("")).Complete("city", noValues)
		}, true},
		{"with an enumeration", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[size]("")) }, true},
		{"with an enumeration of a template", func(s *mcp.Server) { mcp.AddTemplate(s, "t://{size}", "t", returning[size]("")) }, true},
		{"with a disabled one of a template", func(s *mcp.Server) { mcp.AddTemplate(s, "t://{size}", "t", returning[size]("")).Disabled() }, false},
		{"with a disabled one", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[size]("")).Disabled() }, false},
	} {
		t.Run("CMP-01 CMP-05 "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			tt.add(s)
			c := serveLines(t, s)
			c.send(modernRequest("1", "server/discover"))
			if declared := strings.Contains(string(resultIn(t, c.next())["capabilities"]), `"completions":{}`); declared != tt.offered {
				t.Errorf("declared: %v", declared)
			}
			c.send(completeRequest(`{"type":"ref/prompt","name":"nobody"}`, "x", ""))
			want := mcp.CodeMethodNotFound
			if tt.offered {
				want = mcp.CodeInvalidParams
			}
			c.expectError("1", want)
		})
	}
	for _, tt := range []struct {
		name string
		add  func(s *mcp.Server)
		want string
	}{
		{"of an unknown argument", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[city]("")).Complete("town", noValues) }, `there is no argument "town"`},
		{"nil", func(s *mcp.Server) { mcp.AddPrompt(s, "p", "", returning[city]("")).Complete("city", nil) }, `the completion of "city" is nil`},
		{"twice", func(s *mcp.Server) {
			mcp.AddTemplate(s, "t://{city}", "t", returning[city]("")).Complete("city", noValues).Complete("city", noValues)
		}, `the argument "city" has two completions`},
		{"of a resource", func(s *mcp.Server) { mcp.AddText(s, "r://x", "x", "", "").Complete("x", noValues) }, `there is no argument "x"`},
	} {
		t.Run("M25 a completion "+tt.name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			tt.add(s)
			expectProblem(t, s, tt.want)
		})
	}
	t.Run("M25 one mistake is one problem", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddPrompt(s, "p", "", returning[map[string]string]("")).Complete("city", noValues)
		if all := registrationErrors(s.Check()); len(all) != 1 {
			t.Errorf("%v", all)
		}
	})
	t.Run("CMP-03 CMP-08 middleware sees completions, and may say how many there are", func(t *testing.T) {
		t.Parallel()
		s := completionServer()
		s.Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, req *mcp.Request) (any, error) {
				v, err := next(ctx, req)
				if c, ok := v.(*mcp.Completion); ok {
					c.Total, c.HasMore = 7, true
					c.Values = slices.Insert(c.Values, 0, req.Info().Kind+" "+req.Info().Name)
				}
				return v, err
			}
		})
		got := string(resultIn(t, ask(t, s, completeRequest(promptRef, "street", "x")))["completion"])
		if diff := cmp.Diff(`{"values":["prompt p","x",""],"total":7,"hasMore":true}`, got); diff != "" {
			t.Error(diff)
		}
	})
}
