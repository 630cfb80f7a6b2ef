package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// ElicitRequest is a server's question to the user (MCP 2026-07-28,
// Elicitation). Show which server asks. Mode is "form" or "url".
type ElicitRequest struct {
	Mode, Message string
	// URL is the page to open in mode url: show it whole, make its host plain
	// to see, and open it only if the user agrees, where neither this program
	// nor a model can look into it. Nothing has fetched it.
	URL string
	// Schema is the flat form to fill in, in mode form.
	Schema json.RawMessage
}

// ElicitResult is what the user did with a question. Action is "accept",
// "decline" or "cancel". Content is the object that was filled in, when a form
// is accepted; what is missing in it gets the form's defaults.
type ElicitResult struct {
	Action  string
	Content json.RawMessage
}

// asked is an input_required result as a server sent it.
type asked struct {
	requests []member // by key; nil: the server has no questions
	present  bool     // requests were there, if only an empty object
	state    *string  // to be sent back; nil: there is none
}

// rounds makes the call r, answering what the server asks on the way.
func (c *Client) rounds(ctx context.Context, r *call, o *callOptions) ([]byte, error) {
	limit := c.opts.MaxRounds
	if limit <= 0 {
		limit = defaultMaxRounds
	}
	r.retry = o.answers
	for round := 0; ; round++ {
		raw, err := c.exchange(ctx, r, o)
		if err != nil {
			return nil, err
		}
		switch suspended, err := isSuspended(r.method, raw); {
		case err != nil:
			return nil, err
		case !suspended:
			return raw, nil
		}
		a, err := readAsked(raw)
		if err != nil {
			return nil, invalidResponse(r.method, err)
		}
		if o.manual || round == limit {
			result, err := a.result()
			if err != nil {
				return nil, invalidResponse(r.method, err)
			}
			return nil, result
		}
		if r.retry, err = c.answer(ctx, r.method, a, round); err != nil {
			return nil, err
		}
	}
}

const defaultMaxRounds = 10

// isSuspended reports whether a result is a request for input, and refuses
// every result that is not complete otherwise (MCP 2026-07-28, Basic ›
// ResultType). Servers of older revisions do not say.
func isSuspended(method string, raw []byte) (bool, error) {
	if raw[0] != '{' {
		return false, invalidResponse(method, errors.New("the result is not an object"))
	}
	quoted, err := jsonx.Find(raw, "resultType")
	if err != nil {
		return false, invalidResponse(method, err)
	}
	switch kind, isText := jsonx.View(quoted); {
	case kind == "complete", quoted == nil, string(quoted) == "null":
		return false, nil
	case !isText:
		return false, invalidResponse(method, errors.New("resultType is not a string"))
	case kind != "input_required":
		return false, invalidResponse(method, fmt.Errorf("the result is of the unknown type %.60q", kind))
	}
	if m, _ := wire.Revisions[0].Method(method); !m.Suspends {
		return false, invalidResponse(method, errors.New("the server asks for input, which it must not in answer to this method"))
	}
	return true, nil
}

func readAsked(raw []byte) (*asked, error) {
	var w struct {
		Requests json.RawMessage `json:"inputRequests"`
		State    *string         `json:"requestState"`
	}
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	a := &asked{state: w.State, present: w.Requests != nil}
	if !a.present && a.state == nil {
		return nil, errors.New("the server asks for input, and neither says which nor gives a state to come back with")
	}
	var err error
	if a.present {
		if a.requests, err = objectMembers(w.Requests); err != nil {
			return nil, fmt.Errorf("inputRequests %w", err)
		}
	}
	return a, nil
}

// wireAsk has the members of all kinds of input request.
type wireAsk struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type wireElicit struct {
	Mode    *string         `json:"mode"`
	Message *string         `json:"message"`
	URL     string          `json:"url"`
	Schema  json.RawMessage `json:"requestedSchema"`
}

