# SPDX-License-Identifier: MIT
#
# libfiber-gdb.py - the fibers of a program in gdb, live and in cores
#
#   info fibers [REGEX]              every fiber, or those whose line matches
#   fiber [N]                        which one is selected; select one: bt, up, frame, info locals are then of its frames
#   fiber off                        back to the thread
#   fiber apply all|N... COMMAND     the command in the frames of each
#   fiber find REGEX                 those with a name, a wait or a function in their frames that matches
#
# A fiber that does not run has its registers in its record. gdb walks from a thread's registers, and to write a fiber's there
# would change a program that is to go on, and cannot be done to a core. So nothing is written: an unwinder says of the innermost
# frame of the thread at hand that its caller is the fiber. Frame 0 is then still the thread's, and the fiber's begin behind it;
# backtraces leave frame 0 out.
#
# Records are found like any reader outside the process finds them (libfiber/layout/layout.h): by the symbol fiber_registry, or,
# where that was stripped, by the ELF note "fiber". No debug information is needed, and none of this program's types.
import re
import struct

import gdb
import gdb.frames
import gdb.unwinder

MAGIC = b"FIBERREG"
HEAD = struct.Struct("<8sIIIIQIIQQQQQIII")  # struct fib_layout up to its fields
FIELDS, OBJECTS, STATE_NAMES, WAIT_NAMES, LAYOUT_SIZE = 92, 348, 604, 732, 1324
(SP, FP, PC, SEQ, SINCE, STATE, WAIT_KIND, FLAGS, CARRIER, PINS, WAIT_OBJECT, WAIT_ARG, DEADLINE, CPU, ID, PARENT, STACK_LOW,
 STACK_SIZE, SPAWN_PC, ENTRY, NAME) = range(21)
CREATED, RUNNABLE, RUNNING, SUSPENDED, DEAD = range(5)
WAIT_NONE, WAIT_YIELD, WAIT_JOIN, WAIT_FD = 0, 1, 5, 19
HOLDER_THREAD, HOLDER_CONTENDED = 1 << 63, 1 << 62
RECIPE_CFI = 1
# The registers of a machine, by its number in ELF: stack pointer, program counter, frame pointer.
REGISTERS = {62: ("rsp", "rip", "rbp")}
PIECE = 1 << 20
HOLES_MOST = 64
FRAMES_MOST = 256
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
        self.objects = [struct.unpack_from("<HHHH", data, OBJECTS + 8 * i) for i in range(32)]
        self.states = [plain(data[STATE_NAMES + 16 * i:STATE_NAMES + 16 * i + 16]) for i in range(8)]
        self.waits = [plain(data[WAIT_NAMES + 16 * i:WAIT_NAMES + 16 * i + 16]) for i in range(32)]

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


