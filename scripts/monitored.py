# SPDX-License-Identifier: MIT
"""monitored.py - programs with fibers whose metrics are taken, for the tests of the rules for Prometheus

Programs are fixtures in $FIBER_BUILD. Their control sockets are in a folder of their own, and all are ended at the end.
"""
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = ROOT / "fiberctl/share/libfiber-rules.yml"
SECONDS = 60


def build():
    return pathlib.Path(os.environ["FIBER_BUILD"])


def need(true, text):
    if not true:
        raise AssertionError(text)


def until(condition, what):
    """Wait until condition() is true, and return it."""
    end = time.monotonic() + SECONDS
    while True:
        result = condition()
        if result:
            return result
        need(time.monotonic() < end, "after %d s: %s" % (SECONDS, what))
        time.sleep(0.1)


class Place:
    """A folder for the control sockets of programs, and the programs."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "run").mkdir(mode=0o700)
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=str(self.folder / "run"))
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        self.stack.close()

    def start(self, *words, ready=r"", **how):
        """Start a program of the build. Returns it, with `said`, when a line of its output matches `ready`."""
        process = subprocess.Popen([build() / "bin" / words[0], *words[1:]], env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **how)
        self.stack.callback(end, process)
        for line in process.stdout:
            process.said = re.match(ready, line)
            if process.said:
                return process
        raise AssertionError("%s ended before it was ready" % " ".join(words))

    def metrics(self):
        """The text of all programs; one that does not answer makes the exit status 1."""
        done = subprocess.run([build() / "bin/fiberctl", "metrics"], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False)
        need(done.returncode in (0, 1), "fiberctl metrics: %s" % done.stderr)
        return done.stdout


def end(process):
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()


def samples(text, pid):
    """The samples of a process: {series: value}."""
    label = 'pid="%d"' % pid
    lines = [line for line in text.splitlines() if not line.startswith("#") and label in line]
    return {series: float(value) for series, value in (line.rsplit(" ", 1) for line in lines)}


def alerts():
    """The alerts of the rules by name, each a text."""
    parts = re.split(r"(?m)^ +- alert: (\w+)$", RULES.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2]))


def main(tests):
    """Run the functions and print TAP; their first line of documentation is the name."""
    if os.environ.get("FIBER_SAN"):
        print("1..0 # SKIP the rules do not depend on how a program was compiled")
        return 0
    failed = False
    print("1..%d" % len(tests))
    for number, test in enumerate(tests, 1):
        try:
            test()
        except Exception:  # pylint: disable=broad-except
            failed = True
            traceback.print_exc()
            print("not ok %d - %s" % (number, test.__doc__))
        else:
            print("ok %d - %s" % (number, test.__doc__))
        sys.stdout.flush()
    return 1 if failed else 0
