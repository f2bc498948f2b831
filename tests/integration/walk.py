#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A random walk through a cluster on a fast clock: objects are created, scaled, moved and deleted,
and the process is killed at times; after every pause the cluster must be settled.

BERTH_WALK_ROUNDS: rounds of the walk (default: about 20 seconds' worth); BERTH_WALK_SEED: its seed.
"""
import http.client
import json
import os
import random
import re
import signal
import tempfile
import time

import up

ROUNDS = int(os.environ.get("BERTH_WALK_ROUNDS", "12"))
STEPS = 20
SEED = int(os.environ.get("BERTH_WALK_SEED", str(random.randrange(1 << 30))))
FLAGS = ["--tls", "off", "--time-scale", "100", "--nodes", "6", "--zones", "3", "--node-cpu", "16"]
ZONES = ["zone-a", "zone-b", "zone-c"]
QUIET_SECONDS = 60
APPS, BATCH, POLICY = "/apis/apps/v1", "/apis/batch/v1", "/apis/policy/v1"
STORAGE, CORE = "/apis/storage.k8s.io/v1", "/api/v1"
LISTS = {
    "nodes": CORE, "namespaces": CORE, "pods": CORE, "persistentvolumes": CORE,
    "persistentvolumeclaims": CORE, "replicasets": APPS, "deployments": APPS,
    "statefulsets": APPS, "daemonsets": APPS, "jobs": BATCH, "poddisruptionbudgets": POLICY,
    "replicationcontrollers": CORE,
}
SCALED = ["deployments", "statefulsets", "replicasets", "replicationcontrollers"]
WORKLOADS = SCALED + ["daemonsets"]


def milli(text):
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


def condition(item, kind):
    for found in item.get("status", {}).get("conditions", []):
        if found["type"] == kind:
            return found["status"]
    return None


def owner_of(item):
    for reference in item["metadata"].get("ownerReferences", []):
        if reference.get("controller"):
            return reference["uid"]
    return None


def is_over(pod):
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def key_of(item):
    return "%s/%s" % (item["metadata"].get("namespace", ""), item["metadata"]["name"])


def matches(selector, pod):
    labels = pod["metadata"].get("labels", {})
    return all(labels.get(name) == value for name, value in selector["matchLabels"].items())


class State:
    """All objects of the cluster: lists by resource, and maps by uid and by name."""

    def __init__(self, walk):
        self.walk = walk
        self.items = {}
        for name, group in LISTS.items():
            status, found = walk.call("GET", "%s/%s" % (group, name))
            assert status == 200, found
            self.items[name] = found["items"]
        self.by_uid = {item["metadata"]["uid"]: item
                       for items in self.items.values() for item in items}
        self.nodes = {node["metadata"]["name"]: node for node in self.items["nodes"]}
        self.faults = []

    def fault(self, text, item):
        self.faults.append("%s: %s" % (key_of(item), text))

    def check(self):
        for name in ("general", "pods", "room", "workloads", "jobs", "volumes", "budgets"):
            getattr(self, "check_" + name)()
        return self.faults

    def check_general(self):
        for name, items in self.items.items():
            for item in items:
                if "deletionTimestamp" in item["metadata"]:
                    self.fault("%s still terminating" % name, item)
                for reference in item["metadata"].get("ownerReferences", []):
                    if reference["uid"] not in self.by_uid:
                        self.fault("%s: its owner %s is gone" % (name, reference["name"]), item)
        for node in self.items["nodes"]:
            if condition(node, "Ready") != "True" or node["spec"].get("taints"):
                self.fault("not ready: %r" % node["spec"].get("taints"), node)

    def check_pods(self):
        for pod in self.items["pods"]:
            node, status = pod["spec"].get("nodeName"), pod["status"]
            if node is not None and node not in self.nodes:
                self.fault("on node %s, which is gone" % node, pod)
            if status.get("reason", "").startswith("OutOf"):
                self.fault("refused: %s" % status.get("message"), pod)
            if is_over(pod):
                continue
            if status["phase"] != "Running" or condition(pod, "Ready") != "True":
                self.fault("%s on %s: %s" % (status["phase"], node, [
                    found.get("message") for found in status.get("conditions", [])]), pod)
            elif status.get("nominatedNodeName"):
                self.fault("still nominated", pod)

    def check_room(self):
        used = {name: [0, 0] for name in self.nodes}
        addresses = {}
        for pod in self.items["pods"]:
            if pod["spec"].get("nodeName") not in used or is_over(pod):
                continue
            used[pod["spec"]["nodeName"]][0] += 1
            used[pod["spec"]["nodeName"]][1] += sum(
                milli(container["resources"].get("requests", {}).get("cpu", "0"))
                for container in pod["spec"]["containers"])
            address = pod["status"].get("podIP")
            if address and self.walk.kills == 0 and addresses.setdefault(address, pod) is not pod:
                self.fault("has the address of %s" % key_of(addresses[address]), pod)
        for name, (count, cpu) in used.items():
            allocatable = self.nodes[name]["status"]["allocatable"]
            if count > int(allocatable["pods"]) or cpu > milli(allocatable["cpu"]):
                self.fault("over-committed: %d pods, %dm cpu" % (count, cpu), self.nodes[name])

    def owned(self, uid):
        return [pod for pod in self.items["pods"] if owner_of(pod) == uid and not is_over(pod)]

    def check_workloads(self):
        for name in WORKLOADS:
            for item in self.items[name]:
                self.check_workload(name, item)

    def check_workload(self, name, item):
        status, uid = item["status"], item["metadata"]["uid"]
        if status.get("observedGeneration") != item["metadata"]["generation"]:
            self.fault("%s: not observed" % name, item)
        if name == "daemonsets":
            wanted = len(self.nodes)
            found = [status["desiredNumberScheduled"], status["currentNumberScheduled"],
                     status["numberReady"], status.get("updatedNumberScheduled", 0),
                     status.get("numberAvailable", 0), len(self.owned(uid))]
        else:
            wanted = item["spec"]["replicas"]
            found = [status.get("replicas", 0), status.get("readyReplicas", 0),
                     status.get("availableReplicas", 0)]
            if name in ("deployments", "statefulsets"):
                found.append(status.get("updatedReplicas", 0))
        if name == "deployments":
            sets = [owned for owned in self.items["replicasets"] if owner_of(owned) == uid]
            found.append(sum(owned["spec"]["replicas"] for owned in sets))
            if sum(1 for owned in sets if owned["spec"]["replicas"]) > 1:
                self.fault("pods of several revisions", item)
            if condition(item, "Available") != "True" or condition(item, "Progressing") != "True":
                self.fault("conditions %r" % status.get("conditions"), item)
        elif name != "daemonsets":
            found.append(len(self.owned(uid)))
        if any(number != wanted for number in found):
            self.fault("%s: %d wanted, status %r" % (name, wanted, found), item)
        if name == "daemonsets":
            nodes = sorted(pod["spec"].get("nodeName", "") for pod in self.owned(uid))
            if nodes != sorted(self.nodes):
                self.fault("daemons on %r" % nodes, item)
        if name == "statefulsets":
            names = sorted(pod["metadata"]["name"] for pod in self.owned(uid))
            if names != sorted("%s-%d" % (item["metadata"]["name"], i) for i in range(wanted)):
                self.fault("members %r" % names, item)

    def check_jobs(self):
        for job in self.items["jobs"]:
            status = job["status"]
            if condition(job, "Complete") != "True":
                self.fault("job not complete: %r" % status, job)
            elif status.get("succeeded") != job["spec"]["completions"] or status.get("active"):
                self.fault("job counts %r" % status, job)
        for pod in self.items["pods"]:
            if is_over(pod) and pod["metadata"].get("finalizers"):
                self.fault("over, and kept by %r" % pod["metadata"]["finalizers"], pod)

    def check_volumes(self):
        claims = {key_of(claim): claim for claim in self.items["persistentvolumeclaims"]}
        for claim in claims.values():
            volume = [found for found in self.items["persistentvolumes"]
                      if found["metadata"]["name"] == claim["spec"].get("volumeName")]
            if claim["status"]["phase"] != "Bound":
                if claim["metadata"].get("labels", {}).get("used") != "no":
                    self.fault("claim %s" % claim["status"]["phase"], claim)
            elif not volume or volume[0]["status"]["phase"] != "Bound" or (
                    volume[0]["spec"]["claimRef"]["uid"] != claim["metadata"]["uid"]):
                self.fault("bound to a volume that is not bound to it", claim)
        for volume in self.items["persistentvolumes"]:
            reference = volume["spec"].get("claimRef", {})
            if "%s/%s" % (reference.get("namespace"), reference.get("name")) not in claims:
                self.fault("volume %s of no claim" % volume["status"]["phase"], volume)

    def check_budgets(self):
        for budget in self.items["poddisruptionbudgets"]:
            pods = [pod for pod in self.items["pods"] if matches(budget["spec"]["selector"], pod)
                    and pod["metadata"]["namespace"] == budget["metadata"]["namespace"]
                    and not is_over(pod)]
            wanted = budget["spec"]["minAvailable"]
            allowed = max(0, len(pods) - wanted)
            status = budget["status"]
            if (status["currentHealthy"], status["desiredHealthy"], status["expectedPods"],
                    status["disruptionsAllowed"]) != (len(pods), wanted, len(pods), allowed):
                self.fault("%d pods, status %r" % (len(pods), status), budget)


class Walk:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.rng = random.Random(SEED)
        self.flags = FLAGS + ["--data-dir", os.path.join(folder, "data")]
        self.log = ""
        self.number = 0
        self.history = []
        self.tainted = set()
        self.kills = 0
        self.start()

    def start(self):
        self.cluster = up.Cluster(self.program, self.folder, *self.flags)
        self.port = self.cluster.port
        self.connection = None

    def kill(self):
        os.kill(self.cluster.process.pid, signal.SIGKILL)
        self.cluster.process.wait()
        self.kills += 1
        self.log += self.cluster.output()
        self.cluster.log.close()
        self.start()

    def call(self, method, path, body=None, kind="application/json"):
        """Sends a request and returns (status, document)."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            self.connection.request(method, path, None if body is None else json.dumps(body),
                                    {"Content-Type": kind} if body is not None else {})
            answer = self.connection.getresponse()
            return answer.status, json.loads(answer.read())
        except BaseException:
            self.connection = None
            raise

    def create(self, path, body):
        status, answer = self.call("POST", path, body)
        assert status in (201, 403, 404), answer  # the namespace may be terminating
        return status == 201

    def patch(self, path, body):
        status, answer = self.call("PATCH", path, body, "application/merge-patch+json")
        assert status in (200, 404), answer

    def delete(self, path, options=None):
        status, answer = self.call("DELETE", path, options)
        assert status in (200, 202, 404), answer

    def items(self, name):
        status, found = self.call("GET", "%s/%s" % (LISTS[name], name))
        assert status == 200, found
        return found["items"]

    def pick(self, name, condition_=lambda item: True):
        found = [item for item in self.items(name)
                 if condition_(item) and "deletionTimestamp" not in item["metadata"]]
        return self.rng.choice(found) if found else None

    @staticmethod
    def path(name, item):
        namespace = item["metadata"].get("namespace")
        return "%s/%s%s/%s" % (LISTS[name], "namespaces/%s/" % namespace if namespace else "",
                               name, item["metadata"]["name"])

    def namespace(self):
        return self.pick("namespaces", lambda item: item["metadata"]["name"].startswith("ns"))

    def new_name(self, prefix):
        self.number += 1
        return "%s%d" % (prefix, self.number)

    # --- actions ---

    def template(self, name):
        spec = {"containers": [{"name": "c", "image": "i:1", "resources": {"requests": {
            "cpu": "%dm" % self.rng.choice([0, 50, 100, 200])}}}]}
        chance = self.rng.random()
        if chance < 0.2:
            spec["topologySpreadConstraints"] = [{
                "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": name}}}]
        elif chance < 0.4:
            spec["affinity"] = {"podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{
                    "weight": 10, "podAffinityTerm": {
                        "topologyKey": "kubernetes.io/hostname",
                        "labelSelector": {"matchLabels": {"app": name}}}}]}}
        elif chance < 0.5:
            spec["volumes"] = [{"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {
                "accessModes": ["ReadWriteOnce"], "storageClassName": "late",
                "resources": {"requests": {"storage": "1Gi"}}}}}}]
        return {"metadata": {"labels": {"app": name}}, "spec": spec}

    def make_workload(self):
        namespace = self.namespace()
        if namespace is None:
            return None
        namespace = namespace["metadata"]["name"]
        kind = self.rng.choice(WORKLOADS)
        name = self.new_name("w")
        spec = {"template": self.template(name)}
        spec["selector"] = ({"app": name} if kind == "replicationcontrollers"
                            else {"matchLabels": {"app": name}})
        if kind != "daemonsets":
            spec["replicas"] = self.rng.randrange(7)
        if kind == "statefulsets":
            spec["serviceName"] = name
            spec["podManagementPolicy"] = self.rng.choice(["OrderedReady", "Parallel"])
            spec["persistentVolumeClaimRetentionPolicy"] = {
                "whenDeleted": self.rng.choice(["Delete", "Retain"]), "whenScaled": "Retain"}
            if self.rng.random() < 0.5:
                spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": self.rng.choice(["late", "now"]),
                    "resources": {"requests": {"storage": "1Gi"}}}}]
        if kind == "deployments" and self.rng.random() < 0.3:
            spec["strategy"] = {"type": "Recreate"}
        group = LISTS[kind]
        self.create("%s/namespaces/%s/%s" % (group, namespace, kind),
                    {"metadata": {"name": name}, "spec": spec})
        return "%s %s/%s" % (kind, namespace, name)

    def scale(self):
        kind = self.rng.choice(SCALED)
        item = self.pick(kind, lambda found: owner_of(found) is None)
        if item is None:
            return None
        replicas = self.rng.randrange(8)
        self.patch(self.path(kind, item) + "/scale", {"spec": {"replicas": replicas}})
        return "%s %s %d" % (kind, key_of(item), replicas)

    def roll(self):
        kind = self.rng.choice(["deployments", "statefulsets", "daemonsets"])
        item = self.pick(kind)
        if item is None:
            return None
        image = "i:%d" % self.rng.randrange(2, 9)
        self.patch(self.path(kind, item), {"spec": {"template": {"metadata": {
            "annotations": {"image": image}}}}})
        return "%s %s %s" % (kind, key_of(item), image)

    def make_job(self):
        namespace = self.namespace()
        if namespace is None:
            return None
        namespace, name = namespace["metadata"]["name"], self.new_name("j")
        template = self.template(name)
        template["spec"]["restartPolicy"] = self.rng.choice(["Never", "OnFailure"])
        spec = {"template": template, "completions": self.rng.randrange(1, 6),
                "parallelism": self.rng.randrange(1, 4), "backoffLimit": 100,
                "completionMode": self.rng.choice(["Indexed", "NonIndexed"])}
        if self.rng.random() < 0.3:
            spec["ttlSecondsAfterFinished"] = 30
        self.create("%s/namespaces/%s/jobs" % (BATCH, namespace),
                    {"metadata": {"name": name}, "spec": spec})
        return "%s/%s" % (namespace, name)

    def delete_workload(self):
        kind = self.rng.choice(WORKLOADS + ["jobs"])
        item = self.pick(kind, lambda found: owner_of(found) is None)
        if item is None:
            return None
        policy = self.rng.choice(["Background", "Foreground"])
        self.delete(self.path(kind, item), {"propagationPolicy": policy})
        return "%s %s %s" % (kind, key_of(item), policy)

    def delete_pod(self):
        pod = self.pick("pods")
        if pod is None:
            return None
        options = self.rng.choice([None, {"gracePeriodSeconds": 0}, {"gracePeriodSeconds": 1}])
        self.delete(self.path("pods", pod), options)
        return "%s %r" % (key_of(pod), options)

    def evict_pod(self):
        pod = self.pick("pods")
        if pod is None:
            return None
        status, answer = self.call("POST", self.path("pods", pod) + "/eviction", {
            "metadata": {"name": pod["metadata"]["name"]}})
        # A pod with two budgets cannot be evicted.
        assert status in (201, 404, 429) or "more than one" in answer["message"], answer
        return "%s: %d" % (key_of(pod), status)

    def stray_pod(self):
        """Orphans a pod that belongs to no StatefulSet: an orphan of a StatefulSet would keep a
        name that the set needs for a new pod."""
        pod = self.pick("pods", lambda found: owner_of(found) and not is_over(found)
                        and found["metadata"]["labels"].get("app", "").startswith("w")
                        and "statefulset.kubernetes.io/pod-name" not in found["metadata"]["labels"])
        if pod is None:
            return None
        self.patch(self.path("pods", pod), {"metadata": {"labels": {"app": "stray"}}})
        return key_of(pod)

    def make_pod(self):
        namespace = self.namespace()
        if namespace is None:
            return None
        namespace, name = namespace["metadata"]["name"], self.new_name("p")
        pod = self.template(name)
        pod["metadata"]["name"] = name
        if self.rng.random() < 0.3:
            pod["spec"]["schedulingGates"] = [{"name": "g"}]
        self.create("%s/namespaces/%s/pods" % (CORE, namespace), pod)
        if "schedulingGates" in pod["spec"]:
            self.patch("%s/namespaces/%s/pods/%s" % (CORE, namespace, name),
                       {"spec": {"schedulingGates": None}})
        return "%s/%s" % (namespace, name)

    def make_budget(self):
        item = self.pick("deployments")
        if item is None:
            return None
        name = self.new_name("b")
        self.create("%s/namespaces/%s/poddisruptionbudgets" % (
            POLICY, item["metadata"]["namespace"]), {"metadata": {"name": name}, "spec": {
                "minAvailable": self.rng.randrange(4), "selector": item["spec"]["selector"]}})
        return "%s for %s" % (name, key_of(item))

    def delete_budget(self):
        item = self.pick("poddisruptionbudgets")
        if item is None:
            return None
        self.delete(self.path("poddisruptionbudgets", item))
        return key_of(item)

    def delete_claim(self):
        claim = self.pick("persistentvolumeclaims")
        if claim is None:
            return None
        self.delete(self.path("persistentvolumeclaims", claim))
        # The pods that use the claim must be deleted before the claim ends.
        for pod in self.items("pods"):
            if pod["metadata"]["namespace"] == claim["metadata"]["namespace"] and \
                    claim["metadata"]["name"] in json.dumps(pod["spec"].get("volumes", [])) + \
                    "%s-e" % pod["metadata"]["name"]:
                self.delete(self.path("pods", pod))
        return key_of(claim)

    def cordon(self):
        node = self.pick("nodes")
        self.patch(self.path("nodes", node), {"spec": {"unschedulable": True}})
        return node["metadata"]["name"]

    def taint(self):
        node = self.pick("nodes")
        if len(self.tainted) > 2:
            return None
        self.tainted.add(node["metadata"]["name"])
        self.patch(self.path("nodes", node), {"spec": {"taints": [
            {"key": "walk", "effect": self.rng.choice(["NoExecute", "NoSchedule"])}]}})
        return node["metadata"]["name"]

    def add_node(self):
        if len(self.items("nodes")) > 10:
            return None
        name = self.new_name("n")
        self.make_node(name, self.rng.choice(ZONES))
        return name

    def make_node(self, name, zone):
        self.create(CORE + "/nodes", {"metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}},
            "status": {"capacity": {"cpu": "16", "memory": "32Gi", "pods": "110"}}})
        self.create(STORAGE + "/csinodes", {"metadata": {"name": name}, "spec": {"drivers": [{
            "name": "csi.example", "nodeID": name, "allocatable": {"count": 20},
            "topologyKeys": ["topology.kubernetes.io/zone"]}]}})

    def delete_node(self):
        nodes = self.items("nodes")
        node = self.rng.choice(nodes)

        def zone_of(item):
            return item["metadata"]["labels"]["topology.kubernetes.io/zone"]
        if sum(1 for other in nodes if zone_of(other) == zone_of(node)) < 2:
            return None
        self.delete(self.path("nodes", node))
        self.delete("%s/csinodes/%s" % (STORAGE, node["metadata"]["name"]))
        return node["metadata"]["name"]

    def make_namespace(self):
        if len(self.items("namespaces")) > 9:
            return None
        name = self.new_name("ns")
        self.create(CORE + "/namespaces", {"metadata": {"name": name}})
        return name

    def delete_namespace(self):
        item = self.namespace()
        if item is None:
            return None
        self.delete(self.path("namespaces", item))
        return item["metadata"]["name"]

    def step(self):
        name = self.rng.choices(
            ["make_workload", "scale", "roll", "make_job", "delete_workload", "delete_pod",
             "evict_pod", "stray_pod", "make_pod", "make_budget", "delete_budget", "delete_claim",
             "cordon", "taint", "add_node", "delete_node", "make_namespace", "delete_namespace"],
            [12, 14, 10, 5, 7, 10, 8, 3, 5, 4, 2, 3, 3, 3, 4, 3, 2, 1])[0]
        done = getattr(self, name)()
        self.history.append("%s %s" % (name, done))

    # --- rounds ---

    def settle(self):
        """Removes what keeps pods from running, then waits until the cluster is settled."""
        for node in self.items("nodes"):
            self.patch(self.path("nodes", node), {"spec": {"unschedulable": None}})
            taints = [taint for taint in node["spec"].get("taints", []) if taint["key"] == "walk"]
            if taints:
                left = [taint for taint in node["spec"]["taints"] if taint["key"] != "walk"]
                self.patch(self.path("nodes", node), {"spec": {"taints": left or None}})
        self.tainted.clear()
        deadline = time.monotonic() + QUIET_SECONDS * (4 if self.program.sanitized else 1)
        while True:
            faults = State(self).check()
            if not faults:
                return
            if time.monotonic() > deadline:
                raise AssertionError("not in order (seed %d):\n  %s\nafter\n  %s" % (
                    SEED, "\n  ".join(faults), "\n  ".join(self.history[-60:])))
            time.sleep(0.1)

    def memory(self):
        with open("/proc/%d/status" % self.cluster.process.pid, encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) // 1024

    def trim(self):
        """Deletes some objects, so that the number of objects stays bounded."""
        jobs = [job for job in self.items("jobs")]
        for job in jobs[:max(0, len(jobs) - 10)]:
            self.delete(self.path("jobs", job), {"propagationPolicy": "Background"})
        for kind in WORKLOADS:
            found = [item for item in self.items(kind) if owner_of(item) is None]
            for item in found[:max(0, len(found) - 8)]:
                self.delete(self.path(kind, item), {"propagationPolicy": "Background"})
        for pod in self.items("pods"):
            if owner_of(pod) is None and self.rng.random() < 0.5:
                self.delete(self.path("pods", pod))

    def check_log(self):
        text = self.log + self.cluster.output()
        for line in text.splitlines():
            assert not line or line.startswith((
                "berth up: Kubernetes API at", "  export", "  kubectl", "Ctrl-C")), line


