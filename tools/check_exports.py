#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check symbols: the shared library exports only berth_*, the static library only berth_* and bt_*.

Usage: check_exports.py NM SHARED_LIBRARY STATIC_LIBRARY
"""
import re
import subprocess
import sys

# Symbols that compilers and sanitizers add.
FOREIGN = re.compile(r"^(?:_|asan\.|\.)")


def names_of(nm, options, library):
    """Names of the external symbols that the library defines."""
    output = subprocess.run([nm] + options + [library], capture_output=True, text=True,
                            check=True).stdout
    fields = [line.split() for line in output.splitlines()]
    return sorted({entry[2].split("@")[0] for entry in fields if len(entry) == 3})


def problems_of(names, allowed):
    return [name for name in names if not re.match(allowed, name) and not FOREIGN.match(name)]


def main(arguments):
    if len(arguments) != 3:
        print("usage: check_exports.py NM SHARED_LIBRARY STATIC_LIBRARY", file=sys.stderr)
        return 2
    nm, shared, static = arguments
    shared_names = names_of(nm, ["-D", "--defined-only"], shared)
    static_names = names_of(nm, ["-g", "--defined-only"], static)
    problems = ["%s: exports %s" % (shared, name)
                for name in problems_of(shared_names, r"berth_")]
    problems += ["%s: defines %s" % (static, name)
                 for name in problems_of(static_names, r"berth_|bt_")]
    for problem in problems:
        print(problem)
    total = len(shared_names) + len(static_names)
    print("%d passed, %d failed" % (total - len(problems), len(problems)))
    return 1 if problems or not shared_names or not static_names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
