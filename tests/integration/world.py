#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Controllers and nodes around the API, on a fast clock: preemption, volumes, spreading,
budgets, drains, daemons, taints, profiles and plugins, as a user sees them."""
import glob
import json
import os
import signal
import tempfile
import time

import up

SCALE = "60"
FAST = ["--tls", "off", "--time-scale", SCALE]
CORE, APPS, STORAGE = "/api/v1", "/apis/apps/v1", "/apis/storage.k8s.io/v1"
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: packer
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}
"""


def create(cluster, path, body):
    status, answer = cluster.json("POST", path, body)
    assert status == 201, answer
    return answer


def patch(cluster, path, body):
    status, answer = cluster.json("PATCH", path, body,
                                  headers={"Content-Type": "application/merge-patch+json"})
    assert status == 200, answer
    return answer


def delete(cluster, path):
    status, answer = cluster.json("DELETE", path)
    assert status in (200, 202), answer


def new_namespace(cluster, name):
    create(cluster, CORE + "/namespaces", {"metadata": {"name": name}})
    return "%s/namespaces/%s" % (CORE, name)


def pod(name, cpu="100m", labels=None, **spec):
    return {"metadata": {"name": name, "labels": labels or {"app": name}}, "spec": dict(
        {"containers": [{"name": "c", "image": "i:1",
                         "resources": {"requests": {"cpu": cpu}}}]}, **spec)}


def make_pod(cluster, where, name, **more):
    return create(cluster, where + "/pods", pod(name, **more))


def make_node(cluster, name, zone="zone-a", cpu="4", **more):
    create(cluster, CORE + "/nodes", {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name,
                                              "topology.kubernetes.io/zone": zone}},
        "spec": more, "status": {"capacity": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}})


def deployment(name, replicas, template):
    template["metadata"] = {"labels": {"app": name}}
    return {"metadata": {"name": name}, "spec": {
        "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}}


def claim(name, storage_class, size="1Gi"):
    return {"metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class,
        "resources": {"requests": {"storage": size}}}}


def mount(name):
    return {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]}


def get(cluster, path):
    status, answer = cluster.json("GET", path)
    return answer if status == 200 else None


def items(cluster, path):
    status, answer = cluster.json("GET", path)
    assert status == 200, answer
    return answer["items"]


def condition(item, kind):
    for found in (item or {}).get("status", {}).get("conditions", []):
        if found["type"] == kind:
            return found
    return {}


def wait_running(cluster, path, seconds=30):
    """Waits until the pod runs, and returns the pod."""
    return up.wait_for("%s runs: %s" % (path, get(cluster, path)), lambda: (
        lambda found: found if found and found["status"]["phase"] == "Running" else None)(
            get(cluster, path)), seconds)


def wait_replicas(cluster, path, count, seconds=30):
    def is_ready():
        found = get(cluster, path)
        status = found["status"]
        return found if (status.get("observedGeneration") == found["metadata"]["generation"]
                         and status.get("readyReplicas", 0) == count
                         and status.get("updatedReplicas", 0) == count
                         and status.get("replicas", 0) == count) else None
    return up.wait_for("%d ready of %s" % (count, path), is_ready, seconds)


def wait_gone(cluster, path):
    up.wait_for(path + " is gone", lambda: get(cluster, path) is None)


def wait_pending(cluster, path, text):
    """Waits until the condition PodScheduled contains this text."""
    return up.wait_for("%r about %s" % (text, path), lambda: text in condition(
        get(cluster, path), "PodScheduled").get("message", ""))


def changes(cluster, path, version):
    """Returns the watch events since this version: (type, object)."""
    status, text = cluster.get("%s?watch=1&timeoutSeconds=1&resourceVersion=%s" % (path, version))
    assert status == 200
    return [(event["type"], event["object"]) for event in map(json.loads, text.splitlines())]


def first(events, what, condition_):
    for i, (kind, item) in enumerate(events):
        if condition_(kind, item):
            return i
    raise AssertionError("no event: %s" % what)


def make_priority(cluster, name, value):
    create(cluster, "/apis/scheduling.k8s.io/v1/priorityclasses", {
        "metadata": {"name": name}, "value": value})


