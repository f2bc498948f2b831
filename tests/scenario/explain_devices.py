#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth explain of pods with resource claims: numbers, texts, proposals."""
import os
import re

import scenario
from devices import API, DEVICE_CLASS, claim, devices, user
from objects import lines, node, pod

EXAMPLE = os.path.join(scenario.EXAMPLES, "devices.yaml")


def explain(program, text, *arguments, output="json", **more):
    return program.run("explain", "-f", "-", "-o", output, *arguments, stdin=text, **more)


def held(name, node_name, device, pod_name):
    """An allocated claim, and a running pod that uses it."""
    made = claim(name)
    made["metadata"]["uid"] = "uid-" + name
    made["status"] = {
        "allocation": {
            "devices": {"results": [{"request": "r", "driver": "d.example", "pool": node_name,
                                     "device": device}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{
                "key": "metadata.name", "operator": "In", "values": [node_name]}]}]}},
        "reservedFor": [{"resource": "pods", "name": pod_name, "uid": "uid-" + pod_name}]}
    holder = user(pod_name, name, nodeName=node_name)
    holder["metadata"]["uid"] = "uid-" + pod_name
    return [made, holder]


def requests_of(answer, name):
    found = [item for item in answer["nodes"] if item["name"] == name]
    return found[0]["obstacles"][0]["devices"]["requests"]


def test_example(program):
    asked = ["explain", "training-2", "-f", EXAMPLE, "--after-queue"]
    answer = program.run(*asked, "-o", "json").expect(1).json()
    gpu_a, gpu_b = (requests_of(answer, name)[0] for name in ("gpu-a", "gpu-b"))
    assert gpu_a["wanted"] == 2 and gpu_a["devices"] == 3, gpu_a
    assert gpu_a["usable"] == 1 and gpu_a["inUse"] == 2, gpu_a
    assert gpu_b["usable"] == 0 and gpu_b["refusedByClass"] == 3, gpu_b
    assert gpu_b["selector"].startswith('device.driver == "gpu.example.com" && device.'), gpu_b
    assert requests_of(answer, "plain")[0]["devices"] == 0, answer
    assert [change["type"] for change in answer["proposals"][0]["changes"]] == ["RemovePod"]
    answer = program.run(*asked[:-1]).expect(0)
    assert answer.out.startswith("Pod research/training-2 fits on 1 of 3 nodes: gpu-a."), answer.out


def test_deleted_pods_give_devices_back(program):
    text = lines(node("n1"), node("n2"), DEVICE_CLASS, devices("n1", "a", "b"),
                 *held("h", "n1", "a", "x"), *held("i", "n1", "b", "y"), claim("c"),
                 user("p", "c"))
    answer = explain(program, text).expect(1).json()
    assert [change["pod"]["name"] for change in answer["proposals"][0]["changes"]] in (["x"], ["y"])
    assert requests_of(answer, "n1")[0]["inUse"] == 2


def test_running_pods_give_theirs_back(program):
    """A running pod is explained as if it were pending and its devices were free."""
    text = lines(node("n1"), node("n2"), DEVICE_CLASS, devices("n1", "a"), devices("n2", "b"),
                 *held("h", "n1", "a", "x"))
    answer = explain(program, text, "x").expect(0).json()
    assert answer["feasibleCount"] == 2, answer


def test_claims_that_are_not_ready(program):
    text = lines(node("n1"), user("p", "c"))
    table = explain(program, text, output="table").expect(1).out
    assert "ResourceClaim default/c does not exist: create it" in table, table
    text = lines(node("n1"), claim("c"), user("p", "c"))
    table = explain(program, text, output="table").expect(1).out
    assert "DeviceClass gpu does not exist: create it, or let request r of claim c" in table, table
    made = pod("p")
    made["spec"]["resourceClaims"] = [{"name": "d", "resourceClaimTemplateName": "t"}]
    table = program.run("explain", "-f", "-", stdin=lines(node("n1"), made)).expect(1).out
    assert "ResourceClaimTemplate default/t does not exist: create it" in table, table


def test_large_cluster(program):
    names = ["n%04d" % i for i in range(5000)]
    text = lines(*[node(name) for name in names], DEVICE_CLASS,
                 *[devices(name, "a", "b") for name in names[:4000]],
                 claim("c", 'device.attributes["d.example"].model == "a"', count=2),
                 user("p", "c"))
    answer = explain(program, text, output="table", verify=False).expect(1)
    assert "fits on none of 5,000 nodes: 5,000 lack devices for its claims." in answer.out
    assert " and 3,997 more: request r of claim c wants 2 and can have 1 of 2 devices, 1 is not " \
        "what the request selects (device.attributes[\"d.example\"].model == \"a\")" in answer.out
    assert " and 997 more: request r of claim c finds no devices here" in answer.out, answer.out
    assert len(answer.out) < 3000, answer.out


def test_hostile_texts(program):
    """Expressions and names may be long and have any bytes."""
    bad = "x\x1b[2J\u202e"
    text = lines(node("n1"), DEVICE_CLASS, devices("n1", "a"),
                 claim("c", " ||\n".join(['"%s" == ""' % bad] * 400)), user("p", "c"))
    for output in ("table", "wide"):
        shown = explain(program, text, output=output).expect(1).out
        assert all(byte == "\n" or byte.isprintable() for byte in shown), shown
        assert "x\\x1b[2J\\u202e" in shown and len(shown) < 2000, shown
    assert len(requests_of(explain(program, text).expect(1).json(), "n1")[0]["selector"]) < 200
    broken = {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {
        "selectors": [{"cel": {"expression": "device.attributes[\"no\"].no"}}]}}
    text = lines(node("n1"), broken, devices("n1", "a"), claim("c"), user("p", "c"))
    shown = explain(program, text, output="table").expect(1).out
    assert re.search("The scheduler says:\n  .*selector #0: .*no such key: no", shown), shown


if __name__ == "__main__":
    scenario.main(globals())
