#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-model.py - the model of many carriers (bench/model) does the same for the same seed, and charges what it says

Prints TAP. FIBER_BUILD: the build folder.
"""

import filecmp
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench", "model"))
sys.dont_write_bytecode = True

import plot  # noqa: E402 (found by the line above)

MODEL = os.path.join(os.environ["FIBER_BUILD"], "bench", "model")
WORKS = ["tree", "server", "pipeline", "shared"]
failed = 0


def model(*arguments):
    return subprocess.run([MODEL, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=100)


def values(*arguments):
    done = model(*arguments)
    if done.returncode:
        return {}
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def test(number, name, passed, why=""):
    global failed
    failed += not passed
    print(f"{'' if passed else 'not '}ok {number} - {name}")
    if not passed:
        print(f"# {why}")


def differing(first, second):
    """The works whose output differs between two seeds."""
    return [work for work in WORKS if model(work, 4, first).stdout != model(work, 4, second).stdout]


def refused(arguments):
    done = model(*arguments)
    return done.returncode == 2 and len(done.stderr.splitlines()) == 1 and not done.stdout


def drawn(folder):
    results = {(work, n): {"ns": 100.0 / n, "p99": 1e3 * n, "steals": 0.0, "looks": n} for work in WORKS for n in (1, 2, 4)}
    plot.write(folder, results, WORKS, [1, 2, 4])
    return folder


def same_pictures():
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        names = sorted(os.listdir(drawn(one)))
        _, unlike, errors = filecmp.cmpfiles(one, drawn(two), names, shallow=False)
        return len(names) == len(plot.PICTURES) and not unlike and not errors


def main():
    print("1..7")
    unlike = differing(1, 1)
    test(1, "the same seed gives the same output", not unlike, f"differ: {unlike}")
    unlike = differing(1, 2)
    test(2, "another seed gives another output", len(unlike) >= 3, f"only these differ: {unlike}")
    slow, fast = values("shared", 4, 1, 200), values("shared", 4, 1, 50)
    test(3, "a work that shares a line takes longer when lines move slower",
         bool(slow and fast) and slow["ns"] > 2 * fast["ns"], f"{slow} {fast}")
    one, four = values("pipeline", 1), values("pipeline", 4)
    test(4, "four carriers do more than three times the work of one, and not more than four times",
         bool(one and four) and 3 < one["ns"] / four["ns"] <= 4, f"{one} {four}")
    test(5, "one carrier steals nothing and computes what the work says",
         bool(one) and one["steals"] == one["looks"] == 0 and 2000 < one["ns"] < 2200, str(one))
    wrong = [bad for bad in (["tree"], ["trees", 2], ["tree", 0], ["tree", 257], ["tree", "2x"], ["tree", 2, 0], ["tree", 2, 1, 0],
                             ["tree", 2, 1, 100, 1], ["bench", "tree", 10], ["bench", "none", 10, 1], []) if not refused(bad)]
    test(6, "a bad argument gives one line and exit status 2", not wrong, f"not so: {wrong}")
    test(7, "the same results give the same pictures", same_pictures())
    sys.exit(failed > 0)


main()
