#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Explain pods of the vectors with berth, apply its proposals, check the results with the model.

usage: explain_changes.py BERTH SEED COUNT CATEGORY [CATEGORY ...]

Draws COUNT cases of each category, and from each case one pod that was recorded as unschedulable.
Writes a file with the objects as they are before this pod is tried, for `berth explain -o json`.
Applies every proposal to the objects as src/explain/remedies.def describes.
Then the model in reference/ must find that the pod fits on the named node, and on as many nodes as
berth says. With only a part of the proposal, the pod must fit on no node.

The categories `resize` and `spread_default` cannot be used, because no API server would store their
objects as they are. Pods of `resize` lack requests that the server derives from limits and from
pod-level resources; berth adds these requests, the model does not. Controllers of `spread_default`
have no valid pod template, so berth refuses the file.

The last line is "N passed, N failed"; N counts pods.
"""
import copy
import gzip
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from reference import quantity  # noqa: E402
from reference.cycle import Scheduler  # noqa: E402

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
#: For a proposal with at most this many changes, all parts are tried. For a larger proposal, only
#: the parts that lack exactly one change are tried.
PARTS_OF_MAX = 4


class Wrong(Exception):
    """Describes what is wrong with an answer of the program."""


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


# --- the remedies of remedies.def ---

def free_resource(node, change):
    unit = quantity.parse("1m") if change["resource"] == "cpu" else quantity.parse("1")
    allocatable = node["status"].setdefault("allocatable", {})
    now = quantity.parse(str(allocatable.get(change["resource"], "0")))
    total = (now + unit * change["amount"]) / unit
    whole = -(-total.numerator // total.denominator)
    allocatable[change["resource"]] = "%d%s" % (whole, "m" if change["resource"] == "cpu" else "")


def uncordon(node, _change):
    node["spec"]["unschedulable"] = False
    node["spec"]["taints"] = [t for t in node["spec"].get("taints") or []
                              if t["key"] != "node.kubernetes.io/unschedulable"]


def set_label(node, change):
    node["metadata"].setdefault("labels", {})[change["key"]] = change["value"]


def remove_label(node, change):
    del node["metadata"]["labels"][change["key"]]


def tolerate(pod, change):
    pod["spec"].setdefault("tolerations", []).append({
        "key": change["key"], "operator": "Equal" if change.get("value") else "Exists",
        "value": change.get("value", ""), "effect": change.get("effect", "")})


def drop_node_selector(pod, change):
    del pod["spec"]["nodeSelector"][change["key"]]


def drop_node_affinity(pod, _change):
    del pod["spec"]["affinity"]["nodeAffinity"][REQUIRED]


def blank_term(kind):
    def blank(pod, change):
        terms = pod["spec"]["affinity"][kind][REQUIRED]
        if terms[change["index"]] is None:
            raise Wrong("the same term twice")
        terms[change["index"]] = None
    return blank


def raise_max_skew(pod, change):
    pod["spec"]["topologySpreadConstraints"][change["index"]]["maxSkew"] = change["amount"]


def allow_skew(pod, change):
    constraint = pod["spec"]["topologySpreadConstraints"][change["index"]]
    constraint["whenUnsatisfiable"] = "ScheduleAnyway"


def drop_host_port(pod, change):
    for containers in (pod["spec"].get("containers"), pod["spec"].get("initContainers")):
        for container in containers or []:
            container["ports"] = [
                p for p in container.get("ports") or []
                if (p.get("hostPort"), p.get("protocol") or "TCP") !=
                (change["amount"], change["value"])]


def lower_request(pod, change):
    container, = pod["spec"]["containers"]
    if pod["spec"].get("initContainers") or pod["spec"].get("resources"):
        raise Wrong("the request is not that of one container")
    resources = container["resources"]
    name = change["resource"]
    unit = quantity.parse("1m") if name == "cpu" else quantity.parse("1")
    now = (resources.get("requests") or {}).get(name) or resources["limits"][name]
    left = (quantity.parse(str(now)) - unit * change["amount"]) / unit
    if left <= 0:
        raise Wrong("nothing is left of the request for " + name)
    resources.setdefault("requests", {})[name] = "%d%s" % (
        -(-left.numerator // left.denominator), "m" if name == "cpu" else "")


def drop_named(member):
    def drop(pod, change):
        kept = [e for e in pod["spec"].get(member) or [] if e["name"] != change["key"]]
        if len(kept) == len(pod["spec"].get(member) or []):
            raise Wrong("no %s named %s" % (member, change["key"]))
        pod["spec"][member] = kept
    return drop


def set_scheduler_name(pod, change):
    pod["spec"]["schedulerName"] = change["value"]


OF_NODE = {"FreeResource": free_resource, "Uncordon": uncordon, "SetLabel": set_label,
           "RemoveLabel": remove_label}
OF_POD = {"Tolerate": tolerate, "DropNodeSelector": drop_node_selector,
          "DropNodeAffinity": drop_node_affinity, "DropPodAffinity": blank_term("podAffinity"),
          "DropPodAntiAffinity": blank_term("podAntiAffinity"), "RaiseMaxSkew": raise_max_skew,
          "LowerRequest": lower_request, "AllowSkew": allow_skew, "DropHostPort": drop_host_port,
          "DropVolume": drop_named("volumes"), "ProvisionVolume": drop_named("volumes"),
          "RemoveGate": drop_named("schedulingGates"),
          "SetSchedulerName": set_scheduler_name}


def is_pod(obj, namespace, name):
    return obj["kind"] == "Pod" and obj["metadata"]["name"] == name and \
        obj["metadata"].get("namespace", "default") == namespace


def remove_pod(objects, change):
    found = [o for o in objects if is_pod(o, change["pod"]["namespace"], change["pod"]["name"]) and
             o["spec"].get("nodeName") == change["node"]]
    if len(found) != 1:
        raise Wrong("%d such pods are on the node: %s" % (len(found), change))
    objects.remove(found[0])
    for claim in objects:
        if claim["kind"] == "ResourceClaim":
            leave_claim(claim, found[0]["metadata"].get("uid"))


def leave_claim(claim, uid):
    """Remove the reservation of the pod with this uid. If no reservation is left, the claim
    loses its devices."""
    status = claim.get("status") or {}
    users = status.get("reservedFor") or []
    left = [user for user in users if user.get("uid") != uid]
    if users and not left:
        claim["status"] = {}
    elif left:
        status["reservedFor"] = left


def carry_out(objects, pod, changes):
    """Return copies of the objects and of the pod, with the changes applied."""
    objects, pod = copy.deepcopy(objects), copy.deepcopy(pod)
    for change in changes:
        if change["type"] == "RemovePod":
            remove_pod(objects, change)
        elif change["type"] in OF_NODE:
            node, = [o for o in objects
                     if o["kind"] == "Node" and o["metadata"]["name"] == change["node"]]
            OF_NODE[change["type"]](node, change)
        else:
            OF_POD[change["type"]](pod, change)
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = ((pod["spec"].get("affinity") or {}).get(kind) or {})
        if terms.get(REQUIRED):
            terms[REQUIRED] = [t for t in terms[REQUIRED] if t is not None]
    return objects, pod


# --- one pod ---

def ask_model(objects, config, pod):
    return Scheduler({"objects": objects, "config": config}).schedule(copy.deepcopy(pod))


def parts(changes):
    """Proper subsets of the changes, with the empty set. The pod must fit with none of them."""
    sizes = range(len(changes)) if len(changes) <= PARTS_OF_MAX else [len(changes) - 1]
    for size in sizes:
        yield from itertools.combinations(changes, size)


def check_proposal(objects, config, pod, proposal):
    changed, changed_pod = carry_out(objects, pod, proposal["changes"])
    answer = ask_model(changed, config, changed_pod)
    feasible = answer.get("feasible") or []
    if proposal["node"] not in feasible:
        why = answer.get("filter", {}).get(proposal["node"], answer.get("message"))
        raise Wrong("does not fit on %s: %s" % (proposal["node"], why))
    if len(feasible) != proposal["opens"]:
        raise Wrong("opens %s, not %d nodes" % (feasible, proposal["opens"]))
    for part in parts(proposal["changes"]):
        part_objects, part_pod = carry_out(objects, pod, part)
        if ask_model(part_objects, config, part_pod).get("feasible"):
            raise Wrong("this is enough: %s" % [change["text"] for change in part])


def explain(berth, objects, config, pod, folder, status):
    cluster = os.path.join(folder, "cluster.json")
    with open(cluster, "w", encoding="utf-8") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": objects + [pod]}, file)
    command = [berth, "explain", "%s/%s" % (pod["metadata"].get("namespace", "default"),
                                            pod["metadata"]["name"]),
               "-f", cluster, "-o", "json", "--proposals", "6"]
    if config:
        path = os.path.join(folder, "config.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        command += ["--config", path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != status:
        raise Wrong("berth explain ends with %d: %s" % (
            done.returncode, done.stderr.decode("utf-8", "replace")))
    return json.loads(done.stdout)


def missing_claims(objects, pod):
    """Yield claims that the ephemeral volume controller would make, as berth does."""
    namespace = pod["metadata"].get("namespace", "default")
    known = {o["metadata"]["name"] for o in objects if o["kind"] == "PersistentVolumeClaim"
             and o["metadata"].get("namespace", "default") == namespace}
    for volume in pod["spec"].get("volumes") or []:
        name = "%s-%s" % (pod["metadata"]["name"], volume["name"])
        if "ephemeral" in volume and name not in known:
            template = volume["ephemeral"]["volumeClaimTemplate"]
            yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                   "metadata": dict(template.get("metadata") or {}, name=name, namespace=namespace,
                                    ownerReferences=[{
                                        "apiVersion": "v1", "kind": "Pod", "controller": True,
                                        "name": pod["metadata"]["name"],
                                        "uid": pod["metadata"].get("uid", "")}]),
                   "spec": template["spec"]}


def check_pod(berth, objects, config, pod, folder):
    """Check all proposals for the pod. Returns the number of proposals."""
    objects = objects + list(missing_claims(objects, pod))
    before = ask_model(objects, config, pod)
    if before.get("feasible"):  # the pod fits once it has the missing claims
        got = explain(berth, objects, config, pod, folder, 0)
        if got["fate"] != "Fits":
            raise Wrong("fate %s, but the pod fits for the model" % got["fate"])
        return 0
    got = explain(berth, objects, config, pod, folder, 1)
    if got["fate"] == "Gated":  # by PreEnqueue, which the model does not run
        same = before["message"].endswith(": %s." % got["message"])
    else:
        same = got["message"].startswith(before["message"])
    if not same:
        raise Wrong("message %s, the model's %s" % (got["message"], before["message"]))
    for proposal in got["proposals"]:
        try:
            check_proposal(objects, config, pod, proposal)
        except (Wrong, KeyError, IndexError, TypeError) as error:
            raise Wrong("%s\n    proposed for %s: %s" % (
                repr(error) if not isinstance(error, Wrong) else error, proposal["node"],
                "; ".join(change["text"] for change in proposal["changes"]))) from error
    return len(got["proposals"])


def allocate_claim(objects, write, pod):
    """Apply the write to its claim: set the allocation and append the pod's reservation."""
    claim, = [o for o in objects if o["kind"] == "ResourceClaim" and write["claim"] == "%s/%s" % (
        o["metadata"]["namespace"], o["metadata"]["name"])]
    status = claim.setdefault("status", {})
    users = status.get("reservedFor") or []
    if len(write["reservedFor"]) != len(users) + 1:
        raise Wrong("%s: the write does not add exactly one reservation" % write["claim"])
    status["allocation"] = write["allocation"]
    status["reservedFor"] = users + [{"resource": "pods", "name": pod["metadata"]["name"],
                                      "uid": pod["metadata"]["uid"]}]


