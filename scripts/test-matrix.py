#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-matrix.py [ROW...] - build a program in many ways and compare every walk with the calls that the program reports

The program is fixtures/maze. Each row of matrix_rows.py builds it in another way. Its fibers are walked from outside
(fibertrace), through the control socket (fiberctl bt) and, if the row says so, in a core. From the function in which the
fiber waits to the function it was spawned with, a walk must be exactly the functions that the maze reports, and all other frames
but the call by which it waits must be marked as internal. Where the maze says that a walk cannot continue, the walk must end
there, be marked truncated, and report the place.

At the end wrong walks are planted in each answer, and must be found. A frame without a name is compared by module and offset,
with the symbols that nm printed before the program was stripped.

Prints TAP, one test per row. The build folder is $FIBER_BUILD.
"""
import bisect
import concurrent.futures
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from matrix_rows import DEBUG, ROWS  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FIBER_BUILD", ROOT / "build")).resolve()
MAZE = ROOT / "fixtures/maze"
SECONDS = 60

class Wrong(Exception):
    pass


def run(*words, **more):
    """Run a program that must succeed. Returns its output."""
    words = [str(w) for w in words]
    p = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False, **more)
    if p.returncode:
        raise Wrong("%s: exit status %d: %s" % (" ".join(words), p.returncode, p.stderr.strip()))
    return p.stdout


class Objects:
    """Compiles each pair of source and flags once."""

    def __init__(self, folder):
        self.folder, self.lock, self.made = folder, threading.Lock(), {}

    def get(self, cc, flags, source):
        key = (cc, tuple(flags), source)
        with self.lock:
            first = key not in self.made
            if first:
                self.made[key] = concurrent.futures.Future()
                out = self.folder / ("%d-%s.o" % (len(self.made), source))
        if first:
            try:
                self.compile(cc, flags, source, out)
                self.made[key].set_result(out)
            except Exception as e:  # pylint: disable=broad-except # raised again by result()
                self.made[key].set_exception(e)
        return self.made[key].result()

    @staticmethod
    def compile(cc, flags, source, out):
        kind = {".c": ["-std=gnu11"], ".cc": ["-x", "c++", "-fno-exceptions", "-fno-rtti"]}
        run(cc, *kind.get(pathlib.Path(source).suffix, []), "-D_GNU_SOURCE", "-I", ROOT / "libfiber/include", *flags, "-c",
            "-o", out, MAZE / source)


def lib_libs():
    p = subprocess.run(["pkg-config", "--libs", "liburing"], capture_output=True, text=True, check=False)
    return p.stdout.split()


def link(row, objects, folder):
    """Build the program of a row and its plugin. Returns their paths."""
    program, plugin = folder / "maze", folder / "plugin.so"
    flags = row.flags + ([] if row.is_static() else ["-DMAZE_PLUGIN"])
    parts = [objects.get(row.cc, flags, "maze.c"), objects.get(row.cc, row.flags, "hall.cc"),
             objects.get("gcc", [], "frames.S")]
    lib = [BUILD / "lib/libfiber.a"]
    if row.lib != "archive":
        lib = [folder / "libfiber.so.0", "-Wl,-rpath," + str(folder)]
        shutil.copy(BUILD / "lib/libfiber.so.0", lib[0])
        if row.lib == "stripped":
            run("strip", lib[0])
    # With -flto the linker compiles, so it needs the flags.
    run(row.cc, *(row.flags if "-flto" in row.flags else []), *row.link, "-pthread", "-o", program, *parts, *lib, *lib_libs())
    if not row.is_static():
        run(row.cc, "-shared", "-fPIC", *row.flags, "-o", plugin, MAZE / "plugin.c")
    return program, plugin


def finish(row, program, plugin):
    """Strip the program and put its debug information where the row wants it. Returns options for the tools."""
    options = []
    for file in [program] + ([plugin] if plugin.exists() else []):
        debug = file.parent / (file.name + ".debug")
        if "strip" not in row.files:
            continue
        run("objcopy", "--only-keep-debug", file, debug)
        run("strip", file)
        if "folder" in row.files:
            (file.parent / ".debug").mkdir(exist_ok=True)
            debug = debug.rename(file.parent / ".debug" / debug.name)
        if "link" in row.files or "folder" in row.files:
            run("objcopy", "--add-gnu-debuglink=%s" % debug, file)
        elif "build-id" in row.files:
            notes = run("readelf", "-n", file)
            number = notes.split("Build ID: ")[1].split()[0]
            place = file.parent / "debug/.build-id" / number[:2]
            place.mkdir(parents=True, exist_ok=True)
            debug.rename(place / (number[2:] + ".debug"))
            options = ["--debug-dir", str(file.parent / "debug")]
        else:
            debug.unlink()
    return options


class Names:
    """The symbols of a module, by nm."""

    def __init__(self, file):
        self.at = []
        for line in run("nm", "-C", "-S", "--defined-only", file).splitlines():
            address, size, kind, *name = line.split(" ", 3)
            if name and kind in "tTwWiuV":
                self.at.append((int(address, 16), int(size, 16), name[0]))
        self.at.sort()

    def find(self, address):
        i = bisect.bisect(self.at, (address, 1 << 62, "")) - 1
        if i < 0 or address >= self.at[i][0] + self.at[i][1]:
            return "?"
        return self.at[i][2]


def walked(fiber, names, row):
    """The functions of a walk, innermost first; "+" marks inlined ones."""
    found = []
    for i, frame in enumerate(fiber["frames"]):
        name, module = frame["function"], os.path.basename(frame["module"] or "")
        if row.names and module == "maze" and not name:
            raise Wrong("%s: no name for %s+%#x" % (fiber["name"], module, frame["offset"]))
        if frame["inlined"] and row.names != DEBUG and name.startswith("maze"):
            raise Wrong("%s: an inlined %s without debug information" % (fiber["name"], name))
        if not name and module in names:
            name = names[module].find(frame["offset"] - (i > 0))
        found.append(("+" if frame["inlined"] else "") + (name or "?"))
    return found


def same(expected, frame):
    # For an inlined function that is local to its file, gcc may leave out the parameters.
    return frame == expected or (expected[0] == "+" and frame.startswith(expected + "("))


def follow(expected, frames):
    """The number of leading frames that match the expected functions, or -1. "*" matches one or more frames."""
    if not expected:
        return 0
    if not frames:
        return -1
    if expected[0] != "*":
        rest = follow(expected[1:], frames[1:]) if same(expected[0], frames[0]) else -1
        return rest + 1 if rest >= 0 else -1
    for n in range(1, len(frames)):
        rest = follow(expected[1:], frames[n:])
        if rest >= 0:
            return rest + n
    return -1


def compare(fiber, how, called, names, row):
    frames = walked(fiber, names, row)
    if row.names != DEBUG:
        called = [c for c in called if not c.startswith("+")]
    if not row.rules:
        how, called = "bare", called[:1]
    if fiber["truncated"] and row.dim and row.dim in called:
        how, called = "dim", called[:called.index(row.dim) + 1]
    text = "%s\n  walked: %s\n  called: %s" % (fiber["name"], " < ".join(frames), " < ".join(called))
    if called[0] not in frames:
        raise Wrong(text)
    begin = frames.index(called[0])
    n = follow(called, frames[begin:])
    outer = frames[begin + n:]
    if n < 0 or begin == 0 or any(f.startswith("maze") for f in frames[:begin] + outer):
        raise Wrong(text)
    if how != "whole" and (outer or not fiber["truncated"]):
        raise Wrong("whole, and nobody can know: " + text)
    if how == "whole" and fiber["truncated"]:
        raise Wrong("truncated: " + text)
    # Two functions of the library follow: the caller of a fiber's function, and the entry of every fiber.
    if how == "whole" and not (1 <= len(outer) <= 2 and (row.names == "" or outer[-1] == "fib_arch_entry")):
        raise Wrong("does not end at the entry, but in %s: %s" % (outer, text))
    # Of the library's frames only the call by which the maze waits is not internal.
    internal = [True] * (begin - 1) + [False] * (1 + n) + [True] * len(outer)
    if [f["internal"] for f in fiber["frames"]] != internal:
        raise Wrong("internal: %s: %s" % ([f["internal"] for f in fiber["frames"]], text))


def reasons(answer, row):
    """Check that the answer names each place where a walk had to end, and no other."""
    known = [("a backtrace is truncated: no unwind information for 0x", "/maze+0x"),
             ("a backtrace is truncated: no module at 0x", "made at run time")]
    if not row.rules:
        known = known[:1]
    if row.dim:
        known.append(("a backtrace is truncated: the unwind information for 0x", "leads nowhere"))
    for begin, part in known[:2]:
        if not any(p.startswith(begin) and part in p for p in answer["problems"]):
            raise Wrong("no problem is '%s...%s': %s" % (begin, part, answer["problems"]))
    for p in answer["problems"]:
        if not any(p.startswith(begin) and part in p for begin, part in known):
            raise Wrong("a problem: " + p)


def weigh(answer, plan, names, row):
    fibers = {f["name"]: f for f in answer["fibers"]}
    for name, how, *called in plan:
        if name not in fibers:
            raise Wrong("%s is missing" % name)
        compare(fibers[name], how, called, names, row)
    reasons(answer, row)


def spoilt(answer, plan):
    """Yield answers with one error each, and a description of the error."""
    def fiber(how):
        """A copy of the answer, and a fiber in it whose walk ends in this way."""
        copy = json.loads(json.dumps(answer))
        name = next(p[0] for p in plan if p[1] == how)
        return copy, next(f for f in copy["fibers"] if f["name"] == name)

    def at(frames, name):
        return next(i for i, f in enumerate(frames) if (f["function"] or "").startswith(name))

    for how in ("whole", "bare", "made"):
        copy, one = fiber(how)
        one["truncated"] = not one["truncated"]
        yield "%s: truncated is the other way round" % how, copy
        copy, one = fiber(how)
        one["frames"].pop(at(one["frames"], "maze_"))
        yield "%s: a frame is missing" % how, copy
        copy, one = fiber(how)
        one["frames"].insert(at(one["frames"], "maze_"), one["frames"][at(one["frames"], "maze_") + 1])
        yield "%s: a frame too many" % how, copy
        copy, one = fiber(how)
        one["frames"].pop()
        yield "%s: the outermost is missing" % how, copy
    copy, one = fiber("whole")
    one["frames"][at(one["frames"], "maze_fiber")]["function"] = "maze_left"
    yield "another function", copy
    for marked in (True, False):
        copy, one = fiber("whole")
        next(f for f in one["frames"] if f["internal"] is marked)["internal"] = not marked
        yield "a frame is internal or not, the other way round", copy
    copy, one = fiber("whole")
    copy["fibers"].remove(one)
    yield "a fiber is missing", copy
    for i, problem in enumerate(answer["problems"]):
        if "leads nowhere" in problem:
            continue
        copy = json.loads(json.dumps(answer))
        copy["problems"].pop(i)
        yield "a problem is not said", copy


def judge_the_judge(answer, plan, names, row):
    """Check that weigh() finds each planted error."""
    for what, copy in spoilt(answer, plan):
        try:
            weigh(copy, plan, names, row)
        except Wrong:
            continue
        raise Wrong("planted and not found: " + what)


def judge(command, plan, names, row, environment):
    p = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment)
    what = " ".join(os.path.basename(c) for c in command)
    if p.returncode != 1 or p.stderr:
        raise Wrong("%s: exit status %d: %s" % (what, p.returncode, p.stderr + p.stdout[-300:]))
    try:
        weigh(json.loads(p.stdout), plan, names, row)
    except Wrong as wrong:
        raise Wrong("%s: %s" % (what, wrong)) from None
    return json.loads(p.stdout)


def start(program, plugin, environment):
    words = [str(program)] + ([str(plugin)] if plugin.exists() else [])
    p = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    plan = []
    for line in p.stdout:
        if line == "ready\n":
            return p, plan
        plan.append(line.rstrip("\n").split("\t"))
    p.wait()
    raise Wrong("the maze ended with %d" % p.returncode)


def examine(row, objects, base):
    folder = base / row.name
    folder.mkdir()
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(base)}
    program, plugin = link(row, objects, folder)
    names = {f.name: Names(f) for f in (program, plugin) if f.exists()}
    options = finish(row, program, plugin)
    maze, plan = start(program, plugin, environment)
    try:
        if "delete" in row.files:
            program.unlink()
        elif "replace" in row.files:
            shutil.copy("/bin/true", folder / "other")
            (folder / "other").rename(program)
        trace = [str(BUILD / "bin/fibertrace")]
        answer = judge(trace + ["--each", "--json", str(maze.pid)] + options, plan, names, row, environment)
        # fiberctl has no option for debug files: it runs on the program's machine, where they are installed.
        if not options:
            judge([str(BUILD / "bin/fiberctl"), "bt", str(maze.pid), "--all", "--json"], plan, names, row, environment)
        if row.core:
            run("gcore", "-o", folder / "core", maze.pid)
        if row.names == DEBUG and row.rules:
            judge_the_judge(answer, plan, names, row)
    finally:
        maze.stdin.close()
        maze.stdout.close()
        maze.wait()
    if row.core:
        core = str(folder / ("core.%d" % maze.pid))
        judge(trace + ["--core", core, "--each", "--json"] + options, plan, names, row, environment)
        os.unlink(core)


def attempt(row, objects, base):
    """Test a row. Returns what is wrong, or None."""
    try:
        examine(row, objects, base)
    except (Wrong, subprocess.TimeoutExpired) as wrong:
        return str(wrong)
    return None


def main():
    chosen = [r for r in ROWS if r.name in sys.argv[1:] or not sys.argv[1:]]
    if platform.machine() != "x86_64":
        print("1..0 # SKIP the frames of the maze are x86-64's")
        return 0
    failed = False
    with tempfile.TemporaryDirectory(prefix="fiber-matrix.") as base:
        base = pathlib.Path(base)
        (base / "objects").mkdir()
        objects = Objects(base / "objects")
        with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            results = {r: pool.submit(attempt, r, objects, base) for r in chosen}
            for number, row in enumerate(chosen, 1):
                wrong = results[row].result()
                label = "%d - %s: %s %s" % (number, row.name, " ".join([row.cc] + row.flags + row.link), row.files)
                failed |= wrong is not None
                print(("not ok " if wrong else "ok ") + label.rstrip(), flush=True)
                for line in (wrong or "").splitlines():
                    print("# " + line, flush=True)
    print("1..%d" % len(chosen))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
