# SPDX-License-Identifier: MIT
"""bugs.py - how many schedules each strategy needs to find the bugs of fixtures/bugs

Prints the Markdown table of docs/testing.md: the mean over SEEDS seeds of the number of the first
schedule with a finding, at most CAP. Fails if the portfolio, with EACH schedules of each of its
strategies, finds a bug with fewer than ENOUGH seeds, or if a twin fails.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

SEEDS = 20
ENOUGH = 19
EACH = 250
CAP = 100_000
TWIN_SCHEDULES = 10_000
# They visit schedules in an order of their own, whatever the seed.
ORDERED = ["bound", "exhaustive"]


class Case:
    """A case of a program, such as philosophers bug-5."""

    def __init__(self, program, name):
        self.program, self.name = program, name

    def text(self):
        suffix = re.sub("^(bug|twin)-?", "", self.name)
        return f"`{os.path.basename(self.program)}`" + (f", {suffix} fibers" if suffix else "")

    def run(self, schedules, seed, strategy):
        """Returns the output, which is empty if nothing was found, and the line of the schedule."""
        done = subprocess.run(
            [self.program, "--strategy", strategy, "--seed", str(seed), "--schedules",
             str(schedules), "--time", "none", "--no-minimize", self.name],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{self.program} {self.name}: exit status {done.returncode}: {done.stderr}")
        return done.stdout if done.returncode else ""

    def first(self, schedules, seed, strategy):
        """The number of the first schedule that failed, and whose it was; None: none failed."""
        found = re.search(r"^fiber-test: schedule (\d+) .*?\(([^)]*)\)",
                          self.run(schedules, seed, strategy), re.M)
        return (int(found[1]), found[2]) if found else None


def cases_of(folder):
    for name in sorted(os.listdir(folder)):
        program = os.path.join(folder, name)
        for case in subprocess.check_output([program, "--list"], text=True).split():
            if re.match(r"(bug|twin)(-|$)", case):
                yield Case(program, case)


def portfolio_of(program):
    text = subprocess.check_output([program, "--help"], text=True)
    return re.search(r"portfolio, which is (\S+)", text)[1].split(",")


def mean(firsts):
    found = [first[0] for first in firsts if first]
    if not found:
        return "-"
    text = f"{sum(found) / len(found):,.0f}"
    return text if len(found) == len(firsts) else f"{text} ({len(found)} of {len(firsts)})"


def measure(pool, case, strategy, schedules):
    """The first findings. Strategies learn from a schedule that is random; its findings are not theirs."""
    if strategy in ORDERED:
        for seed in range(1, SEEDS + 1):
            first = case.first(schedules, seed, strategy)
            if not first or first[1] == strategy:
                return [first]
        return [first]
    firsts = list(pool.map(lambda seed: case.first(schedules, seed, strategy), range(1, SEEDS + 1)))
    if strategy == "portfolio":
        return firsts
    own = [first for first in firsts if not first or first[1] == strategy]
    return own or firsts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True, help="folder of the programs")
    programs = parser.parse_args().programs
    cases = list(cases_of(programs))
    portfolio = portfolio_of(cases[0].program)
    strategies = portfolio + ORDERED
    failures = []
    print("| bug | `portfolio` | " + " | ".join(f"`{s}`" for s in strategies) + " |")
    print("|---|" + "---|" * (len(strategies) + 1))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case in (case for case in cases if case.name.startswith("bug")):
            firsts = measure(pool, case, "portfolio", EACH * len(portfolio))
            if sum(first is not None for first in firsts) < ENOUGH:
                failures.append(f"{case.text()}: found with too few seeds: {mean(firsts)}")
            means = [mean(measure(pool, case, s, CAP)) for s in strategies]
            print(f"| {case.text()} | {mean(firsts)} | " + " | ".join(means) + " |", flush=True)
        for case in (case for case in cases if case.name.startswith("twin")):
            output = case.run(TWIN_SCHEDULES, 1, "portfolio")
            if output:
                failures.append(f"{case.text()}: the twin fails: {output.splitlines()[0]}")
    for failure in failures:
        print(f"bench-test: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
