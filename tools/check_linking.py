#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that a program loads none of these shared libraries but contains their code.

Usage: check_linking.py READELF PROGRAM LIBRARY...    (a library is named like libre2)
"""
import re
import subprocess
import sys


def needed_in(dynamic_section):
    """Names of the needed shared libraries in the output of `readelf -d`."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic_section)


def problems_of(needed, libraries):
    return [name for name in needed if name.split(".so")[0] in libraries]


def main(arguments):
    if len(arguments) < 3:
        print("usage: check_linking.py READELF PROGRAM LIBRARY...", file=sys.stderr)
        return 2
    readelf, program, *libraries = arguments
    needed = needed_in(subprocess.run([readelf, "-d", program], capture_output=True, text=True,
                                      check=True).stdout)
    problems = problems_of(needed, libraries)
    for name in problems:
        print("%s: needs %s" % (program, name))
    print("%d passed, %d failed" % (len(needed) - len(problems), len(problems)))
    return 1 if problems or not needed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
