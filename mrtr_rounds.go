package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/rounds"
)

// asking is a request's part in asking back. It is made when somebody asks,
// or when answers come in.
type asking struct {
	req     *Request
	once    sync.Once // guards the making of the next three
	journal *rounds.Journal
	err     error
	bridged *bridged // what an earlier round came to, if it is known here

	mu sync.Mutex // protects the fields below
	// unasked are answers that came without a state: to what they are answers
	// nobody knows.
	unasked map[string]json.RawMessage
	linear  bool                 // the handler asked in straight lines
	steps   map[string]bool      // keys of the steps in this run of the handler
	refused map[string]string    // what was wrong with answers, by key
	result  *InputRequiredResult // not nil: the call is suspended
}

// InputRequiredResult is a call that waits for input: what middleware sees in
// the place of a result. It may look, but not change or replace it. State is
// what the client has to send back, sealed.
//
// On the client it is the error of a call that was made with WithManual, or
// that asked more often than ClientOptions.MaxRounds; it matches
// ErrInputRequired.
type InputRequiredResult struct {
	Requests []Ask
	State    string

	ready []*ready // on the server: what is sent, whatever became of the above
	token string

	stateful bool // on the client: the server sent State, if only an empty one
}

// Error implements error.
func (r *InputRequiredResult) Error() string {
	return fmt.Sprintf("mcp: the server needs input before it can answer (questions: %d)", len(r.Requests))
}

// Is implements the method that errors.Is looks for.
func (r *InputRequiredResult) Is(target error) bool { return target == ErrInputRequired }

// asking returns r's part in asking back, which it makes at the first call.
func (r *Request) asking() *asking {
	if a := r.asked.Load(); a != nil {
		return a
	}
	r.asked.CompareAndSwap(nil, &asking{req: r})
	return r.asked.Load()
}

// CallID identifies the call over all of its rounds: a key by which other
// systems can tell that they have seen it before. "" outside a request.
func (r *Request) CallID() string {
	if r == inert {
		return ""
	}
	j, err := r.asking().open()
	if err != nil {
		return ""
	}
	return j.CallID()
}

// Round is which round of the call this is, from 1: the first has no answers
// yet. 0 outside a request.
func (r *Request) Round() int {
	switch a := r.asked.Load(); {
	case r == inert:
		return 0
	case a == nil && !r.answers():
		return 1
	}
	j, err := r.asking().open()
	if err != nil {
		return 1
	}
	return j.Round()
}

// answers reports whether the request comes with what an earlier round asked
// for.
func (r *Request) answers() bool {
	return (r.msg.RequestState() != nil || r.msg.InputResponses() != nil) && r.rev.Modern && r.suspends()
}

// suspends reports whether the request's method may be answered by questions.
func (r *Request) suspends() bool {
	m, _ := r.rev.Method(r.msg.Method)
	return m.Suspends
}

// openRound lets a handler begin: whatever comes with the request to answer
// questions is verified before anything runs.
func (r *Request) openRound() error {
	a := r.asked.Load()
	if a == nil && !r.answers() {
		return nil
	}
	if a == nil {
		a = r.asking()
	}
	_, err := a.open()
	a.mu.Lock()
	a.linear, a.steps = false, nil // what middleware did, an earlier run of the handler among it, is no matter of this one
	a.mu.Unlock()
	return err
}

// open returns the journal of the call, once it is verified.
func (a *asking) open() (*rounds.Journal, error) {
	a.once.Do(func() {
		a.err = errUnverified
		a.journal, a.err = a.verify()
	})
	return a.journal, a.err
}

var errUnverified = errors.New("the request's state could not be verified")

