#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check-circles.py BUILD FOLDER... - check that files do not call, and headers do not include, each other in a circle

A file calls another file if its object file in BUILD uses a symbol that the other's object file defines. Files that call
each other in a circle cannot be read, tested or moved one by one.

Prints each circle with the uses that close it and fails, else prints "circles: ok".
"""

import os
import re
import subprocess
import sys


def name_of(path):
    return re.sub(r"\.[chS]$", "", path)


def sources(folders):
    """names without their ending"""
    return sorted(
        {
            name_of(os.path.join(where, file))
            for folder in folders
            for where, _, files in os.walk(folder)
            for file in files
            if re.search(r"\.[chS]$", file)
        }
    )


def included(files):
    """header -> headers of the tree that it includes"""
    uses = {}
    for name in files:
        if not os.path.exists(name + ".h"):
            continue
        with open(name + ".h", encoding="utf-8") as text:
            headers = re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text.read(), re.M)
        for header in headers:
            for root in (os.path.dirname(name), ".", "libfiber", "libfiber/include", "libfiber-test", "libfiber-posix"):
                other = name_of(os.path.normpath(os.path.join(root, header)))
                if other in files and other != name:
                    uses.setdefault((name, other), set()).add(header)
                    break
    return uses


def objects(build, files):
    for name in files:
        for path in (f"{build}/obj/{name}.o", f"{build}/obj/{name.replace('libfiber/', 'pic/', 1)}.c.o"):
            if os.path.exists(path):
                yield name, path


# What they define stands for read(), malloc() or memcpy() of the C library: a call of these is no call of a file of ours.
STANDS_FOR_LIBC = ("libfiber-posix/entry/", "libfiber-test/memory/copies", "libfiber-test/memory/heap/")


def called(build, files):
    """file name -> names whose symbols it uses"""
    home, wants = {}, {}
    for name, path in objects(build, files):
        out = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
        for line in out.splitlines():
            kind, symbol = line.split()[-2:]
            if kind == "U":
                wants.setdefault(name, []).append(symbol)
            elif kind.isupper() and not name.startswith(STANDS_FOR_LIBC):
                home[symbol] = name
    uses = {}
    for name, symbols in wants.items():
        for symbol in symbols:
            other = home.get(symbol)
            if other and other != name:
                uses.setdefault((name, other), set()).add(symbol)
    return uses


def circles(names, uses):
    """the strongly connected components with more than one file (Tarjan, without recursion)"""
    follow = {name: [] for name in names}
    for name, other in uses:
        follow[name].append(other)
    index, low, stack, on, found = {}, {}, [], set(), []
    for start in names:
        if start in index:
            continue
        work = [(start, iter(follow[start]))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on.add(start)
        while work:
            name, others = work[-1]
            other = next(others, None)
            if other is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    circle = []
                    while not circle or circle[-1] != name:
                        circle.append(stack.pop())
                        on.discard(circle[-1])
                    if len(circle) > 1:
                        found.append(sorted(circle))
            elif other not in index:
                index[other] = low[other] = len(index)
                stack.append(other)
                on.add(other)
                work.append((other, iter(follow[other])))
            elif other in on:
                low[name] = min(low[name], index[other])
    return sorted(found)


def show(kind, names, uses):
    found = circles(names, uses)
    for circle in found:
        print(f"{kind}: a circle of {len(circle)} files: {' '.join(circle)}")
        for name, other in sorted(uses):
            if name in circle and other in circle:
                print(f"  {name} -> {other}: {' '.join(sorted(uses[name, other])[:6])}")
    return bool(found)


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: check-circles.py BUILD FOLDER...")
    files = sources(sys.argv[2:])
    calls = called(sys.argv[1], files)
    if not calls:
        sys.exit(f"check-circles: {sys.argv[1]} has no object files of {' '.join(sys.argv[2:])}: build first")
    bad = show("calls", files, calls)
    bad = show("includes", files, included(files)) or bad
    if bad:
        sys.exit(1)
    print("circles: ok")


if __name__ == "__main__":
    main()
