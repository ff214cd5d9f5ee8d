# SPDX-License-Identifier: MIT
"""request.py - what one HTTP request costs a server with fibers, beside the same server as a hand-written epoll loop

The instructions of each function are counted by callgrind, the system calls by strace, both from two runs of different length:
start, connections and end cancel. A round is one request on each connection. The server is stopped while a round is sent, so that
it finds all requests at once and both servers get the same batches, on any machine.

The CPU time is measured without either, by pairs.c, also for the loop beside a thread that sleeps (sleeper.c). Where the memory of
a server happens to lie makes a difference of a few per cent, so the servers are started again REPEATS times.
"""

import argparse
import collections
import glob
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile

from servers import Missing, Server

WHO = ["fiber", "epoll"]
BESIDE = "epoll + thread"
PROGRAMS = {"fiber": "bin/httpd", "epoll": "bin/httpd-epoll"}
ASK = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
END = b"\r\n\r\nhello\n"
OTHERS = "elsewhere"  # instructions of functions below --least
LAYERS = [("libfiber/", "libfiber"), ("fixtures/", "server"), ("", "libraries")]


def hear(connection):
    said = b""
    while not said.endswith(END):
        piece = connection.recv(4096)
        if not piece:
            raise RuntimeError("the server closed a connection")
        said += piece


def converse(server, connections, rounds):
    """Open the connections with a request each, then make this many rounds."""
    pid = server.processes()[-1]
    opened = []
    for _ in range(connections):
        opened.append(socket.create_connection(("127.0.0.1", server.port)))
        opened[-1].sendall(ASK)
        hear(opened[-1])
    for _ in range(rounds):
        os.kill(pid, signal.SIGSTOP)
        for connection in opened:
            connection.sendall(ASK)
        os.kill(pid, signal.SIGCONT)
        for connection in opened:
            hear(connection)
    for connection in opened:
        connection.close()


def self_costs(path):
    """A file of callgrind: {(source file, function): instructions of its own}."""
    costs, names, files = collections.Counter(), {}, {}
    place, skip = None, False
    source = "?"
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            named = re.match(r"(fl|fn)=\((\d+)\)(?: (.*))?", line)
            if named:
                known = files if named.group(1) == "fl" else names
                if named.group(3):
                    known[named.group(2)] = named.group(3)
                if named.group(1) == "fl":
                    source = known[named.group(2)]
                else:
                    place = (source, known[named.group(2)])
            elif line.startswith("calls="):
                skip = True  # the next line is the cost of the callee
            elif line.startswith(("cfn=", "cfi=", "cfl=", "fi=", "fe=")):
                defined = re.match(r"(\w+)=\((\d+)\) (.*)", line)
                if defined:
                    (names if defined.group(1) == "cfn" else files)[defined.group(2)] = defined.group(3)
            elif re.match(r"[+*\-\d]\S* \d+$", line):
                if not skip:
                    costs[place] += int(line.split()[1])
                skip = False
    return costs


