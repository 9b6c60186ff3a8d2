package main

import (
	"net"
	"syscall"
)

// Creates a socket that only its owner can ever open, because the umask is set before the file exists.
func listenPrivately(socket string) (net.Listener, error) {
	before := syscall.Umask(0o177)
	defer syscall.Umask(before)
	return net.Listen("unix", socket)
}
