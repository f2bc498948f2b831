#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail when a source file includes a header that its layer may not include, or when the files of
src break one of these rules about names and headers:

- a tag (struct, enum or union with prefix bt_) is defined in one file only
- a basename stands for one file or one .c and .h pair only
- the files of a layer do not include each other in a circle; x.c, x.h and x_private.h count as one
- a header has at least two users besides its own .c; tests count, unless it is called *_private.h

tools/open_layout.txt lists the breaches that existed before the rules. The list may only shrink: a
line without a breach is a problem, too. --shrink removes such lines.

Usage: check_layers.py [--stamp FILE | --shrink] SOURCE_ROOT
"""
import os
import re
import sys

# Layers outside of src, and their folders.
OUTSIDE = {"bench": "bench", "validate": "tests/validate", "soak": "tests/soak",
           "conformance": "tests/conformance"}

# The layer with the older names of the API: libberth-compat. Its public headers are in the folder
# berth/ below COMPAT_HEADERS. Other layers may use neither the layer nor these headers.
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
    "server": ["net", "schema", "cel", "metrics", "api", "codec", "base"],
    "daemon": ["client", "server", "net", "schema", "metrics", "lib", "sched", "queue",
               "plugins", "framework", "dra", "cel", "state", "config", "api", "codec", "base"],
    "cluster": ["daemon", "server", "schema", "sched", "queue", "plugins", "framework", "dra",
                "cel", "state", "config", "net", "api", "codec", "base"],
    "replay": ["cluster", "daemon", "client", "server", "net", "schema", "metrics", "lib", "sched",
               "queue", "plugins", "framework", "dra", "cel", "state", "config", "api", "codec",
               "base"],
    "planning": ["cluster", "daemon", "client", "server", "net", "schema", "metrics", "lib",
                 "sched", "queue", "plugins", "framework", "dra", "cel", "state", "config", "api",
                 "codec", "base"],
    "cli": ["planning", "replay", "explain", "cluster", "daemon", "client", "server", "net",
            "schema", "metrics", "lib", "sched", "queue", "plugins", "framework", "dra", "cel",
            "state", "config", "api", "codec", "base"],
}
LAYERS["bench"] = ["cli"] + LAYERS["cli"]
LAYERS["validate"] = ["sched"] + LAYERS["sched"]
LAYERS["soak"] = ["validate", "cli"] + LAYERS["cli"]
LAYERS["conformance"] = ["cli"] + LAYERS["cli"]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def included(path):
    """Yield (line number, bracket, name) of every #include in a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def problem_of(layer, bracket, name, compat_headers=()):
    """Return the reason why the layer may not include this header, or None."""
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


OPEN_LIST = os.path.join("tools", "open_layout.txt")
TAG = re.compile(r"^(?:struct|enum|union) (bt_\w+)[ \n]\{", re.MULTILINE)
# Folders outside of src whose files are users of the headers in src.
USER_FOLDERS = ("bench", "fuzz", "tests")


def unit_of(name):
    """A file's path from src without the extension: the same for a .c and its .h."""
    return os.path.splitext(name)[0]


def part_of(name):
    """The unit without "_private": circles are found between these names."""
    return re.sub("_private$", "", unit_of(name))


def find_circles(uses):
    """Groups of files in which each file reaches all others. uses: file -> set of files."""
    def reachable(start):
        seen = set()
        stack = [start]
        while stack:
            for other in uses.get(stack.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return seen

    reached = {unit: reachable(unit) for unit in uses}
    circles = {tuple(sorted(other for other in reached[unit] if unit in reached.get(other, ())))
               for unit in uses if unit in reached[unit]}
    return sorted(circles)


def layout_findings(root):
    """Yields (words, sentence) for each breach of the rules about names and headers. words: the
    line of tools/open_layout.txt that would allow the breach."""
    src = os.path.join(root, "src")
    tags = {}
    units = {}
    uses = {}
    users = {}
    for path in sources_below(src):
        name = os.path.relpath(path, src).replace(os.sep, "/")
        unit = unit_of(name)
        if name.endswith((".c", ".cc", ".h")):
            units.setdefault(os.path.basename(unit), set()).add(unit)
        with open(path, encoding="utf-8", errors="replace") as file:
            for tag in TAG.findall(file.read()):
                tags.setdefault(tag, set()).add(name)
        if name.endswith(".h"):
            users.setdefault(name, set())
        for _, _, header in included(path):
            users.setdefault(header, set()).add(name)
            part, other = part_of(name), part_of(header)
            if other != part and other.split("/")[0] == part.split("/")[0]:
                uses.setdefault(part, set()).add(other)
    for folder in USER_FOLDERS:
        for path in sources_below(os.path.join(root, folder)):
            for _, _, header in included(path):
                if not header.endswith("_private.h"):
                    users.setdefault(header, set()).add(os.path.relpath(path, root))
    for tag, names in sorted(tags.items()):
        if len(names) > 1:
            yield ("tag", tag), "tag %s is defined in %s" % (tag, " and ".join(sorted(names)))
    for base, paths in sorted(units.items()):
        if len(paths) > 1:
            yield ("basename", base), "basename %s stands for %s" % (
                base, " and ".join(sorted(paths)))
    for circle in find_circles(uses):
        yield ("circle",) + circle, "files include each other in a circle: %s" % " ".join(circle)
    for header, names in sorted(users.items()):
        others = {name for name in names if unit_of(name) != unit_of(header)}
        if len(others) < 2 and os.path.isfile(os.path.join(src, header)) and header.endswith(".h"):
            yield ("header", header), "header %s has %s besides its own .c" % (
                header, "one user, %s," % others.pop() if others else "no user")


def covers(line, key):
    """Return whether a line of the list allows a breach. key: the breach. A line for a circle also
    allows circles of some of its files."""
    if key[0] == "circle":
        return line[0] == "circle" and set(key[1:]) <= set(line[1:])
    return line == key


def check_layout(root, shrink=False):
    """Return the breaches that the list does not allow, and the lines that match no breach."""
    path = os.path.join(root, OPEN_LIST)
    lines = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    allowed = [tuple(line.split()) for line in lines]
    needed = [not line or line[0].startswith("#") for line in allowed]
    problems = []
    for key, sentence in layout_findings(root):
        found = False
        for i, line in enumerate(allowed):
            if line and covers(line, key):
                needed[i] = found = True
        if not found:
            problems.append("src:1: " + sentence)
    if shrink and not all(needed):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line, keep in zip(lines, needed) if keep)
    elif not shrink:
        problems += ["%s:%d: nothing needs this line any more: remove it (check_layers.py --shrink)"
                     % (OPEN_LIST, i + 1) for i, keep in enumerate(needed) if not keep]
    return problems


def check_direction(root):
    """Return the problems of includes that a layer may not have."""
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


def check(root):
    """All problems of the tree as printable lines."""
    return check_direction(root) + check_layout(root)


def main(arguments):
    stamp = None
    shrink = arguments[:1] == ["--shrink"]
    if arguments[:1] == ["--stamp"]:
        stamp = arguments[1]
        arguments = arguments[2:]
    elif shrink:
        arguments = arguments[1:]
    if len(arguments) != 1 or not os.path.isdir(os.path.join(arguments[0], "src")):
        print("usage: check_layers.py [--stamp FILE | --shrink] SOURCE_ROOT", file=sys.stderr)
        return 2
    if shrink:
        check_layout(arguments[0], shrink=True)
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
