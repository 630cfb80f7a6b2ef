package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/typedmcp/mcp/internal/jsonx"
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
	if u, err := url.Parse(r.URI); err != nil || u.Scheme != "file" {
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
