#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check-openapi.py - check docs/schema/openapi.json against a running `fiberctl serve`, and the reverse

Prints TAP. The document has the structure of OpenAPI 3.1, as far as it uses it; each reference leads somewhere. It has the
commands and parameters of the tables in fiberctl/serve/question.c and the paths of routes.c, and no others. Every operation is
carried out on real programs: its answer has the status, the type and the schema that the document says. Each parameter is
accepted where the document has it and refused elsewhere. The schemas serve-*.json are tested with changed answers
(schema_answers.py). The build folder is $FIBER_BUILD.
"""
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from openapi_document import METHODS, check_document, operations, parameters, references
from ready_fixture import BUILD, start
from schema_answers import OPENAPI, ROOT, SCHEMAS, check_answer, jsonschema, read, said, schemas

SECONDS = 60
# A program is asked less often the more its answers cost, so several share the requests.
CROWDS = [f"crowd-{i}" for i in range(6)]
FIXTURES = dict.fromkeys(CROWDS, "crowd 66 --stuck") | {"family": "family --links 4 --children 8"}
# A value for each parameter. {crowd}: one of CROWDS. {waiter}: a fiber of each. {parked}: a fiber of family, another one each time.
VALUES = {
    "id": "{waiter}", "where": "state=suspended", "sort": "-age", "limit": "3", "group-by": "wait", "columns": "id,place",
    "min": "2", "frames": "3", "all-frames": "1", "args": "1", "locals": "1", "after": "1", "process": "{crowd}", "seconds": "1",
    "debug": "1", "lines": "3", "policy": "silent", "threshold": "30ms",
}
LEAST = {"serve-session": 3, "serve-history": 14, "serve-recordings": 7, "serve-error": 3}  # keys of an answer
AT_ONCE = 8  # operations
PROFILES = "/debug/pprof/"
GZIP = b"\x1f\x8b"
ALONE = {("list", "group-by"), ("bt", "id")}  # parameters that exclude others of the command
# Requests that are errors: method, path, status.
ERRORS = [
    ("GET", "/nothing", 404),
    ("GET", "/api/v1/processes/nothing/list", 404),
    ("GET", "/api/v1/processes/{crowd}/nothing", 404),
    ("GET", "/api/v1/processes/{crowd}/show?id=4711", 404),
    ("GET", "/api/v1/processes/{crowd}/list?where=nothing", 400),
    ("GET", "/api/v1/processes/{crowd}/list?limit=10001", 400),
    ("GET", "/api/v1/processes/{crowd}/list?limit=1&limit=1", 400),
    ("GET", "/debug/pprof/fiber", 400),
    ("GET", "/debug/pprof/fiber?process={crowd}&debug=3", 400),
    ("GET", "/debug/pprof/profile?process={crowd}&seconds=301", 400),
    ("GET", "/recordings/4711/report.html", 404),
    ("POST", "/api/v1/processes/{crowd}/list", 404),
    ("POST", "/api/v1/processes/{crowd}/recordings?seconds=61", 400),
    ("POST", "/api/v1/processes", 405),
    ("DELETE", "/api/v1/processes", 405),
]


# -- the document and the tables of the server --

def table(text, name):
    return re.search(rf"\}} {name}\[\] = \{{(.*?)\n\}};", text, flags=re.S)[1]


def check_tables(document):
    """Yield where the document and the tables of the server differ."""
    source = (ROOT / "fiberctl/serve/question.c").read_text()
    about = "/api/v1/processes/{program}/"
    here = {(method, path.removeprefix(about)) for path, method, _ in operations(document) if path.startswith(about)}
    there = {("get", name) for name in re.findall(r'\{"([\w-]+)"', table(source, "looks"))} | {("get", "history"), ("get", "source")}
    there |= {("post", name) for name in re.findall(r'\{"([\w-]+)"', table(source, "changes"))} | {("post", "recordings")}
    yield from (f"{method} {name}: not in both openapi.json and the tables of question.c" for method, name in here ^ there)
    options = {name.lower().replace("_", "-") for name in re.findall(r"TOOL_OPT_(\w+)", table(source, "options"))}
    params = {name for path, method, operation in operations(document) if path.startswith(about) and method == "get"
              for name in parameters(document, operation)} - {"program", "id", "after", "lines"}
    yield from (f"{name}: not in both openapi.json and the parameters of question.c" for name in options ^ params)
    routes = re.findall(r'\{"(/[^"]+)", \w+, (\w+)\}', table((ROOT / "fiberctl/serve/routes.c").read_text(), "routes"))
    for prefix, post in routes:
        if not any(path.startswith(prefix) and method == METHODS[post == "true"] for path, method, _ in operations(document)):
            yield f"{prefix}: is not in openapi.json"
    for path, method, _ in operations(document):
        if path not in ("/", "/openapi.json") and not any(path.startswith(prefix) and method == METHODS[post == "true"]
                                                          for prefix, post in routes):
            yield f"{method} {path}: is not in routes.c"


# -- requests --

class Server:
    """A server of the fixtures, and values for requests to it."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen([BUILD / "bin/fiberctl", "serve", "--listen", "127.0.0.1:0", *options], cwd=folder,
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, "XDG_RUNTIME_DIR": folder})
        line = self.process.stdout.readline()
        self.address = re.fullmatch(r"fiberctl: serving on http://(.*)/\n", line)[1]
        self.token = read(self.ask("GET", "/api/v1/session")[2])["token"]

    def ask(self, method, path, **headers):
        """Returns status, content type and body."""
        connection = http.client.HTTPConnection(self.address, timeout=SECONDS)
        with contextlib.closing(connection):
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type").partition(";")[0], answer.read()

    def change(self, method, path):
        return self.ask(method, path, **{"X-Fiber-Token": self.token})

    def end(self):
        self.process.terminate()
        return self.process.wait()


