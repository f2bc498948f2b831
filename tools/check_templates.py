#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the arguments of templates (codec/json_edit.h, api/text_template.h).

Usage: check_templates.py BUILD_FOLDER
Compilers check the arguments of printf only. Reads each source with a call of a variadic function
that has a parameter `template_`. Needs the Debian package python3-clang-14. Prints one line per
problem, then "N passed, N failed" with N counting calls.
"""
import collections
import glob
import json
import os
import re
import sys

sys.path.append("/usr/lib/python3/dist-packages")  # of Debian's python3, if another one runs
import clang.cindex as clang  # noqa: E402: the path above is needed first

HEADERS = glob.glob("/usr/lib/llvm-14/lib/clang/14*/include")
TEXT, TEXT_C, TREE = "struct berth_str", "char *", "struct bt_json_value *"
WORD = ("int", "unsigned int")
# conversion -> types of its arguments
TYPES = {"s": [TEXT], "p": [TEXT], "w": [TEXT], "r": [TEXT], "m": [TEXT, TEXT], "c": [TEXT_C],
         "u": [WORD], "i": [WORD], "n": [WORD], "d": ["long"], "N": ["long"],
         "a": [TEXT, "long", WORD], "?": [("_Bool", "int")], "b": [("_Bool", "int")],
         "f": ["double"], "v": [TREE], "t": [TREE]}


def is_a(argument, wanted):
    type_ = argument.type.get_canonical().spelling.replace("const ", "")
    is_enum = argument.type.get_canonical().kind == clang.TypeKind.ENUM
    # NULL is a void *.
    return (type_ in wanted if isinstance(wanted, tuple) else type_ == wanted) or (
        is_enum and wanted == WORD) or (type_ == "void *" and wanted in (TEXT_C, TREE))


def literals(cursor):
    if cursor.kind == clang.CursorKind.STRING_LITERAL:
        return [cursor.spelling]
    return [text for child in cursor.get_children() for text in literals(child)]


def check_call(call, at):
    """Returns the problems of a call whose template is argument number `at`, if it is a literal."""
    arguments = list(call.get_arguments())
    templates = literals(arguments[at])
    problems = []
    for template in templates:
        conversions = re.findall("%([a-zA-Z?])", template.replace("%%", ""))
        wanted = [type_ for letter in conversions for type_ in TYPES.get(letter, [letter])]
        given = arguments[at + 1:]
        # One of several templates may use fewer arguments than the others.
        if len(wanted) > len(given) or (len(wanted) < len(given) and len(templates) == 1):
            problems.append("%d arguments for %s" % (len(given), template))
        for argument, type_ in zip(given, wanted):
            if not is_a(argument, type_):
                problems.append("%s is no %s for %s" % (argument.type.spelling, type_, template))
    return problems


def template_at(function):
    """Returns the number of a variadic function's parameter `template_`, or None."""
    if function is None or function.kind != clang.CursorKind.FUNCTION_DECL:
        return None
    names = [parameter.spelling for parameter in function.get_arguments()]
    if "template_" not in names or not function.type.is_function_variadic():
        return None
    return names.index("template_")


def main(build):
    with open(os.path.join(build, "compile_commands.json")) as file:
        commands = {os.path.normpath(os.path.join(entry["directory"], entry["file"])): entry
                    for entry in json.load(file)}
    count = collections.Counter()
    index = clang.Index.create()
    for path, entry in sorted(commands.items()):
        with open(path, errors="replace") as file:
            if not re.search(r"\bbt_(json_(put|write)|text_|table_add_cells|console_print|advice_)",
                             file.read()):
                continue
        options = [os.path.normpath(os.path.join(entry["directory"], word[2:]))
                   for word in entry["command"].split() if word.startswith("-I")]
        unit = index.parse(path, args=["-I" + option for option in options + HEADERS] + [
            "-std=c11", "-D_GNU_SOURCE"])
        for cursor in unit.cursor.walk_preorder():
            if cursor.kind != clang.CursorKind.CALL_EXPR or str(cursor.location.file) != path:
                continue
            at = template_at(cursor.referenced)
            if at is None:
                continue
            problems = check_call(cursor, at)
            for problem in problems:
                print("%s:%d: %s" % (os.path.relpath(path), cursor.location.line, problem))
            count[bool(problems)] += 1
    print("%d passed, %d failed" % (count[False], count[True]))
    return 1 if count[True] or not count[False] else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
