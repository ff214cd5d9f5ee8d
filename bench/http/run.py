# SPDX-License-Identifier: MIT
"""run.py - measure HTTP servers with fibers, threads, an event loop, nginx and Go, interleaved.

The server has one CPU and the load generator (wrk) another one. In the last rows both have all CPUs,
and the servers have a worker for each. Every repeat runs every server at every number of
connections, starting with another one each time; the table has medians. The lines:
  cpu     CPU time of the server's processes, from the kernel, per request that wrk counted;
          includes opening the connections
  steady  the same with bench/http/client.c, from the moment when every connection has had an answer
  even    the answers of the slowest connection over the mean of all, measured by client.c
  rate, p50, p99: as wrk reports them; rss: the maximum resident memory of the server

Also measured: requests and new connections through TLS (https.py), system calls per request (strace -c), the cost of idle connections (fixtures/idle) and
of being observed (fiberctl list). Targets are printed beside the results. All results are written to
last-http.json. Exit status: 0, also if a target is missed; 1 if the server with fibers could not be
measured; 64 for a usage error.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import https
from servers import OURS, Missing, Server

ALL = ["fiber", "threads", "epoll", "nginx", "Go"]
LINES = [("cpu", "us/req"), ("steady", "us/req"), ("even", "of mean"), ("rate", "req/s"),
         ("p50", "us"), ("p99", "us"), ("rss", "KB")]
AT_LEAST = {"rate", "even"}  # targets of other lines are upper limits
UNITS = {"us": 1, "ms": 1e3, "s": 1e6, "m": 6e7, "h": 3.6e9}
FILES = 20000  # assumed limit of descriptors per process
SPARE = 100
WATCHED = 1000  # busy connections while the server is observed
ALIVE = 100000  # fibers of the server while it is observed


def limits(connections, cpus):
    """Targets of the server with fibers: line -> [(other, factor)]; if other is None, factor is the limit."""
    if cpus > 1:
        return {}
    big = connections >= 10000
    cpu = [("epoll", 1.02), ("nginx", 1), ("Go", 0.45)]
    if big:
        cpu.append(("threads", 0.45))
    return {
        "cpu": cpu,
        "steady": cpu,
        "even": [(None, 0.5)] if big else [],
        "rate": [("threads", 1.5)] if big else [],
        "p99": [("epoll", 1.1)],
    }


def microseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)([a-z]+)", text).groups()
    return float(number) * UNITS[unit]


class Bench:
    def __init__(self, options):
        self.options = options
        self.samples = {}  # (cpus, connections, who) -> {line: [value, ...]}
        self.problems = {}  # (cpus, connections, who) -> text
        self.extra = []  # rows: (what, who, value, unit, verdict)

    def client(self, command, cpu):
        done = subprocess.run(["taskset", "-c", cpu, *command], capture_output=True, text=True,
                              timeout=self.options.seconds + 120, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip() or f"{command[0]}: {done.returncode}")
        return done.stdout

    def wrk(self, server, connections, cpu, seconds, more=()):
        scheme = "https" if server.tls else "http"
        said = self.client(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s",
                            "--latency", *more, f"{scheme}://127.0.0.1:{server.port}/"], cpu)
        errors = re.search(r"Socket errors: (.*)|Non-2xx.*", said)
        if errors and re.search(r"[1-9]", errors.group(0)):
            print(f"bench-http: {errors.group(0)}", file=sys.stderr)
        requests = int(re.search(r"(\d+) requests in", said).group(1))
        if not requests:
            raise RuntimeError(f"no answer within {seconds} s")
        return {"requests": requests,
                "rate": float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1)),
                "p50": microseconds(re.search(r" 50%\s+(\S+)", said).group(1)),
                "p99": microseconds(re.search(r" 99%\s+(\S+)", said).group(1))}

    def even(self, server, connections, seconds):
        said = self.client([os.path.join(self.options.build, "bench/http/client"), str(server.port),
                            str(connections), str(seconds), str(server.processes()[-1])], "1")
        return {name: float(value) for name, value in map(str.split, said.splitlines())}

    def measure_once(self, cpus, connections, who):
        with Server(who, self.options.build, list(range(cpus))) as server:
            before = server.cpu_us()
            values = self.wrk(server, connections, "1" if cpus == 1 else "0-1", self.options.seconds)
            values["cpu"] = (server.cpu_us() - before) / values["requests"]
            if cpus == 1:
                steady = self.even(server, connections, max(1, self.options.seconds // 2))
                values["steady"] = steady["cpu_us"]
                values["even"] = steady["least"] / max(steady["mean"], 1e-9)
            values["rss"] = server.status_kb("VmHWM")
        return values

    def measure(self):
        cells = [(1, c) for c in self.options.connections] + [(2, 1000)]
        for repeat in range(self.options.repeats):
            for cpus, connections in cells:
                first = repeat % len(ALL)
                for who in ALL[first:] + ALL[:first]:
                    at = (cpus, connections, who)
                    if at in self.problems:
                        continue
                    try:
                        values = self.measure_once(*at)
                    except (Missing, RuntimeError, OSError, AttributeError,
                            subprocess.TimeoutExpired) as why:
                        self.problems[at] = str(why)
                        continue
                    for line, value in values.items():
                        self.samples.setdefault(at, {}).setdefault(line, []).append(value)
            if sys.stderr.isatty():
                print(f"\r{repeat + 1} of {self.options.repeats}", end="\r", file=sys.stderr)

    def median(self, at, line):
        values = self.samples.get(at, {}).get(line)
        return statistics.median(values) if values and at not in self.problems else None

    def rows(self):
        for cpus, connections in dict.fromkeys((a, b) for a, b, _ in
                                               [*self.samples, *self.problems]):
            for line, unit in LINES:
                for who in ALL:
                    at = (cpus, connections, who)
                    value = self.median(at, line)
                    text = verdicts = ""
                    if value is None:
                        text = self.problems.get(at, "not measured")
                    elif who == OURS:
                        verdicts = self.verdicts(at, line, value)
                    yield {"cpus": cpus, "connections": connections, "line": line, "unit": unit,
                           "who": who, "value": value, "samples": self.samples.get(at, {}).get(line),
                           "text": text or verdicts}

    def verdicts(self, at, line, value):
        said = []
        for other, factor in limits(at[1], at[0]).get(line, []):
            limit = self.median((*at[:2], other), line) if other else 1
            least = line in AT_LEAST
            text = f"{'>=' if least else '<='} {factor:g}" + (f" x {other}" if other else "")
            if not limit:
                said.append(f"{text} not measured")
                continue
            ratio = value / limit
            met = ratio >= factor if least else ratio <= factor
            said.append(f"{text} {'met' if met else 'MISSED'} ({ratio:.2f})")
        return ", ".join(said)

    # -- what wrk does not measure --

    def add(self, what, who, value, unit, limit=None):
        text = f"<= {limit:g} {'met' if value <= limit else 'MISSED'}" if limit is not None else ""
        self.extra.append({"what": what, "who": who, "value": value, "unit": unit, "text": text})

    def count_calls(self, who):
        """Count system calls per request, in a separate run with 100 connections."""
        kinds = {"recv": r"recvfrom|recvmsg|read|readv", "send": r"sendto|sendmsg|write|writev",
                 "epoll_ctl": r"epoll_ctl", "epoll_wait": r"epoll_p?wait2?"}
        limit = {"recv": 1.1, "send": 1.1, "epoll_ctl": 0.05} if who == OURS else {}
        with tempfile.NamedTemporaryFile("r", suffix=".strace") as file:
            before = ["strace", "-f", "-c", "-o", file.name]
            with Server(who, self.options.build, [0], before) as server:
                requests = self.wrk(server, 100, "1", self.options.seconds)["requests"]
            calls = {}
            for line in file.read().splitlines():
                fields = line.split()
                if len(fields) >= 5 and fields[3].isdigit():
                    calls[fields[-1]] = int(fields[3])
        for kind, names in kinds.items():
            count = sum(n for call, n in calls.items() if re.fullmatch(names, call))
            self.add(f"{kind} per request", who, count / requests, "calls", limit.get(kind))

    @contextlib.contextmanager
    def idle_connections(self, server, n):
        """Keep n connections open to a server, each of which has sent one request."""
        idle = [os.path.join(self.options.build, "bin/idle"), str(n), "--ask", "--port"]
        with subprocess.Popen(["taskset", "-c", "1", *idle, str(server.port)],
                              stdout=subprocess.PIPE, text=True) as holder:
            try:
                if not holder.stdout.readline().startswith("open"):
                    raise RuntimeError("idle could not open its connections")
                yield
            finally:
                holder.terminate()

    def measure_idle(self, who):
        """Open as many idle connections as a server may have. Measure the memory of each, and the p99 of other requests."""
        n = min(self.options.idle, FILES - SPARE)
        with Server(who, self.options.build, [0]) as server:
            before = server.status_kb("VmRSS")
            with self.idle_connections(server, n):
                each = (server.status_kb("VmRSS") - before) / n
                values = self.even(server, 10, min(self.options.seconds, 5))
        ours = who == OURS
        self.add(f"one of {n} idle connections", who, each, "KB", 6.5 if ours else None)
        self.add(f"p99 beside {n} idle ones", who, values["p99_us"] / 1000, "ms",
                 5 if ours else None)

    def look_once_a_second(self, server):
        """Start to run fiberctl once a second. Returns a function that stops it."""
        over = threading.Event()
        # fiberctl runs on the CPU of the load, so its own CPU time does not slow the server down.
        command = ["taskset", "-c", "1", "nice", "-n", "19", os.path.join(self.options.build, "bin/fiberctl"), "list",
                   str(server.process.pid)]

        def look():
            while not over.wait(1):
                subprocess.run(command, check=False, stdout=subprocess.DEVNULL)

        watcher = threading.Thread(target=look)
        watcher.start()

        def end():
            over.set()
            watcher.join()
        return end

    def measure_watched(self, who):
        """Measure the cost of one `fiberctl list` of all fibers per second. Runs without and with it alternate, so that
        both include the machine's other load."""
        n = min(self.options.idle, FILES - SPARE - WATCHED)
        lost, more = [], []
        waiting = ["--waiting", str(ALIVE - WATCHED - n)]
        with (Server(who, self.options.build, [0], more=waiting) as server,
              self.idle_connections(server, n)):
            for _ in range(2 * self.options.repeats + 1):
                alone = self.even(server, WATCHED, self.options.seconds)
                end = self.look_once_a_second(server)
                try:
                    watched = self.even(server, WATCHED, self.options.seconds)
                finally:
                    end()
                lost.append(1 - watched["requests"] / watched["seconds"]
                            * alone["seconds"] / alone["requests"])
                more.append(watched["p99_us"] / alone["p99_us"] - 1)
        what = f"listed each second, {ALIVE} fibers"
        self.add(f"{what}: rate", who, 100 * statistics.median(lost), "% lost", 1)
        self.add(f"{what}: p99", who, 100 * statistics.median(more), "% more", 5)

    def measure_extra(self):
        steps = [(self.count_calls, "strace", ["fiber", "epoll"]),
                 (self.measure_idle, None, ["fiber", "epoll", "threads"]),
                 (self.measure_watched, None, ["fiber"])]
        for measure, needs, servers in steps:
            if needs and not shutil.which(needs):
                print(f"bench-http: {needs} is missing: make deps-bench", file=sys.stderr)
                continue
            for who in servers:
                try:
                    measure(who)
                except (Missing, RuntimeError, OSError, ValueError, ZeroDivisionError,
                        subprocess.TimeoutExpired) as why:
                    self.extra.append({"what": measure.__name__, "who": who, "value": None,
                                       "unit": "", "text": str(why)})


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}"


