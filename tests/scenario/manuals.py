#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Help and manual pages: every command has both, and they agree.

manuals.py BERTH plain|sanitized [FOLDER_OF_PAGES]: with the folder, mandoc checks the pages that
are installed. Exit status 77: the folder has no pages, or mandoc is not installed.
"""
import os
import re
import shutil
import subprocess
import sys

import scenario

SOURCES = os.path.join(scenario.ROOT, "docs", "man")
PAGES = sys.argv[3] if len(sys.argv) > 3 else None
COLUMNS = 100
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION"]
# Manual pages of other projects to which our pages may refer.
OTHERS = {"bash", "zshcompsys", "fish-completions", "kubectl", "jq", "diff"}


def commands(program):
    text = program.run("help").expect(0).out
    return [name for name in re.findall(r"^  ([a-z]+) {2,}", text, re.MULTILINE)
            if name != "help"]


def help_of(program, command):
    return program.run(command, "--help").expect(0).out


def source(page):
    with open(os.path.join(SOURCES, page + ".1.scd"), encoding="utf-8") as file:
        return file.read()


def headings(text):
    return re.findall(r"^# (.*)$", text, re.MULTILINE)


def section(text, heading):
    match = re.search(r"^# %s\n(.*?)(?=^# |\Z)" % re.escape(heading), text,
                      re.MULTILINE | re.DOTALL)
    assert match, "no section " + heading
    return match.group(1)


def plain(text):
    """Text without scdoc's markup."""
    return re.sub(r"\\(.)", r"\1", re.sub(r"(?<!\\)[*_]", "", text))


def flags_of_help(text):
    """Returns {flag: name of its value}; a flag is a text such as "-o, --output"."""
    part = text.split("\nFlags:\n")[1].split("\n\n")[0]
    return {head: value.strip() for head, value in re.findall(
        r"^ {2,6}((?:-[a-zA-Z], )?--[a-z0-9-]+)( \S+|\[=\S+\])?(?: {2,}.*|$)", part,
        re.MULTILINE)}


def flags_of_page(text):
    flags = {}
    for line in re.findall(r"^\*-.*$", section(text, "FLAGS"), re.MULTILINE):
        found = re.findall(r"(?:\*(-[a-zA-Z])\*, )?\*(--[a-z0-9-]+)\*(.*?)(?=, \*-|$)", line)
        assert found, line
        for letter, name, value in found:
            flags[(letter + ", " if letter else "") + name] = plain(value).strip()
    return flags


# --- help ---


def test_width_and_shape_of_help(program):
    texts = {name: help_of(program, name) for name in commands(program)}
    texts["help"] = program.run("help").expect(0).out
    for name, text in texts.items():
        for line in text.splitlines():
            assert len(line) <= COLUMNS, "%s: %d columns: %s" % (name, len(line), line)
            assert "\t" not in line and line == line.rstrip(), (name, line)
    for name in set(texts) - {"help", "scheduler"}:
        lines = texts[name].splitlines()
        assert lines[0].endswith(".") and lines[1] == "" and lines[2] == "Usage:", lines[:3]
        assert lines[3].startswith("  berth " + name), lines[3]
        parts = [line for line in lines
                 if re.fullmatch(r"(Usage|Flags|Examples|Exit status):", line)]
        wanted = ["Usage:", "Flags:", "Examples:", "Exit status:"]
        if name == "version":
            wanted.remove("Examples:")
        assert parts == wanted, (name, parts)


def test_overview_has_groups(program):
    text = program.run("help").expect(0).out
    positions = [text.index("\n%s:\n" % heading)
                 for heading in ("Ask about a cluster", "Run", "Measure", "Other")
                 if heading != "Run" or "\n  up " in text]
    assert positions == sorted(positions)
    assert not re.search(r"^[A-Z][a-z ]+:\n\n", text, re.MULTILINE), "a heading without commands"
    assert text.index("\n  simulate ") < text.index("\n  bench ") < text.index("\n  version ")


def test_help_for_what_is_not_there(program):
    answer = program.run("help", "simulat").expect(2)
    assert 'unknown command "simulat"; did you mean "simulate"?' in answer.err and not answer.out
    assert program.run("help", "help").expect(0).out == program.run("help").out
    for name in commands(program):
        if name != "scheduler":
            wrong = program.run(name, "--no-such-flag").expect(2)
            assert 'Run "berth %s --help" for its flags.' % name in wrong.err and not wrong.out


