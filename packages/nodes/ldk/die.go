//go:build !crashpoints

package main

import "time"

const (
	// Replayed events arrive within seconds of a start. Until then no failed payment is retried.
	quietStart = time.Minute
	// Interval at which the store's count is updated and doubtful payments are decided.
	beat = time.Minute
)

// Tests end the process here (crashpoints.go). In the product it does nothing.
func dieAt(string) {}
