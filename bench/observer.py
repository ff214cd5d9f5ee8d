#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""observer.py - measure what it costs a busy program to be observed

The program has one busy carrier and many waiting fibers. The carrier shares its CPU only with the program's service thread. In
turn, for a few seconds each, no tool runs, and then fiberctl or fibertrace runs on the other CPU, back to back or at random
moments. The program counts the turns of its fiber and measures the gaps between them. The machine's load changes within a
minute and is in both figures, so each look is compared with the seconds just before it.

The service thread wakes 1,000 times a second for its tick, and more often to answer. Its CPU time per wakeup is what the
observer takes; the machine's load is not in it. The column "more" is the CPU time above that without a tool: the cost of
being observed. The turns show the same cost, with the machine's noise. fibertrace stops the thread that runs the fiber to copy
its stack; for a profile a signal interrupts it 100 times a second, and it copies its stack itself.

On the same host a working CPU, and a virtual CPU in particular, slows its neighbour down. With --busy a loop of the lowest
scheduling class computes on the other CPU all the time. The remaining difference is the observer's.
"""
import argparse
import collections
import contextlib
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading

SECONDS = 2  # s with a tool, and without it
# The program's values for one second: turns of its fiber; gaps between them of more than 100 us; times that the service thread
# had the CPU; those of more than 25, 50 and 100 us; the longest and the sum, us.
Seconds = collections.namedtuple("Seconds", "turns late served over25 over50 over100 longest cpu")
# Name, command, mean of the random time until the next look, s. FILE: a temporary file.
LOOKS = [*((name, ["fiberctl", name], 0) for name in
           ("list", "stacks", "tree", "waits", "deadlock", "why", "carriers", "pinned", "slow", "metrics")),
         ("top", ["fiberctl", "top", "--once"], 0), ("snapshot", ["fiberctl", "snapshot", "--force", "-o", "FILE"], 0),
         ("record", ["fibertrace", "record", "--for", "1s", "--force", "-o", "FILE"], 0),
         ("profile", ["fiberctl", "profile", "--for", "1h"], 0), ("profile of waits", ["fiberctl", "profile", "--wait", "--for", "1h"], 0),
         ("traces", ["fibertrace"], 0), ("traces, 1/s", ["fibertrace"], 1)]
AFTER = {"profile": 4}  # s until the program has ended what that command began: the lease of a profile


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--fibers", type=int, default=100000)
    parser.add_argument("--repeats", type=int, default=5)
    add_common(parser)
    options = parser.parse_args()
    options.looks = looks_called(options.looks, parser)
    return options


def add_common(parser):
    parser.add_argument("--looks", default="", help="names of some, with commas; else all of them")
    parser.add_argument("--busy", action="store_true", help="keep the other CPU busy all the time")


def looks_called(names, parser):
    wanted = [name for name in names.split(",") if name]
    for name in wanted:
        if name not in (look[0] for look in LOOKS):
            parser.error("no look is called " + name)
    return [look for look in LOOKS if not wanted or look[0] in wanted]


class Looker:
    """Runs a tool again and again from start() to stop(), which kills the current one."""

    def __init__(self, build, pid):
        self.build, self.pid, self.folder = build, pid, tempfile.TemporaryDirectory()
        self.stopped, self.thread, self.tool, self.lock = threading.Event(), None, None, threading.Lock()

    def start(self, words, pause):
        self.stopped.clear()
        self.thread = threading.Thread(target=self.run, args=(words, pause))
        self.thread.start()

    def stop(self):
        with self.lock:
            self.stopped.set()
            if self.tool:
                self.tool.kill()
        if self.thread:
            self.thread.join()

    def command(self, words):
        file = os.path.join(self.folder.name, "taken")
        return ["taskset", "-c", "1", os.path.join(self.build, "bin", words[0]),
                *(file if word == "FILE" else word for word in words[1:]), str(self.pid)]

    def run(self, words, pause):
        while not self.stopped.is_set():
            with self.lock:
                if self.stopped.is_set():
                    return
                self.tool = subprocess.Popen(self.command(words), stdout=subprocess.DEVNULL)
            code = self.tool.wait()
            with self.lock:
                self.tool = None
            if code and not self.stopped.is_set():
                print("bench-observer: %s ended with %d" % (" ".join(words), code), file=sys.stderr)
            self.stopped.wait(random.expovariate(1 / pause) if pause else 0)


def start_program(build, fibers, seconds):
    """Start the program, which prints a line every second, and read the first line, of the warm-up."""
    if (os.cpu_count() or 1) < 2:
        sys.exit("needs two CPUs, one for the program and one for who looks")
    program = subprocess.Popen(["taskset", "-c", "0", os.path.join(build, "bench/libfiber"), "observed", str(fibers), str(seconds)],
                               stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    return program


@contextlib.contextmanager
def other_cpu(busy):
    """Keep the tools' CPU busy if asked to. The tools preempt the computing process."""
    command = ["taskset", "-c", "1", "chrt", "-i", "0", "sh", "-c", "while :; do :; done"]
    computes = subprocess.Popen(command) if busy else None
    try:
        yield
    finally:
        if computes:
            computes.kill()
            computes.wait()


