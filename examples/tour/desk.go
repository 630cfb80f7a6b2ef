package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/typedmcp/mcp"
)

const rules = `# House rules

- Four weeks for a book, eight at most.
- One book has one reader.
`

// loansURI is the resource that is watched.
const loansURI = "library://loans"

// addDesk registers what the library shows and suggests, beside what it does.
func addDesk(s *mcp.Server, l *Library) {
	mcp.AddText(s, "library://rules", "rules", "text/markdown", rules).
		Title("House rules").Annotate(mcp.Annotations{Audience: []string{"user", "assistant"}})
	mcp.AddResource(s, loansURI, "loans", l.Loans).
		Title("Loans").Desc("Which books are lent, and to whom").Watchable()
	mcp.AddTemplate(s, "library://books/{isbn}", "book", l.Book).
		Title("A book").Desc("A book by its ISBN").Complete("isbn", l.completeISBN)
	mcp.AddPrompt(s, "recommend", "Ask for a book to read next", l.Recommend).
		Title("Recommend a book").Complete("topic", l.completeTopic)
	l.onLoan = func() { s.ResourceUpdated(loansURI) }
}

// Loans are the books that are lent, as JSON.
func (l *Library) Loans(context.Context) ([]Book, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lent []Book
	for _, b := range l.books {
		if b.LentTo != "" {
			lent = append(lent, *b)
		}
	}
	return lent, nil
}

// BookParams are the variables of the template of books.
type BookParams struct {
	ISBN string `json:"isbn"`
}

// Book returns one book, if there is one.
func (l *Library) Book(_ context.Context, p BookParams) (Book, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.books, func(b *Book) bool { return b.ISBN == p.ISBN })
	if i < 0 {
		return Book{}, mcp.ErrNotFound
	}
	return *l.books[i], nil
}

// RecommendArgs are the arguments of the prompt: text on the wire, parsed and
// checked like those of a tool.
type RecommendArgs struct {
	Topic string `json:"topic" jsonschema_description:"What to read about"`
	Mood  string `json:"mood,omitempty" jsonschema:"enum=serious,enum=light,default=serious"`
	Count int    `json:"count,omitempty" jsonschema:"minimum=1,maximum=5,default=1" jsonschema_description:"How many books"`
}

// Recommend begins a conversation about what to read.
func (l *Library) Recommend(ctx context.Context, a RecommendArgs) ([]mcp.Message, error) {
	found, err := l.Search(ctx, SearchArgs{Sort: "title", Limit: 50})
	if err != nil {
		return nil, err
	}
	var titles []string
	for _, b := range found.Books {
		if slices.Contains(b.Topics, a.Topic) {
			titles = append(titles, b.Title)
		}
	}
	return []mcp.Message{
		mcp.User(fmt.Sprintf("Recommend %s on %s from the library, %s ones.", plural(a.Count, "book"), a.Topic, a.Mood)),
		mcp.Assistant("The library has: " + strings.Join(titles, "; ")),
	}, nil
}

func (l *Library) completeISBN(_ context.Context, prefix string, _ map[string]string) ([]string, error) {
	return l.beginning(prefix, func(b *Book) []string { return []string{b.ISBN} }), nil
}

func (l *Library) completeTopic(_ context.Context, prefix string, _ map[string]string) ([]string, error) {
	return l.beginning(prefix, func(b *Book) []string { return b.Topics }), nil
}

// beginning returns what begins with prefix of what is taken from the books.
func (l *Library) beginning(prefix string, take func(*Book) []string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, b := range l.books {
		for _, v := range take(b) {
			if strings.HasPrefix(v, prefix) && !slices.Contains(found, v) {
				found = append(found, v)
			}
		}
	}
	slices.Sort(found)
	return found
}
