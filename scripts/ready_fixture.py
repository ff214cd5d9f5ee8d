# SPDX-License-Identifier: MIT
"""ready_fixture.py - start a fixture of the build for a check of answers"""
import os
import pathlib
import subprocess

from schema_answers import ROOT

BUILD = pathlib.Path(os.environ.get("FIBER_BUILD", ROOT / "build"))


def start(command, folder):
    """Start it and wait until it is ready; its control socket is in `folder`. Returns its process and its lines."""
    environment = {**os.environ, "XDG_RUNTIME_DIR": folder, "FIBER_CONTROL": "admin"}
    program, *words = command.split()
    p = subprocess.Popen([BUILD / "bin" / program, *words], stdout=subprocess.PIPE, text=True, env=environment)
    lines = []
    for line in p.stdout:
        if line.startswith("ready "):
            return p, lines
        lines.append(line.rstrip("\n").split("\t"))
    raise ValueError(f"{command} never was ready")