def test_a_random_walk_ends_in_order(program):
    print("seed %d" % SEED, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(program, folder)
        try:
            for node in walk.items("nodes"):
                walk.create(STORAGE + "/csinodes", {
                    "metadata": {"name": node["metadata"]["name"]}, "spec": {"drivers": [{
                        "name": "csi.example", "nodeID": node["metadata"]["name"],
                        "topologyKeys": ["topology.kubernetes.io/zone"]}]}})
            for name, mode in (("late", "WaitForFirstConsumer"), ("now", "Immediate")):
                walk.create(STORAGE + "/storageclasses", {
                    "metadata": {"name": name}, "provisioner": "csi.example",
                    "volumeBindingMode": mode})
            walk.make_namespace()
            for i in range(ROUNDS):
                for _ in range(STEPS):
                    walk.step()
                if i % 3 == 2:
                    walk.history.append("kill")
                    walk.kill()
                begin = time.monotonic()
                walk.settle()
                print("round %d: quiet after %.1f s, %d MiB" % (
                    i, time.monotonic() - begin, walk.memory()), flush=True)
                walk.trim()
            walk.check_log()
        except BaseException:
            print(walk.cluster.output()[-3000:])
            walk.cluster.process.kill()
            raise
        assert walk.cluster.stop() == 0


if __name__ == "__main__":
    up.main(globals())
