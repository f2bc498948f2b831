#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build a build folder, run all its tests and end with the line "N passed, N failed".

Usage: run_tests.py BUILD_FOLDER [argument of `meson test` ...]

If arguments select tests, only the targets that these tests need are built.

A test program counts as one test. If its output has a line "N passed, N failed", the numbers in
the line count instead. A program that breaks, or reports no test, counts as at least one failure.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed\s*$", re.MULTILINE)
GOOD = ("OK", "EXPECTEDFAIL")
SKIPPED = ("SKIP",)


def count_one(result, output):
    """(passed, failed) of one test program by its meson result and its output."""
    if result in SKIPPED:
        return 0, 0
    good = result in GOOD
    summaries = SUMMARY.findall(output)
    if not summaries:
        return (1, 0) if good else (0, 1)
    passed, failed = (int(number) for number in summaries[-1])
    if failed == 0 and (not good or passed == 0):
        failed = 1
    return passed, failed


def count_all(lines):
    """(number of passed tests, of failed tests, names of skipped programs, of failed programs).
    lines: the lines of a testlog.json, one for each program."""
    passed, failed, skipped, bad = 0, 0, [], []
    for line in lines:
        if not line.strip():
            continue
        entry = json.loads(line)
        more_passed, more_failed = count_one(entry["result"], entry.get("stdout") or "")
        passed += more_passed
        failed += more_failed
        if entry["result"] in SKIPPED:
            skipped.append(entry["name"])
        if more_failed:
            bad.append("%s: %s, %d failed" % (entry["name"], entry["result"], more_failed))
    return passed, failed, skipped, bad


def start(folder, log, at_once, arguments, output=None):
    """Start `meson test`, which writes the lines for count_all to log. MESON_TESTTHREADS in the
    environment has precedence over at_once, the number of programs that run at the same time."""
    if os.path.exists(log):
        os.remove(log)
    environment = dict(os.environ)
    environment.setdefault("MESON_TESTTHREADS", str(at_once))
    base = os.path.splitext(os.path.basename(log))[0]
    return subprocess.Popen(["meson", "test", "-C", folder, "--print-errorlogs",
                             "--logbase", base] + arguments, env=environment, stdout=output)


def run(folder, arguments):
    """(passed, failed) after building and testing folder."""
    logs = [os.path.join(folder, "meson-logs", name + ".json") for name in ("testlog", "servers")]
    cores = os.cpu_count() or 1
    if arguments:  # then meson builds only the targets that the tests need
        logs = logs[:1]
        status = start(folder, logs[0], 4 * cores, arguments).wait()
    else:
        if subprocess.call(["ninja", "-C", folder]) != 0:
            print("%s: the build failed" % folder)
            return 0, 1
        # Tests of servers spend most of their time waiting, so they run beside the other tests.
        # Their results are printed afterwards.
        with tempfile.TemporaryFile() as output:
            servers = start(folder, logs[1], 5 * cores // 2,
                            ["--no-rebuild", "--suite", "integration"], output)
            status = start(folder, logs[0], (3 * cores + 1) // 2,
                           ["--no-rebuild", "--no-suite", "integration"]).wait()
            status = servers.wait() or status
            output.seek(0)
            shutil.copyfileobj(output, sys.stdout.buffer)
    lines = []
    for log in logs:
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as file:
                lines += file
    passed, failed, skipped, bad = count_all(lines)
    for name in skipped:
        print("skipped: %s" % name)
    for line in bad:
        print("failed: %s" % line)
    if failed == 0 and (status != 0 or passed == 0):
        print("%s: meson test ended with status %d" % (folder, status))
        failed = 1
    return passed, failed


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print("usage: run_tests.py BUILD_FOLDER [argument of `meson test` ...]", file=sys.stderr)
        return 2
    passed, failed = run(arguments[0], arguments[1:])
    sys.stdout.flush()
    print("%d passed, %d failed" % (passed, failed))
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
