# SPDX-License-Identifier: MIT
"""matrix_rows.py - the ways in which test-matrix.py builds a program, one per line"""

# Where names come from: debug information (with inlined functions) or a symbol table; "": only module and offset.
DEBUG, SYMBOLS = "debug", "symbols"


class Row:
    """One way to build.

    files: what finish() does to the linked program. rules: False if the maze has no unwind rules. dim: a function with a rule
    that the tools may be unable to follow; then the walk must end there.
    """

    def __init__(self, name, flags, link="-pie", lib="archive", names=DEBUG, files="", cc="gcc", rules=True, core=False,
                 dim=""):
        self.name, self.flags, self.link, self.lib, self.names = name, flags.split(), link.split(), lib, names
        self.files, self.cc, self.rules, self.core, self.dim = files, cc, rules, core, dim

    def is_static(self):
        return "-static" in self.link or "-static-pie" in self.link


BARE_FRAMES = "-fno-asynchronous-unwind-tables -fno-unwind-tables"
ROWS = [
    Row("O0", "-g -O0", core=True),
    Row("O1", "-g -O1"),
    Row("O2", "-g -O2", core=True),
    Row("O3", "-g -O3"),
    Row("Os", "-g -Os"),
    Row("omit-frame-pointer", "-g -O1 -fomit-frame-pointer"),
    Row("keep-frame-pointer", "-g -O2 -fno-omit-frame-pointer"),
    Row("no-pie", "-g -O2 -fno-pie", link="-no-pie", core=True),
    Row("static", "-g -O2 -fno-pie", link="-static -no-pie", core=True),
    Row("static-no-table", "-g -O2 -fno-pie", link="-static -no-pie -Wl,--no-eh-frame-hdr"),
    Row("static-pie", "-g -O2 -fPIE", link="-static-pie", core=True),
    Row("static-stripped", "-g -O2 -fno-pie", link="-static -no-pie", names="", files="strip"),
    Row("shared", "-g -O2", lib="shared", core=True),
    Row("shared-stripped", "-g -O2", lib="stripped", names="", files="strip"),
    Row("lto", "-g -O2 -flto"),
    Row("lto-stripped", "-g -O2 -flto", names="", files="strip"),
    Row("debug-frame", "-g -O2 " + BARE_FRAMES, core=True),
    # libdw 0.188 loses rbx if a frame does not mention it, because its ABI rules name rax instead. maze_ruled needs rbx to find
    # the end of its frame. With .debug_frame only, libdw does the walk.
    Row("debug-frame-O0", "-g -O0 " + BARE_FRAMES, dim="maze_ruled"),
    Row("debug-frame-link", "-g -O2 " + BARE_FRAMES, files="strip link"),
    Row("no-rules", "-O2 " + BARE_FRAMES, names=SYMBOLS, rules=False),
    Row("no-rules-frame-pointer", "-O2 -fno-omit-frame-pointer " + BARE_FRAMES, names=SYMBOLS, rules=False),
    Row("no-debug", "-O2", names=SYMBOLS),
    Row("stripped", "-g -O2", names="", files="strip", core=True),
    Row("exported", "-g -O2", link="-pie -rdynamic", names="", files="strip"),
    Row("debuglink", "-g -O2", files="strip link", core=True),
    Row("debuglink-folder", "-g -O2", files="strip folder"),
    Row("build-id", "-g -O2", files="strip build-id"),
    Row("no-build-id", "-g -O2", link="-pie -Wl,--build-id=none"),
    Row("no-build-id-stripped", "-g -O2", link="-pie -Wl,--build-id=none", names="", files="strip"),
    Row("compressed", "-g -O2 -gz", link="-pie -gz"),
    Row("dwarf-4", "-g -O2 -gdwarf-4"),
    Row("split-dwarf", "-g -O2 -gsplit-dwarf"),
    Row("now-and-sections", "-g -O2 -ffunction-sections -fdata-sections", link="-pie -Wl,-z,now -Wl,--gc-sections"),
    Row("cf-protection", "-g -O2 -fcf-protection=full"),
    Row("no-cf-protection", "-g -O2 -fcf-protection=none"),
    Row("hardened", "-g -O2 -fstack-protector-all -fstack-clash-protection -D_FORTIFY_SOURCE=2"),
    Row("clang", "-g -O2", cc="clang"),
    Row("clang-O0", "-g -O0", cc="clang"),
    Row("fortified", "-g -O2 -D_FORTIFY_SOURCE=3"),
    Row("gold", "-g -O2", link="-pie -fuse-ld=gold"),
    Row("lld", "-g -O2", link="-pie -fuse-ld=lld"),
    Row("lld-stripped", "-g -O2", link="-pie -fuse-ld=lld", names="", files="strip"),
    Row("deleted", "-g -O2", files="delete"),
    Row("replaced", "-g -O2", files="replace"),
]
