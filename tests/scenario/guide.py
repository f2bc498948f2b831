#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every example of the guide, of README.md and of examples/README.md does what the page shows.

usage: guide.py PROGRAM plain|sanitized [--update] [PAGE...]

--update writes the actual outputs into the pages. guide_blocks.py says how pages are read. A
command in the background ("... &") must print what the page shows before the next command runs.
"""
import difflib
import os
import re
import shutil
import sys
import tempfile
import traceback

import guide_blocks
import guide_session
import scenario

GUIDE = "docs/guide"
MORE_PAGES = ["README.md", "examples/README.md"]
# Maximum number of blocks that are not run. Their pages say why.
NOT_RUN_MAX = 8
# Pages of which only the links are checked.
LINKED_PAGES = ["ARCHITECTURE.md", "CONTRIBUTING.md", "HACKING.md", "docs/README.md",
                "docs/performance.md", "docs/how-decisions-are-fast.md", "docs/spec/README.md",
                "packaging/README.md", "bench/README.md"]


def all_pages():
    names = sorted(os.listdir(os.path.join(scenario.ROOT, GUIDE)))
    return MORE_PAGES + ["%s/%s" % (GUIDE, name) for name in names if name.endswith(".md")]


def read_page(page):
    with open(os.path.join(scenario.ROOT, page), encoding="utf-8") as file:
        return file.read()


def blocks_of(page):
    return guide_blocks.read_blocks(page, read_page(page))


def needs(command, word):
    return re.search(r"(^|[|;&\s])%s\s" % word, command.text()) is not None


class Run:
    """One page, from top to bottom, in one shell."""

    def __init__(self, page, program, folder, kubectl):
        self.page = page
        self.kubectl = kubectl
        self.session = guide_session.Session(program, folder, kubectl)
        self.commands = 0
        self.skipped = 0
        self.wrong = []  # (command, its output)

    def run_command(self, command):
        text = command.text()
        if text.endswith("&"):
            assert "..." not in command.expected[:1], command.where() + ": nothing to wait for"
            known = command.expected or "--update" not in sys.argv
            output = self.session.run_in_background(
                text, lambda output: known and guide_blocks.matches(command, output))
        else:
            output = self.session.run(text)
        self.commands += 1
        if not guide_blocks.matches(command, output):
            self.wrong.append((command, output))

    def run_block(self, block):
        if block.is_saved():
            self.session.save(block.argument, block.text(), block.word == "append")
            return
        if not block.is_run():
            return
        for command in guide_blocks.read_commands(block):
            if needs(command, "kubectl") and not self.kubectl:
                self.skipped += 1
                return  # the next commands of the block depend on this one
            self.run_command(command)

    def run(self):
        try:
            for block in blocks_of(self.page):
                self.run_block(block)
        finally:
            self.session.close()


def complaint(command, output):
    shown = output.rstrip("\n").split("\n")
    lines = difflib.unified_diff(command.expected, shown, "the page", "what it prints",
                                 lineterm="", n=1)
    return "%s: $ %s\n%s" % (command.where(), command.text(), "\n".join(lines))


def update(page, wrong):
    """Replace the outputs that the page shows by the actual outputs."""
    lines = read_page(page).split("\n")
    for command, output in reversed(wrong):
        indent = command.block.indent
        shown = [(indent + line.rstrip()).rstrip() for line in output.rstrip("\n").split("\n")]
        first = command.end - 1 - len(command.expected)
        lines[first:command.end - 1] = shown if output.strip() else []
    with open(os.path.join(scenario.ROOT, page), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def run_page(page, program, kubectl):
    """Run the commands of a page; returns whether all outputs match, and prints differences."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(page, program, folder, kubectl)
        run.run()
    skipped = ", %d blocks skipped: no kubectl" % run.skipped if run.skipped else ""
    print("%s: %d commands%s" % (page, run.commands, skipped))
    for command, output in run.wrong:
        print(complaint(command, output))
    if run.wrong and "--update" in sys.argv:
        update(page, run.wrong)
    return not run.wrong


def check_blocks():
    """Each block is run or saved, or says why not; the text names the file of a saved block."""
    not_run = 0
    for page in all_pages():
        for block in blocks_of(page):
            if block.word == "not run":
                assert block.argument, block.where() + ": does not say why it is not run"
                not_run += 1
            elif block.is_saved():
                assert block.argument in block.text_before.replace(
                    "<!-- %s: %s -->" % (block.word, block.argument), ""), \
                    "%s: the text does not name %s" % (block.where(), block.argument)
            else:
                assert block.is_run(), block.where() + ": neither run nor saved"
    assert not_run <= NOT_RUN_MAX, "%d blocks are not run" % not_run


def check_links():
    wrong = []
    for page in all_pages() + LINKED_PAGES:
        folder = os.path.join(scenario.ROOT, os.path.dirname(page))
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", read_page(page)):
            if not re.match(r"[a-z]+:", target):
                if not os.path.exists(os.path.join(folder, target)):
                    wrong.append("%s: %s" % (page, target))
    assert not wrong, wrong


def check_every_page_is_in_the_index():
    index = read_page(GUIDE + "/README.md")
    for page in all_pages():
        name = os.path.basename(page)
        if page.startswith(GUIDE) and name != "README.md":
            assert "](%s)" % name in index, name


def check_outputs_are_compared():
    """Test the patterns: they find differences, and ignore the parts that may differ."""
    def like(shown, output, word=""):
        block = guide_blocks.Block("page", 1, "console", "")
        block.word = word
        block.lines = ["$ x"] + shown.split("\n")
        return guide_blocks.matches(guide_blocks.read_commands(block)[0], output)
    assert like("a\nb", "a\nb\n") and like("a\n", "a  \n\n") and like("", "")
    assert not like("a\nb", "a\n") and not like("a", "a\nb\n") and not like("", "a\n")
    assert not like("a", "") and not like("a", "A\n") and not like("a.c", "abc\n")
    assert like("a ... c", "a b c\n") and not like("a ... c", "a b d\n")
    assert like("a\n...\nc", "a\nc\n") and like("a\n...\nc", "a\nb\nb\nc\n")
    assert not like("a\n...\nc", "a\nb\nd\n")
    assert not like("in 3 s", "in 4 s\n") and like("in 3 s", "in 4.25  s\n", "numbers vary")
    assert not like("in 3 s", "in four s\n", "numbers vary")


def find_kubectl(program):
    """The path of kubectl; None if it is not installed."""
    path = shutil.which("kubectl")
    if path:
        return path
    folder = os.path.join(os.path.dirname(os.path.abspath(program.path)), "tests", "integration",
                          "kubernetes-client", "usr", "bin", "kubectl")
    return folder if os.path.exists(folder) else None


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    program = scenario.Program(words[0], words[1] == "sanitized", "")
    kubectl = find_kubectl(program)
    checks = [check_outputs_are_compared, check_blocks, check_links,
              check_every_page_is_in_the_index]
    passed = failed = 0
    for check in [] if words[2:] else checks:
        try:
            check()
            passed += 1
        except AssertionError as error:
            failed += 1
            print("%s: %s" % (check.__name__, error))
    for page in words[2:] or all_pages():
        try:
            if run_page(page, program, kubectl):
                passed += 1
            else:
                failed += 1
        except Exception:
            failed += 1
            print("%s:\n%s" % (page, traceback.format_exc()))
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
