package mcp_test

import "flag"

// update makes the golden tests of this package write what they found instead of comparing it.
var update = flag.Bool("update", false, "rewrite api.txt and what is under testdata")
