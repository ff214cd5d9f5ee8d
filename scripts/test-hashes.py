# SPDX-License-Identifier: MIT
"""test-hashes.py - every build makes the same choices in every schedule, with any number of processes

test-hashes.py [--seeds N] FOLDER...: each folder has the programs of fixtures/bugs in another build.
Each case is explored with each strategy and seed. Without a finding FIBER_TEST_HASH gives the hash of
all choices; with one, the report and the hash of the schedules before it are compared. The first
folder's programs are also run with 2 and 8 processes.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

SCHEDULES = 200
JOBS = [2, 8]


def explore(program, case, strategy, seed, jobs, schedules=SCHEDULES):
    return subprocess.run(
        [program, "--strategy", strategy, "--seed", str(seed), "--jobs", str(jobs), "--schedules",
         str(schedules), "--time", "none", "--no-minimize", case],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
        env=dict(os.environ, FIBER_TEST_HASH="1"))


def signature(program, case, strategy, seed, jobs):
    """What must be the same: verdict, token, choices, and the hash of the schedules that passed."""
    done = explore(program, case, strategy, seed, jobs)
    if done.returncode not in (0, 1):
        return f"exit status {done.returncode}: {done.stderr}"
    if done.returncode == 0:
        return done.stdout + done.stderr
    report = "\n".join(done.stdout.splitlines()[:3])
    failed = int(re.search(r"^fiber-test: schedule (\d+) ", report, re.M)[1])
    if failed == 1:
        return report
    # The numbers of later schedules that other processes have run meanwhile differ.
    return report + "\n" + explore(program, case, strategy, seed, jobs, failed - 1).stderr


def cases_of(program):
    return subprocess.check_output([program, "--list"], text=True).split()


def strategies_of(program):
    text = subprocess.check_output([program, "--help"], text=True)
    return re.search(r"portfolio, which is (\S+)", text)[1].split(",") + ["bound", "exhaustive"]


def explorations(folder, seeds):
    for name in sorted(os.listdir(folder)):
        program = os.path.join(folder, name)
        for case in cases_of(program):
            for strategy in strategies_of(program):
                for seed in range(1, seeds + 1):
                    yield name, case, strategy, seed


def compare(pool, what, folder, jobs, wanted):
    """Explore everything that is wanted. Returns the number of differences."""
    def run(key):
        return signature(os.path.join(folder, key[0]), *key[1:], jobs)

    differences = 0
    for key, found in zip(wanted, pool.map(run, wanted)):
        if found == wanted[key]:
            continue
        differences += 1
        if differences == 1:
            print(f"hashes: {what}: {' '.join(map(str, key))}:\n{found}\ninstead of\n{wanted[key]}")
    print(f"hashes: {what}: {differences} of {len(wanted)} explorations differ", flush=True)
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    first = options.folders[0]
    keys = list(explorations(first, options.seeds))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda key: signature(os.path.join(first, key[0]), *key[1:], 1), keys)
        wanted = dict(zip(keys, found))
        broken = [key for key in keys if wanted[key].startswith("exit status")]
        if broken or not any("hash" in text for text in wanted.values()):
            sys.exit(f"hashes: {first}: {broken[:1]}: {wanted[(broken or keys)[0]]}")
        differences = sum(compare(pool, f"{jobs} processes", first, jobs, wanted) for jobs in JOBS)
        for folder in options.folders[1:]:
            differences += compare(pool, folder, folder, 1, wanted)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
