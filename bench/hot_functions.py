#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the functions that the daemon keeps running, as a script for the linker: they come to lie
side by side, and a page of the program that has to be in memory is full of code that runs.

Usage: hot_functions.py BERTH > src/hot_functions.ld

Counts calls with valgrind while `berth scheduler` lists a cluster and binds its pods. BERTH: of a
release build. Measure before and after with daemon_figures.py.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

import daemon_figures
from daemon_figures import harness, up

NODES = 1000
PODS = 3000
# What runs now and then while the pods are listed and bound, and not only at the start.
CALLS_MIN = 200

HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon keeps running, side by side. Made by bench/hot_functions.py: not to be edited.
 * A name that is gone does no harm, one that is missing costs some memory. */
SECTIONS
{
	.text.steady :
	{
"""
TAIL = """\
	}
}
INSERT BEFORE .text;
"""


class UnderValgrind:
    """As the harness wants a program."""

    def __init__(self, berth, folder):
        self.path = os.path.join(folder, "berth")
        self.counts = os.path.join(folder, "counts")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec valgrind -q --tool=callgrind --callgrind-out-file=%s "
                       "%s \"$@\"\n" % (self.counts, os.path.abspath(berth)))
        os.chmod(self.path, 0o755)


def run(berth, folder):
    """Path of what callgrind counted."""
    with up.Program(berth, "plain").up("--no-scheduler", harness.NO_CONTROLLERS) as api:
        daemon_figures.make(api, NODES, PODS)
        program = UnderValgrind(berth, folder)
        daemon = harness.Daemon(program, folder, api, "-v", "0")
        path = harness.PODS + "?fieldSelector=spec.nodeName%3D&limit=1"
        up.wait_for("all pods bound", lambda: not api.json("GET", path)[1]["items"], 600)
        daemon.stop()
    return program.counts


def calls_by_name(path):
    names, calls, callee = {}, collections.Counter(), None
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.match(r"(c?fn)=\((\d+)\)(?: (\S+))?", line)
            if found:
                if found.group(3):
                    names[found.group(2)] = found.group(3)
                if found.group(1) == "cfn":
                    callee = names[found.group(2)]
            elif line.startswith("calls="):
                calls[callee.split("'")[0]] += int(line[len("calls="):].split()[0])
    return calls


def functions_of(berth):
    """Those of our own: the compiler's clones carry the name and something behind a dot."""
    listing = subprocess.run(["nm", berth], check=True, capture_output=True, text=True).stdout
    return {line.split()[2] for line in listing.splitlines()
            if re.match(r"\S+ [tT] [a-z_]\w*[.\w]*$", line)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("berth")
    berth = parser.parse_args().berth
    harness.VERIFY["BERTH_VERIFY"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        calls = calls_by_name(run(berth, folder))
    hot = {name.split(".")[0] for name in functions_of(berth) if calls[name] >= CALLS_MIN}
    sys.stdout.write(HEAD)
    for name in sorted(hot):
        sys.stdout.write("\t\t*(.text.%s .text.%s.*)\n" % (name, name))
    sys.stdout.write(TAIL)


if __name__ == "__main__":
    main()