class Requests:
    """Makes the requests of the document."""

    def __init__(self, document, fixtures, server):
        self.document, self.server = document, server
        self.crowds = itertools.cycle([fixtures[name][0].pid for name in CROWDS])
        self.family = fixtures["family"][0].pid
        crowd = fixtures[CROWDS[0]]
        self.words = {"crowd": crowd[0].pid, "waiter": [line[0] for line in crowd[1] if line[1] == "mutex"][-1]}
        self.parked = [line[0] for line in fixtures["family"][1] if line[4].startswith("child-")]
        self.recording = None  # the id of one that is done

    def value(self, name, changes):
        if name == "id" and changes:
            return self.parked.pop()
        return VALUES[name].format(**self.words)

    def path(self, path, operation, names, changes=False):
        """The path with values for its parameters, and for those of the query that are needed or in names."""
        about = self.family if changes and not path.endswith("/recordings") else next(self.crowds)
        path = path.replace("{program}", str(about)).replace("{recording}", str(self.recording))
        query = [f"{name}={self.value(name, changes)}" for name, p in parameters(self.document, operation).items()
                 if p["in"] == "query" and (p.get("required") or name in names)]
        return path + ("?" + "&".join(query) if query else "")

    def look(self):
        """Look at every crowd, so that it has a history."""
        for pid in {next(self.crowds) for _ in CROWDS}:
            self.server.ask("GET", f"/api/v1/processes/{pid}/top?limit=0")

    def record(self):
        """Make a recording and wait until it is done."""
        status, _, body = self.server.change("POST", f"/api/v1/processes/{self.words['crowd']}/recordings?seconds=1")
        if status != 202:
            raise ValueError(f"recordings: status {status}: {body}")
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            one = read(self.server.ask("GET", "/api/v1/recordings")[2])["recordings"][0]
            if one["state"] != "running":
                break
            time.sleep(0.05)
        if one["state"] != "done":
            raise ValueError(f"the recording is not done: {one}")
        self.recording = one["id"]


def schema_of(found, document, media):
    """The validator of a content: a schema of the folder, or one that is in the document."""
    reference = media["schema"].get("$ref", "")
    name = reference.removesuffix(".json")
    if name in found:
        return found[name]
    inside = [json.loads(json.dumps(found[r.partition(".")[0]].schema)) for r in references(media["schema"])]
    if reference:  # a part of a schema
        return jsonschema.Draft202012Validator({**inside[0]["$defs"][reference.rpartition("/")[2]], "$defs": inside[0]["$defs"]})
    if inside:  # anyOf
        return jsonschema.Draft202012Validator({"anyOf": [{k: v for k, v in one.items() if k != "$defs"} for one in inside],
                                                "$defs": inside[0]["$defs"]})
    return jsonschema.Draft202012Validator(media["schema"])


def choices(document, path, operation):
    """The parameters that are not needed, as sets for one request each: few, all, and those that exclude others."""
    names = {name for name, p in parameters(document, operation).items() if p["in"] == "query" and not p.get("required")}
    alone = {name for name in names if (path.rpartition("/")[2], name) in ALONE}
    few = names & {"process"} | (names & {"seconds"} if path.startswith(PROFILES) else set())
    return [few, *([name] for name in alone), *([names - alone] if names - alone - few else [])]


