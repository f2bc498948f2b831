#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run one category of vectors and compare the number of passed cases with standing.json.

usage: run_category.py BERTH_CONFORMANCE CATEGORY [FIELD,... | --explain]

The last line is "N passed, N failed". The second number tells how many more cases must
pass to reach the number in standing.json. FIELD,...: members that are not compared.
--explain: also explain every pod; every proposed change must help.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main(program, category, skip=""):
    with open(os.path.join(HERE, "standing.json"), encoding="utf-8") as file:
        standing = json.load(file)[category]
    base = os.path.join(HERE, "vectors", category)
    command = [program, base + ".cases.jsonl.gz", base + ".expected.jsonl.gz"]
    if skip == "--explain":
        command.append(skip)
    elif skip:
        command += ["--skip", skip]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    summary = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
    if summary is None or done.returncode not in (0, 1):
        print(done.stdout)
        print("0 passed, 1 failed")
        return 1
    passed, failed = int(summary.group(1)), int(summary.group(2))
    missing = max(0, standing - passed)
    if missing or skip == "--explain":
        print(done.stdout)
    print("%s: %d of %d cases pass, standing %d" % (category, passed, passed + failed, standing))
    if passed > standing:
        print("raise %s to %d in standing.json" % (category, passed))
        missing = 1
    if not passed and not missing:
        passed = 1  # no case has to pass yet, so the finished run counts as passed
    print("%d passed, %d failed" % (passed, missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
