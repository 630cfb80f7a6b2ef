package mcp

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// A handler may ask: the user, for input (Elicit, Confirm, Choose) or to open
// a page (ElicitURL), the client's model (Sample), or the client (Roots). It
// is an ordinary function: an ask whose answer is not there yet returns an
// error, which the handler returns. The client gets the questions, puts them,
// and makes the call again with the answers; the handler then runs again, from
// its top, and finds the answers at once (MCP 2026-07-28, Multi Round-Trip
// Requests). Nothing waits and nothing is kept on the server in between: what
// was answered travels through the client, sealed.
//
// So the code before an ask runs in every round. Work that must not is put
// into a Step, whose value is recorded. Questions that do not depend on each
// other go out in one round when they are asked by Gather, or by goroutines.
//
//	mrtr.go          asking, in straight lines
//	mrtr_reenter.go  asking by returning: InputRequired, Answer, State
//	mrtr_ask.go      questions, and what clients must declare for them
//	mrtr_form.go     forms from structs; mrtr_fields.go
//	mrtr_rounds.go   a request's part in it: open and close a round
//	mrtr_answer.go   what clients answer
//	mrtr_confirm.go  Tool.Confirm

var (
	// ErrInputRequired matches what an ask returns while it has no answer: the
	// handler returns it, wrapped or not, and runs again with the answer. On
	// the client it matches the *InputRequiredResult of a call that was not
	// answered to its end.
	ErrInputRequired = errors.New("input is required from the client; the handler must return this error")
	// ErrDeclined means that the user said no to a question.
	ErrDeclined = errors.New("the user declined")
	// ErrDismissed means that the user turned away from a question without an
	// answer.
	ErrDismissed = errors.New("the user dismissed the question")
	// ErrNotSupported matches what an ask returns when the client did not
	// declare that it can be asked so. A handler may go on without; one that
	// returns it fails the request, with an error that says what is missing.
	ErrNotSupported = errors.New("the client cannot be asked for this")
	// ErrRequestDone is what an ask returns when its request is over.
	ErrRequestDone = errors.New("the request is over")
)

// Elicit asks the user to fill in a T, a struct whose fields are the fields of
// a form (MCP 2026-07-28, Elicitation). Fields are strings, numbers, booleans,
// times, and slices of strings with an enum; tags are those of arguments, and
// mcp:"titles=Red|Green" gives the options of an enum titles. A type that is
// no form is an error, before anything is sent. Answers are checked like
// arguments; one that does not pass is asked for again, with what was wrong.
//
// key tells the questions of a call apart; message tells the user what is
// asked and why. Never ask for passwords or other secrets in this way: use
// ElicitURL.
//
// The error is ErrDeclined or ErrDismissed if the user would not, matches
// ErrNotSupported if the client cannot ask, and must be returned by the
// handler if it matches ErrInputRequired.
//
// Clients may know what will be asked: an answer that comes with the first
// round, under the key and fit for the form, counts. Use Confirm for what the
// user must have been shown.
func Elicit[T any](ctx context.Context, key, message string) (T, error) {
	var value T
	f := formOf(reflect.TypeFor[T]())
	q := Ask{Key: key, Kind: kindForm, Message: message, Schema: f.asSchema()}
	err := askOne(ctx, &q, func(_ *ready, answer *elicitAnswer) error {
		return f.decode(ctx, answer.content(), &value)
	})
	if err != nil {
		var none T
		return none, err
	}
	return value, nil
}

// Confirm asks the user to agree to something. It reports whether they did;
// a user who turns away is ErrDismissed, and other errors are those of Elicit.
// Only the answer to this very message counts, once it was sent.
func Confirm(ctx context.Context, key, message string) (bool, error) {
	err := askOne(ctx, confirmation(key, message), func(*ready, *elicitAnswer) error { return nil })
	if errors.Is(err, ErrDeclined) {
		return false, nil
	}
	return err == nil, err
}

// confirmation is a form without fields: to send it is to agree.
func confirmation(key, message string) *Ask {
	return &Ask{Key: key, Kind: kindForm, Message: message, Schema: formOf(reflect.TypeFor[struct{}]()).asSchema()}
}

// Choose asks the user to choose one of the options. Errors are those of
// Elicit.
func Choose(ctx context.Context, key, message string, options ...string) (string, error) {
	var picked struct {
		Choice string `json:"choice"`
	}
	form := Object().String("choice", "").Keyword("enum", options)
	err := choose(ctx, key, message, form, options, &picked)
	return picked.Choice, err
}

// ChooseMany asks the user to choose any number of the options, none
// included. Errors are those of Elicit.
func ChooseMany(ctx context.Context, key, message string, options ...string) ([]string, error) {
	var picked struct {
		Choices []string `json:"choices"`
	}
	form := Object().Array("choices", "", Type("string").Keyword("enum", options))
	err := choose(ctx, key, message, form, options, &picked)
	return picked.Choices, err
}

func choose(ctx context.Context, key, message string, form Schema, options []string, picked any) error {
	if len(options) == 0 {
		return fmt.Errorf("question %.60q: there are no options to choose from", key)
	}
	q := AskSchema(key, message, form)
	return askOne(ctx, &q, func(q *ready, answer *elicitAnswer) error {
		if err := q.form.check(ctx, answer.content()); err != nil {
			return err
		}
		return jsonx.Unmarshal(answer.content(), picked)
	})
}

