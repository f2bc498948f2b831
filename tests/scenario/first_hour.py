#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""First use after a clone: two commands give an answer, and each usual mistake gives one clear
sentence, for all commands that read input."""
import gzip
import os

import scenario

NODES = os.path.join(scenario.EXAMPLES, "three-nodes.yaml")
ANSWER = "Pod shop/checkout fits on none of 3 nodes"
POD = """apiVersion: v1
kind: Pod
metadata: {name: worker}
spec: {containers: [{name: c, image: c}]}
"""
KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "%s"}}]
contexts: [{name: here, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: here
"""
HINT = 'Run "berth %s --help" for its flags.'
# Arguments of each command before the file.
READERS = {
    "simulate": ["-f"],
    "explain": ["worker", "-f"],
    "capacity": ["--like", "pod/worker", "-f"],
    "whatif": ["--drain", "node-1", "-f"],
    "snapshot": ["-o", "/dev/null", "-f"],
}
FILES_ONLY = {
    "capacity": ["-f", NODES, "--pod"],
    "whatif": ["-f", NODES, "--drain", "node-1", "--with"],
}


def files(program):
    """Pairs of (path, text that every command must print about it)."""
    def write(name, text):
        return program.write(name, text)
    with open(NODES, "rb") as file:
        cut = gzip.compress(file.read())[:300]
    folder = os.path.join(program.folder, "notes")
    write("notes/readme.txt", "nothing to see\n")
    page = "<!DOCTYPE html>\n<html><body>Please log in</body></html>\n"
    return [
        (os.path.join(program.folder, "missing.yaml"), "No such file or directory"),
        (folder, "no .yaml, .yml, .json or .jsonl files (folders within are read with -R)"),
        (write("words.yaml", "see the other file\n"), "a manifest begins with apiVersion and kind"),
        (write("colons.yaml", "a: b: c\n"), "yaml: mapping values are not allowed"),
        (write("tab.yaml", "kind: Node\nmetadata:\n\tname: x\n"),
         "line 3: found character that cannot start any token (if it is a tab: indent with "
         "blanks)"),
        (write("program.yaml", b"\x7fELF\x02\x01\x01\0\0\0\0"),
         "this is binary data, not a manifest"),
        (write("page.yaml", page), "this is a page of a web site or XML, not a manifest"),
        (write("cut.yaml.gz", cut), "gzipped data ends too early"),
        (write("cut.json", '{"kind": "Pod",'), "unexpected end of JSON input"),
        (write("kindless.yaml", "metadata: {name: x}\n"), "object has no kind"),
        (write("versionless.yaml", "kind: Pod\n"), "Pod: object has no apiVersion"),
        (write("quantity.yaml", POD.replace("image: c", "resources: {requests: {cpu: half}}")),
         "Pod worker: spec.containers[0].resources.requests[cpu]: quantities must match"),
        (write("type.yaml", POD.replace("[{name: c, image: c}]", "nginx")),
         "Pod worker: spec.containers: expected array, got string"),
    ]


def sentence(answer, status=2):
    """The line that a command prints when it fails."""
    assert answer.status == status and answer.out == "", (answer.status, answer.out, answer.err)
    lines = answer.err.split("\n")
    assert len(lines) == 2 and lines[1] == "" and len(lines[0]) < 400, answer.err
    return lines[0]


def test_an_answer_about_an_example(program):
    """The second command of the README; `.ci/run` runs the first one."""
    answer = program.run("explain", "-f", NODES).expect(1)
    assert answer.err == "" and answer.out.startswith(ANSWER), (answer.err, answer.out)


def test_readme_names_those_commands(program):
    del program
    with open(os.path.join(scenario.ROOT, "README.md"), encoding="utf-8") as file:
        assert "$ make build\n$ build/berth explain -f examples/three-nodes.yaml\n" in file.read()


