package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/typedmcp/mcp"
)

// TestStepKeys uses the keys of steps more than once.
func TestStepKeys(t *testing.T) {
	t.Parallel()
	type steps func(ctx context.Context, key string, fail error) error
	const used = `step "s": the key was used before in this call: give each step a key of its own, in a loop too`
	for _, tt := range []struct {
		name string
		run  func(ctx context.Context, step steps) error
		done int32  // how often a step did its work
		want string // how the call fails; "": it does not
	}{
		{"twice", func(ctx context.Context, step steps) error {
			return errors.Join(step(ctx, "s", nil), step(ctx, "s", nil))
		}, 1, used},
		{"of another type", func(ctx context.Context, step steps) error {
			_, err := mcp.Step(ctx, "s", func(context.Context) (string, error) { return "first", nil })
			return errors.Join(err, step(ctx, "s", nil))
		}, 0, used},
		{"in a loop", func(ctx context.Context, step steps) (err error) {
			for range 3 {
				err = step(ctx, "s", nil)
			}
			return err
		}, 1, used},
		{"in a loop, each of its own", func(ctx context.Context, step steps) (err error) {
			for i := range 3 {
				err = errors.Join(err, step(ctx, fmt.Sprint("s", i), nil))
			}
			return err
		}, 3, ""},
		{"again after an error", func(ctx context.Context, step steps) error {
			if step(ctx, "s", errors.New("down")) == nil {
				return errors.New("no error")
			}
			return step(ctx, "s", nil)
		}, 2, ""},
		{"again after a panic", func(ctx context.Context, step steps) error {
			func() {
				defer func() { _ = recover() }()
				_, _ = mcp.Step(ctx, "s", func(context.Context) (int, error) { panic("down") })
			}()
			return step(ctx, "s", nil)
		}, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var done int32
			s := mcp.NewServer("steps", "1.0.0", nil)
			mcp.AddTool(s, "x", "", func(ctx context.Context, _ noArgs) (string, error) {
				return "done", tt.run(ctx, func(ctx context.Context, key string, fail error) error {
					_, err := mcp.Step(ctx, key, func(context.Context) (int32, error) { done++; return done, fail })
					return err
				})
			})
			res := play(t, s, round{name: "x"})
			if tt.want != "" {
				res.fails(t, tt.want)
			} else {
				res.says(t, "done")
			}
			if done != tt.done {
				t.Errorf("work was done %d times, want %d", done, tt.done)
			}
		})
	}
	t.Run("a handler that middleware runs again finds what it did", func(t *testing.T) {
		t.Parallel()
		var done, runs int
		s := mcp.NewServer("steps", "1.0.0", nil)
		mcp.AddTool(s, "x", "", func(ctx context.Context, _ noArgs) (string, error) {
			n, err := mcp.Step(ctx, "s", func(context.Context) (int, error) { done++; return done, nil })
			if runs++; err == nil && runs < 3 {
				err = errors.New("try again")
			}
			return fmt.Sprint(n, " in run ", runs), err
		}).Use(func(next mcp.Handler) mcp.Handler {
			return func(ctx context.Context, r *mcp.Request) (any, error) {
				for {
					if v, err := next(ctx, r); err == nil {
						return v, nil
					}
				}
			}
		})
		play(t, s, round{name: "x"}).says(t, "1 in run 3")
	})
}
