#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# platforms.py FILE MACHINE... - write what the last runs of the tests have found into the table of a document
#
# A machine starts with its name and a colon (scripts/ports.mk). A folder of a run has check.result, the last line of the run,
# and perhaps check.compiler and check.choice: build/MACHINE, build/compilers/ROW, build/musl*, build/kernels/KERNEL. The rows
# of these runs are replaced; the rows of what was not run stay. Tests that were skipped for a machine are listed with their
# reasons in scripts/left-out.txt, or skip themselves.

import os
import re
import sys

BEGIN, END = "<!-- platforms: begin -->", "<!-- platforms: end -->"
HEAD = "| | | compiler | tests | passed | failed | skipped |\n|---|---|---|---|---|---|---|\n"
ROW = re.compile(r"^\| (\w[\w ]*) \| `([^`]+)`[^|]* \|.*\n", re.M)


def read(folder, name):
    try:
        with open(os.path.join("build", folder, name), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def compiler(folder):
    """ "gcc 12.2.0" of the first line that a compiler prints of itself."""
    line = read(folder, "check.compiler")
    version = re.search(r"\d+\.\d+\.\d+", line)
    return f"{'clang' if 'clang' in line else 'gcc'} {version[0]}" if version else "-"


def row(kind, name, folder, remark=""):
    """The row of a run, or None if there was none."""
    counts = re.fullmatch(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", read(folder, "check.result"))
    if not counts:
        return None
    passed, failed, skipped = counts.groups()
    return (f"| {kind} | `{name}`{remark} | {compiler(folder)} | {read(folder, 'check.choice') or '-'} "
            f"| {passed} | {failed} | {skipped or 0} |\n")


def below(folder):
    try:
        return sorted(os.listdir(os.path.join("build", folder)))
    except OSError:
        return []


def rows(machines):
    """Each row of a run by its kind and name, in the order of the table."""
    for name in machines:
        own = os.path.exists(os.path.join("libfiber", "arch", name, "frame.h"))
        yield ("machine", name), row("machine", name, name, ", assembly" if own else ", ucontext")
    for name in below("compilers"):
        yield ("compiler", name), row("compiler", name, f"compilers/{name}")
    for name in ("musl", "musl-static", "musl-tools"):
        yield ("C library", name), row("C library", name, name)
    for name in below("kernels"):
        yield ("kernel", name), row("kernel", name, f"kernels/{name}")


def main():
    path, machines = sys.argv[1], [machine.split(":")[0] for machine in sys.argv[2:]]
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN + "\n")
    table, after = rest.split(END)
    lines = {match.group(1, 2): match.group(0) for match in ROW.finditer(table)}
    lines.update((key, line) for key, line in rows(machines) if line)
    kinds = ["machine", "compiler", "C library", "kernel"]
    order = sorted(lines, key=lambda key: (kinds.index(key[0]), machines.index(key[1]) if key[1] in machines else 0, key[1]))
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n" + HEAD + "".join(lines[key] for key in order) + END + after)


main()
