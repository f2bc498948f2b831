#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth whatif compared with berth simulate on input that Python has changed in the same way."""
import copy
import gzip
import json
import os
import random
import re

import scenario
from objects import budget, deployment, lines, node, pod, priority_class

VECTORS = os.path.join(scenario.ROOT, "tests", "conformance", "vectors")
CATEGORIES = ["mixed", "resources", "nodeaffinity", "taints", "spread", "podaffinity", "volumes"]
CASES = 12  # of each category
SEED = "8"


# --- clusters in Python ---

def owned(item, kind="ReplicaSet", name="rs"):
    """Give the pod a controller; returns the pod."""
    item["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "u-" + name,
         "controller": True}]
    return item


def running(name, cpu, node_name, status=None, **rest):
    item = owned(pod(name, cpu, node_name, **rest))
    item["status"] = dict({"phase": "Running"}, **(status or {}))
    return item


def keeper(item):
    if "kubernetes.io/config.mirror" in (item["metadata"].get("annotations") or {}):
        return "Node"
    for owner in item["metadata"].get("ownerReferences") or []:
        if owner.get("controller"):
            return owner["kind"]
    return ""


def is_running(item):
    return (item["kind"] == "Pod" and item["spec"].get("nodeName") and
            item.get("status", {}).get("phase") not in ("Succeeded", "Failed"))


def key_of(item):
    return (item["metadata"].get("namespace") or "default") + "/" + item["metadata"]["name"]


def leave(objects, may_go):
    """Evict the pods for which may_go(pod) is true. A pod with a controller is recreated without a
    node; other pods are removed."""
    left = []
    for item in objects:
        if is_running(item) and may_go(item):
            if "deletionTimestamp" in item["metadata"] or keeper(item) in ("", "DaemonSet"):
                continue
            item = copy.deepcopy(item)
            del item["spec"]["nodeName"]
            item["status"] = {}
            item["metadata"].pop("creationTimestamp", None)
        left.append(item)
    return left


def drained(objects, name):
    result = copy.deepcopy(objects)
    for item in result:
        if item["kind"] == "Node" and item["metadata"]["name"] == name:
            item.setdefault("spec", {})["unschedulable"] = True
    return leave(result, lambda item: item["spec"]["nodeName"] == name and
                 keeper(item) not in ("Node", "DaemonSet"))


def removed(objects, name):
    result = [item for item in objects
              if not (item["kind"] == "Node" and item["metadata"]["name"] == name)
              and not (is_running(item) and item["spec"]["nodeName"] == name
                       and keeper(item) in ("Node", "DaemonSet"))]
    return leave(result, lambda item: item["spec"]["nodeName"] == name)


def added(objects, count, name):
    result = copy.deepcopy(objects)
    model = next(item for item in objects
                 if item["kind"] == "Node" and item["metadata"]["name"] == name)
    volumes = [item for item in objects
               if item["kind"] == "CSINode" and item["metadata"]["name"] == name]
    for i in range(1, count + 1):
        new = copy.deepcopy(model)
        new["metadata"]["name"] = "%s-%d" % (name, i)
        new["metadata"].pop("uid", None)
        new.setdefault("spec", {})["unschedulable"] = False
        new["spec"]["taints"] = [taint for taint in new["spec"].get("taints") or []
                                 if not taint["key"].startswith("node.kubernetes.io/")]
        new.get("status", {}).pop("images", None)
        labels = new["metadata"].get("labels") or {}
        if "kubernetes.io/hostname" in labels:
            labels["kubernetes.io/hostname"] = new["metadata"]["name"]
        result.append(new)
        for item in volumes:
            item = copy.deepcopy(item)
            item["metadata"]["name"] = new["metadata"]["name"]
            item["metadata"].pop("uid", None)
            result.append(item)
        result += daemon_pods(objects, name, new["metadata"]["name"])
    return result


def daemon_pods(objects, model, name):
    """Returns a pod on the new node for each DaemonSet that has a pod on the model node."""
    pods = {}
    for item in objects:
        if is_running(item) and item["spec"]["nodeName"] == model and keeper(item) == "DaemonSet":
            item = copy.deepcopy(item)
            item["metadata"]["name"] = "%s-%s" % (
                item["metadata"]["ownerReferences"][0]["name"], name)
            item["metadata"].pop("creationTimestamp", None)
            item["spec"]["nodeName"] = name
            item["status"] = {}
            pods.setdefault(key_of(item), item)
    return list(pods.values())


def edited(objects, name, edit):
    """A copy of the objects in which edit(node) has changed the node of this name."""
    result = copy.deepcopy(objects)
    for item in result:
        if item["kind"] == "Node" and item["metadata"]["name"] == name:
            item.setdefault("spec", {})
            item["metadata"].setdefault("labels", {})
            edit(item)
    return result


def tolerates(item, taint):
    for toleration in item["spec"].get("tolerations") or []:
        if toleration.get("effect") and toleration["effect"] != taint["effect"]:
            continue
        if toleration.get("key") and toleration["key"] != taint["key"]:
            continue
        if toleration.get("tolerationSeconds") is not None:
            continue
        if toleration.get("operator") == "Exists" or (
                toleration.get("key") and
                toleration.get("operator", "Equal") in ("Equal", "") and
                (toleration.get("value") or "") == taint["value"]):
            return True
    return False


def tainted(objects, name, taint):
    new = []

    def set_taint(item):
        taints = [dict(old, value=old.get("value") or "")
                  for old in item["spec"].get("taints") or []]
        if taint not in taints:
            new.append(taint)
            item["spec"]["taints"] = [
                old for old in taints
                if (old["key"], old["effect"]) != (taint["key"], taint["effect"])] + [taint]
    result = edited(objects, name, set_taint)
    return leave(result, lambda item: item["spec"]["nodeName"] == name and
                 keeper(item) != "Node" and new and taint["effect"] == "NoExecute" and
                 not tolerates(item, taint))


