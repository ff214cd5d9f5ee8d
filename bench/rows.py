# SPDX-License-Identifier: MIT
"""rows.py - the works that are measured, their participants, and libfiber's targets.

A work runs PROGRAM NAME COUNT ARG for each of its participants. It may give several lines of the
table, one for each value that a run prints. COUNT is chosen so that a run takes about 50 ms; a
participant that is much slower has a smaller count.

Targets, all on the median of libfiber's repeats:
  ("fc", f)            at most f times boost.context's raw switch of the same run of the benchmark
  ("who", name, f)     at most f times what that participant needs for the same work
  ("at most", v)       at most v, in the line's unit
  ("own", work, f)     at most f times what libfiber needs for that other work, by the same key
  ("key", key, f)      at most f times libfiber's value of that other key of the same work
  ("each fc", f)       as "fc", and ("each who", name, f) as "who", in each of the repeats: the largest ratio counts
"""

OURS = "libfiber"
FC = "boost.context"
UNWATCHABLE = "no socket"  # libfiber without a control socket
SHARED_FPU = "shared FPU"  # libfiber whose fibers or contexts share the FPU control words

# Participant: its program below build/bench.
PEERS = {
    OURS: "libfiber",
    FC: "peers/fcontext",
    "boost.fiber": "peers/boost_fiber",
    "State Threads": "peers/st",
    "GNU Pth": "peers/pth",
    "Go": "peers/go",
    "tokio": "peers/tokio",
    "Asio": "peers/asio",
    "libuv": "peers/uv",
    "liburing": "peers/uring",
    "ucontext": "peers/ucontext",
    "pthread": "peers/pthread",
    UNWATCHABLE: "libfiber",
    SHARED_FPU: "libfiber",
}

# Participants of shared works by the names of shared()'s arguments.
SHARING = {"boost": "boost.fiber", "tokio": "tokio", "pthread": "pthread"}

# Additional environment variables of a participant.
ENVIRONMENT = {UNWATCHABLE: {"FIBER_CONTROL": "off"}, SHARED_FPU: {"BENCH_SHARED_FPU": "1"}}


class Line:
    """One value of a work: the key that a run prints, its unit, libfiber's targets. ours: no peer prints it."""

    def __init__(self, key, unit, *targets, text="", ours=False):
        self.key, self.unit, self.targets, self.text, self.ours = key, unit, targets, text, ours


class Work:
    """name: the name for WORK=. runs: participant -> count. instructions: two counts."""

    def __init__(self, name, text, program_work, arg, runs, lines, instructions=None):
        self.name, self.text, self.program_work, self.arg = name, text, program_work, arg
        self.runs, self.lines, self.instructions = runs, lines, instructions


def ns(*targets):
    return [Line("ns", "ns", *targets)]


def costs(carriers, *targets):
    return [Line("ns", "ns", *targets)] + ([Line("cpu", "ns", *targets, text="CPU"), STEALS] if carriers > 1 else [])


def costs_of_sleeps(carriers, *targets):
    return [Line("p99", "us", *targets, text="late at p99"), Line("cpu", "us", *targets, text="CPU each")] + \
        ([STEALS] if carriers > 1 else [])


def costs_of_requests(carriers, *targets):
    return [Line("ns", "ns", *targets), Line("rate", "per s", text="requests"), Line("cpu", "ns", *targets, text="CPU")] + \
        ([STEALS] if carriers > 1 else [])


STEALS = Line("steals", "per 1,000", text="steals", ours=True)


def shared(name, text, count, lines=costs, **peers):
    """What fibers share, on 1, 2, 4 and 8 carriers; 8 have no target. Go has our count; peers: the other ones'."""
    first = f"shared-{name}-1"
    runs = {OURS: count, "Go": count, **{SHARING[peer]: n for peer, n in peers.items()}}
    for carriers in 1, 2, 4, 8:
        targets = [("who", "Go", 1)] if carriers <= 4 else []
        targets += [("own", first, 2)] if carriers in (2, 4) else []
        yield Work(f"shared-{name}-{carriers}", f"{text}, {carriers} carrier{'s'[:carriers > 1]}", f"shared-{name}", carriers,
                   runs, lines(carriers, *targets))


def memory(state, text, count, *participants):
    """Many fibers in this state; the state "waits" is the work memory, which has more lines."""
    targets = [("at most", 700)] if state in ("new", "ended") else []
    lines = [Line("all", "B", *targets, text="resident and page tables, each"), Line("bytes", "B", text="resident, each")]
    if state == "joined":
        lines.append(Line("later", "B", text="all, 5 s later, each", ours=True))
    yield Work(f"memory-{state}", text, f"memory-{state}", 0, dict.fromkeys(participants, count), lines)