def print_rows(rows, extra):
    last = None
    for r in rows:
        head = (f"{r['connections']:,} connections, {r['cpus']} CPU{'s' * (r['cpus'] > 1)}",
                r["line"])
        shown = (head[0] if last is None or last[0] != head[0] else "", head[1])
        first = r["who"] == ALL[0]
        print(f"{shown[0] if first else '':28} {shown[1] if first else '':6} {r['who']:8}"
              f"{number(r['value']):>10} {r['unit'] if r['value'] is not None else '':7}"
              f" {r['text']}".rstrip())
        last = head
    for r in extra:
        print(f"{r['what']:42} {r['who']:8}{number(r['value']):>10} {r['unit']:12}"
              f" {r['text']}".rstrip())


def parse():
    parser = argparse.ArgumentParser(description="HTTP servers side by side")
    parser.add_argument("--build", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=8, help="of each run")
    parser.add_argument("--connections", default="100,1000,10000")
    parser.add_argument("--idle", type=int, default=FILES - SPARE)
    options = parser.parse_args()
    try:
        options.connections = [int(c) for c in options.connections.split(",")]
    except ValueError:
        parser.error("--connections: numbers with commas between")
    if options.repeats < 1 or options.seconds < 1 or min(options.connections) < 1:
        parser.error("numbers are at least 1")
    return options


def main():
    try:
        options = parse()
    except SystemExit as end:
        sys.exit(64 if end.code else 0)
    for program in ("wrk", "taskset"):
        if not shutil.which(program):
            print(f"bench-http: {program} is missing: make deps-bench", file=sys.stderr)
            sys.exit(1)
    if (os.cpu_count() or 1) < 2:
        print("bench-http: needs two CPUs, one for the server and one for the load", file=sys.stderr)
        sys.exit(1)
    bench = Bench(options)
    began, load = time.time(), os.getloadavg()
    bench.measure()
    https.measure(bench)
    bench.measure_extra()
    rows = list(bench.rows())
    print_rows(rows, bench.extra)
    print(f"{options.repeats} repeats of {options.seconds} s, interleaved, in "
          f"{time.time() - began:.0f} s; load {load[0]:.1f} before")
    last = os.path.join(options.build, "bench", "last-http.json")
    with open(last + ".new", "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "when": int(began), "load": load, "repeats": options.repeats,
                   "seconds": options.seconds, "rows": rows, "extra": bench.extra}, file, indent=1)
    os.replace(last + ".new", last)
    sys.exit(1 if any(who == OURS for _, _, who in bench.problems) else 0)


if __name__ == "__main__":
    main()
