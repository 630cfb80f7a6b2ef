package schema

import (
	"encoding/base64"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// format is what the text of a string has to be.
type format struct {
	name string // of the keyword; "": there is none
	what string // for messages: an email address
	ok   func(text []byte) bool
}

// formats are those that schemas may name and that are enforced.
var formats = func() map[string]*format {
	byName := map[string]*format{}
	for _, f := range []format{
		{"date-time", `a date and time as in RFC 3339, such as "2026-05-01T10:00:00Z"`, isDateTime},
		{"date", `a date such as "2026-05-01"`, isDate},
		{"email", "an email address", isEmail},
		{"uri", `a URL such as "https://example.com/path"`, isURI},
		{"uuid", `a UUID such as "123e4567-e89b-42d3-a456-426614174000"`, isUUID},
		{"ipv4", `an IPv4 address such as "192.0.2.1"`, isIPv4},
		{"ipv6", `an IPv6 address such as "2001:db8::1"`, isIPv6},
	} {
		byName[f.name] = &f
	}
	return byName
}()

var (
	durationFormat = &format{"", `a duration such as "1m30s"`, isDuration}
	ipFormat       = &format{"", "an IP address", func(text []byte) bool { return isIPv4(text) || isIPv6(text) }}
	base64Format   = &format{"", "base64 text", nil}
	quotedFormats  = map[typeSet]*format{
		booleanType: {"", `the string "true" or "false"`, nil},
		stringType:  {"", `a string holding a quoted JSON string, such as "\"x\""`, nil},
		integerType: {"", `a string holding an integer, such as "7"`, nil},
		numberType:  {"", `a string holding a number, such as "1.5"`, nil},
	}
)

// isDateTime accepts what a time.Time decodes from.
func isDateTime(text []byte) bool {
	var t time.Time
	return t.UnmarshalText(text) == nil
}

func isDate(text []byte) bool {
	_, err := time.Parse(time.DateOnly, string(text))
	return err == nil
}

func isDuration(text []byte) bool {
	_, err := time.ParseDuration(string(text))
	return err == nil
}

func isEmail(text []byte) bool {
	a, err := mail.ParseAddress(string(text))
	return err == nil && a.Address == string(text)
}

func isURI(text []byte) bool {
	u, err := url.Parse(string(text))
	return err == nil && u.IsAbs()
}

func isUUID(text []byte) bool {
	if len(text) != 36 {
		return false
	}
	for i, c := range text {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
				return false
			}
		}
	}
	return true
}

func isIPv4(text []byte) bool {
	a, err := netip.ParseAddr(string(text))
	return err == nil && a.Is4()
}

func isIPv6(text []byte) bool {
	a, err := netip.ParseAddr(string(text))
	return err == nil && a.Is6() && a.Zone() == ""
}

// isBase64 accepts standard, padded base64 on one line.
func isBase64(text []byte) bool {
	if len(text)%4 != 0 {
		return false
	}
	digits := text
	for range 2 {
		if n := len(digits); n > 0 && digits[n-1] == '=' {
			digits = digits[:n-1]
		}
	}
	for _, c := range digits {
		if !base64Digit[c] {
			return false
		}
	}
	return true
}

var base64Digit = func() (is [256]bool) {
	for c := range is {
		_, err := base64.RawStdEncoding.DecodeString("A" + string([]byte{byte(c)}))
		is[c] = err == nil
	}
	return is
}()
