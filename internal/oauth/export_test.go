package oauth

// Allow is what a client of this reach makes of an address to connect to.
func (r Reach) Allow(address string) error { return r.allow(address) }

// Opener is the program that opens pages on a system.
func Opener(system string) (string, []string) { return opener(system) }
