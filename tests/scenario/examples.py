#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of examples/ give the results that their texts claim; guide.py runs the commands of
their README."""
import os

import scenario


def example(name):
    return os.path.join(scenario.EXAMPLES, name)


def test_every_file_is_named_in_the_readme(program):
    del program
    with open(example("README.md"), encoding="utf-8") as file:
        text = file.read()
    for name in os.listdir(scenario.EXAMPLES):
        assert name == "README.md" or name in text, name


def test_cluster(program):
    answer = program.run("simulate", "-f", example("cluster.yaml"), "-o", "json").expect(1)
    pending = {name: pod["reason"] for name, pod in answer.pods().items() if pod["node"] == ""}
    assert pending == {
        "research/too-large": "Unschedulable",
        "research/wants-arm": "Unschedulable",
        "research/gpu-without-toleration": "Unschedulable",
        "research/gated": "SchedulingGated",
        "research/other-scheduler": "NotHandled",
    }, pending
    placed = [pod for pod in answer.json()["pods"] if pod["node"] != ""]
    assert len(placed) == 18
    nodes = {node["name"]: node for node in answer.json()["nodes"]}
    assert len(nodes) == 6
    assert sum(node["pods"]["requested"] for node in nodes.values()) == 18 + 3
    assert nodes["node-c2-gpu"]["resources"]["nvidia.com/gpu"] == {"requested": 2, "allocatable": 4}
    cordoned = [pod["name"] for pod in placed if pod["node"] == "node-b2"]
    assert len(cordoned) == 1 and cordoned[0].startswith("node-agent-"), cordoned


def test_scheduler_config(program):
    answer = program.run("simulate", "-f", example("cluster.yaml"), "--config",
                         example("scheduler-config.yaml"), "-o", "json").expect(1)
    assert answer.pods()["research/other-scheduler"]["reason"] == "Scheduled"


if __name__ == "__main__":
    scenario.main(globals())
