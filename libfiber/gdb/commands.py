# SPDX-License-Identifier: MIT
#
# commands.py - what people type
import re

import gdb


class InfoFibers(gdb.Command):
    """List the fibers of the program, in the order of their records.
info fibers [REGEX]
With REGEX only those whose line matches it."""

    def __init__(self):
        super().__init__("info fibers", gdb.COMMAND_STATUS)

    def invoke(self, argument, _):
        wanted, shown, total = pattern(argument), 0, 0
        for fiber in fibers():
            line = fiber.line(seconds)
            total += 1
            if not argument or wanted.search(line):
                shown += 1
                mark = "*" if selection.fiber and selection.fiber.id == fiber.id else " "
                gdb.write("%s %s\n" % (mark, line))
        gdb.write("shown %d of %d fiber%s\n" % (shown, total, "" if total == 1 else "s"))


def pattern(text):
    try:
        return re.compile(text.strip())
    except re.error as wrong:
        raise gdb.GdbError("%s: no regular expression: %s" % (text, wrong))


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
        before = gdb.selected_thread()
        select(fiber)
        gdb.write("%s\n" % fiber.line())
        show(before, from_tty)


class FiberOff(gdb.Command):
    """Select no fiber: commands see the thread again.
fiber off"""

    def __init__(self):
        super().__init__("fiber off", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        selection.clear()
        if gdb.selected_thread():
            show(gdb.selected_thread(), from_tty)


def show(before, from_tty):
    """Print the selected frame as gdb's own commands do, which tell an IDE what is selected where Python's way does not. They
    do it of what is another one than before."""
    now, level = gdb.selected_thread(), gdb.selected_frame().level()
    if before and before.is_valid() and before.num != now.num:
        before.switch()
        gdb.execute("thread %d" % now.num, from_tty)
        return
    frame = gdb.newest_frame()
    other = frame.older() if level == 0 else frame
    if other is not None:
        other.select()
    gdb.execute("frame level %d" % level, from_tty)


def number(text):
    if not re.fullmatch(r"\s*\d+\s*", text):
        raise gdb.GdbError("%s: give the number of a fiber, as info fibers shows it" % text.strip())
    return int(text)


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


class FiberBacktrace(gdb.Command):
    """Print the backtrace of a fiber.
fiber bt [--all-frames] [N]
Without N that of the selected one, or of the thread. Frames inside the library are left out, but for the function that the
program called; --all-frames prints them too."""

    def __init__(self, frames):
        super().__init__("fiber bt", gdb.COMMAND_STACK)
        self.frames = frames

    def invoke(self, argument, _):
        match = re.fullmatch(r"\s*(--all-frames\b)?\s*(\d+)?\s*(--all-frames)?\s*", argument)
        if not match or (match.group(1) and match.group(3)):
            raise gdb.GdbError("usage: fiber bt [--all-frames] [N]")
        all_frames = bool(match.group(1) or match.group(3))
        if not match.group(2):
            self.frames.backtrace(all_frames)
            return
        fiber = find_fiber(int(match.group(2)))
        with Visit():
            select(fiber)
            self.frames.backtrace(all_frames)


class FiberFind(gdb.Command):
    """Find fibers by a name, what they wait for, or a function in their frames.
fiber find REGEX"""

    def __init__(self):
        super().__init__("fiber find", gdb.COMMAND_STACK)

    def invoke(self, argument, _):
        if not argument.strip():
            raise gdb.GdbError("usage: fiber find REGEX")
        wanted, count, total = pattern(argument), 0, 0
        with Visit() as visit:
            for fiber in fibers():
                total += 1
                where = self.where(fiber, wanted, visit)
                if where is not None:
                    count += 1
                    gdb.write("%s%s\n" % (fiber.line(seconds), where))
        gdb.write("found %d of %d fibers\n" % (count, total))

    @staticmethod
    def where(fiber, wanted, visit):
        """None: it does not match; else in which function, "": by its line."""
        if wanted.search(fiber.line(seconds)):
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
    FiberBacktrace(FiberFilter())
    gdb.unwinder.register_unwinder(None, FiberUnwinder())
    for event in (gdb.events.cont, gdb.events.exited):
        event.connect(selection.clear)


load()
