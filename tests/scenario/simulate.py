#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth simulate: input and output formats, exit statuses, workloads, queue order."""
import gzip
import json
import os

import scenario
from objects import deployment, lines, node, pod


def test_folders_with_other_files(program):
    program.write("app/values.yaml", "replicas: 3\nimage: {tag: v1}\n")
    program.write("app/kustomization.yaml", "resources: [all.yaml]\n")
    program.write("app/overlay.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\n"
                  "kind: Kustomization\n---\nresources: []\n")
    path = program.write("app/all.yaml", lines(node("n1"), pod("a")))
    answer = program.run("simulate", "-f", os.path.dirname(path)).expect(0)
    told = answer.err.splitlines()
    assert len(told) == 3 and all(
        line.endswith(name + " is not a manifest and is left out")
        for line, name in zip(told, ("kustomization.yaml", "overlay.yaml", "values.yaml"))), told
    # A file that is not a manifest is an error if -f names it; so is a manifest without a kind.
    assert "no kind" in program.run(
        "simulate", "-f", os.path.join(os.path.dirname(path), "values.yaml")).expect(2).err
    program.write("app/broken.yaml", "apiVersion: v1\nmetadata: {name: x}\n")
    assert "broken.yaml: document 1" in program.run(
        "simulate", "-f", os.path.dirname(path)).expect(2).err


def test_kustomizations(program):
    text = lines(node("n1"), pod("a"))
    folder = os.path.dirname(program.write("bin/text.yaml", text))
    kubectl = program.write("bin/kubectl", "#!/bin/sh\n"
                            "[ \"$*\" = \"kustomize -- app\" ] || exit 3\n"
                            "cat %s/text.yaml\n" % folder)
    os.chmod(kubectl, 0o755)
    path = os.environ["PATH"]
    try:
        os.environ["PATH"] = folder + ":" + path
        answer = program.run("simulate", "-k", "app", "-o", "json").expect(0).out
        assert [item["name"] for item in json.loads(answer)["pods"]] == ["a"], answer
        assert "kubectl kustomize failed" in program.run("simulate", "-k", "b").expect(2).err
        os.environ["PATH"] = "/nonexistent"
        assert "no kubectl on the PATH" in program.run("simulate", "-k", "app").expect(2).err
    finally:
        os.environ["PATH"] = path


def test_kustomizations_without_kubectl(program):
    program.write("base/web.yaml", lines(node("n1")) + "---\n" + lines(deployment("web", 1)))
    base = os.path.dirname(program.write("base/kustomization.yaml", "resources: [web.yaml]\n"))
    over = os.path.dirname(program.write(
        "over/kustomization.yaml", "resources: [../base]\nnamespace: shop\nnamePrefix: my-\n"
        "replicas: [{name: web, count: 2}]\n"))
    foreign = os.path.dirname(program.write("foreign/kustomization.yaml", "helmCharts: []\n"))
    path = os.environ["PATH"]
    try:
        os.environ["PATH"] = "/nonexistent"
        for folder, owners in ((base, [("default", "web")]), (over, [("shop", "my-web")] * 2)):
            pods = program.run("simulate", "-k", folder, "-o", "json").expect(0).json()["pods"]
            assert [(each["namespace"], each["owner"]["name"]) for each in pods] == owners, pods
        told = program.run("simulate", "-k", foreign).expect(2).err
        assert "kustomization.yaml: the field helmCharts is not supported" in told, told
        assert "no kubectl on the PATH" in told, told
    finally:
        os.environ["PATH"] = path


def test_exit_status_0_when_all_are_placed(program):
    answer = program.simulate(lines(node("n1"), pod("a"))).expect(0)
    assert answer.pods()["default/a"]["node"] == "n1"
    assert answer.err == ""


def test_exit_status_1_when_some_are_pending(program):
    answer = program.simulate(lines(node("n1"), pod("a"), pod("b", cpu="9"))).expect(1)
    pending = answer.pods()["default/b"]
    assert pending["reason"] == "Unschedulable" and pending["node"] == ""
    assert pending["message"].startswith("0/1 nodes are available: 1 Insufficient cpu."), pending


def test_exit_status_2_on_bad_input(program):
    answer = program.simulate("{").expect(2)
    assert answer.out == ""
    assert answer.err.startswith("berth simulate: standard input: document 1: line 1: "), answer.err


def test_running_pods_count(program):
    answer = program.simulate(lines(node("n1"), pod("old", "3500m", "n1"), pod("a"))).expect(1)
    assert "default/old" not in answer.pods()
    assert answer.json()["nodes"][0]["cpuMilli"] == {"requested": 3500, "allocatable": 4000}


