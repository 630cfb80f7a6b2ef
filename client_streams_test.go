package mcp_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/typedmcp/mcp"
)

// bubbleServer is a server of Streamable HTTP before 2026-07-28 in a bubble, where no connection can be.
type bubbleServer struct {
	t    *testing.T
	call func(r *http.Request, m clientMessage) *http.Response // answers calls
	get  func(r *http.Request) *http.Response                  // answers GET; nil: 405
}

func statusOf(code int) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: http.NoBody}
}

// streamOf is a stream that ends after text.
func streamOf(text string) *http.Response {
	return answerOf("text/event-stream", io.NopCloser(strings.NewReader(text)))
}

func (s *bubbleServer) dial() *mcp.Client {
	s.t.Helper()
	transport := mcp.HTTP("http://server.example/mcp", &mcp.HTTPClientOptions{Client: &http.Client{Transport: roundTrips(func(r *http.Request) (*http.Response, error) {
		switch {
		case r.Method == http.MethodGet && s.get != nil:
			return s.get(r), nil
		case r.Method != http.MethodPost:
			return statusOf(http.StatusMethodNotAllowed), nil
		}
		switch m := messageOf(s.t, r); {
		case m.ID == nil:
			return statusOf(http.StatusAccepted), nil
		case m.Method == "initialize":
			return answerOf("application/json", io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, initialized)))), nil
		default:
			return s.call(r, m), nil
		}
	})}})
	c, err := mcp.Dial(s.t.Context(), transport, &mcp.ClientOptions{Versions: []string{legacyVersion}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

const eventOfCall = "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"late\"}]}}\n\n"

func TestPausesOfStreams(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		retry []string      // what the server says in stream after stream, before it ends them
		takes time.Duration // till the answer
	}{
		{"LHT-24 SEP-1699 as long as the server wants", []string{"retry: 150\n"}, 150 * time.Millisecond},
		{"LHT-24 longer than by default", []string{"retry: 90000\n"}, 90 * time.Second},
		{"LHT-24 not at all", []string{"retry: 0\n"}, 0},
		{"LHT-24 each time that the server names", []string{"retry: 150\n", "retry: 2000\n", ""}, 4150 * time.Millisecond},
		{"LHT-24 a second, unless the server says", []string{""}, time.Second},
		{"LHT-24 a second, if the server says nothing that is a time", []string{"retry: soon\n"}, time.Second},
	} {
		bubble(t, "LHT-21 LHT-23 "+tt.name+" is waited", func(t *testing.T) {
			var id []byte
			n := 0
			next := func() *http.Response {
				if n++; n > len(tt.retry) {
					return streamOf(fmt.Sprintf(eventOfCall, id))
				}
				return streamOf(fmt.Sprintf("id: s-%d\n%sdata: \n\n", n, tt.retry[n-1]))
			}
			s := &bubbleServer{t: t, call: func(_ *http.Request, m clientMessage) *http.Response { id = m.ID; return next() }, get: func(r *http.Request) *http.Response {
				if last := r.Header.Get("Last-Event-Id"); last != fmt.Sprintf("s-%d", n) || n == 0 {
					return statusOf(http.StatusMethodNotAllowed)
				}
				return next()
			}}
			c := s.dial()
			start := time.Now()
			if text := textOf(mustCall(t, c, "t", nil, mcp.WithTimeout(5*time.Minute))); text != "late" || time.Since(start) != tt.takes {
				t.Errorf("%q after %v, not %v", text, time.Since(start), tt.takes)
			}
		})
	}
	bubble(t, "LHT-24 the stream of no request too is opened anew when the server wants", func(t *testing.T) {
		var opened []time.Duration
		start := time.Now()
		s := &bubbleServer{t: t, get: func(r *http.Request) *http.Response {
			opened = append(opened, time.Since(start))
			if len(opened) < 4 {
				return streamOf(fmt.Sprintf("id: %d\nretry: %d\ndata: \n\n", len(opened), 1500*len(opened)))
			}
			return answerOf("text/event-stream", lateBody{strings.NewReader(""), r.Context()})
		}}
		s.dial()
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []time.Duration{0, 1500 * time.Millisecond, 4500 * time.Millisecond, 9 * time.Second}; fmt.Sprint(opened) != fmt.Sprint(want) {
			t.Errorf("opened after %v, not %v", opened, want)
		}
	})
}

func TestAnswersOnTheStreamOfNoRequest(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusAccepted, http.StatusNoContent} {
		bubble(t, fmt.Sprintf("LHT-01 a request answered %d has its answer on the stream of no request", status), func(t *testing.T) {
			events, out := io.Pipe()
			defer out.Close()
			var id []byte
			s := &bubbleServer{t: t, call: func(_ *http.Request, m clientMessage) *http.Response { id = m.ID; return statusOf(status) }, get: func(*http.Request) *http.Response {
				return answerOf("text/event-stream", events)
			}}
			c := s.dial()
			text := make(chan string, 1)
			go func() {
				got, err := mcp.Call[string](t.Context(), c, "t", nil)
				text <- fmt.Sprint(got, err)
			}()
			synctest.Wait() // the status has been seen, and was not the answer
			select {
			case early := <-text:
				t.Fatalf("ended with %s", early)
			default:
			}
			fmt.Fprintf(out, eventOfCall, id)
			if got := <-text; got != "late<nil>" {
				t.Errorf("%s", got)
			}
		})
	}
}
