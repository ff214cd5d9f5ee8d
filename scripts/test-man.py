#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-man.py - check the manual against the headers, the examples and the tools' help

Reads man/*.3, the public headers and examples/. Prints TAP:

  synopsis     every public function is in the SYNOPSIS of one page, with the declaration of its header
  names        NAME lists what SYNOPSIS declares, so that `man fiber_join` finds its page
  sections     every page has the same sections, in the same order
  concurrency  the table in CONCURRENCY has a row for every function of the page, with its allowed callers
  examples     a block in EXAMPLES is an excerpt of a file in examples/, or of its output
  tried        every example is run by tests/cli/test_examples.c, and they are numbered without a gap; examples of
               tests (NN_test.c, NN_test_*.c) are run by tests/cli/test_explore_examples.c
  table        fiber_test(3) has the table of docs/testing.md that `make bench-test` prints
  index        libfiber(7) names every page, and the functions that a signal handler may call
  commands     fiberctl(1) has every command, with its line in SYNOPSIS, every topic and every option that
               `fiberctl --help` and the help of each command name, and no other; fibertrace(1), fibertest(1) and
               fiberize(1) likewise
  serve        fiberctl-serve(1) has the options of `fiberctl help serve`, and the paths of docs/schema/openapi.json, each
               with its parameters

A comment before a block in EXAMPLES gives its origin: `.\\" from 01_hello.c` for lines of that file, which may
be less indented; `.\\" printed by 01_hello`, perhaps with arguments, for lines of its output, in which numbers may differ. `.\\" program book` is a
whole program, linked with libfiber-test, and `.\\" printed by program book` its output. The build
folder is $FIBER_BUILD. At the end, offences of each kind are planted in a copy and must be found.
"""
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("FIBER_BUILD", ROOT / "build"))
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUES", "EXAMPLES", "ERRORS", "CONCURRENCY", "SEE ALSO"]
TLS_HEADER = "libfiber-tls/include/fiber/tls.h"
TEST_HEADER = "libfiber-test/include/fiber/test.h"
CALLERS = 4  # columns of the table: fiber, pinned fiber, thread, signal handler
CELLS = {"yes", "no", "waits", "policy", "aborts", "nothing", "Er -EPERM", "Dv NULL"}


def squeeze(text):
    """A declaration without insignificant blanks."""
    return re.sub(r"\s*([*(),])\s*", r"\1", " ".join(text.split()))


def declared(root):
    """Public functions by name: their declarations."""
    found = {}
    for header in sorted([*(root / "libfiber/include/fiber").glob("*.h"), root / TLS_HEADER]):
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.S)
        for one in re.findall(r"^FIBER_API\s+(.*?);", text, flags=re.S | re.M):
            one = re.sub(r"__attribute__\(\(.*\)\)\s*$", "", one, flags=re.S)
            one = squeeze(one.replace("FIBER_NORETURN", ""))
            found[re.search(r"(fiber_\w+)\(", one).group(1)] = one
    return found | declared_by_test(root)


def declared_by_test(root):
    """The functions of libfiber-test: its header has no FIBER_API. The weak ones are for macros."""
    text = re.sub(r"/\*.*?\*/", " ", (root / TEST_HEADER).read_text(), flags=re.S)
    text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r"_Noreturn|\[\[noreturn\]\]|__attribute__\(\(.*\)\)", "", text)
    found = re.findall(r"^((?:int|void|bool|unsigned|uint64_t|const char \*)\s*(fiber_test_(?!weak_)\w+)\([^;]*\))\s*;",
                       text, flags=re.M)
    return {name: squeeze(one) for one, name in found}


def macros(root):
    headers = [*(root / "libfiber/include/fiber").glob("*.h"), root / TEST_HEADER]
    text = "".join(h.read_text() for h in headers)
    return set(re.findall(r"^#define (FIBER_\w+|fiber_test\w*)", text, flags=re.M))


def sections(page):
    """The sections of a page: name, lines."""
    found = []
    for line in page.read_text().splitlines():
        if line.startswith(".Sh "):
            found.append((line[4:], []))
        elif found:
            found[-1][1].append(line)
    return found


