#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# foreign_recording.py RECORDING FILE - the same recording as a big-endian machine would have written it
#
# Written from the comments of libfiber/layout/recording_format.h and event.h.

import struct
import sys

HEAD = "8sIIiIqqq64s64s"
PART = "IIQ"
EVENTS, NAME = 2, 9
EVENT = "QQQBBBBI"
EVENT_NAME = "8sQ8sBBBBI"
FIBER = "QQQQQqqBBHI32s32s"
ELEMENTS = {1: "Qq", 3: FIBER, 4: FIBER, 10: "QQQQqqqB7s", 11: "qqQQQ"}
TEXT = "QII"


def turned(form, data):
    return struct.pack(">" + form, *struct.unpack("<" + form, data))


def pieces(form, data):
    size = struct.calcsize("<" + form)
    return [data[i:i + size] for i in range(0, len(data), size)]


def texts(data):
    out, at, head = b"", 0, struct.calcsize("<" + TEXT)
    while at < len(data):
        size = struct.unpack_from("<" + TEXT, data, at)[1]
        out += turned(TEXT, data[at:at + head]) + data[at + head:at + head + size]
        at += head + size
    return out


def section(kind, data):
    if kind == EVENTS:
        head = struct.calcsize("<QIIQ")
        events = (turned(EVENT_NAME if one[24] == NAME else EVENT, one) for one in pieces(EVENT, data[head:]))
        return turned("QIIQ", data[:head]) + b"".join(events)
    if kind in ELEMENTS:
        return b"".join(turned(ELEMENTS[kind], one) for one in pieces(ELEMENTS[kind], data))
    return texts(data)


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    at = struct.calcsize("<" + HEAD)
    out = turned(HEAD, data[:at])
    while at < len(data):
        kind, _, size = struct.unpack_from("<" + PART, data, at)
        begin = at + struct.calcsize("<" + PART)
        out += turned(PART, data[at:begin]) + section(kind, data[begin:begin + size])
        at = begin + size
    with open(sys.argv[2], "wb") as file:
        file.write(out)


main()
