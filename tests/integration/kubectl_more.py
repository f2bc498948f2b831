#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rarer commands of kubectl, every step's output checked. Usage: as kubectl.py."""
import contextlib
import json
import os
import re
import subprocess
import sys
import time

import kubectl as session
import up
from kubectl import column, json_of, kubectl, rows, version_of, wait_for_pods

FLAGS = ["--nodes", "3"]

OBJECTS = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "nginx:1"}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 29 2 *"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: c, image: "job:1"}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: "agent:1"}]}
"""


@contextlib.contextmanager
def watching(cluster, *arguments):
    """Runs kubectl during a with block. Yields its standard output, as a file to read lines
    from."""
    environment = dict(os.environ, HOME=session.HOME.name, KUBECONFIG=cluster.kubeconfig)
    with subprocess.Popen([session.KUBECTL] + list(arguments), env=environment, text=True,
                          stdout=subprocess.PIPE) as process:
        try:
            yield process.stdout
        finally:
            process.kill()


def write_file(name, text):
    path = os.path.join(session.HOME.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def test_objects(cluster):
    if version_of(cluster) < (1, 21):
        # This kubectl only knows CronJobs of batch/v1beta1, and sends others without validation.
        assert "nightly created" in kubectl(cluster, "apply", "--validate=false", "-f", "-",
                                            stdin=OBJECTS)
    else:
        assert "nightly created" in kubectl(cluster, "apply", "-f", "-", stdin=OBJECTS)
    kubectl(cluster, "rollout", "status", "deploy/web", "--timeout=60s")
    kubectl(cluster, "rollout", "status", "ds/agent", "--timeout=60s")
    assert column(kubectl(cluster, "get", "cj"), "SCHEDULE")["nightly"] == "0 3 29 2 *"


def test_outputs_from_files(cluster):
    path = write_file("path", "{range .items[*]}{.metadata.name}={.status.phase}{'\\n'}{end}")
    out = kubectl(cluster, "get", "pods", "-l", "app=web", "-o", "jsonpath-file=" + path)
    assert re.fullmatch(r"(web-\S+=Running\n){2}", out), out
    path = write_file("columns", "NAME           NODE\n.metadata.name .spec.nodeName\n")
    out = kubectl(cluster, "get", "pods", "-l", "app=web", "-o", "custom-columns-file=" + path)
    assert rows(out)[0] == ["NAME", "NODE"] and len(rows(out)) == 3, out
    path = write_file("template", "{{len .items}}")
    assert kubectl(cluster, "get", "pods", "-l", "app=web", "-o",
                   "go-template-file=" + path) == "2"
    out = kubectl(cluster, "get", "pods", "-l", "app=web", "-L", "app", "--no-headers")
    assert [line.split()[-1] for line in out.splitlines()] == ["web", "web"], out


def test_ages(cluster):
    """Asserts that no table has an unknown or impossible age."""
    for kind in ["pods", "nodes", "ns", "deploy", "rs", "ds", "cj", "sa", "events"]:
        header, *lines = rows(kubectl(cluster, "get", kind, "-A"))
        name = "LAST SEEN" if kind == "events" else "AGE"
        assert name in header, (kind, header)
        for line in lines:
            age = line[header.index(name)]
            assert re.fullmatch(r"(\d+m)?(\d+s)?", age), (kind, line)


def test_watch_of_several_changes(cluster):
    with watching(cluster, "get", "cm", "several", "-w", "--ignore-not-found", "-o",
                  "jsonpath={.data.n}{'\\n'}") as lines:
        del lines  # not needed: the watched object does not exist yet
    kubectl(cluster, "create", "cm", "several", "--from-literal=n=0")
    with watching(cluster, "get", "cm", "several", "-w", "-o",
                  "jsonpath={.data.n}{'\\n'}") as lines:
        assert lines.readline() == "0\n"
        for i in range(1, 4):
            kubectl(cluster, "patch", "cm", "several", "-p", '{"data":{"n":"%d"}}' % i)
            assert lines.readline() == "%d\n" % i
    with watching(cluster, "get", "cm", "several", "--watch") as lines:
        assert lines.readline().split() == ["NAME", "DATA", "AGE"]
        assert lines.readline().split()[:2] == ["several", "1"]
        kubectl(cluster, "patch", "cm", "several", "-p", '{"data":{"m":"1"}}')
        assert lines.readline().split()[:2] == ["several", "2"]
    with watching(cluster, "get", "events", "--watch-only") as lines:
        kubectl(cluster, "run", "short", "--image=i:1", "--restart=Never")
        seen = "".join(lines.readline() for _ in range(2))
        assert "pod/short" in seen, seen
    # A finalizer keeps the object until the waiting kubectl has seen it.
    kubectl(cluster, "patch", "pod", "short", "-p", '{"metadata":{"finalizers":["a.io/b"]}}')
    kubectl(cluster, "delete", "pod", "short", "--wait=false")
    with watching(cluster, "wait", "--for=delete", "pod/short", "--timeout=60s") as lines:
        time.sleep(1)
        kubectl(cluster, "patch", "pod", "short", "-p", '{"metadata":{"finalizers":null}}')
        out = lines.read()
        assert "pod/short condition met" in out or version_of(cluster) < (1, 22), out
    kubectl(cluster, "wait", "--for=delete", "cm/nothing", "--timeout=5s", status=None)
    if version_of(cluster) >= (1, 23):
        kubectl(cluster, "wait", "--for=jsonpath={.status.availableReplicas}=2", "deploy/web",
                "--timeout=60s")


def test_rollout_undo_of_a_daemon_set(cluster):
    kubectl(cluster, "set", "image", "ds/agent", "c=agent:2")
    kubectl(cluster, "rollout", "status", "ds/agent", "--timeout=60s")
    history = kubectl(cluster, "rollout", "history", "ds/agent")
    assert [row[0] for row in rows(history)[2:4]] == ["1", "2"], history
    assert "rolled back" in kubectl(cluster, "rollout", "undo", "ds/agent")
    kubectl(cluster, "rollout", "status", "ds/agent", "--timeout=60s")
    found = json_of(cluster, "get", "ds", "agent")
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "agent:1"
    history = kubectl(cluster, "rollout", "history", "ds/agent")
    assert [row[0] for row in rows(history)[2:4]] == ["2", "3"], history


def test_impersonation(cluster):
    assert kubectl(cluster, "auth", "can-i", "create", "pods", "--as=bob", status=1) == "no\n"
    assert kubectl(cluster, "auth", "can-i", "create", "pods", "--as=bob",
                   "--as-group=system:masters") == "yes\n"
    listed = kubectl(cluster, "auth", "can-i", "--list", "--as=bob")
    assert "*.*" not in listed, listed
    refused = kubectl(cluster, "get", "pods", "--as=bob", status=1)
    assert ('pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the '
            'namespace "default"') in refused, refused


def test_replace(cluster):
    found = json_of(cluster, "get", "cm", "several")
    found["data"] = {"replaced": "yes"}
    assert kubectl(cluster, "replace", "-f", "-", stdin=json.dumps(found)) == (
        "configmap/several replaced\n")
    found["metadata"]["resourceVersion"] = "1"
    refused = kubectl(cluster, "replace", "-f", "-", stdin=json.dumps(found), status=1)
    assert "(Conflict)" in refused and "the object has been modified" in refused, refused
    out = kubectl(cluster, "replace", "--force", "-f", "-", stdin=json.dumps({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "several"}}))
    assert "replaced" in out, out
    assert "data" not in json_of(cluster, "get", "cm", "several")


def test_job_from_cronjob(cluster):
    if version_of(cluster) >= (1, 21):
        out = kubectl(cluster, "create", "job", "manual", "--from=cronjob/nightly")
        assert out == "job.batch/manual created\n"
        kubectl(cluster, "wait", "--for=condition=complete", "job/manual", "--timeout=60s")
        owner, = json_of(cluster, "get", "job", "manual")["metadata"]["ownerReferences"]
        assert owner["kind"] == "CronJob"
    out = kubectl(cluster, "create", "job", "plain", "--image=i:1", "--", "true")
    assert out == "job.batch/plain created\n"
    kubectl(cluster, "delete", "job", "plain")


def test_pause_and_set(cluster):
    assert "paused" in kubectl(cluster, "rollout", "pause", "deploy/web")
    kubectl(cluster, "set", "image", "deploy/web", "c=nginx:2")
    out = kubectl(cluster, "set", "resources", "deploy/web", "--requests=cpu=50m")
    assert "resource requirements updated" in out
    assert "env updated" in kubectl(cluster, "set", "env", "deploy/web", "A=b")
    assert "A=b" in kubectl(cluster, "set", "env", "deploy/web", "--list")
    names = kubectl(cluster, "get", "rs", "-l", "app=web", "-o", "name").split()
    assert len(names) == 1, names  # a paused Deployment creates no ReplicaSet
    assert "resumed" in kubectl(cluster, "rollout", "resume", "deploy/web")
    kubectl(cluster, "rollout", "status", "deploy/web", "--timeout=60s")
    wait_for_pods(cluster, "app=web", 2)
    container, = json_of(cluster, "get", "pods", "-l", "app=web")["items"][0]["spec"]["containers"]
    assert container["image"] == "nginx:2" and container["env"] == [{"name": "A", "value": "b"}]
    assert container["resources"] == {"requests": {"cpu": "50m"}}


def test_expose_and_autoscale(cluster):
    assert "exposed" in kubectl(cluster, "expose", "deploy/web", "--port=80", "--target-port=8080")
    service = json_of(cluster, "get", "svc", "web")["spec"]
    assert service["selector"] == {"app": "web"} and service["ports"][0]["targetPort"] == 8080
    assert re.match(r"10\.", service["clusterIP"])
    out = kubectl(cluster, "autoscale", "deploy/web", "--min=1", "--max=3", "--cpu-percent=50")
    assert "autoscaled" in out
    assert column(kubectl(cluster, "get", "hpa"), "REFERENCE")["web"] == "Deployment/web"
    kubectl(cluster, "delete", "hpa,svc", "web")


def test_create_the_rest(cluster):
    for what in [["quota", "q", "--hard=pods=100"], ["serviceaccount", "bot"],
                 ["role", "reader", "--verb=get", "--resource=pods"],
                 ["rolebinding", "rb", "--role=reader", "--serviceaccount=default:bot"],
                 ["clusterrole", "cr", "--verb=get", "--resource=nodes"],
                 ["priorityclass", "high", "--value=10"], ["secret", "generic", "s"]]:
        out = kubectl(cluster, "create", *what)
        assert re.fullmatch(r"\S+/%s created\n" % (what[2] if what[0] == "secret" else what[1]),
                            out), out
    up.wait_for("a quota with numbers", lambda: json_of(
        cluster, "get", "quota", "q")["status"].get("used", {}).get("pods"))
    assert re.search(r"pods\s+\d+\s+100", kubectl(cluster, "describe", "quota", "q"))
    kubectl(cluster, "create", "-f", "-", stdin="""
