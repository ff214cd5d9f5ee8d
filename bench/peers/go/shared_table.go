// SPDX-License-Identifier: MIT

// shared_table.go - the HTTP server of bench/table.h, one goroutine per connection
package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	connections = 100
	keys        = 1024
	entrySize   = 64
	head        = "HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n"
	patience    = 10 * time.Second // until all connections are open
)

var entries [keys][entrySize]byte

type request struct {
	write bool
	key   int
}

func parse(text []byte) request {
	from := bytes.IndexByte(text, '/') + 1
	if from == 0 || !bytes.HasSuffix(text, []byte("\r\n\r\n")) {
		die(errors.New("the request failed"))
	}
	key := 0
	for _, c := range text[from:] {
		if c < '0' || c > '9' {
			break
		}
		key = key*10 + int(c-'0')
	}
	return request{text[0] == 'P', key % keys}
}

// answerOf runs with the lock held.
func answerOf(asked request, answer []byte) {
	entry := &entries[asked.key]
	if asked.write {
		next := entry[0] + 1
		if entry[0] == 'z' {
			next = 'a'
		}
		for i := range entry {
			entry[i] = next
		}
	}
	copy(answer[len(head):], entry[:])
}

func serve(conn net.Conn, locked func(request, []byte)) {
	var text [512]byte
	answer := make([]byte, len(head)+entrySize)
	copy(answer, head)
	for {
		n, err := conn.Read(text[:])
		if err != nil {
			conn.Close()
			return
		}
		locked(parse(text[:n]), answer)
		_, err = conn.Write(answer)
		die(err)
	}
}

func serveTable(count, threads int, locked func(request, []byte)) {
	runtime.GOMAXPROCS(threads)
	for i := range entries {
		copy(entries[i][:], bytes.Repeat([]byte{'a'}, entrySize))
	}
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	die(err)
	folder := os.Getenv("BENCH_PROGRAMS")
	client := exec.Command(folder+"/table_client", strconv.Itoa(listener.Addr().(*net.TCPAddr).Port),
		strconv.Itoa(connections), strconv.Itoa(count), strconv.Itoa(os.Getpid()))
	client.Stdout, client.Stderr = os.Stdout, os.Stderr
	die(client.Start())
	listener.SetDeadline(time.Now().Add(patience))
	var served sync.WaitGroup
	served.Add(connections)
	for i := 0; i < connections; i++ {
		conn, err := listener.Accept()
		die(err)
		go func() {
			serve(conn, locked)
			served.Done()
		}()
	}
	served.Wait()
	die(client.Wait())
}

func sharedTableMutex(count, threads int) {
	var table sync.Mutex
	serveTable(count, threads, func(asked request, answer []byte) {
		table.Lock()
		answerOf(asked, answer)
		table.Unlock()
	})
}

func sharedTableRWMutex(count, threads int) {
	var table sync.RWMutex
	serveTable(count, threads, func(asked request, answer []byte) {
		if asked.write {
			table.Lock()
			answerOf(asked, answer)
			table.Unlock()
			return
		}
		table.RLock()
		answerOf(asked, answer)
		table.RUnlock()
	})
}
