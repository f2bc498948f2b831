#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth scheduler` and devices: its writes, conflicts, pods that are deleted meanwhile. The API
server, controllers and nodes are a `berth up --no-scheduler`."""
import contextlib
import json
import re
import threading

import daemon_harness as harness
import device_cluster as devices
import fault_proxy
import up

CONFLICT = fault_proxy.status_body(
    409, "Conflict", "the object has been modified; apply your changes to the latest version")


@contextlib.contextmanager
def scene(program, policy=None, gpus=(1, 2), resource=None, prepare=lambda api, nodes: None):
    """Creates nodes with devices, the class gpu, its extended resource, and a claim template.
    prepare(api, nodes) creates objects that the daemon lists when it starts. An object that is
    created later may arrive after a pod that needs it, since each kind has a separate watch."""
    with program.up("--no-scheduler", "--nodes", str(len(gpus)), "--pod-start-delay", "0s") as api:
        nodes = sorted(item["metadata"]["name"] for item in devices.items(api, "/api/v1/nodes"))
        devices.create(api, devices.GROUP + "/deviceclasses",
                       devices.device_class(resource=resource))
        devices.create(api, devices.GROUP + "/resourceslices",
                       *[devices.slice_of(node, count) for node, count in zip(nodes, gpus)])
        devices.create(api, devices.GROUP + "/namespaces/default/resourceclaimtemplates",
                       devices.template())
        prepare(api, nodes)
        proxy = fault_proxy.FaultProxy(api, policy)
        try:
            with harness.daemon(program, api, proxy=proxy,
                                config={"podInitialBackoffSeconds": 1}) as daemon:
                yield api, proxy, daemon
        finally:
            proxy.close()


def writes(proxy):
    """Methods and paths of writes, without names of claims."""
    made = re.compile(r"p\d*-gpu-\w+|e-extended-resources-\w+")
    return [(request.method, made.sub("CLAIM", request.path))
            for request in proxy.requests
            if request.method in ("PUT", "PATCH", "POST", "DELETE") and
            "/events" not in request.path and "review" not in request.path]


def check_writes(proxy, pod, expected):
    """Checks the order of writes. The nominated node is not part of the order: it is written on
    another connection, at any time before the binding."""
    found = writes(proxy)
    meant = ("PATCH", devices.PODS + "/%s/status" % pod)
    first = [json.loads(request.body) for request in proxy.requests
             if (request.method, request.path) == meant][0]
    assert first["status"]["nominatedNodeName"], first
    assert meant in found[:found.index(("POST", devices.PODS + "/%s/binding" % pod))], found
    found.remove(meant)
    assert found == expected, found


def make_pods(api, *names, **more):
    devices.create(api, devices.PODS, *[
        devices.pod(name, **(more or {"template_name": "one"})) for name in names])


def test_writes_in_order(program):
    with scene(program) as (api, proxy, daemon):
        make_pods(api, "p0")
        devices.wait_for_running(api, 1)
        check_writes(proxy, "p0", [
            ("PUT", devices.CLAIMS + "/CLAIM"), ("PUT", devices.CLAIMS + "/CLAIM/status"),
            ("POST", devices.PODS + "/p0/binding")])
        status = json.loads([request.body for request in proxy.requests
                             if request.path.endswith("/status") and request.method == "PUT"][0])
        assert status["kind"] == "ResourceClaim" and status["spec"], status
        assert status["metadata"]["annotations"] == {
            "resource.kubernetes.io/pod-claim-name": "gpu"}, status
        assert status["metadata"]["ownerReferences"][0]["blockOwnerDeletion"], status
        assert status["status"]["reservedFor"][0]["name"] == "p0", status
        assert devices.check_claims(api)
        make_pods(api, "p1", "p2", "p3")
        devices.wait_for_running(api, 3)
        daemon.wait_for_line("cannot allocate all claims")
        devices.delete(api, devices.PODS + "/p0")
        up.wait_for("the one that waited runs", lambda: [
            item for item in devices.items(api, devices.PODS)
            if item["metadata"]["name"] != "p0" and item["status"].get("phase") == "Running"] and
            len(devices.wait_for_running(api, 3)) == 3)
        assert len(devices.check_claims(api)) == 3


def test_conflicts(program):
    """A write conflicts because a driver or another client changed the claim: the daemon reads the
    claim and writes again."""
    refused = []

    def policy(request):
        if request.method == "PUT" and request.path.startswith(devices.CLAIMS):
            kind = request.path.endswith("/status")
            if refused.count(kind) < 2:
                refused.append(kind)
                return fault_proxy.Answer(409, CONFLICT, {"Content-Type": "application/json"})
        return None
    with scene(program, policy) as (api, proxy, _):
        make_pods(api, "p0")
        devices.wait_for_running(api, 1)
        assert sorted(refused) == [False, False, True, True], refused
        claim_calls = [request.method for request in proxy.requests
                       if request.path.startswith(devices.CLAIMS + "/")]
        assert claim_calls == ["PUT", "GET", "PUT", "GET", "PUT", "PUT", "GET", "PUT", "GET",
                               "PUT"], claim_calls
        assert len(devices.check_claims(api)) == 1
        devices.delete(api, devices.PODS + "/p0")
        devices.wait_for_no_claims(api)


def test_conflicts_without_end(program):
    """Every write conflicts: the attempt fails, no allocation stays behind, and the next attempt
    succeeds when the conflicts end."""
    state = {"refuses": True}

    def policy(request):
        if state["refuses"] and request.method == "PUT" and request.path.endswith("/status") and \
                request.path.startswith(devices.CLAIMS):
            return fault_proxy.Answer(409, CONFLICT, {"Content-Type": "application/json"})
        return None
    with scene(program, policy) as (api, _, daemon):
        make_pods(api, "p0")
        daemon.wait_for_line("add allocation and reservation to claim")
        state["refuses"] = False
        devices.wait_for_running(api, 1)
        assert len(devices.check_claims(api)) == 1


def test_pod_is_deleted_while_it_is_bound(program):
    """The pod is deleted before each write for its claim and before the binding: the device is
    free again."""
    for part in ("claim", "status", "binding"):
        gone, seen = threading.Event(), threading.Event()

        def policy(request, part=part, gone=gone, seen=seen):
            parts = {"claim": request.method == "PUT" and not request.path.endswith("/status"),
                     "status": request.method == "PUT" and request.path.endswith("/status"),
                     "binding": request.is_binding}
            if parts[part] and "/p0" in request.path and not gone.is_set() and \
                    "/leases" not in request.path:
                seen.set()
                return fault_proxy.Hold(gone)
            return None
        with scene(program, policy, gpus=(1,)) as (api, _, daemon):
            make_pods(api, "p0")
            up.wait_for("the write for " + part, seen.is_set)
            devices.delete(api, devices.PODS + "/p0")
            daemon.wait_for_line('"Delete event for')
            gone.set()
            devices.wait_for_no_claims(api)
            # Create the next pod only after the end of the attempt. If the next pod were rejected
            # earlier, it would stay unschedulable, because the end of the attempt requeues no pod
            # if the claim is deleted (spec 12 section 16).
            daemon.wait_for_line("Error scheduling pod; retrying")
            make_pods(api, "q0")
            devices.wait_for_running(api, 1, prefix="q")
            assert len(devices.check_claims(api)) == 1
            assert daemon.is_running()


def test_shared_claim_of_a_driver(program):
    """The driver's status of an allocated claim stays when another pod is added to reservedFor."""
    def prepare(api, _nodes):
        devices.create(api, devices.CLAIMS, devices.claim("both"))
    with scene(program, prepare=prepare) as (api, proxy, _):
        make_pods(api, "a", claim_name="both")
        devices.wait_for_running(api, 1)
        _, found = api.json("GET", devices.CLAIMS + "/both")
        result = found["status"]["allocation"]["devices"]["results"][0]
        said = {"driver": result["driver"], "pool": result["pool"], "device": result["device"],
                "data": {"mac": [1.50, {"x": None}]}, "networkData": {"interfaceName": "eth7"}}
        devices.change(api, "PATCH", devices.CLAIMS + "/both/status",
                       {"status": {"devices": [said]}})
        del proxy.requests[:]
        make_pods(api, "b", claim_name="both")
        devices.wait_for_running(api, 2)
        _, found = api.json("GET", devices.CLAIMS + "/both")
        assert len(found["status"]["reservedFor"]) == 2, found
        assert found["status"]["devices"] == [said], found
        # A set, because the scheduler may write twice: if pod b arrived before the scheduler saw
        # the driver's status, the first write is a conflict.
        assert {call for call in writes(proxy) if "resourceclaims" in call[1]} == {
            ("PUT", devices.CLAIMS + "/both/status")}, writes(proxy)


