// A test of authorization with a real authorization server, which is not in need of other SDKs.
module github.com/typedmcp/mcp/internal/interop/oauth

go 1.26.0

require (
	github.com/ory/fosite v0.49.0
	github.com/typedmcp/mcp v0.0.0
)

replace github.com/typedmcp/mcp => ../../..
