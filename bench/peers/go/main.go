// SPDX-License-Identifier: MIT

// main.go - the same works on goroutines, with one OS thread for Go code unless the work sets another number
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// CPU time of the process in ns, including the collector's threads
func cpu() float64 {
	var t syscall.Timespec
	const processCPU = 2
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, processCPU, uintptr(unsafe.Pointer(&t)), 0)
	return float64(t.Sec)*1e9 + float64(t.Nsec)
}

func report(name string, value float64) {
	fmt.Printf("%s %.6g\n", name, value)
}

func yield(count, n int) {
	rounds := count / n
	var done sync.WaitGroup
	done.Add(n)
	for i := 0; i < n; i++ {
		go func() {
			for r := 0; r < rounds; r++ {
				runtime.Gosched()
			}
			done.Done()
		}()
	}
	start := cpu()
	done.Wait()
	report("ns", (cpu()-start)/float64(rounds*n))
}

func spawn(count, n int) {
	rounds := count / n
	var start float64
	for r := -1; r < rounds; r++ {
		if r == 0 {
			start = cpu()
		}
		var done sync.WaitGroup
		done.Add(n)
		for i := 0; i < n; i++ {
			go done.Done()
		}
		done.Wait()
	}
	report("ns", (cpu()-start)/float64(rounds*n))
}

func channel(count, _ int) {
	there, back := make(chan int), make(chan int)
	go func() {
		for v := range there {
			back <- v
		}
	}()
	start := cpu()
	for i := 0; i < count/2; i++ {
		there <- i
		<-back
	}
	report("ns", (cpu()-start)/float64(count/2*2))
}

func cond(count, _ int) {
	var table sync.Mutex
	turned := sync.NewCond(&table)
	turn, messages := 0, count/2
	play := func(me int) {
		table.Lock()
		for i := 0; i < messages; i++ {
			for turn != me {
				turned.Wait()
			}
			turn = 1 - me
			turned.Signal()
		}
		table.Unlock()
	}
	done := make(chan bool)
	go func() {
		play(1)
		close(done)
	}()
	start := cpu()
	play(0)
	<-done
	report("ns", (cpu()-start)/float64(messages*2))
}

func mutex(count, _ int) {
	var table sync.Mutex
	start := cpu()
	for i := 0; i < count; i++ {
		table.Lock()
		//lint:ignore SA2001 nothing is what is measured
		table.Unlock()
	}
	report("ns", (cpu()-start)/float64(count))
}

const ways = 10

// The results come over a channel with a buffer for all ten, the fastest of the usual forms.
func grow(first, leaves int, up chan<- int) {
	if leaves == 1 {
		up <- first
		return
	}
	below := make(chan int, ways)
	for i := 0; i < ways; i++ {
		go grow(first+i*(leaves/ways), leaves/ways, below)
	}
	sum := 0
	for i := 0; i < ways; i++ {
		sum += <-below
	}
	up <- sum
}

func tree(leaves, threads int) {
	runtime.GOMAXPROCS(threads)
	up := make(chan int, 1)
	now, start := time.Now(), cpu()
	grow(0, leaves, up)
	if <-up != leaves*(leaves-1)/2 {
		fmt.Fprintln(os.Stderr, "bench: the sum over the tree is wrong")
		os.Exit(2)
	}
	report("ms", float64(time.Since(now))/1e6)
	report("cpu", (cpu()-start)/1e6)
}

func lines(path string, each func(string)) {
	file, err := os.Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	defer file.Close()
	for in := bufio.NewScanner(file); in.Scan(); {
		each(in.Text())
	}
}

func resident() (bytes, tables, maps float64) {
	lines("/proc/self/status", func(line string) {
		words := strings.Fields(line)
		if len(words) < 2 {
			return
		}
		value, _ := strconv.ParseFloat(words[1], 64)
		switch words[0] {
		case "VmRSS:":
			bytes = value * 1024
		case "VmPTE:":
			tables = value * 1024
		}
	})
	lines("/proc/self/maps", func(string) { maps++ })
	return
}

func memory(n, _ int) {
	gate := make(chan bool)
	bytes, tables, _ := resident()
	start := cpu()
	for i := 0; i < n; i++ {
		go func() { <-gate }()
	}
	runtime.Gosched()
	used := cpu() - start
	bytesAfter, tablesAfter, maps := resident()
	report("bytes", (bytesAfter-bytes)/float64(n))
	report("tables", (tablesAfter-tables)/float64(n))
	report("maps", maps)
	report("us", used/float64(n)/1e3)
}

func nap(state *uint32) time.Duration {
	x := *state
	x ^= x << 13
	x ^= x >> 17
	x ^= x << 5
	*state = x
	return time.Duration(1000000 + int64(x%99000)*1000)
}

// sleepers measures n goroutines that sleep, all of which wait for the gate first.
func sleepers(n, times int, length func(*uint32) time.Duration, untilAllWait func()) {
	late := make([]float64, n*times)
	gate := make(chan bool)
	var done sync.WaitGroup
	done.Add(n)
	for i := 0; i < n; i++ {
		go func(i int) {
			state := uint32(i)*2654435761 + 1
			<-gate
			for k := 0; k < times; k++ {
				d := length(&state)
				until := time.Now().Add(d)
				time.Sleep(d)
				late[i*times+k] = float64(time.Since(until)) / 1e3
			}
			done.Done()
		}(i)
	}
	untilAllWait()
	start := cpu()
	close(gate)
	done.Wait()
	used := cpu() - start
	sort.Float64s(late)
	report("p50", late[len(late)/2])
	report("p99", late[len(late)-1-len(late)/100])
	report("cpu", used/float64(len(late))/1e3)
}

func naps(n, times int) {
	sleepers(n, times, nap, runtime.Gosched)
}

func main() {
	works := map[string]func(int, int){
		"yield": yield, "spawn": spawn, "channel": channel, "cond": cond, "mutex": mutex,
		"tree": tree, "memory": memory, "naps": naps,
		"select": choose, "echo-unix": echoUnix, "echo-pipe": echoPipe,
		"shared-mutex": sharedMutex, "shared-mutex-yield": sharedMutexYield, "shared-rwlock": sharedRWMutex,
		"shared-queue-0": sharedQueue(0, ends), "shared-queue-16": sharedQueue(16, ends),
		"shared-queue-1024": sharedQueue(1024, ends), "shared-pipe-0": sharedQueue(0, 1),
		"shared-pipe-16": sharedQueue(16, 1), "shared-broadcast": sharedBroadcast,
		"shared-sem": sharedSem, "shared-waitgroup": sharedWaitgroup, "shared-group": sharedGroup,
		"shared-select": sharedSelect, "shared-spawn": sharedSpawn, "shared-sleepers": sharedSleepers,
		"shared-table-mutex": sharedTableMutex, "shared-table-rwlock": sharedTableRWMutex,
	}
	if len(os.Args) < 3 || works[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: %s WORK COUNT [ARG]\n", os.Args[0])
		os.Exit(64)
	}
	count, _ := strconv.Atoi(os.Args[2])
	arg := 0
	if len(os.Args) > 3 {
		arg, _ = strconv.Atoi(os.Args[3])
	}
	runtime.GOMAXPROCS(1)
	works[os.Args[1]](count, arg)
}
