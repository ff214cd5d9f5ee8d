#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve.py - measure what a viewer of `fiberctl serve` waits for, and what viewers cost

A viewer asks for `top` and then for the next look, again and again, as the page does. The CPU time is of the server and all
processes that it has started and that have ended. For the loss of a program, one with a busy carrier counts the turns of its
fiber, in turn for a few seconds with a viewer and without one; the server runs on the other CPU (bench/observer.py). It has fewer
fibers: a program that keeps all of its CPUs busy gives its answers a two-hundredth of one CPU, and the server does not wait for
half a minute.
"""
import argparse
import http.client
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import observer

FIBERS = 100000
FIBERS_BESIDE = 1000  # in the program that computes
SECONDS = 4  # with a viewer, and without one, after ...
BEGIN, SETTLE = 2, 4  # ... so many that are left out
VIEWED = 20  # s
ANSWER = 60  # s, the limit of an answer
MANY = 20  # programs


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    return parser.parse_args()


class Server:
    """`fiberctl serve` for programs with these process ids or names."""

    def __init__(self, build, programs, environ, prefix=()):
        self.process = subprocess.Popen([*prefix, os.path.join(build, "bin/fiberctl"), "serve", "--listen", "127.0.0.1:0",
                                         *map(str, programs)], stdout=subprocess.PIPE, text=True, env=environ)
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline())[1])

    def get(self, path):
        """Seconds, the header X-Fiber-Look and the size of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER)
        began = time.monotonic()
        connection.request("GET", path)
        answer = connection.getresponse()
        size = len(answer.read())
        took = time.monotonic() - began
        connection.close()
        if answer.status != 200:
            raise RuntimeError("bench-serve: %s: %d" % (path, answer.status))
        return took, answer.getheader("X-Fiber-Look"), size

    def tree(self):
        """The server and its processes."""
        found = [self.process.pid]
        for pid in found:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as children:
                    found += map(int, children.read().split())
        return found

    def cpu(self):
        """CPU time of the processes that exist and of those that they have waited for, s."""
        ticks = 0
        for pid in self.tree():
            with open(f"/proc/{pid}/stat", encoding="latin-1") as stat:
                ticks += sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def memory(self):
        total = 0
        for pid in self.tree():
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as maps:
                total += int(re.search(r"^Pss: *(\d+)", maps.read(), re.M)[1]) << 10
        return total

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class Viewer(threading.Thread):
    """Looks at a program until stop() is called. looks: how often."""

    def __init__(self, server, pid):
        super().__init__()
        self.server, self.pid, self.looks, self.stopped = server, pid, 0, threading.Event()

    def run(self):
        look = "0"
        try:
            while not self.stopped.is_set():
                _, look, _ = self.server.get(f"/api/v1/processes/{self.pid}/top?after={look}")
                self.looks += 1
        except (RuntimeError, OSError) as error:
            if not self.stopped.is_set():
                print("bench-serve: a viewer gave up: %s" % error, file=sys.stderr)

    def stop(self):
        self.stopped.set()
        self.join()


def crowds(build, environ, count, fibers):
    programs = [subprocess.Popen([os.path.join(build, "bin/crowd"), str(fibers)], stdout=subprocess.PIPE, text=True, env=environ)
                for _ in range(count)]
    for program in programs:
        for line in program.stdout:
            if line.startswith("ready"):
                break
    return programs


def end(programs):
    for program in programs:
        program.kill()
        program.wait()
        program.stdout.close()


def loads(build, environ, samples):
    """What a viewer waits for after the server's start."""
    programs = crowds(build, environ, 1, FIBERS)
    server = Server(build, [programs[0].pid], environ)
    about = f"/api/v1/processes/{programs[0].pid}/"
    for name, path in (("the page", "/"), ("processes, the first", "/api/v1/processes"), ("top, the first", about + "top"),
                       ("list of 1,000 rows", about + "list"), ("stacks", about + "stacks"), ("why", about + "why")):
        samples.setdefault(f"{name}, s", []).append(server.get(path)[0])
    server.end()
    end(programs)


def views(build, environ, samples):
    """CPU and memory while viewers look."""
    programs = crowds(build, environ, 1, FIBERS)
    for count in 1, 10:
        server = Server(build, [programs[0].pid], environ)
        server.get(f"/api/v1/processes/{programs[0].pid}/top")
        viewers = [Viewer(server, programs[0].pid) for _ in range(count)]
        for viewer in viewers:
            viewer.start()
        began, cpu = time.monotonic(), server.cpu()
        time.sleep(VIEWED)
        passed = time.monotonic() - began
        name = f"{count} viewer{'s'[:count > 1]} of top, "
        samples.setdefault(name + "CPUs", []).append((server.cpu() - cpu) / passed)
        samples.setdefault(name + "MB", []).append(server.memory() / (1 << 20))
        for viewer in viewers:
            viewer.stop()
        samples.setdefault(name + "looks a second", []).append(statistics.mean(v.looks for v in viewers) / passed)
        server.end()
    end(programs)


def scrapes(build, environ, samples):
    """/metrics of one program and of many: the first, which starts the processes that ask, and the next."""
    for count in 1, MANY:
        programs = crowds(build, environ, count, 1000)
        server = Server(build, ["crowd"], environ)
        name = f"metrics of {count} program{'s'[:count > 1]}, "
        samples.setdefault(name + "the first, s", []).append(server.get("/metrics")[0])
        time.sleep(2)
        samples.setdefault(name + "the next, s", []).append(server.get("/metrics")[0])
        server.end()
        end(programs)


def next_seconds(program, skip):
    """Means of SECONDS of the program, after some that are left out."""
    for _ in range(skip):
        program.stdout.readline()
    said = [re.findall(r"[\d.]+", program.stdout.readline()) for _ in range(SECONDS)]
    return observer.Seconds(*(statistics.mean(map(float, numbers)) for numbers in zip(*said)))


def loss(build, repeats):
    """What a viewer costs a program that computes."""
    program = observer.start_program(build, FIBERS_BESIDE, repeats * (SETTLE + BEGIN + 2 * SECONDS) + 1)
    server = Server(build, [program.pid], os.environ, ("taskset", "-c", "1"))
    pairs = []
    for _ in range(repeats):
        # The last look of the previous viewer ends meanwhile.
        alone = next_seconds(program, SETTLE)
        viewer = Viewer(server, program.pid)
        viewer.start()
        pairs.append((alone, next_seconds(program, BEGIN)))
        viewer.stopped.set()
    server.end()
    program.wait()
    observer.report(FIBERS_BESIDE, {"a viewer": pairs})


def main():
    options = parse()
    samples = {}
    with tempfile.TemporaryDirectory(prefix="bench-serve-") as folder:
        environ = dict(os.environ, XDG_RUNTIME_DIR=folder)
        for _ in range(options.repeats):
            for measure in loads, views, scrapes:
                measure(options.build, environ, samples)
    print("%-45s %9s %9s" % (f"{FIBERS:,} fibers", "median", "worst"))
    for name, values in samples.items():
        worst = min(values) if "a second" in name else max(values)
        print("%-45s %9.4f %9.4f" % (name, statistics.median(values), worst))
    loss(options.build, 2 * options.repeats)


if __name__ == "__main__":
    main()
