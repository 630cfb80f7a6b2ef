// Package mcp is a server and client for the Model Context Protocol, in which
// programs offer tools, resources and prompts to language models.
//
// # A server
//
// A server is made of ordinary functions. Their argument and result types
// describe them: the schemas that models see, the checks of every call and the
// defaults all come from the Go types and their tags.
//
//	type Args struct {
//		Name string `json:"name" jsonschema_description:"Who to greet"`
//	}
//
//	s := mcp.NewServer("greeter", "1.0.0", nil)
//	mcp.AddTool(s, "greet", "Say hello", func(ctx context.Context, a Args) (string, error) {
//		return "Hello, " + a.Name, nil
//	}).ReadOnly()
//	err := s.ServeStdio(ctx) // or s.ListenAndServe(ctx, ":8080", nil)
//
// [AddTool] is the way for most tools. [AddFunc], [AddMethod] and [AddService]
// take functions and methods as they are, [AddRawTool] and [AddToolDef] take
// schemas as data. [AddResource], [AddTemplate], [AddFS] and their like offer
// what can be read, [AddPrompt] what users can start from. A [Scope] puts a
// prefix before names. Give [ServerOptions] a Logger: it gets the faults that
// clients are not told.
//
// # Tags
//
// The fields of argument and result structs are described by
//
//   - json: the name, and with omitempty or omitzero that the field may be
//     absent; so may pointers and fields that have a default. In a result a
//     pointer without them may be null, which the schemas that hosts accept
//     cannot say of a typed value: it is described by its prose alone, and with
//     omitempty by its type too
//   - jsonschema: keywords, such as minimum=1,maximum=100,default=20 or
//     enum=asc,enum=desc
//   - jsonschema_description: prose for the model
//   - validate: rules of go-playground/validator, which become keywords where
//     they can and are run where they cannot
//   - mcp:"header=Region": the field is mirrored into the HTTP header
//     Mcp-Param-Region, for routing on the way. Proxies log headers, so secrets
//     and personal data do not belong there, and as any client can send them
//     they grant nothing (MCP 2026-07-28, Tools › x-mcp-header)
//
// A type with a method Values says which values it has, one with a method
// JSONSchema describes itself, and one that implements [Validator] checks what
// no keyword can.
//
// # Definitions
//
// Nothing panics on a bad definition: [Server.Check] reports every mistake at
// once, with file and line, and serving fails with the same error, so that one
// test shows them all. Registration ends when serving begins; a server with
// the option Dynamic changes afterwards through [Server.Update].
//
// # Errors
//
// An error of a tool's handler becomes a failed result, which the model reads:
// say what went wrong and what to do, with [ToolErrorf]. An [Error] fails the
// request itself. Panics never end the process.
//
// # Inside a call
//
// [RequestFrom] has the facts of the request that a context belongs to.
// [Progress] and [Logger] report; [Elicit], [Confirm], [Choose] and their like
// ask the user, in straight lines: the handler is run again with the answer,
// and what must happen once only is a [Step]. Return the errors they give.
//
// # Tests
//
// [InMemory] connects a client to a server in the same process:
//
//	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
//	text, err := mcp.Call[string](ctx, c, "greet", Args{Name: "Ada"})
//
// # Revisions
//
// A server answers clients of revision 2026-07-28, which is stateless, and of
// the earlier ones, which begin with a handshake, over the same pipe or URL.
// Handlers do not see the difference.
//
// # Files
//
// The comment in dispatch.go follows a request through the package. Features:
// tool*.go, func.go, service.go, prompt*.go, resource*.go, template.go,
// files*.go, app.go, complete.go, method.go, on definition.go, registry.go and
// list.go; who may use them: visible.go, scopes.go; how they change: update.go,
// listen.go. What happens to a call: args.go, textargs.go, result.go,
// content.go, failure.go, encode.go, middleware.go; what its handler can do
// meanwhile: request.go, logger.go, mrtr*.go. Transports: transport_*.go,
// conn*.go, session*.go. Who calls: principal.go, auth*.go. The client:
// client*.go, of which client_oauth*.go sign in. Below internal: jsonx (JSON),
// jsonrpc (messages), oauth (what both ends know of it), wire (what differs
// between revisions), schema (types and schemas), header and sse (HTTP), seal
// and rounds (what a call has asked).
package mcp
