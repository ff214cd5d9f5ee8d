# SPDX-License-Identifier: MIT
"""lines.py - the picture of scale: for each work on several carriers a panel with a line for each participant

Both axes are logarithmic: twice the carriers is a step to the right, and equal ratios of time are equal heights.
"""

import math
import re

from amount import amount
from families import OURS, SCALE, SHARED
from svg import MARGIN, RULE, WIDTH, coordinate, document, element, ending, heading, text, text_width, wrapped

COLUMNS, GAP = 3, 30
PANEL = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * GAP) / COLUMNS
AXIS, SIDE = 46, 27  # room for the numbers on the left; between the ends of the lines and of the panel
HEIGHT = 150
NEVER_TIME = ("cpu", "steals")

# Participant: colour, mark. One that is not named gets a mark of SPARE, in the order of the bench.
MARKS = {OURS: ("#0b6bcb", "circle"), "Go": ("#12908a", "square"), "boost.fiber": ("#d08a1d", "triangle"),
         "pthread": ("#9a86cc", "diamond")}
SPARE = [("#c2566b", "circle"), ("#5d7f2f", "square"), ("#6b7280", "triangle"), ("#8a5a2b", "diamond")]
SHAPES = {"square": "M-4 -4h8v8h-8z", "triangle": "M0 -5l5 9h-10z", "diamond": "M0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z"}


class Work:
    """A work by its number of carriers. name: without the number. points: who -> {carriers: row}."""

    def __init__(self, name, caption):
        self.name, self.caption, self.points = name, caption, {}


def works_of(results):
    """The works that fibers share, and the names of those of which no participant has a value."""
    works, empty = {}, {}
    for row in results.rows:
        found = re.fullmatch(rf"({SHARED}.+)-(\d+)", row.work)
        if not found or row.key in NEVER_TIME:
            continue
        name, carriers = found[1], int(found[2])
        if row.median is None or not row.median or not carriers:
            empty.setdefault(name)
            continue
        work = works.setdefault(name, Work(name, re.sub(r", \d+ carriers?(:.*)?$", "", row.text)))
        work.points.setdefault(row.who, {}).setdefault(carriers, row)
    return list(works.values()), [name for name in empty if name not in works]


def marks_of(works):
    """who -> (colour, mark), libfiber first."""
    names = list(dict.fromkeys(who for work in works for who in work.points))
    names.sort(key=lambda who: who != OURS)
    spare = (mark for _ in range(len(names)) for mark in SPARE)
    return {who: MARKS.get(who) or next(spare) for who in names}


def mark_at(x, y, colour, shape):
    if shape == "circle":
        return element("circle", cx=x, cy=y, r=4, fill=colour)
    return element("path", d=SHAPES[shape], fill=colour, transform=f"translate({coordinate(x)} {coordinate(y)})")


def key(colour, shape):
    return lambda x, y: (element("path", d=f"M{coordinate(x)} {coordinate(y)}h18", stroke=colour, stroke_width=2) +
                         mark_at(x + 9, y, colour, shape))


def steps(low, high):
    """Round numbers from low to high: 1, 2, 5, 10, ...; the first and the last enclose them."""
    grid = [m * 10.0 ** e for e in range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1) for m in (1, 2, 5)]
    first = max(i for i, g in enumerate(grid) if g <= low)
    last = min([i for i, g in enumerate(grid) if g >= high] or [len(grid) - 1])
    # At least a factor of 4, to both sides alike.
    while last - first < 2:
        if last + 1 < len(grid) and (not first or high / grid[last] > grid[first] / low):
            last += 1
        else:
            first -= 1
    return grid[first:last + 1]


def axes(grid, carriers, unit, x_of, y_of):
    """Lines and numbers of both axes. With many numbers every other one is written."""
    parts = []
    left, right = x_of(carriers[0]) - SIDE, x_of(carriers[-1]) + SIDE
    skip = 2 if len(grid) > 7 else 1
    for i, g in enumerate(grid):
        parts.append(element("path", d=f"M{coordinate(left)} {coordinate(y_of(g))}H{coordinate(right)}", stroke=RULE))
        if i % skip == 0:
            parts.append(text(left - 6, y_of(g) + 4, amount(g, unit).replace(".00", "").replace(".0", ""), "note", "end"))
    for c in carriers:
        parts.append(text(x_of(c), y_of(grid[0]) + 24, str(c), "note", "middle"))
    return parts


