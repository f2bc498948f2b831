#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the public headers and the shared library against docs/seed-map/seed-map.md.

Usage: check_seed_map.py SOURCE_ROOT LIBBERTH_COMPAT_SO

Every C name of a row must be declared in include/berth/ or include/berth-compat/berth/ with a
documentation comment; functions must be exported by the shared library. Rows that
docs/seed-map/not-built.txt names are skipped: one per line, "003.27", a range "003.27-003.31", or
"003." for all rows whose numbers begin with it.
Prints "N passed, N failed"; N counts rows.
"""
import os
import re
import subprocess
import sys

ROW = re.compile(r"^\| (\d{3}\.\d+) \|")
NAME = re.compile(r"^(?:(struct|enum) )?(\w+)(?:\.(\w+))?$")
BEHIND = re.compile(r"/\*\*<.*?\*/", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class Headers:
    """The text of all public headers, and the same text with comments replaced by blanks."""

    def __init__(self, texts):
        self.text = "\n;\n".join(texts)
        self.code = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), self.text)

    def is_documented(self, position):
        """Return whether the declaration at position has a documentation comment."""
        start = position
        while start > 0 and self.code[start - 1] not in ";{},":
            start -= 1
        # A comment on the line of the previous declaration does not document this declaration.
        if "/**" in BEHIND.sub("", self.text[start:position]):
            return True
        line_end = self.text.find("\n", position)
        return "/**<" in self.text[position:line_end]

    def find(self, pattern):
        """Returns None if no declaration matches, else whether one of the matching declarations is
        documented."""
        places = [match.start() for match in re.finditer(pattern, self.code)]
        if not places:
            return None
        return any(self.is_documented(place) for place in places)

    def body_of(self, structure):
        """(start, end) of the braces of a structure, or None."""
        match = re.search(r"\bstruct\s+%s\s*\{" % structure, self.code)
        if not match:
            return None
        depth, position = 1, match.end()
        while depth > 0 and position < len(self.code):
            depth += {"{": 1, "}": -1}.get(self.code[position], 0)
            position += 1
        return match.end(), position - 1

    def find_member(self, structure, member):
        body = self.body_of(structure)
        if body is None:
            return None
        for match in re.finditer(r"\b%s\b(?=\s*[;,\[)])" % member, self.code[body[0]:body[1]]):
            if self.is_member_documented(body, body[0] + match.start()):
                return True
        return False if re.search(r"\b%s\b" % member, self.code[body[0]:body[1]]) else None

    def is_member_documented(self, body, position):
        start = position
        while start > body[0] and self.code[start - 1] not in ";{":
            start -= 1
        end = self.code.find(";", position)
        line_end = self.text.find("\n", end)
        own = BEHIND.sub("", self.text[start:position])
        return "/**" in own or "/**<" in self.text[end:line_end]


def problem_of(headers, exported, name):
    """Return the mistake in a C name of the map, or None."""
    match = NAME.match(name)
    if not match:
        return "is no C name"
    keyword, first, member = match.groups()
    needs_export = False
    if member:
        found = headers.find_member(first, member)
    elif keyword:
        found = headers.find(r"\b%s\s+%s\s*[;{]" % (keyword, first))
    elif first.isupper():
        found = headers.find(r"(?m)^#define\s+%s\b|\b%s\b\s*(?=[,=}])" % (first, first))
    else:
        found = headers.find(r"\b%s\s*\(" % first)
        needs_export = found is not None
        if found is None:
            found = headers.find(r"\b%s\s*;|\(\*%s\)" % (first, first))
    if found is None:
        return "is not declared in the public headers"
    if not found:
        return "has no documentation comment"
    if needs_export and first not in exported:
        return "is not exported by the library"
    return None


def read_rows(path):
    """(row number, C names) of every row."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if ROW.match(line):
                cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
                yield cells[0], re.findall(r"`([^`]+)`", cells[4])


def row_key(row):
    seed, number = row.split(".")
    return seed, int(number)


def is_listed(row, lines):
    for line in lines:
        if line.endswith("."):
            if row.startswith(line):
                return True
        elif "-" in line:
            first, last = line.split("-")
            if row_key(first) <= row_key(row) <= row_key(last):
                return True
        elif row == line:
            return True
    return False


def read_not_built(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        lines = [line.split("#")[0].strip() for line in file]
    return [line for line in lines if line]


def exported_names(library):
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True,
                            text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in output.splitlines() if line.split()}


def check(root, library):
    """(number of correct rows, of wrong rows, of skipped rows, problems as printable lines)."""
    texts = []
    for folder in ("include/berth", "include/berth-compat/berth"):
        for name in sorted(os.listdir(os.path.join(root, folder))):
            with open(os.path.join(root, folder, name), encoding="utf-8") as file:
                texts.append(file.read())
    headers = Headers(texts)
    exported = exported_names(library)
    not_built = read_not_built(os.path.join(root, "docs", "seed-map", "not-built.txt"))
    passed, failed, skipped, printable = 0, 0, 0, []
    for row, names in read_rows(os.path.join(root, "docs", "seed-map", "seed-map.md")):
        if is_listed(row, not_built):
            skipped += 1
            continue
        problems = ["%s: %s %s" % (row, name, problem) for name in names
                    for problem in [problem_of(headers, exported, name)] if problem]
        passed += 0 if problems else 1
        failed += 1 if problems else 0
        printable += problems
    return passed, failed, skipped, printable


def main(arguments):
    if len(arguments) != 2:
        print("usage: check_seed_map.py SOURCE_ROOT LIBBERTH_COMPAT_SO", file=sys.stderr)
        return 2
    passed, failed, skipped, printable = check(arguments[0], arguments[1])
    for line in printable:
        print(line)
    if skipped:
        print("%d rows are not built yet" % skipped)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
