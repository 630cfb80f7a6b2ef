package mcp

import "net/http"

// SubscriberCount is how many sessions and listeners the server tells of changes.
func SubscriberCount(s *Server) int {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return len(s.hub.subs)
}

// SessionLoad is what the sessions of a handler of HTTPHandler hold together: requests that run, streams that are not
// over and questions without a response.
func SessionLoad(h http.Handler) (requests, streams, questions int) {
	s := h.(*httpHandler).sessions
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, hs := range s.byID {
		hs.mu.Lock()
		requests += len(hs.running)
		streams += len(hs.streams)
		hs.mu.Unlock()
		hs.asks.mu.Lock()
		questions += len(hs.asks.open)
		hs.asks.mu.Unlock()
	}
	return requests, streams, questions
}

// HoldInitialized finds a session as notifications/initialized does, and returns what the rest of that does.
func HoldInitialized(h http.Handler, id string) (begin func()) {
	s := h.(*httpHandler).sessions
	hs := s.use(id, nil)
	return func() {
		hs.begin(s.srv)
		s.release(hs)
	}
}

// HoldSession finds a session as a DELETE does, and returns what the rest of that does.
func HoldSession(h http.Handler, id string) (end func()) {
	s := h.(*httpHandler).sessions
	hs := s.use(id, nil)
	return func() {
		s.delete(hs)
		s.release(hs)
	}
}
