# SPDX-License-Identifier: MIT
"""run.py - run the works on libfiber and on its peers, interleaved, and print one table.

Every repeat runs every participant of every work once, starting with another one each time, so that
a slow moment of the machine hits all of them alike. The table has medians and minima over the
repeats. Absolute times say little, so the unit is "fc": one raw switch of boost.context, measured in
the same run. All results are written to last.json, which a later run can take as its base.

Exit status: 0, also if a target is missed; 1 if libfiber could not do a work; 2 if something that
is to be measured was compiled out; 64 for a usage error.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time

import guard
from rows import ENVIRONMENT, FC, OURS, PEERS, WORKS

TIMEOUT = 180  # s, per run
EACH = ("each fc", "each who")


class Failed(Exception):
    """A run gave no values; the text is the reason."""


def run(command, more=None):
    """The values that one run of a program prints: {name: number}."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False,
                              env={**os.environ, **(more or {})})
    except subprocess.TimeoutExpired:
        raise Failed(f"not done after {TIMEOUT} s") from None
    except OSError as error:
        raise Failed(error.strerror) from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise Failed(said[-1] if said else f"exit status {done.returncode}")
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


class Bench:
    def __init__(self, options, works):
        self.options = options
        self.works = works
        self.samples = {}  # (work, who) -> {key: [value, ...]}
        self.problems = {}  # (work, who) -> text
        self.instructions = {}  # work -> per operation

    def program(self, who):
        return os.path.join(self.options.programs, PEERS[who])

    def verify(self):
        try:
            run([self.program(OURS), "verify", "1"])
        except Failed as why:
            print(f"bench: {why}", file=sys.stderr)
            sys.exit(2)

    def measure(self):
        for repeat in range(self.options.repeats):
            for work in self.works:
                self.measure_once(work, repeat)
            if sys.stderr.isatty():
                print(f"\r{repeat + 1} of {self.options.repeats}", end="\r", file=sys.stderr)

    def measure_once(self, work, repeat):
        everybody = list(work.runs)
        first = repeat % len(everybody)
        for who in everybody[first:] + everybody[:first]:
            at = (work.name, who)
            if at in self.problems:
                continue
            if not os.path.exists(self.program(who)):
                self.problems[at] = "not installed: make deps-bench"
                continue
            command = [self.program(who), work.program_work, str(work.runs[who]), str(work.arg)]
            try:
                values = run(command, {"BENCH_PROGRAMS": self.options.programs, **ENVIRONMENT.get(who, {})})
            except Failed as why:
                self.problems[at] = str(why)
                continue
            for key, value in values.items():
                self.samples.setdefault(at, {}).setdefault(key, []).append(value)

    def count_instructions(self):
        """Count instructions per operation, from two runs of different length, so that start and end cancel."""
        if not shutil.which("valgrind"):
            print("bench: no instruction counts: valgrind is missing: make deps-bench",
                  file=sys.stderr)
            return
        for work in self.works:
            if not work.instructions:
                continue
            counts = [self.instructions_of(work, count) for count in work.instructions]
            if None in counts:
                continue
            less, more = work.instructions
            self.instructions[work.name] = (counts[1] - counts[0]) / (more - less)

    def instructions_of(self, work, count):
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                   self.program(OURS), work.program_work, str(count), str(work.arg)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT,
                                  check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        collected = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode or not collected:
            print(f"bench: {work.name} under valgrind: exit status {done.returncode}",
                  file=sys.stderr)
            return None
        return int(collected.group(1))

    def median(self, work, who, key):
        values = self.samples.get((work, who), {}).get(key)
        return statistics.median(values) if values else None

    def judge(self, work, line):
        """libfiber's targets in this line: [(text, met or None, ratio or None), ...]."""
        verdicts = []
        ours = self.median(work.name, OURS, line.key)
        for kind, *what in line.targets:
            if kind == "fc":
                limit, factor, text = self.median("switch", FC, "ns"), what[0], f"{what[0]:g} fc"
            elif kind == "who":
                limit, factor = self.median(work.name, what[0], line.key), what[1]
                text = f"{factor:g} x {what[0]}"
            elif kind == "key":
                limit, factor = self.median(work.name, OURS, what[0]), what[1]
                text = f"{factor:g} x {what[0]}"
            elif kind in EACH:
                verdicts.append(self.judge_each(work, line, kind, what))
                continue
            elif kind == "own":
                limit, factor = self.median(what[0], OURS, line.key), what[1]
                text = f"{factor:g} x {what[0]}"
            else:
                limit, factor, text = what[0], 1, f"{what[0]:,} {line.unit}"
            text = f"<= {text}"
            if ours is None or limit is None:
                verdicts.append((text, None, None))
                continue
            met = ours <= limit * factor
            verdicts.append((text, met, ours / limit if kind in ("who", "own", "key") else None))
        return verdicts

    def judge_each(self, work, line, kind, what):
        """A target that each repeat must meet, and the largest ratio of them."""
        *name, factor = what
        other, key = (("switch", FC), "ns") if kind == "each fc" else ((work.name, *name), line.key)
        text = f"<= {factor:g} {'fc' if kind == 'each fc' else 'x ' + name[0]} in each run"
        ours, limits = (self.samples.get(at, {}).get(k, []) for at, k in (((work.name, OURS), line.key), (other, key)))
        if not ours or len(ours) != len(limits):
            return text, None, None
        worst = max(value / limit for value, limit in zip(ours, limits))
        return text, worst <= factor, worst

    def rows(self):
        """The table's rows, as written to last.json."""
        fc = self.median("switch", FC, "ns")
        for work in self.works:
            for line in work.lines:
                for who in [OURS] if line.ours else work.runs:
                    row = {"work": work.name, "key": line.key, "who": who, "unit": line.unit,
                           "text": f"{work.text}: {line.text}" if line.text else work.text}
                    values = self.samples.get((work.name, who), {}).get(line.key)
                    if not values or (work.name, who) in self.problems:
                        row["problem"] = self.problems.get((work.name, who), "gave no such value")
                        yield row
                        continue
                    row.update(median=statistics.median(values), min=min(values), samples=values)
                    if line.unit == "ns" and fc:
                        row["fc"] = row["median"] / fc
                    if who == OURS:
                        row["targets"] = [{"text": t, "met": m, "ratio": r}
                                          for t, m, r in self.judge(work, line)]
                        if line is work.lines[0] and work.name in self.instructions:
                            row["instructions"] = self.instructions[work.name]
                    yield row


