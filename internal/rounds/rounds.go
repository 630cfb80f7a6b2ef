// Package rounds keeps the journal of a call that asks its client for input
// and is called again with the answers (MCP 2026-07-28, Multi Round-Trip
// Requests).
//
// The journal holds what was answered and what was done. It travels through
// the client, sealed: nothing is kept on the server, and whichever process has
// the key can go on. What comes back is trusted as far as it is sealed, bound
// to its call, and not too old; answers are the client's word in any case.
//
//	journal.go  a journal in use: questions, answers, pending
//	steps.go    work that is done once over the rounds
//	keeper.go   sealing and opening
package rounds

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// Binding is what a sealed journal is good for: one call of one caller, to a
// server of that name. A journal opens only with the binding it was sealed
// with.
type Binding struct {
	Server          string
	Issuer, Subject string // of the caller; both empty for nobody in particular
	Method, Name    string // Name is that of the tool or prompt, or the URI
	Arguments       []byte // JSON as received; nil and null are the empty object
}

// bytes returns what stands for b. Arguments are the same in whatever order
// and with whatever white space they come, but for the spelling of numbers:
// no two that differ anywhere are taken for the same.
func (b *Binding) bytes() ([]byte, error) {
	args := b.Arguments
	if len(args) == 0 || string(args) == "null" {
		args = []byte("{}")
	}
	canonical, err := jsonx.Canonical(nil, args)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(canonical)
	var out []byte
	for _, part := range []string{b.Server, b.Issuer, b.Subject, b.Method, b.Name} {
		out = binary.BigEndian.AppendUint64(out, uint64(len(part)))
		out = append(out, part...)
	}
	return append(out, sum[:]...), nil
}

// identityOf shortens what makes a question the same in the next round.
func identityOf(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawStdEncoding.EncodeToString(sum[:16])
}
