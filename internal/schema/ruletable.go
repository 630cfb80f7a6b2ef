package schema

import "strings"

// ruleKind groups the rules of validate tags by what they need.
type ruleKind uint8

const (
	unknownRule  ruleKind = iota
	limitRule             // min=3: becomes schema where the kind of the field allows
	formatRule            // email: becomes the format of a string
	textRule              // looks at a string
	portRule              // looks at a string or an integer
	placeRule             // latitude: looks at a string or a number
	anyRule               // looks at any value
	siblingRule           // compares with another field of the struct
	presenceRule          // demands or forbids the field, depending on others
	refusedRule           // has no place here
)

// ruleTable says what is known of each rule; the text completes "must be" for
// those that no schema can express.
var ruleTable = func() map[string]rule {
	table := map[string]rule{
		"unique":         {kind: limitRule},
		"isdefault":      {anyRule, "left empty"},
		"ne":             {anyRule, "other than %s"},
		"ne_ignore_case": {textRule, "other than %s in any case"},
		"eq_ignore_case": {textRule, "%s in any case"},
		"oneofci":        {textRule, "one of %s in any case"},
		"noneof":         {anyRule, "none of %s"},
		"noneofci":       {textRule, "none of %s in any case"},
		"contains":       {textRule, "text that contains %s"},
		"containsany":    {textRule, "text that contains one of the characters %s"},
		"containsrune":   {textRule, "text that contains %s"},
		"excludes":       {textRule, "text without %s"},
		"excludesall":    {textRule, "text without the characters %s"},
		"excludesrune":   {textRule, "text without %s"},
		"startswith":     {textRule, "text that starts with %s"},
		"startsnotwith":  {textRule, "text that does not start with %s"},
		"endswith":       {textRule, "text that ends with %s"},
		"endsnotwith":    {textRule, "text that does not end with %s"},
		"datetime":       {textRule, "a date and time written like %s"},
		"port":           {portRule, "a port number from 1 to 65535"},
		"latitude":       {placeRule, "a latitude from -90 to 90"},
		"longitude":      {placeRule, "a longitude from -180 to 180"},

		"eqfield":  {siblingRule, "equal to %s"},
		"nefield":  {siblingRule, "different from %s"},
		"gtfield":  {kind: siblingRule}, // see comparisonText
		"gtefield": {kind: siblingRule},
		"ltfield":  {kind: siblingRule},
		"ltefield": {kind: siblingRule},

		"fieldcontains":                 {siblingRule, "text that contains %s"},
		"fieldexcludes":                 {siblingRule, "text without %s"},
		"postcode_iso3166_alpha2":       {textRule, "a postcode of the country %s"},
		"postcode_iso3166_alpha2_field": {siblingRule, "a postcode of the country in %s"},
	}
	for _, name := range []string{"min", "max", "len", "eq", "gt", "gte", "lt", "lte", "oneof"} {
		table[name] = rule{kind: limitRule}
	}
	for _, name := range []string{"email", "url", "uuid", "ip", "ipv4", "ipv6"} {
		table[name] = rule{kind: formatRule}
	}
	for name, text := range textRules {
		table[name] = rule{textRule, text}
	}
	for _, name := range []string{"if", "unless", "with", "with_all", "without", "without_all"} {
		table["required_"+name] = rule{kind: presenceRule}
		table["excluded_"+name] = rule{kind: presenceRule}
	}
	for _, name := range strings.Fields("eqcsfield necsfield gtcsfield gtecsfield ltcsfield ltecsfield skip_unless validateFn") {
		table[name] = rule{refusedRule, "is not supported: say it in a method Validate of the arguments"}
	}
	for _, name := range strings.Fields("file dir image uds_exists tcp4_addr tcp6_addr tcp_addr udp4_addr udp6_addr udp_addr ip4_addr ip6_addr ip_addr unix_addr") {
		table[name] = rule{refusedRule, "looks at the disk or the network for whatever is sent: say it in a method Validate of the arguments"}
	}
	return table
}()

type rule struct {
	kind ruleKind
	text string
}

