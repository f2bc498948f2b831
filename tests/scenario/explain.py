#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth explain: choice of the pod, all fates, output formats, and agreement with simulate."""
import copy
import json
import os
import random
import re
import time

import yaml

import scenario
from objects import budget, deployment, lines, node, pod, priority_class

SEED = int(os.environ.get("BERTH_TEST_SEED") or random.randrange(1 << 32))
PENDING = os.path.join(scenario.EXAMPLES, "pending.yaml")


def explain(program, text, *arguments, output="json"):
    return program.run("explain", "-f", "-", "-o", output, *arguments, stdin=text)


def told(program, text, *arguments, status=1):
    """Explain a pod of the objects in text; returns the JSON answer."""
    answer = explain(program, text, *arguments).expect(status)
    assert answer.err == "", answer.err
    return answer.json()


def in_namespace(namespace, item):
    return dict(item, metadata=dict(item["metadata"], namespace=namespace))


def refused(program, text, *arguments):
    """Explain something that berth refuses; returns the one sentence on standard error."""
    answer = explain(program, text, *arguments).expect(2)
    assert answer.out == "" and answer.err.count("\n") == 1, answer.err
    assert answer.err.startswith("berth explain: "), answer.err
    return answer.err[len("berth explain: "):-1]


# --- which pod ---


def test_the_only_pending_pod(program):
    nodes = [node("n1"), pod("runs", node_name="n1")]
    answer = told(program, lines(*nodes, pod("p")), status=0)
    assert answer["pod"]["name"] == "p" and answer["fate"] == "Fits"
    assert "no pod waits for a node (1 pod, 0 of them pending)" in refused(program, lines(*nodes))
    many = refused(program, lines(*nodes, *[pod("p%02d" % i) for i in range(30)]))
    assert many.startswith("30 pods wait for a node, name one of them: default/p00, default/p01")
    assert many.endswith("and 22 more") and len(many) < 400, many
    assert refused(program, lines(node("n1"))) == "there are no pods"
    two = lines(*nodes, pod("p"), in_namespace("b", pod("q")))
    assert told(program, two, "-n", "b", status=0)["pod"]["name"] == "q"
    assert refused(program, two, "-n", "c") == "there are no pods in namespace c"


def test_names(program):
    text = lines(node("n1"), pod("p"), in_namespace("b", pod("q")), in_namespace("b", pod("p")))
    for arguments, wanted in ((["q"], "b/q"), (["b/q"], "b/q"), (["q", "-n", "b"], "b/q"),
                              (["pod/q"], "b/q"), (["po/b/p"], "b/p"), (["default/p"], "default/p"),
                              (["pods/p", "--namespace=default"], "default/p")):
        found = told(program, text, *arguments, status=0)["pod"]
        assert found["namespace"] + "/" + found["name"] == wanted, (arguments, found)
    several = refused(program, text, "p")
    assert several == "pods named p are in several namespaces, say which with -n: default, b"
    assert "another namespace" in refused(program, text, "b/q", "-n", "default")
    for wrong in ("", "/p", "b/", "a/b/c/d", "pod//p"):
        assert "write NAME, NAMESPACE/NAME" in refused(program, text, wrong), wrong
    assert refused(program, text, "deploymnet/b/p") == \
        "deploymnet is no kind that has pods; did you mean deployment?"
    assert "use pod, deployment" in refused(program, text, "configuration/b/p")
    assert "one at a time" in refused(program, text, "p", "q")


def test_all_of_them(program):
    text = lines(node("n1", cpu="1"), node("n2", cpu="1"), deployment("web", 3, cpu="2"),
                 pod("a", cpu="2"), pod("b", cpu="2"), pod("c", cpu="100m"),
                 in_namespace("shop", pod("d", cpu="8")))
    path = program.write("all.yaml", text)
    answer = program.run("pending", "-f", path).expect(1).out
    assert answer.startswith("7 pods wait for a node, 1 of them fits, 4 groups, 2 nodes.\n"
                             "What would help each of 5 of them: "), answer
    groups = re.findall(r"^(\d+) pods?: (.*)$", answer, re.MULTILINE)
    assert groups == [("3", "deployment/web in default"), ("2", "pod/a and 1 more in default"),
                      ("1", "pod/d in shop"), ("1", "pod/c in default")], groups
    assert answer.count("  why:  Insufficient cpu (2 nodes)") == 3, answer
    assert "it fits: the scheduler has not come to it yet" in answer
    assert program.run("explain", "--all", "-f", path).expect(1).out == answer
    document = json.loads(program.run("pending", "-n", "shop", "-f", path, "-o", "json")
                          .expect(1).out)
    assert (document["apiVersion"], document["kind"]) == ("berth.dev/v1", "PendingPods")
    assert document["summary"]["pending"] == 1 and len(document["groups"]) == 1, document
    assert "no pod can be named" in program.run(
        "explain", "--all", "web", "-f", path).expect(2).err
    empty = program.write("empty.yaml", lines(node("n1")))
    assert program.run("pending", "-f", empty).expect(0).out == "No pod waits for a node.\n"


