package mcp_test

import "context"

// booking is a domain that knows nothing of the protocol: its methods are tools as they stand.
type booking struct {
	Room   string `json:"room"`
	Guests int    `json:"guests" jsonschema:"minimum=1,maximum=8,default=2"`
	Kind   string `json:"kind,omitempty" jsonschema:"enum=single,enum=double"`
}

type hotel struct{ booked []booking }

func (h *hotel) book(_ context.Context, b booking) (booking, error) {
	h.booked = append(h.booked, b)
	return b, nil
}

// Book is book with its arguments one by one.
func (h *hotel) Book(_ context.Context, room string, guests int, kind string) (booking, error) {
	return h.book(context.Background(), booking{room, guests, kind})
}
