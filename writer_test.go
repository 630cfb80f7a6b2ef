package mcp_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	colors "image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

// chart has a writer in these tests.
type chart struct{ Title string }

// bitmap is an image of a type of its own.
type bitmap struct{ image.Image }

// formless has no JSON.
type formless struct{ Done chan int }

// titled is an interface with a writer.
type titled interface{ title() string }

func (c chart) title() string { return c.Title }

// writes is the writer of a chart.
func writes(c chart) ([]mcp.Content, error) {
	if c.Title == "" {
		return nil, errors.New("a chart needs a title")
	}
	return []mcp.Content{mcp.Text("chart " + c.Title), mcp.Image([]byte("PNG"), "image/png")}, nil
}

const writtenChart = `{"type":"text","text":"chart x"},{"type":"image","data":"UE5H","mimeType":"image/png"}`

func TestWriters(t *testing.T) {
	t.Parallel()
	c := chart{"x"}
	const asData = `"structuredContent":{"Title":"x"},"content":[{"type":"text","text":"{\"Title\":\"x\"}"}]`
	for _, tt := range []struct {
		name   string
		define func(*mcp.Server)
		writer func(*mcp.Server)
		want   string
	}{
		{"M9 T of a writer of T", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](c)) }, func(s *mcp.Server) { mcp.RegisterWriter(s, writes) }, holding(writtenChart)},
		{"M9 *T of a writer of T", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](&c)) }, func(s *mcp.Server) { mcp.RegisterWriter(s, writes) }, holding(writtenChart)},
		{"M9 T of a writer of *T", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](c)) },
			func(s *mcp.Server) {
				mcp.RegisterWriter(s, func(c *chart) ([]mcp.Content, error) { return writes(*c) })
			}, holding(writtenChart)},
		{"M9 functions and methods too", func(s *mcp.Server) { mcp.AddFunc(s, "t", "", func() chart { return c }) }, func(s *mcp.Server) { mcp.RegisterWriter(s, writes) }, holding(writtenChart)},
		{"M9 an interface, by its own writer", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](titled(c))) },
			func(s *mcp.Server) {
				mcp.RegisterWriter(s, func(v titled) ([]mcp.Content, error) { return []mcp.Content{mcp.Text(v.title())}, nil })
			}, holdingText("x")},
		{"M9 no other type, though it could be converted", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](struct{ Title string }{"x"})) }, func(s *mcp.Server) { mcp.RegisterWriter(s, writes) }, asData},
		{"M9 nor one that implements an interface with a writer", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](c)) },
			func(s *mcp.Server) { mcp.RegisterWriter(s, func(v titled) ([]mcp.Content, error) { return nil, nil }) }, asData},
		{"M9 without a writer it is data", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](c)) }, func(*mcp.Server) {}, asData},
		{"M9 a writer may give nothing", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](c)) },
			func(s *mcp.Server) { mcp.RegisterWriter(s, func(chart) ([]mcp.Content, error) { return nil, nil }) }, holding("")},
		{"M9 a type that has no JSON", func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](formless{})) },
			func(s *mcp.Server) {
				mcp.RegisterWriter(s, func(formless) ([]mcp.Content, error) { return []mcp.Content{mcp.Text("made")}, nil })
			}, holdingText("made")},
		{"M9 images have a writer of their own", func(s *mcp.Server) {
			mcp.AddTool(s, "t", "", returning[struct{}](bitmap{image.NewGray(image.Rect(0, 0, 1, 1))}))
		},
			func(s *mcp.Server) {
				mcp.RegisterWriter(s, func(bitmap) ([]mcp.Content, error) { return []mcp.Content{mcp.Text("own")}, nil })
			}, holdingText("own")},
	} {
		for _, first := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, writer first: %v", tt.name, first), func(t *testing.T) {
				t.Parallel()
				s := mcp.NewServer("fixture", "1.0.0", nil)
				if first {
					tt.writer(s)
				}
				tt.define(s)
				_ = s.Check() // what is found so far must not stick
				if !first {
					tt.writer(s)
				}
				if diff := cmp.Diff(modernResult("1", tt.want), ask(t, s, modernCall("1", "t", "{}"))); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				listed := mustList(t, dialMemory(t, s, nil))[0].OutputSchema
				if data := strings.HasPrefix(tt.want, `"structuredContent"`); (listed != nil) != data {
					t.Errorf("output schema %s", listed)
				}
			})
		}
	}
}

