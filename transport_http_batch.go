package mcp

import (
	"errors"
	"net/http"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonrpc"
)

// receiveBatch answers an array of messages of a revision that has them (MCP
// 2025-03-26, Transports › Sending Messages to the Server) with an array of
// answers, when all are there. Its requests run side by side; their
// notifications have no stream to go to. It reports false, having done
// nothing, where there are no batches.
func (h *httpHandler) receiveBatch(w http.ResponseWriter, r *http.Request, body []byte) bool {
	b := &httpBatch{h: h, r: r}
	rev := h.legacyRevision(r.Header)
	switch {
	case h.sessions == nil && rev != nil && rev.Batches:
		b.sess = sessionless(rev)
	case h.sessions == nil || namesModern(r.Header):
		return false
	default:
		if b.of = h.session(w, r); b.of == nil {
			return true
		}
		defer h.sessions.release(b.of)
		if b.sess = b.of.session; !b.sess.rev.Batches {
			return false
		}
	}
	parts, fault := splitBatch(body, h.snap.srv.opts.Limits)
	if fault != nil {
		writeJSON(w, http.StatusBadRequest, h.snap.srv.appendFault(nil, nil, fault))
		return true
	}
	answers := make([][]byte, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		if serve := b.begin(part, &answers[i]); serve != nil {
			wg.Go(serve)
		}
	}
	wg.Wait()
	if all := joinAnswers(answers); all != nil {
		writeJSON(w, http.StatusOK, all)
	} else { // there were no requests
		w.WriteHeader(http.StatusAccepted)
	}
	return true
}

// joinAnswers makes an array of the answers that are not nil; nil if there are
// none.
func joinAnswers(answers [][]byte) []byte {
	var all []byte
	for _, answer := range answers {
		if answer != nil {
			all = append(append(all, ','), answer...)
		}
	}
	if all == nil {
		return nil
	}
	all[0] = '['
	return append(all, ']')
}

// httpBatch is several messages in one POST.
type httpBatch struct {
	h    *httpHandler
	r    *http.Request
	sess *session
	of   *httpSession // nil: stateless
}

// begin deals with one message in its turn, so that notifications and
// responses take effect before what comes after them starts, and on what came
// before. It returns what is left to be done for a request, nil for nothing.
// The answer goes to answer, which stays nil for notifications and responses.
func (b *httpBatch) begin(part []byte, answer *[]byte) (serve func()) {
	srv := b.h.snap.srv
	st := &httpStream{h: b.h, r: b.r, json: true}
	req := &st.ctx.req
	req.carrier, req.header, req.session = st, b.r.Header, b.sess
	if err := jsonrpc.Decode(part, srv.opts.Limits.Depth, &req.msg); err != nil {
		var fault *jsonrpc.Fault
		errors.As(err, &fault)
		*answer = jsonrpc.AppendError(nil, fault.ID, fault.Code, fault.Message, nil)
		return nil
	}
	if req.msg.Kind != jsonrpc.Request {
		b.take(&req.msg)
		return nil
	}
	fault := unfit(&req.msg)
	if fault == nil && req.msg.Method == jsonrpc.MethodPing {
		*answer = appendPong(nil, req.msg.ID)
		return nil
	}
	if fault == nil && b.of != nil {
		st.sess = &sessionStream{of: b.of}
		fault = b.of.start(st)
	}
	if fault != nil {
		*answer = srv.appendFault(nil, req.msg.ID, fault)
		return nil
	}
	return func() { st.answerPart(answer) }
}

// take acts on a message that is not answered.
func (b *httpBatch) take(m *jsonrpc.Message) {
	switch {
	case b.of == nil:
	case m.Kind == jsonrpc.Response:
		b.of.asks.responded(m)
	default:
		b.of.notified(m)
	}
}

// answerPart sets answer to the answer to one request of a batch, if that is
// still wanted then.
func (st *httpStream) answerPart(answer *[]byte) {
	srv, id := st.h.snap.srv, st.ctx.req.msg.ID
	defer st.settled()
	defer st.ctx.close()
	if !st.h.active.add(st) {
		*answer = srv.appendFault(nil, id, errStopping)
		return
	}
	defer st.h.active.remove(st)
	defer func() {
		switch {
		case st.sess != nil && st.sess.unwanted.Load():
			*answer = nil
		case *answer == nil:
			*answer = srv.appendFault(nil, id, st.gone())
		}
	}()
	*answer, _ = st.h.snap.latest().handle(&st.ctx, nil)
}
