#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-adapters.py - check that debuggers show the coroutines of other libraries as fibertrace does

Runs the programs of fixtures/adapters in $FIBER_BUILD, which publish their stacks with fiber_layout.h and do not use libfiber.
Prints TAP. The comparison is that of test-debuggers.py.
"""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

sys.dont_write_bytecode = True
PATH = str(pathlib.Path(__file__).resolve().parent / "test-debuggers.py")
LOADER = importlib.machinery.SourceFileLoader("debuggers", PATH)
debuggers = importlib.util.module_from_spec(importlib.util.spec_from_loader("debuggers", LOADER))
LOADER.exec_module(debuggers)


REGISTERS = """
import gdb
def registers(number):
    frame = gdb.selected_frame()
    while frame.newer() and frame.newer().level() > 0: # the innermost frame of the fiber, also if backtraces hide it
        frame = frame.newer()
    values = [int(frame.read_register(r)) & (1 << 64) - 1 for r in ("rsp", "rbp", "rbx", "r12", "r13", "r14", "r15")]
    print("registers\\t%d\\t%s" % (number, values))
"""


def registers(folder, *source, commands):
    """The registers of each fiber in gdb, by its number."""
    own = folder / "registers.py"
    own.write_text(REGISTERS, encoding="utf-8")
    text, _ = debuggers.gdb(folder, *source, commands=["source %s" % own, *commands])
    return dict(re.findall(r"^registers\t(\d+)\t(.*)$", text, re.M))


def check_registers(folder, program, pid):
    """Check that the saved registers, which hold variables, are the same in threads of a core and in gdb."""
    core, _ = debuggers.to_core(folder, pid)
    threads = registers(folder, program, core, commands=[
        "python for t in gdb.selected_inferior().threads(): t.switch(); registers(max(0, t.ptid[1] - %d))" % debuggers.FIRST])
    fibers = registers(folder, "-p", pid, commands=[
        "source %s" % debuggers.SCRIPT, "fiber apply 1 2 3 4 6 7 8 python registers(int(gdb.execute('fiber', to_string=True).split()[1]))"])
    debuggers.need(len(fibers) == 7 and len({tuple(v) for v in fibers.values()}) == 7, "registers: %s" % fibers)
    for number, values in fibers.items():
        debuggers.need(threads.get(number) == values, "fiber %s: %s and %s" % (number, threads.get(number), values))


def check(name, strip):
    """Check threads of cores by to-core, and fibers in gdb by libfiber-gdb.py, live and from gdb's gcore."""
    def test(folder):
        program = debuggers.BUILD / "adapters" / name
        # C++ names can be written in several ways, so addresses are compared there.
        names = not strip and name.startswith("ucontext")
        if strip:
            program = debuggers.stripped(folder, program, False)
        with debuggers.started(program, str(debuggers.FIBERS)) as p:
            fibers = debuggers.traced(p.pid)
            debuggers.need(len(fibers) == debuggers.FIBERS and not any(f["truncated"] for f in fibers.values()), "walks are truncated")
            debuggers.check_to_core(folder, program, fibers, [p.pid], names)
            debuggers.check_script(folder, fibers, ["-p", p.pid], names)
            check_registers(folder, program, p.pid)
            core = debuggers.gcore(folder, p)
            debuggers.check_script(folder, fibers, [program, core], names)
            debuggers.check_to_core(folder, program, fibers, ["--core", core], names)
    return "%s%s, as threads and in gdb" % (name, ", stripped" if strip else ""), test


NAMES = ("ucontext", "ucontext-O0", "boost-context", "boost-context-O0")
sys.exit(debuggers.main([check(name, strip) for strip in (False, True) for name in NAMES]))
