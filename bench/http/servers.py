# SPDX-License-Identifier: MIT
"""servers.py - start the measured servers, and read their CPU time and memory from the kernel."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time

OURS = "fiber"
TICK = os.sysconf("SC_CLK_TCK")
START = 10  # s until a server must answer
END = 30  # s until it must have ended

# nginx with one constant answer, in the foreground. All its files are in a folder that is removed afterwards.
NGINX = """
daemon off;
worker_processes {workers};
error_log stderr crit;
pid {folder}/pid;
worker_rlimit_nofile {files};
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    keepalive_timeout 3600;
    server_tokens off;
    default_type text/plain;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} backlog=4096{tls};
        location / {{ return 200 "hello\\n"; }}
    }}
}}
"""


# What `listen` and the rest of a server with TLS are in nginx.
NGINX_TLS = """ ssl;
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        ssl_protocols TLSv1.3"""


class Missing(Exception):
    """A server is not installed on this machine."""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """One run of one server, pinned to CPUs. A context manager, which ends the server. tls: PEM files of its certificate
    and key; None: plain HTTP."""

    def __init__(self, who, build, cpus, before=(), more=(), tls=None):
        self.port = free_port()
        self.tls = tls
        self.folder = tempfile.mkdtemp(prefix="bench-http-")
        self.process = None
        self.traced = bool(before)
        workers = len(cpus)
        environment = dict(os.environ, GOMAXPROCS=str(workers))
        program = {"fiber": "bin/httpd", "threads": "bin/httpd-threads", "epoll": "bin/httpd-epoll",
                   "Go": "bench/http/net_http", "nginx": shutil.which("nginx", path=os.environ.get(
                       "PATH", "") + ":/usr/sbin") or "nginx"}[who]
        program = os.path.join(build, program)
        if not os.path.exists(program):
            shutil.rmtree(self.folder)
            raise Missing("not installed: make deps-bench")
        port = ["--quiet", "--port", str(self.port)]
        pair = list(tls or [])
        arguments = {"fiber": port + ["--carriers", str(workers)] + (["--tls"] + pair if tls else []), "threads": port,
                     "epoll": port + ["--workers", str(workers)], "Go": [str(self.port)] + pair,
                     "nginx": ["-p", self.folder, "-e", "stderr", "-c", self.configure(workers)]}
        command = [*before, "taskset", "-c", ",".join(map(str, cpus)), program, *arguments[who],
                   *more]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL)
        try:
            self.wait_until_it_answers()
        except Exception:
            self.end()
            raise

    def configure(self, workers):
        """Write nginx's configuration; done for every server, read by nginx only."""
        path = os.path.join(self.folder, "nginx.conf")
        with open(path, "w", encoding="ascii") as file:
            tls = NGINX_TLS.format(certificate=self.tls[0], key=self.tls[1]) if self.tls else ""
            file.write(NGINX.format(tls=tls, workers=workers, folder=self.folder, port=self.port,
                                    files=20000, connections=19000))
        return path

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), 1)
        if not self.tls:
            return s
        any_certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        any_certificate.check_hostname = False
        any_certificate.verify_mode = ssl.CERT_NONE
        return any_certificate.wrap_socket(s)

    def wait_until_it_answers(self):
        end = time.monotonic() + START
        while True:
            try:
                with self.connect() as s:
                    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                    said = b""
                    while piece := s.recv(4096):
                        said += piece
                if not said.endswith(b"\r\n\r\nhello\n"):
                    raise RuntimeError(f"another answer than expected: {said!r}")
                return
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError(f"ended with {self.process.returncode}") from None
                if time.monotonic() > end:
                    raise RuntimeError("does not answer") from None
                time.sleep(0.02)

    def processes(self):
        """The process and its children: nginx's workers, or the traced process."""
        found, new = [], [self.process.pid]
        while new:
            pid = new.pop()
            found.append(pid)
            try:
                with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                    new += map(int, file.read().split())
            except OSError:
                pass
        return found

    def cpu_us(self):
        total = 0
        for pid in self.processes():
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total * 1e6 / TICK

    def status_kb(self, key):
        total = 0
        for pid in self.processes():
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                for line in file:
                    if line.startswith(key + ":"):
                        total += int(line.split()[1])
        return total

    def end(self):
        """End the serving process; a strace around it then writes its counts."""
        if self.process and self.process.poll() is None:
            os.kill(self.processes()[-1 if self.traced else 0], signal.SIGTERM)
            try:
                self.process.wait(END)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
