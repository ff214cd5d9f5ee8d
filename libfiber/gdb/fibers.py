# SPDX-License-Identifier: MIT
#
# fibers.py - one fiber as its record says, and all of them
import re
import struct
import time

import gdb


class Fiber:
    """One fiber, as its record says."""

    def __init__(self, layout, address, record, now):
        value = lambda field: layout.value(record, field)
        self.layout, self.id, self.record = layout, value(ID), address
        self.others = {}  # registers besides the three, by name
        self.sp, self.pc, self.fp, self.entry = value(SP), value(PC), value(FP), value(ENTRY)
        self.stack_low, self.stack_size, self.seq = value(STACK_LOW), value(STACK_SIZE), value(SEQ)
        self.guard = value(GUARD_UNITS) * GUARD_UNIT or GUARD
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

    def astray(self):
        """Whether the stack pointer that it has saved is outside its stack."""
        return not self.runs and self.state != DEAD and 0 < self.stack_low and self.sp > 0 and not self.walkable()

    def registers(self):
        """Stack pointer, program counter and frame pointer to walk from; None when there is nothing to walk."""
        if self.layout.recipe not in (RECIPE_CFI, RECIPE_SAVED) or self.layout.machine not in REGISTERS:
            return None
        if self.walkable():
            return self.resume() if self.layout.recipe == RECIPE_SAVED else (self.sp, self.pc, self.fp)
        return (NOWHERE, self.entry, 0) if self.fresh() else None

    def resume(self):
        """The same of one whose registers another library has saved; the pc is in the call that left."""
        sp, pc, names = self.sp, self.pc, SAVED[self.layout.machine]
        try:
            for register, base, offset in self.layout.saved:
                start = {BASE_RECORD: self.record, BASE_STACK: self.sp, BASE_SP: self.sp}.get(base)
                if start is None:
                    start = word(self.record + self.layout.context)
                value = self.sp + offset if base == BASE_SP else word(start + offset)
                if register == REGISTER_SP:
                    sp = value
                elif register == REGISTER_PC:
                    pc = value
                elif register in names:
                    self.others[names[register]] = value
        except gdb.error:
            return None
        if not self.sp <= sp <= self.stack_low + self.stack_size:
            return None
        return sp, pc - 1, self.others.pop(REGISTERS[self.layout.machine][2], 0)

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

    def function(self):
        """The function that it runs, for one without a name: "greet()", or "" where no symbol has it."""
        if self.entry not in self.layout.functions:
            self.layout.functions[self.entry] = self.find_function()
        return self.layout.functions[self.entry]

    def find_function(self):
        try:
            block = gdb.block_for_pc(self.entry)
            while block is not None and block.function is None:
                block = block.superblock
            if block is not None:
                return plain(block.function.name.split("(")[0].encode()) + "()"
            symbol = re.match(r"(\S+?)(?:\(.*)? in section ", gdb.execute("info symbol %#x" % self.entry, to_string=True))
            return symbol.group(1) + "()" if symbol else ""
        except (gdb.error, RuntimeError):
            return ""

    def line(self, age=None):
        """age: what formats it; in a list seconds(), so that ages can be compared."""
        name = self.name or self.function()
        name = ' "%s"' % name if name else ""
        state = self.layout.states[self.state] if self.state < 8 else "state %d" % self.state
        return "fiber %d%s [%s%s, %s]" % (self.id, name, state, self.wait(), (age or duration)(self.age))


def seconds(ns):
    """As the tools print a column of times: "0.404s", "15.2s", "439200s"."""
    whole, ms = divmod(max(ns, 0) // 10**6, 1000)
    if ns <= 0 or whole >= 10000:
        return "%ds" % whole
    return "%d.%ds" % (whole, ms // 100) if whole else "0.%03ds" % ms


def duration(ns):
    for unit, size in (("d", 86400 * 10**9), ("h", 3600 * 10**9), ("min", 60 * 10**9), ("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= size:
            return "%d%s" % (ns // size, unit)
    return "%dns" % ns


def clock(layout):
    """What ages are measured against: the program's own clock rests while all of it sleeps, and a core has no other."""
    connection = getattr(gdb.selected_inferior(), "connection", None)
    if connection and connection.type == "native":
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    try:
        return struct.unpack("<q", read(layout.clock, 8))[0]
    except gdb.error:
        return 0


def fibers():
    """Every fiber, in the order of the records; what cannot be read is said."""
    layout = find_layout()
    now = clock(layout)
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
        gdb.write("%d fiber record%s cannot be read: fibers in them are missing here\n" % (missing, "" if missing == 1 else "s"),
                  gdb.STDERR)


def find_fiber(number):
    for fiber in fibers():
        if fiber.id == number:
            return fiber
    raise gdb.GdbError("fiber %d: no such fiber" % number)
