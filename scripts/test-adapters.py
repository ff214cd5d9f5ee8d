#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-adapters.py - debuggers see the coroutines of other libraries, and see what fibertrace sees

Over fixtures/adapters in $FIBER_BUILD, programs without libfiber that publish their stacks with fiber_layout.h, as TAP. What is
compared, and how, is test-debuggers.py's.
"""
import importlib.machinery
import importlib.util
import pathlib
import sys

sys.dont_write_bytecode = True
PATH = str(pathlib.Path(__file__).resolve().parent / "test-debuggers.py")
LOADER = importlib.machinery.SourceFileLoader("debuggers", PATH)
debuggers = importlib.util.module_from_spec(importlib.util.spec_from_loader("debuggers", LOADER))
LOADER.exec_module(debuggers)


def check(name, strip):
    """As threads of to-core's cores and in gdb by libfiber-gdb.py; live and out of gdb's gcore."""
    def test(folder):
        program = debuggers.BUILD / "adapters" / name
        # C++ names are written in more ways than one: there addresses are compared.
        names = not strip and name.startswith("ucontext")
        if strip:
            program = debuggers.stripped(folder, program, False)
        with debuggers.started(program, str(debuggers.FIBERS)) as p:
            fibers = debuggers.traced(p.pid)
            debuggers.need(len(fibers) == debuggers.FIBERS and not any(f["truncated"] for f in fibers.values()), "walks are truncated")
            debuggers.check_to_core(folder, program, fibers, [p.pid], names)
            debuggers.check_script(folder, fibers, ["-p", p.pid], names)
            core = debuggers.gcore(folder, p)
            debuggers.check_script(folder, fibers, [program, core], names)
            debuggers.check_to_core(folder, program, fibers, ["--core", core], names)
    return "%s%s, as threads and in gdb" % (name, ", stripped" if strip else ""), test


NAMES = ("ucontext", "ucontext-O0", "boost-context", "boost-context-O0")
sys.exit(debuggers.main([check(name, strip) for strip in (False, True) for name in NAMES]))
