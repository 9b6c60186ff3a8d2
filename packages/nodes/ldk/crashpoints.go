//go:build crashpoints

package main

import (
	"os"
	"syscall"
	"time"
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
