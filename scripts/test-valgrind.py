# SPDX-License-Identifier: MIT
"""test-valgrind.py - tokens replay under valgrind and gdb, and valgrind finds nothing in libfiber-test

test-valgrind.py BUILD: each finding of the programs of fixtures/bugs is replayed under valgrind, where
it must be the same finding, and under gdb, where the breakpoint on fiber_test_failed must be hit once.
The programs of tests/explore run under valgrind with few schedules each, so what they expect of many
does not hold; that they exit, and what valgrind reports, counts. DOES lists the errors that are the
bugs themselves.

Prints TAP.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

SCHEDULES = "20"
LIMIT = 300  # s
# Programs whose bug or test is a bad access, and the functions that make it.
DOES = {
    "test_explore": {"crash"},
    "test_isolate": {"end_in_one_order"},
}
# Compiled for libfiber-test-memory, which has a heap of its own.
SEEN = {"relaxed_publish"}
REPORT = re.compile(r"^fiber-test: .*", re.M)
ERROR = re.compile(r"^==\d+== (?!Warning|Memcheck|Copyright|Using|Command|Parent|Process |For lists|ERROR SUMMARY|HEAP|LEAK|All heap|Use --|"
                   r"Rerun|Searched|Access not|at 0x|by 0x|Address 0x|  )([A-Z].*)\n==\d+==    at 0x\w+: (\S+)", re.M)

count = failed = 0


def tell(name, why):
    global count, failed
    count += 1
    failed += bool(why)
    print(f"{'not ok' if why else 'ok'} {count} - {name}", flush=True)
    for line in (why or "").splitlines()[:30]:
        print(f"# {line}", flush=True)


def run(command, **env):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, timeout=LIMIT, env=dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", **env))


def errors_in(logs, allowed):
    """What valgrind reported in its logs, one for each process."""
    found = []
    for path in glob.glob(logs + ".*"):
        with open(path, encoding="utf-8", errors="replace") as log:
            for what, function in ERROR.findall(log.read()):
                if function not in allowed:
                    found.append(f"{what} in {function}")
    return found


def under_valgrind(folder, command, allowed=frozenset(), **env):
    logs = os.path.join(folder, os.path.basename(command[0]))
    done = run(["valgrind", f"--log-file={logs}.%p", *command], **env)
    return done, errors_in(logs, allowed)


def first_lines(text):
    return "\n".join(REPORT.findall(text)[:2])


def findings(program):
    """(case, token) of each bug."""
    for case in subprocess.check_output([program, "--list"], text=True).split():
        if case.startswith("bug"):
            done = run([program, "--schedules", "5000", case])
            token = re.search(r"FIBER_TEST_REPLAY=(\S+)", done.stdout)
            yield case, token and token[1]


def replay_one(name, case, program, token):
    command = [program, "--replay", token, case]
    native = run(command)
    with tempfile.TemporaryDirectory() as folder:
        done, errors = under_valgrind(folder, command, DOES.get(name, frozenset()))
    same = done.returncode == native.returncode == 1 and first_lines(done.stdout) == first_lines(native.stdout)
    tell(f"{name}, {case}: the token replays under valgrind", "\n".join(errors) or ("" if same else native.stdout + done.stdout))
    done = run(["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "break fiber_test_failed", "-ex", "run",
                "-ex", "continue", "--args", *command])
    hits = len(re.findall(r"^(?:Thread .* hit )?Breakpoint 1, .*fiber_test_failed", done.stdout, re.M))
    same = hits == 1 and first_lines(done.stdout) == first_lines(native.stdout) and "exited with code 01" in done.stdout
    tell(f"{name}, {case}: the token replays under gdb", "" if same else native.stdout + done.stdout)


def main():
    build = sys.argv[1]
    for program in sorted(glob.glob(os.path.join(build, "bin/bugs/*"))):
        name = os.path.basename(program)
        for case, token in findings(program) if name not in SEEN else ():
            if token:
                replay_one(name, case, program, token)
            else:
                tell(f"{name}, {case}: found", "no finding")
    for program in sorted(glob.glob(os.path.join(build, "tests/explore/test_*"))):
        name = os.path.basename(program)
        with tempfile.TemporaryDirectory() as folder:
            done, errors = under_valgrind(folder, [program], DOES.get(name, frozenset()), FIBER_TEST_SCHEDULES=SCHEDULES,
                                          FIBER_BUILD=build, FIBER_SAN="")
        ended = re.search(r"^1\.\.\d", done.stdout, re.M) and done.returncode >= 0
        tell(f"{name}: valgrind finds nothing", "\n".join(errors) or ("" if ended else done.stdout))
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
