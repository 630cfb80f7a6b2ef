package schema_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/typedmcp/mcp/internal/jsonx"
	"github.com/typedmcp/mcp/internal/schema"
)

// broken runs the whole way of arguments, schema and rules, and returns what
// was broken, each as "path rule: message".
func broken[T any](t *testing.T, args string) []string {
	t.Helper()
	p := input[T](t)
	out, violations := p.Check([]byte(args))
	if violations == nil && p.HasRules() {
		v := new(T)
		if err := jsonx.Unmarshal(out, v); err != nil {
			t.Fatalf("%s passes but does not decode: %v", out, err)
		}
		violations = p.Rules(context.Background(), v, out)
	}
	var list []string
	for _, v := range violations {
		list = append(list, v.Path+" "+v.Rule+": "+v.Message)
	}
	return list
}

func breaks[T any](t *testing.T, args string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, broken[T](t, args)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", args, diff)
	}
}

// TestRulesBecomeSchema shows the lossless part of validate tags.
func TestRulesBecomeSchema(t *testing.T) {
	tests := []struct {
		typ       reflect.Type
		tag, want string
	}{
		{reflect.TypeFor[string](), `min=2,max=4`, `{"type":"string","minLength":2,"maxLength":4}`},
		{reflect.TypeFor[string](), `len=3`, `{"type":"string","minLength":3,"maxLength":3}`},
		{reflect.TypeFor[string](), `gt=2,lt=4`, `{"type":"string","minLength":3,"maxLength":3}`},
		{reflect.TypeFor[string](), `gte=2,lte=4`, `{"type":"string","minLength":2,"maxLength":4}`},
		{reflect.TypeFor[*string](), `min=2`, `{"type":"string","minLength":2}`},
		{reflect.TypeFor[int](), `min=1,max=0x10`, `{"type":"integer","minimum":1,"maximum":16}`},
		{reflect.TypeFor[int](), `gt=1,lt=9`, `{"type":"integer","minimum":2,"maximum":8}`},
		{reflect.TypeFor[uint8](), `len=7`, `{"type":"integer","minimum":7,"maximum":7}`},
		{reflect.TypeFor[uint8](), `eq=7`, `{"type":"integer","minimum":7,"maximum":7}`},
		{reflect.TypeFor[float64](), `gt=0.5,lte=1.5`, `{"type":"number","exclusiveMinimum":0.5,"maximum":1.5}`},
		{reflect.TypeFor[[]int](), `min=1,max=3,unique`, `{"type":"array","items":{"type":"integer"},"minItems":1,"maxItems":3,"uniqueItems":true}`},
		{reflect.TypeFor[map[string]int](), `min=1`, `{"type":"object","additionalProperties":{"type":"integer"},"minProperties":1}`},
		{reflect.TypeFor[string](), `oneof=red 'light green'`, `{"type":"string","enum":["red","light green"]}`},
		{reflect.TypeFor[int](), `oneof=1 2`, `{"type":"integer","enum":[1,2]}`},
		{reflect.TypeFor[string](), `eq=x`, `{"type":"string","enum":["x"]}`},
		{reflect.TypeFor[bool](), `eq=true`, `{"type":"boolean","enum":[true]}`},
		{reflect.TypeFor[string](), `email`, `{"type":"string","format":"email"}`},
		{reflect.TypeFor[string](), `url`, `{"type":"string","format":"uri"}`},
		{reflect.TypeFor[string](), `uuid`, `{"type":"string","format":"uuid"}`},
		{reflect.TypeFor[string](), `ipv6`, `{"type":"string","format":"ipv6"}`},
		{reflect.TypeFor[string](), `ip`, `{"type":"string"}`},
		{reflect.TypeFor[[]string](), `max=3,dive,min=2,email`, `{"type":"array","items":{"type":"string","minLength":2,"format":"email"},"maxItems":3}`},
		{reflect.TypeFor[map[string][]uint](), `dive,max=2,dive,lt=5`, `{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer","minimum":0,"maximum":4},"maxItems":2}}`},
		{reflect.TypeFor[string](), `required`, `{"type":"string"}`},
		{reflect.TypeFor[string](), `omitempty,min=3`, `{"type":"string","minLength":3}`},
	}
	for _, tt := range tests {
		t.Run(tt.typ.String()+" "+tt.tag, func(t *testing.T) {
			p, problems := schema.Input(tagged(tt.typ, `json:"v" validate:"`+tt.tag+`"`), schema.Options{Full: true})
			if p == nil {
				t.Fatalf("problems: %+v", problems)
			}
			if p.HasRules() {
				t.Error("something is left to the library")
			}
			required := `,"required":["v"]`
			if tt.typ.Kind() == reflect.Pointer {
				required = ""
			}
			sameJSON(t, string(p.JSON()), `{"type":"object","properties":{"v":`+tt.want+`}`+required+`}`)
			compiled(t, p)
		})
	}
	t.Run("enum and oneof together", func(t *testing.T) {
		type args struct {
			V string `json:"v" jsonschema:"enum=a,enum=b,enum=c" validate:"oneof=c b x"`
		}
		if got := string(input[args](t).JSON()); !strings.Contains(got, `"enum":["c","b"]`) {
			t.Errorf("got %s", got)
		}
	})
	t.Run("required goes into the schema", func(t *testing.T) {
		type args struct {
			V *bool `json:"v,omitempty" validate:"required"`
		}
		breaks[args](t, `{}`, "/v required: v is required, but missing: it must be true or false")
		breaks[args](t, `{"v":null}`, "/v type: v must be true or false, got null")
		breaks[args](t, `{"v":false}`)
	})
}

