#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-prometheus.py - check the rules for Prometheus with promtool, on the metrics of programs with known faults

Each program is a fixture in $FIBER_BUILD. Its metrics are taken twice. The series for `promtool test rules` go on as they went
between the two: a counter as fast as it did, a gauge at its last value. Then the alerts that fire must be those of the fault,
and a healthy program has none. tests/prometheus/thresholds.yml checks thresholds and durations on made-up series. Prints TAP.
"""
import json
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from monitored import ROOT, RULES, Place, alerts, main, need, samples, until  # noqa: E402

STEP = 15  # s between two samples, as in the documentation
APART = 1  # s, at least, between the two times at which metrics are taken

# Words of the program; the rule that must have a finding before the metrics are taken; the alerts that fire; those that may
# fire as well, depending on how fast the machine is.
QUIET = [
    (["httpd"], None, set(), set()),
    (["trouble", "no-convoy"], None, set(), set()),
    (["trouble", "no-deadlock"], None, set(), set()),
    (["trouble", "no-pinned"], None, set(), set()),
    (["trouble", "no-signal"], None, set(), set()),
    (["trouble", "no-failed"], None, set(), set()),
    (["deadlock", "--crossing"], "deadlock", {"LibfiberDeadlock"}, set()),
    (["deadlock", "--philosophers", "5"], "deadlock", {"LibfiberDeadlock"}, set()),
    (["trouble", "convoy"], "convoy", {"LibfiberConvoy"}, set()),
    (["trouble", "pinned"], "pinned", {"LibfiberPinnedWait"}, set()),
    (["trouble", "signal"], "signal", {"LibfiberFinding"}, set()),
    (["trouble", "failed"], "failed", {"LibfiberFinding"}, set()),
    (["trouble", "limits"], "limits", {"LibfiberFinding"}, set()),
]
BUSY = [
    (["trouble", "carrier"], "carrier", {"LibfiberCarrierHeld"}, set()),
    (["trouble", "delay"], None, {"LibfiberRunQueueDelay"}, {"LibfiberFibersDelayed"}),
]
# Each step of the series is a minute: these alerts compare with an hour ago.
NO_GROWTH = {"LibfiberRunQueueDelay", "LibfiberFibersDelayed"}
GROWING = [
    (["trouble", "growth"], {"LibfiberFibersGrow"}, NO_GROWTH),
    (["trouble", "no-growth"], set(), NO_GROWTH),
]

with open(RULES, encoding="utf-8") as file:
    USED = set(re.findall(r"\blibfiber_\w+", file.read()))


def promtool(*words):
    done = subprocess.run(["promtool", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100,
                          check=False)
    need(done.returncode == 0, "promtool %s:\n%s" % (" ".join(map(str, words)), done.stdout[-4000:]))


def is_used(series):
    return series.partition("{")[0] in USED


def is_counter(series):
    return re.search(r"_(total|bucket|sum|count)$", series.partition("{")[0])


def per_second(first, second, apart, series):
    """How fast it grows; a series of which there is only one sample stays."""
    return max(second[series] - first.get(series, second[series]), 0) / apart


def taken_twice(place, programs, between=None):
    """The metrics of the programs at two times: [(first, second, s)]."""
    before, began = place.metrics(), time.monotonic()
    if between:
        between()
    time.sleep(max(APART - (time.monotonic() - began), 0))
    after, apart = place.metrics(), time.monotonic() - began
    return [(samples(before, p.pid), samples(after, p.pid), apart) for p in programs]


def fires(pid, eval_time, must, may):
    """A test of promtool: exactly these alerts of the process fire; those that may do not count."""
    others = 'alertname!~"%s"' % "|".join(may - must) if may - must else ""
    expression = 'count by (alertname) (ALERTS{alertstate="firing",pid="%d"%s})' % (pid, "," + others if others else "")
    return {"expr": expression, "eval_time": eval_time,
            "exp_samples": [{"labels": '{alertname="%s"}' % name, "value": 1} for name in sorted(must)]}


def group(name, series, step, tests):
    return {"name": name, "interval": step,
            "input_series": [{"series": s, "values": v} for s, v in sorted(series.items())], "promql_expr_test": tests}


def going_on(first, second, apart, step, count, grows=is_counter):
    """Series that go on as they did, `count` more samples every `step` s."""
    return {s: "%.9f+%.9fx%d" % (second[s], per_second(first, second, apart, s) * step if grows(s) else 0, count)
            for s in second if is_used(s)}


def test_rules(folder, groups):
    """Write the tests for promtool (JSON is YAML) and run them."""
    path = folder / "rules-test.yml"
    path.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "15s", "tests": groups}), encoding="utf-8")
    try:
        promtool("test", "rules", path)
    except AssertionError as error:
        # promtool does not print the names.
        names = "\n".join("%s: %s" % (g["name"], g["promql_expr_test"][0]["expr"]) for g in groups)
        raise AssertionError("%s\n%s" % (error, names)) from None


def found(place, pid, rule):
    return any(value for series, value in samples(place.metrics(), pid).items()
               if series.startswith("libfiber_finding{") and 'rule="%s"' % rule in series)


def check_programs(place, programs):
    """Start programs, wait for their findings, and check which alerts fire."""
    started = [place.start(*words, ready=READY) for words, *_ in programs]
    for process, (words, rule, *_) in zip(started, programs):
        if rule:
            until(lambda p=process, r=rule: found(place, p.pid, r), "%s has no finding %s" % (words, rule))
    groups = []
    for process, (words, _, must, may), taken in zip(started, programs, taken_twice(place, started)):
        need(any(s.startswith("libfiber_finding") for s in taken[1]), "%s has no metrics" % words)
        groups.append(group(" ".join(words), going_on(*taken, STEP, 100), "%ds" % STEP,
                            [fires(process.pid, "0s", set(), set()), fires(process.pid, "20m", must, may)]))
    test_rules(place.folder, groups)


READY = r"ready |listening"


def in_place(check):
    with tempfile.TemporaryDirectory(prefix="fiber-prom-") as folder, Place(folder) as place:
        check(place)


def test_syntax():
    """promtool accepts the rules"""
    promtool("check", "rules", RULES)


def test_annotations():
    """each alert has a severity, names the process, and names the command to run next"""
    for name, text in alerts().items():
        if name == "LibfiberMetricsStale":
            continue  # it is about the machine
        need(re.search(r"severity: (critical|warning)$", text, re.M), "%s: severity" % name)
        for part in ("summary", "description"):
            words = re.search(r"(?ms)^ +%s: (.*?)(?=^ +\w+: |^ +- |^ +#|\Z)" % part, text)[1]
            need("{{ $labels.pid }}" in words, "%s: %s names no process" % (name, part))
            need(name == "LibfiberNotAnswering" or "{{ $labels.program }}" in words, "%s: %s: program" % (name, part))
        need(re.search(r"Run:\s+(fiberctl|fibertrace) ", text), "%s: no command" % name)


def test_documentation():
    """the configurations of Prometheus in docs/fleet.md are valid"""
    text = (ROOT / "docs/fleet.md").read_text(encoding="utf-8")
    blocks = [b for b in re.findall(r"(?s)```yaml\n(.*?)```", text) if "# prometheus.yml" in b]
    need(len(blocks) == 2, "%d configurations" % len(blocks))
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as out:
        for block in blocks:
            out.seek(0)
            out.truncate()
            out.write(block)
            out.flush()
            promtool("check", "config", "--syntax-only", out.name)


def test_thresholds():
    """thresholds and durations are those of tests/prometheus/thresholds.yml"""
    promtool("test", "rules", ROOT / "tests/prometheus/thresholds.yml")


def test_quiet():
    """the alert of its fault fires for each faulty program, and none for healthy ones"""
    in_place(lambda place: check_programs(place, QUIET))


def test_busy():
    """the alert of its fault fires for each program that keeps its carriers busy"""
    for program in BUSY:
        in_place(lambda place, p=program: check_programs(place, [p]))


def fibers_again_and_again(place, process, count):
    """The series of its fibers: what ten looks saw, again and again."""
    looks = []
    for _ in range(10):
        looks.append({s: v for s, v in samples(place.metrics(), process.pid).items() if s.startswith("libfiber_fibers{")})
        time.sleep(0.05)
    return {s: " ".join("%g" % looks[i % 10].get(s, 0) for i in range(count)) for s in looks[0]}


def check_growth(place):
    groups = []
    for words, must, may in GROWING:
        process = place.start(*words, ready=READY)
        first, second, apart = taken_twice(place, [process])[0]
        series = going_on(first, second, apart, 60, 300, lambda s: is_counter(s) or s.startswith("libfiber_fibers{"))
        if not must:
            series.update(fibers_again_and_again(place, process, 300))
        groups.append(group(" ".join(words), series, "60s", [fires(process.pid, "1h", set(), may),
                                                             fires(process.pid, "4h", must, may)]))
        process.kill()
    test_rules(place.folder, groups)


def test_growth():
    """an alert fires where fibers only get more, and not where they come and go"""
    in_place(check_growth)


def check_pinned(place):
    process = place.start("hog", "--pin", "5", "--ms", "1", "--again", "--clean", "1", ready=READY, stdin=subprocess.PIPE)

    def again():
        for _ in range(4):
            process.stdin.write("\n")
            process.stdin.flush()
            until(lambda: re.match(READY, process.stdout.readline()), "hog goes on")

    first, second, apart = taken_twice(place, [process], again)[0]
    series = going_on(first, second, apart, 60, 0)
    for name in [s for s in second if s.startswith("libfiber_pinned_events_total{")]:
        rate = per_second(first, second, apart, name) * 60
        need(rate > 60, "%g pinned waits a minute" % rate)
        series[name] = "%.9f+0x40 %.9f+%.9fx40" % (first[name], second[name], rate)
    series = {s: v.replace("x0", "x80") for s, v in series.items()}
    test_rules(place.folder, [group("hog --pin", series, "60s", [fires(process.pid, "40m", set(), set()),
                                                                 fires(process.pid, "60m", {"LibfiberPinnedWaitsGrow"}, set())])])


def test_pinned():
    """an alert fires where pinned waits become many more"""
    in_place(check_pinned)


def check_stopped(place):
    process = place.start("httpd", ready=READY)
    process.send_signal(signal.SIGSTOP)
    text = until(lambda: (t := place.metrics()) and 'libfiber_up{pid="%d"} 0' % process.pid in t and t, "it is stopped")
    now = samples(text, process.pid)
    need(list(now) == ['libfiber_up{pid="%d"}' % process.pid], "a stopped program has %s" % list(now))
    test_rules(place.folder, [group("stopped", going_on(now, now, 1, STEP, 100), "%ds" % STEP,
                                    [fires(process.pid, "0s", set(), set()),
                                     fires(process.pid, "20m", {"LibfiberNotAnswering"}, set())])])


def test_stopped():
    """an alert fires for a program that does not answer"""
    in_place(check_stopped)


if __name__ == "__main__":
    sys.exit(main([test_syntax, test_annotations, test_documentation, test_thresholds, test_quiet, test_busy, test_growth, test_pinned,
                   test_stopped]))