def main():
    options = parse()
    with other_cpu(options.busy):
        report(options.fibers, measure(options))


def measure(options):
    seconds = sum(2 * SECONDS + AFTER.get(name, 0) for name, _, _ in options.looks) * options.repeats
    program = start_program(options.build, options.fibers, seconds + 1)
    looker = Looker(options.build, program.pid)
    pairs = {name: [] for name, _, _ in options.looks}
    for _ in range(options.repeats):
        for name, words, pause in options.looks:
            alone = next_seconds(program)
            looker.start(words, pause)
            pairs[name].append((alone, next_seconds(program)))
            looker.stop()
            for _ in range(AFTER.get(name, 0)):
                program.stdout.readline()
    program.wait()
    return pairs


def next_seconds(program):
    """Means of the next SECONDS, without the first one, which may overlap the previous look."""
    said = [re.findall(r"[\d.]+", program.stdout.readline()) for _ in range(SECONDS)]
    return Seconds(*(statistics.mean(map(float, numbers)) for numbers in zip(*said[1:])))


def report(fibers, pairs):
    print(f"{'':14} {'turns a second':>21} {'gaps of more than 100 us a second':>35} {'CPU time of the service':>65}")
    print(f"{fibers:,} fibers".ljust(14), f"{'':>10} {'of alone':>10} {'median':>9} {'alone':>6} {'mean':>11} {'alone':>6}"
          f" {'of a CPU':>10} {'more':>7} {'of 1,000 > 25 us':>18} {'> 50':>6} {'> 100':>6} {'alone':>6} {'longest':>8}")
    for name, some in pairs.items():
        alone, looked = zip(*some)
        print(f"{name:14} {statistics.median(one.turns for one in looked):10,.0f}"
              f" {statistics.median(b.turns / a.turns for a, b in some):10.3f}"
              f" {statistics.median(one.late for one in looked):9.1f} {statistics.median(one.late for one in alone):6.1f}"
              f" {statistics.mean(one.late for one in looked):11.1f} {statistics.mean(one.late for one in alone):6.1f}"
              f" {statistics.median(one.cpu for one in looked) / 1e6:10.2%} {statistics.median(b.cpu - a.cpu for a, b in some) / 1e6:7.2%}"
              f" {of_1000(looked, 'over25'):18.1f} {of_1000(looked, 'over50'):6.1f}"
              f" {of_1000(looked, 'over100'):6.2f} {of_1000(alone, 'over100'):6.2f} {max(one.longest for one in looked):8.0f}")


def of_1000(some, field):
    return 1000 * sum(getattr(one, field) for one in some) / max(sum(one.served for one in some), 1)


if __name__ == "__main__":
    main()
