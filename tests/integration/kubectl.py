#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A session with the real kubectl, every step's output checked.

Usage: kubectl.py BERTH plain|sanitized KUBECTL
       kubectl.py BERTH plain|sanitized --debian FOLDER

The second form unpacks the kubectl of Debian's package into the folder. It does not install the
package, because another package may own /usr/bin/kubectl.
"""
import contextlib
import fcntl
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import up

FLAGS = ["--nodes", "3"]
HOME = tempfile.TemporaryDirectory()


@contextlib.contextmanager
def one_at_a_time(folder):
    """Holds a lock during a with block, since two scripts may unpack the package at the same
    time."""
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def download(folder):
    """Downloads and unpacks the package into the folder; returns whether this succeeded."""
    # By default root's apt downloads as the user _apt, which may not write to the folder.
    command = ["apt-get", "-o", "APT::Sandbox::User=root", "download", "kubernetes-client"]
    if subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL).returncode:
        return False
    package, = glob.glob(os.path.join(folder, "*.deb"))
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    return True


def debian_kubectl(folder):
    """Returns the path of the unpacked kubectl; None if the package is not available."""
    folder = os.path.join(folder, "kubernetes-client")
    path = os.path.join(folder, "usr", "bin", "kubectl")
    os.makedirs(folder, exist_ok=True)
    with one_at_a_time(folder):
        return path if os.path.exists(path) or download(folder) else None


KUBECTL = debian_kubectl(sys.argv[4]) if sys.argv[3] == "--debian" else sys.argv[3]


def kubectl(cluster, *arguments, stdin=None, status=0, editor=None, timeout=90):
    """Runs kubectl, asserts the exit status, and returns the standard output. status None: any
    status is accepted, and standard output and standard error are returned."""
    environment = dict(os.environ, HOME=HOME.name, KUBECONFIG=cluster.kubeconfig)
    if editor:
        environment["KUBE_EDITOR"] = editor
    done = subprocess.run([KUBECTL] + list(arguments), input=stdin, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)
    if status is None:
        return done.stdout + done.stderr
    assert done.returncode == status, "kubectl %s: exit status %d, not %d\n%s%s" % (
        " ".join(arguments), done.returncode, status, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout if status == 0 else done.stdout + done.stderr


def version_of(cluster):
    """Returns the version of kubectl as (major, minor)."""
    found = json.loads(kubectl(cluster, "version", "--client", "-o", "json"))
    minor = re.match(r"\d+", found["clientVersion"]["minor"]).group()
    return int(found["clientVersion"]["major"]), int(minor)


def rows(text):
    """Returns the lines of a table as lists of cells; the first is the header."""
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.strip()]


def column(text, name):
    """Returns {first cell of the row: cell of the named column}."""
    header, *lines = rows(text)
    return {line[0]: line[header.index(name)] for line in lines}


def json_of(cluster, *arguments):
    return json.loads(kubectl(cluster, *arguments, "-o", "json"))


def wait_for_pods(cluster, selector, count, phase="Running"):
    def ready():
        pods = json_of(cluster, "get", "pods", "-l", selector)["items"]
        good = [pod for pod in pods if pod["status"]["phase"] == phase
                and "deletionTimestamp" not in pod["metadata"]]
        return len(good) == count and len(pods) == count
    up.wait_for("%d pods %s with %s" % (count, phase, selector), ready)


WEB = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: c
        image: nginx:1.25
        resources:
          requests: {cpu: 100m, memory: 64Mi}
"""


def test_version(cluster):
    found = json.loads(kubectl(cluster, "version", "-o", "json"))
    assert found["serverVersion"]["gitVersion"].startswith("v1.36."), found
    assert found["serverVersion"]["minor"] == "36"


def test_cluster_info(cluster):
    assert cluster.server in kubectl(cluster, "cluster-info")


