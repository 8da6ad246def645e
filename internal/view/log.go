package view

import "github.com/cairn-plan/cairn/internal/journal"

// LogLine tells one record on one line: number, time, actor, kind, task and the gist of its body.
func LogLine(r journal.Record) string { return "" }
