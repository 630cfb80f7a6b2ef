package jsonrpc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/typedmcp/mcp/internal/jsonrpc"
)

const depth = 128

func decode(t *testing.T, in string) (*jsonrpc.Message, *jsonrpc.Fault) {
	t.Helper()
	var m jsonrpc.Message
	err := jsonrpc.Decode([]byte(in), depth, &m)
	var fault *jsonrpc.Fault
	if err != nil && !errors.As(err, &fault) {
		t.Fatalf("%T is no *Fault", err)
	}
	return &m, fault
}

func TestDecodeSpans(t *testing.T) {
	in := "\ufeff" + ` {"jsonrpc":"2.0","id": 9007199254740993 ,"method":"tools/call","params" : {"name":"add",
		"arguments": {"a":1, "a":2},"unknown":[1],"_meta" :{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientCapabilities":{},"\u0070rogressToken":"t","x/y":1}}} `
	m, fault := decode(t, in)
	if fault != nil {
		t.Fatal(fault)
	}
	got := []string{
		fmt.Sprint(m.Kind), string(m.ID), m.Method, string(m.Name()), string(m.Arguments()),
		string(m.Version()), string(m.Capabilities()), string(m.ProgressToken()),
		fmt.Sprint(m.Cursor() == nil),
	}
	want := []string{
		fmt.Sprint(jsonrpc.Request), "9007199254740993", "tools/call", `"add"`, `{"a":1, "a":2}`,
		`"2026-07-28"`, `{}`, `"t"`, "true",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if raw := string(m.Params()); !strings.HasPrefix(raw, `{"name"`) || !strings.HasSuffix(raw, `"x/y":1}}`) {
		t.Errorf("params = %s", raw)
	}
	if raw := string(m.Meta()); !strings.HasPrefix(raw, `{"io.`) || !strings.HasSuffix(raw, `"x/y":1}`) {
		t.Errorf("_meta = %s", raw)
	}
}

func TestDecodeFaults(t *testing.T) {
	const meta = `"_meta":{"a":1}`
	for _, c := range []struct {
		name, in string
		code     int
		id       string
	}{
		{"BASE-01 not JSON", `hello there`, -32700, ""},
		{"BASE-01 version 1.0", `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`, -32600, "1"},
		{"BASE-01 no version", `{"id":2,"method":"tools/list"}`, -32600, "2"},
		{"BASE-01 bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, ""},
		{"BASE-01 bad UTF-8 deep in arguments", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{\"arguments\":{\"x\":\"\xc3\"}}}", -32700, ""},
		{"BASE-01 lone surrogate", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\ud800"}}`, -32700, ""},
		{"BASE-02 null id", `{"jsonrpc":"2.0","id":null,"method":"a"}`, -32600, ""},
		{"BASE-02 fraction", `{"jsonrpc":"2.0","id":1.5,"method":"a"}`, -32600, ""},
		{"BASE-02 exponent", `{"jsonrpc":"2.0","id":1e2,"method":"a"}`, -32600, ""},
		{"BASE-02 boolean id", `{"jsonrpc":"2.0","id":true,"method":"a"}`, -32600, ""},
		{"BASE-02 object id", `{"jsonrpc":"2.0","id":{},"method":"a"}`, -32600, ""},
		{"BASE-02 array id", `{"jsonrpc":"2.0","id":[1],"method":"a"}`, -32600, ""},
		{"BASE-10 batch", `[{"jsonrpc":"2.0","id":1,"method":"a"}]`, -32600, ""},
		{"C65 null", `null`, -32600, ""},
		{"C65 number", `42`, -32600, ""},
		{"C65 string", `"x"`, -32600, ""},
		{"C65 empty array", `[]`, -32600, ""},
		{"C65 empty object", `{}`, -32600, ""},
		{"C67 empty method", `{"jsonrpc":"2.0","id":5,"method":""}`, -32600, "5"},
		{"C67 notification with id", `{"jsonrpc":"2.0","id":6,"method":"notifications/cancelled","params":{"requestId":5}}`, -32600, "6"},
		{"method is a number", `{"jsonrpc":"2.0","id":"7","method":7}`, -32600, `"7"`},
		{"method is missing", `{"jsonrpc":"2.0","id":8}`, -32600, "8"},
		{"result and error", `{"jsonrpc":"2.0","id":8,"result":{},"error":{}}`, -32600, "8"},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, -32600, ""},
		{"C41 duplicate id", `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`, -32600, ""},
		{"C41 duplicate unknown member", `{"jsonrpc":"2.0","id":1,"x":1,"x":2,"method":"a"}`, -32600, ""},
		{"C41 duplicate by escape", `{"jsonrpc":"2.0","id":1,"x":1,"\u0078":2,"method":"a"}`, -32600, ""},
		{"C41 duplicate params", `{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}`, -32600, ""},
		{"C41 duplicate name in params", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"a","name":"b"}}`, -32600, ""},
		{"C41 duplicate unknown name in params", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"q":"a","q":"b"}}`, -32600, ""},
		{"C41 duplicate _meta", `{"jsonrpc":"2.0","id":1,"method":"a","params":{` + meta + `,` + meta + `}}`, -32600, ""},
		{"C41 duplicate key in _meta", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"x/y":1,"x/y":1}}}`, -32600, ""},
		{"C41 duplicate progressToken", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"progressToken":1,"progressToken":2}}}`, -32600, ""},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"a"}{}`, -32700, ""},
		{"cut", `{"jsonrpc":"2.0","id":1,"method":"a"`, -32700, ""},
		{"cut in params", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":`, -32700, ""},
		{"empty", ``, -32700, ""},
		{"deep", `{"jsonrpc":"2.0","id":1,"method":"a","params":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`, -32600, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, fault := decode(t, c.in)
			if fault == nil {
				t.Fatal("accepted")
			}
			if fault.Code != c.code || string(fault.ID) != c.id || fault.Message == "" {
				t.Errorf("got code %d, id %q, %q; want %d, %q", fault.Code, fault.ID, fault.Message, c.code, c.id)
			}
		})
	}
}

