//go:build crashpoints

package main

import (
	"os"
	"syscall"
	"time"
)

// What waits for a minute in the product waits for as long here: a test that sees what comes after it would wait for two.
const (
	quietStart = 20 * time.Second
	beat       = 5 * time.Second
)

// Ends the process as kill -9 does, at the step that LDK_DIE_AT names. Only programs of the tests are built with it. Before that LDK has a second to write its manager down: in the
// moment between a channel and its manager a kill makes it close that channel, which is LDK's own way and would be another test at every step.
func dieAt(step string) {
	if os.Getenv("LDK_DIE_AT") == step {
		time.Sleep(time.Second)
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}
