package header_test

import (
	"testing"
	"unicode/utf8"

	"github.com/typedmcp/mcp/internal/header"
)

// The values that the specification (Value Encoding) and SEP-2243 (Special
// Characters in Values, Value Encoding Edge Cases) list, with their encodings,
// and more of each kind.
var encodings = []struct{ name, value, encoded string }{
	{"XMH-13 plain ASCII", "us-west1", "us-west1"},
	{"XMH-13 outside ASCII", "Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
	{"XMH-13 spaces at both ends", " padded ", "=?base64?IHBhZGRlZCA=?="},
	{"XMH-13 newline", "line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
	{"XMH-13 HDR-10 looks encoded", "=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
	{"XMH-13 HDR-09 leading space", " us-west1", "=?base64?IHVzLXdlc3Qx?="},
	{"XMH-13 HDR-09 trailing space", "us-west1 ", "=?base64?dXMtd2VzdDEg?="},
	{"XMH-13 leading and trailing spaces", " us-west1 ", "=?base64?IHVzLXdlc3QxIA==?="},
	{"XMH-13 internal spaces only", "us west 1", "us west 1"},
	{"XMH-13 only letters outside ASCII", "日本語", "=?base64?5pel5pys6Kqe?="},
	{"XMH-13 carriage return", "line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="},
	{"XMH-13 leading tab", "\tindented", "=?base64?CWluZGVudGVk?="},
	{"XMH-13 inner tab", "a\tb", "=?base64?YQli?="},
	{"XMH-13 NUL", "a\x00b", "=?base64?YQBi?="},
	{"XMH-13 DEL", "a\x7fb", "=?base64?YX9i?="},
	{"XMH-14 empty", "", ""},
	{"HDR-09 tool name", "天気", "=?base64?5aSp5rCX?="},
	{"HDR-09 URI outside ASCII", "file:///größe", "=?base64?ZmlsZTovLy9ncsO2w59l?="},
	{"name with hyphen", "my-tool-name", "my-tool-name"},
	{"name with underscore", "my_tool_name", "my_tool_name"},
	{"URI with percent escapes", "file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"},
	{"URI with query", "https://example.com/resource?id=123", "https://example.com/resource?id=123"},
	{"every printable byte", printable, printable},
	{"HDR-10 looks encoded and empty", "=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?="},
	{"HDR-10 markers share a byte", "=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="},
	{"HDR-12 prefix alone", "=?base64?abc", "=?base64?abc"},
	{"HDR-12 suffix alone", "abc?=", "abc?="},
	{"HDR-12 other case", "=?Base64?abc?=", "=?Base64?abc?="},
	{"one space", " ", "=?base64?IA==?="},
}

const printable = "! \"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

func TestEncode(t *testing.T) {
	for _, tt := range encodings {
		t.Run(tt.name, func(t *testing.T) {
			if got := header.Encode(tt.value); got != tt.encoded {
				t.Errorf("Encode(%q) = %q, want %q", tt.value, got, tt.encoded)
			}
			if got, err := header.Decode(tt.encoded); err != nil || got != tt.value {
				t.Errorf("Decode(%q) = %q, %v, want %q", tt.encoded, got, err, tt.value)
			}
		})
	}
	t.Run("bytes that are not UTF-8 become what the body has", func(t *testing.T) {
		got, err := header.Decode(header.Encode("a\xff\xfeb"))
		if want := "a\uFFFD\uFFFDb"; err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	})
}

func TestDecode(t *testing.T) {
	const bad64, badByte, badUTF8 = "Base64", "printable ASCII", "UTF-8"
	tests := []struct{ name, value, want, problem string }{
		{"HDR-11 encoded", "=?base64?SGVsbG8=?=", "Hello", ""},
		{"HDR-11 encoded though plain would do", "=?base64?bnVt?=", "num", ""},
		{"C74 empty form", "=?base64??=", "", ""},
		{"HDR-12 missing prefix", "SGVsbG8=", "SGVsbG8=", ""},
		{"HDR-12 missing suffix", "=?base64?SGVsbG8=", "=?base64?SGVsbG8=", ""},
		{"HDR-12 upper case marker", "=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?=", ""},
		{"HDR-12 markers share a byte", "=?base64?=", "=?base64?=", ""},
		{"HDR-12 text before the marker", "x=?base64?SGVsbG8=?=", "x=?base64?SGVsbG8=?=", ""},
		{"HDR-12 text after the marker", "=?base64?SGVsbG8=?=x", "=?base64?SGVsbG8=?=x", ""},
		{"HDR-12 another encoding", "=?utf-8?B?SGVsbG8=?=", "=?utf-8?B?SGVsbG8=?=", ""},
		{"encoded once only", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?=", ""},
		{"C74 HDR-13 padding missing", "=?base64?SGVsbG8?=", "", bad64},
		{"C74 HDR-13 foreign characters", "=?base64?SGVs!!!bG8=?=", "", bad64},
		{"HDR-13 too much padding", "=?base64?SGVsbG8==?=", "", bad64},
		{"HDR-13 padding inside", "=?base64?SG=VsbG8=?=", "", bad64},
		{"HDR-13 padding alone", "=?base64?====?=", "", bad64},
		{"HDR-13 URL alphabet", "=?base64?PT9iYXNlNjQ_bGl0ZXJhbD89?=", "", bad64},
		{"HDR-13 space inside", "=?base64?SGVs bG8=?=", "", bad64},
		{"HDR-13 unused bits set", "=?base64?SGVsbG9=?=", "", bad64},
		{"HDR-13 two in one", "=?base64?SGVsbG8=?==?base64?SGVsbG8=?=", "", bad64},
		{"HDR-13 line break that decoders skip", "=?base64?SGVs\r\nbG8=?=", "", badByte},
		{"HDR-13 not UTF-8", "=?base64?/w==?=", "", badUTF8},
		{"HDR-13 surrogate", "=?base64?7aCA?=", "", badUTF8},
		{"HDR-14 raw byte 0x80", "a\x80", "", badByte},
		{"HDR-14 raw UTF-8", "Größe", "", badByte},
		{"HDR-14 DEL", "a\x7f", "", badByte},
		{"HDR-14 NUL", "a\x00", "", badByte},
		{"HDR-14 tab", "a\tb", "", badByte},
		{"HDR-14 line feed", "a\nb", "", badByte},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := header.Decode(tt.value)
			checkProblem(t, err, tt.problem)
			if got != tt.want {
				t.Errorf("Decode(%q) = %q, want %q", tt.value, got, tt.want)
			}
		})
	}
}

func TestPlainValuesAllocateNothing(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() {
		if got, err := header.Decode(header.Encode(printable)); err != nil || got != printable {
			t.Fatal(got, err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for a plain value, want 0", allocs)
	}
}

func FuzzEncode(f *testing.F) {
	for _, e := range encodings {
		f.Add(e.value)
	}
	f.Add("a\xffb")
	f.Fuzz(func(t *testing.T, value string) {
		encoded := header.Encode(value)
		for i := range len(encoded) {
			if encoded[i] < ' ' || encoded[i] > '~' {
				t.Fatalf("Encode(%q) = %q has a byte no header may carry", value, encoded)
			}
		}
		if encoded != "" && (encoded[0] == ' ' || encoded[len(encoded)-1] == ' ') {
			t.Fatalf("Encode(%q) = %q loses its space on the way", value, encoded)
		}
		got, err := header.Decode(encoded)
		if err != nil {
			t.Fatalf("Decode(Encode(%q)): %v", value, err)
		}
		if utf8.ValidString(value) && got != value {
			t.Fatalf("Decode(Encode(%q)) = %q", value, got)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, e := range encodings {
		f.Add(e.encoded)
	}
	f.Add("=?base64?SGVsbG8?=")
	f.Add("=?base64?/w==?=")
	f.Fuzz(func(t *testing.T, value string) {
		got, err := header.Decode(value)
		if err != nil {
			return
		}
		if !utf8.ValidString(got) {
			t.Fatalf("Decode(%q) = %q is not UTF-8", value, got)
		}
		if again, err := header.Decode(header.Encode(got)); err != nil || again != got {
			t.Fatalf("Decode(%q) = %q, encoded and decoded again %q, %v", value, got, again, err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for name, value := range map[string]string{"plain": "get_weather", "encoded": "=?base64?SGVsbG8sIOS4lueVjA==?="} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := header.Decode(value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for name, value := range map[string]string{"plain": "get_weather", "encoded": "Hello, 世界"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if header.Encode(value) == "" {
					b.Fatal("empty")
				}
			}
		})
	}
}