def test_same_answer_for_every_form_of_input(program):
    objects = [node("n1"), node("n2"), pod("old", "2", "n1"), deployment("web", 3), pod("a")]
    typed = {"apiVersion": "v1", "kind": "NodeList", "items": [
        {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
        for item in objects[:2]]}
    whole = {"apiVersion": "v1", "items": objects, "kind": "List"}
    # JSON documents in a YAML stream: berth reads a file as YAML unless it starts like JSON.
    yaml_text = "".join(
        "---\n# a comment\n" + json.dumps(item, indent=1) + "\n" for item in objects)
    wanted = program.simulate(lines(*objects)).expect(0).out
    folder = os.path.join(program.folder, "d")
    program.write("d/1.json", json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": objects[:3]}))
    program.write("d/2.yml", yaml_text.split("---")[4])
    program.write("d/3.jsonl.gz", gzip.compress(lines(objects[4]).encode()))
    program.write("d/README", "not read")
    forms = {
        "list": program.simulate(json.dumps(whole)),
        "indented": program.simulate(json.dumps(whole, indent=2)),
        "typed list": program.simulate(lines(typed, *objects[2:])),
        "YAML": program.simulate("# cluster\n" + yaml_text),
        "gzip": program.simulate(gzip.compress(lines(*objects).encode())),
        "directory": program.run("simulate", "-f", folder, "-ojson"),
        "files": program.run("simulate", "--filename=" + os.path.join(folder, "1.json"),
                             "-f", os.path.join(folder, "2.yml"), "-f", "-", "--output", "json",
                             stdin=lines(objects[4])),
    }
    for name, answer in forms.items():
        assert answer.expect(0).out == wanted, "%s: %s" % (name, answer.out)


def test_directories(program):
    program.write("d/a.json", lines(node("n1")))
    program.write("d/sub/b.json", lines(pod("a")))
    folder = os.path.join(program.folder, "d")
    assert program.run("simulate", "-f", folder, "-o", "name").expect(0).out == ""
    answer = program.run("simulate", "-R", "-f", folder, "-o", "name").expect(0)
    assert answer.out == "pod/default/a n1\n"
    answer = program.run("simulate", "-f", os.path.join(program.folder, "none")).expect(2)
    assert "No such file or directory" in answer.err
    answer = program.run("simulate", "-f", program.folder).expect(2)
    assert "no .yaml, .yml, .json or .jsonl files" in answer.err


def test_output_table(program):
    text = lines(node("n1"), pod("a"), pod("b", cpu="9"))
    answer = program.simulate(text, output="table").expect(1)
    rows = answer.out.split("\n")
    assert rows[0].split() == ["POD", "NODE", "STATUS"]
    assert rows[1].split() == ["default/a", "n1", "Scheduled"]
    assert rows[2].startswith("default/b  -     Unschedulable: 0/1 nodes are available: "), rows[2]
    assert rows[4].split() == ["NODE", "PODS", "CPU", "MEMORY"]
    assert rows[5].split() == ["n1", "1/10", "1/4", "(25%)", "0/8Gi", "(0%)"]
    assert rows[7] == "1 placed, 1 pending; 0 running before, 1 node"


def test_output_wide(program):
    answer = program.simulate(lines(node("n1"), node("n2"), pod("a", priority=7)), output="wide")
    rows = answer.expect(0).out.split("\n")
    assert rows[0].split() == ["POD", "NODE", "PRIORITY", "CPU", "MEMORY", "SCORE", "FITTING",
                               "STATUS"]
    cells = rows[1].split()
    assert cells[2:5] == ["7", "1", "0"] and int(cells[5]) > 0 and cells[6:] == ["2", "Scheduled"]


def test_output_yaml_says_the_same_as_json(program):
    import yaml
    text = lines(node("n1"), pod("a"), pod("yes", cpu="9"),
                 pod("gated", schedulingGates=[{"name": "g"}]))
    assert yaml.safe_load(program.simulate(text, output="yaml").expect(1).out) == \
        program.simulate(text).expect(1).json()


def test_hostile_names_are_escaped(program):
    text = lines(node("n1"), pod("a\x1b[2J%s%n\u202e\n"))
    answer = program.simulate(text, output="table").expect(0)
    assert "default/a\\x1b[2J%s%n\\u202e\\n  n1    Scheduled" in answer.out, answer.out
    answer = program.simulate(lines(pod("a", priorityClassName="\x1b]0;x\x07"))).expect(2)
    assert "\x1b" not in answer.err and "\\x1b]0;x\\x07" in answer.err, answer.err


def test_queue_order(program):
    older = pod("older")
    older["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    answer = program.simulate(lines(
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
         "metadata": {"name": "high"}, "value": 1000},
        node("n1", cpu="3"), pod("first"), pod("second"), older,
        pod("important", priorityClassName="high"))).expect(1)
    assert [item["name"] for item in answer.json()["pods"]] == [
        "important", "older", "first", "second"]
    assert answer.pods()["default/second"]["reason"] == "Unschedulable"


