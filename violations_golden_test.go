package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/typedmcp/mcp"
)

// trip is what the bad calls of the golden file are for. None of its names but those of its JSON may show there.
type trip struct {
	Origin     string            `json:"from" jsonschema:"minLength=3,maxLength=3,pattern=^[A-Z]+$"`
	Target     string            `json:"to" jsonschema:"minLength=3,maxLength=3,pattern=^[A-Z]+$"`
	Depart     time.Time         `json:"depart"`
	Return     time.Time         `json:"return,omitzero" validate:"gtfield=Depart"`
	Seats      uint8             `json:"seats" jsonschema:"minimum=1,maximum=9"`
	Class      string            `json:"class,omitempty" jsonschema:"enum=economy,enum=business,default=economy"`
	Passengers []passenger       `json:"passengers" jsonschema:"minItems=1,maxItems=2"`
	Contact    string            `json:"contact,omitempty" validate:"email"`
	Budget     float64           `json:"budget,omitempty" jsonschema:"exclusiveMinimum=0,multipleOf=0.5"`
	Stops      []string          `json:"stops,omitempty" jsonschema:"uniqueItems"`
	MaxWait    time.Duration     `json:"max_wait,omitempty"`
	Ticket     []byte            `json:"ticket,omitempty"`
	Miles      map[string]int    `json:"miles,omitempty"`
	Flexible   bool              `json:"flexible,omitempty"`
	Extra      any               `json:"extra,omitempty"`
	Labels     map[string]string `json:"labels,omitempty" jsonschema:"maxLength=5"`
}

type passenger struct {
	Name string `json:"name" jsonschema:"minLength=1"`
	Age  int    `json:"age,omitempty" jsonschema:"minimum=0,maximum=130"`
}

// Validate implements mcp.Validator.
func (t *trip) Validate(context.Context) error {
	if t.Origin == t.Target {
		return &mcp.ArgsError{Violations: []mcp.Violation{{Path: "/to", Rule: "other", Message: "to must differ from from, got \"" + t.Target + "\" for both"}}}
	}
	return nil
}

// badCalls are arguments for a trip, each with something wrong.
var badCalls = []string{
	`{}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"passenger":[{"name":"Ada"}]}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":[{"name":"Ada"}],"clas":"business"}`,
	`{"from":"Berlin","to":"lis","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":[{"name":"Ada"}]}`,
	`{"from":"BER","to":"LIS","depart":"tomorrow","seats":1,"passengers":[{"name":"Ada"}]}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01","seats":"two","passengers":[{"name":"Ada"}]}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":0,"passengers":[]}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1.5,"passengers":[{"name":"A"},{"name":"B"},{"name":"C"}]}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":[{"name":"Ada"},{"name":"","age":"40"},{}]}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":"[{\"name\":\"Ada\"}]"}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":{"name":"Ada"},"class":"first","contact":"ada"}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","return":"2026-04-01T10:00:00Z","seats":1,"passengers":[{"name":"Ada"}]}`,
	`{"from":"BER","to":"BER","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":[{"name":"Ada"}]}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":[{"name":"Ada"}],"budget":0,"max_wait":"2 hours","ticket":"not base64!"}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":[{"name":"Ada"}],"budget":99.99,"stops":["MAD","OPO","MAD"]}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"seats":2,"passengers":[{"name":"Ada"}]}`,
	`{"from":null,"to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":[{"name":"Ada"},null]}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":[{"name":"Ada"}],"flexible":"yes","miles":{"LH":"12","TP":1e30}}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":300,"passengers":[{"name":"Ada"}],"extra":[1,{"id":12345678901234567890}]}`,
	`{"from":"BER","to":"LIS","depart":"2026-05-01T10:00:00Z","seats":1,"passengers":[{"name":"Ada","seat":"12A"}],"labels":{"a.b":"window seat"},"Class":"business"}`,
}

// TestViolationTexts holds what a model is told of bad calls to a golden file, which is read by people: each call must be
// mendable from its text alone.
func TestViolationTexts(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer("s", "1", nil)
	mcp.AddTool(s, "book", "", func(_ context.Context, t trip) (string, error) { return fmt.Sprint(t), nil }).Strict()
	var b strings.Builder
	for i, args := range badCalls {
		text := failureIn(t, ask(t, s, modernCall("1", "book", args)))
		t.Run(fmt.Sprintf("A32 A34 A35 A40 A45 C37 C40 call %d is refused in plain words", i+1), func(t *testing.T) {
			if !strings.HasPrefix(text, "Invalid arguments:\n- ") || goNames.MatchString(text) || strings.Contains(text, "Origin") {
				t.Errorf("%s: %s", args, text)
			}
		})
		fmt.Fprintf(&b, "%d. %s\n\n%s\n\n", i+1, args, text)
	}
	golden(t, "testdata/violations.txt", strings.TrimSuffix(b.String(), "\n"))
}
