package rounds

import (
	"context"
	"encoding/json"
)

// step is work that is done, or being done.
type step struct {
	over  chan struct{} // closed when value or err is there
	value json.RawMessage
	err   error
}

// Step returns the value recorded under key, by whichever round. If there is
// none it runs do and records what that returns; an error is not recorded. Of
// several callers at once one runs do, and the others wait for it, or until
// their ctx ends.
func (j *Journal) Step(ctx context.Context, key string, do func() (json.RawMessage, error)) (json.RawMessage, error) {
	for {
		j.mu.Lock()
		s := j.steps[key]
		if s == nil {
			s = &step{over: make(chan struct{})}
			if j.steps == nil {
				j.steps = make(map[string]*step)
			}
			j.steps[key] = s
			j.mu.Unlock()
			return j.run(key, s, do)
		}
		j.mu.Unlock()
		select {
		case <-s.over:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if s.err == nil {
			return s.value, nil
		}
		// The one that ran it failed, and has forgotten it: try for oneself.
	}
}

// run does the work of s, which is forgotten unless it succeeds: a panic, too,
// lets others try.
func (j *Journal) run(key string, s *step, do func() (json.RawMessage, error)) (json.RawMessage, error) {
	s.err = errUnfinished
	defer func() {
		if s.err != nil {
			j.mu.Lock()
			delete(j.steps, key)
			j.mu.Unlock()
		}
		close(s.over)
	}()
	s.value, s.err = do()
	return s.value, s.err
}

// recorded returns the steps that have a value. j.mu is held.
func (j *Journal) recorded() map[string]json.RawMessage {
	values := make(map[string]json.RawMessage, len(j.steps))
	for key, s := range j.steps {
		select {
		case <-s.over:
			if s.err == nil {
				values[key] = s.value
			}
		default: // still running: the next round will do it
		}
	}
	return values
}
