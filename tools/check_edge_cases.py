#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that every numbered edge case of a finished chapter has a unit test with its number.

Usage: check_edge_cases.py SOURCE_ROOT

The name of a test has the number of its case: test_<module>__edge_01b_12_<words> tests case 12 of
chapter 01b; numbers have two digits at least. If a chapter has several lists of cases, the module
in the name selects the list. Prints one line per problem, then "N passed, N failed"; N counts the
cases.
"""
import os
import re
import sys

SPEC = os.path.join("docs", "spec")
TESTS = os.path.join("tests", "unit")


class List:
    """One numbered list of edge cases."""

    def __init__(self, file, token, section=None, modules=None, missing=None, partial=None):
        self.file = file  # without .md
        self.token = token  # in names: edge_<token>_<number>
        self.section = section  # number of the heading; None: the only list of the file
        self.modules = modules  # only tests of these modules count; None: all
        self.missing = missing or {}  # number -> reason why the case cannot have a test yet
        self.partial = partial or {}  # number -> part of the case that its test does not check yet

    def __str__(self):
        return self.file + (" " + self.section if self.section else "")


COMPLETE = (
    List("01-objects", "01"),
    List("01b-resources", "01b"),
    List("02-framework", "02"),
    List("03-cycle", "03"),
    List("03b-cache", "03b"),
    List("04-queue", "04"),
    List("04-queue-hints", "04h"),
    List("05-plugins-node", "05"),
    List("05b-plugins-node-legacy", "05b", missing={22: "Policy files are refused"}),
    List("06-plugins-topology", "06", "2.17", ("pod_topology_spread",)),
    List("06-plugins-topology", "06", "3.15", ("inter_pod_affinity",)),
    List("07-plugins-volume", "07"),
    List("07b-plugins-volume-limits", "07b", "1.10", ("node_volume_limits",)),
    List("07b-plugins-volume-limits", "07b", "2.8", ("volume_restrictions",)),
    List("07b-plugins-volume-limits", "07b", "3.7", ("volume_zone",)),
    List("08-preemption", "08"),
    List("09-podgroups", "09"),
    List("10-config", "10"),
    List("11-daemon", "11"),
    List("11b-client-and-extender", "11b"),
    List("12-dra", "12"),
    List("12b-cel", "12b"),
    List("13-api-client", "13", missing={
        43: "connections are HTTP/1.1: there is no GOAWAY"}),
    List("14-api-server", "14"),
    List("14b-api-server-objects", "14b"),
)

# Lists of edge cases that are not fully tested yet: file (and section) of the list -> reason.
UNFINISHED = {}

HEADING = re.compile(r"^(#+)\s+(?:Part\s+)?([0-9A-Z.]*?)\.?\s+(.*)$")
CASE = re.compile(r"^\|?\s*(\d+)\s*[.|]\s")
TEST = re.compile(r"START_TEST\(\s*test_([a-z0-9_]+?)__([a-z0-9_]+)\s*\)(.*?)\nEND_TEST", re.DOTALL)
CITED = re.compile(r"edge_(\d+[a-z]?)((?:_\d{2,})+)(?=_|$)")
FUNCTION = re.compile(r"^[a-z][^\n;{}()]*?\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}",
                      re.DOTALL | re.MULTILINE)
MACRO = re.compile(r"^#define (\w+)\(((?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE)
WORD = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
# Calls of functions with these names do not count as assertions of a test: such functions prepare
# the test, and their assertions check only the preparation.
PREPARATION = re.compile(r"(?:^|_)(?:init|finish|make|add|create|destroy|new|register)(?:_|$)")


def lists_of(text):
    """{section number: [case numbers]} of the lists in the text of a chapter."""
    found = {}
    section, depth = None, 0
    for line in text.split("\n"):
        heading = HEADING.match(line)
        if heading:
            if re.search(r"\bedge\b", heading.group(3), re.IGNORECASE):
                section, depth = heading.group(2), len(heading.group(1))
                found[section] = []
            elif len(heading.group(1)) <= depth:
                section = None
        elif section is not None and CASE.match(line):
            found[section].append(int(CASE.match(line).group(1)))
    return {name: numbers for name, numbers in found.items() if numbers}


def tests_of(root):
    """(module, name, body, path) of every test."""
    for path, folders, names in os.walk(os.path.join(root, TESTS)):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".c"):
                full = os.path.join(path, name)
                with open(full, encoding="utf-8", errors="replace") as file:
                    for test in TEST.findall(file.read()):
                        yield test + (os.path.relpath(full, root),)


def asserting_functions(root):
    """Names of the tests' functions and macros that call a ck_ assertion, directly or not."""
    calls = {}
    for path, _, names in os.walk(os.path.join(root, TESTS)):
        for name in names:
            if name.endswith((".c", ".h")):
                with open(os.path.join(path, name), encoding="utf-8", errors="replace") as file:
                    text = file.read()
                for function, body in FUNCTION.findall(text) + MACRO.findall(text):
                    calls.setdefault(function, set()).update(WORD.findall(body))
    asserting, before = set(), -1
    while len(asserting) != before:
        before = len(asserting)
        asserting |= {function for function, called in calls.items()
                      if not PREPARATION.search(function) and asserts(called, asserting)}
    return asserting


