package rounds

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/seal"
)

// Keeper seals and opens journals. It is safe for concurrent use.
type Keeper struct {
	Ring   *seal.Ring
	TTL    time.Duration // how long a sealed journal may be opened
	Rounds int           // the most that a call may have
	Size   int           // the most bytes of a sealed journal
}

var (
	// ErrRounds says that the call has had all the rounds it may have.
	ErrRounds = errors.New("rounds: too many rounds")
	// ErrSize says that the journal is too large to be sealed.
	ErrSize = errors.New("rounds: the journal is too large")

	errExpired    = errors.New("rounds: the state has expired")
	errUnfinished = errors.New("rounds: the step did not finish")
)

// stored is a journal on its way.
type stored struct {
	Call    string                     `json:"c"`
	Round   int                        `json:"r"` // the one that opens it
	ID      string                     `json:"i"`
	Until   int64                      `json:"u"` // Unix milliseconds
	Answers map[string]Answer          `json:"a,omitempty"`
	Asked   map[string]question        `json:"q,omitempty"`
	Steps   map[string]json.RawMessage `json:"s,omitempty"`
	State   json.RawMessage            `json:"t,omitempty"`
}

// Suspend ends the round of j: it returns the questions to send and the sealed
// journal for the next round. state is kept for that round; nil: none.
func (k *Keeper) Suspend(j *Journal, b *Binding, state json.RawMessage) ([]Question, string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil, "", ErrClosed
	}
	j.closed = true
	if j.round >= k.Rounds {
		return nil, "", ErrRounds
	}
	out := stored{
		Call: j.callID, Round: j.round + 1, ID: rand.Text(), Until: time.Now().Add(k.TTL).UnixMilli(),
		Answers: j.answers, Asked: make(map[string]question, len(j.pending)), Steps: j.recorded(), State: state,
	}
	for _, q := range j.pending {
		out.Asked[q.Key] = question{Kind: q.Kind, Identity: identityOf(q.Text), Schema: q.Schema}
	}
	plain, err := jsonx.Marshal(&out)
	if err != nil {
		return nil, "", fmt.Errorf("rounds: the journal has no JSON: %w", err)
	}
	if base64.RawURLEncoding.EncodedLen(seal.Overhead+len(plain)) > k.Size {
		return nil, "", ErrSize
	}
	bound, err := b.bytes()
	if err != nil {
		return nil, "", fmt.Errorf("rounds: the arguments cannot be bound: %w", err)
	}
	return j.pending, k.Ring.Seal(plain, bound), nil
}

// Open returns the journal that a token of Suspend holds, in its next round.
// The error is for the log alone: whoever sent the token must not learn from
// it.
func (k *Keeper) Open(token string, b *Binding) (*Journal, error) {
	if len(token) > k.Size {
		return nil, fmt.Errorf("rounds: the state has %d bytes, more than the %d that are issued", len(token), k.Size)
	}
	bound, err := b.bytes()
	if err != nil {
		return nil, fmt.Errorf("rounds: the arguments cannot have been bound: %w", err)
	}
	plain, err := k.Ring.Open(token, bound)
	if err != nil {
		return nil, err
	}
	var in stored
	if err := jsonx.Unmarshal(plain, &in); err != nil {
		return nil, fmt.Errorf("rounds: a sealed journal cannot be read: %w", err)
	}
	j := &Journal{
		callID: in.Call, round: in.Round, stateID: in.ID, until: time.UnixMilli(in.Until),
		answers: in.Answers, asked: in.Asked, state: in.State, steps: make(map[string]*step, len(in.Steps)),
	}
	if !time.Now().Before(j.until) {
		return nil, errExpired
	}
	done := make(chan struct{})
	close(done)
	for key, value := range in.Steps {
		j.steps[key] = &step{over: done, value: value}
	}
	return j, nil
}