// verify reads what came with the request: the state, which must be our own
// and meant for this very call, and the answers, which must be answers.
func (a *asking) verify() (*rounds.Journal, error) {
	msg := &a.req.msg
	if b := a.bridged; b != nil {
		return a.resume(b.state, b.answers)
	}
	if !a.req.answers() {
		return rounds.New(), nil
	}
	answers, err := readAnswers(msg.InputResponses())
	if err != nil {
		return nil, err
	}
	if msg.RequestState() == nil {
		a.mu.Lock()
		a.unasked = answers
		a.mu.Unlock()
		return rounds.New(), nil
	}
	token, ok := unquoted(msg.RequestState())
	if !ok {
		return nil, Errorf(CodeInvalidParams, "Invalid params: requestState must be a string")
	}
	return a.resume(token, answers)
}

// resume opens the journal of an earlier round and puts the answers into it.
func (a *asking) resume(token string, answers map[string]json.RawMessage) (*rounds.Journal, error) {
	srv := a.req.srv
	j, err := srv.keeper.Open(token, a.binding())
	if err != nil {
		return nil, a.refuse(err.Error())
	}
	for key, raw := range answers {
		kind, _, asked := j.Asked(key)
		if !asked {
			continue
		}
		if err := checkAnswer(kind, raw); err != nil {
			return nil, Errorf(CodeInvalidParams, "Invalid params: the entry %.60q of inputResponses is no answer to its question: %v", key, err)
		}
	}
	if srv.opts.Spend != nil {
		first, err := srv.opts.Spend(a.req.ctx, j.StateID(), j.Until())
		if err != nil {
			return nil, srv.hide("spending a state of "+a.req.what(), err)
		}
		if !first {
			return nil, a.refuse("it was spent before")
		}
	}
	for key, raw := range answers {
		a.receive(j, key, raw)
	}
	return j, nil
}

func readAnswers(raw []byte) (map[string]json.RawMessage, error) {
	var answers map[string]json.RawMessage
	if raw == nil {
		return nil, nil
	}
	if raw[0] != '{' || jsonx.Unmarshal(raw, &answers) != nil {
		return nil, Errorf(CodeInvalidParams, "Invalid params: inputResponses must be an object, with an answer under the key of each question and no name twice")
	}
	return answers, nil
}

// receive records an answer, unless it is content that breaks the schema that
// was kept with its question: that has to be asked for again.
func (a *asking) receive(j *rounds.Journal, key string, raw json.RawMessage) {
	kind, schema, _ := j.Asked(key)
	if kind == kindForm && schema != nil {
		answer, _ := decodeElicitAnswer(raw) // it was checked
		if f, err := formFrom(RawSchema(string(schema))); err == nil && answer.Action == actionAccept {
			var args *ArgsError
			if errors.As(f.check(a.req.ctx, answer.content()), &args) {
				a.reject(key, args)
				return
			}
		}
	}
	j.Receive(key, raw)
}

// reject remembers what was wrong with an answer, for the question that asks
// again.
func (a *asking) reject(key string, why *ArgsError) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused == nil {
		a.refused = make(map[string]string)
	}
	a.refused[key] = complaint(why)
}

// refuse answers a state that is not valid here. Whoever sent it learns
// nothing of the reason.
func (a *asking) refuse(reason string) error {
	a.req.srv.log.Warn("mcp: a request state was refused", "reason", reason, "feature", a.req.what())
	return Errorf(CodeInvalidParams, "Invalid params: requestState is not valid for this request; make the call anew, without it")
}

// binding is what the journal of the call is good for.
func (a *asking) binding() *rounds.Binding {
	msg := &a.req.msg
	b := &rounds.Binding{Server: a.req.srv.impl.Name, Method: msg.Method, Arguments: msg.Arguments()}
	b.Issuer, b.Subject = a.req.Principal().identity()
	name := msg.Name()
	if b.Method == jsonrpc.MethodResourcesRead {
		name, b.Arguments = msg.URI(), nil
	}
	b.Name, _ = unquoted(name)
	return b
}

// capabilities is what the client declared with the request.
func (a *asking) capabilities() *ClientCapabilities {
	c := a.req.Capabilities()
	return &c
}

