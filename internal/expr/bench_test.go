package expr_test

import (
	"fmt"
	"testing"

	"github.com/cairn-plan/cairn/internal/expr"
)

// Most criteria of a large plan are prose, or one of a few expressions.
func BenchmarkKindProse(b *testing.B) {
	for i := range b.N {
		if isCEL, err := expr.Kind(fmt.Sprintf("each of the %d claims cites a primary source", i)); isCEL || err != nil {
			b.Fatal(isCEL, err)
		}
	}
}

func BenchmarkKindSameExpression(b *testing.B) {
	for range b.N {
		if isCEL, err := expr.Kind("size(outputs.claims) >= 3"); !isCEL || err != nil {
			b.Fatal(isCEL, err)
		}
	}
}

func BenchmarkCompileNewExpression(b *testing.B) {
	for i := range b.N {
		if _, err := expr.Compile(fmt.Sprintf("size(outputs_of.task_%d.claims) >= 3", i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBool(b *testing.B) {
	p, err := expr.Compile("size(outputs.list) >= 3 && exit == 1")
	if err != nil {
		b.Fatal(err)
	}
	in := vars()
	for range b.N {
		if ok, err := p.Bool(b.Context(), in); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