def test_preemption_from_nomination_to_binding(program):
    with program.up(*FAST, "--nodes", "1", "--node-cpu", "4", "--pod-stop-delay", "20s") as cluster:
        where = CORE + "/namespaces/default"
        make_priority(cluster, "high", 1000)
        for i in range(4):
            make_pod(cluster, where, "low%d" % i, cpu="1")
        for i in range(4):
            wait_running(cluster, "%s/pods/low%d" % (where, i))
        made = make_pod(cluster, where, "high", cpu="2", priorityClassName="high")
        wait_running(cluster, where + "/pods/high")
        events = changes(cluster, where + "/pods", made["metadata"]["resourceVersion"])

        def of(name):
            return lambda item: item["metadata"]["name"] == name
        nominated = first(events, "nomination", lambda kind, item: of("high")(item) and item[
            "status"].get("nominatedNodeName") == "node-0")
        bound = first(events, "binding",
                      lambda kind, item: of("high")(item) and item["spec"].get("nodeName"))
        assert "nominatedNodeName" not in events[bound][1]["status"]
        victims = [item["metadata"]["name"] for kind, item in events if kind == "DELETED"]
        assert len(victims) == 2, victims
        for victim in victims:
            target = first(events, "condition", lambda kind, item: of(victim)(item) and condition(
                item, "DisruptionTarget").get("reason") == "PreemptionByScheduler")
            leaving = first(events, "deletion", lambda kind, item: of(victim)(item) and
                            "deletionTimestamp" in item["metadata"])
            gone = first(events, "end", lambda kind, item: of(victim)(item) and kind == "DELETED")
            assert nominated < target < leaving < gone < bound, (
                nominated, target, leaving, gone, bound)
            assert condition(events[target][1], "DisruptionTarget")["message"] == (
                "default-scheduler: preempting to accommodate a higher priority pod")
        reasons = {event["reason"] for event in items(cluster, where + "/events")}
        assert {"Preempted", "FailedScheduling", "Scheduled", "Killing"} <= reasons, reasons


