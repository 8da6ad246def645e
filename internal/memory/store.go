package memory

import (
	"context"
	"strconv"
	"time"
)

// Store keeps facts. It is safe for concurrent use, by many processes too.
type Store interface {
	// PutFact puts a fact in front of the current one of its key and place, and gives it back with its id. A fact whose
	// Effect was written before is not written again: the first one comes back.
	PutFact(ctx context.Context, f Fact) (Fact, error)
	// Facts lists all that a key ever held in a place, newest first; tombstones too.
	Facts(ctx context.Context, key string, p Place) ([]Fact, error)
	// MatchFacts lists current facts that hold any of the terms, best first by BM25.
	MatchFacts(ctx context.Context, q Query) (Matches, error)
	// FactKeys lists the keys that have a current fact in one of the places, sorted. No tombstones.
	FactKeys(ctx context.Context, in []Place) ([]string, error)
}

// Query is what is looked for.
type Query struct {
	Terms []string // as Terms gives them
	In    []Place
	Alive time.Time // facts that have expired by then are left out
	Limit int
}

// Matches is what was found.
type Matches struct {
	Facts []Fact         // best first
	Score []float64      // by BM25, of each
	Seen  map[string]int // in how many current facts of the home each term is
	Total int            // current facts of the home
}

// Sources knows what facts come from.
type Sources interface {
	// Locate finds the record, task or artifact that a text names.
	Locate(ctx context.Context, text string) (Source, error)
	// Outdated says why a source no longer stands, nothing while it does.
	Outdated(ctx context.Context, s Source) (why string, err error)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