def test_misspelt(program):
    text = lines(node("n1"), in_namespace("shop", pod("checkout")), deployment("web", 2),
                 pod("db-0", node_name="n1"))
    wrong = refused(program, text, "shop/chekcout")
    assert wrong == ("there is no pod shop/chekcout among the objects read (1 pod, 1 of them "
                     "pending, in namespace shop); did you mean shop/checkout?"), wrong
    assert refused(program, text, "default/checkout").endswith("; did you mean shop/checkout?")
    # The name of a workload, alone or after its kind as in kubectl.
    for words in (["web"], ["deployment", "web"], ["deployment/web"], ["deploy", "default/web"]):
        answer = explain(program, text, *words).expect(0).out
        assert json.loads(answer)["pod"]["workload"]["name"] == "web", (words, answer)
    assert refused(program, text, "wbe").endswith("(4 pods, 3 of them pending)")
    assert "2 pods are named" in refused(program, text, "checkout", "web")
    assert refused(program, text, "deploy/wbe").endswith("; did you mean default/web?")
    assert refused(program, text, "something-else").endswith("(4 pods, 3 of them pending)")
    assert refused(program, text, "dbs-0").endswith("; did you mean default/db-0?")


def test_workloads(program):
    sets = [{"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
             "spec": dict({"selector": {"matchLabels": {"app": name}}, "template": {
                 "metadata": {"labels": {"app": name}}, "spec": pod("x")["spec"]}}, **more)}
            for kind, name, more in (("StatefulSet", "db", {"replicas": 2}),
                                     ("DaemonSet", "agent", {}), ("ReplicaSet", "old", {}))]
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"},
           "spec": {"template": {"spec": pod("x", restartPolicy="Never")["spec"]}}}
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "daily"},
            "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": job["spec"]}}}
    control = {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "rc"},
               "spec": {"template": {"spec": pod("x")["spec"]}}}
    none = deployment("none", 0)
    text = lines(node("n1", cpu="64"), *sets, job, cron, control, deployment("web", 3), none)
    for argument, start in (("sts/db", "db-0"), ("StatefulSet/default/db", "db-0"),
                            ("ds/agent", "agent-"), ("rs/old", "old-"), ("job/once", "once-"),
                            ("cj/daily", "daily-00000000-"), ("rc/rc", "rc-"),
                            ("deployments.apps/web", "web-"), ("deploy/default/web", "web-")):
        answer = told(program, text, argument, status=0)
        assert answer["pod"]["name"].startswith(start), (argument, answer["pod"])
        assert answer["pod"]["workload"]["name"] == argument.split("/")[-1], answer["pod"]
        assert answer["pod"]["workload"]["pendingPods"] == answer["pod"]["workload"]["pods"] > 0
    assert refused(program, text, "deploy/none").startswith("Deployment default/none has no pods")
    # An input without ReplicaSets and Deployments: derive the owners from the pods' names.
    made = pod("web-7f-abcde", node_name="n1", labels={"pod-template-hash": "7f"})
    made["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7f", "controller": True}]
    answer = told(program, lines(node("n1"), made), "deployment/web", status=0)
    assert answer["pod"]["name"] == "web-7f-abcde" and answer["pod"]["node"] == "n1"
    # A namespace with the name of a kind.
    text = lines(node("n1"), in_namespace("jobs", pod("p")))
    assert told(program, text, "jobs/p", status=0)["pod"]["namespace"] == "jobs"


def test_first_pending_pod_of_a_workload(program):
    objects = [node("n1", cpu="2"), deployment("web", 3)]
    for i, node_name in ((1, "n1"), (2, None)):
        item = pod("web-7f-%d" % i, node_name=node_name, labels={"pod-template-hash": "7f"})
        item["metadata"]["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7f", "controller": True}]
        item["metadata"]["creationTimestamp"] = "2026-01-01T00:00:0%dZ" % i
        objects.append(item)
    objects[0] = node("n1", cpu="4")
    answer = told(program, lines(*objects), "deploy/web", status=0)
    assert answer["pod"]["name"] == "web-7f-2", answer["pod"]
    assert (answer["pod"]["workload"]["pods"], answer["pod"]["workload"]["pendingPods"]) == (3, 2)
    table = explain(program, lines(*objects), "deploy/web", output="table").expect(0).out
    assert "(of Deployment web, 2 of 3 pods pending)" in table, table
    # One of the two pods fits, so the other pod is explained.
    objects[0] = node("n1", cpu="2")
    answer = told(program, lines(*objects), "deploy/web")
    assert answer["pod"]["name"] != "web-7f-2" and answer["fate"] == "Unschedulable", answer["pod"]
    assert answer["pod"]["workload"]["fits"] == 1, answer["pod"]
    assert answer["queue"]["afterQueue"] and answer["queue"]["placedBefore"] == 1
    assert told(program, lines(*objects), "deploy/web", "--after-queue") == answer
    # Pods that come later in the queue are placed, too, but do not count.
    later = [pod("later%d" % i, cpu="100m", priority=-1) for i in range(2)]
    objects[0] = node("n1", cpu="2500m")
    answer = told(program, lines(*objects, *later), "deploy/web")
    assert (answer["queue"]["podsBefore"], answer["queue"]["placedBefore"]) == (1, 1), answer
    objects[0] = node("n1", cpu="2")
    # A pod given by name is explained in the cluster as it is.
    assert told(program, lines(*objects), "web-7f-2", status=0)["fate"] == "Fits"


