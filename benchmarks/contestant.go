package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// contestant is one implementation of the benchmark's server, and of a client
// in the same process.
type contestant struct {
	name    string
	handler func(records int, sessions bool) (http.Handler, error) // records: how many tools there are besides add and search
	stdio   func(records int) error                                // serves standard input and output until its end
	connect func(context.Context) (*session, error)
}

// contestants in the order in which they are measured. The others are
// compared with the first.
var contestants = []contestant{
	{"floor", floorHandler, floorStdio, floorSession},
	{"ours", ourHandler, ourStdio, ourSession},
	{"gosdk", gosdkHandler, gosdkStdio, gosdkSession},
	{"mcpgo", mcpgoHandler, mcpgoStdio, mcpgoSession},
}

func contestantNamed(name string) (contestant, error) {
	for _, c := range contestants {
		if c.name == name {
			return c, nil
		}
	}
	return contestant{}, fmt.Errorf("no contestant %q", name)
}

// session is a client connected to a server in the same process.
type session struct {
	add, search call
	close       func() error
}

// call is one way to call a tool.
type call struct {
	do  func(context.Context) error
	got func() any // the structured value that the last do returned
}

// verify makes every call once and checks what comes back.
func (s *session) verify(ctx context.Context) error {
	if err := s.add.do(ctx); err != nil {
		return err
	}
	if err := s.search.do(ctx); err != nil {
		return err
	}
	return errors.Join(same(s.add.got(), sum), same(s.search.got(), found))
}
