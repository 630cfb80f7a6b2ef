package jsonx

import (
	"bytes"
	"strconv"
)

const (
	// maxSpelledDigits bounds what AppendInteger spells out: no integer type
	// needs more, and a short text must not become a long one.
	maxSpelledDigits = 40
	// exactDigits is how many digits every float64 integer holds exactly.
	exactDigits = 15
	// exactBits is likewise how many bits.
	exactBits = 53
)

// AppendInteger appends the plain digits of a JSON number that is an integer,
// however it is spelled: 1.0 becomes 1, 1e3 becomes 1000, -0 becomes 0. It
// reports false, and returns dst as it was, if number is no JSON number or no
// integer, or if it has a fraction or exponent and more than 40 digits. The
// time it takes is linear in the length of number, whatever the exponent says.
func AppendInteger(dst, number []byte) ([]byte, bool) {
	n, ok := splitNumber(number)
	if !ok {
		return dst, false
	}
	if n.fraction == nil && n.exponent == nil {
		if string(number) == "-0" {
			return append(dst, '0'), true
		}
		return append(dst, number...), true
	}
	digits := append(append(make([]byte, 0, len(n.integer)+len(n.fraction)), n.integer...), n.fraction...)
	point := len(n.integer) + exponentValue(n.exponent, len(digits))
	significant := bytes.TrimLeft(digits, "0")
	point -= len(digits) - len(significant)
	significant = bytes.TrimRight(significant, "0")
	if len(significant) == 0 {
		return append(dst, '0'), true
	}
	if point < len(significant) || point > maxSpelledDigits {
		return dst, false
	}
	if n.negative {
		dst = append(dst, '-')
	}
	dst = append(dst, significant...)
	return append(dst, bytes.Repeat([]byte{'0'}, point-len(significant))...), true
}

// isNumber reports whether text is exactly one JSON number.
func isNumber(text []byte) bool {
	_, ok := splitNumber(text)
	return ok
}

// number is a JSON number in its parts; fraction and exponent are nil if it
// has none, and exponent keeps its sign.
type number struct {
	negative                    bool
	integer, fraction, exponent []byte
}

func splitNumber(text []byte) (n number, ok bool) {
	if len(text) > 0 && text[0] == '-' {
		n.negative = true
		text = text[1:]
	}
	n.integer, text = splitDigits(text)
	if len(n.integer) == 0 || len(n.integer) > 1 && n.integer[0] == '0' {
		return n, false
	}
	if len(text) > 0 && text[0] == '.' {
		n.fraction, text = splitDigits(text[1:])
		if len(n.fraction) == 0 {
			return n, false
		}
	}
	if len(text) > 0 && (text[0] == 'e' || text[0] == 'E') {
		sign := 0
		if len(text) > 1 && (text[1] == '+' || text[1] == '-') {
			sign = 1
		}
		digits, rest := splitDigits(text[1+sign:])
		if len(digits) == 0 {
			return n, false
		}
		n.exponent, text = text[1:1+sign+len(digits)], rest
	}
	return n, len(text) == 0
}

func splitDigits(text []byte) (digits, rest []byte) {
	i := 0
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return text[:i], text[i:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// exponentValue is the exponent, cut to a size that no number of the given
// count of digits can make up for.
func exponentValue(text []byte, digits int) int {
	limit := digits + maxSpelledDigits + 1
	negative := len(text) > 0 && text[0] == '-'
	value := 0
	for _, c := range bytes.TrimLeft(text, "+-") {
		if value = value*10 + int(c-'0'); value > limit {
			value = limit
			break
		}
	}
	if negative {
		return -value
	}
	return value
}

// hasLongNumber reports whether data may hold an integer that float64 cannot:
// whether it has more than 15 digits in a row. Every such run covers one of
// the positions looked at.
func hasLongNumber(data []byte) bool {
	const step = exactDigits + 1
	for i := exactDigits; i < len(data); i += step {
		if !isDigit(data[i]) {
			continue
		}
		first, last := i, i
		for first > 0 && isDigit(data[first-1]) {
			first--
		}
		for last+1 < len(data) && isDigit(data[last+1]) {
			last++
		}
		if last-first >= exactDigits {
			return true
		}
	}
	return false
}

// exactFloat parses a JSON number. An integer spelled in plain digits must
// come out with its value; a fraction or exponent asks for the nearest float.
func exactFloat(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, errRange // the grammar was checked by the decoder
	}
	n, _ := splitNumber([]byte(text))
	if n.fraction != nil || n.exponent != nil || len(n.integer) <= exactDigits {
		return f, nil
	}
	if strconv.FormatFloat(f, 'f', 0, 64) != text {
		return 0, errInexact
	}
	return f, nil
}
