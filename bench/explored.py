#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""explored.py --build BUILD [--repeats N] - how many schedules a second run in a process of their own

Two rows: a test with FIBER_TEST_ISOLATE, and a whole program under fibertest. Each schedule has three fibers and about 15
choices. The median of N runs: schedules for each second of real time and for each second of CPU time, with one process at a
time (--jobs 1).
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import time

SCHEDULES = 3000


def run(command):
    """One run: schedules for each second of real time, and of CPU time."""
    before, start = os.times(), time.monotonic()
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    real, after = time.monotonic() - start, os.times()
    count = re.search(r"passed: (\d+) schedules", said.stdout)
    if said.returncode or not count:
        sys.exit(f"explored.py: {' '.join(command)}: {said.stdout}{said.stderr}")
    cpu = sum(after[i] - before[i] for i in (2, 3))
    return int(count[1]) / real, int(count[1]) / cpu


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    limits = ["--schedules", str(SCHEDULES), "--time", "none"]
    rows = [
        ("FIBER_TEST_ISOLATE", [f"{options.build}/bench/isolated", *limits]),
        ("fibertest", [f"{options.build}/bin/fibertest", *limits, f"{options.build}/bench/whole"]),
    ]
    print("| schedules | a second | a second of CPU |\n|---|---|---|")
    for name, command in rows:
        runs = [run(command) for _ in range(options.repeats)]
        print(f"| `{name}` | {statistics.median(r[0] for r in runs):,.0f} | {statistics.median(r[1] for r in runs):,.0f} |")


if __name__ == "__main__":
    main()
