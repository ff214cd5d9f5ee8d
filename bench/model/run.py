# SPDX-License-Identifier: MIT
"""run.py - run the works of the model with 1 to 256 carriers, and print and draw the results.

The table has a row for each work and number of carriers. Throughput is relative to one carrier. Below it,
works of `make bench` are run by the model and by this machine, with one carrier and with two: that shows how far
the model is off. Two runs with the same seed print the same table, except for what this machine measured.

Exit status: 0; 1 if a run failed; 64 for a usage error.
"""

import argparse
import concurrent.futures
import os
import statistics
import subprocess
import sys

import plot

WORKS = {
    "tree": "tree, 100,000 leaves of 1 us",
    "server": "server, 70 % busy, 5 us each",
    "pipeline": "pipelines, 4 stages of 0.5 us",
    "shared": "one channel, 16 places",
}
CARRIERS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
# name in the table: work of bench/libfiber, operations, unit
ROWS = {
    "tree (ms)": ("tree", 100000, "ms"),
    "shared-mutex": ("shared-mutex", 200000, "ns"),
    "shared-rwlock": ("shared-rwlock", 200000, "ns"),
    "shared-queue-0": ("shared-queue-0", 100000, "ns"),
    "shared-queue-16": ("shared-queue-16", 100000, "ns"),
    "shared-queue-1024": ("shared-queue-1024", 100000, "ns"),
    "shared-pipe-0": ("shared-pipe-0", 100000, "ns"),
    "shared-pipe-16": ("shared-pipe-16", 100000, "ns"),
    "shared-broadcast": ("shared-broadcast", 500, "ns"),
    "shared-sem": ("shared-sem", 200000, "ns"),
    "shared-select": ("shared-select", 100000, "ns"),
    "shared-spawn": ("shared-spawn", 100000, "ns"),
}
LINE_HERE = 41  # ns between two CPUs that share a cache
SAMPLES = 5


def run(command):
    """What a run prints: {name: number}."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
        print(f"bench-model: {' '.join(map(str, command[1:]))}: {said}", file=sys.stderr)
        sys.exit(1)
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 \
        else f"{value:.2g}"


def table(results, works):
    yield (f"{'work':34}{'carriers':>8}{'x 1':>9}{'ns':>9}{'p99 us':>9}{'steals':>9}{'in vain':>9}"
           f"{'sleeps':>9}{'searching':>10}{'spinning':>10}{'stalled':>9}")
    for work in works:
        one = results[work, CARRIERS[0]]["ns"]
        for carriers in CARRIERS:
            got = results[work, carriers]
            late = number(got["p99"] / 1e3) if "p99" in got else "-"
            yield (f"{WORKS[work] if carriers == CARRIERS[0] else '':34}{carriers:8}{number(one / got['ns']):>9}"
                   f"{number(got['ns']):>9}{late:>9}{number(got['steals']):>9}{number(got['looks']):>9}"
                   f"{number(got['vain']):>9}{got['searching']:>10.1%}{got['spinning']:>10.1%}"
                   f"{got['stalled']:>9.1%}")
    yield "steals, looks at a victim in vain, sleeps: each in 1,000 operations"
    yield "searching for work, spinning at a lock, stalled for a cache line: parts of the carriers' time"


def compare(program, machine):
    """The model beside this machine: lines of a table."""
    yield f"{'work of make bench, ns':24}{'carriers':>8}{'model':>9}{'here':>9}{'model / here':>14}"
    for name, (work, count, unit) in ROWS.items():
        for carriers in (1, 2):
            model = run([program, "bench", work, count, carriers, 1, LINE_HERE])[unit]
            here = statistics.median(run([machine, work, count, carriers])[unit] for _ in range(SAMPLES))
            yield (f"{name if carriers == 1 else '':24}{carriers:8}{number(model):>9}{number(here):>9}"
                   f"{model / here:>14.2f}")


def main():
    parser = argparse.ArgumentParser(usage="run.py --program P [--work W[,W]] [--seed N] [--pictures DIR] [--machine P]")
    parser.add_argument("--program", required=True)
    parser.add_argument("--work", default=",".join(WORKS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pictures", help="write the plots into this folder; needs all works")
    parser.add_argument("--machine", help="build/bench/libfiber: compare the model with it")
    try:
        options = parser.parse_args()
    except SystemExit as error:
        sys.exit(64 if error.code else 0)
    works = options.work.split(",")
    for work in works:
        if work not in WORKS:
            print(f"bench-model: no such work: {work}; there are {', '.join(WORKS)}", file=sys.stderr)
            sys.exit(64)
    runs = [(work, carriers) for carriers in reversed(CARRIERS) for work in works]
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        got = list(pool.map(lambda of: run([options.program, *of, options.seed]), runs))
    results = dict(zip(runs, got))
    for line in table(results, works):
        print(line)
    if options.pictures and set(works) == set(WORKS):
        plot.write(options.pictures, results, list(WORKS), CARRIERS)
    if options.machine:
        print()
        for line in compare(options.program, options.machine):
            print(line)


if __name__ == "__main__":
    main()
