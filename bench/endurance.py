#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Churn for a long time: `berth up --no-scheduler`, `berth scheduler` and a client.

Usage: endurance.py BERTH [--minutes N] [--nodes N] [--pods N] [--rate N]

Each second the client creates and deletes --rate pods, reads and labels some, lists a page, and
labels a node. Every ten seconds the client adds a node and deletes another node. Events are kept
for five minutes. A line each minute has the number of pending pods, the resident memory of both
programs and the slowest request of each kind. BERTH: the program of a release build.

Exit status 1: a request took more than 100 ms, memory grew, or pods stayed pending. Memory grew if
the peak of the last third of the minutes exceeds 1.05 times the peak of the second third.
"""
import argparse
import http.client
import json
import os
import random
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "integration"))

import daemon_harness as harness  # noqa: E402: the path above is needed first
import million  # noqa: E402
import up  # noqa: E402
import up_figures  # noqa: E402

SLOWEST_SECONDS = 0.1
GROWTH_MAX = 1.05
NODES = "/api/v1/nodes"


class Client:
    """Sends requests one after the other; notes the slowest request of each kind."""

    def __init__(self, api):
        self.connection = http.client.HTTPConnection("127.0.0.1", api.port, timeout=60)
        self.slowest = {}
        self.count = 0

    def send(self, kind, method, path, document=None, expected=(200, 201)):
        """kind: the name of the request in the report."""
        body = None if document is None else json.dumps(document)
        kinds = {"PATCH": "application/merge-patch+json"}
        started = time.monotonic()
        self.connection.request(method, path, body, {
            "Content-Type": kinds.get(method, "application/json")})
        answer = self.connection.getresponse()
        text = answer.read()
        taken = time.monotonic() - started
        assert answer.status in expected, (method, path, answer.status, text[:500])
        self.slowest[kind] = max(taken, self.slowest.get(kind, 0))
        self.count += 1

    def take_slowest(self):
        """Returns the times of the slowest requests since the last call, by kind."""
        slowest, self.slowest = self.slowest, {}
        return slowest


def change(client, options, state, second):
    """Makes the requests of one second."""
    names, nodes, random_ = state["pods"], state["nodes"], state["random"]
    for _ in range(options.rate):
        state["next"] += 1
        name = "churn-%d" % state["next"]
        client.send("create", "POST", harness.PODS, up_figures.example_pod(name))
        names.append(name)
    while len(names) > 20 * options.rate:
        client.send("delete", "DELETE", harness.PODS + "/" + names.pop(0), expected=(200, 404))
    for name in random_.sample(names, 5):
        client.send("get", "GET", harness.PODS + "/" + name)
        client.send("patch", "PATCH", harness.PODS + "/" + name,
                    {"metadata": {"labels": {"second": str(second)}}})
    client.send("list", "GET", harness.PODS + "?limit=500")
    client.send("label", "PATCH", "%s/%s" % (NODES, random_.choice(nodes)),
                {"metadata": {"labels": {"second": str(second)}}})
    if second % 10 == 0:
        nodes.append("extra-%d" % second)
        client.send("node", "POST", NODES, {
            "metadata": {"name": nodes[-1]},
            "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}}})
        client.send("node", "DELETE", "%s/%s" % (NODES, nodes.pop(random_.randrange(len(nodes)))))


def pending_pods(api):
    listed = api.json("GET", harness.PODS + "?fieldSelector=spec.nodeName%3D&limit=1")[1]
    return len(listed["items"]) + listed["metadata"].get("remainingItemCount", 0)


def run(api, daemon, options):
    """Runs the test; returns a list of sentences about failures."""
    wrong, memory = [], {"server": [], "daemon": []}
    state = {"pods": [], "next": 0, "random": random.Random(1),
             "nodes": ["node-%d" % i for i in range(options.nodes)]}
    client = Client(api)
    print("%6s %10s %8s %10s %10s  %s" % ("minute", "requests", "pending", "server MB", "daemon MB",
                                          "slowest requests in ms"), flush=True)
    started = time.monotonic()
    for second in range(options.minutes * 60):
        change(client, options, state, second)
        if second % 60 == 59:
            slowest = client.take_slowest()
            for name, process in (("server", api.process), ("daemon", daemon.process)):
                memory[name].append(harness.memory_bytes(process, "VmRSS") / 1e6)
            print("%6d %10d %8d %10.0f %10.0f  %s" % (
                second // 60 + 1, client.count, pending_pods(api), memory["server"][-1],
                memory["daemon"][-1], ", ".join("%s %.1f" % (kind, taken * 1000)
                                                for kind, taken in sorted(slowest.items()))),
                  flush=True)
            wrong += ["minute %d: a request (%s) took %.0f ms" % (second // 60 + 1, kind,
                                                                 taken * 1000)
                      for kind, taken in slowest.items() if taken > SLOWEST_SECONDS]
        time.sleep(max(0, started + second + 1 - time.monotonic()))
    for name, sizes in memory.items():
        third = len(sizes) // 3
        if third and max(sizes[-third:]) > GROWTH_MAX * max(sizes[third:-third]):
            wrong.append("the memory of the %s grew" % name)
    up.wait_for("no pending pods", lambda: pending_pods(api) == 0)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("berth")
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--nodes", type=int, default=100000)
    parser.add_argument("--pods", type=int, default=50000, help="pods that stay")
    parser.add_argument("--rate", type=int, default=100, help="pods created each second")
    options = parser.parse_args()
    program = up.Program(options.berth, "plain")
    up.START_SECONDS = 300
    os.environ["BERTH_VERIFY"] = harness.VERIFY["BERTH_VERIFY"] = "0"
    with tempfile.TemporaryDirectory() as folder, program.up(
            "--no-scheduler", "--tls", "off", "--nodes", str(options.nodes), "--zones", "3",
            "--pod-start-delay", "0s", "--event-ttl", "5m") as api:
        up_figures.wait_until_quiet(api.process)
        daemon = harness.Daemon(program, folder, api, "-v", "0")
        million.create_pods(api.port, options.pods, 32, 4)
        up.wait_for("bound pods", lambda: pending_pods(api) == 0, 300)
        wrong = run(api, daemon, options)
        daemon.stop()
    print("\n".join(wrong) or "no request was slow, and memory stayed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