apiVersion: v1
kind: LimitRange
metadata: {name: small}
spec: {limits: [{type: Container, default: {cpu: 200m}, defaultRequest: {cpu: 100m}}]}
""")
    assert "Container" in kubectl(cluster, "describe", "limits", "small")
    kubectl(cluster, "delete", "limits", "small")
    if version_of(cluster) >= (1, 24):
        token = kubectl(cluster, "create", "token", "bot")
        assert len(token.strip()) > 20, token
    assert "VALUE" in kubectl(cluster, "get", "priorityclasses")


def test_cascades(cluster):
    kubectl(cluster, "create", "deployment", "old", "--image=i:1")
    wait_for_pods(cluster, "app=old", 1)
    orphan = "--cascade=orphan"
    out = kubectl(cluster, "delete", "deploy", "old", orphan)
    assert "deleted" in out
    replica_set, = json_of(cluster, "get", "rs", "-l", "app=old")["items"]
    up.wait_for("an orphan", lambda: "ownerReferences" not in json_of(
        cluster, "get", "rs", replica_set["metadata"]["name"])["metadata"])
    wait_for_pods(cluster, "app=old", 1)
    kubectl(cluster, "delete", "rs", "-l", "app=old",
            "--cascade=foreground", "--timeout=60s")
    assert kubectl(cluster, "get", "pods", "-l", "app=old", "-o", "name") == ""


def test_apply_and_prune(cluster):
    both = ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, labels: {set: s}}\n---\n"
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, labels: {set: s}}\n")
    prune = ["apply", "--prune", "-l", "set=s"]
    prune += ["--prune-whitelist=core/v1/ConfigMap"] if version_of(cluster) < (1, 26) else [
        "--prune-allowlist=core/v1/ConfigMap"]
    kubectl(cluster, *prune, "-f", "-", stdin=both)
    out = kubectl(cluster, *prune, "-f", "-", stdin=both.split("---")[0])
    assert "configmap/one unchanged" in out and "configmap/two pruned" in out, out
    path = write_file("one.yaml", both.split("---")[0])
    edited = kubectl(cluster, "apply", "view-last-applied", "-f", path)
    assert "name: one" in edited, edited
    os.makedirs(os.path.join(session.HOME.name, "kustomized"), exist_ok=True)
    write_file("kustomized/kustomization.yaml", "resources: [one.yaml]\nnamePrefix: k-\n")
    write_file("kustomized/one.yaml", both.split("---")[0])
    out = kubectl(cluster, "apply", "-k", os.path.join(session.HOME.name, "kustomized"))
    assert out == "configmap/k-one created\n", out


def test_drain_with_daemons_and_scratch_space(cluster):
    kubectl(cluster, "apply", "-f", "-", stdin="""