def test_counts_of_a_workload_agree_with_simulate(program):
    objects = [node("n1", cpu="4"), node("n2", cpu="4"), deployment("web", 100, cpu="500m"),
               deployment("later", 3, cpu="500m"), deployment("tiny", 2, cpu="0")]
    text = lines(*objects)
    placed = program.run("simulate", "-f", "-", "-o", "json", stdin=text).expect(1).json()
    by_owner = {}
    for item in placed["pods"]:
        counts = by_owner.setdefault(item["owner"]["name"], {"fits": 0, "stays": 0})
        counts["fits" if item["reason"] == "Scheduled" else "stays"] += 1
    assert by_owner == {"web": {"fits": 16, "stays": 84}, "later": {"fits": 0, "stays": 3},
                        "tiny": {"fits": 2, "stays": 0}}, by_owner
    answer = program.run("pending", "-f", "-", "-o", "json", stdin=text).expect(1).json()
    assert {item["owner"]["name"]: {key: item[key] for key in ("fits", "stays")}
            for item in answer["groups"]} == by_owner, answer
    assert [item["owner"]["name"] for item in answer["groups"]] == ["web", "later", "tiny"]
    assert (answer["summary"]["fits"], answer["summary"]["stays"]) == (18, 87)
    assert answer["summary"]["helpedByChange"] == 87, answer["summary"]
    text = program.run("pending", "-f", "-", stdin=lines(*objects)).expect(1).out
    assert "\n84 of 100 pods: deployment/web in default\n  why:  Insufficient cpu (2 nodes)\n" \
        "        the other 16 fit\n" in text, text
    assert "\n2 pods: deployment/tiny in default\n" \
        "  why:  all of them fit: the scheduler has not come to them yet\n" in text, text
    text = explain(program, lines(*objects), "web", output="table").expect(1).out
    assert "(of Deployment web, 100 of 100 pods pending, of which 16 fit) fits on none of 2 " \
        "nodes: " in text, text
    # The pods ahead in the queue take the room.
    text = explain(program, lines(*objects), "deployment", "later", output="table").expect(1).out
    assert "(of Deployment later, 3 of 3 pods pending) fits on none" in text, text
    assert "fits on 2 of 2 nodes" in explain(
        program, lines(*objects), "tiny", output="table").expect(0).out


def test_pending_pods_that_preempt_or_leave(program):
    gone = pod("gone")
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    text = lines(node("n1", cpu="1"), pod("low", node_name="n1"), pod("high", priority=10), gone)
    answer = program.run("pending", "-f", "-", "-o", "json", stdin=text).expect(1).json()
    assert [(item["firstPod"], item["nominatedNode"]) for item in answer["groups"]] == \
        [("high", "n1")], answer
    assert "preemption would make room on n1\n" in program.run(
        "pending", "-f", "-", stdin=text).expect(1).out


# --- fates ---


def test_running_pods_are_explained_as_if_pending(program):
    text = lines(node("n1", cpu="1"), node("n2", cpu="1"), pod("a", node_name="n1"),
                 pod("b", node_name="n2"))
    answer = told(program, text, "a", status=0)
    assert answer["pod"]["node"] == "n1" and answer["fate"] == "Fits"
    assert [item["name"] for item in answer["nodes"] if item["fits"]] == ["n1"]
    table = explain(program, text, "a", output="table").expect(0).out
    assert table.startswith("Pod default/a runs on n1; were it pending, and not there, "
                            "it would fit on 1 of 2 nodes: n1.\n"), table
    assert "Queue:" not in table
    # The node no longer matches the pod's selector; the pod runs anyway.
    moved = pod("c", node_name="n1", nodeSelector={"disk": "ssd"})
    answer = told(program, lines(node("n1"), moved), "c", status=0)
    assert answer["fate"] == "Unschedulable" and answer["pod"]["node"] == "n1"


def test_pods_that_are_over(program):
    for phase, word in (("Succeeded", "succeeded"), ("Failed", "failed")):
        over = dict(pod("a", node_name="n1"), status={"phase": phase})
        assert refused(program, lines(node("n1"), over), "a") == \
            "Pod default/a has %s: a finished pod is not scheduled again" % word


def test_deleted_pods(program):
    gone = pod("a")
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    answer = explain(program, lines(node("n1"), gone), "a", output="table").expect(1)
    assert "It is being deleted: schedulers leave it alone." in answer.out
    assert told(program, lines(node("n1"), gone), "a")["queue"]["deleting"] is True


def test_no_nodes(program):
    answer = told(program, lines(pod("a")))
    assert answer["fate"] == "NoNodes" and answer["nodeCount"] == 0 and answer["nodes"] == []
    assert "no nodes available to schedule pods" in answer["message"]
    table = explain(program, lines(pod("a")), output="table").expect(1).out
    assert table.startswith("Pod default/a fits nowhere: the cluster has no nodes.\n"), table


