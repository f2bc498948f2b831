#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Devices in simulate, capacity, whatif and snapshot: claims made from templates, number of copies
that fit, released devices."""
import copy
import os
import random

import scenario
from devices import API, DEVICE_CLASS, claim, devices, user
from objects import deployment, lines, node, pod, priority_class


def template(name, count=1, expression=None):
    spec = claim(name, expression, count)["spec"]
    del spec["devices"]["requests"][0]["exactly"]["allocationMode"]  # people omit the default
    return {"apiVersion": API, "kind": "ResourceClaimTemplate",
            "metadata": {"name": name, "namespace": "default"}, "spec": {"spec": spec}}


def templated(item, template_name):
    """Give a claim from a template to the pod, or to each pod of the workload."""
    spec = item["spec"].get("template", item)["spec"]
    spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": template_name}]
    return item


def held(name, pod_name, node_name, device, owner=True, pool=None):
    """An allocated claim of a running pod; the claim is made from a template if `owner` is set."""
    made = claim(name)
    made["metadata"].update(uid="uid-" + name, finalizers=[
        "resource.kubernetes.io/delete-protection"])
    if owner:
        made["metadata"]["ownerReferences"] = [{
            "apiVersion": "v1", "kind": "Pod", "name": pod_name, "uid": "uid-" + pod_name,
            "controller": True}]
    made["status"] = {
        "reservedFor": [{"resource": "pods", "name": pod_name, "uid": "uid-" + pod_name}],
        "allocation": {"devices": {"results": [{
            "request": "r", "driver": "d.example", "pool": pool or node_name,
            "device": device}]}}}
    return made


def running(name, node_name, template_name, claim_name, owner="rs"):
    """A running pod of a ReplicaSet, with a claim made from the template."""
    made = templated(pod(name, node_name=node_name), template_name)
    made["metadata"]["uid"] = "uid-" + name
    made["metadata"]["ownerReferences"] = [{
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": "uid-" + owner,
        "controller": True}]
    made["status"] = {"phase": "Running", "resourceClaimStatuses": [
        {"name": "gpu", "resourceClaimName": claim_name}]}
    return made


def shared_pool(*names):
    """Devices that all nodes can reach."""
    made = devices("net", *names)
    del made["spec"]["nodeName"]
    made["spec"]["allNodes"] = True
    return made


def device_of(entry):
    (found,) = entry["devices"]
    return found["pool"] + "/" + found["device"]


def test_claims_are_made_from_templates(program):
    text = lines(node("n1"), DEVICE_CLASS, devices("n1", "a", "b"), template("one"),
                 templated(deployment("web", 3), "one"))
    pods = program.simulate(text).expect(1).pods()
    placed = [entry for entry in pods.values() if entry["node"] != ""]
    assert sorted(device_of(entry) for entry in placed) == ["n1/a", "n1/b"], pods
    for entry in placed:
        (device,) = entry["devices"]
        assert device["claim"].startswith(entry["name"] + "-gpu-"), device
        assert device["request"] == "r" and device["driver"] == "d.example", device
    table = program.simulate(text, output="wide").expect(1).out
    assert "d.example/n1/a" in table and "d.example/n1/b" in table, table
    assert "d.example/n1" not in program.simulate(text, output="table").out


def test_a_missing_template_is_named_once(program):
    answer = program.simulate(lines(
        node("n1"), DEVICE_CLASS, devices("n1", "a"), templated(deployment("web", 3), "none")))
    answer.expect(1)
    for entry in answer.pods().values():
        assert entry["message"] == 'pod "default/%s": ResourceClaim not created yet' % entry[
            "name"], entry
    assert answer.err.count("\n") == 1 and "ResourceClaimTemplate default/none" in answer.err


def test_evicted_pods_give_devices_back(program):
    """The victim's generated claim is deleted, its shared claim is deallocated."""
    victim = running("victim", "n1", "one", "c1")
    victim["spec"]["priority"] = 0
    victim["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "4"
    victim["spec"]["resourceClaims"].append({"name": "own", "resourceClaimName": "c2"})
    urgent = pod("urgent", "3", priorityClassName="high")
    answer = program.simulate(lines(
        node("n1"), DEVICE_CLASS, devices("n1", "a", "b"), template("one"),
        priority_class("high", 10), victim, held("c1", "victim", "n1", "a"),
        held("c2", "victim", "n1", "b", owner=False), urgent,
        templated(pod("p1", "100m"), "one"), templated(pod("p2", "100m"), "one")), "--preempt")
    pods = answer.expect(0).pods()
    assert [device_of(pods["default/p%d" % i]) for i in (1, 2)] == ["n1/a", "n1/b"], pods


def random_cluster(chance):
    """Returns (objects, devices of each model on each node)."""
    objects = [DEVICE_CLASS]
    counts = {}
    for i in range(chance.randrange(1, 6)):
        name = "n%d" % i
        models = [chance.choice("xy") for _ in range(chance.randrange(0, 9))]
        made = devices(name, *["g%d" % n for n in range(len(models))])
        for device, model in zip(made["spec"]["devices"], models):
            device["attributes"]["model"] = {"string": model}
        counts[name] = models
        objects += [node(name, cpu="64"), made]
        objects[-2]["status"]["capacity"]["pods"] = "110"
    return objects, counts


def test_capacity_equals_copies(program):
    seed = int(os.environ.get("BERTH_TEST_SEED", "0")) or random.randrange(1, 1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    for _ in range(6 if program.sanitized else 25):
        objects, counts = random_cluster(chance)
        count = chance.randrange(1, 4)
        model = chance.choice("xy")
        objects.append(template("some", count, 'device.attributes["d.example"].model == "%s"'
                                % model))
        wanted = {name: models.count(model) // count for name, models in counts.items()}
        asked = templated(pod("copy", "100m"), "some")
        path = program.write("cluster.json", lines(*objects))
        answer = program.run("capacity", "--pod", program.write("pod.json", lines(asked)), "-f",
                             path, "-o", "json").expect(0).json()
        found = answer["status"]
        copies = sum(wanted.values())
        assert found["replicas"] == copies, (seed, counts, count, model, found)
        pods = []
        for i in range(copies + 1):
            pods.append(copy.deepcopy(asked))
            pods[-1]["metadata"]["name"] = "copy-%d" % i
        placed = program.simulate(lines(*objects, *pods)).expect(1).pods().values()
        for name, number in wanted.items():
            assert sum(entry["node"] == name for entry in placed) == number, (seed, name)
        given = [(device["pool"], device["device"]) for entry in placed
                 for device in entry.get("devices", [])]
        assert len(given) == len(set(given)) == copies * count, (seed, given)


def test_copies_share_a_claim_that_they_name(program):
    path = program.write("cluster.json", lines(
        node("n1"), node("n2"), DEVICE_CLASS, devices("n1", "a"), devices("n2", "b"),
        claim("c")))
    asked = program.write("pod.json", lines(user("copy", "c")))
    answer = program.run("capacity", "--pod", asked, "-f", path, "-o", "json").expect(0).json()
    assert answer["status"]["replicas"] == 4  # the cpus of one node


def test_capacity_names_the_devices_that_run_out(program):
    path = program.write("cluster.json", lines(
        node("n1"), node("n2"), DEVICE_CLASS, devices("n1", "a", "b", "c"), devices("n2", "a"),
        template("two", 2)))
    asked = program.write("pod.json", lines(templated(pod("copy"), "two")))
    answer = program.run("capacity", "--pod", asked, "-f", path).expect(0)
    assert ("Tightest: devices of class gpu (request r): less than 2 are left on 2 of 2 nodes (2 "
            "together, at most 1 on one)\n") in answer.out, answer.out


def whatif(program, objects, *changes):
    path = program.write("cluster.json", lines(*objects))
    return program.run("whatif", "-f", path, "-o", "json", *changes)


def test_a_drained_pod_gives_its_device_back(program):
    """Both nodes reach the only device, so a drained pod is placed again only if its device is
    free."""
    objects = [node("n1"), node("n2"), DEVICE_CLASS, shared_pool("a"), template("one"),
               running("p", "n1", "one", "c"), held("c", "p", "n1", "a", pool="net")]
    for flags in (["--drain", "n1"], ["--remove", "n1"]):
        moved = whatif(program, objects, *flags).expect(0).json()
        assert moved["summary"]["moved"] == 1, moved
    other = objects + [templated(pod("waits"), "one")]
    before = program.simulate(lines(*other)).expect(1).pods()["default/waits"]
    assert "cannot allocate all claims" in before["message"], before
    planned = whatif(program, other, "--from-scratch", "--cordon", "n1").json()
    assert planned["summary"]["pendingBefore"] == planned["summary"]["pendingAfter"] == 1, planned


def test_devices_come_and_go_with_nodes(program):
    objects = [node("n1"), DEVICE_CLASS, devices("n1", "a", "b"), template("one"),
               templated(deployment("web", 4, "100m"), "one")]
    more = whatif(program, objects, "--add", "1=n1").expect(0).json()["summary"]
    assert (more["pendingBefore"], more["pendingAfter"]) == (2, 0), more
    less = whatif(program, objects + [node("n2"), devices("n2", "a")], "--remove",
                  "n1").expect(1).json()["summary"]
    assert (less["pendingBefore"], less["pendingAfter"]) == (1, 3), less


def test_neutral_names_in_selectors(program):
    """A snapshot with neutral names has no original name; its selectors find the same devices."""
    slices = devices("acme-node", "acme-a", "acme-b")
    slices["spec"]["driver"] = "gpu.acme.example"
    device_class = {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {
        "selectors": [{"cel": {"expression": """
            // acme-comment
            device.driver == "gpu.acme.example" && has(device.attributes['gpu.acme.example'].model)
            && cel.bind(acmeVariable, device.attributes["gpu.acme.example"],
                        acmeVariable.model in ["acme-b", "acme\\\\u002dc"])
            && quantity("40Gi").isGreaterThan(quantity("1Gi"))"""}}]}}
    objects = [node("acme-node"), device_class, slices, template("one"),
               templated(pod("p"), "one")]
    before = program.simulate(lines(*objects)).expect(0).pods()["default/p"]
    assert device_of(before) == "acme-node/acme-b"
    path = program.write("in.json", lines(*objects))
    answer = program.run("snapshot", "-f", path, "--strip-names", "--no-gzip").expect(0)
    assert "acme" not in answer.out and answer.err == "", answer.out + answer.err
    (after,) = program.simulate(answer.out).expect(0).pods().values()
    index = [device["name"] for device in slices["spec"]["devices"]].index("acme-b")
    stripped = [item for item in program.run("snapshot", "-f", program.write(
        "out.json", answer.out), "--no-gzip").out.split("\n") if '"ResourceSlice"' in item]
    assert stripped[0].split('"name":"')[-2:][index].startswith(after["devices"][0]["device"])


def test_neutral_names_for_parts_of_texts(program):
    """Conditions on parts of names become comparisons with whole names of the input."""
    names = ["acme-b", "bcme", "acme.c"]
    for selector, wanted in [('startsWith("acme")', {0, 2}), ("endsWith('e')", {1}),
                             ('contains("cme-")', {0}), ('contains("x\\"")', set()),
                             ('startsWith("resource")', set())]:
        objects = [node("n1"), DEVICE_CLASS, devices("n1", *names),
                   template("t", 1, 'device.attributes["d.example"].model.' + selector)]
        for device in objects[2]["spec"]["devices"]:
            device["attributes"]["resource.kubernetes.io/pcieRoot"] = {"string": "root"}
        objects += [templated(pod("p%d" % i, "100m"), "t") for i in range(3)]
        before = program.simulate(lines(*objects)).pods()
        given = {device_of(entry) for entry in before.values() if entry["node"] != ""}
        assert given == {"n1/" + names[i] for i in wanted}, (selector, given)
        answer = program.run("snapshot", "-f", program.write("in.json", lines(*objects)),
                             "--strip-names", "--no-gzip").expect(0)
        assert "cme" not in answer.out and answer.err == "", (selector, answer.out, answer.err)
        after = program.simulate(answer.out).pods()
        assert sum(entry["node"] != "" for entry in after.values()) == len(wanted), selector


def test_warns_of_selectors_by_parts_of_texts(program):
    """Warns about selectors by parts of addresses and URLs, which neutral names do not keep."""
    for expression, word in [
            ('device.attributes["d.example"].model.matches("acme.*")', "acme"),
            ('ip(device.attributes["d.example"].address) == ip("10.9.8.7")', "10.9.8.7"),
            ('isURL(device.attributes["d.example"].link)', "link"),
            ('cidr("10.9.8.0/24").containsIP(device.attributes["d.example"].a)', "10.9.8.0")]:
        path = program.write("in.json", lines(template("t", 1, expression)))
        answer = program.run("snapshot", "-f", path, "--strip-names", "--no-gzip").expect(0)
        assert "1 selector expression of devices looks at parts of texts" in answer.err, (
            expression, answer.err)
        assert word not in answer.out, (expression, answer.out)


if __name__ == "__main__":
    scenario.main({name: test for name, test in globals().items()
                   if getattr(test, "__module__", "") == "__main__"})
