//go:build crashpoints

package main

import (
	"os"
	"syscall"
	"time"
)

// Delays of a minute in the product are this long here, because tests would otherwise wait for two minutes.
const (
	quietStart = 20 * time.Second
	beat       = 5 * time.Second
)

// Ends the process like kill -9 at the step named by LDK_DIE_AT. Only test programs are built with it. First
// LDK has a second to write its manager: a kill between writing a channel and its manager makes LDK close
// that channel, which is correct but would disturb the test of every step.
func dieAt(step string) {
	if os.Getenv("LDK_DIE_AT") == step {
		time.Sleep(time.Second)
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}
