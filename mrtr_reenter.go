package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/rounds"
)

// InputRequired returns an error by which a handler suspends its call, for
// handlers that keep track themselves of how far they are: the client gets the
// questions, and the handler runs again with the answers and with state, which
// Answer and State return then. state may be anything with a JSON form, or nil;
// it is sealed, and bound to this call. With a state but no questions the client
// calls again at once; with neither the call fails. A handler that uses InputRequired does not use Elicit and the
// other functions that ask in straight lines.
func InputRequired(state any, asks ...Ask) error { return &reentry{state, asks} }

// reentry is the error that InputRequired returns.
type reentry struct {
	state any
	asks  []Ask
}

func (e *reentry) Error() string { return ErrInputRequired.Error() }

// Is implements the method that errors.Is looks for.
func (e *reentry) Is(target error) bool { return target == ErrInputRequired }

// reenter suspends the call as a handler asked for.
func (a *asking) reenter(e *reentry) (any, error) {
	a.mu.Lock()
	mixed := a.linear
	a.mu.Unlock()
	switch {
	case !a.req.suspends():
		return nil, a.misused("asked for input, which this method has no way to do")
	case mixed:
		return nil, a.misused(mixedForms)
	case len(e.asks) == 0 && e.state == nil:
		return nil, a.misused("returned InputRequired without questions and without state")
	}
	missing := &notSupportedError{}
	questions := make([]*ready, len(e.asks))
	for i := range e.asks {
		q, err := a.admit(&e.asks[i])
		if err != nil {
			return nil, err
		}
		q.keep = true
		a.mu.Lock()
		q.note = a.refused[q.Key]
		a.mu.Unlock()
		missing.missing.add(q.missing(a.capabilities()))
		questions[i] = q
	}
	if !missing.missing.none() {
		return nil, missing
	}
	for _, q := range questions {
		if err := a.journal.Ask(q.question()); err != nil {
			return nil, unaskable(q.Key, err)
		}
	}
	state, err := encodeState(e.state)
	if err != nil {
		return nil, a.req.srv.hide("the state that "+a.req.what()+" gave to InputRequired has no JSON", err)
	}
	return a.suspend(state)
}

// encodeState puts a state into a list, so that one of null is told from none.
func encodeState(state any) (json.RawMessage, error) {
	if state == nil {
		return json.RawMessage("[]"), nil
	}
	raw, err := jsonx.Append([]byte{'['}, state)
	return append(raw, ']'), err
}

// State returns what the handler gave to InputRequired in the round before.
// It reports false in the first round, and if there was no state or none that
// a T can be made of, which is logged.
func State[T any](ctx context.Context) (T, bool) {
	var state T
	r := RequestFrom(ctx)
	if r == inert {
		return state, false
	}
	j, err := r.asking().open()
	if err != nil || j.State() == nil {
		return state, false
	}
	var list []json.RawMessage
	if err = jsonx.Unmarshal(j.State(), &list); err != nil || len(list) == 0 {
		return state, false
	}
	if err = jsonx.Unmarshal(list[0], &state); err != nil {
		r.srv.log.Error("mcp: the state of a suspended call does not fit the type it is asked for", "type", reflect.TypeFor[T]().String(), "feature", r.what())
		var none T
		return none, false
	}
	return state, true
}

// Answer returns the answer to the question that was asked under key, by
// InputRequired or Gather, in any round of the call. It reports false if there
// is none yet, and if there was one that cannot be used: then the handler asks
// again, and the user is told what was wrong.
//
// An answer that came with the first round counts too, as for Elicit, where T
// says what it has to be: a struct with fields, *SampleResult or []Root.
//
// T is the struct of the form, or a json.RawMessage or map for a form whose
// schema was given; an *ElicitResult for what the user did, whatever it was;
// *SampleResult; []Root. The error is ErrDeclined or ErrDismissed if the user
// would not answer.
func Answer[T any](ctx context.Context, key string) (T, bool, error) {
	var value T
	a, err := questioner(ctx)
	if err != nil {
		return value, false, err
	}
	found, ok := a.journal.Answer(key)
	if !ok {
		a.takeEarlyAs(key, reflect.TypeFor[T]())
		found, ok = a.journal.Answer(key)
	}
	if ok {
		ok, err = a.read(ctx, key, &found, &value)
	}
	if !ok || err != nil {
		var none T
		return none, ok, err
	}
	return value, true, nil
}

// read decodes an answer into v. It reports false for one that must be given
// again.
func (a *asking) read(ctx context.Context, key string, found *rounds.Answer, v any) (bool, error) {
	switch found.Kind {
	case kindSampling:
		result, err := decodeSampleResult(found.Raw)
		return assign(key, v, result, err)
	case kindRoots:
		roots, err := decodeRoots(found.Raw)
		return assign(key, v, roots, err)
	}
	answer, err := decodeElicitAnswer(found.Raw)
	if err != nil {
		return false, err
	}
	if whole, ok := v.(**ElicitResult); ok {
		*whole = &ElicitResult{Action: answer.Action, Content: answer.Content}
		return true, nil
	}
	if err := answer.refusal(); err != nil || found.Kind == kindURL {
		return true, err
	}
	t := reflect.TypeOf(v).Elem()
	if t.Kind() != reflect.Struct && (t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct) {
		return true, jsonx.Unmarshal(answer.content(), v)
	}
	f := formOf(t)
	if err := f.err(); err != nil {
		return true, err
	}
	var args *ArgsError
	if err = f.decode(ctx, answer.content(), v); errors.As(err, &args) {
		a.reject(key, args)
		return false, nil
	}
	return true, err
}

// assign puts an answer where it was asked for.
func assign[R any](key string, v any, result R, err error) (bool, error) {
	to, ok := v.(*R)
	switch {
	case err != nil:
		return false, err
	case !ok:
		return true, fmt.Errorf("the answer to question %.60q is read as another type than its own", key)
	}
	*to = result
	return true, nil
}
