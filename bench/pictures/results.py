# SPDX-License-Identifier: MIT
"""results.py - what bench/run.py has written to last.json, checked"""

import json
import math
import time

SCHEMA = 1


class Unreadable(Exception):
    """The file holds no results; the text is the reason."""


def number(value):
    return not isinstance(value, bool) and isinstance(value, (int, float)) and math.isfinite(value) and value >= 0


def repeats(n):
    return "one repeat" if n == 1 else f"median of {n:d} interleaved repeats"


class Row:
    """One participant's value of one line of the bench. median is None if there is none; problem is the reason."""

    def __init__(self, row):
        if not isinstance(row, dict):
            raise Unreadable("a row is no object")
        for key in "work", "key", "who", "unit", "text":
            if not isinstance(row.get(key), str):
                raise Unreadable(f"a row has no text {key!r}")
        self.work, self.key, self.who = row["work"], row["key"], row["who"]
        self.unit, self.text = row["unit"], row["text"]
        self.problem = row.get("problem")
        self.median, self.samples = row.get("median"), row.get("samples", [])
        if self.problem is not None:
            self.problem, self.median, self.samples = str(self.problem), None, []
        elif not number(self.median) or not isinstance(self.samples, list) or not all(map(number, self.samples)):
            raise Unreadable(f"a row of {self.work} has no number for {self.who}")


class Results:
    def __init__(self, data):
        if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
            raise Unreadable("no object with rows")
        if data.get("schemaVersion") != SCHEMA:
            raise Unreadable(f"schemaVersion is not {SCHEMA}")
        self.rows = [Row(row) for row in data["rows"]]
        if not self.rows:
            raise Unreadable("there are no rows")
        self.works = list(dict.fromkeys(row.work for row in self.rows))
        machine, when = data.get("machine"), data.get("when")
        try:
            self.about = (f"{machine['cpu']}, {machine['cpus']} CPUs, Linux {machine['kernel']}; "
                          f"{repeats(data['repeats'])}; "
                          f"{time.strftime('%Y-%m-%d', time.gmtime(when))}")
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise Unreadable(f"machine, repeats or when is missing: {error!r}") from None

    def of(self, work, key):
        """The rows of this line, one for each participant, in the order of the bench."""
        return [row for row in self.rows if (row.work, row.key) == (work, key)]


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return Results(json.load(file))
    except OSError as error:
        raise Unreadable(error.strerror) from None
    except RecursionError:
        raise Unreadable("too deep") from None
    except ValueError as error:
        raise Unreadable(f"no JSON: {error}") from None
