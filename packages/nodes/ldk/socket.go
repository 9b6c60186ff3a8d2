package main

import (
	"net"
	"syscall"
)

// A socket that nobody but its owner has ever been able to open: the mask is there before the file is.
func listenPrivately(socket string) (net.Listener, error) {
	before := syscall.Umask(0o177)
	defer syscall.Umask(before)
	return net.Listen("unix", socket)
}
