package expr

import "sync"

// cache keeps what was compiled, by source. It holds two generations: when the young one is full
// it becomes the old one, and the old one is forgotten, so that it never holds more than twice its
// size and what is in use stays.
type cache struct {
	mu         sync.Mutex
	size       int
	young, old map[string]func() (*Program, error)
}

// programs is shared by everyone, so that 100,000 tasks with one criterion compile it once.
var programs = &cache{size: 1024}

func (c *cache) get(src string) (*Program, error) {
	if len(src) > MaxSource {
		return compile(src) // refused at once: not worth a place
	}
	return c.slot(src)()
}

// slot finds the one compilation of src. It runs outside the lock; who comes second waits for it.
func (c *cache) slot(src string) func() (*Program, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.young[src]; ok {
		return f
	}
	f, ok := c.old[src]
	if !ok {
		f = sync.OnceValues(func() (*Program, error) { return compile(src) })
	}
	if c.young == nil || len(c.young) >= c.size {
		c.young, c.old = make(map[string]func() (*Program, error)), c.young
	}
	c.young[src] = f
	return f
}
