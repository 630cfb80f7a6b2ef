package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// TestProblemsOfNamelessTypes shows that problems do not write out structs that have no name.
func TestProblemsOfNamelessTypes(t *testing.T) {
	t.Parallel()
	type bad = struct {
		First string            `json:"first" jsonschema:"pattern=^[}]\"{$"`
		Deep  []struct{ B int } `json:"deep"`
		Chan  chan int          `json:"chan"`
	}
	for name, define := range map[string]func(s *mcp.Server){
		"arguments": func(s *mcp.Server) {
			mcp.AddTool(s, "x", "", func(context.Context, bad) (string, error) { return "", nil })
		},
		"a result": func(s *mcp.Server) {
			mcp.AddTool(s, "x", "", func(context.Context, noArgs) (bad, error) { return bad{}, nil })
		},
		"a list": func(s *mcp.Server) {
			mcp.AddTool(s, "x", "", func(context.Context, []bad) (string, error) { return "", nil })
		},
		"a function": func(s *mcp.Server) {
			mcp.AddFunc(s, "x", "", func(int, bad, string) {}, mcp.Arg("a", ""), mcp.Arg("b", ""), mcp.Arg("c", ""))
		},
		"a function without names": func(s *mcp.Server) { mcp.AddFunc(s, "x", "", func(int, bad, string) {}) },
		"a prompt": func(s *mcp.Server) {
			mcp.AddPrompt(s, "x", "", func(context.Context, bad) (string, error) { return "", nil })
		},
		"what a prompt returns": func(s *mcp.Server) {
			mcp.AddPrompt(s, "x", "", func(context.Context, noArgs) (bad, error) { return bad{}, nil })
		},
		"a template": func(s *mcp.Server) {
			mcp.AddTemplate(s, "x:///{b}", "x", func(context.Context, bad) (string, error) { return "", nil })
		},
		"a resource": func(s *mcp.Server) {
			mcp.AddResource(s, "x:///", "x", func(context.Context) (bad, error) { return bad{}, nil })
		},
		"a method": func(s *mcp.Server) {
			mcp.HandleMethod(s, "x/y", func(context.Context, bad) (bad, error) { return bad{}, nil })
		},
		"a writer":  func(s *mcp.Server) { mcp.RegisterWriter[bad](s, nil) },
		"a schema":  func(s *mcp.Server) { mcp.AddRawTool(s, "x", "", mcp.SchemaFor[bad](), nil) },
		"a service": func(s *mcp.Server) { mcp.AddService(s, &bad{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			define(s)
			err := s.Check()
			if err == nil || !strings.Contains(err.Error(), "struct{ First … }") {
				t.Fatalf("no struct in %v", err)
			}
			for _, part := range []string{"struct {", "Deep []"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("%q is in %v", part, err)
				}
			}
			var e *mcp.RegistrationError
			if errors.As(err, &e) && e.Type != "" && !strings.Contains(e.Type, "struct { First") {
				t.Errorf("the type is not whole: %s", e.Type)
			}
		})
	}
	t.Run("what has a name or no fields stays", func(t *testing.T) {
		t.Parallel()
		e := &mcp.RegistrationError{Feature: "f", Type: "map[string]struct {}", Err: errors.New("struct{ x }: func(a.B)")}
		if got := e.Error(); got != "f: type map[string]struct {}: struct{ x }: func(a.B)" {
			t.Error(got)
		}
	})
	t.Run("what follows stays, and so does what is cut off", func(t *testing.T) {
		t.Parallel()
		for in, want := range map[string]string{
			`func(struct { A int "json:\"}\""; B struct { C int } }, struct { D int }) error`: "func(struct{ A … }, struct{ D … }) error",
			`struct { mcp_test.Base; B int }!`:                                                "struct{ mcp_test.Base … }!",
			`struct { A int`:                                                                  "struct{ A … }",
		} {
			if got := (&mcp.RegistrationError{Feature: "f", Err: errors.New(in)}).Error(); got != "f: "+want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}
