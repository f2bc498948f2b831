#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line as a whole: help, wrong usage, version, bench, broken pipes."""
import fcntl
import json
import os
import re
import struct
import subprocess
import sys
import termios

import scenario
from objects import deployment, lines, node, pod

BENCH_ORIGIN = ["threads", "commit", "compiler", "machine"]
COMMANDS = ["bench", "simulate", "version"]


def test_overview(program):
    answer = program.run("--help").expect(0)
    for name in COMMANDS:
        assert "\n  %s " % name in answer.out, name
    assert program.run("help").expect(0).out == answer.out
    assert program.run().expect(2).err == answer.out


def test_help_of_each_command(program):
    for name in COMMANDS:
        answer = program.run(name, "--help").expect(0)
        assert "\nUsage:\n  berth %s" % name in answer.out, answer.out
        assert program.run("help", name).expect(0).out == answer.out
    assert "\nExamples:\n" in program.run("simulate", "-h").expect(0).out


def test_unknown_words(program):
    answer = program.run("simulat").expect(2)
    assert 'unknown command "simulat"; did you mean "simulate"?' in answer.err
    assert "did you mean" not in program.run("frobnicate").expect(2).err
    assert "unknown flag: --nonsense" in program.run("simulate", "--nonsense").expect(2).err
    assert "unexpected argument x" in program.run("simulate", "x").expect(2).err
    assert "no input" in program.run("simulate").expect(2).err
    answer = program.run("simulate", "-f", "-", "-o", "xml").expect(2)
    assert "xml is none of table, wide, json, yaml, name" in answer.err
    assert "read only once" in program.run(
        "simulate", "-f", "-", "-f", "-", stdin='{"apiVersion":"v1","kind":"Node",'
        '"metadata":{"name":"n"}}').expect(2).err


def test_wrong_values_of_up(program):
    if program.run("up", "--help").status != 0:  # the program may be built without the server
        return
    for flag, value, message in (
            ("--node-cpu", "abc", "quantities must match the regular expression"),
            ("--node-memory", "-1m", "must not be negative"),
            ("--node-pods", "", "quantities must match the regular expression"),
            ("--controllers", "nobody", '"nobody" is not in the list of known controllers')):
        answer = program.run("up", "%s=%s" % (flag, value)).expect(2)
        assert answer.err.startswith("berth up: %s: %s" % (flag, message)), answer.err


def test_colors(program):
    text = lines(node("n1"), pod("p"))
    for arguments in (["simulate"], ["explain"], ["pending"], ["whatif", "--drain", "n1"],
                      ["capacity", "--like", "p"]):
        plain = program.run(*arguments, "-f", "-", stdin=text)
        for choice, has_color in (("always", True), ("never", False), ("auto", False)):
            told = program.run(*arguments, "-f", "-", "--color", choice, stdin=text)
            assert told.status == plain.status and told.err == plain.err, (arguments, told.err)
            if not has_color or arguments[0] in ("simulate", "explain"):
                assert ("\033[" in told.out) == has_color, (arguments, choice, told.out)
            assert re.sub(r"\033\[\d+m", "", told.out) == plain.out, (arguments, told.out)
        wrong = program.run(*arguments, "-f", "-", "--color", "red", stdin=text).expect(2).err
        assert "--color: red is none of auto, always, never" in wrong, wrong
        document = program.run(*arguments, "-f", "-", "--color=always", "-o", "json", stdin=text)
        assert "\033" not in document.out, arguments


def test_version(program):
    assert program.run("version").expect(0).out.startswith("berth ")
    assert program.run("--version").expect(0).out == program.run("version").out


def generate(program, workload, *arguments):
    """Write a file with a workload of bench/generate.py."""
    generator = os.path.join(scenario.ROOT, "bench", "generate.py")
    text = subprocess.run([sys.executable, generator, workload] + list(arguments),
                          stdout=subprocess.PIPE, check=True).stdout
    return program.write(workload + ".jsonl", text)


def test_bench(program):
    for workload in ["basic", "nodeaffinity", "taints", "hetero"]:
        path = generate(program, workload, "30", "20", "40", "--without", "spread,affinity")
        answer = program.run("bench", path, "--repeat", "2", "--verify").expect(0)
        runs = [json.loads(line) for line in answer.out.splitlines()]
        assert len(runs) == 2
        for run in runs:
            assert list(run) == ["file", "nodes", "bound", "scheduled", "failed", "seconds",
                                 "pods_per_s", "cpu_seconds", "pods_per_cpu_s", "load_seconds",
                                 "peak_rss_mb", "decisions", "verify",
                                 "verified_pods"] + BENCH_ORIGIN, run
            assert run["verify"] == "inline" and run["verified_pods"] == 40, run
            assert run["file"] == path
            assert [run["nodes"], run["bound"], run["scheduled"], run["failed"]] == [30, 20, 40, 0]


