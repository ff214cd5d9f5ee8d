#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check-schema.py - check the tools' JSON answers against the schemas in docs/schema/

Runs each command of ANSWERS on real fixtures, with --json and --json=lines, and validates the answer with its schema. Prints
TAP. A new command needs a line in ANSWERS and a file in docs/schema/.

A schema that allows everything proves nothing, so the schemas are tested too. For each key of an answer, the answer without
the key and the answer with a value of another type must be refused; keys in OPTIONAL may be missing. An answer with an
additional key must be accepted, because keys may be added later. The build folder is $FIBER_BUILD.
"""
import contextlib
import copy
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

SYSTEM = "/usr/bin/python3"  # has the jsonschema of `make deps`; env(1) may find another python3
try:
    import jsonschema
except ImportError:
    if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM) or not os.path.exists(SYSTEM):
        sys.exit("check-schema.py: python3-jsonschema is missing: run 'make deps'")
    os.execv(SYSTEM, [SYSTEM, *sys.argv])

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FIBER_BUILD", ROOT / "build"))
SCHEMAS = ROOT / "docs/schema"
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
# Commands without a schema: completion has no JSON, watch has the answer of another command.
WITHOUT_SCHEMA = {"completion", "watch"}
# Commands whose schemas are still to be written.
SCHEMA_TO_COME = set()
# Keys that may be missing in an answer.
OPTIONAL = {"matched", "threads", "findings[].fibers[].thread", "fibers[].thread", "policy.previous", "watchdog.previousNs", "groups[].valuesOf"}
OPTIONAL |= {f"{rows}[].frames[].{key}" for rows in ("groups", "fibers") for key in ("args", "locals")}
OPTIONAL |= {f"{rows}[].wait.{key}" for rows in ("fibers", "findings[].fibers") for key in ("holders", "holdersUnknown")}
MAPS = {"labels", "notFollowed", "states", "waits"}  # objects whose keys a schema cannot list


def schemas():
    """The schemas by name; each contains the parts that it refers to."""
    def inside(node):
        if isinstance(node, dict):
            return {k: v.removeprefix("parts.json") if k == "$ref" else inside(v) for k, v in node.items()}
        return [inside(v) for v in node] if isinstance(node, list) else node

    parts = json.loads((SCHEMAS / "parts.json").read_text())
    found = {}
    for file in sorted(SCHEMAS.glob("*.json")):
        schema = inside(json.loads(file.read_text()))
        schema["$defs"] = parts["$defs"] | schema.get("$defs", {})
        jsonschema.Draft202012Validator.check_schema(schema)
        if file.stem != "parts":
            found[file.stem] = jsonschema.Draft202012Validator(schema)
    return found


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


def once(pairs):
    """Make an object and refuse duplicate keys."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key occurs twice: {[k for k, _ in pairs]}")
    return found


def read(text):
    return json.loads(text, object_pairs_hook=once)


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


def places(node, path=""):
    """Yield path, object and key of every key of an answer. Elements of a list have the same path."""
    if isinstance(node, dict):
        for key, value in node.items():
            here = f"{path}.{key}".lstrip(".")
            yield f"{path}.*" if path.rpartition(".")[2] in MAPS else here, node, key
            yield from places(value, here)
    elif isinstance(node, list):
        for value in node:
            yield from places(value, path + "[]")


def kind_of(value):
    """The type of a value, as a text."""
    return type(value).__name__


def thin(node):
    """A copy without list elements whose keys and value types all occur in earlier elements."""
    if isinstance(node, dict):
        return {key: thin(value) for key, value in node.items()}
    if not isinstance(node, list):
        return node
    seen = set()
    kept = []
    for value in node:
        has = {(path, kind_of(o[key])) for path, o, key in places(value)}
        if not has <= seen:
            kept.append(thin(value))
        seen |= has
    return kept or node


def others(value):
    """Values of other types than this one."""
    if isinstance(value, bool):
        return ["true", 1, None]
    if isinstance(value, int):
        return [str(value), 0.5, True]
    if isinstance(value, float):
        return [str(value), True, [value]]
    if isinstance(value, str):
        return [7, *([value[2:]] if value.startswith("0x") else []), ["x"]]
    return [7.5, "x", True] if value is None or isinstance(value, (dict, list)) else []


def mutilated(answer, seen):
    """Yield answers that must be refused, with a description. seen: keys that were mutilated before; they are skipped."""
    for path, o, key in list(places(answer)):
        value = o[key]
        # Null values are skipped: another row has a value there. Objects of several sorts may have the same path.
        sort = (path, kind_of(value), frozenset(o))
        if sort in seen or value is None:
            continue
        seen.add(sort)
        for other in others(value):
            if path.endswith(".value") and isinstance(other, str):
                continue  # a variable's value may be any text, with 0x or without
            o[key] = other
            yield f"{path} is {other!r}", answer
        o[key] = value
        if path not in OPTIONAL and not path.endswith(".*"):
            rest = dict(o)
            del o[key]
            yield f"no {path}", answer
            o.clear()
            o.update(rest)


def grown(answer):
    """A copy of the answer with an additional key in every object."""
    more = copy.deepcopy(answer)
    for _, o, key in list(places(more)):
        if key in MAPS:
            continue
        for each in o[key] if isinstance(o[key], list) else [o[key]]:
            if isinstance(each, dict):
                each["keyToCome"] = [1]
    more["keyToCome"] = {"x": 1}
    return more


def said(validator, answer):
    errors = sorted(validator.iter_errors(answer), key=lambda e: list(map(str, e.path)))
    return [f"{'.'.join(map(str, e.absolute_path)) or 'the answer'}: {e.message:.200}" for e in errors[:5]]


def check(validator, seen, command, words):
    """Yield what is wrong with the answers to a command, and what its schema wrongly accepts or refuses."""
    answer = read(run(command.format(**words), "--json"))
    yield from check_answer(validator, seen, answer)
    lines = whole(run(command.format(**words), "--json=lines"))
    yield from (f"--json=lines: {text}" for text in said(validator, lines))
    if set(lines) != set(answer):
        yield f"--json=lines: has other keys: {sorted(set(lines) ^ set(answer))}"


def check_answer(validator, seen, answer):
    """Yield what is wrong with an answer, and what its schema wrongly accepts or refuses."""
    yield from said(validator, answer)
    yield from (f"with a key more: {text}" for text in said(validator, grown(answer)))
    small = thin(answer)
    for how, bad in mutilated(copy.deepcopy(small), seen):
        if validator.is_valid(bad):
            yield f"accepted: {how}"
    if len(seen) < 8 or not validator.is_valid(small):
        yield f"only {len(seen)} keys to mutilate"


def check_explored(validator, seen, command, _words):
    yield from check_answer(validator, seen, read(run(command)))


def start(name, folder):
    """Start a fixture and wait until it is ready. Returns its process and its lines."""
    environment = {**os.environ, "XDG_RUNTIME_DIR": folder, "FIBER_CONTROL": "admin"}
    program, *words = FIXTURES[name].split()
    p = subprocess.Popen([BUILD / "bin" / program, *words], stdout=subprocess.PIPE, text=True, env=environment)
    lines = []
    for line in p.stdout:
        if line.startswith("ready "):
            return p, lines
        lines.append(line.rstrip("\n").split("\t"))
    raise ValueError(f"{name} never was ready")


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
    for schema in sorted(set(found) - {schema for schema, _ in ANSWERS + EXPLORED}):
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
                processes[name] = start(name, folder)
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