class Fiber:
    """One fiber, as its record says."""

    def __init__(self, layout, address, record, now):
        value = lambda field: layout.value(record, field)
        self.layout, self.id, self.record = layout, value(ID), address
        self.sp, self.pc, self.fp, self.entry = value(SP), value(PC), value(FP), value(ENTRY)
        self.stack_low, self.stack_size, self.seq = value(STACK_LOW), value(STACK_SIZE), value(SEQ)
        self.state, self.kind = value(STATE), value(WAIT_KIND)
        self.runs = self.seq & 1 == 1
        if self.runs:
            self.state = RUNNING
        offset, size = layout.fields[NAME] if NAME < len(layout.fields) else (0, 0)
        self.name = plain(record[offset:offset + size])
        self.age = max(0, now - value(SINCE))
        waits = self.state == SUSPENDED or (self.state == RUNNABLE and self.kind == WAIT_YIELD) or (self.runs and value(PINS))
        if not waits or self.kind >= 32:
            self.kind = WAIT_NONE
        self.object, self.arg = (value(WAIT_OBJECT), value(WAIT_ARG)) if self.kind not in (WAIT_NONE, WAIT_YIELD) else (0, 0)

    def fresh(self):
        return self.state in (CREATED, RUNNABLE) and not self.sp and not self.stack_low and self.entry

    def walkable(self):
        return not self.runs and self.state != DEAD and 0 < self.stack_low <= self.sp <= self.stack_low + self.stack_size

    def registers(self):
        """Stack pointer, program counter and frame pointer to walk from; None when there is nothing to walk."""
        if self.layout.recipe != RECIPE_CFI or self.layout.machine not in REGISTERS:
            return None
        if self.walkable():
            return self.sp, self.pc, self.fp
        return (NOWHERE, self.entry, 0) if self.fresh() else None

    def wait(self):
        """What it waits for, as the tools say it."""
        if self.kind == WAIT_NONE:
            return ""
        text = ": " + self.layout.waits[self.kind]
        if self.kind == WAIT_FD:
            text += " %d" % (self.arg & 0xffffffff)
        elif self.kind == WAIT_JOIN:
            text += " fiber %d" % self.arg
        name_at, name_size, holder_at, holder_size = self.layout.objects[self.kind]
        if not self.object:
            return text
        try:
            name = plain(read(self.object + name_at, name_size)) if 0 < name_size <= 256 else ""
            holder = word(self.object + holder_at) & ~HOLDER_CONTENDED if holder_size == 8 else 0
        except gdb.error:
            return text
        text += ' "%s"' % name if name else ""
        if holder & HOLDER_THREAD:
            return text + " held by thread %d" % (holder & ~HOLDER_THREAD)
        return text + (" held by %d" % holder if holder else "")

    def line(self):
        name = ' "%s"' % self.name if self.name else ""
        state = self.layout.states[self.state] if self.state < 8 else "state %d" % self.state
        return "fiber %d%s [%s%s, %s]" % (self.id, name, state, self.wait(), duration(self.age))