def test_api_resources(cluster):
    text = kubectl(cluster, "api-resources")
    for name, short, kind in [("pods", "po", "Pod"), ("nodes", "no", "Node"),
                              ("deployments", "deploy", "Deployment"),
                              ("poddisruptionbudgets", "pdb", "PodDisruptionBudget"),
                              ("storageclasses", "sc", "StorageClass"),
                              ("customresourcedefinitions", "crd,crds",
                               "CustomResourceDefinition")]:
        assert re.search(r"^%s\s+%s\s.*\s%s\s*$" % (name, short, kind), text, re.M), name
    names = kubectl(cluster, "api-resources", "-o", "name", "--namespaced=false").split()
    assert "nodes" in names and "pods" not in names
    versions = kubectl(cluster, "api-versions").split()
    assert {"v1", "apps/v1", "batch/v1", "policy/v1", "events.k8s.io/v1"} <= set(versions)


def test_get_nodes(cluster):
    up.wait_for("three ready nodes", lambda: list(column(
        kubectl(cluster, "get", "nodes"), "STATUS").values()) == ["Ready"] * 3)
    header = rows(kubectl(cluster, "get", "nodes", "-o", "wide"))[0]
    assert header == ["NAME", "STATUS", "ROLES", "AGE", "VERSION", "INTERNAL-IP", "EXTERNAL-IP",
                      "OS-IMAGE", "KERNEL-VERSION", "CONTAINER-RUNTIME"], header


def test_create_namespace_and_configmap(cluster):
    assert kubectl(cluster, "create", "namespace", "shop") == "namespace/shop created\n"
    text = kubectl(cluster, "get", "ns")
    assert column(text, "STATUS")["shop"] == "Active"
    out = kubectl(cluster, "-n", "shop", "create", "configmap", "settings",
                  "--from-literal=a=1", "--from-literal=b=2")
    assert out == "configmap/settings created\n"
    assert json_of(cluster, "-n", "shop", "get", "cm", "settings")["data"] == {"a": "1", "b": "2"}
    again = kubectl(cluster, "-n", "shop", "create", "configmap", "settings", status=1)
    assert "(AlreadyExists)" in again or "already exists" in again, again
    kubectl(cluster, "-n", "shop", "create", "secret", "generic", "s", "--from-literal=p=x")
    assert column(kubectl(cluster, "-n", "shop", "get", "secrets"), "DATA")["s"] == "1"


def test_create_deployment(cluster):
    out = kubectl(cluster, "create", "-f", "-", stdin=WEB)
    assert out == "deployment.apps/web created\n"
    wait_for_pods(cluster, "app=web", 3)
    out = kubectl(cluster, "rollout", "status", "deployment/web", "--timeout=60s")
    assert 'deployment "web" successfully rolled out' in out
    up.wait_for("3/3", lambda: column(
        kubectl(cluster, "get", "deploy"), "READY")["web"] == "3/3")


def test_get_in_all_outputs(cluster):
    header, *lines = rows(kubectl(cluster, "get", "pods", "-o", "wide"))
    assert header == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE",
                      "READINESS GATES"], header
    assert len(lines) == 3
    for line in lines:
        assert line[1:4] == ["1/1", "Running", "0"], line
        assert line[6].startswith("node-") and line[7:] == ["<none>", "<none>"], line
    names = kubectl(cluster, "get", "pods", "-o", "name").split()
    assert len(names) == 3 and all(name.startswith("pod/web-") for name in names)
    assert "kind: Pod" in kubectl(cluster, "get", names[0], "-o", "yaml")
    found = json_of(cluster, "get", names[0])
    assert found["kind"] == "Pod" and found["status"]["phase"] == "Running"
    path = kubectl(cluster, "get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}")
    assert len(path.split()) == 3
    columns = kubectl(cluster, "get", "pods", "-o",
                      "custom-columns=N:.metadata.name,P:.status.phase", "--no-headers")
    assert [line.split()[1] for line in columns.splitlines()] == ["Running"] * 3
    template = kubectl(cluster, "get", "pods", "-o",
                       "go-template={{range .items}}{{.metadata.namespace}} {{end}}")
    assert template.split() == ["default"] * 3
    assert "LABELS" in kubectl(cluster, "get", "pods", "--show-labels")
    # Some versions of kubectl compare digits in names as numbers. The order is the same, because
    # each node's number has one digit.
    by_node = kubectl(cluster, "get", "pods", "--sort-by=.spec.nodeName",
                      "-o", "jsonpath={.items[*].spec.nodeName}").split()
    assert len(by_node) == 3 and by_node == sorted(by_node), by_node
    everything = kubectl(cluster, "get", "all")
    assert "deployment.apps/web" in everything and "replicaset.apps/web-" in everything
    many = kubectl(cluster, "get", "pods,nodes,ns", "-o", "name")
    assert "node/node-" in many and "namespace/default" in many
    raw = json.loads(kubectl(cluster, "get", "--raw", "/api/v1/namespaces/default/pods?limit=1"))
    assert len(raw["items"]) == 1 and raw["metadata"]["continue"]
    paged = kubectl(cluster, "get", "pods", "-A", "--chunk-size=1", "-o", "name").split()
    assert set(names) <= set(paged)
    one = kubectl(cluster, "get", "pods", "--field-selector", "spec.nodeName=nowhere", "-o", "name")
    assert one == ""
    missing = kubectl(cluster, "get", "pod", "nope", status=1)
    assert 'Error from server (NotFound): pods "nope" not found' in missing, missing
    assert "No resources found" in kubectl(cluster, "get", "pods", "-n", "nowhere", status=None)


