#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make-html.py FOLDER VERSION - write the documentation as one site into FOLDER

README.md becomes index.html, docs/X.md docs/X.html, and man/PAGE man/PAGE.html, so a link leads to the same file as in the
tree. cmark-gfm renders the guides and mandoc the manual. Headings have the anchors that GitHub gives them. A link to a folder
leads to the list of its guides; a picture, a schema or a source file that is linked is copied. A reference to a page of another
manual is text. The same tree gives the same bytes. scripts/test-html.py follows every link.
"""
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STYLE = """body { margin: 0 auto; max-width: 60rem; padding: 0 1rem 4rem; font: 1rem/1.5 sans-serif; color: #222; background: #fff; }
nav { border-bottom: 1px solid #ccc; padding: .5rem 0; }
pre, code { font-family: monospace; font-size: .9rem; }
pre { overflow-x: auto; padding: .5rem; background: #f4f4f4; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid #ccc; padding: .2rem .5rem; text-align: left; vertical-align: top; }
table.head, table.foot { display: table; width: 100%; }
table.head td, table.foot td { border: 0; }
img { max-width: 100%; }
a { color: #05a; }
a.permalink { color: inherit; text-decoration: none; }
@media (prefers-color-scheme: dark) {
body { color: #ddd; background: #181818; }
pre { background: #262626; }
a { color: #8bf; }
}
"""


def anchor(text, seen):
    """The anchor that GitHub gives a heading; a second one of the same name gets a number."""
    name = re.sub(r"[^\w\- ]", "", html.unescape(re.sub(r"<[^>]*>", "", text)).lower()).replace(" ", "-")
    count = seen[name] = seen.get(name, -1) + 1
    return f"{name}-{count}" if count else name


def page(target, title, body, version):
    """A whole page. target: its path in the site."""
    up = "../" * (len(target.parts) - 1)
    links = [("index.html", "libfiber " + version), ("docs/index.html", "Guides"), ("man/index.html", "Manual")]
    nav = " · ".join(f'<a href="{up}{path}">{html.escape(name)}</a>' for path, name in links)
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
            f'<link rel="stylesheet" href="{up}style.css">\n</head>\n<body>\n<nav>{nav}</nav>\n{body}\n</body>\n</html>\n')


def title_of(source):
    return re.search(r"^# (.*)", source.read_text(encoding="utf-8"), flags=re.M)[1]


def target_of(source):
    """The path in the site of a guide, relative to the root of the tree."""
    return pathlib.Path("index.html") if source == pathlib.Path("README.md") else source.with_suffix(".html")


class Site:
    def __init__(self, folder, version):
        self.folder, self.version = folder, version
        self.guides = sorted(path.relative_to(ROOT) for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
        self.pages = sorted((ROOT / "man").glob("*.[1-9]"))

    def write(self, target, title, body):
        path = self.folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(target, title, body, self.version), encoding="utf-8")

    def link(self, source, address):
        """The address in the site of a link in a guide. A file that no page is made of is copied."""
        path, mark, name = address.partition("#")
        if re.match(r"[a-z]+:", address) or not path:
            return address
        there = pathlib.Path(os.path.normpath(source.parent / path))
        if there in self.guides:
            there = target_of(there)
        elif (ROOT / there).is_dir():
            there /= "index.html"
        elif (ROOT / there).is_file():
            (self.folder / there).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / there, self.folder / there)
        return os.path.relpath(there, target_of(source).parent) + mark + name

    def guide(self, source):
        body = subprocess.run(["cmark-gfm", "-e", "table", "-e", "strikethrough", ROOT / source], capture_output=True, text=True,
                              check=True).stdout.replace("<!-- raw HTML omitted -->\n", "")
        seen = {}
        body = re.sub(r"<(h[1-6])>(.*?)</\1>", lambda m: f'<{m[1]} id="{anchor(m[2], seen)}">{m[2]}</{m[1]}>', body, flags=re.S)
        body = re.sub(r'(?<= )(href|src)="([^"]*)"', lambda m: f'{m[1]}="{html.escape(self.link(source, html.unescape(m[2])))}"', body)
        self.write(target_of(source), title_of(ROOT / source), body)

    def contents(self, folder):
        """The list of the guides in and below a folder."""
        rows = "".join(f'<li><a href="{os.path.relpath(target_of(path), folder)}">{html.escape(title_of(ROOT / path))}</a></li>\n'
                       for path in self.guides if folder in path.parents)
        self.write(folder / "index.html", "Guides", f"<h1>Guides</h1>\n<ul>\n{rows}</ul>")

    def names(self):
        """The page of each name in the manual, such as fiber_join(3)."""
        found = {}
        for path in self.pages:
            section, text = path.suffix[1:], path.read_text(encoding="utf-8")
            found[path.stem, section] = path.name
            for name in re.findall(r"^\.Nm (\S+)", text.partition("\n.Sh SYNOPSIS")[0], flags=re.M):
                found.setdefault((name, section), path.name)
        return found

    def manual_page(self, path, names):
        """What mandoc makes of a page, with references to the pages of this manual only."""
        body = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S", path], capture_output=True, text=True,
                              check=True).stdout

        def refer(match):
            name, _, section = match[2].rpartition(".")
            there = names.get((html.unescape(name), section))
            return f'<a{match[1]}href="{there}.html"{match[3]}>{match[4]}</a>' if there else match[4]

        return re.sub(r'<a((?: class="[^"]*")? )href="([^"#:]+)"([^>]*)>(.*?)</a>', refer, body, flags=re.S)

    def manual(self):
        names = self.names()
        bodies = {path.name: self.manual_page(path, names) for path in self.pages}
        # mandoc writes a hyphen in a reference to a section as _ and in its anchor as -.
        ids = {name: {one.replace("-", "_"): one for one in re.findall(r' id="([^"]*)"', body)} for name, body in bodies.items()}
        for name, body in bodies.items():
            near = [(match.start(), match[1]) for match in re.finditer(r'class="Xr" href="([^"]*)\.html"', body)]

            def place(match, name=name, near=near):
                """A section of another page is named beside that page: "see Stack overflow in libfiber(7)"."""
                section = match[1].replace("-", "_")
                there = [(abs(at - match.start()), page) for at, page in near if section in ids[page]]
                if section in ids[name]:
                    return f'href="#{ids[name][section]}"'
                return f'href="{min(there)[1]}.html#{ids[min(there)[1]][section]}"' if there else match[0]

            body = re.sub(r'href="#([^"]*)"', place, body)
            stem, _, section = name.rpartition(".")
            self.write(pathlib.Path("man", name + ".html"), f"{stem}({section})", body)
        self.manual_contents(names)

    def manual_contents(self, names):
        rows = []
        for path in self.pages:
            text = path.read_text(encoding="utf-8")
            about = re.search(r"^\.Nd (.*)", text, flags=re.M)[1]
            others = [name for name, section in sorted(names) if names[name, section] == path.name and name != path.stem]
            rows.append(f'<li><a href="{path.name}.html">{path.stem}({path.suffix[1:]})</a>: {html.escape(about)}'
                        + (f'<br>{", ".join(map(html.escape, others))}' if others else "") + "</li>\n")
        self.write(pathlib.Path("man/index.html"), "Manual", f"<h1>Manual</h1>\n<ul>\n{''.join(rows)}</ul>")

    def build(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "style.css").write_text(STYLE, encoding="utf-8")
        for source in self.guides:
            self.guide(source)
        for folder in sorted({path.parent for path in self.guides} - {pathlib.Path(".")}):
            self.contents(folder)
        self.manual()


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: make-html.py FOLDER VERSION")
    for program in "cmark-gfm", "mandoc":
        if not shutil.which(program):
            sys.exit(f"make html: {program} is missing: run 'make deps'")
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    Site(folder.absolute(), sys.argv[2]).build()


if __name__ == "__main__":
    main()
