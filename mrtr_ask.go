package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/rounds"
)

// The kinds of question, as Ask and Can name them.
const (
	kindForm     = "elicitation.form"
	kindURL      = "elicitation.url"
	kindSampling = "sampling"
	kindRoots    = "roots"
)

// Ask is a question to the client: make it with AskForm, AskSchema, AskURL,
// AskSample or AskRoots. Key tells the questions of one call apart. Kind is
// elicitation.form, elicitation.url, sampling or roots, and says which of the
// other fields count.
type Ask struct {
	Key, Kind    string
	Message, URL string
	Schema       Schema
	Sample       *SampleRequest

	own   bool // it is asked by this package
	looks bool // what consent led to is looked at
}

// AskForm asks the user to fill in a T, as Elicit does.
func AskForm[T any](key, message string) Ask {
	return Ask{Key: key, Kind: kindForm, Message: message, Schema: formOf(reflect.TypeFor[T]()).asSchema()}
}

// AskSchema asks the user to fill in a form whose schema is given: an object
// whose properties are strings, numbers, integers, booleans, or arrays of
// strings to choose from (MCP 2026-07-28, Elicitation › Requested Schema).
func AskSchema(key, message string, form Schema) Ask {
	return Ask{Key: key, Kind: kindForm, Message: message, Schema: form}
}

// AskURL asks the user to open a page, as ElicitURL does. The answer says that
// the user agreed, not that the page has done its work.
func AskURL(key, message, url string) Ask {
	return Ask{Key: key, Kind: kindURL, Message: message, URL: url}
}

// AskSample asks the client's model, as Sample does.
//
// Deprecated: SEP-2577 deprecates sampling in revision 2026-07-28; it will not
// be removed before 2027-07-28. Call a model provider instead.
func AskSample(key string, req *SampleRequest) Ask {
	return Ask{Key: key, Kind: kindSampling, Sample: req}
}

// AskRoots asks the client for its root folders, as Roots does.
//
// Deprecated: SEP-2577 deprecates roots in revision 2026-07-28; they will not
// be removed before 2027-07-28. Take paths as arguments or configuration
// instead.
func AskRoots(key string) Ask { return Ask{Key: key, Kind: kindRoots} }

// ownKeys starts the keys of questions that this package asks by itself.
const ownKeys = "mcp."

const maxKey = 200

// ready is an Ask that was found to be complete, with its wire form.
type ready struct {
	Ask
	form   *form  // of a form
	params []byte // of sampling
	keep   bool   // the form's schema goes with the question
	note   string // what was wrong with the last answer
}

// check holds q to what the protocol demands of a question.
func (q *Ask) check() (*ready, error) {
	out := &ready{Ask: *q}
	fail := func(format string, args ...any) (*ready, error) {
		return nil, fmt.Errorf("question %.60q: %w", q.Key, fmt.Errorf(format, args...))
	}
	if q.Key == "" || len(q.Key) > maxKey || !utf8.ValidString(q.Key) {
		return fail("a key is text of 1 to %d bytes", maxKey)
	}
	if strings.HasPrefix(q.Key, ownKeys) && !q.own {
		return fail("keys that start with %q are not for handlers", ownKeys)
	}
	var err error
	switch q.Kind {
	case kindForm:
		if out.form, err = formFrom(q.Schema); err != nil {
			return fail("%w", err)
		}
	case kindURL:
		err = checkAskedURL(q.URL)
	case kindSampling:
		if q.Sample == nil {
			return fail("there is no sampling request")
		}
		out.params, err = q.Sample.appendParams(nil)
	case kindRoots:
	default:
		return fail("the kind %.60q is none of %s, %s, %s and %s", q.Kind, kindForm, kindURL, kindSampling, kindRoots)
	}
	if err != nil {
		return fail("%w", err)
	}
	if q.Message == "" && (q.Kind == kindForm || q.Kind == kindURL) {
		return fail("there is no message, which tells the user what is asked and why")
	}
	return out, nil
}

// checkAskedURL refuses what no user should be sent to.
func checkAskedURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("the URL is malformed")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return errors.New("the URL is not one of https or http with a host")
	case u.User != nil:
		return errors.New("the URL has credentials in it")
	}
	return nil
}

// text is what makes q the same question in the next round: all of it, save
// the URL, which may be a new one each time.
func (q *ready) text() []byte {
	parts := []string{q.Kind, q.Message, "", string(q.params)}
	if q.form != nil {
		parts[2] = string(q.form.json)
	}
	out, _ := jsonx.Marshal(&parts) // plain strings cannot fail
	return out
}

// question is q as the journal of its call knows it.
func (q *ready) question() *rounds.Question {
	out := &rounds.Question{Key: q.Key, Kind: q.Kind, Text: q.text(), Payload: q}
	if q.keep && q.form != nil {
		out.Schema = q.form.json
	}
	return out
}

// shown is q as it goes out.
func (q *ready) shown() Ask {
	out := q.Ask
	if q.note != "" {
		out.Message += "\n\n" + q.note
	}
	return out
}