def test_watch(cluster):
    environment = dict(os.environ, HOME=HOME.name, KUBECONFIG=cluster.kubeconfig)
    with subprocess.Popen([KUBECTL, "get", "cm", "-w", "-o", "name"], env=environment, text=True,
                          stdout=subprocess.PIPE) as process:
        try:
            kubectl(cluster, "create", "cm", "seen-later")
            for line in process.stdout:
                if line == "configmap/seen-later\n":
                    break
            else:
                raise AssertionError("the watch ended early")
        finally:
            process.kill()
    kubectl(cluster, "delete", "cm", "seen-later")


def test_describe(cluster):
    name = kubectl(cluster, "get", "pods", "-o", "name").split()[0]
    text = kubectl(cluster, "describe", name)
    assert re.search(r"^Status:\s+Running$", text, re.M), text
    assert re.search(r"^Node:\s+node-", text, re.M)
    assert re.search(r"Normal\s+Scheduled\s.*default-scheduler\s+Successfully assigned default/",
                     text), text
    node = json_of(cluster, "get", name)["spec"]["nodeName"]
    text = kubectl(cluster, "describe", "node", node)
    assert re.search(r"^Name:\s+%s$" % node, text, re.M)
    assert re.search(r"cpu\s+100m", text), text
    assert "Non-terminated Pods:" in text and name.split("/")[1] in text
    text = kubectl(cluster, "describe", "deployment", "web")
    assert re.search(r"Scaled up replica set web-\w+ (from 0 )?to 3", text), text


def test_apply(cluster):
    out = kubectl(cluster, "apply", "-f", "-", stdin=WEB, status=None)
    # kubectl also warns, because the Deployment was not created by apply.
    assert "deployment.apps/web configured" in out, out
    changed = WEB.replace("replicas: 3", "replicas: 4")
    assert "web configured" in kubectl(cluster, "apply", "-f", "-", stdin=changed)
    wait_for_pods(cluster, "app=web", 4)
    up.wait_for("unchanged", lambda: "web unchanged" in kubectl(
        cluster, "apply", "-f", "-", stdin=changed))
    back = kubectl(cluster, "apply", "-f", "-", stdin=WEB)
    assert "web configured" in back
    wait_for_pods(cluster, "app=web", 3)


