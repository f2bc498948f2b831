#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth snapshot: its content; decisions on a snapshot equal those on the original."""
import glob
import gzip
import json
import os
import random
import re
import signal
import stat
import subprocess
import time

import scenario

VECTORS = os.path.join(scenario.ROOT, "tests", "conformance", "vectors")
CASES_OF_A_CATEGORY = 6
CASES_WHEN_SANITIZED = 2
# Texts that plugins know are not replaced, even if a test uses them as names.
KNOWN = {"metadata.name", "ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com",
         "cinder.csi.openstack.org", "file.csi.azure.com", "csi.vsphere.vmware.com",
         "pxd.portworx.com", "system-cluster-critical", "system-node-critical"}
WORKLOADS = {"ReplicaSet", "ReplicationController", "StatefulSet", "Deployment", "DaemonSet",
             "Job", "CronJob"}
WORD = re.compile(r"[A-Za-z0-9]+")

POD = """
apiVersion: v1
kind: Pod
metadata:
  name: acme-db-0
  namespace: acme-prod
  labels: {app: acme-db}
  annotations: {acme.example/owner: jane@acme.example}
spec:
  nodeSelector: {acme.example/disk: ssd}
  containers:
  - name: acme-main
    image: registry.acme.example/db:v1
    command: [acme-secret-command]
    env: [{name: ACME_PASSWORD, value: hunter2}]
    resources: {requests: {cpu: 100m, acme.example/card: 1}}
---
apiVersion: v1
kind: Node
metadata: {name: ip-10-3-2-1.acme.example, labels: {acme.example/disk: ssd}}
status:
  allocatable: {cpu: 4, memory: 8Gi, pods: 110, acme.example/card: 2}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: acme-budget, namespace: acme-prod}
spec: {minAvailable: acme-wrong%, maxUnavailable: 50%, selector: {matchLabels: {app: acme-db}}}
---
apiVersion: v1
kind: Secret
metadata: {name: acme-secret}
data: {password: aHVudGVyMg==}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {berth.dev/pods-exist: "true"}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: x}]}
"""


def words_back(value, names):
    """Returns the value with the original names in all its texts. names: new name -> original."""
    if isinstance(value, str):
        return WORD.sub(lambda found: names.get(found.group(), found.group()), value)
    if isinstance(value, list):
        return [words_back(item, names) for item in value]
    if isinstance(value, dict):
        return {words_back(key, names): words_back(item, names) for key, item in value.items()}
    return value


def comparable(answer, names):
    """Decisions with original names, sorted so that the order of names does not matter."""
    answer = words_back(answer, names)
    for pod in answer["pods"]:
        # An error of CEL shows a mark below the line; the place of the mark depends on the names.
        message = re.sub(r"<input>:\d+:\d+|[ .]*\^", "", pod["message"])
        pod["message"] = sorted(re.split(r"[,:.] ?", message))
    answer["nodes"] = sorted(answer["nodes"], key=lambda node: node["name"])
    return answer


