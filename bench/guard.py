# SPDX-License-Identifier: MIT
"""guard.py - compare the instructions of each work with those that are recorded in instructions.json

Disturbances only add instructions: the clock of the service thread ticks more often on a busy machine. So a work that needs more
than LIMIT of its record is counted again, AGAIN times, and its smallest count counts. Another compiler makes other instructions:
then nothing is compared, which is said.
"""

import json
import os
import platform
import subprocess
import sys

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")
LIMIT = 1.01
AGAIN = 3


def compiler_of(command):
    done = subprocess.run([*command.split(), "--version"], capture_output=True, text=True, check=True)
    return f"{done.stdout.splitlines()[0]}, {platform.machine()}"


def record(bench, compiler):
    with open(FILE + ".new", "w", encoding="utf-8") as file:
        json.dump({"compiler": compiler, "instructions": {k: round(v, 1) for k, v in bench.instructions.items()}}, file, indent=1)
        file.write("\n")
    os.replace(FILE + ".new", FILE)
    print(f"bench-guard: {len(bench.instructions)} works recorded")


def count(bench, recorded):
    """Count each work, and again those that need too many."""
    least = {}
    for _ in range(AGAIN):
        bench.instructions = {}
        bench.count_instructions()
        for name, n in bench.instructions.items():
            least[name] = min(n, least.get(name, n))
        bench.works = [w for w in bench.works if w.name in least and least[w.name] > LIMIT * recorded.get(w.name, 0)]
        if not bench.works:
            break
    return least


def compare(bench, compiler):
    """Returns the exit status: 1 if a work needs more than its record allows, or has none."""
    try:
        with open(FILE, encoding="utf-8") as file:
            recorded = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"bench-guard: {FILE}: {error}; 'make bench-guard RECORD=1' writes it")
    if recorded["compiler"] != compiler:
        print(f"bench-guard: not compared: the record is of {recorded['compiler']}, this is {compiler}")
        return 0
    texts = {w.name: w.text for w in bench.works}
    least, wrong = count(bench, recorded["instructions"]), 0
    for name, n in least.items():
        before = recorded["instructions"].get(name)
        bad = before is None or n > LIMIT * before
        wrong += bad
        was = "not recorded" if before is None else f"{before:.1f} recorded, {100 * (n / before - 1):+.1f} %"
        print(f"{'not ok' if bad else 'ok'} - {texts[name]}: {n:.1f} instructions ({was})")
    if wrong:
        print("bench-guard: find the reason; if it is worth it, 'make bench-guard RECORD=1' records the new counts")
    print(f"{len(least) - wrong} passed, {wrong} failed")
    return 1 if wrong or not least else 0
