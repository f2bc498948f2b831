#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test that the vector runner counts a case with an error as failed and runs the other cases.

usage: check_runner.py BERTH

The last line is "N passed, N failed".
"""
import json
import os
import subprocess
import sys
import tempfile

NODE = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}}
POD = {"metadata": {"name": "p", "namespace": "default", "uid": "u"}, "spec": {}}
GOOD = {"name": "good", "objects": [NODE], "pending": [{"op": "deletePod", "pod": "a/b"}]}
BAD = [
    ("objects", "objects[1]", {"objects": [NODE, {"kind": "Node", "metadata": []}], "pending": []}),
    ("pending", "pending[0]", {"objects": [NODE], "pending": [{"op": "jump"}]}),
    ("half", "pending[1]", {"objects": [NODE], "pending": [POD, {"op": "jump"}]}),
    ("life", "steps[1]", {"steps": [{"op": "apply", "object": {**NODE, "apiVersion": "v1"}},
                                    {"op": "jump"}]}),
]


def run(berth, cases, expected, *more):
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for name, rows in (("cases", cases), ("expected", expected)):
            names.append(os.path.join(folder, name + ".jsonl"))
            with open(names[-1], "w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
        return subprocess.run([berth] + names[:1 if more else 2] + list(more),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)


def main(berth):
    passed = failed = 0

    def check(what, holds, done):
        nonlocal passed, failed
        passed, failed = passed + bool(holds), failed + (not holds)
        if not holds:
            print("%s:\n%s%s" % (what, done.stdout, done.stderr))

    answer = {"name": "good", "results": []}
    for name, place, members in BAD:
        cases = [GOOD, {"name": name, **members}, GOOD]
        done = run(berth, cases, [answer, {"name": name, "results": []}, answer])
        check(name, done.returncode == 1 and done.stdout.endswith("2 passed, 1 failed\n") and
              done.stdout.startswith(name + "\n") and place in done.stdout, done)
        done = run(berth, cases, [], "--answer")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        check(name + ", answers", [line["name"] for line in lines] == ["good", name, "good"] and
              place in lines[1].get("error", "") and "results" not in lines[1], done)
    done = run(berth, [GOOD], [{"name": "other", "results": []}])
    check("another case's answer", done.returncode == 2 and "line 1" in done.stderr, done)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
