package rounds_test

import (
	"encoding/json"
	"testing"

	"github.com/typedmcp/mcp/internal/rounds"
)

// FuzzOpen changes a sealed journal, or what it is presented with.
func FuzzOpen(f *testing.F) {
	k := keeper()
	f.Add("u", `{"a":1}`, uint(0), byte(0))
	f.Add("u", `{"a":9007199254740993}`, uint(50), byte(1))
	f.Add("", `{ "a" : 1 }`, uint(0), byte(0))
	f.Add("u", `{"a":1,"a":1}`, uint(0), byte(0))
	f.Add("u", `{"a":1}`, uint(1), byte(0x80))
	f.Fuzz(func(t *testing.T, subject, args string, at uint, by byte) {
		b := rounds.Binding{Subject: "u", Arguments: []byte(`{"a":1}`)}
		_, text, err := k.Suspend(rounds.New(), &b, nil)
		if err != nil {
			t.Fatal(err)
		}
		token := []byte(text)
		token[at%uint(len(token))] ^= by
		_, err = k.Open(string(token), &rounds.Binding{Subject: subject, Arguments: []byte(args)})
		var same struct{ A json.Number }
		var all map[string]any
		isSame := json.Unmarshal([]byte(args), &all) == nil && len(all) == 1 && json.Unmarshal([]byte(args), &same) == nil && same.A == "1"
		if err == nil && (by != 0 || subject != "u" || !isSame) {
			t.Errorf("opened for %q with %s, altered by %d at %d", subject, args, by, at)
		}
	})
}