# --- states: {"namespace/name": node, or "" when pending} ---

def state_of(program, objects, *flags):
    answer = program.run("simulate", "-f", "-", "-o", "json", *flags, stdin=lines(*objects))
    assert answer.status in (0, 1), answer.err
    state = {key_of(item): item["spec"]["nodeName"] for item in objects if is_running(item)}
    messages = {}
    for item in answer.json()["evictions"]:
        del state[item["namespace"] + "/" + item["name"]]
    for key, item in answer.pods().items():
        state[key] = item["node"]
        messages[key] = item["message"]
    return state, messages


def apply_report(state, report):
    """The before state with the reported differences applied."""
    state = dict(state)
    for item in report["pods"]:
        key = item["namespace"] + "/" + item["name"]
        assert state.get(key, "") == item["nodeBefore"], (key, item, state.get(key))
        assert (key not in state) == item["isNew"], item
        if item["change"] in ("lost", "gone", "preempted"):
            del state[key]
        else:
            assert (item["nodeAfter"] == "") == (item["change"] == "pending"), item
            state[key] = item["nodeAfter"]
    return state


def whatif(program, objects, *flags, status=None):
    answer = program.run("whatif", "-f", "-", "-o", "json", *flags, stdin=lines(*objects))
    assert answer.status in (0, 1), answer.err
    report = answer.json()
    summary = report["summary"]
    for name in ["pending", "lost", "preempted", "moved", "placed", "replanned", "gone"]:
        assert summary[name] == sum(item["change"] == name for item in report["pods"]), summary
    worse = summary["pending"] + summary["lost"] + summary["preempted"] != 0
    assert answer.status == (1 if worse else 0) and summary["worse"] == worse, summary
    assert status is None or answer.status == status, (answer.status, report["pods"])
    return report


def check(program, objects, expected_objects, flags, before=(), after=()):
    """whatif with these flags reports the same as a simulation of the edited objects."""
    state, _ = state_of(program, objects, *before)
    expected, messages = state_of(program, expected_objects, *after)
    report = whatif(program, objects, *flags)
    got = apply_report(state, report)
    # Pods that the edit in Python removed must be missing in both states. Neither state has
    # terminating pods.
    assert got == expected, {key: (got.get(key), expected.get(key)) for key in set(got) ^
                             set(expected) | {key for key in got if got[key] !=
                                              expected.get(key)}}
    for item in report["pods"]:
        if item["change"] == "pending":
            assert item["message"] == messages[item["namespace"] + "/" + item["name"]], item
    pending = sum(1 for node_name in expected.values() if node_name == "")
    assert report["summary"]["pendingAfter"] == pending, report["summary"]
    return report


def changes(report):
    return {item["namespace"] + "/" + item["name"]:
            (item["change"], item["nodeBefore"], item["nodeAfter"]) for item in report["pods"]}


# --- random clusters ---

def recorded(category):
    path = os.path.join(VECTORS, category + ".cases.jsonl.gz")
    if not os.path.exists(path):
        return []
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def random_cluster(source, case):
    """Objects and pods of a recorded case: some pods get controllers; terminating pods are left
    out."""
    objects = copy.deepcopy(case["objects"])
    objects += [copy.deepcopy(step) for step in case["pending"] if step.get("kind") == "Pod"]
    objects = [item for item in objects if "deletionTimestamp" not in item["metadata"]]
    names = set()
    result = []
    for item in objects:
        name = (item["kind"], key_of(item))
        if name in names:
            continue
        names.add(name)
        item["metadata"].pop("uid", None)
        if item["kind"] == "Pod":
            kind = source.choice(["", "ReplicaSet", "ReplicaSet", "Job", "DaemonSet", "Node"])
            item["metadata"].pop("ownerReferences", None)
            if kind:
                owned(item, kind, "owner-%d" % source.randrange(3))
        result.append(item)
    return result


def random_change(source, objects):
    """Random flags, and the objects after these changes."""
    nodes = [item for item in objects if item["kind"] == "Node"]
    item = source.choice(nodes)
    name = item["metadata"]["name"]
    kind = source.choice(["drain", "remove", "drain", "remove", "add", "cordon", "uncordon",
                          "taint", "taint", "untaint", "label", "unlabel"])
    if kind == "drain":
        return ["--drain", name], drained(objects, name)
    if kind == "remove":
        return ["--remove", name], removed(objects, name)
    if kind == "add":
        count = source.randint(1, 3)
        return ["--add", "%d=%s" % (count, name)], added(objects, count, name)
    if kind == "cordon":
        return ["--cordon", name], edited(
            objects, name, lambda item: item["spec"].update(unschedulable=True))
    if kind == "uncordon":
        def uncordon(item):
            item["spec"]["unschedulable"] = False
            item["spec"]["taints"] = [
                taint for taint in item["spec"].get("taints") or []
                if taint["key"] != "node.kubernetes.io/unschedulable"]
        return ["--uncordon", name], edited(objects, name, uncordon)
    if kind == "taint":
        taint = {"key": source.choice(["dedicated", "team", "k1"]),
                 "value": source.choice(["", "a", "v1"]),
                 "effect": source.choice(["NoSchedule", "PreferNoSchedule", "NoExecute"])}
        text = "%s=%s=%s:%s" % (name, taint["key"], taint["value"], taint["effect"])
        return ["--taint", text.replace("=:", ":")], tainted(objects, name, taint)
    if kind == "untaint":
        taints = item.get("spec", {}).get("taints") or [{"key": "none"}]
        key = source.choice(taints)["key"]
        return ["--taint", "%s=%s-" % (name, key)], edited(
            objects, name, lambda item: item["spec"].update(
                taints=[taint for taint in item["spec"].get("taints") or []
                        if taint["key"] != key]))
    labels = sorted(item["metadata"].get("labels") or {"none": ""})
    key = source.choice(labels)
    if kind == "label":
        value = source.choice(sorted(
            (other["metadata"].get("labels") or {}).get(key, "x") for other in nodes))
        return ["--label", "%s=%s=%s" % (name, key, value)], edited(
            objects, name, lambda item: item["metadata"]["labels"].update({key: value}))
    return ["--label", "%s=%s-" % (name, key)], edited(
        objects, name, lambda item: item["metadata"]["labels"].pop(key, None))