// closeRound ends the run of a handler, which returned v and err: questions
// without an answer suspend the call.
func (r *Request) closeRound(v any, err error) (any, error) {
	a := r.asked.Load()
	if a == nil && err != nil && errors.Is(err, ErrInputRequired) {
		a = r.asking() // by InputRequired, which needs none till now
	}
	switch {
	case a != nil:
		return a.close(v, err)
	case err != nil:
		return nil, err
	}
	return v, nil
}

// settle looks at what came of the whole chain: middleware may have asked, and
// must not replace a call that waits.
func (r *Request) settle(v any, err error) (any, error) {
	a := r.asked.Load()
	if a == nil {
		return r.closeRound(v, err)
	}
	a.mu.Lock()
	result := a.result
	a.mu.Unlock()
	switch {
	case result == nil:
		return a.close(v, err)
	case err == nil && v != any(result):
		return nil, a.misused("asked for input, and middleware put another result in the place of the question")
	}
	return v, err
}

func (a *asking) close(v any, err error) (any, error) {
	var again *reentry
	j, refused := a.open()
	switch {
	case refused == nil && errors.As(err, &again):
		return a.reenter(again)
	case refused != nil || !j.Asking():
		if err != nil {
			return nil, err
		}
		return v, nil
	case err == nil:
		return nil, a.misused("asked for input, and then did not return the error that asking returned")
	case !errors.Is(err, ErrInputRequired):
		return nil, err // it failed for another reason
	case j.State() != nil:
		return nil, a.misused(mixedForms)
	}
	return a.suspend(nil)
}

const mixedForms = "mixes InputRequired with the functions that ask in straight lines; one handler uses one of the two"

// misused reports a mistake of a handler's author.
func (a *asking) misused(how string) error {
	a.req.srv.log.Error("mcp: a handler "+how, "feature", a.req.what())
	return Errorf(CodeInternalError, "Internal error: the handler of %s %s", a.req.what(), how)
}

// suspend ends the round with the questions that are pending. state is the
// handler's own, nil for none.
func (a *asking) suspend(state json.RawMessage) (any, error) {
	srv := a.req.srv
	questions, token, err := srv.keeper.Suspend(a.journal, a.binding(), state)
	switch {
	case errors.Is(err, rounds.ErrRounds):
		return nil, ToolErrorf("the call was given up: it asked for input in %d rounds without coming to an end", srv.keeper.Rounds)
	case errors.Is(err, rounds.ErrSize):
		srv.log.Error("mcp: the answers and steps of a call are larger than Limits.State", "limit", srv.keeper.Size, "feature", a.req.what())
		return nil, ToolErrorf("the call was given up: what was answered and done so far is larger than the %d bytes that may be kept between rounds", srv.keeper.Size)
	case err != nil:
		return nil, srv.hide("the state of "+a.req.what()+" cannot be sealed", err)
	}
	if a.req.header != nil && srv.opts.StateKeys == nil {
		srv.warnOnce("state keys", "mcp: StateKeys is not set: calls that wait for input fail after a restart, and on other replicas of this server")
	}
	result := &InputRequiredResult{State: token, token: token}
	for _, q := range questions {
		q := q.Payload.(*ready)
		result.ready = append(result.ready, q)
		result.Requests = append(result.Requests, q.shown())
	}
	a.mu.Lock()
	a.result = result
	a.mu.Unlock()
	return result, nil
}

// owns reports whether v is the suspension of this very request.
func (r *Request) owns(v *InputRequiredResult) bool {
	a := r.asked.Load()
	if a == nil || v == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.result == v
}

// appendMembers appends the members of r. A call that waits is no result, so
// it has no hints on how to cache it.
func (r *InputRequiredResult) appendMembers(dst []byte) []byte {
	dst = append(dst, `{"resultType":"input_required",`...)
	if len(r.ready) > 0 {
		dst = append(dst, `"inputRequests":{`...)
		for _, q := range r.ready {
			dst = q.appendRequest(appendName(dst, q.Key))
		}
		dst = append(dst, "},"...)
	}
	return jsonx.AppendString(append(dst, `"requestState":`...), r.token)
}
