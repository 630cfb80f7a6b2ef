package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"strings"

	"github.com/typedmcp/mcp"
)

// answering returns options of a client whose user gives the answers, by
// message, and turns away from what has none.
func answering(answers map[string]string) *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitForm: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		fmt.Println("asked:", r.Message)
		content, ok := answers[r.Message]
		if !ok {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		return &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(content)}, nil
	}}
}

// One word has the user agree before the function runs, to these very
// arguments.
func ExampleTool_Confirm() {
	type Args struct {
		Path string `json:"path"`
	}
	s := mcp.NewServer("files", "1.0.0", nil)
	mcp.AddTool(s, "delete", "Delete a file", func(_ context.Context, a Args) (string, error) {
		return "deleted " + a.Path, nil
	}).Destructive(true).Confirm("Delete {path} for good?")

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), answering(map[string]string{`Delete "notes.txt" for good?`: `{}`}))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "delete", Args{"notes.txt"}))
	fmt.Println(mcp.Call[string](ctx, c, "delete", Args{"thesis.tex"}))
	// Output:
	// asked: Delete "notes.txt" for good?
	// deleted notes.txt <nil>
	// asked: Delete "thesis.tex" for good?
	//  not confirmed: the user did not agree to this call
}

// A handler asks in straight lines and runs from its top in every round: what
// was answered is there at once, and what must happen once goes into a Step.
func ExampleElicit() {
	type Trip struct {
		City string `json:"city" jsonschema:"minLength=2"`
		Days int    `json:"days,omitempty" jsonschema:"minimum=1,maximum=30,default=3"`
	}
	held := 0
	s := mcp.NewServer("travel", "1.0.0", nil)
	mcp.AddTool(s, "book", "Book a trip", func(ctx context.Context, _ struct{}) (string, error) {
		trip, err := mcp.Elicit[Trip](ctx, "trip", "Where to, and how long?")
		if err != nil {
			return "", err
		}
		seat, err := mcp.Step(ctx, "seat", func(context.Context) (int, error) {
			held++
			return 16 + held, nil
		})
		if err != nil {
			return "", err
		}
		ok, err := mcp.Confirm(ctx, "sure", fmt.Sprintf("Seat %d to %s, %d days?", seat, trip.City, trip.Days))
		if err != nil || !ok {
			return "not booked", err
		}
		return fmt.Sprintf("booked seat %d", seat), nil
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), answering(map[string]string{
		"Where to, and how long?":  `{"city":"Oslo"}`,
		"Seat 17 to Oslo, 3 days?": `{}`,
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "book", nil))
	fmt.Println("seats held:", held)
	// Output:
	// asked: Where to, and how long?
	// asked: Seat 17 to Oslo, 3 days?
	// booked seat 17 <nil>
	// seats held: 1
}

// In a loop each step has a key of its own, the same in every round. Work that
// failed may be tried again under its key.
func ExampleStep() {
	type Args struct {
		Invoices []string `json:"invoices"`
	}
	s := mcp.NewServer("billing", "1.0.0", nil)
	mcp.AddTool(s, "pay", "Pay invoices", func(ctx context.Context, a Args) (string, error) {
		var receipts []string
		for _, invoice := range a.Invoices {
			receipt, err := mcp.Step(ctx, "pay "+invoice, func(context.Context) (string, error) {
				fmt.Println("paying", invoice)
				return "receipt for " + invoice, nil
			})
			if err != nil {
				return "", err
			}
			receipts = append(receipts, receipt)
		}
		to, err := mcp.Choose(ctx, "to", "Where to send the receipts?", "me", "the office")
		return fmt.Sprintf("%q for %s", receipts, to), err
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), answering(map[string]string{
		"Where to send the receipts?": `{"choice":"me"}`,
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "pay", Args{[]string{"A-7", "B-2"}}))
	// Output:
	// paying A-7
	// paying B-2
	// asked: Where to send the receipts?
	// ["receipt for A-7" "receipt for B-2"] for me <nil>
}

// A handler that keeps track of its rounds itself asks by what it returns.
func ExampleInputRequired() {
	type Guess struct {
		Number int `json:"number" jsonschema:"minimum=1,maximum=100"`
	}
	type Game struct {
		Tries int
		Hint  string
	}
	s := mcp.NewServer("games", "1.0.0", nil)
	mcp.AddTool(s, "guess", "Play a game", func(ctx context.Context, _ struct{}) (string, error) {
		game, playing := mcp.State[Game](ctx)
		if !playing {
			game.Hint = "Guess a number."
		}
		guess, guessed, err := mcp.Answer[Guess](ctx, "guess")
		if err != nil {
			return "", err
		}
		if guessed {
			game.Tries++
			switch {
			case guess.Number == 42:
				return fmt.Sprintf("right, after %d tries", game.Tries), nil
			case guess.Number < 42:
				game.Hint = "It is larger."
			default:
				game.Hint = "It is smaller."
			}
		}
		return "", mcp.InputRequired(game, mcp.AskForm[Guess]("guess", game.Hint))
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), answering(map[string]string{
		"Guess a number.": `{"number":20}`,
		"It is larger.":   `{"number":50}`,
		"It is smaller.":  `{"number":42}`,
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "guess", nil))
	// Output:
	// asked: Guess a number.
	// asked: It is larger.
	// asked: It is smaller.
	// right, after 3 tries <nil>
}

// Questions that do not depend on each other cost one round together.
func ExampleGather() {
	type Name struct {
		Name string `json:"name"`
	}
	s := mcp.NewServer("club", "1.0.0", nil)
	mcp.AddTool(s, "join", "Join the club", func(ctx context.Context, _ struct{}) (string, error) {
		err := mcp.Gather(ctx,
			mcp.AskForm[Name]("who", "Who are you?"),
			mcp.AskSchema("plan", "Which plan?", mcp.Object().String("plan", "").Enum("basic", "full")))
		if err != nil {
			return "", err
		}
		who, _, err := mcp.Answer[Name](ctx, "who")
		if err != nil {
			return "", err
		}
		plan, _, err := mcp.Answer[map[string]string](ctx, "plan")
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s has the %s plan, in round %d", who.Name, plan["plan"], mcp.RequestFrom(ctx).Round()), nil
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), answering(map[string]string{"Who are you?": `{"name":"Ada"}`, "Which plan?": `{"plan":"full"}`}))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "join", nil))
	// Output:
	// asked: Who are you?
	// asked: Which plan?
	// Ada has the full plan, in round 2 <nil>
}

// What must not pass through the client is done on a page of your own; done
// tells when it is.
func ExampleElicitURL() {
	visited := false
	s := mcp.NewServer("shop", "1.0.0", nil)
	mcp.AddTool(s, "pay", "Pay for the order", func(ctx context.Context, _ struct{}) (string, error) {
		err := mcp.ElicitURL(ctx, "pay", "Pay for the order", "https://pay.example/orders/7",
			func(context.Context) (bool, error) { return visited, nil })
		return "paid", err
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), &mcp.ClientOptions{
		ElicitURL: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Println(r.Message, r.URL)
			visited = true
			return &mcp.ElicitResult{Action: "accept"}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(mcp.Call[string](ctx, c, "pay", nil))
	// Output:
	// Pay for the order https://pay.example/orders/7
	// paid <nil>
}

// A handler may go on without what a client cannot do.
func ExampleCan() {
	s := mcp.NewServer("shop", "1.0.0", nil)
	mcp.AddTool(s, "color", "Pick a color", func(ctx context.Context, _ struct{}) (string, error) {
		if !mcp.Can(ctx, "elicitation.form") {
			return "white, as nobody can be asked", nil
		}
		return mcp.Choose(ctx, "color", "Which color?", "white", "red")
	})

	ctx := context.Background()
	for _, opts := range []*mcp.ClientOptions{nil, answering(map[string]string{"Which color?": `{"choice":"red"}`})} {
		c, err := mcp.Dial(ctx, mcp.InMemory(s), opts)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(mcp.Call[string](ctx, c, "color", nil))
		_ = c.Close()
	}
	// Output:
	// white, as nobody can be asked <nil>
	// asked: Which color?
	// red <nil>
}

// A client may take the questions of a call and answer them later.
func ExampleWithManual() {
	s := mcp.NewServer("shop", "1.0.0", nil)
	mcp.AddTool(s, "color", "Pick a color", func(ctx context.Context, _ struct{}) (string, error) {
		return mcp.Choose(ctx, "color", "Which color?", "white", "red")
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), answering(nil))
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = c.CallTool(ctx, "color", nil, mcp.WithManual())
	asked, ok := err.(*mcp.InputRequiredResult)
	if !ok {
		log.Fatal(err)
	}
	for _, q := range asked.Requests {
		fmt.Println(q.Key, q.Kind, q.Message)
	}
	answers := map[string]any{"color": &mcp.ElicitResult{Action: "accept", Content: json.RawMessage(`{"choice":"white"}`)}}
	r, err := c.CallTool(ctx, "color", nil, mcp.WithManual(), mcp.WithAnswers(answers, asked.State))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Content[0].(*mcp.TextContent).Text)
	// Output:
	// color elicitation.form Which color?
	// white
}

// Who calls is said by the server around, never by the client.
func ExampleWithPrincipal() {
	s := mcp.NewServer("notes", "1.0.0", nil)
	mcp.AddTool(s, "whoami", "Say who calls", func(ctx context.Context, _ struct{}) (string, error) {
		p := mcp.RequestFrom(ctx).Principal()
		if p == nil {
			return "nobody", nil
		}
		return p.Subject + " at " + p.Issuer, nil
	})

	ada := &mcp.Principal{Issuer: "https://id.example", Subject: "ada"}
	for _, ctx := range []context.Context{context.Background(), mcp.WithPrincipal(context.Background(), ada)} {
		c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(mcp.Call[string](ctx, c, "whoami", nil))
		_ = c.Close()
	}
	// Output:
	// nobody <nil>
	// ada at https://id.example <nil>
}

// What is logged goes to the server's own log, and to the client if the server
// offers logs and the client asks for them.
func ExampleLogger() {
	logs := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	s := mcp.NewServer("mill", "1.0.0", &mcp.ServerOptions{Logger: logs})
	mcp.AddTool(s, "grind", "Grind corn", func(ctx context.Context, _ struct{}) (string, error) {
		mcp.Logger(ctx).Warn("the corn is wet", "sacks", 3)
		return strings.Repeat("flour ", 3), nil
	})

	ctx := context.Background()
	c, err := mcp.Dial(ctx, mcp.InMemory(s), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = c.CallTool(ctx, "grind", nil)
	fmt.Println(err)
	// Output:
	// level=WARN msg="the corn is wet" sacks=3
	// <nil>
}
