#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-serve-proxy.py - reach `fiberctl serve` from outside as fiberctl-serve(1) shows it

Prints TAP. nginx runs with the configuration in the page, with other ports and a certificate of its own, and curl asks the
server through it: the token is passed on, a change comes from the origin that a browser would name, and a page of another site
is refused. Then a UNIX socket is asked as through a port that ssh forwards. The build folder is $FIBER_BUILD.
"""
import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FIBER_BUILD", ROOT / "build"))
NAME = "store-1.example.com"
TOKEN = "0123456789abcdef" * 2
SECONDS = 60


def from_page():
    """The configuration of nginx in the page."""
    page = (ROOT / "man/fiberctl-serve.1").read_text()
    return re.search(r'^\.\\" configuration of nginx\n\.Bd .*\n((?:.*\n)*?)\.Ed$', page, flags=re.M)[1]


def changed(text, before, after):
    """The text with a part replaced, which must be there."""
    if before not in text:
        raise ValueError(f"fiberctl-serve(1): the configuration has no {before!r}")
    return text.replace(before, after)


def configuration(folder, port, upstream):
    server = from_page()
    server = changed(server, "listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;")
    server = changed(server, "/etc/ssl/store-1.pem", f"{folder}/cert.pem")
    server = changed(server, "/etc/ssl/store-1.key", f"{folder}/key.pem")
    server = changed(server, "http://127.0.0.1:6060;", f"http://{upstream};")
    places = "".join(f"{what}_temp_path {folder}/{what};\n" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    user = "user root;\n" if os.geteuid() == 0 else ""
    return (f"{user}daemon off;\nworker_processes 1;\npid {folder}/pid;\nerror_log {folder}/errors;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{places}{server}}}\n")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def accepts(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


@contextlib.contextmanager
def serving(folder, *options):
    """Run a server; its address."""
    p = subprocess.Popen([BUILD / "bin/fiberctl", "serve", "--allow-changes", *options], stdout=subprocess.PIPE, text=True, cwd=folder,
                         env={**os.environ, "XDG_RUNTIME_DIR": str(folder)})
    try:
        yield re.fullmatch(r"fiberctl: serving on (?:http://)?(.*?)/?\n", p.stdout.readline())[1]
    finally:
        p.terminate()
        p.wait()


@contextlib.contextmanager
def proxied(folder, upstream):
    """Run nginx; its port. Another program may take a free port first: then another one is tried."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}", "-addext",
                    f"subjectAltName=DNS:{NAME}", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, capture_output=True)
    for _ in range(5):
        port = free_port()
        (folder / "nginx.conf").write_text(configuration(folder, port, upstream))
        p = subprocess.Popen(["nginx", "-e", folder / "errors", "-p", folder, "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL,
                             env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})
        until = time.monotonic() + SECONDS
        while p.poll() is None and not accepts(port) and time.monotonic() < until:
            time.sleep(0.02)
        if p.poll() is None:
            break
    else:
        raise ValueError((folder / "errors").read_text())
    try:
        yield port
    finally:
        p.terminate()
        p.wait()


def curl(url, *options):
    """Returns status and body."""
    said = subprocess.run(["curl", "-s", "-m", str(SECONDS), "-w", "\n%{http_code}", *options, url], capture_output=True, text=True,
                          check=False).stdout
    body, _, status = said.rpartition("\n")
    return int(status), body


class Checks:
    """Prints TAP."""

    def __init__(self):
        self.count = self.failed = 0

    def __call__(self, name, got, want):
        self.count += 1
        self.failed += got != want
        print(f"{'ok' if got == want else 'not ok'} {self.count} - {name}")
        if got != want:
            print(f"# {got!r}, and not {want!r}")


def through_nginx(check, folder, pid):
    (folder / "token").write_text(TOKEN + "\n")
    (folder / "token").chmod(0o600)
    with serving(folder, "--listen", "127.0.0.1:0", "--token-file", folder / "token") as upstream, proxied(folder, upstream) as port:
        site, known = f"https://{NAME}:{port}", ["-H", f"Authorization: Bearer {TOKEN}"]
        tls = ["--cacert", str(folder / "cert.pem"), "--resolve", f"{NAME}:{port}:127.0.0.1"]
        check("nginx: without the token: 401", curl(f"{site}/api/v1/processes", *tls)[0], 401)
        check("nginx: /healthz needs no token", curl(f"{site}/healthz", *tls), (200, "ok\n"))
        status, body = curl(f"{site}/api/v1/processes", *tls, *known)
        check("nginx: with the token: the programs", (status, [p["pid"] for p in json.loads(body)["processes"]]), (200, [pid]))
        status, body = curl(f"{site}/api/v1/session", *tls, *known)
        change = [*known, "-X", "POST", "-H", f"X-Fiber-Token: {json.loads(body)['token']}"]
        policy = f"{site}/api/v1/processes/{pid}/policy?policy=error"
        status, body = curl(policy, *tls, *change, "-H", f"Origin: {site}", "-H", "Sec-Fetch-Site: same-origin")
        check("nginx: a change of the page itself", (status, json.loads(body).get("policy", {}).get("pinnedBlocking")), (200, "error"))
        check("nginx: a change of a page of another site: 403", curl(policy, *tls, *change, "-H", "Origin: https://evil.example")[0], 403)
        check("nginx: a change without the token of the page: 403", curl(policy, *tls, *known, "-X", "POST")[0], 403)


def through_socket(check, folder, pid):
    path = folder / "socket"
    with serving(folder, "--listen", f"unix:{path}"):
        check("UNIX socket: only its user can open it", f"{path.stat().st_mode & 0o777:o}", "600")
        for host in ("localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080"):
            status, body = curl(f"http://{host}/api/v1/processes", "--unix-socket", path)
            check(f"UNIX socket: asked as {host}", (status, [p["pid"] for p in json.loads(body)["processes"]]), (200, [pid]))
        for host in ("evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example:8080"):
            check(f"UNIX socket: asked as {host}: 421", curl("http://localhost/api/v1/processes", "--unix-socket", path,
                                                            "-H", f"Host: {host}")[0], 421)
    check("UNIX socket: it is removed at the end", path.exists(), False)


def main():
    check = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = subprocess.Popen([BUILD / "bin/crowd", "22"], stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "XDG_RUNTIME_DIR": name})
        try:
            for line in program.stdout:
                if line.startswith("ready "):
                    break
            through_nginx(check, folder, program.pid)
            through_socket(check, folder, program.pid)
        finally:
            program.terminate()
            program.wait()
    print(f"1..{check.count}")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
