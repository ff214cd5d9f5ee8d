#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# compile-commands.py COMPILER... - write a compilation database, for clangd and clang-tidy -p
#
# Standard input: the commands of a build, as `make -nB V=1` prints them. COMPILER: the first words of a compiler command.
# Standard output: compile_commands.json. A source has one entry, for the first command that compiles it. From a command that
# compiles and links, the linker's arguments are removed, so each entry makes one object.
import json
import os
import shlex
import sys

SOURCES = (".c", ".cpp", ".S")
LINKED = (".o", ".a", ".so")


def arguments_of(words):
    """Returns the command without dependency files and linker arguments, its first source, and its output."""
    kept, source, output = [], None, None
    words = iter(words)
    for word in words:
        if word == "-o":
            output = next(words)
        elif word == "-MF":
            next(words)
        elif word in ("-c", "-shared", "-MMD", "-MP") or word.startswith(("-l", "-L", "-Wl,")) or word.endswith(LINKED):
            continue
        elif not word.endswith(SOURCES) or word.startswith("-"):
            kept.append(word)
        elif source is None:
            source = word
    return kept, source, output


def main():
    compilers = [shlex.split(name) for name in sys.argv[1:]]
    entries = {}
    for line in sys.stdin.read().replace("\\\n", " ").splitlines():
        try:
            words = shlex.split(line)
        except ValueError:  # part of a shell script
            continue
        if not any(words[: len(name)] == name for name in compilers):
            continue
        words, source, output = arguments_of(words)
        if source is None or output is None or source in entries:
            continue
        if not output.endswith(".o"):
            output += ".o"
        words += ["-c", "-o", output, source]
        entries[source] = {"directory": os.getcwd(), "file": source, "arguments": words, "output": output}
    if not entries:
        sys.exit("compile-commands.py: no command on standard input compiles anything")
    json.dump(list(entries.values()), sys.stdout, indent=1)
    print()


main()
