#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth up -f: the examples, the dump of a cluster, all forms of files, and the messages about
wrong files."""
import glob
import gzip
import json
import os
import subprocess
import tempfile

import up

FAST = ["--tls", "off", "--time-scale", "60"]
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
# The kinds in a dump. Some owners come after their dependents.
DUMPED = ["/api/v1/pods", "/apis/apps/v1/replicasets", "/apis/apps/v1/deployments",
          "/apis/apps/v1/statefulsets", "/apis/apps/v1/daemonsets", "/apis/batch/v1/jobs",
          "/api/v1/nodes", "/api/v1/namespaces", "/api/v1/persistentvolumeclaims",
          "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/storageclasses",
          "/apis/policy/v1/poddisruptionbudgets", "/apis/scheduling.k8s.io/v1/priorityclasses",
          "/api/v1/serviceaccounts", "/api/v1/configmaps", "/api/v1/services",
          "/apis/coordination.k8s.io/v1/leases"]


def items(cluster, path):
    status, found = cluster.json("GET", path)
    assert status == 200, found
    return found["items"]


def write(folder, name, text):
    path = os.path.join(folder, name)
    opened = gzip.open if name.endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8") as file:
        file.write(text)
    return path


def config_map(name, **more):
    return dict({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}, **more)


def test_examples(program):
    for path in sorted(glob.glob(os.path.join(EXAMPLES, "*.yaml")) +
                       glob.glob(os.path.join(EXAMPLES, "plugins", "*", "cluster.yaml"))):
        with open(path, encoding="utf-8") as file:
            if "\nkind: Node\n" not in file.read():
                continue  # no nodes: pods cannot run
        with program.up(*FAST, "-f", path) as cluster:
            up.wait_for("pods of %s that run" % path, lambda: any(
                item["status"]["phase"] == "Running" for item in items(cluster, "/api/v1/pods")))
            refused = [item for item in items(cluster, "/api/v1/pods")
                       if item["status"].get("reason", "").startswith("OutOf")]
            assert not refused, refused


def build(cluster):
    """Creates objects of many kinds, and waits until all are settled."""
    def create(path, body):
        status, answer = cluster.json("POST", path, body)
        assert status == 201, answer

    def template(name, **more):
        return {"metadata": {"labels": {"app": name}}, "spec": dict({"containers": [{
            "name": "c", "image": "i:1", "resources": {"requests": {"cpu": "10m"}}}]}, **more)}

    def workload(name, **more):
        return {"metadata": {"name": name}, "spec": dict({
            "selector": {"matchLabels": {"app": name}}, "template": template(name)}, **more)}
    create("/api/v1/namespaces", {"metadata": {"name": "shop"}})
    create("/apis/storage.k8s.io/v1/storageclasses", {
        "metadata": {"name": "late"}, "provisioner": "csi.example",
        "volumeBindingMode": "WaitForFirstConsumer"})
    apps = "/apis/apps/v1/namespaces/shop/"
    create(apps + "deployments", workload("web", replicas=4))
    create(apps + "daemonsets", workload("agent"))
    create(apps + "statefulsets", workload("db", replicas=2, serviceName="db",
                                           volumeClaimTemplates=[{
                                               "metadata": {"name": "data"}, "spec": {
                                                   "accessModes": ["ReadWriteOnce"],
                                                   "storageClassName": "late",
                                                   "resources": {"requests": {
                                                       "storage": "1Gi"}}}}]))
    create("/apis/batch/v1/namespaces/shop/jobs", {"metadata": {"name": "once"}, "spec": {
        "template": template("once", restartPolicy="Never")}})
    create("/apis/policy/v1/namespaces/shop/poddisruptionbudgets", {
        "metadata": {"name": "web"}, "spec": {
            "minAvailable": 3, "selector": {"matchLabels": {"app": "web"}}}})
    create("/api/v1/namespaces/shop/pods", {"metadata": {"name": "big"}, "spec": {
        "containers": [{"name": "c", "image": "i:1",
                        "resources": {"requests": {"cpu": "1000"}}}]}})

    def at_rest():
        _, job = cluster.json("GET", "/apis/batch/v1/namespaces/shop/jobs/once")
        _, big = cluster.json("GET", "/api/v1/namespaces/shop/pods/big")
        _, budget = cluster.json(
            "GET", "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web")
        _, web = cluster.json("GET", apps + "deployments/web")
        running = [item for item in items(cluster, "/api/v1/pods")
                   if item["status"]["phase"] == "Running"]
        return (job["status"].get("completionTime") and big["status"].get("conditions") and
                budget["status"]["disruptionsAllowed"] == 1 and len(running) == 9 and
                web["status"].get("availableReplicas") == 4)
    up.wait_for("a cluster at rest", at_rest)


def picture(cluster):
    """Returns the parts of the objects that must be equal after a dump is loaded."""
    found = {}
    for path in DUMPED:
        if path.endswith("/leases"):
            continue
        for item in items(cluster, path):
            metadata = dict(item["metadata"])
            for name in ("resourceVersion", "managedFields"):
                metadata.pop(name, None)
            if path.endswith("/namespaces") and metadata["name"] != "shop":
                metadata = {"name": metadata["name"]}  # created before the dump is read
            if path.endswith(("/serviceaccounts", "/priorityclasses")):
                metadata = {"name": metadata["name"], "namespace": metadata.get("namespace")}
            key = (path, metadata.get("namespace"), metadata["name"])
            found[key] = (metadata, item.get("spec"), item.get("status"))
    return found


def compare(before, after):
    assert set(before) == set(after), set(before) ^ set(after)
    for key, value in before.items():
        assert value == after[key], "%r:\n%s\n%s" % (
            key, json.dumps(value, sort_keys=True), json.dumps(after[key], sort_keys=True))


def test_a_dump_is_the_same_cluster(program):
    with tempfile.TemporaryDirectory() as folder:
        with program.up(*FAST, "--nodes", "3") as cluster:
            build(cluster)
            before = picture(cluster)
            dump = {"apiVersion": "v1", "kind": "List", "items": []}
            for path in DUMPED:
                status, found = cluster.json("GET", path)
                assert status == 200
                version = found["apiVersion"]
                dump["items"] += [dict(item, kind=found["kind"][:-4], apiVersion=version)
                                  for item in found["items"]]
        path = write(folder, "dump.json.gz", json.dumps(dump))
        with program.up(*FAST, "-f", path) as cluster:
            assert " owners that are not among them" not in cluster.output(), cluster.output()
            # When a pod that is created now runs, controllers have processed all loaded objects.
            status, _ = cluster.json("POST", "/api/v1/namespaces/shop/pods", {
                "metadata": {"name": "last"}, "spec": {"containers": [
                    {"name": "c", "image": "i:1"}]}})
            assert status == 201
            one = "/api/v1/namespaces/shop/pods/last"
            up.wait_for("a pod", lambda: cluster.json("GET", one)[1]["status"]["phase"] ==
                        "Running")
            after = picture(cluster)
            del after[("/api/v1/pods", "shop", "last")]
            compare(before, after)
            # The pod's controllers continue with the loaded objects.
            status, _ = cluster.json(
                "PATCH", "/apis/apps/v1/namespaces/shop/deployments/web/scale",
                {"spec": {"replicas": 6}},
                headers={"Content-Type": "application/merge-patch+json"})
            assert status == 200
            up.wait_for("six of them", lambda: cluster.json(
                "GET", "/apis/apps/v1/namespaces/shop/deployments/web")[1]["status"].get(
                    "readyReplicas") == 6)
            kept = {key for key in before if key[0] == "/api/v1/pods"}
            assert kept <= set(picture(cluster))


def test_forms_of_files(program):
    with tempfile.TemporaryDirectory() as folder:
        inner = os.path.join(folder, "inner")
        os.mkdir(inner)
        write(inner, "a.yaml", "---\n%s\n---\n# nothing\n---\n%s\n" % (
            json.dumps(config_map("a1")), json.dumps(config_map("a2"))))
        write(inner, "b.jsonl", "%s\n%s\n" % (
            json.dumps(config_map("b1")), json.dumps(config_map("b2"))))
        write(inner, "c.json.gz", json.dumps({
            "apiVersion": "v1", "kind": "ConfigMapList",
            "items": [{"metadata": {"name": "c1"}}, {"metadata": {"name": "c2",
                                                                   "namespace": "other"}}]}))
        write(inner, "ignored.txt", "no object")
        single = write(folder, "d.yml.gz", "apiVersion: v1\nkind: List\nitems:\n"
                       "- {apiVersion: v1, kind: ConfigMap, metadata: {name: d1}}\n")
        with program.up(*FAST, "-f", inner, "-f", single) as cluster:
            names = {"%s/%s" % (item["metadata"]["namespace"], item["metadata"]["name"])
                     for item in items(cluster, "/api/v1/configmaps")}
            assert names >= {"default/a1", "default/a2", "default/b1", "default/b2", "default/c1",
                             "other/c2", "default/d1"}, names


def test_orphans_of_a_partial_dump_stay(program):
    with tempfile.TemporaryDirectory() as folder:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": "p", "uid": "11111111-1111-1111-1111-111111111111", "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gone", "controller": True,
                "uid": "22222222-2222-2222-2222-222222222222"}]},
            "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
        with program.up(*FAST, "--nodes", "1", "-f",
                        write(folder, "p.json", json.dumps(pod))) as cluster:
            assert "1 with owners that are not among them" in cluster.output()
            path = "/api/v1/namespaces/default/pods/p"
            found = up.wait_for("a running pod", lambda: (
                lambda found: found if found.get("status", {}).get("phase") == "Running" else None)(
                    cluster.json("GET", path)[1]))
            assert found["metadata"]["uid"] == pod["metadata"]["uid"]
            assert "ownerReferences" not in found["metadata"]


def test_unknown_kinds_are_left_out(program):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kind.yaml")
        with open(path, "w") as file:
            file.write("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n---\n"
                "{apiVersion: x/v1, kind: Foo, metadata: {name: f}}\n---\n"
                "{apiVersion: x/v1, kind: Foo, metadata: {name: g}}\n")
        with program.up(*FAST, "-f", path) as cluster:
            assert "left out 2 objects of kinds that are not served" in cluster.output()
            assert cluster.output().count("x/v1 Foo") == 1
            assert "loaded 1 object\n" in cluster.output()


def test_of_repeated_keys_the_last_counts(program):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "twice.yaml")
        with open(path, "w") as file:
            file.write("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"
                "data: {k: '1', k: '2'}\n")
        with program.up(*FAST, "-f", path) as cluster:
            found = cluster.json("GET", "/api/v1/namespaces/default/configmaps/a")[1]
            assert found["data"] == {"k": "2"}, found


def test_errors_say_where(program):
    rows = [
        ("bad.yaml", "a: [", ["bad.yaml", "document 1"]),
        ("pod.json", json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": "p", "namespace": "n"}, "spec": {"containers": []}}),
         ["pod.json", "document 1", "Pod n/p", "spec.containers: Required value"]),
        ("list.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            config_map("a"), config_map("A")]}), ["list.json", "ConfigMap A", "RFC 1123"]),
        ("text.json", "[1]", ["text.json", "document 1", "expected an object"]),
        ("cut.json.gz", None, ["cut.json.gz"]),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, text, expected in rows:
            path = os.path.join(folder, name)
            if text is None:
                with open(path, "wb") as file:
                    file.write(gzip.compress(b"{}" * 1000)[:20])
            else:
                write(folder, name, text)
            done = subprocess.run(
                [program.path, "up", "--tls", "off", "--listen", "127.0.0.1:0",
                 "--kubeconfig-out", os.path.join(folder, "k"), "-f", path], timeout=60,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            assert done.returncode != 0 and not done.stdout, (name, done)
            for part in expected:
                assert part in done.stderr, (name, part, done.stderr)


if __name__ == "__main__":
    up.main(globals())
