#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""why-healthy.py [COUNT [NAME...]] - ask `why` about programs without a fault, and count what it reports

A false report is the worst fault of `why`. Each program is asked COUNT times, by fiberctl and by fibertrace in turn. An example
ends by itself, so it is started again for each question; most are too short to be asked at all. Prints TAP, each report, and the
number of reports. On a busy machine a program may have no CPU for longer than its fibers should wait for a carrier: then that
report is true of the machine, and it is shown but not counted.

COUNT: 2 if it is not given. NAME: only these programs. The build folder is $FIBER_BUILD. $LANES programs are asked at the same
time, each in a thread of its own; 1 if it is not given.
"""
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FIBER_BUILD", ROOT / "build"))
SECONDS = 60  # limit of a question
BETWEEN = "0.05"  # s between the readings: more questions in the same time
GROWS = "2"  # the same for the rule of growth, which looks at no shorter time
OLD = 1.3  # s: waits of this age count as long
OF_CPU = ("delay", "carrier")  # rules that report also a program that has no CPU ...
NO_CPU = 0.5  # ... for this part of the time

# Programs that run until they are killed, and print a line with "ready" when all is as it stays. Those that hold a lock while
# others wait for it, keep a carrier or wait while pinned are left out: that is a fault.
STAYS = ["trouble no-convoy", "trouble no-deadlock", "trouble no-carrier", "trouble no-pinned", "trouble no-stack",
         "trouble no-growth", "trouble no-limits", "trouble no-forgotten", "trouble no-signal", "trouble no-peer",
         "trouble no-offload", "trouble no-failed", "places 2000", "family", "family --links 300", "turns",
         "turns --yield 50", "nameless", "runtimes", "digits --fibers 64", "digits --carriers 1 --no-spawn", "labels",
         "values", "values-plain"]
# A server, and what keeps it busy; {port} is the port that it prints.
SERVERS = [("httpd", None), ("httpd --waiting 1000", None),
           ("httpd --carriers 2", "load {port} --connections 300 --pause 0"),
           ("httpd", "load {port} --connections 50 --sleep 20 --pause 0"),
           ("httpd --carriers 1", "load {port} --connections 200"), ("httpd --carriers 2", "idle 500 --port {port} --ask")]


class Program:
    def __init__(self, words, environ=None):
        self.process = subprocess.Popen([str(BUILD / words[0]), *words[1:]], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ)

    def line(self, *wanted):
        """The first line that has one of these words."""
        for line in self.process.stdout:
            if any(word in line for word in wanted):
                return line.decode()
        return ""

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def ask(tool, pid, between=BETWEEN):
    """The findings about a process. None: it had ended. Any other failure of the tool ends the run."""
    done = subprocess.run([str(BUILD / "bin" / tool), "why", str(pid), "--json", "--for", between], capture_output=True,
                          timeout=SECONDS, check=False)
    if done.returncode == 2:
        return None
    if done.returncode not in (0, 1, 3, 4):
        raise ToolFailed("%s why ended with %d:\n%s" % (tool, done.returncode, done.stderr.decode()))
    return json.loads(done.stdout)["findings"]


def waited(pid):
    """For how long the threads of a process have waited for a CPU, ns. A wait counts when it is over."""
    total = 0
    for path in pathlib.Path("/proc/%d/task" % pid).glob("*/schedstat"):
        try:
            total += int(path.read_text(encoding="ascii").split()[1])
        except OSError:
            pass  # it has ended
    return total


class ToolFailed(Exception):
    pass


class Answers:
    """What was reported about one program."""

    def __init__(self, name):
        self.name = name
        self.asked = 0
        self.reports = []
        self.busy = []  # reports that are true of the machine
        self.enough = False  # it was asked as often as it should be
        self.skip = ""  # why it may have been asked less

    def note(self, findings, starved=False):
        """starved: the program had no CPU."""
        self.asked += 1
        for finding in findings:
            busy = starved and finding["rule"] in OF_CPU
            (self.busy if busy else self.reports).append(
                "# %s: %s%s: %s: %s" % (self.name, "without a CPU: " if busy else "", finding["rule"], finding["text"],
                                        "; ".join(finding["evidence"])))

    def fine(self):
        return not self.reports and bool(self.enough or self.skip)

    def tell(self, number):
        for report in self.reports + self.busy:
            print(report)
        print("%s %d - %s: asked %d times, %d reports%s" % ("ok" if self.fine() else "not ok", number, self.name, self.asked,
                                                            len(self.reports), "" if self.enough else
                                                            self.skip or ", not asked"), flush=True)


def tool_of(i):
    return ("fiberctl", "fibertrace")[i % 2]


def part_waited(pid, before, since):
    """For which part of the time since then the threads of a process have waited for a CPU; it may be more than 1."""
    return (waited(pid) - before) / (time.monotonic_ns() - since)


def ask_once(answers, i, pid, between=BETWEEN):
    before, since = waited(pid), time.monotonic_ns()
    findings = ask(tool_of(i), pid, between)
    if findings is None:
        return
    part = part_waited(pid, before, since)
    if findings:
        time.sleep(0.5)  # a wait may go on; or the program has ended meanwhile
        part = max(part, part_waited(pid, before, since))
    answers.note(findings, part >= NO_CPU)


def ask_often(answers, program, times, between=BETWEEN):
    for i in range(times):
        ask_once(answers, i, program.process.pid, between)
    answers.enough = answers.asked == times and program.process.poll() is None
    return answers


def stays(words, times):
    program = Program(["bin/" + words.split()[0], *words.split()[1:]])
    program.line(b"ready")
    time.sleep(OLD)
    answers = ask_often(Answers(words), program, times, GROWS if "growth" in words else BETWEEN)
    program.end()
    return answers


def serves(server, client, times):
    program = Program(["bin/" + server.split()[0], *server.split()[1:]])
    port = program.line(b"127.0.0.1", b"port").replace("/", " ").split(":")[-1].split()[0]
    other = None
    if client:
        words = client.format(port=port).split()
        other = Program(["bin/" + words[0], *words[1:]])
        other.line(b"open")
    time.sleep(OLD)
    answers = ask_often(Answers(server + (" with " + client.replace(" {port}", "") if client else "")), program, times)
    if other:
        other.end()
    program.end()
    return answers


def example(name, times):
    answers = Answers(name)
    answers.skip = " # SKIP it ends too soon"
    end = time.monotonic() + 2
    for i in range(times):
        program = Program(["examples/" + name])
        ask_once(answers, i, program.process.pid)
        program.end()
        if not answers.asked and time.monotonic() > end:
            break
    answers.enough = answers.asked > 0
    return answers


def programs(names, times):
    """For each program the function that asks about it, and its arguments."""
    found = [(stays, words, times) for words in STAYS]
    found += [(serves, server, client, times) for server, client in SERVERS]
    found += [(example, path.name, times) for path in sorted((BUILD / "examples").iterdir())
              if path.is_file() and os.access(path, os.X_OK)]
    return [each for each in found if not names or each[1].split()[0] in names]


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    lanes = int(os.environ.get("LANES") or 1)
    number = asked = reports = busy = failed = 0
    with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
        waiting = [pool.submit(*each) for each in programs(sys.argv[2:], times)]
        try:
            for number, each in enumerate(waiting, 1):
                answers = each.result()
                answers.tell(number)
                asked += answers.asked
                reports += len(answers.reports)
                busy += len(answers.busy)
                failed += not answers.fine()
        except ToolFailed as e:
            for each in waiting:
                each.cancel()
            sys.exit("why-healthy.py: %s" % e)
    print("1..%d" % number)
    print("# asked %d times about %d programs: %d reports, and %d of programs without a CPU" % (asked, number, reports, busy))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
