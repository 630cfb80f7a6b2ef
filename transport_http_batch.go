package mcp

import (
	"errors"
	"net/http"
	"sync"

	"github.com/typedmcp/mcp/internal/jsonrpc"
	"github.com/typedmcp/mcp/internal/wire"
)

// receiveBatch answers an array of messages of a revision that has them (MCP
// 2025-03-26, Transports › Sending Messages to the Server) with an array of
// answers, when all are there. Its requests run side by side; their
// notifications have no stream to go to.
func (h *httpHandler) receiveBatch(w http.ResponseWriter, r *http.Request, body []byte, rev *wire.Revision) {
	parts, fault := splitBatch(body, h.snap.srv.opts.Limits)
	if fault != nil {
		writeJSON(w, http.StatusBadRequest, h.snap.srv.appendFault(nil, nil, fault))
		return
	}
	answers := make([][]byte, len(parts))
	var wg sync.WaitGroup
	for i, part := range parts {
		st := &httpStream{h: h, r: r, json: true}
		wg.Go(func() { st.answerPart(part, rev, &answers[i]) })
	}
	wg.Wait()
	all := []byte{'['}
	for _, answer := range answers {
		if answer == nil {
			continue
		}
		if len(all) > 1 {
			all = append(all, ',')
		}
		all = append(all, answer...)
	}
	if len(all) == 1 { // there were no requests
		w.WriteHeader(http.StatusAccepted)
		return
	}
	writeJSON(w, http.StatusOK, append(all, ']'))
}

// answerPart sets answer to the answer to one message of a batch; it stays nil
// for notifications, and for responses, as nothing was asked.
func (st *httpStream) answerPart(part []byte, rev *wire.Revision, answer *[]byte) {
	srv := st.h.snap.srv
	req := &st.ctx.req
	req.carrier, req.header, req.session = st, st.r.Header, sessionless(rev)
	if err := jsonrpc.Decode(part, srv.opts.Limits.Depth, &req.msg); err != nil {
		var fault *jsonrpc.Fault
		errors.As(err, &fault)
		*answer = jsonrpc.AppendError(nil, fault.ID, fault.Code, fault.Message, nil)
		return
	}
	if req.msg.Kind != jsonrpc.Request {
		return
	}
	if fault := unfit(&req.msg); fault != nil {
		*answer = srv.appendFault(nil, req.msg.ID, fault)
		return
	}
	if req.msg.Method == jsonrpc.MethodPing {
		*answer = appendPong(nil, req.msg.ID)
		return
	}
	defer st.ctx.close()
	if !st.h.active.add(st) {
		*answer = srv.appendFault(nil, req.msg.ID, Errorf(CodeInternalError, "Internal error: the server is shutting down"))
		return
	}
	defer st.h.active.remove(st)
	defer func() {
		if *answer == nil {
			*answer = srv.appendFault(nil, req.msg.ID, st.gone())
		}
	}()
	*answer, _ = st.h.snap.latest().handle(&st.ctx, nil)
}
