#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-mi.py - check that IDEs, which use gdb's machine interface, show fibers as fibertrace does

Uses the fixtures crowd and spin in $FIBER_BUILD. Prints TAP. The comparison is that of test-debuggers.py.
"""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
import mi  # pylint: disable=wrong-import-position

PATH = str(pathlib.Path(__file__).resolve().parent / "test-debuggers.py")
LOADER = importlib.machinery.SourceFileLoader("debuggers", PATH)
debuggers = importlib.util.module_from_spec(importlib.util.spec_from_loader("debuggers", LOADER))
LOADER.exec_module(debuggers)
need, CROWD = debuggers.need, debuggers.BUILD / "bin/crowd"

# gdb shows frames for functions that ended in a jump. On this interface they look like any other frame.
MADE_UP = """
import gdb
def made_up():
    frame, levels = gdb.newest_frame(), []
    while frame is not None:
        levels += [str(frame.level())] if frame.type() == gdb.TAILCALL_FRAME else []
        frame = frame.older()
    print("made up", *levels)
"""


def driven(folder, *arguments):
    (folder / "made_up.py").write_text(MADE_UP, encoding="utf-8")
    return mi.Gdb([*arguments, "-x", folder / "made_up.py"], debuggers.SECONDS)


def functions(gdb, thread):
    """The functions of a thread's frames by -stack-list-frames, without made-up frames."""
    gdb.ask("-thread-select %s" % thread)
    made_up = gdb.say("python made_up()").partition("made up")[2].split()
    return [f["func"] for f in gdb.ask("-stack-list-frames --thread %s" % thread)["stack"] if f["level"] not in made_up]


def threads_of_a_core(folder):
    with debuggers.started(CROWD, str(debuggers.FIBERS)) as p:
        fibers = debuggers.traced(p.pid)
        core, answer = debuggers.to_core(folder, p.pid)
    with driven(folder, CROWD, core) as gdb:
        listed = gdb.ask("-thread-info")["threads"]
        threads = {int(re.search(r"LWP (\d+)", t["target-id"])[1]) - debuggers.FIRST: t for t in listed}
        need(len(listed) == answer["core"]["fiberThreads"] + answer["core"]["plainThreads"], "%d threads" % len(listed))
        for number, fiber in fibers.items():
            if fiber["state"] not in debuggers.STATES:
                continue
            wanted, thread = debuggers.expected(fiber), threads[number]
            need(thread["frame"]["func"] == wanted[0], "fiber %d: %s" % (number, thread))
            found = functions(gdb, thread["id"])
            need(found == wanted, "fiber %d:\n  %s\n  %s" % (number, found, wanted))
        one = next(f for f in fibers.values() if f["name"].startswith("select-"))
        level = debuggers.expected(one).index("wait_for_select")
        values = gdb.ask("-stack-list-variables --thread %s --frame %d --simple-values" % (threads[one["id"]]["id"], level))
        need({"m", "one"} <= {v["name"] for v in values["variables"]}, "variables of wait_for_select: %s" % values)


def check_selected(gdb, fibers):
    gdb.say("source %s" % debuggers.SCRIPT)
    gdb.ask("-enable-frame-filters")
    for number in list(fibers)[:20]:
        if fibers[number]["state"] not in debuggers.STATES:
            continue
        gdb.notes.clear()
        said, thread = gdb.say("fiber %d" % number), gdb.ask("-thread-info")["current-thread-id"]
        frames = gdb.ask("-stack-list-frames")["stack"]
        need(said.startswith('fiber %d "%s"' % (number, fibers[number]["name"])), said)
        # gdb must notify the IDE that another frame is selected.
        note = '=thread-selected,id="%s",frame={level="%s"' % (thread, frames[0]["level"])
        need([n.startswith(note) for n in gdb.notes] == [True], "fiber %d: %s is told, not %s" % (number, gdb.notes, note))
        need(gdb.ask("-stack-info-frame")["frame"]["addr"] == frames[0]["addr"], "fiber %d: another frame is selected" % number)
        wanted = [f["function"] for f in fibers[number]["frames"] if not f["internal"]]
        need(functions(gdb, thread) == wanted, "fiber %d: %s" % (number, frames))
    gdb.notes.clear()
    gdb.say("fiber off")
    need(len(gdb.notes) == 1 and 'frame={level="0"' in gdb.notes[0], "fiber off: told %s" % gdb.notes)
    need(gdb.ask("-stack-list-frames")["stack"][0]["level"] == "0", "the thread's own frames")


