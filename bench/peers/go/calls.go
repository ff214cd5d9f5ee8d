// SPDX-License-Identifier: MIT

// calls.go - select and streams on one OS thread; the works of bench/libfiber/calls.c
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

func choose(count, n int) {
	var chans [8]chan int
	for i := 0; i < n; i++ {
		chans[i] = make(chan int)
	}
	done := make(chan bool)
	go func() {
		for i := 0; i < count; i++ {
			if n == 2 {
				select {
				case <-chans[0]:
				case <-chans[1]:
				}
				continue
			}
			select {
			case <-chans[0]:
			case <-chans[1]:
			case <-chans[2]:
			case <-chans[3]:
			case <-chans[4]:
			case <-chans[5]:
			case <-chans[6]:
			case <-chans[7]:
			}
		}
		close(done)
	}()
	start := cpu()
	for i := 0; i < count; i++ {
		chans[i%n] <- i
	}
	<-done
	report("ns", (cpu()-start)/float64(count))
}

func die(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

const message = 64

// bounce sends messages of 64 bytes there and back.
func bounce(count int, out io.WriteCloser, in io.Reader, farIn io.Reader, farOut io.Writer) {
	go func() {
		var buffer [message]byte
		for {
			if _, err := io.ReadFull(farIn, buffer[:]); err != nil {
				return
			}
			farOut.Write(buffer[:])
		}
	}()
	var buffer [message]byte
	start := cpu()
	for i := 0; i < count/2; i++ {
		_, err := out.Write(buffer[:])
		die(err)
		_, err = io.ReadFull(in, buffer[:])
		die(err)
	}
	report("ns", (cpu()-start)/float64(count/2*2))
	out.Close()
}

func conn(fd int) net.Conn {
	file := os.NewFile(uintptr(fd), "socket")
	c, err := net.FileConn(file)
	die(err)
	file.Close()
	return c
}

func echoUnix(count, _ int) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	die(err)
	near, far := conn(fds[0]), conn(fds[1])
	bounce(count, near, near, far, far)
}

func echoPipe(count, _ int) {
	farIn, out, err := os.Pipe()
	die(err)
	in, farOut, err := os.Pipe()
	die(err)
	bounce(count, out, in, farIn, farOut)
}
