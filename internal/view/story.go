package view

import (
	"io"
	"time"

	"github.com/cairn-plan/cairn/internal/journal"
	"github.com/cairn-plan/cairn/internal/lifecycle"
)

// Sentence is one step of a story, with the record that proves it.
type Sentence struct {
	Record journal.Seq `json:"record,omitempty"` // 0: it tells where things stand, which no single record says
	Time   time.Time   `json:"time,omitzero"`
	Actor  string      `json:"actor,omitempty"`
	Text   string      `json:"text"`
}

// Story tells how a task came to where it stands, oldest first. It is nil when the plan has no such task.
func Story(records []journal.Record, st *lifecycle.State, task string) []Sentence { return nil }

// StoryText writes a story, a sentence a line.
func StoryText(w io.Writer, story []Sentence) error { return nil }