def test_random_changes_equal_edited_input(program):
    """All kinds of changes, several in a row, on the objects of recorded cases."""
    seed = int(os.environ.get("BERTH_WHATIF_SEED", SEED))
    seen = {}
    for category in CATEGORIES:
        source = random.Random("%d %s" % (seed, category))
        cases = [case for case in recorded(category)
                 if sum(item["kind"] == "Node" for item in case["objects"]) > 1]
        count = CASES // 3 if program.sanitized else CASES
        for case in source.sample(cases, min(count, len(cases))):
            objects = random_cluster(source, case)
            flags, after = [], objects
            for _ in range(source.choice([1, 1, 2, 3])):
                more, next_after = random_change(source, after)
                if more[0] == "--drain" and any(more == flags[i:i + 2] for i in
                                                range(0, len(flags), 2)):
                    continue
                flags, after = flags + more, next_after
                if not any(item["kind"] == "Node" for item in after):
                    break
            print("seed %d, %s, case %s: %s" % (seed, category, case["name"], flags))
            report = check(program, objects, after, flags)
            for item in report["pods"]:
                seen[item["change"]] = seen.get(item["change"], 0) + 1
    # With the default seed every outcome occurs; another seed may miss a rare outcome.
    assert seed != int(SEED) or {"pending", "lost", "moved", "placed", "replanned",
                                 "gone"} <= set(seen), seen


def test_changes_that_cancel_change_nothing(program):
    source = random.Random(17)
    for category in CATEGORIES:
        cases = recorded(category)
        for case in source.sample(cases, min(4, len(cases))):
            objects = random_cluster(source, case)
            name = source.choice([item["metadata"]["name"] for item in objects
                                  if item["kind"] == "Node"
                                  and not item.get("spec", {}).get("unschedulable")])
            report = whatif(
                program, objects, "--taint", name + "=berth.dev/x=y:NoSchedule",
                "--add", "2=" + name, "--cordon", name, "--label", name + "=berth.dev/l=1",
                "--uncordon", name, "--remove", name + "-?", "--label", name + "=berth.dev/l-",
                "--taint", name + "=berth.dev/x-", status=0)
            assert report["pods"] == [] and report["nodes"] == [], report
            assert report["cluster"]["before"] == report["cluster"]["after"], report


# --- one kind of change each ---

THREE = [node("n1", labels={"zone": "a", "kubernetes.io/hostname": "n1"}),
         node("n2", labels={"zone": "a", "kubernetes.io/hostname": "n2"}),
         node("n3", labels={"zone": "b", "kubernetes.io/hostname": "n3"}, cpu="2")]


def test_drain(program):
    objects = THREE + [running("web", "1", "n1"), pod("bare", "1", "n1"),
                       owned(pod("agent", "1", "n1"), "DaemonSet", "agent"),
                       running("large", "4", "n2"), running("huge", "2", "n1")]
    report = whatif(program, objects, "--drain", "n1", status=1)
    found = changes(report)
    assert found["default/bare"] == ("lost", "n1", ""), found
    assert "default/agent" not in found, found
    assert sorted(change[0] for change in found.values()) == ["lost", "moved", "pending"], found
    lost = next(item for item in report["pods"] if item["change"] == "lost")
    assert lost["cause"] == "its node is drained", lost
    entry = next(item for item in report["nodes"] if item["name"] == "n1")
    assert entry["changes"] == ["cordoned", "drained"], entry
    assert entry["before"]["cpuMilli"] == {"requested": 5000, "allocatable": 4000}, entry
    assert entry["after"]["cpuMilli"]["requested"] == 1000, entry
    found = changes(whatif(program, objects, "--drain", "n1", "--recreate-bare-pods", status=1))
    assert found["default/bare"][0] in ("moved", "pending"), found


def test_pods_that_are_never_evicted(program):
    mirror = pod("static", "1", "n1")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    leaving = running("leaving", "1", "n1")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    done = pod("done", "1", "n1")
    done["status"] = {"phase": "Succeeded"}
    objects = THREE + [mirror, leaving, done]
    report = whatif(program, objects, "--drain", "n1", status=0)
    assert changes(report) == {"default/leaving": ("gone", "n1", "")}, report["pods"]
    assert report["pods"][0]["cause"] == "it was being deleted", report["pods"]
    report = whatif(program, objects, "--remove", "n1", status=0)
    assert changes(report) == {"default/leaving": ("gone", "n1", ""),
                               "default/static": ("gone", "n1", "")}, report["pods"]


