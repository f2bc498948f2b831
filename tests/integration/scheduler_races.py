#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth scheduler` under concurrent changes: pods that are deleted during binding or while the
watch is down, lists that are refused half way; and the order of the writes for preemption,
events and volumes."""
import contextlib
import json
import re
import signal
import time

import daemon_harness as harness
import fault_proxy
import up

AS_JSON = {"clientConnection": {"contentType": "application/json"}}
PODS = "/api/v1/pods"
EXPIRED = fault_proxy.status_body(410, "Expired", "too old resource version: 1 (2)")


@contextlib.contextmanager
def running(program, api, policy, **more):
    proxy = fault_proxy.FaultProxy(api, policy)
    try:
        with harness.daemon(program, api, proxy=proxy, **more) as daemon:
            yield proxy, daemon
    finally:
        proxy.close()


@contextlib.contextmanager
def scene(program, policy=None, nodes=4, cpu="16", **more):
    with harness.server(program) as api:
        harness.make_nodes(api, nodes, cpu)
        with running(program, api, policy, **more) as (proxy, daemon):
            yield api, proxy, daemon


def delete(api, name):
    status, _, text = api.request(
        "DELETE", harness.PODS + "/" + name + "?gracePeriodSeconds=0")
    assert status == 200, text


def check_cache(daemon):
    """Makes the daemon compare its cache with the server's objects, and asserts that they agree."""
    time.sleep(1)
    daemon.process.send_signal(signal.SIGUSR2)
    daemon.wait_for_line("Dump of scheduling queue")
    assert "Cache mismatch" not in daemon.output(), daemon.output()[-4000:]


def test_pods_are_replaced_while_they_are_bound(program):
    def policy(request):
        return fault_proxy.Delay(1) if request.is_binding and slow else None
    slow = True
    with scene(program, policy) as (api, proxy, daemon):
        harness.make_pods(api, "p", 10)
        up.wait_for("bindings under way", lambda: [
            request for request in proxy.requests if request.is_binding])
        old = {item["metadata"]["uid"] for item in harness.list_pods(api)}
        for i in range(10):
            delete(api, "p%d" % i)
            if i % 2 == 0:
                harness.change(api, "POST", harness.PODS, harness.pod("p%d" % i))
        witness = harness.Bindings(api)
        time.sleep(1.5)
        slow = False
        found = harness.wait_until_bound(api, 5)
        assert not old & {item["metadata"]["uid"] for item in found}
        witness.finish()
        check_cache(daemon)


