#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""observer.py - what looking at a busy program costs it

The program has one carrier that never rests, on a CPU of its own that it shares with nobody but its service thread, and many
fibers that wait. By turns of a few seconds nobody looks, and fiberctl or fibertrace looks from the other CPU, without end or at
random moments: how many turns the fiber does, and how long it was kept from its next one. What the machine gives to others
is in both. The service thread comes a thousand times a second for its tick, and more often to answer, and takes the CPU for as much
time as it uses: how much that was each time is what an observer takes, and has nothing of the machine's doings in it but its slowness.
Of a CPU, what it uses more than with nobody is what looking costs; turns tell the same with the machine's noise.
fibertrace stops the thread that runs the fiber to copy its stack.
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
    options.looks = looks_called(options.looks, parser)
    return options


def looks_called(names, parser):
    wanted = [name for name in names.split(",") if name]
    for name in wanted:
        if name not in (look[0] for look in LOOKS):
            parser.error("no look is called " + name)
    return [look for look in LOOKS if not wanted or look[0] in wanted]


class Looker:
    """A tool over and over from start() to stop(), which ends the one that is under way."""

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
    """It says a line each second; the first, while it gets warm, has been read."""
    if (os.cpu_count() or 1) < 2:
        sys.exit("needs two CPUs, one for the program and one for who looks")
    program = subprocess.Popen(["taskset", "-c", "0", os.path.join(build, "bench/libfiber"), "observed", str(fibers), str(seconds)],
                               stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    return program


def main():
    options = parse()
    seconds = SECONDS * (1 + len(options.looks)) * options.repeats
    program = start_program(options.build, options.fibers, seconds + 1)
    looker = Looker(options.build, program.pid)
    samples = {}
    for _ in range(options.repeats):
        for name, words, pause in [("nobody", None, 0), *options.looks]:
            if words:
                looker.start(words, pause)
            for second in range(SECONDS):
                said = re.findall(r"[\d.]+", program.stdout.readline())
                if second:  # the first one may still have the look before it
                    samples.setdefault(name, []).append(tuple(map(float, said)))
            looker.stop()
    program.wait()
    alone = statistics.median(turns for turns, *_ in samples["nobody"])
    print(f"{'':14} {'':14} {'':10} {'gaps of more than 100 us a second':>36} {'CPU time of the service':>63}")
    print(f"{options.fibers:,} fibers".ljust(14), f"{'turns/s':>14} {'of alone':>10} {'':6}{'all':>10} {'the machine':>18}"
          f" {'of a CPU':>15} {'times/s':>8} {'of 1,000 > 25 us':>20} {'> 50':>6} {'> 100':>6} {'longest':>9}")
    for name, rows in samples.items():
        turns, late, others, served, over25, over50, over100, _, service, all_service = zip(*rows)
        shares = [1000 * sum(over) / max(sum(served), 1) for over in (over25, over50, over100)]
        print(f"{name:14} {statistics.median(turns):14,.0f} {statistics.median(turns) / alone:10.3f}"
              f" {statistics.mean(late):16.1f} {statistics.mean(others):18.1f} {statistics.mean(all_service) / 1e6:15.2%}"
              f" {statistics.mean(served):8.0f}"
              f" {shares[0]:20.1f} {shares[1]:6.1f} {shares[2]:6.2f} {max(service):9.0f}")


if __name__ == "__main__":
    main()
