package mcp_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// templateVars has a field for each variable of the templates below.
type templateVars struct {
	A    string    `json:"a,omitempty"`
	B    string    `json:"b,omitempty"`
	N    int       `json:"n,omitempty"`
	F    float64   `json:"f,omitempty"`
	On   bool      `json:"on,omitempty"`
	When time.Time `json:"when,omitzero"`
	L    []string  `json:"l,omitempty"`
	Nums []int     `json:"nums,omitempty"`
	Size string    `json:"size,omitempty" jsonschema:"enum=S,enum=M"`
	Page int       `json:"page,omitempty" jsonschema:"minimum=1,default=7"`
}

// templateServer has one template, whose resources hold its variables.
func templateServer(template string) *mcp.Server {
	s := mcp.NewServer("templates", "1", nil)
	mcp.AddTemplate(s, template, "t", func(_ context.Context, v templateVars) (templateVars, error) { return v, nil })
	return s
}

// readRequest is a modern read.
func readRequest(id, uri string) string {
	return modernRequest(id, "resources/read", fmt.Sprintf(`"uri":%q`, uri))
}

func TestTemplateMatching(t *testing.T) {
	t.Parallel()
	const missing = ""
	tests := []struct{ name, template, uri, want string }{
		{"P3 M2 a value", "t://{a}", "t://x", `{"a":"x"}`},
		{"P3 one level only", "t://{a}", "t://x/y", missing},
		{"M2 a number", "t://{n}", "t://7", `{"n":7}`},
		{"M2 a number that is none", "t://{n}", "t://seven", missing},
		{"M2 a number with a fraction", "t://{n}", "t://7.5", missing},
		{"M2 a number written in another way", "t://{n}", "t://007", missing},
		{"M2 a fraction", "t://{f}", "t://-0.5", `{"f":-0.5}`},
		{"M2 a boolean", "t://{on}", "t://true", `{"on":true}`},
		{"M2 a boolean that is none", "t://{on}", "t://yes", missing},
		{"M2 a type with UnmarshalText", "t://{when}", "t://2026-07-28T00%3A00%3A00Z", `{"when":"2026-07-28T00:00:00Z"}`},
		{"M2 a type with UnmarshalText that refuses", "t://{when}", "t://today", missing},
		{"M2 an enumeration", "t://{size}", "t://S", `{"size":"S"}`},
		{"M2 not of the enumeration", "t://{size}", "t://XL", missing},
		{"M2 a default", "t://{a}{?page}", "t://x", `{"a":"x","page":7}`},
		{"M2 below the minimum", "t://{a}{?page}", "t://x?page=0", missing},
		{"M2 null is text", "t://{a}", "t://null", `{"a":"null"}`},
		{"M2 and so is a number for a string", "t://{a}", "t://5", `{"a":"5"}`},
		{"an empty number is none", "t://x{?n}", "t://x?n=", `{}`},

		{"RES-08 decoded once", "t://{a}", "t://a%2Fb%252Fc%20d", `{"a":"a/b%2Fc d"}`},
		{"RES-08 in either case of the escapes", "t://{a}", "t://%c3%A4", `{"a":"ä"}`},
		{"RES-08 a plus sign is no space", "t://{a}", "t://x%2By", `{"a":"x+y"}`},
		{"RES-08 nor is one that stands as such", "t://{+a}", "t://x+y", `{"a":"x+y"}`},
		{"RES-08 bytes that are no UTF-8", "t://{a}", "t://%ff", missing},
		{"RES-08 reserved characters must be escaped", "t://{a}", "t://x:y", missing},
		{"RES-08 and commas too", "t://{a}", "t://x,y", missing},
		{"RES-08 no value", "t://{a}", "t://", `{}`},
		{"RES-08 literals after and before", "t://v1/{a}/x/{b}.json", "t://v1/p/x/q.json", `{"a":"p","b":"q"}`},
		{"RES-08 another literal", "t://v1/{a}", "t://v2/p", missing},
		{"RES-08 literals are no patterns", "t://v.1/{a}", "t://vx1/p", missing},
		{"RES-08 more after the end", "t://{a}/x", "t://p/x/", missing},
		{"RES-08 escapes in literals", "t://%7E/ä/{a}", "t://%7e/%C3%A4/p", `{"a":"p"}`},
		{"RES-08 dots belong to values, and to the first of two", "t://{a}.{b}", "t://x.y.z", `{"a":"x.y","b":"z"}`},

		{"RES-08 several in one expression", "t://{a,b}", "t://x,y", `{"a":"x","b":"y"}`},
		{"RES-08 the first of several", "t://{a,b}", "t://x", `{"a":"x"}`},
		{"RES-08 more than there are", "t://{a,b}", "t://x,y,z", missing},
		{"RES-08 a list", "t://{l}", "t://x,y%2Cz", `{"l":["x","y,z"]}`},
		{"RES-08 a list of numbers", "t://{nums}", "t://1,2", `{"nums":[1,2]}`},
		{"RES-08 a list of numbers with one that is none", "t://{nums}", "t://1,b", missing},
		{"RES-08 reserved expansion", "t://{+a}", "t://x/y:z?q=1#f", `{"a":"x/y:z?q=1#f"}`},
		{"RES-08 reserved expansion is decoded once", "t://{+a}", "t://x/%252e%2F", `{"a":"x/%2e/"}`},
		{"RES-08 reserved expansion before a literal", "t://{+a}/end", "t://x/y/end", `{"a":"x/y"}`},
		{"RES-08 a fragment", "t://x{#a}", "t://x#/p", `{"a":"/p"}`},
		{"RES-08 no fragment", "t://x{#a}", "t://x", `{}`},
		{"RES-08 a label", "t://x{.a}", "t://x.tar", `{"a":"tar"}`},
		{"RES-08 a path segment", "t://x{/a}", "t://x/p", `{"a":"p"}`},
		{"RES-08 path segments", "t://x{/a,b}", "t://x/p/q", `{"a":"p","b":"q"}`},
		{"RES-08 an empty path segment", "t://x{/a,b}", "t://x//q", `{"b":"q"}`},
		{"RES-08 a path", "t://x{/l*}", "t://x/p/q%2Fr/s", `{"l":["p","q/r","s"]}`},
		{"RES-08 no path", "t://x{/l*}", "t://x", `{}`},
		{"RES-08 path parameters", "t://x{;a,n}", "t://x;a=p;n=1", `{"a":"p","n":1}`},
		{"RES-08 a query", "t://x{?a,n}", "t://x?a=p&n=1", `{"a":"p","n":1}`},
		{"RES-08 a query in another order", "t://x{?a,n}", "t://x?n=1&a=p", `{"a":"p","n":1}`},
		{"RES-08 a query in part", "t://x{?a,n}", "t://x?n=1", `{"n":1}`},
		{"RES-08 no query", "t://x{?a,n}", "t://x", `{}`},
		{"RES-08 an empty query", "t://x{?a,n}", "t://x?", missing},
		{"RES-08 a query with another name", "t://x{?a,n}", "t://x?b=1", missing},
		{"RES-08 a query with a name twice", "t://x{?a,n}", "t://x?a=1&a=2", missing},
		{"RES-08 a query with two values in one", "t://x{?a,l}", "t://x?a=1,2&l=3", missing},
		{"RES-08 a query without separators", "t://x{?a,n}", "t://x?a=pn=1", missing},
		{"RES-08 a list in a query", "t://x{?l}", "t://x?l=p,q", `{"l":["p","q"]}`},
		{"RES-08 a list over a query", "t://x{?l*}", "t://x?l=p&l=q", `{"l":["p","q"]}`},
		{"RES-08 more of a query", "t://x?fixed=1{&a}", "t://x?fixed=1&a=p", `{"a":"p"}`},
		{"RES-08 a path and a query", "t://x{/l*}{?n}", "t://x/p/q?n=1", `{"n":1,"l":["p","q"]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := ask(t, templateServer(tt.template), readRequest("1", tt.uri))
			if tt.want == missing {
				if e := faultIn(t, answer); e.Code != mcp.CodeInvalidParams || e.Message != "Resource not found" || string(e.Data) != fmt.Sprintf(`{"uri":%q}`, tt.uri) {
					t.Errorf("%s", answer)
				}
				return
			}
			want := strings.Replace(tt.want, "}", `,"page":7}`, 1)
			if tt.want == "{}" {
				want = `{"page":7}`
			} else if strings.Contains(tt.want, `"page"`) {
				want = tt.want
			}
			if got := contentsIn(t, answer); len(got) != 1 || *got[0].Text != want || got[0].URI != tt.uri {
				t.Errorf("got %s\nwant %s", answer, want)
			}
		})
	}
}

func TestTemplatesShadowed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		add  func(s *mcp.Server)
		want int // warnings
	}{
		{"the same shape", func(s *mcp.Server) {}, 1},
		{"another literal", func(s *mcp.Server) { mcp.AddTemplate(s, "u://{b}", "b", returning[templateVars]("")) }, 1},
		{"the same shape twice", func(s *mcp.Server) { mcp.AddTemplate(s, "t://{n}", "n", returning[templateVars]("")) }, 2},
		{"a disabled one", func(s *mcp.Server) { mcp.AddTemplate(s, "t://{n}", "n", returning[templateVars]("")).Disabled() }, 1},
		{"with Visible, which may tell them apart", func(s *mcp.Server) {
			s.Visible(func(context.Context, mcp.Info) bool { return true })
		}, 0},
	} {
		t.Run("P4 RES-08 a template that an earlier one hides is a warning: "+tt.name, func(t *testing.T) {
			t.Parallel()
			var log logBook
			s := mcp.NewServer("s", "1", &mcp.ServerOptions{Logger: log.logger()})
			mcp.AddTemplate(s, "t://{a}", "a", returning[templateVars](""))
			mcp.AddTemplate(s, "t://{b}", "b", returning[templateVars](""))
			tt.add(s)
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			if got := log.records(t, slog.LevelWarn); len(got) != tt.want || strings.Count(fmt.Sprint(got), "it is never read") != tt.want {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestTemplateProblems(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, template, want string }{
		{"RES-08 an expression without an end", "t://{a", "not valid (RFC 6570)"},
		{"RES-08 an expression without a variable", "t://{}", "not valid (RFC 6570)"},
		{"RES-08 an operator that is reserved", "t://{|a}", "not valid (RFC 6570)"},
		{"RES-08 a brace that closes nothing", "t://a}", "not valid (RFC 6570)"},
		{"RES-08 a space", "t://a b/{a}", "not valid (RFC 6570)"},
		{"RES-08 side by side", "t://{a}{b}", "where {a} of the URI template ends and {b} begins cannot be told"},
		{"RES-08 side by side with a dot, which values may have", "t://{a}{.b}", "where {a} of the URI template ends and {.b} begins"},
		{"RES-08 after reserved expansion", "t://{+a}{?b}", "where {+a} of the URI template ends and {?b} begins"},
		{"RES-08 a path after a path", "t://x{/l*}{/a}", "where {/l*} of the URI template ends and {/a} begins"},
		{"RES-08 several in reserved expansion", "t://{+a,b}", "where one value of {+a,b}"},
		{"RES-08 several labels", "t://x{.a,b}", "where one value of {.a,b}"},
		{"RES-08 a list beside a value", "t://{l,a}", "where one value of {l,a}"},
		{"RES-08 a list of reserved characters", "t://{+l}", "where one value of {+l}"},
		{"RES-08 a prefix", "t://{a:3}", `keeps only the beginning of "a"`},
		{"RES-08 several values for one", "t://{a*}", `the field "a" is no list`},
		{"RES-08 a variable twice", "t://{a}/{a}", `the variable "a" of the URI template occurs twice`},
		{"M2 a variable without a field", "t://{nobody}", `the variable "nobody" of the URI template is no field of mcp_test.templateVars`},
		{"RES-09 no scheme", "{a}://x", "does not start with a scheme"},
		{"RES-09 a relative template", "/x/{a}", "does not start with a scheme"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			expectProblem(t, templateServer(tt.template), tt.want)
		})
	}
	t.Run("M2 a field that must have a value and no variable", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTemplate(s, "t://{a}", "t", returning[struct {
			A string `json:"a,omitempty"`
			B string `json:"b"`
		}](""))
		expectProblem(t, s, `the URI template has no variable "b"`)
	})
	t.Run("M2 no fields", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTemplate(s, "t://{a}", "t", returning[struct{}](""))
		expectProblem(t, s, `the variable "a" of the URI template is no field of struct {}`)
	})
	t.Run("M2 a map", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTemplate(s, "t://{a}", "t", returning[map[string]string](""))
		expectProblem(t, s, "map[string]string is no struct")
	})
	t.Run("M2 a field that text cannot stand for", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTemplate(s, "t://{a}", "t", returning[struct {
			A map[string]int `json:"a"`
		}](""))
		expectProblem(t, s, `text cannot stand for "a"`)
	})
	t.Run("RES-08 a template without variables", func(t *testing.T) {
		t.Parallel()
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTemplate(s, "t://x", "t", returning[struct{}]("here"))
		if got := contentsIn(t, ask(t, s, readRequest("1", "t://x"))); *got[0].Text != "here" {
			t.Errorf("%+v", got)
		}
	})
}

// FuzzTemplate holds reading a template back to what it was expanded with, and reading of any other URI to an answer.
func FuzzTemplate(f *testing.F) {
	f.Add("a", "b", "t://x/a/b")
	f.Add("", "%", "t://x/%2")
	f.Add("ä/?#[]@!$&'()*+,;=", "a.b-c_d~e", "t://x//{}?a=&b")
	f.Add("..", "%2e%2e", "t://x/a,b,c")
	f.Add("\x00", "\u2028", "T://X?b=1&a=2#f")
	templates := []struct {
		template string
		expand   func(a, b string) string
	}{
		{"t://x/{a}/{b}", func(a, b string) string { return "t://x/" + a + "/" + b }},
		{"t://x/{a,b}", func(a, b string) string { return "t://x/" + a + "," + b }},
		{"t://x{/a,b}", func(a, b string) string { return "t://x/" + a + "/" + b }},
		{"t://x{?a,b}", func(a, b string) string { return "t://x?a=" + a + "&b=" + b }},
		{"t://x/{+a}", func(a, _ string) string { return "t://x/" + a }},
	}
	servers := make([]*mcp.Server, len(templates))
	for i, tt := range templates {
		servers[i] = mcp.NewServer("s", "1", nil)
		mcp.AddTemplate(servers[i], tt.template, "t", func(_ context.Context, v templateVars) (string, error) { return v.A + "\x00" + v.B, nil })
	}
	f.Fuzz(func(t *testing.T, a, b, other string) {
		a, b = strings.ToValidUTF8(a, ""), strings.ToValidUTF8(b, "")
		for i, tt := range templates {
			c := dialMemory(t, servers[i], nil)
			r, err := c.ReadResource(t.Context(), tt.expand(escapeAll(a), escapeAll(b)))
			want := a + "\x00" + b
			if i == 4 {
				want = a + "\x00"
			}
			if err != nil || r.Contents[0].Text != want {
				t.Errorf("%s of %q and %q: %+v, %v", tt.template, a, b, r, err)
			}
			if r, err := c.ReadResource(t.Context(), strings.ToValidUTF8(other, "")); err == nil && len(r.Contents) != 1 {
				t.Errorf("%s at %q: %+v", tt.template, other, r)
			}
		}
	})
}

// escapeAll percent-encodes all but unreserved characters.
func escapeAll(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
