#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-fiberize.py - run programs of Debian with their threads as fibers, and check what they do

Each program that is missing is a skip. They run on 1, 2 and 4 carriers, talk to 127.0.0.1 or to a socket in a temporary folder, and
must end by a signal with the status that they have on threads. Prints TAP. $FIBER_BUILD is a finished build.
"""
import asyncio
import bz2
import contextlib
import hashlib
import json
import lzma
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
from fiberized import (  # pylint: disable=wrong-import-position
    BUILD, CARRIERS, FIBERIZE, PATIENCE, ROOT, Skip, ask, call, end, fibers, free_port, main, need, on_each, program, started,
    wait_until)

CLIENTS = 200
BODY = b"".join(hashlib.sha256(b"%d" % i).digest() for i in range(2000))


# -- clients: many at once --

class Origin:
    """A server of HTTP that answers once as many clients wait as it was told, and an echo server."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.waiting = 0
        self.open = None
        self.http, self.echo = self.run(self.start())

    def run(self, job):
        return asyncio.run_coroutine_threadsafe(job, self.loop).result(3 * PATIENCE)

    async def start(self):
        self.open = asyncio.Event()
        servers = [await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512) for answer in (self.answer, self.repeat)]
        self.servers = servers
        return [s.sockets[0].getsockname()[1] for s in servers]

    async def answer(self, reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            self.waiting += 1
            await self.open.wait()
            writer.write(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY)
            await writer.drain()
        writer.close()

    async def repeat(self, reader, writer):
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def gate(self, is_open):
        self.waiting = 0
        if is_open:
            self.open.set()
        else:
            self.open.clear()

    async def fetch(self, proxy):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy)
        writer.write(b"GET http://127.0.0.1:%d/ HTTP/1.0\r\n\r\n" % self.http)
        text = await reader.read(-1)
        writer.close()
        return text.partition(b"\r\n\r\n")[2]

    async def fetch_all(self, proxy):
        return await asyncio.gather(*(self.fetch(proxy) for _ in range(CLIENTS)))

    async def talk(self, port, number):
        """Send and receive over TLS at the same time."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        data = hashlib.sha256(b"%d" % number).digest() + BODY
        writer.write(data)
        got = await reader.readexactly(len(data))
        writer.close()
        return got == data

    async def talk_all(self, port, n):
        return await asyncio.gather(*(self.talk(port, i) for i in range(n)))


ORIGIN = None
VICTIM = """
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(b"GET http://127.0.0.1:%d/ HTTP/1.0\\r\\n\\r\\n" % int(sys.argv[2]))
s.recv(1)
"""


# -- tests: compressors --

def compressor(command, package, decompress):
    def test(carriers, folder):
        words = [program(command[0], package), *command[1:]]
        (folder / "plain").write_bytes(BODY * 30 + os.urandom(300000))
        plain = (folder / "plain").read_bytes()
        with open(folder / "plain", "rb") as file:
            p = call([*fibers(carriers), *words], stdin=file)
        need(p.returncode == 0 and decompress(p.stdout) == plain, "packs wrongly: %d %s" % (p.returncode, p.stderr))
        p = call([*fibers(carriers), *words, "-d"], input=p.stdout)
        need(p.returncode == 0 and p.stdout == plain, "unpacks wrongly: %d %s" % (p.returncode, p.stderr))
    return test


# -- tests: servers --

@contextlib.contextmanager
def tinyproxy(carriers, folder):
    port = free_port()
    (folder / "conf").write_text("Port %d\nListen 127.0.0.1\nTimeout 60\nMaxClients 500\nLogLevel Critical\n" % port)
    command = [*fibers(carriers), program("tinyproxy", "tinyproxy-bin"), "-d", "-c", folder / "conf"]
    with started(folder, command, socket.AF_INET, ("127.0.0.1", port)) as p:
        yield p, port


def check_fibers(pid):
    """Check that the tools show a fiber for each connection, where it waits, and no fault."""
    rows = json.loads(ask("list", pid, "--json"))["fibers"]
    need(len(rows) > CLIENTS, "%d fibers" % len(rows))
    text = ask("list", pid)
    need(len(re.findall(r"suspended .* fd \d+ read ", text)) > CLIENTS and re.search(r" main$", text, re.M), text)
    text = ask("bt", pid, re.search(r"^ *(\d+) suspended .*tinyproxy", text, re.M)[1])
    need("fiber_posix_" in text and re.search(r" in tinyproxy\+0x", text), text)
    text = ask("why", pid)
    need("wait for input" in text and "deadlock" not in text, text)


def check_tunnel(pid, port):
    """Check that the tools name the descriptors that a tunnel's fiber polls."""
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.0\r\n\r\n" % ORIGIN.http)
        need(b" 200 " in s.recv(1000), "no tunnel")
        for tool in "fiberctl", "fibertrace":
            polls = []
            def polled():
                answer = call([BUILD / "bin" / tool, "list", pid, "--json"], text=True).stdout
                polls[:] = [row["wait"]["objectName"] for row in json.loads(answer)["fibers"] if row["wait"] and row["wait"]["kind"] == "select"]
                return len(polls) == 1
            wait_until(polled, "%s shows one poll" % tool)
            name = re.fullmatch(r"(\d+) read, (\d+) read", polls[0] or "")
            need(name, polls)
            for fd in name.groups():
                need(os.readlink("/proc/%d/fd/%s" % (pid, fd)).startswith("socket:"), "%s is no socket" % fd)
        need("select of 2 descriptors: %s " % polls[0] in ask("list", pid), ask("list", pid))


