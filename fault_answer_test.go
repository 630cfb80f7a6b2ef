package mcp_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const (
	webJSON   = "application/json"
	webStream = "text/event-stream"
)

// textResult is a good answer; the text is one that JSON need not escape.
func textResult(id, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, id, text)
}

// framed is a message in the form of a carrier: a line, or a whole answer of one message.
func framed(carrier, message string) string {
	if carrier == fromLines {
		return message + "\n"
	}
	return webHead(webJSON, fmt.Sprint("Content-Length: ", len(message))) + message
}

// TestFaultsOfServers is about servers that go away, or answer with too much.
func TestFaultsOfServers(t *testing.T) {
	const (
		closed   = "mcp: tools/call: the server closed the connection"
		tooLarge = "mcp: tools/call: mcp: message too large"
		tooDeep  = "mcp: tools/call: the server's answer cannot be read: Invalid Request: nested deeper than 128 levels"
	)
	runFaults(t, newBadServer, []faultRow[*badServer]{
		{
			name: "C130 a server that vanishes mid-call", loopback: true,
			want:   map[string]string{fromLines: closed, fromHTTP: `mcp: tools/call: Post "http://localhost/mcp": EOF`, fromSessions: `mcp: tools/call: Post "http://localhost/mcp": EOF`},
			inject: calls(func(string, string, func(string) bool) {}),
		},
		{
			name: "C130 a server that vanishes mid-answer", loopback: true,
			want: map[string]string{fromLines: closed, fromHTTP: "mcp: tools/call: unexpected EOF", fromSessions: "mcp: tools/call: unexpected EOF"},
			inject: calls(func(carrier, id string, write func(string) bool) {
				whole := framed(carrier, textResult(id, "never"))
				write(whole[:len(whole)-10])
			}),
		},
		{
			name: "C92 an answer of 17 MB", loopback: true,
			want: map[string]string{fromLines: closed, fromHTTP: tooLarge, fromSessions: tooLarge},
			inject: calls(func(carrier, id string, write func(string) bool) {
				write(framed(carrier, textResult(id, strings.Repeat("x", 17<<20))))
			}),
		},
		{
			name: "an answer that is nested a million deep", loopback: true,
			want: map[string]string{fromLines: tooDeep, fromHTTP: tooDeep, fromSessions: tooDeep},
			inject: calls(func(carrier, id string, write func(string) bool) {
				deep := strings.Repeat("[", 1e6) + strings.Repeat("]", 1e6)
				write(framed(carrier, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":%s}}`, id, deep)))
			}),
		},
		{
			name: "C62 100,000 bad lines before the answer", loopback: true,
			want: map[string]string{fromLines: "result good"},
			inject: calls(func(carrier, id string, write func(string) bool) {
				write(strings.Repeat("bad\n", 100_000) + framed(carrier, textResult(id, "good")))
			}),
		},
		{
			name: "an answer that comes drop by drop",
			want: map[string]string{fromLines: "no answer within 1m0s", fromHTTP: "no answer within 1m0s", fromSessions: "no answer within 1m0s"},
			inject: calls(func(carrier, id string, write func(string) bool) {
				for _, c := range framed(carrier, textResult(id, "slow")) {
					if !write(string(c)) {
						return
					}
					time.Sleep(time.Second)
				}
			}),
		},
	})
}

// TestFaultsOfAnswers is about answers that are no HTTP, or no stream of events.
func TestFaultsOfAnswers(t *testing.T) {
	const ended = "mcp: tools/call: the server ended the stream before its answer"
	row := func(name, want string, loopback bool, answer func(id string, write func(string) bool)) faultRow[*badServer] {
		return faultRow[*badServer]{name: name, loopback: loopback, want: map[string]string{fromHTTP: want, fromSessions: want},
			inject: calls(func(_, id string, write func(string) bool) { answer(id, write) })}
	}
	plain := func(text string) func(string, func(string) bool) {
		return func(id string, write func(string) bool) { write(strings.ReplaceAll(text, "{id}", id)) }
	}
	event := "data: " + textResult("{id}", "good") + "\n\n"
	runFaults(t, newBadServer, []faultRow[*badServer]{
		row("a server that speaks something else", `mcp: tools/call: Post "http://localhost/mcp": net/http: HTTP/1.x transport connection broken: malformed HTTP status code "ready"`, true, plain("220 ready\r\n")),
		row("C92 header lines without end", `mcp: tools/call: Post "http://localhost/mcp": net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 10485760 bytes; aborted`, true, plain(webHead(webJSON, strings.Repeat("X: y\r\n", 2<<20)))),
		row("C131 a stream that ends before the answer", ended, true, plain(webHead(webStream)+": hello\n\n")),
		row("C131 a stream that ends within the answer", ended, true, plain(webHead(webStream)+strings.TrimSuffix(event, "\n"))),
		row("C131 an event without end", ended, true, plain(webHead(webStream)+"data: "+strings.Repeat("x", 17<<20)+"\n\n")),
		row("C131 a line that is no field, without end", "result good", true, plain(webHead(webStream)+strings.Repeat("x", 15<<20)+"\n\n"+event)),
		row("C131 bytes that are no text", "result good", true, plain(webHead(webStream)+strings.Repeat("\x00\xff\xfe\n", 100_000)+"\n"+event)),
		row("C131 20,000 events that are no messages", "result good", true, plain(webHead(webStream)+strings.Repeat("data: {\n\n", 20_000)+event)),
		row("5,000 reports of nobody's progress", "result good", true, plain(webHead(webStream)+strings.Repeat("data: "+progressNotice("99", 1, 2)+"\n\n", 5_000)+event)),
		row("C86 comments for ever", "no answer within 1m0s", false, func(_ string, write func(string) bool) {
			for text := webHead(webStream); write(text); text = ": wait\n\n" {
				time.Sleep(time.Second)
			}
		}),
	})
}
