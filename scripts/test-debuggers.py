#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-debuggers.py - check that debuggers show fibers as fibertrace does

Uses the fixtures crowd and spin in $FIBER_BUILD. Prints TAP. The frames are compared with those of fibertrace, which other
tests compare with gdb's own walks:

  to-core     gdb, lldb and eu-stack show every fiber as a thread with the same frames: from a live process, from gdb's gcore,
              from the kernel's core of a crash; for a program that is static, or stripped with and without a debug file
  gdb         libfiber-gdb.py shows the same, live and in cores, and writes no register of the program
  hidden      libfiber-gdb.py hides the frames that fibertrace hides
  wrong       an unknown fiber, a program without fibers and a damaged registry give a message"""
import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FIBER_BUILD", ROOT / "build"))
SCRIPT = BUILD / "gdb/libfiber-gdb.py"
TRACE = BUILD / "bin/fibertrace"
FIBERS, FIRST, SECONDS = 66, 1000000000, 60
STATES = ("created", "runnable", "suspended")

# Print the frames of the selected thread or fiber, without gdb's guesses of functions that ended in a jump: these have no frame.
WALK = """
import gdb
def frames(frame):
    while frame is not None:
        if frame.type() != gdb.TAILCALL_FRAME:
            yield "%s:%x:%d" % (frame.name() or "?", frame.pc(), frame.type() == gdb.INLINE_FRAME)
        frame = frame.older()
def threads():
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
        thread.switch()
        print("walk\\t%d\\t%s" % (thread.ptid[1], "\\t".join(frames(gdb.newest_frame()))))
def fiber():
    name = gdb.execute("fiber", to_string=True).split()[1]
    print("walk\\t%s\\t%s" % (name, "\\t".join(frames(next(iter(selection.frames()))))))
def calls():
    import glob
    # What the kernel says of each thread: where it is in the system, its stack pointer, where it goes on.
    return [open(f).read() for f in sorted(glob.glob("/proc/%d/task/*/syscall" % gdb.selected_inferior().pid))]
"""


class Failed(Exception):
    """A check failed; the text has what was found."""


def need(true, text):
    if not true:
        raise Failed(text)


def run(*command, code=None, **how):
    p = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                       timeout=SECONDS, check=False, **how)
    need(code is None or p.returncode == code, "%s: exit status %d\n%s%s" % (command[0], p.returncode, p.stdout, p.stderr))
    return p


def gdb(folder, *arguments, commands=()):
    """Run gdb. Returns its output, and the walks in it by number."""
    walk = folder / "walk.py"
    walk.write_text(WALK, encoding="utf-8")
    line = ["gdb", "-nx", "-batch", "-iex", "set auto-load no", "-iex", "set debuginfod enabled off", *arguments, "-x", walk]
    for command in commands:
        line += ["-ex", command]
    p = run(*line)
    walks = {}
    for found in re.findall(r"^walk\t(\d+)\t(.*)$", p.stdout, re.M):
        walks[int(found[0])] = [frame.split(":") for frame in found[1].split("\t") if frame]
    return p.stdout + p.stderr, walks


@contextlib.contextmanager
def started(program, *arguments):
    """Start a fixture and wait until it is ready."""
    p = subprocess.Popen([str(program), *arguments], stdout=subprocess.PIPE, text=True)
    try:
        for line in p.stdout:
            if line.startswith("ready"):
                break
        else:
            raise Failed("%s: ended before it was ready" % program)
        yield p
    finally:
        p.kill()
        p.wait()
        p.stdout.close()


def traced(*source):
    """fibertrace's fibers by id, without values that change with time."""
    said = re.sub(r'"leftNs":\d+', '"leftNs":0', run(TRACE, "--json", "--each", *source).stdout)
    return {f["id"]: f for f in json.loads(said)["fibers"]}