def words(line):
    """The arguments of a macro."""
    return [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', line)]


def synopsis(lines):
    """Declarations in a SYNOPSIS, by name."""
    found, kind, name, args = {}, "", None, []
    for line in lines:
        macro, *rest = words(line) or [""]
        if macro == ".Ft":
            kind = " ".join(rest)
        elif macro == ".Fn":
            found[rest[0]] = squeeze(f"{kind} {rest[0]}({', '.join(rest[1:])})")
        elif macro == ".Fo":
            name, args = rest[0], []
        elif macro == ".Fa" and name:
            args.append(" ".join(rest))
        elif macro == ".Fc":
            found[name] = squeeze(f"{kind} {name}({', '.join(args)})")
            name = None
    return found


def callers(found):
    """The cells of the table in CONCURRENCY, by function."""
    rows = [line[7:].split(" Ta ") for line in found.get("CONCURRENCY", []) if line.startswith(".It Fn ")]
    return {row[0]: row[1:] for row in rows if len(row) == CALLERS + 1 and CELLS.issuperset(row[1:])}


def handlers_may(lines):
    """The functions that a signal handler may call according to libfiber(7)."""
    said = "\n".join(lines).partition("In a signal handler")[2]
    return set(re.findall(r"^\.Fn (\w+)", said, flags=re.M))


def blocks(lines):
    """Yield the literal blocks of EXAMPLES: the comment before them, their lines as printed."""
    origin, block = None, None
    for line in lines:
        if line.startswith('.\\" '):
            origin = line[4:]
        elif line.startswith(".Bd"):
            block = []
        elif line == ".Ed":
            yield origin, block
            origin, block = None, None
        elif block is not None:
            block.append(line.replace("\\&", "").replace("\\e", "\\"))


def is_excerpt(block, text):
    """Check whether the block is an excerpt of the text, perhaps with fewer tabs of indentation."""
    lines = text.splitlines()
    for depth in range(4):
        less = [line[depth:] if line[:depth] == "\t" * depth else None if line else "" for line in lines]
        for at in range(len(less) - len(block) + 1):
            if less[at:at + len(block)] == block:
                return True
    return False


def without_numbers(text):
    return re.sub(r"ft1-[0-9a-z]{4}-[0-9a-z]+|0x[0-9a-f]+|[0-9]+(\.[0-9]+)?", "N", text)


@functools.cache
def build_and_run(name, text):
    """The output of a program of a page, linked with libfiber-test."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / f"{name}.c").write_text(text)
        libs = subprocess.run(["pkg-config", "--libs", "liburing", "libdw"], capture_output=True, text=True, check=True)
        subprocess.run([os.environ.get("CC", "cc"), "-g", f"-I{ROOT}/libfiber/include", f"-I{ROOT}/libfiber-test/include",
                        f"{name}.c", BUILD / "lib/libfiber-test.a", *libs.stdout.split(), "-o", name], cwd=folder, check=True)
        return subprocess.run([f"./{name}"], cwd=folder, capture_output=True, text=True, timeout=60, check=False).stdout


def check_example(root, origin, block, programs):
    words_of = (origin or "").split()
    if len(words_of) == 2 and words_of[0] == "program":
        programs[words_of[1]] = "\n".join(block) + "\n"
        return None
    if len(words_of) == 4 and words_of[:3] == ["printed", "by", "program"]:
        said = without_numbers(build_and_run(words_of[3], programs[words_of[3]]))
        lines = without_numbers("\n".join(block)).splitlines()
        return None if is_excerpt(lines, said) else f"the program {words_of[3]} does not print: {block[0]}"
    if len(words_of) == 2 and words_of[0] == "from":
        path = root / "examples" / words_of[1]
        if not path.is_file():
            return f"there is no {path.name}"
        return None if is_excerpt(block, path.read_text()) else f"not in {path.name}: {block[0]}"
    if len(words_of) >= 3 and words_of[:2] == ["printed", "by"]:
        program, arguments = BUILD / "examples" / words_of[2], words_of[3:]
        # With an argument, an example of a test finds its bug, and exits with 1.
        said = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=not arguments).stdout
        if "cannot be walked" in said:
            return None  # pages show the output of ports with walkable stacks
        block = without_numbers("\n".join(block)).splitlines()
        return None if is_excerpt(block, without_numbers(said)) else f"{program.name} does not print: {block[0]}"
    return f"a block that does not say where it is from: {block[0]}"


def check_examples(root, found):
    given, programs = list(blocks(found.get("EXAMPLES", []))), {}
    if not given:
        yield "there is none"
    for origin, block in given:
        wrong = check_example(root, origin, block, programs)
        if wrong:
            yield wrong


def check_page(root, page, known):
    """Yield what is wrong with one page, as (check, text)."""
    found = sections(page)
    if [name for name, _ in found] != SECTIONS:
        yield "sections", f"has {[name for name, _ in found]}"
    found = dict(found)
    functions = synopsis(found.get("SYNOPSIS", []))
    for name, declaration in functions.items():
        if declaration != known.get(name):
            yield "synopsis", f"{declaration} is declared {known.get(name)}"
    names = {words(line)[1] for line in found.get("NAME", []) if line.startswith(".Nm")}
    for name in names ^ set(functions):
        if name not in macros(root):
            yield "names", f"{name} is not in both NAME and SYNOPSIS"
    for name in set(functions) ^ set(callers(found)):
        yield "concurrency", f"{name} has no row of {CALLERS} words, or one too many"
    for wrong in check_examples(root, found):
        yield "examples", wrong


def check_tree(root, offer):
    known = declared(root)
    for wrong in check_commands(root, offer):
        yield "commands", f"fiberctl.1: {wrong}"
    index = (root / "man/libfiber.7").read_text()
    where, signals = {}, set()
    for page in sorted((root / "man").glob("*.3")):
        for check, text in check_page(root, page, known):
            yield check, f"{page.name}: {text}"
        for name in synopsis(dict(sections(page)).get("SYNOPSIS", [])):
            where.setdefault(name, []).append(page.name)
        if f".Xr {page.stem} 3" not in index:
            yield "index", f"{page.name} is not named in libfiber.7"
        rows = callers(dict(sections(page)))
        signals |= {name for name, cells in rows.items() if cells[-1] == "yes"}
    for page in sorted((root / "man").glob("*-*.7")):
        if f".Xr {page.stem} 7" not in index:
            yield "index", f"{page.name} is not named in libfiber.7"
    found = dict(sections(root / "man/libfiber.7"))
    for name, lines in ("libfiber.7", found), ("fiber-testing.7", dict(sections(root / "man/fiber-testing.7"))):
        for wrong in check_examples(root, lines):
            yield "examples", f"{name}: {wrong}"
    for name in signals ^ handlers_may(found["CONCURRENCY"]):
        yield "index", f"{name}: its page and libfiber.7 disagree about signal handlers"
    for name in known:
        if len(where.get(name, [])) != 1:
            yield "synopsis", f"{name} is in {len(where.get(name, []))} pages, should be in one"
    yield from (("tried", text) for text in check_tried(root))
    yield from (("table", text) for text in check_table(root))
    yield from (("serve", text) for text in check_serve(root))


def check_table(root):
    """Yield the rows that are not in both tables. Row: name, numbers; notes in brackets are left out."""
    text = re.search(r"^\| bug \|.*\n\|-.*\n((?:\|.*\n)+)", (root / "docs/testing.md").read_text(), flags=re.M)[1]
    there = {tuple(re.sub(r" \(.*\)|`| fibers", "", cell).strip().replace(",", "") for cell in line.strip("|").split("|"))
             for line in text.splitlines()}
    lines = dict(sections(root / "man/fiber_test.3"))["DESCRIPTION"]
    here = {tuple(cell.replace("\\-", "-").replace(",", "") for cell in line[4:].split(" Ta "))
            for line in lines if line.startswith(".It ") and line.count(" Ta ") == 8 and not line.startswith(".It Em")}
    for row in sorted(there ^ here):
        yield f"{row[0]}: fiber_test(3) and docs/testing.md differ"


def check_tried(root):
    """Yield the examples that no test runs, or whose number is not the next one."""
    tried = (root / "tests/cli/test_examples.c").read_text()
    explored = (root / "tests/cli/test_explore_examples.c").read_text()
    every = sorted((root / "examples").glob("*.c"))
    tests = [example for example in every if re.match(r"2\d_test(_|$)", example.stem)]
    for i, example in enumerate([example for example in every if example not in tests], 1):
        if f'{{"{example.stem}",' not in tried or not example.name.startswith(f"{i:02}_"):
            yield f"{example.name} is not number {i}, or not in tests/cli/test_examples.c"
    for example in tests:
        if f'{{"{example.stem}",' not in explored:
            yield f"{example.name} is not in tests/cli/test_explore_examples.c"


def tool(name, *arguments):
    """The output of a tool."""
    return subprocess.run([BUILD / "bin" / name, *arguments], capture_output=True, text=True, timeout=60,
                          check=True).stdout


def offered(name):
    """The commands, topics and options in the help of a tool."""
    before, _, rest = tool(name, "--help").partition(f"\n{name} help TOPIC:\n")
    commands = re.findall(r"^  ([a-z][a-z-]*) ", before, flags=re.M)
    topics = re.findall(r"^  ([a-z][a-z-]*) ", rest, flags=re.M)
    options = set(re.findall(r"--([a-z-]+)", (rest or before).partition("Exit status")[0]))
    for command in commands:
        options |= set(re.findall(r"^  ...\s+--([a-z-]+)", tool(name, "help", command), flags=re.M))
    return commands, topics, options


def check_commands(root, offer):
    for page, offers in offer.items():
        yield from (f"{page}: {said}" for said in check_tool(root, page, offers))


def check_tool(root, page, offers):
    commands, topics, options = offers
    found = dict(sections(root / f"man/{page}.1"))
    text = "\n".join(found["DESCRIPTION"])
    described = set(re.findall(r"^\.It Cm ([a-z-]+)\b", text, flags=re.M)) - {"help"}
    called = set(re.findall(r"^\.Cm ([a-z-]+)$", "\n".join(found["SYNOPSIS"]), flags=re.M)) - {"help"}
    for name in described ^ set(commands):
        yield f"{name}: a command without a section, or a section without a command"
    # The synopsis of fibertrace has one line for all commands.
    for name in called ^ set(commands) if page == "fiberctl" else ():
        yield f"{name}: not in both SYNOPSIS and `fiberctl --help`"
    for name in set(re.findall(r"^\.It Cm help ([a-z-]+)$", text, flags=re.M)) ^ set(topics):
        yield f"{name}: a topic that is not in the page, or no topic"
    flags = {name for line in re.findall(r"^\.It (Fl .*)$", text, flags=re.M) for name in re.findall(r"Fl -([a-z-]+)", line)}
    for name in flags ^ options:
        yield f"--{name}: an option that is not in the page, or no option"


def described(lines):
    """The paths of fiberctl-serve(1) with the words that are marked as parameters below each."""
    found, path = {}, None
    for line in lines:
        if line.startswith(".It Pa /"):
            path = line[7:].replace("PROGRAM", "{program}").replace("ID", "{recording}")
            found.setdefault(path, set())
        elif line.startswith((".It", ".El", ".Ss")):
            path = None
        elif path and line.startswith(".Va "):
            found[path] |= set(re.findall(r"[a-z-]+", line[4:]))
    return found


def check_serve(root):
    """Yield where fiberctl-serve(1) differs from the help, and from the paths and parameters of the server."""
    page = root / "man/fiberctl-serve.1"
    helped = set(re.findall(r"^      --([a-z-]+)", tool("fiberctl", "help", "serve"), flags=re.M))
    for name in helped ^ set(re.findall(r"^\.It Fl -([a-z-]+)", page.read_text(), flags=re.M)):
        yield f"--{name}: an option that is not in the page, or no option"
    api = json.loads((root / "docs/schema/openapi.json").read_text())
    there = {}
    for path, item in api["paths"].items():
        refs = [p for operation in item.values() for p in operation.get("parameters", [])]
        refs = [api["components"]["parameters"][p["$ref"].rpartition("/")[2]] if "$ref" in p else p for p in refs]
        there[path] = {p["name"] for p in refs if p["in"] == "query"} - {"after"}
    del there["/"]  # it has a section of its own
    here = described(line for name, lines in sections(page) if name == "DESCRIPTION" for line in lines)
    for path in sorted(set(here) ^ set(there)):
        yield f"{path}: not in both the page and docs/schema/openapi.json"
    for path in sorted(set(here) & set(there)):
        # The text below the list of profiles has the parameter that they share.
        missing = there[path] - here[path] - ({"process", "seconds"} if path.startswith("/debug/pprof/") else set())
        for name in sorted(missing | (here[path] - there[path])):
            yield f"{path}: parameter {name}: not in both the page and docs/schema/openapi.json"


CHECKS = ["synopsis", "names", "sections", "concurrency", "examples", "tried", "table", "index", "commands", "serve"]
# Offences of each kind: check, file, text in it, replacement.
PLANTED = [
    ("synopsis", "man/fiber_chan.3", '"const void *elem"', '"void *elem"'),
    ("synopsis", "libfiber-test/include/fiber/test.h", "bool fiber_test_running(void)", "int fiber_test_running(void)"),
    ("examples", "man/fiber_test.3", "f->seats -= seat;", "f->seats -= 0;"),
    ("synopsis", "libfiber/include/fiber/chan.h", "FIBER_API int fiber_chan_close(",
     "FIBER_API int fiber_chan_other(void);\nFIBER_API int fiber_chan_close("),
    ("names", "man/fiber_chan.3", ".Nm fiber_chan_recv ,\n", ""),
    ("sections", "man/fiber_chan.3", ".Sh ERRORS", ".Sh MISTAKES"),
    ("concurrency", "man/fiber_chan.3", "policy Ta", "maybe Ta"),
    ("examples", "man/fiber_chan.3", "sum += n;", "sum -= n;"),
    ("tried", "tests/cli/test_examples.c", '"03_pipeline"', '"03_pipe"'),
    ("tried", "tests/cli/test_explore_examples.c", '"25_test_linear"', '"25_test_line"'),
    ("table", "man/fiber_test.3", ".It aba_stack Ta 30 ", ".It aba_stack Ta 31 "),
    ("table", "docs/testing.md", "| `noise` | 5 |", "| `noise` | 6 |"),
    ("index", "man/libfiber.7", ".Xr fiber_chan 3", ".Xr fiber_chan 7"),
    ("index", "man/libfiber.7", ".Xr libfiber-sanitizers 7", ".Xr libfiber-sanitizers 3"),
    ("index", "man/libfiber.7", ".Xr fiber-testing 7", ".Xr fiber-testing 3"),
    ("examples", "man/fiber-testing.7", "counter.n == 2);", "counter.n == 3);"),
    ("index", "man/fiber_park.3", ".It Fn fiber_unpark Ta yes Ta yes Ta yes Ta no",
     ".It Fn fiber_unpark Ta yes Ta yes Ta yes Ta yes"),
    ("commands", "man/fiberctl.1", ".It Cm cancel Ar process id\n", ".Pp\n"),
    ("commands", "man/fibertrace.1", ".It Fl -svg Ar file\n", ".It Fl -sgv Ar file\n"),
    ("commands", "man/fibertest.1", ".It Fl -slack Ar time\n", ".It Fl -slow Ar time\n"),
    ("commands", "man/fiberize.1", ".It Fl -stack Ar size\n", ".It Fl -stacks Ar size\n"),
    ("commands", "man/fibertrace.1", ".It Cm tree\n", ".It Cm forest\n"),
    ("commands", "man/fiberctl.1", ".It Fl a , Fl -all\n", ".It Fl a , Fl -every\n"),
    ("commands", "man/fiberctl.1", ".It Cm help wait-kinds\n", ".It Cm help waits\n"),
    ("serve", "man/fiberctl-serve.1", ".It Fl -token-file Ar file\n", ".It Fl -token Ar file\n"),
    ("serve", "man/fiberctl-serve.1", ".It Pa /api/v1/session\n", ".It Pa /api/v1/sessions\n"),
    ("serve", "man/fiberctl-serve.1", ".Va where , sort , limit , group-by , columns .\n", ".Va where , sort , limit , columns .\n"),
    ("serve", "docs/schema/openapi.json", '"/debug/pprof/mutex": {', '"/debug/pprof/locks": {'),
]


def self_test(offer):
    """Yield the planted offences that are not found."""
    for check, name, before, after in PLANTED:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for part in ["man", "examples", "libfiber/include/fiber", "libfiber-test/include/fiber",
                         "libfiber-tls/include/fiber"]:
                shutil.copytree(ROOT / part, root / part)
            for file in ["tests/cli/test_examples.c", "tests/cli/test_explore_examples.c", "docs/testing.md",
                         "docs/schema/openapi.json"]:
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, root / file)
            text = (root / name).read_text()
            (root / name).write_text(text.replace(before, after))
            if before not in text or check not in {c for c, _ in check_tree(root, offer)}:
                yield f"{check}: {name}: {before!r}"


def main():
    if os.environ.get("FIBER_SAN"):
        print("1..0 # SKIP the manual is the same under a sanitizer")
        return 0
    offer = {name: offered(name) for name in ("fiberctl", "fibertrace", "fibertest", "fiberize")}
    wrong = list(check_tree(ROOT, offer)) + [("self-test", text) for text in self_test(offer)]
    for number, check in enumerate(CHECKS + ["self-test"], 1):
        said = [text for c, text in wrong if c == check]
        print(f"{'not ok' if said else 'ok'} {number} - the manual: {check}")
        for text in said:
            print(f"# {text}", file=sys.stderr)
    print(f"1..{len(CHECKS) + 1}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
