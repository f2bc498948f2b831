#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Completion: what "berth __complete" offers, and lines typed into bash, zsh and fish.

completion.py BERTH plain|sanitized [bash|zsh|fish]: without a shell, tests the program alone. Exit
status 77: the shell is not installed, or there is no terminal to type on.
"""
import os
import re
import shutil
import subprocess
import sys

import scenario
import terminal

SCRIPTS = os.path.join(scenario.ROOT, "src", "cli", "completion")
SCRIPT_OF = {"bash": "berth.bash", "zsh": "_berth", "fish": "berth.fish"}
SHELL = sys.argv[3] if len(sys.argv) > 3 else None
PROMPT = "berth-prompt "
LIBRARY = "/usr/share/bash-completion/bash_completion"
CLUSTER = """
{"kind":"Node","apiVersion":"v1","metadata":{"name":"node-a"}}
{"kind":"Node","apiVersion":"v1","metadata":{"name":"node-b"}}
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-1","namespace":"shop"}}
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"db-0"},"spec":{"nodeName":"node-a"}}
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"$(touch hacked)"}}
"""
# A line, and the line after one press of Tab, which is the same in all shells.
COMPLETED = {
    "berth sim": "berth simulate ",
    "berth help be": "berth help bench ",
    "berth simulate --ignore-ext": "berth simulate --ignore-extenders ",
    "berth simulate -f pods.yaml -o wi": "berth simulate -f pods.yaml -o wide ",
    "berth simulate --output=js": "berth simulate --output=json ",
    "berth simulate -f clu": "berth simulate -f cluster.yaml ",
    "berth simulate --config=clu": "berth simulate --config=cluster.yaml ",
    "berth simulate --plugin-dir fol": "berth simulate --plugin-dir folder/",
    "berth bench -w backl": "berth bench -w backlog ",
    "berth completion fi": "berth completion fish ",
    "./berth vers": "./berth version ",
    "berth bench --feature-gates AllAlpha=true,AllBeta=f":
        "berth bench --feature-gates AllAlpha=true,AllBeta=false ",
    "berth bench --feature-gates AllAl": "berth bench --feature-gates AllAlpha=",
    "berth bench --nodes 5 no-such": "berth bench --nodes 5 no-such",
    "berth nonsense --out": "berth nonsense --out",
}
COMPLETED_WITH_DAEMON = {
    "kube-scheduler --write-conf": "kube-scheduler --write-config-to ",
    "kube-scheduler --logging-format te": "kube-scheduler --logging-format text ",
    "berth scheduler --kubeconfig=clu": "berth scheduler --kubeconfig=cluster.yaml ",
}


def offered(program, *words):
    """Returns the candidates and instructions that berth offers for the last word."""
    answer = program.run("__complete", *words).expect(0)
    assert answer.err == "", answer.err
    return [line.split("\t")[0] for line in answer.out.splitlines()]


def has_daemon(program):
    return "scheduler" in offered(program, "")


def prepare(program):
    """Make a folder that has the program, named berth, and files to complete."""
    program.write("cluster.yaml", CLUSTER)
    program.write("pods.yaml", "")
    program.write("folder/inside.yaml", "")
    os.symlink(os.path.abspath(program.path), os.path.join(program.folder, "berth"))
    environment = {"PATH": program.folder + ":/usr/bin:/bin", "HOME": program.folder,
                   "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    return environment


def expected(program):
    return dict(COMPLETED, **(COMPLETED_WITH_DAEMON if has_daemon(program) else {}))


def installed_script():
    return os.path.join(SCRIPTS, SCRIPT_OF[SHELL])


# --- the program ---


def test_scripts_are_the_files(program):
    for shell, name in SCRIPT_OF.items():
        with open(os.path.join(SCRIPTS, name), encoding="utf-8") as file:
            assert program.run("completion", shell).expect(0).out == file.read(), shell
    assert "bash, zsh or fish" in program.run("completion").expect(2).err
    assert '"tcsh" is none of bash, zsh, fish' in program.run("completion", "tcsh").expect(2).err


def test_commands(program):
    listed = re.findall(r"^  ([a-z]+) {2,}", program.run("help").expect(0).out, re.MULTILINE)
    assert sorted(offered(program, "")) == sorted(listed)
    assert offered(program) == offered(program, "")
    assert offered(program, "help", "") == [name for name in offered(program, "")
                                            if name != "help"]
    assert offered(program, "help", "bench", "") == []
    assert offered(program, "--v") == ["--version"]
    assert offered(program, "no-such-command", "") == []


def test_flags_of_every_command(program):
    for command in offered(program, "help", ""):
        text = program.run(command, "--help").expect(0).out
        flags = re.findall(r"^ +(?:-[a-zA-Z], )?(--[a-z0-9-]+)", text, re.MULTILINE)
        known = set(offered(program, command, "--"))
        missing = {flag for flag in flags if re.search(
            r"^ {2,6}(?:-[a-zA-Z], )?%s(?: |$)" % flag, text, re.MULTILINE)} - known
        assert not missing, (command, missing)
        assert "--help" in known and known <= set(re.findall(r"--[a-z0-9-]+", text)), command


def test_values(program):
    assert offered(program, "simulate", "-o", "") == ["table", "wide", "json", "yaml", "name"]
    assert offered(program, "simulate", "-ow") == ["-owide"]
    assert offered(program, "simulate", "-o=w") == ["-o=wide"]
    assert offered(program, "simulate", "--output=") == [
        "--output=" + name for name in offered(program, "simulate", "-o", "")]
    assert offered(program, "simulate", "-f", "") == [":files", ":dirs", "-"]
    assert offered(program, "simulate", "-Rf", "") == [":files", ":dirs", "-"]
    assert offered(program, "simulate", "--threads", "") == []
    assert offered(program, "simulate", "--threads=") == []
    gates = offered(program, "simulate", "--feature-gates", "AllAlpha=true,A")
    assert gates[:2] == ["AllAlpha=true,AllAlpha=", "AllAlpha=true,AllBeta="], gates
    assert gates[-1] == ":nospace"
    assert offered(program, "simulate", "--feature-gates=AllBeta=") == [
        "--feature-gates=AllBeta=true", "--feature-gates=AllBeta=false"]


def test_odd_words(program):
    everything = offered(program, "simulate", "--")
    assert offered(program, "simulate", "-") == everything
    assert offered(program, "simulate", "-", "-", "-") == everything
    for word in ("--=", "-=", "-=x", "--nonsense=", "-z", "--\xff", "=", "\n", "-o=", "-o\t",
                 "---"):
        assert set(offered(program, "simulate", word)) <= {
            "-o=" + name for name in ("table", "wide", "json", "yaml", "name")}, word
    for word in ("-", "-=", "--=", "---", "-z", ""):
        assert offered(program, "simulate", word, "--pree") == ["--preempt"], word
    assert offered(program, "simulate", "--feature-gates", ",,=,") != []
    assert offered(program, "simulate", "--feature-gates", "=") == ["=true", "=false"]


def test_flags_come_once(program):
    assert "--preempt" not in offered(program, "simulate", "--preempt", "--")
    assert "--output" not in offered(program, "simulate", "-owide", "--")
    assert "--filename" in offered(program, "simulate", "-f", "x", "--")
    assert offered(program, "simulate", "-f", "--preempt", "--pree") == ["--preempt"]
    assert offered(program, "bench", "--", "--pr") == [":files"]


def test_names_in_files(program):
    path = program.write("cluster.yaml", CLUSTER)
    pods = ["shop/web-1", "db-0"]
    assert offered(program, "explain", "-f", path, "") == pods
    assert offered(program, "explain", "-f" + path, "s") == pods[:1]
    assert offered(program, "explain", "--filename=" + path, "-n", "shop", "") == ["web-1"]
    assert offered(program, "capacity", "-f", path, "--exclude-nodes=node-a,n") == [
        "--exclude-nodes=node-a,node-a", "--exclude-nodes=node-a,node-b"]
    assert offered(program, "explain", "") == []
    nearly = program.write("nearly.yaml", CLUSTER + " " * (15 << 20))
    assert offered(program, "explain", "-f", nearly, "") == pods
    assert offered(program, "whatif", "-f", path, "--drain=") == [
        "--drain=node-a", "--drain=node-b"]
    assert offered(program, "whatif", "-f", path, "--taint", "node-b") == ["node-b=", ":nospace"]
    assert offered(program, "whatif", "-f", path, "--taint", "node-b=") == []
    assert offered(program, "whatif", "-f", path, "--add", "3=") == ["3=node-a", "3=node-b"]
    assert offered(program, "whatif", "-f", path, "--add", "3") == [":nospace"]
    for wrong in ("no-such-file", "/dev/zero", program.folder, program.write("bad.yaml", "{")):
        assert offered(program, "explain", "-f", path, "-f", wrong, "") == [], wrong
    large = program.write("large.yaml", CLUSTER + " " * (16 << 20))
    assert offered(program, "explain", "-f", large, "") == []


# --- shells ---


def check_lines(program, complete):
    for line, completed in expected(program).items():
        found, _shown = complete(line)
        assert found == completed, "%r became %r, not %r" % (line, found, completed)
    for line in ("berth s", "berth simulate --f"):
        found, shown = complete(line)
        words = offered(program, *line.split()[1:])
        assert len(words) > 1
        for word in words:
            assert re.search(r"(?<![a-z-])%s(?![a-z-])" % re.escape(word), shown), (word, shown)


def drive(program, arguments, setup):
    """Type lines and a Tab into an interactive shell, where setup binds ^X^D to print the line."""
    environment = prepare(program)
    screen = terminal.Terminal(arguments, program.folder, environment, scenario.TIMEOUT_SECONDS)
    screen.type(setup + "\n")
    screen.wait_for(PROMPT)  # keys typed before are not read by the line editor

    def complete(line):
        screen.type(line + "\t\x18\x04")
        shown = screen.wait_for("LINE<")
        found = screen.wait_for(">")[:-1]
        screen.type("\x15")
        return found, shown

    check_lines(program, complete)
    screen.close()


def bash(program, before):
    setup = " ".join([before, "PS1='ber''th-prompt ';", "bind 'set show-all-if-ambiguous on';",
                      "bind 'set completion-query-items 0'; bind 'set page-completions off';",
                      "bind 'set enable-bracketed-paste off';",
                      "bind -x '\"\\C-x\\C-d\": printf \"\\nLINE<%s>\\n\" \"$READLINE_LINE\"'"])
    drive(program, ["bash", "--norc", "--noprofile", "-i"], setup)


def test_bash_alone(program):
    bash(program, "source %s;" % installed_script())


def test_bash_with_the_library(program):
    if os.path.exists(LIBRARY):
        bash(program, "source %s; source %s;" % (LIBRARY, installed_script()))


def test_bash_loads_without_a_message(program):
    prepare(program)
    text = program.run("completion", "bash").expect(0).out
    for before in ("", ". %s\n" % LIBRARY if os.path.exists(LIBRARY) else ""):
        done = subprocess.run(["bash", "--norc", "--noprofile", "-eu"], input=before + text +
                              "\ncomplete -p berth kube-scheduler\n", text=True, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.stderr == "", done.stderr
        assert done.stdout == "complete -F _berth berth\ncomplete -F _berth kube-scheduler\n"


def test_zsh_as_an_installed_function(program):
    zsh(program, "fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D;" % SCRIPTS)


def test_zsh_sourced(program):
    zsh(program, "autoload -Uz compinit; compinit -u -D; source %s;" % installed_script())


def zsh(program, before):
    setup = " ".join([before, "PS1='ber''th-prompt ';", "LISTMAX=10000;",
                      "unsetopt beep list_beep prompt_cr;",
                      "probe() { print -r -- \"\nLINE<$BUFFER>\" };", "zle -N probe;",
                      "bindkey -e; bindkey '^X^D' probe; bindkey '^U' kill-whole-line"])
    drive(program, ["zsh", "-f", "-i"], setup)


def fish(program, command):
    done = subprocess.run(["fish", "--no-config", "--command", command], text=True, check=True,
                          cwd=program.folder, env=program.environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.stderr == "", done.stderr
    return done.stdout


def test_fish(program):
    program.environment = prepare(program)
    load = "source %s\n" % installed_script()
    assert fish(program, load) == ""
    for line, completed in expected(program).items():
        text = fish(program, load + "complete --do-complete=%s" % repr(line))
        words = [found.split("\t")[0] for found in text.splitlines()]
        last = completed.rstrip(" ").split(" ")[-1]
        assert words == ([last] if completed != line else []), (line, text)
    for line in ("berth s", "berth simulate --f"):
        text = fish(program, load + "complete --do-complete='%s'" % line)
        words = sorted(found.split("\t")[0] for found in text.splitlines())
        assert words == sorted(offered(program, *line.split()[1:])), text
        assert all("\t" in found for found in text.splitlines()), text


def main():
    if SHELL is not None and shutil.which(SHELL) is None:
        print("skipped: %s is not installed" % SHELL)
        sys.exit(77)
    if SHELL in ("bash", "zsh"):
        ends = scenario.open_terminal()
        if ends is None:
            sys.exit(77)
        for end in ends:
            os.close(end)
    prefixes = ("test_bash", "test_zsh", "test_fish")
    scenario.main({name: value for name, value in globals().items() if name.startswith("test_") and
                   (name.startswith("test_" + SHELL) if SHELL else
                    not name.startswith(prefixes))})


if __name__ == "__main__":
    main()