def test_apply_server_side(cluster):
    settings = ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied}\n"
                "data: {a: '1', b: '2'}\n")
    out = kubectl(cluster, "apply", "--server-side", "-f", "-", stdin=settings)
    assert out == "configmap/applied serverside-applied\n"
    kubectl(cluster, "apply", "--server-side", "-f", "-", stdin=settings.replace(", b: '2'", ""))
    assert json_of(cluster, "get", "cm", "applied")["data"] == {"a": "1"}
    conflict = kubectl(cluster, "apply", "--server-side", "--field-manager=other", "-f", "-",
                       stdin=settings.replace("'1'", "'9'"), status=1)
    assert "Apply failed with 1 conflict" in conflict and ".data.a" in conflict, conflict
    kubectl(cluster, "apply", "--server-side", "--field-manager=other", "--force-conflicts",
            "-f", "-", stdin=settings.replace("'1'", "'9'"))
    assert json_of(cluster, "get", "cm", "applied")["data"] == {"a": "9", "b": "2"}
    # Server-side apply takes over the fields of the earlier client-side apply.
    kubectl(cluster, "apply", "-f", "-", stdin=settings.replace("applied", "migrated"))
    kubectl(cluster, "apply", "--server-side", "-f", "-",
            stdin=settings.replace("applied", "migrated").replace("'2'", "'3'"))
    found = json_of(cluster, "get", "cm", "migrated")
    assert found["data"] == {"a": "1", "b": "3"}
    kubectl(cluster, "apply", "--server-side", "-f", "-",
            stdin=settings.replace("applied", "migrated").replace(", b: '2'", ""))
    if version_of(cluster) >= (1, 26):  # older versions leave the fields to client-side apply
        assert json_of(cluster, "get", "cm", "migrated")["data"] == {"a": "1"}
    # Client-side apply again: the annotation is up to date, so omitted fields are removed.
    kubectl(cluster, "apply", "--server-side", "-f", "-",
            stdin=settings.replace("applied", "migrated"))
    kubectl(cluster, "apply", "-f", "-", status=None,
            stdin=settings.replace("applied", "migrated").replace(", b: '2'", ""))
    assert json_of(cluster, "get", "cm", "migrated")["data"] == {"a": "1"}


def test_dry_run_and_diff(cluster):
    new = WEB.replace("name: web", "name: dry").replace("app: web", "app: dry")
    out = kubectl(cluster, "apply", "--dry-run=server", "-f", "-", stdin=new)
    assert "deployment.apps/dry created (server dry run)" in out
    assert "NotFound" in kubectl(cluster, "get", "deploy", "dry", status=1)
    diff = kubectl(cluster, "diff", "-f", "-", stdin=WEB.replace("replicas: 3", "replicas: 5"),
                   status=1)
    assert "-  replicas: 3" in diff and "+  replicas: 5" in diff, diff


def test_edit(cluster):
    # EDITOR is a script file: versions of kubectl differ in whether a shell expands it.
    editor = os.path.join(HOME.name, "editor")
    with open(editor, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexec sed -i 's/\"9\"/nine/' \"$1\"\n")
    os.chmod(editor, 0o755)
    out = kubectl(cluster, "edit", "cm", "applied", editor=editor)
    assert "configmap/applied edited" in out
    assert json_of(cluster, "get", "cm", "applied")["data"]["a"] == "nine"


def test_patch(cluster):
    kubectl(cluster, "patch", "cm", "applied", "-p", '{"data":{"c":"3"}}')
    kubectl(cluster, "patch", "cm", "applied", "--type=merge", "-p", '{"data":{"b":null}}')
    kubectl(cluster, "patch", "cm", "applied", "--type=json", "-p",
            '[{"op":"add","path":"/data/d","value":"4"}]')
    assert json_of(cluster, "get", "cm", "applied")["data"] == {"a": "nine", "c": "3", "d": "4"}
    out = kubectl(cluster, "patch", "deploy", "web", "-p",
                  '{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"nginx:2"}]}}}}')
    assert "deployment.apps/web patched" in out
    containers = json_of(cluster, "get", "deploy", "web")["spec"]["template"]["spec"]["containers"]
    assert len(containers) == 1 and containers[0]["image"] == "nginx:2"
    assert containers[0]["resources"]["requests"]["cpu"] == "100m"
    kubectl(cluster, "rollout", "status", "deploy/web", "--timeout=60s")
    bad = kubectl(cluster, "patch", "deploy", "web", "--type=json", "-p",
                  '[{"op":"test","path":"/spec/replicas","value":77}]', status=1)
    assert re.search(r"The request is invalid|the server rejected our request due to an error in "
                     "our request", bad), bad  # kubectl 1.20 prints the first text


