package oauth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/typedmcp/mcp/internal/oauth"
)

// fetchVariable makes the binary of the tests fetch the metadata of the issuer that it names, and say how that went:
// package http reads the environment's proxies once in a process.
const fetchVariable = "OAUTH_TEST_FETCH"

func TestMain(m *testing.M) {
	issuer := os.Getenv(fetchVariable)
	if issuer == "" {
		os.Exit(m.Run())
	}
	_, err := oauth.NewClient(nil, oauth.ReachLocal).FindServer(context.Background(), issuer)
	fmt.Println(err)
}

func TestProxies(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer proxy.Close()
	t.Run("SEC-01 a proxy of the environment does not fetch what the client may not", func(t *testing.T) {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), fetchVariable+"=https://10.0.0.1", "HTTPS_PROXY="+proxy.URL, "HTTP_PROXY="+proxy.URL, "NO_PROXY=")
		out, err := child.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "not an address of the internet") || asked.Load() != 0 {
			t.Errorf("%v, %s; the proxy was asked %d times", err, out, asked.Load())
		}
	})
}
