# SPDX-License-Identifier: MIT
"""fiberized.py - start programs with their threads as fibers, and run tests of them, for scripts/test-fiberize*.py"""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FIBER_BUILD", ROOT / "build")).resolve()
FIBERIZE = str(BUILD / "bin/fiberize")
CARRIERS = (1, 2, 4)
PATIENCE = 60 * int(os.environ.get("FIBER_TEST_PATIENCE", 1))  # s, for what takes milliseconds


class Skip(Exception):
    """Why a test cannot run here."""


def need(truth, said):
    if not truth:
        raise AssertionError(said)


def program(name, package):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise Skip("%s is missing (package %s, make deps)" % (name, package))
    return path


def call(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, timeout=PATIENCE, check=False, **options)


def fibers(carriers):
    """The words before a command; none: threads."""
    return [FIBERIZE, "--carriers", carriers, "--"] if carriers else []


def ask(*words):
    """The output of fiberctl."""
    p = call([BUILD / "bin/fiberctl", *words], text=True)
    need(p.returncode in (0, 4), "fiberctl %s: %d %s" % (words, p.returncode, p.stderr))
    return p.stdout


# -- programs that are started and ended --

def free_port():
    """A port that the kernel has just chosen."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_until(true, what):
    end = time.monotonic() + PATIENCE
    while not true():
        need(time.monotonic() < end, "not in %d s: %s" % (PATIENCE, what))
        time.sleep(0.02)


def answers(family, address):
    with socket.socket(family) as s:
        return s.connect_ex(address) == 0


@contextlib.contextmanager
def started(folder, command, family, address):
    """A server that accepts connections there."""
    with open(folder / "said", "wb") as said:
        p = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                             start_new_session=True)
    try:
        wait_until(lambda: p.poll() is not None or answers(family, address), "%s is ready" % command[-1])
        need(p.poll() is None, "ended: " + (folder / "said").read_text(errors="replace"))
        yield p
    finally:
        with contextlib.suppress(ProcessLookupError):  # it, and the processes that it has forked
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()


def end(p, number):
    """Send a signal. Returns the exit status."""
    p.send_signal(number)
    try:
        return p.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        raise AssertionError("signal %d did not end it in %d s" % (number, PATIENCE)) from None


# -- tests --

def on_each(runs, numbers):
    """Names and tests: each run (name, fn(carriers, folder)) on each number of carriers; 0: on threads."""
    for carriers in numbers:
        where = "on %d carrier%s" % (carriers, "s"[:carriers != 1]) if carriers else "on threads"
        for name, test in runs:
            yield "%s, %s" % (name, where), lambda folder, t=test, c=carriers: t(c, folder)


def run(tests):
    """Run those tests (name, fn(folder)) whose names have a word of the command line, and print TAP. Returns the exit status."""
    number = failed = 0
    wanted = sys.argv[1:]
    for name, test in tests:
        if wanted and not any(word in name for word in wanted):
            continue
        number += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(pathlib.Path(folder))
                print("ok %d - %s" % (number, name), flush=True)
            except Skip as why:
                print("ok %d # SKIP %s: %s" % (number, name, why), flush=True)
            except Exception as wrong:  # pylint: disable=broad-except
                failed += 1
                print("not ok %d - %s" % (number, name), flush=True)
                print("# %s: %s" % (type(wrong).__name__, str(wrong).replace("\n", "\n# ")), file=sys.stderr)
    print("1..%d" % number)
    return 1 if failed else 0


def main(tests):
    """Run the tests that tests() gives, unless there is a sanitizer."""
    if os.environ.get("FIBER_SAN"):
        print("1..0 # SKIP nothing can be preloaded before the runtime of a sanitizer")
        return 0
    return run(tests())
