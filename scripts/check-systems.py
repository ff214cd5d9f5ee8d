#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check-systems.py BUILD [SYSTEM=ROOT]... -- FLAG... | --self-test - compile libfiber/os for systems that this machine is not

SYSTEM is a folder of libfiber/os beside linux, bsd and posix. ROOT is a folder with the headers of that system in usr/include. An empty
ROOT: the system is skipped. FLAG: options for clang, which makes an object of each file of libfiber/os/SYSTEM, of libfiber/os/bsd,
and of libfiber/os/posix. Then each function that a header of libfiber/os or libfiber/os/bsd
declares must be defined exactly once among these objects. Nothing is linked or run.

Prints each failure and "N passed, N failed, N skipped". --self-test checks small trees with one fault each.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

OS = pathlib.Path("libfiber/os")
# Each machine of a system: the port whose headers are included, and clang's name of it.
MACHINES = {
    "freebsd": {"x86_64": "x86_64-unknown-freebsd10.4"},
    "macos": {"aarch64": "arm64-apple-macos12", "x86_64": "x86_64-apple-macos12"},
}


class Tally:
    """What was checked. A check is made by calling it."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def __call__(self, ok, what):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f"not ok: {what}")


def declared(header):
    """the functions that a header declares and does not define"""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header.read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", ";", text)
    for statement in text.split(";"):
        name = re.search(r"\b(fib_\w+)\s*\(", statement)
        if name and not re.search(r"\b(typedef|inline)\b", statement):
            yield name.group(1)


def functions(folders):
    return sorted({name for folder in folders for header in sorted(folder.glob("*.h")) for name in declared(header)})


def sources(system):
    return [file for folder in ("posix", "bsd", system) for file in sorted((OS / folder).glob("*.c"))]


def definitions(objects):
    """function -> how many objects define it. Names of macOS begin with one more underscore."""
    nm = shutil.which("llvm-nm") or shutil.which("llvm-nm-14") or "nm"
    count = {}
    if not objects:
        return count
    out = subprocess.run([nm, "--defined-only", "-g", *map(str, objects)], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        words = line.split()
        if len(words) == 3:
            name = re.sub(r"^_(?=fib_)", "", words[2])
            count[name] = count.get(name, 0) + 1
    return count


def compile_one(compiler, flags, source, output):
    output.parent.mkdir(parents=True, exist_ok=True)
    output.unlink(missing_ok=True)
    run = subprocess.run([*compiler, *flags, "-c", "-o", str(output), str(source)], capture_output=True, text=True, check=False)
    return run.returncode == 0, run.stderr


def check(tally, label, compiler, flags, system, folder):
    """Compile the files of one system for one machine, and count the definitions."""
    files = sources(system)
    outputs = [folder / file.relative_to(OS).with_suffix(".o") for file in files]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda pair: compile_one(compiler, flags, *pair), zip(files, outputs)))
    for file, (ok, errors) in zip(files, results):
        tally(ok, f"{label}: {file} does not compile\n{errors}")
    count = definitions([output for output in outputs if output.exists()])
    for name in functions([OS, OS / "bsd"]):
        times = count.get(name, 0)
        tally(times == 1, f"{label}: {name} is defined {times} times")


def self_test():
    """Three trees, of which one is right, one has a file that does not compile, and one wrong definitions."""
    header = "/* int fib_comment(void); */\n#define fib_macro(x) \\\n\tfib_more(x)\nint fib_one(void);\n" \
             "static inline int fib_two(void) { if (1) { return 2; } return 0; }\nvoid fib_three(int (*f)(int));\n"
    right = '#include "os/os.h"\nint fib_one(void) { return 1; }\n'
    trees = {
        "right": (right + "void fib_three(int (*f)(int)) { (void)f; }\n", "", (4, 0)),
        "broken": (right + "int unknown = nowhere;\n", "void fib_three(int (*f)(int)) { (void)f; }\n", (2, 2)),
        "wrong": (right, "int fib_one(void) { return 1; }\n", (2, 2)),
    }
    for name, (shared, own, expected) in trees.items():
        with tempfile.TemporaryDirectory() as root:
            os.chdir(root)
            for folder in ("bsd", "other"):
                (OS / folder).mkdir(parents=True)
            (OS / "os.h").write_text(header, encoding="utf-8")
            (OS / "bsd" / "a.c").write_text(shared, encoding="utf-8")
            (OS / "other" / "b.c").write_text(own, encoding="utf-8")
            tally = Tally()
            sys.stdout.flush()
            with open(os.devnull, "w", encoding="utf-8") as sys.stdout:
                check(tally, name, ["clang"], ["-Ilibfiber"], "other", pathlib.Path("build"))
            sys.stdout = sys.__stdout__
            os.chdir("/")
        if (tally.passed, tally.failed) != expected:
            sys.exit(f"check-systems: self-test: {name}: {tally.passed} passed, {tally.failed} failed; expected {expected}")
    print("systems: self-test ok: a file that does not compile, a missing and a repeated function are found")


def main(build, *rest):
    roots = [word.split("=", 1) for word in rest[: rest.index("--")]]
    flags = list(rest[rest.index("--") + 1 :])
    tally = Tally()
    for system, root in roots:
        if not root:
            print(f"# skipped: {system}: no headers are given, {system.upper()}=FOLDER")
            tally.skipped += 1
            continue
        if not (pathlib.Path(root) / "usr/include").is_dir():
            sys.exit(f"check-systems: {root}: has no usr/include")
        for port, target in MACHINES[system].items():
            compiler = ["clang", f"--target={target}", f"--sysroot={root}", f"-Ilibfiber/arch/{port}"]
            check(tally, f"{system} {port}", compiler, flags, system, pathlib.Path(build) / "systems" / system / port)
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    sys.exit(tally.failed > 0)


if not shutil.which("clang"):
    sys.exit("check-systems: clang is missing: run 'make deps'")
if sys.argv[1:] == ["--self-test"]:
    self_test()
else:
    main(*sys.argv[1:])
