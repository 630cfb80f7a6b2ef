package schema

import (
	"math/big"
	"strconv"

	"github.com/typedmcp/mcp/internal/jsonx"
)

// numberRules are the keywords for numbers, and what the Go type can hold.
type numberRules struct {
	lowest, highest *bound // of the Go type; like all bounds nil if there is none
	min, max        *bound
	multipleOf      *bound
	floatBits       int  // 32, 64; 0: any size
	maxDigits       int  // 0: any
	small           bool // an int64 tells whether a value of up to 18 digits is within
}

// settle computes what number needs, after every change of the bounds.
func (n *numberRules) settle() {
	n.small = n.multipleOf == nil || n.multipleOf.isWhole && len(n.multipleOf.text) <= fastDigits
	for _, b := range [...]*bound{n.lowest, n.highest, n.min, n.max} {
		n.small = n.small && (b == nil || b.isWhole)
	}
}

const (
	fastDigits  = 18  // any number of so many digits fits an int64
	exactDigits = 15  // any integer of so many digits fits a float64
	maxFloat64  = 309 // decimal digits before the point of the greatest float64
	maxFloat32  = 39
)

// number checks the number that comes next.
func (r *run) number(n *node) bool {
	text, err := r.w.Value()
	if err != nil {
		return r.broken(err)
	}
	if small, ok := smallInteger(text); ok && (n.num == nil || n.num.small) && (!n.exact || len(text) <= exactDigits) {
		if n.num != nil && !r.smallNumber(n.num, small, text) {
			return false
		}
		return n.enum == nil || r.inEnum(n, text)
	}
	d := parseDecimal(text)
	whole := n.types&numberType == 0
	ok := true
	switch {
	case whole && !d.isInteger():
		return r.mismatch(n, text)
	case r.plan.rest != nil && !d.isDivisible(text):
		return r.outOfRange(text)
	case n.exact:
		ok = r.exactNumber(text, &d)
	case n.num != nil:
		ok = r.bigNumber(n.num, text, &d)
	}
	if ok && n.enum != nil {
		ok = r.inEnum(n, text)
	}
	if ok && whole && isSpelled(text) {
		ok = r.spellOut(n, text, &d)
	}
	return ok
}

// smallInteger reads plain digits that fit an int64. Minus zero is not among
// them: it has to be spelled as zero for an unsigned integer.
func smallInteger(text []byte) (int64, bool) {
	digits := text
	negative := text[0] == '-'
	if negative {
		digits = text[1:]
	}
	if len(digits) > fastDigits {
		return 0, false
	}
	var v int64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if negative {
		return -v, v != 0
	}
	return v, true
}

func (r *run) smallNumber(rules *numberRules, v int64, text []byte) bool {
	low, high := rules.min, rules.max
	switch {
	case low != nil && (v < low.small || low.exclusive && v == low.small): // before the type's: it says more
		return r.tooLow(low, text)
	case high != nil && (v > high.small || high.exclusive && v == high.small):
		return r.tooHigh(high, text)
	case rules.lowest != nil && v < rules.lowest.small:
		return r.tooLow(rules.lowest, text)
	case rules.highest != nil && v > rules.highest.small:
		return r.tooHigh(rules.highest, text)
	case rules.multipleOf != nil && v%rules.multipleOf.small != 0:
		return r.notMultiple(rules.multipleOf, text)
	}
	return true
}

func (r *run) bigNumber(rules *numberRules, text []byte, d *decimal) bool {
	low, high := rules.min, rules.max
	switch {
	case low != nil && d.compare(&low.value) < boolInt(low.exclusive):
		return r.tooLow(low, text)
	case high != nil && d.compare(&high.value) > -boolInt(high.exclusive):
		return r.tooHigh(high, text)
	case rules.lowest != nil && d.compare(&rules.lowest.value) < 0:
		return r.tooLow(rules.lowest, text)
	case rules.highest != nil && d.compare(&rules.highest.value) > 0:
		return r.tooHigh(rules.highest, text)
	case rules.floatBits != 0 && !fitsFloat(text, d, rules.floatBits):
		return r.outOfRange(text)
	case rules.maxDigits != 0 && (d.point > rules.maxDigits || len(text) > rules.maxDigits):
		return r.outOfRange(text)
	case rules.multipleOf != nil && !isMultiple(text, d, rules.multipleOf):
		return r.notMultiple(rules.multipleOf, text)
	}
	return true
}

// fitsFloat reports whether the number is within the range of a float.
func fitsFloat(text []byte, d *decimal, bits int) bool {
	limit := maxFloat64
	if bits == 32 {
		limit = maxFloat32
	}
	if d.digits == 0 || d.point != limit {
		return d.digits == 0 || d.point < limit
	}
	_, err := strconv.ParseFloat(string(text), bits)
	return err == nil
}

// isMultiple divides exactly, unless the exponent is beyond all reason.
func isMultiple(text []byte, d *decimal, of *bound) bool {
	if !d.isDivisible(text) {
		return false
	}
	v, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return false
	}
	return v.Quo(v, of.rat()).IsInt()
}

// exactNumber checks a number that becomes a float64 in an any: an integer in
// plain digits must keep its value.
func (r *run) exactNumber(text []byte, d *decimal) bool {
	if !fitsFloat(text, d, 64) {
		return r.outOfRange(text)
	}
	if len(d.whole) <= exactDigits || len(d.frac) > 0 || len(text) > len(d.whole)+boolInt(d.negative) {
		return true
	}
	s := string(text)
	f, err := strconv.ParseFloat(s, 64)
	if err == nil && strconv.FormatFloat(f, 'f', 0, 64) == s {
		return true
	}
	return r.inexact(text)
}

// spellOut records the edit that makes 1.0, 1e3 and -0 plain digits: decoders
// of integers want no other spelling. Numbers that would grow beyond any
// integer type stay, unless the Go type cannot read them so.
func (r *run) spellOut(n *node, text []byte, d *decimal) bool {
	if !r.editing || n.opaque {
		return true
	}
	end := r.w.Offset()
	if plain := len(d.whole) + boolInt(d.negative); d.digits > 0 && plain <= fastDigits && len(text) == plain+1+len(d.frac) {
		r.replace(end-len(text)+plain, end, nil) // a fraction of zeros
		return true
	}
	digits, ok := jsonx.AppendInteger(r.message[:0], text)
	if !ok {
		return n.num == nil || n.num.maxDigits == 0 || r.outOfRange(text)
	}
	r.message = digits
	r.replace(end-len(text), end, digits)
	return true
}

// isSpelled reports whether text is more than plain digits.
func isSpelled(text []byte) bool {
	if string(text) == "-0" {
		return true
	}
	for _, c := range text {
		if c == '.' || c == 'e' || c == 'E' {
			return true
		}
	}
	return false
}