apiVersion: v1
kind: Pod
metadata: {name: scratch}
spec:
  containers: [{name: c, image: "r:1", volumeMounts: [{name: v, mountPath: /d}]}]
  volumes: [{name: v, emptyDir: {}}]
""")
    kubectl(cluster, "wait", "--for=condition=Ready", "pod/scratch", "--timeout=60s")
    node = json_of(cluster, "get", "pod", "scratch")["spec"]["nodeName"]
    refused = kubectl(cluster, "drain", node, "--timeout=60s", status=1)
    assert "DaemonSet-managed Pods" in refused and "scratch" in refused, refused
    if version_of(cluster) < (1, 20):
        flag = "--delete-local-data"
    else:
        flag = "--delete-emptydir-data"
    out = kubectl(cluster, "drain", node, "--ignore-daemonsets", "--force", flag, "--timeout=60s")
    assert "pod/scratch evicted" in out, out
    assert kubectl(cluster, "get", "pods", "--field-selector", "spec.nodeName=" + node,
                   "-l", "app=agent", "-o", "name").startswith("pod/agent-")
    kubectl(cluster, "uncordon", node)


def test_what_simulated_nodes_cannot_do(cluster):
    pod = kubectl(cluster, "get", "pods", "-l", "app=web", "-o", "name").split()[0]
    path = write_file("file", "x")
    for what in [["cp", path, pod.split("/")[1] + ":/tmp/x"], ["port-forward", pod, "8080:80"],
                 ["attach", pod], ["exec", pod, "--", "true"], ["logs", pod]]:
        out = kubectl(cluster, *what, status=1)
        assert "this is a simulated node" in out, (what, out)
    used = column(kubectl(cluster, "top", "pods", "-l", "app=web"), "CPU(cores)")
    assert pod.split("/")[1] in used, used
    if version_of(cluster) >= (1, 25):
        kubectl(cluster, "debug", pod, "--image=busybox:1", "-c", "dbg")
        extra, = json_of(cluster, "get", pod)["spec"]["ephemeralContainers"]
        assert extra["image"] == "busybox:1"


def test_what_is_there(cluster):
    names = rows(kubectl(cluster, "api-resources", "--api-group=apps", "--no-headers"))
    assert [row[0] for row in names] == ["controllerrevisions", "daemonsets", "deployments",
                                         "replicasets", "statefulsets"]
    assert cluster.server in kubectl(cluster, "config", "view")
    assert kubectl(cluster, "config", "current-context").strip() != ""
    paths = json.loads(kubectl(cluster, "get", "--raw", "/openapi/v3"))["paths"]
    assert "apis/apps/v1" in paths
    assert kubectl(cluster, "get", "--raw", "/readyz") == "ok"
    if version_of(cluster) >= (1, 27):
        text = kubectl(cluster, "explain", "deployment.spec.template.spec", "--recursive")
        assert re.search(r"^\s+topologyKey\s+<string>", text, re.M), text[:2000]
        text = kubectl(cluster, "explain", "cronjobs", "--api-version=batch/v1")
        assert "KIND:       CronJob" in text, text


if __name__ == "__main__":
    if session.KUBECTL is None:
        print("Debian's kubernetes-client cannot be downloaded")
        sys.exit(up.SKIPPED)
    up.main(globals())
