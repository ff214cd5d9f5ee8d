# SPDX-License-Identifier: MIT
"""run.py - many connections to servers at once, on threads and with their threads as fibers: their CPU time and memory

The servers have a thread for each connection. A repeat starts one on threads and by fiberize, in turns. The script opens all
connections, reads the resident size, once more after a rest, makes requests in all connections, and reads the CPU time. An echo server
in another process is behind proxies. If the descriptors that are allowed do not suffice, there are fewer connections. While they are open, fiberctl is asked
about them. Prints medians.
"""
import argparse
import asyncio
import contextlib
import os
import pathlib
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from look import look
from programs import PROGRAMS, Start

AT_ONCE = 200  # connections that are being opened
CPU_TARGET, RSS_TARGET = 0.9, 0.5  # times what threads take
PATIENCE = 300  # s
REST = 11  # s: by then, twice its --trim, fiberize has taken back the memory of stacks that waiting threads do not use


class Echo(asyncio.Protocol):
    """One connection to the echo server."""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.transport.write(data)


async def serve():
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.Event().wait()


def status(pid):
    """Resident size and page tables in bytes, and threads."""
    text = pathlib.Path("/proc/%d/status" % pid).read_text()
    size, tables, threads = (int(re.search(r"^%s:\s*(\d+)" % key, text, re.M)[1]) for key in ("VmRSS", "VmPTE", "Threads"))
    return size * 1024, tables * 1024, threads


def kernel_stacks():
    """Bytes, of all processes of the machine."""
    return int(re.search(r"^KernelStack:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(), re.M)[1]) * 1024


def cpu(pid):
    """s."""
    fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def opened(connect, many):
    """That many clients."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one():
        async with gate:
            _, client = await connect()
            if not await asyncio.wait_for(client.done, PATIENCE):
                raise RuntimeError("a connection was refused")
            return client

    return await asyncio.gather(*(one() for _ in range(many)))


async def use(pid, connect, stacks, inspect, options):
    """What the server takes: {name: value}, and what inspect() says while all connections are open."""
    empty = status(pid)[0]
    clients = await opened(connect, options.tunnels)
    size, tables, threads = status(pid)
    stacks = kernel_stacks() - stacks
    await asyncio.sleep(REST)
    rested = status(pid)[0]
    before = cpu(pid)
    for client in clients:
        client.begin(options.rounds)
    good = await asyncio.wait_for(asyncio.gather(*(client.done for client in clients)), PATIENCE)
    if not all(good):
        raise RuntimeError("%d connections were lost" % good.count(False))
    used = {"CPU to open": before, "CPU": cpu(pid) - before, "RSS": size, "RSS at rest": rested, "RSS of an idle one": empty, "RSS after": status(pid)[0],
            "page tables": tables, "kernel stacks, more": stacks, "threads": threads}
    said = inspect()
    if options.look:
        print(pid, file=sys.stderr)
        await asyncio.sleep(options.look)
    for client in clients:
        client.transport.abort()
    return used, said


def wait_ready(p, address):
    """Wait until the server accepts connections."""
    while True:
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        with socket.socket(family) as s, contextlib.suppress(ConnectionRefusedError, FileNotFoundError):
            s.connect(address)
            return
        if p.poll() is not None:
            raise RuntimeError("it has ended")
        time.sleep(0.02)


def measure(program, prefix, origin, options):
    with tempfile.TemporaryDirectory() as name, socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        start = Start(pathlib.Path(name), s.getsockname()[1], origin, options.tunnels)
        s.close()
        said = start.folder / "said"
        command = [*prefix, *program.command(start)]
        stacks = kernel_stacks()
        with open(said, "wb") as file, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file) as p:
            async def run():
                connect = program.connector(start, asyncio.get_running_loop())
                return await use(p.pid, connect, stacks, lambda: prefix and look(options.build, p.pid, options.tunnels), options)

            try:
                wait_ready(p, program.address(start))
                return asyncio.run(run())
            except RuntimeError as wrong:
                raise RuntimeError("%s failed, and said: %s" % (program.name, said.read_text(errors="replace"))) from wrong
            finally:
                p.kill()


def number(key, value):
    return "%.2f s" % value if key in ("CPU to open", "CPU") else "%d" % value if key == "threads" else "%.1f MB" % (value / 1e6)


def report(program, many, options, samples, said):
    print("%s %s, %d requests in each, %d carriers (medians of %d)"
          % (format(many, ","), program.title, options.rounds, options.carriers, options.repeats))
    for key in samples["threads"][0]:
        threads, fibers = (statistics.median(s[key] for s in samples[who]) for who in ("threads", "fibers"))
        line = "%-20s threads %12s   fibers %12s" % (key, number(key, threads), number(key, fibers))
        target = {"CPU": CPU_TARGET, "RSS": RSS_TARGET, "RSS at rest": RSS_TARGET}.get(key)
        if target:
            ratio = fibers / threads
            line += "   %.2f x (target %.1f x: %s)" % (ratio, target, "met" if ratio <= target else "MISSED")
        print(line)
    print("fiberctl: %s" % said, flush=True)


def compare(program, origin, options):
    """Run a program on threads and by fiberize, and print what it takes."""
    package = program.missing()
    if package:
        print("%s: package %s is missing (make deps)" % (program.name, package))
        return
    allowed = (resource.getrlimit(resource.RLIMIT_NOFILE)[1] - program.spare) // program.descriptors
    many = options.tunnels
    if many > allowed:
        print("%s: the descriptors allow %d connections instead of %d" % (program.name, allowed, many))
        many = allowed
    here = argparse.Namespace(**{**vars(options), "tunnels": many})
    ways = {"threads": [], "fibers": [str(options.build / "bin/fiberize"), "--carriers", str(options.carriers), "--"]}
    samples = {who: [] for who in ways}
    said = None
    for repeat in range(options.repeats):
        for who in sorted(ways, reverse=bool(repeat % 2)):
            used, now = measure(program, ways[who], origin, here)
            samples[who].append(used)
            said = now or said
    report(program, many, options, samples, said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--origin", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--program", choices=["", *(program.name for program in PROGRAMS)], default="", help="none: all")
    parser.add_argument("--tunnels", type=int, default=2000, help="connections to a server")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--carriers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--look", type=float, default=0, help="s to keep the connections, and print the process id")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if options.origin:
        asyncio.run(serve())
    with subprocess.Popen([sys.executable, "-B", __file__, "--origin"], stdout=subprocess.PIPE) as origin:
        try:
            port = int(origin.stdout.readline())
            for program in PROGRAMS:
                if options.program in ("", program.name):
                    compare(program, port, options)
        finally:
            origin.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
