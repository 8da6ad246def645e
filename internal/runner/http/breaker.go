package http

import (
	"sync"
	"time"
)

const (
	tolerance = 5           // failures in a row before a server is left alone
	rest      = time.Minute // how long that is
)

// breakers know which servers have failed of late. All calls of a Runner share them.
type breakers struct {
	mu  sync.Mutex
	all map[string]*breaker
}

// breaker is one server's record: closed below the tolerance, open until its rest is over, then on trial with the first
// call that comes.
type breaker struct {
	failures int
	until    time.Time
	trial    bool // somebody is trying
}

// open reports whether a server is not to be asked now, and until when.
func (b *breakers) open(host string, now time.Time) (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.all[host]
	if k == nil || k.failures < tolerance {
		return time.Time{}, false
	}
	if now.Before(k.until) || k.trial {
		return k.until, true
	}
	k.trial, k.until = true, now.Add(rest) // should the trial never report, the next comes then
	return time.Time{}, false
}

// note takes down how a request to a server went.
func (b *breakers) note(host string, failed bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed {
		delete(b.all, host)
		return
	}
	if b.all == nil {
		b.all = map[string]*breaker{}
	}
	k := b.all[host]
	if k == nil {
		k = &breaker{}
		b.all[host] = k
	}
	k.failures++
	k.trial = false
	if k.failures >= tolerance {
		k.until = now.Add(rest)
	}
}
