package mcp

import (
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

const defaultSessionTTL = 30 * time.Minute

// sessionStore has the sessions of one HTTP endpoint. They live in memory, end
// by DELETE or when they were idle for too long, and are limited in number.
type sessionStore struct {
	srv *Server
	ttl time.Duration

	mu    sync.Mutex // protects the fields below, and those of sessions that say so
	byID  map[string]*httpSession
	idle  httpSession // of a ring: those that nobody uses, idle the longest first
	timer *time.Timer // runs while there are such; nil: never yet
	armed bool
	over  bool // nothing is opened any more
}

func newSessionStore(srv *Server, ttl time.Duration) *sessionStore {
	s := &sessionStore{srv: srv, ttl: ttl, byID: make(map[string]*httpSession)}
	s.idle.prev, s.idle.next = &s.idle, &s.idle
	return s
}

// add takes in a session that initialize opened for p, and gives it its id. It
// is in use until release. Where there are Limits.Sessions of them it takes
// the place of the one that is idle the longest.
func (s *sessionStore) add(agreed *session, p *Principal) (*httpSession, *Error) {
	agreed.id = rand.Text() // 130 bits
	agreed.sub.wake = make(chan struct{}, 1)
	hs := &httpSession{session: agreed, store: s, users: 1, gone: make(chan struct{})}
	hs.issuer, hs.subject = p.identity()
	hs.tag = rand.Text()[:8]
	hs.log.limit = s.srv.opts.Limits.Events
	hs.own.sess = hs
	limit := s.srv.opts.Limits.Sessions
	s.mu.Lock()
	var evicted *httpSession
	if len(s.byID) >= limit {
		if evicted = s.idle.next; evicted == &s.idle {
			s.mu.Unlock()
			return nil, Errorf(CodeInternalError, "Internal error: too many sessions in use (%d)", limit)
		}
		s.drop(evicted)
	}
	if !s.over {
		s.byID[hs.id] = hs
	}
	s.mu.Unlock()
	if evicted != nil {
		s.srv.warnOnce("sessions", fmt.Sprintf("mcp: Limits.Sessions (%d) is reached; new sessions end those that are idle the longest", limit))
		evicted.end()
	}
	return hs, nil
}

// use returns the session of that id for a request of p, until release; nil if
// there is none. To others a session does not exist.
func (s *sessionStore) use(id string, p *Principal) *httpSession {
	issuer, subject := p.identity()
	s.mu.Lock()
	defer s.mu.Unlock()
	hs := s.byID[id]
	if hs == nil || hs.issuer != issuer || hs.subject != subject {
		return nil
	}
	if hs.users++; hs.users == 1 {
		hs.unlink()
	}
	return hs
}

// release ends what use or add began. The time of being idle starts when
// nobody uses the session any more.
func (s *sessionStore) release(hs *httpSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if hs.users--; hs.users > 0 || s.byID[hs.id] != hs {
		return
	}
	hs.since = time.Now()
	hs.prev, hs.next = s.idle.prev, &s.idle
	hs.prev.next, hs.next.prev = hs, hs
	if !s.armed {
		s.arm(s.ttl)
	}
}

// arm has expire called after d. s.mu is held.
func (s *sessionStore) arm(d time.Duration) {
	s.armed = true
	if s.timer == nil {
		s.timer = time.AfterFunc(d, s.expire)
	} else {
		s.timer.Reset(d)
	}
}

// expire ends the sessions that were idle for too long.
func (s *sessionStore) expire() {
	var gone []*httpSession
	s.mu.Lock()
	s.armed = false
	now := time.Now()
	for !s.over && s.idle.next != &s.idle {
		hs := s.idle.next
		if left := s.ttl - now.Sub(hs.since); left > 0 {
			s.arm(left)
			break
		}
		s.drop(hs)
		gone = append(gone, hs)
	}
	s.mu.Unlock()
	for _, hs := range gone {
		hs.end()
	}
}

// delete ends a session that is in use, if it has not ended meanwhile.
func (s *sessionStore) delete(hs *httpSession) {
	s.mu.Lock()
	there := s.byID[hs.id] == hs
	delete(s.byID, hs.id)
	s.mu.Unlock()
	if there {
		hs.end()
	}
}

// drop takes an idle session out. s.mu is held.
func (s *sessionStore) drop(hs *httpSession) {
	delete(s.byID, hs.id)
	hs.unlink()
}

// unlink takes the session out of the ring. The store's mu is held.
func (hs *httpSession) unlink() {
	hs.prev.next, hs.next.prev = hs.next, hs.prev
	hs.prev, hs.next = nil, nil
}

// stop ends all sessions and takes no others.
func (s *sessionStore) stop() {
	s.mu.Lock()
	s.over = true
	if s.timer != nil {
		s.timer.Stop()
	}
	all := s.byID
	s.byID = nil
	s.mu.Unlock()
	for _, hs := range all {
		hs.end()
	}
}