def expected(fiber, inlined=True, names=True):
    frames = [f for f in fiber["frames"] if inlined or not f["inlined"]]
    return [f["function"] or "?" if names else int(f["pc"], 16) for f in frames]


def compare(fibers, walks, first=0, names=True, skew=0):
    """Check that every fiber that does not run has the same walk. skew: added to the innermost pc."""
    still = {i: f for i, f in fibers.items() if f["state"] in STATES}
    need(len(still) > FIBERS // 2, "only %d fibers hold still" % len(still))
    for number, fiber in still.items():
        need(first + number in walks, "fiber %d: not seen" % number)
        walk = walks[first + number]
        found = [f[0] for f in walk] if names else [int(f[1], 16) for f in walk if f[2] == "0"]
        wanted = expected(fiber, names, names)
        if not names:
            wanted[0] += skew
        need(found == wanted, "fiber %d %s:\n  %s\n  %s" % (number, fiber["name"], found, wanted))
    return still


def to_core(folder, *source):
    out = folder / "fibers.core"
    return out, json.loads(run(TRACE, "to-core", "--force", "--json", "-o", out, *source, code=0).stdout)


# -- sources --

def stripped(folder, program, debug):
    """A stripped copy; with debug, its debug file is in the same folder, named in .gnu_debuglink."""
    copy, apart = folder / ("stripped-%s" % program.name), folder / "apart.debug"
    run("strip", "-o", copy, program, code=0)
    if debug:
        run("objcopy", "--only-keep-debug", program, apart, code=0)
        run("objcopy", "--add-gnu-debuglink=%s" % apart, copy, code=0)
    return copy


def gcore(folder, process):
    run("gcore", "-o", folder / "g", process.pid, code=0)
    return folder / ("g.%d" % process.pid)


def crashed(folder, program):
    """The kernel's core of a crash; None if the kernel does not write cores into the folder."""
    if "|" in pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii"):
        return None
    there = folder / "crash"
    there.mkdir()
    before, old = os.getcwd(), resource.getrlimit(resource.RLIMIT_CORE)
    os.chdir(there)
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (old[1], old[1]))
        with started(program, str(FIBERS)) as p:
            p.send_signal(signal.SIGSEGV)
            p.wait(SECONDS)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, old)
        os.chdir(before)
    return next(iter(there.iterdir()), None)


# -- tests --

def check_to_core(folder, program, fibers, source, names=True):
    core, answer = to_core(folder, *source)
    text, walks = gdb(folder, program, core, commands=["python threads()"])
    still = compare(fibers, walks, FIRST, names)
    need(answer["core"]["fiberThreads"] == len(still), "%s of %d" % (answer["core"], len(still)))
    need(len(walks) == len(still) + answer["core"]["plainThreads"], "threads: %d\n%s" % (len(walks), text))
    return core, still, walks


def live(folder):
    program = BUILD / "bin/crowd"
    with started(program, str(FIBERS)) as p:
        fibers = traced(p.pid)
        check_to_core(folder, program, fibers, [p.pid])
        core, still, _ = check_to_core(folder, program, fibers, ["--stacks-only", p.pid])
        again = traced("--core", core)
    need(again.keys() == fibers.keys(), "fibertrace finds others in it: %s" % (again.keys() ^ fibers.keys()))
    for number, fiber in fibers.items():
        need(again[number]["frames"] == fiber["frames"] and again[number]["wait"] == fiber["wait"], "fiber %d differs" % number)


def of_gcore(folder):
    program = BUILD / "bin/crowd"
    with started(program, str(FIBERS)) as p:
        core = gcore(folder, p)
        check_to_core(folder, program, traced(p.pid), ["--core", core])
        out, _ = to_core(folder, "--stacks-only", "--core", core)
        compare(traced(p.pid), gdb(folder, program, out, commands=["python threads()"])[1], FIRST)


