#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""explore.py --build BUILD [--repeats N] - the figures of libfiber-test, each beside its target and floor

A second is one of CPU of all processes of a run, unless the row says real time. Medians of N runs. "choices" are those of the
longest schedule. Growth: the resident memory of the process that runs the schedules (VmRSS of the child, read 20 times a second),
at the end of 1,000,000 schedules less that after the first tenth of the time. Minimisation: with it less without it.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time


def run(command, **env):
    """Its output, real seconds, seconds of CPU."""
    before, start = os.times(), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ, **env))
    real, after = time.monotonic() - start, os.times()
    if done.returncode not in (0, 1):
        sys.exit(f"explore.py: {' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout, real, sum(after[i] - before[i] for i in (2, 3))


def explored(program, *words):
    """The only test of a JSON report, real seconds, seconds of CPU."""
    said, real, cpu = run([program, "--format", "json", "--time", "none", *words])
    return json.loads(said)["tests"][0], real, cpu


def rate(repeats, program, schedules, *words):
    """Schedules for each second of CPU, and the choices of the longest."""
    rates, choices = [], 0
    for _ in range(repeats):
        test, _, cpu = explored(program, "--schedules", str(schedules), *words)
        if test["verdict"] != "passed":
            sys.exit(f"explore.py: {program}: {test['verdict']}: {test['message']}")
        rates.append(test["schedules"] / cpu)
        choices = test["choices"]
    return statistics.median(rates), choices


def resident(pid):
    """Bytes; 0: it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            found = re.search(r"VmRSS:\s+(\d+) kB", status.read())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return file.read().split()
    except OSError:
        return []


def growth(program, schedules):
    """Bytes, and the number of samples."""
    samples = []
    with subprocess.Popen([program, "--schedules", str(schedules), "--time", "none", "--progress", "never"], stdout=subprocess.PIPE,
                          text=True) as process:
        while process.poll() is None:
            samples += [size for size in map(resident, children(process.pid)) if size]
            time.sleep(0.05)
        if f"passed: {schedules} schedules" not in process.stdout.read():
            sys.exit(f"explore.py: {program}: did not pass")
    return samples[-1] - samples[len(samples) // 10], len(samples)


def minimisation(repeats, program):
    """Deviations after and before, seconds of CPU."""
    seconds, test = [], None
    for _ in range(repeats):
        without = explored(program, "--no-minimize", "bug")[2]
        test, _, cpu = explored(program, "bug")
        seconds.append(cpu - without)
    return test["deviations"], test["deviationsBefore"], statistics.median(seconds)


def exhaustive(repeats, program):
    seconds, test = [], None
    for _ in range(repeats):
        test, _, cpu = explored(program, "--strategy", "exhaustive", "twin")
        seconds.append(cpu)
    return test["verdict"], test["schedules"], statistics.median(seconds)


def jobs(repeats, program, schedules):
    """How many times faster two processes are than one, in real time."""
    def real(n):
        return statistics.median(explored(program, "--schedules", str(schedules), "--jobs", str(n))[1] for _ in range(repeats))

    return real(1) / real(2)


def row(what, measured, target="", floor=""):
    print(f"| {what} | {measured} | {target} | {floor} |", flush=True)


def rates(options):
    build = options.build
    for strategy, target, floor in (("random", 100000, 50000), ("pos", 60000, 30000), ("surw", 60000, 30000)):
        speed, choices = rate(options.repeats, f"{build}/bench/three", 200000, "--strategy", strategy)
        row(f"schedules a second, 3 fibers, {choices} choices, `{strategy}`", f"{speed:,.0f}", f"{target:,}", f"{floor:,}")
    speed, choices = rate(options.repeats, f"{build}/bench/seen", 50000, "--strategy", "random")
    row(f"the same with memory seen, 40 accesses, {choices} choices, `random`", f"{speed:,.0f}", "30,000", "10,000")
    echo = re.search(r"median (\d+) schedules", run([f"{build}/bench/test_echo"])[0])
    row("an echo of 1 KiB over in-process sockets, schedules a second", f"{int(echo[1]):,}", "10,000", "4,000")
    speed, _ = rate(options.repeats, f"{build}/bench/isolated", 3000)
    row("`FIBER_TEST_ISOLATE`, schedules a second", f"{speed:,.0f}", "1,500", "400")
    runs = [run([f"{build}/bin/fibertest", "--schedules", "3000", "--time", "none", f"{build}/bench/whole"])[2]
            for _ in range(options.repeats)]
    row("`fibertest`, schedules a second", f"{3000 / statistics.median(runs):,.0f}", "1,500", "400")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    bugs = f"{options.build}/bin/bugs"
    row("what", "measured", "target", "floor")
    row("---", "---", "---", "---")
    rates(options)
    grown, samples = growth(f"{options.build}/bench/three", 1000000)
    row(f"bytes that stay after 1,000,000 schedules ({samples} samples)", f"{grown:,}", "0", "0")
    after, before, seconds = minimisation(options.repeats, f"{bugs}/noise")
    row("minimisation of `noise`: deviations, seconds", f"{after} (of {before}), {seconds:.2f} s", "1, 1 s", "2, 5 s")
    for name in ("lost_update", "deadlock_ab_ba"):
        verdict, schedules, seconds = exhaustive(options.repeats, f"{bugs}/{name}")
        row(f"`exhaustive` of the twin of `{name}`", f"{verdict}, {schedules:,} schedules, {seconds:.2f} s", "complete in 1 s", "5 s")
    row(f"`--jobs 2` against 1, real time, {len(os.sched_getaffinity(0))} CPUs", f"{jobs(options.repeats, f'{options.build}/bench/three', 200000):.2f} times",
        "1.5 (0.75 for each CPU)", "")


if __name__ == "__main__":
    main()
