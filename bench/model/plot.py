# SPDX-License-Identifier: MIT
"""plot.py - draw the model's results as SVG: a line for each work over the number of carriers, both scales logarithmic.

The same results give the same bytes.
"""

import math
import os

# Colours that differ in lightness too.
COLOURS = {"tree": "#1b6ca8", "server": "#d1495b", "pipeline": "#2e8b57", "shared": "#8d5fb0"}
WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 78, 92, 44, 52
# file: title, value of a result (None: not shown), least value drawn
PICTURES = {
    "throughput": ("Throughput, times that of one carrier", lambda got, one: one["ns"] / got["ns"], 0.001),
    "tail": ("Latency at the 99th percentile, us", lambda got, _: got["p99"] / 1e3 if "p99" in got else None, 0.01),
    "steals": ("Steals in 1,000 operations", lambda got, _: got["steals"], 0.01),
    "looks": ("Looks at a victim in vain, in 1,000 operations", lambda got, _: got["looks"], 0.01),
}


def power(n):
    if -3 <= n <= 4:
        return f"{10 ** n:,}" if n >= 0 else f"{10 ** n:.{-n}f}"
    return f"1e{n}"


class Picture:
    def __init__(self, title, carriers, low, high):
        self.carriers = carriers
        self.low, self.high = low, high
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
            f'<title>{title}</title>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
            f'<text x="{LEFT}" y="26" font-size="16">{title}</text>',
        ]
        self.axes()

    def x(self, carriers):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log2(carriers) / math.log2(self.carriers[-1])

    def y(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part

    def axes(self):
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        for n in range(self.low, self.high + 1):
            y = self.y(10 ** n)
            self.lines.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#dddddd"/>')
            self.lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{power(n)}</text>')
        for carriers in self.carriers:
            x = self.x(carriers)
            self.lines.append(f'<path d="M{x:.1f} {bottom}v5" stroke="#444444"/>')
            self.lines.append(f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{carriers}</text>')
        self.lines.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#444444"/>')
        self.lines.append(f'<text x="{(LEFT + right) / 2:.1f}" y="{HEIGHT - 12}" text-anchor="middle">carriers</text>')

    def line(self, points, colour):
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        self.lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        self.lines += [f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]

    def names(self, ends):
        """ends: (y, name, colour) at the right ends of lines, moved apart."""
        last = -math.inf
        for y, name, colour in sorted(ends):
            last = max(y + 4, last + 15)
            self.lines.append(f'<text x="{WIDTH - RIGHT + 8}" y="{last:.1f}" fill="{colour}">{name}</text>')

    def text(self):
        return "\n".join(self.lines + ["</svg>"]) + "\n"


def draw(title, value, least, results, works, carriers):
    series = {}
    for work in works:
        points = [(n, value(results[work, n], results[work, carriers[0]])) for n in carriers]
        series[work] = [(n, max(y, least)) for n, y in points if y is not None]
    values = [y for points in series.values() for _, y in points]
    low = math.floor(math.log10(min(values)))
    picture = Picture(title, carriers, low, max(low + 1, math.ceil(math.log10(max(values)))))
    if title.startswith("Throughput"):
        ideal = [n for n in carriers if math.log10(n) <= picture.high]
        path = " ".join(f"{picture.x(n):.1f},{picture.y(n):.1f}" for n in ideal)
        picture.lines.append(f'<polyline points="{path}" fill="none" stroke="#999999" stroke-dasharray="4 4"/>')
    ends = []
    for work, points in series.items():
        if points:
            picture.line(points, COLOURS[work])
            ends.append((picture.y(points[-1][1]), work, COLOURS[work]))
    picture.names(ends)
    return picture.text()


def write(folder, results, works, carriers):
    os.makedirs(folder, exist_ok=True)
    for name, (title, value, least) in PICTURES.items():
        with open(os.path.join(folder, f"model-{name}.svg"), "w", encoding="utf-8") as file:
            file.write(draw(title, value, least, results, works, carriers))