def test_large_sets_are_grouped(program):
    nodes = [node("n%03d" % i, cpu="64") for i in range(120)]
    for item in nodes:
        item["status"]["capacity"]["pods"] = "110"
    pods = []
    for i in range(900):
        item = pod("w%d-%d" % (i % 90, i), "100m", "n%03d" % (i % 60))
        pods.append(owned(item, "ReplicaSet", "w%d" % (i % 90)))
    text = lines(*(nodes + pods))
    out = program.run("whatif", "-f", "-", "--drain", "n0*", stdin=text).expect(0).out
    rows = out.split("\n")
    pods_told = [row for row in rows if row.startswith("moved ")]
    assert len(pods_told) == 60 and " (10 pods of ReplicaSet) " in pods_told[0], pods_told[:2]
    assert "300 more pods fare differently: -o wide lists all" in rows, rows[60:64]
    assert any(row.endswith(" more nodes differ: -o wide lists all") for row in rows), rows[-8:]
    assert len(rows) < 120, len(rows)
    # Pods of a workload share a row if the row is right for all of them.
    objects = [nodes[0], deployment("web", 50, cpu="1600m")]
    out = program.run("whatif", "-f", "-", "--scale", "deployment/web=0",
                      stdin=lines(*objects)).expect(0).out
    rows = [re.split("  +", line)[:3] for line in out.splitlines() if line.startswith("gone ")]
    assert rows == [["gone", "default/web (40 pods of Deployment)", "n000"],
                    ["gone", "default/web (10 pods of Deployment)", "-"]], out
    out = program.run("whatif", "-f", "-", "--add", "3=n000", "--scale", "deployment/web=90",
                      stdin=lines(*objects)).expect(0).out
    assert re.search(r"\(10 pods of Deployment\) .* it was pending\n", out), out
    assert re.search(r"\(40 pods of Deployment\) .* it is new\n", out), out


def test_selectors_and_patterns(program):
    def nodes(*flags):
        return [item["name"] for item in whatif(program, THREE, *flags)["nodes"]]
    assert nodes("--cordon", "n?") == ["n1", "n2", "n3"]
    assert nodes("--cordon", "[zone=a]") == ["n1", "n2"]
    assert nodes("--cordon", "[zone in (b,c)]") == ["n3"]
    assert nodes("--taint", "[zone!=a]=k=v:NoSchedule") == ["n3"]
    assert nodes("--label", "*3=k=v") == ["n3"]
    assert nodes("--add", "2=n3", "--cordon", "n3-*") == ["n3-1", "n3-2"]


def test_budgets(program):
    guarded = [guarded_pod("db-%d" % i, "n1") for i in range(3)]
    unready = copy.deepcopy(guarded[0])
    unready["metadata"]["name"] = "db-starting"
    unready["status"] = {"phase": "Pending"}
    objects = THREE + guarded + [unready]
    for allowed, held, words in [(0, 3, "refused until the budget allows"),
                                 (1, 2, "2 wait until replacements are ready"),
                                 (3, 0, "all at once")]:
        text = objects + [budget("db", {"app": "db"}, allowed),
                          budget("other", {"app": "other"}, 0)]
        for item in text[-2:]:
            item["status"].update(expectedPods=3, currentHealthy=3, desiredHealthy=3 - allowed)
        report = whatif(program, text, "--drain", "n1")
        assert report["budgets"] == [
            {"namespace": "default", "name": "db", "disruptionsAllowed": allowed,
             "evictions": 3, "heldUp": held, "inSeveralBudgets": 0,
             "pendingReplacements": 0}], report["budgets"]
        out = program.run("whatif", "-f", "-", "--drain", "n1", stdin=lines(*text)).out
        assert "BUDGET" in out and words in out, out
        # Removing a node is no eviction, so budgets do not apply.
        assert whatif(program, text, "--remove", "n1")["budgets"] == []
    text = objects + [budget("db", {"app": "db"}, 3), budget("all", {"app": "db"}, 3)]
    report = whatif(program, text, "--drain", "n1")
    assert [item["inSeveralBudgets"] for item in report["budgets"]] == [3, 3], report["budgets"]


def guarded_pod(name, node_name):
    item = running(name, "1", node_name)
    item["metadata"]["labels"] = {"app": "db"}
    return item


def ready(item, is_ready):
    item["status"]["conditions"] = [{"type": "Ready", "status": str(is_ready)}]
    return item


def test_budgets_without_status(program):
    """If a budget has no status, whatif computes it, as the disruption controller does."""
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "rs"},
                   "spec": deployment("db", 4)["spec"]}
    pods = [guarded_pod("db-%d" % i, "n%d" % (1 + i % 3)) for i in range(4)]

    def verdict(objects, **rest):
        text = THREE + [replica_set] + objects + [budget("db", {"app": "db"}, 0, **rest)]
        text[-1].pop("status")
        (found,) = whatif(program, text, "--drain", "n1")["budgets"]
        return found["disruptionsAllowed"], found["evictions"], found["heldUp"]
    assert verdict(pods, minAvailable=3) == (1, 2, 1)
    assert verdict(pods, minAvailable="75%") == (1, 2, 1)
    assert verdict(pods, maxUnavailable=2) == (2, 2, 0)
    assert verdict(pods, maxUnavailable="10%") == (1, 2, 1)
    assert verdict(pods, maxUnavailable=0) == (0, 2, 2)
    assert verdict(pods, minAvailable=9) == (0, 2, 2)
    # Evicting a pod that is not ready is no disruption while enough others are ready.
    pods = [ready(item, item["metadata"]["name"] != "db-0") for item in pods]
    assert verdict(pods, minAvailable=3) == (0, 2, 1)
    assert verdict(pods, minAvailable=4) == (0, 2, 2)
    assert verdict(pods, minAvailable=4, unhealthyPodEvictionPolicy="AlwaysAllow") == (0, 2, 1)


