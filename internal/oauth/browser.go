package oauth

import (
	"fmt"
	"os/exec"
	"runtime"
)

// OpenBrowser shows the user a page. Only web pages are opened, and no shell
// sees the address (MCP 2026-07-28, Security Best Practices › Authorization
// URL Validation).
func OpenBrowser(address string) error {
	if _, err := ParseURL(address); err != nil {
		return fmt.Errorf("the address is not opened: %w", err)
	}
	name, args := opener(runtime.GOOS)
	cmd := exec.Command(name, append(args, address)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // some openers stay as long as the browser does
	return nil
}

// opener is the program of an operating system that opens pages.
func opener(system string) (name string, args []string) {
	switch system {
	case "darwin":
		return "open", nil
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	}
	return "xdg-open", nil
}
