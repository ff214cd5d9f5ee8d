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
import threading

SECONDS = 2  # of each turn
# What it is called, the command, and the mean of the random time to the next look, s.
LOOKS = [("list", ["fiberctl", "list"], 0), ("stacks", ["fiberctl", "stacks"], 0),
         ("traces", ["fibertrace"], 0), ("traces, 1/s", ["fibertrace"], 1)]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--fibers", type=int, default=100000)
    parser.add_argument("--repeats", type=int, default=5)
    return parser.parse_args()


class Looker:
    """A tool over and over while `wanted` is set."""

    def __init__(self, command):
        self.command, self.wanted, self.over, self.looks = command, None, False, 0
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        idle = threading.Event()
        while not self.over:
            if not self.wanted:
                idle.wait(0.01)
                continue
            words, pause = self.wanted
            subprocess.run(self.command(words), check=False, stdout=subprocess.DEVNULL)
            self.looks += 1
            idle.wait(random.expovariate(1 / pause) if pause else 0)


def main():
    options = parse()
    if (os.cpu_count() or 1) < 2:
        sys.exit("bench-observer: needs two CPUs, one for the program and one for who looks")
    seconds = SECONDS * (1 + len(LOOKS)) * options.repeats
    program = subprocess.Popen(
        ["taskset", "-c", "0", os.path.join(options.build, "bench/libfiber"), "observed",
         str(options.fibers), str(seconds + 1)], stdout=subprocess.PIPE, text=True)
    looker = Looker(lambda words: ["taskset", "-c", "1", os.path.join(options.build, "bin", words[0]),
                                   *words[1:], str(program.pid)])
    samples = {}
    program.stdout.readline()  # warm
    for _ in range(options.repeats):
        for name, words, pause in [("nobody", None, 0), *LOOKS]:
            looker.wanted = (words, pause) if words else None
            for second in range(SECONDS):
                said = re.findall(r"[\d.]+", program.stdout.readline())
                if second:  # the first one may still have the look before it
                    samples.setdefault(name, []).append(tuple(map(float, said)))
    looker.over = True
    looker.thread.join()
    program.wait()
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