// TestParseErrors says what is wrong with texts that are no JSON, and where.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                               "expected a JSON value, got nothing",
		" ":                              "expected a JSON value, got nothing",
		"hello":                          "not valid JSON at byte 0",
		`{"jsonrpc":"2.0",}`:             "not valid JSON at byte 16",
		`{"params":{"a":tru}}`:           "not valid JSON at byte 18",
		"{\"a\":\"x\ny\"}":               "not valid JSON at byte 7",
		`{"a":1}}`:                       "not valid JSON at byte 7",
		`{"a":1`:                         "the JSON text ends too early",
		`[1,`:                            "the JSON text ends too early",
		`{"a":1} {"b":2}`:                "there is more than one JSON value",
		`[] 1`:                           "there is more than one JSON value",
		"{\"a\":\"\xff\"}":               "text that is not valid UTF-8, or half of a surrogate pair, at byte 6",
		`{"params":{"a":["\ud800"]}}`:    "text that is not valid UTF-8, or half of a surrogate pair, at byte 17",
		`{"a":1` + "\x00" + `,"b":true}`: "not valid JSON at byte 6",
	} {
		t.Run(fmt.Sprintf("BASE-06 %q", in), func(t *testing.T) {
			var m jsonrpc.Message
			var f *jsonrpc.Fault
			if err := jsonrpc.Decode([]byte(in), 100, &m); !errors.As(err, &f) || f.Code != -32700 || f.Message != "Parse error: "+want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestDecodeKinds(t *testing.T) {
	for _, c := range []struct {
		name, in string
		kind     jsonrpc.Kind
		id       string
	}{
		{"BASE-02 string id", `{"jsonrpc":"2.0","id":"1","method":"a"}`, jsonrpc.Request, `"1"`},
		{"BASE-02 integer id beyond 2^53", `{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}`, jsonrpc.Request, `9007199254740993`},
		{"negative id", `{"jsonrpc":"2.0","id":-7,"method":"a"}`, jsonrpc.Request, `-7`},
		{"BASE-07 notification", `{"jsonrpc":"2.0","method":"a"}`, jsonrpc.Notification, ``},
		{"result", `{"jsonrpc":"2.0","id":1,"result":null}`, jsonrpc.Response, `1`},
		{"BASE-06 error without id", `{"jsonrpc":"2.0","error":{"code":1,"message":""}}`, jsonrpc.Response, ``},
		{"AMB-02 error with id null", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, jsonrpc.Response, ``},
		{"at the depth limit", `{"jsonrpc":"2.0","id":1,"method":"a","params":` + strings.Repeat("[", 127) + strings.Repeat("]", 127) + `}`, jsonrpc.Request, `1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, fault := decode(t, c.in)
			if fault != nil {
				t.Fatal(fault)
			}
			if m.Kind != c.kind || string(m.ID) != c.id {
				t.Errorf("kind %v, id %q; want %v, %q", m.Kind, m.ID, c.kind, c.id)
			}
		})
	}
}

func TestIDKey(t *testing.T) {
	key := func(s string) string { return jsonrpc.ParseID([]byte(s)).Key() }
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"C107 number and string", `0`, `"0"`, false},
		{"escaped string", `"\u0031"`, `"1"`, true},
		{"string with a quote", `"\""`, `"'"`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if (key(c.a) == key(c.b)) != c.same {
				t.Errorf("keys %q and %q", key(c.a), key(c.b))
			}
		})
	}
	if jsonrpc.ParseID([]byte(`null`)) != nil || jsonrpc.ParseID(nil) != nil || jsonrpc.ParseID([]byte(`-`)) != nil {
		t.Error("ParseID takes what is no id")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"_meta":{"progressToken":1}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"1","error":{}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":-1,"result":{"content":[],"_meta":{}}}`))
	f.Add([]byte(`{"method":"notifications/cancelled","params":{"requestId":1e2,"reason":"\ud800"},"jsonrpc":"2.0"}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","params":[[[[[[[[]]]]]]]]}`))
	f.Add([]byte("\ufeff [1] "))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"\\u0070ing\"}\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var m jsonrpc.Message
		before := string(in)
		err := jsonrpc.Decode(in, depth, &m)
		if string(in) != before {
			t.Fatal("the input was changed")
		}
		if err == nil && m.Kind == 0 {
			t.Error("accepted without a kind")
		}
		if err == nil && m.Kind == jsonrpc.Request && jsonrpc.ParseID(m.ID) == nil {
			t.Errorf("request with id %q", m.ID)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	in := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	var m jsonrpc.Message
	b.ReportAllocs()
	for b.Loop() {
		m = jsonrpc.Message{}
		_ = jsonrpc.Decode(in, depth, &m)
	}
}