// TestValidatorTraps covers the ways in which the library surprises.
func TestValidatorTraps(t *testing.T) {
	t.Run("required is presence for every kind", func(t *testing.T) {
		type args struct {
			B bool           `json:"b" validate:"required"`
			I int            `json:"i" validate:"required"`
			S string         `json:"s" validate:"required"`
			P *int           `json:"p" validate:"required"`
			A any            `json:"a" validate:"required"`
			L []int          `json:"l" validate:"required"`
			M map[string]int `json:"m" validate:"required"`
			D address        `json:"d" validate:"required"`
		}
		breaks[args](t, `{"b":false,"i":0,"s":"","p":0,"a":0,"l":[],"m":{},"d":{"city":""}}`)
		if got := broken[args](t, `{}`); len(got) != 8 {
			t.Errorf("got %q", got)
		}
	})
	t.Run("an empty string that was sent counts", func(t *testing.T) {
		type args struct {
			S string `json:"s,omitempty" validate:"omitempty,min=3"`
		}
		breaks[args](t, `{}`)
		breaks[args](t, `{"s":""}`, "/s minLength: s must have at least 3 characters, got 0")
	})
	t.Run("rules of absent fields are skipped", func(t *testing.T) {
		type args struct {
			Color string        `json:"color,omitempty" validate:"oneof=red blue"`
			Host  string        `json:"host,omitempty" validate:"fqdn"`
			Wait  time.Duration `json:"wait,omitempty" validate:"min=1s"`
			In    *struct {
				Host string `json:"host" validate:"fqdn"`
			} `json:"in"`
		}
		breaks[args](t, `{}`)
		breaks[args](t, `{"color":null,"host":null,"in":null}`)
		breaks[args](t, `{"host":"","wait":"1ms","in":{"host":"x y"}}`,
			`/host fqdn: host must be a full domain name, got ""`,
			`/wait min: wait must be at least 1s, got "1ms"`,
			`/in/host fqdn: in.host must be a full domain name, got "x y"`)
	})
	t.Run("C44 elements are checked without dive", func(t *testing.T) {
		type item struct {
			Host string `json:"host" validate:"fqdn"`
			N    int    `json:"n" validate:"min=1"`
		}
		type args struct {
			L  []item             `json:"l"`
			P  []*item            `json:"p"`
			M  map[string]item    `json:"m"`
			LL map[string][]*item `json:"ll"`
			I  map[int]item       `json:"i"`
		}
		good := `{"host":"a.de","n":1}`
		bad := `{"host":"?","n":1}`
		breaks[args](t, `{"l":[`+good+`,`+bad+`],"p":[`+bad+`],"m":{"x":`+bad+`},"ll":{"a":[`+good+`,`+bad+`]},"i":{"7":`+bad+`}}`,
			`/l/1/host fqdn: l[1].host must be a full domain name, got "?"`,
			`/p/0/host fqdn: p[0].host must be a full domain name, got "?"`,
			`/m/x/host fqdn: m.x.host must be a full domain name, got "?"`,
			`/ll/a/1/host fqdn: ll.a[1].host must be a full domain name, got "?"`,
			`/i fqdn: i must be a full domain name, got "?"`)
		breaks[args](t, `{"l":[{"host":"a.de","n":0}],"p":[],"m":{},"ll":{},"i":{}}`, "/l/0/n minimum: l[0].n must be at least 1, got 0")
	})
	t.Run("lengths count characters", func(t *testing.T) {
		type args struct {
			S string `json:"s" validate:"max=2"`
		}
		breaks[args](t, `{"s":"äö"}`)
		breaks[args](t, `{"s":"👨‍👩‍👧"}`, "/s maxLength: s must have at most 2 characters, got 5")
	})
	t.Run("formats are ours", func(t *testing.T) {
		type args struct {
			ID  string `json:"id" validate:"uuid"`
			Web string `json:"web" validate:"url"`
			IP  string `json:"ip" validate:"ip"`
			To  string `json:"to" validate:"email"`
		}
		breaks[args](t, `{"id":"123E4567-e89b-42d3-a456-426614174000","web":"https://x.de/a?b#c","ip":"::1","to":"a@b.de"}`)
		breaks[args](t, `{"id":"123","web":"x.de","ip":"1.2.3","to":"A <a@b.de>"}`,
			`/id format: id must be a UUID such as "123e4567-e89b-42d3-a456-426614174000", got the string "123"`,
			`/web format: web must be a URL such as "https://example.com/path", got the string "x.de"`,
			`/ip format: ip must be an IP address, got the string "1.2.3"`,
			`/to format: to must be an email address, got the string "A <a@b.de>"`)
	})
}