def allocate_elsewhere(api, nodes):
    """Allocates a device of the first node to claim c."""
    first = nodes[0]
    path = devices.CLAIMS + "/c"
    devices.create(api, devices.CLAIMS, devices.claim("c"))
    devices.change(api, "PATCH", path, {"metadata": {"finalizers": [devices.FINALIZER]}})
    devices.change(api, "PATCH", path + "/status", {"status": {"allocation": {
        "devices": {"results": [{"request": "gpu", "driver": "gpu.example.com", "pool": first,
                                 "device": "gpu-0"}]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": [first]}]}]}}}})


def make_pod_of_the_second(api):
    """Creates pod p, which needs claim c and must run on the second node. Returns the name of the
    node."""
    second = max(item["metadata"]["name"] for item in devices.items(api, "/api/v1/nodes"))
    waiting = devices.pod("p", claim_name="c")
    waiting["spec"]["nodeSelector"] = {"kubernetes.io/hostname": second}
    devices.create(api, devices.PODS, waiting)
    return second


def test_useless_allocation_is_taken_back(program):
    with scene(program, prepare=allocate_elsewhere) as (api, proxy, _):
        node = make_pod_of_the_second(api)
        devices.wait_for_running(api, 1)
        assert list(devices.check_claims(api)) == [node + "/gpu-0"]
        put = [request for request in proxy.requests
               if request.method == "PUT" and request.path == devices.CLAIMS + "/c/status"]
        assert [json.loads(request.body)["status"] == {} for request in put] == [True, False]


def test_stop_while_the_server_does_not_answer(program):
    """PostFilter waits for the answer to its write, but a signal still ends the process."""
    seen = threading.Event()

    def policy(request):
        if request.method == "PUT" and request.path == devices.CLAIMS + "/c/status":
            seen.set()
            return fault_proxy.Delay(3600)
        return None
    with scene(program, policy, prepare=allocate_elsewhere) as (api, _, daemon):
        make_pod_of_the_second(api)
        up.wait_for("the write", seen.is_set)
        daemon.process.terminate()
        daemon.process.wait(60)


def test_extended_resource(program):
    with scene(program, resource="example.com/gpu") as (api, proxy, _):
        make_pods(api, "e", resources={"example.com/gpu": "2"})
        devices.wait_for_running(api, 1)
        check_writes(proxy, "e", [
            ("POST", devices.CLAIMS), ("PUT", devices.CLAIMS + "/CLAIM"),
            ("PUT", devices.CLAIMS + "/CLAIM/status"), ("PATCH", devices.PODS + "/e/status"),
            ("POST", devices.PODS + "/e/binding")])
        assert len(devices.check_claims(api)) == 2
        devices.delete(api, devices.PODS + "/e")
        devices.wait_for_no_claims(api)


if __name__ == "__main__":
    up.main(globals())
