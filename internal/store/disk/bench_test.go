package disk

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"
)

func BenchmarkPut(b *testing.B) {
	s, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	content := make([]byte, 1024)
	put := func(b *testing.B, n uint64) {
		binary.BigEndian.PutUint64(content, n)
		if _, err := s.Put(context.Background(), bytes.NewReader(content)); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("new", func(b *testing.B) {
		for n := uint64(1); b.Loop(); n++ {
			put(b, n)
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			put(b, 0)
		}
	})
}
