package mcp_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/typedmcp/mcp"
)

// exportedDocs returns the doc comments of what the package exports, by name: types, functions, Type.Method and
// Type.Field.
func exportedDocs(t *testing.T) map[string]string {
	t.Helper()
	files, err := sourceTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	docs := make(map[string]string)
	note := func(name string, doc *ast.CommentGroup) {
		if last := name[strings.LastIndexByte(name, '.')+1:]; ast.IsExported(last) {
			docs[name] = strings.ReplaceAll(doc.Text(), "\n", " ")
		}
	}
	for _, f := range files {
		if f.pkg != "" || f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					name = receiverName(d.Recv.List[0].Type) + "." + name
				}
				note(name, d.Doc)
			case *ast.GenDecl:
				if d.Tok == token.TYPE {
					noteTypes(d, note)
				}
			}
		}
	}
	return docs
}

func noteTypes(d *ast.GenDecl, note func(string, *ast.CommentGroup)) {
	for _, spec := range d.Specs {
		s := spec.(*ast.TypeSpec)
		doc := s.Doc
		if doc == nil {
			doc = d.Doc
		}
		note(s.Name.Name, doc)
		fields, isStruct := s.Type.(*ast.StructType)
		if !isStruct {
			continue
		}
		for _, f := range fields.Fields.List {
			for _, n := range f.Names {
				note(s.Name.Name+"."+n.Name, f.Doc)
			}
		}
	}
}

// TestDeprecatedAPI holds the API of what the protocol deprecates to being marked so.
func TestDeprecatedAPI(t *testing.T) {
	docs := exportedDocs(t)
	mark := regexp.MustCompile(`Deprecated: SEP-\d{4} deprecates [a-z ]+ in revision 2026-07-28; (it|they) will not be removed before 2027-07-28\.`)
	deprecated := regexp.MustCompile(`^(Ask)?(Sampl\w*|Roots?(Capability)?|ModelPreferences|ToolUseContent|ToolResultContent|Blocks|Request\.LogLevel|` +
		`ServerOptions\.Logging|ClientOptions\.(Sample\w*|Roots|ServerLog\w*)|Client\.RootsChanged)$`)
	t.Run("DEP-03 LOG-09 all that is deprecated says so", func(t *testing.T) {
		marked := 0
		for name, doc := range docs {
			switch is, should := mark.MatchString(doc), deprecated.MatchString(name); {
			case is && should:
				marked++
			case should:
				t.Errorf("%s is not marked with what deprecates it and until when it stays: %q", name, doc)
			case is || strings.Contains(doc, "Deprecated:"):
				t.Errorf("%s is marked as deprecated: %q", name, doc)
			}
		}
		if marked < 18 {
			t.Errorf("only %d names", marked)
		}
	})
	t.Run("DEP-01 nothing of it is on by default, nor in the examples", func(t *testing.T) {
		s := newFixture(nil)
		c := serveLines(t, s.Server)
		c.send(modernRequest("1", "server/discover"))
		if got := c.next(); strings.Contains(got, `"logging"`) {
			t.Errorf("declared: %s", got)
		}
		f := newFakeServer(t)
		client := f.dial(nil)
		go func() { _, _ = client.CallTool(t.Context(), "t", nil) }()
		m := f.next()
		if got := string(m.Params.Meta["io.modelcontextprotocol/clientCapabilities"]); got != "{}" {
			t.Errorf("a client declares %s", got)
		}
		f.result(m, `"content":[]`)
		uses := regexp.MustCompile(`mcp\.(Ask)?(Sample|Roots)\(|\bLogging:`)
		files, err := sourceTree(os.DirFS("examples"))
		if err != nil || len(files) == 0 {
			t.Fatal(len(files), err)
		}
		for _, f := range files {
			text, err := os.ReadFile("examples/" + f.path)
			if err != nil {
				t.Fatal(err)
			}
			if found := uses.Find(text); found != nil {
				t.Errorf("%s uses %s", f.path, found)
			}
		}
	})
	t.Run("A69 what implements a rule of the protocol says where it stands", func(t *testing.T) {
		for _, name := range []string{"Elicit", "ElicitURL", "AskSchema", "Progress", "Logger", "SampleRequest"} {
			if !strings.Contains(docs[name], "MCP 2026-07-28, ") {
				t.Errorf("%s: %q", name, docs[name])
			}
		}
		cited := regexp.MustCompile(`MCP (\d{4}-\d{2}-\d{2})`)
		for name, doc := range docs {
			for _, m := range cited.FindAllStringSubmatch(doc, -1) {
				if !slices.Contains(append([]string{mcp.LatestVersion}, legacyVersions...), m[1]) {
					t.Errorf("%s cites the revision %s, which there is not", name, m[1])
				}
			}
		}
	})
	for id, c := range map[string]struct{ name, part string }{
		"ELI-19 secrets":                  {"Elicit", "Never ask for passwords or other secrets in this way"},
		"ELI-19 where they go":            {"ElicitURL", "enter a secret"},
		"ELI-23 nothing in the URL":       {"ElicitURL", "It must hold nothing secret about the user and give no access by itself"},
		"ELI-28 who opens the page":       {"ElicitURL", "the page has to find out that who opens it is who was asked"},
		"ELI-29 not for this server":      {"ElicitURL", "It must not sign the user in to this very server"},
		"LOG-07 nothing secret in logs":   {"Logger", "put no secrets, personal data or internals into them"},
		"ROOT-04 roots may have vanished": {"Roots", "They may have gone when they are used"},
	} {
		t.Run(id+" is said", func(t *testing.T) {
			if !strings.Contains(docs[c.name], c.part) {
				t.Errorf("the doc of %s does not say %q: %q", c.name, c.part, docs[c.name])
			}
		})
	}
}

