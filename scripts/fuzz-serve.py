#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fuzz-serve.py [BUILD [SECONDS [SEED]]] - send arbitrary requests to `fiberctl serve`, and check that it stays well

Clients send requests made from the grammar of the API, mutated ones, pieces of them, several at once, bodies in chunks and
endless heads; they leave at any moment. Two programs are watched. Afterwards the server must live, answer, end with status 0 and
have reported nothing; a sanitizer writes reports to files, because the server's children have no terminal. Each answer must be
well-formed, its JSON too; its status may be 502, 503 or 504, the errors of programs, but no other error of a server. The
programs must live, and use little CPU time for the server. All processes of the server together must stay below 100 MB, without
a sanitizer.

Prints TAP and the seed. The same seed makes the same requests; what arrives first depends on the machine. BUILD: the build
folder, or $FIBER_BUILD, or build.
"""
import glob
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLIENTS = 16
ANSWER_SECONDS = 120  # on a busy machine, with a sanitizer; the server itself gives up after 20
MOST_MEMORY = 100 << 20
MOST_PROCESSES = 80
MOST_SHARE = 0.2  # of a CPU, for the service thread of a program; a turn a second with 16 questions needs a tenth of it
TOKEN = "fuzz-fuzz-fuzz-fuzz"
ERRORS = {502, 503, 504}
LIBRARYS = {501, 505}  # libmicrohttpd's answers to what is no HTTP/1

COMMANDS = ["list", "show", "bt", "stacks", "tree", "why", "waits", "deadlock", "slow", "pinned", "top", "carriers", "metrics",
            "policy", "audit", "watchdog", "history"]
VALUES = {
    "where": ["state=suspended", "id=1", "wait=mutex", "age>1ms and wait!=fd", "not (id<5 or name~park)", "name=\"a b\"",
              "label.x=1", "id in (1,2,3)", "(", "and", "waiting", "carrier=0", "place~crowd", "holder=1", "fn=member_main"],
    "sort": ["id", "-id", "age", "-cpu", "name", "switches", "nothing", ""],
    "limit": ["0", "1", "5", "1000", "10000", "10001", "-1", "x"],
    "group-by": ["wait", "state", "name", "label.x", "place", "nothing"],
    "columns": ["id,name", "all", "id,age,wait", "x"],
    "frames": ["0", "1", "3", "10000"],
    "min": ["0", "1", "100", "4294967296"],
    "all-frames": ["1", "0", ""],
    "args": ["1"], "locals": ["1"], "source": ["0", "1", "3"],
    "id": ["1", "2", "17", "0", "999999", "x"],
    "after": ["0", "1", "5", "999999", "18446744073709551615", "x"],
}
OF_COMMAND = {
    "list": ["where", "sort", "limit", "group-by", "columns"], "show": ["id", "frames", "all-frames", "args", "locals", "source"],
    "bt": ["id", "where", "frames", "all-frames", "args", "locals"], "tree": ["where", "limit"],
    "stacks": ["where", "group-by", "min", "frames", "all-frames", "args", "locals"], "waits": ["where", "limit"],
    "deadlock": ["frames", "all-frames"], "slow": ["all-frames"], "pinned": ["all-frames"],
    "top": ["where", "sort", "limit", "group-by", "after"],
}
CHANGES = [("cancel", "id", ["1", "3", "17", "x"]), ("wake", "id", ["1", "2", "999"]),
           ("policy", "policy", ["warn", "error", "silent", "x"]), ("watchdog", "threshold", ["1s", "off", "5ms", "x"]),
           ("recordings", "seconds", ["1", "0", "61"])]
FIELDS = ["Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site",
          "Authorization: Bearer x", "Range: bytes=0-10", "Expect: 100-continue", "Accept-Encoding: gzip, br", "Cookie: a=b",
          "If-None-Match: *", "Upgrade: h2c", "TE: trailers", "X-Forwarded-For: 1.2.3.4", "X-Fiber-Token: x",
          "Content-Type: application/x-www-form-urlencoded", "Connection: close", "Connection: Upgrade"]
PIECES = [b"\0", b"\r\n", b"\r\n\r\n", b"%00", b"%", b"%zz", b"../", b"//", b"?", b"&", b"=", b"#", b" ", b"\xff\xfe",
          b"\xe2\x80\xae", b"HTTP/1.1", b"Host: ", b"Content-Length: 99999999999999999999\r\n", b"Content-Length: -1\r\n",
          b"Transfer-Encoding: chunked\r\n", b"x" * 5000, b"\x16\x03\x01\x02\x00\x01", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]


class Wrong(Exception):
    """What must not happen, and the request."""


def quoted(text):
    return "".join(c if c.isalnum() or c in "-._~" else "".join("%%%02X" % b for b in c.encode()) for c in text)


class Maker:
    """Makes requests. token: of the page. programs: pids and names."""

    def __init__(self, rng, programs, host, token):
        self.rng, self.programs, self.host, self.token = rng, programs, host, token

    def parameters(self, command):
        rng = self.rng
        names = rng.sample(OF_COMMAND.get(command, []), rng.randint(0, len(OF_COMMAND.get(command, []))))
        if rng.random() < 0.1:
            names.append(rng.choice(list(VALUES)))
        pairs = [quoted(name) + "=" + quoted(rng.choice(VALUES[name])) for name in names]
        if rng.random() < 0.03:
            pairs *= 9
        return "?" + "&".join(pairs) if pairs else ""

    def path(self):
        rng = self.rng
        program = str(rng.choice(self.programs))
        kind = rng.random()
        if kind < 0.6:
            command = rng.choice(COMMANDS)
            return f"/api/v1/processes/{program}/{command}" + self.parameters(command)
        if kind < 0.7:
            return "/debug/pprof/" + rng.choice(["", "fiber", "fiber", "block", "mutex", "profile", "heap"]) + "?process=" + program + \
                rng.choice(["", "&debug=1", "&debug=2", "&debug=9", "&seconds=1", "&seconds=1", "&seconds=x"])
        return rng.choice(["/", "/healthz", "/metrics", "/api/v1/session", "/api/v1/processes", "/api/v1/recordings",
                           "/recordings/1/report.html", "/recordings/1/timeline.json", "/recordings/2/report.html", "/report.js",
                           "/page.js", "/page.css", "/nothing", "/..%2f..%2fetc/passwd", "/api/v1/processes/" + program,
                           "*", "http://evil.example/"])

    def change(self):
        name, key, values = self.rng.choice(CHANGES)
        return f"/api/v1/processes/{self.rng.choice(self.programs)}/{name}?{key}={self.rng.choice(values)}"

    def body(self):
        """Fields and bytes of a body."""
        rng = self.rng
        size = rng.choice([0, 1, 100, 5000])
        if rng.random() < 0.5:
            return [f"Content-Length: {size}"], b"b" * size
        chunks = b"".join(b"%x\r\n" % n + b"c" * n + b"\r\n" for n in [rng.randint(1, 300) for _ in range(rng.randint(0, 4))])
        return ["Transfer-Encoding: chunked"], chunks + b"0\r\n\r\n"

    def request(self):
        """A well-formed request: its method and its bytes."""
        rng = self.rng
        method = rng.choices(["GET", "HEAD", "POST", "PUT", "OPTIONS"], [80, 5, 12, 1, 2])[0]
        path = self.change() if method == "POST" else self.path()
        fields, body = ([], b"")
        if method == "POST" or rng.random() < 0.03:
            fields, body = self.body()
        if method == "POST" and rng.random() < 0.9:
            fields.append("X-Fiber-Token: " + self.token)
        if rng.random() < 0.15:
            fields.append(rng.choice(FIELDS))
        fields.append("Host: " + (self.host if rng.random() < 0.97 else rng.choice(["evil.example", "localhost", ""])))
        rng.shuffle(fields)
        return method, ("%s %s HTTP/1.1\r\n%s\r\n\r\n" % (method, path, "\r\n".join(fields))).encode() + body

    def mutated(self, request):
        rng = self.rng
        data = bytearray(request)
        for _ in range(rng.choice([1, 1, 2, 5, 20])):
            at = rng.randint(0, len(data))
            kind = rng.randrange(5)
            if kind == 0 and at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            elif kind == 1:
                data[at:at] = rng.choice(PIECES)
            elif kind == 2:
                del data[at:at + rng.randint(1, 20)]
            elif kind == 3:
                data[at:at] = data[at // 2:at]
            else:
                data[at:at + 4] = bytes(rng.randrange(256) for _ in range(4))
        return bytes(data)


class Reader:
    """Reads answers from a connection. take() returns status, fields and body; None: the connection has ended."""

    def __init__(self, connection):
        self.connection, self.bytes = connection, b""

    def more(self):
        try:
            data = self.connection.recv(65536)
        except ConnectionError:
            data = b""
        self.bytes += data
        return bool(data)

    def take(self, head_only):
        while b"\r\n\r\n" not in self.bytes:
            if not self.more():
                return None
        head, self.bytes = self.bytes.split(b"\r\n\r\n", 1)
        first, *rest = head.decode("latin-1").split("\r\n")
        found = re.fullmatch(r"HTTP/1\.[01] ([1-5][0-9][0-9]) .*", first)
        if not found:
            raise Wrong("no HTTP: %r" % first[:200])
        fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in rest)}
        status = int(found[1])
        if status == 100:
            return self.take(head_only)
        size = 0 if head_only else int(fields["content-length"])
        while len(self.bytes) < size:
            if not self.more():
                return None
        body, self.bytes = self.bytes[:size], self.bytes[size:]
        return status, fields, body


def check_answer(answer, method):
    """method: of a well-formed request; None: it was mutated."""
    status, fields, body = answer
    wellformed = method is not None
    if status >= 500 and status not in ERRORS and not (status in LIBRARYS and not wellformed):
        raise Wrong("status %d: %r" % (status, body[:300]))
    if "content-security-policy" not in fields:
        if wellformed:
            raise Wrong("status %d without a policy: %r" % (status, body[:300]))
        return
    if fields["content-type"] == "application/json" and method != "HEAD":
        text = body.decode("utf-8")
        if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text):
            raise Wrong("a control character in %r" % text[:300])
        json.loads(text)


class Client(threading.Thread):
    def __init__(self, fuzz, number):
        super().__init__()
        self.fuzz, self.rng = fuzz, random.Random(fuzz.seed * 1000 + number)
        self.maker = Maker(self.rng, fuzz.programs, fuzz.host, fuzz.token)
        self.sent, self.answers, self.statuses = 0, 0, {}
        self.last = b""

    def run(self):
        while time.monotonic() < self.fuzz.end and not self.fuzz.wrong:
            try:
                self.session()
            except (Wrong, ValueError, KeyError, OSError) as error:
                self.fuzz.wrong.append("%s: %s\n# the request: %r" % (type(error).__name__, error, self.last[:3000]))

    def session(self):
        with socket.create_connection(("127.0.0.1", self.fuzz.port), ANSWER_SECONDS) as connection:
            connection.settimeout(ANSWER_SECONDS)
            self.rng.choice([self.proper, self.proper, self.proper, self.pipelined, self.mutate, self.mutate, self.partial,
                             self.slow])(connection)

    def send(self, connection, data):
        """Send all; False: the server has closed the connection, which it may after an error."""
        self.last = data
        self.sent += 1
        try:
            connection.sendall(data)
        except ConnectionError:
            return False
        return True

    def count(self, answer):
        self.answers += 1
        self.statuses[answer[0]] = self.statuses.get(answer[0], 0) + 1

    def proper(self, connection):
        """Requests one after the other. Each is answered."""
        reader = Reader(connection)
        for _ in range(self.rng.randint(1, 6)):
            method, data = self.maker.request()
            if not self.send(connection, data):
                raise Wrong("the connection was closed before a request")
            answer = reader.take(method == "HEAD")
            if not answer:
                raise Wrong("no answer")
            self.count(answer)
            check_answer(answer, method)
            if answer[1].get("connection", "").lower() == "close":
                return

    def pipelined(self, connection):
        """Several requests at once. The answers come in order, up to one after which the connection is closed."""
        requests = [self.maker.request() for _ in range(self.rng.randint(2, 8))]
        self.send(connection, b"".join(data for _, data in requests))
        reader = Reader(connection)
        for method, _ in requests:
            answer = reader.take(method == "HEAD")
            if not answer:
                return
            self.count(answer)
            check_answer(answer, method)
            if answer[1].get("connection", "").lower() == "close":
                return

    def mutate(self, connection):
        """What is perhaps no HTTP. What is answered is well-formed; the rest of the request may follow later, or never."""
        self.send(connection, self.maker.mutated(self.maker.request()[1]))
        connection.settimeout(self.rng.choice([0.05, 0.2, 1.5]))
        reader = Reader(connection)
        try:
            while reader.more():
                pass
        except TimeoutError:
            pass
        for found in re.finditer(rb"(?m)^HTTP/1\.[01] ([0-9]+) ", reader.bytes):
            status = int(found[1])
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status >= 500 and status not in ERRORS | LIBRARYS:
                raise Wrong("status %d: %r" % (status, reader.bytes[:500]))

    def partial(self, connection):
        """A part of a request, in pieces, and then nothing, an end or a reset."""
        data = self.maker.request()[1]
        data = data[:self.rng.randint(0, len(data))]
        while data:
            n = self.rng.randint(1, 200)
            if not self.send(connection, data[:n]):
                return
            data = data[n:]
        how = self.rng.randrange(3)
        if how == 0:
            time.sleep(self.rng.random())
        elif how == 1:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def slow(self, connection):
        """Requests whose answers are read in small pieces, or not at all."""
        for _ in range(self.rng.randint(1, 4)):
            if not self.send(connection, self.maker.request()[1]):
                return
        connection.settimeout(1)
        try:
            for _ in range(self.rng.randint(0, 20)):
                if not connection.recv(self.rng.randint(1, 50)):
                    return
                time.sleep(0.01)
        except (TimeoutError, ConnectionError):
            pass


def tree(pid):
    """A process and all that it has started."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="latin-1") as stat:
                    parents.setdefault(int(stat.read().rsplit(")", 1)[1].split()[1]), []).append(int(name))
            except OSError:
                pass
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def memory(pids):
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                total += int(re.search(r"^Pss: *(\d+)", file.read(), re.M)[1]) << 10
        except (OSError, TypeError):
            pass
    return total


