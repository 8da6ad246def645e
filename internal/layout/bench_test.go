package layout_test

import (
	"fmt"
	"testing"

	"github.com/cairn-plan/cairn/internal/layout"
)

func BenchmarkDraw(b *testing.B) {
	for _, n := range []int{100, 1000, 3000} {
		g := layered(n, 8+n/50, 7)
		b.Run(fmt.Sprint("layered-", n), func(b *testing.B) {
			for b.Loop() {
				layout.Draw(g, layout.DefaultStyle())
			}
		})
	}
}
