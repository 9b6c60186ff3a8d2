//go:build !crashpoints

package main

// Where tests end the process (crashpoints.go). Here nothing happens.
func dieAt(string) {}
