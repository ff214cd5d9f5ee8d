#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools.py - measure the time of the tools with very many fibers, and compare it with limits

Every repeat starts the program again, so that the first look reads records that have not been read for a long time. Time is
from the tool's start to its exit. Memory is the maximum resident size that the kernel reports. A tool starts as a copy of this
script, so the size is never below Python's, about 11 MB. With --cold the kernel drops its cached files before the rows that are
marked cold (needs root).
"""
import argparse
import os
import pty
import re
import resource
import select
import signal
import statistics
import subprocess
import sys
import time

DROP_CACHES = "/proc/sys/vm/drop_caches"
TOP_SECONDS = 20


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cold", action="store_true", help="let the kernel forget the files first")
    return parser.parse_args()


class Program:
    """A program whose fibers all wait."""

    def __init__(self, folder, words):
        self.folder = folder
        self.process = subprocess.Popen([os.path.join(folder, words[0]), *words[1:]],
                                        stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("ready "):
                break
        else:
            sys.exit("bench-tools: %s ended before it was ready" % words[0])

    def tool(self, words):
        """Run a tool on the program. Returns seconds, bytes of memory, and the end of its output."""
        began = time.monotonic()
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.dup2(write, 1)
            tool = os.path.join(self.folder, words[0])
            os.execv(tool, [tool, *words[1:], str(self.process.pid)])
        os.close(write)
        with open(read, "rb") as pipe:
            said = b""
            for block in iter(lambda: pipe.read(1 << 20), b""):
                said = (said + block)[-4096:]
        _, status, usage = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        # 3, 4: something was found.
        if code not in (0, 3, 4):
            sys.exit("bench-tools: %s ended with %d" % (" ".join(words), code))
        return time.monotonic() - began, usage.ru_maxrss << 10, said

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def timed(*words):
    return lambda program: program.tool(words)[:2]


def cold(*words):
    def run(program):
        os.sync()
        with open(DROP_CACHES, "w", encoding="ascii") as drop:
            drop.write("3\n")
        return program.tool(words)[:2]
    return run


def sampling(*words):
    """Measure the time in which an answer was sampled, as the answer gives it."""
    def run(program):
        _, memory, said = program.tool(words)
        return int(re.search(rb'"sampledNs":(\d+)', said)[1]) / 1e9, memory
    return run


def screen(program):
    """The fraction of a CPU that top uses while it runs on a terminal, and its memory."""
    child, terminal = pty.fork()
    if not child:
        os.environ["TERM"] = "xterm"
        tool = os.path.join(program.folder, "fiberctl")
        os.execv(tool, [tool, "top", str(program.process.pid)])
    began = time.monotonic()
    while time.monotonic() - began < TOP_SECONDS:
        if select.select([terminal], [], [], 0.5)[0]:
            os.read(terminal, 1 << 16)
    os.write(terminal, b"q")
    try:
        while os.read(terminal, 1 << 16):
            pass
    except OSError:  # the tool has exited
        pass
    _, _, usage = os.wait4(child, 0)
    os.close(terminal)
    return (usage.ru_utime + usage.ru_stime) / (time.monotonic() - began), usage.ru_maxrss << 10


# Each program, started again for each repeat, and its measurements in order: (row, most seconds or share, most bytes, how)
MB = 1 << 20
PROGRAMS = [
    (["places", "1000000"],
     [("list of 1,000,000, the first", 1, 200 * MB, timed("fiberctl", "list")),
      ("list of 1,000,000, the next", 1, 200 * MB, timed("fiberctl", "list")),
      ("stacks of 1,000,000 in 300 places", 10, None, timed("fiberctl", "stacks")),
      ("fibertrace of 1,000,000", 60, 1 << 30, timed("fibertrace")),
      ("why of 1,000,000", 5, None, timed("fiberctl", "why"))]),
    (["places", "100000"],
     [("why of 100,000", 0.5, None, timed("fiberctl", "why"))]),
    (["crowd", "1000000"],
     [("list of 1,000,000 in every kind of wait, the first", 1, 200 * MB, timed("fiberctl", "list"))]),
    (["crowd", "100000"],
     [("deadlock among 100,000, sampling", 0.2, None, sampling("fiberctl", "deadlock", "--json")),
      ("top of 100,000, share of a CPU", 0.05, None, screen)]),
    (["places", "10000"],
     [("fibertrace of 10,000, cold", 2, None, cold("fibertrace")),
      ("fibertrace of 10,000", 0.5, None, timed("fibertrace"))]),
    (["leaks", "crowd", "100000", "1024"],
     [("leaks of 100,000 in a heap of 1 GiB, the first", 5, None, timed("fibertrace", "leaks")),
      ("leaks of 100,000 in a heap of 1 GiB, stopped", 5, None, timed("fibertrace", "leaks", "--stop"))]),
    (["threads", "ring", "2"],
     [("deadlock of 2 threads, no fibers", 0.3, None, timed("fibertrace", "deadlock"))]),
    (["threads", "ring", "1000"],
     [("list of 1,000 threads, no fibers", 1, None, timed("fibertrace", "list")),
      ("deadlock of 1,000 threads, no fibers", 1, None, timed("fibertrace", "deadlock")),
      ("why of 1,000 threads, no fibers", 1, None, timed("fibertrace", "why"))]),
    (["mixed", "fm", "tp"],
     [("deadlock of a fiber and a thread", 0.3, None, timed("fibertrace", "deadlock"))]),
]


def main():
    options = parse()
    if options.cold and not os.access(DROP_CACHES, os.W_OK):
        sys.exit("bench-tools: COLD=1: %s can't be written; needs root" % DROP_CACHES)
    samples = {}
    for _ in range(options.repeats):
        for words, rows in PROGRAMS:
            program = Program(os.path.join(options.build, "bin"), words)
            try:
                for row in rows:
                    if options.cold or not row[0].endswith(", cold"):
                        samples.setdefault(row[0], []).append(row[3](program))
            finally:
                program.end()
    print("%-55s %8s %8s %8s   %10s %8s" % ("", "at most", "median", "worst", "MB at most", "worst"))
    for _, rows in PROGRAMS:
        for name, most, most_memory, _ in rows:
            if name not in samples:
                continue
            times, memory = zip(*samples[name])
            print("%-55s %8.4g %8.4f %8.4f   %10s %8.1f"
                  % (name, most, statistics.median(times), max(times),
                     "" if most_memory is None else most_memory // MB, max(memory) / MB))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
