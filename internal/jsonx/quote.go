package jsonx

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendString appends s as a JSON string. Bad UTF-8 becomes U+FFFD, one for
// each byte; < > & stay as they are.
func AppendString(dst []byte, s string) []byte {
	return AppendQuoted(dst, unsafe.Slice(unsafe.StringData(s), len(s))) // only read: no need of a copy
}

const (
	word    = 8  // bytes looked at in one step
	runeRun = 64 // bytes of text beyond ASCII copied in one step
	// slack is room for what one step may write: a run, the rune it ends in,
	// an escape of six bytes.
	slack = runeRun + utf8.UTFMax + 6
)

// AppendQuoted appends text, JSON for example, as a JSON string, just as
// AppendString does. A result is encoded once and then quoted from the same
// buffer into its text block: src may alias dst up to its length.
func AppendQuoted(dst, src []byte) []byte {
	if cap(dst)-len(dst) < 2*len(src)+slack {
		extra := bytes.Count(src, []byte{'"'}) + bytes.Count(src, []byte{'\\'}) + bytes.Count(src, []byte{'\n'})
		dst = slices.Grow(dst, len(src)+extra+slack)
	}
	n := len(dst)
	buf := dst[:cap(dst)]
	buf[n] = '"'
	n++
	for len(src) > 0 {
		if len(buf)-n < slack {
			dst = slices.Grow(buf[:n], len(src)+slack)
			buf = dst[:cap(dst)]
		}
		if len(src) >= word {
			x := binary.LittleEndian.Uint64(src)
			quotes, others := escapes(x)
			if quotes|others == 0 {
				binary.LittleEndian.PutUint64(buf[n:], x)
				n += word
				src = src[word:]
				continue
			}
			if others == 0 {
				n += putASCII((*[3 * word]byte)(buf[n:]), x, quotes)
				src = src[word:]
				continue
			}
		}
		read, wrote := putRunes(buf[n:n+slack], src)
		n += wrote
		src = src[read:]
	}
	return append(buf[:n], '"')
}

// escapes looks at the eight bytes of x at once. others is not zero if there
// are control characters or bytes beyond ASCII; if it is zero, quotes has the
// top bit of each quote and backslash set.
func escapes(x uint64) (quotes, others uint64) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	others = ((x-' '*ones)&^x | x) & highs
	q, b := x^('"'*ones), x^('\\'*ones)
	quotes = ^((q + ^uint64(highs)) & (b + ^uint64(highs))) & highs
	return quotes, others
}

// putASCII writes the eight bytes of x, a backslash before each one marked in
// quotes, and returns how many bytes that makes. What follows a backslash is
// stored eight bytes at a time: the next store corrects what is too much.
func putASCII(w *[3 * word]byte, x, quotes uint64) int {
	binary.LittleEndian.PutUint64(w[:], x)
	total := word + bits.OnesCount64(quotes)
	for n := 0; quotes != 0; quotes &^= 0x80 {
		plain := bits.TrailingZeros64(quotes) / 8
		x >>= plain * 8
		quotes >>= plain * 8
		n += plain
		w[n&(2*word-1)] = '\\'
		n++
		binary.LittleEndian.PutUint64(w[n&(2*word-1):], x)
	}
	return total
}

// putRunes copies src, which begins in need of care, up to the first character
// that must be escaped, and that one. It stops after eight bytes or, in a run
// beyond ASCII, a few more. w has slack bytes.
func putRunes(w, src []byte) (read, wrote int) {
	for read < len(src) {
		c := src[read]
		if c < utf8.RuneSelf {
			if read >= word {
				break
			}
			if escape := asciiEscapes[c]; escape != "" {
				n := copy(w, src[:read])
				return read + 1, n + copy(w[n:], escape)
			}
			read++
			continue
		}
		if read >= runeRun {
			break
		}
		if n := plainRune(src[read:]); n > 0 {
			read += n
			continue
		}
		r, size := utf8.DecodeRune(src[read:])
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			n := copy(w, src[:read])
			return read + size, n + copy(w[n:], runeEscapes[r])
		}
		read += size
	}
	return read, copy(w, src[:read])
}

// plainRune is the length of the rune that src starts with if it is one of two
// bytes or of U+3000 to U+CFFF: most alphabets and East Asian scripts, which
// are worth sparing a call of the full decoder. It is 0 for all else.
func plainRune(src []byte) int {
	switch c := src[0]; {
	case 0xC2 <= c && c < 0xE0:
		if len(src) > 1 && src[1]&0xC0 == 0x80 {
			return 2
		}
	case 0xE3 <= c && c < 0xED:
		if len(src) > 2 && src[1]&0xC0 == 0x80 && src[2]&0xC0 == 0x80 {
			return 3
		}
	}
	return 0
}

// runeEscapes is what stands for bad UTF-8 and for the separators that some
// readers take for the end of a line.
var runeEscapes = map[rune]string{
	utf8.RuneError: "\uFFFD",
	'\u2028':       `\u2028`,
	'\u2029':       `\u2029`,
}

// asciiEscapes is what stands for each ASCII character, "" for itself.
var asciiEscapes = func() (list [utf8.RuneSelf]string) {
	const hex = "0123456789abcdef"
	for c := range ' ' {
		list[c] = `\u00` + string(hex[c>>4]) + string(hex[c&15])
	}
	list['\b'], list['\f'], list['\n'], list['\r'], list['\t'] = `\b`, `\f`, `\n`, `\r`, `\t`
	list['"'], list['\\'] = `\"`, `\\`
	return list
}()

// AppendUnquote appends the text of a JSON string. On error, a *DecodeError,
// dst comes back at its original length.
func AppendUnquote(dst, quoted []byte) ([]byte, error) {
	if n := len(quoted); n < 2 || quoted[0] != '"' || quoted[n-1] != '"' {
		return dst, &DecodeError{Fault: FaultSyntax, Reason: "expected a JSON string", err: errForm}
	}
	out, err := jsontext.AppendUnquote(dst, quoted)
	if err != nil {
		return dst, explain(quoted, err)
	}
	return out, nil
}

// Unquote returns the text of a JSON string. The error is a *DecodeError.
func Unquote(quoted []byte) (string, error) {
	text, err := AppendUnquote(nil, quoted)
	return string(text), err
}
