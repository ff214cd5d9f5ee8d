# SPDX-License-Identifier: MIT
"""clients.py - connections to a server, each of which asks and waits for the answer, again and again"""
import asyncio
import struct

MESSAGE = b"m" * 1000  # what a client sends or gets


class Client(asyncio.Protocol):
    """A connection. It is open when a first request is answered."""

    def __init__(self, origin):
        self.origin, self.left = origin, 1
        self.got = b""
        self.done = asyncio.get_running_loop().create_future()  # it is open, or all rounds are made

    def connection_made(self, transport):
        self.transport = transport
        self.greet()

    def connection_lost(self, exc):
        self.end(False)

    def greet(self):
        self.ask()

    def begin(self, rounds):
        self.left, self.done = rounds, asyncio.get_running_loop().create_future()
        self.ask()

    def answered(self):
        self.left -= 1
        if self.left:
            self.ask()
        else:
            self.end(True)

    def end(self, well):
        if not self.done.done():
            self.done.set_result(well)


class Messages(Client):
    """Its messages come back."""

    def ask(self):
        self.missing = len(MESSAGE)
        self.transport.write(MESSAGE)

    def data_received(self, data):
        self.missing -= len(data)
        if self.missing == 0:
            self.answered()


class Tunnel(Messages):
    """The same through a proxy. It is open when the proxy has connected it."""

    def greet(self):
        self.left = 0
        self.transport.write(b"CONNECT 127.0.0.1:%d HTTP/1.0\r\n\r\n" % self.origin)

    def data_received(self, data):
        if self.left:
            super().data_received(data)
            return
        self.got += data
        if b"\r\n\r\n" in self.got:
            self.end(self.got.split()[1] == b"200")


class File(Client):
    """It gets the file /file of a server of HTTP, by one connection that is kept."""

    def ask(self):
        self.transport.write(b"GET /file HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def data_received(self, data):
        self.got += data
        head, found, body = self.got.partition(b"\r\n\r\n")
        if not found or len(body) < len(MESSAGE):
            return
        self.got = b""
        if head.split()[1] == b"200" and body == MESSAGE:
            self.answered()
        else:
            self.end(False)


class Query(Client):
    """A client of MariaDB, without a password. It asks "select 1"."""

    ENDS = 2  # of an answer: after the columns, and after the rows
    LOGIN = b"\x01\x82\0\0" + b"\0\0\0\1" + b"\x21" + bytes(23) + b"root\0" + b"\0"  # protocol 4.1, 16 MiB, utf8, user, no password

    def greet(self):
        self.ends = None  # it is not logged in

    def send(self, number, body):
        self.transport.write(len(body).to_bytes(3, "little") + bytes([number]) + body)

    def ask(self):
        self.ends = 0
        self.send(0, b"\x03select 1")

    def data_received(self, data):
        self.got += data
        while len(self.got) >= 4:
            end = 4 + int.from_bytes(self.got[:3], "little")
            if len(self.got) < end:
                return
            number, body, self.got = self.got[3], self.got[4:end], self.got[end:]
            self.packet(number, body)

    def packet(self, number, body):
        if body[0] == 0xff:  # an error
            self.end(False)
        elif self.ends is not None:
            self.ends += body[0] == 0xfe and len(body) < 9
            if self.ends == self.ENDS:
                self.answered()
        elif number == 0:
            self.send(1, self.LOGIN)
        else:
            self.ask()


class Blocks(Client):
    """A client of a disk over the network (NBD). It reads the first bytes, which are a pattern."""

    REPLY, HEAD = 16, 18  # bytes before the data of an answer, and of what the server says first
    PATTERN = b"".join(struct.pack(">Q", at) for at in range(0, len(MESSAGE), 8))

    def greet(self):
        self.stage = 0  # 0: nothing has come, 1: the disk is asked for, 2: it is open

    def ask(self):
        self.transport.write(struct.pack(">IHHQQI", 0x25609513, 0, 0, self.left, 0, len(MESSAGE)))

    def take(self, size):
        """Bytes that have come, or None."""
        if len(self.got) < size:
            return None
        taken, self.got = self.got[:size], self.got[size:]
        return taken

    def data_received(self, data):
        self.got += data
        if self.stage == 0 and self.take(self.HEAD):
            self.stage = 1
            self.transport.write(struct.pack(">IQII", 3, 0x49484156454F5054, 1, 0))
        if self.stage == 1 and self.take(10):
            self.stage = 2
            self.ask()
        if self.stage == 2:
            self.block(self.take(self.REPLY + len(MESSAGE)))

    def block(self, answer):
        if not answer:
            return
        if answer == struct.pack(">IIQ", 0x67446698, 0, self.left) + self.PATTERN:
            self.answered()
        else:
            self.end(False)