def of_crash(folder):
    program = BUILD / "bin/crowd"
    core = crashed(folder, program)
    if not core:
        return "core_pattern leads to a program"
    out, _, _ = check_to_core(folder, program, traced("--core", core), ["--core", core])
    text, _ = gdb(folder, program, out, commands=["info threads", "bt"])
    need("SIGSEGV" in text and re.search(r"^\* 1 .*LWP (\d{1,7})\)", text, re.M), "the thread that failed is not first:\n" + text)
    return None


def of_static(folder):
    with started(program := BUILD / "bare/bin/crowd", str(FIBERS)) as p:
        check_to_core(folder, program, traced(p.pid), [p.pid])
        check_script(folder, traced(p.pid), ["-p", p.pid])


def of_stripped(folder, debug):
    program = stripped(folder, BUILD / "bin/crowd", debug)
    with started(program, str(FIBERS)) as p:
        fibers = traced(p.pid)
        check_to_core(folder, program, fibers, [p.pid], debug)
        check_script(folder, fibers, ["-p", p.pid], debug)
        core = gcore(folder, p)
        check_script(folder, fibers, [program, core], debug)


def user_frames(folder):
    """Check thread apply all bt, and local variables of a function of the program."""
    program = BUILD / "bin/crowd"
    with started(program, str(FIBERS)) as p:
        fibers = traced(p.pid)
        core, _ = to_core(folder, p.pid)
    one = next(f for f in fibers.values() if f["name"].startswith("select-"))
    text, walks = gdb(folder, program, core, commands=["python threads()", "info threads", "thread apply all bt"])
    need(len(re.findall(r"^Thread \d+ \(", text, re.M)) == len(walks), text)
    need(text.count("member_main (") >= 60 and text.count("fib_arch_entry (") >= 60, text)
    number = re.search(r"^\*? +(\d+) +LWP %d " % (FIRST + one["id"]), text, re.M)
    need(number, "fiber %d is not listed:\n%s" % (one["id"], text))
    text, _ = gdb(folder, program, core, commands=["thread " + number.group(1), "frame function wait_for_select", "info locals",
                                                   "print m->name"])
    need("one = {op = FIBER_SELECT_RECV" in text and '"%s"' % one["name"] in text, text)
    p = run("eu-stack", "--core", core, "-e", program)
    found = {int(n): re.findall(r"^#\d+ +0x\w+ +(\S+)", frames, re.M) for n, frames in re.findall(r"^TID (\d+):\n((?:#.*\n)*)", p.stdout, re.M)}
    for number, fiber in fibers.items():
        if fiber["state"] == "suspended":
            functions = [f.replace("fib_arch_resume", "fib_arch_switch") for f in found[FIRST + number]]
            need(functions == expected(fiber, inlined=False), "eu-stack: fiber %d: %s" % (number, functions))


def lldb(folder):
    program = BUILD / "bin/crowd"
    with started(program, str(FIBERS)) as p:
        fibers = traced(p.pid)
        core, _ = to_core(folder, p.pid)
    p = run("lldb", "--no-lldbinit", "-b", "-c", core, program, "-o", "settings set frame-format at ${line.file.basename}:${line.number}\\n",
            "-o", "settings set thread-stop-format thread ${thread.id%tid} ${thread.name}\\n",
            "-o", "settings set thread-format thread ${thread.id%tid} ${thread.name}\\n", "-o", "bt all", env={**os.environ, "TERM": "dumb"})
    found = re.findall(r"^\*? *thread (\d+) (.*)\n((?:(?!\*? *thread ).*\n)*)", p.stdout, re.M)
    threads = {int(n): (name, re.findall(r"^[ *]+at (\S+)$", frames, re.M)) for n, name, frames in found}
    for number, fiber in fibers.items():
        if fiber["state"] != "suspended":
            continue
        name, frames = threads.get(FIRST + number, (None, []))
        need(name == fiber["name"][:15], "lldb: fiber %d is called %s\n%s%s" % (number, name, p.stdout[:3000], p.stderr))
        # For an inlined function lldb has the name of the enclosing function, but the right place. So places are compared.
        wanted = ["%s:%d" % (os.path.basename(f["file"]), f["line"]) for f in fiber["frames"]]
        need(frames == wanted, "lldb: fiber %d:\n  %s\n  %s" % (number, frames, wanted))


