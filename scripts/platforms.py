#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# platforms.py FILE MACHINE... - write what `make check ARCH=` has found into the table of a document
#
# A machine starts with its name and a colon (scripts/ports.mk). build/NAME has the compiler, the choice of tests and the
# last line of their run. The rows of these machines are replaced; the rows of machines that were not run stay. Tests that
# were skipped are listed with their reasons in scripts/left-out.txt, or skip themselves.

import os
import re
import sys

BEGIN, END = "<!-- ports: begin -->", "<!-- ports: end -->"
HEAD = "| port | switch | compiler | tests | passed | failed | skipped |\n|---|---|---|---|---|---|---|\n"


def read(machine, name):
    try:
        with open(os.path.join("build", machine, name), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return None


def row(machine):
    """The row of a machine that was run, or None."""
    result = read(machine, "check.result")
    counts = re.fullmatch(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", result or "")
    if not counts:
        return None
    compiler = re.search(r"\d+\.\d+\.\d+", read(machine, "check.compiler") or "")
    own = os.path.exists(os.path.join("libfiber", "arch", machine, "frame.h"))
    passed, failed, skipped = counts.groups()
    return (
        f"| `{machine}` | {'assembly' if own else 'ucontext'} | gcc {compiler[0] if compiler else '?'} "
        f"| {read(machine, 'check.choice')} | {passed} | {failed} | {skipped or 0} |\n"
    )


def main():
    path, machines = sys.argv[1], [machine.split(":")[0] for machine in sys.argv[2:]]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(BEGIN + "\n")
    table, after = rest.split(END)
    old = dict(re.findall(r"^(?=\| `(\w+)`)(.*\n)", table, re.M))
    rows = [row(machine) or old.get(machine) for machine in machines]
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n" + HEAD + "".join(filter(None, rows)) + END + after)


main()