func TestRulesAcrossFields(t *testing.T) {
	type target struct {
		ID   string    `json:"id,omitempty" validate:"required_without=URL,excluded_with=URL"`
		URL  string    `json:"url,omitempty"`
		From time.Time `json:"from,omitzero"`
		To   time.Time `json:"to,omitzero" validate:"gtfield=From"`
	}
	t.Run("C47 exactly one of two", func(t *testing.T) {
		breaks[target](t, `{"id":""}`)
		breaks[target](t, `{"url":"x"}`)
		breaks[target](t, `{}`, "/id required_without: id is required without url")
		breaks[target](t, `{"id":"","url":""}`, "/id excluded_with: id is not allowed with url")
	})
	t.Run("C47 one after the other", func(t *testing.T) {
		breaks[target](t, `{"id":"x","from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`)
		breaks[target](t, `{"id":"x","from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, "/to gtfield: to must be after from")
	})
	t.Run("what is absent is not compared", func(t *testing.T) {
		breaks[target](t, `{"id":"x","to":"0001-01-01T00:00:00Z"}`)
		breaks[target](t, `{"id":"x","from":"2026-01-02T00:00:00Z"}`)
	})
	t.Run("C47 the schema stays plain and tells the rule", func(t *testing.T) {
		p := input[target](t)
		hostSafe(t, p)
		for _, want := range []string{`"description":"required without url, not allowed with url"`, `"description":"after from"`} {
			if !strings.Contains(string(p.JSON()), want) {
				t.Errorf("%s lacks %s", p.JSON(), want)
			}
		}
	})
	t.Run("values decide", func(t *testing.T) {
		type args struct {
			Mode  string `json:"mode"`
			N     int    `json:"n,omitempty"`
			Depth *int   `json:"depth" validate:"required_if=Mode deep N 3,excluded_unless=Mode deep"`
			Note  string `json:"note" validate:"required_unless=Mode 'not now'"`
			All   string `json:"all,omitempty" validate:"required_with_all=N Depth"`
			None  string `json:"none,omitempty" validate:"required_without_all=N Depth"`
		}
		breaks[args](t, `{"mode":"deep","n":3e0,"note":"x"}`, `/depth required_if: depth is required if mode is "deep" and n is 3`)
		breaks[args](t, `{"mode":"flat","depth":1,"note":"x"}`, `/depth excluded_unless: depth is not allowed unless mode is "deep"`)
		breaks[args](t, `{"mode":"flat"}`, `/note required_unless: note is required unless mode is "not now"`,
			`/none required_without_all: none is required without any of n, depth`)
		breaks[args](t, `{"mode":"not now","none":""}`)
		breaks[args](t, `{"mode":"deep","note":"","n":1,"depth":1}`, `/all required_with_all: all is required with n and depth`)
	})
	t.Run("in nested and embedded structs, several comparisons of a field", func(t *testing.T) {
		type bounds struct {
			Low  int `json:"low" validate:"ltefield=High"`
			Mid  int `json:"mid,omitempty" validate:"gtfield=Low,ltfield=High,nefield=Skip"`
			High int `json:"high,omitempty"`
			Skip int `json:"skip,omitempty"`
		}
		type args struct {
			bounds
			List []bounds          `json:"list,omitempty"`
			Map  map[string]bounds `json:"map,omitempty"`
		}
		breaks[args](t, `{"low":1,"mid":2,"high":3,"skip":4,"list":[{"low":1}]}`)
		breaks[args](t, `{"low":5,"mid":2,"high":3,"skip":2,"list":[{"low":1,"mid":1}],"map":{"x":{"low":9,"high":8}}}`,
			"/low ltefield: low must be at most high, got 5",
			"/mid gtfield: mid must be greater than low, got 2",
			"/list/0/mid gtfield: list[0].mid must be greater than low, got 1",
			"/map/x/low ltefield: map.x.low must be at most high, got 9",
			"/mid nefield: mid must be different from skip, got 2")
	})
	t.Run("with defaults", func(t *testing.T) {
		type args struct {
			A int `json:"a" jsonschema:"default=5"`
			B int `json:"b,omitempty" validate:"gtfield=A"`
		}
		breaks[args](t, `{"b":5}`, "/b gtfield: b must be greater than a, got 5")
	})
}

func TestRulesOfTheLibrary(t *testing.T) {
	t.Run("keys, alternatives, parameters", func(t *testing.T) {
		type args struct {
			M    map[string]string `json:"m,omitempty" validate:"dive,keys,lowercase,max=3,endkeys,startswith=x"`
			C    string            `json:"c,omitempty" validate:"rgb|hexcolor"`
			Tags []string          `json:"tags,omitempty" validate:"max=9,dive,contains=0x2C"`
			At   string            `json:"at,omitempty" validate:"datetime=2006-01-02"`
			Lat  float64           `json:"lat,omitempty" validate:"latitude"`
		}
		breaks[args](t, `{"m":{"a":"xy"},"c":"#fff","tags":["a,b"],"at":"2026-02-03","lat":7}`)
		breaks[args](t, `{"m":{"A":"xy","b":"y"},"c":"red","tags":["a,b","a"],"at":"3.2.26","lat":91}`,
			`/m/A lowercase: m.A must be in lower case, got "A"`,
			`/m/b startswith: m.b must be text that starts with "x", got "y"`,
			`/c rgb|hexcolor: c must be an rgb() colour or a hex colour such as #ff8800, got "red"`,
			`/tags/1 contains: tags[1] must be text that contains ",", got "a"`,
			`/at datetime: at must be a date and time written like "2006-01-02", got "3.2.26"`,
			`/lat latitude: lat must be a latitude from -90 to 90, got 91`)
	})
	t.Run("I5 in the order in which they were sent, members of maps too", func(t *testing.T) {
		type args struct {
			M map[string]string `json:"m" validate:"dive,lowercase"`
			I map[int]string    `json:"i" validate:"dive,lowercase"`
		}
		for range 20 {
			breaks[args](t, `{"i":{"3":"C","1":"A","2":"B"},"m":{"b":"B","a":"A","c":"C"}}`,
				`/m/b lowercase: m.b must be in lower case, got "B"`, `/m/a lowercase: m.a must be in lower case, got "A"`, `/m/c lowercase: m.c must be in lower case, got "C"`,
				`/i lowercase: i must be in lower case, got "A"`, `/i lowercase: i must be in lower case, got "B"`, `/i lowercase: i must be in lower case, got "C"`)
		}
	})
	t.Run("a map of structs as arguments", func(t *testing.T) {
		type item struct {
			Host string `json:"host" validate:"fqdn"`
		}
		breaks[map[string]item](t, `{"a":{"host":"a.de"},"b":{"host":"?"}}`, `/b/host fqdn: b.host must be a full domain name, got "?"`)
	})
	t.Run("recursive types", func(t *testing.T) {
		breaks[hostTree](t, `{"host":"a.de","subs":[{"host":"b.de","subs":[{"host":"?"}]}]}`,
			`/subs/0/subs/0/host fqdn: subs[0].subs[0].host must be a full domain name, got "?"`)
	})
	t.Run("types without rules never reach the library", func(t *testing.T) {
		if input[searchArgs](t).HasRules() || input[wrap[folder]](t).HasRules() || !input[hostTree](t).HasRules() {
			t.Error("HasRules is wrong")
		}
		if v := input[searchArgs](t).Rules(context.Background(), nil, nil); v != nil {
			t.Errorf("got %+v", v)
		}
	})
	t.Run("at most 20 violations", func(t *testing.T) {
		type args struct {
			L []string `json:"l" validate:"dive,fqdn"`
		}
		if got := broken[args](t, `{"l":[`+strings.Repeat(`"?",`, 50)+`"?"]}`); len(got) != 20 {
			t.Errorf("got %d", len(got))
		}
	})
	t.Run("many goroutines and types", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				f := []reflect.StructField{{Name: fmt.Sprintf("V%d", i), Type: reflect.TypeFor[string](), Tag: `json:"v" validate:"fqdn"`}}
				p, _ := schema.Input(reflect.StructOf(f), schema.Options{})
				v := reflect.New(reflect.StructOf(f))
				v.Elem().Field(0).SetString("?")
				if got := p.Rules(context.Background(), v.Interface(), []byte(`{"v":"?"}`)); len(got) != 1 || got[0].Path != "/v" {
					t.Errorf("got %+v", got)
				}
			})
		}
		wg.Wait()
	})
}