def number(value):
    if value is None:
        return ""
    if value >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.{1 if value >= 100 else 2}f}"


def verdict(row):
    parts = []
    for target in row.get("targets", ()):
        word = {True: "met", False: "MISSED", None: "not measured"}[target["met"]]
        ratio = f" ({target['ratio']:.2f})" if target["ratio"] is not None else ""
        parts.append(f"{target['text']} {word}{ratio}")
    return ", ".join(parts)


def change(row, base):
    """Compare with an earlier run; in fc if both rows have it, because machines and their load differ."""
    was = base.get((row["work"], row["key"], row["who"]))
    key = "fc" if was and "fc" in row and "fc" in was else "median"
    if not was or key not in was or key not in row:
        return ["", ""]
    if not was[key]:
        return [number(was[key]), ""]
    return [number(was[key]) + (" fc" if key == "fc" else ""),
            f"{round((row[key] / was[key] - 1) * 100):+d}%"]


def print_table(rows, base):
    head = ["work", "who", "median", "min", "", "x fc", "instr"]
    head += (["was", "change"] if base else []) + ["must reach"]
    table, last = [head], None
    for row in rows:
        cells = ["" if row["text"] == last else row["text"], row["who"]]
        last = row["text"]
        if "problem" in row:
            cells += ["", "", "", "", ""] + (["", ""] if base else []) + [row["problem"]]
        else:
            cells += [number(row["median"]), number(row["min"]), row["unit"],
                      number(row.get("fc")), number(row.get("instructions"))]
            cells += (change(row, base) if base else []) + [verdict(row)]
        table.append(cells)
    widths = [max(len(cells[i]) for cells in table) for i in range(len(head) - 1)]
    left = {0, 1, 4}
    for cells in table:
        text = "  ".join(c.ljust(w) if i in left else c.rjust(w)
                         for i, (c, w) in enumerate(zip(cells, widths)))
        print(f"{text}  {cells[-1]}".rstrip())


