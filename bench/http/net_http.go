// SPDX-License-Identifier: MIT

// net_http.go - Go's net/http with the answer of fixtures/httpd to /: net_http PORT
package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = []string{"text/plain"}
		w.Header()["Date"] = nil
		w.Header()["Content-Length"] = []string{"6"}
		io.WriteString(w, "hello\n")
	})
	if http.ListenAndServe("127.0.0.1:"+os.Args[1], nil) != nil {
		os.Exit(1)
	}
}
