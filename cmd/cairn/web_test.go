package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
)

// web is a server on which everything goes wrong, for all scripts: /forge/STATUS answers every request with that status,
// /reset breaks off before an answer, /half in the middle of one.
var web = sync.OnceValue(func() string {
	mux := http.NewServeMux()
	mux.HandleFunc("/forge/", func(w http.ResponseWriter, r *http.Request) {
		status, err := strconv.Atoi(strings.Split(r.URL.Path, "/")[2])
		if err != nil {
			status = http.StatusTeapot
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message": "so it is: %s"}`, r.Header.Get("Authorization"))
	})
	mux.HandleFunc("/reset", func(w http.ResponseWriter, _ *http.Request) { reset(w, "") })
	mux.HandleFunc("/half", func(w http.ResponseWriter, _ *http.Request) {
		reset(w, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\nonly the beginning")
	})
	return httptest.NewServer(mux).URL // it ends with the tests
})

// reset says something and breaks the connection off.
func reset(w http.ResponseWriter, says string) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err) // a server of HTTP/1.1 lets its connections go
	}
	_, _ = c.Write([]byte(says)) // a client that left first is fine
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}
