# SPDX-License-Identifier: MIT
#
# frames.py - the frames of a fiber behind the innermost one of a thread
import gdb
import gdb.frames
import gdb.unwinder


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
        """Put a fiber there and select the innermost frame that backtraces show; gdb.GdbError when it has none."""
        self.clear()
        frame = fiber.registers()
        if not frame:
            raise gdb.GdbError("fiber %d: %s" % (fiber.id, "it has ended" if fiber.state == DEAD else
                                                     "its stack pointer is outside its stack" if fiber.astray() else "its stack cannot be walked"))
        thread = gdb.selected_thread()
        if not thread:
            raise gdb.GdbError("no thread to walk from")
        newest = gdb.newest_frame()
        sp, pc, _ = REGISTERS[fiber.layout.machine]
        self.place = (thread.ptid, int(newest.read_register(sp)) & (1 << 64) - 1, int(newest.read_register(pc)) & (1 << 64) - 1)
        # gdb takes a caller's address for one behind a call, and looks up the byte before.
        self.fiber, self.frame = fiber, (frame[0], frame[1] + 1, frame[2])
        gdb.invalidate_cached_frames()
        for frame in shown(self.frames(), fiber.layout, lambda frame: frame):
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
        for name, value in [*zip((sp, pc, fp), selection.frame), *selection.fiber.others.items()]:
            info.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return info


def shown(items, layout, frame_of):
    """The frames without those inside the library (as inspect/unwind/library_frames.c): all of the program's, and the function that
    it called. Functions inlined into a frame come before it, and have its address. frame_of: the frame of an item."""
    frames, inlined = [], False  # lists: of one address each, innermost first
    for item in items:
        if not inlined:
            frames.append([])
        frames[-1].append(item)
        inlined = frame_of(item).type() == gdb.INLINE_FRAME
    pcs = [frame_of(f[-1]).pc() - 1 for f in frames]
    library = [layout.is_library(pc) for pc in pcs]
    end, entry = len(frames), []
    if end > 1 and library[-1] and layout.is_entry(pcs[-1]):
        end -= 1
        entry = frames[end][:-1]
        first = end
        while first > 0 and library[first - 1]:
            first -= 1
        # Without a frame of the program's, one frame is the library's own beginning.
        end = first or max(end - 1, 1)
    for i in range(end):
        if not library[i]:
            yield from frames[i]
        elif i + 1 == end or not library[i + 1]:
            yield frames[i][-1]
    yield from entry


class FiberFilter:
    """Backtraces begin with the fiber, and leave out what is inside the library."""

    def __init__(self):
        self.name, self.priority, self.enabled = "libfiber", 1000, True
        self.all_frames = False
        gdb.frame_filters[self.name] = self

    def backtrace(self, all_frames):
        self.all_frames = all_frames
        try:
            gdb.execute("backtrace")
        finally:
            self.all_frames = False

    def filter(self, frames):
        if not selection.fiber or gdb.selected_thread().ptid != selection.place[0]:
            return frames
        behind = self.behind(frames)
        return behind if self.all_frames else shown(behind, selection.fiber.layout, lambda decorator: decorator.inferior_frame())

    @staticmethod
    def behind(frames):
        inside = False
        for decorator in frames:
            inside = inside or selection.begins(decorator.inferior_frame())
            if inside:
                yield decorator


def stands_on(fiber, frame, guard):
    """Whether a frame is on the stack of a fiber, or so far below it."""
    sp = int(frame.read_register(REGISTERS[fiber.layout.machine][0])) & (1 << 64) - 1
    return fiber.stack_low - guard <= sp < fiber.stack_low + fiber.stack_size


def thread_of(fiber):
    """The thread that a fiber runs on, or None. One that has overflowed is in the guard below its stack, which of another library
    may be a neighbour's; one in a signal's handler may be on a stack apart, from which frames lead back."""
    before = gdb.selected_thread()
    try:
        for most, guard in ((1, 0), (1, fiber.guard), (FRAMES_MOST, fiber.guard)):
            for thread in gdb.selected_inferior().threads():
                thread.switch()
                frame = gdb.newest_frame()
                for _ in range(most):
                    if stands_on(fiber, frame, guard):
                        return thread
                    frame = frame.older()
                    if frame is None:
                        break
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
