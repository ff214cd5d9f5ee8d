# SPDX-License-Identifier: MIT
#
# walk.py - print gdb's backtrace of every fiber that does not run
#
# gdb runs the script on a live process (gdb -nx -batch -p PID -x walk.py). The script shares no code with the
# tools that it checks: it reads the records through the debug info of struct fiber, not through the registry's
# field table, and gdb finds the frames. The script loads a fiber's registers into the stopped thread, as a
# switch would, and restores the thread's registers at the end.
#
# Prints one line per fiber, tab-separated: walk, id, then function:line of each frame, innermost first,
# including inlined frames. ? is an unknown function, 0 an unknown line.
import gdb

STATES = (0, 1, 3)  # created, runnable, suspended: the stack does not change
MOST = 256


def frames():
    frame = gdb.newest_frame()
    found = []
    while frame is not None and len(found) < MOST:
        # A function that ended in a tail call has no frame: gdb only guesses it.
        if frame.type() != gdb.TAILCALL_FRAME:
            found.append("%s:%d" % (frame.name() or "?", frame.find_sal().line))
        frame = frame.older()
    return found


def beginning(pc):
    """A fiber that has not begun has no stack: the function that it will begin in, and the first line there."""
    lines = gdb.find_pc_line(pc).symtab.linetable()
    return "%s:%d" % (gdb.block_for_pc(pc).function.name, next(at.line for at in lines if at.pc == pc))


def registers():
    return {name: int(gdb.parse_and_eval("(unsigned long)$" + name)) for name in ("rsp", "rip", "orig_rax")}


def set_registers(values):
    for name, value in values.items():
        gdb.execute("set $%s = %d" % (name, value), to_string=True)


def walk():
    gdb.execute("set confirm off")
    gdb.execute("set backtrace limit unlimited")
    registry = gdb.parse_and_eval("fiber_registry")
    record = gdb.lookup_type("struct fiber")
    if int(registry["record_size"]) != record.sizeof:
        raise gdb.GdbError("struct fiber has %d bytes, a record %d" % (record.sizeof, int(registry["record_size"])))
    before = registers()
    try:
        for i in range(int(registry["committed"])):
            address = int(registry["records"]) + i * record.sizeof
            fiber = gdb.Value(address).cast(record.pointer()).dereference()
            if int(fiber["id"]) == 0 or int(fiber["state"]) not in STATES:
                continue
            context = fiber["context"]
            if int(context["sp"]) == 0:
                print("\t".join(["walk", str(int(fiber["id"])), beginning(int(fiber["fn"]))]))
                continue
            # orig_rax -1: the kernel must not restart the system call of the stopped thread.
            set_registers({"orig_rax": -1, "rsp": int(context["sp"]), "rip": int(context["pc"])})
            print("\t".join(["walk", str(int(fiber["id"]))] + frames()))
    finally:
        set_registers(before)


walk()
