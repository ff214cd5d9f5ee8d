#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""flames.py FOLDED SVG SPEEDSCOPE PPROF - whether the four say the same

Each file is read by what its format says, and by nothing of this project: the SVG as XML, speedscope's as JSON, the profile as
gzip and protocol buffer. Each becomes {stack: fibers}, with the names as folded lines have them.
"""
import collections
import gzip
import json
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


def folded_name(name):
    return name.replace(";", ":").replace(" ", "_")


def read_folded(path):
    stacks = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, count = line.rstrip("\n").rpartition(" ")
            stacks[stack] += int(count)
    return stacks


def read_speedscope(path):
    with open(path, encoding="utf-8") as file:
        whole = json.load(file)
    assert whole["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    names = [folded_name(frame["name"]) for frame in whole["shared"]["frames"]]
    assert all(isinstance(f.get("file", ""), str) for f in whole["shared"]["frames"])
    fibers, ages = whole["profiles"]
    for profile, unit in (fibers, "none"), (ages, "nanoseconds"):
        assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", unit, 0)
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"]
        assert all(w >= 0 for w in profile["weights"])
    assert fibers["samples"] == ages["samples"]
    stacks = collections.Counter()
    for sample, weight in zip(fibers["samples"], fibers["weights"]):
        stacks[";".join(names[i] for i in sample)] += weight
    return stacks


def varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return n, at


def fields(data):
    """The numbers and values of a message: integers, or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        assert tag & 7 in (0, 2), "only varints and lengths are used"
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
            assert at <= len(data)
        yield tag >> 3, value


def message(data):
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def packed(data):
    at, numbers = 0, []
    while at < len(data):
        n, at = varint(data, at)
        numbers.append(n)
    return numbers


def read_pprof(path):
    with gzip.open(path) as file:
        profile = message(file.read())
    texts = [t.decode("utf-8") for t in profile[6]]
    assert texts[0] == ""
    types = [tuple(texts[message(t)[k][0]] for k in (1, 2)) for t in profile[1]]
    assert types == [("fibers", "count"), ("age", "nanoseconds")]
    functions = {}
    for function in map(message, profile[5]):
        assert function[1][0] > 0 and function[1][0] not in functions
        assert function[4][0] < len(texts)
        functions[function[1][0]] = folded_name(texts[function[2][0]])
    locations = {}
    for location in map(message, profile[4]):
        line, = map(message, location[4])
        assert location[1][0] > 0 and location[1][0] not in locations
        locations[location[1][0]] = functions[line[1][0]]
    stacks = collections.Counter()
    for sample in map(message, profile[2]):
        values = packed(sample[2][0])
        assert len(values) == len(types)
        stacks[";".join(locations[i] for i in reversed(packed(sample[1][0])))] += values[0]
    return stacks


def read_svg(path):
    """A frame ends as many stacks as it has fibers that no frame on it has."""
    root = xml.parse(path).getroot()
    assert root.tag == SVG + "svg"
    open_frames, stacks = [], collections.Counter()
    right = 0.0

    def close(depth):
        while len(open_frames) > depth:
            _, _, n, above = open_frames[-1]
            assert above <= n
            if n > above and len(open_frames) > 1:
                stacks[";".join(name for name, *_ in open_frames[1:])] += n - above
            open_frames.pop()

    for g in root.iter(SVG + "g"):
        depth, at, n = (int(g.get("data-" + k)) for k in ("d", "at", "n"))
        name, _, _ = g.find(SVG + "title").text.rpartition(" (")
        rect = g.find(SVG + "rect")
        close(depth)
        assert depth == len(open_frames) and n > 0
        x, width = float(rect.get("x")), float(rect.get("width"))
        if depth == 0:
            total, right = n, x + width
        else:
            _, left, room, above = open_frames[-1]
            assert left <= at and at + n <= left + room
            open_frames[-1][3] = above + n
        assert abs(width / (right - 10) - n / total) < 1e-4
        assert abs((x - 10) / (right - 10) - at / total) < 1e-4
        open_frames.append([folded_name(name), at, n, 0])
    close(0)
    assert sum(stacks.values()) == total
    scripts = [s.text for s in root.iter(SVG + "script")]
    assert len(scripts) == 1 and "zoom(" in scripts[0]
    assert not any(k.startswith("on") for e in root.iter() for k in e.attrib)
    return stacks


def main(folded, svg, speedscope, pprof):
    expected = read_folded(folded)
    assert expected
    for name, found in ("speedscope", read_speedscope(speedscope)), ("pprof", read_pprof(pprof)), ("svg", read_svg(svg)):
        for stack in sorted(set(expected) | set(found)):
            if expected[stack] != found[stack]:
                sys.exit(f"{name}: {stack}: {found[stack]}, and not {expected[stack]}")
    print(f"{len(expected)} stacks, {sum(expected.values())} fibers")


main(*sys.argv[1:])
