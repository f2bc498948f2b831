#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a manual page with scdoc; remove the empty paragraphs around headings and lists.

Usage: man_page.py SCDOC < PAGE.scd > PAGE
"""
import subprocess
import sys

PARAGRAPHS = (".P", ".PP")
# OPENERS begin a paragraph, and CLOSERS end one: a .PP after an opener or before a closer is empty.
OPENERS = (".SH", ".SS", ".TH", ".RS")
CLOSERS = (".SH", ".SS", ".RE")


def is_one_of(line, macros):
    return line.split(" ")[0] in macros


def cleaned(lines):
    kept = []
    for number, line in enumerate(lines):
        if line in PARAGRAPHS:
            following = lines[number + 1] if number + 1 < len(lines) else ".SH"
            if is_one_of(kept[-1], OPENERS) or is_one_of(following, CLOSERS + PARAGRAPHS):
                continue
        kept.append(line)
    return kept


def main():
    done = subprocess.run(sys.argv[1:2], stdin=sys.stdin, stdout=subprocess.PIPE, check=False)
    if done.returncode == 0:
        text = "\n".join(cleaned(done.stdout.decode("utf-8").splitlines())) + "\n"
        sys.stdout.buffer.write(text.encode("utf-8"))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
