package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/rounds"
)

// elicitAnswer is what a user did with a question.
type elicitAnswer struct {
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content"`

	finished bool // it needs no further look
}

// The actions of an answer (MCP 2026-07-28, Elicitation › Response Actions).
const (
	actionAccept  = "accept"
	actionDecline = "decline"
	actionCancel  = "cancel"
)

// content is what was filled in. It is an object; a form without required
// fields may be sent without.
func (a *elicitAnswer) content() []byte {
	if a.Content == nil {
		return emptyObject
	}
	return a.Content
}

// refusal is what a user who did not accept means.
func (a *elicitAnswer) refusal() error {
	switch a.Action {
	case actionAccept:
		return nil
	case actionDecline:
		return ErrDeclined
	}
	return ErrDismissed
}

func decodeElicitAnswer(raw json.RawMessage) (*elicitAnswer, error) {
	a := new(elicitAnswer)
	if err := jsonx.Unmarshal(raw, a); err != nil {
		return nil, err
	}
	switch a.Action {
	case actionDecline, actionCancel:
		a.Content = nil // of no meaning
	case actionAccept:
		if a.Content != nil && firstByte(a.Content) != '{' {
			return nil, errors.New("content must be an object")
		}
	default:
		return nil, errors.New("action must be accept, decline or cancel")
	}
	return a, nil
}

// decodeRoots reads the result of roots/list (MCP 2026-07-28, Roots › Root).
func decodeRoots(raw json.RawMessage) ([]Root, error) {
	var w struct {
		Roots *[]Root `json:"roots"`
	}
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	if w.Roots == nil {
		return nil, errors.New("roots must be an array")
	}
	for i := range *w.Roots {
		if err := (*w.Roots)[i].check(); err != nil {
			return nil, err
		}
	}
	return *w.Roots, nil
}

func (r *Root) check() error {
	const start = "file://"
	if _, err := url.Parse(r.URI); err != nil || len(r.URI) < len(start) || !strings.EqualFold(r.URI[:len(start)], start) {
		return fmt.Errorf("the URI of a root starts with file://, unlike %s", strconv.Quote(r.URI))
	}
	return nil
}

// checkAnswer tells whether raw is a result of the request that a question of
// the kind is.
func checkAnswer(kind string, raw json.RawMessage) (err error) {
	if firstByte(raw) != '{' {
		return errors.New("it must be an object")
	}
	switch kind {
	case kindForm, kindURL:
		_, err = decodeElicitAnswer(raw)
	case kindSampling:
		_, err = decodeSampleResult(raw)
	case kindRoots:
		_, err = decodeRoots(raw)
	}
	return err
}

// takeEarly records the answer to q that came with the first round, before q
// was asked, if there is one and it fits. Clients may know what will be asked,
// and to answer without a user they need no state either way. Yet an answer
// that carries nothing but consent is none to what nobody was shown.
func (a *asking) takeEarly(q *ready, question *rounds.Question) {
	raw := a.early(q.Key)
	if raw == nil || q.own || checkAnswer(q.Kind, raw) != nil || q.missing(a.capabilities()) != nil {
		return
	}
	switch q.Kind {
	case kindURL:
		if !q.looks {
			return
		}
	case kindForm:
		answer, _ := decodeElicitAnswer(raw) // it was checked
		if q.form.bare || answer.refusal() == nil && q.form.check(a.req.ctx, answer.content()) != nil {
			return
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unasked[q.Key] != nil {
		delete(a.unasked, q.Key) // it counts once: a question that is asked again is asked
		a.journal.Accept(question, raw)
	}
}

// early is what came under key with the first round, nil if nothing did.
func (a *asking) early(key string) json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.unasked[key]
}

// takeEarlyAs is takeEarly for a question that is not known yet, of which the
// answer is read as a t.
func (a *asking) takeEarlyAs(key string, t reflect.Type) {
	if a.early(key) == nil || strings.HasPrefix(key, ownKeys) {
		return
	}
	q := &ready{Ask: Ask{Key: key, Kind: kindForm}}
	switch t {
	case reflect.TypeFor[*SampleResult]():
		q.Kind, q.Sample = kindSampling, new(SampleRequest)
	case reflect.TypeFor[[]Root]():
		q.Kind = kindRoots
	case reflect.TypeFor[*ElicitResult]():
		return // whatever the form
	default:
		if q.form = formOf(t); q.form.err() != nil {
			return
		}
	}
	a.takeEarly(q, &rounds.Question{Key: key, Kind: q.Kind})
}
