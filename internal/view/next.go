package view

import "github.com/cairn-plan/cairn/internal/lifecycle"

// Next lists the commands that make sense now, each as it can be copied; what follows # says when.
func Next(st *lifecycle.State) []string { return nil }
