#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""House rules that no compiler checks.

Usage: check_tidy.py SOURCE_ROOT
Prints one line per problem, then "N passed, N failed" with N counting files.
"""
import os
import re
import subprocess
import sys

COLUMNS_MAX = 100
# The reference model may have long lines: its rules are easier to compare on one line each.
WIDE_FOLDERS = ("tests/conformance/reference/",)
TAB_COLUMNS = 8
SPDX = "SPDX-License-Identifier: Apache-2.0"

C_FOLDERS = ("src", "include", "tests", "fuzz", "bench")
SCRIPT_FOLDERS = ("src", "tests", "fuzz", "bench", "tools", "examples")
TOP_FILES = ("Makefile", "meson.build", "meson_options.txt", ".ci/run")
DOCUMENT_SUFFIXES = (".md", ".yaml", ".yml", ".json", ".scn")

# function -> what to use instead
BANNED = {
    "strcpy": "bt_strbuf_append or memcpy with a checked length",
    "strcat": "bt_strbuf_append",
    "strncpy": "memcpy with a checked length",
    "strncat": "bt_strbuf_append",
    "sprintf": "snprintf or bt_strbuf_printf",
    "vsprintf": "vsnprintf or bt_strbuf_vprintf",
    "gets": "fgets",
    "atoi": "bt_str_parse_int64",
    "atol": "bt_str_parse_int64",
    "atoll": "bt_str_parse_int64",
    "strtok": "bt_str_find_char",
    "rand": "struct bt_prng",
    "srand": "struct bt_prng",
    "random": "struct bt_prng",
    "alloca": "struct bt_arena",
    "time": "a now_ns parameter",
    "localtime": "code in api/time.h",
    "gmtime": "code in api/time.h",
    "signal": "sigaction",
}
# Files in which the functions of BANNED_OUTSIDE_ALLOC are banned, too, except base/alloc.c and
# base/assert.c.
ALLOC_RULED = ("src/", "bench/bench_", "bench/cmd_", "tests/soak/", "tests/conformance/")
BANNED_OUTSIDE_ALLOC = {
    "malloc": "bt_malloc",
    "calloc": "bt_calloc",
    "realloc": "bt_realloc_array",
    "free": "bt_free",
    "strdup": "bt_strndup",
    "strndup": "bt_strndup",
    "assert": "BT_ASSERT",
    "abort": "bt_panic",
}
ALLOC_FILES = ("src/base/alloc.c", "src/base/assert.c")

MARKER = re.compile(r"\b(%s|%s|%s)\b" % ("FIX" + "ME", "TO" + "DO", "XX" + "X"))
MACHINE_PATH = re.compile(
    r"(?<![\w.])/(?:%s|home/[a-z]|Users/[A-Z]|root/)" % "|".join(
        ["wo" + "rk/", "tmp/help" + "ers"]))
# Vague words, which hide the subject of a sentence.
VAGUE = re.compile(r"\b(nobody|whom|is told of|are told of|goes without a word)\b", re.IGNORECASE)
VAGUE_FOLDERS = ("src/", "include/", "docs/", "README.md", "bench/", "fuzz/", "examples/")

# Subjects of commits after this one are checked; older ones were written before the rule.
SUBJECTS_SINCE = "93e70593a0"
SUBJECT_MAX = 72
SUBJECT = re.compile(r"(?:[\w./-]+, )*[\w./-]+: (\S+)")
NOT_VERBS = frozenset(
    "a also an every few fewer from how it more new no nothing one the these this those three two "
    "what where whether who without".split())
VERBS_IN_ING_OR_ED = frozenset("bring embed exceed feed need ping proceed seed".split())

CALL = re.compile(r"(?<![\w.>])([a-z_][a-z0-9_]*)\s*\(")


def columns_of(line):
    return len(line.expandtabs(TAB_COLUMNS))


def blank_out(match):
    """The matched text with all characters except line feeds replaced by blanks."""
    return re.sub(r"[^\n]", " ", match.group(0))


TOKENS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code_of(text):
    """C text with comments and literals blanked, and the lines that have a // comment."""
    slashes = []

    def replace(match):
        if match.group(0).startswith("//"):
            slashes.append(text.count("\n", 0, match.start()) + 1)
        return blank_out(match)

    return TOKENS.sub(replace, text), slashes


