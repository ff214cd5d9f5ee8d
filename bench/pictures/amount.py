# SPDX-License-Identifier: MIT
"""amount.py - a value with its unit, in few characters"""

TIMES = ["ns", "us", "ms", "s"]
BYTES = ["B", "KB", "MB", "GB"]


def digits(value):
    """Three significant digits or more."""
    for limit, places in (10, 2), (100, 1):
        if value < limit - 0.5 * 10 ** -places:
            return f"{value:.{places}f}"
    return f"{value:,.0f}"


def amount(value, unit):
    """23.9 ns, 3.77 us: the unit is changed when there are more than four digits."""
    for units in TIMES, BYTES:
        if unit in units:
            at = units.index(unit)
            while value >= (1000 if units is TIMES else 10_000) and at + 1 < len(units):
                value, at = value / 1000, at + 1
            return f"{digits(value)} {units[at]}"
    return f"{digits(value)} {unit}"


def times(ratio):
    """How often: 0.003, 0.25, 2.46, 35, with a sign of multiplication."""
    if ratio < 0.1:
        words = f"{ratio:.3f}"
    else:
        words = f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:,.0f}"
    return words + "\u00d7"
