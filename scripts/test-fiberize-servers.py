#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-fiberize-servers.py - run apache2 and mariadbd on threads and with their threads as fibers, and check what they do

Both on threads and on 1, 2 and 4 carriers. They use 127.0.0.1 or a socket in a temporary folder, and need not be root. What they
answer is compared with what this script computes. Prints TAP. $FIBER_BUILD is a finished build.
"""
import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from fiberized import (  # pylint: disable=wrong-import-position
    CARRIERS, PATIENCE, Skip, ask, call, end, fibers, free_port, main, need, on_each, program, started, wait_until)


def all_at_once(fn, n):
    """What fn(0) ... fn(n - 1) return, each called in a thread of its own."""
    with concurrent.futures.ThreadPoolExecutor(n) as threads:
        return list(threads.map(fn, range(n)))


# -- apache2 --

CONTENTS = {size: hashlib.shake_256(b"%d" % size).digest(size) for size in (0, 1, 4095, 70_000, 1_000_000)}
ENDLESS = 16 << 20  # more than sockets hold
VISITORS = 50
SLOW = 10
THREADS = 100  # of apache2; if all of them are busy, mpm_event ends connections that could be kept

CONFIGURATION = """\
ServerRoot {folder}
DefaultRuntimeDir {folder}
LoadModule mpm_{mpm}_module {modules}/mod_mpm_{mpm}.so
LoadModule authz_core_module {modules}/mod_authz_core.so
ServerName localhost
Listen 127.0.0.1:{port}
PidFile pid
ErrorLog error
DocumentRoot files
User #65534
Group #65534
StartServers 1
ServerLimit 1
ThreadsPerChild {threads}
ThreadLimit {threads}
MaxRequestWorkers {threads}
MaxKeepAliveRequests 0
KeepAliveTimeout 60
"""


@contextlib.contextmanager
def apache(carriers, folder, mpm, *options):
    """A server of files."""
    httpd = program("apache2", "apache2-bin")
    modules = pathlib.Path("/usr/lib/apache2/modules")
    if not (modules / ("mod_mpm_%s.so" % mpm)).exists():
        raise Skip("mod_mpm_%s is missing (package apache2-bin, make deps)" % mpm)
    (folder / "files").mkdir()
    folder.chmod(0o755)  # if this is root, apache2 serves as another user
    for size, data in CONTENTS.items():
        (folder / "files" / str(size)).write_bytes(data)
    with open(folder / "files" / str(ENDLESS), "wb") as file:
        file.truncate(ENDLESS)
    port = free_port()
    (folder / "conf").write_text(CONFIGURATION.format(folder=folder, mpm=mpm, modules=modules, port=port, threads=THREADS))
    command = [*fibers(carriers), httpd, *options, "-f", folder / "conf"]
    with started(folder, command, socket.AF_INET, ("127.0.0.1", port)) as p:
        yield p, port


def visit(port, number):
    """Whether all files come, in another order for each visitor, by one connection."""
    visitor = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    visitor.connect()
    connection = visitor.sock
    sizes = list(CONTENTS)
    for i in range(2 * len(sizes)):
        size = sizes[(number + i) % len(sizes)]
        visitor.request("GET", "/%d" % size)
        with visitor.getresponse() as answer:
            body = answer.read()
        if answer.status != 200 or body != CONTENTS[size]:
            return False
    same = visitor.sock is connection
    visitor.close()
    return same


def asked(port, text):
    """A connection that has sent this."""
    s = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    s.sendall(text)
    return s


def reset(s):
    """End a connection as the system does that of a process that was killed with data unread."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def check_threads(pid):
    """Check that the tools show a fiber for each thread, and no fault."""
    rows = json.loads(ask("list", pid, "--json"))["fibers"]
    need(len(rows) > THREADS, "%d fibers" % len(rows))
    text = ask("why", pid)
    need("deadlock" not in text, text)


def check_service(port):
    good = all_at_once(lambda number: visit(port, number), VISITORS)
    need(all(good) and len(good) == VISITORS, "%d of %d visitors are content" % (sum(good), VISITORS))


def apache_serves(mpm):
    def test(carriers, folder):
        with apache(carriers, folder, mpm, "-X") as (p, port):
            slow = [asked(port, b"GET /%d HTTP/1.0\r\n\r\n" % ENDLESS) for _ in range(SLOW)]
            for s in slow:
                need(s.recv(1) == b"H", "no answer")
            half = [asked(port, b"GET /1 HT") for _ in range(SLOW)]
            check_service(port)
            if carriers:
                check_threads(p.pid)
            for s in slow + half:
                reset(s)
            check_service(port)
            need(end(p, signal.SIGTERM) == 0, "status %s" % p.returncode)
    return test