def test_rollout(cluster):
    history = kubectl(cluster, "rollout", "history", "deploy/web")
    assert re.search(r"^2\s", history, re.M), history
    assert "rolled back" in kubectl(cluster, "rollout", "undo", "deploy/web")
    kubectl(cluster, "rollout", "status", "deploy/web", "--timeout=60s")
    image = kubectl(cluster, "get", "deploy", "web", "-o",
                    "jsonpath={.spec.template.spec.containers[0].image}")
    assert image == "nginx:1.25"
    assert "restarted" in kubectl(cluster, "rollout", "restart", "deploy/web")
    kubectl(cluster, "rollout", "status", "deploy/web", "--timeout=60s")
    kubectl(cluster, "set", "image", "deploy/web", "c=nginx:3")
    kubectl(cluster, "rollout", "status", "deploy/web", "--timeout=60s")
    wait_for_pods(cluster, "app=web", 3)


def test_label_and_annotate(cluster):
    assert "labeled" in kubectl(cluster, "label", "node", "node-0", "disk=ssd")
    assert "node-0" in kubectl(cluster, "get", "nodes", "-l", "disk in (ssd,nvme)", "-o", "name")
    refused = kubectl(cluster, "label", "node", "node-0", "disk=hdd", status=1)
    assert "already has a value" in refused
    kubectl(cluster, "label", "node", "node-0", "disk-")
    assert kubectl(cluster, "get", "nodes", "-l", "disk", "-o", "name") == ""
    kubectl(cluster, "annotate", "deploy", "web", "note=hello")
    found = json_of(cluster, "get", "deploy", "web")
    assert found["metadata"]["annotations"]["note"] == "hello"


def test_taint_and_pending(cluster):
    kubectl(cluster, "taint", "nodes", "--all", "team=a:NoSchedule")
    kubectl(cluster, "run", "picky", "--image=nginx:1", "--restart=Never")
    text = up.wait_for("FailedScheduling", lambda: [
        line for line in kubectl(cluster, "describe", "pod", "picky").splitlines()
        if "FailedScheduling" in line])[0]
    assert re.search(r"0/3 nodes are available: 3 node\(s\) had untolerated taint", text), text
    assert column(kubectl(cluster, "get", "pods"), "STATUS")["picky"] == "Pending"
    kubectl(cluster, "taint", "nodes", "--all", "team-")
    kubectl(cluster, "wait", "--for=condition=Ready", "pod/picky", "--timeout=60s")
    out = kubectl(cluster, "delete", "pod", "picky")
    assert 'pod "picky"' in out and "deleted" in out
    assert "NotFound" in kubectl(cluster, "get", "pod", "picky", status=1)


def test_cordon_and_drain(cluster):
    node = json_of(cluster, "get", "pods", "-l", "app=web")["items"][0]["spec"]["nodeName"]
    assert "cordoned" in kubectl(cluster, "cordon", node)
    assert column(kubectl(cluster, "get", "nodes"), "STATUS")[node] == "Ready,SchedulingDisabled"
    out = kubectl(cluster, "drain", node, "--ignore-daemonsets", "--force", "--timeout=60s",
                  status=None)
    assert re.search(r"^node/%s (drained|evicted)$" % node, out, re.M), out  # 1.20: evicted
    wait_for_pods(cluster, "app=web", 3)
    pods = json_of(cluster, "get", "pods", "-l", "app=web")["items"]
    assert node not in [pod["spec"]["nodeName"] for pod in pods]
    assert "uncordoned" in kubectl(cluster, "uncordon", node)
    up.wait_for("no taint", lambda: not json_of(cluster, "get", "node", node)["spec"].get("taints"))


