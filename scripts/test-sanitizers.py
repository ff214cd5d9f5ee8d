#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-sanitizers.py [NAME...] - check that sanitizers and valgrind work with an installed libfiber

Installs into a temporary folder and builds fixtures/sanitizers against it with gcc and with clang, as libfiber-sanitizers(7)
describes. Called as `PROGRAM wrong`, each program has a defect that must be reported in the right function. Called as `PROGRAM
right`, it does the same work without the defect, and nothing may be reported. Prints TAP. The build folder is $FIBER_BUILD. NAME:
test only these programs.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FIBER_BUILD", ROOT / "build"))
LIMIT = 120  # s per command
JOBS = 2

COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}
LIBRARY = {"thread": "libfiber-tsan", "address": "libfiber-asan", "valgrind": "libfiber"}

# Program, tool, and what the report of `PROGRAM wrong` must contain: a pattern, and a function of the program.
DEFECTS = [
    ("race_plain", "thread", "data race", "add"),
    ("race_lock", "thread", "data race", "change"),
    ("race_channel", "thread", "data race", "write_often|writer|reader"),
    ("race_local", "thread", "data race", "owner|stranger"),
    ("race_deep", "thread", "data race", "start"),
    ("overflow_heap", "address", "heap-buffer-overflow", "fill"),
    ("overflow_array", "address", "stack-buffer-overflow", "sum"),
    ("after_return", "address", "stack-use-after-return", "user"),
    ("after_free", "address", "heap-use-after-free", "sender"),
    ("exception", "address", "heap-use-after-free", "hotel"),
    ("leak", "address", r"Direct leak of 77 byte", "make"),
    ("overflow_heap", "valgrind", "Invalid write of size 1", "fill"),
    ("after_free", "valgrind", "Invalid read of size 4", "sender"),
    ("uninitialised", "valgrind", "Conditional jump or move depends on uninitialised", "judge"),
    ("lent", "valgrind", "Conditional jump or move depends on uninitialised", "judge"),
    ("leak", "valgrind", "77 bytes in 1 blocks are definitely lost", "make"),
    ("exception", "valgrind", "Invalid read of size 4", "hotel"),
]


class Failed(Exception):
    pass


def need(holds, why):
    if not holds:
        raise Failed(why)