def apache_stops(carriers, folder):
    """The parent process is asked to stop; its child first finishes what it has begun."""
    with apache(carriers, folder, "event", "-DFOREGROUND") as (p, port):
        check_service(port)
        last = asked(port, b"GET /%d HTTP/1.0\r\n\r\n" % ENDLESS)
        text = last.recv(100)
        p.send_signal(signal.SIGWINCH)
        wait_until(lambda: "AH00492" in (folder / "error").read_text(), "it has seen the signal")
        need(p.poll() is None, "it has ended")
        while data := last.recv(1 << 20):
            text += data
        need(len(text.partition(b"\r\n\r\n")[2]) == ENDLESS, "%d bytes" % len(text))
        last.close()
        need(p.wait(PATIENCE) == 0, "status %s" % p.returncode)
        log = (folder / "error").read_text()
        need("exit signal" not in log, log)


# -- mariadbd --

CLIENTS = 8
ROWS = 2000
COUNTS = 20

FILL = """\
use t;
create table t.own{n} (i int primary key, b char(32)) engine={engine};
insert into t.own{n} select seq, md5(seq * {n}) from seq_1_to_{rows};
update t.own{n} set b = md5(b) where i % 3 = 0;
"""
COUNT = """\
start transaction; update t.count set n = n + 1; do sleep(0.001); commit;
do get_lock('one', 60); do release_lock('one');
"""
SUM = "select md5(group_concat(b order by i separator '')) from t.own{n};\n"


def expected(n):
    def md5(text):
        return hashlib.md5(text.encode()).hexdigest()

    rows = [md5(str(i * n)) for i in range(1, ROWS + 1)]
    return md5("".join(md5(b) if i % 3 == 0 else b for i, b in enumerate(rows, 1)))


@contextlib.contextmanager
def mariadb(carriers, folder):
    """A server, which makes what it needs in an empty folder. Yields it, and the words of a client."""
    client = [program("mariadb", "mariadb-client-core"), "--no-defaults", "-N", "-B", "-S", folder / "socket"]
    command = [*fibers(carriers), program("mariadbd", "mariadb-server-core"), "--no-defaults", "--datadir=%s" % (folder / "data"),
               "--socket=%s" % (folder / "socket"), "--pid-file=%s" % (folder / "pid"), "--skip-networking", "--skip-grant-tables",
               "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=4M"]
    if os.geteuid() == 0:
        command.append("--user=root")
    (folder / "data").mkdir(mode=0o700, exist_ok=True)
    with started(folder, command, socket.AF_UNIX, str(folder / "socket")) as p:
        yield p, [str(word) for word in client]


def query(client, text):
    p = call(client, input=text, text=True)
    need(p.returncode == 0, "%s: %s" % (text[:80], p.stderr))
    return p.stdout


def use(client, number):
    """What a client gets."""
    n = number + 1
    engine = ("InnoDB", "Aria")[number % 2]
    return query(client, FILL.format(n=n, engine=engine, rows=ROWS) + COUNTS * COUNT + SUM.format(n=n)).split()[-1]


def test_mariadb(carriers, folder):
    sums = [expected(n) for n in range(1, CLIENTS + 1)]
    total = CLIENTS * COUNTS
    with mariadb(carriers, folder) as (p, client):
        query(client, "create database t; create table t.count (n int) engine=InnoDB; insert into t.count values (0);")
        got = all_at_once(lambda number: use(client, number), CLIENTS)
        need(got == sums, "%d of %d sums are right" % (sum(a == b for a, b in zip(got, sums)), CLIENTS))
        need(query(client, "select n from t.count").split() == [str(total)], "the count is wrong")
        if carriers:
            need("deadlock" not in ask("why", p.pid), "a deadlock")
        with subprocess.Popen([*client, "-e", "select sleep(1000)"], stdout=subprocess.DEVNULL) as victim:
            sleepers = "select count(*) from information_schema.processlist where info = 'select sleep(1000)'"
            wait_until(lambda: query(client, sleepers).split() == ["1"], "a client sleeps in the server")
            victim.kill()
        query(client, "shutdown")
        need(p.wait(PATIENCE) == 0, "status %s" % p.returncode)
    with mariadb(carriers, folder) as (p, client):
        text = "".join(SUM.format(n=n) for n in range(1, CLIENTS + 1))
        need(query(client, text + "select n from t.count").split() == [*sums, str(total)], "not what was written")
        need(end(p, signal.SIGTERM) == 0, "status %s" % p.returncode)


RUNS = [
    ("apache2 with mpm_worker serves %d visitors beside slow ones and ones that are killed" % VISITORS, apache_serves("worker")),
    ("apache2 with mpm_event serves %d visitors beside slow ones and ones that are killed" % VISITORS, apache_serves("event")),
    ("apache2 stops gracefully, with a child of its own", apache_stops),
    ("mariadbd keeps what %d clients write at once" % CLIENTS, test_mariadb),
]

if __name__ == "__main__":
    sys.exit(main(lambda: on_each(RUNS, (0, *CARRIERS))))
