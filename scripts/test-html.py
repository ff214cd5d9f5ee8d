#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-html.py - the site of `make html` has every guide and page, and every link in it leads somewhere

Writes the site into a temporary folder. Prints TAP. Every link and picture must lead to a file of the site, and every anchor to
an id of that file; no page loads anything from elsewhere. At the end, offences are planted in copies of the documents and must
be found.
"""
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Page(html.parser.HTMLParser):
    """The ids of a page, what it refers to, and what is not well-formed."""
    VOID = {"meta", "link", "img", "br", "hr", "col", "input"}

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.faults, self.open = set(), [], [], []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self.open if tag not in ("p", "li", "dt", "dd", "td", "tr")]

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in attrs:
            if attrs["id"] in self.ids:
                self.faults.append(f"two elements have the id {attrs['id']}")
            self.ids.add(attrs["id"])
        self.links += [(tag, attrs[key]) for key in ("href", "src") if key in attrs]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass
        else:
            self.faults.append(f"</{tag}> without <{tag}>")


def build(root, folder):
    subprocess.run([sys.executable, "-B", root / "scripts/make-html.py", folder, "1.2.3"], check=True)


def offences(folder):
    """Yield what is wrong in the site."""
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        where = path.relative_to(folder)
        for fault in page.faults:
            yield f"{where}: {fault}"
        for tag, address in page.links:
            url = urllib.parse.urlsplit(address)
            if url.scheme or url.netloc:
                if tag != "a":
                    yield f"{where}: loads {address}"
                continue
            there = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if not there.is_file() or folder not in there.parents:
                yield f"{where}: {address}: no such file in the site"
            elif url.fragment and there in pages and urllib.parse.unquote(url.fragment) not in pages[there].ids:
                yield f"{where}: {address}: no such place in the page"


def expected():
    """The pages that the documents of the tree become."""
    guides = [path.relative_to(ROOT).with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    manual = [pathlib.Path("man", path.name + ".html") for path in (ROOT / "man").glob("*.[1-9]")]
    return [pathlib.Path("index.html"), *guides, *manual]


def links_of(folder, page):
    return {address for _, address in Page(folder / page).links}


# File, text in it, replacement, what is found.
PLANTED = [
    ("README.md", "](docs/tour.md)", "](docs/detour.md)", "index.html: docs/detour.md: no such file in the site"),
    ("README.md", "MIT licence.", "![picture](https://example.invalid/x.png)", "index.html: loads https://example.invalid/x.png"),
    ("docs/debugging.md", "](#it-does-not-answer)", "](#it-does)", "docs/debugging.html: #it-does: no such place in the page"),
    ("docs/porting.md", "# ", "[up](../../out.md)\n\n# ", "docs/porting.html: ../../out.md: no such file in the site"),
]


def planted(folder):
    """Yield the offences that are planted in a copy and not found."""
    copy = folder / "copy"
    copy.mkdir()
    for name in "docs", "man", "scripts", "examples", "fixtures":
        shutil.copytree(ROOT / name, copy / name)
    shutil.copy(ROOT / "README.md", copy)
    for file, old, new, _ in PLANTED:
        text = (copy / file).read_text(encoding="utf-8")
        if old not in text:
            yield f"{file} has no {old}"
        (copy / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    build(copy, copy / "out")
    found = set(offences((copy / "out").resolve()))
    yield from (what for *_, what in PLANTED if what not in found)


def same_twice(folder):
    build(ROOT, folder / "again")
    said = subprocess.run(["diff", "-r", folder / "site", folder / "again"], capture_output=True, text=True, check=False)
    return said.stdout.splitlines()


def main():
    for program in "cmark-gfm", "mandoc":
        if not shutil.which(program):
            print(f"1..0 # SKIP missing: {program} (make deps)")
            return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        site = folder / "site"
        build(ROOT, site)
        markers = {"docs/tour.html", "docs/index.html", "man/index.html"} - links_of(site, "index.html")
        join = {"fiber_spawn.3.html"} - links_of(site, "man/fiber_group.3.html")
        plain = [f"{path}: {m}" for path in site.rglob("*.html")
                 for m in re.findall(r"raw HTML omitted", path.read_text(encoding="utf-8"))]
        results = [
            ("the site has a page for each guide and each page of the manual", [p for p in expected() if not (site / p).is_file()]),
            ("the first page leads to the guides and the manual", sorted(markers)),
            ("a name in the manual leads to the page that describes it", sorted(join)),
            ("every link leads to a file and a place of the site", list(offences(site))),
            ("no part of a guide is left out", plain),
            ("the same tree gives the same bytes", same_twice(folder)),
            ("planted offences are found", list(planted(folder))),
        ]
    print(f"1..{len(results)}")
    for i, (what, faults) in enumerate(results, 1):
        print(f"{'not ok' if faults else 'ok'} {i} - {what}")
        for fault in faults[:20]:
            print(f"# {fault}", file=sys.stderr)
    return any(faults for _, faults in results)


if __name__ == "__main__":
    sys.exit(main())