WORKS = [
    Work("switch", "raw switch, one way", "switch", 0,
         {OURS: 10_000_000, SHARED_FPU: 10_000_000, FC: 10_000_000, "ucontext": 400_000},
         ns(("fc", 0.75), ("each fc", 0.95)), (100_000, 200_000)),
    Work("codes", "switch, two codes, three deep", "codes", 0,
         {OURS: 3_000_000, SHARED_FPU: 3_000_000, FC: 3_000_000, "ucontext": 400_000},
         ns(("who", FC, 0.5), ("each who", FC, 1)), (100_000, 200_000)),
    Work("yield-2", "yield, 2 fibers", "yield", 2,
         {OURS: 3_000_000, "boost.fiber": 2_000_000, "Go": 2_000_000, "GNU Pth": 20_000,
          "pthread": 50_000, "Asio": 1_000_000},
         ns(("fc", 2)), (50_000, 100_000)),
    Work("yield-1000", "yield, 1,000 fibers", "yield", 1000,
         {OURS: 3_000_000, "boost.fiber": 2_000_000, "Go": 2_000_000, "GNU Pth": 20_000,
          "pthread": 50_000, "Asio": 1_000_000},
         ns(("fc", 3)), (50_000, 250_000)),
    Work("watchable", "yield, 1,000 fibers, nobody looks", "watchable", 1000,
         {OURS: 12_000_000, UNWATCHABLE: 12_000_000}, ns(("who", UNWATCHABLE, 1.01))),
    Work("recorded", "an event of the recorder, beside off", "recorded", 1000,
         {OURS: 6_000_000}, ns(("at most", 20))),
    Work("spawn-1000", "spawn, run, join, 1,000 live", "spawn", 1000,
         {OURS: 500_000, "boost.fiber": 100_000, "State Threads": 300_000, "Go": 400_000,
          "GNU Pth": 10_000, "pthread": 5_000, "Asio": 300_000},
         ns(("fc", 5)), (10_000, 110_000)),
    Work("spawn-100000", "spawn, run, join, 100,000 live", "spawn", 100_000,
         {OURS: 300_000, "boost.fiber": 200_000, "State Threads": 200_000, "Go": 200_000, "Asio": 200_000},
         ns(("fc", 35))),
    Work("cond", "ping-pong over a condition", "cond", 0,
         {OURS: 1_000_000, "boost.fiber": 500_000, "State Threads": 2_000_000, "Go": 500_000,
          "GNU Pth": 5_000, "pthread": 20_000},
         ns(("fc", 3), ("who", "State Threads", 1)), (20_000, 40_000)),
    Work("channel", "ping-pong over channels without room", "channel", 0,
         {OURS: 1_000_000, "boost.fiber": 500_000, "Go": 500_000, "Asio": 300_000},
         ns(("fc", 4)), (20_000, 40_000)),
    Work("sem", "ping-pong over semaphores", "sem", 0, {OURS: 1_000_000}, ns(("fc", 3.5)), (20_000, 40_000)),
    Work("select-2", "select of 2 channels without room", "select", 2, {OURS: 500_000, "Go": 200_000}, ns(), (20_000, 40_000)),
    Work("select-8", "select of 8 channels without room", "select", 8, {OURS: 300_000, "Go": 100_000}, ns(), (20_000, 40_000)),
    Work("cancel", "spawn, park, cancel, join", "cancel", 0, {OURS: 300_000}, ns(), (10_000, 20_000)),
    Work("timer", "arm and disarm a timer, 100 armed", "timer", 0,
         {OURS: 500_000, "Asio": 500_000, "libuv": 2_000_000, "liburing": 30_000}, ns(), (20_000, 40_000)),
    Work("local", "read and write a fiber's own variable", "local", 0, {OURS: 20_000_000}, ns(), (100_000, 200_000)),
    Work("echo-unix", "64 bytes over UNIX sockets, a message", "echo-unix", 0,
         {OURS: 20_000, "State Threads": 20_000, "Go": 20_000, "Asio": 20_000, "libuv": 20_000, "liburing": 20_000}, ns()),
    Work("echo-pipe", "64 bytes over pipes, a message", "echo-pipe", 0,
         {OURS: 20_000, "State Threads": 20_000, "Go": 20_000, "libuv": 40_000, "liburing": 40_000}, ns()),
    Work("file", "4 KiB of a cached file", "file", 0, {OURS: 50_000, "libuv": 4_000, "liburing": 50_000}, ns()),
    Work("mutex", "mutex lock and unlock, nobody waits", "mutex", 0,
         {OURS: 5_000_000, "boost.fiber": 5_000_000, "State Threads": 10_000_000, "Go": 10_000_000,
          "GNU Pth": 10_000_000, "pthread": 10_000_000},
         ns(("fc", 0.6)), (50_000, 100_000)),
    Work("mutex-2", "the same, 2 carriers, both have used it", "mutex-used", 2, {OURS: 5_000_000}, ns(("fc", 0.9))),
    *shared("mutex", "a mutex, 2 fibers", 2_000_000, boost=500_000, pthread=2_000_000, tokio=1_000_000),
    *shared("mutex-yield",
            "a mutex, 100 fibers, a yield in every 8th hold", 1_000_000, boost=200_000, pthread=200_000, tokio=200_000),
    *shared("rwlock", "a rwlock, 2 readers", 2_000_000, pthread=2_000_000, tokio=1_000_000),
    *shared("sem", "a semaphore of 2, 10 fibers, a yield in every 8th hold", 500_000, pthread=50_000, tokio=200_000),
    *shared("queue-0", "a channel without room, 10 senders, 10 receivers", 500_000, boost=20_000, pthread=5_000),
    *shared("queue-16",
            "a channel of 16, 10 senders, 10 receivers", 1_000_000, boost=50_000, pthread=50_000, tokio=100_000),
    *shared("queue-1024",
            "a channel of 1,024, 10 senders, 10 receivers", 2_000_000, boost=500_000, pthread=500_000, tokio=200_000),
    *shared("pipe-0", "a channel without room, 1 sender, 1 receiver", 1_000_000, boost=5_000, pthread=5_000),
    *shared("pipe-16", "a channel of 16, 1 sender, 1 receiver", 2_000_000, boost=50_000, pthread=50_000, tokio=500_000),
    *shared("select", "2 channels without room, 10 senders, 10 that select over both", 300_000, pthread=5_000),
    *shared("broadcast", "a condition, broadcast to 100, all back", 5_000, boost=300, pthread=100, tokio=1_000),
    *shared("waitgroup", "waitgroups, 100 fibers released and counted", 5_000, pthread=100),
    *shared("group", "groups of 100 fibers that do little, a fiber", 300_000, pthread=5_000, tokio=100_000),
    *shared("spawn",
            "4 fibers that spawn and join 10 at a time, a fiber", 1_000_000, boost=100_000, pthread=5_000, tokio=200_000),
    *shared("sleepers", "10,000 fibers x 10 sleeps of 1-20 ms", 10_000, costs_of_sleeps, boost=10_000, tokio=10_000),
    *shared("table-mutex",
            "a served table, 5 % writes, under a mutex, a request", 30_000, costs_of_requests, pthread=20_000, tokio=20_000),
    *shared("table-rwlock",
            "a served table, 5 % writes, under a rwlock, a request", 30_000, costs_of_requests, pthread=20_000, tokio=20_000),
    Work("tree-1", "tree, 1,000,000 leaves, 1 carrier", "tree", 1,
         {OURS: 1_000_000, "Go": 1_000_000},
         [Line("cpu", "ms", ("who", "Go", 0.23))], (10_000, 100_000)),
    Work("tree-2", "tree, 1,000,000 leaves, 2 carriers", "tree", 2,
         {OURS: 1_000_000, "Go": 1_000_000},
         [Line("ms", "ms", ("who", "Go", 0.27), ("own", "tree-1", 0.555))]),
    Work("tree-64", "tree, 1,000,000 leaves, 64 carriers", "tree", 64, {OURS: 1_000_000},
         [Line("ms", "ms", ("own", "tree-2", 1.2)), Line("cpu", "ms", text="CPU")]),
    Work("memory", "1,000,000 fibers alive", "memory", 0,
         {OURS: 1_000_000, "Go": 1_000_000, "Asio": 1_000_000},
         [Line("bytes", "B", ("at most", 4700), text="resident, each"),
          Line("tables", "B", text="page tables, each"),
          Line("maps", "maps", ("at most", 100), text="mappings of the process"),
          Line("us", "us", ("at most", 3), ("key", "touch", 2.6), text="made and run in, each"),
          Line("touch", "us", text="a page of memory, touched", ours=True)]),
    *memory("new", "1,000,000 fibers made, none begun", 1_000_000, OURS, "Asio"),
    *memory("ended", "1,000,000 fibers ended, none joined", 1_000_000, OURS),
    *memory("joined", "100,000 fibers that waited, all joined", 100_000, OURS, "Asio"),
    Work("naps-10000", "10,000 fibers x 20 sleeps", "naps", 20,
         {OURS: 10_000, "boost.fiber": 10_000, "State Threads": 10_000, "Go": 10_000, "Asio": 10_000, "libuv": 10_000},
         [Line("p99", "us", ("at most", 130), text="late at p99"),
          Line("cpu", "us", ("at most", 1.9), text="CPU each")]),
    Work("naps-100000", "100,000 fibers x 3 sleeps", "naps", 3,
         {OURS: 100_000, "boost.fiber": 100_000, "State Threads": 100_000, "Go": 100_000, "Asio": 100_000,
          "libuv": 100_000},
         [Line("p99", "us", ("at most", 15_000), text="late at p99"),
          Line("cpu", "us", ("at most", 1.3), text="CPU each")]),
    Work("beside-1000", "sleeps beside 1,000 that yield", "beside", 1000,
         {OURS: 100},
         [Line("p50", "us", text="late at p50"),
          Line("p99", "us", ("at most", 1000), text="late at p99")]),
]