def test_gates_and_other_schedulers(program):
    gated = pod("a", schedulingGates=[{"name": "x.example/one"}, {"name": "x.example/two"}])
    answer = told(program, lines(node("n1"), gated))
    assert answer["fate"] == "Gated" and answer["feasibleCount"] == 1
    assert answer["queue"]["gates"] == ["x.example/one", "x.example/two"]
    assert sorted(change["key"] for change in answer["entryChanges"]) == answer["queue"]["gates"]
    table = explain(program, lines(node("n1"), gated), output="table").expect(1).out
    assert table.startswith(
        "Pod default/a is not tried on any node before its scheduling gates x.example/one, "
        "x.example/two are removed; then it fits on 1 of 1 node: n1.\n"), table
    waiting = lines(node("n1"), pod("a", schedulingGroup={"podGroupName": "missing"}))
    table = explain(program, waiting, "a", "--feature-gates",
                    "GenericWorkload=true,GangScheduling=true", output="table").expect(1).out
    assert table.startswith("Pod default/a is not tried on any node yet; as soon as it is, it fits "
                            "on 1 of 1 node: n1.\n"), table
    answer = told(program, lines(node("n1"), pod("a", schedulerName="mine")))
    assert answer["fate"] == "NotHandled" and answer["profile"] == "default-scheduler"
    assert answer["entryChanges"][0]["type"] == "SetSchedulerName"


def test_an_empty_namespace_is_none(program):
    text = lines(node("n1"), in_namespace("b", pod("p", cpu="9")))
    answer = program.run("pending", "-f", "-", "-n", "", stdin=text).expect(1).out
    assert answer == program.run("pending", "-f", "-", stdin=text).expect(1).out, answer
    assert told(program, text, "b/p", "-n", "")["pod"]["namespace"] == "b"


def test_only_the_largest_groups_are_explained(program):
    text = lines(node("n1"), *(pod("p%03d" % i, cpu="9") for i in range(503)))
    answer = program.run("pending", "-f", "-", stdin=text).expect(1).out
    assert answer.count("\n  why:  ") == 1 and len(answer.splitlines()) < 10, answer
    assert "\n500 pods: pod/p000 and 499 more in default\n" in answer, answer
    assert answer.endswith("\n\n3 more groups with 3 pods are not explained\n"), answer


def test_gates_are_the_reason(program):
    """A gated pod waits for its gates, whatever nodes would reject it afterwards."""
    text = lines(node("n1"), node("n2", spec={"unschedulable": True}),
                 pod("a", schedulingGates=[{"name": "x.example/one"}]),
                 pod("b", schedulerName="mine"))
    answer = program.run("pending", "-f", "-", stdin=text).expect(1).out
    assert "pod/a in default\n  why:  waiting for scheduling gates: [x.example/one]\n" in answer
    assert 'pod/b in default\n  why:  profile not found for scheduler name "mine"\n' in answer


def test_queue(program):
    high = [pod("high%d" % i, priority=10) for i in range(3)]
    same = pod("p", cpu="2", priority=5)
    others = [pod("low"), pod("gated", priority=20, schedulingGates=[{"name": "g"}]),
              pod("else", priority=20, schedulerName="mine")]
    text = lines(node("n1"), *others, same, *high)
    first = told(program, text, "p", status=0)
    assert first["queue"]["podsBefore"] == 3 and first["queue"]["pendingPods"] == 7, first["queue"]
    assert not first["queue"]["afterQueue"] and first["feasibleCount"] == 1
    after = told(program, text, "p", "--after-queue")
    assert after["queue"]["afterQueue"] and after["queue"]["placedBefore"] == 3
    assert after["feasibleCount"] == 0 and "1 Insufficient cpu" in after["message"]
    table = explain(program, text, "p", "--after-queue", output="table").expect(1).out
    assert "3 pending pods come before it, and are placed first in this answer: " \
        "3 found a node" in table, table


def test_nominated_pods_keep_their_place(program):
    holder = dict(pod("holder", cpu="4", priority=10), status={"nominatedNodeName": "n1"})
    text = lines(node("n1"), holder, pod("p"))
    assert told(program, text, "p")["feasibleCount"] == 0
    mine = told(program, text, "holder", status=0)
    assert mine["queue"]["nominatedNode"] == "n1"
    table = explain(program, text, "holder", output="table").expect(0).out
    assert "nominated to n1 by an earlier attempt" in table, table


def test_condition(program):
    waiting = pod("p", cpu="9")
    message = "0/1 nodes are available: 1 Insufficient cpu."
    waiting["status"] = {"conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
         "lastTransitionTime": "2026-03-01T02:41:08Z"}]}
    text = lines(node("n1"), waiting)
    assert told(program, text)["queue"]["condition"] == {
        "status": "False", "reason": "Unschedulable", "message": message,
        "since": "2026-03-01T02:41:08Z"}
    table = explain(program, text, output="table").expect(1).out
    assert "status says Unschedulable since 2026-03-01T02:41:08Z" in table, table


