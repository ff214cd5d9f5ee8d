// SPDX-License-Identifier: MIT

// shared.go - goroutines on several OS threads that use one object; the works of bench/libfiber/shared
package main

import (
	"runtime"
	"sync"
	"time"
)

const (
	many = 100
	ends = 10
)

// race runs fn in n goroutines, turns times each, and reports what an operation costs.
func race(n, turns, threads int, fn func(turns int)) {
	runtime.GOMAXPROCS(threads)
	var done sync.WaitGroup
	done.Add(n)
	now, start := time.Now(), cpu()
	for i := 0; i < n; i++ {
		go func() {
			fn(turns)
			done.Done()
		}()
	}
	done.Wait()
	each(now, start, n*turns)
}

func each(now time.Time, start float64, n int) {
	report("ns", float64(time.Since(now))/float64(n))
	report("cpu", (cpu()-start)/float64(n))
}

func sharedMutex(count, threads int) {
	var table sync.Mutex
	entries := 0
	race(2, count/2, threads, func(turns int) {
		for i := 0; i < turns; i++ {
			table.Lock()
			entries++
			table.Unlock()
		}
	})
}

func sharedMutexYield(count, threads int) {
	var table sync.Mutex
	entries := 0
	race(many, count/many, threads, func(turns int) {
		for i := 0; i < turns; i++ {
			table.Lock()
			entries++
			if i%8 == 0 {
				runtime.Gosched()
			}
			table.Unlock()
		}
	})
}

func sharedRWMutex(count, threads int) {
	var readable sync.RWMutex
	race(2, count/2, threads, func(turns int) {
		for i := 0; i < turns; i++ {
			readable.RLock()
			//lint:ignore SA2001 nothing is what is measured
			readable.RUnlock()
		}
	})
}

// sharedQueue makes a work: senders and receivers on one channel, n of each.
func sharedQueue(capacity, n int) func(int, int) {
	return func(count, threads int) {
		elems := make(chan int, capacity)
		var gone sync.WaitGroup
		gone.Add(n)
		for i := 0; i < n; i++ {
			go func() {
				for range elems {
				}
				gone.Done()
			}()
		}
		race(n, count/n, threads, func(turns int) {
			for i := 0; i < turns; i++ {
				elems <- i
			}
		})
		close(elems)
		gone.Wait()
	}
}

func sharedBroadcast(turns, threads int) {
	runtime.GOMAXPROCS(threads)
	var table sync.Mutex
	begins, allBack := sync.NewCond(&table), sync.NewCond(&table)
	current, back := 0, 0
	for i := 0; i < many; i++ {
		go func() {
			table.Lock()
			for seen := 0; seen < turns; seen++ {
				if back++; back == many {
					allBack.Signal()
				}
				for current == seen {
					begins.Wait()
				}
			}
			table.Unlock()
		}()
	}
	table.Lock()
	now, start := time.Now(), cpu()
	for i := 0; i < turns; i++ {
		for back < many {
			allBack.Wait()
		}
		back = 0
		current++
		begins.Broadcast()
	}
	table.Unlock()
	each(now, start, turns)
}