def test_drain_respects_budgets(cluster):
    kubectl(cluster, "create", "pdb", "web", "--selector=app=web", "--min-available=3",
            status=None)
    if "NotFound" in kubectl(cluster, "get", "pdb", "web", status=None):
        # An old kubectl creates budgets only in policy/v1beta1, which the server does not serve
        # (spec 14 section 19).
        kubectl(cluster, "apply", "-f", "-", stdin="""
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 3, selector: {matchLabels: {app: web}}}
""")
    up.wait_for("a budget with status", lambda: json_of(
        cluster, "get", "pdb", "web")["status"].get("currentHealthy") == 3)
    node = json_of(cluster, "get", "pods", "-l", "app=web")["items"][0]["spec"]["nodeName"]
    out = kubectl(cluster, "drain", node, "--ignore-daemonsets", "--timeout=8s", status=1)
    assert "Cannot evict pod as it would violate the pod's disruption budget." in out, out
    kubectl(cluster, "uncordon", node)
    kubectl(cluster, "delete", "pdb", "web")


def test_scale(cluster):
    assert "scaled" in kubectl(cluster, "scale", "deploy", "web", "--replicas=5")
    wait_for_pods(cluster, "app=web", 5)
    assert "scaled" in kubectl(cluster, "scale", "deploy/web", "--current-replicas=5",
                               "--replicas=1")
    wait_for_pods(cluster, "app=web", 1)
    if version_of(cluster) >= (1, 24):
        table = kubectl(cluster, "get", "deploy/web", "--subresource=scale").split()
        assert table[:7] == ["NAME", "DESIRED", "AVAILABLE", "AGE", "web", "1", "1"], table
    refused = kubectl(cluster, "scale", "deploy/web", "--current-replicas=7", "--replicas=2",
                      status=1)
    assert "replicas" in refused


def test_other_workloads(cluster):
    kubectl(cluster, "apply", "-f", "-", stdin="""
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: "db:1"}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: "agent:1"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  completions: 2
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: "job:1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
""")
    wait_for_pods(cluster, "app=db", 2)
    names = kubectl(cluster, "get", "pods", "-l", "app=db", "-o", "name").split()
    assert names == ["pod/db-0", "pod/db-1"]
    wait_for_pods(cluster, "app=agent", 3)
    kubectl(cluster, "wait", "--for=condition=complete", "job/once", "--timeout=60s")
    assert column(kubectl(cluster, "get", "jobs"), "COMPLETIONS")["once"] == "2/2"
    up.wait_for("2/2", lambda: column(
        kubectl(cluster, "get", "sts"), "READY")["db"] == "2/2")
    up.wait_for("3 ready", lambda: column(
        kubectl(cluster, "get", "ds"), "READY")["agent"] == "3")
    assert column(kubectl(cluster, "get", "svc"), "PORT(S)")["web"] == "80/TCP"


def test_volumes(cluster):
    kubectl(cluster, "apply", "-f", "-", stdin="""
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: csi.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: reader}
spec:
  containers: [{name: c, image: "r:1", volumeMounts: [{name: v, mountPath: /d}]}]
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
""")
    kubectl(cluster, "wait", "--for=condition=Ready", "pod/reader", "--timeout=60s")
    assert column(kubectl(cluster, "get", "pvc"), "STATUS")["data"] == "Bound"
    volume = json_of(cluster, "get", "pvc", "data")["spec"]["volumeName"]
    assert column(kubectl(cluster, "get", "pv"), "CLAIM")[volume] == "default/data"
    kubectl(cluster, "delete", "pod", "reader")
    kubectl(cluster, "delete", "pvc", "data")
    up.wait_for("no volume", lambda: kubectl(cluster, "get", "pv", "-o", "name") == "")


def test_events(cluster):
    text = kubectl(cluster, "get", "events", "--sort-by=.metadata.creationTimestamp")
    assert re.search(r"Normal\s+Scheduled\s+pod/web-", text), text[-2000:]
    if version_of(cluster) >= (1, 23):
        assert "ScalingReplicaSet" in kubectl(cluster, "events", "--for", "deployment/web")


def test_auth(cluster):
    assert kubectl(cluster, "auth", "can-i", "create", "pods") == "yes\n"
    listed = kubectl(cluster, "auth", "can-i", "--list")
    assert re.search(r"\*\.\*\s+\[\]\s+\[\]\s+\[\*\]", listed), listed
    if version_of(cluster) >= (1, 27):
        assert "admin" in kubectl(cluster, "auth", "whoami")


