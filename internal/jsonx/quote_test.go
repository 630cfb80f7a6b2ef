package jsonx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// quotable are texts whose quoted form encoding/json knows.
var quotable = []string{
	"", "a", "1234567", "12345678", "123456789", `"`, `\`, `""""""""`, `\\\\\\\\`, `"2345678`, `1234567"`, `123"5678`,
	`{"a":"b","c":[1,2,{"d":"e\\f\""}]}`, "#\"#", "]\\]", "!\"", "[\\",
	"\x00\x01\x02\x03\x04\x05\x06\x07\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f \x7f",
	"line\nline\r\nline\ttab", "\n\n\n\n\n\n\n\n\n", "<script>&amp;</script>",
	"é", "Grüße", "世界", "日本語の長い文章、三十二バイトより長いもの。終わり", "😀😀", "a\u2028b\u2029c", "\u2028", "x世\"界\\y", "\uFFFD", "\U0010FFFF",
	"\xff", "a\xffb", "\xc3", "\xc3\x28", "\xe2\x80", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80", "世\xff界", "1234567\xff", "\xc0\xaf",
	"\u0080\u07FF\u0800\u2FFF\u3000\uCFFF\uD7FF\uE000", "\xc2", "\xc2A", "\xc1\xbf", "\xe3", "\xe3\x80", "\xe3\x80A", "\xe3A\x80", "\xec\xbf\xbf\xbf", "\xed\xbf\xbf",
	strings.Repeat("\"", 1000), strings.Repeat("\x01", 1000), strings.Repeat("\xff", 1000), strings.Repeat("é", 1000), strings.Repeat("\u2028", 1000),
	strings.Repeat("plain text, ", 1000), strings.Repeat(`{"key":"value"}`, 300),
}

// quotedByStandard is what encoding/json writes for good UTF-8.
func quotedByStandard(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// replaceEach puts U+FFFD in place of each byte of bad UTF-8.
func replaceEach(text string) string { return string([]rune(text)) }

func TestAppendQuoted(t *testing.T) {
	for _, text := range quotable {
		want := "kept" + quotedByStandard(t, replaceEach(text))
		if got := string(jsonx.AppendQuoted([]byte("kept"), []byte(text))); got != want {
			t.Errorf("AppendQuoted(%.40q)\n got %.100s\nwant %.100s", text, got, want)
		}
		if got := string(jsonx.AppendString([]byte("kept"), text)); got != want {
			t.Errorf("AppendString(%.40q)\n got %.100s\nwant %.100s", text, got, want)
		}
	}
}

// Every length of text, every place of a special byte in the word, every
// spare capacity of dst.
func TestAppendQuotedAtEveryOffset(t *testing.T) {
	for _, special := range []string{`"`, `\`, "\n", "\x00", "é", "世", "😀", "\u2028", "\xff", "\xe2\x80"} {
		for before := range 20 {
			for after := range 12 {
				text := strings.Repeat("x", before) + special + strings.Repeat(special, after%3) + strings.Repeat("y", after)
				want := quotedByStandard(t, replaceEach(text))
				for _, spare := range []int{0, 1, before, 2 * len(text), 300} {
					if got := string(jsonx.AppendQuoted(make([]byte, 0, spare), []byte(text))); got != want {
						t.Fatalf("%q with %d spare: got %s, want %s", text, spare, got, want)
					}
				}
			}
		}
	}
}

// The source may be a part of the destination, whether that grows or not.
func TestAppendQuotedFromItsOwnBuffer(t *testing.T) {
	const text = `{"a":"b\nc","é":"` + "\u2028" + `"}`
	want := text + quotedByStandard(t, text)
	for _, spare := range []int{0, 10, 1000} {
		dst := append(make([]byte, 0, len(text)+spare), text...)
		if got := string(jsonx.AppendQuoted(dst, dst)); got != want {
			t.Errorf("%d spare: got %s, want %s", spare, got, want)
		}
	}
}

func TestAppendStringMakesNoCopy(t *testing.T) {
	text := strings.Repeat(`some "text" `, 100)
	dst := make([]byte, 0, 4*len(text))
	if n := testing.AllocsPerRun(100, func() { jsonx.AppendString(dst, text) }); n > 0 {
		t.Errorf("AppendString allocates %v times", n)
	}
	// Growing once is one allocation, or two with the race detector.
	if n := testing.AllocsPerRun(100, func() { jsonx.AppendString(nil, text) }); n > 2 {
		t.Errorf("AppendString to nil allocates %v times", n)
	}
}

func TestUnquote(t *testing.T) {
	for quoted, want := range map[string]string{
		`""`: "", `"a"`: "a", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\u00e9\ud83d\ude00é"`: "é😀é", `"\u0000"`: "\x00",
	} {
		if got, err := jsonx.Unquote([]byte(quoted)); err != nil || got != want {
			t.Errorf("Unquote(%s) = %q, %v", quoted, got, err)
		}
	}
	for quoted, fault := range map[string]jsonx.Fault{
		``: jsonx.FaultSyntax, `"`: jsonx.FaultSyntax, `a`: jsonx.FaultSyntax, `"a"b`: jsonx.FaultSyntax, `"a" `: jsonx.FaultSyntax, `"\x"`: jsonx.FaultSyntax,
		"\"\n\"": jsonx.FaultSyntax, `1`: jsonx.FaultSyntax, "\"\xff\"": jsonx.FaultUTF8, `"\ud800"`: jsonx.FaultUTF8, `"\ude00\ud83d"`: jsonx.FaultUTF8,
	} {
		out, err := jsonx.AppendUnquote([]byte("kept"), []byte(quoted))
		var e *jsonx.DecodeError
		if !errors.As(err, &e) || e.Fault != fault {
			t.Errorf("AppendUnquote(%q): %#v", quoted, err)
		}
		if string(out) != "kept" {
			t.Errorf("AppendUnquote(%q) leaves %q", quoted, out)
		}
	}
}

func FuzzAppendQuoted(f *testing.F) {
	for _, text := range quotable {
		if len(text) < 100 { // long seeds are slow to minimize
			f.Add([]byte(text), 0)
			f.Add([]byte(text), len(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, spare int) {
		dst := append(make([]byte, 0, max(0, min(spare, 1<<16))), text...)
		out := jsonx.AppendQuoted(dst, dst[:len(text)])
		quoted := out[len(text):]
		if !bytes.Equal(out[:len(text)], text) {
			t.Fatalf("what was there changed: %q", out[:len(text)])
		}
		if !utf8.Valid(quoted) || !jsonx.Valid(quoted) {
			t.Fatalf("%q is not valid", quoted)
		}
		var theirs string
		if err := json.Unmarshal(quoted, &theirs); err != nil {
			t.Fatal(err)
		}
		if want := replaceEach(string(text)); theirs != want {
			t.Fatalf("%q became %q", want, theirs)
		}
		if ours, err := jsonx.Unquote(quoted); err != nil || ours != theirs {
			t.Fatalf("Unquote: %q, %v", ours, err)
		}
		if string(quoted) != quotedByStandard(t, theirs) {
			t.Fatalf("got %s", quoted)
		}
	})
}