def test_preemption_spares_what_budgets_protect(program):
    with program.up(*FAST, "--nodes", "2", "--node-cpu", "2") as cluster:
        where = CORE + "/namespaces/default"
        make_priority(cluster, "high", 1000)
        for name in ("a", "b"):
            make_pod(cluster, where, name, cpu="2")
            wait_running(cluster, "%s/pods/%s" % (where, name))
        path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
        create(cluster, path, {"metadata": {"name": "a"}, "spec": {
            "minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}}})
        up.wait_for("a budget with a status", lambda: get(
            cluster, path + "/a")["status"]["currentHealthy"] == 1)
        make_pod(cluster, where, "high", cpu="2", priorityClassName="high")
        wait_running(cluster, where + "/pods/high")
        assert get(cluster, where + "/pods/a")["status"]["phase"] == "Running"
        assert get(cluster, where + "/pods/b") is None


def test_volumes(program):
    with program.up(*FAST, "--nodes", "4", "--zones", "2") as cluster:
        where = CORE + "/namespaces/default"
        for i in range(4):
            create(cluster, STORAGE + "/csinodes", {
                "metadata": {"name": "node-%d" % i}, "spec": {"drivers": [{
                    "name": "csi.example", "nodeID": "node-%d" % i, "allocatable": {"count": 1},
                    "topologyKeys": ["topology.kubernetes.io/zone"]}]}})
        for name, mode, provisioner in (
                ("late", "WaitForFirstConsumer", "csi.example"),
                ("now", "Immediate", "csi.example"),
                ("static", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")):
            create(cluster, STORAGE + "/storageclasses", {
                "metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode})
        create(cluster, CORE + "/persistentvolumes", {"metadata": {"name": "disk"}, "spec": {
            "capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"],
            "storageClassName": "static", "local": {"path": "/d"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{
                "key": "kubernetes.io/hostname", "operator": "In", "values": ["node-3"]}]}]}}}})
        for name in ("late", "now", "static"):
            create(cluster, where + "/persistentvolumeclaims", claim(name, name))
        # Before a pod exists, only the claim with immediate binding is bound.
        up.wait_for("the immediate claim", lambda: get(
            cluster, where + "/persistentvolumeclaims/now")["status"]["phase"] == "Bound")
        for name in ("late", "static"):
            found = get(cluster, "%s/persistentvolumeclaims/%s" % (where, name))
            assert found["status"]["phase"] == "Pending", found
        for name in ("late", "now", "static"):
            make_pod(cluster, where, name, **mount(name))
        make_pod(cluster, where, "scratch", volumes=[{"name": "v", "ephemeral": {
            "volumeClaimTemplate": {"spec": claim("", "late")["spec"]}}}])
        for name in ("late", "now", "static", "scratch"):
            found = wait_running(cluster, "%s/pods/%s" % (where, name))
            used = get(cluster, "%s/persistentvolumeclaims/%s" % (
                where, "scratch-v" if name == "scratch" else name))
            assert used["status"]["phase"] == "Bound", used
            volume = get(cluster, CORE + "/persistentvolumes/" + used["spec"]["volumeName"])
            assert volume["status"]["phase"] == "Bound", volume
            if name in ("late", "scratch"):
                term, = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
                node = get(cluster, CORE + "/nodes/" + found["spec"]["nodeName"])
                assert term["matchExpressions"] == [{
                    "key": "topology.kubernetes.io/zone", "operator": "In",
                    "values": [node["metadata"]["labels"]["topology.kubernetes.io/zone"]]}], term
        assert get(cluster, where + "/pods/static")["spec"]["nodeName"] == "node-3"
        # Each node attaches one volume of the driver: three are in use, one more fits.
        for name in ("fourth", "fifth"):
            create(cluster, where + "/persistentvolumeclaims", claim(name, "late"))
            make_pod(cluster, where, name, **mount(name))
        ends = up.wait_for("one runs, one waits", lambda: (
            lambda found: found if sorted(bool(item["spec"].get("nodeName")) for item in found) ==
            [False, True] and any(condition(item, "PodScheduled").get("message") for item in found)
            else None)([get(cluster, "%s/pods/%s" % (where, name))
                        for name in ("fourth", "fifth")]))
        message = [condition(item, "PodScheduled")["message"] for item in ends
                   if not item["spec"].get("nodeName")][0]
        assert "node(s) exceed max volume count" in message, message
        # A provisioned volume is deleted with its claim; the other volumes stay.
        for name in ("scratch", "static"):
            delete(cluster, "%s/pods/%s" % (where, name))
        wait_gone(cluster, where + "/persistentvolumeclaims/scratch-v")
        wait_gone(cluster, where + "/pods/static")
        delete(cluster, where + "/persistentvolumeclaims/static")
        up.wait_for("a released volume", lambda: get(
            cluster, CORE + "/persistentvolumes/disk")["status"]["phase"] == "Released")
        # The waiting pod gets the node on which the ephemeral volume is no longer attached.
        for name in ("fourth", "fifth"):
            wait_running(cluster, "%s/pods/%s" % (where, name))


def test_spread_affinity_and_gates(program):
    with program.up(*FAST, "--nodes", "4", "--zones", "2") as cluster:
        where = CORE + "/namespaces/default"
        spread = {"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "spread"}}}]}
        path = APPS + "/namespaces/default/deployments"
        create(cluster, path, deployment("spread", 6, {"spec": pod("", **spread)["spec"]}))
        wait_replicas(cluster, path + "/spread", 6)
        zones = {node["metadata"]["name"]: node["metadata"]["labels"]["topology.kubernetes.io/zone"]
                 for node in items(cluster, CORE + "/nodes")}
        found = [zones[item["spec"]["nodeName"]] for item in items(
            cluster, where + "/pods?labelSelector=app%3Dspread")]
        assert sorted(found) == ["zone-a"] * 3 + ["zone-b"] * 3, found
        # The binding copies the node's zone label to the pod.
        assert [item["metadata"]["labels"]["topology.kubernetes.io/zone"] for item in items(
            cluster, where + "/pods?labelSelector=app%3Dspread")] == found

        def near(kind, app):
            return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [{
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"app": app}}}]}}}
        make_pod(cluster, where, "friend", **near("podAffinity", "leader"))
        wait_pending(cluster, where + "/pods/friend", "didn't match pod affinity rules")
        make_pod(cluster, where, "leader")
        leader = wait_running(cluster, where + "/pods/leader")
        friend = wait_running(cluster, where + "/pods/friend")
        assert friend["spec"]["nodeName"] == leader["spec"]["nodeName"]
        create(cluster, path, deployment("alone", 5, {
            "spec": pod("", **near("podAntiAffinity", "alone"))["spec"]}))
        up.wait_for("four of five", lambda: get(
            cluster, path + "/alone")["status"].get("readyReplicas") == 4)
        make_node(cluster, "extra", "zone-a")
        wait_replicas(cluster, path + "/alone", 5)

        make_pod(cluster, where, "gated", schedulingGates=[{"name": "example.com/g"}])
        found = get(cluster, where + "/pods/gated")
        assert condition(found, "PodScheduled")["reason"] == "SchedulingGated", found
        patch(cluster, where + "/pods/gated", {"spec": {"schedulingGates": None}})
        wait_running(cluster, where + "/pods/gated")