def service_seconds(pid):
    """CPU time of a program's service thread."""
    for stat in glob.glob(f"/proc/{pid}/task/*/stat"):
        with open(stat, encoding="latin-1") as file:
            text = file.read()
        if "(fiber-service)" in text:
            fields = text.rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    raise Wrong("no service thread in %d" % pid)


class Fuzz:
    def __init__(self, build, seconds, seed):
        self.build, self.seconds, self.seed = build, seconds, seed
        self.folder = tempfile.mkdtemp(prefix="fuzz-serve-")
        self.environ = dict(os.environ, XDG_RUNTIME_DIR=self.folder, FIBER_CONTROL="admin",
                            ASAN_OPTIONS=f"log_path={self.folder}/report", UBSAN_OPTIONS=f"log_path={self.folder}/report")
        self.wrong, self.processes = [], []
        self.most_memory = self.most_processes = 0

    def start(self, ready, *words, errors=subprocess.DEVNULL):
        process = subprocess.Popen([os.path.join(self.build, "bin", words[0]), *words[1:]], env=self.environ,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
        self.processes.append(process)
        for line in process.stdout:
            if line.startswith(ready):
                return process, line
        raise Wrong("%s did not start" % words[0])

    def begin(self):
        self.watched = [self.start("ready", "crowd", "300")[0], self.start("ready", "labels")[0]]
        self.server, line = self.start("fiberctl: serving", "fiberctl", "serve", "--listen", "127.0.0.1:0", "--allow-changes",
                                       *(str(p.pid) for p in self.watched), errors=subprocess.PIPE)
        self.port = int(re.search(r":(\d+)/", line)[1])
        self.host = f"127.0.0.1:{self.port}"
        self.token = json.loads(self.get("/api/v1/session"))["token"]
        self.programs = [*(p.pid for p in self.watched), "crowd", "labels", 1, "no-such", "%1b", "0"]
        self.began = time.monotonic(), [service_seconds(p.pid) for p in self.watched]
        self.end = self.began[0] + self.seconds

    def get(self, path):
        with socket.create_connection(("127.0.0.1", self.port), ANSWER_SECONDS) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode())
            answer = Reader(connection).take(False)
        if not answer or answer[0] != 200:
            raise Wrong("GET %s: %r" % (path, answer))
        return answer[2].decode()

    def sample(self):
        pids = tree(self.server.pid)
        self.most_processes = max(self.most_processes, len(pids))
        self.most_memory = max(self.most_memory, memory(pids))

    def sanitized(self):
        with open(os.path.join(self.build, "bin", "fiberctl"), "rb") as program:
            return b"__asan_init" in program.read()

    def run(self):
        clients = [Client(self, i) for i in range(CLIENTS)]
        for client in clients:
            client.start()
        while any(client.is_alive() for client in clients):
            self.sample()
            if self.server.poll() is not None:
                self.wrong.append("the server has ended: status %d: %s" % (self.server.returncode, self.server.stderr.read()))
            time.sleep(0.3)
        return clients

    def shares(self):
        passed = time.monotonic() - self.began[0]
        return [(service_seconds(p.pid) - before) / passed for p, before in zip(self.watched, self.began[1])]

    def finish(self):
        self.server.send_signal(signal.SIGTERM)
        out, err = self.server.communicate(timeout=ANSWER_SECONDS)
        return self.server.returncode, out + err

    def reports(self):
        """The beginnings of some reports of a sanitizer."""
        names = sorted(glob.glob(self.folder + "/report*"))
        return ["%d reports" % len(names)][:len(names)] + \
            [pathlib.Path(name).read_text("utf-8", "replace")[:4000] for name in names[:3]]

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()
            if process.stderr:
                process.stderr.close()
        shutil.rmtree(self.folder)