def call(*command, **more):
    """Run a command. Returns standard output and error, and the exit status."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT,
                          check=False, text=True, errors="replace", **more)
    return done.stdout, done.returncode


class Place:
    """An installation of libfiber, and how programs are built against it."""

    def __init__(self, folder):
        self.folder = folder
        self.prefix = folder / "prefix"
        self.env = {**os.environ, "LC_ALL": "C", "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig"),
                    "LD_LIBRARY_PATH": str(self.prefix / "lib"),
                    "ASAN_OPTIONS": "exitcode=99:detect_stack_use_after_return=1", "LSAN_OPTIONS": "exitcode=99",
                    "TSAN_OPTIONS": "exitcode=99", "MSAN_OPTIONS": "exit_code=99"}
        for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DESTDIR"):
            self.env.pop(name, None)

    def install(self):
        text, code = call(os.environ.get("MAKE", "make"), "-s", "install", f"BUILD={BUILD}", f"PREFIX={self.prefix}", cwd=ROOT,
                          env=self.env)
        need(code == 0, text)
        for name in ("libfiber-asan", "libfiber-tsan"):
            need((self.prefix / "lib" / f"{name}.so.0").exists(), f"{name} was not installed:\n{text}")

    def flags(self, library, *options):
        text, code = call("pkg-config", "--cflags", "--libs", *options, library, env=self.env)
        need(code == 0, text)
        return text.split()

    def build(self, name, compiler, flags, library, archive=False):
        """Build a program, return its path."""
        source = next((ROOT / "fixtures/sanitizers").glob(f"{name}.c*"))
        words = self.flags(library, *(["--static"] if archive else []))
        if archive:
            words = [w.replace("-l", "-l:lib", 1) + ".a" if w.startswith("-lfiber") else w for w in words]
        output = self.folder / "-".join([name, compiler, library, *flags[:1], "archive" if archive else "shared"])
        text, code = call(COMPILERS[compiler][source.suffix == ".cpp"], "-O1", "-g", "-w",
                          *flags, "-o", output, source, *words, env=self.env)
        need(code == 0 and not text, text or f"exit status {code}")
        return output

    def run(self, tool, program, how):
        """Run a program with a tool. Returns the output of both, and the exit status."""
        before = {"thread": ["setarch", "-R"],
                  "valgrind": ["valgrind", "-q", "--error-exitcode=99", "--leak-check=full",
                               f"--suppressions={self.prefix}/share/libfiber/libfiber.supp"]}
        return call(*before.get(tool, []), program, how, env=self.env)


def judge(place, program, tool, kind, function):
    """Check that the defect is reported in its function, and that the correct variant gives no report."""
    text, code = place.run(tool, program, "wrong")
    need(code == 99, f"wrong: exit status {code}, not 99:\n{text}")
    need(re.search(kind, text), f"wrong: no report of '{kind}':\n{text}")
    need(re.search(rf"(\bin|\bby 0x\w+:|\bat 0x\w+:|#\d+) (0x\w+ in )?({function})\b", text), f"wrong: '{function}' is not in the report:\n{text}")
    need("libfiber:" not in text, f"wrong: libfiber has something to say:\n{text}")
    text, code = place.run(tool, program, "right")
    need(code == 0, f"right: exit status {code}:\n{text}")
    # Valgrind reports each system call that it does not know once.
    lines = [line for line in text.splitlines() if not re.fullmatch(r"\d+|three|done|--\d+--.*", line)]
    need(not lines and "done" in text, f"right: more than the program prints:\n{text}")


def defect(name, tool, kind, function, compiler, archive=False):
    # Debian's valgrind cannot read clang's DWARF 5.
    flags = ["-gdwarf-4"] if tool == "valgrind" else [f"-fsanitize={tool}"]
    title = f"{name}, {compiler}, {tool}{', linked with the archive' if archive else ''}: reported, and its twin is silent"
    return title, lambda place: judge(place, place.build(name, compiler, flags, LIBRARY[tool], archive), tool, kind, function)


def unknown(compiler, sanitizer, flag, advice):
    """libfiber reports once, at its start, that it does not support the sanitizer. The program continues."""
    def test(place):
        program = place.build("overflow_array", compiler, [f"-fsanitize={flag}"], "libfiber")
        text, _ = place.run(flag, program, "right")
        lines = [line for line in text.splitlines() if line.startswith("libfiber: ")]
        need(len(lines) == 1 and sanitizer in lines[0] and advice in lines[0], text)
    return f"libfiber says once that it does not know {sanitizer}, {compiler}", test


def same_symbols(place):
    found = {}
    for name in ("libfiber", "libfiber-asan", "libfiber-tsan"):
        text, code = call("nm", "-D", "--defined-only", place.prefix / "lib" / f"{name}.so.0")
        need(code == 0, text)
        found[name] = sorted(line.split()[-1] for line in text.splitlines())
    need(found["libfiber"] and found["libfiber"] == found["libfiber-asan"] == found["libfiber-tsan"], str(found))


def no_runtime_inside(place):
    """The program has the runtime of its own compiler; a second runtime would end it."""
    for name in ("libfiber-asan", "libfiber-tsan"):
        text, code = call("readelf", "-d", place.prefix / "lib" / f"{name}.so.0")
        need(code == 0 and f"[{name}.so.0]" in text and not re.search("NEEDED.*(san|libfiber)", text), text)


def both_needed(place):
    """The program also loads libfiber.so. All calls must go to the variant, which comes first on the command line."""
    program = place.build("race_plain", "gcc", ["-fsanitize=thread", "-Wl,--no-as-needed"], "libfiber-tsan")
    text, code = call("ldd", program, env=place.env)
    need(code == 0 and "libfiber-tsan.so.0" in text and "libfiber.so.0" not in text, text)
    words = [*place.flags("libfiber-tsan"), *place.flags("libfiber")]
    program = place.folder / "both"
    text, code = call("gcc", "-O1", "-g", "-fsanitize=thread", "-Wl,--no-as-needed", "-o", program,
                      ROOT / "fixtures/sanitizers/race_plain.c", *words, env=place.env)
    need(code == 0, text)
    text, _ = call("ldd", program, env=place.env)
    need("libfiber.so.0" in text, text)
    judge(place, program, "thread", "data race", "add")


def observed(place):
    """Valgrind reports no errors for requests of fiberctl, which include copies of stacks."""
    socket = place.folder / "observed.sock"
    env = {**place.env, "FIBER_CONTROL": "rw", "FIBER_CONTROL_PATH": str(socket)}
    with open(place.folder / "observed", "w+", encoding="utf-8") as output:
        with subprocess.Popen(["valgrind", "-q", str(BUILD / "bin/crowd"), "20"], stdout=output, stderr=output, env=env) as program:
            try:
                until = time.monotonic() + LIMIT
                while "ready" not in (place.folder / "observed").read_text(encoding="utf-8", errors="replace"):
                    need(time.monotonic() < until and program.poll() is None, "the program is not ready")
                    time.sleep(0.05)
                for command in ("list", "stacks", "waits"):
                    text, code = call(BUILD / "bin/fiberctl", command, socket, env=place.env)
                    need(code == 0 and "20 of 20 fibers" in text, f"{command}: exit status {code}:\n{text}")
            finally:
                program.kill()
        output.seek(0)
        errors = [line for line in output if line.startswith("==") and "Warning: set address range perms" not in line]
        need(not errors, "".join(errors))


def undefined_too(place):
    program = place.build("overflow_array", "gcc", ["-fsanitize=address,undefined"], "libfiber-asan")
    judge(place, program, "address", "stack-buffer-overflow|index 10 out of bounds", "sum")


def tests():
    yield "libfiber-asan and libfiber-tsan export what libfiber exports", same_symbols
    yield "they need no sanitizer's runtime and no other libfiber", no_runtime_inside
    for compiler in COMPILERS:
        for name, tool, kind, function in DEFECTS:
            # Valgrind gives the same reports for clang's programs as for gcc's, so one of clang's is enough.
            if tool != "valgrind" or compiler == "gcc" or name == "uninitialised":
                yield defect(name, tool, kind, function, compiler)
        yield defect(*DEFECTS[0], compiler, archive=True)
        yield defect(*DEFECTS[6], compiler, archive=True)
        yield unknown(compiler, "ThreadSanitizer", "thread", "pkg-config libfiber-tsan")
        yield unknown(compiler, "AddressSanitizer", "address", "pkg-config libfiber-asan")
    yield unknown("clang", "MemorySanitizer", "memory", "no libfiber knows")
    yield "a program that another library brings libfiber.so into uses libfiber-tsan", both_needed
    yield "valgrind has nothing to say of what fiberctl asks for", observed
    yield "libfiber-asan serves -fsanitize=address,undefined", undefined_too


def main(only):
    if os.environ.get("FIBER_SAN"):
        print("1..0 # SKIP what is installed has its own sanitizers")
        return 0
    for tool in ("gcc", "g++", "clang", "clang++", "valgrind", "setarch", "pkg-config"):
        need(shutil.which(tool), f"test-sanitizers.py: {tool} is missing: run 'make deps'")
    failed = False
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        place = Place(folder)
        place.install()
        chosen = [(title, test) for title, test in tests() if not only or title.split(",")[0] in only]
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            running = [(title, pool.submit(test, place)) for title, test in chosen]
            for number, (title, result) in enumerate(running, 1):
                try:
                    result.result()
                    print(f"ok {number} - {title}", flush=True)
                except (Failed, subprocess.TimeoutExpired) as why:
                    failed = True
                    print(f"not ok {number} - {title}", flush=True)
                    print("\n".join("# " + line for line in str(why).splitlines()), file=sys.stderr, flush=True)
        print(f"1..{len(chosen)}")
    finally:
        shutil.rmtree(folder)
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failed as error:
        sys.exit(str(error))