def test_profiles_and_other_schedulers(program):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(CONFIG)
        with program.up(*FAST, "--nodes", "3", "--config", path) as cluster:
            where = CORE + "/namespaces/default"
            make_pod(cluster, where, "other", schedulerName="somebody-else")
            for i in range(4):
                make_pod(cluster, where, "packed%d" % i, schedulerName="packer")
            nodes = {wait_running(cluster, "%s/pods/packed%d" % (where, i))["spec"]["nodeName"]
                     for i in range(4)}
            assert len(nodes) == 1, nodes
            make_pod(cluster, where, "plain")
            assert wait_running(cluster, where + "/pods/plain")["spec"]["nodeName"] not in nodes
            events = items(cluster, "/apis/events.k8s.io/v1/namespaces/default/events")
            told = {(event["regarding"]["name"], event["reportingController"])
                    for event in events if event["reason"] == "Scheduled"}
            assert ("packed0", "packer") in told and ("plain", "default-scheduler") in told, told
            found = get(cluster, where + "/pods/other")
            assert found["status"] == {"phase": "Pending", "qosClass": "Burstable"}, found


def test_no_scheduler(program):
    with program.up(*FAST, "--nodes", "2", "--no-scheduler") as cluster:
        where = CORE + "/namespaces/default"
        make_pod(cluster, where, "p")
        create(cluster, where + "/pods/p/binding", {
            "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "node-1"}})
        wait_running(cluster, where + "/pods/p")


def test_plugins(program):
    folder = os.path.join(os.path.dirname(program.path), "examples", "plugins")
    plugin, = glob.glob(os.path.join(folder, "**", "*coscheduling.so"), recursive=True) or [None]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples",
                          "plugins", "coscheduling")
    if plugin is None:
        return
    with program.up(*FAST, "--plugin", plugin, "--config",
                    os.path.join(source, "scheduler-config.yaml"),
                    "-f", os.path.join(source, "cluster.yaml")) as cluster:
        up.wait_for("a gang that runs", lambda: any(
            item["status"]["phase"] == "Running" for item in items(cluster, CORE + "/pods")))


def test_budgets_daemons_and_drains(program):
    with program.up(*FAST, "--nodes", "3") as cluster:
        where = CORE + "/namespaces/default"
        path = APPS + "/namespaces/default"
        made = create(cluster, path + "/deployments", deployment(
            "web", 4, {"spec": pod("")["spec"]}))
        create(cluster, path + "/daemonsets", {"metadata": {"name": "agent"}, "spec": {
            "selector": {"matchLabels": {"app": "agent"}}, "template": {
                "metadata": {"labels": {"app": "agent"}}, "spec": pod("")["spec"]}}})
        create(cluster, "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
            "metadata": {"name": "web"}, "spec": {
                "minAvailable": 3, "selector": {"matchLabels": {"app": "web"}}}})
        wait_replicas(cluster, path + "/deployments/web", 4)
        up.wait_for("one may go", lambda: get(
            cluster, "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web")[
                "status"]["disruptionsAllowed"] == 1)
        node = [item for item in items(cluster, where + "/pods?labelSelector=app%3Dweb")][0][
            "spec"]["nodeName"]
        patch(cluster, CORE + "/nodes/" + node, {"spec": {"unschedulable": True}})
        # Evicts as kubectl drain: retries refused evictions.
        refused = 0

        def drained():
            nonlocal refused
            left = [item for item in items(
                cluster, where + "/pods?labelSelector=app%3Dweb&fieldSelector=spec.nodeName%3D" +
                node)]
            for item in left:
                if "deletionTimestamp" in item["metadata"]:
                    continue
                status, _ = cluster.json("POST", "%s/pods/%s/eviction" % (
                    where, item["metadata"]["name"]), {"metadata": {
                        "name": item["metadata"]["name"]}})
                refused += status == 429
            return not left
        up.wait_for("a drained node", drained)
        wait_replicas(cluster, path + "/deployments/web", 4)
        ready, low = set(), 4
        for kind, item in changes(cluster, where + "/pods", made["metadata"]["resourceVersion"]):
            if item["metadata"]["labels"]["app"] != "web":
                continue
            key = item["metadata"]["name"]
            if kind != "DELETED" and condition(item, "Ready").get("status") == "True" and (
                    "deletionTimestamp" not in item["metadata"]):
                ready.add(key)
            elif key in ready:
                ready.remove(key)
                low = min(low, len(ready))
        assert low >= 3, low
        # The daemon pod stays on the cordoned node; a new node gets a daemon pod.
        make_node(cluster, "late")
        up.wait_for("four daemons", lambda: get(cluster, path + "/daemonsets/agent")["status"].get(
            "numberReady") == 4)
        daemons = {item["spec"]["nodeName"] for item in items(
            cluster, where + "/pods?labelSelector=app%3Dagent")}
        assert daemons == {"node-0", "node-1", "node-2", "late"}, daemons
        # A deleted node's pods are deleted, and created again on other nodes.
        victim = [item for item in items(cluster, where + "/pods?labelSelector=app%3Dweb")][0][
            "spec"]["nodeName"]
        delete(cluster, CORE + "/nodes/" + victim)
        up.wait_for("no pod on it", lambda: not items(
            cluster, where + "/pods?fieldSelector=spec.nodeName%3D" + victim))
        wait_replicas(cluster, path + "/deployments/web", 4)
        up.wait_for("three daemons", lambda: get(
            cluster, path + "/daemonsets/agent")["status"]["desiredNumberScheduled"] == 3)


