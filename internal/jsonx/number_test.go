package jsonx_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/typedmcp/mcp/internal/jsonx"
)

func TestAppendInteger(t *testing.T) {
	long := strings.Repeat("9", 100)
	zeros := strings.Repeat("0", 1<<20)
	for in, want := range map[string]string{
		// C38
		"1.0": "1", "1e3": "1000", "-0": "0", "1": "1",
		"0": "0", "-1": "-1", "9007199254740993": "9007199254740993", long: long, "-" + long: "-" + long,
		"0.0": "0", "-0.0": "0", "0e0": "0", "0e999999999999": "0", "-0.000e-5": "0",
		"1E+3": "1000", "1e0": "1", "1e-0": "1", "100e-2": "1", "120.0e-1": "12", "1.5e1": "15", "-1.25e2": "-125", "12.50e1": "125",
		"0.001e3": "1", "0.1e1": "1", "9007199254740993.0": "9007199254740993", "9.007199254740993e15": "9007199254740993",
		"1e39": "1" + zeros[:39], "1." + zeros: "1", "1" + zeros[:50] + "e-50": "1",
	} {
		got, ok := jsonx.AppendInteger([]byte("kept"), []byte(in))
		if !ok || string(got) != "kept"+want {
			t.Errorf("AppendInteger(%.40s) = %.60s, %v, want %.60s", in, got, ok, want)
		}
	}
	for _, in := range []string{
		// C38
		"1.5", "1e400", `"1"`,
		"0.1", "1e-1", "-15e-1", "1.05e1", "1e40", "1e999999999999999999999", "1e-999999999999999999999", "1" + zeros + ".0",
		"", "-", "+1", "01", "-01", "00", "1.", ".5", "1e", "1e+", "1e-", "1.e1", "0x1", "1_0", " 1", "1 ", "1,", "NaN", "null", "1e1.0", "1e1e1", "--1", "1-", "１",
	} {
		if got, ok := jsonx.AppendInteger([]byte("kept"), []byte(in)); ok || string(got) != "kept" {
			t.Errorf("AppendInteger(%.40s) = %.60s, %v", in, got, ok)
		}
	}
}

func FuzzAppendInteger(f *testing.F) {
	for _, s := range []string{"1.0", "1e3", "-0", "1.5", "1e400", "100e-2", "-1.25e2", "0.001e3", "1e39", "1e40", "01", "1.e5", "123456789012345678901234567890e5"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 200 {
			return
		}
		got, ok := jsonx.AppendInteger(nil, in)
		isNumber := len(in) > 0 && (in[0] == '-' || '0' <= in[0] && in[0] <= '9') && jsonx.Valid(in) && in[len(in)-1] > ' '
		if !isNumber {
			if ok {
				t.Fatalf("%q is no number but gives %s", in, got)
			}
			return
		}
		plain := !strings.ContainsAny(string(in), ".eE")
		_, exponent, _ := strings.Cut(strings.ToLower(string(in)), "e")
		if digits := strings.TrimLeft(exponent, "+-0"); len(digits) > 3 {
			// Too large for math/big to spell out: only zero is an integer then,
			// or one whose digits make up for it, which 200 bytes cannot.
			if ok && string(got) != "0" {
				t.Fatalf("%s gives %s", in, got)
			}
			return
		}
		value, valid := new(big.Rat).SetString(string(in))
		if !valid {
			t.Fatalf("math/big does not take %s", in)
		}
		want := value.Num().String()
		integral := value.IsInt() && (plain || len(strings.TrimPrefix(want, "-")) <= 40)
		if ok != integral || ok && string(got) != want {
			t.Fatalf("%s gives %s, %v, want %s, %v", in, got, ok, want, integral)
		}
	})
}

// An integer in an any comes out with its value or not at all, wherever it
// stands in the text.
func TestIntegersInAny(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 20_000 {
		digits := []byte{byte('1' + random.IntN(9))}
		for range random.IntN(24) {
			digits = append(digits, byte('0'+random.IntN(10)*random.IntN(2)))
		}
		in := strings.Repeat(" ", random.IntN(20)) + `{"a":[` + string(digits) + "]}"
		var v struct {
			A any `json:"a"`
		}
		err := jsonx.Unmarshal([]byte(in), &v)
		exact, _ := new(big.Int).SetString(string(digits), 10)
		f, accuracy := new(big.Float).SetInt(exact).Float64()
		if (err == nil) != (accuracy == big.Exact) {
			t.Fatalf("%s: %v, but the conversion is %v", in, err, accuracy)
		}
		if err != nil {
			refused++
			continue
		}
		if got := v.A.([]any)[0]; got != f {
			t.Fatalf("%s gives %v", in, got)
		}
	}
	if refused < 1000 {
		t.Errorf("only %d were refused: the numbers are too short", refused)
	}
}
