package seal_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/typedmcp/mcp/internal/seal"
)

func secret(b byte) []byte { return bytes.Repeat([]byte{b}, seal.MinKey) }

func ring(t testing.TB, keys ...[]byte) *seal.Ring {
	t.Helper()
	r, err := seal.NewRing(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRoundTrip(t *testing.T) {
	r := ring(t, secret(1))
	for _, plain := range []string{"", "x", strings.Repeat("state ", 20_000)} {
		for _, bound := range []string{"", "purpose"} {
			token := r.Seal([]byte(plain), []byte(bound))
			got, err := r.Open(token, []byte(bound))
			if err != nil || string(got) != plain {
				t.Errorf("%d bytes bound to %q: got %d bytes, %v", len(plain), bound, len(got), err)
			}
			if want := base64.RawURLEncoding.EncodedLen(seal.Overhead + len(plain)); len(token) != want {
				t.Errorf("the token has %d bytes, want %d", len(token), want)
			}
		}
	}
}

func TestTokensDiffer(t *testing.T) {
	r := ring(t, secret(1))
	seen := make(map[string]bool)
	for range 1000 {
		token := r.Seal([]byte("the same"), nil)
		if seen[token] {
			t.Fatal("a token came twice")
		}
		seen[token] = true
	}
}

func TestContentsAreHidden(t *testing.T) {
	r := ring(t, secret(1))
	raw, err := base64.RawURLEncoding.DecodeString(r.Seal(bytes.Repeat([]byte("secret"), 10), []byte("bound")))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("secret")) || bytes.Contains(raw, []byte("bound")) {
		t.Error("the token shows what it holds")
	}
}

func TestKeys(t *testing.T) {
	old, fresh, other := secret(1), secret(2), secret(3)
	token := ring(t, old).Seal([]byte("state"), nil)
	for _, c := range []struct {
		name  string
		keys  [][]byte
		opens bool
	}{
		{"same key", [][]byte{old}, true},
		{"key retired but in the ring", [][]byte{fresh, old}, true},
		{"same key twice", [][]byte{old, old}, true},
		{"key removed", [][]byte{fresh}, false},
		{"foreign keys", [][]byte{other, fresh}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ring(t, c.keys...).Open(token, nil)
			if c.opens && (err != nil || string(got) != "state") {
				t.Errorf("got %q, %v", got, err)
			}
			if !c.opens && !errors.Is(err, seal.ErrRefused) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	t.Run("the first seals", func(t *testing.T) {
		if _, err := ring(t, fresh).Open(ring(t, fresh, old).Seal(nil, nil), nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("a changed slice changes no ring", func(t *testing.T) {
		k := secret(4)
		r := ring(t, k)
		token := r.Seal(nil, nil)
		clear(k)
		if _, err := r.Open(token, nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("too short", func(t *testing.T) {
		if _, err := seal.NewRing(secret(1), make([]byte, seal.MinKey-1)); err == nil || !strings.Contains(err.Error(), "key 1 has 31 bytes") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("none", func(t *testing.T) {
		if _, err := seal.NewRing(); err == nil {
			t.Error("accepted")
		}
	})
	t.Run("random rings are strangers", func(t *testing.T) {
		if _, err := seal.RandomRing().Open(seal.RandomRing().Seal(nil, nil), nil); err == nil {
			t.Error("one opens what the other sealed")
		}
	})
}

// TestRefused shows that every change to a token is found, and that all are answered alike.
func TestRefused(t *testing.T) {
	r := ring(t, secret(1))
	bound := []byte("purpose")
	token := r.Seal([]byte("states"), bound) // of a length that would be padded
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	refused := func(name, changed string, bound []byte) {
		t.Helper()
		if got, err := r.Open(changed, bound); err != seal.ErrRefused || got != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for i := range raw {
		for bit := range 8 {
			changed := slices.Clone(raw)
			changed[i] ^= 1 << bit
			refused("flipped bit", encode(changed), bound)
		}
		refused("truncated", encode(raw[:i]), bound)
	}
	for i := range token {
		refused("truncated text", token[:i], bound)
		for _, c := range []byte("Aa_-=+/\n \x00\xff") {
			if c != token[i] {
				refused("replaced character", token[:i]+string(c)+token[i+1:], bound)
			}
			refused("inserted character", token[:i]+string(c)+token[i:], bound)
		}
	}
	for _, tail := range []string{"=", "==", "A", "AA", "AAA", "AAAA", "\n", "\r\n", "-TAMPERED", token} {
		refused("extended", token+tail, bound)
	}
	refused("padded", base64.URLEncoding.EncodeToString(raw), bound)
	refused("other purpose", token, []byte("purposf"))
	refused("no purpose", token, nil)
	refused("purpose moved to the front", token, append([]byte("x"), bound...))
	refused("text that is no token", "hello", bound)
}

// golden was sealed once and for all: tokens on their way survive a new version of this package.
const golden = "ARNdbzIRkUkG0cU0fRqR8ZXa9WSUhpbsLs8dq3M7K6eyUuMW5qvls5dCWrCEjANkIhHRGixwkc5xj7xu"

func TestFormat(t *testing.T) {
	if got, err := ring(t, secret(1)).Open(golden, []byte("purpose")); err != nil || string(got) != `{"round":2}` {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzOpen(f *testing.F) {
	r := ring(f, secret(2), secret(1))
	f.Add(golden, "purpose")
	f.Add(golden+"A", "purpose")
	f.Add(golden[:len(golden)-1], "purpose")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, text, purpose string) {
		plain, err := r.Open(text, []byte(purpose))
		if (err == nil) != (text == golden && purpose == "purpose") {
			t.Errorf("Open(%q, %q) = %q, %v", text, purpose, plain, err)
		}
	})
}

// FuzzAlter changes a token in one place, which is never enough to open it.
func FuzzAlter(f *testing.F) {
	r := ring(f, secret(1))
	f.Add([]byte("state"), []byte("purpose"), uint(3), byte(1))
	f.Add([]byte(nil), []byte(nil), uint(0), byte(0x80))
	f.Add(bytes.Repeat([]byte("s"), 1000), []byte{0, 0xff}, uint(999), byte('a'^'A'))
	f.Fuzz(func(t *testing.T, plain, bound []byte, at uint, by byte) {
		token := []byte(r.Seal(plain, bound))
		if got, err := r.Open(string(token), bound); err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("got %q, %v", got, err)
		}
		if by == 0 {
			return
		}
		token[at%uint(len(token))] ^= by
		if got, err := r.Open(string(token), bound); err != seal.ErrRefused {
			t.Errorf("altered, yet got %q, %v", got, err)
		}
	})
}