def c_problems(path, text):
    """Problems that only C files can have, as (line, text)."""
    code, slashes = code_of(text)
    for line in slashes:
        yield line, "comments are written /* so */"
    banned = dict(BANNED)
    unix_path = path.replace(os.sep, "/")
    if unix_path.startswith(ALLOC_RULED) and unix_path not in ALLOC_FILES:
        banned.update(BANNED_OUTSIDE_ALLOC)
    for number, line in enumerate(code.split("\n"), 1):
        for match in CALL.finditer(line):
            if match.group(1) in banned:
                yield number, "%s is banned: use %s" % (match.group(1), banned[match.group(1)])


def problems_of(path, text):
    """All problems of one file, as (line, text)."""
    lines = text.split("\n")
    is_c = path.endswith((".c", ".cc", ".h", ".def", ".inc"))
    is_document = path.endswith(DOCUMENT_SUFFIXES)
    # Rows of a table are one line each, because a reader compares columns.
    is_table = path.endswith(".def") or path.startswith(WIDE_FOLDERS)
    if not is_document and SPDX not in "\n".join(lines[:2]):
        yield 1, "the first lines do not say " + SPDX
    if text and not text.endswith("\n"):
        yield len(lines), "the last line is not ended"
    for number, line in enumerate(lines, 1):
        if not is_document and not is_table and columns_of(line) > COLUMNS_MAX:
            yield number, "%d columns are more than %d" % (columns_of(line), COLUMNS_MAX)
        if not is_document and line != line.rstrip():
            yield number, "space at the end of the line"
        if MARKER.search(line):
            yield number, "unfinished business: %s" % MARKER.search(line).group(1)
        if MACHINE_PATH.search(line):
            yield number, "path of a single machine"
        if path.startswith(VAGUE_FOLDERS):
            for match in VAGUE.finditer(line):
                yield number, "'%s': name who or what does it" % match.group(0)
    if is_c:
        yield from c_problems(path, text)


def files_of(root):
    """Paths of the files to check, relative to root."""
    for name in TOP_FILES:
        if os.path.exists(os.path.join(root, name)):
            yield name
    for name in sorted(os.listdir(root)):
        if name.endswith(".md"):
            yield name
    seen = set()
    for folder in C_FOLDERS + SCRIPT_FOLDERS + ("docs",):
        if folder in seen:
            continue
        seen.add(folder)
        suffixes = (".md",) if folder == "docs" else (
            ".c", ".cc", ".h", ".def", ".inc", ".py", ".sh", ".build", ".yaml", ".yml", ".md",
            ".scn")
        for path, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = sorted(name for name in folders if name not in ("corpus", "__pycache__"))
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield os.path.relpath(os.path.join(path, name), root)


def subject_problem(subject):
    """The problem of the first line of a commit's message; "" if there is none."""
    match = SUBJECT.match(subject)
    if len(subject) > SUBJECT_MAX:
        return "%d columns are more than %d" % (len(subject), SUBJECT_MAX)
    if not match:
        return "is not \"area: imperative\""
    verb = match.group(1).rstrip(",").lower()
    if verb in NOT_VERBS or (verb.endswith(("ing", "ed")) and verb not in VERBS_IN_ING_OR_ED):
        return "'%s' is no imperative" % verb
    return ""


def subject_problems(root):
    """Problems of commits since SUBJECTS_SINCE; none if git or that commit is missing."""
    result = subprocess.run(
        ["git", "-C", root, "log", "--no-merges", "--format=%h %s", SUBJECTS_SINCE + "..HEAD"],
        capture_output=True, text=True, check=False)
    for line in result.stdout.splitlines() if result.returncode == 0 else ():
        commit, subject = line.split(" ", 1)
        if subject_problem(subject):
            yield "commit %s: \"%s\": %s" % (commit, subject, subject_problem(subject))


def check(root):
    """(number of files, number of files with problems, problems as printable lines)."""
    count = 0
    bad = 0
    printable = []
    for path in files_of(root):
        count += 1
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            problems = sorted(set(problems_of(path, file.read())))
        bad += 1 if problems else 0
        printable += ["%s:%d: %s" % (path, line, problem) for line, problem in problems]
    return count, bad, printable


def main(arguments):
    if len(arguments) != 1 or not os.path.isdir(arguments[0]):
        print("usage: check_tidy.py SOURCE_ROOT", file=sys.stderr)
        return 2
    count, bad, printable = check(arguments[0])
    subjects = list(subject_problems(arguments[0]))
    bad += 1 if subjects else 0
    count += 1
    for line in printable + subjects:
        print(line)
    print("%d passed, %d failed" % (count - bad, bad))
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