def duration(ns):
    for unit, size in (("d", 86400 * 10**9), ("h", 3600 * 10**9), ("min", 60 * 10**9), ("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            return "%d%s" % (ns // size, unit)
    return "%dns" % ns


def fibers():
    """Every fiber, in the order of the records; what cannot be read is said."""
    layout = find_layout()
    try:
        now = struct.unpack("<q", read(layout.clock, 8))[0]
    except gdb.error:
        now = 0
    per, missing, holes, i = PIECE // layout.record_size, 0, 0, 0
    id_offset = layout.fields[ID][0]
    while i < layout.committed and holes < HOLES_MOST:
        count = min(per, layout.committed - i)
        at = layout.records + i * layout.record_size
        i += count
        try:
            data = read(at, count * layout.record_size)
            holes = 0
        except gdb.error:
            missing += count
            holes += 1
            continue
        for k in range(0, count * layout.record_size, layout.record_size):
            if data[k + id_offset:k + id_offset + 8] != bytes(8):
                yield Fiber(layout, at + k, data[k:k + layout.record_size], now)
    missing += layout.committed - i
    if missing:
        gdb.write("%d fiber records cannot be read: fibers in them are missing here\n" % missing, gdb.STDERR)


def find_fiber(number):
    for fiber in fibers():
        if fiber.id == number:
            return fiber
    raise gdb.GdbError("fiber %d: no such fiber" % number)


class Selection:
    """The fiber whose frames stand behind frame 0 of a thread; nothing when there is none."""

    def __init__(self):
        self.fiber = None
        self.place = None  # thread, stack pointer, program counter of the frame that is borrowed
        self.frame = None  # stack pointer, program counter, frame pointer of the fiber

    def clear(self, *_):
        if self.fiber:
            self.fiber = self.place = self.frame = None
            gdb.invalidate_cached_frames()

    def set(self, fiber):
        """Put a fiber there and select its innermost frame; gdb.GdbError when it has none."""
        self.clear()
        frame = fiber.registers()
        if not frame:
            raise gdb.GdbError("fiber %d: %s" % (fiber.id, "it has ended" if fiber.state == DEAD else "its stack cannot be walked"))
        thread = gdb.selected_thread()
        if not thread:
            raise gdb.GdbError("no thread to walk from")
        newest = gdb.newest_frame()
        sp, pc, _ = REGISTERS[fiber.layout.machine]
        self.place = (thread.ptid, int(newest.read_register(sp)) & (1 << 64) - 1, int(newest.read_register(pc)) & (1 << 64) - 1)
        # gdb takes a caller's address for one behind a call, and looks up the byte before.
        self.fiber, self.frame = fiber, (frame[0], frame[1] + 1, frame[2])
        gdb.invalidate_cached_frames()
        for frame in self.frames():
            frame.select()
            return
        raise gdb.GdbError("fiber %d: gdb finds no way to its frames" % fiber.id)

    def begins(self, frame):
        """Whether a frame is the fiber's innermost, or in line there."""
        sp, pc, _ = REGISTERS[self.fiber.layout.machine]
        return (int(frame.read_register(sp)) & (1 << 64) - 1, int(frame.read_register(pc)) & (1 << 64) - 1) == self.frame[:2]

    def frames(self):
        frame, count, inside = gdb.newest_frame(), 0, False
        while frame is not None and count < FRAMES_MOST:
            inside = inside or self.begins(frame)
            if inside:
                count += 1
                yield frame
            frame = frame.older()


selection = Selection()


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = gdb.Value(sp), gdb.Value(pc)


class FiberUnwinder(gdb.unwinder.Unwinder):
    """The caller of the borrowed frame is the fiber."""

    def __init__(self):
        super().__init__("libfiber")

    def __call__(self, pending):
        if not selection.fiber:
            return None
        sp, pc, fp = REGISTERS[selection.fiber.layout.machine]
        at = int(pending.read_register(sp)) & (1 << 64) - 1, int(pending.read_register(pc)) & (1 << 64) - 1
        if at != selection.place[1:] or gdb.selected_thread().ptid != selection.place[0]:
            return None
        # gdb takes a caller for a damaged stack unless it stands above who it called.
        info = pending.create_unwind_info(FrameId(selection.frame[0] - 16, at[1]))
        for name, value in zip((sp, pc, fp), selection.frame):
            info.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return info


class FiberFilter:
    """Backtraces begin with the fiber."""

    def __init__(self):
        self.name, self.priority, self.enabled = "libfiber", 1000, True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        if not selection.fiber or gdb.selected_thread().ptid != selection.place[0]:
            return frames
        return self.behind(frames)

    @staticmethod
    def behind(frames):
        inside = False
        for decorator in frames:
            inside = inside or selection.begins(decorator.inferior_frame())
            if inside:
                yield decorator


class InfoFibers(gdb.Command):
    """List the fibers of the program, in the order of their records.
info fibers [REGEX]
With REGEX only those whose line matches it."""

    def __init__(self):
        super().__init__("info fibers", gdb.COMMAND_STATUS)

    def invoke(self, argument, _):
        wanted, shown, total = pattern(argument), 0, 0
        for fiber in fibers():
            line = fiber.line()
            total += 1
            if not argument or wanted.search(line):
                shown += 1
                mark = "*" if selection.fiber and selection.fiber.id == fiber.id else " "
                gdb.write("%s %s\n" % (mark, line))
        gdb.write("shown %d of %d fibers\n" % (shown, total))


def pattern(text):
    try:
        return re.compile(text.strip())
    except re.error as wrong:
        raise gdb.GdbError("%s: no regular expression: %s" % (text, wrong))


def thread_of(fiber):
    """The thread that a fiber runs on, or None."""
    before = gdb.selected_thread()
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            sp = int(gdb.newest_frame().read_register(REGISTERS[fiber.layout.machine][0])) & (1 << 64) - 1
            if 0 <= sp - fiber.stack_low < fiber.stack_size:
                return thread
    except (gdb.error, KeyError):
        pass
    finally:
        if before:
            before.switch()
    return None


def select(fiber):
    """Make a fiber the one that commands see; one that runs is its thread."""
    if not fiber.runs:
        selection.set(fiber)
        return
    selection.clear()
    thread = thread_of(fiber)
    if not thread:
        raise gdb.GdbError("fiber %d: it runs, on a thread that is not to be found" % fiber.id)
    thread.switch()


class FiberCommand(gdb.Command):
    """Select a fiber: bt, up, frame, info locals and the like are then of its frames.
fiber [N]
Without N say which one is selected. No register of the program is written: frame 0 stays that of the thread, and
the fiber's frames stand behind it. A fiber that runs is the thread that runs it. The program's going on ends it."""

    def __init__(self):
        super().__init__("fiber", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)

    def invoke(self, argument, from_tty):
        if not argument.strip():
            gdb.write("%s\n" % (selection.fiber.line() if selection.fiber else "No fiber is selected."))
            return
        fiber = find_fiber(number(argument))
        select(fiber)
        gdb.write("%s\n" % fiber.line())
        gdb.execute("frame", from_tty)


class FiberOff(gdb.Command):
    """Select no fiber: commands see the thread again.
fiber off"""

    def __init__(self):
        super().__init__("fiber off", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        selection.clear()
        gdb.execute("frame", from_tty)


def number(text):
    if not re.fullmatch(r"\s*\d+\s*", text):
        raise gdb.GdbError("%s: give the number of a fiber, as info fibers shows it" % text.strip())
    return int(text)


class Visit:
    """Go to fibers, and come back to what was selected."""

    def __enter__(self):
        self.fiber, self.thread = selection.fiber, gdb.selected_thread()
        self.level = gdb.selected_frame().level() if self.thread else 0
        return self

    def __exit__(self, *_):
        selection.clear()
        if not self.thread or not self.thread.is_valid():
            return
        self.thread.switch()
        if self.fiber:
            selection.set(self.fiber)
        frame = gdb.newest_frame()
        while frame is not None and frame.level() < self.level:
            frame = frame.older()
        if frame is not None:
            frame.select()

    def to(self, fiber):
        """Whether it has frames to see; else says why not."""
        self.thread.switch()
        try:
            select(fiber)
            return True
        except gdb.GdbError as why:
            gdb.write("  %s\n" % why)
            return False


class FiberApply(gdb.Command):
    """Run a command in the frames of fibers.
fiber apply all|N... COMMAND
Like thread apply: each fiber is selected in turn, and what was selected is selected again in the end."""

    def __init__(self):
        super().__init__("fiber apply", gdb.COMMAND_STACK, gdb.COMPLETE_COMMAND)

    def invoke(self, argument, _):
        match = re.fullmatch(r"\s*(all|\d+(?:\s+\d+)*)\s+(\D.*)", argument, re.S)
        if not match:
            raise gdb.GdbError("usage: fiber apply all|N... COMMAND")
        wanted = None if match.group(1) == "all" else [int(n) for n in match.group(1).split()]
        found = list(fibers()) if wanted is None else [find_fiber(n) for n in wanted]
        with Visit() as visit:
            for fiber in found:
                gdb.write("\n%s\n" % fiber.line())
                if not visit.to(fiber):
                    continue
                try:
                    gdb.execute(match.group(2))
                except gdb.error as wrong:
                    gdb.write("%s\n" % wrong)


class FiberFind(gdb.Command):
    """Find fibers by a name, what they wait for, or a function in their frames.
fiber find REGEX"""

    def __init__(self):
        super().__init__("fiber find", gdb.COMMAND_STACK)

    def invoke(self, argument, _):
        if not argument.strip():
            raise gdb.GdbError("usage: fiber find REGEX")
        wanted, count = pattern(argument), 0
        with Visit() as visit:
            for fiber in fibers():
                where = self.where(fiber, wanted, visit)
                if where is not None:
                    count += 1
                    gdb.write("%s%s\n" % (fiber.line(), where))
        gdb.write("found %d fibers\n" % count)

    @staticmethod
    def where(fiber, wanted, visit):
        """None: it does not match; else in which function, "": by its line."""
        if wanted.search(fiber.line()):
            return ""
        visit.thread.switch()
        try:
            select(fiber)
            for frame in selection.frames() if selection.fiber else frames_of_thread():
                if wanted.search(frame.name() or ""):
                    return " in %s" % frame.name()
        except (gdb.GdbError, gdb.error):
            pass
        return None


def frames_of_thread():
    frame, count = gdb.newest_frame(), 0
    while frame is not None and count < FRAMES_MOST:
        count += 1
        yield frame
        frame = frame.older()


def load():
    """Once: a program may bring this with itself, and with its library."""
    if getattr(gdb, "libfiber_loaded", False):
        return
    gdb.libfiber_loaded = True
    InfoFibers()
    FiberCommand()
    FiberOff()
    FiberApply()
    FiberFind()
    FiberFilter()
    gdb.unwinder.register_unwinder(None, FiberUnwinder())
    for event in (gdb.events.cont, gdb.events.exited):
        event.connect(selection.clear)


load()
