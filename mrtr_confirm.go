package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// confirmKey is the key of the question that Tool.Confirm asks.
const confirmKey = ownKeys + "confirm"

// Confirm has the user agree to each call before its function runs, once the
// arguments have been found valid. In message, {name} stands for the argument
// of that name, a string, number or boolean, which is shown in quotes, with
// its control characters visible; {{ is a brace. The user agrees to these very
// values: a client that comes back with others has not asked.
//
// The call of a user who does not agree fails, as does that of a client that
// cannot ask.
func (t *Tool) Confirm(message string) *Tool {
	return t.change(func() { t.confirm = &message })
}

// confirmPart is a text, then an argument; one of them may be empty.
type confirmPart struct{ text, arg string }

// confirmParts takes a message apart. args has the types of the arguments by
// name.
func confirmParts(message string, args map[string]propertyType) ([]confirmPart, error) {
	if strings.TrimSpace(message) == "" {
		return nil, errors.New("the message for Confirm is empty")
	}
	var parts []confirmPart
	var text strings.Builder
	for rest := message; ; {
		before, after, found := strings.Cut(rest, "{")
		text.WriteString(before)
		if !found {
			return append(parts, confirmPart{text: text.String()}), nil
		}
		if more, escaped := strings.CutPrefix(after, "{"); escaped {
			text.WriteByte('{')
			rest = more
			continue
		}
		name, more, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fmt.Errorf("the message for Confirm has a brace that is not closed before %.60q; write {{ for a brace", after)
		}
		typ, known := args[name]
		switch {
		case !known:
			return nil, fmt.Errorf("the message for Confirm shows {%s}, and there is no such argument; write {{ for a brace", name)
		case !typ.scalar():
			return nil, fmt.Errorf("the message for Confirm shows {%s}, which is no string, number or boolean", name)
		}
		parts = append(parts, confirmPart{text.String(), name})
		text.Reset()
		rest = more
	}
}

// propertyType is the type of a property as its schema has it: a name or a
// list of them.
type propertyType []string

// UnmarshalJSON implements json.Unmarshaler.
func (p *propertyType) UnmarshalJSON(data []byte) error {
	var schema struct {
		Type jsonOneOrMany `json:"type"`
	}
	if err := jsonx.Unmarshal(data, &schema); err != nil {
		return nil // a boolean schema: of no type
	}
	*p = propertyType(schema.Type)
	return nil
}

type jsonOneOrMany []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *jsonOneOrMany) UnmarshalJSON(data []byte) error {
	if firstByte(data) != '"' {
		return jsonx.Unmarshal(data, (*[]string)(l))
	}
	name, _ := unquoted(data)
	*l = []string{name}
	return nil
}

// scalar reports whether all values of the type are strings, numbers,
// booleans, or null for one that is absent.
func (p propertyType) scalar() bool {
	return len(p) > 0 && !slices.Contains(p, "object") && !slices.Contains(p, "array")
}

// compileConfirm checks the message of Confirm against the arguments.
func (t *Tool) compileConfirm() {
	g := &t.given
	if t.confirm == nil || g.inPlan == nil {
		return
	}
	var schema struct {
		Properties map[string]propertyType `json:"properties"`
	}
	err := jsonx.Unmarshal(g.inPlan.JSON(), &schema)
	if err == nil {
		g.confirm, err = confirmParts(*t.confirm, schema.Properties)
	}
	if err != nil {
		g.problems = append(g.problems, t.finding("%w", err))
	}
}

// confirmed returns nil if the user agreed to the call, or if there is no need
// to; args have been found valid.
func (t *Tool) confirmed(ctx context.Context, args []byte) error {
	if t.given.confirm == nil {
		return nil
	}
	return t.askConfirm(ctx, args)
}

func (t *Tool) askConfirm(ctx context.Context, args []byte) error {
	a, err := questioner(ctx)
	if err != nil {
		return err
	}
	message, err := confirmText(t.given.confirm, args)
	if err != nil {
		return err
	}
	q := confirmation(confirmKey, message)
	q.own = true
	err = a.one(q, func(*ready, *elicitAnswer) error { return nil })
	if errors.Is(err, ErrDeclined) || errors.Is(err, ErrDismissed) {
		return ToolErrorf("not confirmed: the user did not agree to this call")
	}
	return err
}

// confirmText is the message for a call with the given arguments.
func confirmText(parts []confirmPart, args []byte) (string, error) {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
		if p.arg == "" {
			continue
		}
		value, err := jsonx.Find(args, p.arg)
		if err != nil {
			return "", err
		}
		b.WriteString(shownArgument(value))
	}
	return b.String(), nil
}

// maxShownArgument is how many characters of an argument are shown.
const maxShownArgument = 200

// shownArgument shows the user a value that a model chose: it must not pass
// for a part of the message, nor turn around or hide what stands beside it.
func shownArgument(value []byte) string {
	if value == nil {
		return "(none)"
	}
	text, isText := unquoted(value)
	if !isText {
		text = string(value)
	}
	cut := ""
	if runes := []rune(text); len(runes) > maxShownArgument {
		text, cut = string(runes[:maxShownArgument]), "…"
	}
	if isText {
		return strconv.Quote(text) + cut
	}
	return text + cut
}
