#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random clusters, recorded through watches that break, and replayed.

Each seed is a `berth up` whose users create, scale and delete; nodes come, go and get taints;
claims need devices. `berth record` runs behind a proxy with faults. A Watcher watches the same
cluster directly: the recording must have every pod of the Watcher once, and no other pod. The
replay binds as the cluster did, or gives a reason.

Usage: record_replay.py BERTH plain|sanitized [--seeds N] [--first SEED]
"""
import argparse
import collections
import contextlib
import json
import os
import random
import shutil
import ssl
import sys
import threading
import time
import urllib.request
import zlib

import daemon_harness as harness
import fault_proxy
import record
import up

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenario"))
import scenario  # pylint: disable=wrong-import-position

SEEDS = 3
SECONDS = 8
# Smallest share of bindings that a replay must reproduce if the order of all lines is known. Some
# bindings differ, because a change may arrive between a decision and its binding.
REPRODUCED = 0.65
WINDOW_SECONDS = 0.5
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
DRA = "/apis/resource.k8s.io/v1"
TAINT = {"key": "broken", "effect": "NoExecute"}
EXPIRED = fault_proxy.status_body(410, "Expired", "too old resource version: 1 (2)")


class Watcher:
    """Watches pods without faults. Member `seen`: "namespace/name" of the pod -> list of (event,
    uid, node)."""

    def __init__(self, api):
        self.api = api
        self.seen = collections.defaultdict(list)
        status, found = api.json("GET", "/api/v1/pods")
        assert status == 200
        self.version = found["metadata"]["resourceVersion"]
        for item in found["items"]:
            self.take("ADDED", item)
        self.is_ended = False
        self.failure = None
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def take(self, event, item):
        meta = item["metadata"]
        self.seen[meta["namespace"] + "/" + meta["name"]].append(
            (event, meta["uid"], item["spec"].get("nodeName")))

    def follow(self):
        while not self.is_ended and self.failure is None:
            url = "%s/api/v1/pods?watch=true&timeoutSeconds=2&resourceVersion=%s" % (
                self.api.server, self.version)
            request = urllib.request.Request(
                url, headers={"Authorization": "Bearer " + self.api.token})
            try:
                with urllib.request.urlopen(request, context=self.api.tls(), timeout=60) as answer:
                    for line in answer:
                        event = json.loads(line)
                        if event["type"] == "ERROR":
                            self.failure = event
                            return
                        self.version = event["object"]["metadata"]["resourceVersion"]
                        self.take(event["type"], event["object"])
            except (OSError, ssl.SSLError) as error:
                self.failure = error

    def end(self):
        self.is_ended = True
        self.thread.join(60)
        assert self.failure is None and not self.thread.is_alive(), self.failure


def faults(seed):
    """Returns the proxy policy of a seed: no faults, broken watches, expired watches or delays."""
    rng = random.Random(seed)
    kind = seed % 4

    def policy(request):
        if not request.is_watch:
            return fault_proxy.Delay(rng.uniform(0, 0.3)) if kind == 3 else None
        if kind == 1 or (kind == 2 and "sendInitialEvents" in request.query):
            return fault_proxy.CutAfter(rng.uniform(1.2, 2.5))
        if kind == 2:
            choice = rng.random()
            if choice < 0.2:
                return fault_proxy.Answer(410, EXPIRED)
            if choice < 0.4:
                return fault_proxy.Answer(
                    200, b'{"type":"ERROR","object":' + EXPIRED + b"}\n")
            return fault_proxy.CutAfter(rng.uniform(0.2, 2))
        return fault_proxy.Delay(rng.uniform(0, 0.5)) if kind == 3 else None
    return policy


class Life:
    """Random actions of users and nodes."""

    def __init__(self, api, seed):
        self.api = api
        self.rng = random.Random(seed)
        self.number = 0
        self.deployments = []
        self.nodes = [item["metadata"]["name"]
                      for item in api.json("GET", "/api/v1/nodes")[1]["items"]]
        self.broken = None
        self.has_claims = self.rng.random() < 0.5
        for value in (1, 100):
            self.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                "metadata": {"name": "p%d" % value}, "value": value})
        if self.has_claims:
            self.add_devices()

    def create(self, path, document):
        harness.change(self.api, "POST", path, document)

    def add_devices(self):
        self.create(DRA + "/deviceclasses", {
            "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
            "metadata": {"name": "gpu"},
            "spec": {"selectors": [{"cel": {"expression": "device.driver == 'd'"}}]}})
        for node in self.nodes[:2]:
            self.create(DRA + "/resourceslices", {
                "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
                "metadata": {"name": node}, "spec": {
                    "driver": "d", "nodeName": node,
                    "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                    "devices": [{"name": "g0"}, {"name": "g1"}]}})
        self.create(DRA + "/namespaces/default/resourceclaimtemplates", {
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"name": "gpu"}, "spec": {"spec": {"devices": {"requests": [
                {"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}}})

    def pod_spec(self, **more):
        spec = harness.pod("x", cpu=self.rng.choice(["100m", "500m", "1", "2"]), **more)["spec"]
        if self.rng.random() < 0.3:
            spec["priorityClassName"] = self.rng.choice(["p1", "p100"])
        if self.has_claims and self.rng.random() < 0.3:
            spec["resourceClaims"] = [{"name": "g", "resourceClaimTemplateName": "gpu"}]
        return spec

    def step(self):
        self.number += 1
        name = "x%d" % self.number
        self.rng.choice([self.add_deployment, self.add_deployment, self.scale, self.scale,
                         self.remove_deployment, self.add_pod, self.add_pod, self.add_job,
                         self.change_node, self.remove_pod])(name)

    def add_deployment(self, name):
        self.deployments.append(name)
        self.create(DEPLOYMENTS, {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": self.rng.randrange(1, 6),
                     "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": self.pod_spec()}}})

    def scale(self, _):
        if self.deployments:
            harness.change(self.api, "PATCH", DEPLOYMENTS + "/" + self.rng.choice(
                self.deployments), {"spec": {"replicas": self.rng.randrange(7)}})

    def remove_deployment(self, _):
        if len(self.deployments) > 3:
            name = self.deployments.pop(self.rng.randrange(len(self.deployments)))
            assert self.api.request("DELETE", DEPLOYMENTS + "/" + name)[0] == 200

    def add_pod(self, name):
        self.create(harness.PODS, dict(harness.pod(name), spec=self.pod_spec()))

    def remove_pod(self, _):
        pods = harness.list_pods(self.api)
        if pods:
            victim = self.rng.choice(pods)["metadata"]["name"]
            assert self.api.request("DELETE", harness.PODS + "/" + victim)[0] in (200, 404)

    def add_job(self, name):
        self.create(JOBS, {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"completions": 3, "parallelism": 2, "template": {
                "spec": self.pod_spec(restartPolicy="Never")}}})

    def change_node(self, name):
        if self.broken is not None:
            harness.change(self.api, "PATCH", "/api/v1/nodes/" + self.broken,
                           {"spec": {"taints": None}})
            self.broken = None
        elif self.rng.random() < 0.5:
            self.broken = self.rng.choice(self.nodes)
            harness.change(self.api, "PATCH", "/api/v1/nodes/" + self.broken,
                           {"spec": {"taints": [TAINT]}})
        elif len(self.nodes) > 3:
            node = self.nodes.pop()
            assert self.api.request("DELETE", "/api/v1/nodes/" + node)[0] == 200
        else:
            self.nodes.append("later-" + name)
            self.create("/api/v1/nodes", {
                "apiVersion": "v1", "kind": "Node", "metadata": {"name": self.nodes[-1]},
                "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "30"},
                           "capacity": {"cpu": "4", "memory": "16Gi", "pods": "30"}}})


def check_recording(found, watcher):
    """No pod is lost or doubled. A pod that existed only within a gap may be missing."""
    may_miss = any(line["kind"] == "Pod" for line in found.gaps)
    names = {key[1] for key in found.history if key[0] == "Pod"}
    assert names <= set(watcher.seen), names - set(watcher.seen)
    for name, seen in watcher.seen.items():
        history = found.history.get(("Pod", name), [])
        kinds = collections.Counter(event for event, _, _ in seen)
        recorded = collections.Counter(history)
        if may_miss and kinds["DELETED"]:
            assert recorded["add"] <= kinds["ADDED"], (name, history, seen)
            continue
        assert recorded["add"] == kinds["ADDED"], (name, history, seen)
        assert recorded["delete"] == kinds["DELETED"], (name, history, seen)
        if recorded["add"] == 1 and not may_miss:
            node = [node for _, _, node in seen if node]
            last = found.objects.get(("Pod", name), {}).get("spec", {}).get("nodeName")
            assert last is None or last == node[-1], (name, last, node)


def check_replay(program, folder, path, watcher):
    """Checks a replay of the whole recording; returns its comparison with the recording."""
    runs = scenario.Program(program.path, program.sanitized, folder)
    answers = [runs.run("replay", path, "-o", "json").expect(0).out for _ in range(2)]
    assert answers[0] == answers[1]
    answer = json.loads(answers[0])
    pods, comparison = answer["pods"], answer["comparison"]
    ends = ("succeeded", "deleted", "preempted", "lost", "evicted", "pending", "running")
    assert pods["created"] == sum(pods[name] for name in ends), pods
    assert len(comparison["differences"]) == comparison["bindings"] - comparison["same"]
    bound = {uid for seen in watcher.seen.values() for _, uid, node in seen if node}
    assert comparison["bindings"] <= len(bound), (comparison["bindings"], len(bound))
    for difference in comparison["differences"]:
        # A replay without --config follows the recording, so it never reports EqualScore.
        assert difference["why"] in ("Score", "NodeRejected", "NodeMissing", "Nominated"), (
            difference)
        assert difference["reason"], difference
    return comparison


def count_reproduced(program, folder, path, seconds):
    """Counts (equal, all) bindings of replays that each decide within a short window of time.

    Before its window a replay binds as recorded, so one decision that differs does not change all
    later ones."""
    runs = scenario.Program(program.path, program.sanitized, folder)
    same = bindings = 0
    for i in range(int(seconds / WINDOW_SECONDS) + 1):
        start = i * WINDOW_SECONDS
        answer = json.loads(runs.run(
            "replay", path, "-o", "json", "--from", "%dms" % (start * 1000),
            "--to", "%dms" % ((start + WINDOW_SECONDS) * 1000)).expect(0).out)
        same += answer["comparison"]["same"]
        bindings += answer["comparison"]["bindings"]
    return same, bindings


def is_still(program, api, folder, path):
    """Whether the recording equals the server's objects, and the objects stay unchanged for 1.5 s:
    a job may still be about to end."""
    before = record.snapshot_of(program, api, folder)
    time.sleep(1.5)
    with contextlib.suppress(AssertionError, ValueError, zlib.error):
        record.compare(record.Rebuilt(path).objects, before)
        record.compare(record.snapshot_of(program, api, folder), before)
        return True
    return False


def run_seed(program, seed):
    with record.scene(program, faults(seed), "--node-cpu", "4", "--job-run-time", "1s") as (
            api, folder, kubeconfig):
        life = Life(api, seed)
        watcher = Watcher(api)
        path = os.path.join(folder, "a.berthrec")
        recording = record.Recording(program, kubeconfig, path)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            life.step()
            time.sleep(life.rng.choice([0, 0.05, 0.3]))
        for name in life.deployments:
            harness.change(api, "PATCH", DEPLOYMENTS + "/" + name, {"spec": {"replicas": 1}})
        up.wait_for("a cluster that stands still, and its recording",
                    lambda: is_still(program, api, folder, path), 120)
        watcher.end()
        recording.stop()
        found = record.Rebuilt(path)
        keep = os.environ.get("BERTH_TEST_KEEP")
        if keep:
            shutil.copy(path, os.path.join(keep, "seed-%d.berthrec" % seed))
        check_recording(found, watcher)
        assert check_replay(program, folder, path, watcher)["bindings"]
        same, bindings = count_reproduced(program, folder, path, SECONDS)
        assert bindings
        # Without gaps, the lines are in the order of the changes in the cluster. The slower the
        # programs are, the more changes arrive between a decision and its binding.
        share = REPRODUCED * (0.7 if program.sanitized else 1)
        assert found.gaps or same >= share * bindings, (same, bindings)
        print("seed %d: %d changes, %d gaps, %d of %d bindings are the same"
              % (seed, found.change_count, len(found.gaps), same, bindings))


def test_a_calm_cluster_is_reproduced(program):
    """Creates pods one after another and deletes some: the replay binds every pod to the recorded
    node."""
    rng = random.Random(1)
    with record.scene(program, None, "--node-cpu", "4") as (api, folder, kubeconfig):
        watcher = Watcher(api)
        path = os.path.join(folder, "a.berthrec")
        recording = record.Recording(program, kubeconfig, path)
        for i in range(14):
            harness.make_pods(api, "p%d-" % i, 1, cpu=rng.choice(["100m", "500m", "700m", "1"]))
            harness.wait_until_bound(api, 1, prefix="p%d-" % i)
            if i % 4 == 3:
                gone = "/p%d-0" % (i - 2)
                assert api.request("DELETE", harness.PODS + gone)[0] == 200
                up.wait_for("the end of p%d-0" % (i - 2), lambda path=harness.PODS + gone:
                            api.request("GET", path)[0] == 404)
        record.settle(program, api, folder, path)
        watcher.end()
        recording.stop()
        check_recording(record.Rebuilt(path), watcher)
        comparison = check_replay(program, folder, path, watcher)
        assert (comparison["same"], comparison["bindings"]) == (14, 14)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("mode")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=1)
    return parser.parse_args()


def test_recorded_and_replayed(program):
    given = arguments()
    for seed in range(given.first, given.first + given.seeds):
        try:
            run_seed(program, seed)
        except BaseException:
            print("seed %d" % seed)
            raise


if __name__ == "__main__":
    up.main(globals())