def test_pods_are_replaced_without_a_watch(program):
    """The watch misses deletions, and new pods have the names of the deleted pods: the scheduler
    must still know how much of each node is in use."""
    def policy(request):
        if blind:
            return fault_proxy.Answer(410, EXPIRED) if "sendInitialEvents" not in \
                request.query and request.is_watch else fault_proxy.CutBefore()
        return None
    blind = False
    with scene(program, policy, nodes=2, cpu="4") as (api, proxy, daemon):
        harness.make_pods(api, "p", 8, cpu="1")  # all nodes are full
        harness.wait_until_bound(api, 8)
        blind = True
        proxy.cut_everything()
        time.sleep(0.5)
        for i in range(6):
            delete(api, "p%d" % i)
        for i in range(4):
            harness.change(api, "POST", harness.PODS, harness.pod("p%d" % i, "1"))
        harness.make_pods(api, "q", 4, cpu="1")
        blind = False
        found = harness.wait_until_bound(api, 8)
        used = {"n0": 0, "n1": 0}
        for item in found:
            used[harness.node_of(item)] += int(
                item["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        assert used == {"n0": 4, "n1": 4}, used
        check_cache(daemon)


def test_streaming_lists_expire_half_way(program):
    """The server sends 410 as an answer or as an event, within a streaming list or instead of the
    list."""
    asked = {}

    def policy(request):
        if not request.is_watch and request.path != PODS:
            return None
        turns = asked.setdefault(request.path, [])
        turns.append(request.query)
        if len(turns) == 1:
            return fault_proxy.Answer(410, EXPIRED)
        if len(turns) == 2:
            return fault_proxy.CutWithin(half)
        if len(turns) == 3:
            return fault_proxy.Answer(200, b'{"type":"ERROR","object":' + EXPIRED + b"}\n")
        return None
    with harness.server(program) as api:
        harness.make_nodes(api, 4)
        harness.make_pods(api, "p", 20)
        # The cut leaves some pods and drops others, whatever size the server's pods have. After a
        # stream without a single event the daemon requests a paged list instead of a stream.
        half = len(api.request("GET", PODS, headers={
            "Accept": "application/vnd.kubernetes.protobuf"})[2]) // 2
        with running(program, api, policy) as (_, daemon):
            harness.wait_until_bound(api, 20)
            check_cache(daemon)
    # The fourth stream may end, too; a plain watch continues it.
    streamed = ["sendInitialEvents" in query for query in asked[PODS]]
    assert streamed == [True] * 4 + [False] * (len(streamed) - 4), asked[PODS]
    assert all("watch=true" in query for query in asked[PODS]), asked[PODS]


def test_nodes_vanish_under_bindings(program):
    def policy(request):
        return fault_proxy.Delay(0.7) if request.is_binding else None
    with scene(program, policy, nodes=3) as (api, proxy, daemon):
        harness.make_pods(api, "p", 12)
        up.wait_for("bindings under way", lambda: [
            request for request in proxy.requests if request.is_binding])
        api.request("DELETE", "/api/v1/nodes/n0")
        witness = harness.Bindings(api)
        harness.wait_until_bound(api, 12)
        harness.make_pods(api, "late", 6)
        late = harness.wait_until_bound(api, 6, prefix="late")
        assert {harness.node_of(item) for item in late} <= {"n1", "n2"}
        witness.finish()
        assert daemon.is_running()


def test_preemption_in_order(program):
    """The preemptor is nominated; each victim gets the condition, the deletion and the event."""
    with scene(program, nodes=1, cpu="2", config=AS_JSON) as (api, proxy, _):
        harness.make_pods(api, "low", 2, cpu="1")
        harness.wait_until_bound(api, 2)
        before = len(proxy.requests)
        high = harness.pod("high", "2", priority=1000, priorityClassName="high")
        harness.change(api, "POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": "high"}, "value": 1000})
        harness.change(api, "POST", harness.PODS, high)

        def gone():
            names = {item["metadata"]["name"] for item in harness.list_pods(api)
                     if "deletionTimestamp" not in item["metadata"]}
            return names == {"high"}
        up.wait_for("the victims are leaving", gone)
        up.wait_for("events", lambda: len([
            request for request in proxy.requests[before:]
            if b'"Preempted"' in request.body]) == 2)
        writes = [request for request in proxy.requests[before:] if request.method != "GET"]
        steps = [(request.method, request.path.replace(harness.PODS, "")) for request in writes]
        nominated = steps.index(("PATCH", "/high/status"))
        assert b'"nominatedNodeName":"n0"' in writes[nominated].body, writes[nominated].body
        for name in ("low0", "low1"):
            patched = steps.index(("PATCH", "/%s/status" % name))
            deleted = steps.index(("DELETE", "/" + name))
            told = [at for at, request in enumerate(writes) if b'"Preempted"' in request.body
                    and ('"name":"%s"' % name).encode() in request.body][0]
            assert nominated < patched < deleted < told, steps
            assert writes[deleted].body == b'{"kind":"DeleteOptions","apiVersion":"v1"}'
            assert re.fullmatch(
                r'{"status":{"\$setElementOrder/conditions":\[{"type":"PodScheduled"},{"type":'
                r'"DisruptionTarget"}\],"conditions":\[{"lastProbeTime":null,'
                r'"lastTransitionTime":"[^"]+","message":"default-scheduler: preempting to '
                r'accommodate a higher priority pod",("observedGeneration":1,)?"reason":'
                r'"PreemptionByScheduler","status":"True","type":"DisruptionTarget"}\]}}',
                writes[patched].body.decode()), writes[patched].body
            note = json.loads(writes[told].body)
            assert "related" not in note and note["type"] == "Normal"
            assert re.fullmatch(r"Preempted by pod [0-9a-f-]{36} on node n0", note["note"])
        for name in ("low0", "low1"):
            delete(api, name)
        harness.wait_until_bound(api, 1, prefix="high")


