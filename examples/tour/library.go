package main

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/typedmcp/mcp"
)

// Book is one title of the library.
type Book struct {
	ISBN   string   `json:"isbn"`
	Title  string   `json:"title"`
	Author string   `json:"author"`
	Year   int      `json:"year"`
	Topics []string `json:"topics"`
	LentTo string   `json:"lentTo,omitempty" jsonschema_description:"Who has it; absent when it is on the shelf"`
}

// Library is the domain of the server: plain Go, without a word of MCP but for
// the types of content and errors.
type Library struct {
	mu    sync.Mutex
	books []*Book
	cards int // made so far
	now   func() time.Time

	onLoan func() // called after each loan
}

// NewLibrary returns a library with a few books.
func NewLibrary(now func() time.Time) *Library {
	return &Library{now: now, onLoan: func() {}, books: []*Book{
		{ISBN: "978-0134190440", Title: "The Go Programming Language", Author: "Donovan, Kernighan", Year: 2015, Topics: []string{"go", "programming"}},
		{ISBN: "978-0262510875", Title: "Structure and Interpretation of Computer Programs", Author: "Abelson, Sussman", Year: 1996, Topics: []string{"programming", "lisp"}},
		{ISBN: "978-0201633610", Title: "Design Patterns", Author: "Gamma, Helm, Johnson, Vlissides", Year: 1994, Topics: []string{"design"}},
		{ISBN: "978-1492052203", Title: "Fundamentals of Software Architecture", Author: "Richards, Ford", Year: 2020, Topics: []string{"design", "architecture"}},
	}}
}

// SearchArgs are the arguments of search_books.
type SearchArgs struct {
	Text  string `json:"text" jsonschema_description:"Words to find in title or author; empty finds everything"`
	Years *Years `json:"years,omitempty" jsonschema_description:"Only books from these years"`
	Sort  string `json:"sort,omitempty" jsonschema:"enum=title,enum=year,default=title" jsonschema_description:"What to order by"`
	Limit int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=10" jsonschema_description:"Most books to return"`
}

// Years is a span of years, both included.
type Years struct {
	From int `json:"from" jsonschema:"minimum=1450"`
	To   int `json:"to"`
}

// Validate checks what a schema cannot say.
func (a *SearchArgs) Validate(context.Context) error {
	if a.Years != nil && a.Years.To < a.Years.From {
		return &mcp.ArgsError{Violations: []mcp.Violation{{
			Path: "/years/to", Rule: "order", Message: "years.to must not be before years.from",
		}}}
	}
	return nil
}

// Found is the result of search_books.
type Found struct {
	Books []Book `json:"books"`
	Total int    `json:"total" jsonschema_description:"How many books match, beyond the limit too"`
}

// Search finds books.
func (l *Library) Search(_ context.Context, a SearchArgs) (Found, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var hits []Book
	for _, b := range l.books {
		inText := strings.Contains(strings.ToLower(b.Title+" "+b.Author), strings.ToLower(a.Text))
		inYears := a.Years == nil || b.Year >= a.Years.From && b.Year <= a.Years.To
		if inText && inYears {
			hits = append(hits, *b)
		}
	}
	slices.SortStableFunc(hits, func(x, y Book) int {
		if a.Sort == "year" {
			return x.Year - y.Year
		}
		return strings.Compare(x.Title, y.Title)
	})
	return Found{Books: hits[:min(a.Limit, len(hits))], Total: len(hits)}, nil
}

// LendArgs are the arguments of lend_book.
type LendArgs struct {
	ISBN   string `json:"isbn" jsonschema_description:"As search_books returns it"`
	Reader string `json:"reader" jsonschema:"minLength=1" jsonschema_description:"Who takes the book"`
	Weeks  int    `json:"weeks,omitempty" jsonschema:"minimum=1,maximum=8,default=4"`
}

// Loan is the result of lend_book.
type Loan struct {
	Book Book      `json:"book"`
	Due  time.Time `json:"due"`
}

// Lend gives a book to a reader.
func (l *Library) Lend(_ context.Context, a LendArgs) (Loan, error) {
	loan, err := l.lend(a)
	if err == nil {
		l.onLoan()
	}
	return loan, err
}

func (l *Library) lend(a LendArgs) (Loan, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.books {
		if b.ISBN != a.ISBN {
			continue
		}
		if b.LentTo != "" {
			return Loan{}, mcp.ToolErrorf("%q is lent to %s. Search for another book on the topic.", b.Title, b.LentTo)
		}
		b.LentTo = a.Reader
		return Loan{Book: *b, Due: l.now().AddDate(0, 0, 7*a.Weeks).UTC()}, nil
	}
	return Loan{}, mcp.ToolErrorf("No book has the ISBN %s. Use search_books to find it.", a.ISBN)
}

// CoverArgs are the arguments of book_cover.
type CoverArgs struct {
	ISBN string `json:"isbn"`
}

// Cover draws a book's cover: content blocks instead of structured data.
func (l *Library) Cover(_ context.Context, a CoverArgs) ([]mcp.Content, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.books, func(b *Book) bool { return b.ISBN == a.ISBN })
	if i < 0 {
		return nil, mcp.ToolErrorf("No book has the ISBN %s.", a.ISBN)
	}
	cover := image.NewPaletted(image.Rect(0, 0, 24, 32), color.Palette{color.RGBA{30, 60, uint8(60 * i), 255}})
	var buf bytes.Buffer
	if err := png.Encode(&buf, cover); err != nil {
		return nil, err
	}
	return []mcp.Content{mcp.Text("Cover of " + l.books[i].Title), mcp.Image(buf.Bytes(), "image/png")}, nil
}

// Stocktake counts the books and reports how far it is.
func (l *Library) Stocktake(ctx context.Context, _ struct{}) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lent := 0
	for i, b := range l.books {
		if b.LentTo != "" {
			lent++
		}
		mcp.Progress(ctx, float64(i+1), float64(len(l.books)), "counted "+b.Title)
		time.Sleep(10 * time.Millisecond) // counting takes its time
	}
	return strings.TrimSpace(strings.Join([]string{
		plural(len(l.books), "book"), plural(lent, "loan"),
	}, ", ")), nil
}
