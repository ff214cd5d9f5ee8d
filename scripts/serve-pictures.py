#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve-pictures.py FOLDER [BUILD] - pictures of the page of `fiberctl serve`

Starts fixtures and a server that shows them, opens each view in headless Chromium and writes VIEW-light.png, VIEW-dark.png
(1280 pixels wide) and VIEW-narrow.png (390 pixels wide) into FOLDER. BUILD is the build folder, build by default.
"""

import base64
import contextlib
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATIENCE = 60  # s
PROGRAMS = {
    "crowd": ["crowd", "66", "--stuck"],
    "deadlock": ["deadlock", "--crossing", "--behind", "12"],
    "convoy": ["trouble", "convoy"],
    "busy": ["turns", "--yield", "2"],
    "names": ["names"],
    "idle": ["drift"],
}
# The view, the program and the rest of the address.
VIEWS = [
    ("programs", None, ""),
    ("overview", "crowd", ""),
    ("overview-deadlock", "deadlock", ""),
    ("overview-busy", "busy", ""),
    ("fibers", "crowd", "fibers"),
    ("fibers-grouped", "crowd", "fibers?group-by=wait"),
    ("fibers-wrong", "crowd", "fibers?where=wait%3D"),
    ("fibers-hostile", "names", "fibers"),
    ("stacks", "crowd", "stacks"),
    ("waits-deadlock", "deadlock", "waits"),
    ("waits-convoy", "convoy", "waits"),
    ("fiber", "crowd", "fiber/4"),
    ("recordings", "busy", "recordings"),
]
LOOKS = {"light": (1280, 900, "light"), "dark": (1280, 900, "dark"), "narrow": (390, 844, "light")}
READY = "document.querySelector('.view[data-ready], .view [aria-invalid]') !== null"


class Browser:
    """Chromium with one page, over the pipe of its DevTools protocol: it reads messages from descriptor 3 and writes to 4."""

    def __init__(self, folder):
        low_read, self.to = os.pipe()
        self.source, low_write = os.pipe()
        # Numbers above 4, so that neither is replaced before it is moved.
        to_read, to_write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (low_read, low_write))
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                 "--remote-debugging-pipe", f"--user-data-dir={folder}/browser"]
        # The shell moves the two descriptors to the numbers that Chromium expects.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec chromium "$@" 3<&{to_read} 4>&{to_write}', "bash", *flags], pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": folder})
        for fd in (low_read, low_write, to_read, to_write):
            os.close(fd)
        self.rest, self.last, self.session = b"", 0, {}
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = {"sessionId": self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.source, 1 << 20)
            if not part:
                sys.exit("serve-pictures.py: chromium does not run: is it installed? make deps")
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def ask(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params, **self.session}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                return answer["result"]

    def value(self, expression):
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait(self, expression):
        end = time.monotonic() + PATIENCE
        while self.value(expression) is not True:
            if time.monotonic() > end:
                sys.exit(f"serve-pictures.py: never true: {expression}")
            time.sleep(0.05)

    def look(self, width, height, scheme):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.session = {}
        self.ask("Browser.close")
        self.process.wait()


def start(stack, line, argv):
    """Start a program that ends with the stack; returns it and its first line that begins with `line`."""
    process = stack.enter_context(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
    stack.callback(process.terminate)
    for printed in process.stdout:
        if printed.startswith(line):
            return process, printed[len(line):].strip()
    sys.exit(f"serve-pictures.py: {argv[0]} never said '{line}'")


def record(browser):
    """Start a recording of a second in the open view, and wait for its end."""
    browser.wait("document.getElementById('seconds') !== null")
    browser.value("document.getElementById('seconds').value = 1; document.querySelector('.view form').requestSubmit()")
    browser.wait("document.getElementById('confirm').open")
    browser.value("document.getElementById('confirm-yes').click()")
    browser.wait("document.querySelector('.view tbody .badge.ok') !== null")


def draw(browser, folder, address, pids):
    for view, program, rest in VIEWS:
        browser.look(*LOOKS["light"])
        browser.ask("Page.navigate", url="about:blank")
        path = f"process/{pids[program]}{'/' + rest if rest else ''}" if program else ""
        browser.ask("Page.navigate", url=f"{address}#/{path}")
        browser.wait(READY)
        if view == "recordings":
            record(browser)
        if view.startswith("overview"):
            # Some seconds of history.
            browser.wait("(document.querySelector('.line.switches').getAttribute('d') || '').split('L').length > 4")
        for name, look in LOOKS.items():
            browser.look(*look)
            browser.value("window.scrollTo(0, 0); window.drawn = false; "
                          "requestAnimationFrame(() => requestAnimationFrame(() => { window.drawn = true; }))")
            browser.wait("window.drawn")
            browser.picture(folder / f"{view}-{name}.png")
        print(f"{view}: {len(LOOKS)} pictures", flush=True)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.splitlines()[0])
    folder, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else ROOT / "build") / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory())
        os.environ["XDG_RUNTIME_DIR"] = place
        pids = {name: start(stack, "ready ", [build / argv[0], *argv[1:]])[0].pid for name, argv in PROGRAMS.items()}
        server = [build / "fiberctl", "serve", "--listen", "127.0.0.1:0", "--allow-changes", *map(str, pids.values())]
        _, address = start(stack, "fiberctl: serving on ", server)
        browser = Browser(place)
        stack.callback(browser.close)
        draw(browser, folder, address, pids)


if __name__ == "__main__":
    main()
