#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check-schema.py - check the tools' JSON answers against the schemas in docs/schema/

Runs each command of ANSWERS on real fixtures, with --json and --json=lines, and validates the answer with its schema. Prints
TAP. A new command needs a line in ANSWERS and a file in docs/schema/.

The schemas are tested too, with changed answers (schema_answers.py). The build folder is $FIBER_BUILD.
"""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile

from ready_fixture import BUILD, start
from schema_answers import ROOT, SCHEMAS, check_answer, read, said, schemas

SECONDS = 60
COMPUTE = ("hog", "deadlock")  # fixtures that compute without a pause
resting = set()  # their process ids: they are stopped while no command is about them, so that they do not take the CPUs

FIXTURES = {
    "crowd": "crowd 66 --stuck",
    "labels": "labels",
    "values": "values",
    "family": "family --links 4 --children 8",
    "drift": "drift",
    "hog": "hog --spin 1 --sleep 1 --pin 1",
    # In the order of its options. philosophers: with 80 more waiting fibers there are more stacks than deadlock reads.
    "deadlock": "deadlock --crossing --ring 4 --timed --self --dead --gone --ancestor --suspect --thread --thread-ended "
                "--upgrade 2 --read-thread --thread-asleep --thread-running --behind 3 --others 3",
    "threads": "threads ring 3",
    "mixed": "mixed fm tp",
    "leaks": "leaks all",
    "still": "deadlock --semaphore --finish",
    "philosophers": "deadlock --philosophers 3" + 80 * " --self",
}
# Schema and command. {crowd}: the process id of that fixture. {waiter}: a fiber of crowd that waits for a mutex. {parked}: a
# fiber of family, another one each time. {file}: a file that does not exist yet. {before}, {after}: snapshots of drift.
# {recording}: a recording of crowd.
ANSWERS = [
    ("processes", "fiberctl"),
    ("list", "fiberctl list {crowd}"),
    ("list", "fiberctl list {crowd} --where wait=mutex --sort -age --limit 3"),
    ("list", "fiberctl list {labels}"),
    ("list-group-by", "fiberctl list {crowd} --group-by holder"),
    ("list-group-by", "fiberctl list {crowd} --group-by label.none"),
    ("list-group-by", "fiberctl list {crowd} --group-by wait --limit 3"),
    ("show", "fiberctl show {crowd} {waiter}"),
    ("bt", "fiberctl bt {crowd} {waiter}"),
    ("bt", "fiberctl bt {crowd} --all"),
    ("policy", "fiberctl policy {crowd}"),
    ("policy", "fiberctl policy {crowd} warn"),
    ("carriers", "fiberctl carriers {crowd}"),
    ("list", "fiberctl list {before}"),
    ("carriers", "fiberctl carriers {before}"),
    ("events", "fiberctl slow {before}"),
    ("audit", "fiberctl audit {before}"),
    ("watchdog", "fiberctl watchdog {before}"),
    ("stacks", "fiberctl stacks {crowd}"),
    ("stacks", "fiberctl stacks {crowd} --min 3 --group-by wait"),
    ("stacks", "fiberctl stacks {labels} --group-by label.none"),
    ("stacks", "fiberctl stacks {crowd} --group-by holder"),
    ("tree", "fiberctl tree {family}"),
    ("tree", "fiberctl tree {crowd} --limit 3"),
    ("waits", "fiberctl waits {crowd}"),
    ("waits", "fiberctl waits {deadlock}"),
    ("waits", "fiberctl waits {deadlock} --where wait=mutex"),
    ("why", "fiberctl why {deadlock}"),
    ("why", "fiberctl why {philosophers}"),
    ("why", "fiberctl why {labels}"),
    ("why", "fibertrace why {deadlock}"),
    ("leaks", "fibertrace leaks {leaks}"),
    ("leaks", "fibertrace leaks {leaks} --stop"),
    ("leaks", "fibertrace leaks {crowd}"),
    ("why", "fibertrace why {leaks} --deep"),
    ("deadlock", "fiberctl deadlock {deadlock}"),
    ("deadlock", "fiberctl deadlock {philosophers}"),
    ("deadlock", "fiberctl deadlock {still}"),
    ("deadlock", "fiberctl deadlock {drift}"),
    ("top", "fiberctl top {crowd} --once"),
    ("top", "fiberctl top {labels} --once --group-by label.none --limit 3"),
    ("metrics", "fiberctl metrics"),
    ("metrics", "fiberctl metrics {crowd}"),
    ("metrics", "fiberctl metrics {before}"),
    ("snapshot", "fiberctl snapshot {crowd} -o {file}"),
    ("diff", "fiberctl diff {before} {after}"),
    ("diff", "fiberctl diff {before} {after} {drift}"),
    ("policy", "fiberctl policy {family} silent"),
    ("cancel", "fiberctl cancel {family} {parked}"),
    ("wake", "fiberctl wake {family} {parked}"),
    ("audit", "fiberctl audit {family}"),
    ("events", "fiberctl slow {hog}"),
    ("events", "fiberctl pinned {hog}"),
    ("profile", "fiberctl profile {deadlock} --block --for 200ms"),
    ("profile", "fiberctl profile {crowd} --wait --for 200ms --limit 3"),
    ("watchdog", "fiberctl watchdog {hog}"),
    ("watchdog", "fiberctl watchdog {hog} 30ms"),
    ("fibertrace", "fibertrace {crowd}"),
    ("fibertrace", "fibertrace {crowd} --where wait=mutex --frames 3"),
    ("fibertrace", "fibertrace {values} --args --locals"),
    ("fibertrace-each", "fibertrace --each {values} --args --locals"),
    ("bt", "fiberctl bt {values} --all --args"),
    ("stacks", "fiberctl stacks {values} --locals"),
    ("fibertrace-each", "fibertrace --each {crowd}"),
    ("fibertrace-to-core", "fibertrace to-core {hog} -o {file}"),
    ("list", "fibertrace list {crowd}"),
    ("list", "fibertrace list {before}"),
    ("list-group-by", "fibertrace list {crowd} --group-by holder"),
    ("show", "fibertrace show {crowd} {waiter}"),
    ("bt", "fibertrace bt {crowd} --all"),
    ("bt", "fiberctl bt {crowd} --all --frames 2"),
    ("stacks", "fibertrace stacks {crowd} --min 3 --group-by wait --frames 3"),
    ("tree", "fibertrace tree {family}"),
    ("waits", "fibertrace waits {deadlock}"),
    ("deadlock", "fibertrace deadlock {deadlock}"),
    ("diff", "fibertrace diff {before} {after}"),
    ("list", "fibertrace list {threads}"),
    ("list", "fibertrace list {crowd} --threads"),
    ("list-group-by", "fibertrace list {threads} --group-by wait"),
    ("show", "fibertrace show {threads} {threads}"),
    ("bt", "fibertrace bt {threads} --all"),
    ("stacks", "fibertrace stacks {threads}"),
    ("waits", "fibertrace waits {threads}"),
    ("deadlock", "fibertrace deadlock {threads}"),
    ("deadlock", "fibertrace deadlock {mixed}"),
    ("waits", "fibertrace waits {mixed}"),
    ("why", "fibertrace why {mixed}"),
    ("fibertrace", "fibertrace {threads}"),
    ("fibertrace-each", "fibertrace --each {threads}"),
    ("record", "fibertrace record {crowd} --for 50ms -o {file}"),
    ("report", "fibertrace report {recording}"),
]
# Programs with explored tests, which have no JSON Lines.
EXPLORED = [
    ("test", "reports/outcomes --format json passing hostile* crashes is-killed unreached two-places"),
    ("test", "reports/outcomes --format json --keep-going --strategy exhaustive nine"),
    ("test", "bugs/deadlock_ab_ba --format json"),
    ("test", "bugs/timeout_vs_answer --format json"),
]
# Commands without a schema: completion and serve have no JSON, watch has the answer of another command.
WITHOUT_SCHEMA = {"completion", "serve", "watch"}
# Commands whose schemas are still to be written.
SCHEMA_TO_COME = set()


@contextlib.contextmanager
def awake(words):
    """Let the processes of `resting` go on that a command names, or all if it names no process."""
    named = {int(word) for word in words if word.isdecimal()}
    about = resting & named if named else set(resting)
    try:
        for pid in about:
            os.kill(pid, signal.SIGCONT)
        yield
    finally:
        for pid in about:
            os.kill(pid, signal.SIGSTOP)


def run(command, *more):
    program, *words = command.split()
    with awake(words):
        p = subprocess.run([BUILD / "bin" / program, *words, *more], capture_output=True, timeout=SECONDS, check=False)
    answers = {"deadlock": (0, 1, 3), "leaks": (0, 1, 3), "why": (0, 1, 3, 4)}.get(words[0] if words else "", (0, 1))
    if p.returncode not in answers:  # 1: a partial answer, marked as such; 3: a deadlock was found; 4: something slow
        raise ValueError(f"exit status {p.returncode}: {p.stderr.decode(errors='replace').strip()}")
    return p.stdout.decode()


def whole(text):
    """Join JSON Lines to one answer."""
    head, *rest = [read(line) for line in text.splitlines()]
    if not rest:
        return head
    end = rest.pop()
    if end.pop("end", None) is not True:
        raise ValueError("the last line is no end")
    rows = head.pop("rows")
    return {**head, rows: rest, **end}


def check(validator, seen, command, words):
    """Yield what is wrong with the answers to a command, and what its schema wrongly accepts or refuses."""
    answer = read(run(command.format(**words), "--json"))
    yield from check_answer(validator, seen, answer)
    lines = whole(run(command.format(**words), "--json=lines"))
    yield from (f"--json=lines: {text}" for text in said(validator, lines))
    if set(lines) != set(answer):
        yield f"--json=lines: has other keys: {sorted(set(lines) ^ set(answer))}"


def check_explored(validator, seen, command, _words):
    yield from check_answer(validator, seen, read(run(command)))


class Each:
    """Formats as the next one of some values each time."""

    def __init__(self, values):
        self.values = iter(values)

    def __format__(self, _):
        return next(self.values)


def words_for(processes, folder):
    """Values for the words in braces. Takes the snapshots, with a step of drift between them."""
    words = {name: p.pid for name, (p, _) in processes.items()}
    words["waiter"] = [line[0] for line in processes["crowd"][1] if line[1] == "mutex"][-1]
    words["parked"] = Each(line[0] for line in processes["family"][1] if line[4].startswith("child-"))
    words["file"] = Each(f"{folder}/{i}.snap" for i in range(9))
    drift = processes["drift"][0]
    for when in "before", "after":
        words[when] = f"{folder}/{when}.snap"
        run(f"fiberctl snapshot {drift.pid} -o {words[when]}")
        if when == "before":
            drift.send_signal(signal.SIGUSR1)
            drift.stdout.readline()  # "step 1"
    words["recording"] = f"{folder}/crowd.rec"
    run(f"fibertrace record --for 200ms -o {words['recording']} {words['crowd']}")
    return words


def without_schema():
    """Commands of fiberctl that are not in ANSWERS."""
    helped = subprocess.run([BUILD / "bin/fiberctl", "--help"], capture_output=True, text=True, check=True).stdout
    known = {command.split()[1] for _, command in ANSWERS if command.startswith("fiberctl ")}
    return [line.split()[0] for line in helped.partition("fiberctl help TOPIC")[0].splitlines()
            if line.startswith("  ") and line[2:3].isalpha() and line.split()[0] not in known]


def all_known(found):
    """Yield schemas without an answer, and commands without a schema."""
    # check-openapi.py has the answers of `fiberctl serve`.
    ours = {schema for schema in found if not schema.startswith("serve-")}
    for schema in sorted(ours - {schema for schema, _ in ANSWERS + EXPLORED}):
        yield f"no answer: {schema}.json"
    rows = {line.split("`")[1] for line in (SCHEMAS / "README.md").read_text().splitlines() if line.startswith("| `")}
    for schema in sorted(set(found) ^ {row.removesuffix(".json") for row in rows}):
        yield f"README.md and the folder do not agree: {schema}.json"
    missing = set(without_schema())
    for name in sorted(missing - WITHOUT_SCHEMA - SCHEMA_TO_COME):
        yield f"no schema: fiberctl {name}"
    for name in sorted((WITHOUT_SCHEMA | SCHEMA_TO_COME) & {command.split()[1] for _, command in ANSWERS if " " in command}):
        yield f"has a schema after all: fiberctl {name}"


def main():
    found = schemas()
    seen = {name: set() for name in found}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        processes = {}
        try:
            for name in FIXTURES:
                processes[name] = start(FIXTURES[name], folder)
            os.environ["XDG_RUNTIME_DIR"] = folder
            words = words_for(processes, folder)
            resting.update(words[name] for name in COMPUTE)
            for number, (schema, command) in enumerate(ANSWERS + EXPLORED, 1):
                check_one = check_explored if (schema, command) in EXPLORED else check
                try:
                    wrong = list(check_one(found[schema], seen[schema], command, words))
                except (ValueError, KeyError, StopIteration, subprocess.SubprocessError) as e:
                    wrong = [repr(e)]
                print(f"{'not ok' if wrong else 'ok'} {number} - {schema}.json: {command}")
                for text in wrong:
                    print(f"# {text}")
                failed += bool(wrong)
        finally:
            for p, _ in processes.values():
                p.terminate()
                p.send_signal(signal.SIGCONT)
                p.wait()
    wrong = list(all_known(found))
    print(f"{'not ok' if wrong else 'ok'} {len(ANSWERS) + len(EXPLORED) + 1} - every schema is held against an answer, every command has one")
    for text in wrong:
        print(f"# {text}")
    for name in sorted(SCHEMA_TO_COME):
        print(f"# schema to come: fiberctl {name}")
    print(f"1..{len(ANSWERS) + len(EXPLORED) + 1}")
    return 1 if failed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