def asserts(called, asserting):
    return any(name.startswith("ck_") or name in asserting for name in called)


def citations(tests, asserting):
    """{token: [(case number, module, test name, path)]}, and problems: the tests that assert
    nothing."""
    cited, empty = {}, []
    for module, name, body, path in tests:
        for token, numbers in CITED.findall(name):
            full = "test_%s__%s" % (module, name)
            if not asserts(WORD.findall(body), asserting):
                empty.append("%s: %s asserts nothing" % (path, full))
            for number in numbers.strip("_").split("_"):
                cited.setdefault(token, []).append((int(number), module, full, path))
    return cited, empty


def check_list(entry, numbers, cited):
    """(number of cases, problems) of one list. numbers: the cases of the list; cited: see
    citations()."""
    problems = []
    own = [c for c in cited.get(entry.token, ())
           if entry.modules is None or c[1].startswith(entry.modules)]
    proved = {number for number, _, _, _ in own}
    for number in numbers:
        if number in entry.missing and number in proved:
            problems.append("%s: case %d has a test now: take it off the list of missing ones"
                            % (entry, number))
        elif number not in entry.missing and number not in proved:
            problems.append("%s: case %d has no test edge_%s_%02d_..."
                            % (entry, number, entry.token, number))
    for number, _, name, path in own:
        if number not in numbers:
            problems.append("%s: %s cites a case that %s does not have" % (path, name, entry))
    return len(numbers), problems


def check(root, complete=COMPLETE, unfinished=None):
    """(number of cases, problems) of the tree."""
    unfinished = UNFINISHED if unfinished is None else unfinished
    cited, problems = citations(tests_of(root), asserting_functions(root))
    count = 0
    for name in sorted(os.listdir(os.path.join(root, SPEC))):
        if not name.endswith(".md"):
            continue
        with open(os.path.join(root, SPEC, name), encoding="utf-8") as file:
            found = lists_of(file.read())
        for section, numbers in found.items():
            label = "%s %s" % (name[:-3], section)
            entries = [e for e in complete
                       if e.file == name[:-3] and e.section in (None, section)]
            if name[:-3] in unfinished or label in unfinished:
                if entries:
                    problems.append("%s: both complete and unfinished" % label)
                continue
            if len(entries) != 1:
                problems.append("%s: its list is neither complete nor unfinished" % label)
                continue
            if numbers != list(range(1, len(numbers) + 1)):
                problems.append("%s: the cases are not numbered one after another" % label)
            cases, more = check_list(entries[0], numbers, cited)
            count += cases - len(entries[0].missing)
            problems += more
    return count, problems


def main(arguments):
    if len(arguments) != 1 or not os.path.isdir(os.path.join(arguments[0], SPEC)):
        print("usage: check_edge_cases.py SOURCE_ROOT", file=sys.stderr)
        return 2
    count, problems = check(arguments[0])
    for problem in problems:
        print(problem)
    for entry in COMPLETE:
        for number, reason in sorted(entry.missing.items()):
            print("not yet: %s case %d: %s" % (entry, number, reason))
        for number, reason in sorted(entry.partial.items()):
            print("not yet: %s case %d, in part: %s" % (entry, number, reason))
    for label, reason in sorted(UNFINISHED.items()):
        print("not yet: %s: %s" % (label, reason))
    print("%d passed, %d failed" % (max(count - len(problems), 0), len(problems)))
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
