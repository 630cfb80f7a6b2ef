package oauth_test
import (
 _ "github.com/ory/fosite/compose"
 _ "github.com/ory/fosite/storage"
 _ "github.com/ory/fosite/handler/oauth2"
 _ "github.com/ory/fosite/token/jwt"
 _ "github.com/typedmcp/mcp"
)