def check_operation(found, requests, path, method, operation):
    """Yield what is wrong with the answers of an operation."""
    document, changes = requests.document, method == "post"
    (status, answer), = [one for one in operation["responses"].items() if one[0] != "default"]
    sets = choices(document, path, operation)
    for names in sets[:1] if changes else sets:
        asked = requests.path(path, operation, names, changes)
        got, kind, body = (requests.server.change if changes else requests.server.ask)(method.upper(), asked)
        if str(got) != status or kind not in answer["content"] or not body:
            yield f"{asked}: {got} {kind}, {len(body)} bytes: {body[:200]!r}"
        elif kind == "application/json":
            validator = schema_of(found, document, answer["content"][kind])
            name = answer["content"][kind]["schema"].get("$ref", "").partition(".")[0]
            wrong = check_answer(validator, set(), read(body), LEAST[name]) if name in LEAST else said(validator, read(body))
            yield from (f"{asked}: {text}" for text in wrong)
        elif kind == "text/plain":
            yield from (f"{asked}: {text}" for text in said(schema_of(found, document, answer["content"][kind]), body.decode()))
        elif kind == "application/octet-stream" and not body.startswith(GZIP):
            yield f"{asked}: no profile: {body[:80]!r}"


def check_refused(requests, path, operation):
    """Yield the parameters that a command accepts and the document does not have."""
    document = requests.document
    known = {name for other, method, one in operations(document) if other.startswith("/api/v1/processes/{program}/") and method == "get"
             for name in parameters(document, one)} - {"program"}
    for name in sorted(known - set(parameters(document, operation))):
        asked = requests.path(path, operation, [])
        asked += f"{'&' if '?' in asked else '?'}{name}={requests.value(name, False)}"
        status, _, body = requests.server.ask("GET", asked)
        if status != 400 and not path.endswith("/history"):
            yield f"{asked}: {status}: {body[:80]!r}: should have been refused"


def check_errors(found, requests):
    seen = set()
    for method, path, status in ERRORS:
        asked = path.format(**requests.words)
        got, kind, body = requests.server.change(method, asked)
        if got != status or kind != "application/json":
            yield f"{method} {asked}: {got} {kind}: {body[:200]!r}"
        else:
            yield from (f"{method} {asked}: {text}" for text in check_answer(found["serve-error"], seen, read(body), LEAST["serve-error"]))
            if read(body)["error"]["status"] != status:
                yield f"{method} {asked}: the body says another status"


def check_files(document, server):
    """Yield the files beside the document that are not served as they are."""
    for name in sorted({"openapi.json", "parts.json"} | {r.partition("#")[0] for r in references(document) if not r.startswith("#")}):
        status, kind, body = server.ask("GET", f"/{name}")
        if (status, kind) != (200, "application/json") or body != (SCHEMAS / name).read_bytes():
            yield f"/{name}: {status} {kind}: is not the file of docs/schema"


def tried(wrong):
    """What is wrong, as a list; what has been raised is wrong too."""
    try:
        return list(wrong)
    except (ValueError, KeyError, IndexError, OSError, http.client.HTTPException) as e:
        return [repr(e)]


def checks(document, found, folder, fixtures):
    """Yield each check, as its name and what is wrong."""
    yield "openapi.json has the structure of OpenAPI 3.1", check_document(document)
    yield "openapi.json has the commands, parameters and paths of the server", check_tables(document)
    server = Server(folder, "--allow-changes")
    try:
        requests = Requests(document, fixtures, server)
        requests.look()
        requests.record()
        yield "every schema that openapi.json refers to is served beside it", check_files(document, server)
        yield "errors", check_errors(found, requests)
        every = list(operations(document))
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            yield from zip([f"{method.upper()} {path}" for path, method, _ in every],
                           pool.map(lambda one: tried(check_operation(found, requests, *one)), every))
        for path, method, operation in every:
            if method == "get" and "{program}" in path:
                yield f"GET {path}: refuses the parameters of others", check_refused(requests, path, operation)
    finally:
        code = server.end()
    yield "the server ends with status 0", [f"exit status {code}"] if code else []
    server = Server(folder)
    without = read(server.ask("GET", "/api/v1/session")[2])
    server.end()
    yield "a session without changes", said(found["serve-session"], without)


def main():
    document, found = read(OPENAPI.read_text()), schemas()
    number = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        fixtures = {}
        try:
            for name in FIXTURES:
                fixtures[name] = start(FIXTURES[name], folder)
            for number, (name, wrong) in enumerate(checks(document, found, folder, fixtures), 1):
                wrong = tried(wrong)
                print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
                for text in wrong:
                    print(f"# {text}")
                failed += bool(wrong)
        finally:
            for p, _ in fixtures.values():
                p.send_signal(signal.SIGTERM)
                p.wait()
    print(f"1..{number}")
    return 1 if failed or not number else 0


if __name__ == "__main__":
    sys.exit(main())
