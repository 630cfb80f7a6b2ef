package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/wire"
)

// bridged is what a round came to in a session of an earlier revision, where
// it need not travel through the client.
type bridged struct {
	state   string // as it would have been sent
	answers map[string]json.RawMessage
}

// reachable reports whether the client of r can be asked anything: in revision
// 2026-07-28 by the result, before by requests on the way to it.
func (r *Request) reachable() bool {
	return r.rev.Modern || !r.session.stateless() && r.carrier.streams()
}

// bridge completes a call of an earlier revision that is suspended: it puts
// the questions as requests to the client, waits for the responses and runs
// the chain again, as if the client had come back with them. States are sealed
// and opened as on the way through a client, so that calls are bounded alike:
// by Limits.Rounds, Limits.State and StateTTL.
func (snap *snapshot) bridge(c *requestContext, v any, err error) (any, error) {
	req := &c.req
	for err == nil {
		suspended, ok := v.(*InputRequiredResult)
		if !ok || !req.owns(suspended) {
			break
		}
		var answers map[string]json.RawMessage
		if answers, err = req.askClient(c, suspended.ready, snap.srv.keeper.TTL); err != nil {
			return nil, err
		}
		req.asked.Store(&asking{req: req, bridged: &bridged{suspended.token, answers}})
		v, err = snap.run(c, req)
	}
	return v, err
}

// yielder is a carrier whose place others can have while a request waits for
// its client.
type yielder interface {
	// yield gives the place up; reclaim waits until there is one again.
	yield() (reclaim func())
}

// openAsk is a question that was put.
type openAsk struct {
	*ready
	id uint64
}

// askClient puts questions to the client, all at once, and returns the answers
// by key. It waits for them until one is none, ctx ends, or for at most d.
func (r *Request) askClient(ctx context.Context, questions []*ready, d time.Duration) (map[string]json.RawMessage, error) {
	if len(questions) == 0 {
		return nil, context.Cause(ctx)
	}
	if y, ok := r.carrier.(yielder); ok {
		defer y.yield()()
	}
	put := make([]openAsk, 0, len(questions))
	defer func() {
		for i := range put {
			put[i].cancel(r)
		}
	}()
	responses := make(chan reply, len(questions))
	for _, q := range questions {
		id := r.session.asks.begin(responses)
		put = append(put, openAsk{q, id})
		if err := r.carrier.notify(ctx, q.appendAsk(id, r.rev)); err != nil {
			return nil, err
		}
	}
	timeout := time.NewTimer(d)
	defer timeout.Stop()
	answers := make(map[string]json.RawMessage, len(put))
	for range put {
		select {
		case got := <-responses:
			q := put[slices.IndexFunc(put, func(q openAsk) bool { return q.id == got.id })]
			raw, err := q.read(got)
			if err != nil {
				return nil, err
			}
			answers[q.Key] = raw
		case <-timeout.C:
			return nil, ToolErrorf("the call was given up: the client did not answer a question within %v", d)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return answers, nil
}

// cancel tells the client that its response is not waited for any more, if it
// was (MCP 2025-11-25, Cancellation).
func (q *openAsk) cancel(r *Request) {
	if !r.session.asks.forget(q.id) {
		return
	}
	msg := strconv.AppendUint([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), q.id, 10)
	r.carrier.withdraw(append(msg, `,"reason":"the call that asked is over"}}`...))
}

// read returns the answer in a response.
func (q *openAsk) read(got reply) (json.RawMessage, error) {
	if got.result == nil {
		return nil, ToolErrorf("the client did not answer the question %.60q: %.200s (%d)", q.Key, got.fault.Message, got.fault.Code)
	}
	if err := checkAnswer(q.Kind, got.result); err != nil {
		return nil, ToolErrorf("the client gave no answer to the question %.60q: %v", q.Key, err)
	}
	return got.result, nil
}

// appendAsk is q as a request to a client of an earlier revision.
func (q *ready) appendAsk(id uint64, rev *wire.Revision) []byte {
	msg := strconv.AppendUint([]byte(`{"jsonrpc":"2.0","id":`), id, 10)
	method := "elicitation/create"
	switch q.Kind {
	case kindSampling:
		method = "sampling/createMessage"
	case kindRoots:
		method = "roots/list"
	}
	msg = append(append(append(msg, `,"method":"`...), method...), `","params":`...)
	return append(q.appendLegacyParams(msg, rev), '}')
}

// appendLegacyParams appends the params of q as rev has them. What is done out
// of band has an id there (MCP 2025-11-25, Elicitation › URL Mode).
func (q *ready) appendLegacyParams(dst []byte, rev *wire.Revision) []byte {
	switch q.Kind {
	case kindSampling:
		return append(dst, q.sampleParams(rev)...)
	case kindRoots:
		return append(dst, "{}"...)
	case kindURL:
		dst = jsonx.AppendString(append(dst, `{"mode":"url","message":`...), q.Message)
		dst = jsonx.AppendString(append(dst, `,"url":`...), q.URL)
		return append(jsonx.AppendString(append(dst, `,"elicitationId":`...), rand.Text()), '}')
	}
	dst = append(dst, '{')
	if rev.FullAsks {
		dst = append(dst, `"mode":"form",`...)
	}
	dst = jsonx.AppendString(append(dst, `"message":`...), q.shown().Message)
	form, _ := q.form.in(rev) // it was admitted
	return append(append(append(dst, `,"requestedSchema":`...), form...), '}')
}