def check_script(folder, fibers, source, names=True):
    text, walks = gdb(folder, *source, commands=["source %s" % SCRIPT, "fiber apply all python fiber()", "info fibers"])
    still = compare(fibers, walks, 0, names, skew=1)
    need(set(walks) == set(still), "frames of %s" % (set(walks) ^ set(still)))
    need("shown %d of %d fibers" % (len(fibers), len(fibers)) in text, text)
    for number, fiber in fibers.items():
        need(re.search(r'^  fiber %d "%s" \[%s' % (number, fiber["name"], fiber["state"]), text, re.M), "fiber %d\n%s" % (number, text))
    # Ages of a list are compared, so all are in seconds.
    listed = re.findall(r"^[ *] fiber \d+ .*, (\S+)\]$", text, re.M)
    need(len(listed) == len(fibers), "%d ages in\n%s" % (len(listed), text))
    need(all(re.fullmatch(r"0s|0\.\d{3}s|[1-9]\d{0,3}\.\ds|\d{5,}s", age) for age in listed), "ages in one unit: %s" % sorted(set(listed)))
    return text


def script_live(folder):
    """Check frames and commands; no register may be written, and the program must continue."""
    with started(BUILD / "bin/crowd", str(FIBERS)) as p:
        fibers = traced(p.pid)
        check_script(folder, fibers, ["-p", p.pid])
        one = next(f for f in fibers.values() if f["name"].startswith("select-"))
        text, _ = gdb(folder, "-p", p.pid, commands=[
            "source %s" % SCRIPT, "set print frame-arguments none", "python before = (calls(), [gdb.execute('info registers', to_string=True)])",
            "fiber %d" % one["id"], "fiber", "bt", "frame function wait_for_select", "info locals", "print m->name", "up",
            "fiber apply all bt", "info locals", "fiber find fiber_rwlock_wrlock", "fiber find ^fiber 5 ",
            "python print('while', calls() == before[0])", "thread 1", "fiber off", "bt",
            "python print('after', (calls(), [gdb.execute('info registers', to_string=True)]) == before)"])
        need("while True" in text and "after True" in text, "registers have changed:\n" + text)
        need("one = {op = FIBER_SELECT_RECV" in text and '"%s"' % one["name"] in text, text)
        need(text.count("member_main (") >= 60, text)
        backtrace = text[text.index('fiber %d "' % one["id"]):].split("one = {")[0]
        frames = re.findall(r"^#(\d+) +(?:0x\w+ in )?(\w+)", backtrace, re.M)
        need("fiber_select" in [f for _, f in frames] and not any(n in ("0", "1") for n, _ in frames), "frame 0 is not left out:\n" + backtrace)
        need("fib_arch_entry" not in [f for _, f in frames], "the entry is not left out:\n" + backtrace)
        waiting = [f["id"] for f in fibers.values() if f["wait"] and f["wait"]["kind"] == "rwlock-write"]
        found = re.findall(r"^fiber (\d+) .* in fiber_rwlock_wrlock$", text, re.M)
        need(waiting and [int(n) for n in found] == sorted(waiting) and "found %d of %d fibers" % (len(found), FIBERS) in text, text)

        need(traced(p.pid).keys() == fibers.keys(), "other fibers afterwards")
        p.send_signal(signal.SIGTERM)
        need(p.wait(SECONDS) in (0, -signal.SIGTERM), "it does not end well: %s" % p.returncode)


