# SPDX-License-Identifier: MIT
#
# libfiber-gdb.py - the fibers of a program in gdb, live and in cores
#
#   info fibers [REGEX]              every fiber, or those whose line matches
#   fiber [N]                        which one is selected; select one: bt, up, frame, info locals are then of its frames
#   fiber off                        back to the thread
#   fiber bt [--all-frames] [N]      backtrace of the selected one, or of fiber N
#   fiber apply all|N... COMMAND     the command in the frames of each
#   fiber find REGEX                 those with a name, a wait or a function in their frames that matches
#
# A fiber that does not run has its registers in its record. gdb walks from a thread's registers, and to write a fiber's there
# would change a program that is to go on, and cannot be done to a core. So nothing is written: an unwinder says of the innermost
# frame of the thread at hand that its caller is the fiber. Frame 0 is then still the thread's, and the fiber's begin behind it;
# backtraces leave frame 0 out. They leave out frames inside the library too, but for the function that the program called.
#
# Records are found like any reader outside the process finds them (libfiber/include/fiber_layout.h): by the symbol fiber_registry, or,
# where that was stripped, by the ELF note "fiber". No debug information is needed, and none of this program's types.
#
# One of the parts that are put together, in this order, to libfiber-gdb.py (Makefile): registry.py, fibers.py, frames.py,
# commands.py. What a part uses and does not have is in another.
import re
import struct

import gdb

MAGIC = b"FIBERREG"
HEAD = struct.Struct("<8sIIIIQIIQQQQQIII")  # struct fib_layout up to its fields
FIELDS, OBJECTS, STATE_NAMES, WAIT_NAMES, LAYOUT_SIZE = 92, 348, 604, 732, 1324
(SP, FP, PC, SEQ, SINCE, STATE, WAIT_KIND, FLAGS, CARRIER, PINS, WAIT_OBJECT, WAIT_ARG, DEADLINE, CPU, ID, PARENT, STACK_LOW,
 STACK_SIZE, SPAWN_PC, ENTRY, NAME) = range(21)
NEEDED = (SP, 8), (PC, 8), (SEQ, 8), (STATE, 1), (ID, 8), (STACK_LOW, 8), (STACK_SIZE, 8)
CREATED, RUNNABLE, RUNNING, SUSPENDED, DEAD = range(5)
WAIT_NONE, WAIT_YIELD, WAIT_JOIN, WAIT_FD = 0, 1, 5, 19
HOLDER_THREAD, HOLDER_CONTENDED = 1 << 63, 1 << 62
RECIPE_CFI, RECIPE_SAVED = 1, 2
REGISTER_COUNT, REGISTERS_MOST, LAYOUT_SIZE_SAVED = 1324, 24, 1432  # behind what every registry has
CODE_RANGES, LAYOUT_SIZE_CODE = 4, 1496  # behind the table of registers
BASE_RECORD, BASE_STACK, BASE_CONTEXT, BASE_SP = 1, 2, 3, 4
REGISTER_SP, REGISTER_PC = 254, 255
# The registers of a machine, by its number in ELF: stack pointer, program counter, frame pointer.
REGISTERS = {62: ("rsp", "rip", "rbp")}
# Those that a fiber of another library may have saved besides, by DWARF's numbers.
SAVED = {62: {3: "rbx", 6: "rbp", 12: "r12", 13: "r13", 14: "r14", 15: "r15"}}
PIECE = 1 << 20
HOLES_MOST = 64
FRAMES_MOST = 256
GUARD_UNITS, GUARD_UNIT = 27, 4096  # a field behind the others
GUARD = 1 << 14  # below a stack, where the program does not say how much
NOTES_MOST = 256
MODULES_MOST = 4096
NOWHERE = 0x800  # a stack pointer of one that has not begun: nothing can be read there


def read(address, size):
    """Bytes of the program's memory; gdb.MemoryError."""
    return bytes(gdb.selected_inferior().read_memory(address, size))


def word(address):
    return struct.unpack("<Q", read(address, 8))[0]


def plain(data):
    """A text of the program, harmless for a terminal."""
    text = data.split(b"\0")[0].decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\\x%02x" % ord(c) for c in text)


