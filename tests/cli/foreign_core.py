#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# foreign_core.py PID PROGRAM WORDS FILE [ROOT] - a core of a little-endian program that runs under an emulator
#
# For emulators that write none. PID is the emulator's process, WORDS the number of registers in NT_PRSTATUS. The emulator
# maps the program at the program's addresses, and itself above them. Where the program's threads are is not known: their
# registers are 0. Fibers that wait need none. ROOT: the core has a list of the files, as if this folder were the root.

import os
import struct
import sys

EHDR = "<16sHHIQQQIHHHHHH"
PHDR = "<IIQQQQQQ"
PT_LOAD, PT_NOTE, NT_PRSTATUS, NT_AUXV, NT_FILE = 1, 4, 1, 6, 0x46494C45
AT_PHDR, AT_PHENT, AT_PHNUM, AT_PAGESZ, AT_ENTRY = 3, 4, 5, 6, 9
PIECE = 1 << 20
EMULATOR = 1 << 40
REGISTERS = 112  # their offset in NT_PRSTATUS


def mappings(pid):
    """Where the program has memory that it can read: start, end, flags, name, offset in it."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        for line in file:
            place, access, offset, *rest = line.split()
            start, end = (int(address, 16) for address in place.split("-"))
            if access[0] == "r" and end <= EMULATOR:
                yield start, end, 4 | (access[1] == "w") * 2 | (access[2] == "x"), rest[-1], int(offset, 16)


def read(memory, at, size):
    """What cannot be read, such as guards, is zero."""
    try:
        memory.seek(at)
        data = memory.read(size)
    except (OSError, OverflowError, ValueError):
        data = b""
    if len(data) < size and size > 4096:
        return b"".join(read(memory, page, 4096) for page in range(at, at + size, 4096))
    return data.ljust(size, b"\0")


def auxv(elf, start):
    """What the kernel tells a program about itself. start: where it is mapped."""
    entry, phoff = struct.unpack_from("<QQ", elf, 24)
    count = struct.unpack_from("<H", elf, 56)[0]
    lowest = min(struct.unpack_from("<Q", elf, phoff + 56 * i + 16)[0] for i in range(count)
                 if struct.unpack_from("<I", elf, phoff + 56 * i)[0] == PT_LOAD)
    bias = start - (lowest & ~0xFFF)
    pairs = [AT_PHDR, start + phoff, AT_PHENT, 56, AT_PHNUM, count, AT_PAGESZ, 4096, AT_ENTRY, entry + bias, 0, 0]
    return struct.pack(f"<{len(pairs)}Q", *pairs)


def files(found, root):
    """The contents of NT_FILE."""
    mapped = [one for one in found if one[3].startswith("/")]
    numbers = [len(mapped), 4096]
    for start, end, _, _, offset in mapped:
        numbers += [start, end, offset // 4096]
    names = "".join(name.removeprefix(root) + "\0" for _, _, _, name, _ in mapped)
    return struct.pack(f"<{len(numbers)}Q", *numbers) + names.encode()


def note(kind, contents):
    padding = bytes(-len(contents) % 4)
    return struct.pack("<III", 5, len(contents), kind) + b"CORE\0\0\0\0" + contents + padding


def main():
    pid, program, words, out, *root = sys.argv[1:]
    with open(program, "rb") as file:
        elf = file.read()
    found = list(mappings(pid))
    first = next(start for start, _, _, name, _ in found if os.path.basename(name) == os.path.basename(program))
    status = struct.pack("<32xi76x", int(pid)) + bytes(8 * int(words) + 8)
    assert len(status) == REGISTERS + 8 * int(words) + 8
    notes = note(NT_PRSTATUS, status) + note(NT_AUXV, auxv(elf, first))
    if root:
        notes += note(NT_FILE, files(found, root[0]))
    at = struct.calcsize(EHDR) + struct.calcsize(PHDR) * (1 + len(found))
    headers = struct.pack(PHDR, PT_NOTE, 0, at, 0, 0, len(notes), 0, 4)
    at += len(notes)
    for start, end, flags, _, _ in found:
        headers += struct.pack(PHDR, PT_LOAD, flags, at, start, 0, end - start, end - start, 1)
        at += end - start
    machine = struct.unpack_from("<H", elf, 18)[0]
    head = struct.pack(EHDR, b"\x7fELF\2\1\1", 4, machine, 1, 0, struct.calcsize(EHDR), 0, 0,
                       struct.calcsize(EHDR), struct.calcsize(PHDR), 1 + len(found), 0, 0, 0)
    with open(out, "wb") as file, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        file.write(head + headers + notes)
        for start, end, _, _, _ in found:
            for piece in range(start, end, PIECE):
                file.write(read(memory, piece, min(PIECE, end - piece)))


main()
