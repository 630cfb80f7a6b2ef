package rounds

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Journal is what is known of one call in one of its rounds. Its methods are
// safe for concurrent use.
type Journal struct {
	callID  string
	round   int // from 1
	stateID string
	until   time.Time

	mu      sync.Mutex // protects the fields below
	answers map[string]Answer
	asked   map[string]question // sent in the round before, by key
	steps   map[string]*step
	state   json.RawMessage // the caller's own, from the round before; nil: none
	seen    map[string]string
	pending []Question // of this round, in the order of asking
	closed  bool
}

// Question is something to be asked.
type Question struct {
	Key, Kind string
	// Text is all that makes this the same question in the next round.
	Text []byte
	// Schema is kept with the question, for whoever checks the answer when it
	// comes; nil: nobody needs it.
	Schema json.RawMessage
	// Payload is the caller's own. It is not kept between rounds.
	Payload any
}

// Answer is what was answered to a question.
type Answer struct {
	Kind     string          `json:"k"`
	Identity string          `json:"i"`
	Raw      json.RawMessage `json:"a"` // as the client sent it
	Done     bool            `json:"d,omitempty"`
}

// question is what the journal keeps of a question until it is answered.
type question struct {
	Kind     string          `json:"k"`
	Identity string          `json:"i"`
	Schema   json.RawMessage `json:"s,omitempty"`
}

var (
	// ErrConflict says that one key was used for two questions in one round.
	ErrConflict = errors.New("rounds: the key stands for another question already")
	// ErrClosed says that the questions of this round have been sent.
	ErrClosed = errors.New("rounds: the round is over")
)

// New returns the journal of a call in its first round.
func New() *Journal { return &Journal{callID: rand.Text(), round: 1} }

// CallID identifies the call over all of its rounds.
func (j *Journal) CallID() string { return j.callID }

// Round is the number of this round, from 1.
func (j *Journal) Round() int { return j.round }

// StateID identifies the sealed journal that this one was opened from, and
// Until is when that expires; empty in the first round.
func (j *Journal) StateID() string  { return j.stateID }
func (j *Journal) Until() time.Time { return j.until }

// State is what Suspend was given in the round before; nil if nothing.
func (j *Journal) State() json.RawMessage { return j.state }

// Asked returns the kind of the question that was sent under key in the round
// before, and its schema, if that was kept.
func (j *Journal) Asked(key string) (kind string, schema json.RawMessage, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	q, ok := j.asked[key]
	return q.Kind, q.Schema, ok
}

// Receive records the answer to the question that was sent under key. An
// answer to no question is ignored.
func (j *Journal) Receive(key string, raw json.RawMessage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if q, ok := j.asked[key]; ok {
		j.set(key, Answer{Kind: q.Kind, Identity: q.Identity, Raw: raw})
	}
}

// Accept records an answer to q, which was not asked. Without a text q is
// whatever question has the key: Answer finds the answer then, and Find does
// not.
func (j *Journal) Accept(q *Question, raw json.RawMessage) {
	a := Answer{Kind: q.Kind, Raw: raw}
	if q.Text != nil {
		a.Identity = identityOf(q.Text)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.set(q.Key, a)
}

func (j *Journal) set(key string, a Answer) {
	if j.answers == nil {
		j.answers = make(map[string]Answer)
	}
	j.answers[key] = a
}

// Answer returns what was answered under key, to whatever question.
func (j *Journal) Answer(key string) (Answer, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	a, ok := j.answers[key]
	return a, ok
}

// Find returns the answer to q. The answer to another question that had the
// same key does not count. Two questions under one key in one round are
// ErrConflict.
func (j *Journal) Find(q *Question) (Answer, bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	identity := identityOf(q.Text)
	if err := j.see(q.Key, identity); err != nil {
		return Answer{}, false, err
	}
	a, ok := j.answers[q.Key]
	if !ok || a.Identity != identity || a.Kind != q.Kind {
		return Answer{}, false, nil
	}
	return a, true, nil
}

// see notes that key stands for one question in this round. j.mu is held.
func (j *Journal) see(key, identity string) error {
	if before, ok := j.seen[key]; ok && before != identity {
		return fmt.Errorf("%w: %q", ErrConflict, key)
	}
	if j.seen == nil {
		j.seen = make(map[string]string)
	}
	j.seen[key] = identity
	return nil
}

// Ask puts q among the questions that go out at the end of this round; an
// answer under its key is forgotten. The same question is asked once, with
// the newest payload.
func (j *Journal) Ask(q *Question) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return ErrClosed
	}
	if err := j.see(q.Key, identityOf(q.Text)); err != nil {
		return err
	}
	delete(j.answers, q.Key)
	at := slices.IndexFunc(j.pending, func(p Question) bool { return p.Key == q.Key })
	if at >= 0 {
		j.pending[at] = *q
	} else {
		j.pending = append(j.pending, *q)
	}
	return nil
}

// Finish marks the answer under key as one that needs no further look.
func (j *Journal) Finish(key string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if a, ok := j.answers[key]; ok {
		a.Done = true
		j.answers[key] = a
	}
}

// Asking reports whether there is something to ask at the end of this round.
func (j *Journal) Asking() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.pending) > 0
}
