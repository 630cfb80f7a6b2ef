package mcp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// TokenStore keeps what a client was given by authorization servers: tokens,
// registrations, and which server is served by whom. What it keeps is secret:
// it should be encrypted, or readable by the user alone. It is used
// concurrently.
type TokenStore interface {
	// Load returns what was saved under issuer and resource, either of which
	// may be empty; nil, without an error, if that is nothing.
	Load(ctx context.Context, issuer, resource string) ([]byte, error)
	// Save keeps data in place of what was there; nil means nothing.
	Save(ctx context.Context, issuer, resource string, data []byte) error
}

type storeKey struct{ issuer, resource string }

// memoryStore keeps tokens for as long as the process lives.
type memoryStore struct {
	mu   sync.Mutex
	data map[storeKey][]byte
}

// Load implements TokenStore.
func (s *memoryStore) Load(_ context.Context, issuer, resource string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data[storeKey{issuer, resource}], nil
}

// Save implements TokenStore.
func (s *memoryStore) Save(_ context.Context, issuer, resource string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data == nil {
		s.data = make(map[storeKey][]byte)
	}
	s.data[storeKey{issuer, resource}] = data
	return nil
}

// NewFileTokenStore returns a store in a file, which only its owner can read:
// it is created with mode 0600, its directory with 0700, and on Unix one that
// others may read or write is refused. It is not encrypted; where the system
// has a keyring, a TokenStore of your own is safer. Programs that share the
// file see each other's tokens, but of two that save at once one may win.
func NewFileTokenStore(path string) TokenStore { return &fileStore{path: path} }

type fileStore struct {
	path string
	mu   sync.Mutex // protects the file
}

// storeEntry is one line of the file.
type storeEntry struct {
	Issuer   string `json:"issuer"`
	Resource string `json:"resource"`
	Data     []byte `json:"data"`
}

// Load implements TokenStore.
func (s *fileStore) Load(_ context.Context, issuer, resource string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := s.read()
	for _, e := range entries {
		if e.Issuer == issuer && e.Resource == resource {
			return e.Data, nil
		}
	}
	return nil, err
}

// Save implements TokenStore. The file is replaced as a whole, so that it is
// never half written.
func (s *fileStore) Save(_ context.Context, issuer, resource string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := s.read()
	if err != nil {
		return err
	}
	kept := make([]storeEntry, 0, len(entries)+1)
	for _, e := range entries {
		if e.Issuer != issuer || e.Resource != resource {
			kept = append(kept, e)
		}
	}
	if data != nil {
		kept = append(kept, storeEntry{issuer, resource, data})
	}
	text, err := jsonx.Marshal(kept)
	if err == nil {
		err = s.replace(text)
	}
	if err != nil {
		return fmt.Errorf("mcp: the token file: %w", err)
	}
	return nil
}

func (s *fileStore) read() ([]storeEntry, error) {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("mcp: the token file: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("mcp: the token file %s has mode %#o, with which others can use the tokens; set 0600, or delete it if others might have read it", s.path, mode)
	}
	text, err := os.ReadFile(s.path)
	if err != nil {
		return nil, fmt.Errorf("mcp: the token file: %w", err)
	}
	var entries []storeEntry
	if jsonx.Unmarshal(text, &entries) != nil {
		return nil, fmt.Errorf("mcp: the token file %s is damaged; delete it to sign in anew", s.path)
	}
	return entries, nil
}

func (s *fileStore) replace(text []byte) error {
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(s.path)+"-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
