#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-kernels.py KERNEL... - run tests in virtual machines with other kernels

KERNEL is the name of a Debian package, which is downloaded and not installed, or a path of a kernel image. Each kernel boots
in qemu-system-x86_64 without hardware support, which needs no rights, with a memory file system that has the test
programs, what they start, and their shared libraries. tests/kernels/init.c runs them. The tests are those of what depends on
the kernel: guards below stacks, pollers, barriers, cancelling. Then it is checked that `fiberctl carriers` reports what the
kernel has.

Such a machine is about 20 times slower than this one, and tests have time limits: nothing else should load this machine.

Prints TAP: a test for each program and kernel. The build folder is $FIBER_BUILD. CHOICE: the tests to run instead of TESTS.
"""
import os
import pathlib
import re
import stat
import subprocess
import sys

BUILD = pathlib.Path(os.environ["FIBER_BUILD"]).resolve()
HERE = BUILD / "kernels"
SECONDS = 1800
TESTS = """unit/context/test_context unit/poll/test_choose unit/poll/test_epoll unit/poll/test_poll unit/poll/test_uring
    system/test_guards system/test_cancel system/test_tcp""".split()
PROGRAMS = ["crowd", "fiberctl", "fibertrace"]
# What the facilities of `fiberctl carriers` need. io_uring: what poll/uring/ring.c asks for.
SINCE = {"guard": (6, 13), "process_madvise": (6, 14), "io_uring": (5, 17), "epoll_pwait2": (5, 11), "membarrier": (4, 14),
         "timerfd": (2, 6)}
VALUES = {"guard": ("mprotect", "advice")}


class Cpio:
    """An archive in the format "newc", which a kernel unpacks as its first file system."""

    def __init__(self, file):
        self.file, self.number, self.folders = file, 0, {"."}

    def entry(self, name, mode, content=b""):
        self.number += 1
        fields = [self.number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
        for part in (head, content):
            self.file.write(part + b"\0" * (-len(part) % 4))

    def folder(self, path):
        for parent in [*reversed(path.parents), path]:
            name = str(parent).lstrip("/") or "."
            if name not in self.folders:
                self.folders.add(name)
                self.entry(name, stat.S_IFDIR | 0o755)

    def add(self, path, source=None):
        """Add a file under its own path, or the content of another one."""
        path = pathlib.Path(path)
        self.folder(path.parent)
        source = pathlib.Path(source or path)
        self.entry(str(path).lstrip("/"), stat.S_IFREG | 0o755, source.read_bytes())

    def text(self, path, text):
        self.entry(path.lstrip("/"), stat.S_IFREG | 0o644, text.encode())

    def close(self):
        self.entry("TRAILER!!!", 0)


def libraries(programs):
    found = set()
    for program in programs:
        p = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
        found |= set(re.findall(r"(/\S+) \(0x", p.stdout))
    return found


def lines(version):
    """The lines for init: each program with its environment."""
    base = "FIBER_BUILD=%s CMOCKA_MESSAGE_OUTPUT=TAP PATH=/bin XDG_RUNTIME_DIR=/tmp " % BUILD
    for test in TESTS:
        yield test, base + "FIBER_TEST_CARRIERS=2 %s/tests/%s" % (BUILD, test)
    poller = "uring" if version >= SINCE["io_uring"] else "epoll"
    for setting in ("epoll", poller):
        yield None, "&%s FIBER_POLLER=%s %s/bin/crowd 40" % (base, setting, BUILD)
        yield "fiberctl carriers, " + setting, base + "%s/bin/fiberctl carriers --once $!" % BUILD
        yield "fiberctl bt, " + setting, base + "%s/bin/fiberctl bt --all $!" % BUILD


def initramfs(path, version):
    programs = [BUILD / "tests" / t for t in TESTS] + [BUILD / "bin" / p for p in PROGRAMS]
    with open(path, "wb") as file:
        archive = Cpio(file)
        for folder in ("/proc", "/sys", "/dev", "/tmp", "/etc"):
            archive.folder(pathlib.Path(folder))
        archive.entry("dev/console", stat.S_IFCHR | 0o600)
        archive.add("/init", BUILD / "tests/kernels/init")
        for program in programs + sorted(libraries(programs)):
            archive.add(program)
        archive.text("/run-these", "".join(line + "\n" for _, line in lines(version)))
        archive.close()


def image(kernel):
    """The path of a kernel image and its version; it is downloaded if it is a package."""
    path = pathlib.Path(kernel)
    if not path.exists():
        folder = HERE / kernel
        folder.mkdir(parents=True, exist_ok=True)
        if not list(folder.glob("boot/vmlinuz-*")):
            subprocess.run(["apt-get", "-qq", "download", kernel], cwd=folder, check=True, stderr=subprocess.DEVNULL)
            for package in folder.glob("*.deb"):
                subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
                package.unlink()
        path = next(folder.glob("boot/vmlinuz-*"))
    said = subprocess.run(["file", "-b", path], capture_output=True, text=True, check=True).stdout
    version = re.search(r"version (\d+)\.(\d+)", said)
    return path, (int(version[1]), int(version[2]))


def boot(kernel, archive):
    """Run a machine to its end. Returns what it printed."""
    command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1G", "-nographic",
               "-no-reboot", "-nodefaults", "-serial", "stdio", "-kernel", kernel, "-initrd", archive, "-append",
               "console=ttyS0 quiet panic=-1"]
    try:
        p = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL)
        return p.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace")


def wrong_features(output, version):
    """What `fiberctl carriers` reports, and the kernel does not have, or the other way round."""
    said = dict(re.findall(r"(\w+)=(\S+)", (re.findall(r"^features: (.*)", output, re.M) or [""])[0]))
    wrong = [] if said else ["no line 'features:'"]
    for name, since in SINCE.items():
        expected = VALUES.get(name, ("no", "yes"))[version >= since]
        if said.get(name) not in (expected, "-"):
            wrong.append("%s=%s instead of %s" % (name, said.get(name), expected))
    return wrong


def judge(name, status, output, version):
    """What is wrong with the end of a program; empty: nothing."""
    wrong = [line for line in output.splitlines() if line.startswith("not ok")]
    if status != "0" and not (name.startswith("fiberctl bt") and status == "1"):
        wrong.append("exit status " + status)
    if name.startswith("fiberctl carriers"):
        wrong += wrong_features(output, version)
    return wrong


def keep(folder, passed, failed):
    """For the table of docs/platforms.md."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "check.choice").write_text("kernel\n", encoding="utf-8")
    (folder / "check.result").write_text("%d passed, %d failed\n" % (passed, failed), encoding="utf-8")


def main():
    number = failed = 0
    if os.environ.get("CHOICE"):
        TESTS[:] = os.environ["CHOICE"].split()
    for kernel in sys.argv[1:]:
        path, version = image(kernel)
        archive = HERE / "initramfs"
        initramfs(archive, version)
        output = boot(path, archive).replace("\r", "")
        parts = re.split(r"^@@ (.*)\n", output, flags=re.M)
        results = list(zip(parts[0::2], parts[1::2]))
        before = number, failed
        for i, name in enumerate(name for name, _ in lines(version) if name):
            number += 1
            text, status = results[i] if i < len(results) else (parts[-1], "none")
            wrong = judge(name, status, text, version)
            print("%sok %d - %s: %s" % ("not " if wrong else "", number, path.name, name), flush=True)
            for line in wrong + (text.splitlines()[-30:] if wrong else []):
                print("# " + line)
            failed += bool(wrong)
        ran, bad = number - before[0], failed - before[1]
        keep(BUILD / "kernels" / path.name.removeprefix("vmlinuz-"), ran - bad, bad)
    print("1..%d" % number)
    return failed > 0


sys.exit(main())