// readAsk reads an input request.
func readAsk(key string, raw []byte) (*Ask, error) {
	fail := func(err error) (*Ask, error) {
		return nil, fmt.Errorf("the input request %.60q: %w", key, err)
	}
	var w wireAsk
	if err := jsonx.Unmarshal(raw, &w); err != nil {
		return fail(err)
	}
	switch w.Method {
	case "roots/list":
		return &Ask{Key: key, Kind: kindRoots}, nil
	case "sampling/createMessage":
		req, err := decodeSampleRequest(w.Params)
		if err != nil {
			return fail(err)
		}
		return &Ask{Key: key, Kind: kindSampling, Sample: req}, nil
	case "elicitation/create":
	default:
		return fail(fmt.Errorf("the method %.60q is none that a server may ask with", w.Method))
	}
	var p wireElicit
	if err := jsonx.Unmarshal(w.Params, &p); err != nil {
		return fail(err)
	}
	switch {
	case p.Message == nil:
		return fail(errors.New("there is no message"))
	case p.Mode == nil || *p.Mode == "form":
		if firstByte(p.Schema) != '{' {
			return fail(errors.New("there is no requestedSchema"))
		}
		return &Ask{Key: key, Kind: kindForm, Message: *p.Message, Schema: RawSchema(string(p.Schema))}, nil
	case *p.Mode != "url":
		return fail(fmt.Errorf("the mode %.60q is unknown", *p.Mode))
	}
	if err := checkAskedURL(p.URL); err != nil {
		return fail(err)
	}
	return &Ask{Key: key, Kind: kindURL, Message: *p.Message, URL: p.URL}, nil
}

// result is a for a caller who answers by hand.
func (a *asked) result() (*InputRequiredResult, error) {
	result := new(InputRequiredResult)
	if a.state != nil {
		result.State, result.stateful = *a.state, true
	}
	for _, m := range a.requests {
		q, err := readAsk(m.name, m.value)
		if err != nil {
			return nil, err
		}
		result.Requests = append(result.Requests, *q)
	}
	return result, nil
}

// answer has every question answered, and returns the members of params that
// the next round has besides those of the first (MCP 2026-07-28, Multi
// Round-Trip Requests › Client Requirements).
func (c *Client) answer(ctx context.Context, method string, a *asked, round int) ([]byte, error) {
	if len(a.requests) == 0 {
		if err := pace(ctx, round); err != nil {
			return nil, fmt.Errorf("mcp: %s: %w", method, err)
		}
	}
	var dst []byte
	if a.present {
		dst = append(dst, `"inputResponses":{`...)
		for _, m := range a.requests {
			q, err := readAsk(m.name, m.value)
			if err != nil {
				return nil, invalidResponse(method, err)
			}
			if dst, err = c.appendAnswer(ctx, appendName(dst, m.name), q); err != nil {
				return nil, fmt.Errorf("mcp: %s: the server's question %.60q: %w", method, q.Key, err)
			}
		}
		dst = append(dst, "},"...)
	}
	if a.state != nil {
		dst = append(jsonx.AppendString(append(dst, `"requestState":`...), *a.state), ',')
	}
	return dst, nil
}

// pace keeps a server that only wants to be called again from being called
// without a pause.
func pace(ctx context.Context, round int) error {
	const steps = 5 // after these it is a second, and shifted further it would overflow
	return sleep(ctx, min(50*time.Millisecond<<min(round, steps), time.Second))
}

// appendAnswer appends the answer to one question.
func (c *Client) appendAnswer(ctx context.Context, dst []byte, q *Ask) ([]byte, error) {
	if missing := q.missing(c.capabilities()); missing != nil {
		return nil, fmt.Errorf("the server asked for %s, which this client did not declare", missing.names())
	}
	switch q.Kind {
	case kindForm, kindURL:
		result, err := c.elicit(ctx, q)
		if err != nil {
			return nil, err
		}
		return result.append(dst)
	case kindSampling:
		result, err := c.opts.Sample(ctx, q.Sample)
		switch {
		case err != nil:
			return nil, err
		case result == nil:
			return nil, errors.New("the option Sample returned no result")
		}
		return result.appendJSON(dst)
	}
	roots, err := c.opts.Roots(ctx)
	if err != nil {
		return nil, err
	}
	return appendRoots(dst, roots)
}

// elicit asks the user. A failure to do so is for the server as if the user
// had turned away.
func (c *Client) elicit(ctx context.Context, q *Ask) (*ElicitResult, error) {
	req := &ElicitRequest{Mode: "form", Message: q.Message, Schema: json.RawMessage(q.Schema.JSON())}
	ask := c.opts.ElicitForm
	if q.Kind == kindURL {
		req, ask = &ElicitRequest{Mode: "url", Message: q.Message, URL: q.URL}, c.opts.ElicitURL
	}
	result, err := ask(ctx, req)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		c.log.Warn("mcp: a question to the user failed; the server is told that it was dismissed", "key", q.Key, "error", err)
		return &ElicitResult{Action: actionCancel}, nil
	case result == nil:
		return nil, errors.New("the option for it returned no result")
	case result.Action == actionAccept && q.Kind == kindForm:
		return c.complete(q, result)
	}
	return &ElicitResult{Action: result.Action}, nil
}

