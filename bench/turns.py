#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""turns.py - what the service thread does in each of its turns, as the kernel saw it

The program of bench/observer.py again, on CPU 0 with its service thread, and a tool that looks at it over and over from CPU 1. The
kernel's tracer (tracefs; root) notes when the service thread gets the CPU and gives it back, its system calls, and what else
the kernel does meanwhile. Turns that did the same are one row. A turn of more than 100 us is one that a fiber would notice. It was
stalled if more than half of it passed between two events that have nothing to do but a few microseconds of work
between them: there the machine was elsewhere. Tracing makes each system call a microsecond or two longer.
"""
import argparse
import collections
import os
import re
import statistics
import sys
import time

from observer import Looker, command_of, start_program

TRACER = "/sys/kernel/tracing"
EVENTS = ("sched/sched_switch", "sched/sched_waking", "raw_syscalls", "irq_vectors/local_timer_entry", "exceptions/page_fault_user")
LATE = 100  # us
# The service's system calls on x86-64; clocks and ppoll(2) are in every turn.
CALLS = {3: "close", 9: "mmap", 10: "mprotect", 11: "munmap", 19: "readv", 20: "writev", 28: "madvise", 44: "send", 45: "recv",
         257: "open", 288: "accept", 293: "pipe", 310: "process_vm_readv"}
COMMON = (39, 55, 228, 271)
LINE = re.compile(r"^\s*\S.*-\d+\s+\[\d+\]\s+\S+\s+([\d.]+): (\S+): (.*)$")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--look", default="list", help="a command of fiberctl, or nobody")
    parser.add_argument("--seconds", type=float, default=5)
    return parser.parse_args()


class Tracer:
    """An instance of its own, which leaves everybody else's tracing alone."""

    def __init__(self):
        self.folder = os.path.join(TRACER, "instances", "fiber-turns-%d" % os.getpid())
        try:
            os.mkdir(self.folder)
        except OSError as error:
            sys.exit("bench-turns: %s: %s (it needs root, and tracefs at %s)" % (self.folder, error.strerror, TRACER))

    def set(self, name, value):
        with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
            file.write(value)

    def record(self, seconds):
        self.set("tracing_on", "0")
        self.set("buffer_size_kb", "60000")
        self.set("tracing_cpumask", "1")
        for event in EVENTS:
            self.set("events/%s/enable" % event, "1")
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


def turns_of(text, tid):
    """For each turn of the thread the times of its events, us, and what they were."""
    turn = None
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        at, event, rest = float(match[1]) * 1e6, match[2], match[3]
        if event == "sched_switch" and "next_pid=%s " % tid in rest:
            turn = [(at, None)]
        elif turn and event == "sched_switch" and "prev_pid=%s " % tid in rest:
            yield turn + [(at, None)]
            turn = None
        elif turn:
            turn.append((at, word_for(event, rest)))


def word_for(event, rest):
    if event == "sys_enter":
        call = int(re.match(r"NR (\d+)", rest)[1])
        return None if call in COMMON else CALLS.get(call, "call %d" % call)
    return {"sched_waking": "wakes somebody", "local_timer_entry": "the kernel's timer", "page_fault_user": "page fault"}.get(event)


def report(turns):
    kinds = collections.defaultdict(list)
    for turn in turns:
        times = [at for at, _ in turn]
        stretch = max(b - a for a, b in zip(times, times[1:]))
        kinds[", ".join(word for _, word in turn if word) or "only its tick"].append((times[-1] - times[0], stretch))
    print("%6s %10s %10s %8s %12s  %s" % ("turns", "median, us", "longest", "> %d us" % LATE, "of them stalled", "what it did"))
    for kind, rows in sorted(kinds.items(), key=lambda item: -len(item[1])):
        late = [(took, stretch) for took, stretch in rows if took > LATE]
        print("%6d %10.0f %10.0f %8d %15d  %s" % (len(rows), statistics.median(took for took, _ in rows),
              max(took for took, _ in rows), len(late), sum(stretch > took / 2 for took, stretch in late), kind))


def main():
    options = parse()
    program = start_program(options.build, 100000, int(options.seconds) + 5)
    looker = Looker(lambda words: command_of(options.build, words, program.pid))
    tracer = Tracer()
    try:
        tid = thread_called(program.pid, "fiber-service")
        if options.look != "nobody":
            looker.start(["fiberctl", options.look], 0)
        time.sleep(0.5)
        text = tracer.record(options.seconds)
    finally:
        tracer.close()
        if looker.thread:
            looker.stop()
        program.kill()
    report(turns_of(text, tid))


if __name__ == "__main__":
    main()