type hostTree struct {
	Host string     `json:"host" validate:"fqdn"`
	Subs []hostTree `json:"subs,omitempty"`
}

// TestRuleProblems shows that a rule that the library would panic on, or that
// nothing could pass, is found at registration.
func TestRuleProblems(t *testing.T) {
	for _, tt := range []struct {
		name, tag, reason string
		typ               reflect.Type
	}{
		{"C46 unknown rule", "nosuchtag", "is unknown", reflect.TypeFor[string]()},
		{"C46 unknown rule near one", "uuuid", `is unknown (did you mean "uuid"?)`, reflect.TypeFor[string]()},
		{"C46 unknown rule near required", "requird", `is unknown (did you mean "required"?)`, reflect.TypeFor[string]()},
		{"C46 bad parameter", "min=abc", "bad parameter", reflect.TypeFor[int]()},
		{"C46 bad size", "min=abc", "bad parameter", reflect.TypeFor[string]()},
		{"C46 rule that does not fit", "min=3", "does not fit", reflect.TypeFor[address]()},
		{"limit of a bool", "min=1", "does not fit", reflect.TypeFor[bool]()},
		{"limit of an any", "min=1", "concrete type", reflect.TypeFor[any]()},
		{"format of a number", "email", "strings only", reflect.TypeFor[int]()},
		{"format of an address", "ip", "strings only", reflect.TypeFor[netip.Addr]()},
		{"text rule of a number", "alpha", "strings only", reflect.TypeFor[int]()},
		{"text rule of a list", "alpha", "strings only", reflect.TypeFor[[]string]()},
		{"limit of a number kept as text", "min=3", "kept as text", reflect.TypeFor[json.Number]()},
		{"limit of a big integer", "min=3", "does not fit", reflect.TypeFor[*big.Int]()},
		{"unit of a duration", "min=1x", "bad parameter", reflect.TypeFor[time.Duration]()},
		{"enum of another type", "oneof=a b", "no JSON", reflect.TypeFor[int]()},
		{"bounds that leave nothing", "min=3,max=2", "leaves no value", reflect.TypeFor[int]()},
		{"dive into a string", "dive,min=3", "no list", reflect.TypeFor[string]()},
		{"dive too deep", "dive,dive,min=3", "no list", reflect.TypeFor[[]string]()},
		{"keys of a list", "dive,keys,min=3,endkeys", "no map", reflect.TypeFor[[]string]()},
		{"keys without dive", "keys,min=3,endkeys", "wrong place", reflect.TypeFor[map[string]int]()},
		{"keys without end", "dive,keys,min=3", "without", reflect.TypeFor[map[string]int]()},
		{"rule of keys that does not fit", "dive,keys,alpha,endkeys", "strings only", reflect.TypeFor[map[int]int]()},
		{"empty entry", "min=3,,max=4", "empty entry", reflect.TypeFor[int]()},
		{"field that does not exist", "gtfield=W", `"W"`, reflect.TypeFor[int]()},
		{"condition on a field that does not exist", "required_with=W", `"W"`, reflect.TypeFor[int]()},
		{"condition without a value", "required_if=V", "each with a value", reflect.TypeFor[int]()},
		{"comparison of elements", "dive,gtfield=V", "for elements", reflect.TypeFor[[]int]()},
		{"comparison across structs", "gtcsfield=A.B", "Validate", reflect.TypeFor[int]()},
		{"look at the disk", "file", "disk", reflect.TypeFor[string]()},
		{"look at the network", "tcp_addr", "network", reflect.TypeFor[string]()},
		{"condition within alternatives", "alpha|required_with=V", "alternatives", reflect.TypeFor[string]()},
		{"unique by a field that does not exist", "unique=X", "does not fit", reflect.TypeFor[[]address]()},
		{"unique of lists", "unique", "does not fit", reflect.TypeFor[[][]int]()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := schema.Input(tagged(tt.typ, `json:"v" validate:"`+tt.tag+`"`), schema.Options{})
			if p != nil || len(problems) == 0 {
				t.Fatalf("no problem: %s", p.JSON())
			}
			if got := problems[0]; got.Field != "struct.V" || !strings.Contains(got.Tag, "validate:") || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("got %+v, want a reason with %q", got, tt.reason)
			}
		})
	}
	t.Run("comparison of unlike fields", func(t *testing.T) {
		type args struct {
			A int    `json:"a"`
			B string `json:"b" validate:"eqfield=A"`
		}
		if p, problems := schema.Input(reflect.TypeFor[args](), schema.Options{}); p != nil || !strings.Contains(problems[0].Reason, "cannot compare") {
			t.Errorf("got %+v", problems)
		}
	})
}
