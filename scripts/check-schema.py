#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check-schema.py - what the tools answer is what docs/schema/ promises

Runs each command of ANSWERS on real fixtures, with --json and --json=lines, and holds the answer against its schema, as TAP. A
new command is a line in ANSWERS and a file in docs/schema/.

A schema that allows everything proves nothing. So each answer is mutilated, key by key: without it, and with a value of
another type, it must be refused, unless the key is one of OPTIONAL; with one key more it must be accepted, since keys may be
added. The build folder is $FIBER_BUILD.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SYSTEM = "/usr/bin/python3"  # which `make deps` installs it for; env(1) may have found another one
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

FIXTURES = {"crowd": ["crowd", "66", "--stuck"], "labels": ["labels"]}
# Schema and command; {crowd} is the process id of a fixture, {waiter} a fiber of crowd that waits for a mutex.
ANSWERS = [
    ("processes", "fiberctl"),
    ("list", "fiberctl list {crowd}"),
    ("list", "fiberctl list {crowd} --where wait=mutex --sort -age --limit 3"),
    ("list", "fiberctl list {labels}"),
    ("list-group-by", "fiberctl list {crowd} --group-by holder"),
    ("list-group-by", "fiberctl list {crowd} --group-by label.none"),
    ("show", "fiberctl show {crowd} {waiter}"),
    ("bt", "fiberctl bt {crowd} {waiter}"),
    ("bt", "fiberctl bt {crowd} --all"),
    ("policy", "fiberctl policy {crowd}"),
    ("policy", "fiberctl policy {crowd} warn"),
    ("carriers", "fiberctl carriers {crowd}"),
    ("fibertrace", "fibertrace {crowd}"),
    ("fibertrace-each", "fibertrace --each {crowd}"),
]
# Keys that an answer may do without; of labels nobody knows the keys.
OPTIONAL = {"matched", "policy.previous", "fibers[].labels.*"}
WITHOUT_LINES = {"fibertrace"}  # programs that do not know --json=lines


def schemas():
    """The schemas by name, each with the parts it refers to inside."""
    def inside(node):
        if isinstance(node, dict):
            return {k: v.removeprefix("parts.json") if k == "$ref" else inside(v) for k, v in node.items()}
        return [inside(v) for v in node] if isinstance(node, list) else node

    parts = json.loads((SCHEMAS / "parts.json").read_text())
    found = {}
    for file in sorted(SCHEMAS.glob("*.json")):
        schema = inside(json.loads(file.read_text()))
        schema.setdefault("$defs", parts["$defs"])
        jsonschema.Draft202012Validator.check_schema(schema)
        if file.stem != "parts":
            found[file.stem] = jsonschema.Draft202012Validator(schema)
    return found


def run(command, *more):
    program, *words = command.split()
    p = subprocess.run([BUILD / "bin" / program, *words, *more], capture_output=True, timeout=SECONDS, check=False)
    if p.returncode not in (0, 1):  # 1: partial, and the answer says so
        raise ValueError(f"exit status {p.returncode}: {p.stderr.decode(errors='replace').strip()}")
    return p.stdout.decode()