// TestDeprecatedWorks shows that what is deprecated works in full where both sides offer it.
func TestDeprecatedWorks(t *testing.T) {
	s := mcp.NewServer("old", "1.0.0", &mcp.ServerOptions{Logging: true})
	mcp.AddTool(s, "all", "", func(ctx context.Context, _ noArgs) (string, error) {
		if err := mcp.Gather(ctx, mcp.AskRoots("roots"), mcp.AskSample("model", &mcp.SampleRequest{Messages: []mcp.Message{mcp.User("Hi")}, MaxTokens: 9})); err != nil {
			return "", err
		}
		roots, _, err := mcp.Answer[[]mcp.Root](ctx, "roots")
		if err != nil {
			return "", err
		}
		model, _, err := mcp.Answer[*mcp.SampleResult](ctx, "model")
		if err != nil {
			return "", err
		}
		mcp.Logger(ctx).Info("asked both")
		return roots[0].URI + " " + model.Text(), nil
	})
	c := dialMemory(t, s, &mcp.ClientOptions{
		Roots: func(context.Context) ([]mcp.Root, error) { return []mcp.Root{{URI: "file:///home"}}, nil },
		Sample: func(_ context.Context, r *mcp.SampleRequest) (*mcp.SampleResult, error) {
			return &mcp.SampleResult{Content: mcp.Text(fmt.Sprint("at most ", r.MaxTokens)), Model: "m"}, nil
		},
	})
	t.Run("DEP-02 roots and sampling, by both sides of this package", func(t *testing.T) {
		if got := textOf(mustCall(t, c, "all", nil)); got != "file:///home at most 9" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("DEP-02 logs", func(t *testing.T) {
		lines := serveLines(t, s)
		lines.send(round{name: "all", meta: []string{wantLevel("info")},
			answers: `{"roots":` + earlyRoots + `,"model":` + earlyModel + `}`}.line("1"))
		lines.expect(logNotice("info", "all", `"asked both"`))
	})
}

// TestDeprecatedOptions shows that a client is warned of what its options switch on.
func TestDeprecatedOptions(t *testing.T) {
	s := newFixture(nil)
	all := hooks(new(trail))
	for name, tt := range map[string]struct {
		opts  mcp.ClientOptions
		warns []string
	}{
		"nothing":       {mcp.ClientOptions{ElicitForm: all.ElicitForm, ElicitURL: all.ElicitURL}, nil},
		"sampling":      {mcp.ClientOptions{Sample: all.Sample}, []string{"the option Sample"}},
		"roots":         {mcp.ClientOptions{Roots: all.Roots}, []string{"the option Roots"}},
		"both of these": {mcp.ClientOptions{Sample: all.Sample, Roots: all.Roots}, []string{"the option Sample", "the option Roots"}},
	} {
		t.Run("DEP-04 a client with "+name+" is warned, once each", func(t *testing.T) {
			log := new(logBook)
			tt.opts.Logger = log.logger()
			c := dialMemory(t, s.Server, &tt.opts)
			for range 2 {
				mustCall(t, c, "add", addArgs{1, 2})
			}
			warned := log.records(t, slog.LevelWarn)
			if len(warned) != len(tt.warns) {
				t.Fatalf("warned %v", warned)
			}
			for i, want := range tt.warns {
				if got := fmt.Sprint(warned[i]["msg"]); !strings.Contains(got, want) || !strings.Contains(got, "deprecates") || warned[i]["sep"] != "SEP-2577" {
					t.Errorf("warned %v, want %q", warned[i], want)
				}
			}
		})
	}
}

// TestSecretFields shows that a server is warned that its forms ask for secrets.
func TestSecretFields(t *testing.T) {
	for field, warned := range map[string]bool{
		"password": true, "user_Password": true, "api_key": true, "API-KEY": true, "clientSecret": true, "name": false, "key": false, "passport": false,
	} {
		t.Run(fmt.Sprintf("ELI-19 a field %s: %v", field, warned), func(t *testing.T) {
			log := new(logBook)
			s := mcp.NewServer("asker", "1.0.0", &mcp.ServerOptions{Logger: log.logger()})
			mcp.AddTool(s, "ask", "", func(ctx context.Context, _ noArgs) (string, error) {
				return "", mcp.Gather(ctx, mcp.AskSchema("q", "Please", mcp.Object().String(field, "")))
			})
			for range 2 {
				play(t, s, round{name: "ask"}).asks(t, "q")
			}
			if got := log.records(t, slog.LevelWarn); len(got) > 1 || (len(got) == 1) != warned {
				t.Errorf("warned %v", got)
			}
		})
	}
	t.Run("ELI-19 of a struct too", func(t *testing.T) {
		log := new(logBook)
		s := mcp.NewServer("asker", "1.0.0", &mcp.ServerOptions{Logger: log.logger()})
		mcp.AddTool(s, "ask", "", func(ctx context.Context, _ noArgs) (string, error) {
			_, err := mcp.Elicit[struct{ Password string }](ctx, "q", "Please")
			return "", err
		})
		play(t, s, round{name: "ask"}).asks(t, "q")
		if !strings.Contains(log.String(), "ElicitURL") {
			t.Errorf("logged %s", log)
		}
	})
}
