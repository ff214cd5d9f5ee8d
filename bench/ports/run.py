#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# run.py FOLDER PORT EMULATOR... - count the instructions that a switch and a yield execute on a port
#
# FOLDER has the programs ours, boost (if boost.context's assembly is there) and yield, each of which takes a number of
# rounds. The emulator translates one instruction at a time and logs each one that it executes, with its thread, its address
# and its function. A switch is half a round: two numbers of rounds are run, and the difference of the counts is that of the
# rounds alone. A yield is what a thread executes from one entry into fiber_yield() to the next. Of all yields the median is
# taken, because some look for timers and descriptors too: more of them, the slower the emulator is.
#
# A row goes to stdout: the port, instructions of libfiber's switch, of boost.context's, their ratio, those of a yield, and
# the lines of C and assembly of the port.

import collections
import os
import re
import statistics
import subprocess
import sys

FEW, MANY = 200, 1200
TRACE = re.compile(rb"Trace (\d+): \S+ \[[0-9a-f]+/([0-9a-f]+)/\S+\] ?(\S*)")


def one_at_a_time(emulator):
    """The option that makes the emulator translate single instructions: newer versions have another name for it."""
    text = subprocess.run([emulator, "--help"], capture_output=True, check=False).stdout
    return "-one-insn-per-tb" if b"one-insn-per-tb" in text else "-singlestep"


def executed(emulator, program, rounds):
    """Yield the thread, the address and the function of each instruction that is executed."""
    command = [emulator[0], one_at_a_time(emulator[0]), "-d", "exec,nochain", *emulator[1:], program, str(rounds)]
    environment = dict(os.environ, FIBER_CONTROL="off")
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) as process:
        for line in process.stderr:
            found = TRACE.match(line)
            if found:
                yield found.groups()
    if process.returncode:
        sys.exit(f"run.py: {program}: exit status {process.returncode}")


def half_round(emulator, program):
    """The instructions of half a round. The program has one thread."""
    few, many = (sum(1 for _ in executed(emulator, program, rounds)) for rounds in (FEW, MANY))
    return (many - few) / (MANY - FEW) / 2


def one_yield(emulator, program):
    """The median number of instructions from one entry into fiber_yield() to the next."""
    done = collections.Counter()  # by thread
    seen = []
    for thread, address, function in executed(emulator, program, MANY):
        done[thread] += 1
        if function == b"fiber_yield":
            seen.append((thread, int(address, 16), done[thread]))
    entry = min(address for _, address, _ in seen)
    entries = [(thread, at) for thread, address, at in seen if address == entry]
    gaps = [at - before for (thread, before), (other, at) in zip(entries, entries[1:]) if thread == other]
    return statistics.median(gaps)


def lines(port):
    """Lines of the port's folder."""
    folder = os.path.join("libfiber", "arch", port)
    total = 0
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            total += sum(1 for _ in file)
    return total


def main():
    folder, port, emulator = sys.argv[1], sys.argv[2], sys.argv[3:]
    ours = half_round(emulator, os.path.join(folder, "ours"))
    turn = one_yield(emulator, os.path.join(folder, "yield"))
    boost = os.path.join(folder, "boost")
    if os.path.exists(boost):
        theirs = half_round(emulator, boost)
        beside = f"{theirs:8.1f} {ours / theirs:6.2f}"
    else:
        beside = f"{'-':>8} {'-':>6}"
    print(f"{port:10} {ours:8.1f} {beside} {turn:8.1f} {lines(port):6}")


main()
