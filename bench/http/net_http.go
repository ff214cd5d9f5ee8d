// SPDX-License-Identifier: MIT

// net_http.go - Go's net/http with the answer of fixtures/httpd to /: net_http PORT [CERT KEY]
package main

import (
	"crypto/tls"
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
	at := "127.0.0.1:" + os.Args[1]
	var err error
	if len(os.Args) == 4 {
		// HTTP/1.1 only, as the others.
		server := http.Server{Addr: at, TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}}
		err = server.ListenAndServeTLS(os.Args[2], os.Args[3])
	} else {
		err = http.ListenAndServe(at, nil)
	}
	if err != nil {
		os.Exit(1)
	}
}
