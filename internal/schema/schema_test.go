package schema_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/typedmcp/mcp/internal/schema"
)

// input derives the plan of arguments of type T, which must be without fault.
func input[T any](t testing.TB) *schema.Plan {
	t.Helper()
	p, problems := schema.Input(reflect.TypeFor[T](), schema.Options{})
	for _, problem := range problems {
		if !problem.Warning {
			t.Fatalf("problem: %+v", problem)
		}
	}
	return p
}

// accepts fails unless args pass, and come out as out.
func accepts(t *testing.T, p *schema.Plan, args, out string) {
	t.Helper()
	got, violations := p.Check([]byte(args))
	if violations != nil {
		t.Errorf("Check(%s) = %+v, want it accepted", args, violations)
		return
	}
	if string(got) != out {
		t.Errorf("Check(%s) = %s, want %s", args, got, out)
	}
}

// refuses fails unless args break exactly the given rules, each written
// "path rule: message".
func refuses(t *testing.T, p *schema.Plan, args string, want ...string) {
	t.Helper()
	_, violations := p.Check([]byte(args))
	var got []string
	for _, v := range violations {
		got = append(got, v.Path+" "+v.Rule+": "+v.Message)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Check(%s) (-want +got):\n%s", args, diff)
	}
}

func TestReadableViolations(t *testing.T) {
	type args struct {
		Name  string `json:"name"`
		Age   uint   `json:"age"`
		Roles []struct {
			ID int `json:"id"`
		} `json:"roles"`
	}
	t.Run("C37 all faults at once, A40", func(t *testing.T) {
		refuses(t, input[args](t), `{"age":-1,"roles":[{"id":1},{"id":"x"}]}`,
			`/age minimum: age must be at least 0, got -1`,
			`/roles/1/id type: roles[1].id must be an integer, got the string "x"`,
			`/name required: name is required, but missing: it must be a string`,
		)
	})
	t.Run("C38 integer spellings", func(t *testing.T) {
		accepts(t, input[args](t), `{"name":"x","age":1e1,"roles":[{"id":1.0}, {"id":-0}]}`, `{"name":"x","age":10,"roles":[{"id":1}, {"id":0}]}`)
	})
}
