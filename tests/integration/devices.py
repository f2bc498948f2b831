#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kubectl and devices: classes, slices, templates, claims and pods in one `berth up`. Usage: as
kubectl.py."""
import json
import os
import sys

import device_cluster as devices
import kubectl as session
import up
from kubectl import column, json_of, kubectl, rows

FLAGS = ["--nodes", "3", "--pod-start-delay", "0s"]


def apply(cluster, *documents):
    listed = {"apiVersion": "v1", "kind": "List", "items": list(documents)}
    kubectl(cluster, "apply", "-f", "-", stdin=json.dumps(listed))


def node_names(cluster):
    return sorted(item["metadata"]["name"] for item in json_of(cluster, "get", "nodes")["items"])


def deployment(name, replicas, **more):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": devices.pod_spec(**more)}}}


def test_pods_run_where_their_devices_are(cluster):
    nodes = node_names(cluster)
    apply(cluster, devices.device_class(), devices.template(),
          devices.slice_of(nodes[0], 1), devices.slice_of(nodes[1], 2))
    apply(cluster, deployment("work", 3, template_name="one"))
    kubectl(cluster, "rollout", "status", "deploy/work", "--timeout=60s")
    found = devices.wait_for_running(cluster, 3)
    assert sorted(item["spec"]["nodeName"] for item in found) == sorted(
        [nodes[0], nodes[1], nodes[1]])
    assert sorted(devices.check_claims(cluster)) == sorted(
        [nodes[0] + "/gpu-0", nodes[1] + "/gpu-0", nodes[1] + "/gpu-1"])


def test_what_kubectl_shows(cluster):
    table = kubectl(cluster, "get", "resourceclaims")
    assert rows(table)[0][:2] == ["NAME", "STATE"], table
    assert set(column(table, "STATE").values()) == {"allocated,reserved"}, table
    table = kubectl(cluster, "get", "resourceslices")
    assert set(column(table, "DRIVER").values()) == {"gpu.example.com"}, table
    name = rows(kubectl(cluster, "get", "resourceclaims"))[1][0]
    assert "gpu.example.com" in kubectl(cluster, "describe", "resourceclaim", name)
    assert "gpu" in column(kubectl(cluster, "get", "deviceclasses"), "AGE")
    refused = kubectl(cluster, "create", "-f", "-", status=1, stdin=json.dumps(
        dict(devices.device_class("bad"), spec={"selectors": [{"cel": {"expression": "1 +"}}]})))
    assert "spec.selectors[0].cel.expression: Invalid value" in refused, refused
    assert "compilation failed" in refused, refused


def test_devices_pass_on(cluster):
    """A pod for which no device is free waits until other pods end."""
    apply(cluster, deployment("late", 1, template_name="one"))
    up.wait_for("a pod that waits", lambda: "cannot allocate all claims" in kubectl(
        cluster, "get", "events"))
    kubectl(cluster, "scale", "deploy/work", "--replicas=2")
    kubectl(cluster, "rollout", "status", "deploy/late", "--timeout=60s")
    devices.wait_for_running(cluster, 3)
    assert len(devices.check_claims(cluster)) == 3
    kubectl(cluster, "delete", "deploy", "--all")
    devices.wait_for_no_claims(cluster)


def test_finished_pods_give_back(cluster):
    short = devices.pod("short", template_name="one")
    short["metadata"]["annotations"] = {"berth.dev/run-time": "0s"}
    short["spec"]["restartPolicy"] = "Never"
    apply(cluster, short)
    up.wait_for("it is over", lambda: column(
        kubectl(cluster, "get", "pods"), "STATUS")["short"] == "Completed")
    devices.wait_for_no_claims(cluster)
    kubectl(cluster, "delete", "pod", "short")


def test_shared_claim(cluster):
    """Two pods share a claim and run on the same node. When the pods are deleted, the claim stays
    and its device is free."""
    apply(cluster, devices.claim("both"), devices.pod("a", claim_name="both"),
          devices.pod("b", claim_name="both"))
    found = devices.wait_for_running(cluster, 2)
    assert len({item["spec"]["nodeName"] for item in found}) == 1
    shared = json_of(cluster, "get", "resourceclaim", "both")
    assert len(shared["status"]["reservedFor"]) == 2, shared
    assert len(devices.check_claims(cluster)) == 1
    kubectl(cluster, "delete", "pods", "a", "b")
    up.wait_for("the claim is free", lambda: column(kubectl(
        cluster, "get", "resourceclaims"), "STATE")["both"] == "pending")
    freed = json_of(cluster, "get", "resourceclaim", "both")
    assert not freed["metadata"].get("finalizers"), freed
    kubectl(cluster, "delete", "resourceclaim", "both")
    devices.wait_for_no_claims(cluster)


def test_extended_resource(cluster):
    apply(cluster, devices.device_class("gpu", "example.com/gpu"))
    apply(cluster, devices.pod("plain", resources={"example.com/gpu": "2"}))
    devices.wait_for_running(cluster, 1)
    shown = json_of(cluster, "get", "pod", "plain")["status"]["extendedResourceClaimStatus"]
    assert shown["requestMappings"] == [
        {"containerName": "c", "resourceName": "example.com/gpu",
         "requestName": "container-0-request-0"}], shown
    special = json_of(cluster, "get", "resourceclaim", shown["resourceClaimName"])
    assert special["metadata"]["annotations"] == {
        "resource.kubernetes.io/extended-resource-claim": "true"}, special
    assert len(devices.check_claims(cluster)) == 2
    kubectl(cluster, "delete", "pod", "plain")
    devices.wait_for_no_claims(cluster)


def test_example(program):
    path = os.path.join(os.path.dirname(__file__), "../../examples/devices.yaml")
    with program.up("-f", path, "--pod-start-delay", "0s") as cluster:
        def settled():
            found = column(kubectl(cluster, "get", "pods", "-n", "research"), "STATUS")
            return found if list(found.values()).count("Running") == 4 else None
        assert up.wait_for("four pods run", settled)["training-2"] == "Pending"
        table = kubectl(cluster, "get", "pod", "-n", "research", "training", "-o", "wide")
        assert column(table, "NODE") == {"training": "gpu-a"}, table
        claims = json_of(cluster, "get", "resourceclaims", "-n", "research")["items"]
        training = [devices.devices_of(item) for item in claims
                    if item["metadata"]["name"].startswith("training-gpus")]
        assert training == [["gpu-a/gpu-1", "gpu-a/gpu-2"]], training


if __name__ == "__main__":
    if session.KUBECTL is None:
        print("Debian's kubernetes-client cannot be downloaded")
        sys.exit(up.SKIPPED)
    up.main(globals())