// complete fills in what the user left to the defaults of a form, and holds
// the rest to it: servers need not see what they would refuse.
func (c *Client) complete(q *Ask, result *ElicitResult) (*ElicitResult, error) {
	content := result.Content
	if content == nil {
		content = emptyObject
	}
	f, err := formFrom(q.Schema)
	if err != nil { // of a kind that this package does not know
		c.log.Warn("mcp: a form cannot be checked", "key", q.Key, "error", err)
		return &ElicitResult{Action: actionAccept, Content: content}, nil
	}
	filled, err := checkArgs(f.plan, content)
	if err != nil {
		var args *ArgsError
		if errors.As(err, &args) {
			err = errors.New(complaint(args))
		}
		return nil, err
	}
	return &ElicitResult{Action: actionAccept, Content: filled}, nil
}

// append appends r as the result of elicitation/create.
func (r *ElicitResult) append(dst []byte) ([]byte, error) {
	if !slices.Contains([]string{actionAccept, actionDecline, actionCancel}, r.Action) {
		return nil, fmt.Errorf("the action %s is none of accept, decline and cancel", strconv.Quote(r.Action))
	}
	dst = append(append(append(dst, `{"action":"`...), r.Action...), '"')
	if r.Content != nil && r.Action == actionAccept {
		if firstByte(r.Content) != '{' || !jsonx.Valid(r.Content) {
			return nil, errors.New("the content of the answer is not a JSON object")
		}
		dst = append(append(dst, `,"content":`...), r.Content...)
	}
	return append(dst, '}'), nil
}

// appendRoots appends the result of roots/list.
func appendRoots(dst []byte, roots []Root) ([]byte, error) {
	for i := range roots {
		if err := roots[i].check(); err != nil {
			return nil, err
		}
	}
	dst, err := jsonx.Append(append(dst, `{"roots":`...), &roots)
	return append(dst, '}'), err
}

// capabilities is what the client declares with every request: what its
// options can answer.
func (c *Client) capabilities() *ClientCapabilities {
	out := new(ClientCapabilities)
	if c.opts.ElicitForm != nil {
		out.add(&ClientCapabilities{Elicitation: &ElicitationCapability{Form: &struct{}{}}})
	}
	if c.opts.ElicitURL != nil {
		out.add(&ClientCapabilities{Elicitation: &ElicitationCapability{URL: &struct{}{}}})
	}
	if c.opts.Sample != nil {
		out.Sampling = new(SamplingCapability)
		if c.opts.SampleTools {
			out.Sampling.Tools = &struct{}{}
		}
	}
	if c.opts.Roots != nil {
		out.Roots = new(RootsCapability)
	}
	return out
}

// WithManual has a call fail with an *InputRequiredResult when the server asks
// for input: answer by making the same call with WithAnswers.
func WithManual() CallOption {
	return callOption(func(o *callOptions) { o.manual = true })
}

// WithAnswers answers what the server asked in an earlier round of the same
// call: by key an *ElicitResult, a *SampleResult or a []Root, and the State of
// the *InputRequiredResult that asked. With the state "" none is sent; who still
// has the result uses its WithAnswers, which knows an empty state from none.
func WithAnswers(answers map[string]any, state string) CallOption {
	return withAnswers(answers, state, state != "")
}

// WithAnswers is the function of that name with r's State, which is sent back
// as it was, even empty (MCP 2026-07-28, Multi Round-Trip Requests › Client
// Requirements).
func (r *InputRequiredResult) WithAnswers(answers map[string]any) CallOption {
	return withAnswers(answers, r.State, r.stateful || r.State != "")
}

func withAnswers(answers map[string]any, state string, stateful bool) CallOption {
	return callOption(func(o *callOptions) {
		dst := []byte(`"inputResponses":{`)
		for _, key := range slices.Sorted(maps.Keys(answers)) {
			out, err := appendManual(appendName(dst, key), answers[key])
			if err != nil {
				o.err = errors.Join(o.err, fmt.Errorf("the answer to question %.60q: %w", key, err))
				return
			}
			dst = out
		}
		dst = append(dst, "},"...)
		if stateful {
			dst = append(jsonx.AppendString(append(dst, `"requestState":`...), state), ',')
		}
		o.answers = dst
	})
}

func appendManual(dst []byte, answer any) ([]byte, error) {
	switch a := answer.(type) {
	case *ElicitResult:
		if a != nil {
			return a.append(dst)
		}
	case *SampleResult:
		if a != nil {
			return a.appendJSON(dst)
		}
	case []Root:
		return appendRoots(dst, a)
	}
	return nil, fmt.Errorf("an answer is an *ElicitResult, a *SampleResult or a []Root, not a %T", answer)
}
