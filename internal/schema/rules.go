package schema

import "context"

// HasRules reports whether the type has rules beyond its schema.
func (p *Plan) HasRules() bool { return false }

// Rules checks a decoded value against what no schema can express. raw is the
// JSON it was decoded from: rules of what is absent there are not run.
func (p *Plan) Rules(ctx context.Context, v any, raw []byte) []Violation { return nil }
