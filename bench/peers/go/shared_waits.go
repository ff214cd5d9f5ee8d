// SPDX-License-Identifier: MIT

// shared_waits.go - goroutines on several OS threads that wait for each other; the works of bench/libfiber/shared
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// sharedSem uses a channel with two places as the semaphore: the standard library has none.
func sharedSem(count, threads int) {
	places := make(chan struct{}, 2)
	var inside int64
	race(ends, count/ends, threads, func(turns int) {
		for i := 0; i < turns; i++ {
			places <- struct{}{}
			atomic.AddInt64(&inside, 1)
			if i%8 == 0 {
				runtime.Gosched()
			}
			atomic.AddInt64(&inside, -1)
			<-places
		}
	})
}

func sharedWaitgroup(turns, threads int) {
	runtime.GOMAXPROCS(threads)
	var gates [2]sync.WaitGroup
	var unfinished sync.WaitGroup
	gates[0].Add(1)
	for i := 0; i < many; i++ {
		go func() {
			for i := 0; i < turns; i++ {
				gates[i%2].Wait()
				unfinished.Done()
			}
		}()
	}
	now, start := time.Now(), cpu()
	for i := 0; i < turns; i++ {
		unfinished.Add(many)
		gates[(i+1)%2].Add(1)
		gates[i%2].Done()
		unfinished.Wait()
	}
	each(now, start, turns)
}

// little is what a member of a group does: work_little() of bench/shared.h.
//
//go:noinline
func little(x uint32) uint32 {
	x |= 1
	for i := 0; i < 50; i++ {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	return x
}

func sharedGroup(count, threads int) {
	runtime.GOMAXPROCS(threads)
	rounds := count / many
	now, start := time.Now(), cpu()
	for r := 0; r < rounds; r++ {
		var group sync.WaitGroup
		group.Add(many)
		for i := 0; i < many; i++ {
			go func(i int) {
				little(uint32(i))
				group.Done()
			}(i)
		}
		group.Wait()
	}
	each(now, start, rounds*many)
}

func sharedSelect(count, threads int) {
	left, right := make(chan int), make(chan int)
	turns := count / ends
	var gone sync.WaitGroup
	gone.Add(ends)
	for i := 0; i < ends; i++ {
		go func() {
			for i := 0; i < turns; i++ {
				select {
				case <-left:
				case <-right:
				}
			}
			gone.Done()
		}()
	}
	var number int32
	race(ends, turns, threads, func(turns int) {
		mine := left
		if atomic.AddInt32(&number, 1)%2 == 0 {
			mine = right
		}
		for i := 0; i < turns; i++ {
			mine <- i
		}
	})
	gone.Wait()
}

func sharedSpawn(count, threads int) {
	const parents, children = 4, 10
	race(parents, count/parents/children*children, threads, func(turns int) {
		for n := 0; n < turns; n += children {
			var done sync.WaitGroup
			done.Add(children)
			for i := 0; i < children; i++ {
				go done.Done()
			}
			done.Wait()
		}
	})
}

// shortNap is work_short_nap() of bench/shared.h: 1-20 ms.
func shortNap(state *uint32) time.Duration {
	return time.Millisecond + (nap(state)-time.Millisecond)*19/99
}

func sharedSleepers(n, threads int) {
	runtime.GOMAXPROCS(threads)
	sleepers(n, 10, shortNap, func() { time.Sleep(100 * time.Millisecond) })
}
