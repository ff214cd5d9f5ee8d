#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-bench-pictures.py - check the pictures and the table that `make bench-pictures` makes

Runs bench/pictures/draw.py on small results and reads the files that it writes: what each bar, line and text says and where
it is, what is said about missing works, and that unreadable results change nothing. Prints TAP.
"""

import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parent.parent
DRAW = ROOT / "bench/pictures/draw.py"
sys.path[:0] = [str(ROOT / "bench/pictures"), str(ROOT / "bench")]
sys.dont_write_bytecode = True

import families  # noqa: E402
import minute  # noqa: E402
import rows  # noqa: E402
import svg  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
PAGE = f"# Before\n\n{minute.BEGIN}\nstale table\n{minute.END}\n\n# After\n"


def row(work, who, median, key="ns", unit="ns", text="", spread=0.0):
    return {"work": work, "key": key, "who": who, "unit": unit, "text": text or work, "median": median,
            "min": median, "samples": [median * (1 - spread), median, median * (1 + spread)]}


def run_of(*its_rows):
    return {"schemaVersion": 1, "when": 1_700_000_000, "machine": {"cpu": "A & B", "cpus": 2, "kernel": "6.1"},
            "load": [0, 0], "repeats": 3, "rows": list(its_rows)}


FEW = run_of(
    row("switch", "libfiber", 5.0, spread=0.1), row("switch", "ucontext", 250.0), row("switch", "boost.context", 4.0),
    row("yield-2", "libfiber", 10.0), row("yield-2", "Go", 40.0),
    {"work": "yield-2", "key": "ns", "who": "GNU Pth", "unit": "ns", "text": "y", "problem": "not installed: make deps-bench"},
    row("memory", "libfiber", 4632.1, "bytes", "B"), row("memory", "Go", 2725.4, "bytes", "B"),
    row("memory-new", "libfiber", 1259.0, "all", "B"),
    row("shared-q-16-1", "libfiber", 10.0, text="a <channel> & more, 1 carrier"), row("shared-q-16-1", "Go", 80.0),
    row("shared-q-16-2", "libfiber", 999.0, "cpu"), row("shared-q-16-2", "libfiber", 3.0, "steals", "per 1,000"),
    row("shared-q-16-2", "libfiber", 20.0, text="a <channel> & more, 2 carriers"), row("shared-q-16-2", "Go", 40.0),
    row("shared-q-16-4", "libfiber", 40.0), row("shared-q-16-4", "Go", 20.0),
    row("shared-q-16-8", "libfiber", 80.0), row("shared-q-16-8", "Go", 10.0),
)


class Drawn:
    """What a run of draw.py left: exit status, output, the page, the pictures by name."""

    def __init__(self, results, page=PAGE, old=(), seed="0"):
        with tempfile.TemporaryDirectory() as folder:
            source, target = os.path.join(folder, "last.json"), os.path.join(folder, "page.md")
            os.mkdir(pictures := os.path.join(folder, "pictures"))
            for name in old:
                pathlib.Path(pictures, f"{name}.svg").write_text("old", encoding="utf-8")
            if results is not None:
                pathlib.Path(source).write_text(results if isinstance(results, str) else json.dumps(results), encoding="utf-8")
            pathlib.Path(target).write_text(page, encoding="utf-8")
            done = subprocess.run([sys.executable, "-B", DRAW, source, pictures, target], capture_output=True, text=True,
                                  check=False, env={**os.environ, "PYTHONHASHSEED": seed})
            self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
            self.page = pathlib.Path(target).read_text(encoding="utf-8")
            self.files = {p.stem: p.read_text(encoding="utf-8") for p in pathlib.Path(pictures).iterdir()}

    def root(self, name):
        return ET.fromstring(self.files[name])


def by_id(root, name):
    return next(e for e in root.iter(f"{SVG}g") if e.get("id") == name)


def words(element):
    return [e.text for e in element.iter(f"{SVG}text")]


def lengths(panel):
    return [float(e.get("width")) for e in panel.iter(f"{SVG}rect")]


def need(condition, *said):
    if not condition:
        raise AssertionError(" ".join(map(str, said)))


def bars_have_the_lengths_of_the_values():
    panel = by_id(Drawn(FEW).root("switch"), "switch.ns")
    names = [w for w in words(panel) if w in ("libfiber", "boost.context", "ucontext")]
    need(names == ["libfiber", "boost.context", "ucontext"], "order:", names)
    ours, best, worst = lengths(panel)
    need(abs(best / ours - 4 / 5) < 0.01, "4 ns beside 5:", best, ours)
    need(abs(worst / ours - 6) < 0.01, "250 ns beside 5 is drawn as 6 times:", worst, ours)
    need([w for w in words(panel) if w.endswith(("ns", "\u00d7"))] == ["5.00 ns", "4.00 ns", "0.80\u00d7", "250 ns", "50\u00d7"],
         words(panel))


def only_a_bar_that_is_too_long_is_cut():
    panel = by_id(Drawn(FEW).root("switch"), "switch.ns")
    cuts = [e for e in panel.iter(f"{SVG}path") if "l5 -16" in e.get("d")]
    need(len(cuts) == 2, "two gaps in one bar:", len(cuts))
    need(not [e for e in by_id(Drawn(FEW).root("switch"), "yield-2.ns").iter(f"{SVG}path") if "l5 -16" in e.get("d")],
         "a cut in a bar of 4 times")


def the_spread_of_the_samples_is_drawn():
    panel = by_id(Drawn(FEW).root("switch"), "switch.ns")
    lines = [re.findall(r"[\d.]+", e.get("d")) for e in panel.iter(f"{SVG}path") if e.get("class") == "spread"]
    scale = lengths(panel)[0] / 5.0
    need(abs(float(lines[0][2]) - float(lines[0][0]) - 1.0 * scale) < 0.05, "4.5 to 5.5:", lines[0], scale)


def panels_of_one_scale_compare_with_each_other():
    root = Drawn(FEW).root("memory")
    waits, new = lengths(by_id(root, "memory.bytes"))[0], lengths(by_id(root, "memory-new.all"))[0]
    need(abs(new / waits - 1259 / 4632.1) < 0.01, new, waits)


def a_peer_without_a_value_says_why():
    said = words(by_id(Drawn(FEW).root("switch"), "yield-2.ns"))
    need(said[-2:] == ["GNU Pth", "not measured: not installed: make deps-bench"], said)


def missing_works_are_named_and_left_out():
    drawn = Drawn(FEW, old=["locks"])
    said = " ".join(words(drawn.root("switch")))
    need("Not in this run: codes, yield-1000," in said, said)
    need("switch.svg: not in this run: codes, yield-1000," in drawn.out, drawn.out)
    need(not [e for e in drawn.root("switch").iter(f"{SVG}g") if e.get("id", "").startswith("codes")], "a panel of codes")
    need("locks" not in drawn.files and "locks.svg: not made" in drawn.out, drawn.out)
    need("locks.svg" not in drawn.page and "pictures/switch.svg" in drawn.page, drawn.page)
    need("Not measured on both sides in this run: yield-1000, spawn-1000," in drawn.page, drawn.page)


def a_work_that_no_picture_shows_is_named():
    need("no picture shows: novel\n" in Drawn(run_of(*FEW["rows"], row("novel", "libfiber", 1))).out)
    need("no picture" not in Drawn(FEW).out)


def lines_go_through_the_values():
    root = Drawn(FEW).root("scale")
    points = {who: [tuple(map(float, p.split(","))) for p in next(by_id(root, f"shared-q-16.{who}").iter(f"{SVG}polyline"))
                    .get("points").split()] for who in ("libfiber", "Go")}
    ours, theirs = points["libfiber"], points["Go"]
    steps = [b[0] - a[0] for a, b in zip(ours, ours[1:])]
    need(len(ours) == 4 and max(steps) - min(steps) < 0.1 and min(steps) > 20, "carriers 1, 2, 4, 8:", ours)
    ups = [a[1] - b[1] for a, b in zip(ours, ours[1:])]
    need(max(ups) - min(ups) < 0.1 and min(ups) > 5, "10, 20, 40, 80 ns:", ours)
    need([y for _, y in theirs] == [y for _, y in reversed(ours)], "80, 40, 20, 10 ns:", theirs)
    said = words(by_id(root, "shared-q-16"))
    need(said[0] == "a <channel> & more" and "999 ns" not in said, said)
    need([w for w in said if w in "1 2 4 8".split()] == ["1", "2", "4", "8"], said)
    need({"libfiber", "Go"} <= set(words(root)), "the legend:", words(root))


def no_text_leaves_the_picture_or_meets_another():
    full = [row(work.name, who, 1.5 + 7.1 * i ** 3, line.key, line.unit, f"{work.text}, a rather long text")
            for work in rows.WORKS for line in work.lines for i, who in enumerate(work.runs)]
    drawn = Drawn(run_of(*full))
    need(set(drawn.files) == {f.name for f in families.FAMILIES} | {"scale"}, drawn.files.keys())
    for name in drawn.files:
        root, boxes = drawn.root(name), []
        for e in root.iter(f"{SVG}text"):
            sizes = {"title": 20, "head": 13, "note": 11, "value": 11}
            size = sizes.get((e.get("class") or "").split(" ")[0], 12)
            wide = svg.text_width(e.text, size, bold=size in (13, 20)) * 0.95
            left = float(e.get("x")) - {"end": wide, "middle": wide / 2}.get(e.get("text-anchor"), 0)
            y = float(e.get("y"))
            need(0 <= left and left + wide <= svg.WIDTH and 0 < y < float(root.get("height")), name, e.text, left, wide, y)
            for other, l, r, base in boxes if name != "scale" else ():
                need(abs(base - y) >= 11 or left >= r or left + wide <= l, f"{name}: {e.text!r} meets {other!r}")
            boxes.append((e.text, left, left + wide, y))


def pictures_have_a_background_and_a_description():
    for name, text in Drawn(FEW).files.items():
        root = ET.fromstring(text)
        shapes = [e for e in root if e.tag in (f"{SVG}rect", f"{SVG}text", f"{SVG}g")]
        need(shapes[0].tag == f"{SVG}rect" and shapes[0].get("fill") == svg.PAPER, name)
        need(float(shapes[0].get("width")) + 1 == float(root.get("width")), name)
        need(root.find(f"{SVG}title").text and root.find(f"{SVG}desc").text, name)
        need("A & B, 2 CPUs, Linux 6.1; median of 3 interleaved repeats; 2023-11-14" in words(root), name)


def equal_results_give_equal_files():
    first, second = Drawn(FEW, seed="1"), Drawn(FEW, seed="2")
    need(first.files == second.files and first.page == second.page and first.files)
    again = Drawn(FEW, page=first.page)
    need(again.page == first.page, "a second run changed the page")


def the_table_has_the_best_peer():
    two_forms_of_ours = copy.deepcopy(FEW)
    two_forms_of_ours["rows"].append(row("switch", "shared FPU", 3.0))
    page = Drawn(two_forms_of_ours).page
    need("| raw switch between two contexts | 5.00 ns | 4.00 ns | boost.context | 1.25 |\n" in page, page)
    need("| memory of a fiber that waits, without page tables | 4,632 B | 2,725 B | Go | 1.70 |\n" in page, page)
    fast = copy.deepcopy(FEW)
    fast["rows"][0]["median"] = 2.0
    need("| raw switch between two contexts | 2.00 ns | 4.00 ns | boost.context | **0.50** |\n" in Drawn(fast).page)


def the_page_changes_only_between_its_marks():
    page = Drawn(FEW).page
    need(page.startswith(f"# Before\n\n{minute.BEGIN}\n\nA & B") and page.endswith(f"{minute.END}\n\n# After\n"), page)
    need("stale" not in page, page)


def unreadable_results_give_one_line_and_change_nothing():
    broken = {
        "no file": None, "empty": "", "no JSON": "{", "deep": "[" * 100_000, "a number": "4", "no rows": "{}",
        "no object": run_of(4), "no rows in it": run_of(), "later": {**FEW, "schemaVersion": 2},
        "no machine": {**FEW, "machine": None}, "no time": {**FEW, "when": "today"}, "endless": {**FEW, "when": 1e300},
        "no repeats": {**FEW, "repeats": "x"},
    }
    for value in None, "5", -1, float("nan"), float("inf"), True, []:
        broken[f"median {value}"] = run_of({**row("switch", "libfiber", 1), "median": value})
    broken["a sample"] = run_of({**row("switch", "libfiber", 1), "samples": [1, "x"]})
    broken["a name"] = run_of({**row("switch", "libfiber", 1), "who": None})
    for what, results in broken.items():
        drawn = Drawn(results, old=["switch"])
        need(drawn.status == 2, what, "exit status", drawn.status, drawn.err)
        need(re.fullmatch(r"bench-pictures: \S+last\.json: no results of make bench: [^\n]+\n", drawn.err), what, drawn.err)
        need(drawn.page == PAGE and drawn.files == {"switch": "old"} and not drawn.out, what, "changed something")


def a_page_without_marks_gives_one_line_and_changes_nothing():
    for page in "# none\n", PAGE + PAGE, f"{minute.END}\n{minute.BEGIN}\n":
        drawn = Drawn(FEW, page=page)
        need(drawn.status == 2 and drawn.err.count("\n") == 1 and "page.md: must have the lines" in drawn.err, drawn.err)
        need(drawn.page == page and not drawn.files)


def usage_is_64():
    done = subprocess.run([sys.executable, "-B", DRAW], capture_output=True, text=True, check=False)
    need(done.returncode == 64 and done.stderr.startswith("usage: "), done)


def every_work_of_the_bench_has_its_place():
    known = {(work.name, line.key) for work in rows.WORKS for line in work.lines}
    named = {(work, key) for family in families.FAMILIES for work, key, _ in family.panels} | \
            {(work, key) for work, key, _ in minute.LINES}
    need(named <= known, "not in bench/rows.py:", sorted(named - known))
    shown = {work for work, _ in named} | set(families.NO_PICTURE)
    unseen = [w.name for w in rows.WORKS if w.name not in shown and not w.name.startswith(families.SHARED)]
    need(not unseen, "in no family of bench/pictures/families.py:", unseen)
    kinds = set(rows.PEERS) - {rows.UNWATCHABLE} - set(families.KIND_OF)
    need(not kinds, "no kind in bench/pictures/families.py:", kinds)


def the_page_of_this_tree_has_its_marks():
    page = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    minute.page_with(page, "")
    for picture in re.findall(r"!\[[^]]*\]\(([^)]*)\)", page):
        ET.parse(ROOT / "docs" / picture)


CHECKS = [
    bars_have_the_lengths_of_the_values, only_a_bar_that_is_too_long_is_cut, the_spread_of_the_samples_is_drawn,
    panels_of_one_scale_compare_with_each_other, a_peer_without_a_value_says_why, missing_works_are_named_and_left_out,
    a_work_that_no_picture_shows_is_named, lines_go_through_the_values, no_text_leaves_the_picture_or_meets_another,
    pictures_have_a_background_and_a_description, equal_results_give_equal_files, the_table_has_the_best_peer,
    the_page_changes_only_between_its_marks, unreadable_results_give_one_line_and_change_nothing,
    a_page_without_marks_gives_one_line_and_changes_nothing, usage_is_64, every_work_of_the_bench_has_its_place,
    the_page_of_this_tree_has_its_marks,
]


def main():
    wrong = 0
    for number, check in enumerate(CHECKS, 1):
        name = check.__name__.replace("_", " ")
        try:
            check()
            print(f"ok {number} - {name}")
        except Exception as error:
            wrong += 1
            print(f"not ok {number} - {name}\n# {error!r}")
    print(f"1..{len(CHECKS)}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
