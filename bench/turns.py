#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""turns.py - trace what the service thread does in each of its turns on the CPU

The program is that of bench/observer.py, on CPU 0 with its service thread. For equal times no tool runs, and then a tool runs
again and again on CPU 1. The kernel's tracer (tracefs; needs root) records when the service thread gets and leaves the CPU, its
system calls, and other work of the kernel meanwhile. A fiber would notice a turn of more than 100 us.

Between two of these events the thread has work for 10 us, at most 20 us. If more than 50 us passed, the machine did something
else: that is a stall. "own" are turns that are late without a stall. If the thread's work caused the stalls, answers would
have more of them per CPU time than ticks without an answer. So stalls are counted per second of the thread's CPU time. Tracing
makes each system call 1-2 us longer.
"""
import argparse
import collections
import os
import re
import statistics
import sys
import threading
import time

from observer import Looker, add_common, looks_called, other_cpu, start_program

TRACER = "/sys/kernel/tracing"
EVENTS = ("sched/sched_switch", "sched/sched_waking", "raw_syscalls", "irq_vectors/local_timer_entry", "irq_vectors/local_timer_exit",
          "exceptions/page_fault_user")
SECONDS = 2  # s per look and round
LATE = 100   # us
STALL = 50   # us
# System calls of the service thread on x86-64. COMMON: clocks, ppoll(2) and the tick's timers, which are in every turn.
CALLS = {3: "close", 9: "mmap", 10: "mprotect", 11: "munmap", 19: "readv", 20: "writev", 27: "mincore", 28: "madvise", 44: "send",
         45: "recv", 257: "open", 288: "accept", 293: "pipe", 310: "process_vm_readv"}
COMMON = (39, 55, 228, 271, 286, 287)
LINE = re.compile(r"^\s*\S.*-\d+\s+\[\d+\]\s+\S+\s+([\d.]+): (\S+): (.*)$")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--repeats", type=int, default=5)
    add_common(parser)
    options = parser.parse_args()
    options.looks = looks_called(options.looks, parser)
    return options


class Tracer:
    """A separate instance of the tracer, which does not disturb other tracing."""

    def __init__(self):
        self.folder = os.path.join(TRACER, "instances", "fiber-turns-%d" % os.getpid())
        try:
            os.mkdir(self.folder)
        except OSError as error:
            sys.exit("bench-turns: %s: %s (it needs root, and tracefs at %s)" % (self.folder, error.strerror, TRACER))
        self.set("tracing_on", "0")
        self.set("buffer_size_kb", "60000")
        self.set("tracing_cpumask", "1")
        for event in EVENTS:
            self.set("events/%s/enable" % event, "1")

    def set(self, name, value):
        with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
            file.write(value)

    def record(self, seconds):
        self.set("trace", "")
        self.set("tracing_on", "1")
        time.sleep(seconds)
        self.set("tracing_on", "0")
        with open(os.path.join(self.folder, "trace"), encoding="ascii", errors="replace") as file:
            return file.read()

    def close(self):
        os.rmdir(self.folder)


def thread_called(pid, name):
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/comm" % (pid, tid), encoding="ascii") as file:
            if file.read().strip() == name:
                return tid
    sys.exit("bench-turns: the program has no thread " + name)


class Turn:
    """took: us. own: us outside stalls. stalls: their number. kind: what the thread did."""

    def __init__(self, events):
        stretches = [b - a for (a, _), (b, _) in zip(events, events[1:])]
        self.took = events[-1][0] - events[0][0]
        self.own = sum(stretch for stretch in stretches if stretch <= STALL)
        self.stalls = sum(stretch > STALL for stretch in stretches)
        self.kind = ", ".join(word for _, word in events if word) or "only its tick"


def turns_of(text, tid):
    events = None
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        at, event, rest = float(match[1]) * 1e6, match[2], match[3]
        if event == "sched_switch" and "next_pid=%s " % tid in rest:
            events = [(at, None)]
        elif events and event == "sched_switch" and "prev_pid=%s " % tid in rest:
            yield Turn(events + [(at, None)])
            events = None
        elif events:
            events.append((at, word_for(event, rest)))


def word_for(event, rest):
    if event == "sys_enter":
        call = int(re.match(r"NR (\d+)", rest)[1])
        return None if call in COMMON else CALLS.get(call, "call %d" % call)
    return {"sched_waking": "wakes somebody", "local_timer_entry": "the kernel's timer", "page_fault_user": "page fault"}.get(event)


def one_in(turns, n):
    return sorted(turn.took for turn in turns)[-1 - len(turns) // n]


def late_in(rounds):
    """For each round: turns per second of more than LATE."""
    return [sum(turn.took > LATE for turn in turns) / SECONDS for turns in rounds]


def stalls_in(turns):
    return sum(turn.stalls for turn in turns) / max(sum(turn.own for turn in turns) / 1e6, 1e-9)


def report(pairs):
    """pairs: for each look its rounds; a round is the turns without and with the tool."""
    print(f"{'':14} {'':>7} {'us a turn,':>10} {'one in':>7} {'one in':>7} {'':>8} {'turns of > %d us a second' % LATE:>39}"
          f" {'stalls in a second':>27}")
    print(f"{'':14} {'turns':>7} {'median':>10} {'100':>7} {'1,000':>7} {'longest':>8} {'median':>8} {'alone':>6} {'mean':>8} {'alone':>6}"
          f" {'own':>6} {'of their time':>18} {'alone':>9}")
    for name, rounds in pairs.items():
        alone, looked = zip(*rounds)
        turns, before = ([turn for some in one for turn in some] for one in (looked, alone))
        late, late_alone = late_in(looked), late_in(alone)
        own = sum(turn.own > LATE for turn in turns) / SECONDS / len(rounds)
        print(f"{name:14} {len(turns):7} {statistics.median(turn.took for turn in turns):10.0f} {one_in(turns, 100):7.0f}"
              f" {one_in(turns, 1000):7.0f} {one_in(turns, len(turns) + 1):8.0f} {statistics.median(late):8.2f}"
              f" {statistics.median(late_alone):6.2f} {statistics.mean(late):8.2f} {statistics.mean(late_alone):6.2f}"
              f" {own:6.2f} {stalls_in(turns):18.0f} {stalls_in(before):9.0f}")


def report_kinds(turns):
    """Print one row for all turns that did the same."""
    kinds = collections.defaultdict(list)
    for turn in turns:
        kinds[turn.kind].append(turn)
    print("\n%6s %10s %10s %8s %12s  %s" % ("turns", "median, us", "longest", "> %d us" % LATE, "of them stalled", "what it did"))
    for kind, some in sorted(kinds.items(), key=lambda item: -len(item[1])):
        late = [turn for turn in some if turn.took > LATE]
        print("%6d %10.0f %10.0f %8d %15d  %s" % (len(some), statistics.median(turn.took for turn in some), one_in(some, len(some) + 1),
              len(late), sum(turn.own <= LATE for turn in late), kind))


def main():
    options = parse()
    with other_cpu(options.busy):
        pairs = measure(options)
    report(pairs)
    if len(pairs) == 1:
        report_kinds([turn for _, looked in pairs.popitem()[1] for turn in looked])


def measure(options):
    pairs = {name: [] for name, _, _ in options.looks}
    # The time includes reading the traces, which takes less than tracing. The program is killed before its time is over.
    program = start_program(options.build, 100000, 10 * SECONDS * len(pairs) * options.repeats)
    threading.Thread(target=program.stdout.read, daemon=True).start()  # drops the line that it prints every second
    looker, tracer = Looker(options.build, program.pid), Tracer()
    try:
        tid = thread_called(program.pid, "fiber-service")
        for _ in range(options.repeats):
            for name, words, pause in options.looks:
                alone = tracer.record(SECONDS)
                looker.start(words, pause)
                time.sleep(0.5)
                looked = tracer.record(SECONDS)
                looker.stop()
                pairs[name].append((list(turns_of(alone, tid)), list(turns_of(looked, tid))))
    finally:
        looker.stop()
        tracer.close()
        program.kill()
    return pairs


if __name__ == "__main__":
    main()