def places(program):
    """{function: source file}. callgrind reads no lines of libfiber, whose code is in a section of its own."""
    done = subprocess.run(["nm", "-l", "--defined-only", program], capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        symbol, _, place = line.partition("\t")
        function = symbol.split()[-1]
        # Assembly has no line here.
        file = place.rpartition(":")[0] if place else "libfiber/arch" if function.startswith("fib_arch") else "?"
        # Several pollers have static functions of one name.
        found[function] = os.path.commonpath([found[function], file]) if found.get(function, "?") != "?" and file != "?" else file
    return found


def where(source):
    """(layer, name of the source file within it)"""
    for part, layer in LAYERS:
        at = source.rfind(part) if part else 0
        if at >= 0:
            return layer, source[at + len(part):] if part else os.path.basename(source)
    raise AssertionError(source)


class Request:
    def __init__(self, options):
        self.options = options
        self.requests = (options.rounds[1] - options.rounds[0]) * options.connections

    def traced(self, who, rounds, before):
        with Server(who, self.options.build, [0], before) as server:
            converse(server, self.options.connections, rounds)

    def difference(self, who, count):
        """count(who, rounds) -> Counter; the difference of the two lengths, for each request."""
        less, more = (count(who, rounds) for rounds in self.options.rounds)
        return {key: (more[key] - less[key]) / self.requests for key in more}

    def count_instructions(self, who, rounds):
        """Of the thread that executes most: libfiber's service thread keeps a clock, whatever the number of requests."""
        with tempfile.TemporaryDirectory(prefix="fiber-request.") as folder:
            self.traced(who, rounds, ["valgrind", "--quiet", "--tool=callgrind", "--trace-children=yes", "--separate-threads=yes",
                                      f"--callgrind-out-file={folder}/%p", f"--log-file={folder}/log"])
            threads = [self_costs(path) for path in glob.glob(f"{folder}/*-*")]
        if not threads:
            raise RuntimeError("callgrind wrote nothing")
        return max(threads, key=lambda costs: sum(costs.values()))

    def count_calls(self, who, rounds):
        with tempfile.NamedTemporaryFile("r", suffix=".strace") as file:
            self.traced(who, rounds, ["strace", "-f", "-c", "-o", file.name])
            lines = [line.split() for line in file]
        return collections.Counter({f[-1]: int(f[3]) for f in lines if len(f) >= 5 and f[3].isdigit() and f[-1] != "total"})

    def print_functions(self):
        """Returns the instructions of each server's layers."""
        layers = {}
        for who in WHO:
            layers[who] = collections.Counter()
            costs, rest = collections.Counter(), 0
            print(f"\n{who}: instructions of a request, {self.options.connections} connections")
            known = places(os.path.join(self.options.build, PROGRAMS[who]))
            for (source, function), n in self.difference(who, self.count_instructions).items():
                function = function.partition("'")[0]  # callgrind numbers recursive calls
                costs[where(known.get(function, source) if source == "???" else source), function] += n
            for ((layer, name), function), n in sorted(costs.items(), key=lambda item: -item[1]):
                layers[who][layer] += n
                if n < self.options.least:
                    rest += n
                    continue
                print(f"{n:9.1f}  {layer:10} {function:34} {name}")
            print(f"{rest:9.1f}  {OTHERS}")
        return layers

    def print_sums(self, layers):
        print(f"\n{'of a request':24}" + "".join(f"{who:>10}" for who in WHO))
        for layer in [layer for _, layer in LAYERS]:
            print(f"{'instructions: ' + layer:24}" + "".join(f"{layers[who][layer]:10.1f}" for who in WHO))
        print(f"{'instructions':24}" + "".join(f"{sum(layers[who].values()):10.1f}" for who in WHO))

    def print_calls(self):
        if not shutil.which("strace"):
            print("bench-request: no system calls: strace is missing: make deps-bench", file=sys.stderr)
            return
        calls = {who: self.difference(who, self.count_calls) for who in WHO}
        for call in sorted(set().union(*calls.values())):
            counts = [calls[who].get(call, 0) for who in WHO]
            if max(counts) >= 0.001:
                print(f"{call:24}" + "".join(f"{n:10.3f}" for n in counts))

    def pairs(self, connections):
        """Start the servers and compare them: [(ns, ratio to the first), ...] in the order epoll, epoll beside a thread, fiber."""
        preload = ["env", "LD_PRELOAD=" + os.path.join(self.options.build, "bench/http/sleeper.so")]
        with Server("epoll", self.options.build, [0]) as epoll, \
                Server("epoll", self.options.build, [0], preload) as beside, Server("fiber", self.options.build, [0]) as fiber:
            servers = [f"{server.port}:{server.processes()[-1]}" for server in (epoll, beside, fiber)]
            done = subprocess.run(["taskset", "-c", "1", os.path.join(self.options.build, "bench/http/pairs"), str(connections),
                                   str(self.options.windows), *servers], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]

    def print_cpu(self):
        print(f"\n{'CPU ns of a request':24}{'fiber':>10}{'epoll':>10}{BESIDE:>16}   fiber : epoll   {BESIDE} : epoll")
        for connections in self.options.cpu:
            runs = [self.pairs(connections) for _ in range(self.options.repeats)]
            (epoll, _), (beside, thread), (fiber, ratio) = [tuple(statistics.median(run[i][k] for run in runs) for k in (0, 1))
                                                            for i in range(3)]
            print(f"{f'{connections:,} connections':24}{fiber:10,.0f}{epoll:10,.0f}{beside:16,.0f}{ratio:16.3f}{thread:25.3f}",
                  flush=True)


def parse():
    parser = argparse.ArgumentParser(description="what an HTTP request costs")
    parser.add_argument("--build", required=True)
    parser.add_argument("--connections", type=int, default=100, help="that are counted")
    parser.add_argument("--rounds", type=int, nargs=2, default=[20, 120], metavar=("LESS", "MORE"))
    parser.add_argument("--least", type=float, default=1, help="instructions; functions below it are not listed")
    parser.add_argument("--cpu", type=lambda s: [int(n) for n in s.split(",") if n], default=[100, 1000, 10000],
                        help="connections whose CPU time is measured; at most as many as a process may have descriptors")
    parser.add_argument("--windows", type=int, default=100, help="of 20 ms for each server and run")
    parser.add_argument("--repeats", type=int, default=7, help="of these runs")
    options = parser.parse_args()
    if min(options.connections, options.windows, options.repeats, *options.rounds, *options.cpu, 1) < 1 or \
            options.rounds[0] >= options.rounds[1]:
        parser.error("numbers are at least 1, and LESS is less than MORE")
    return options


def main():
    try:
        options = parse()
    except SystemExit as end:
        sys.exit(64 if end.code else 0)
    request = Request(options)
    try:
        if shutil.which("valgrind"):
            request.print_sums(request.print_functions())
        else:
            print("bench-request: no instructions: valgrind is missing: make deps-bench", file=sys.stderr)
        request.print_calls()
        if options.cpu:
            request.print_cpu()
    except (Missing, RuntimeError, OSError, subprocess.SubprocessError) as why:
        print(f"bench-request: {why}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