def sections(text):
    """The functions in gdb's backtraces, by the fiber whose line comes before."""
    found, frames = {}, None
    for line in text.splitlines():
        fiber = re.match(r"fiber (\d+) ", line)
        frame = re.match(r"#\d+ +(?:0x\w+ in )?(\w+)", line)
        if fiber:
            frames = found.setdefault(int(fiber.group(1)), [])
        elif frame and frames is not None:
            frames.append(frame.group(1))
    return found


def hidden(folder):
    """Backtraces are those of fibertrace: without internal frames, and with all of them where that is asked for."""
    for program, arguments in (("crowd", [str(FIBERS)]), ("nameless", [])):
        with started(BUILD / "bin" / program, *arguments) as p:
            fibers = {i: f for i, f in traced(p.pid).items() if f["state"] in STATES}
            load = ["source %s" % SCRIPT, "set print frame-arguments none"]
            text, _ = gdb(folder, "-p", p.pid, commands=load + ["fiber apply all bt"])
            whole, _ = gdb(folder, "-p", p.pid, commands=load + ["fiber apply all fiber bt --all-frames"])
            some, every = sections(text), sections(whole)
            for number, fiber in fibers.items():
                frames = [f["function"] for f in fiber["frames"] if not f["internal"]]
                need(frames and some[number] == frames, "fiber %d: %s\n%s" % (number, some[number], frames))
                # gdb also guesses functions that ended in a jump.
                rest = iter(every[number])
                need(all(f in rest for f in expected(fiber)), "fiber %d: %s\n%s" % (number, every[number], expected(fiber)))
            if program == "nameless":
                text, _ = gdb(folder, "-p", p.pid, commands=load + ["info fibers", "fiber bt 1", "fiber bt --all-frames 1"])
                need('fiber 1 "greet()" [' in text and 'fiber 3 "last()" [' in text and text.count("fiber_sleep (") == 2 and
                     text.count("fib_arch_entry (") == 1, text)


def script_core(folder):
    program = BUILD / "bin/crowd"
    with started(program, str(FIBERS)) as p:
        fibers = traced(p.pid)
        core = gcore(folder, p)
        check_script(folder, fibers, [program, core])
        out, _ = to_core(folder, p.pid)
        check_script(folder, fibers, [program, out])
        # Without the program's files there are no sections in which to find the note.
        text, _ = gdb(folder, "-iex", "set sysroot /nonexistent", "-c", core, commands=["source %s" % SCRIPT, "info fibers mutex-1"])
        need("shown 1 of %d fibers" % FIBERS in text, text)


def running(folder):
    """A running fiber is shown as its thread, also by to-core. Afterwards the program must still run."""
    program = BUILD / "bin/spin"
    with started(program, "--carriers", "2") as p:
        text, _ = gdb(folder, "-p", p.pid, commands=["source %s" % SCRIPT, "info fibers running"])
        found = re.search(r"fiber (\d+) .*\[running", text)
        need(found, text)
        text, _ = gdb(folder, "-p", p.pid, commands=["source %s" % SCRIPT, "fiber " + found.group(1), "bt"])
        if "running" in text:
            need("fib_arch_entry" in text and re.search(r"^#0 ", text, re.M), text)
        core, answer = to_core(folder, p.pid)
        text, _ = gdb(folder, program, core, commands=["info threads"])
        first = re.search(r"^\* 1 +.*LWP (\d+)\)", text, re.M)
        need(first and int(first.group(1)) in [f["thread"] for f in answer["core"]["running"]], "%s\n%s" % (answer, text))
        before, limit = traced(p.pid), time.monotonic() + SECONDS
        while all(f["cpuNs"] <= before[i]["cpuNs"] for i, f in traced(p.pid).items() if i in before):
            need(time.monotonic() < limit, "it does not run on")