class Layout:
    """What the registry says of itself; gdb.GdbError when it cannot be used."""

    def __init__(self, address):
        data = read(address, LAYOUT_SIZE)
        (magic, version, size, self.machine, self.recipe, self.records, self.record_size, count, self.committed, capacity,
         self.entry_low, self.entry_high, self.clock, self.carriers, states, waits) = HEAD.unpack_from(data)
        if magic == bytes(8):
            raise gdb.GdbError("no fiber runtime has been started yet")
        if magic != MAGIC or version != 1 or size < LAYOUT_SIZE:
            raise gdb.GdbError("the fiber registry at %#x is damaged, or of another version" % address)
        if not 64 <= self.record_size <= 4096 or not self.committed <= capacity <= 1 << 32 or count > 64 or states > 8 or waits > 32:
            raise gdb.GdbError("the fiber registry at %#x has impossible numbers" % address)
        self.fields = [struct.unpack_from("<HH", data, FIELDS + 4 * i) for i in range(count)]
        if any(offset + size > self.record_size for offset, size in self.fields):
            raise gdb.GdbError("the fiber registry at %#x has a field outside its record" % address)
        if any(count <= field or self.fields[field][1] != size for field, size in NEEDED):
            raise gdb.GdbError("the fiber registry at %#x lacks a field that every reader needs" % address)
        self.objects = [struct.unpack_from("<HHHH", data, OBJECTS + 8 * i) for i in range(32)]
        self.states = [plain(data[STATE_NAMES + 16 * i:STATE_NAMES + 16 * i + 16]) for i in range(8)]
        self.waits = [plain(data[WAIT_NAMES + 16 * i:WAIT_NAMES + 16 * i + 16]) for i in range(32)]

        self.saved = self.table_of_registers(address) if self.recipe == RECIPE_SAVED and size >= LAYOUT_SIZE_SAVED else []
        self.functions = {}  # their names, by address
        self.code = self.table_of_code(address) if size >= LAYOUT_SIZE_CODE else []

    def table_of_code(self, address):
        """Where the library's own code is: pairs of addresses."""
        data = read(address + LAYOUT_SIZE_SAVED, 16 * CODE_RANGES)
        ranges = [struct.unpack_from("<QQ", data, 16 * i) for i in range(CODE_RANGES)]
        return [(low, high) for low, high in ranges if low < high]

    def is_entry(self, pc):
        return self.entry_low <= pc < self.entry_high

    def is_library(self, pc):
        """Whether code of the library is at this address; False where the registry does not say."""
        return any(low <= pc < high for low, high in self.code) or (self.is_entry(pc) and bool(self.code))

    def table_of_registers(self, address):
        """Where another library saves its registers: number, what the offset counts from, offset."""
        data = read(address + REGISTER_COUNT, LAYOUT_SIZE_SAVED - REGISTER_COUNT)
        count, self.context, size = struct.unpack_from("<IHH", data)
        table = [struct.unpack_from("<BBH", data, 8 + 4 * i) for i in range(min(count, REGISTERS_MOST))]
        if count > REGISTERS_MOST or (size != 8 and any(base == BASE_CONTEXT for _, base, _ in table)) or any(
                offset + 8 > (self.record_size if base == BASE_RECORD else 4096) for _, base, offset in table):
            raise gdb.GdbError("the fiber registry at %#x has a register outside of what is saved" % address)
        return table

    def value(self, record, field):
        """A number of a record; 0 where it has no such field."""
        offset, size = self.fields[field] if field < len(self.fields) else (0, 0)
        return int.from_bytes(record[offset:offset + size], "little") if size <= 8 else 0


def note_leads_to(address, size):
    """The registry that a note in these bytes of memory leads to, or None."""
    end = address + size
    for _ in range(NOTES_MOST):
        if end - address < 12:
            return None
        name_size, size, kind = struct.unpack("<III", read(address, 12))
        contents = address + 12 + (name_size + 3 & ~3)
        if contents + size > end:
            return None
        if kind == 1 and name_size == 6 and size >= 8 and read(address + 12, 6) == b"fiber\0":
            return (contents + struct.unpack("<q", read(contents, 8))[0]) & (1 << 64) - 1
        address = contents + (size + 3 & ~3)
    return None


def by_symbol():
    try:
        yield int(gdb.parse_and_eval("(unsigned long)&fiber_registry"))
    except gdb.error:
        return


def by_sections():
    """The note as a section of the files that gdb knows: their names survive strip."""
    text = gdb.execute("info files", to_string=True)
    for low, high in re.findall(r"(0x[0-9a-f]+) - (0x[0-9a-f]+) is \.note\.fiber\b", text):
        try:
            yield note_leads_to(int(low, 16), int(high, 16) - int(low, 16))
        except gdb.error:
            continue


def segments(at, count):
    """Program headers in memory: type, p_vaddr, p_memsz."""
    for i in range(min(count, 64)):
        kind, _, _, vaddr, _, _, memory, _ = struct.unpack("<IIQQQQQQ", read(at + 56 * i, 56))
        yield kind, vaddr, memory


def in_headers(headers, bias):
    for kind, vaddr, size in headers:
        if kind == 4 and size < 1 << 20:
            try:
                yield note_leads_to(bias + vaddr, size)
            except gdb.error:
                continue


def loaded(headers, bias):
    """The addresses that the dynamic linker says its modules are at."""
    dynamic = next(((bias + vaddr, size) for kind, vaddr, size in headers if kind == 2), (0, 0))
    debug = 0
    for at in range(dynamic[0], dynamic[0] + min(dynamic[1], 1 << 16), 16):
        tag, value = struct.unpack("<qQ", read(at, 16))
        if tag == 21:
            debug = value
    link = word(debug + 8) if debug else 0
    for _ in range(MODULES_MOST):
        if not link:
            return
        yield word(link)
        link = word(link + 24)


def by_headers():
    """The note by the program headers in memory, where files and their sections are not to be had."""
    try:
        text = gdb.execute("info auxv", to_string=True)
        at, count = (int(re.search(name + r" .* (0x[0-9a-f]+|\d+)$", text, re.M).group(1), 0) for name in ("AT_PHDR", "AT_PHNUM"))
        headers = list(segments(at, count))
        bias = next((at - vaddr for kind, vaddr, _ in headers if kind == 6), 0)
        yield from in_headers(headers, bias)
        for base in loaded(headers, bias):
            if base and read(base, 4) == b"\x7fELF":
                offset, count = word(base + 32), struct.unpack("<H", read(base + 56, 2))[0]
                yield from in_headers(list(segments(base + offset, count)), base)
    except (gdb.error, AttributeError):
        return


def find_layout():
    """The registry that is in use: the first whose carriers run, else the first that can be read."""
    first, why = None, "no module of it carries a fiber registry: not a fiber program, or it does not run yet"
    for way in (by_symbol, by_sections, by_headers):
        for address in way():
            try:
                layout = Layout(address) if address else None
            except gdb.MemoryError:
                why = "the fiber registry at %#x cannot be read" % address
                continue
            except gdb.GdbError as wrong:
                why = str(wrong)
                continue
            if layout and layout.carriers:
                return layout
            first = first or layout
        if first:
            return first
    raise gdb.GdbError(why)
