# SPDX-License-Identifier: MIT
"""bars.py - a picture of a family: for each line of the bench a panel with a bar for each participant

libfiber comes first, then its peers from the fastest to the slowest. A dashed line continues the end of libfiber's bar. The
number on the right is the value divided by libfiber's. A bar of more than CUT times libfiber's value is cut, so that the others
can be told apart. A thin line goes from the smallest sample to the largest.
"""

from amount import amount, times
from families import KINDS, KIND_OF, OURS
from svg import INK, MARGIN, PAPER, WIDTH, coordinate, document, element, ending, heading, text, text_width, wrapped

CUT = 6
COLUMNS, GAP = 2, 36
PANEL = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * GAP) / COLUMNS
NAME = 104  # room for names
VALUE = 120  # room for values
LENGTH = PANEL - NAME - VALUE
PITCH, THICK = 20, 12  # of bars


def colour(who):
    return KINDS[KIND_OF.get(who, "fibers")][0]


def square(kind):
    return lambda x, y: element("rect", x=x, y=y - 6, width=14, height=THICK, rx=2, fill=KINDS[kind][0])


def ordered(rows):
    """libfiber, the others by their values, then those without."""
    return sorted(rows, key=lambda row: (row.who != OURS, row.median is None, row.median or 0))


def top_of(rows):
    """The value that a bar of full length has."""
    values = [row.median for row in rows if row.median is not None]
    if not values:
        return 0
    ours = [row.median for row in rows if row.who == OURS and row.median is not None]
    if len(values) == 1:
        return CUT / 2 * values[0]
    return min(max(values), CUT * (ours or [min(values)])[0]) or max(values)


def cut(x, y):
    """Two slanted gaps near the end of a bar that is drawn too short."""
    return "".join(element("path", d=f"M{coordinate(x - at)} {coordinate(y + 8)}l5 -16", stroke=PAPER, stroke_width=2.5)
                   for at in (22, 15))


def bar(row, x, y, top, ours):
    """The bar of a row, its middle at y, with its name and its value."""
    parts = [text(x + NAME - 8, y + 4, row.who, "head" if row.who == OURS else None, "end")]
    if row.median is None:
        why = f"not measured: {row.problem}"
        room = int((LENGTH + VALUE) / text_width(" ", 11))
        parts.append(text(x + NAME, y + 4, why if len(why) <= room else f"{why[:room - 3]}...", "note"))
        return parts
    scale = LENGTH / top if top else 0
    whole = row.median * scale <= LENGTH * 1.0001
    length = max(min(row.median * scale, LENGTH), 1)
    parts.append(element("rect", x=x + NAME, y=y - THICK / 2, width=length, height=THICK, rx=2, fill=colour(row.who)))
    end = length
    if not whole:
        parts.append(cut(x + NAME + LENGTH, y))
    elif len(row.samples) > 1:
        low, high = (min(s * scale, LENGTH) for s in (min(row.samples), max(row.samples)))
        parts.append(element("path", d=f"M{coordinate(x + NAME + low)} {coordinate(y)}H{coordinate(x + NAME + high)}",
                             stroke=INK, stroke_opacity="0.55", class_="spread"))
        end = max(end, high)
    value = amount(row.median, row.unit)
    parts.append(text(x + NAME + end + 6, y + 4, value, "value"))
    if ours and row.who != OURS:
        parts.append(text(x + PANEL, y + 4, times(row.median / ours), "note", "end"))
    return parts


def panel(rows, work, caption, top, x, y):
    """A panel as one element, and its height. top: the value of a bar of full length."""
    rows = ordered(rows)
    parts, below = [], y + 12
    for line in wrapped(caption, PANEL, 13, bold=True):
        parts.append(text(x, below, line, "head"))
        below += 17
    below += 4
    ours = next((row.median for row in rows if row.who == OURS), None)
    if ours and len(rows) > 1 and top:
        at = x + NAME + min(ours / top, 1) * LENGTH
        parts.append(element("path", d=f"M{coordinate(at)} {coordinate(below)}v{coordinate(PITCH * (len(rows) - 1))}",
                             stroke=KINDS["ours"][0], stroke_opacity="0.6", stroke_dasharray="3 3"))
    for row in rows:
        parts += bar(row, x, below, top, ours)
        below += PITCH
    return element("g", "\n".join(parts), id=f"{work}.{rows[0].key}"), below - y + 12


def scales_of(family, present):
    """For each panel, the value of a bar of full length."""
    tops = [top_of(rows) for rows, _, _ in present]
    if not family.one_scale:
        return tops
    units = [rows[0].unit for rows, _, _ in present]
    return [max(top for top, other in zip(tops, units) if other == unit) for unit in units]


def picture(family, results):
    """The text of the picture, and the works that are missing; None if all are missing."""
    present, missing = [], []
    for work, key, caption in family.panels:
        rows = results.of(work, key)
        if any(row.median is not None for row in rows):
            present.append((rows, work, caption))
        else:
            missing.append(work)
    missing = list(dict.fromkeys(missing))
    if not present:
        return None, missing
    kinds = {KIND_OF.get(row.who, "fibers") for rows, _, _ in present for row in rows}
    parts, top = heading(family.title, family.subtitle, [(square(k), KINDS[k][1]) for k in KINDS if k in kinds])
    y = top + 8
    scales = scales_of(family, present)
    for i in range(0, len(present), COLUMNS):
        heights = []
        for column, shown in enumerate(present[i:i + COLUMNS]):
            drawn, height = panel(*shown, scales[i + column], MARGIN + column * (PANEL + GAP), y)
            parts.append(drawn)
            heights.append(height)
        y += max(heights)
    notes = [results.about]
    if missing:
        notes.append(f"Not in this run: {', '.join(missing)}.")
    below, height = ending(notes, y + 4)
    captions = "; ".join(caption for _, _, caption in present)
    return document(family.title, f"{family.subtitle} {captions}.", parts + below, height), missing
