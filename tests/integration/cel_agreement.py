#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random expressions: src/cel and @bufbuild/cel, which npm brings from its registry, must agree.

Usage: cel_agreement.py CEL_EVAL plain|sanitized BUILD_FOLDER [SEED]

The two agree if both give the same value, or if both give an error; texts of errors may differ.
KNOWN has the known differences and their reasons. cel_expressions.py lists the expressions that are
left out.
"""
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys

import cel_expressions
import up

HERE = os.path.dirname(os.path.abspath(__file__))
QUESTIONS = {"plain": 2000, "sanitized": 500}


def install(folder):
    """Installs the packages in the folder and returns it; None if npm cannot fetch them."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "evaluate.mjs"):
        shutil.copy(os.path.join(HERE, "cel_agreement", name), folder)
    if not os.path.isdir(os.path.join(folder, "node_modules", "@bufbuild")):
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"],
                              cwd=folder, check=False)
        if done.returncode != 0:
            return None
    return folder


def answers(command, questions, folder=None):
    """Returns the output of a program, one line for each expression."""
    text = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run(command, input=text, cwd=folder, stdout=subprocess.PIPE, text=True,
                          timeout=600, check=False)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != len(questions):
        sys.exit("%s: exit status %d after %d answers; next question: %s" % (
            command[0], done.returncode, len(lines),
            json.dumps(questions[len(lines)]) if len(lines) < len(questions) else "none"))
    return [json.loads(line) for line in lines]


def same(ours, theirs):
    """Whether two values are equal. Maps are unordered, doubles are compared as numbers."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return type(ours) is type(theirs) and ours == theirs
    if "double" in ours and "double" in theirs:
        a, b = float(ours["double"]), float(theirs["double"])
        return a == b and math.copysign(1, a) == math.copysign(1, b) or a != a and b != b
    if "map" in ours and "map" in theirs:
        return len(ours["map"]) == len(theirs["map"]) and all(
            any(same(pair, other) for other in theirs["map"]) for pair in ours["map"])
    return ours == theirs


def agree(ours, theirs):
    if "value" in ours and "value" in theirs:
        return same(ours["value"], theirs["value"])
    return "value" not in ours and "value" not in theirs


CONSTANT = r'''(?:[br]*(?:""".*?"""|"[^"]*"|'[^']*')|[-+.\w]+)'''
CONVERSION = r"\b(?:int|uint|double|bool|string|bytes|duration|timestamp)\(%s\)"
FOLDED = CONVERSION % CONSTANT
for _ in range(4):
    FOLDED = CONVERSION % "(?:%s|%s)" % (CONSTANT, FOLDED)


def folding_failed(question, ours, _, ask):
    """Conversions of constants fail at compile time, even in branches that are not evaluated."""
    if not ours.get("refused", "").startswith("program instantiation failed: "):
        return False
    found = re.findall("(?=(%s))" % FOLDED, question["expression"])
    return any("error" in answer for answer in ask([{"expression": text} for text in found]))


def nan_has_no_order(_, ours, theirs, __):
    """Comparing NaN with < and the like is an error; @bufbuild/cel says false."""
    return ours.get("error") == "NaN values cannot be ordered" and "value" in theirs


def no_key_of_a_map(_, ours, theirs, __):
    """`key in map` is false if the key's type cannot be the type of a map key; @bufbuild/cel gives
    an error, because it has no overload for such a key."""
    return "value" in ours and re.search(
        r"'@in' applied to '\(\w+, map\)'", theirs.get("error", ""))


def field_of_a_list(_, ours, theirs, __):
    """has() of a list is an error; @bufbuild/cel says false."""
    return ours.get("error") == "unsupported index type 'string' in list" and "value" in theirs


def searched_list(_, ours, theirs, __):
    """In Kubernetes lists have indexOf() and lastIndexOf(), in @bufbuild/cel they do not. A dyn
    variable of a random expression may be a list."""
    return "value" in ours and re.search(
        r"'(?:lastI|i)ndexOf' applied to 'list", theirs.get("error", ""))


def large_uint_quotient(_, ours, theirs, __):
    """Dividing a uint above the largest int by 1 is an overflow of int in @bufbuild/cel."""
    return "value" in ours and theirs.get("error", "").startswith("int overflow during divide")


def text_for_number(question, ours, _, __):
    """JavaScript converts texts to numbers that CEL refuses; only dyn variables contain such
    texts."""
    return re.fullmatch("type conversion error from 'string' to '(?:int|uint|double)'",
                        ours.get("error", "")) is not None and any(
        re.match(r"dyn\(r?[\"']", text) for text in question["variables"].values())


def mixed_literal(_, ours, theirs, __):
    """All elements of a list or map literal must have the same type, and dyn differs from every
    other type; @bufbuild/cel allows elements of different types."""
    return re.search(r"expected type '[^']*' but found '[^']*dyn|expected type '[^']*dyn",
                     ours.get("refused", "")) is not None


KNOWN = (mixed_literal, folding_failed, nan_has_no_order, no_key_of_a_map, field_of_a_list,
         searched_list, large_uint_quotient, text_for_number)


def main():
    program, mode, build = sys.argv[1:4]
    # The default seed is fixed: oddities of @bufbuild/cel should not fail the tests at random.
    seed = int(sys.argv[4] if len(sys.argv) > 4 else os.environ.get("BERTH_TEST_SEED", 9))
    folder = install(os.path.join(build, "cel_agreement"))
    if folder is None:
        print("node, npm or the npm registry is not available")
        return up.SKIPPED
    print("seed %d" % seed)
    generator = cel_expressions.Generator(random.Random(seed))
    questions = [generator.question() for _ in range(QUESTIONS[mode])]

    def ask(what):
        return answers(["node", "evaluate.mjs"], what, folder)

    return report(questions, answers([program], questions), ask(questions), ask)


def told(question):
    """Returns the text of the question: the expression and the variables that it uses."""
    words = set(re.findall(r"[a-z0-9]+", question["expression"]))
    used = {name: text for name, text in question["variables"].items() if name in words}
    return json.dumps({"expression": question["expression"], "variables": used})


def report(questions, ours, theirs, ask):
    failed, known, values = 0, {}, 0
    for question, a, b in zip(questions, ours, theirs):
        values += "value" in a and "value" in b
        if agree(a, b):
            continue
        reason = next((is_so.__doc__ for is_so in KNOWN if is_so(question, a, b, ask)), None)
        if reason is not None:
            known[reason] = known.get(reason, 0) + 1
            continue
        failed += 1
        if failed <= 20:
            print("%s\n  src/cel %s\n  buf     %s" % (told(question), json.dumps(a), json.dumps(b)))
    for reason, count in sorted(known.items()):
        print("known difference, %d times: %s" % (count, reason))
    print("%d of %d have a value" % (values, len(questions)))
    if values < len(questions) // 4:
        print("too few: the generator has gone wrong")
        failed += 1
    print("%d passed, %d failed" % (len(questions) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
