# SPDX-License-Identifier: MIT
"""run.py - clients of a redis server on fibers and on threads: CPU time of the client process for each request

Each client makes a request by hiredis and waits for the answer. All participants are one program: linked with libfiber-posix and
clients that are fibers, with threads, and the latter run by fiberize. A repeat runs each of them once, starting with another one
each time. The table has medians.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TARGET = 0.7  # times what threads take


def participants(build):
    programs = build / "bench/redis"
    fibers, threads = str(programs / "fibers"), [str(programs / "threads")]
    fiberize = [str(build / "bin/fiberize"), "--carriers"]
    return {
        "threads": lambda words: threads + words,
        "fibers, 1 carrier": lambda words: [fibers, *words, "1"],
        "fibers, 2 carriers": lambda words: [fibers, *words, "2"],
        "fiberize, 1 carrier": lambda words: [*fiberize, "1", "--", *threads, *words],
        "fiberize, 2 carriers": lambda words: [*fiberize, "2", "--", *threads, *words],
    }


def measure(options, where):
    words = [where, str(options.clients), str(options.rounds)]
    everybody = participants(options.build)
    samples = {who: [] for who in everybody}
    for repeat in range(options.repeats):
        order = list(everybody)
        first = repeat % len(order)
        for who in order[first:] + order[:first]:
            done = subprocess.run(everybody[who](words), stdout=subprocess.PIPE, text=True, check=True, timeout=600)
            samples[who].append(float(done.stdout.split()[1]))
    return samples


def report(options, samples):
    threads = statistics.median(samples["threads"])
    print("%s clients of redis, CPU a request (medians of %d)" % (format(options.clients, ","), options.repeats))
    for who, values in samples.items():
        ratio = statistics.median(values) / threads
        verdict = "" if who == "threads" else "%.2f x  (target %.1f x: %s)" % (ratio, TARGET, "met" if ratio <= TARGET else "MISSED")
        print("%-22s %7.2f us  %s" % (who, statistics.median(values) / 1e3, verdict))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    if not shutil.which("redis-server") or not (options.build / "bench/redis/fibers").exists():
        print("clients of redis: redis-server or libhiredis is missing (make deps)")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        where = os.path.join(folder, "socket")
        # hiredis connects without blocking, which fails where a UNIX socket's backlog is full, on threads too.
        most = str(options.clients + 100)
        with subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", where, "--save", "", "--dir", folder, "--maxclients", most,
                               "--tcp-backlog", most], stdout=subprocess.DEVNULL) as server:
            try:
                while not os.path.exists(where):
                    if server.poll() is not None:
                        print("redis-server has ended", file=sys.stderr)
                        return 1
                    time.sleep(0.02)
                report(options, measure(options, where))
            finally:
                server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
