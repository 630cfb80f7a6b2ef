package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/typedmcp/mcp"
)

// mapStore is a TokenStore that tests look into.
type mapStore struct {
	mu   sync.Mutex
	data map[[2]string][]byte
}

func (s *mapStore) Load(_ context.Context, issuer, resource string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data[[2]string{issuer, resource}], nil
}

func (s *mapStore) Save(_ context.Context, issuer, resource string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data == nil {
		s.data = make(map[[2]string][]byte)
	}
	s.data[[2]string{issuer, resource}] = data
	return nil
}

// edit changes all that is there.
func (s *mapStore) edit(fn func(doc map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, data := range s.data {
		var doc map[string]any
		if json.Unmarshal(data, &doc) == nil {
			fn(doc)
			s.data[key], _ = json.Marshal(doc)
		}
	}
}

func TestTokenStores(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "tokens")
	t.Run("AUC-23 a file that its owner alone can read, that another process goes on with", func(t *testing.T) {
		i := newIssuer(t, "")
		s := newSite(t, i).serve()
		s.opts.Store = mcp.NewFileTokenStore(path)
		if _, err := s.call(s.authorizer(), "who"); err != nil {
			t.Fatal(err)
		}
		s.opts.Store = mcp.NewFileTokenStore(path)
		if text, err := s.call(s.authorizer(), "who"); err != nil || text != "alice" || len(i.at("/authorize")) != 1 {
			t.Errorf("%s, %v, %d authorizations", text, err, len(i.at("/authorize")))
		}
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if dir, err := os.Stat(filepath.Dir(path)); err != nil || runtime.GOOS != "windows" && dir.Mode().Perm() != 0o700 {
			t.Errorf("%v, %v", dir.Mode(), err)
		}
		if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
			t.Errorf("left behind: %v, %v", all, err)
		}
	})
	t.Run("AUC-23 a file that others could read is refused", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			return
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		store := mcp.NewFileTokenStore(path)
		if _, err := store.Load(t.Context(), "", ""); err == nil || !strings.Contains(err.Error(), "0640") {
			t.Errorf("%v", err)
		}
		if err := store.Save(t.Context(), "", "", []byte("x")); err == nil {
			t.Error("it was written")
		}
	})
	t.Run("AUC-23 a file that is damaged says so, and not what it holds", func(t *testing.T) {
		damaged := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(damaged, []byte(`[{"issuer":"secret-thing`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := mcp.NewFileTokenStore(damaged).Load(t.Context(), "", ""); err == nil || strings.Contains(err.Error(), "secret-thing") {
			t.Errorf("%v", err)
		}
	})
	t.Run("AUC-22 REG-08 by issuer and resource", func(t *testing.T) {
		store := mcp.NewFileTokenStore(filepath.Join(t.TempDir(), "tokens"))
		keys := [][2]string{{"", ""}, {"a", ""}, {"", "a"}, {"a", "b"}, {"a b", ""}}
		for _, k := range keys {
			if err := store.Save(t.Context(), k[0], k[1], []byte(k[0]+"|"+k[1])); err != nil {
				t.Fatal(err)
			}
		}
		if err := store.Save(t.Context(), "a", "", nil); err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			want := k[0] + "|" + k[1]
			if slices.Equal(k[:], []string{"a", ""}) {
				want = ""
			}
			if got, err := store.Load(t.Context(), k[0], k[1]); err != nil || string(got) != want {
				t.Errorf("%q: %q, %v", k, got, err)
			}
		}
	})
}