def test_bench_preempt(program):
    path = generate(program, "preemption", "150", "600", "20")
    answer = program.run("bench", path, "--preempt", "--repeat", "2", "--verify").expect(0)
    runs = [json.loads(line) for line in answer.out.splitlines()]
    assert len(runs) == 2
    for run in runs:
        assert list(run) == ["file", "nodes", "bound", "scheduled", "failed", "preempted",
                             "victims", "preemptions_per_s", "seconds", "pods_per_s",
                             "cpu_seconds", "pods_per_cpu_s", "load_seconds", "peak_rss_mb",
                             "decisions", "verify", "verified_pods"] + BENCH_ORIGIN, run
        # Each pending pod needs 3 of the 4 CPU of a node: one of the four pods of 900m on the node
        # may stay.
        assert [run["scheduled"], run["failed"], run["preempted"], run["victims"]] == \
            [20, 0, 20, 60], run
    run = program.run("bench", path).expect(0).json()
    assert [run["scheduled"], run["failed"]] == [0, 20] and "preempted" not in run, run


def test_bench_wrong_usage(program):
    assert "needs a file or --workload" in program.run("bench").expect(2).err
    assert "at least 1" in program.run("bench", "x", "--repeat", "0").expect(2).err
    path = program.write("bad.jsonl", '{"kind":"Pod","apiVersion":"v1","metadata":3}\n')
    answer = program.run("bench", path).expect(2)
    assert path + ": line 1: Pod: metadata: expected object, got number" in answer.err, answer.err


def test_outputs_are_no_inputs(program):
    path = program.write("x.yaml", "a: b\n")
    for flag, arguments in (("kubeconfig-out", ["up", "-f", path]),
                            ("write", ["bench", "-w", "basic", "--config", path])):
        answer = program.run(*arguments, "--" + flag, path).expect(2)
        assert "--%s: %s is a file that this command reads" % (flag, path) in answer.err, answer.err
    for flag, arguments in (("kubeconfig-out", ["up"]), ("events", ["replay", path]),
                            ("report", ["compare", path, "--config", "default"])):
        answer = program.run(*arguments, "--" + flag, "-").expect(2)
        assert "--%s: name a file; standard output has the answer" % flag in answer.err, answer.err


def show(program, text, columns, **environment):
    """Returns the output of berth simulate on a terminal with this number of columns; None if the
    system has no terminals."""
    ends = scenario.open_terminal()
    if ends is None:
        return None
    ours, theirs = ends
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    variables = {key: value for key, value in os.environ.items()
                 if key not in ("COLUMNS", "NO_COLOR")}
    variables.update({"TERM": "xterm"}, **environment)
    process = subprocess.Popen([program.path, "simulate", "-f", program.write("f.json", text)],
                               stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=subprocess.DEVNULL, env=variables)
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    assert process.wait(scenario.TIMEOUT_SECONDS) == 1
    return shown.decode().replace("\r\n", "\n")


def test_terminal(program):
    text = lines(node("n1"), deployment("web", 20, cpu="1500m"))
    plain = program.simulate(text, output="table").expect(1).out
    assert plain.count("Unschedulable: 0/1 nodes") == 18 and "\033" not in plain, plain
    shown = show(program, text, 90, NO_COLOR="1")
    if shown is None:
        return
    assert "\033" not in shown and max(map(len, shown.splitlines())) <= 90, shown
    assert shown.count("Unschedulable:") == 1 and " and 17 more  -" in shown, shown
    status = shown.splitlines()[0].index("STATUS")
    folded = shown[shown.index("Unschedulable:"):shown.index("\n\n")].splitlines()
    assert len(folded) > 2 and all(
        line[:status].strip() == "" and line[status] != " " for line in folded[1:]), shown
    wider = show(program, text, 90, NO_COLOR="1", COLUMNS="120")
    assert 90 < max(map(len, wider.splitlines())) <= 120, wider
    coloured = show(program, text, 90)
    assert "\033[32mScheduled\033[0m" in coloured, coloured
    assert "\033[31mUnschedulable\033[0m: 0/1" in coloured, coloured
    assert "\033" not in show(program, text, 90, TERM="dumb")


def test_output_without_a_reader(program):
    path = os.path.join(scenario.EXAMPLES, "cluster.yaml")
    for arguments in (["simulate", "-f", path], ["view", "-f", path],
                      ["up", "--listen", "127.0.0.1:0", "--kubeconfig-out", "/dev/null"],
                      ["bench", "-w", "basic", "--nodes", "2", "--bound", "0", "--pending", "1"]):
        with open("/dev/full", "wb") as full:  # a server ends if its link is not printed
            done = subprocess.run([program.path, *arguments], stdout=full, timeout=60,
                                  stderr=subprocess.PIPE, check=False)
        assert done.returncode == 2, done
        assert done.stderr.endswith(b"writing the output: No space left on device\n"), done
        assert done.stderr.count(b"\n") == 1, done
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as broken:
        done = subprocess.run([program.path, "simulate", "-f", path], stdout=broken,
                              stderr=subprocess.PIPE, check=False)
    assert done.returncode in (0, 1) and done.stderr == b"", done


if __name__ == "__main__":
    scenario.main(globals())
