#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""timeline.py FILE - whether a timeline is what the Trace Event Format asks for

It shares nothing with what wrote the file: the rules are those of the format's description ("Trace Event Format", Duration, Complete,
Flow, Instant and Metadata Events), and those that Perfetto's importer adds: a flow's ends lie in slices.

Prints one line, "N slices, N arrows, N tracks, N lost", or what is wrong, and exits 1.
"""
import json
import sys
from collections import defaultdict
from decimal import Decimal


class Wrong(Exception):
    pass


def must(condition, event, what):
    if not condition:
        raise Wrong(f"{what}: {event}")


def ns(event, key):
    """Times are us, with the ns behind the point."""
    value = event.get(key)
    must(isinstance(value, (int, Decimal)) and not isinstance(value, bool), event, f"'{key}' is no number")
    exact = Decimal(value) * 1000
    must(exact == exact.to_integral_value(), event, f"'{key}' has more than ns")
    must(exact >= 0, event, f"'{key}' is negative")
    return int(exact)


class Timeline:
    def __init__(self):
        self.slices = defaultdict(list)  # per track: (from, to, position in the file)
        self.open = defaultdict(list)  # per track: B events without their E yet
        self.flows = defaultdict(lambda: defaultdict(list))
        self.processes, self.threads = {}, {}
        self.lost = 0

    def take(self, place, e):
        must(isinstance(e, dict), e, "is no object")
        for key in ("pid", "tid"):
            must(isinstance(e.get(key), int), e, f"'{key}' is no number")
        must(isinstance(e.get("name"), str) and e["name"], e, "has no name")
        take = getattr(self, "take_" + str(e.get("ph")), None)
        must(take, e, "a phase that the format has not")
        take(place, e, (e["pid"], e["tid"]))

    def take_M(self, _, e, track):
        named = e.get("args")
        must(isinstance(named, dict), e, "has no args")
        if e["name"] in ("process_name", "thread_name"):
            must(isinstance(named.get("name"), str), e, "names nothing")
            names, key = (self.processes, e["pid"]) if e["name"] == "process_name" else (self.threads, track)
            must(key not in names, e, "is named twice")
            names[key] = named["name"]
        else:
            must(e["name"] in ("process_sort_index", "thread_sort_index"), e, "metadata that the format has not")
            must(isinstance(named.get("sort_index"), int), e, "sorts nothing")

    def take_X(self, place, e, track):
        begin = ns(e, "ts")
        self.slices[track].append((begin, begin + ns(e, "dur"), place))
        self.lost += e.get("cat") == "lost" and "events" in e.get("args", {})

    def take_B(self, place, e, track):
        self.open[track].append((ns(e, "ts"), place, e["name"]))

    def take_E(self, place, e, track):
        must(self.open[track], e, "ends what has not begun")
        begin, began, name = self.open[track].pop()
        must(name == e["name"], e, f"ends another one than {name}")
        must(ns(e, "ts") >= begin, e, "ends before it begins")
        self.slices[track].append((begin, ns(e, "ts"), began))

    def take_i(self, _, e, track):
        ns(e, "ts")
        must(e.get("s", "t") in ("g", "p", "t"), e, "a scope that the format has not")
        self.threads.setdefault(track, None)

    def take_flow(self, e, track):
        must(isinstance(e.get("id"), (int, str)), e, "a flow without an id")
        self.flows[(e.get("cat"), e["name"], e["id"])][e["ph"]].append((ns(e, "ts"), track, e))

    def take_s(self, _, e, track):
        self.take_flow(e, track)

    def take_f(self, _, e, track):
        must(e.get("bp") == "e", e, "binds to the slice that comes after it")
        self.take_flow(e, track)

    def check_track(self, track):
        """Slices lie behind or within one another; those that lie in no other are in the file in the order of time."""
        inside, last = [], -1
        outer = []
        for begin, end, place in sorted(self.slices[track], key=lambda s: (s[0], -s[1], s[2])):
            while inside and inside[-1] <= begin and not (inside[-1] == begin == end):
                inside.pop()
            must(not inside or end <= inside[-1], (begin, end), f"crosses another slice of track {track}")
            if not inside:
                outer.append((place, begin))
            inside.append(end)
        for place, begin in sorted(outer):
            must(begin >= last, begin, f"comes before what stands before it on track {track}")
            last = begin

    def check_flow(self, key, ends):
        must(len(ends["s"]) == 1 and len(ends["f"]) == 1, key, "a flow that has not one beginning and one end")
        (began, source, _), (ended, target, _) = ends["s"][0], ends["f"][0]
        must(began <= ended, key, "a flow that ends before it begins")
        for at, track in ((began, source), (ended, target)):
            must(self.is_in_a_slice(track, at), (key, at), f"an end of a flow in no slice of track {track}")

    def is_in_a_slice(self, track, at):
        if track not in self.covered:
            merged = []
            for begin, end, _ in sorted(self.slices[track]):
                if merged and begin <= merged[-1][1]:
                    merged[-1][1] = max(merged[-1][1], end)
                else:
                    merged.append([begin, end])
            self.covered[track] = merged
        spans, low = self.covered[track], 0
        high = len(spans)
        while low < high:
            middle = (low + high) // 2
            if spans[middle][1] < at:
                low = middle + 1
            else:
                high = middle
        return low < len(spans) and spans[low][0] <= at

    def check(self):
        self.covered = {}
        for track, left in self.open.items():
            must(not left, left, f"has no end on track {track}")
        for track in self.slices:
            must(self.threads.get(track), track, "a track without a name")
            must(track[0] in self.processes, track, "a process without a name")
            self.check_track(track)
        for key, ends in self.flows.items():
            self.check_flow(key, ends)


def main(path):
    with open(path, encoding="utf-8") as file:
        whole = json.load(file, parse_float=Decimal)
    timeline = Timeline()
    must(isinstance(whole.get("traceEvents"), list), path, "has no traceEvents")
    must(whole.get("displayTimeUnit") in ("ns", "ms"), path, "a unit that the format has not")
    for place, event in enumerate(whole["traceEvents"]):
        timeline.take(place, event)
    timeline.check()
    print(f"{sum(map(len, timeline.slices.values()))} slices, {len(timeline.flows)} arrows, "
          f"{len(timeline.threads)} tracks, {timeline.lost} lost")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except (Wrong, ValueError) as wrong:
        sys.exit(f"{sys.argv[1]}: {wrong}")
