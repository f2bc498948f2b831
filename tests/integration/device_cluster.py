# SPDX-License-Identifier: Apache-2.0
"""Devices, claims and pods for tests of dynamic resource allocation."""
import json

import up

GROUP = "/apis/resource.k8s.io/v1"
CLAIMS = GROUP + "/namespaces/default/resourceclaims"
PODS = "/api/v1/namespaces/default/pods"
FINALIZER = "resource.kubernetes.io/delete-protection"


def device_class(name="gpu", resource=None):
    spec = {"selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}]}
    if resource:
        spec["extendedResourceName"] = resource
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
            "metadata": {"name": name}, "spec": spec}


def slice_of(node, devices):
    """Returns a ResourceSlice with devices gpu-0, gpu-1, ... of a node."""
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": node + "-gpus"},
            "spec": {"driver": "gpu.example.com", "nodeName": node,
                     "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                     "devices": [{"name": "gpu-%d" % i} for i in range(devices)]}}


def request(count=1):
    return {"devices": {"requests": [
        {"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": count}}]}}


def template(name="one", count=1):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"name": name}, "spec": {"spec": request(count)}}


def claim(name):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": name}, "spec": request()}


def pod_spec(template_name=None, claim_name=None, resources=None):
    spec = {"terminationGracePeriodSeconds": 0, "containers": [
        {"name": "c", "image": "registry.example/pause:3.9"}]}
    if resources:
        spec["containers"][0]["resources"] = {"requests": resources, "limits": resources}
        return spec
    entry = {"name": "gpu"}
    if template_name:
        entry["resourceClaimTemplateName"] = template_name
    else:
        entry["resourceClaimName"] = claim_name
    spec["resourceClaims"] = [entry]
    spec["containers"][0]["resources"] = {"claims": [{"name": "gpu"}]}
    return spec


def pod(name, **more):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "x"}},
            "spec": pod_spec(**more)}


def create(api, path, *documents):
    for document in documents:
        status, answer = api.json("POST", path, document)
        assert status == 201, answer


def items(api, path):
    status, found = api.json("GET", path)
    assert status == 200, found
    return found["items"]


def devices_of(found):
    """Returns "pool/device" for each device that is allocated to the claim."""
    results = found.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    return [result["pool"] + "/" + result["device"] for result in results]


def check_claims(api):
    """Asserts that no device is in two claims, that pods run where their devices are, and that
    claims are reserved for existing pods. Returns the devices in use."""
    pods = {item["metadata"]["uid"]: item for item in items(api, PODS)}
    used = {}
    for found in items(api, CLAIMS):
        name = found["metadata"]["name"]
        for device in devices_of(found):
            assert device not in used, "%s is in %s and %s" % (device, used[device], name)
            used[device] = name
        for consumer in found.get("status", {}).get("reservedFor", []):
            assert consumer["uid"] in pods, (name, consumer)
            node = pods[consumer["uid"]]["spec"].get("nodeName")
            for device in devices_of(found):
                assert node in (None, device.split("/")[0]), (name, device, node)
        if devices_of(found):
            assert FINALIZER in found["metadata"].get("finalizers", []), found
    return used


def wait_for_running(api, count, seconds=60, prefix=""):
    """Waits until this many pods run, and returns the pods."""
    def running():
        found = [item for item in items(api, PODS)
                 if item["metadata"]["name"].startswith(prefix) and
                 item["status"].get("phase") == "Running" and
                 "deletionTimestamp" not in item["metadata"]]
        return found if len(found) == count else None
    return up.wait_for("%d pods %s* run" % (count, prefix), running, seconds)


def wait_for_no_claims(api):
    up.wait_for("no claims", lambda: not items(api, CLAIMS))


def change(api, method, path, document):
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    status, _, text = api.request(method, path, json.dumps(document).encode(),
                                  headers={"Content-Type": kind})
    assert status in (200, 201), text


def delete(api, path):
    status, _, text = api.request("DELETE", path)
    assert status in (200, 202), text
