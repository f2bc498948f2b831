#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make the reference pages of the public headers. A header with a warning of doxygen is a failure.

Usage: check_doc.py SOURCE_ROOT [OUTPUT_FOLDER]
Without an output folder the pages are deleted. Prints "N passed, N failed"; N counts headers.
"""
import os
import subprocess
import sys
import tempfile


def run_doxygen(root, output):
    """Run doxygen; returns its warnings as text."""
    with open(os.path.join(root, "docs", "Doxyfile"), encoding="utf-8") as file:
        settings = file.read()
    os.makedirs(output, exist_ok=True)
    result = subprocess.run(
        ["doxygen", "-"], input=settings + "\nOUTPUT_DIRECTORY = \"%s\"\n" % output,
        cwd=root, capture_output=True, text=True, check=False)
    if result.returncode != 0 and not result.stderr:
        return "doxygen failed with status %d" % result.returncode
    return result.stderr


def check(root, output):
    """(number of headers, names of the headers with problems, problems as printable text)."""
    headers = sorted(name for folder in ("include/berth", "include/berth-compat/berth")
                     if os.path.isdir(os.path.join(root, folder))
                     for name in os.listdir(os.path.join(root, folder)) if name.endswith(".h"))
    complaints = run_doxygen(root, output).strip()
    bad = [name for name in headers if "/" + name + ":" in complaints]
    if complaints and not bad:
        bad = ["?"]
    return len(headers), bad, complaints


def main(arguments):
    if len(arguments) not in (1, 2):
        print("usage: check_doc.py SOURCE_ROOT [OUTPUT_FOLDER]", file=sys.stderr)
        return 2
    root = os.path.abspath(arguments[0])
    if len(arguments) == 2:
        count, bad, complaints = check(root, os.path.abspath(arguments[1]))
    else:
        with tempfile.TemporaryDirectory() as output:
            count, bad, complaints = check(root, output)
    if complaints:
        print(complaints)
    print("%d passed, %d failed" % (max(count - len(bad), 0), len(bad)))
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
