# SPDX-License-Identifier: MIT
"""families.py - which rows of the bench stand in which picture, and what kind each participant is of"""

OURS = "libfiber"

# Kind of a participant: colour, text of the legend.
KINDS = {
    "ours": ("#0b6bcb", "libfiber"),
    "fibers": ("#8494a6", "other fibers, goroutines"),
    "loops": ("#d08a1d", "event loops, C++20 coroutines"),
    "raw": ("#9a86cc", "threads, raw contexts"),
}
KIND_OF = {OURS: "ours", "shared FPU": "ours", "boost.fiber": "fibers", "State Threads": "fibers", "GNU Pth": "fibers", "Go": "fibers",
           "Asio": "loops", "libuv": "loops", "liburing": "loops", "tokio": "loops",
           "boost.context": "raw", "ucontext": "raw", "pthread": "raw"}


class Family:
    """A picture. name: of the file. panels: [(work, key, caption), ...]. one_scale: for all panels of the same unit."""

    def __init__(self, name, title, subtitle, panels, one_scale=False):
        self.name, self.title, self.subtitle, self.panels, self.one_scale = name, title, subtitle, panels, one_scale


SHORTER = "Shorter is better. A bar with a cut is longer than it is drawn."

FAMILIES = [
    Family("switch", "Switch, yield, spawn", f"Time of one operation. {SHORTER}", [
        ("switch", "ns", "raw switch, one way"),
        ("codes", "ns", "switch between two functions, three calls deep"),
        ("yield-2", "ns", "yield, 2 fibers"),
        ("yield-1000", "ns", "yield, 1,000 fibers"),
        ("spawn-1000", "ns", "spawn, run, join; 1,000 live"),
        ("spawn-100000", "ns", "spawn, run, join; 100,000 live"),
        ("tree-1", "cpu", "a tree of 1,111,111 fibers, 1 carrier"),
        ("tree-2", "ms", "a tree of 1,111,111 fibers, 2 carriers"),
        ("tree-64", "ms", "a tree of 1,111,111 fibers, 64 carriers"),
        ("cancel", "ns", "spawn, park, cancel, join"),
    ]),
    Family("communication", "Communication", f"Time of one message or element, on one carrier. {SHORTER}", [
        ("cond", "ns", "ping-pong over a condition"),
        ("sem", "ns", "ping-pong over semaphores"),
        ("channel", "ns", "ping-pong over channels without room"),
        ("select-2", "ns", "select of 2 channels without room"),
        ("select-8", "ns", "select of 8 channels without room"),
    ]),
    Family("locks", "Locks and locals", f"Time of one operation, on one carrier. {SHORTER}", [
        ("mutex", "ns", "lock and unlock a free mutex"),
        ("mutex-2", "ns", "the same after another thread has used it"),
        ("local", "ns", "read and write a fiber's own variable"),
    ]),
    Family("io", "Input and output", f"CPU time of one operation, on one carrier. {SHORTER}", [
        ("echo-unix", "ns", "64 bytes over UNIX sockets, a message"),
        ("echo-pipe", "ns", "64 bytes over pipes, a message"),
        ("file", "ns", "4 KiB of a cached file"),
    ]),
    Family("sleepers", "Sleepers and timers",
           f"How late 99 of 100 sleeps end at most, and CPU time of a wake-up. {SHORTER}", [
        ("naps-10000", "p99", "10,000 fibers x 20 sleeps: late at p99"),
        ("naps-10000", "cpu", "10,000 fibers x 20 sleeps: CPU each"),
        ("naps-100000", "p99", "100,000 fibers x 3 sleeps: late at p99"),
        ("naps-100000", "cpu", "100,000 fibers x 3 sleeps: CPU each"),
        ("beside-1000", "p99", "a sleeper beside 1,000 that yield: late at p99"),
        ("timer", "ns", "arm and disarm a timer, 100 armed"),
    ]),
    Family("memory", "Memory of a fiber", "What each of 1,000,000 takes, by its state; of 100,000 where all were joined. Shorter is better. All bars in bytes have one scale.", [
        ("memory", "bytes", "waits: resident"),
        ("memory", "tables", "waits: page tables"),
        ("memory-new", "all", "made, not begun: both"),
        ("memory-ended", "all", "ended without a wait, not joined: both"),
        ("memory-joined", "all", "waited, ended, joined: what the process keeps"),
        ("memory-joined", "later", "the same, 5 s later"),
        ("memory", "us", "CPU time to make one that waits"),
    ], one_scale=True),
]

# Works on objects that fibers on several carriers share: this prefix, a name, a dash, the number of carriers.
SHARED = "shared-"
SCALE = Family("scale", "Work that fibers on several carriers share",
               "Time of one operation by the number of carriers (GOMAXPROCS, threads), logarithmic. Lower is better.", [])

# Works that only compare libfiber with itself.
NO_PICTURE = ["watchable", "recorded"]
