// Tests with clients of other languages, which need more than Go to run.
module github.com/typedmcp/mcp/internal/interop

go 1.26.0
