#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth import manifests`: what is there at the start, what arrives, and when."""
import json
import os

import scenario

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: v1
kind: Pod
metadata: {name: running}
spec: {nodeName: n1, containers: [{name: c, image: x}]}
---
apiVersion: v1
kind: Pod
metadata: {name: late, annotations: {berth.dev/arrives-after: 90s, berth.dev/run-time: 10m}}
spec: {priorityClassName: high, containers: [{name: c, image: x}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 200
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x}]}
"""


def recorded(program, name, *flags, cluster=CLUSTER):
    """(the first line, the others, the text)"""
    path = os.path.join(program.folder, name)
    program.run("import", "manifests", program.write("cluster.yaml", cluster), "-o", path,
                "--no-gzip", *flags).expect(0)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = [json.loads(line) for line in text.splitlines()]
    return lines[0], lines[1:], text


def test_pods_with_a_node_are_there_and_others_arrive(program):
    header, lines, _ = recorded(program, "a.berthrec", "--arrivals", "poisson:2/s")
    start = lines[:header["objects"]]
    assert all(line["t"] == 0 for line in start), start
    names = {(line["add"]["kind"], line["add"]["metadata"]["name"]) for line in start}
    assert {("Node", "n1"), ("PriorityClass", "high"), ("Pod", "running"),
            ("Deployment", "web")} <= names, names
    pods = lines[header["objects"]:-1]
    assert len(pods) == 201 and lines[-1]["end"], len(pods)
    times = [line["t"] for line in pods]
    assert times == sorted(times) and len(set(times)) == 201
    late = [line for line in pods if line["add"]["metadata"]["name"] == "late"]
    assert late[0]["t"] == 90 and late[0]["runs"] == 600, late
    assert late[0]["add"]["spec"]["priority"] == 1000, late
    # 200 pods at 2 a second: 100 s, with a standard deviation of 7.
    last = max(line["t"] for line in pods if line not in late)
    assert 65 < last < 135, last


def test_the_seed_decides(program):
    flags = ["--arrivals", "poisson:30/m"]
    first = recorded(program, "a.berthrec", *flags)[2]
    assert first == recorded(program, "b.berthrec", *flags)[2]
    assert first != recorded(program, "c.berthrec", *flags, "--seed", "1")[2]


def test_without_arrivals_all_come_at_once(program):
    header, lines, _ = recorded(program, "a.berthrec")
    times = {line["t"] for line in lines[header["objects"]:-1]}
    assert times == {0, 90}, times


def test_mistakes(program):
    path = program.write("cluster.yaml", CLUSTER.replace("90s", "soon"))
    done = program.run("import", "manifests", path, "-o", os.path.join(program.folder, "x"))
    assert "Pod default/late: annotation berth.dev/arrives-after: " in done.expect(2).err, done.err
    for flags, part in [
            (["manifests", path, "--arrivals", "poisson:0/s", "-o", "x"], "--arrivals: must be"),
            (["alibaba-gpu-2023", path, "--arrivals", "poisson:1/s", "-o", "x"],
             "only manifests have no times of their own"),
            (["borg", path, "-o", "x"], 'no source is called "borg"'),
            (["manifests", path], "name the recording: -o FILE.berthrec"),
            (["manifests"], "name the kind of source and its files")]:
        done = program.run("import", *flags).expect(2)
        assert part in done.err, (flags, done.err)


if __name__ == "__main__":
    scenario.main(globals())
