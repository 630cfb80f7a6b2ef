package schema_test

import (
	"testing"
	"testing/synctest"

	"github.com/typedmcp/mcp/internal/schema"
)

// TestValidationSlots shows that full validations, which cost the most, wait
// for each other.
func TestValidationSlots(t *testing.T) {
	t.Run("JSC-09 a full validation waits for a slot, other checks do not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			slots := make(chan struct{}, 1)
			defer schema.Validations(schema.Validations(slots))
			full, own := raw(t, props(``, `"not":{"required":["x"]}`)), raw(t, props(`"a":{"type":"integer"}`))
			slots <- struct{}{}
			done := make(chan bool, 1)
			go func() {
				_, v := full.Check([]byte(`{}`))
				done <- v == nil
			}()
			synctest.Wait()
			if len(done) != 0 {
				t.Error("it did not wait")
			}
			accepts(t, own, `{"a":1}`, `{"a":1}`)
			<-slots
			if ok := <-done; !ok || len(slots) != 0 {
				t.Errorf("accepted %v, %d slots taken", ok, len(slots))
			}
		})
	})
}