def machine():
    model = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            model = re.search(r"^model name\s*: (.*)$", file.read(), re.M).group(1)
    except (OSError, AttributeError):
        pass
    return {"cpu": model, "cpus": os.cpu_count(), "kernel": platform.release()}


def print_instructions(bench):
    for work in bench.works:
        if work.name in bench.instructions:
            print(f"{work.text:40} {bench.instructions[work.name]:10.1f} instructions")


def load_base(path):
    try:
        with open(path, encoding="utf-8") as file:
            return {(r["work"], r["key"], r["who"]): r for r in json.load(file)["rows"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"bench: {path}: no result of an earlier run: {error}", file=sys.stderr)
        sys.exit(64)


def parse():
    parser = argparse.ArgumentParser(description="libfiber beside its peers")
    parser.add_argument("--programs", required=True, help="the folder they were built into")
    parser.add_argument("--work", help="names, with commas between; all without")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--base", help="a last.json of an earlier run to compare with")
    parser.add_argument("--instructions", action="store_true", help="only count instructions")
    parser.add_argument("--guard", metavar="COMPILER", help="compare the instructions with the recorded ones")
    parser.add_argument("--record", action="store_true", help="with --guard: record them")
    options = parser.parse_args()
    names = options.work.split(",") if options.work else [w.name for w in WORKS]
    unknown = sorted(set(names) - {w.name for w in WORKS})
    if unknown or options.repeats < 1:
        print(f"bench: no such work: {', '.join(unknown)}; there are: "
              f"{' '.join(w.name for w in WORKS)}" if unknown else "bench: REPEATS is at least 1",
              file=sys.stderr)
        sys.exit(64)
    # The unit is always measured.
    return options, [w for w in WORKS if w.name in names or w.name == "switch"]


def main():
    options, works = parse()
    base = load_base(options.base) if options.base else {}
    bench = Bench(options, works)
    bench.verify()
    if options.guard:
        compiler = guard.compiler_of(options.guard)
        if not options.record:
            sys.exit(guard.compare(bench, compiler))
        bench.count_instructions()
        guard.record(bench, compiler)
        return
    began, load = time.time(), os.getloadavg()
    if options.instructions:
        bench.count_instructions()
        print_instructions(bench)
        sys.exit(0 if bench.instructions else 1)
    bench.measure()
    bench.count_instructions()
    rows = list(bench.rows())
    about = machine()
    print_table(rows, base)
    print(f"{about['cpu']}, {about['cpus']} CPUs, Linux {about['kernel']}; {options.repeats} repeats, "
          f"interleaved, in {time.time() - began:.0f} s; load {load[0]:.1f} before, "
          f"{os.getloadavg()[0]:.1f} after")
    last = os.path.join(options.programs, "last.json")
    with open(last + ".new", "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "when": int(began), "machine": about,
                   "load": [load[0], os.getloadavg()[0]], "repeats": options.repeats, "rows": rows},
                  file, indent=1)
    os.replace(last + ".new", last)
    sys.exit(1 if any("problem" in r for r in rows if r["who"] == OURS) else 0)


if __name__ == "__main__":
    main()