def test_explain(cluster):
    if version_of(cluster) < (1, 27):
        return  # this kubectl reads OpenAPI v2 as protobuf, which berth does not serve
    text = kubectl(cluster, "explain", "pod.spec.containers")
    assert re.search(r"KIND:\s+Pod", text) and re.search(r"^\s+image\s+<string>", text, re.M), text
    text = kubectl(cluster, "explain", "deployment.spec.replicas")
    assert "<integer>" in text


def test_validation_messages(cluster):
    bad = kubectl(cluster, "create", "-f", "-", "--validate=false", status=1, stdin="""
apiVersion: v1
kind: Pod
metadata: {name: Bad_Name}
spec: {containers: []}
""")
    assert "The Pod \"Bad_Name\" is invalid" in bad, bad
    assert "a lowercase RFC 1123 subdomain" in bad
    assert "spec.containers: Required value" in bad
    if version_of(cluster) >= (1, 27):
        typo = kubectl(cluster, "create", "-f", "-", status=1, stdin="""
apiVersion: v1
kind: Pod
metadata: {name: typo}
spec: {containers: [{name: c, image: i, imagee: j}]}
""")
        assert 'unknown field "spec.containers[0].imagee"' in typo, typo


def test_custom_resources(cluster):
    kubectl(cluster, "apply", "-f", "-", stdin="""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
""")
    kubectl(cluster, "wait", "--for=condition=Established", "crd/widgets.example.com",
            "--timeout=30s")
    widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n"
    up.wait_for("a served kind", lambda: "widget.example.com/w created" in kubectl(
        cluster, "apply", "-f", "-", stdin=widget, status=None))
    assert column(kubectl(cluster, "get", "wd"), "SIZE")["w"] == "3"
    kubectl(cluster, "patch", "widget", "w", "--type=merge", "-p", '{"spec":{"size":4}}')
    assert json_of(cluster, "get", "widgets", "w")["spec"]["size"] == 4
    kubectl(cluster, "delete", "crd", "widgets.example.com")
    up.wait_for("the kind is gone", lambda: kubectl(
        cluster, "get", "widgets", status=None).startswith(("error:", "Error")))


def test_delete(cluster):
    out = kubectl(cluster, "delete", "deploy", "web")
    assert 'deployment.apps "web"' in out and "deleted" in out
    up.wait_for("no pods of it", lambda: kubectl(
        cluster, "get", "pods,rs", "-l", "app=web", "-o", "name") == "")
    kubectl(cluster, "delete", "sts,ds,job,svc", "--all", "--timeout=60s", status=None)
    up.wait_for("no pods at all", lambda: kubectl(
        cluster, "get", "pods", "-o", "name") == "")
    kubectl(cluster, "-n", "shop", "run", "p", "--image=i:1")
    kubectl(cluster, "delete", "ns", "shop", "--timeout=60s")
    assert "NotFound" in kubectl(cluster, "get", "ns", "shop", status=1)
    refused = kubectl(cluster, "delete", "ns", "default", status=1)
    assert "this namespace may not be deleted" in refused


def test_logs_and_exec_are_refused_clearly(cluster):
    kubectl(cluster, "run", "p", "--image=i:1")
    kubectl(cluster, "wait", "--for=condition=Ready", "pod/p", "--timeout=60s")
    assert "this is a simulated node" in kubectl(cluster, "logs", "p", status=1)
    assert kubectl(cluster, "exec", "p", "--", "true", status=1) != ""
    used = rows(kubectl(cluster, "top", "nodes"))
    assert used[0][:2] == ["NAME", "CPU(cores)"] and len(used) > 1, used
    started = time.monotonic()
    kubectl(cluster, "delete", "pod", "p", "--force", "--grace-period=0", status=None)
    assert time.monotonic() - started < 30


if __name__ == "__main__":
    if KUBECTL is None:
        print("Debian's kubernetes-client cannot be downloaded")
        sys.exit(up.SKIPPED)
    up.main(globals())
