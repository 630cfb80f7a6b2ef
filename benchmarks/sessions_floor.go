package main

import (
	"crypto/rand"
	"net/http"
)

// admitLegacy reports whether a request of an older revision is to be
// answered; it deals with all others.
func (s *floorServer) admitLegacy(w http.ResponseWriter, r *http.Request, req *floorRequest) bool {
	if req.Method == "initialize" {
		id := rand.Text()
		s.sessions.Store(id, true)
		w.Header().Set("Mcp-Session-Id", id)
		return true
	}
	if _, open := s.sessions.Load(r.Header.Get("Mcp-Session-Id")); !open || r.Header.Get("Mcp-Protocol-Version") != legacyVersion {
		http.Error(w, "no such session", http.StatusNotFound)
		return false
	}
	if req.ID == nil {
		w.WriteHeader(http.StatusAccepted)
	}
	return req.ID != nil
}

// stream holds the stream of a session until the client goes.
func (s *floorServer) stream(w http.ResponseWriter, r *http.Request) {
	if _, open := s.sessions.Load(r.Header.Get("Mcp-Session-Id")); !open {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}