// textRules are the rules for strings without a parameter.
var textRules = map[string]string{
	"alpha": "letters only", "alphaspace": "letters and spaces only", "alphanum": "letters and digits only",
	"alphanumspace": "letters, digits and spaces only", "alphaunicode": "letters only", "alphanumunicode": "letters and digits only",
	"boolean": "text that says true or false", "numeric": "a number as text", "number": "digits only", "hexadecimal": "hexadecimal digits",
	"hexcolor": "a hex colour such as #ff8800", "rgb": "an rgb() colour", "rgba": "an rgba() colour", "hsl": "an hsl() colour",
	"hsla": "an hsla() colour", "cmyk": "a cmyk() colour", "iscolor": "a colour", "e164": "a phone number such as +15551234567",
	"http_url": "an http or https URL", "https_url": "an https URL", "uri": "a URI", "origin": "an origin such as https://example.com",
	"urn_rfc8141": "a URN", "urn_rfc2141": "a URN", "filepath": "a file path", "dirpath": "a directory path",
	"base32": "base32 text", "base64": "base64 text", "base64url": "base64url text", "base64rawurl": "base64url text without padding",
	"mimetype": "a media type such as text/plain", "isbn": "an ISBN", "isbn10": "an ISBN-10", "isbn13": "an ISBN-13", "issn": "an ISSN",
	"eth_addr": "an Ethereum address", "eth_addr_checksum": "an Ethereum address with checksum", "btc_addr": "a Bitcoin address",
	"btc_addr_bech32": "a Bitcoin bech32 address", "uuid3": "a version 3 UUID", "uuid4": "a version 4 UUID", "uuid5": "a version 5 UUID",
	"uuid7": "a version 7 UUID", "uuid_rfc4122": "a UUID", "uuid3_rfc4122": "a version 3 UUID", "uuid4_rfc4122": "a version 4 UUID",
	"uuid5_rfc4122": "a version 5 UUID", "ulid": "a ULID", "md4": "an MD4 hash", "md5": "an MD5 hash", "sha256": "a SHA-256 hash",
	"sha384": "a SHA-384 hash", "sha512": "a SHA-512 hash", "ripemd128": "a RIPEMD-128 hash", "ripemd160": "a RIPEMD-160 hash",
	"tiger128": "a TIGER-128 hash", "tiger160": "a TIGER-160 hash", "tiger192": "a TIGER-192 hash", "ascii": "ASCII text",
	"printascii": "printable ASCII text", "multibyte": "text with characters beyond ASCII", "datauri": "a data URI", "ssn": "a social security number",
	"cidr": "an IP prefix such as 10.0.0.0/8", "cidrv4": "an IPv4 prefix", "cidrv6": "an IPv6 prefix", "mac": "a MAC address",
	"hostname": "a host name", "hostname_rfc1123": "a host name", "hostname_label": "a host name label", "fqdn": "a full domain name",
	"html": "text with HTML tags", "html_encoded": "HTML-encoded text", "url_encoded": "URL-encoded text", "json": "JSON text", "jwt": "a JSON web token",
	"hostname_port": "a host and port such as example.com:80", "lowercase": "in lower case", "uppercase": "in upper case",
	"timezone": "a time zone such as Europe/Berlin", "iso3166_1_alpha2": "a two-letter country code", "iso3166_1_alpha2_eu": "a two-letter code of an EU country",
	"iso3166_1_alpha3": "a three-letter country code", "iso3166_1_alpha3_eu": "a three-letter code of an EU country", "iso3166_1_alpha_numeric": "a numeric country code",
	"iso3166_1_alpha_numeric_eu": "a numeric code of an EU country", "country_code": "a country code", "eu_country_code": "a code of an EU country",
	"iso3166_2": "a code of a country subdivision", "iso4217": "a currency code such as EUR", "iso4217_numeric": "a numeric currency code",
	"bcp47_language_tag": "a language tag such as en-GB", "bcp47_strict_language_tag": "a language tag such as en-GB",
	"bic": "a bank identifier code", "bic_iso_9362_2014": "a bank identifier code", "semver": "a version such as 1.2.3", "dns_rfc1035_label": "a DNS label",
	"credit_card": "a credit card number", "cve": "a CVE identifier", "luhn_checksum": "a number with a Luhn check digit", "mongodb": "a MongoDB object id",
	"mongodb_connection_string": "a MongoDB connection string", "cron": "a cron expression", "spicedb": "a SpiceDB identifier",
	"ein": "an employer identification number", "duration": "a duration such as 1m30s",
}
