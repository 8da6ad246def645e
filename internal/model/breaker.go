package model

import (
	"sync"
	"time"
)

const (
	tolerance = 5           // failures in a row before a server is left alone
	rest      = time.Minute // how long that is
)

// breakers know which servers have failed of late. All models of a Set share them.
type breakers struct {
	mu  sync.Mutex
	all map[string]*breaker
}

// breaker is one server's record: closed below the tolerance, open until its rest is over, then on trial with the first
// call that comes.
type breaker struct {
	failures int
	until    time.Time
}

// open reports whether a server is not to be asked now, and until when.
func (b *breakers) open(server string, now time.Time) (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.all[server]
	if k == nil || k.failures < tolerance {
		return time.Time{}, false
	}
	if now.Before(k.until) {
		return k.until, true
	}
	k.until = now.Add(rest) // others wait for what the trial comes to
	return time.Time{}, false
}

// note takes down how a try went.
func (b *breakers) note(server string, failed bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed {
		delete(b.all, server)
		return
	}
	if b.all == nil {
		b.all = map[string]*breaker{}
	}
	k := b.all[server]
	if k == nil {
		k = &breaker{}
		b.all[server] = k
	}
	if k.failures++; k.failures >= tolerance {
		k.until = now.Add(rest)
	}
}
