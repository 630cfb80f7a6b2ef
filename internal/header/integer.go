package header

import (
	"errors"
	"strings"
)

// maxSafe is the largest integer below which every integer is exact in a
// double; beyond it readers of the header and of the body may see different
// numbers.
const maxSafe = 1<<53 - 1

var (
	errNotInteger = errors.New("is not an integer")
	errUnsafe     = errors.New("lies beyond ±(2^53-1), which not every reader holds exactly: send a number within")
)

// parseInteger reads s as a JSON number and returns it if its value is an
// integer, however it is written: 42, 42.0 and 4.2e1 are one number.
func parseInteger(s string) (int64, error) {
	s, negative := strings.CutPrefix(s, "-")
	whole, s := cutDigits(s)
	if whole == "" || (whole[0] == '0' && len(whole) > 1) {
		return 0, errNotInteger
	}
	fraction := ""
	if rest, ok := strings.CutPrefix(s, "."); ok {
		if fraction, s = cutDigits(rest); fraction == "" {
			return 0, errNotInteger
		}
	}
	exponent, ok := parseExponent(s)
	if !ok {
		return 0, errNotInteger
	}
	n, err := scale(whole+fraction, int64(len(whole))+exponent)
	if negative {
		n = -n
	}
	return n, err
}

func cutDigits(s string) (digits, rest string) {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}

// parseExponent reads the exponent that ends a number; "" is none. Beyond what
// the length of any message could balance it stops growing.
func parseExponent(s string) (exponent int64, ok bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	digits, rest := cutDigits(s)
	if digits == "" || rest != "" {
		return 0, false
	}
	for _, c := range []byte(digits) {
		exponent = min(exponent*10+int64(c-'0'), 1<<50)
	}
	if negative {
		exponent = -exponent
	}
	return exponent, true
}

// scale returns the number whose decimal point stands before digits[point],
// which may lie outside of digits.
func scale(digits string, point int64) (int64, error) {
	digits = strings.TrimRight(digits, "0")
	significant := strings.TrimLeft(digits, "0")
	point -= int64(len(digits) - len(significant))
	switch {
	case significant == "":
		return 0, nil
	case point < int64(len(significant)):
		return 0, errNotInteger
	case point > 16: // 2^53 has 16 digits
		return 0, errUnsafe
	}
	var n int64
	for i := range int(point) {
		n *= 10
		if i < len(significant) {
			n += int64(significant[i] - '0')
		}
	}
	if n > maxSafe {
		return 0, errUnsafe
	}
	return n, nil
}
