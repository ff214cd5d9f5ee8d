#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-leaks.py BIN EXAMPLES LOOKS [SECONDS] - fibertrace leaks finds nothing in healthy programs, and finds planted leaks

Each program that has no fault is looked at LOOKS times while it runs, or for SECONDS, whichever ends first. A program that ends is
started again. Any fiber that is reported is an error: its group is printed. So is a program that is missing or was never looked at,
and more than one look in ten that was not certain. Then each kind of leak that the fixture `leaks` has is
planted once: all kinds but one must be found.
"""
import json
import os
import subprocess
import sys
import time

# Programs that stay: name, arguments, whether they print a line when they are ready.
STAYING = [
    ("httpd", ["--port", "0"], True), ("crowd", ["200"], True), ("ages", [], False), ("digits", [], False), ("drift", [], False),
    ("family", [], False), ("figures", [], False), ("labels", [], False), ("mirror", [], False), ("names", [], False),
    ("nameless", [], False), ("places", ["500"], True), ("runtimes", [], False), ("spin", [], False), ("turns", [], False),
    ("values", [], False), ("hog", [], False), ("trouble", ["no-convoy"], True),
    ("trouble", ["no-deadlock"], True), ("trouble", ["no-carrier"], True), ("trouble", ["no-pinned"], True),
    ("trouble", ["no-stack"], True), ("trouble", ["no-growth"], True), ("trouble", ["no-limits"], True),
    ("trouble", ["convoy"], True), ("trouble", ["growth"], True), ("leaks", ["no-all"], True),
]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def look(bin_folder, pid):
    run = subprocess.run([os.path.join(bin_folder, "fibertrace"), "leaks", str(pid), "--json"], capture_output=True, text=True)
    if run.returncode not in (0, 1, 3):
        # A program that has ended, or has only begun, is no error of the tool.
        if run.returncode == 2 and ("has no " in run.stderr or "has ended" in run.stderr or not alive(pid)):
            return None
        sys.exit(f"fibertrace leaks {pid}: exit status {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)


def start(path, arguments, waits):
    p = subprocess.Popen([path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
    if waits:
        p.stdout.readline()
    return p


def stop(p):
    p.kill()
    p.stdout.close()
    p.wait()


def looks_at(bin_folder, path, arguments, waits, looks, seconds):
    """Look at a healthy program. Returns how often, how often it was not certain, and what was found."""
    done, unsure, found, end = 0, 0, [], time.monotonic() + seconds
    p = start(path, arguments, waits)
    attempts = 0
    while done < looks and time.monotonic() < end and attempts < 10 * looks:
        attempts += 1
        if p.poll() is not None:
            stop(p)
            p = start(path, arguments, waits)
            if not waits:
                time.sleep(attempts % 10 / 1000)
        answer = look(bin_folder, p.pid)
        if answer is None:
            continue
        done += 1
        unsure += answer["unsure"] != 0
        if answer["groups"]:
            found.append(answer["groups"])
    stop(p)
    return done, unsure, found


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: test-leaks.py BIN EXAMPLES LOOKS [SECONDS]")
    bin_folder, examples, looks = sys.argv[1], sys.argv[2], int(sys.argv[3])
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 1e9
    wrong = total = doubtful = 0
    blind = []
    programs = [(os.path.join(bin_folder, name), arguments, waits) for name, arguments, waits in STAYING]
    programs += [(os.path.join(examples, name), [], False) for name in sorted(os.listdir(examples)) if "_test" not in name]
    for path, arguments, waits in programs:
        if not os.access(path, os.X_OK) or os.path.isdir(path):
            if os.path.dirname(path) == examples:
                continue  # not a program
            sys.exit(f"{path}: is missing")
        done, unsure, found = looks_at(bin_folder, path, arguments, waits, looks, seconds)
        total += done
        doubtful += unsure
        blind += [] if done or os.path.dirname(path) == examples else [os.path.basename(path)]
        wrong += len(found)
        print(f"{os.path.basename(path)} {' '.join(arguments)}: {done} looks, {unsure} not certain, {len(found)} found something",
              flush=True)
        if found:
            print(json.dumps(found[0], indent=1), flush=True)
    kinds = subprocess.run([os.path.join(bin_folder, "leaks"), "--list"], capture_output=True, text=True).stdout.split()
    missed = []
    for kind in kinds:
        p = start(os.path.join(bin_folder, "leaks"), [kind], True)
        answer = look(bin_folder, p.pid)
        if not answer or not answer["groups"]:
            missed.append(kind)
        stop(p)
    print(f"{total} looks at healthy programs: {wrong} found something, {doubtful} not certain, never looked at: {blind}; "
          f"{len(kinds)} planted leaks: missed {missed}")
    sys.exit(wrong != 0 or not total or bool(blind) or doubtful * 10 > total or not kinds or len(missed) > 1)


main()
