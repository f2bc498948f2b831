#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compile every header alone: all headers as C, public headers also as C++.

Every header of libberth must have an example between @code{.c} and @endcode. The example is
compiled as C after an include of berth/berth.h.

Usage: check_headers.py SOURCE_ROOT [-IFOLDER_OF_GENERATED_HEADERS] CC [CXX]
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wundef", "-Wwrite-strings",
            "-Wconversion"]

# The folders that contain the folder berth/ of libberth and of libberth-compat.
PUBLIC = ("include", os.path.join("include", "berth-compat"))
INTERNAL = ("src", "bench", "tests/soak", "tests/conformance")


EXAMPLE = re.compile(r"^ \* @code\{\.c\}\n(.*?)^ \* @endcode$", re.MULTILINE | re.DOTALL)


def headers_below(root, folder):
    for path, folders, names in os.walk(os.path.join(root, folder)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".h"):
                yield os.path.join(path, name)


def compile_alone(root, generated, compiler, language, standard, header):
    """The compiler's errors for a file that only includes header; empty if there are none."""
    includes = ["-I" + os.path.join(root, folder) for folder in PUBLIC]
    if language == "c":
        includes = (["-I" + os.path.join(root, folder) for folder in ("src", "tests", "")]
                    + generated + includes)
    # The header is included twice to test its guard. The typedef keeps the file non-empty.
    text = '#include "%s"\n#include "%s"\ntypedef int not_empty;\n' % (header, header)
    result = subprocess.run(
        [compiler, "-x", language, "-std=" + standard, "-fsyntax-only"] + WARNINGS + includes
        + ["-"],
        input=text, capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return ""
    return result.stderr or "compiler failed with status %d" % result.returncode


def compile_example(root, compiler, header):
    """The compiler's errors for the examples of a header of libberth; empty if there are none."""
    with open(header, encoding="utf-8") as file:
        examples = EXAMPLE.findall(file.read())
    if not examples:
        return "%s: has no example: @code{.c} in its first comment" % header
    text = '#include <stdio.h>\n#include "berth/berth.h"\n' + "".join(
        re.sub(r"^ \* ?", "", example, flags=re.MULTILINE) for example in examples)
    result = subprocess.run(
        [compiler, "-x", "c", "-std=c17", "-fsyntax-only", "-I" + os.path.join(root, "include")]
        + WARNINGS + ["-Wno-unused-function", "-Wno-unused-parameter", "-"],
        input=text, capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else "example of %s:\n%s" % (header, result.stderr)


def check(root, cc, cxx, generated=()):
    """(number of compilations, problems as text)."""
    public = list(headers_below(root, "include"))
    generated = list(generated)
    internal = [header for folder in INTERNAL for header in headers_below(root, folder)]
    work = [(root, generated, cc, "c", "c17", header) for header in public + internal]
    if cxx:
        work += [(root, generated, cxx, "c++", "c++17", header) for header in public]
    with ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda job: compile_alone(*job), work))
        if os.path.exists(os.path.join(root, "include", "berth", "berth.h")):
            results += pool.map(lambda header: compile_example(root, cc, header),
                                headers_below(root, os.path.join("include", "berth")))
    return len(results), [result for result in results if result]


def main(arguments):
    generated = [word for word in arguments if word.startswith("-I")]
    arguments = [word for word in arguments if word not in generated]
    if len(arguments) not in (2, 3):
        print("usage: check_headers.py SOURCE_ROOT [-IFOLDER] CC [CXX]", file=sys.stderr)
        return 2
    count, problems = check(os.path.abspath(arguments[0]), arguments[1],
                            arguments[2] if len(arguments) == 3 else None, generated)
    for problem in problems:
        print(problem)
    print("%d passed, %d failed" % (count - len(problems), len(problems)))
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
