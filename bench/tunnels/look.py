# SPDX-License-Identifier: MIT
"""look.py - check that fiberctl shows the connections of a program that fiberize runs"""
import json
import os
import subprocess

PATIENCE = 120  # s
DESCRIPTORS = ("fd", "select")  # waits for one, and for some by poll(2)


def need(truth, said):
    if not truth:
        raise RuntimeError(said)


def ask(build, status, *words):
    p = subprocess.run([build / "bin/fiberctl", *map(str, words)], stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    need(p.returncode in status, "fiberctl %s: status %d\n%s" % (" ".join(map(str, words)), p.returncode, p.stdout))
    return p.stdout


def look(build, pid, many):
    """What the tools say while that many connections wait for their clients."""
    rows = json.loads(ask(build, [0], "list", pid, "--json"))["fibers"]
    waiting = [row["id"] for row in rows if row["wait"] and row["wait"]["kind"] in DESCRIPTORS]
    need(len(waiting) >= many, "%d of %d fibers wait for descriptors" % (len(waiting), len(rows)))
    one = waiting[len(waiting) // 2]
    frames = json.loads(ask(build, [0], "bt", pid, one, "--json"))["fibers"][0]["frames"]
    own = [frame for frame in frames if frame["module"] == os.path.realpath("/proc/%d/exe" % pid)]
    need(own, "none of the %d frames of fiber %d is the program's" % (len(frames), one))
    ask(build, [0], "deadlock", pid)
    why = ask(build, [0, 4], "why", pid)  # 4: what is only suspicious
    need("deadlock" not in why, why)
    return ("%s fibers, %s wait for descriptors; fiber %d has %d frames in %s; no deadlock; why: %s"
            % (format(len(rows), ","), format(len(waiting), ","), one, len(own), os.path.basename(own[0]["module"]), why.split("\n")[0]))
