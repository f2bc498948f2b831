#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pod groups in berth explain, pending, capacity, simulate and whatif: spec 09."""
import copy
import os
import random

import scenario
from objects import lines, node, pod

SEED = int(os.environ.get("BERTH_TEST_SEED") or random.randrange(1 << 32))
GANG = ["--feature-gates", "GenericWorkload=true,GangScheduling=true"]
RACKS = ["--feature-gates", "GenericWorkload=true,GangScheduling=true,"
         "TopologyAwareWorkloadScheduling=true"]


def pod_group(name, min_count=None, key=None):
    spec = {"schedulingPolicy": {"basic": {}} if min_count is None
            else {"gang": {"minCount": min_count}}}
    if key is not None:
        spec["schedulingConstraints"] = {"topology": [{"key": key}]}
    return {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
            "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def members(group, count, cpu="3", **spec):
    return [pod("%s-%d" % (group, i), cpu, schedulingGroup={"podGroupName": group}, **spec)
            for i in range(count)]


def explained(program, objects, *arguments, gates=GANG, status=1, name="podgroup/g"):
    answer = program.run("explain", name, "-f", "-", "-o", "json", *gates, *arguments,
                         stdin=lines(*objects)).expect(status)
    assert answer.err == "", answer.err
    return answer.json()


def refused(program, objects, name, gates=GANG):
    answer = program.run("explain", name, "-f", "-", *gates, stdin=lines(*objects)).expect(2)
    assert answer.out == "" and answer.err.count("\n") == 1, answer.err
    return answer.err


def simulated(program, objects, *arguments, gates=GANG, status=0):
    return program.run("simulate", "-f", "-", "-o", "json", *gates, *arguments,
                       stdin=lines(*objects)).expect(status).json()


# --- explain ---


def apply(objects, proposal):
    """Apply a proposal's changes to the objects."""
    objects = copy.deepcopy(objects)
    if proposal["type"] == "AddNodes":
        like = next(item for item in objects if item["metadata"]["name"] == proposal["node"])
        for i in range(proposal["count"]):
            added = copy.deepcopy(like)
            added["metadata"]["name"] = "added-%d" % i
            objects.append(added)
    elif proposal["type"] == "LowerMinCount":
        for item in objects:
            if item["kind"] == "PodGroup":
                item["spec"]["schedulingPolicy"]["gang"]["minCount"] = proposal["count"]
    elif proposal["type"] == "AddPods":
        like = next(item for item in objects if "schedulingGroup" in item["spec"])
        for i in range(proposal["count"]):
            added = copy.deepcopy(like)
            added["metadata"]["name"] = "added-%d" % i
            objects.append(added)
    for change in proposal["changes"]:
        for item in objects:
            if change.get("node") == item["metadata"]["name"]:
                change_node(item, change)
            elif "schedulingGroup" in item["spec"] and "node" not in change:
                change_pod(item["spec"], change)
    return objects


def change_node(item, change):
    if change["type"] == "FreeResource":
        assert change["resource"] == "cpu"
        milli = int(float(item["status"]["capacity"]["cpu"]) * 1000) + change["amount"]
        item["status"]["capacity"]["cpu"] = "%dm" % milli
    elif change["type"] == "Uncordon":
        del item["spec"]["unschedulable"]
    else:
        raise AssertionError(change)


def change_pod(spec, change):
    if change["type"] == "Tolerate":
        spec.setdefault("tolerations", []).append(
            {"key": change["key"], "operator": "Equal", "value": change["value"],
             "effect": change["effect"]})
    elif change["type"] == "RemoveGate":
        spec["schedulingGates"] = [gate for gate in spec.get("schedulingGates", [])
                                   if gate["name"] != change["key"]]
    elif change["type"] == "DropNodeSelector":
        del spec["nodeSelector"][change["key"]]
    elif change["type"] == "LowerRequest":
        requests = spec["containers"][0]["resources"]["requests"]
        requests["cpu"] = "%dm" % (int(float(requests["cpu"]) * 1000) - change["amount"])
    else:
        raise AssertionError(change)


def check_proposals(program, objects, answer, gates=GANG):
    """With each proposal, as many pods of the group are bound as the proposal says."""
    for proposal in answer["proposals"]:
        text = lines(*apply(objects, proposal))
        found = program.run("simulate", "-f", "-", "-o", "json", *gates, stdin=text)
        placed = [name for name, entry in found.pods().items() if entry["node"]]
        assert len(placed) >= proposal["placed"] > 0, (proposal, found.out)


def test_explain_too_few_nodes(program):
    objects = [node("n%d" % i) for i in range(4)] + [pod_group("g", 6)] + members("g", 6)
    answer = explained(program, objects)
    assert answer["podGroup"] == {"namespace": "default", "name": "g", "exists": True,
                                  "minCount": 6, "topologyKey": ""}
    assert answer["fate"] == "Unschedulable"
    assert answer["message"] == "pod group is unschedulable"
    assert (answer["placed"], answer["pending"], answer["scheduled"]) == (4, 6, 0)
    assert [item["node"] for item in answer["pods"]] == ["n0", "n1", "n2", "n3", "", ""]
    assert answer["pods"][4]["message"] == "0/4 nodes are available: 4 Insufficient cpu."
    assert answer["stopped"]["pod"] == "g-4"
    assert answer["stopped"]["groups"][0]["reasons"] == ["Insufficient cpu"]
    assert {item["type"]: item["count"] for item in answer["proposals"]} == \
        {"AddNodes": 2, "LowerMinCount": 4}
    check_proposals(program, objects, answer)
    fewer = copy.deepcopy(answer["proposals"][0])
    assert fewer["type"] == "AddNodes"
    fewer["count"] -= 1
    simulated(program, apply(objects, fewer), status=1)
    text = program.run("explain", "podgroup", "g", "-f", "-", *GANG, stdin=lines(*objects))
    assert text.expect(1).out.startswith("PodGroup default/g does not fit: 4 of 6 pending pods "
                                         "find a node, minCount is 6.\n"), text.out
    assert ("Changes that would help the group:\n"
            "  1. add 2 empty nodes like n0: then 6 of 6 ") in text.out
    assert explained(program, objects, "--proposals", "0")["proposals"] == []


def test_explain_placements(program):
    objects = [node("n%d" % i, labels={"rack": "r%d" % (i // 3)}) for i in range(5)]
    objects += [pod_group("g", 4, "rack")] + members("g", 4)
    answer = explained(program, objects, gates=RACKS)
    assert answer["message"] == ("0/2 placements are available, first placement status: "
                                 "pod group is unschedulable")
    assert answer["placements"] == [
        {"name": "r0", "nodes": 3, "placed": 3, "fits": False, "closest": True},
        {"name": "r1", "nodes": 2, "placed": 2, "fits": False, "closest": False}]
    assert answer["pods"][3]["message"] == "0/3 nodes are available: 3 Insufficient cpu."
    assert answer["stopped"]["groups"][0]["nodes"] == ["n0", "n1", "n2"]
    assert answer["proposals"][0]["type"] == "AddNodes" and answer["proposals"][0]["count"] == 1
    check_proposals(program, objects, answer, RACKS)
    # If no node has the topology key, there is no placement.
    for item in objects:
        item["metadata"].pop("labels", None)
    answer = explained(program, objects, gates=RACKS)
    assert answer["message"] == "no feasible placements found" and answer["placements"] == []
    # The second placement has nodes for more members, so the answer shows the second placement.
    objects = [node("a0", labels={"rack": "a"})]
    objects += [node("b%d" % i, labels={"rack": "b"}) for i in range(2)]
    objects += [pod_group("g", 3, "rack")] + members("g", 3)
    answer = explained(program, objects, gates=RACKS)
    assert [item["node"] for item in answer["pods"]] == ["b0", "b1", ""]
    assert [item["closest"] for item in answer["placements"]] == [False, True]


def test_explain_a_group_that_fits(program):
    objects = [node("n%d" % i) for i in range(3)] + [pod_group("g", 2)] + members("g", 3)
    answer = explained(program, objects, status=0)
    assert answer["fate"] == "Fits" and answer["placed"] == 3 and answer["proposals"] == []
    # A member beyond the quorum finds no node; the group is bound anyway.
    answer = explained(program, objects[1:], status=0)
    assert answer["fate"] == "Fits" and answer["placed"] == 2
    assert answer["stopped"]["pod"] == "g-2"
    # Running members count towards the quorum.
    objects = [node("n0"), node("n1"), pod_group("g", 2)] + members("g", 2)
    objects[3]["spec"]["nodeName"] = "n0"
    answer = explained(program, objects, status=0)
    assert answer["scheduled"] == 1 and answer["pods"][0]["node"] == "n1"
    objects[4]["spec"]["nodeName"] = "n1"
    assert explained(program, objects, status=0)["fate"] == "Scheduled"


def test_explain_changes_of_nodes_and_pods(program):
    group = [pod_group("g", 2)] + members("g", 2)
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    tainted = [node("n%d" % i, spec={"taints": [taint]}) for i in range(2)]
    answer = explained(program, tainted + group)
    assert answer["proposals"][0]["text"] == \
        "let the pod tolerate taint k=v:NoSchedule, in every pod of the group"
    check_proposals(program, tainted + group, answer)
    # One node is usable, the other is cordoned.
    cordoned = [node("n0"), node("n1", spec={"unschedulable": True})]
    answer = explained(program, cordoned + group)
    assert [change["type"] for change in answer["proposals"][0]["changes"]] == ["Uncordon"]
    check_proposals(program, cordoned + group, answer)
    # One toleration is enough for several nodes; otherwise each node needs a change.
    cordoned = [node("n%d" % i, spec={"unschedulable": i != 0}) for i in range(4)]
    three = [pod_group("g", 3)] + members("g", 3)
    answer = explained(program, cordoned + three)
    assert [change["type"] for change in answer["proposals"][0]["changes"]] == ["Tolerate"]
    check_proposals(program, cordoned + three, answer)
    taken = [node("n%d" % i) for i in range(3)]
    taken += [pod("o%d" % i, "2", node_name="n%d" % i) for i in (1, 2)]
    answer = explained(program, taken + three)
    assert [(change["type"], change["node"]) for change in answer["proposals"][0]["changes"]] == \
        [("FreeResource", "n1"), ("FreeResource", "n2")]
    check_proposals(program, taken + three, answer)
    # Another pod uses the room on n1: the proposal frees this room.
    taken = [node("n0"), node("n1"), pod("other", "3", node_name="n1")]
    answer = explained(program, taken + group)
    assert answer["proposals"][0]["changes"][0]["type"] == "FreeResource"
    assert answer["proposals"][0]["changes"][0]["node"] == "n1"
    check_proposals(program, taken + group, answer)


def test_explain_groups_that_are_not_tried(program):
    nodes = [node("n%d" % i) for i in range(4)]
    # Two of the four pods of the quorum exist.
    objects = nodes + [pod_group("g", 4)] + members("g", 2)
    answer = explained(program, objects)
    assert answer["fate"] == "Gated" and answer["gated"] == 2 and answer["placements"] == []
    assert answer["message"] == \
        "waiting for minCount pods from a gang to appear in scheduling queue"
    assert {item["type"]: item["count"] for item in answer["proposals"]} == \
        {"AddPods": 2, "LowerMinCount": 2}
    check_proposals(program, objects, answer)
    # Scheduling gates of some members and of all.
    for gated in (1, 2):
        objects = nodes + [pod_group("g", 2)] + members("g", 2)
        for item in objects[-gated:]:
            item["spec"]["schedulingGates"] = [{"name": "example.com/hold"}]
        answer = explained(program, objects)
        assert answer["gated"] == gated
        assert answer["fate"] == ("Unschedulable", "Gated")[gated - 1]
        assert answer["proposals"][0]["changes"][0]["type"] == "RemoveGate"
        check_proposals(program, objects, answer)
    # The group is missing, a group has no pods, a group without policy is basic.
    answer = explained(program, nodes + members("g", 2))
    assert not answer["podGroup"]["exists"] and answer["fate"] == "Gated"
    assert answer["message"] == 'waiting for pods\'s pod group "g" to appear in scheduling queue'
    assert explained(program, nodes + [pod_group("g", 2)])["fate"] == "NoPods"
    group = pod_group("g")
    group["spec"] = {}
    answer = explained(program, nodes + [group] + members("g", 1), status=0)
    assert answer["fate"] == "Fits" and answer["podGroup"]["minCount"] == 0
    # No nodes at all; several schedulers.
    answer = explained(program, [pod_group("g", 2)] + members("g", 2))
    assert answer["pods"][0]["message"] == "no nodes available to schedule pods"
    objects = nodes + [pod_group("g", 2)] + members("g", 2)
    objects[-1]["spec"]["schedulerName"] = "other"
    assert explained(program, objects)["fate"] in ("Gated", "Error")


def test_explain_names(program):
    objects = [node("n0"), pod_group("g", 1)] + members("g", 1)
    for name in ("podgroup/g", "podgroups/g", "PodGroup/default/g",
                 "podgroup.scheduling.k8s.io/g"):
        assert explained(program, objects, name=name, status=0)["podGroup"]["name"] == "g"
    assert "there is no PodGroup h among" in refused(program, objects, "podgroup/h")
    assert "gate GenericWorkload is off" in refused(program, objects, "podgroup/g", [])
    assert "--after-queue: cannot be combined" in refused(
        program, objects, "podgroup/g", [*GANG, "--after-queue"])
    other = copy.deepcopy(objects[1])
    other["metadata"]["namespace"] = "b"
    assert "several namespaces" in refused(program, objects + [other], "podgroup/g")
    # The explanation of one of its pods points to the group.
    text = program.run("explain", "g-0", "-f", "-", *GANG, stdin=lines(*objects)).expect(0)
    assert "It is scheduled with its group: see podgroup/g.\n" in text.out
    assert explained(program, objects, name="g-0", status=0)["pod"]["podGroup"] == "g"


def test_explain_random(program):
    """The answers of explain and simulate agree."""
    chance = random.Random(SEED)
    for _ in range(25):
        racks = chance.random() < 0.5
        gates = RACKS if racks else GANG
        count = chance.randint(1, 8)
        objects = [node("n%d" % i, cpu=str(chance.randint(1, 6)),
                        labels={"rack": "r%d" % chance.randrange(3)},
                        spec={"unschedulable": True} if chance.random() < 0.2 else None)
                   for i in range(chance.randint(1, 8))]
        objects.append(pod_group("g", chance.randint(1, count),
                                 "rack" if racks and chance.random() < 0.7 else None))
        objects += [dict(item, spec=dict(item["spec"])) for item in
                    members("g", count, str(chance.randint(1, 3)))]
        answer = program.run("explain", "podgroup/g", "-f", "-", "-o", "json", *gates,
                             stdin=lines(*objects))
        told = answer.json()
        placed = program.run("simulate", "-f", "-", "-o", "json", *gates, stdin=lines(*objects))
        bound = [name for name, entry in placed.pods().items() if entry["node"]]
        assert (told["fate"] == "Fits") == bool(bound), (SEED, told, placed.out)
        if bound:
            assert told["placed"] <= len(bound), (SEED, told, placed.out)
        check_proposals(program, objects, told, gates)


# --- pending ---


def test_pending(program):
    objects = [node("n%d" % i) for i in range(4)] + [pod_group("g", 6)] + members("g", 6)
    objects += [pod("alone", "8")]
    answer = program.run("pending", "-f", "-", "-o", "json", *GANG, stdin=lines(*objects)).expect(1)
    groups = answer.json()["groups"]
    assert [(item["owner"]["kind"], item["count"], item["fate"]) for item in groups] == \
        [("PodGroup", 6, "Unschedulable"), ("", 1, "Unschedulable")]
    assert groups[0]["owner"]["name"] == "g"
    assert groups[0]["change"] == "add 2 empty nodes like n0"
    text = program.run("pending", "-f", "-", *GANG, stdin=lines(*objects)).expect(1).out
    assert "6 pods: podgroup/g in default\n  why:  4 of 6 pods find a node, minCount is 6; " \
        "the next: Insufficient cpu (4 nodes)\n" in text, text
    # Without the gate, pods are listed one by one.
    answer = program.run("pending", "-f", "-", "-o", "json", stdin=lines(*objects)).expect(1)
    assert all(item["owner"]["kind"] == "" for item in answer.json()["groups"])


# --- capacity ---


def capacity(program, objects, *arguments, gates=GANG, status=0):
    answer = program.run("capacity", "--like", "podgroup/g", "-f", "-", "-o", "json", *gates,
                         *arguments, stdin=lines(*objects)).expect(status)
    return answer.json()["status"]


def test_capacity(program):
    objects = [node("n%d" % i, cpu="8", labels={"rack": "r%d" % (i % 2)}) for i in range(7)]
    objects += [pod_group("g", 3)] + members("g", 3)
    status = capacity(program, objects)
    # 14 pods fit. That is four groups of three; the remaining two pods make no group.
    assert status["replicas"] == 4 and status["pods"][0]["podsPerReplica"] == 3
    assert sum(item["replicas"] for item in status["pods"][0]["replicasOnNodes"]) == 12
    assert status["pods"][0]["placements"] == []
    stopped = status["pods"][0]["stopped"]
    assert stopped["type"] == "Unschedulable" and stopped["message"] == "pod group is unschedulable"
    assert stopped["tightest"].startswith("2 of 3 pods of the next group find a node; the others: ")
    # The four nodes of one rack take eight pods, the three nodes of the other rack take six.
    objects[7] = pod_group("g", 3, "rack")
    status = capacity(program, objects, gates=RACKS)
    assert status["replicas"] == 4
    assert {item["name"]: item["replicas"] for item in status["pods"][0]["placements"]} == \
        {"r0": 2, "r1": 2}
    assert capacity(program, objects, "--after-queue", gates=RACKS)["replicas"] == 3
    assert capacity(program, objects, "--max", "2", gates=RACKS)["replicas"] == 2
    assert capacity(program, objects, "--need", "5", gates=RACKS, status=1)["replicas"] == 4
    # simulate places the same number of groups one after the other.
    more = []
    for i in range(5):
        more += [dict(pod_group("h%d" % i, 3, "rack"))] + members("h%d" % i, 3)
    placed = simulated(program, objects[:7] + more, gates=RACKS, status=1)["summary"]["placed"]
    assert placed == 12
    # Pods of several sizes; running pods are copied, too.
    objects = [node("n0", cpu="8"), pod_group("g", 2)] + members("g", 1, "1")
    objects += [pod("g-big", "5", node_name="n9", schedulingGroup={"podGroupName": "g"})]
    assert capacity(program, objects)["replicas"] == 1
    # A copy has all pods of a group, not only its quorum.
    objects = [node("n0", cpu="4"), pod_group("g", 1)] + members("g", 3, "1")
    assert capacity(program, objects)["replicas"] == 1


def test_capacity_refusals(program):
    objects = [node("n0"), pod_group("g", 3)]
    run = ["capacity", "--like", "podgroup/g", "-f", "-"]
    answer = program.run(*run, *GANG, stdin=lines(*objects)).expect(2)
    assert "PodGroup default/g has no pods in the input" in answer.err
    objects += members("g", 2)
    answer = program.run(*run, stdin=lines(*objects)).expect(2)
    assert "gate GenericWorkload is off" in answer.err
    status = capacity(program, objects)
    assert status["replicas"] == 0 and status["failReason"]["failType"] == "SchedulingGated"


# --- simulate, whatif ---


def test_simulate(program):
    objects = [node("n%d" % i) for i in range(4)] + [pod_group("g", 6)] + members("g", 6)
    objects += [pod_group("small", 1)] + members("small", 1, "1")
    answer = simulated(program, objects, status=1)
    groups = {item["name"]: item for item in answer["podGroups"]}
    assert groups["small"]["placed"] == 1 and groups["small"]["pending"] == 0
    assert groups["g"] == {
        "namespace": "default", "name": "g", "placed": 0, "pending": 6,
        "message": "pod group is unschedulable",
        "reason": "0/4 nodes are available: 4 Insufficient cpu. no new claims to deallocate, "
                  "preemption: 0/4 nodes are available: 4 No preemption victims found for "
                  "incoming pod."}
    assert all(entry["podGroup"] for entry in answer["pods"])
    text = program.run("simulate", "-f", "-", *GANG, stdin=lines(*objects)).expect(1).out
    assert text.count("podgroup/default/g") == 1 and "default/g-" not in text, text
    assert "6 pods wait: g-0, g-1, g-2 and 3 more; g-4: 0/4 nodes are available" in text, text
    wide = program.run("simulate", "-f", "-", "-o", "wide", *GANG, stdin=lines(*objects))
    assert wide.expect(1).out.count("podgroup/default/g") == 1
    # Gates off: no groups.
    assert "podGroups" not in simulated(program, objects[:-2], status=1, gates=[])
    # Pods of a template: one Deployment, one group.
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
           "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
                    "template": {"metadata": {"labels": {"app": "web"}},
                                 "spec": members("g", 1)[0]["spec"]}}}
    answer = simulated(program, objects[:4] + [pod_group("g", 3), web])
    assert answer["podGroups"][0]["placed"] == 3
    # An indexed Job becomes a gang if the Job controller makes gangs.
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "work"},
           "spec": {"completionMode": "Indexed", "completions": 3, "parallelism": 3,
                    "template": {"spec": dict(pod("x", "3")["spec"], restartPolicy="Never")}}}
    with_job = ["--feature-gates", GANG[1] + ",WorkloadWithJob=true"]
    answer = simulated(program, objects[:2] + [job], status=1, gates=with_job)
    assert (answer["podGroups"][0]["placed"], answer["podGroups"][0]["pending"]) == (0, 3)
    assert simulated(program, objects[:3] + [job], gates=with_job)["summary"]["placed"] == 3


def test_whatif(program):
    objects = [node("n%d" % i) for i in range(4)] + [pod_group("g", 4)] + members("g", 4)
    answer = program.run("whatif", "-f", "-", "--remove", "n3", *GANG, stdin=lines(*objects))
    assert answer.expect(1).out.count("default/g (4 pods of PodGroup)") == 1, answer.out
    assert "pod group is unschedulable; g-3: 0/3 nodes are available" in answer.out


# --- hostile input ---


def test_many_pods(program):
    """For a group that is far too large, explain says how many of its members fit."""
    text = lines(*[node("n%d" % i, cpu="64") for i in range(50)], pod_group("g", 2000))
    text += lines(*members("g", 2000, "1"))
    answer = program.run("explain", "podgroup/g", "-f", "-", "-o", "json", *GANG, stdin=text)
    told = answer.expect(1).json()
    assert told["placed"] == 500 and told["pending"] == 2000
    assert simulated(program, [node("n0"), pod_group("g", 2)] + members("h", 3, "1"),
                     status=1)["podGroups"][0]["name"] == "h"


if __name__ == "__main__":
    scenario.main(globals())
