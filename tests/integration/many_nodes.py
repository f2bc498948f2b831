#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cost the same with 20,000 nodes as with a few: no work per event grows with the nodes.

The cost is the CPU time of the server. The rounds of the two clusters alternate, and the cheapest
round of each cluster counts, so that a busy machine does not matter.
"""
import time

import daemon_harness as harness
import pipeline
import up

NODES = 20000
ROUNDS = 4
PODS = 3000  # pods of a round
EXTRA_NODES = 600
# Largest allowed ratio of the costs. The large cluster uses more memory, so more accesses miss the
# processor's caches. A scan of all nodes for each write would give about 100.
RATIO_MAX = 1.6


def cpu_seconds(process):
    """CPU time of the server's only thread in seconds, with the precision of nanoseconds."""
    with open("/proc/%d/schedstat" % process.pid, encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def wait_until_idle(process, seconds=120):
    def is_idle():
        before = cpu_seconds(process)
        time.sleep(0.3)
        return cpu_seconds(process) - before < 0.005
    up.wait_for("an idle server", is_idle, seconds)


def cost(cluster, requests):
    """CPU seconds until the server and its controllers have processed the writes."""
    before = cpu_seconds(cluster.process)
    with pipeline.Pipeline(cluster) as connection:
        statuses = connection.run(requests)
    assert set(statuses) <= {200, 201}, set(statuses)
    wait_until_idle(cluster.process)
    return cpu_seconds(cluster.process) - before


def test_a_write_costs_the_same_with_many_nodes(program):
    if program.sanitized:
        return
    flags = ("--no-scheduler", "--tls", "off", "--pod-start-delay", "0s")
    with program.up("--nodes", "20", *flags) as few, \
            program.up("--nodes", str(NODES), *flags) as many:
        started = time.monotonic()
        assert many.json("GET", "/version")[0] == 200
        first_answer = time.monotonic() - started
        wait_until_idle(few.process)
        wait_until_idle(many.process)
        least = {}
        for i in range(ROUNDS):
            for cluster in (few, many):
                pods = [("POST", harness.PODS, harness.pod("p%d-%d" % (i, n)))
                        for n in range(PODS)]
                bindings = [("POST", "%s/p%d-%d/binding" % (harness.PODS, i, n), {
                    "metadata": {"name": "p%d-%d" % (i, n)},
                    "target": {"kind": "Node", "name": "node-%d" % (n % 20)}}) for n in range(500)]
                nodes = [("POST", "/api/v1/nodes", {"metadata": {"name": "extra-%d-%d" % (i, n)}})
                         for n in range(EXTRA_NODES)]
                labels = [("PATCH", "/api/v1/nodes/extra-%d-%d" % (i, n),
                           {"metadata": {"labels": {"round": "r%d" % i}}})
                          for n in range(EXTRA_NODES)]
                for what, requests in (("pod", pods), ("binding", bindings), ("node", nodes),
                                       ("label", labels)):
                    found = cost(cluster, requests) / len(requests)
                    key = (what, cluster is many)
                    least[key] = min(found, least.get(key, found))
        for what in ("pod", "binding", "node", "label"):
            ratio = least[what, True] / least[what, False]
            print("%s: %.0f us with few nodes, %.2f times that with %d" % (
                what, least[what, False] * 1e6, ratio, NODES))
            assert ratio < RATIO_MAX, (what, ratio, least)
        print("first answer after %.2f s" % first_answer)
        assert first_answer < 5, first_answer


if __name__ == "__main__":
    up.main(globals())