def crossed(x, y, width, paths):
    """How many pixels of the lines are below a text whose middle is x and whose base line is y."""
    hits = 0
    for path in paths:
        for (x0, y0), (x1, y1) in zip(path, path[1:]):
            for at in range(math.ceil(max(x0, x - width / 2)), math.floor(min(x1, x + width / 2)) + 1):
                hits += y - 12 < y0 + (y1 - y0) * (at - x0) / (x1 - x0) < y + 4
    return hits


def free_place(x, y, width, paths):
    """The base line of a text beside a point: above it, or below it if fewer lines cross it there."""
    return min((y - 9, y + 18), key=lambda base: crossed(x, base, width, paths))


def panel(work, marks, x, y):
    """A panel as one element, and its height."""
    parts, below = [], y + 12
    for line in wrapped(work.caption, PANEL, 13, bold=True):
        parts.append(text(x, below, line, "head"))
        below += 17
    below = max(below, y + 12 + 2 * 17)  # panels of a row begin at one height
    rows = [row for points in work.points.values() for row in points.values()]
    grid = steps(min(r.median for r in rows), max(r.median for r in rows))
    carriers = sorted({c for points in work.points.values() for c in points})
    bottom = below + HEIGHT
    span = max(math.log2(carriers[-1] / carriers[0]), 1)

    def x_of(c):
        return x + AXIS + SIDE + (PANEL - AXIS - 2 * SIDE) * math.log2(c / carriers[0]) / span

    def y_of(value):
        return bottom - HEIGHT * math.log(value / grid[0]) / math.log(grid[-1] / grid[0])

    parts += axes(grid, carriers, rows[0].unit, x_of, y_of)
    # libfiber's line is above the others.
    for who in sorted(work.points, key=lambda who: who == OURS):
        points = sorted(work.points[who].items())
        ends = " ".join(f"{coordinate(x_of(c))},{coordinate(y_of(row.median))}" for c, row in points)
        drawn = [element("polyline", points=ends, fill="none", stroke=marks[who][0], stroke_width=3 if who == OURS else 2)]
        drawn += [mark_at(x_of(c), y_of(row.median), *marks[who]) for c, row in points]
        parts.append(element("g", "".join(drawn), id=f"{work.name}.{who.replace(' ', '-')}"))
    paths = [[(x_of(c), y_of(row.median)) for c, row in sorted(points.items())] for points in work.points.values()]
    for c, row in sorted(work.points.get(OURS, {}).items()):
        words = amount(row.median, row.unit)
        at = free_place(x_of(c), y_of(row.median), text_width(words, 11, bold=True), paths)
        parts.append(text(x_of(c), at, words, "value point", "middle", marks[OURS][0]))
    return element("g", "\n".join(parts), id=work.name), bottom - y + 48


def picture(results):
    """The text of the picture, and the works that have no value; None without any work."""
    works, missing = works_of(results)
    if not works:
        return None, missing or [SHARED.rstrip("-")]
    marks = marks_of(works)
    parts, top = heading(SCALE.title, SCALE.subtitle, [(key(*mark), who) for who, mark in marks.items()])
    top += 8
    for i in range(0, len(works), COLUMNS):
        heights = []
        for column, work in enumerate(works[i:i + COLUMNS]):
            drawn, height = panel(work, marks, MARGIN + column * (PANEL + GAP), top)
            parts.append(drawn)
            heights.append(height)
        top += max(heights)
    notes = ["Below each panel: the number of carriers. Beside the points: libfiber's values.", results.about]
    if missing:
        notes.append(f"Not in this run: {', '.join(missing)}.")
    below, height = ending(notes, top)
    captions = "; ".join(work.caption for work in works)
    return document(SCALE.title, f"{SCALE.subtitle} {captions}.", parts + below, height), missing
