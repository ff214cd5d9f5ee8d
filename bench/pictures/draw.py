# SPDX-License-Identifier: MIT
"""draw.py - make the pictures and the table of docs/performance.md from the results of a run of the bench

draw.py RESULTS FOLDER PAGE: RESULTS is a last.json of bench/run.py. FOLDER gets a file NAME.svg for each family of
families.py. Between its two marks, PAGE gets a table and the pictures. Equal results give equal files.

A work that the results lack is left out; a note in the picture and a line of the output name it. A family without any
work has no picture: an older one is removed.

Exit status: 0; 2 if a file cannot be read or written, with one line that names it; 64 for a usage error.
"""

import os
import sys

import bars
import lines
import minute
import results
from families import FAMILIES, NO_PICTURE, SCALE, SHARED


def fail(path, why):
    print(f"bench-pictures: {path}: {why}", file=sys.stderr)
    sys.exit(2)


def write(path, words):
    """Replace the file as a whole, if its text changes."""
    try:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.read() == words:
                    return
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(words)
        os.replace(path + ".new", path)
    except (OSError, UnicodeError) as error:
        fail(path, getattr(error, "strerror", None) or error)


def remove(path):
    try:
        os.remove(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        fail(path, error.strerror)


def say(words):
    print(f"bench-pictures: {words}")


def draw(run, folder):
    """Write all pictures; returns those that exist: [(title, path), ...]."""
    made = []
    for family in [*FAMILIES, SCALE]:
        path = os.path.join(folder, f"{family.name}.svg")
        words, missing = lines.picture(run) if family is SCALE else bars.picture(family, run)
        if words is None:
            remove(path)
            say(f"{path}: not made, because the run has none of: {', '.join(missing)}")
            continue
        write(path, words)
        made.append((family.title, path))
        if missing:
            say(f"{path}: not in this run: {', '.join(missing)}")
    return made


def without_picture(run):
    """The works of the run that no picture shows."""
    shown = {work for family in FAMILIES for work, _, _ in family.panels} | set(NO_PICTURE)
    return [work for work in run.works if work not in shown and not work.startswith(SHARED)]


def main():
    if len(sys.argv) != 4:
        print("usage: draw.py RESULTS FOLDER PAGE", file=sys.stderr)
        sys.exit(64)
    source, folder, page = sys.argv[1:]
    try:
        run = results.read(source)
    except results.Unreadable as why:
        fail(source, f"no results of make bench: {why}")
    try:
        with open(page, encoding="utf-8") as file:
            before = file.read()
        minute.page_with(before, "")
        os.makedirs(folder, exist_ok=True)
    except (OSError, UnicodeError) as error:
        fail(getattr(error, "filename", None) or page, getattr(error, "strerror", None) or error)
    except minute.Unmarked as why:
        fail(page, why)
    made = [(title, os.path.relpath(path, os.path.dirname(page) or ".")) for title, path in draw(run, folder)]
    write(page, minute.page_with(before, minute.section(run, made)))
    unseen = without_picture(run)
    if unseen:
        say(f"no picture shows: {', '.join(unseen)}")
    say(f"{folder}: {len(made)} pictures; {page}: the table")


if __name__ == "__main__":
    main()
