# SPDX-License-Identifier: MIT
"""schema_answers.py - check an answer against its schema in docs/schema/, and the schema against the answer

For check-schema.py and check-openapi.py. A schema that allows everything proves nothing, so the schemas are tested too. For
each key of an answer, the answer without the key and the answer with a value of another type must be refused; keys in
OPTIONAL may be missing. An answer with an additional key must be accepted, because keys may be added later.
"""
import copy
import json
import os
import pathlib
import sys

SYSTEM = "/usr/bin/python3"  # has the jsonschema of `make deps`; env(1) may find another python3
try:
    import jsonschema
except ImportError:
    if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM) or not os.path.exists(SYSTEM):
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: python3-jsonschema is missing: run 'make deps'")
    os.execv(SYSTEM, [SYSTEM, *sys.argv])

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "docs/schema"
OPENAPI = SCHEMAS / "openapi.json"  # no schema: it describes the paths of `fiberctl serve`, and refers to the schemas
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
    for file in sorted(set(SCHEMAS.glob("*.json")) - {OPENAPI}):
        schema = inside(json.loads(file.read_text()))
        schema["$defs"] = parts["$defs"] | schema.get("$defs", {})
        jsonschema.Draft202012Validator.check_schema(schema)
        if file.stem != "parts":
            found[file.stem] = jsonschema.Draft202012Validator(schema)
    return found


def once(pairs):
    """Make an object and refuse duplicate keys."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key occurs twice: {[k for k, _ in pairs]}")
    return found


def read(text):
    return json.loads(text, object_pairs_hook=once)


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


def check_answer(validator, seen, answer, least=8):
    """Yield what is wrong with an answer, and what its schema wrongly accepts or refuses. least: keys that it must have."""
    yield from said(validator, answer)
    yield from (f"with a key more: {text}" for text in said(validator, grown(answer)))
    small = thin(answer)
    for how, bad in mutilated(copy.deepcopy(small), seen):
        if validator.is_valid(bad):
            yield f"accepted: {how}"
    if len(seen) < least or not validator.is_valid(small):
        yield f"only {len(seen)} keys to mutilate"
