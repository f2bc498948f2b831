#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth simulate with resource claims: allocated devices, pending pods, released devices."""
import scenario
from objects import lines, node, pod

API = "resource.k8s.io/v1"
DEVICE_CLASS = {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {
    "selectors": [{"cel": {"expression": 'device.driver == "d.example"'}}]}}


def devices(node_name, *names):
    """A ResourceSlice with devices of a node; the attribute "model" is the device's name."""
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": "s-" + node_name},
            "spec": {"driver": "d.example", "nodeName": node_name,
                     "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1},
                     "devices": [{"name": name, "attributes": {"model": {"string": name}}}
                                 for name in names]}}


def claim(name, expression=None, count=1):
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    if expression is not None:
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": {
        "name": name, "namespace": "default"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}


def user(name, claim_name, **spec):
    """A pod that uses a claim."""
    made = pod(name)
    made["spec"].update(
        spec, resourceClaims=[{"name": "device", "resourceClaimName": claim_name}])
    return made


def test_a_device_goes_to_one_claim(program):
    answer = program.simulate(lines(
        node("n1"), node("n2"), DEVICE_CLASS, devices("n1", "a"), devices("n2", "b"),
        claim("c1"), claim("c2"), claim("c3"),
        user("p1", "c1"), user("p2", "c2"), user("p3", "c3"))).expect(1)
    pods = answer.pods()
    assert {pods["default/p1"]["node"], pods["default/p2"]["node"]} == {"n1", "n2"}, pods
    assert pods["default/p3"]["message"].startswith(
        "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, "), pods


def test_a_selector_says_which_device(program):
    answer = program.simulate(lines(
        node("n1"), node("n2"), DEVICE_CLASS, devices("n1", "a"), devices("n2", "b"),
        claim("c", 'device.attributes["d.example"].model == "b"'), user("p", "c"))).expect(0)
    assert answer.pods()["default/p"]["node"] == "n2"


def test_pods_share_a_claim_on_its_node(program):
    answer = program.simulate(lines(
        node("n1"), node("n2"), DEVICE_CLASS, devices("n2", "b"), claim("c"),
        user("p1", "c"), user("p2", "c"))).expect(0)
    assert {found["node"] for found in answer.pods().values()} == {"n2"}


def test_an_allocation_in_vain_is_taken_back(program):
    """PostFilter deallocates a claim whose device is on a node where its pod cannot run."""
    held = claim("held")
    held["status"] = {"allocation": {
        "devices": {"results": [
            {"request": "r", "driver": "d.example", "pool": "n1", "device": "a"}]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}}
    answer = program.simulate(lines(
        node("n1"), node("n2", labels={"disk": "ssd"}), DEVICE_CLASS, devices("n1", "a"),
        held, claim("other"),
        user("first", "held", nodeSelector={"disk": "ssd"}), user("second", "other"))).expect(1)
    pods = answer.pods()
    # The retry at the end fails: the claim is deallocated, and n2 has no device for it.
    assert "1 cannot allocate all claims" in pods["default/first"]["message"], pods
    assert pods["default/second"]["node"] == "n1", pods


def test_an_expression_that_fails_is_an_error(program):
    answer = program.simulate(lines(
        node("n1"), DEVICE_CLASS, devices("n1", "a"),
        claim("c", 'device.attributes["d.example"].none == "b"'), user("p", "c"))).expect(1)
    found = answer.pods()["default/p"]
    assert found["reason"] == "SchedulerError", found
    assert found["message"].endswith("CEL runtime error: no such key: none"), found


if __name__ == "__main__":
    scenario.main(globals())
