#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of the API server: creates a second, lists of many pods, memory for each pod.

Usage: up_figures.py BERTH [--pods N] [--seconds S]

Needs wrk for the creates. Prints one line for each figure. The load comes from another process on
the same machine, so it needs two processors to say something.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "integration"))

import up  # noqa: E402: the path above is needed first


def resident_bytes(cluster):
    with open("/proc/%d/status" % cluster.process.pid, encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read()).group(1)) * 1024


def creates(program, seconds, what, *flags):
    if shutil.which("wrk") is None:
        print("%-40s (wrk is not installed)" % what)
        return
    with program.up("--no-scheduler", "--nodes", "1", *flags) as cluster:
        command = ["wrk", "-t1", "-c16", "-d%ds" % seconds, "-s",
                   os.path.join(HERE, "create_pods.lua"), cluster.server, "--"]
        if cluster.token:
            command.append(cluster.token)
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        assert "status" not in out and "Non-2xx" not in out, out
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
        print("%-40s %10.0f /s" % (what, rate))


def example_pods(count):
    """One JSON document a pod, as Deployments make them."""
    for i in range(count):
        yield json.dumps({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web-%06d" % i, "namespace": "load", "labels": {
                "app": "web", "pod-template-hash": "7c5ddbdf54"}},
            "spec": {"containers": [{
                "name": "c", "image": "nginx:1.25", "ports": [{"containerPort": 80}],
                "env": [{"name": "A", "value": "b"}],
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"},
                              "limits": {"memory": "128Mi"}}}]}})


def timed(what, run):
    started = time.monotonic()
    value = run()
    print("%-40s %10.2f s" % (what, time.monotonic() - started))
    return value


def list_in_pages(cluster):
    token, pages, found = "", 0, 0
    while True:
        path = "/api/v1/pods?limit=500"
        if token:
            path += "&continue=" + urllib.parse.quote(token)
        document = json.loads(cluster.get(path)[1])
        found += len(document["items"])
        pages += 1
        token = document["metadata"].get("continue")
        if not token:
            return found, pages


def many_pods(program, count):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pods.jsonl")
        with open(path, "w", encoding="ascii") as file:
            for line in example_pods(count):
                file.write(line + "\n")
        with program.up("--no-scheduler", "--controllers=-*", "--tls", "off") as cluster:
            empty = resident_bytes(cluster)
        with program.up("--no-scheduler", "--controllers=-*", "--tls", "off", "-f",
                        path) as cluster:
            used = resident_bytes(cluster) - empty
            text = timed("list of %d pods as a whole" % count,
                         lambda: cluster.get("/api/v1/namespaces/load/pods")[1])
            items = json.loads(text)["items"]
            assert len(items) == count
            found, pages = timed("the same in pages of 500", lambda: list_in_pages(cluster))
            assert found == count and pages == (count + 499) // 500
            print("%-40s %10.0f bytes" % ("JSON of a pod", len(text) / count))
            print("%-40s %10.0f bytes (%.2f times its JSON)" % (
                "memory of a stored pod", used / count, used / len(text)))
            print("%-40s %10.0f MB" % ("growth while it was listed",
                                       (resident_bytes(cluster) - empty - used) / 1e6))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("berth")
    parser.add_argument("--pods", type=int, default=200000)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    program = up.Program(options.berth, "plain")
    os.environ["BERTH_VERIFY"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        creates(program, options.seconds, "pod creates, in memory, HTTP", "--tls", "off")
        creates(program, options.seconds, "pod creates, in memory, TLS")
        creates(program, options.seconds, "pod creates, --data-dir, TLS", "--data-dir",
                os.path.join(folder, "data"))
    many_pods(program, options.pods)


if __name__ == "__main__":
    main()