def test_wrong_files(program):
    for path, words in files(program):
        for name, before in list(READERS.items()) + list(FILES_ONLY.items()):
            said = sentence(program.run(name, *before, path))
            assert said.startswith("berth %s: %s: " % (name, path)), (name, said)
            assert words in said, (name, said)


def test_wrong_files_of_bench(program):
    for path, words in files(program):
        if os.path.isdir(path):
            words = "Is a directory"
        elif path.endswith(".yaml"):
            words = "No such file" if "missing" in path else "expected one JSON object a line"
        elif path.endswith(".gz"):
            words = ""
        said = sentence(program.run("bench", path))
        assert said.startswith("berth bench: %s: " % path) and words in said, said


def test_nothing_to_read(program):
    """Files without scheduler objects; commands without files."""
    others = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
    for text in ("", "---\n---\n", others):
        path = program.write("nothing.yaml", text)
        for name, before in READERS.items():
            said = sentence(program.run(name, *before, path))
            assert said == "berth %s: %s: no objects that a scheduler reads: Nodes, Pods, " \
                "workloads" % (name, path), said
    for name in READERS:
        said = sentence(program.run(name, *READERS[name][:-1]))
        assert "name files with -f, or a cluster with --kubeconfig" in said, said
    said = sentence(program.run("capacity", "-f", NODES))
    assert "no pod spec: name a file with --pod" in said, said
    assert "no change is given: name one" in sentence(program.run("whatif", "-f", NODES))


def test_wrong_kinds(program):
    for text, words in (
            ("apiVersion: v1\nkind: Nodee\n", "v1 Nodee is skipped: did you mean Node?"),
            ("apiVersion: v1\nkind: pod\n", "v1 pod is skipped: did you mean Pod?"),
            ("apiVersion: v1\nkind: Deployment\n",
             "v1 Deployment is skipped: Deployment is of apps/v1"),
            ("apiVersion: app/v1\nkind: Deployment\n", "Deployment is of apps/v1")):
        path = program.write("kind.yaml", text)
        for name, before in READERS.items():
            answer = program.run(name, *before[:-1], "-f", NODES, before[-1], path)
            warnings = [line for line in answer.err.split("\n") if "warning" in line]
            assert len(warnings) == 1 and words in warnings[0], (name, answer.err)
            assert warnings[0].startswith("berth %s: warning: %s: document 1: " % (name, path))
    for text in ("apiVersion: v1\nkind: ConfigMap\n", "apiVersion: v1\nkind: Secret\n",
                 "apiVersion: v1\nkind: Endpoints\n", "apiVersion: v1\nkind: PodTemplate\n",
                 "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n",
                 "apiVersion: apps/v1\nkind: ControllerRevision\n",
                 "apiVersion: serving.knative.dev/v1\nkind: Service\n",
                 "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"):
        answer = program.run("simulate", "-f", NODES, "-f", program.write("other.yaml", text))
        assert answer.expect(1).err == "", answer.err


def test_misspelt_fields(program):
    """Warns like kubectl apply, and suggests the right name."""
    misspelt = '"spec.nodeSelektor"; did you mean "nodeSelector"?'
    wrong_level = '"tolerations"; did you mean "spec.tolerations"?'
    for text, words in ((POD.replace("spec: {", "spec: {nodeSelektor: {a: b}, "), misspelt),
                        (POD + "tolerations: [{operator: Exists}]\n", wrong_level)):
        path = program.write("fields.yaml", text)
        runs = [(name, before[:-1] + ["-f", NODES, "-f"]) for name, before in READERS.items()]
        for name, before in runs + list(FILES_ONLY.items()):
            answer = program.run(name, *before, path)
            assert answer.status != 2, answer.err
            warnings = [line for line in answer.err.split("\n") if "warning" in line]
            assert warnings == ["berth %s: warning: %s: document 1: Pod default/worker: unknown "
                                "field %s" % (name, path, words)], (name, answer.err)
        dump = "apiVersion: v1\nkind: List\nitems:\n- " + text.strip().replace("\n", "\n  ")
        answer = program.run("simulate", "-f", NODES, "-f", program.write("list.yaml", dump))
        assert answer.status != 2 and answer.err == "", answer.err