def test_taints_evict_in_time(program):
    with program.up(*FAST, "--nodes", "2") as cluster:
        where = CORE + "/namespaces/default"

        def tolerate(**more):
            return {"tolerations": [dict(key="k", operator="Exists", effect="NoExecute", **more)],
                    "nodeName": "node-0"}
        make_pod(cluster, where, "stays", **tolerate())
        make_pod(cluster, where, "later", **tolerate(tolerationSeconds=60))
        made = make_pod(cluster, where, "now", nodeName="node-0")
        for name in ("stays", "later", "now"):
            wait_running(cluster, "%s/pods/%s" % (where, name))
        patch(cluster, CORE + "/nodes/node-0", {"spec": {"taints": [
            {"key": "k", "effect": "NoExecute"}]}})
        for name in ("now", "later"):
            wait_gone(cluster, "%s/pods/%s" % (where, name))
        assert get(cluster, where + "/pods/stays")["status"]["phase"] == "Running"
        events = changes(cluster, where + "/pods", made["metadata"]["resourceVersion"])
        ends = [first(events, "end of " + name, lambda kind, item: kind == "DELETED" and item[
            "metadata"]["name"] == name) for name in ("now", "later")]
        assert ends[0] < ends[1]
        target = condition(events[ends[0]][1], "DisruptionTarget")
        assert (target["reason"], target["message"]) == (
            "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"), target


def test_namespaces_end_under_load(program):
    with program.up(*FAST, "--nodes", "5") as cluster:
        where = new_namespace(cluster, "doomed")
        path = APPS + "/namespaces/doomed"
        for i in range(5):
            create(cluster, path + "/deployments", deployment("d%d" % i, 40, {
                "spec": pod("", cpu="10m")["spec"]}))
        up.wait_for("pods", lambda: len(items(cluster, where + "/pods")) > 50)
        delete(cluster, CORE + "/namespaces/doomed")
        status, answer = cluster.json("POST", where + "/pods", pod("late"))
        assert (status, answer["details"]["causes"][0]["reason"]) == (
            403, "NamespaceTerminating"), answer
        wait_gone(cluster, CORE + "/namespaces/doomed")
        assert not items(cluster, where + "/pods") and not items(cluster, path + "/replicasets")
        # The name can be used again.
        new_namespace(cluster, "doomed")
        make_pod(cluster, where, "p")
        wait_running(cluster, where + "/pods/p")