def test_half_of_the_help_is_taken(program):
    for arguments in (["help"], ["bench", "--help"], ["scheduler", "--help"],
                      ["completion", "zsh"]):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as broken:
            done = subprocess.run([program.path] + arguments, stdout=broken,
                                  stderr=subprocess.PIPE, check=False)
        if "unknown command" not in done.stderr.decode():
            assert (done.returncode, done.stderr) == (0, b""), (arguments, done)


# --- pages ---


def test_every_command_has_a_page(program):
    overview = section(source("berth"), "COMMANDS")
    for name in commands(program):
        if name == "version":
            assert "*version*\n" in overview
            continue
        page = source("berth-" + name)
        assert page.startswith("berth-%s(1)\n" % name), name
        assert re.match(r"\nberth-%s(, [a-z-]+)* - \S" % name, section(page, "NAME")), name
        assert plain(section(page, "SYNOPSIS")).startswith("\nberth %s" % name), name
        assert "*berth-%s*(1)\n\t" % name in overview, "berth.1 lacks " + name


def test_sections_of_pages(_program):
    for file in sorted(os.listdir(SOURCES)):
        if file.endswith(".scd"):
            found = headings(source(file[:-len(".1.scd")]))
            assert found[:3] == SECTIONS, (file, found)
            assert {"EXIT STATUS", "SEE ALSO", "FLAGS"} <= set(found), (file, found)
            assert found[-1] == "SEE ALSO" and len(found) == len(set(found)), (file, found)
            assert found.index("FLAGS") < found.index("EXIT STATUS"), (file, found)


def test_pages_point_to_pages(_program):
    ours = {file[:-len(".1.scd")] for file in os.listdir(SOURCES) if file.endswith(".scd")}
    for page in ours:
        text = source(page)
        named = set(re.findall(r"\*([a-z][a-z-]*)\*\(1\)", text))
        assert named <= ours | OTHERS, (page, named - ours - OTHERS)
        also = set(re.findall(r"\*([a-z][a-z-]*)\*\(1\)", section(text, "SEE ALSO")))
        assert also == ours - {"berth"} if page == "berth" else "berth" in also, (page, also)
        assert page not in also, page


def test_flags_of_pages_are_those_of_the_help(program):
    for name in commands(program):
        if name in ("version", "scheduler"):
            continue
        ours = flags_of_help(help_of(program, name))
        pages = flags_of_page(source("berth-" + name))
        assert ours == pages, "berth-%s.1: help and page differ: %s" % (
            name, sorted(set(ours.items()) ^ set(pages.items())))


def test_flags_of_the_scheduler(program):
    if "scheduler" not in commands(program):
        return
    page = source("berth-scheduler")
    shown = set(re.findall(r"^ {2,6}(?:-[a-z], )?(--[a-z0-9-]+)", help_of(program, "scheduler"),
                           re.MULTILINE))
    heads = re.findall(r"^\*-.*$", section(page, "FLAGS"), re.MULTILINE)
    told = {flag for head in heads for flag in re.findall(r"\*(--[a-z0-9-]+)\*", head)}
    assert shown == told, shown ^ told


def test_exit_statuses_agree(program):
    for name in commands(program):
        if name in ("version", "scheduler"):
            continue
        ours = re.findall(r"^  (\d)  ", help_of(program, name).split("\nExit status:\n")[1],
                          re.MULTILINE)
        pages = re.findall(r"\*(\d)\*", section(source("berth-" + name), "EXIT STATUS"))
        assert ours == pages, (name, ours, pages)


def test_made_pages(_program):
    pages = [name for name in os.listdir(PAGES) if name.endswith(".1")] if PAGES else []
    for name in pages:
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", os.path.join(PAGES, name)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout
    assert not PAGES or len(pages) > 3


def main():
    if PAGES and (shutil.which("mandoc") is None or not os.path.exists(
            os.path.join(PAGES, "berth.1"))):
        print("skipped: no mandoc, or no pages because there is no scdoc")
        sys.exit(77)
    scenario.main({name: value for name, value in globals().items() if name.startswith("test_") and
                   (name == "test_made_pages") == bool(PAGES)})


if __name__ == "__main__":
    main()
