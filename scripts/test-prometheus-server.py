#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test-prometheus-server.py - check that a real Prometheus scrapes `fiberctl serve` and fires the shipped alerts

Two programs run, and one of them is in a deadlock. Prometheus scrapes every three seconds: a program that does not answer takes
up to two of them. It has a copy of the rules in which each duration after `for:` is a second; nothing else is changed. Its HTTP API says which alerts fire. All ports are free ones of
127.0.0.1. Prints TAP.
"""
import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
from monitored import RULES, Place, end, main, need, until  # noqa: E402

CONFIGURATION = """
global:
  scrape_interval: 3s
  scrape_timeout: 3s
  evaluation_interval: 1s
rule_files: [{rules}]
scrape_configs:
  - job_name: libfiber
    static_configs:
      - targets: ["{target}"]
"""


def free_port():
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Prometheus:
    """A Prometheus that scrapes one target."""

    def __init__(self, place, target):
        folder = place.folder
        rules = folder / "rules.yml"
        rules.write_text(re.sub(r"(?m)^( +for:) .*$", r"\1 1s", RULES.read_text(encoding="utf-8")), encoding="utf-8")
        (folder / "prometheus.yml").write_text(CONFIGURATION.format(rules=rules, target=target), encoding="utf-8")
        address = "127.0.0.1:%d" % free_port()
        self.url = "http://%s/api/v1/" % address
        self.log = open(folder / "log", "w+", encoding="utf-8")
        place.stack.callback(self.log.close)
        self.process = subprocess.Popen(
            ["prometheus", "--config.file=%s" % (folder / "prometheus.yml"), "--storage.tsdb.path=%s" % (folder / "data"),
             "--web.listen-address=%s" % address], stdout=self.log, stderr=self.log)
        place.stack.callback(end, self.process)
        until(self.is_up, "Prometheus scrapes %s: %s" % (target, folder / "log"))

    def ask(self, path, **query):
        url = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def is_up(self):
        if self.process.poll() is not None:
            self.log.seek(0)
            raise AssertionError("Prometheus ended:\n%s" % self.log.read()[-4000:])
        try:
            return [t for t in self.ask("targets")["activeTargets"] if t["health"] == "up"]
        except OSError:
            return False

    def firing(self, pid):
        """The annotations of the alerts of a process that fire, by name."""
        return {a["labels"]["alertname"]: a["annotations"] for a in self.ask("alerts")["alerts"]
                if a["state"] == "firing" and a["labels"]["pid"] == str(pid)}

    def value(self, expression):
        result = self.ask("query", query=expression)["result"]
        return float(result[0]["value"][1]) if result else None


class Scene:
    """The programs, the server and Prometheus."""

    def __init__(self, place):
        self.healthy = place.start("httpd", ready="listening")
        self.locked = place.start("deadlock", "--crossing", ready="ready ")
        server = place.start("fiberctl", "serve", "--listen", "127.0.0.1:0",
                             ready=r"fiberctl: serving on http://([\d.:]+)/$")
        self.prometheus = Prometheus(place, server.said[1])


scene = None


def test_deadlock():
    """the alert of a deadlock fires for the program that has one, with its name and the command to run"""
    annotations = until(lambda: scene.prometheus.firing(scene.locked.pid), "an alert for the deadlock")
    need(list(annotations) == ["LibfiberDeadlock"], "other alerts: %s" % annotations)
    words = annotations["LibfiberDeadlock"]
    need(words["summary"] == "deadlock (%d): deadlock of 2 fibers" % scene.locked.pid, words["summary"])
    need(words["description"].endswith(" Run: fiberctl why %d" % scene.locked.pid), words["description"])


def test_healthy():
    """no alert fires for a healthy program beside it"""
    looked = 'count_over_time(libfiber_look_ok{pid="%d"}[1h])' % scene.healthy.pid
    until(lambda: (scene.prometheus.value(looked) or 0) >= 5, "five looks at the healthy program")
    need(not scene.prometheus.firing(scene.healthy.pid), "alerts: %s" % scene.prometheus.firing(scene.healthy.pid))


def test_records():
    """the rules have no error, and their records have values"""
    for group in scene.prometheus.ask("rules")["groups"]:
        for rule in group["rules"]:
            need(rule["health"] == "ok", "%s: %s" % (rule["name"], rule.get("lastError")))
    fibers = 'process:libfiber_fibers:sum{program="deadlock",pid="%d"}' % scene.locked.pid
    need(scene.prometheus.value(fibers) == 2, "%s is %s" % (fibers, scene.prometheus.value(fibers)))


def test_stopped():
    """an alert fires for a program that is stopped, and ends when it goes on"""
    scene.healthy.send_signal(signal.SIGSTOP)
    until(lambda: "LibfiberNotAnswering" in scene.prometheus.firing(scene.healthy.pid), "an alert for a stopped program")
    scene.healthy.send_signal(signal.SIGCONT)
    until(lambda: not scene.prometheus.firing(scene.healthy.pid), "the end of that alert")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="fiber-prom-") as outer, Place(outer) as all_of_it:
        def test_start():
            """Prometheus scrapes fiberctl serve"""
            global scene  # pylint: disable=global-statement
            scene = Scene(all_of_it)

        sys.exit(main([test_start, test_deadlock, test_healthy, test_records, test_stopped]))