func TestWritersRefused(t *testing.T) {
	t.Parallel()
	t.Run("M9 two for one type, and a nil one", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.RegisterWriter(s, writes)
		mcp.RegisterWriter(s, writes)
		mcp.RegisterWriter[int](s, nil)
		const want = "writer_test.go: writer: type mcp_test.chart: there is a writer for this type already\nwriter_test.go: writer: type int: the function is nil"
		if got := baseNames(fmt.Sprint(s.Check())); got != want {
			t.Errorf("got %s", got)
		}
	})
	t.Run("M9 an OutputSchema beside a writer", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		mcp.AddTool(s, "t", "", returning[struct{}](chart{})).OutputSchema(mcp.Object())
		mcp.RegisterWriter(s, writes)
		if got := fmt.Sprint(s.Check()); !strings.Contains(got, "it has an OutputSchema, but its result mcp_test.chart is content alone") {
			t.Error(got)
		}
	})
	t.Run("A17 M9 once the server serves", func(t *testing.T) {
		s := mcp.NewServer("s", "1", nil)
		dialMemory(t, s, nil)
		defer func() {
			if frozen, ok := recover().(*mcp.FrozenError); !ok || frozen.Feature != "writer of mcp_test.chart" {
				t.Errorf("panic with %#v", frozen)
			}
		}()
		mcp.RegisterWriter(s, writes)
	})
	for name, define := range map[string]func(*mcp.Server){
		"a nil pointer, writer of T":        func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}]((*chart)(nil))) },
		"a nil interface":                   func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](titled(nil))) },
		"a nil image":                       func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}]((*image.Gray)(nil))) },
		"a nil pointer, writer of pointers": func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}]((*row)(nil))) },
		"a writer that fails":               func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](chart{})) },
		"a writer that panics":              func(s *mcp.Server) { mcp.AddTool(s, "t", "", returning[struct{}](namedString("sesame"))) },
	} {
		t.Run("M9 C61 "+name, func(t *testing.T) {
			t.Parallel()
			s := mcp.NewServer("s", "1", nil)
			mcp.RegisterWriter(s, writes)
			mcp.RegisterWriter(s, func(v titled) ([]mcp.Content, error) { return []mcp.Content{mcp.Text(v.title())}, nil })
			mcp.RegisterWriter(s, func(v *row) ([]mcp.Content, error) { return []mcp.Content{mcp.Text(v.Name)}, nil })
			mcp.RegisterWriter(s, func(v namedString) ([]mcp.Content, error) { panic(v) })
			define(s)
			undisclosed(t, failureIn(t, ask(t, s, modernCall("1", "t", "{}"))))
		})
	}
}

func TestImagesWritten(t *testing.T) {
	t.Parallel()
	gray := image.NewGray(image.Rect(0, 0, 3, 2))
	gray.SetGray(2, 1, colors.Gray{Y: 200})
	for name, s := range map[string]*mcp.Server{
		"image.Image":   withTool[image.Image](gray),
		"*image.Gray":   withTool(gray),
		"its own type":  withTool(bitmap{gray}),
		"pointer to it": withTool(&bitmap{gray}),
	} {
		t.Run("M9 B36 "+name+" is one PNG block, without an output schema", func(t *testing.T) {
			t.Parallel()
			c := dialMemory(t, s, nil)
			if tool := mustList(t, c)[0]; tool.OutputSchema != nil {
				t.Errorf("output schema %s", tool.OutputSchema)
			}
			r := mustCall(t, c, "t", nil)
			if len(r.Content) != 1 || r.IsError || r.Structured != nil {
				t.Fatalf("%+v", r)
			}
			block := r.Content[0].(*mcp.ImageContent)
			got, err := png.Decode(bytes.NewReader(block.Data))
			if err != nil || block.MIMEType != "image/png" || got.Bounds() != gray.Bounds() || got.At(2, 1) != gray.At(2, 1) {
				t.Errorf("%v, %s, %v", err, block.MIMEType, got)
			}
		})
	}
	t.Run("M9 one that cannot be encoded", func(t *testing.T) {
		t.Parallel()
		undisclosed(t, failureIn(t, ask(t, withTool(image.NewGray(image.Rect(0, 0, 0, 0))), modernCall("1", "t", "{}"))))
	})
}
