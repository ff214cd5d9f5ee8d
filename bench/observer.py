#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""observer.py - what looking at a busy program costs it

The program has one carrier that never rests, on a CPU of its own that it shares with nobody but its service thread, and many
fibers that wait. By turns of a few seconds nobody looks, and fiberctl or fibertrace looks from the other CPU, without end or at
random moments: how many turns the fiber does, and how long it was kept from its next one at most. What the machine takes is in
both. The service thread comes a thousand times a second for its tick, and more often to answer: how often it kept the fiber from its
turn, and in how many of a thousand times for more than 100 us, tells answers from ticks and from the machine. fibertrace stops the
thread that runs the fiber to copy its stack.
"""
import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading

SECONDS = 2  # of each turn
# What it is called, the command, and the mean of the random time to the next look, s. FILE is one that is thrown away.
LOOKS = [*((name, ["fiberctl", name], 0) for name in
           ("list", "stacks", "tree", "waits", "deadlock", "carriers", "pinned", "slow", "metrics")),
         ("top", ["fiberctl", "top", "--once"], 0), ("snapshot", ["fiberctl", "snapshot", "--force", "-o", "FILE"], 0),
         ("record", ["fibertrace", "record", "--for", "1s", "--force", "-o", "FILE"], 0),
         ("traces", ["fibertrace"], 0), ("traces, 1/s", ["fibertrace"], 1)]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--fibers", type=int, default=100000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--looks", default="", help="names of some, with commas; else all of them")
    options = parser.parse_args()
    wanted = [name for name in options.looks.split(",") if name]
    for name in wanted:
        if name not in (look[0] for look in LOOKS):
            parser.error("no look is called " + name)
    options.looks = [look for look in LOOKS if not wanted or look[0] in wanted]
    return options


class Looker:
    """A tool over and over from start() to stop(), which ends the one that is under way."""

    def __init__(self, command):
        self.command, self.stopped, self.thread, self.tool = command, threading.Event(), None, None
        self.lock = threading.Lock()

    def start(self, words, pause):
        self.stopped.clear()
        self.thread = threading.Thread(target=self.run, args=(words, pause))
        self.thread.start()

    def stop(self):
        with self.lock:
            self.stopped.set()
            if self.tool:
                self.tool.kill()
        self.thread.join()

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


def main():
    options = parse()
    if (os.cpu_count() or 1) < 2:
        sys.exit("bench-observer: needs two CPUs, one for the program and one for who looks")
    seconds = SECONDS * (1 + len(options.looks)) * options.repeats
    program = subprocess.Popen(
        ["taskset", "-c", "0", os.path.join(options.build, "bench/libfiber"), "observed",
         str(options.fibers), str(seconds + 1)], stdout=subprocess.PIPE, text=True)
    folder = tempfile.TemporaryDirectory()
    file = os.path.join(folder.name, "taken")
    looker = Looker(lambda words: ["taskset", "-c", "1", os.path.join(options.build, "bin", words[0]),
                                   *(file if word == "FILE" else word for word in words[1:]), str(program.pid)])
    samples = {}
    program.stdout.readline()  # warm
    for _ in range(options.repeats):
        for name, words, pause in [("nobody", None, 0), *options.looks]:
            if words:
                looker.start(words, pause)
            for second in range(SECONDS):
                said = re.findall(r"[\d.]+", program.stdout.readline())
                if second:  # the first one may still have the look before it
                    samples.setdefault(name, []).append(tuple(map(float, said)))
            if words:
                looker.stop()
    program.wait()
    folder.cleanup()
    alone = statistics.median(turns for turns, *_ in samples["nobody"])
    print(f"{options.fibers:,} fibers       turns/s   of alone   longest gap, us (median, worst)   gaps > 100 us a second"
          "   by the service a second, of 1,000 > 100 us   service in one, us (median, worst)")
    for name, rows in samples.items():
        turns, longest, late, served, served_late, service = zip(*rows)
        print(f"{name:14} {statistics.median(turns):14,.0f} {statistics.median(turns) / alone:10.3f}"
              f" {statistics.median(longest):16.0f} {max(longest):6.0f} {statistics.mean(late):24.1f}"
              f" {statistics.mean(served):25.0f} {1000 * sum(served_late) / max(sum(served), 1):18.1f}"
              f" {statistics.median(service):27.0f} {max(service):6.0f}")


if __name__ == "__main__":
    main()
