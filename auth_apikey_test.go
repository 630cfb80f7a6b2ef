package mcp_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/typedmcp/mcp"
)

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	keys := map[[sha256.Size]byte]*mcp.Principal{
		sha256.Sum256([]byte(secretOf)): {Subject: "alice"},
		sha256.Sum256([]byte("gone")):   {Subject: "alice", Expires: time.Now().Add(-time.Second)},
	}
	var seen []string
	var mu sync.Mutex
	verify := mcp.NewAPIKeyVerifier(func(_ context.Context, hash [sha256.Size]byte) (*mcp.Principal, error) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, string(hash[:]))
		return keys[hash], nil
	})
	h := newHandler(t, whoServer(quiet(t, secretOf)), &mcp.HTTPOptions{Auth: &mcp.Auth{Verify: verify}})
	const (
		missing = "an API key is needed, as X-API-Key or as Authorization: Bearer"
		wrong   = "the API key is not valid here, or has expired"
		several = "there are several API keys; send one, as X-API-Key or as Authorization: Bearer"
	)
	for _, tt := range []struct {
		name   string
		status int
		code   string // of the challenge
		why    string // "": it is let in
		edits  []string
	}{
		{"as a bearer token", 200, "", "", []string{"Authorization: Bearer " + secretOf}},
		{"in a header of its own", 200, "", "", []string{"X-API-Key: " + secretOf}},
		{"that is not known", 401, "invalid_token", wrong, []string{"X-API-Key: x"}},
		{"that is not known, as a bearer token", 401, "invalid_token", wrong, []string{"Authorization: Bearer x"}},
		{"that has expired", 401, "invalid_token", wrong, []string{"X-API-Key: gone"}},
		{"of which another begins so", 401, "invalid_token", wrong, []string{"X-API-Key: " + secretOf[:10]}},
		{"that is missing", 401, "", missing, nil},
		{"that is empty", 401, "", missing, []string{"X-API-Key: "}},
		{"of another scheme", 401, "", missing, []string{"Authorization: Basic eDp5"}},
		{"twice", 400, "invalid_request", several, []string{"X-API-Key: " + secretOf, "+X-API-Key: " + secretOf}},
		{"in both places", 400, "invalid_request", several, []string{"X-API-Key: " + secretOf, "Authorization: Bearer " + secretOf}},
	} {
		t.Run("M18 AUS-02 AUS-06 a key "+tt.name, func(t *testing.T) {
			a := exchange(t, h, modernPost(modernCall("1", "who", `{}`), tt.edits...))
			var challenge []string // nobody is let in with one, and everybody else gets one
			switch {
			case tt.code != "":
				challenge = []string{fmt.Sprintf("Bearer error=%q, error_description=%q", tt.code, tt.why)}
			case tt.why != "":
				challenge = []string{"Bearer"}
			}
			if diff := cmp.Diff(challenge, a.header["Www-Authenticate"]); diff != "" {
				t.Errorf("challenge (-want +got):\n%s", diff)
			}
			if a.status != tt.status || !strings.Contains(a.body, tt.why) {
				t.Errorf("%d %s", a.status, a.body)
			}
			if text := fmt.Sprint(a.header, a.body); strings.Contains(text, secretOf) {
				t.Errorf("AUS-09: the key is in %s", text)
			}
		})
	}
	t.Run("M18 AUS-09 keys are looked up by their hash alone", func(t *testing.T) {
		mu.Lock()
		defer mu.Unlock()
		want := sha256.Sum256([]byte(secretOf))
		if len(seen) != 6 || !slices.Contains(seen, string(want[:])) {
			t.Errorf("looked up %d: %x", len(seen), seen)
		}
	})
	t.Run("M18 AUS-10 SEC-06 handlers do not see the key", func(t *testing.T) {
		for _, edit := range []string{"X-API-Key: " + secretOf, "Authorization: Bearer " + secretOf} {
			s := mcp.NewServer("s", "1", nil)
			mcp.AddTool(s, "look", "", func(ctx context.Context, _ struct{}) (string, error) {
				return fmt.Sprint(mcp.RequestFrom(ctx).Header()), nil
			})
			r := modernPost(modernCall("1", "look", `{}`), edit)
			a := exchange(t, newHandler(t, s, &mcp.HTTPOptions{Auth: &mcp.Auth{Verify: verify}}), r)
			if a.status != 200 || strings.Contains(a.body, secretOf) {
				t.Errorf("%d %s", a.status, a.body)
			}
			if !strings.Contains(fmt.Sprint(r.Header), secretOf) {
				t.Error("the request was changed for handlers around this one")
			}
		}
	})
	t.Run("M18 the errors of the look-up are those of the verifier", func(t *testing.T) {
		var log bytes.Buffer
		for status, err := range map[int]error{503: mcp.Errorf(mcp.CodeInternalError, "the database is down"), 401: fmt.Errorf("that customer did not pay")} {
			broken := mcp.NewAPIKeyVerifier(func(context.Context, [sha256.Size]byte) (*mcp.Principal, error) { return nil, err })
			a := exchange(t, newHandler(t, whoServer(&log), &mcp.HTTPOptions{Auth: &mcp.Auth{Verify: broken}}), modernPost(modernCall("1", "who", `{}`), "X-API-Key: x"))
			if a.status != status || strings.Contains(a.body+fmt.Sprint(a.header), err.Error()) || !strings.Contains(log.String(), err.Error()) {
				t.Errorf("%d %v %s, logged %s", a.status, a.header, a.body, &log)
			}
		}
	})
}
