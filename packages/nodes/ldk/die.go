//go:build !crashpoints

package main

import "time"

const (
	// Replayed events come within seconds of a start: until then no payment that has failed is begun anew.
	quietStart = time.Minute
	// How often the store is counted on, and what is in doubt is looked at.
	beat = time.Minute
)

// Where tests end the process (crashpoints.go). Here nothing happens.
func dieAt(string) {}