def test_preemption(program):
    text = lines(priority_class("important", 1000), node("n1", cpu="2"), node("n2", cpu="2"),
                 pod("v1", node_name="n1", labels={"app": "x"}), pod("v2", node_name="n1"),
                 pod("w", cpu="2", node_name="n2", priority=2000),
                 budget("b", {"app": "x"}, 0), pod("p", cpu="2", priorityClassName="important"))
    view = told(program, text, "p")["preemption"]
    assert view["ran"] and view["node"] == "n1"
    assert [item["node"] for item in view["candidates"] if item["selected"]] == ["n1"]
    assert sorted(item["name"] for item in view["candidates"][0]["victims"]) == ["v1", "v2"]
    assert view["candidates"][0]["budgetViolations"] == 1
    table = explain(program, text, "p", output="table").expect(1).out
    assert "it can make room on n1 by evicting 2 pods of lower priority, against a " \
        "disruption budget for 1 of them:" in table, table
    assert "    default/v2 (priority 0)\n" in table, table
    others = [json.loads(line) for line in text.split("\n")[1:-1]]
    never = lines(priority_class("important", 1000, "Never"), *others)
    view = told(program, never, "p")["preemption"]
    assert view["node"] == "" and view["candidates"] == [], view
    table = explain(program, never, "p", output="table").expect(1).out
    assert "preemptionPolicy=Never" in table.split("\nPreemption:\n")[1], table


# --- output ---


def test_formats_agree(program):
    for name in ("shop/checkout", "sts/shop/cart", "shop/proxy", "research/notebook",
                 "shop/invoice"):
        arguments = ["explain", name, "-f", PENDING]
        answer = program.run(*arguments, "-o", "json").expect(1).json()
        assert yaml.safe_load(program.run(*arguments, "-o", "yaml").expect(1).out) == answer
        table = program.run(*arguments).expect(1).out
        wide = program.run(*arguments, "-o", "wide").expect(1).out
        assert table.startswith("Pod %s/%s " % (answer["pod"]["namespace"], answer["pod"]["name"]))
        assert "\nThe scheduler says:\n  %s\n" % answer["message"] in table, table
        for group in answer["groups"]:
            heading = "  %d node%s: %s" % (group["count"], "" if group["count"] == 1 else "s",
                                           ", ".join(group["reasons"]))
            assert heading in table, (heading, table)
        for item in answer["nodes"]:
            assert re.search(r"^  %s +\S" % item["name"], wide, re.MULTILINE), (item, wide)
            for obstacle in item.get("obstacles", []):
                assert obstacle["hint"] in wide, (obstacle, wide)
        for i, proposal in enumerate(answer["proposals"]):
            words = ", and ".join(change["text"] for change in proposal["changes"])
            assert "  %d. %s: then it fits " % (i + 1, words) in table, (words, table)
        assert "NaN" not in json.dumps(answer) and not has_fractions(answer)


def has_fractions(value):
    if isinstance(value, dict):
        return any(has_fractions(item) for item in value.values())
    if isinstance(value, list):
        return any(has_fractions(item) for item in value)
    return isinstance(value, float)


def test_scores(program):
    text = lines(node("big", cpu="16", memory="64Gi"), node("small"), node("mid", cpu="8"),
                 pod("p"))
    answer = told(program, text, status=0)
    totals = {item["name"]: item["total"] for item in answer["nodes"]}
    assert answer["bestNode"] == max(totals, key=totals.get)
    for item in answer["nodes"]:
        assert sum(item["scores"].values()) == item["total"], item
    table = explain(program, text, output="table").expect(0).out
    ranking = re.findall(r"^  (big|small|mid) +(\d+)", table, re.MULTILINE)
    assert ranking == [(name, str(totals[name]))
                       for name in sorted(totals, key=lambda name: (-totals[name], name))], table
    assert "Changes that would help" not in table and "Preemption" not in table


def test_commands(program):
    text = lines(node("n1", spec={"unschedulable": True}), pod("p"))
    table = explain(program, text, output="table").expect(1).out
    assert "       kubectl uncordon n1\n" in table, table
    text = lines(node("n1", labels={"disk": "hdd"}), pod("p", nodeSelector={"disk": "ssd"}))
    table = explain(program, text, output="table").expect(1).out
    assert "       kubectl label node n1 disk=ssd --overwrite\n" in table, table
    taint = {"key": "team", "value": "x y'z", "effect": "NoSchedule"}
    text = lines(node("n1", spec={"taints": [taint]}), pod("p"))
    table = explain(program, text, output="table").expect(1).out
    patch = re.search(r"kubectl patch pod p -n default --type=json -p '(.*)'\n", table)
    assert patch, table
    assert json.loads(patch.group(1).replace("'\\''", "'"))[0]["value"] == {
        "key": "team", "operator": "Equal", "value": "x y'z", "effect": "NoSchedule"}
    assert "       or: kubectl taint node n1 team:NoSchedule-\n" in table, table
    # API servers add tolerations to new pods by default; this pod has no list to append to.
    made = pod("p")
    made["metadata"]["uid"] = "u"
    text = lines(node("n1", spec={"taints": [taint]}), made)
    table = explain(program, text, output="table").expect(1).out
    assert '"path":"/spec/tolerations","value":[{"key":"team",' in table, table
    other = {"key": "zone", "effect": "NoSchedule"}
    text = lines(node("n1", spec={"taints": [taint, other]}), made)
    table = explain(program, text, output="table").expect(1).out
    assert '"path":"/spec/tolerations","value":[{"key":"team",' in table, table
    assert '"path":"/spec/tolerations/-","value":{"key":"zone",' in table, table
    # A pod that its controller has not made yet cannot be patched.
    table = explain(program, lines(node("n1", spec={"taints": [taint]}), deployment("web", 1)),
                    output="table").expect(1).out
    assert "kubectl taint" in table and "kubectl patch" not in table, table


