#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""public-names.py COMPILER - print a C++ program that uses every name of <fiber.h>

The program declares an object of every public type: with `struct` before the name, and without it unless
a function has the same name. It takes the address of every public function. The names are read from the
preprocessed headers, so none can be left out."""

import re
import subprocess
import sys

ROOT = "libfiber/include"


def preprocessed(compiler):
    command = [compiler, "-x", "c++", "-std=c++17", "-E", "-I" + ROOT, "-"]
    said = subprocess.run(command, input="#include <fiber.h>\n", capture_output=True, text=True, check=True).stdout
    ours, kept = False, []
    for line in said.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = "/include/fiber" in marker.group(1)
        elif ours:
            kept.append(line)
    return "\n".join(kept)


def names(text):
    functions = set(re.findall(r"\b(fiber_\w+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:__attribute__[^;]*)?;", text))
    functions -= set(re.findall(r"typedef[^;]*\b(fiber_\w+)\s*\(", text))
    structs = set(re.findall(r"\bstruct\s+(fiber_\w+)\s*(?::\s*\w+\s*)?\{", text))
    enums = set(re.findall(r"\benum\s+(fiber_\w+)\s*\{", text))
    opaque = set(re.findall(r"\bstruct\s+(fiber\w*)\s*;", text)) - structs
    typedefs = set(re.findall(r"typedef\s+\w+\s+(fiber_\w+)\s*;", text))
    return functions, structs, enums, opaque, typedefs


def main():
    functions, structs, enums, opaque, typedefs = names(preprocessed(sys.argv[1]))
    print("#include <fiber.h>\n\nint main()\n{\n\tconst void *volatile seen = nullptr;\n")
    for name in sorted(structs):
        print(f"\t{{\n\t\tstruct {name} object {{}};\n\t\tseen = &object;\n\t}}")
        if name not in functions:
            print(f"\t{{\n\t\t{name} object{{}};\n\t\tseen = &object;\n\t}}")
    for name in sorted(enums):
        print(f"\t{{\n\t\tenum {name} value{{}};\n\t\tseen = &value;\n\t}}")
    for name in sorted(opaque):
        print(f"\t{{\n\t\tstruct {name} *handle = nullptr;\n\t\tseen = &handle;\n\t}}")
    for name in sorted(typedefs):
        print(f"\t{{\n\t\t{name} value{{}};\n\t\tseen = &value;\n\t}}")
    for name in sorted(functions):
        print(f"\tseen = reinterpret_cast<const void *>(&::{name});")
    print("\treturn seen == nullptr;\n}")
    print(f"// {len(functions)} functions, {len(structs)} structs, {len(enums)} enums, {len(opaque)} handles")


main()
