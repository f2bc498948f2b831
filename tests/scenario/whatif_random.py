#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth whatif on random clusters: workloads, budgets, volumes, against a plain model.

The model changes the objects as kubectl and the controllers would, and berth simulates the result.
BERTH_WHATIF_SEEDS=FIRST:COUNT draws other clusters.
"""
import copy
import os
import random

from objects import budget, deployment, node, pod
from whatif import (apply_report, drained, is_running, keeper, key_of, owned, removed, state_of,
                    whatif)
import scenario

SEEDS = "1:20"
ZONES = ["a", "b", "c"]
NOW = 60 * 24 * 30  # minutes: the newest time in a cluster


def minute(count):
    return "2026-01-%02dT%02d:%02d:00Z" % (1 + count // 1440, count // 60 % 24, count % 60)


# --- a cluster ---

def workload_pod(source, nodes, name, app, owner):
    """Returns a running pod of a workload with a random age, ready or not."""
    item = pod(name, "%dm" % source.choice([100, 300, 700]), source.choice(nodes))
    item["metadata"].update(labels={"app": app}, uid="u-%06d" % source.randrange(10 ** 6),
                            creationTimestamp=minute(source.randrange(NOW)))
    owned(item, *owner)
    item["status"] = {"phase": source.choice(["Running"] * 6 + ["Pending"])}
    if item["status"]["phase"] == "Running" and source.random() < 0.9:
        item["status"]["conditions"] = [
            {"type": "Ready", "status": source.choice(["True", "True", "True", "False"]),
             "lastTransitionTime": minute(source.randrange(NOW))}]
    if source.random() < 0.15:
        item["metadata"]["annotations"] = {
            "controller.kubernetes.io/pod-deletion-cost": str(source.choice([-3, 5]))}
    if source.random() < 0.06:
        item["metadata"]["deletionTimestamp"] = minute(NOW - 1)
    return item


def deployment_with_pods(source, nodes, name):
    count = source.randint(1, 7)
    result = [deployment(name, count, "300m")]
    for i in range(source.choice([1, 1, 2])):
        set_name = "%s-rs%d" % (name, i)
        item = {"apiVersion": "apps/v1", "kind": "ReplicaSet",
                "metadata": {"name": set_name, "creationTimestamp": minute(i)},
                "spec": copy.deepcopy(result[0]["spec"])}
        result.append(owned(item, "Deployment", name))
        for p in range(count if i == 0 else source.randint(0, 2)):
            result.append(workload_pod(source, nodes, "%s-%d" % (set_name, p), name,
                                       ("ReplicaSet", set_name)))
    return result


def stateful_set_with_pods(source, nodes, name):
    """A StatefulSet and its pods, each with a volume in the zone of its node."""
    count = source.randint(1, 4)
    result = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
               "spec": dict(deployment(name, count)["spec"], serviceName=name,
                            volumeClaimTemplates=[{
                                "metadata": {"name": "data"}, "spec": claim_spec()}])}]
    for i in range(count):
        item = workload_pod(source, nodes, "%s-%d" % (name, i), name, ("StatefulSet", name))
        claim = "data-%s-%d" % (name, i)
        item["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {
            "claimName": claim}}]
        where = item["spec"]["nodeName"]
        key, value = source.choice([("kubernetes.io/hostname", where),
                                    ("zone", ZONES[int(where[1:]) % 3])])
        result += [item,
                   {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                    "metadata": {"name": claim, "annotations": {
                        "pv.kubernetes.io/bind-completed": "yes"}},
                    "spec": dict(claim_spec(), volumeName="pv-" + claim),
                    "status": {"phase": "Bound"}},
                   {"apiVersion": "v1", "kind": "PersistentVolume",
                    "metadata": {"name": "pv-" + claim},
                    "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                             "claimRef": {"namespace": "default", "name": claim},
                             "nodeAffinity": {"required": {"nodeSelectorTerms": [
                                 {"matchExpressions": [{"key": key, "operator": "In",
                                                        "values": [value]}]}]}}}}]
    return result


def claim_spec():
    return {"accessModes": ["ReadWriteOnce"], "storageClassName": "",
            "resources": {"requests": {"storage": "1Gi"}}}


def random_cluster(source):
    names = ["n%d" % i for i in range(source.randint(3, 6))]
    objects = [node(name, labels={"zone": ZONES[i % 3], "kubernetes.io/hostname": name},
                    cpu=str(source.choice([2, 3, 4]))) for i, name in enumerate(names)]
    for i in range(source.randint(1, 3)):
        objects += deployment_with_pods(source, names, "web%d" % i)
    if source.random() < 0.7:
        objects += stateful_set_with_pods(source, names, "db")
    agents = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
              "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {
                  "metadata": {"labels": {"app": "agent"}}, "spec": pod("x", "50m")["spec"]}}}
    objects.append(agents)
    objects += [owned(pod("agent-" + name, "50m", name), "DaemonSet", "agent") for name in names]
    for i in range(source.randint(0, 3)):
        item = pod("bare-%d" % i, "100m", source.choice(names))
        if source.random() < 0.4:
            item["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
        item["status"] = {"phase": source.choice(["Running", "Succeeded"])}
        objects.append(item)
    waiting = pod("waiting", "100m")
    waiting["status"] = {"nominatedNodeName": source.choice(names), "phase": "Pending"}
    objects.append(waiting)
    for i, app in enumerate(source.sample(["web0", "web1", "web2", "db"], 2)):
        rule = source.choice([{"minAvailable": source.randint(0, 4)},
                              {"minAvailable": "%d%%" % source.randint(0, 100)},
                              {"maxUnavailable": source.randint(0, 3)},
                              {"maxUnavailable": "%d%%" % source.randint(0, 100)}])
        item = budget("guard%d" % i, {"app": app}, 0, **rule)
        item.pop("status")
        objects.append(item)
    return objects


# --- the model ---

def is_active(item):
    return (item["kind"] == "Pod" and "deletionTimestamp" not in item["metadata"] and
            item.get("status", {}).get("phase") not in ("Succeeded", "Failed"))


def ready_condition(item):
    found = [entry for entry in item.get("status", {}).get("conditions") or []
             if entry["type"] == "Ready"]
    return found[0] if found else None


def is_healthy(item):
    condition = ready_condition(item)
    if condition is not None:
        return condition["status"] == "True"
    return item.get("status", {}).get("phase") != "Pending"


def log2(minutes):
    return (minutes * 60).bit_length() - 1 if minutes > 0 else -1


def minutes_of(text):
    return (int(text[8:10]) - 1) * 1440 + int(text[11:13]) * 60 + int(text[14:16])


def goes_before(a, b, crowd, now):
    """Whether a controller deletes a before b: the ReplicaSet rules, one by one."""
    def rules(item):
        condition = ready_condition(item)
        ready = condition is not None and condition["status"] == "True"
        on_node = sum(1 for other in crowd
                      if other["spec"].get("nodeName") == item["spec"].get("nodeName")
                      and (ready_condition(other) or {}).get("status") == "True")
        cost = (item["metadata"].get("annotations") or {}).get(
            "controller.kubernetes.io/pod-deletion-cost", "0")
        return (("nodeName" in item["spec"], item["status"].get("phase") != "Pending", ready,
                 int(cost), -on_node),
                minutes_of(condition["lastTransitionTime"]) if ready else None,
                minutes_of(item["metadata"].get("creationTimestamp") or minute(now)),
                item["metadata"]["uid"])
    first, second = rules(a), rules(b)
    if first[0] != second[0]:
        return first[0] < second[0]
    for at in (1, 2):
        if first[at] != second[at]:
            ages = [log2(now - first[at]), log2(now - second[at])]
            return ages[0] < ages[1] if ages[0] != ages[1] else first[3] < second[3]
    return first[3] < second[3]


def newest(objects):
    times = [item["metadata"]["creationTimestamp"] for item in objects
             if "creationTimestamp" in item["metadata"]]
    times += [entry["lastTransitionTime"] for item in objects if item["kind"] == "Pod"
              for entry in item.get("status", {}).get("conditions") or []]
    return max(minutes_of(text) for text in times)


def scaled(objects, kind, name, count):
    result = copy.deepcopy(objects)
    next(item for item in result if item["kind"] == kind
         and item["metadata"]["name"] == name)["spec"]["replicas"] = count
    if kind == "StatefulSet":
        def goes(item):
            return (is_active(item) and keeper(item) == kind
                    and int(item["metadata"]["name"].split("-")[-1]) >= count)
        return [item for item in result if not goes(item)]
    now = newest(objects)
    sets = [item["metadata"]["name"] for item in result
            if item["kind"] == "ReplicaSet" and item["metadata"]["name"].startswith(name + "-")]
    pods = [[item for item in result if is_active(item) and keeper(item) == "ReplicaSet"
             and item["metadata"]["ownerReferences"][0]["name"] == owner] for owner in sets]
    crowds = [sum(pods[:-1], []), pods[-1]]  # old pods first
    gone = set()
    excess = sum(len(crowd) for crowd in crowds) - count
    for crowd in crowds:
        left = list(crowd)
        while left and excess > 0:
            first = left[0]
            for other in left[1:]:
                first = other if goes_before(other, first, crowd, now) else first
            left.remove(first)
            gone.add(key_of(first))
            excess -= 1
    return [item for item in result if item["kind"] != "Pod" or key_of(item) not in gone]


def part(value, total):
    if isinstance(value, int):
        return value
    return -(-int(value[:-1]) * total // 100)


def expected_budgets(objects, name):
    """Returns what a drain must report about each budget: {budget: (disruptionsAllowed, evictions,
    heldUp, pods in several budgets)}."""
    result = {}
    leaving = [item for item in objects if is_running(item) and item["spec"]["nodeName"] == name
               and keeper(item) not in ("Node", "DaemonSet") and is_active(item)
               and item.get("status", {}).get("phase") != "Pending"]
    budgets = [item for item in objects if item["kind"] == "PodDisruptionBudget"]
    for item in budgets:
        app = item["spec"]["selector"]["matchLabels"]["app"]

        def covered(one):
            return (one["metadata"].get("labels") or {}).get("app") == app
        pods = [one for one in objects if one["kind"] == "Pod" and covered(one) and
                one.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
        healthy = sum(1 for one in pods if is_active(one) and is_healthy(one))
        owners = [one for one in objects if one["kind"] in ("Deployment", "StatefulSet")
                  and one["metadata"]["name"] == app]
        scale = sum(one["spec"]["replicas"] for one in owners) if pods else 0
        spec = item["spec"]
        expected, desired = len(pods), spec.get("minAvailable", 0)
        if "maxUnavailable" in spec:
            expected, desired = scale, scale - part(spec["maxUnavailable"], scale)
        elif isinstance(desired, str):
            expected, desired = scale, part(desired, scale)
        desired = max(desired, 0)
        allowed = max(healthy - desired, 0) if expected > 0 else 0
        evicted = [one for one in leaving if covered(one)]
        counted = [one for one in evicted
                   if is_healthy(one) or not (desired > 0 and healthy >= desired)]
        if evicted:
            result[item["metadata"]["name"]] = (
                allowed, len(evicted), max(len(counted) - allowed, 0), 0)
    return result


# --- comparison ---

def random_change(source, objects):
    name = source.choice([item["metadata"]["name"] for item in objects if item["kind"] == "Node"])
    workloads = [item for item in objects if item["kind"] in ("Deployment", "StatefulSet")]
    kind = source.choice(["drain", "drain", "remove", "scale", "scale"])
    if kind == "drain":
        return ["--drain", name], drained(objects, name)
    if kind == "remove":
        return ["--remove", name], removed(objects, name)
    item = source.choice(workloads)
    count = source.randint(0, 8)
    text = "%s/%s=%d" % (item["kind"], item["metadata"]["name"], count)
    return ["--scale", text], scaled(objects, item["kind"], item["metadata"]["name"], count)


def judge(program, seed):
    source = random.Random(seed)
    objects = random_cluster(source)
    flags, after = random_change(source, objects)
    if flags[0] != "--scale" and source.random() < 0.5:
        more, after = random_change(source, after)
        flags = flags + more if more != flags else flags
    scratch = [] if source.random() < 0.8 else ["--preempt"]
    print("seed %d: %s" % (seed, flags + scratch))
    before, _ = state_of(program, objects, *scratch)
    expected, _ = state_of(program, after, *scratch)
    report = whatif(program, objects, *flags, *scratch)
    found = apply_report(before, report)
    assert found == expected, (seed, flags, sorted(set(found.items()) ^ set(expected.items())))
    if flags[0] == "--drain" and len(flags) == 2:
        budgets = {item["name"]: (item["disruptionsAllowed"], item["evictions"], item["heldUp"],
                                  item["inSeveralBudgets"]) for item in report["budgets"]}
        assert budgets == expected_budgets(objects, flags[1]), (
            seed, flags, budgets, expected_budgets(objects, flags[1]))
    return {item["change"] for item in report["pods"]} | {
        "held" for item in report["budgets"] if item["heldUp"]}


def test_random_clusters(program):
    text = os.environ.get("BERTH_WHATIF_SEEDS", SEEDS)
    first, count = map(int, text.split(":"))
    seen = set()
    for seed in range(first, first + count):
        seen |= judge(program, seed)
    assert text != SEEDS or {"pending", "lost", "moved", "gone", "held"} <= seen, seen


if __name__ == "__main__":
    scenario.main({"test_random_clusters": test_random_clusters})
