package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/rounds"
)

// questioner returns the request's part in asking back, if it may ask at all.
func questioner(ctx context.Context) (*asking, error) {
	r := RequestFrom(ctx)
	switch {
	case r == inert:
		return nil, fmt.Errorf("%w: the context is not that of a request", ErrNotSupported)
	case r.over():
		return nil, ErrRequestDone
	case !r.suspends():
		return nil, r.srv.hide(r.what()+" cannot be answered by questions, but asked one", ErrNotSupported)
	}
	a := r.asking()
	_, err := a.open()
	return a, err
}

// over reports whether the response has been decided on.
func (r *Request) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// linear is questioner for a handler that asks in straight lines.
func linear(ctx context.Context) (*asking, error) {
	a, err := questioner(ctx)
	if err == nil {
		a.mu.Lock()
		a.linear = true
		a.mu.Unlock()
	}
	return a, err
}

// askOne asks the user, and hands what they accepted to accept. If that
// returns an *ArgsError, or errUnfinished, the user is asked again.
func askOne(ctx context.Context, q *Ask, accept func(*ready, *elicitAnswer) error) error {
	a, err := linear(ctx)
	if err != nil {
		return err
	}
	return a.one(q, accept)
}

func (a *asking) one(q *Ask, accept func(*ready, *elicitAnswer) error) error {
	r, err := a.admit(q)
	if err != nil {
		return err
	}
	found, err := a.find(r)
	if err != nil {
		return err
	}
	if found == nil {
		return a.ask(r)
	}
	answer, err := decodeElicitAnswer(found.Raw)
	if err == nil {
		err = answer.refusal()
	}
	if err != nil {
		return err
	}
	answer.finished = found.Done
	return a.accept(r, accept(r, answer))
}

// accept deals with what was found in an answer that the user gave.
func (a *asking) accept(q *ready, err error) error {
	var args *ArgsError
	switch {
	case err == nil:
		if q.Kind == kindURL { // whoever looks later may find the page gone
			a.journal.Finish(q.Key)
		}
		return nil
	case errors.As(err, &args):
		again := *q
		again.note = complaint(args)
		return a.ask(&again)
	case errors.Is(err, errUnfinished):
		return a.ask(q)
	}
	return err
}

// askRaw asks the client, and returns its answer.
func askRaw(ctx context.Context, q *Ask) ([]byte, error) {
	a, err := linear(ctx)
	if err != nil {
		return nil, err
	}
	r, err := a.admit(q)
	if err != nil {
		return nil, err
	}
	found, err := a.find(r)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, a.ask(r)
	}
	return found.Raw, nil
}

// admit makes a question ready to be asked.
func (a *asking) admit(q *Ask) (*ready, error) {
	r, err := q.check()
	if err != nil {
		return nil, err
	}
	plain := !a.req.rev.Modern && !r.fits(a.req.rev)
	if plain || !a.req.reachable() {
		e := &notSupportedError{never: true}
		e.missing.add(q.missing(new(ClientCapabilities)))
		if plain && q.missing(a.capabilities()) == nil {
			e.form = a.req.rev.Version
		}
		return nil, e
	}
	a.req.srv.discourage(r)
	return r, nil
}

// find returns the answer to q, nil if there is none.
func (a *asking) find(q *ready) (*rounds.Answer, error) {
	question := q.question()
	answer, ok, err := a.journal.Find(question)
	if err == nil && !ok {
		a.takeEarly(q, question)
		answer, ok, err = a.journal.Find(question)
	}
	switch {
	case err != nil:
		return nil, unaskable(q.Key, err)
	case !ok:
		return nil, nil
	}
	return &answer, nil
}

// unaskable says why the journal took no question.
func unaskable(key string, err error) error {
	if errors.Is(err, rounds.ErrConflict) {
		return fmt.Errorf("question %.60q: the key stands for two different questions in one call", key)
	}
	return ErrRequestDone
}

// ask puts q among the questions that go out when the handler returns.
func (a *asking) ask(q *ready) error {
	if missing := q.missing(a.capabilities()); missing != nil {
		return &notSupportedError{missing: *missing}
	}
	if err := a.journal.Ask(q.question()); err != nil {
		return unaskable(q.Key, err)
	}
	return fmt.Errorf("question %.60q: %w", q.Key, ErrInputRequired)
}

// unanswered reports whether q has to be asked, for the first time or again,
// which it notes in q.
func (a *asking) unanswered(ctx context.Context, q *ready) (bool, error) {
	found, err := a.find(q)
	if found == nil || err != nil {
		return true, err
	}
	if q.Kind != kindForm {
		return false, nil
	}
	answer, err := decodeElicitAnswer(found.Raw)
	if err != nil || answer.refusal() != nil {
		return false, err
	}
	var args *ArgsError
	switch err = q.form.check(ctx, answer.content()); {
	case errors.As(err, &args):
		q.note = complaint(args)
		return true, nil
	case err != nil:
		return true, err
	}
	return false, nil
}

// stepTypes has what is wrong with the types of steps.
var stepTypes sync.Map // reflect.Type to []jsonx.TypeProblem

// step returns the JSON of what do returned under key, in whichever round. Out
// of a request there are no rounds.
func step(ctx context.Context, key string, t reflect.Type, do func(context.Context) ([]byte, error)) ([]byte, error) {
	found, known := stepTypes.Load(t)
	if !known {
		found, _ = stepTypes.LoadOrStore(t, jsonx.CheckType(t))
	}
	for _, p := range found.([]jsonx.TypeProblem) {
		return nil, &RegistrationError{
			Feature: fmt.Sprintf("step %.60q", key), Type: t.String(), Field: p.Path, Tag: p.Tag,
			Caller: callerSite().String(), Err: errors.New(p.Reason),
		}
	}
	r := RequestFrom(ctx)
	switch {
	case r == inert:
		return do(ctx)
	case insideStep(ctx, key):
		return nil, fmt.Errorf("step %.60q is called within itself, where it has no value yet: give the inner one a key of its own", key)
	case r.over():
		return nil, ErrRequestDone
	}
	inside := context.WithValue(ctx, stepKey{}, &stepsAround{key, ctx.Value(stepKey{})})
	return r.asking().step(ctx, key, func() (json.RawMessage, error) { return do(inside) })
}

// step is step in a request. A key that comes again after its step succeeded,
// or is under way, is taken for a mistake: the first value would be returned
// for work that was not done. Only a failed step may be tried again.
func (a *asking) step(ctx context.Context, key string, do func() (json.RawMessage, error)) (value json.RawMessage, err error) {
	j, err := a.open()
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	repeated := a.steps[key]
	if a.steps == nil {
		a.steps = make(map[string]bool)
	}
	a.steps[key] = true
	a.mu.Unlock()
	if repeated {
		return nil, fmt.Errorf("step %.60q: the key was used before in this call: give each step a key of its own, in a loop too", key)
	}
	succeeded := false
	defer func() {
		if !succeeded { // it may have panicked
			a.mu.Lock()
			defer a.mu.Unlock()
			delete(a.steps, key)
		}
	}()
	value, err = j.Step(ctx, key, do)
	succeeded = err == nil
	return value, err
}

// stepKey is under which the context of a step has the *stepsAround it.
type stepKey struct{}

type stepsAround struct {
	key   string
	outer any // *stepsAround or nil
}

// insideStep reports whether ctx is that of step key, or of one inside it.
func insideStep(ctx context.Context, key string) bool {
	at, _ := ctx.Value(stepKey{}).(*stepsAround)
	for at != nil && at.key != key {
		at, _ = at.outer.(*stepsAround)
	}
	return at != nil
}
