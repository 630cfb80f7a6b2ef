package schema

import (
	"bytes"
	"errors"
	"math/big"
	"strconv"
)

// decimal is a JSON number, split so that it can be compared exactly without
// being converted. It aliases its text. The value is 0.d1d2d3… × 10^point with
// the significant digits d; there are none for zero.
type decimal struct {
	negative    bool
	whole, frac []byte
	first       int // index of d1 in whole and frac taken together
	digits      int
	point       int
}

// exponentLimit is where exponents stop growing: no digits that fit into a
// message make up for it.
const exponentLimit = 1 << 30

// parseDecimal splits text, which must be a JSON number.
func parseDecimal(text []byte) decimal {
	var d decimal
	if len(text) > 0 && text[0] == '-' {
		d.negative = true
		text = text[1:]
	}
	d.whole, text = cutDigits(text)
	if len(text) > 0 && text[0] == '.' {
		d.frac, text = cutDigits(text[1:])
	}
	d.first = len(d.whole) - len(bytes.TrimLeft(d.whole, "0"))
	if d.first == len(d.whole) {
		d.first += len(d.frac) - len(bytes.TrimLeft(d.frac, "0"))
	}
	last := len(d.whole) + len(bytes.TrimRight(d.frac, "0"))
	if last == len(d.whole) {
		last = len(bytes.TrimRight(d.whole, "0"))
	}
	d.digits = max(last-d.first, 0)
	if d.digits > 0 {
		d.point = len(d.whole) - d.first + exponent(text)
	}
	return d
}

func cutDigits(text []byte) (digits, rest []byte) {
	i := 0
	for i < len(text) && '0' <= text[i] && text[i] <= '9' {
		i++
	}
	return text[:i], text[i:]
}

func exponent(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	text = text[1:] // e or E
	negative := text[0] == '-'
	if negative || text[0] == '+' {
		text = text[1:]
	}
	e := 0
	for _, c := range text {
		e = min(e*10+int(c-'0'), exponentLimit)
	}
	if negative {
		return -e
	}
	return e
}

// at returns significant digit i.
func (d *decimal) at(i int) byte {
	i += d.first
	if i < len(d.whole) {
		return d.whole[i]
	}
	return d.frac[i-len(d.whole)]
}

// isDivisible reports whether text, of which d is made, can be made into a
// fraction at a cost in proportion to its length.
func (d *decimal) isDivisible(text []byte) bool {
	return len(text) <= maxDigits && d.point <= maxExponent && d.point-d.digits >= -maxExponent
}

const (
	maxDigits   = 1000
	maxExponent = 400
)

func (d *decimal) isInteger() bool { return d.point >= d.digits }

// compare returns -1, 0 or 1.
func (d *decimal) compare(o *decimal) int {
	switch {
	case d.digits == 0 && o.digits == 0:
		return 0
	case d.digits == 0:
		return sign(!o.negative, 1)
	case o.digits == 0:
		return sign(d.negative, 1)
	case d.negative != o.negative:
		return sign(d.negative, 1)
	}
	return sign(d.negative, d.compareSize(o))
}

func sign(negative bool, n int) int {
	if negative {
		return -n
	}
	return n
}

func (d *decimal) compareSize(o *decimal) int {
	if d.point != o.point {
		return sign(d.point < o.point, 1)
	}
	for i := range min(d.digits, o.digits) {
		if a, b := d.at(i), o.at(i); a != b {
			return sign(a < b, 1)
		}
	}
	switch {
	case d.digits < o.digits:
		return -1
	case d.digits > o.digits:
		return 1
	}
	return 0
}

// bound is a number in a schema.
type bound struct {
	text      string
	value     decimal
	small     int64 // the value, or the end of the range nearest to it
	isWhole   bool  // it has plain digits alone, so that small is set
	exclusive bool
}

func newBound(text string) *bound {
	b := &bound{text: text, value: parseDecimal([]byte(text))}
	n, err := strconv.ParseInt(text, 10, 64)
	b.small, b.isWhole = n, err == nil || errors.Is(err, strconv.ErrRange)
	return b
}

// rat is the value as a fraction, for the arithmetic of registration.
func (b *bound) rat() *big.Rat {
	r, ok := new(big.Rat).SetString(b.text)
	if !ok {
		return new(big.Rat)
	}
	return r
}