def test_failures_become_a_series(program):
    """Edge case 11b 25: if an attempt fails as before, the daemon writes a second event; after more
    such failures it only raises the count of this event."""
    with scene(program, nodes=1, config=AS_JSON) as (api, proxy, _):
        harness.make_pods(api, "big", 1, cpu="100")

        def writes(method):
            return [json.loads(request.body) for request in list(proxy.requests)
                    if request.method == method and "/events" in request.path]

        def helps_not(count):
            """Adds a node that is large enough but has a taint, so that the attempt fails again."""
            api.request("DELETE", "/api/v1/nodes/large")
            harness.change(api, "POST", "/api/v1/nodes", {
                "apiVersion": "v1", "kind": "Node", "metadata": {"name": "large"},
                "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})
            harness.change(api, "PATCH", "/api/v1/nodes/large/status", {"status": {
                "allocatable": {"cpu": "200", "memory": "1Ti", "pods": "110"}}})
            up.wait_for("failure %d" % count,
                        lambda: len(writes("POST") + writes("PATCH")) >= count, 60)
        up.wait_for("a failure", lambda: writes("POST"), 60)
        for i in range(2, 5):
            helps_not(i)
        _, second, third = writes("POST")
        assert second["regarding"]["resourceVersion"] != third["regarding"]["resourceVersion"]
        assert "series" not in second and second["note"] == third["note"]
        series, = writes("PATCH")
        assert set(series) == {"series"} and series["series"]["count"] == 2
        patched = [request.path for request in proxy.requests
                   if request.method == "PATCH" and "/events" in request.path][0]
        assert patched.endswith("/" + third["metadata"]["name"])
        patches = [request for request in proxy.requests
                   if request.method == "PATCH" and request.path.endswith("/big0/status")]
        assert len(patches) == 2  # only the message of the condition changed


def test_volumes_keep_what_is_not_known(program):
    """Writes of a volume and a claim keep all fields, even unknown ones."""
    with scene(program, nodes=1, config=AS_JSON) as (api, proxy, _):
        harness.change(api, "POST", "/apis/storage.k8s.io/v1/storageclasses", {
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": "WaitForFirstConsumer"})
        harness.change(api, "POST", "/api/v1/persistentvolumes", {
            "apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": "v", "labels": {"a": "b"}, "annotations": {"x": "y"}},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                     "storageClassName": "local", "local": {"path": "/mnt"},
                     "mountOptions": ["noatime"], "persistentVolumeReclaimPolicy": "Retain",
                     "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                         {"key": "kubernetes.io/hostname", "operator": "In",
                          "values": ["n0"]}]}]}}}})
        harness.change(api, "PATCH", "/api/v1/persistentvolumes/v/status",
                       {"status": {"phase": "Available"}})
        harness.change(api, "POST", "/api/v1/namespaces/default/persistentvolumeclaims", {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                     "resources": {"requests": {"storage": "1Gi"}}}})
        time.sleep(0.5)
        harness.change(api, "POST", harness.PODS, harness.pod("p", volumes=[
            {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]))
        _, before = api.json("GET", "/api/v1/persistentvolumes/v")
        put = json.loads(up.wait_for("a PUT", lambda: [
            request.body for request in proxy.requests if request.method == "PUT"
            and request.path == "/api/v1/persistentvolumes/v"])[0])
        assert put["spec"]["mountOptions"] == ["noatime"] and "managedFields" not in put[
            "metadata"]
        assert put["metadata"]["labels"] == {"a": "b"}
        assert put["metadata"]["annotations"] == {
            "x": "y", "pv.kubernetes.io/bound-by-controller": "yes"}
        assert put["spec"]["claimRef"]["name"] == "c" and put["spec"]["claimRef"]["uid"]
        assert before["spec"]["local"] == put["spec"]["local"] == {"path": "/mnt"}
        # No controller runs, so the test binds the claim in the controller's place.
        _, claim = api.json("GET", "/api/v1/namespaces/default/persistentvolumeclaims/c")
        claim["spec"]["volumeName"] = "v"
        claim["metadata"].setdefault("annotations", {})[
            "pv.kubernetes.io/bind-completed"] = "yes"
        harness.change(api, "PUT", "/api/v1/namespaces/default/persistentvolumeclaims/c", claim)
        harness.change(api, "PATCH", "/api/v1/namespaces/default/persistentvolumeclaims/c/status",
                       {"status": {"phase": "Bound"}})
        harness.wait_until_bound(api, 1)
        steps = [(request.method, request.path) for request in proxy.requests
                 if request.method in ("PUT", "PATCH", "POST") and "/events" not in request.path]
        assert [method for method, _ in steps] == ["PATCH", "PUT", "POST"], steps


if __name__ == "__main__":
    up.main(globals())
