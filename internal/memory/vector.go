package memory

import (
	"context"
	"math"
)

// Embedder turns texts into vectors that lie near each other where their meanings do. None is built in: what can be had
// without a trained table did not find more than words do. An embeddings service stands behind this port.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// rankByMeaning orders what was found by likeness to the question. It finds nothing that words did not.
func (m *Memory) rankByMeaning(ctx context.Context, asked string, hits []Hit) error {
	if m.Embed == nil || len(hits) == 0 {
		return nil
	}
	texts := []string{asked}
	for _, h := range hits {
		texts = append(texts, h.Key+" "+Text(h.Value))
	}
	vectors, err := m.Embed.Embed(ctx, texts)
	if err != nil || len(vectors) != len(texts) {
		return err // a service that answers half is passed over: the other lists stand by themselves
	}
	rank(hits, byVector, func(i int) float64 { return cosine(vectors[0], vectors[i+1]) })
	return nil
}

func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}