def once(pairs):
    """An object that has no key twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key occurs twice: {[k for k, _ in pairs]}")
    return found


def read(text):
    return json.loads(text, object_pairs_hook=once)


def whole(text):
    """The one answer that JSON Lines are the parts of."""
    head, *rest = [read(line) for line in text.splitlines()]
    if not rest:
        return head
    end = rest.pop()
    if end.pop("end", None) is not True:
        raise ValueError("the last line is no end")
    rows = head.pop("rows")
    return {**head, rows: rest, **end}


def places(node, path=""):
    """Every key of an answer: its path, the object it is in, the key. Elements of a list have the same path."""
    if isinstance(node, dict):
        for key, value in node.items():
            here = f"{path}.{key}".lstrip(".")
            yield f"{path}.*" if path.endswith("labels") else here, node, key
            yield from places(value, here)
    elif isinstance(node, list):
        for value in node:
            yield from places(value, path + "[]")


def kind_of(value):
    """What another row may have in its place."""
    return type(value).__name__


def thin(answer):
    """A copy with those rows only that have a key, or a type of a value, that no row before them has."""
    seen = set()

    def is_new(row):
        has = {(path, kind_of(o[key])) for path, o, key in places(row)}
        new = not has <= seen
        seen.update(has)
        return new

    return {k: [r for r in v if is_new(r)] if isinstance(v, list) else v for k, v in answer.items()}


def others(value):
    """Values of other types than this one."""
    if isinstance(value, bool):
        return ["true", 1, None]
    if isinstance(value, int):
        return [str(value), value + 0.5, True]
    if isinstance(value, str):
        return [7, *([value[2:]] if value.startswith("0x") else []), ["x"]]
    return [7.5, "x", True] if value is None or isinstance(value, (dict, list)) else []


def mutilated(answer):
    """What must be refused: how it was made, the answer."""
    seen = set()
    for path, o, key in list(places(answer)):
        value = o[key]
        # A null may stand for a text: what that must be, another row shows.
        if (path, kind_of(value)) in seen or value is None:
            continue
        seen.add((path, kind_of(value)))
        for other in others(value):
            o[key] = other
            yield f"{path} is {other!r}", answer
        o[key] = value
        if path not in OPTIONAL:
            rest = dict(o)
            del o[key]
            yield f"no {path}", answer
            o.clear()
            o.update(rest)


def grown(answer):
    """The answer with a key more in every object of it."""
    more = copy.deepcopy(answer)
    for _, o, key in list(places(more)):
        if isinstance(o[key], dict) and key != "labels":
            o[key]["keyToCome"] = None
    for rows in more.values():
        for row in rows if isinstance(rows, list) else []:
            if isinstance(row, dict):
                row["keyToCome"] = [1]
    more["keyToCome"] = {"x": 1}
    return more


def said(validator, answer):
    errors = sorted(validator.iter_errors(answer), key=lambda e: list(map(str, e.path)))
    return [f"{'.'.join(map(str, e.absolute_path)) or 'the answer'}: {e.message:.200}" for e in errors[:5]]


def check(validator, command):
    """What is wrong with the answers to a command."""
    answer = read(run(command, "--json"))
    yield from said(validator, answer)
    if command.split()[0] not in WITHOUT_LINES:
        lines = whole(run(command, "--json=lines"))
        yield from (f"--json=lines: {text}" for text in said(validator, lines))
        if set(lines) != set(answer):
            yield f"--json=lines: has other keys: {sorted(set(lines) ^ set(answer))}"
    yield from (f"with a key more: {text}" for text in said(validator, grown(answer)))
    small = thin(answer)
    count = 0
    for how, bad in mutilated(copy.deepcopy(small)):
        count += 1
        if validator.is_valid(bad):
            yield f"accepted: {how}"
    if count < 30 or not validator.is_valid(small):
        yield f"only {count} mutilations"


def start(name, folder):
    """A fixture that is ready: its process, its lines."""
    environment = {**os.environ, "XDG_RUNTIME_DIR": folder}
    p = subprocess.Popen([BUILD / "bin" / FIXTURES[name][0], *FIXTURES[name][1:]], stdout=subprocess.PIPE, text=True,
                         env=environment)
    lines = []
    for line in p.stdout:
        if line.startswith("ready "):
            return p, lines
        lines.append(line.rstrip("\n").split("\t"))
    raise ValueError(f"{name} never was ready")


def without_schema():
    """Commands that none of ANSWERS is about."""
    helped = subprocess.run([BUILD / "bin/fiberctl", "--help"], capture_output=True, text=True, check=True).stdout
    known = {command.split()[1] for _, command in ANSWERS if command.startswith("fiberctl ")}
    return [line.split()[0] for line in helped.partition("fiberctl help TOPIC")[0].splitlines()
            if line.startswith("  ") and line[2:3].isalpha() and line.split()[0] not in known]


def main():
    found = schemas()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        try:
            words = {}
            for name in FIXTURES:
                p, lines = start(name, folder)
                processes.append(p)
                words[name] = p.pid
                for line in lines:
                    if line[1] == "mutex":
                        words["waiter"] = line[0]
            os.environ["XDG_RUNTIME_DIR"] = folder
            for number, (schema, command) in enumerate(ANSWERS, 1):
                try:
                    wrong = list(check(found[schema], command.format(**words)))
                except (ValueError, KeyError, subprocess.SubprocessError) as e:
                    wrong = [repr(e)]
                print(f"{'not ok' if wrong else 'ok'} {number} - {schema}.json: {command}")
                for text in wrong:
                    print(f"# {text}")
                failed += bool(wrong)
        finally:
            for p in processes:
                p.terminate()
                p.wait()
    unused = sorted(set(found) - {schema for schema, _ in ANSWERS})
    print(f"{'not ok' if unused else 'ok'} {len(ANSWERS) + 1} - every schema is held against an answer")
    for text in unused:
        print(f"# no answer: {text}.json")
    for text in without_schema():
        print(f"# no schema yet: fiberctl {text}")
    print(f"1..{len(ANSWERS) + 1}")
    return 1 if failed or unused else 0


if __name__ == "__main__":
    sys.exit(main())