def fibers_by_command(folder):
    with debuggers.started(CROWD, str(debuggers.FIBERS)) as p:
        fibers = debuggers.traced(p.pid)
        with driven(folder, "-p", p.pid) as gdb:
            check_selected(gdb, fibers)
            gdb.ask("-target-detach")
        core = debuggers.gcore(folder, p)
    with driven(folder, CROWD, core) as gdb:
        check_selected(gdb, fibers)


def one_that_runs(folder):
    with debuggers.started(debuggers.BUILD / "bin/spin", "--carriers", "2") as p:
        with driven(folder, "-p", p.pid) as gdb:
            gdb.say("source %s" % debuggers.SCRIPT)
            main = gdb.ask("-thread-info")["current-thread-id"]
            for number in re.findall(r"fiber (\d+) .*\[running", gdb.say("info fibers running")):
                gdb.say("thread %s" % main)
                gdb.notes.clear()
                gdb.say("fiber %s" % number)
                thread = gdb.ask("-thread-info")["current-thread-id"]
                need(thread != main, "fiber %s: no thread of its own" % number)
                need([n.startswith('=thread-selected,id="%s"' % thread) for n in gdb.notes] == [True], "told %s" % gdb.notes)
            gdb.ask("-target-detach")


def one_that_crashed(folder):
    """Check a crash in a handler with its own stack, and one in the guard: gdb shows the same frames as fibertrace."""
    if "|" in pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii"):
        return "core_pattern leads to a program"
    for program, way in (("crash", ["reporter"]), ("crash", ["jump-reporter"]), ("overflow", ["--stack", "16384"])):
        there = folder / ("of-" + way[0])
        there.mkdir()
        program = debuggers.BUILD / "bin" / program
        subprocess.run([program, *way], cwd=there, capture_output=True, timeout=debuggers.SECONDS, check=False,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)))
        core = next(there.iterdir())
        fibers = debuggers.traced("--core", core)
        answer = json.loads(debuggers.run(debuggers.TRACE, "--json", "--core", core).stdout)
        one = fibers[answer["crash"]["fiberId"]]
        with driven(folder, program, core) as gdb:
            gdb.say("source %s" % debuggers.SCRIPT)
            crashed = gdb.ask("-thread-info")["current-thread-id"]
            gdb.say("thread 2")
            said = gdb.say("fiber %d" % one["id"])
            need(gdb.ask("-thread-info")["current-thread-id"] == crashed, "another thread: " + said)
            found, wanted = functions(gdb, crashed), [w for w in debuggers.expected(one) if w != "__restore_rt"]
            need([f for f in found if f not in ("??", "<signal handler called>")] == [w for w in wanted if w != "?"],
                 "%s:\n  %s\n  %s" % (way[0], found, wanted))
    return None


def told(test):
    def run(folder):
        try:
            return test(folder)
        except mi.Error as error:
            raise debuggers.Failed(error) from None
    return run


sys.exit(debuggers.main([
    ("in a core of to-core: the threads, their frames, the variables in them", told(threads_of_a_core)),
    ("a fiber that was selected by command, live and in a core: told, and listed", told(fibers_by_command)),
    ("one that runs is its thread", told(one_that_runs)),
    ("one that crashed is, too: in a handler, and where its stack ended", told(one_that_crashed)),
]))