def start_everything(cluster):
    """A rolling update, a job, provisioning, a preemption and the end of a namespace, all at
    once."""
    where, path = CORE + "/namespaces/default", APPS + "/namespaces/default"
    patch(cluster, path + "/deployments/web", {"spec": {"template": {"metadata": {
        "annotations": {"revision": "2"}}}}})
    create(cluster, "/apis/batch/v1/namespaces/default/jobs", {
        "metadata": {"name": "job"}, "spec": {"completions": 6, "parallelism": 2, "template": {
            "spec": dict(pod("", cpu="10m")["spec"], restartPolicy="Never")}}})
    create(cluster, where + "/persistentvolumeclaims", claim("data", "late"))
    make_pod(cluster, where, "reader", cpu="10m", **mount("data"))
    make_pod(cluster, where, "high", cpu="3", priorityClassName="high")
    delete(cluster, CORE + "/namespaces/doomed")


def has_settled(cluster):
    """Returns the names of the facts that do not hold yet; empty if the cluster has settled."""
    where, path = CORE + "/namespaces/default", APPS + "/namespaces/default"
    web = get(cluster, path + "/deployments/web")["status"]
    job = get(cluster, "/apis/batch/v1/namespaces/default/jobs/job")["status"]
    sets = [item for item in items(cluster, path + "/replicasets") if item["spec"]["replicas"]]
    pods = items(cluster, where + "/pods")
    facts = {
        "web": [web.get(name) for name in (
            "replicas", "updatedReplicas", "availableReplicas")] == [4, 4, 4],
        "sets": len(sets) == 1,
        "job": job.get("succeeded") == 6 and "completionTime" in job,
        "claim": get(cluster, where + "/persistentvolumeclaims/data")["status"]["phase"] == "Bound",
        "namespace": get(cluster, CORE + "/namespaces/doomed") is None,
        "victim": get(cluster, where + "/pods/low") is None,
        "pods": all(item["status"]["phase"] in ("Running", "Succeeded") and
                    "deletionTimestamp" not in item["metadata"] and
                    not item["metadata"].get("finalizers") for item in pods),
        "volumes": len(items(cluster, CORE + "/persistentvolumes")) == 1,
    }
    return [name for name, fact in facts.items() if not fact]


def test_restarts_in_the_middle(program):
    for moment in (0, 0.05, 0.2, 0.5):
        with tempfile.TemporaryDirectory() as folder:
            # With this --time-scale all changes together take about a second.
            flags = ["--tls", "off", "--time-scale", "20", "--nodes", "1", "--node-cpu", "4",
                     "--data-dir", os.path.join(folder, "data")]
            cluster = up.Cluster(program, folder, *flags)
            where = CORE + "/namespaces/default"
            make_priority(cluster, "high", 1000)
            create(cluster, STORAGE + "/storageclasses", {
                "metadata": {"name": "late"}, "provisioner": "csi.example",
                "volumeBindingMode": "WaitForFirstConsumer"})
            doomed = new_namespace(cluster, "doomed")
            for i in range(5):
                make_pod(cluster, doomed, "p%d" % i, cpu="10m")
            make_pod(cluster, where, "low", cpu="3")
            create(cluster, APPS + "/namespaces/default/deployments", deployment("web", 4, {
                "spec": pod("", cpu="10m")["spec"]}))
            wait_replicas(cluster, APPS + "/namespaces/default/deployments/web", 4)
            wait_running(cluster, where + "/pods/low")
            start_everything(cluster)
            for _ in range(3):
                # Kill the process at different moments, each in another state of the cluster.
                time.sleep(moment)
                cluster.stop(signal.SIGKILL)
                cluster = up.Cluster(program, folder, *flags)
            try:
                up.wait_for("order after %g s" % moment, lambda: not has_settled(cluster), 30)
            except AssertionError:
                print(has_settled(cluster), [(key["metadata"]["name"], key["status"]) for key in
                                             items(cluster, where + "/pods")])
                raise
            finally:
                status = cluster.stop()
            assert status == 0, status


if __name__ == "__main__":
    up.main(globals())
