# SPDX-License-Identifier: MIT
"""svg.py - text of an SVG file: elements, numbers, the width of a text

The same calls give the same bytes. The background is drawn, so a picture can be read on a light page and on a dark one.
"""

import math
from xml.sax.saxutils import escape, quoteattr

WIDTH = 960
MARGIN = 24
INK, GREY, RULE, PAPER = "#1f2933", "#5f6c7b", "#d5dbe1", "#ffffff"
EM = 0.56  # mean width of a character of DejaVu Sans, the widest of the fonts, divided by its size; bold: see text_width

STYLE = f"""
text {{ font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; font-size: 12px; fill: {INK}; }}
.title {{ font-size: 20px; font-weight: 600; }}
.head {{ font-size: 13px; font-weight: 600; }}
.note {{ font-size: 11px; fill: {GREY}; }}
.value {{ font-size: 11px; paint-order: stroke; stroke: {PAPER}; stroke-width: 3px; stroke-linejoin: round; }}
.point {{ font-weight: 600; }}
"""


def coordinate(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def element(name, body=None, **attributes):
    """An element. class_ stands for class, a _ in a name for a -; body is text of elements, or None."""
    words = [name]
    for key, value in attributes.items():
        if value is None:
            continue
        value = coordinate(value) if isinstance(value, (int, float)) else value
        words.append(f"{key.rstrip('_').replace('_', '-')}={quoteattr(value)}")
    start = " ".join(words)
    return f"<{start}/>" if body is None else f"<{start}>{body}</{name}>"


def text(x, y, words, class_=None, anchor=None, fill=None):
    return element("text", escape(words), x=x, y=y, class_=class_, text_anchor=anchor, style=fill and f"fill: {fill}")


def text_width(words, size, bold=False):
    """A bound for the width of a text, in px."""
    return len(words) * size * EM * (1.1 if bold else 1)


def wrapped(words, width, size, bold=False):
    """The text in lines that are not wider, broken at blanks."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size, bold) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def heading(title, subtitle, keys):
    """The elements on top of a picture, and where they end. keys: [(mark at x, y, its text), ...]"""
    parts = [text(MARGIN, 38, title, "title")]
    y = 60
    for line in wrapped(subtitle, WIDTH - 2 * MARGIN, 12):
        parts.append(text(MARGIN, y, line, "note"))
        y += 16
    x, y = MARGIN, y + 8
    for mark, words in keys:
        wide = 30 + text_width(words, 12)
        if x > MARGIN and x + wide > WIDTH - MARGIN:
            x, y = MARGIN, y + 20
        parts += [mark(x, y - 4), text(x + 22, y, words)]
        x += wide + 10
    return parts, y + 14


def ending(notes, y):
    """The elements below a picture, and where they end."""
    parts = [element("path", d=f"M{MARGIN} {coordinate(y)}H{WIDTH - MARGIN}", stroke=RULE)]
    y += 18
    for note in notes:
        for line in wrapped(note, WIDTH - 2 * MARGIN, 11):
            parts.append(text(MARGIN, y, line, "note"))
            y += 15
    return parts, y + 4


def document(title, description, parts, height):
    """A whole file."""
    height = math.ceil(height)
    frame = element("rect", x=0.5, y=0.5, width=WIDTH - 1, height=height - 1, rx=8, fill=PAPER, stroke=RULE)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img">',
        "<!-- SPDX-License-Identifier: MIT; made by make bench-pictures -->",
        element("title", escape(title)), element("desc", escape(description)),
        element("style", STYLE), frame, *parts, "</svg>", ""])