def draw(case, expected, chance):
    """Draw an unschedulable pod. Return (objects before the pod is tried, pod), or None if the case
    has no such pod."""
    results = expected.get("results") or []
    turns = [i for i, result in enumerate(results) if "message" in result]
    if not turns or any("op" in step for step in case["pending"]):
        return None
    turn = chance.choice(turns)
    objects = copy.deepcopy(case["objects"])
    for pod, result in zip(case["pending"][:turn], results):
        for write in result.get("writes") or []:
            if write["op"] == "allocate":
                allocate_claim(objects, write, pod)
        if "selected" in result and "reserve" not in result:
            placed = copy.deepcopy(pod)
            placed["spec"]["nodeName"] = result["selected"]
            objects.append(placed)
    return objects, case["pending"][turn]


def main(berth, seed, count, *categories):
    chance = random.Random(int(seed))
    passed = failed = proposals = 0
    print("seed %s" % seed)
    for category in categories:
        base = os.path.join(HERE, "vectors", category)
        pairs = list(zip(lines(base + ".cases.jsonl.gz"), lines(base + ".expected.jsonl.gz")))
        drawn = [(case, draw(case, expected, chance)) for case, expected in pairs]
        drawn = [(case, found) for case, found in drawn if found]
        for case, (objects, pod) in chance.sample(drawn, min(int(count), len(drawn))):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    proposals += check_pod(berth, objects, case.get("config"), pod, folder)
                    passed += 1
                except Wrong as error:
                    failed += 1
                    print("%s, pod %s: %s" % (case["name"], pod["metadata"]["name"], error))
    print("%d proposals carried out" % proposals)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not proposals else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