def test_budgets_that_come_late(program):
    objects = THREE + [guarded_pod("db-%d" % i, "n%d" % i) for i in (1, 2)]
    late = budget("db", {"app": "db"}, 0, minAvailable=2)
    late.pop("status")
    path = program.write("budget.json", lines(late))
    (found,) = whatif(program, objects, "--drain", "n1", "--with", path, "--drain", "n2",
                      "--with", path, "--cordon", "n3")["budgets"]
    assert (found["evictions"], found["heldUp"]) == (1, 1), found


def test_snapshots_daemon_sets_follow(program):
    """A DaemonSet of a snapshot: each node that starts to match gets a pod, and a node that no
    longer matches loses its pod."""
    agents = {"apiVersion": "apps/v1", "kind": "DaemonSet",
              "metadata": {"name": "agent", "annotations": {"berth.dev/pods-exist": "true"}},
              "spec": {"selector": {"matchLabels": {"app": "agent"}},
                       "template": {"metadata": {"labels": {"app": "agent"}},
                                    "spec": dict(pod("x", "100m")["spec"],
                                                 nodeSelector={"zone": "a"})}}}
    objects = THREE + [agents] + [owned(pod("agent-" + name, "100m", name), "DaemonSet", "agent")
                                  for name in ("n1", "n2")]
    found = changes(whatif(program, objects, "--add", "1=n1", status=0))
    assert list(found.values()) == [("placed", "", "n1-1")], found
    found = changes(whatif(program, objects, "--label", "n3=zone=a", status=0))
    assert list(found.values()) == [("placed", "", "n3")], found
    path = program.write("node.json", lines(node("n1", labels={"zone": "c"})))
    found = changes(whatif(program, objects, "--with", path, status=0))
    assert found == {"default/agent-n1": ("gone", "n1", "")}, found


def test_scale_during_a_rollout(program):
    """Pods of the old revision go first, because the rollout deletes them anyway."""
    def replica_set(name, revision, day):
        item = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {
            "name": name, "creationTimestamp": "2026-01-0%dT00:00:00Z" % day,
            "annotations": {"deployment.kubernetes.io/revision": revision}},
                "spec": deployment("web", 2)["spec"]}
        return owned(item, "Deployment", "web")
    objects = THREE + [deployment("web", 4), replica_set("web-a", "3", 1),
                       replica_set("web-b", "2", 2)]
    for i in range(4):
        item = running("web-%d" % i, "100m", "n1", status={"phase": "Running"})
        objects.append(ready(owned(item, "ReplicaSet", "web-" + "ab"[i % 2]), i % 2 == 1))
    for count, gone in [(3, {"web-1"}), (2, {"web-1", "web-3"}),
                        (1, {"web-0", "web-1", "web-3"})]:
        report = whatif(program, objects, "--scale", "deployment/web=%d" % count, status=0)
        assert {item["name"] for item in report["pods"]} == gone, (count, report["pods"])


def test_add(program):
    daemon = owned(pod("agent-x", "1", "n1"), "DaemonSet", "agent")
    objects = THREE + [daemon, pod("huge", "4"), running("web", "4", "n2")]
    report = whatif(program, objects, "--add", "1=n1", status=0)
    assert changes(report) == {"default/huge": ("placed", "", "n1-1"),
                               "default/agent-n1-1": ("placed", "", "n1-1")} or changes(
        report)["default/agent-n1-1"] == ("placed", "", "n1-1"), changes(report)
    new = next(item for item in report["nodes"] if item["name"] == "n1-1")
    assert new["changes"] == ["added"] and new["before"] is None, new
    assert report["summary"]["nodesAfter"] == 4, report["summary"]
    # --add may copy a node that was removed.
    report = whatif(program, objects, "--remove", "n1", "--add", "2=n1")
    assert [item["name"] for item in report["nodes"] if item["changes"]] == [
        "n1", "n1-1", "n1-2"], report["nodes"]


def test_added_nodes_are_fresh(program):
    old = node("n1", labels={"kubernetes.io/hostname": "n1"}, spec={
        "unschedulable": True, "taints": [
            {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]})
    old["status"]["images"] = [{"names": ["x/y:1"], "sizeBytes": 900 << 20}]
    chooser = pod("chooser", "1")
    chooser["spec"]["containers"][0]["image"] = "x/y:1"
    # The pod goes to n2, which is larger: the added node n1-1 does not have the image of n1.
    objects = [old, node("n2", cpu="6"), chooser]
    report = whatif(program, objects, "--add", "1=n1", status=0)
    assert changes(report) == {}, report["pods"]
    fixed = pod("fixed", "1", nodeSelector={"kubernetes.io/hostname": "n1-1"})
    report = whatif(program, objects + [fixed], "--add", "1=n1", status=0)
    assert changes(report) == {"default/fixed": ("placed", "", "n1-1")}, report["pods"]
    # Uncordoning removes the taint that cordoning added.
    fixed["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "n1"}
    report = whatif(program, objects + [fixed], "--uncordon", "n1", status=0)
    assert changes(report)["default/fixed"] == ("placed", "", "n1"), report["pods"]


def test_taint_evicts(program):
    objects = THREE + [running("a", "1", "n1"), running(
        "b", "1", "n1", tolerations=[{"key": "k", "operator": "Exists"}]), running(
            "c", "1", "n1", tolerations=[{"key": "k", "operator": "Exists",
                                          "tolerationSeconds": 60}])]
    assert set(changes(whatif(program, objects, "--taint", "n1=k=v:NoSchedule"))) == set()
    found = changes(whatif(program, objects, "--taint", "n1=k=v:NoExecute", status=0))
    # Pod c is evicted too, but is placed on n1 again, because it tolerates the taint for a minute.
    assert set(found) == {"default/a"}, found
    objects[0] = node("n1", spec={"taints": [{"key": "k", "effect": "NoExecute"}]})
    # Taints that the node already has evict no pod.
    assert whatif(program, objects, "--taint", "n1=l=v:NoSchedule", status=0)["pods"] == []


def test_daemon_sets(program):
    agents = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
              "spec": {"selector": {"matchLabels": {"app": "agent"}},
                       "template": {"metadata": {"labels": {"app": "agent"}},
                                    "spec": dict(pod("x", "100m")["spec"],
                                                 nodeSelector={"zone": "a"})}}}
    objects = THREE + [agents]
    found = changes(whatif(program, objects, "--remove", "n1", status=0))
    assert list(found.values()) == [("gone", "n1", "")], found
    found = changes(whatif(program, objects, "--label", "n3=zone=a", status=0))
    assert list(found.values()) == [("placed", "", "n3")], found
    objects.append(owned(pod("agent-1", "100m", "n1"), "DaemonSet", "agent"))
    report = whatif(program, objects, "--label", "n1=zone=c", status=0)
    assert changes(report) == {"default/agent-1": ("gone", "n1", "")}, report["pods"]
    assert report["pods"][0]["cause"] == "its DaemonSet does not select its node any more"


def replicas(*pods):
    for item in pods:
        owned(item, "ReplicaSet", "web-1")
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet",
                   "metadata": {"name": "web-1"},
                   "spec": deployment("web", len(pods))["spec"]}
    return THREE + [replica_set] + list(pods)


