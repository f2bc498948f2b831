#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of `berth up`: creates a second, lists, memory, scheduling, churn, time to start.

Usage: up_figures.py BERTH [--pods N] [--seconds S] [--nodes N] [--only WORD]...

WORD: creates, lists, memory, scheduling, churn, start. Needs wrk for the creates. Prints one line
for each figure. The machine needs two processors for meaningful figures, because the load comes
from another process on it. BERTH: the program of a release build.
"""
import argparse
import http.client
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

import daemon_harness as harness  # noqa: E402: the path above is needed first
import pipeline  # noqa: E402
import up  # noqa: E402

PODS = "/api/v1/namespaces/default/pods"
# Runs almost no controllers. The flag needs a name, and this controller has nothing to do.
NO_CONTROLLERS = "--controllers=podgroup-protection-controller"


def resident_bytes(cluster):
    with open("/proc/%d/status" % cluster.process.pid, encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read()).group(1)) * 1024


def figure(what, value, unit, digits=0, more=""):
    print("%-52s %12.*f %s%s" % (what, digits, value, unit, more), flush=True)


def example_pod(name, **metadata):
    """A pod as a Deployment makes it."""
    return {"metadata": dict(metadata, name=name, labels={
                "app": "web", "pod-template-hash": "7c5ddbdf54"}),
            "spec": {"containers": [{
                "name": "c", "image": "nginx:1.25", "ports": [{"containerPort": 80}],
                "env": [{"name": "A", "value": "b"}],
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"},
                              "limits": {"memory": "128Mi"}}}]}}


def write_pods(path, count, node_count):
    """Writes a file of pods that are spread over node_count nodes. 0: the pods have no node."""
    with open(path, "w", encoding="ascii") as file:
        for i in range(count):
            pod = dict(example_pod("web-%06d" % i, namespace="load"), apiVersion="v1", kind="Pod")
            if node_count != 0:
                pod["spec"]["nodeName"] = "node-%d" % (i % node_count)
                pod["status"] = {"phase": "Running"}
            file.write(json.dumps(pod) + "\n")


# --- creates ---


def wait_until_quiet(process):
    """Wait until the controllers have handled the nodes, for example made a lease for each."""
    while True:
        before = harness.cpu_seconds(process)
        time.sleep(1)
        if harness.cpu_seconds(process) - before < 0.05:
            return


def creates(program, options, what, *flags):
    if shutil.which("wrk") is None:
        print("%-52s (wrk is not installed)" % what)
        return
    with program.up("--no-scheduler", "--nodes", str(options.nodes), *flags) as cluster:
        wait_until_quiet(cluster.process)
        command = ["wrk", "-t1", "-c16", "-d%ds" % options.seconds, "-s",
                   os.path.join(HERE, "create_pods.lua"), cluster.server, "--"]
        if cluster.token:
            command.append(cluster.token)
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        assert "status" not in out and "Non-2xx" not in out, out
        figure("pod creates, " + what, float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1)),
               "/s")


def measure_creates(program, options):
    creates(program, options, "in memory, HTTP", "--tls", "off")
    creates(program, options, "in memory, TLS")
    with tempfile.TemporaryDirectory() as folder:
        creates(program, options, "--data-dir, HTTP", "--tls", "off", "--data-dir",
                os.path.join(folder, "one"))
        creates(program, options, "--data-dir, TLS", "--data-dir",
                os.path.join(folder, "two"))


# --- lists and memory ---


def timed(what, run):
    started = time.monotonic()
    value = run()
    figure(what, time.monotonic() - started, "s", 2)
    return value


def list_in_pages(cluster):
    """Lists all pods in pages over one connection; returns the texts of the pages."""
    connection = http.client.HTTPConnection("127.0.0.1", cluster.port)
    pages, token = [], ""
    while True:
        connection.request("GET", "/api/v1/pods?limit=500" + (token and "&continue=" + token))
        pages.append(connection.getresponse().read())
        found = re.search(rb'"continue":"([^"]+)"', pages[-1][-500:] + pages[-1][:500])
        if not found:
            connection.close()
            return pages
        token = urllib.parse.quote(found.group(1).decode())


def measure_lists(program, options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pods.jsonl")
        write_pods(path, options.pods, 0)
        with program.up("--no-scheduler", NO_CONTROLLERS, "--tls", "off", "-f", path) as cluster:
            used = resident_bytes(cluster)
            text = timed("list of %d pods as a whole" % options.pods,
                         lambda: cluster.get("/api/v1/namespaces/load/pods")[1])
            figure("its length", len(text) / 1e6, "MB")
            assert len(json.loads(text)["items"]) == options.pods
            pages = timed("the same in pages of 500", lambda: list_in_pages(cluster))
            assert len(pages) == (options.pods + 499) // 500
            assert sum(len(json.loads(page)["items"]) for page in pages) == options.pods
            text = timed("all as a protobuf list", lambda: cluster.get(
                "/api/v1/pods", headers={"Accept": "application/vnd.kubernetes.protobuf"})[1])
            figure("its length", len(text) / 1e6, "MB")
            figure("memory that grew while they were listed",
                   (resident_bytes(cluster) - used) / 1e6, "MB")


def memory(program, options, folder, what, node_count, *flags):
    """Memory per pod; the memory without pods is subtracted."""
    path = os.path.join(folder, "pods-%d.jsonl" % node_count)
    if not os.path.exists(path):
        write_pods(path, options.pods, node_count)
    flags = ("--tls", "off", "--nodes", str(node_count), "--node-pods", "1000", *flags)
    with program.up(*flags) as cluster:
        empty = resident_bytes(cluster)
    started = time.monotonic()
    with program.up("-f", path, *flags) as cluster:
        ready = time.monotonic() - started
        time.sleep(5)  # time for the controllers and the scheduler to handle all pods
        cluster.get("/readyz")
        used = resident_bytes(cluster) - empty
        length = len(cluster.get("/api/v1/namespaces/load/pods")[1])
        figure("memory of a pod, " + what, used / options.pods, "bytes", 0,
               ", %.2f times its JSON (%d); ready after %.1f s" % (
                   used / length, length / options.pods, ready))


def measure_memory(program, options):
    with tempfile.TemporaryDirectory() as folder:
        memory(program, options, folder, "store alone", 0, "--no-scheduler", NO_CONTROLLERS)
        memory(program, options, folder, "and controllers", 0, "--no-scheduler")
        memory(program, options, folder, "and scheduler (all pending)", 0)
        memory(program, options, folder, "running on 1000 nodes, store alone", 1000,
               "--no-scheduler", NO_CONTROLLERS)
        memory(program, options, folder, "running on 1000 nodes, controllers", 1000,
               "--no-scheduler")
        memory(program, options, folder, "running on 1000 nodes, all", 1000)


# --- scheduling, churn, start ---


def create_pods(cluster, names):
    with pipeline.Pipeline(cluster) as connection:
        statuses = connection.run((("POST", PODS, example_pod(name)) for name in names), 100)
    assert set(statuses) == {201}, set(statuses)


def delete_pods(cluster, names):
    with pipeline.Pipeline(cluster) as connection:
        statuses = connection.run((("DELETE", "%s/%s?gracePeriodSeconds=0" % (PODS, name), None)
                                   for name in names), 100)
    assert set(statuses) == {200}, set(statuses)


def measure_scheduling(program, options, count=10000):
    for nodes, flags in ((1000, ()), (1000, ("--pod-start-delay", "0s")), (5000, ())):
        with program.up("--nodes", str(nodes), "--tls", "off", *flags) as cluster:
            started = time.monotonic()
            create_pods(cluster, ("p%05d" % i for i in range(count)))
            created = time.monotonic() - started
            path = PODS + "?limit=1&fieldSelector=status.phase!%3DRunning"
            up.wait_for("running pods", lambda: not cluster.json("GET", path)[1]["items"], 120)
            figure("%d pods created and Running on %d nodes" % (count, nodes),
                   time.monotonic() - started, "s", 2, " (created after %.2f s)%s" % (
                       created, " " + " ".join(flags)))
            figure("the same", count / (time.monotonic() - started), "/s")


def measure_churn(program, options, total=100000, each=10000):
    for what, flags in (("no scheduler", ("--no-scheduler",)), ("all", ("--nodes", "1000"))):
        with program.up("--tls", "off", *flags) as cluster:
            sizes = []
            started = time.monotonic()
            for start in range(0, total, each):
                names = ["p%06d" % i for i in range(start, start + each)]
                create_pods(cluster, names)
                delete_pods(cluster, names)
                sizes.append(resident_bytes(cluster) / 1e6)
            figure("%d pods created and deleted, %s" % (total, what), time.monotonic() - started,
                   "s", 1, "; MB after each %d: %s" % (
                       each, " ".join("%.0f" % size for size in sizes)))


def start(program, *flags):
    with program.up(*flags) as cluster:
        return float(re.search(r"ready after ([\d.]+) s", cluster.output()).group(1))


def measure_start(program, options):
    for nodes in (1000, 5000):
        figure("ready with --nodes %d" % nodes, start(program, "--nodes", str(nodes)), "s", 2)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "pods.jsonl")
        write_pods(path, options.pods, 1000)
        figure("ready with --nodes 1000 and -f of %d running pods" % options.pods,
               start(program, "--nodes", "1000", "--node-pods", "1000", "-f", path), "s", 2)
        data = os.path.join(folder, "data")
        figure("the same with --data-dir", start(
            program, "--nodes", "1000", "--node-pods", "1000", "--data-dir", data, "-f", path),
               "s", 2)
        figure("the same again, from the --data-dir", start(
            program, "--node-pods", "1000", "--data-dir", data), "s", 2)


MEASURES = {"creates": measure_creates, "lists": measure_lists, "memory": measure_memory,
            "scheduling": measure_scheduling, "churn": measure_churn, "start": measure_start}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("berth")
    parser.add_argument("--pods", type=int, default=200000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--nodes", type=int, default=1, help="of creates")
    parser.add_argument("--only", action="append", choices=list(MEASURES))
    options = parser.parse_args()
    program = up.Program(options.berth, "plain")
    os.environ["BERTH_VERIFY"] = "0"
    for name, measure in MEASURES.items():
        if not options.only or name in options.only:
            measure(program, options)


if __name__ == "__main__":
    main()