def test_dump_with_deployment_and_its_pods_is_not_doubled(program):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5", "uid": "u",
             "controller": True}
    old = pod("web-5-abc", node_name="n1")
    old["metadata"].update(ownerReferences=[owner], labels={"pod-template-hash": "5"})
    answer = program.simulate(lines(node("n1"), deployment("web", 2), old)).expect(0)
    assert len(answer.pods()) == 1
    assert list(answer.pods())[0].startswith("default/web-5-"), answer.pods()


def test_daemon_set_reaches_cordoned_nodes_only(program):
    cordoned = {"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}],
                "unschedulable": True}
    tainted = {"taints": [{"key": "own", "effect": "NoSchedule"}]}
    daemon = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
              "spec": {"template": {"spec": pod("x", "100m")["spec"]}}}
    answer = program.simulate(lines(
        node("n1"), node("n2", spec=cordoned), node("n3", spec=tainted), daemon)).expect(0)
    assert sorted(item["node"] for item in answer.json()["pods"]) == ["n1", "n2"]


def test_same_names_in_every_run(program):
    text = lines(node("n1", cpu="64"), deployment("web", 5))
    assert program.simulate(text).expect(0).out == program.simulate(text).expect(0).out


def test_warnings(program):
    answer = program.simulate(lines(
        node("n1"), pod("a"), pod("a", "2"), pod("lost", node_name="x")))
    warnings = answer.expect(0).err.split("\n")
    assert warnings[0] == ("berth simulate: warning: standard input: document 3: Pod default/a "
                           "replaces the one in standard input: document 2"), warnings
    assert warnings[1] == ("berth simulate: warning: Pod default/lost: its node x is not in the "
                           "input"), warnings
    assert answer.json()["nodes"][0]["cpuMilli"]["requested"] == 2000
    many = lines(node("n1"), *[pod("p%d" % i, "0", "x%d" % i) for i in range(50)])
    assert "and 30 more warnings" in program.simulate(many).expect(0).err


def test_configuration(program):
    config = program.write("c.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\n"
                           "kind: KubeSchedulerConfiguration\n"
                           "profiles:\n- schedulerName: mine\n- schedulerName: default-scheduler\n")
    text = lines(node("n1"), pod("a", schedulerName="mine"))
    assert program.simulate(text).expect(1).pods()["default/a"]["reason"] == "NotHandled"
    program.simulate(text, "--config", config).expect(0)
    broken = program.write("broken.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\n"
                           "kind: KubeSchedulerConfiguration\nparallelism: -1\n")
    answer = program.simulate(text, "--config", broken).expect(2)
    assert "parallelism: Invalid value: -1" in answer.err, answer.err
    assert "unrecognized feature gate: Foo" in program.simulate(
        text, "--feature-gates", "Foo=true", "--strict-feature-gates").expect(2).err
    assert program.simulate(text, "--config", config, "--feature-gates",
                            "Foo=true,GenericWorkload=true").expect(0).err == (
        "berth simulate: warning: --feature-gates: unknown feature gate Foo is ignored\n")
    assert "must be from 0 to 100" in program.simulate(
        text, "--percentage-of-nodes-to-score=101").expect(2).err


def test_extenders_are_not_passed_over(program):
    config = program.write("extended.yaml", "apiVersion: kubescheduler.config.k8s.io/v1\n"
                           "kind: KubeSchedulerConfiguration\n"
                           "extenders:\n- urlPrefix: http://h\n  filterVerb: f\n")
    text = lines(node("n1"), pod("a"))
    answer = program.simulate(text, "--config", config).expect(2)
    assert "extended.yaml: extenders: this command does not call extenders" in answer.err
    assert "--ignore-extenders" in answer.err, answer.err
    answer = program.simulate(text, "--config", config, "--ignore-extenders").expect(0)
    assert answer.pods()["default/a"]["node"] == "n1"



def test_rejected_pods_are_tried_again(program):
    """The first pod has affinity to the second pod, whose binding requeues the first pod."""
    beside = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}]}}
    answer = program.simulate(lines(
        node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "b"}),
        pod("web", affinity=beside), pod("db", labels={"app": "db"}))).expect(0)
    pods = answer.pods()
    assert pods["default/web"]["node"] == pods["default/db"]["node"], pods
    assert pods["default/web"]["message"] == "", pods


if __name__ == "__main__":
    scenario.main(globals())
