# SPDX-License-Identifier: MIT
"""minute.py - the table on top of docs/performance.md, and the part of the page that it stands in"""

from amount import amount
from families import KIND_OF, OURS

BEGIN = "<!-- bench-pictures: made by make bench-pictures from build/bench/last.json -->"
END = "<!-- bench-pictures: end -->"

# What a reader asks for: work, key, text.
LINES = [
    ("switch", "ns", "raw switch between two contexts"),
    ("yield-1000", "ns", "yield among 1,000 fibers"),
    ("spawn-1000", "ns", "spawn, run and join a fiber"),
    ("cond", "ns", "message over a mutex and a condition"),
    ("channel", "ns", "message over a channel without room"),
    ("select-8", "ns", "element from a select of 8 channels"),
    ("mutex", "ns", "lock and unlock a free mutex"),
    ("shared-mutex-yield-2", "ns", "lock and unlock a mutex that 100 fibers on 2 carriers share"),
    ("shared-queue-16-2", "ns", "element of a channel that 20 fibers on 2 carriers share"),
    ("shared-broadcast-2", "ns", "a condition wakes 100 fibers on 2 carriers, all answer"),
    ("tree-2", "ms", "a tree of 1,111,111 fibers on 2 carriers"),
    ("timer", "ns", "arm and disarm a timer"),
    ("naps-10000", "p99", "10,000 sleepers: late at p99"),
    ("naps-10000", "cpu", "10,000 sleepers: CPU of a wake-up"),
    ("echo-unix", "ns", "64 bytes over UNIX sockets"),
    ("file", "ns", "4 KiB of a cached file"),
    ("memory", "bytes", "memory of a fiber that waits, without page tables"),
    ("memory-new", "all", "memory of a fiber that has not begun, with page tables"),
]


class Unmarked(Exception):
    """The page has no place for the table."""


def line(rows, words):
    """A line of the table; None without a value of libfiber or of any peer."""
    values = {row.who: row for row in rows if row.median is not None}
    ours = values.get(OURS)
    peers = [row for who, row in values.items() if KIND_OF.get(who) != "ours"]
    if not ours or not peers:
        return None
    best = min(peers, key=lambda row: row.median)
    ratio = f"{ours.median / best.median:.2f}" if best.median else ""
    if ours.median < best.median:
        ratio = f"**{ratio}**"
    return (f"| {words} | {amount(ours.median, ours.unit)} | {amount(best.median, best.unit)} | {best.who} | {ratio} |")


def table(results):
    """The table as text, and the works that it lacks."""
    lines, missing = [], []
    for work, key, words in LINES:
        made = line(results.of(work, key), words)
        if made:
            lines.append(made)
        else:
            missing.append(work)
    head = ["| one operation | libfiber | best peer | which | ratio |", "|---|--:|--:|---|--:|"]
    return "\n".join(head + lines), missing


def section(results, pictures):
    """What stands between the marks. pictures: [(title, file), ...] relative to the page."""
    rows, missing = table(results)
    parts = ["", f"{results.about}. Ratio: libfiber's value divided by that of its best peer. Below 1, in bold, "
             "libfiber is ahead.", "", rows, ""]
    if missing:
        parts += [f"Not measured on both sides in this run: {', '.join(dict.fromkeys(missing))}.", ""]
    for title, file in pictures:
        parts += [f"![{title}]({file})", ""]
    return "\n".join(parts) + "\n"


def page_with(page, body):
    """The text of the page with this body between its marks."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise Unmarked(f"must have the lines {BEGIN} and {END}, once each")
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{body}{END}{rest.split(END)[1]}"