// appendRequest appends q as an entry of inputRequests.
func (q *ready) appendRequest(dst []byte) []byte {
	switch q.Kind {
	case kindForm:
		dst = append(dst, `{"method":"elicitation/create","params":{"mode":"form","message":`...)
		dst = jsonx.AppendString(dst, q.shown().Message)
		dst = append(append(dst, `,"requestedSchema":`...), q.form.json...)
	case kindURL:
		dst = append(dst, `{"method":"elicitation/create","params":{"mode":"url","message":`...)
		dst = jsonx.AppendString(dst, q.Message)
		dst = jsonx.AppendString(append(dst, `,"url":`...), q.URL)
	case kindSampling:
		dst = append(append(dst, `{"method":"sampling/createMessage","params":`...), q.params...)
		return append(dst, '}')
	default:
		dst = append(dst, `{"method":"roots/list","params":{`...)
	}
	return append(dst, "}}"...)
}

// missing is what the client would have to declare for q; nil if it did (MCP
// 2026-07-28, Multi Round-Trip Requests › Server Requirements).
func (q *Ask) missing(c *ClientCapabilities) *ClientCapabilities {
	switch q.Kind {
	case kindForm:
		if !c.can(kindForm) {
			return &ClientCapabilities{Elicitation: &ElicitationCapability{Form: &struct{}{}}}
		}
	case kindURL:
		if !c.can(kindURL) {
			return &ClientCapabilities{Elicitation: &ElicitationCapability{URL: &struct{}{}}}
		}
	case kindSampling:
		var need SamplingCapability
		tools := len(q.Sample.Tools) > 0 || q.Sample.ToolChoice != ""
		if tools && !c.can("sampling.tools") {
			need.Tools = &struct{}{}
		}
		if in := q.Sample.IncludeContext; in != "" && in != "none" && !c.can("sampling.context") {
			need.Context = &struct{}{}
		}
		if !c.can(kindSampling) || need != (SamplingCapability{}) {
			return &ClientCapabilities{Sampling: &need}
		}
	case kindRoots:
		if !c.can(kindRoots) {
			return &ClientCapabilities{Roots: &RootsCapability{}}
		}
	}
	return nil
}

// can reports whether the client declared the named capability. An empty
// elicitation means forms.
func (c *ClientCapabilities) can(kind string) bool {
	e, s := c.Elicitation, c.Sampling
	switch kind {
	case "elicitation":
		return e != nil
	case kindForm:
		return e != nil && (e.Form != nil || e.URL == nil)
	case kindURL:
		return e != nil && e.URL != nil
	case kindSampling:
		return s != nil
	case "sampling.tools":
		return s != nil && s.Tools != nil
	case "sampling.context":
		return s != nil && s.Context != nil
	case kindRoots:
		return c.Roots != nil
	}
	return false
}

// none reports whether nothing that a question needs is declared.
func (c *ClientCapabilities) none() bool {
	return c.Elicitation == nil && c.Sampling == nil && c.Roots == nil
}

// add puts what o declares, which may be nil, to what c does.
func (c *ClientCapabilities) add(o *ClientCapabilities) {
	if o == nil {
		return
	}
	if o.Elicitation != nil {
		if c.Elicitation == nil {
			c.Elicitation = new(ElicitationCapability)
		}
		if o.Elicitation.Form != nil {
			c.Elicitation.Form = o.Elicitation.Form
		}
		if o.Elicitation.URL != nil {
			c.Elicitation.URL = o.Elicitation.URL
		}
	}
	if o.Sampling != nil {
		if c.Sampling == nil {
			c.Sampling = new(SamplingCapability)
		}
		if o.Sampling.Tools != nil {
			c.Sampling.Tools = o.Sampling.Tools
		}
		if o.Sampling.Context != nil {
			c.Sampling.Context = o.Sampling.Context
		}
	}
	if o.Roots != nil {
		c.Roots = o.Roots
	}
}

// names lists what c declares, as Can names it.
func (c *ClientCapabilities) names() string {
	var all []string
	for _, kind := range []string{kindForm, kindURL, "sampling.tools", "sampling.context", kindSampling, kindRoots} {
		if c.can(kind) && !(kind == kindSampling && len(all) > 0 && strings.HasPrefix(all[len(all)-1], kindSampling)) {
			all = append(all, kind)
		}
	}
	return strings.Join(all, ", ")
}

// notSupportedError says that the client did not declare what a question
// needs.
type notSupportedError struct {
	missing ClientCapabilities
	never   bool   // the client cannot be asked at all
	form    string // the revision that has no such forms; "": that is not the reason
}

func (e *notSupportedError) Error() string {
	if e.form != "" {
		return "this client cannot be asked with a list in the form: its revision " + e.form + " has forms of single values only"
	}
	if e.never {
		return "this client cannot be asked for input (" + e.missing.names() + ")"
	}
	return "Missing required client capability: " + e.missing.names()
}

// Is implements the method that errors.Is looks for.
func (e *notSupportedError) Is(target error) bool { return target == ErrNotSupported }

// answer is how a request fails that cannot do without.
func (e *notSupportedError) answer(req *Request) (*Result, *Error) {
	if e.never || !req.rev.Modern {
		return req.failed((&notSupportedError{e.missing, true, e.form}).Error())
	}
	return nil, &Error{Code: CodeMissingCapability, Message: e.Error(), Data: struct {
		Required *ClientCapabilities `json:"requiredCapabilities"`
	}{&e.missing}}
}
