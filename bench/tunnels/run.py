# SPDX-License-Identifier: MIT
"""run.py - many tunnels through tinyproxy at once, on threads and with its threads as fibers: its CPU time and memory

tinyproxy has a thread for each tunnel. A repeat starts it on threads and by fiberize, in turns. The script opens all tunnels by CONNECT,
reads the resident size, sends messages through all tunnels that an echo server in another process sends back, and reads the CPU
time. A tunnel takes two descriptors of tinyproxy: if fewer are allowed, there are fewer tunnels. Prints medians.
"""
import argparse
import asyncio
import contextlib
import os
import pathlib
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

MESSAGE = b"m" * 1000
SPARE = 100  # descriptors beside those of tunnels
AT_ONCE = 200  # tunnels that are being opened
CPU_TARGET, RSS_TARGET = 0.9, 0.5  # times what threads take
PATIENCE = 300  # s


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


class Tunnel(asyncio.Protocol):
    """A client of a tunnel."""

    def __init__(self, port):
        self.port, self.left, self.missing = port, 0, 0
        self.head = b""
        self.done = asyncio.get_running_loop().create_future()  # the tunnel is open, or all rounds are made

    def connection_made(self, transport):
        self.transport = transport
        transport.write(b"CONNECT 127.0.0.1:%d HTTP/1.0\r\n\r\n" % self.port)

    def data_received(self, data):
        if not self.left:
            self.head += data
            if b"\r\n\r\n" in self.head:
                self.end(self.head.split()[1] == b"200")
            return
        self.missing -= len(data)
        if self.missing == 0:
            self.left -= 1
            if self.left:
                self.send()
            else:
                self.end(True)

    def end(self, well):
        if not self.done.done():
            self.done.set_result(well)

    def connection_lost(self, exc):
        self.end(False)

    def send(self):
        self.missing = len(MESSAGE)
        self.transport.write(MESSAGE)

    def begin(self, rounds):
        self.left, self.done = rounds, asyncio.get_running_loop().create_future()
        self.send()


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


async def use(pid, proxy, origin, options):
    """What tinyproxy takes: {name: value}."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def opened():
        async with gate:
            _, tunnel = await asyncio.get_running_loop().create_connection(lambda: Tunnel(origin), "127.0.0.1", proxy)
            if not await asyncio.wait_for(tunnel.done, PATIENCE):
                raise RuntimeError("a tunnel was refused")
            return tunnel

    empty, stacks = status(pid)[0], kernel_stacks()
    tunnels = await asyncio.gather(*(opened() for _ in range(options.tunnels)))
    size, tables, threads = status(pid)
    stacks = kernel_stacks() - stacks
    before = cpu(pid)
    for tunnel in tunnels:
        tunnel.begin(options.rounds)
    good = await asyncio.wait_for(asyncio.gather(*(tunnel.done for tunnel in tunnels)), PATIENCE)
    if not all(good):
        raise RuntimeError("%d tunnels were lost" % good.count(False))
    used = {"CPU to open": before, "CPU": cpu(pid) - before, "RSS": size, "RSS of an idle one": empty, "RSS after": status(pid)[0],
            "page tables": tables, "kernel stacks, more": stacks, "threads": threads}
    if options.look:
        print(pid, file=sys.stderr)
        await asyncio.sleep(options.look)
    for tunnel in tunnels:
        tunnel.transport.abort()
    return used


def measure(prefix, origin, options):
    with tempfile.TemporaryDirectory() as folder, socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        s.close()
        conf = pathlib.Path(folder) / "conf"
        conf.write_text("Port %d\nListen 127.0.0.1\nTimeout 600\nMaxClients %d\nLogLevel Critical\n" % (port, options.tunnels + SPARE))
        with subprocess.Popen([*prefix, shutil.which("tinyproxy"), "-d", "-c", conf], stdout=subprocess.DEVNULL) as p:
            try:
                while True:
                    with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                        break
                    if p.poll() is not None:
                        raise RuntimeError("tinyproxy has ended")
                    time.sleep(0.02)
                return asyncio.run(use(p.pid, port, origin, options))
            finally:
                p.kill()


def number(key, value):
    return "%.2f s" % value if key in ("CPU to open", "CPU") else "%d" % value if key == "threads" else "%.1f MB" % (value / 1e6)


def report(options, samples):
    print("%s tunnels through tinyproxy, %d messages of %d bytes in each, %d carriers (medians of %d)"
          % (format(options.tunnels, ","), options.rounds, len(MESSAGE), options.carriers, options.repeats))
    for key in samples["threads"][0]:
        threads, fibers = (statistics.median(s[key] for s in samples[who]) for who in ("threads", "fibers"))
        line = "%-20s threads %12s   fibers %12s" % (key, number(key, threads), number(key, fibers))
        target = {"CPU": CPU_TARGET, "RSS": RSS_TARGET}.get(key)
        if target:
            ratio = fibers / threads
            line += "   %.2f x (target %.1f x: %s)" % (ratio, target, "met" if ratio <= target else "MISSED")
        print(line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--origin", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--tunnels", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--carriers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--look", type=float, default=0, help="s to keep the tunnels, and print the process id")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if options.origin:
        asyncio.run(serve())
    if not shutil.which("tinyproxy", path=os.environ["PATH"] + ":/usr/sbin"):
        print("tinyproxy is missing (package tinyproxy-bin, make deps)")
        return 0
    allowed = (hard - SPARE) // 2
    if options.tunnels > allowed:
        print("%d descriptors are allowed: %d tunnels instead of %d" % (hard, allowed, options.tunnels))
        options.tunnels = allowed
    ways = {"threads": [], "fibers": [str(options.build / "bin/fiberize"), "--carriers", str(options.carriers), "--"]}
    samples = {who: [] for who in ways}
    with subprocess.Popen([sys.executable, "-B", __file__, "--origin"], stdout=subprocess.PIPE) as origin:
        try:
            port = int(origin.stdout.readline())
            for repeat in range(options.repeats):
                for who in sorted(ways, reverse=bool(repeat % 2)):
                    samples[who].append(measure(ways[who], port, options))
        finally:
            origin.kill()
    report(options, samples)
    return 0


if __name__ == "__main__":
    sys.exit(main())
