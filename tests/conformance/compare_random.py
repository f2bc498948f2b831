#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw random cases, answer them with berth and with the model, compare the answers.

usage: compare_random.py BERTH_CONFORMANCE SEED COUNT [CATEGORY ...] [--skip FIELD,...]

The last line is "N passed, N failed".
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from reference.__main__ import differences  # noqa: E402
from reference.cycle import answer  # noqa: E402


def pick_freely(result):
    """If several nodes are equally good, replace the nominated node by "one of choices"."""
    for one in result.get("results") or []:
        found = one.get("postFilter", {})
        choices = found.get("choices") or []
        if len(choices) > 1 and found.get("nominated") in choices:
            found["nominated"] = "one of choices"
    return result


def without(result, skip):
    return {**result, "results": [{k: v for k, v in one.items() if k not in skip}
                                  for one in result.get("results") or []]}


def main(arguments):
    skip = ()
    if "--skip" in arguments:
        at = arguments.index("--skip")
        skip = tuple(arguments[at + 1].split(","))
        arguments = arguments[:at] + arguments[at + 2:]
    program, seed, count, categories = arguments[0], arguments[1], arguments[2], arguments[3:]
    drawn = subprocess.run([sys.executable, os.path.join(HERE, "reference", "gencases.py"), seed,
                            count] + categories, stdout=subprocess.PIPE, check=True).stdout
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        file.write(drawn)
        file.flush()
        ours = subprocess.run([program, "--answer", file.name],
                              stdout=subprocess.PIPE, check=False)
    if ours.returncode != 0:
        print("berth-conformance ended with status %d" % ours.returncode)
        print("0 passed, 1 failed")
        return 1
    passed = failed = 0
    for case, line in zip(drawn.splitlines(), ours.stdout.splitlines()):
        model, got = without(answer(json.loads(case)), skip), without(
            pick_freely(json.loads(line)), skip)
        found = differences(model, got)
        passed, failed = passed + (not found), failed + bool(found)
        if found and failed <= 3:
            print(model["name"] + ": seed %s" % seed)
            print("\n".join(found).replace("expected", "berth   "))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