def test_too_small_nodes_are_not_to_be_emptied(program):
    text = lines(node("n1"), pod("old", cpu="2", node_name="n1"), pod("p", cpu="6"))
    table = explain(program, text, output="table").expect(1).out
    less = table.find("1. ask for 2 cpu instead of 6: then it fits on n1\n")
    assert 0 < less < table.find(". add a node like n1 with 6 cpu (n1 has 4): "), table
    assert "free " not in table, table
    text = text.replace('"6"', '"4"')
    table = explain(program, text, output="table").expect(1).out
    assert "1. free 2 cpu on n1: then it fits there\n" in table, table


def test_one_proposal_for_equal_nodes(program):
    text = lines(*[node("n%d" % i, spec={"unschedulable": True}) for i in range(9)], pod("p"))
    table = explain(program, text, output="table").expect(1).out
    assert table.count("uncordon n") == 2, table  # in words, and as a command
    assert "uncordon n0: then it fits there (8 more nodes are alike)\n" in table, table


def test_pods_that_come_back_stay(program):
    ports = [{"containerPort": 80, "hostPort": 80}]
    holder = pod("agent", node_name="n1")
    holder["spec"]["containers"][0]["ports"] = ports
    waits = pod("p")
    waits["spec"]["containers"][0]["ports"] = ports
    proposals = told(program, lines(node("n1"), holder, waits))["proposals"]
    assert sorted(each["changes"][0]["type"] for each in proposals) == [
        "DropHostPort", "RemovePod"], proposals
    # With the node affinity of a DaemonSet pod, the removal of the pod is not proposed.
    holder["spec"]["affinity"] = {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}}
    proposals = told(program, lines(node("n1"), holder, waits))["proposals"]
    assert [each["changes"][0]["type"] for each in proposals] == ["DropHostPort"], proposals
    # The kubelet creates a mirror pod again.
    del holder["spec"]["affinity"]
    holder["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "hash"}
    proposals = told(program, lines(node("n1"), holder, waits))["proposals"]
    assert [each["changes"][0]["type"] for each in proposals] == ["DropHostPort"], proposals


def test_storage_class_before_no_volume(program):
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
             "spec": {"accessModes": ["ReadWriteOnce"],
                      "resources": {"requests": {"storage": "1Gi"}}}}
    waits = pod("p")
    waits["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    table = explain(program, lines(node("n1"), claim, waits), output="table").expect(1).out
    assert "1. create a default StorageClass, or mark one as default, for claim data: " in table
    assert "2. do without the pod's volume v: " in table, table
    claim["spec"]["storageClassName"] = "fast"
    table = explain(program, lines(node("n1"), claim, waits), output="table").expect(1).out
    assert "1. create StorageClass fast, for claim data: then it fits on n1\n" in table, table


def test_proposals_flag(program):
    text = lines(*[node("n%d" % i, spec={"unschedulable": True}) for i in range(9)], pod("p"))
    for count in (0, 1, 3, 9):
        proposals = told(program, text, "--proposals", str(count))["proposals"]
        assert len(proposals) == count, (count, proposals)
    assert len(told(program, text)["proposals"]) == 3
    for wrong in ("-1", "101"):
        assert "from 0 to 100" in refused(program, text, "--proposals=" + wrong)
    assert "is none of table, wide, json, yaml" in refused(program, text, "-oname")


# --- agreement with simulate ---


def random_node(rng, i):
    labels = {"zone": rng.choice("abc"), "disk": rng.choice(["ssd", "hdd"]),
              "kubernetes.io/hostname": "n%d" % i}
    if rng.random() < 0.2:
        del labels["zone"]
    spec = {}
    if rng.random() < 0.2:
        spec["unschedulable"] = True
        spec["taints"] = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    elif rng.random() < 0.4:
        spec["taints"] = [{"key": "team", "value": rng.choice("xy"), "effect": rng.choice(
            ["NoSchedule", "NoExecute", "PreferNoSchedule"])}]
    return node("n%d" % i, cpu=str(rng.randint(1, 3)), memory="%dGi" % rng.randint(1, 8),
                spec=spec, labels=labels)


def random_pod(rng, name, node_name=None):
    labels = {"app": rng.choice("pq")}
    spec = {"priority": rng.choice([0, 0, 10, 100])}
    selector = {"matchLabels": {"app": rng.choice("pq")}}
    if node_name is None and rng.random() < 0.4:
        spec["nodeSelector"] = {"disk": rng.choice(["ssd", "hdd", "tape"])}
    if rng.random() < 0.4:
        spec["tolerations"] = [{"key": "team", "operator": "Equal", "value": rng.choice("xy")}]
    if rng.random() < 0.3:
        spec["topologySpreadConstraints"] = [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": selector}]
    if rng.random() < 0.3:
        spec["affinity"] = {rng.choice(["podAffinity", "podAntiAffinity"]): {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": selector,
                 "topologyKey": rng.choice(["zone", "kubernetes.io/hostname"])}]}}
    if node_name is None and rng.random() < 0.1:
        spec["schedulingGates"] = [{"name": "g"}]
    item = pod(name, cpu="%dm" % rng.choice([100, 500, 1000, 2500]), node_name=node_name,
               labels=labels, **spec)
    if rng.random() < 0.2:
        item["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return item


def random_cluster(rng):
    nodes = [random_node(rng, i) for i in range(rng.randint(1, 8))]
    running = [random_pod(rng, "r%d" % i, rng.choice(nodes)["metadata"]["name"])
               for i in range(rng.randint(0, 8))]
    return nodes + running + [random_pod(rng, "p%d" % i) for i in range(rng.randint(1, 4))]


def changed(objects, name, changes):
    """Apply changes to objects as the documentation describes them."""
    objects = copy.deepcopy(objects)
    by_name = {(item["kind"], item["metadata"]["name"]): item for item in objects}
    target = by_name["Pod", name]["spec"]
    gone = []
    for change in changes:
        kind = change["type"]
        host = by_name.get(("Node", change.get("node")))
        if kind == "FreeResource":
            host["status"].setdefault("allocatable", dict(host["status"]["capacity"]))
            more(host["status"]["allocatable"], change["resource"], change["amount"])
        elif kind == "RemovePod":
            gone.append(by_name["Pod", change["pod"]["name"]])
        elif kind == "Tolerate":
            target.setdefault("tolerations", []).append(
                {"key": change["key"], "value": change["value"], "effect": change["effect"],
                 "operator": "Equal" if change["value"] else "Exists"})
        elif kind == "Uncordon":
            host["spec"] = {"taints": [
                taint for taint in host["spec"].get("taints", [])
                if taint["key"] != "node.kubernetes.io/unschedulable"]}
        elif kind == "SetLabel":
            host["metadata"]["labels"][change["key"]] = change["value"]
        elif kind == "RemoveLabel":
            del host["metadata"]["labels"][change["key"]]
        elif kind == "DropNodeSelector":
            del target["nodeSelector"][change["key"]]
        elif kind in ("DropPodAffinity", "DropPodAntiAffinity"):
            terms = target["affinity"]["p" + kind[len("DropP"):]]
            terms["requiredDuringSchedulingIgnoredDuringExecution"][change["index"]] = None
        elif kind == "RaiseMaxSkew":
            target["topologySpreadConstraints"][change["index"]]["maxSkew"] = change["amount"]
        elif kind == "AllowSkew":
            target["topologySpreadConstraints"][change["index"]]["whenUnsatisfiable"] = \
                "ScheduleAnyway"
        elif kind == "DropHostPort":
            for container in target["containers"]:
                container["ports"] = [port for port in container.get("ports", [])
                                      if port["hostPort"] != change["amount"]]
        elif kind == "LowerRequest":
            less(target["containers"][0]["resources"]["requests"], change["resource"],
                 change["amount"])
        elif kind == "RemoveGate":
            target["schedulingGates"] = [gate for gate in target["schedulingGates"]
                                         if gate["name"] != change["key"]]
        else:
            raise AssertionError("no random pod should need " + kind)
    for terms in target.get("affinity", {}).values():
        key = "requiredDuringSchedulingIgnoredDuringExecution"
        terms[key] = [term for term in terms[key] if term is not None]
    return [item for item in objects if item not in gone]


def more(amounts, resource, amount):
    if resource == "cpu":
        amounts[resource] = "%dm" % (int(amounts[resource]) * 1000 + amount)
    elif resource == "memory":
        amounts[resource] = str(int(amounts[resource][:-2]) * 2 ** 30 + amount)
    else:
        amounts[resource] = str(int(amounts[resource]) + amount)


def less(amounts, resource, amount):
    """Reduce the cpu in the requests of a pod by this amount."""
    left = int(amounts["cpu"][:-1]) - amount
    assert resource == "cpu" and left > 0, (amounts, resource, amount)
    amounts["cpu"] = "%dm" % left


def alone(objects, name):
    """Returns the objects without the other pending pods: this pod is the only one."""
    return [item for item in objects if item["kind"] == "Node" or "nodeName" in item["spec"] or
            item["metadata"]["name"] == name]


def check_counts(answer):
    """Each node that does not fit is in exactly one group. The counts of nodes agree, and the
    message has all reasons of the groups."""
    grouped = [name for group in answer["groups"] for name in group["nodes"]]
    rejected = [item["name"] for item in answer["nodes"] if not item["fits"]]
    assert sorted(grouped) == rejected and len(answer["nodes"]) == answer["nodeCount"]
    assert answer["feasibleCount"] == answer["nodeCount"] - len(rejected)
    if answer["fate"] == "Unschedulable":
        for group in answer["groups"]:
            assert all(reason in answer["message"] for reason in group["reasons"]), answer


def up_to(program, objects, name):
    """Returns the objects without the pods that are after this pod in the queue, because their
    bindings could requeue this pod."""
    order = list(program.simulate(lines(*objects)).pods())
    behind = order[order.index("default/" + name) + 1:]
    return [item for item in objects if item["kind"] != "Pod" or
            "default/" + item["metadata"]["name"] not in behind]


def check_against_simulate(program, objects, name, case):
    for arguments, cluster in (([], alone(objects, name)),
                               (["--after-queue"], up_to(program, objects, name))):
        pods = program.simulate(lines(*cluster)).pods()
        wanted = pods.pop("default/" + name)
        answer = explain(program, lines(*objects), name, *arguments).json()
        placed = sum(item["node"] != "" for item in pods.values())
        if arguments and placed != answer["queue"]["placedBefore"]:
            continue  # an event requeued one of the pods before it, which was placed later
        assert answer["message"] == wanted["message"], (case, arguments, answer, wanted)
        assert (answer["fate"] == "Fits") == (wanted["node"] != ""), (case, arguments)
        check_counts(answer)
        if wanted["node"] != "":
            chosen = [item for item in answer["nodes"] if item["name"] == wanted["node"]][0]
            assert chosen["fits"] and answer["feasibleCount"] == wanted["feasibleNodes"], case
            if wanted["feasibleNodes"] > 1:
                assert chosen["total"] == wanted["score"], (case, chosen, wanted)
        elif not arguments:
            check_proposals(program, cluster, name, answer, case)


def check_proposals(program, cluster, name, answer, case):
    for proposal in answer["proposals"]:
        after = lines(*changed(cluster, name, proposal["changes"]))
        fixed = program.simulate(after).pods()["default/" + name]
        assert fixed["node"] != "", (case, proposal, fixed)
        assert fixed["feasibleNodes"] == proposal["opens"], (case, proposal, fixed)


def test_random_clusters_agree_with_simulate(program):
    print("BERTH_TEST_SEED=%d" % SEED)
    for i in range(20 if program.sanitized else 60):
        rng = random.Random(SEED + i)
        objects = random_cluster(rng)
        pending = [item["metadata"]["name"] for item in objects
                   if item["kind"] == "Pod" and "nodeName" not in item["spec"]]
        check_against_simulate(program, objects, rng.choice(pending),
                               "BERTH_TEST_SEED=%d, case %d" % (SEED, i))


def test_large_cluster(program):
    """An explanation takes well below two seconds on an idle machine; the limit leaves room for
    load."""
    objects = []
    for i in range(5000):
        spec = {"unschedulable": True} if i % 30 == 0 else {}
        objects.append(node("n%d" % i, cpu="4", spec=spec))
        objects.append(pod("r%d" % i, cpu="%dm" % (3100 + i % 700), node_name="n%d" % i))
    text = lines(*objects, pod("p", cpu="1"))
    began = time.monotonic()
    answer = program.run("explain", "p", "-f", "-", stdin=text, verify=False).expect(1)
    taken = time.monotonic() - began
    assert program.sanitized or taken < 20, taken
    assert "fits on none of 5,000 nodes: 4,833 have too little cpu left" in answer.out, answer.out
    assert "needs 100m more cpu" in answer.out and " more, none of them nearer" in answer.out
    assert len(answer.out.splitlines()) < 60 and len(answer.out) < 8000, answer.out
    wide = program.run("explain", "p", "-f", "-", "-o", "wide", stdin=text, verify=False).expect(1)
    assert len(re.findall(r"^  n\d+ ", wide.out, re.MULTILINE)) == 5000


def test_hostile_names(program):
    bad = "a\x1b[2Jb\u202e\n'$(reboot)"
    text = lines(node(bad, labels={bad: bad}, spec={"taints": [
        {"key": bad, "value": bad, "effect": "NoSchedule"}]}),
                 node("-n", spec={"unschedulable": True}),
                 pod(bad, schedulingGates=[{"name": bad}], nodeSelector={bad: "x"}))
    for output in ("table", "wide"):
        answer = explain(program, text, output=output).expect(1)
        shown = answer.out
        assert "a\\x1b[2Jb\\u202e\\n'$(reboot)" in shown, shown
        assert all(byte == "\n" or byte.isprintable() for byte in shown), shown
        assert "kubectl" not in shown, shown
    assert told(program, text)["pod"]["name"] == bad
    answer = explain(program, text, bad + "x").expect(2)
    assert answer.err.count("\n") == 1 and "\x1b" not in answer.err, answer.err
    long = explain(program, lines(node("n1"), pod("p")), "x" * 5000).expect(2)
    assert len(long.err) < 1000, long.err
    many = lines(node("n1"), pod("p", schedulingGates=[{"name": "g%d" % i} for i in range(3000)]))
    assert told(program, many)["fate"] == "Gated"


if __name__ == "__main__":
    scenario.main(globals())
