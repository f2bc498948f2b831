#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manifests of packaging/: their RBAC rules equal the specification's, and the program accepts
their command lines and configurations."""
import os
import re
import subprocess

import yaml

import scenario

FOLDER = os.path.join(scenario.ROOT, "packaging")
SPEC = os.path.join(scenario.ROOT, "docs", "spec", "11b-client-and-extender.md")
VOLUME_RULES = {("", name): {"get", "list", "patch", "update", "watch"}
                for name in ("persistentvolumes", "persistentvolumeclaims")}
VOLUME_RULES["storage.k8s.io", "storageclasses"] = {"get", "list", "watch"}


def read(*path):
    with open(os.path.join(FOLDER, *path), encoding="utf-8") as file:
        return file.read()


def objects(name):
    return list(yaml.safe_load_all(read("kubernetes", name)))


def find(name, kind, object_name):
    found = [item for item in objects(name)
             if item["kind"] == kind and item["metadata"]["name"] == object_name]
    assert len(found) == 1, (kind, object_name, found)
    return found[0]


def specified():
    """Returns the set of (group, resource, name, verb) in the table of section 10 of the
    specification."""
    with open(SPEC, encoding="utf-8") as file:
        section = re.search(r"^## 10\. RBAC\n(.*?)^## ", file.read(), re.MULTILINE | re.DOTALL)
    rights = set()
    for row in re.findall(r"^\| (.*) \|$", section.group(1), re.MULTILINE):
        groups, resources, names, verbs = [cell.strip() for cell in row.split("|")]
        if groups in ("groups", "---") or set(row) <= set("-| "):
            continue
        names = names.replace("kube-scheduler", "berth").split(", ")
        verbs = re.sub(r" \(.*\)", "", verbs)
        rights |= {(group.strip('"'), resource, name, verb) for group in groups.split(", ")
                   for resource in resources.split(", ") for name in names
                   for verb in verbs.split(", ")}
    assert len(rights) >= 100, len(rights)
    return rights


def granted(role):
    return {(group, resource, name, verb) for rule in role["rules"]
            for group in rule["apiGroups"] for resource in rule["resources"]
            for name in rule.get("resourceNames", [""]) for verb in rule["verbs"]}


def test_rights_are_those_specified(_program):
    role = granted(find("rbac.yaml", "ClusterRole", "berth"))
    leases = granted(find("rbac.yaml", "Role", "berth-leader-election"))
    assert not role & leases
    difference = (role | leases) ^ specified()
    assert not difference, sorted(difference)
    assert {right[0] for right in leases} == {"coordination.k8s.io"}


def test_rights_to_volumes(_program):
    rules = {}
    for group, resource, name, verb in granted(find("rbac.yaml", "ClusterRole", "berth-volumes")):
        assert name == ""
        rules.setdefault((group, resource), set()).add(verb)
    assert rules == VOLUME_RULES, rules


def test_everything_is_bound_to_the_account(_program):
    account = {"kind": "ServiceAccount", "name": "berth", "namespace": "kube-system"}
    bound = set()
    for item in objects("rbac.yaml"):
        if item["kind"].endswith("Binding"):
            assert item["subjects"] == [account], item
            bound.add((item["roleRef"]["kind"], item["roleRef"]["name"]))
    for item in objects("rbac.yaml"):
        if item["kind"].endswith("Role"):
            assert (item["kind"], item["metadata"]["name"]) in bound, item["metadata"]
    assert ("Role", "extension-apiserver-authentication-reader") in bound
    pod = find("second-scheduler.yaml", "Deployment", "berth")["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == account["name"]
    assert find("rbac.yaml", "ServiceAccount", "berth")["metadata"]["namespace"] == "kube-system"


def load(program, text):
    """Checks that the program accepts the configuration; returns it in full."""
    out = os.path.join(program.folder, "out.yaml")
    program.run("scheduler", "--config=" + program.write("in.yaml", text), "--secure-port=0",
                "--master=http://127.0.0.1:1", "--write-config-to=" + out).expect(0)
    with open(out, encoding="utf-8") as file:
        return yaml.safe_load(file)


def test_second_scheduler(program):
    config = load(program, find("second-scheduler.yaml", "ConfigMap",
                                "berth")["data"]["scheduler.yaml"])
    assert config["leaderElection"]["resourceName"] == "berth"
    assert [profile["schedulerName"] for profile in config["profiles"]] == ["berth"]
    deployment = find("second-scheduler.yaml", "Deployment", "berth")
    check_container(program, deployment["spec"]["template"]["spec"], 0)
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels


def check_container(program, pod, port_of_host):
    container, = pod["containers"]
    command = container["command"]
    assert command[0] == "kube-scheduler"
    answer = program.run("scheduler", *command[1:], "--version").expect(0)
    assert answer.out == "Kubernetes v1.36.2\n"
    port, = container["ports"]
    assert port["containerPort"] == 10259
    assert port.get("hostPort", 0) == port_of_host
    for probe, path in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        get = container[probe]["httpGet"]
        assert (get["path"], get["port"], get["scheme"]) == (path, port["name"], "HTTPS")
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_static_pod(program):
    pod = find("kube-scheduler.yaml", "Pod", "kube-scheduler")
    check_container(program, pod["spec"], 10259)
    assert pod["spec"]["hostNetwork"] is True
    flags = set(pod["spec"]["containers"][0]["command"][1:])
    conf = "=/etc/kubernetes/scheduler.conf"
    assert flags == {"--authentication-kubeconfig" + conf, "--authorization-kubeconfig" + conf,
                     "--bind-address=127.0.0.1", "--kubeconfig" + conf, "--leader-elect=true"}


def test_unit_and_its_configuration(program):
    unit = read("debian", "berth-scheduler.service")
    command = re.search(r"^ExecStart=/usr/bin/kube-scheduler (.*)$", unit, re.MULTILINE).group(1)
    program.run("scheduler", *command.split(), "--version").expect(0)
    text = re.search(r"^\tapiVersion: kubescheduler.*\Z", read("README.md"),
                     re.MULTILINE | re.DOTALL).group(0)
    path = yaml.safe_load(text.replace("\t", ""))["clientConnection"]["kubeconfig"]
    assert path == "/run/credentials/berth-scheduler.service/kubeconfig"
    assert "\nLoadCredential=kubeconfig:" in unit


def test_make_install_uses_the_given_folders(_program):
    """Also if the build folder was configured for another prefix."""
    for flags, is_set in ([], False), (["PREFIX=/opt/berth", "DESTDIR=stage"], True):
        done = subprocess.run(["make", "-n", "install", *flags], cwd=scenario.ROOT, check=True,
                              env={"PATH": os.environ["PATH"]}, stdout=subprocess.PIPE, text=True)
        assert ("meson configure build --prefix=/opt/berth" in done.stdout) == is_set, done.stdout
        assert ("DESTDIR=%s/stage " % scenario.ROOT in done.stdout) == is_set, done.stdout


if __name__ == "__main__":
    scenario.main(globals())
