# SPDX-License-Identifier: MIT
"""https.py - requests and new connections through TLS: fibers, nginx and Go

Every server has the same certificate, of an elliptic curve, and one CPU; wrk has another one. wrk offers one cipher suite of
TLS 1.3, so all use the same. The rows:
  CPU a request       over connections that stay open: a long run of wrk less a short one, so without their handshakes
  CPU a connection    each request on a connection of its own: a resumed handshake, since wrk keeps its session
  resumed connections of these, per second; wrk's own half of the handshakes limits it too
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from servers import OURS, Missing, Server

SERVERS = ["fiber", "nginx", "Go"]
CONNECTIONS = [100, 1000]
SHORT = 3  # s
CLOSING = 100  # connections at a time when each request has its own
LIMITS = {"nginx": 1.05}  # targets of CPU times: at most this, times that of the other
SUITE = "TLS_AES_128_GCM_SHA256"

# The configuration of OpenSSL in wrk.
CONFIGURATION = f"""
openssl_conf = all
[all]
ssl_conf = modules
[modules]
system_default = defaults
[defaults]
MinProtocol = TLSv1.3
Ciphersuites = {SUITE}
"""


def make_files(folder):
    """Make a certificate and a configuration. Returns the PEM files of the certificate and its key."""
    pair = [os.path.join(folder, "server.pem"), os.path.join(folder, "server.key")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-subj", "/CN=localhost", "-days", "2", "-out", pair[0], "-keyout", pair[1]],
                   check=True, capture_output=True)
    with open(os.path.join(folder, "openssl.cnf"), "w", encoding="ascii") as file:
        file.write(CONFIGURATION)
    return pair


def load(bench, server, connections, seconds, more=()):
    """Returns the requests of one run of wrk, their CPU time in us, and their rate."""
    before = server.cpu_us()
    values = bench.wrk(server, connections, "1", seconds, more)
    return values["requests"], server.cpu_us() - before, values["rate"]


def measure_once(bench, who, connections, tls, closing):
    with Server(who, bench.options.build, [0], tls=tls) as server:
        if closing:
            requests, cpu, rate = load(bench, server, connections, bench.options.seconds, ["-H", "Connection: close"])
            return {"cpu": cpu / requests, "rate": rate}
        few, opening, _ = load(bench, server, connections, SHORT)
        many, cpu, rate = load(bench, server, connections, SHORT + bench.options.seconds)
        if many <= few or cpu <= opening:
            raise RuntimeError("the long run did no more than the short one")
        return {"cpu": (cpu - opening) / (many - few), "rate": rate}


def add_rows(bench, what, unit, medians, limits):
    for who in SERVERS:
        value = medians.get(who)
        text = "" if value is not None else "not measured"
        if who == OURS and value is not None:
            ratios = [(other, factor, value / medians[other]) for other, factor in limits.items() if medians.get(other)]
            text = ", ".join(f"<= {factor:g} x {other} {'met' if ratio <= factor else 'MISSED'} ({ratio:.2f})"
                             for other, factor, ratio in ratios)
        bench.extra.append({"what": what, "who": who, "value": value, "unit": unit, "text": text})


def measure_all(bench, tls):
    cells = [(c, False) for c in CONNECTIONS] + [(CLOSING, True)]
    samples = {}
    for repeat in range(bench.options.repeats):
        first = repeat % len(SERVERS)
        for cell in cells:
            for who in SERVERS[first:] + SERVERS[:first]:
                try:
                    values = measure_once(bench, who, cell[0], tls, cell[1])
                except (Missing, RuntimeError, OSError, AttributeError, subprocess.TimeoutExpired) as why:
                    print(f"https: {who}, {cell[0]} connections: {type(why).__name__}: {why}", file=sys.stderr)
                    continue
                for line, value in values.items():
                    samples.setdefault((cell, line), {}).setdefault(who, []).append(value)
    medians = {at: {who: statistics.median(v) for who, v in by.items()} for at, by in samples.items()}
    for cell in cells[:-1]:
        add_rows(bench, f"TLS, {cell[0]:,} connections: CPU a request", "us/req", medians.get((cell, "cpu"), {}), LIMITS)
    add_rows(bench, "TLS: CPU a resumed connection", "us", medians.get((cells[-1], "cpu"), {}), LIMITS)
    add_rows(bench, "TLS: resumed connections", "per s", medians.get((cells[-1], "rate"), {}), {})


def measure(bench):
    """Add the rows to those of a bench of run.py."""
    folder = tempfile.mkdtemp(prefix="bench-https-")
    before = os.environ.get("OPENSSL_CONF")
    try:
        tls = make_files(folder)
        os.environ["OPENSSL_CONF"] = os.path.join(folder, "openssl.cnf")
        measure_all(bench, tls)
    except (OSError, subprocess.CalledProcessError) as why:
        bench.extra.append({"what": "TLS", "who": OURS, "value": None, "unit": "", "text": str(why)})
    finally:
        os.environ.pop("OPENSSL_CONF", None)
        if before is not None:
            os.environ["OPENSSL_CONF"] = before
        shutil.rmtree(folder)
