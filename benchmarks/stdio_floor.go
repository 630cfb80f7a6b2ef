package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"sync"
)

// floorStdio serves as a careful author would: each line in a goroutine of its
// own, each answer in one write.
func floorStdio(n int) error {
	s, err := newFloorServer(n)
	if err != nil {
		return err
	}
	var writing sync.Mutex
	var calls sync.WaitGroup
	defer calls.Wait()
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		calls.Go(func() {
			out := floorBuffers.Get().(*bytes.Buffer)
			defer floorBuffers.Put(out)
			out.Reset()
			var req floorRequest
			if json.Unmarshal(line, &req) != nil || req.ID == nil || s.answer(out, &req) != nil {
				return
			}
			out.WriteByte('\n')
			writing.Lock()
			defer writing.Unlock()
			_, _ = os.Stdout.Write(out.Bytes()) // nobody listens any more
		})
	}
}
