#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# foreign_snapshot.py SOCKET PROGRAM FILE - the snapshot that a fiberctl of a big-endian machine would write
#
# SOCKET is the control socket of PROGRAM, which runs under an emulator. Its answers are kept as they come, in its byte
# order, and so are all numbers of the file. Written from the comments of inspect/source/snapshot.h and libfiber/wire/wire.h.

import os
import socket
import struct
import sys
import time
import zlib

MAGIC = 0x72626946
HEADER = struct.Struct(">IHHI")
SECTION = struct.Struct(">IIQ")
HEAD = struct.Struct(">16sIIQqqiI64s256sII")
FILE = struct.Struct(">QQHHIII64s")
STACK, CARRIERS, COUNTERS, POLICY, EVENTS, WATCHDOG, AUDIT = 4, 6, 9, 5, 7, 8, 11
PROCESS, MAPS, END, ERROR = 0x81, 0x83, 0x87, 0x88
FILES, SUMS = 0x10001, 0x10005
QUESTIONS = [  # the section, the request, its payload
    (STACK, STACK, struct.pack(">Q", 0)),
    (CARRIERS, CARRIERS, b""),
    (COUNTERS, COUNTERS, b""),
    (POLICY, POLICY, struct.pack(">I", 0xFFFFFFFF)),
    (WATCHDOG, WATCHDOG, struct.pack(">q", -(1 << 63))),
    (EVENTS, EVENTS, struct.pack(">IIQII", 0, 1, 0, 0, 0)),
    (EVENTS | 1 << 8, EVENTS, struct.pack(">IIQII", 1, 1, 0, 0, 0)),
    (AUDIT, AUDIT, b""),
]


def exactly(connection, size):
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            sys.exit("foreign_snapshot.py: the answer ends early")
        data += more
    return data


def answer(path, request, payload):
    """The frames of an answer, each as its type and its bytes with the header."""
    frames = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        connection.sendall(HEADER.pack(MAGIC, 1, request, len(payload)) + payload)
        while not frames or frames[-1][0] not in (END, ERROR):
            header = exactly(connection, HEADER.size)
            magic, _, kind, length = HEADER.unpack(header)
            if magic != MAGIC:
                sys.exit("foreign_snapshot.py: the program is not big-endian")
            frames.append((kind, header + exactly(connection, length)))
    return frames


def files(program, maps):
    """What is known of the program's file: its program headers, at the place where it is mapped."""
    with open(program, "rb") as file:
        elf = file.read()
    kind, machine, _, _, phoff = struct.unpack_from(">HHIQQ", elf, 16)
    count = struct.unpack_from(">H", elf, 56)[0]
    segments = elf[phoff:phoff + 56 * count]
    build_id = b""
    for i in range(count):
        note, _, offset, _, _, size = struct.unpack_from(">IIQQQQ", segments, 56 * i)
        while note == 4 and size > 12:
            name, desc, what = struct.unpack_from(">III", elf, offset)
            whole = 12 + (name + 3 & ~3) + (desc + 3 & ~3)
            if what == 3 and elf[offset + 12:offset + 16] == b"GNU\0":
                build_id = elf[offset + 16:offset + 16 + desc]
            offset += whole
            size -= whole
    first = next(line for line in maps.decode().splitlines() if line.endswith(os.path.basename(program)))
    start = int(first.split("-")[0], 16)
    lowest = min(struct.unpack_from(">Q", segments, 56 * i + 16)[0] for i in range(count)
                 if struct.unpack_from(">I", segments, 56 * i)[0] == 1)
    bias = start - (lowest & ~0xFFF)
    return FILE.pack(start, bias, kind, machine, count, len(build_id), 0, build_id) + segments


def main():
    path, program, out = sys.argv[1:]
    sections, sums, maps, name, pid, now = [], [], b"", b"", 0, 0

    def add(kind, contents):
        section = SECTION.pack(0x74636553, kind, len(contents))
        sections.append(section + contents)
        sums.append(zlib.crc32(contents + section))

    for section, request, payload in QUESTIONS:
        frames = answer(path, request, payload)
        add(section, b"".join(frame for _, frame in frames))
        for kind, frame in frames:
            if kind == PROCESS and not pid:
                pid, _, _, _, _, now, name = struct.unpack_from(">iIIIQq64s", frame, HEADER.size)
            elif kind == MAPS and request == STACK:
                maps += frame[HEADER.size:]
    add(FILES, files(program, maps))
    size = HEAD.size + sum(map(len, sections)) + SECTION.size + 4 * (len(sums) + 2)
    head = HEAD.pack(b"fiber-snapshot\n", 1, HEAD.size, size, time.time_ns(), now, pid, 22, name,
                     socket.gethostname().encode(), 1, 1)
    numbers = struct.pack(f">{len(sums) + 1}I", zlib.crc32(head), *sums)
    numbers += struct.pack(">I", zlib.crc32(numbers))
    with open(out, "wb") as file:
        file.write(head + b"".join(sections) + SECTION.pack(0x74636553, SUMS, len(numbers)) + numbers)


main()
