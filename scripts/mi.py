# SPDX-License-Identifier: MIT
"""mi.py - drive gdb over its machine interface, as IDEs do, one command at a time"""
import queue
import re
import subprocess
import threading

TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
NAME = re.compile(r"([\w-]+)=")
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class Error(Exception):
    """gdb answered with ^error, or did not answer."""


def text_of(quoted):
    return re.sub(r"\\([0-7]{3}|.)", lambda m: ESCAPES.get(m[1], chr(int(m[1], 8)) if m[1].isdigit() else m[1]), quoted)


def value(text, at):
    """Parse a text, a list or an object at text[at]. Returns it and its end. Of a list of results only the values are kept."""
    if text[at] == '"':
        match = TEXT.match(text, at)
        return text_of(match[1]), match.end()
    close, found, names = {"{": "}", "[": "]"}[text[at]], [], []
    at += 1
    while text[at] != close:
        match = NAME.match(text, at)
        names.append(match[1] if match else None)
        one, at = value(text, match.end() if match else at)
        found.append(one)
        at += text[at] == ","
    return (dict(zip(names, found)) if close == "}" else found), at + 1


def results(text):
    """Parse NAME=VALUE,... into an object."""
    found, _ = value("{%s}" % text, 0)
    return found


class Gdb:
    """One gdb, for a with statement. console: its console output so far."""

    def __init__(self, arguments, seconds):
        self.seconds, self.console, self.notes, self.lines = seconds, "", [], queue.Queue()
        self.process = subprocess.Popen(["gdb", "-nx", "-q", "-i=mi", "-iex", "set auto-load no", "-iex", "set debuginfod enabled off",
                                         *[str(a) for a in arguments]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace")
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def ask(self, command):
        """Run a command of the machine interface. Returns its results."""
        self.process.stdin.write("77%s\n" % command)
        self.process.stdin.flush()
        while True:
            try:
                line = self.lines.get(timeout=self.seconds)
            except queue.Empty:
                line = None
            if line is None:
                raise Error("%s: no answer" % command)
            if line[:1] == "~":
                self.console += text_of(line[2:-1])
            elif line[:1] in ("=", "*"):
                self.notes.append(line)
            elif line.startswith("77^error"):
                raise Error("%s: %s" % (command, line))
            elif line.startswith("77^"):
                return results(line.partition(",")[2])

    def say(self, command):
        """Run a console command. Returns its console output."""
        before = len(self.console)
        self.ask('-interpreter-exec console "%s"' % command.replace("\\", "\\\\").replace('"', '\\"'))
        return self.console[before:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