def report(number, well, name, why=""):
    print(("ok" if well else "not ok"), number, "-", name)
    if not well and why:
        print("\n".join("# " + line for line in str(why).splitlines()))
    return well


def check(fuzz):
    fuzz.begin()
    clients = fuzz.run()
    statuses = {}
    for client in clients:
        for status, n in client.statuses.items():
            statuses[status] = statuses.get(status, 0) + n
    print("# seed %d: %d requests, answers %s" % (fuzz.seed, sum(c.sent for c in clients), dict(sorted(statuses.items()))))
    wrong, alive = "\n".join(fuzz.wrong[:3]), fuzz.server.poll() is None
    well = [report(1, not wrong, "every answer is well-formed", wrong)]
    healthy = alive and fuzz.get("/healthz") == "ok\n"
    well.append(report(2, healthy, "the server lives and answers"))
    ended = [p.args[0] for p in fuzz.watched if p.poll() is not None]
    shares = [] if ended else fuzz.shares()
    print("# shares of a CPU of the service threads: %s" % ", ".join("%.3f" % s for s in shares))
    well.append(report(3, not ended and max(shares) < MOST_SHARE, "the watched programs live and are hardly disturbed", ended))
    print("# at most %d MB, %d processes" % (fuzz.most_memory >> 20, fuzz.most_processes))
    small = fuzz.most_processes < MOST_PROCESSES and (fuzz.most_memory < MOST_MEMORY or fuzz.sanitized())
    well.append(report(4, small, "the server's processes stay few and small"))
    code, said = fuzz.finish() if alive else (-1, "")
    left = [name for name in os.listdir(fuzz.folder) if name.startswith("fiberctl-serve-")]
    well.append(report(5, code == 0 and not left, "the server ends with status 0 and leaves nothing", f"{code} {said} {left}"))
    reports = fuzz.reports()
    well.append(report(6, not reports and len(said.splitlines()) == 0, "nothing was reported", "\n".join(reports) + said))
    return all(well)


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("FIBER_BUILD", str(ROOT / "build"))
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 12
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    fuzz = Fuzz(build, seconds, seed)
    print("1..6", flush=True)
    try:
        well = check(fuzz)
    finally:
        fuzz.close()
    sys.exit(not well)


if __name__ == "__main__":
    main()
