#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
soak.py BIN SECONDS - check that a server whose clients disconnect at any moment loses nothing

BIN is the folder of httpd, cutter and fiberctl. Connections are cut at random for SECONDS, in slices. After each slice the
server must have as many fibers and descriptors as after its very first client. Its resident memory must not be above that
after the first quarter of the slices, which fill caches of stacks and records; if it is, as many slices follow, up to three
times, until it does not grow as much again. At the end the server must exit on SIGTERM, with status 0 and nothing on stderr; a
build with AddressSanitizer reports leaks there.
Prints a line for each slice, then "soak: ok" or what was lost.
"""
import glob
import json
import os
import signal
import socket
import subprocess
import sys
import time

SLICE = 30
REST_SECONDS = 30
SLACK_KB = 512
ROUNDS = 4


class Lost(Exception):
    pass


def counts(link):
    """
    Whether the descriptor behind link is open, and no Unix socket. /proc/net/unix cannot tell: its lines are not read at one
    moment, and one may be missing while other processes open and close sockets.
    """
    try:
        return not os.getxattr(link, "system.sockprotoname").startswith(b"UNIX")
    except FileNotFoundError:  # closed meanwhile
        return False
    except OSError:  # no socket
        return True


class Server:
    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [folder + "/httpd", "--carriers", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.port = self.process.stdout.readline().strip().rsplit(":", 1)[1]

    def serve_one(self):
        """Serve one client and wait until fibers and descriptors settle: some stay open after the very first client."""
        with socket.create_connection(("127.0.0.1", int(self.port))) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            while client.recv(4096):
                pass
        before = None
        while before != self.state():
            before = self.state()
            time.sleep(0.3)

    def answer_of(self, command, seconds):
        """Run a command that uses the server. Returns its output; after the timeout, prints what both wait for and fails."""
        asker = subprocess.Popen([self.folder + "/" + command[0], *command[1:]], stdout=subprocess.PIPE, text=True)
        try:
            out, _ = asker.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            for pid in self.process.pid, asker.pid:
                subprocess.run([self.folder + "/fibertrace", str(pid)], stdout=sys.stderr, check=False)
            asker.kill()
            raise Lost("%s did not end within %d s" % (command[0], seconds)) from None
        if asker.returncode:
            raise Lost("%s ended with %d" % (command[0], asker.returncode))
        return out

    def fibers(self):
        return json.loads(self.answer_of(["fiberctl", "list", "--json", str(self.process.pid)], REST_SECONDS))["total"]

    def descriptors(self):
        """Count descriptors, except the control socket and its connections: the server notices their end only later."""
        folder = "/proc/%d/fd" % self.process.pid
        return sum(counts(folder + "/" + fd) for fd in os.listdir(folder))

    def resident_kb(self):
        for line in open("/proc/%d/status" % self.process.pid):
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise Lost("the server has ended")

    def state(self):
        return self.fibers(), self.descriptors()

    def rest(self, wanted):
        """Wait until the server has as many fibers and descriptors as without clients.

        A wake-up is lost when nothing changes although the server does not wait for a CPU.
        """
        last, since = None, time.monotonic()
        while (state := self.state()) != wanted:
            if state != last or self.wants_cpu():
                last, since = state, time.monotonic()
            if time.monotonic() - since > REST_SECONDS:
                raise Lost("fibers and descriptors %r, and after the very first client %r" % (state, wanted))
            time.sleep(0.05)

    def wants_cpu(self):
        for stat in glob.glob("/proc/%d/task/*/stat" % self.process.pid):
            try:
                with open(stat) as file:
                    if file.read().rpartition(")")[2].split()[0] == "R":
                        return True
            except OSError:
                pass  # the thread has ended
        return False

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=60)
        # Reports of long runs are ignored: they only show that the machine is busy or a sanitizer slow.
        errors = "".join(line for line in errors.splitlines(True) if " holds carrier " not in line)
        if self.process.returncode or errors:
            raise Lost("the server ended with %d: %s" % (self.process.returncode, errors))


def cut(server, seconds, seed):
    return server.answer_of(["cutter", server.port, "--seconds", str(seconds), "--seed", str(seed)],
                            seconds + REST_SECONDS).strip()


def run_slices(server, wanted, done, count, seconds):
    """Run so many slices after those that are done. Returns the resident memory at rest after each."""
    sizes = []
    for i in range(done + 1, done + count + 1):
        said = cut(server, max(1, seconds // count), i)
        server.rest(wanted)
        sizes.append(server.resident_kb())
        print("slice %d of %d: %s; at rest %d fibers, %d descriptors, %d KB"
              % ((i, done + count, said) + wanted + (sizes[-1],)), flush=True)
    return sizes


def soak(folder, seconds):
    server = Server(folder)
    try:
        server.serve_one()
        wanted = server.state()
        slices = max(4, seconds // SLICE)
        sizes = run_slices(server, wanted, 0, slices, seconds)
        before = max(sizes[:max(2, slices // 4)])
        # Caches are as large as the most connections that were open at a time, which a busy machine reaches late: they stop
        # growing. What is lost is lost at the same rate in each round. A sanitizer keeps freed memory, and finds leaks itself.
        while sizes[-1] > before + SLACK_KB and not os.environ.get("FIBER_SAN"):
            if len(sizes) == ROUNDS * slices:
                raise Lost("resident memory goes on growing: %s KB" % ", ".join(map(str, sizes)))
            before = max(sizes)
            sizes += run_slices(server, wanted, len(sizes), slices, seconds)
        server.stop()
    finally:
        if server.process.poll() is None:
            server.process.kill()


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdigit() or not int(sys.argv[2]):
        print(__doc__.strip(), file=sys.stderr)
        return 64
    try:
        soak(sys.argv[1], int(sys.argv[2]))
    except (Lost, subprocess.SubprocessError) as lost:
        print("soak: %s" % lost, file=sys.stderr)
        return 1
    print("soak: ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