def wrong(folder):
    with started(BUILD / "bin/crowd", str(FIBERS)) as p:
        text, _ = gdb(folder, "-p", p.pid, commands=[
            "source %s" % SCRIPT, "source %s" % SCRIPT, "fiber 999999", "fiber x", "fiber apply", "fiber apply 999999 bt", "info fibers (",
            "fiber find", "fiber find (", "fiber", "fiber apply 5 nonsense", "fiber bt 5 6"])
    for said in ("fiber 999999: no such fiber", "x: give the number", "usage: fiber apply", "no regular expression", "usage: fiber find", "usage: fiber bt",
                 "No fiber is selected", "Undefined command"):
        need(said in text, "not said: %s\n%s" % (said, text))
    need("Traceback" not in text and "Python Exception" not in text, text)
    text, _ = gdb(folder, shutil.which("sleep"), commands=["source %s" % SCRIPT, "info fibers", "fiber 1", "fiber find a"])
    need("not a fiber program, or it does not run yet" in text and "Traceback" not in text, text)
    for name, contents in (("damaged", '"FIBERREG", 1'), ("unused", "0"), ("hostile", '"FIBERREG", [8] = 1, [12] = 0xff, [13] = 0xff, '
                                                           "[32] = 1, [40] = 0xff, [47] = 0xff, [48] = 0xff, [55] = 0xff"),
                           ("empty", '"FIBERREG", [8] = 1, [13] = 0xff, [32] = 64, [36] = 3, [40] = 1, [48] = 1')):
        (source := folder / "own.c").write_text("#include <unistd.h>\nchar fiber_registry[4096] __attribute__((aligned(8))) = {%s};\n"
                          "int main(void) { write(1, \"ready\\n\", 6); pause(); return 0; }\n" %
                          contents.replace('"FIBERREG"', ", ".join("'%s'" % c for c in "FIBERREG")), encoding="ascii")
        run("cc", "-o", folder / name, source, code=0)
        with started(folder / name) as p:
            text, _ = gdb(folder, "-p", p.pid, commands=["source %s" % SCRIPT, "info fibers", "fiber 1", "fiber apply all bt"])
        said = {"unused": "no fiber runtime has been started", "hostile": "impossible", "empty": "lacks a field"}.get(name, name)
        need(said in text and "Traceback" not in text and "Python Exception" not in text, "%s:\n%s" % (name, text))


TESTS = [
    ("a live process becomes a core with a thread for each fiber, and fibertrace finds the same in it", live),
    ("so does a core of gdb's", of_gcore),
    ("so does the kernel's of a crash, with the thread that failed first", of_crash),
    ("gdb, eu-stack: backtraces of all, and what a frame knows", user_frames),
    ("lldb: names and backtraces of all", lldb),
    ("a static program without a table of its frames", of_static),
    ("a stripped program whose debug file is elsewhere", lambda folder: of_stripped(folder, True)),
    ("a stripped program without one", lambda folder: of_stripped(folder, False)),
    ("in gdb: the frames of all fibers of a live process, and no register written", script_live),
    ("in gdb: the frames of all fibers of cores", script_core),
    ("fibers that run", running),
    ("gdb hides the frames that fibertrace hides", hidden),
    ("what is wrong is said", wrong),
]


def main(tests):
    if os.environ.get("FIBER_SAN"):
        print("1..0 # SKIP a sanitizer's shadow makes a core of terabytes")
        return 0
    chosen, failed = sys.argv[1:], False
    for i, (name, test) in enumerate(tests, 1):
        if chosen and str(i) not in chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                skipped = test(pathlib.Path(folder))
                print("ok %d - %s%s" % (i, name, " # SKIP " + skipped if skipped else ""), flush=True)
            except (Failed, OSError, subprocess.SubprocessError, KeyError) as why:
                failed = True
                print("not ok %d - %s" % (i, name), flush=True)
                print("# " + ("%s: %s" % (type(why).__name__, why)).replace("\n", "\n# "), file=sys.stderr)
    print("1..%d" % len(tests))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(TESTS))
