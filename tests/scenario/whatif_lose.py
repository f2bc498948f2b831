#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth whatif --lose ... --each: compare each loss with berth simulate, without the lost nodes.

BERTH_WHATIF_SEEDS=FIRST:COUNT draws other clusters.
"""
import json
import os
import random
import re

from objects import lines, node, pod, priority_class
from whatif import (is_running, keeper, key_of, owned, removed, running)
from whatif_random import deployment_with_pods, stateful_set_with_pods
import scenario

SEEDS = "1:12"
ZONE = "topology.kubernetes.io/zone"


def losses(program, objects, *flags, stdin=None):
    answer = program.run("whatif", "-f", "-", "-o", "json", "--each", *flags,
                         stdin=stdin or lines(*objects))
    assert answer.status in (0, 1), answer.err
    report = answer.json()
    harmful = [item for item in report["losses"]
               if item["pending"] or item["lost"] or item["preempted"]]
    assert report["summary"]["harmful"] == len(harmful), report["summary"]
    assert answer.status == (1 if harmful else 0)
    rank = [len(item["pending"]) + len(item["lost"]) for item in report["losses"]]
    assert rank == sorted(rank, reverse=True), rank
    return report


def simulated(program, objects):
    """Return the decided pods and the evicted pods of a simulation."""
    answer = program.run("simulate", "-f", "-", "-o", "json", "--preempt", stdin=lines(*objects))
    assert answer.status in (0, 1), answer.err
    evicted = {item["namespace"] + "/" + item["name"]: item for item in answer.json()["evictions"]}
    pods = {key: item for key, item in answer.pods().items() if key not in evicted}
    return pods, evicted


def names(items):
    return {item["namespace"] + "/" + item["name"]: item for item in items}


def is_new_agent(name):
    """Whether a DaemonSet makes the pod, whose name then depends on the order of nodes."""
    return re.fullmatch("agent-[a-z0-9]{5}", name) is not None


def judge(program, objects, report):
    """Compare each loss with a simulation without the nodes; returns the kinds of effects that
    occurred."""
    before, evicted_before = simulated(program, objects)
    pending_before = {key for key, item in before.items() if item["node"] == ""}
    seen = set()
    assert report["summary"]["pendingBefore"] == len(pending_before)
    for loss in report["losses"]:
        after = objects
        for name in loss["nodes"]:
            after = removed(after, name)
        pods, evicted = simulated(program, after)
        left = {key_of(item) for item in objects if is_running(item)
                and item["spec"]["nodeName"] in loss["nodes"]
                and keeper(item) not in ("Node", "DaemonSet")
                and "deletionTimestamp" not in item["metadata"]}
        lost = {key for key in left if key not in pods and key not in evicted}
        what = (loss["name"], loss)
        pending = {key: item["message"] for key, item in pods.items()
                   if item["node"] == "" and key not in pending_before and
                   not is_new_agent(item["name"])}
        found = {key: item["message"] for key, item in names(loss["pending"]).items()
                 if not is_new_agent(item["name"])}
        assert found == pending, (loss["name"], found, pending)
        assert set(names(loss["lost"])) == lost, what
        assert set(names(loss["preempted"])) == set(evicted) - set(evicted_before), what
        for key, item in names(loss["preempted"]).items():
            both = [item["preemptor"]["name"], evicted[key]["preemptor"]["name"]]
            assert both[0] == both[1] or all(map(is_new_agent, both)), (item, evicted[key])
        moved = {key: pods[key]["node"] for key in left if key in pods and pods[key]["node"]}
        assert {key: item["node"] for key, item in names(loss["moved"]).items()} == moved, what
        assert loss["left"] == len(left), what
        seen |= {kind for kind in ("pending", "lost", "preempted", "moved") if loss[kind]}
    return seen


def random_cluster(source):
    """A cluster with little room, with priorities, DaemonSets and spreading, whose zones are in
    another order than its nodes."""
    nodes = ["n%d" % i for i in range(source.randint(3, 7))]
    zones = ["a", "b", "c"][:source.randint(1, 3)]
    objects = [priority_class("high", 1000), priority_class("low", -5)]
    for name in nodes:
        labels = {"kubernetes.io/hostname": name, "zone": source.choice("abc")}
        if source.random() < 0.9:
            labels[ZONE] = source.choice(zones)
        objects.append(node(name, cpu=str(source.choice([1, 2, 3])), labels=labels))
    for i in range(source.randint(1, 3)):
        made = deployment_with_pods(source, nodes, "web%d" % i)
        name = source.choice(["high", "low", None])
        for item in made:
            spec = item["spec"] if item["kind"] == "Pod" else item["spec"]["template"]["spec"]
            if name is not None:
                spec.update(priorityClassName=name)
                if item["kind"] == "Pod":
                    spec.update(priority={"high": 1000, "low": -5}[name],
                                schedulerName="default-scheduler")
            if source.random() < 0.3:
                spec["topologySpreadConstraints"] = [
                    {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
                     "labelSelector": {"matchLabels": {"app": "web%d" % i}}}]
        objects += made
    if source.random() < 0.5:
        made = stateful_set_with_pods(source, nodes[:3], "db")
        for item in made:
            # The new pod is created only after the old pod is gone: see berth-whatif(1).
            item["metadata"].pop("deletionTimestamp", None)
        objects += made
    if source.random() < 0.7:
        objects.append({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
                        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {
                            "metadata": {"labels": {"app": "agent"}},
                            "spec": pod("x", "50m")["spec"]}}})
        objects += [owned(pod("agent-" + name, "50m", name), "DaemonSet", "agent")
                    for name in nodes if source.random() < 0.8]
    for i in range(source.randint(0, 3)):
        item = pod("bare-%d" % i, "100m", source.choice(nodes))
        item["status"] = {"phase": source.choice(["Running", "Succeeded"])}
        objects.append(item)
    for i in range(source.randint(0, 2)):
        waiting = pod("waiting-%d" % i, source.choice(["200m", "900m"]))
        waiting["status"] = {"phase": "Pending", "nominatedNodeName": source.choice(nodes + [""])}
        objects.append(waiting)
    source.shuffle(objects)
    return objects


def test_random_clusters(program):
    """Losses of nodes, zones and label values on random clusters."""
    text = os.environ.get("BERTH_WHATIF_SEEDS", SEEDS)
    first, count = map(int, text.split(":"))
    seen = set()
    for seed in range(first, first + count):
        source = random.Random(seed)
        objects = random_cluster(source)
        flag = source.choice(["node", "node", "zone", "zone"])
        if flag == "zone" and not any(ZONE in item["metadata"].get("labels", {}) for item in objects
                                      if item["kind"] == "Node"):
            flag = "node"
        print("seed %d: --lose %s" % (seed, flag))
        report = losses(program, objects, "--lose", flag, "--jobs", str(seed % 3))
        seen |= judge(program, objects, report)
    assert text != SEEDS or {"pending", "lost", "preempted", "moved"} <= seen, seen


def roomy_cluster(source):
    """A cluster without pending pods where most losses have no effect, so that one process tries
    many."""
    nodes = ["n%d" % i for i in range(source.randint(6, 12))]
    objects = []
    for i, name in enumerate(nodes):
        labels = {"kubernetes.io/hostname": name, ZONE: "abc"[source.randrange(3)]}
        objects.append(node(name, cpu=str(source.choice([3, 4])), labels=labels))
        for k in range(source.randint(0, 4)):
            item = running("p-%d-%d" % (i, k), "%dm" % source.choice([200, 500, 900, 1500]), name)
            item["metadata"]["labels"] = {"app": "app%d" % source.randrange(3)}
            if source.random() < 0.4:
                item["spec"]["topologySpreadConstraints"] = [
                    {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway",
                     "labelSelector": {"matchLabels": item["metadata"]["labels"]}}]
            if source.random() < 0.3:
                item["spec"]["affinity"] = {"podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {
                            "matchLabels": item["metadata"]["labels"]}}]}}
            if source.random() < 0.1:
                item["spec"]["priority"] = 100
            objects.append(item)
    if source.random() < 0.5:
        objects.append(pod("bare", "100m", source.choice(nodes)))
    source.shuffle(objects)
    return objects


def test_one_process_tries_many_losses(program):
    """State that one loss leaves in the process does not affect the next loss."""
    text = os.environ.get("BERTH_WHATIF_SEEDS", SEEDS)
    first, count = map(int, text.split(":"))
    seen = set()
    for seed in range(first, first + count):
        objects = roomy_cluster(random.Random(seed))
        report = losses(program, objects, "--lose", "node", "--jobs", "1")
        assert report["summary"]["pendingBefore"] == 0
        seen |= judge(program, objects, report)
    assert text != SEEDS or {"moved", "lost"} <= seen, seen


def small_cluster():
    """Node c has no pods. The pods of node a fit on node b only if pod low is evicted."""
    return [node("a", "2", labels={ZONE: "east", "rack": "r1"}),
            node("b", "2", labels={ZONE: "east", "rack": "r2"}),
            node("c", "1", labels={ZONE: "west"}),
            running("web", "2", "a", priority=100), running("low", "2", "b", priority=0),
            pod("bare", "0", "b")]


def test_victims_of_preemption(program):
    """The pod of high priority preempts the one of low priority; a bare pod is lost."""
    report = losses(program, small_cluster(), "--lose", "node")
    found = {item["name"]: (sorted(names(item["pending"])), sorted(names(item["lost"])),
                            sorted(names(item["preempted"]))) for item in report["losses"]}
    assert found == {"a": ([], [], ["default/low"]),
                     "b": (["default/low"], ["default/bare"], []),
                     "c": ([], [], [])}, found
    assert [item["name"] for item in report["losses"]] == ["b", "a", "c"]
    victim = report["losses"][1]["preempted"][0]
    assert victim["preemptor"] == {"namespace": "default", "name": "web"}, victim
    assert victim["node"] == "b" and victim["priority"] == 0, victim
    judge(program, small_cluster(), report)
    report = losses(program, small_cluster(), "--lose", "node", "--recreate-bare-pods")
    assert names(report["losses"][0]["moved"])["default/bare"]["node"] in ("a", "c"), report


def test_priority_of_a_class(program):
    """Running pods of manifests have the priority of their class."""
    objects = [node("n1"), node("n2"), priority_class("high", 100),
               running("web", "1", "n1", priorityClassName="high"),
               pod("bare", "1", "n1", priorityClassName="high")]
    loss = losses(program, objects, "--lose", "node")["losses"][0]
    assert [item["priority"] for item in loss["lost"]] == [100], loss
    report = program.run("whatif", "-f", "-", "--remove", "n1", "-o", "json",
                         stdin=lines(*objects)).expect(1).json()
    assert [(item["name"], item["priority"]) for item in report["pods"]] == [
        ("bare", 100), ("web", 100)], report["pods"]


def test_zones_and_labels(program):
    """A zone loses all its nodes; nodes without the label stay, with a warning."""
    report = losses(program, small_cluster(), "--lose", "zone")
    assert [(item["name"], item["nodes"]) for item in report["losses"]] == [
        ("east", ["a", "b"]), ("west", ["c"])], report
    assert report["lose"] == ZONE
    answer = program.run("whatif", "-f", "-", "--lose", "rack", "--each",
                         stdin=lines(*small_cluster())).expect(1)
    assert "1 node does not have the label rack and is not lost" in answer.err, answer.err
    assert answer.out.startswith(
        "VALUE  NODES  PODS  PENDING  LOST  PREEMPTED  MOVED\nr2 "), answer.out
    labelled = small_cluster() + [node("d", "1", labels={"worker": ""}), pod("p", "0", "d")]
    for output, place in (("table", '\nThe worst, without "":\n'), ("wide", '\n""     lost ')):
        answer = program.run("whatif", "-f", "-", "--lose", "worker", "--each", "-o", output,
                             stdin=lines(*labelled)).expect(1)
        assert '\n""     1 ' in answer.out and place in answer.out, answer.out
    answer = program.run("whatif", "-f", "-", "--lose", "shelf", "--each",
                         stdin=lines(*small_cluster())).expect(2)
    assert "no node has the label shelf" in answer.err, answer.err


def test_changes_come_first(program):
    """Losses are simulated in the cluster after the changes."""
    objects = small_cluster()[:3] + small_cluster()[4:5]
    report = losses(program, objects, "--lose", "node")
    assert report["losses"][-1]["name"] == "c" and report["summary"]["harmful"] == 0, report
    report = losses(program, objects, "--remove", "a", "--lose", "node")
    assert [item["name"] for item in report["losses"]] == ["b", "c"], report
    assert report["summary"]["harmful"] == 1, report
    assert report["changes"] == [{"type": "remove", "value": "a"}], report
    config = program.write("config.json", json.dumps(
        {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}))
    report = losses(program, objects, "--remove", "a", "--add", "1=b", "--new-config", config,
                    "--lose", "node")
    assert report["summary"]["harmful"] == 0, report
    assert report["changes"][2:] == [{"type": "new-config", "value": config}], report


def test_same_output_on_any_number_of_processes(program):
    outputs = set()
    for jobs in ("1", "2", "7"):
        answer = program.run("whatif", "-f", "-", "--lose", "node", "--each", "-j", jobs, "-o",
                             "wide", stdin=lines(*small_cluster())).expect(1)
        outputs.add(answer.out)
    assert len(outputs) == 1, outputs
    answer = program.run("whatif", "-f", "-", "--lose", "node", "--each", "--threads", "3",
                         "-o", "wide", stdin=lines(*small_cluster())).expect(1)
    assert answer.out in outputs


def test_wrong_flags(program):
    for flags, message in [
            (["--lose", "node"], "--lose: takes --each"),
            (["--each"], "--each: what?"),
            (["--lose", "a b", "--each"], "--lose: must be node, zone"),
            (["--lose", "node", "--each", "--from-scratch"], "--from-scratch: cannot be combined"),
            (["--drain", "n1", "-j", "2"], "--jobs: needs --each"),
            (["--lose", "node", "--each", "-j", "-1"], "--jobs: must not be negative")]:
        answer = program.run("whatif", "-f", "-", *flags, stdin=lines(*small_cluster())).expect(2)
        assert message in answer.err, (flags, answer.err)
    answer = program.run("whatif", "-f", "-", "--lose", "node", "--each",
                         stdin=lines(pod("p"))).expect(2)
    assert "there is no node in the input" in answer.err, answer.err


if __name__ == "__main__":
    scenario.main(globals())
