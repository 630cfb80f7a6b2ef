package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/typedmcp/mcp"
)

// addCounter registers what the library cannot do without asking its readers:
// by a word, in straight lines, and by keeping track of the rounds itself.
func addCounter(s *mcp.Server, l *Library) {
	mcp.AddTool(s, "withdraw_book", "Take a book out of the stock for good", l.Withdraw).
		Title("Withdraw a book").Destructive(true).OpenWorld(false).Confirm("Take {isbn} out of the stock for good?")
	mcp.AddTool(s, "join_library", "Get a library card", l.Join).
		Title("Join the library").Destructive(false).OpenWorld(false)
	mcp.AddTool(s, "find_by_taste", "Narrow down what to read, question by question", l.FindByTaste).
		Title("Find by taste").ReadOnly().OpenWorld(false)
}

// WithdrawArgs are the arguments of withdraw_book.
type WithdrawArgs struct {
	ISBN string `json:"isbn" jsonschema_description:"As search_books returns it"`
}

// Withdraw removes a book. It runs when the user has agreed.
func (l *Library) Withdraw(_ context.Context, a WithdrawArgs) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.books, func(b *Book) bool { return b.ISBN == a.ISBN })
	if i < 0 {
		return "", mcp.ToolErrorf("No book has the ISBN %s. Use search_books to find it.", a.ISBN)
	}
	title := l.books[i].Title
	l.books = slices.Delete(l.books, i, i+1)
	return "Withdrawn: " + title, nil
}

// Member is the form that new readers fill in.
type Member struct {
	Name   string `json:"name" jsonschema:"title=Your name,minLength=2"`
	Email  string `json:"email" jsonschema:"format=email"`
	Branch string `json:"branch,omitempty" jsonschema:"enum=main,enum=harbour,default=main" mcp:"titles=Main building|Harbour branch"`
}

// Join asks in straight lines. It runs from its top in every round; the card is
// made once.
func (l *Library) Join(ctx context.Context, _ struct{}) (string, error) {
	m, err := mcp.Elicit[Member](ctx, "member", "Who wants to join?")
	if err != nil {
		return "", err
	}
	card, err := mcp.Step(ctx, "card", func(context.Context) (int, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.cards++
		return 1000 + l.cards, nil
	})
	if err != nil {
		return "", err
	}
	ok, err := mcp.Confirm(ctx, "rules", fmt.Sprintf("%s, do you accept the house rules for card %d?", m.Name, card))
	if err != nil || !ok {
		return "No card without the rules.", err
	}
	return fmt.Sprintf("Card %d is at the %s branch.", card, m.Branch), nil
}

// Taste is the form of one question of find_by_taste.
type Taste struct {
	Topic string `json:"topic" jsonschema_description:"A topic, or none"`
}

// FindByTaste asks for topics until few books are left. Its state, sealed,
// travels through the client.
func (l *Library) FindByTaste(ctx context.Context, _ struct{}) ([]string, error) {
	topics, _ := mcp.State[[]string](ctx)
	answer, answered, err := mcp.Answer[Taste](ctx, "topic")
	if err != nil {
		return nil, err
	}
	if answered {
		topics = append(topics, answer.Topic)
	}
	titles := l.about(topics)
	if len(titles) > 1 && len(topics) < 3 {
		return nil, mcp.InputRequired(topics, mcp.AskForm[Taste]("topic", fmt.Sprintf("There are %s. Which topic must it have?", plural(len(titles), "book"))))
	}
	return titles, nil
}

// about returns the titles of the books that have all of the topics.
func (l *Library) about(topics []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	titles := []string{}
	for _, b := range l.books {
		if !slices.ContainsFunc(topics, func(t string) bool { return !slices.Contains(b.Topics, t) }) {
			titles = append(titles, b.Title)
		}
	}
	return titles
}

// reader returns a user who has an answer to some questions, declines all
// others, and has both printed.
func reader(w io.Writer) func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	answers := map[string]string{
		`Take "978-0262510875" out of the stock for good?`: `{}`,
		"Who wants to join?": `{"name":"Ada","email":"ada@example.com"}`,
		"Ada, do you accept the house rules for card 1001?": `{}`,
		"There are 3 books. Which topic must it have?":      `{"topic":"design"}`,
		"There are 2 books. Which topic must it have?":      `{"topic":"architecture"}`,
	}
	return func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		result := &mcp.ElicitResult{Action: "decline"}
		if content, ok := answers[r.Message]; ok {
			result.Action, result.Content = "accept", json.RawMessage(content)
		}
		fmt.Fprintf(w, "  ? %s\n  ! %s %s\n", r.Message, result.Action, result.Content)
		return result, nil
	}
}

// demoCounter calls the tools that ask.
func demoCounter(ctx context.Context, c *mcp.Client, w io.Writer) error {
	for _, call := range []struct {
		about, tool string
		args        any
	}{
		{"The user agrees before the tool runs:", "withdraw_book", WithdrawArgs{ISBN: "978-0262510875"}},
		{"Or does not agree:", "withdraw_book", WithdrawArgs{ISBN: "978-0134190440"}},
		{"A tool that asks twice, and makes one card:", "join_library", nil},
		{"A tool that asks as often as it needs to:", "find_by_taste", nil},
	} {
		if err := show(ctx, c, w, call.about, call.tool, call.args); err != nil {
			return err
		}
	}
	return nil
}