def test_misspelt_names(program):
    for arguments, words in (
            (["explain", "chekout"], "there is no pod chekout"),
            (["explain", "shop/chekout"], "there is no pod shop/chekout"),
            (["capacity", "--like", "pod/chekout"], "no Pod chekout is in the input"),
            (["whatif", "--scale", "deployment/x=3"], "there is no Deployment in the input: add"),
            (["whatif", "--drain", "nod-1"], "--drain nod-1: no such Node is in the input")):
        said = sentence(program.run(*arguments, "-f", NODES))
        assert words in said, said
        assert "did you mean" in said or "--scale" in said, said


def test_empty_cluster(program):
    """Pods without nodes: an answer where possible, else a hint to add nodes."""
    path = program.write("pods.yaml", POD)
    answer = program.run("simulate", "-f", path).expect(1)
    assert answer.err == "" and "no nodes available to schedule pods" in answer.out, answer.out
    answer = program.run("explain", "-f", path).expect(1)
    assert answer.err == "" and "the cluster has no nodes" in answer.out, answer.out
    said = sentence(program.run("capacity", "--pod", path, "-f", path))
    assert "the cluster has no nodes: name files that have some with -f" in said, said
    said = sentence(program.run("whatif", "--drain", "node-1", "-f", path))
    assert "there is no Node in the input" in said, said


def test_unreachable_servers(program):
    dead = program.write("dead", KUBECONFIG % "http://127.0.0.1:9")
    nowhere = program.write("nowhere", KUBECONFIG % "http://no-such-host.invalid")
    missing = os.path.join(program.folder, "missing")
    for name, before in READERS.items():
        for path, words in ((dead, "cannot reach the API server http://127.0.0.1:9: connection "
                                   "refused; is it running"),
                            (nowhere, "cannot reach the API server http://no-such-host.invalid"),
                            (missing, "there is no kubeconfig " + missing)):
            said = sentence(program.run(name, *before[:-1], "--kubeconfig", path))
            assert said.startswith("berth %s: " % name) and words in said, said
        page = program.write("page.html", "<!DOCTYPE html>\n<html>Please log in</html>\n")
        said = sentence(program.run(name, *before[:-1], "--kubeconfig", page))
        assert page + ": this is not a kubeconfig: a kubeconfig is YAML with" in said, said
        said = sentence(program.run(name, *before[:-1], "--kubeconfig", dead, "--context", "x"))
        assert 'no context "x" (it has "here")' in said, said


def test_misspelt_flags(program):
    for name in list(READERS) + ["bench"]:
        answer = program.run(name, "--confg", "x").expect(2)
        meant = "Did you mean --config? " if name != "snapshot" else ""
        assert answer.err == "berth %s: unknown flag: --confg\n%s%s\n" % (
            name, meant, HINT % name), answer.err
        answer = program.run(name, "--filenme=x" if name != "bench" else "--repeet=3").expect(2)
        assert "Did you mean --%s? " % ("filename" if name != "bench" else "repeat") in answer.err
        answer = program.run(name, "--xyzzy").expect(2)
        assert "mean" not in answer.err and answer.err.count("\n") == 2, answer.err
    for name in ("simulate", "explain"):
        said = sentence(program.run(name, "-f", NODES, "-o", "tabel"))
        assert "--output: tabel is none of table, wide, json, yaml" in said, said
    answer = program.run("explian").expect(2)
    assert answer.err == 'berth: unknown command "explian"; did you mean "explain"?\n' \
        'Run "berth --help" for the list of commands.\n', answer.err


if __name__ == "__main__":
    scenario.main(globals())
