# SPDX-License-Identifier: Apache-2.0
"""Blocks of a page of the guide, and whether an output is what the page shows.

The first line of a fenced block says what the block is:

    ```console      commands behind "$ ", each with the output that follows; a command ends with its
                    line, unless the line ends with a backslash or has a "<<EOF"
    ```c, ```yaml   text; the comment before the block says how it is used

Comments on the line before a block:

    <!-- file: NAME -->         the reader saves the block as this file, which the text names
    <!-- append: NAME -->       the reader adds the block to the end of this file
    <!-- numbers vary -->       numbers and blanks of the output may differ
    <!-- not run: WHY -->       the block is not run; the number of such blocks is limited

In an output "..." matches anything within its line, and any lines if it is the whole line.
"""
import re

COMMENT = re.compile(r"<!-- (file|append|numbers vary|not run)(?:: (.+))? -->$")
FENCE = re.compile(r"( *)```(\S*)$")
ANY_LINES = "..."


class Block:
    def __init__(self, page, line, language, indent):
        self.page = page
        self.line = line  # number of the fence's line, from 1
        self.language = language
        self.indent = indent  # blanks before each of its lines
        self.word = ""  # keyword of the comment before the block, such as "file"
        self.argument = ""
        self.lines = []
        self.text_before = ""  # paragraphs between the last block and this one

    def where(self):
        return "%s:%d" % (self.page, self.line)

    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def is_run(self):
        return self.language == "console" and self.word != "not run"

    def is_saved(self):
        return self.word in ("file", "append")


class Command:
    """A command of a block, and the lines of the page with its output."""

    def __init__(self, block, line):
        self.block = block
        self.line = line  # number of the command's first line in the page, from 1
        self.words = []  # the lines of the command
        self.expected = []
        self.end = line  # number of the line after the output

    def text(self):
        return "\n".join(self.words)

    def where(self):
        return "%s:%d" % (self.block.page, self.line)


class PageError(AssertionError):
    """The page has a mistake in its blocks or their comments."""


def read_blocks(page, text):
    """All fenced blocks of a page, in order."""
    blocks = []
    block = None
    before = []
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if block is None and fence:
            block = Block(page, number, fence.group(2), fence.group(1))
            comment = COMMENT.match(before[-1].strip()) if before else None
            if comment:
                block.word, block.argument = comment.group(1), comment.group(2) or ""
            block.text_before = "\n".join(before)
        elif block is not None and fence and not fence.group(2):
            blocks.append(block)
            block = None
            before = []
        elif block is not None:
            block.lines.append(line[len(block.indent):])
        else:
            before.append(line)
            if line.startswith("    ") and len(before) > 1 and before[-2] == "":
                raise PageError("%s:%d: an indented block is never run: fence it" % (page, number))
    if block is not None:
        raise PageError("%s: the block is not closed" % block.where())
    return blocks


def heredoc_end(line):
    found = re.search(r"<<'?(\w+)'?", line)
    return found.group(1) if found else None


def read_commands(block):
    commands = []
    open_until = None  # "": the block ends at the next line, else at a line with this word
    for number, line in enumerate(block.lines, block.line + 1):
        if open_until is not None:
            commands[-1].words.append(line)
            if open_until == "":
                open_until = "" if line.endswith("\\") else None
            elif line == open_until:
                open_until = None
        elif line.startswith("$ "):
            commands.append(Command(block, number))
            commands[-1].words.append(line[2:])
            open_until = "" if line.endswith("\\") else heredoc_end(line)
        elif commands:
            commands[-1].expected.append(line)
        else:
            raise PageError("%s: begins with no command" % block.where())
        commands[-1].end = number + 1
    if not commands or open_until is not None:
        raise PageError("%s: no command, or one that does not end" % block.where())
    return commands


def line_pattern(line, numbers_vary):
    """A regular expression that matches one line of an output."""
    line = line.rstrip()
    if not numbers_vary:
        return ".*".join(re.escape(part) for part in line.split("..."))
    pattern = ""
    for word in re.findall(r"\.\.\.|\d+(?:\.\d+)?|\s+|[^\d\s.]+|\.", line):
        if word == "...":
            pattern += ".*"
        elif word[0].isdigit():
            pattern += r"\d+(?:\.\d+)?"
        elif word.isspace():
            pattern += r"\s+"
        else:
            pattern += re.escape(word)
    return pattern


def output_pattern(expected, numbers_vary):
    """A regular expression that matches a whole output, each line ended by a newline."""
    pattern = ""
    for line in expected:
        if line.strip() == ANY_LINES:
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += line_pattern(line, numbers_vary) + r"\n"
    return re.compile(pattern + r"\Z")


def matches(command, output):
    """Whether the output matches what the page shows."""
    lines = "".join(line.rstrip() + "\n" for line in output.rstrip("\n").split("\n"))
    if output.strip() == "":
        lines = ""
    expected = list(command.expected)
    while expected and expected[-1].strip() == "":
        expected.pop()
    return output_pattern(expected, command.block.word == "numbers vary").match(lines) is not None