// ElicitURL asks the user to open a page, where they do what must not pass
// through the client: enter a secret, pay, sign in to a third party (MCP
// 2026-07-28, Elicitation › URL Mode). It must not sign the user in to this
// very server.
//
// The user's consent does not mean that the page is done. done tells whether
// it is, and is asked in each round until it is; while it is not, the client
// gets the question again. nil means that consent is enough.
//
// url is https, or http on a development machine. It must hold nothing secret
// about the user and give no access by itself: the page has to find out that
// who opens it is who was asked (RequestFrom(ctx).Principal()), as links get
// passed on. It may differ from round to round. Errors are those of Elicit.
func ElicitURL(ctx context.Context, key, message, url string, done func(context.Context) (bool, error)) error {
	q := AskURL(key, message, url)
	q.looks = done != nil
	return askOne(ctx, &q, func(_ *ready, answer *elicitAnswer) error {
		if done == nil || answer.finished {
			return nil
		}
		ok, err := done(ctx)
		if err == nil && !ok {
			err = errUnfinished
		}
		return err
	})
}

// errUnfinished says that a page has not done its work.
var errUnfinished = errors.New("the page is not done yet")

// Sample asks the client's model to go on with a conversation. A request with
// a mistake is an error, before anything is sent. Other errors are those of
// Elicit.
//
// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will not
// be removed before 2027-07-28. Call a model provider instead.
func Sample(ctx context.Context, key string, req *SampleRequest) (*SampleResult, error) {
	q := AskSample(key, req)
	raw, err := askRaw(ctx, &q)
	if err != nil {
		return nil, err
	}
	return decodeSampleResult(raw)
}

// Roots asks the client for the folders that it lets servers work in. They
// may have gone when they are used. Errors are those of Elicit.
//
// Deprecated: SEP-2577 deprecates roots in revision 2026-07-28; they will not
// be removed before 2027-07-28. Take paths as arguments or configuration
// instead.
func Roots(ctx context.Context, key string) ([]Root, error) {
	q := AskRoots(key)
	raw, err := askRaw(ctx, &q)
	if err != nil {
		return nil, err
	}
	return decodeRoots(raw)
}

// Root is a folder or file that a client lets servers work in. URI starts with
// file://; Name is for display and may be empty.
//
// Deprecated: SEP-2577 deprecates roots in revision 2026-07-28; they will not
// be removed before 2027-07-28.
type Root struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
	Meta Meta   `json:"_meta,omitempty"`
}

// Gather asks several questions at once, so that they cost one round. When it
// returns nil all are answered: Answer has the answers, and so have Elicit and
// its like for the same questions. What a user declined or dismissed is
// answered too. If the client cannot be asked one of them, none is asked, and
// the error matches ErrNotSupported.
func Gather(ctx context.Context, asks ...Ask) error {
	a, err := linear(ctx)
	if err != nil {
		return err
	}
	var todo []*ready
	missing := new(notSupportedError)
	for i := range asks {
		q, err := a.admit(&asks[i])
		if err != nil {
			return err
		}
		switch wait, err := a.unanswered(ctx, q); {
		case err != nil:
			return err
		case !wait:
			continue
		}
		missing.missing.add(q.missing(a.capabilities()))
		todo = append(todo, q)
	}
	if !missing.missing.none() {
		return missing
	}
	for _, q := range todo {
		err = a.ask(q)
		if !errors.Is(err, ErrInputRequired) {
			return err
		}
	}
	return err
}

// Step runs fn once over the rounds of a call: its value is recorded and
// travels, sealed, with the answers. Use it for what must not happen again when
// the handler runs again, and for what would be slow. The value goes through
// JSON, in the first round too.
//
// Give each step a key of its own that is the same in every round, in a loop
// one made of what the turn is about: a key that was used before in the same
// run of the handler is an error, unless that step failed.
//
// An error is not recorded: fn runs again in the next round. Nor is a step the
// guarantee of exactly once, as a client may send the same round twice; see
// ServerOptions.Spend, and Request.CallID for keys by which others can tell.
func Step[T any](ctx context.Context, key string, fn func(context.Context) (T, error)) (T, error) {
	var value T
	raw, err := step(ctx, key, reflect.TypeFor[T](), func(ctx context.Context) ([]byte, error) {
		v, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		return jsonx.Marshal(&v)
	})
	if err == nil {
		err = jsonx.Unmarshal(raw, &value)
	}
	if err != nil {
		var none T
		return none, err
	}
	return value, nil
}

// Can reports whether the client of the request can be asked: kind is
// "elicitation.form", "elicitation.url", "sampling", "sampling.tools",
// "sampling.context" or "roots". With the id of an extension, such as
// "io.modelcontextprotocol/ui" for MCP Apps, it reports whether the client
// declared that one; a handler goes on without what is not.
func Can(ctx context.Context, kind string) bool {
	r := RequestFrom(ctx)
	if r == inert {
		return false
	}
	c := r.Capabilities()
	if strings.Contains(kind, "/") {
		return extends(c.Extensions, kind)
	}
	return r.reachable() && c.can(kind)
}