def test_tinyproxy(carriers, folder):
    with tinyproxy(carriers, folder) as (p, port):
        ORIGIN.run(ORIGIN.gate(False))
        victim = subprocess.Popen([sys.executable, "-c", VICTIM, str(port), str(ORIGIN.http)])
        try:
            wait_until(lambda: ORIGIN.waiting == 1, "the victim waits")
            every = asyncio.run_coroutine_threadsafe(ORIGIN.fetch_all(port), ORIGIN.loop)
            wait_until(lambda: ORIGIN.waiting == CLIENTS + 1, "all clients wait: %d" % ORIGIN.waiting)
            check_fibers(p.pid)
            check_tunnel(p.pid, port)
        finally:
            victim.kill()
            victim.wait()
        ORIGIN.run(ORIGIN.gate(True))
        good = [body == BODY for body in every.result(PATIENCE)]
        need(all(good) and len(good) == CLIENTS, "%d of %d are right" % (sum(good), CLIENTS))
        need(p.poll() is None, "it has ended: %s" % p.returncode)


def test_tinyproxy_ends(carriers, folder):
    with tinyproxy(carriers, folder) as (p, _):
        need(end(p, signal.SIGTERM) == 0, "status %s" % p.returncode)


def test_stunnel(carriers, folder):
    stunnel = program("stunnel4", "stunnel4")
    port = free_port()
    p = call([program("openssl", "openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2",
              "-keyout", folder / "key", "-out", folder / "cert"])
    need(p.returncode == 0, p.stderr)
    (folder / "conf").write_text("foreground = yes\npid =\nsyslog = no\ndebug = 3\ncert = %s\nkey = %s\n"
                                 "[echo]\naccept = 127.0.0.1:%d\nconnect = 127.0.0.1:%d\n"
                                 % (folder / "cert", folder / "key", port, ORIGIN.echo))
    with started(folder, [*fibers(carriers), stunnel, folder / "conf"], socket.AF_INET, ("127.0.0.1", port)) as p:
        good = ORIGIN.run(ORIGIN.talk_all(port, 50))
        need(all(good) and len(good) == 50, "%d of 50 are right" % sum(good))
        need(end(p, signal.SIGTERM) == 0, "status %s" % p.returncode)


def test_iperf(carriers, folder):
    """One stream at a time: the server of iperf 2.1.8 uses the sum of parallel ones after it has freed it, as valgrind shows on threads."""
    iperf = program("iperf", "iperf")
    port = free_port()
    server = [*fibers(carriers), iperf, "-s", "-p", port, "-B", "127.0.0.1", "-f", "k"]
    with started(folder, server, socket.AF_INET, ("127.0.0.1", port)) as p:
        for number in range(1, 5):
            client = call([*fibers(carriers), iperf, "-c", "127.0.0.1", "-p", port, "-n", "4M", "-f", "k"], text=True)
            need(client.returncode == 0 and " 4096 KBytes " in client.stdout, client.stdout + client.stderr)
            wait_until(lambda n=number: (folder / "said").read_text().count(" 4096 KBytes ") >= n, "the server has counted all")
        need(end(p, signal.SIGINT) == 0, "status %s" % p.returncode)


def test_nbdkit(carriers, folder):
    nbdkit, nbdcopy = program("nbdkit", "nbdkit"), program("nbdcopy", "libnbd-bin")
    where = "nbd+unix:///?socket=%s" % (folder / "socket")
    disk = os.urandom(1 << 20) + bytes(2 << 20) + os.urandom(1 << 20)
    (folder / "disk").write_bytes(disk)
    command = [*fibers(carriers), nbdkit, "-f", "-U", folder / "socket", "memory", len(disk)]
    with started(folder, command, socket.AF_UNIX, str(folder / "socket")) as p:
        for source, target in (folder / "disk", where), (where, folder / "copy"):
            copy = call([nbdcopy, "--connections=4", "--request-size=65536", source, target])
            need(copy.returncode == 0, copy.stderr)
        need((folder / "copy").read_bytes() == disk, "the copy differs")
        need(end(p, signal.SIGTERM) == 0, "status %s" % p.returncode)


# -- tests: fiberize itself --

def refused(command, status, said):
    p = call([FIBERIZE, *command], text=True)
    need((p.returncode, p.stderr, p.stdout) == (status, "fiberize: %s\n" % said, ""), "%s: %s" % (command, p))


def built(folder, *compiler):
    p = call([*compiler, "-x", "c", "-o", folder / "built", "-"], input=b"int main(void) { return 0; }")
    need(p.returncode == 0, p.stderr)
    return folder / "built"


def patched(folder, at, byte):
    """A copy of a program with another byte in its header."""
    copy = bytearray(pathlib.Path(shutil.which("true")).read_bytes())
    copy[at] = byte
    path = folder / "patched"
    path.write_bytes(copy)
    path.chmod(0o755)
    return path


def script(folder, first):
    path = folder / "script"
    path.write_text(first + "\n")
    path.chmod(0o755)
    return path


def test_options(folder):
    expected = "a number from 1 to 256"
    for value in "0", "257", "x", "1x", "-1", "":
        refused(["--carriers", value, "true"], 125, "--carriers %s: %s" % (value, expected))
    for value in "1", "2g", "8mb", "m", "99999999999999999999k":
        refused(["--stack", value, "true"], 125, "--stack %s: a size from 16k to 1g, like 256k or 8m" % value)
    refused(["--watchdog", "0s", "true"], 125, "--watchdog 0s: a length of time like 20ms, 1.5s or 2m")
    refused(["--watchdog", "20", "true"], 125, "--watchdog 20: the unit is missing: 20ms, 1s")
    for value in "0s", "-1s", "none", "":
        refused(["--trim", value, "true"], 125, "--trim %s: a length of time like 500ms, 5s or 2m, or off" % value)
    refused(["--trim", "5", "true"], 125, "--trim 5: the unit is missing: 20ms, 1s")
    refused(["--carriers-max", "257", "true"], 125, "--carriers-max 257: %s" % expected)
    refused(["--carriers-max", "2", "--carriers", "3", "true"], 125, "--carriers-max 2: fewer than --carriers")
    refused([], 125, "PROGRAM: is missing; see --help")
    refused(["--many", "true"], 125, "unrecognized option '--many'")
    p = call([FIBERIZE, "--carriers=3", "--stack", "1m", "--watchdog", "1.5ms", "--carriers-max=4", "--trim", "2s", "sh", "-c", "echo $FIBERIZE; exit 4"], text=True)
    need((p.returncode, p.stdout) == (4, "3 1048576 1500000 4 2000000000\n"), p)
    most = 4 * len(os.sched_getaffinity(0))
    for option, carriers in ([], most), (["--carriers", "200"], max(most, 200)):
        p = call([FIBERIZE, *option, "sh", "-c", "set -- $FIBERIZE; echo $4 $5"], text=True)
        need(p.stdout == "%d 5000000000\n" % min(carriers, 256), p)
    p = call([FIBERIZE, "--trim", "off", "sh", "-c", "echo ${FIBERIZE##* }"], text=True)
    need(p.stdout == "0\n", p)
    need("--watchdog" in call([FIBERIZE, "--help"], text=True).stdout, "no help")
    del folder


def test_found(folder):
    refused(["no-such-program"], 127, "no-such-program: No such file or directory")
    refused([folder / "none"], 127, "%s/none: No such file or directory" % folder)
    refused([folder], 126, "%s: Permission denied" % folder)
    (folder / "true").write_text("not executable")
    path = "%s:%s" % (folder, os.environ["PATH"])
    need(call([FIBERIZE, "true"], env={**os.environ, "PATH": path}).returncode == 0, "a later one in PATH is not found")
    p = call([FIBERIZE, "true"], env={**os.environ, "PATH": str(folder)}, text=True)
    need((p.returncode, p.stderr) == (126, "fiberize: true: Permission denied\n"), p)


def test_preload(folder):
    p = call([FIBERIZE, FIBERIZE, "sh", "-c", "echo $LD_PRELOAD"], text=True, env={**os.environ, "LD_PRELOAD": "libc.so.6"})
    need(p.stdout == "%s:%s:libc.so.6\n" % (BUILD / "lib/libfiber-posix.so.0", BUILD / "lib/libfiber.so.0"), p)
    del folder


def test_static(folder):
    path = built(folder, os.environ.get("CC", "cc"), "-static")
    said = "it is linked statically, so nothing can be preloaded into it"
    refused([path], 126, "%s: %s" % (path, said))
    name = script(folder, "#! %s -x" % path)
    refused([name], 126, "%s: its interpreter %s: %s" % (name, path, said))


def test_rights(folder):
    path = built(folder, os.environ.get("CC", "cc"))
    said = "%s: it gains rights when it starts (set-uid, set-gid or capabilities), so nothing can be preloaded into it" % path
    for mode in 0o4755, 0o2755:
        path.chmod(mode)
        refused([path], 126, said)
    path.chmod(0o755)
    need(call([FIBERIZE, path]).returncode == 0, "it is refused without rights")
    with contextlib.suppress(OSError):  # root alone may give capabilities
        os.setxattr(path, "security.capability", bytes.fromhex("01000002" "00040000" "00000000" "00000000" "00000000"))
        refused([path], 126, said)


def test_other(folder):
    said = "it is for another kind of machine than fiberize"
    for at, byte in (4, 1), (5, 2), (18, 40):  # class, byte order, machine
        path = patched(folder, at, byte)
        refused([path], 126, "%s: %s" % (path, said))
    path.write_bytes(path.read_bytes()[:40])
    refused([path], 126, "%s: it is damaged (ELF headers)" % path)


def test_other_library(folder):
    path = built(folder, program("musl-gcc", "musl-tools"))
    refused([path], 126, "%s: it uses another C library than fiberize" % path)


def test_scripts(folder):
    name = script(folder, "#!/nowhere/sh")
    refused([name], 126, "%s: its interpreter /nowhere/sh: No such file or directory" % name)
    for first in "#!/bin/sh\n", "#! /usr/bin/env sh\n", "":
        p = call([FIBERIZE, script(folder, first + "echo $FIBERIZE $1"), "word"], text=True)
        need(re.fullmatch(r"0 \d+ -1 \d+ 5000000000 word\n", p.stdout), p)


def test_watchdog(folder):
    """A loop is reported while it runs, if it delays others: on one carrier without substitutes."""
    pbzip2 = program("pbzip2", "pbzip2")
    (folder / "plain").write_bytes(BODY * 40)
    p = call([FIBERIZE, "--carriers", "1", "--carriers-max", "1", "--watchdog", "20ms", pbzip2, "-p2", "-k", "-c", folder / "plain"])
    need(p.returncode == 0 and re.search(rb"holds carrier \d for", p.stderr), p.stderr)
    p = call([FIBERIZE, "--carriers", "1", pbzip2, "-p2", "-k", "-c", folder / "plain"])
    need(p.returncode == 0 and p.stderr == b"", p.stderr)


# Prints the signals that each kind of child blocks, then what 100 children print that unblock signals after vfork().
CHILDREN = r"""
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char *look[] = {"grep", "SigBlk", "/proc/self/status", NULL};

static void end(pid_t pid)
{
	int status = 1;

	if (waitpid(pid, &status, 0) != pid || status)
		printf("status %d\n", status);
}

int main(int argc, char **argv)
{
	sigset_t all, before;
	pid_t pid;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 2) {
		printf("%s%s%s\n", argv[0], argv[1], getenv("ONE"));
		return 0;
	}
	if ((pid = fork()) == 0)
		_exit(execvp("grep", look));
	end(pid);
	if ((pid = vfork()) == 0)
		_exit(execlp("grep", "grep", "SigBlk", "/proc/self/status", NULL));
	end(pid);
	posix_spawnp(&pid, "grep", NULL, NULL, look, environ);
	end(pid);
	if (system("grep SigBlk /proc/self/status"))
		puts("system");
	sigfillset(&all);
	for (int i = 0; i < 100; i++) {
		sigprocmask(SIG_BLOCK, &all, &before);
		if ((pid = vfork()) == 0) {
			sigprocmask(SIG_SETMASK, &before, NULL);
			_exit(execl("/bin/true", "true", NULL));
		}
		sigprocmask(SIG_SETMASK, &before, NULL);
		end(pid);
	}
	if (fork() == 0)
		_exit(execle("/proc/self/exe", "a", "b", "c", NULL, (char *[]){"ONE=d", NULL}));
	wait(NULL);
	execv("/bin/grep", look);
	return 1;
}
"""


def test_children(folder):
    """A program that a fiber executes or starts blocks no signal, and a child of vfork() is no part of its parent."""
    p = call([os.environ.get("CC", "cc"), "-w", "-x", "c", "-o", folder / "children", "-"], input=CHILDREN.encode())
    need(p.returncode == 0, p.stderr)
    for carriers in (0, *CARRIERS):
        p = call([*fibers(carriers), folder / "children"], text=True)
        blocks = "SigBlk:\t0000000000000000\n"
        need((p.returncode, p.stdout, p.stderr) == (0, 4 * blocks + "abd\n" + blocks, ""), "%d carriers: %s" % (carriers, p))


# -- tests: a program that dies --

def dump(folder, carriers, how):
    """Run fixtures/threaded/dies.c until it dies. Returns what it said and its core."""
    for core in folder.glob("core*"):
        core.unlink()
    command = ["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", FIBERIZE, "--carriers", carriers, "--stack", "64k", folder / "dies", how]
    with subprocess.Popen([str(word) for word in command], cwd=folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        try:
            # A thread that gives itself a name has not yet begun to wait.
            wait_until(lambda: re.search(r"(?s) join \d+ +main.* read +reader.* pthread-mutex.* locker", listed(p.pid)),
                       "its threads wait")
            said = p.communicate("now\n", PATIENCE)[1]
        finally:
            p.kill()
    need(p.returncode == (-signal.SIGABRT if how == "abort" else -signal.SIGSEGV), "%s: status %d" % (how, p.returncode))
    cores = list(folder.glob("core*"))
    if len(cores) != 1:
        raise Skip("the system writes no plain core files")
    return said, cores[0]


def listed(pid):
    """Its fibers, or nothing while it is not ready to be asked."""
    return call([BUILD / "bin/fiberctl", "list", pid], text=True).stdout


def functions(fiber):
    return [frame["function"] for frame in fiber["frames"] if not frame["internal"]]


def check_core(core, how):
    p = call([BUILD / "bin/fibertrace", "--core", core, "--each", "--json"])
    need(p.returncode == 0, "fibertrace: %d %s" % (p.returncode, p.stderr))
    answer = json.loads(p.stdout)
    found = {fiber["name"]: fiber for fiber in answer["fibers"]}
    need(sorted(found) == ["dying", "locker", "main", "reader"], sorted(found))
    waits = {name: (fiber["wait"] or {}).get("kind") for name, fiber in found.items()}
    need(waits == {"dying": None, "locker": "pthread-mutex", "main": "join", "reader": "fd"}, waits)
    need(found["locker"]["wait"]["holderId"] == found["main"]["id"] and found["main"]["wait"]["targetId"] == found["dying"]["id"], found)
    need(answer["crash"]["fiberId"] == found["dying"]["id"], answer["crash"])
    for name, wanted in ("main", "main"), ("locker", "lock_main"), ("reader", "read_main"), ("dying", "die_main"):
        need(functions(found[name])[-1] == wanted and not found[name]["truncated"], "%s: %s" % (name, functions(found[name])))
    need(how != "overflow" or functions(found["dying"]).count("descend") > 40, functions(found["dying"]))
    need(how != "write" or functions(found["dying"])[0] == "write_to", functions(found["dying"]))


def test_cores(folder):
    p = call([os.environ.get("CC", "cc"), "-O2", "-g", "-o", folder / "dies", ROOT / "fixtures/threaded/dies.c", "-pthread"])
    need(p.returncode == 0, p.stderr)
    for carriers in CARRIERS:
        for how in "overflow", "write", "abort":
            said, core = dump(folder, carriers, how)
            line = r'libfiber: fiber \d+ "dying" overflowed its stack of 65536 bytes \(fault at 0x[0-9a-f]+\)\n'
            need(re.fullmatch(line if how == "overflow" else "", said), said)
            check_core(core, how)


RUNS = [
    ("pbzip2 packs and unpacks", compressor(["pbzip2", "-p4", "-1", "-c"], "pbzip2", bz2.decompress)),
    ("xz -T packs and unpacks", compressor(["xz", "-T4", "-0", "--block-size=300KiB", "-c"], "xz-utils", lzma.decompress)),
    ("tinyproxy serves %d clients at once and one that is killed" % CLIENTS, test_tinyproxy),
    ("tinyproxy ends by SIGTERM", test_tinyproxy_ends),
    ("stunnel serves 50 clients at once", test_stunnel),
    ("iperf counts all bytes of 4 streams, one after another", test_iperf),
    ("nbdkit keeps what nbdcopy writes", test_nbdkit),
]
OWN = [
    ("options", test_options), ("a program is found as by execvp", test_found), ("what is preloaded already stays", test_preload),
    ("a static program is refused", test_static), ("a program that gains rights is refused", test_rights),
    ("a program of another machine is refused", test_other), ("a program of another C library is refused", test_other_library),
    ("a script is judged by its interpreter", test_scripts), ("long runs are reported on demand", test_watchdog),
    ("children have its signal mask", test_children), ("a core has all threads as fibers, and an overflow is reported", test_cores),
]


def tests():
    global ORIGIN
    ORIGIN = Origin()
    yield from (("fiberize: " + name, test) for name, test in OWN)
    yield from on_each(RUNS, CARRIERS)


if __name__ == "__main__":
    sys.exit(main(tests))
