package study

import "sync"

// cache keeps the values that were used last, to about a limit of their weights together.
type cache[V any] struct {
	limit      int
	mu         sync.Mutex
	young, old map[string]*cached[V] // used since old ones were forgotten for the last time, and before
	weight     int                   // of the young ones
}

type cached[V any] struct {
	once    sync.Once
	value   V
	weight  int
	err     error
	counted bool
}

// get returns the value of a key, which make makes with its weight. A value that could not be made is forgotten: the
// context of the caller may have ended.
func (c *cache[V]) get(key string, make func() (v V, weight int, err error)) (V, error) {
	c.mu.Lock()
	e := c.young[key]
	if e == nil {
		e = c.old[key]
	}
	if e == nil {
		e = &cached[V]{}
	}
	c.keep(key, e)
	c.mu.Unlock()
	e.once.Do(func() { e.value, e.weight, e.err = make() })
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e.err != nil:
		delete(c.young, key)
	case !e.counted:
		e.counted = true
		if c.weight += e.weight; c.weight > c.limit/2 {
			c.old, c.young, c.weight = c.young, nil, 0
		}
	}
	return e.value, e.err
}

func (c *cache[V]) keep(key string, e *cached[V]) {
	if c.young == nil {
		c.young = map[string]*cached[V]{}
	}
	c.young[key] = e
}
