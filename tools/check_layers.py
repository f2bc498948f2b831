#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail when a source file includes a header of a layer above its own.

Usage: check_layers.py [--stamp FILE] SOURCE_ROOT
"""
import os
import re
import sys

# Layers outside of src, and their folders.
OUTSIDE = {"bench": "bench", "soak": "tests/soak", "conformance": "tests/conformance"}

# The layer of the scheduler's older names: libberth-compat. It has public headers of its own, in
# the folder berth/ below COMPAT_HEADERS; other layers may use neither.
COMPAT = "compat"
COMPAT_HEADERS = os.path.join("include", "berth-compat")

# layer -> the layers it may include besides itself and include/berth.
LAYERS = {
    "base": [],
    "codec": ["base"],
    "api": ["codec", "base"],
    "metrics": ["base"],
    "cel": ["api", "codec", "base"],
    "config": ["api", "codec", "base"],
    "state": ["api", "codec", "base"],
    "dra": ["cel", "state", "config", "api", "codec", "base"],
    "framework": ["state", "config", "metrics", "api", "codec", "base"],
    "plugins": ["framework", "dra", "cel", "state", "config", "metrics", "api", "codec", "base"],
    "queue": ["framework", "state", "config", "metrics", "api", "codec", "base"],
    "sched": ["queue", "plugins", "framework", "dra", "cel", "state", "config", "metrics",
              "api", "codec", "base"],
    "explain": ["sched", "queue", "plugins", "framework", "dra", "cel", "state", "config",
                "metrics", "api", "codec", "base"],
    "lib": ["sched", "queue", "plugins", "framework", "dra", "cel", "state", "config",
            "metrics", "api", "codec", "base"],
    "compat": ["lib", "sched", "queue", "plugins", "framework", "dra", "cel", "state", "config",
               "metrics", "api", "codec", "base"],
    "schema": ["api", "codec", "base"],
    "net": ["codec", "base"],
    "client": ["net", "schema", "metrics", "api", "codec", "base"],
    "server": ["net", "schema", "cel", "api", "codec", "base"],
    "daemon": ["client", "server", "net", "schema", "metrics", "lib", "sched", "queue",
               "plugins", "framework", "dra", "cel", "state", "config", "api", "codec", "base"],
    "cluster": ["daemon", "server", "schema", "sched", "queue", "plugins", "framework", "dra",
                "cel", "state", "config", "net", "api", "codec", "base"],
    "cli": ["explain", "cluster", "daemon", "client", "server", "net", "schema",
            "metrics", "lib", "sched", "queue", "plugins", "framework", "dra", "cel", "state",
            "config", "api", "codec", "base"],
}
LAYERS["bench"] = ["cli"] + LAYERS["cli"]
LAYERS["soak"] = ["cli"] + LAYERS["cli"]
LAYERS["conformance"] = ["cli"] + LAYERS["cli"]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def included(path):
    """Yield (line number, bracket, name) of every #include in a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def problem_of(layer, bracket, name, compat_headers=()):
    """Why this include is not allowed in layer, or None."""
    first = name.split("/")[0]
    if ".." in name.split("/"):
        return 'includes are written from src/, without ".."'
    if first == "berth":
        if layer != COMPAT and name in compat_headers:
            return "the headers of libberth-compat are for layer '%s'" % COMPAT
        return None
    if bracket == "<":
        if first in LAYERS and "/" in name:
            return "our own headers are included with quotes"
        return None
    if "/" not in name:
        return "includes are written from src/, as \"%s/%s\"" % (layer, name)
    if first not in LAYERS:
        return "unknown layer '%s'" % first
    if first != layer and first not in LAYERS.get(layer, []):
        return "layer '%s' may not use layer '%s'" % (layer, first)
    return None


def sources_below(folder):
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith((".c", ".cc", ".h", ".def", ".inc")):
                yield os.path.join(path, name)


def layered_sources(root):
    """(layer, path) of every source file that belongs to a layer."""
    src = os.path.join(root, "src")
    for path in sources_below(src):
        layer = os.path.relpath(path, src).split(os.sep)[0]
        yield (layer if layer not in OUTSIDE else "src/" + layer), path
    for layer, folder in OUTSIDE.items():
        for path in sources_below(os.path.join(root, folder)):
            yield layer, path


def check(root):
    """All problems of the tree as printable lines."""
    problems = []
    headers = {folder: {os.path.relpath(path, os.path.join(root, folder))
                        for path in sources_below(os.path.join(root, folder, "berth"))}
               for folder in ("include", COMPAT_HEADERS)}
    compat_headers = headers[COMPAT_HEADERS]
    for name in sorted(headers["include"] & compat_headers):
        problems.append("%s:1: libberth has a header of this name"
                        % os.path.join(COMPAT_HEADERS, name))
    for layer, path in layered_sources(root):
        relative = os.path.relpath(path, root)
        if layer not in LAYERS:
            problems.append("%s:1: folder is no known layer" % relative)
            continue
        for line, bracket, name in included(path):
            problem = problem_of(layer, bracket, name, compat_headers)
            if problem:
                problems.append("%s:%d: %s (includes %s)" % (relative, line, problem, name))
    for path in sources_below(os.path.join(root, "include")):
        relative = os.path.relpath(path, root)
        for line, bracket, name in included(path):
            if bracket == '"' and not name.startswith("berth/"):
                problems.append("%s:%d: public headers include only public headers (includes %s)"
                                % (relative, line, name))
            elif name in compat_headers and not relative.startswith(COMPAT_HEADERS):
                problems.append("%s:%d: libberth does not use libberth-compat (includes %s)"
                                % (relative, line, name))
    return problems


def main(arguments):
    stamp = None
    if arguments[:1] == ["--stamp"]:
        stamp = arguments[1]
        arguments = arguments[2:]
    if len(arguments) != 1 or not os.path.isdir(os.path.join(arguments[0], "src")):
        print("usage: check_layers.py [--stamp FILE] SOURCE_ROOT", file=sys.stderr)
        return 2
    problems = check(arguments[0])
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    if stamp:
        with open(stamp, "w", encoding="utf-8") as file:
            file.write("ok\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