def strings_of(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings_of(item)


def live(objects):
    """Mark workloads as berth does for a live cluster: their pods exist, so none are created."""
    for item in objects:
        if item["kind"] in WORKLOADS:
            item["metadata"].setdefault("annotations", {})["berth.dev/pods-exist"] = "true"
    return objects


def cases(number):
    """Pairs (name, objects): a few cases of each category, different ones in every run."""
    seed = int(os.environ.get("BERTH_TEST_SEED", "0")) or random.randrange(1, 1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    for path in sorted(glob.glob(os.path.join(VECTORS, "*.cases.jsonl.gz"))):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = file.readlines()
        for line in chance.sample(lines, min(number, len(lines))):
            case = json.loads(line)
            if "objects" in case:
                pods = [dict(pod, apiVersion="v1", kind="Pod") for pod in case.get("pending", [])]
                yield case["name"], live(case["objects"] + pods)


def test_decisions_are_the_same(program):
    compared = 0
    placed = 0
    number = CASES_WHEN_SANITIZED if program.sanitized else CASES_OF_A_CATEGORY
    for name, objects in cases(number):
        path = program.write("case.json", json.dumps({
            "apiVersion": "v1", "kind": "List", "items": objects}))
        before = program.run("simulate", "-f", path, "-o", "json", "--preempt")
        if before.status == 2:
            continue  # some cases have objects that an API server refuses
        kept = os.path.join(program.folder, "kept.json.gz")
        program.run("snapshot", "-f", path, "-o", kept).expect(0)
        after = program.run("simulate", "-f", kept, "-o", "json", "--preempt")
        assert after.out == before.out, name
        stripped = os.path.join(program.folder, "stripped.json")
        mapping = os.path.join(program.folder, "map.json")
        done = program.run("snapshot", "-f", path, "--strip-names", "--map", mapping, "-o",
                           stripped).expect(0)
        if "parts of texts" in done.err:
            continue  # the warning says that neutral names may change the answer
        with open(mapping, encoding="utf-8") as file:
            names = json.load(file)
        after = program.run("simulate", "-f", stripped, "-o", "json", "--preempt")
        assert after.status == before.status, (name, after.err)
        check_same(comparable(after.json(), names), comparable(before.json(), {}), name)
        check_no_names(stripped, names, name)
        compared += 1
        placed += sum(pod["node"] != "" for pod in before.json()["pods"])
    assert compared > 8 * number and placed > 8 * number, (compared, placed)


def check_same(ours, theirs, name):
    for part in theirs:
        assert len(ours[part]) == len(theirs[part]), (name, part)
        for one, other in zip(ours[part], theirs[part]):
            assert one == other, "%s: %s\nstripped: %s\noriginal: %s" % (name, part, one, other)


def check_no_names(path, names, case):
    """The snapshot contains no word of the original names, except words of the API."""
    with open(path, encoding="utf-8") as file:
        snapshot = json.load(file)
    originals = set(names.values())
    for item in snapshot["items"]:
        metadata = item["metadata"]
        texts = [metadata.get("name", ""), metadata.get("namespace", ""),
                 metadata.get("uid", "")] + list(metadata.get("labels", {}).values())
        spec = item.get("spec", {})
        texts += [spec.get("nodeName") or "", *spec.get("nodeSelector", {}).values()]
        texts += [taint.get("value", "") for taint in spec.get("taints", [])]
        for text in filter(lambda value: isinstance(value, str), texts):
            left = originals.intersection(WORD.findall(text))
            assert not left or text in KNOWN, (case, text, left)


def test_only_what_is_read(program):
    path = program.write("in.yaml", POD)
    out = program.run("snapshot", "-f", path, "--no-gzip").expect(0).out
    for word in ("hunter2", "aHVudGVyMg", "ACME_PASSWORD", "acme-secret", "jane"):
        assert word not in out, word
    assert "acme-db-0" in out
    assert len(json.loads(out)["items"]) == 4


def test_kinds_that_are_left_out(program):
    text = POD + "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: l, namespace: d}\n"
    answer = program.run("snapshot", "-f", program.write("in.yaml", text), "--no-gzip").expect(0)
    assert answer.err == (
        "berth snapshot: warning: LimitRanges, ResourceQuotas and RuntimeClasses are left out; "
        "they have no effect on the pods of the snapshot\n"), answer.err
    assert len(json.loads(answer.out)["items"]) == 4


def test_no_original_name_is_left(program):
    path = program.write("in.yaml", POD)
    out = program.run("snapshot", "-f", path, "--no-gzip", "--strip-names").expect(0).out
    for word in ("acme", "registry", "10-3-2-1", "ssd", "prod", "web"):
        assert word not in out, word
    assert "berth.dev/pods-exist" in out and "50%" in out
    before = program.run("simulate", "-f", path, "-o", "json").expect(0).json()
    after = program.run("simulate", "-f", program.write("out.json", out), "-o",
                        "json").expect(0).json()
    assert len(before["pods"]) == len(after["pods"]) == 1  # no pods are made for web


def test_a_replaced_workload_makes_what_is_missing(program):
    path = program.write("in.yaml", POD)
    again = program.write("again.yaml", POD.replace('berth.dev/pods-exist: "true"', 'a: "b"'))
    pods = program.run("simulate", "-f", path, "-f", again, "-o", "json").expect(0).json()["pods"]
    assert len(pods) == 4, pods


def test_a_scaled_workload_makes_pods(program):
    """Scaling a workload makes pods. The snapshot says that the workload's pods exist, but this is
    true only for the old number of replicas."""
    path = program.write("in.yaml", POD)
    answer = program.run("whatif", "-f", path, "--scale", "deployment/default/web=2")
    assert "2 newly placed" in answer.out, answer.out + answer.err


def test_files_are_whole_or_absent(program):
    path = program.write("in.yaml", POD)
    target = os.path.join(program.folder, "folder", "snapshot.json.gz")
    answer = program.run("snapshot", "-f", path, "-o", target).expect(2)
    assert answer.err == ("berth snapshot: writing %s: No such file or directory\n" % target)
    os.makedirs(os.path.dirname(target))
    answer = program.run("snapshot", "-f", path, "-o", target).expect(0)
    assert answer.out == target + ": 1 node, 1 pod, 4 objects in all\n", answer.out
    program.run("snapshot", "-f", path, "--strip-names", "--map", "/nowhere/map", "-o",
                target + "2").expect(2)
    assert os.listdir(os.path.dirname(target)) == ["snapshot.json.gz"]
    with gzip.open(target, "rt", encoding="utf-8") as file:
        assert json.load(file)["kind"] == "List"


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_users_that_may_read_it(program):
    """Only the owner can read the map; a replaced file keeps its permissions."""
    path = program.write("in.yaml", POD)
    target = program.write("kept.json.gz", "")
    mapping = program.write("map.json", "")
    os.chmod(target, 0o640)
    os.chmod(mapping, 0o644)
    for source in (path, target):  # the second run replaces its own input
        program.run("snapshot", "-f", source, "-o", target, "--strip-names", "--map",
                    mapping).expect(0)
        assert (mode_of(target), mode_of(mapping)) == (0o640, 0o600)
    subprocess.run(["gunzip", "--test", target], check=True)
    for taken, reason in ((path, "a file that this command reads"), (target, "the output"),
                          (os.path.join(program.folder, ".", "in.yaml"), "a file that this")):
        answer = program.run("snapshot", "-f", path, "-o", target, "--strip-names", "--map",
                             taken).expect(2)
        assert "--map: %s is %s" % (taken, reason) in answer.err, answer.err
    answer = program.run("snapshot", "--kubeconfig", path, "-o", path).expect(2)
    assert "--output: %s is the kubeconfig; name another file" % path in answer.err, answer.err
    with open(path, encoding="utf-8") as file:
        assert file.read() == POD


def test_nothing_is_left_when_it_is_stopped(program):
    """SIGTERM during the write, into a pipe without a reader."""
    pods = "".join("---\n" + POD.split("---")[0].replace("acme-db-0", "p%d" % i)
                   for i in range(1500))  # more than a pipe holds
    path = program.write("in.yaml", pods)
    pipe = os.path.join(program.folder, "pipe")
    mapping = os.path.join(program.folder, "map.json")
    os.mkfifo(pipe)
    before = set(os.listdir(program.folder))
    process = subprocess.Popen([program.path, "snapshot", "-f", path, "-o", pipe, "--no-gzip",
                                "--strip-names", "--map", mapping])
    deadline = time.monotonic() + scenario.TIMEOUT_SECONDS
    # Open without blocking: if the program fails early, it never opens the other end.
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        while not glob.glob(mapping + "*"):  # both ends are open
            assert process.poll() is None and time.monotonic() < deadline
        process.terminate()
        os.set_blocking(reader.fileno(), True)
        reader.read()
    assert process.wait(scenario.TIMEOUT_SECONDS) == -signal.SIGTERM
    assert set(os.listdir(program.folder)) == before


def test_every_command_reads_it(program):
    """All commands read gzipped snapshots; berth bench takes pods as a server returns them."""
    text = POD
    for old, new in [
            ("spec:\n  nodeSelector", "spec:\n  schedulerName: default-scheduler\n  nodeSelector"),
            ("  name: acme-db-0\n", "  name: acme-db-0\n  uid: u1\n"),
            ("acme.example/card: 1}", "acme.example/card: 1}, limits: {acme.example/card: 1}"),
            ("minAvailable: acme-wrong%, ", "")]:
        assert old in text
        text = text.replace(old, new, 1)
    path = program.write("in.yaml", text)
    kept = os.path.join(program.folder, "kept.json.gz")
    program.run("snapshot", "-f", path, "-o", kept).expect(0)
    program.run("simulate", "-f", kept).expect(0)
    program.run("explain", "acme-prod/acme-db-0", "-f", kept).expect(0)
    program.run("capacity", "--pod", path, "-f", kept).expect(0)
    program.run("whatif", "--drain", "ip-10-3-2-1.acme.example", "-f", kept).expect(1)
    program.run("snapshot", "-f", kept, "--no-gzip").expect(0)
    done = program.run("bench", kept).expect(0).json()
    assert (done["nodes"], done["scheduled"], done["failed"]) == (1, 1, 0), done
    if program.run("up", "--help").status == 0:  # the program may be built without the server
        check_up_reads(program, kept)


def check_up_reads(program, path):
    with subprocess.Popen(
            [program.path, "up", "-f", path, "--listen", "127.0.0.1:0", "--kubeconfig-out",
             os.path.join(program.folder, "kubeconfig")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "ready after" in line:
                process.terminate()
        assert process.wait(scenario.TIMEOUT_SECONDS) == 0, lines
    assert any("loaded 4 objects" in line for line in lines), lines


def test_full_disk(program):
    path = program.write("in.yaml", POD)
    answer = program.run("snapshot", "-f", path, "-o", "/dev/full").expect(2)
    assert answer.err == "berth snapshot: writing /dev/full: No space left on device\n", answer.err


def test_usage(program):
    path = program.write("in.yaml", POD)
    for arguments, message in [
            (["-f", path, "--map", "m"], "--map: there is none without --strip-names"),
            (["-f", path, "--strip-names", "--map", "-"], "--map: name a file; whoever has it "
             "can undo --strip-names"),
            ([path], "unexpected argument %s: files are named with -f, the output with -o" % path),
            (["-f", path, "--context", "c"], "there is no kubeconfig: KUBECONFIG is not set")]:
        answer = program.run("snapshot", *arguments).expect(2)
        assert answer.err.startswith("berth snapshot: " + message), answer.err


def test_no_binary_on_a_terminal(program):
    path = program.write("in.yaml", POD)
    terminal = scenario.open_terminal()
    if terminal is None:
        return
    ours, theirs = terminal
    done = subprocess.run([program.path, "snapshot", "-f", path], stdout=theirs,
                          stderr=subprocess.PIPE, check=False,
                          timeout=scenario.TIMEOUT_SECONDS)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2 and b"standard output is a terminal" in done.stderr, done


if __name__ == "__main__":
    scenario.main(globals())
