#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth simulate with and without --preempt: victims, their preemptors, and how the output shows
them."""
import os

import scenario
from objects import budget, deployment, lines, node, pod, priority_class

FULL = "0/1 nodes are available: 1 Insufficient cpu."


def evictions(answer):
    """Tuples (victim, node, preemptor) of the evictions in a JSON answer."""
    return [(item["namespace"] + "/" + item["name"], item["node"],
             item["preemptor"]["namespace"] + "/" + item["preemptor"]["name"])
            for item in answer.json()["evictions"]]


def running(name, cpu, node_name, started=None, **rest):
    item = pod(name, cpu, node_name, **rest)
    if started is not None:
        item["status"] = {"phase": "Running", "startTime": "2026-01-%02dT00:00:00Z" % started}
    return item


def test_first_attempt(program):
    text = lines(node("n1"), pod("old", "3", "n1"), pod("new", "2", priority=10))
    answer = program.simulate(text).expect(1)
    new = answer.pods()["default/new"]
    assert [new["reason"], new["node"], new["nominatedNode"]] == ["Unschedulable", "", "n1"], new
    assert new["message"] == FULL, new
    assert answer.json()["evictions"] == []
    assert answer.json()["nodes"][0]["cpuMilli"]["requested"] == 3000


def test_first_attempt_without_victims(program):
    answer = program.simulate(lines(node("n1"), pod("old", "3", "n1"), pod("new", "2"))).expect(1)
    new = answer.pods()["default/new"]
    assert new["nominatedNode"] == ""
    assert new["message"] == FULL + (
        " no new claims to deallocate, preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod."), new


def test_victims_leave(program):
    text = lines(node("n1"), running("a", "1", "n1"), running("b", "2", "n1", priority=5),
                 pod("new", "3", priority=10))
    answer = program.simulate(text, "--preempt").expect(0)
    new = answer.pods()["default/new"]
    assert [new["node"], new["nominatedNode"], new["message"]] == ["n1", "", ""], new
    assert evictions(answer) == [("default/b", "n1", "default/new")]
    assert answer.json()["evictions"][0]["priority"] == 5
    assert answer.json()["nodes"][0]["cpuMilli"]["requested"] == 4000


def test_forms_of_output(program):
    import yaml
    text = lines(node("n1"), node("n2", cpu="1"), running("a", "4", "n1", priority=-3),
                 pod("new", "3", priority=10), pod("large", "9"))
    rows = program.simulate(text, output="table").expect(1).out.split("\n")
    assert rows[1].startswith("default/new    -     Unschedulable, nominated to n1: 0/2 nodes")
    rows = program.simulate(text, "--preempt", output="table").expect(1).out.split("\n")
    assert rows[1].split() == ["default/new", "n1", "Scheduled"], rows
    assert rows[4].split() == ["EVICTED", "NODE", "FOR"], rows
    assert rows[5].split() == ["default/a", "n1", "default/new"], rows
    assert rows[-2] == "1 placed, 1 pending, 1 evicted; 1 running before, 2 nodes", rows
    rows = program.simulate(text, "--preempt", output="wide").expect(1).out.split("\n")
    assert rows[4].split() == ["EVICTED", "NODE", "PRIORITY", "FOR"], rows
    assert rows[5].split() == ["default/a", "n1", "-3", "default/new"], rows
    answer = program.simulate(text, "--preempt", output="name").expect(1)
    assert answer.out == "pod/default/new n1\nevicted/default/a n1 pod/default/new\n", answer.out
    answer = program.simulate(text, "--preempt", output="yaml").expect(1)
    assert yaml.safe_load(answer.out) == program.simulate(text, "--preempt").expect(1).json()


def test_hostile_names_are_escaped(program):
    text = lines(node("n1"), running("a\x1b[2J\n", "4", "n1"), pod("new", "3", priority=10))
    for output in ["table", "wide", "name"]:
        answer = program.simulate(text, "--preempt", output=output).expect(0)
        assert "\x1b" not in answer.out and "a\\x1b[2J\\n" in answer.out, answer.out


def test_no_victims_without_need(program):
    text = lines(node("n1"), node("n2"), running("a", "4", "n1"), pod("new", "3", priority=10))
    answer = program.simulate(text, "--preempt").expect(0)
    assert answer.pods()["default/new"]["node"] == "n2" and evictions(answer) == []


def test_priority_classes_decide(program):
    text = lines(priority_class("high", 1000), priority_class("patient", 1000, policy="Never"),
                 priority_class("low", -5), node("n1"), node("n2"),
                 running("default-priority", "4", "n1"),
                 running("a", "4", "n2", priorityClassName="low"),
                 pod("waits", "3", priorityClassName="patient"),
                 pod("new", "3", priorityClassName="high"))
    answer = program.simulate(text, "--preempt").expect(1)
    assert evictions(answer) == [("default/a", "n2", "default/new")]
    waits = answer.pods()["default/waits"]
    assert waits["priority"] == 1000
    assert waits["message"].endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_global_default_class_protects(program):
    default = priority_class("usual", 500)
    default["globalDefault"] = True
    text = lines(default, node("n1"), running("a", "4", "n1"), pod("new", "3", priority=400))
    answer = program.simulate(text, "--preempt").expect(1)
    assert evictions(answer) == []


def test_latest_start_goes_first(program):
    text = lines(node("n1"), node("n2"), running("a", "4", "n1", started=2),
                 running("b", "4", "n2", started=3), pod("new", "3", priority=10))
    answer = program.simulate(text, "--preempt").expect(0)
    assert evictions(answer) == [("default/b", "n2", "default/new")]


def test_budgets_are_spared_and_used_up(program):
    """Three replicas, of which the budget allows one disruption; after that, the unprotected pod is
    the victim."""
    replicas = [running("web-%d" % i, "4", "n%d" % i, started=10, labels={"app": "web"})
                for i in range(3)]
    other = running("other", "4", "n3", started=1)
    nodes = [node("n%d" % i) for i in range(4)]
    pods = [pod("new-1", "3", priority=10), pod("new-2", "3", priority=9)]
    answer = program.simulate(
        lines(*nodes, *replicas, other, budget("web", {"app": "web"}, 1), *pods), "--preempt")
    names = [item[0] for item in evictions(answer.expect(0))]
    assert names[0].startswith("default/web-") and names[1] == "default/other", names
    answer = program.simulate(
        lines(*nodes, *replicas, other, budget("web", {"app": "web"}, 0), *pods), "--preempt")
    names = [item[0] for item in evictions(answer.expect(0))]
    assert names[0] == "default/other" and names[1].startswith("default/web-"), names
    elsewhere = budget("web", {"app": "web"}, 0)
    elsewhere["metadata"]["namespace"] = "another"
    answer = program.simulate(lines(*nodes, *replicas, other, elsewhere, *pods), "--preempt")
    names = [item[0] for item in evictions(answer.expect(0))]
    assert all(name.startswith("default/web-") for name in names), names


def test_workloads_do_not_replace_their_pods(program):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5", "uid": "u",
             "controller": True}
    old = running("web-5-abc", "4", "n1", labels={"pod-template-hash": "5"})
    old["metadata"]["ownerReferences"] = [owner]
    text = lines(node("n1"), deployment("web", 1, "4"), old, pod("new", "3", priority=10))
    answer = program.simulate(text, "--preempt").expect(0)
    assert evictions(answer) == [("default/web-5-abc", "n1", "default/new")]
    assert list(answer.pods()) == ["default/new"], answer.pods()


def test_preemptors_of_a_workload(program):
    important = deployment("web", 3, "3")
    important["spec"]["template"]["spec"]["priority"] = 10
    text = lines(*[node("n%d" % i) for i in range(3)],
                 *[running("a%d" % i, "4", "n%d" % i) for i in range(3)], important)
    answer = program.simulate(text, "--preempt").expect(0)
    assert sorted(item[1] for item in evictions(answer)) == ["n0", "n1", "n2"]
    assert sorted(item["node"] for item in answer.json()["pods"]) == ["n0", "n1", "n2"]


def test_pods_are_victims_of_the_first_in_the_queue(program):
    """The only possible victim makes room for the first pod; the second pod finds no victims."""
    text = lines(node("n1"), running("a", "4", "n1"), pod("second", "3", priority=9),
                 pod("first", "3", priority=10))
    answer = program.simulate(text, "--preempt").expect(1)
    assert evictions(answer) == [("default/a", "n1", "default/first")]
    second = answer.pods()["default/second"]
    assert second["node"] == "" and second["nominatedNode"] == "", second


def test_room_that_is_left_is_offered_again(program):
    text = lines(node("n1"), running("a", "4", "n1"),
                 pod("patient", "2", priority=20, preemptionPolicy="Never"),
                 pod("new", "2", priority=10))
    answer = program.simulate(text, "--preempt").expect(0)
    assert evictions(answer) == [("default/a", "n1", "default/new")]
    assert answer.pods()["default/patient"]["node"] == "n1"
    assert answer.pods()["default/patient"]["message"] == ""


def test_a_pod_that_was_just_placed_is_a_victim(program):
    """Pod web waits for pod db. Meanwhile pod low is placed, and is then evicted."""
    beside = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}]}}
    text = lines(node("n1", labels={"zone": "a"}), pod("web", "3", priority=10, affinity=beside),
                 pod("db", "1", priority=10, labels={"app": "db"}), pod("low", "3", priority=5))
    answer = program.simulate(text, "--preempt").expect(1)
    assert evictions(answer) == [("default/low", "n1", "default/web")]
    pods = answer.pods()
    assert [pods["default/" + name]["node"] for name in ("web", "db", "low")] == ["n1", "n1", ""]
    assert pods["default/low"]["message"] == "preempted on node n1", pods
    assert answer.json()["nodes"][0]["cpuMilli"]["requested"] == 4000


def test_nominations_of_gated_pods(program):
    """Nominations of gated pods reserve no room, because these pods never were in the queue;
    preemption does not clear them."""
    objects = [node("n1"), node("n2"), running("a", "4", "n1"), running("b", "4", "n2", priority=9),
               pod("new", "4", priority=10)]
    for name, node_name, priority in [("lower", "n1", 5), ("elsewhere", "n2", 5)]:
        gated = pod(name, "4", priority=priority, schedulingGates=[{"name": "g"}])
        gated["status"] = {"nominatedNodeName": node_name}
        objects.append(gated)
    answer = program.simulate(lines(*objects), "--preempt").expect(1)
    assert evictions(answer) == [("default/a", "n1", "default/new")]
    assert answer.pods()["default/lower"]["nominatedNode"] == "n1"
    assert answer.pods()["default/elsewhere"]["nominatedNode"] == "n2"


def leaving(reason):
    victim = running("a", "4", "n1")
    victim["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z",
                              deletionGracePeriodSeconds=30)
    victim["status"] = {"phase": "Running", "conditions": [
        {"type": "DisruptionTarget", "status": "True", "reason": reason}]}
    return victim


def test_victims_of_an_earlier_attempt(program):
    new = pod("new", "3", priority=10)
    new["status"] = {"nominatedNodeName": "n1"}
    text = lines(node("n1"), leaving("PreemptionByScheduler"), new)
    answer = program.simulate(text).expect(1)
    item = answer.pods()["default/new"]
    assert item["nominatedNode"] == "n1" and item["message"].endswith(
        "preemption: not eligible due to a terminating pod on the nominated node."), item
    answer = program.simulate(text, "--preempt").expect(0)
    assert evictions(answer) == [("default/a", "n1", "default/new")]


def test_victims_that_leave_for_another_reason(program):
    answer = program.simulate(
        lines(node("n1"), leaving("EvictionByEvictionAPI"), pod("new", "3", priority=10)),
        "--preempt").expect(0)
    assert evictions(answer) == [("default/a", "n1", "default/new")]


def test_anti_affinity_of_a_victim(program):
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "new"}}}]}}
    text = lines(node("n1", labels={"zone": "a"}), running("a", "1", "n1", affinity=apart),
                 running("b", "1", "n1"), pod("new", "1", labels={"app": "new"}, priority=10))
    answer = program.simulate(text, "--preempt").expect(0)
    assert evictions(answer) == [("default/a", "n1", "default/new")]


def test_claim_of_a_victim(program):
    """A ReadWriteOncePod claim is free once the victim that used it is gone."""
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
             "spec": {"accessModes": ["ReadWriteOncePod"], "volumeName": "v"},
             "status": {"phase": "Bound"}}
    claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
              "spec": {"accessModes": ["ReadWriteOncePod"],
                       "claimRef": {"namespace": "default", "name": "data"}}}
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    text = lines(node("n1"), node("n2"), claim, volume,
                 running("a", "1", "n1", volumes=volumes), pod("new", "1", volumes=volumes,
                                                               priority=10))
    answer = program.simulate(text).expect(1)
    assert answer.pods()["default/new"]["nominatedNode"] == "n1"
    answer = program.simulate(text, "--preempt").expect(0)
    assert evictions(answer) == [("default/a", "n1", "default/new")]


def test_plugin_turned_off(program):
    config = program.write("c.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\n"
                           "kind: KubeSchedulerConfiguration\nprofiles:\n- plugins:\n"
                           "    postFilter: {disabled: [{name: '*'}]}\n")
    text = lines(node("n1"), running("a", "4", "n1"), pod("new", "3", priority=10))
    answer = program.simulate(text, "--preempt", "--config", config).expect(1)
    assert evictions(answer) == []
    assert answer.pods()["default/new"]["message"] == FULL


def test_example(program):
    path = os.path.join(scenario.EXAMPLES, "preemption.yaml")
    answer = program.run("simulate", "-f", path, "-o", "json").expect(1)
    nominated = {item["name"].split("-")[0]: item["nominatedNode"] for item in
                 answer.json()["pods"]}
    assert set(item["node"] for item in answer.json()["pods"]) == {""}
    assert nominated["payments"] in ("node-2", "node-3") and nominated["audit"] == "", nominated
    answer = program.run("simulate", "-f", path, "-o", "json", "--preempt").expect(1)
    assert sorted(item[:2] for item in evictions(answer)) == [
        ("research/simulation-1", "node-2"), ("research/simulation-3", "node-3")]
    pending = [name for name, item in answer.pods().items() if item["node"] == ""]
    assert pending == ["shop/audit"], pending


if __name__ == "__main__":
    scenario.main(globals())
