#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Command lines of berth scheduler, and of the program under the name kube-scheduler, without a
cluster."""
import json
import os
import re
import signal
import socket
import subprocess

import scenario

ARGUMENTS_ERROR = 'Error: "kube-scheduler" does not take any arguments, got ["x"]\n'


def run_as_kube_scheduler(program, *arguments):
    path = os.path.join(program.folder, "kube-scheduler")
    if not os.path.lexists(path):
        os.symlink(os.path.abspath(program.path), path)
    return subprocess.run([path, *arguments], capture_output=True, text=True, check=False,
                          timeout=scenario.TIMEOUT_SECONDS)


def test_both_names(program):
    for arguments, status, out, err in (
            (["--version"], 0, "Kubernetes v1.36.2\n", ""),
            (["x"], 1, "", ARGUMENTS_ERROR),
            (["scheduler"], 1, "", ARGUMENTS_ERROR.replace('"x"', '"scheduler"')),
            (["--logging-format=xml"], 1, "",
             'format: Invalid value: "xml": Unsupported log format\n')):
        answer = program.run("scheduler", *arguments).expect(status)
        assert (answer.out, answer.err) == (out, err), (arguments, answer.out, answer.err)
        linked = run_as_kube_scheduler(program, *arguments)
        assert (linked.returncode, linked.stdout, linked.stderr) == (status, out, err), linked


def test_help(program):
    answer = program.run("scheduler", "--help").expect(0)
    assert "\nUsage:\n  kube-scheduler [flags]\n" in answer.out
    assert program.run("help", "scheduler").expect(0).out == answer.out
    wrong = program.run("scheduler", "--nope").expect(1)
    assert wrong.out == ""
    assert wrong.err.startswith("Usage:\n")
    assert wrong.err.endswith("\nError: unknown flag: --nope\n")


def test_command_failed(program):
    answer = program.run("scheduler", "--config=/no/such/file").expect(1)
    assert answer.out == ""
    assert re.search(r'^E\d{4} [0-9:.]{15} +\d+ [a-z_]+\.c:\d+\] "command failed" '
                     r'err="open /no/such/file: no such file or directory"\n\Z', answer.err,
                     re.MULTILINE), answer.err


def test_edge_11_21_no_cluster(program):
    answer = program.run("scheduler", "--secure-port=0").expect(1)
    lines = answer.err.splitlines()
    assert [line[0] for line in lines[-3:]] == ["W", "W", "E"], answer.err
    assert lines[-1].endswith(
        '"command failed" err="invalid configuration: no configuration has been provided, try '
        'setting KUBERNETES_MASTER environment variable"'), answer.err


def test_a_signal_ends_the_wait_for_the_authentication_configuration(program):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with socket.create_server(("127.0.0.1", 0)) as server:  # accepts, and never answers
        kubeconfig = program.write("kubeconfig", json.dumps({
            "clusters": [{"name": "c", "cluster": {
                "server": "http://127.0.0.1:%d" % server.getsockname()[1]}}],
            "contexts": [{"name": "c", "context": {"cluster": "c"}}], "current-context": "c"}))
        with subprocess.Popen(
                [program.path, "scheduler", "--bind-address=127.0.0.1", "--secure-port=%d" % port,
                 "--cert-dir", program.folder, "--kubeconfig", kubeconfig,
                 "--authentication-kubeconfig", kubeconfig], stderr=subprocess.PIPE,
                text=True) as process:
            connection, _ = server.accept()
            with connection:
                assert b"extension-apiserver-authentication" in connection.recv(1000)
                process.terminate()
                _, err = process.communicate(timeout=8)  # the wait takes ten seconds
    assert process.returncode == 0 and "Requested to terminate, exiting" in err, err
    assert "Error looking up" not in err, err


def test_a_signal_ends_the_wait_for_a_file(program):
    fifo = os.path.join(program.folder, "fifo")
    os.mkfifo(fifo)
    for flags in (["--kubeconfig", fifo], ["--config", fifo]):
        with subprocess.Popen(
                [program.path, "scheduler", "--secure-port=0", *flags]) as process:
            with open(fifo, "wb"):  # waits for the reader
                process.terminate()
                try:
                    assert process.wait(timeout=8) == -signal.SIGTERM
                finally:
                    process.kill()


def test_write_config(program):
    path = os.path.join(program.folder, "written.yaml")
    arguments = ["--secure-port=0", "--master=http://127.0.0.1:1", "--write-config-to=" + path]
    answer = program.run("scheduler", "--leader-elect=false", *arguments).expect(0)
    assert '] "Wrote configuration" file="%s"\n' % path in answer.err
    with open(path, encoding="utf-8") as file:
        first = file.read()
    assert first.startswith("apiVersion: kubescheduler.config.k8s.io/v1\n")
    assert "\n  leaderElect: false\n" in first
    program.run("scheduler", "--config=" + path, *arguments).expect(0)
    with open(path, encoding="utf-8") as file:
        assert file.read() == first


if __name__ == "__main__":
    scenario.main(globals())