def test_scale(program):
    ready = {"conditions": [{"type": "Ready", "status": "True",
                             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
    young = {"conditions": [{"type": "Ready", "status": "True",
                             "lastTransitionTime": "2026-02-01T00:00:00Z"}]}
    cheap = running("cheap", "1", "n2", status=ready)
    cheap["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": "-5"}
    objects = replicas(running("old", "100m", "n1", status=ready),
                       running("crowded", "100m", "n1", status=young),
                       cheap, running("unready", "1", "n3"), pod("waiting", "100m"))
    gone = ["waiting", "unready", "cheap", "crowded", "old"]
    for count in range(5):
        report = whatif(program, objects, "--scale", "rs/web-1=%d" % count, status=0)
        assert {item["name"] for item in report["pods"] if item["change"] == "gone"} == set(
            gone[:5 - count]), (count, report["pods"])
    crowd = replicas(running("a", "1", "n1", status=ready), running("b", "1", "n1", status=ready),
                     running("c", "1", "n2", status=ready))
    report = whatif(program, crowd, "--scale", "rs/web-1=2", status=0)
    assert [item["name"] for item in report["pods"]] == ["a"], report["pods"]
    # Ages are compared on a logarithmic scale: for nearly equal ages the uid decides.
    for name, age, uid in [("p", "00:00:00", "u2"), ("q", "00:00:20", "u1"),
                           ("r", "20:00:00", "u3")]:
        item = running(name, "1", {"p": "n1", "q": "n2", "r": "n3"}[name], status={
            "conditions": [{"type": "Ready", "status": "True",
                            "lastTransitionTime": "2026-01-01T%sZ" % age}]})
        item["metadata"]["uid"] = uid
        crowd = [item] if name == "p" else crowd + [item]
    crowd = replicas(*crowd)
    for count, gone in [(2, {"r"}), (1, {"r", "q"})]:
        report = whatif(program, crowd, "--scale", "rs/web-1=%d" % count, status=0)
        assert {item["name"] for item in report["pods"]} == gone, report["pods"]
    more = copy.deepcopy(objects)
    next(item for item in more if item["kind"] == "ReplicaSet")["spec"]["replicas"] = 9
    report = check(program, objects, more, ["--scale", "replicaset/default/web-1=9"])
    assert report["summary"]["placed"] + report["summary"]["pending"] == 4, report["summary"]
    # Scaling down a StatefulSet removes the pods with the highest ordinals.
    stateful = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
                "spec": dict(deployment("db", 3)["spec"], serviceName="db")}
    objects = THREE + [stateful] + [owned(pod("db-%d" % i, "1", "n1"), "StatefulSet", "db")
                                    for i in range(3)]
    found = changes(whatif(program, objects, "--scale", "sts/db=1", status=0))
    assert set(found) == {"default/db-1", "default/db-2"}, found


def test_with(program):
    objects = THREE + [running("a", "1", "n1")]
    extra = [deployment("web", 2), node("n4", cpu="16")]
    path = program.write("extra/within/extra.json", lines(*extra))
    report = check(program, objects, objects + extra, ["--with", path])
    folder = os.path.dirname(os.path.dirname(path))
    assert check(program, objects, objects + extra, ["-R", "--with", folder])["pods"] == report[
        "pods"]
    assert report["summary"]["placed"] == 2, report["summary"]
    assert "other" not in str(report["nodes"]), report["nodes"]
    # An existing workload: fewer replicas, and then another template.
    objects = replicas(running("a", "1", "n1"), running("b", "1", "n2"))
    changed = copy.deepcopy(next(item for item in objects if item["kind"] == "ReplicaSet"))
    changed["spec"]["replicas"] = 1
    path = program.write("fewer.json", lines(changed))
    report = whatif(program, objects, "--with", path, status=0)
    assert [item["change"] for item in report["pods"]] == ["gone"], report["pods"]
    changed["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "3"
    path = program.write("larger.json", lines(changed))
    report = whatif(program, objects, "--with", path, status=0)
    # A ReplicaSet keeps pods of another template.
    assert [item["change"] for item in report["pods"]] == ["gone"], report["pods"]
    web = deployment("web", 1)
    for item in objects:
        if item["kind"] == "ReplicaSet":
            owned(item, "Deployment", "web")
    objects.append(deployment("web", 2))
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "3"}}
    path = program.write("larger.json", lines(web))
    report = whatif(program, objects, "--with", path, status=0)
    assert sorted(item["change"] for item in report["pods"]) == ["gone", "gone", "placed"]
    assert report["pods"][-1]["cause"] == "its workload has another template", report["pods"]
    # A paused Deployment has no rollout. A manifest without replicas keeps their number.
    web["spec"]["paused"] = True
    del web["spec"]["replicas"]
    path = program.write("paused.json", lines(web))
    assert whatif(program, objects, "--with", path, status=0)["pods"] == []
    del web["spec"]["paused"]
    path = program.write("unnumbered.json", lines(web))
    report = whatif(program, objects, "--with", path, status=0)
    assert sorted(item["change"] for item in report["pods"]) == [
        "gone", "gone", "placed", "placed"], report["pods"]
    # A running pod keeps its node if its manifest is applied again, without a node.
    path = program.write("pod.json", lines(pod("bare", "1", labels={"new": "label"})))
    bare = [node("n1"), node("n2", cpu="64"), pod("bare", "1", "n1")]
    assert whatif(program, bare, "--with", path, status=0)["pods"] == []
    report = whatif(program, bare, "--drain", "n1", "--with", path, status=0)
    assert changes(report) == {"default/bare": ("moved", "n1", "n2")}, report["pods"]
    # A node keeps its status, and a claim its volume, which is reached from one node only.
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "claimRef": {"namespace": "default", "name": "data", "uid": "u"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
             "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast",
                      "resources": {"requests": {"storage": "1Gi"}}}}
    applied = [claim, {"apiVersion": "v1", "kind": "Node",
                       "metadata": {"name": "n1", "labels": {"new": "label"}}}]
    bound = copy.deepcopy(claim)
    bound["metadata"].update(uid="u", annotations={"pv.kubernetes.io/bind-completed": "yes"})
    bound["spec"]["volumeName"] = "v"
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "x",
               "metadata": {"name": "fast"}, "volumeBindingMode": "WaitForFirstConsumer"}
    waits = pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    path = program.write("applied.json", lines(*applied))
    report = whatif(program, [*bare[:2], volume, storage, bound, waits], "--with", path, status=0)
    assert report["pods"] == [], report["pods"]
    assert [item["changes"] for item in report["nodes"]] == [["labels"]], report["nodes"]
    # An existing node gets a taint that its pod does not tolerate.
    path = program.write("node.json", lines(
        node("n1", spec={"taints": [{"key": "k", "effect": "NoExecute"}]})))
    report = whatif(program, objects, "--with", path, status=0)
    assert changes(report)["default/a"][0] == "moved", report["pods"]


CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 1}]
"""


def test_new_config(program):
    path = program.write("packed.yaml", CONFIG)
    for category in ["resources", "mixed"]:
        source = random.Random(category)
        for case in source.sample(recorded(category), 5):
            objects = random_cluster(source, case)
            check(program, objects, objects, ["--new-config", path], after=["--config", path])
            plan = copy.deepcopy(objects)
            for item in plan:
                if is_running(item) and keeper(item) not in ("DaemonSet", "Node"):
                    del item["spec"]["nodeName"]
                    item["status"] = {}
            before, _ = state_of(program, plan)
            after, _ = state_of(program, plan, "--config", path)
            report = whatif(program, objects, "--new-config", path, "--from-scratch")
            assert apply_report(before, report) == after


def test_preemption(program):
    objects = [node("n1"), node("n2"), priority_class("high", 100),
               running("a", "3", "n1"), running("b", "3", "n2", priority=100)]
    report = whatif(program, objects, "--drain", "n2", status=1)
    assert changes(report) == {"default/b": ("pending", "n2", "")}, report["pods"]
    report = whatif(program, objects, "--drain", "n2", "--preempt", status=1)
    assert changes(report) == {"default/a": ("preempted", "n1", ""),
                               "default/b": ("moved", "n2", "n1")}, report["pods"]
    victim = next(item for item in report["pods"] if item["change"] == "preempted")
    assert victim["preemptor"] == {"namespace": "default", "name": "b"}, victim


# --- output, errors, exit statuses ---

def test_forms_of_output(program):
    import yaml
    objects = THREE + [running("web-%03d" % i, "20m", "n1") for i in range(100)]
    for item in objects[:3]:
        item["status"]["capacity"]["pods"] = "200"
    text = lines(*objects)
    answer = program.run("whatif", "-f", "-", "--drain", "n1", stdin=text).expect(0)
    rows = answer.out.split("\n")
    assert rows[0].split() == ["CHANGE", "POD", "FROM", "TO", "WHY"], rows
    assert rows[1].split() == ["moved", "default/rs", "(100", "pods", "of", "ReplicaSet)", "n1",
                               "2", "nodes", "its", "node", "is", "drained"], rows[1]
    assert rows[-2] == "100 moved; 0 pods pending before, 0 after", rows[-2]
    wide = program.run("whatif", "-f", "-", "--drain", "n1", "-o", "wide", stdin=text).expect(0)
    assert "default/web-042" in wide.out and "ReplicaSet/rs" in wide.out, wide.out
    answer = program.run("whatif", "-f", "-", "--drain", "n1", "-o", "yaml", stdin=text).expect(0)
    assert yaml.safe_load(answer.out) == whatif(program, objects, "--drain", "n1")
    hostile = THREE + [pod("a\x1b[2J", "1", "n1")]
    answer = program.run("whatif", "-f", "-", "--drain", "n1", stdin=lines(*hostile)).expect(1)
    assert "\x1b" not in answer.out and "a\\x1b[2J" in answer.out, answer.out


def test_nothing_is_written(program):
    text = lines(*(THREE + [running("a", "1", "n1"), deployment("web", 2)])).encode()
    path = program.write("cluster.json", text)
    program.run("whatif", "-f", path, "--drain", "n1", "--scale", "deploy/web=5", "--add",
                "2=n2").expect(0)
    with open(path, "rb") as file:
        assert file.read() == text
    assert os.listdir(program.folder) == ["cluster.json"]


def test_exit_statuses(program):
    objects = THREE + [running("a", "1", "n1"), pod("bare", "1", "n2"), pod("never", "99"),
                       deployment("web", 1)]
    for flags, status in [(["--drain", "n1"], 0), (["--drain", "n2"], 1),
                          (["--cordon", "n1"], 0), (["--remove", "n*"], 1),
                          (["--scale", "deployment/web=50"], 1),
                          (["--scale", "deployment/web=0"], 0), (["--add", "1=n1"], 0)]:
        whatif(program, objects, *flags, status=status)


def test_errors_are_one_sentence(program):
    text = lines(*(THREE + [deployment("web", 1)]))
    for flags, words in [
            ([], "no change is given: name one, such as --drain NODE"),
            (["--drain", "n11"], "--drain n11: no such Node is in the input; did you mean n1?"),
            (["--drain", "x*"], "--drain x*: no node matches"),
            (["--drain", "[zone"], "the bracket of the node selector is not closed"),
            (["--drain", "[zone=a]b"], "unexpected text after the node selector"),
            (["--drain", "[=]"], "--drain [=]: "),
            (["--drain", ""], "no node is named"),
            (["--drain", "n1", "--drain", "n1"], "an earlier --drain empties the node already"),
            (["--remove", "n1", "--taint", "n1=k=v:NoSchedule"], "an earlier --remove takes"),
            (["--add", "2=nx"], "--add 2=nx: no such Node is in the input; did you mean n1?"),
            (["--add", "0=n1"], "the number must be a whole number from 1"),
            (["--add", "n1"], "write N=NODE"),
            (["--add", "1=n*"], "new nodes are like one node"),
            (["--taint", "n1=k=v"], "the taint has no effect"),
            (["--taint", "n1=k=v:NoSchedul"], "did you mean NoSchedule?"),
            (["--taint", "n1"], "no taint is given"),
            (["--taint", "n1=-k:NoSchedule"], "the key is not valid"),
            (["--label", "n1=k"], "no label is given"),
            (["--label", "n1=k=a b"], "the value is not valid"),
            (["--scale", "deployment/wbe=2"], "no such Deployment is in the input; did you mean"),
            (["--scale", "deployment/shop/web=2"], "did you mean default/web?"),
            (["--scale", "sts/db=2"], "there is no StatefulSet in the input"),
            (["--scale", "daemonset/x=2"], "only a deployment, replicaset, statefulset or"),
            (["--scale", "deployment/web=-1"], "the number must be a whole number from 0"),
            (["--scale", "deployment/web"], "write KIND/[NAMESPACE/]NAME=N"),
            (["--scale", "deploy/web=2", "--scale", "deploy/web=3"], "an earlier --scale scales"),
            (["--with", "no-such-file.yaml"], "no-such-file.yaml"),
            (["--with", "-"], "standard input"),
            (["--new-config", "no-such-file.yaml"], "no-such-file.yaml"),
            (["--drain", "n1", "-o", "name"], "--output: name is none of table, wide, json, yaml"),
            (["--drain", "n1", "n2"], "unexpected argument n2: changes are flags")]:
        answer = program.run("whatif", "-f", "-", *flags, stdin=text).expect(2)
        assert answer.err.startswith("berth whatif: ") and words in answer.err, (flags, answer.err)
        assert answer.out == "", answer.out
    assert "no input" in program.run("whatif", "--drain", "n1").expect(2).err
    answer = program.run("whatif", "-f", "-", "--uncordon", "n1", stdin=text).expect(0)
    told = "--uncordon n1 changes nothing: the nodes are in this state already"
    assert told in answer.err, answer.err


def test_random_values_of_flags(program):
    source = random.Random(23)
    text = lines(*(THREE + [running("a", "1", "n1"), deployment("web", 1)]))
    valid = {"drain": "n1", "remove": "[zone=a]", "add": "2=n1", "cordon": "n*",
             "uncordon": "n?", "taint": "n1=k=v:NoSchedule", "label": "n1=k=v",
             "scale": "deployment/web=2"}
    words = ["n1", "n", "1", "=", "=", ":", "-", "*", "?", "[", "]", "zone", "a", "k", "!", ",",
             "NoSchedule", "NoExecute", "deployment", "web", "/", " ", "\x1b", "\u00e4", " in ("]
    statuses = set()
    for _ in range(100):
        flags = []
        for _ in range(source.randint(1, 2)):
            kind = source.choice(sorted(valid))
            value = valid[kind]
            for _ in range(source.randint(0, 3)):
                at, end = sorted([source.randint(0, len(value)), source.randint(0, len(value))])
                value = value[:at] + source.choice(words) + value[end if end < at + 3 else at:]
            flags.append("--%s=%s" % (kind, value))
        answer = program.run("whatif", "-f", "-", *flags, stdin=text)
        assert answer.status in (0, 1, 2), (flags, answer.err)
        assert (answer.status == 2) == (answer.out == ""), (flags, answer.out)
        assert "\x1b" not in answer.err, (flags, answer.err)
        statuses.add(answer.status)
    assert statuses == {0, 1, 2}, statuses


if __name__ == "__main__":
    scenario.main(globals())
