//go:build crashpoints

package main

import (
	"os"
	"syscall"
)

// Ends the process as kill -9 does, at the step that LDK_DIE_AT names. Only programs of the tests are built with it.
func dieAt(step string) {
	if os.Getenv("LDK_DIE_AT") == step {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}
