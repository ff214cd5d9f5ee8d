#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-conformance.py [LTP] [CASE...] - the cases of POSIX for threads and semaphores end the same when their threads are fibers

The cases are pthread_* and sem_* of open_posix_testsuite, in a checkout of the Linux Test Project: LTP, by default ../ltp. Each is
compiled, run as the system runs it, and run by fiberize. A case that ends otherwise must be in DIFFERS, with the reason.
"""
import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from fiberized import FIBERIZE, ROOT  # pylint: disable=wrong-import-position

CARRIERS = 2
PATIENCE = 60  # s
JOBS = 2
NAMES = {0: "pass", 1: "fail", 2: "unresolved", 4: "unsupported", 5: "untested", 124: "hang"}

# What a fiber cannot do as a thread does: libfiber-posix(7).
DIFFERS = {
    "a condition that processes share blocks its carrier":
        "pthread_cond_broadcast/1-2 pthread_cond_broadcast/2-3 pthread_cond_signal/1-2 pthread_cond_timedwait/2-5 "
        "pthread_cond_timedwait/2-6 pthread_cond_wait/2-3",
    "only a handler on the thread itself would end the wait":
        "pthread_mutex_init/1-2 pthread_mutex_init/3-2 pthread_spin_lock/1-1 pthread_spin_lock/3-1 pthread_barrier_wait/3-2",
    "its handler compares pthread_self(), and runs on the first thread":
        "pthread_kill/1-2 pthread_rwlock_rdlock/4-1 pthread_rwlock_timedrdlock/6-1 pthread_rwlock_timedrdlock/6-2 "
        "pthread_rwlock_timedwrlock/6-1 pthread_rwlock_timedwrlock/6-2 pthread_rwlock_wrlock/2-1",
    "fibers have no policies and priorities":
        "pthread_attr_setinheritsched/2-2 pthread_attr_setinheritsched/2-3 pthread_attr_setinheritsched/2-4 "
        "pthread_attr_setschedparam/1-3 pthread_attr_setschedparam/1-4 pthread_attr_setschedpolicy/1-2 "
        "pthread_attr_setschedpolicy/1-3 pthread_attr_setschedpolicy/2-1 pthread_create/1-6 pthread_create/3-2 "
        "pthread_getschedparam/1-2 pthread_getschedparam/1-3 pthread_rwlock_rdlock/2-1 pthread_rwlock_rdlock/2-2 "
        "pthread_setschedparam/1-1 pthread_setschedparam/1-2 pthread_setschedparam/4-1 pthread_setschedprio/1-1",
    "a cancellation ends no fiber that computes": "pthread_setcanceltype/1-1",
    "the CPU clock is the carrier's": "pthread_create/11-1 pthread_getcpuclockid/1-1",
    "the C library waits there, and this library gives EBUSY, as POSIX recommends": "pthread_barrier_destroy/2-1",
    "the case wants writers first; the C library chooses, and in fibers the first that comes": "pthread_rwlock_unlock/3-1",
}


def why_differs(case):
    return next((why for why, cases in DIFFERS.items() if case in cases.split()), None)


def end(command, folder):
    """Run it. Returns its exit status, minus a signal, or 124 if it has not ended."""
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as p:
        try:
            return p.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return 124
        finally:
            try:
                os.killpg(p.pid, signal.SIGKILL)  # and what it has started
            except ProcessLookupError:
                pass


def name(status):
    return NAMES.get(status, "signal %d" % -status if status < 0 else "status %d" % status)


def run(suite, case):
    """How the case ends on threads, and in fibers; None: it cannot be compiled."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "case"
        source = suite / "conformance/interfaces" / (case + ".c")
        compiled = subprocess.run([os.environ.get("CC", "cc"), "-w", "-O1", "-std=gnu99", "-D_POSIX_C_SOURCE=200809L", "-D_XOPEN_SOURCE=700",
                                   "-I", suite / "include", "-I", source.parent, "-o", program, source, suite / "lib/common.c",
                                   "-pthread", "-lrt", "-lm"], stderr=subprocess.DEVNULL, check=False)
        if compiled.returncode:
            return None
        return end([program], folder), end([FIBERIZE, "--carriers", str(CARRIERS), program], folder)


def cases_of(suite, wanted):
    found = sorted(path for kind in ("pthread_*", "sem_*") for path in suite.glob("conformance/interfaces/%s/*-*.c" % kind))
    cases = ["%s/%s" % (path.parent.name, path.stem) for path in found]
    return [case for case in cases if case in wanted or case.split("/")[0] in wanted] if wanted else cases


def report(number, case, ends):
    """Print a line. Returns whether it is well, and whether the case ends the same."""
    if not ends:
        print("ok %d - %s # SKIP it cannot be compiled here" % (number, case))
        return True, False
    threads, fibers = map(name, ends)
    why = why_differs(case)
    if threads == fibers:
        print("ok %d - %s: %s%s" % (number, case, fibers, " (differed before: %s)" % why if why else ""))
    elif why:
        print("ok %d - %s: %s, on threads %s: %s" % (number, case, fibers, threads, why))
    else:
        print("not ok %d - %s: %s, on threads %s" % (number, case, fibers, threads))
    return threads == fibers or bool(why), threads == fibers


def main():
    words = sys.argv[1:]
    checkout = pathlib.Path(words[0] if words else ROOT.parent / "ltp")
    suite = checkout / "testcases/open_posix_testsuite"
    if not suite.is_dir():
        print("1..0 # SKIP there is no checkout of the Linux Test Project at %s" % checkout)
        return 0
    cases = cases_of(suite, words[1:])
    good, same = True, 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for number, (case, ends) in enumerate(zip(cases, pool.map(lambda case: run(suite, case), cases)), 1):
            well, equal = report(number, case, ends)
            good, same = good and well, same + equal
            sys.stdout.flush()
    print("1..%d\n# %d of %d end as on threads" % (len(cases), same, len(cases)))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
