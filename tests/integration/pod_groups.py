#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pod groups: a Job that becomes a gang, a gang that waits, preemption for a gang, and the same by
`berth scheduler` against the API server of `berth up --no-scheduler`."""
import json
import urllib.request

import daemon_harness as harness
import fault_proxy
import up

GROUP = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
GATES = "GenericWorkload=true,GangScheduling=true"


def items(api, path):
    status, found = api.json("GET", path)
    assert status == 200, found
    return found["items"]


def create(api, path, document):
    harness.change(api, "POST", path, document)


def job(name, count, cpu="1"):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {
        "completionMode": "Indexed", "completions": count, "parallelism": count,
        "template": {"spec": dict(harness.pod("", cpu)["spec"], restartPolicy="Never")}}}


def group(name, min_count, **spec):
    return {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
            "metadata": {"name": name},
            "spec": dict({"schedulingPolicy": {"gang": {"minCount": min_count}}}, **spec)}


def make_members(api, name, count, cpu="1", **spec):
    for i in range(count):
        create(api, harness.PODS, harness.pod(
            "%s-%d" % (name, i), cpu, schedulingGroup={"podGroupName": name}, **spec))


def bound(api, prefix=""):
    return [item for item in harness.list_pods(api)
            if harness.node_of(item) and item["metadata"]["name"].startswith(prefix)]


def condition(api, name=None):
    """Returns (status, reason, message) of the condition of the named group; name None: of the only
    group. Returns None while there is no condition."""
    for found in items(api, GROUP + "/podgroups"):
        if name in (None, found["metadata"]["name"]):
            for entry in found.get("status", {}).get("conditions", []):
                assert entry["type"] == "PodGroupScheduled", entry
                return entry["status"], entry["reason"], entry["message"]
    return None


def wait_for_condition(api, status, name=None):
    return up.wait_for("condition %s of the group" % status,
                       lambda: (condition(api, name) or (None,))[0] == status and
                       condition(api, name))


def table_cells(api, path):
    """Requests a table as kubectl does; returns a row {column: cell} for each object."""
    status, _, text = api.request("GET", path, headers={"Accept": TABLE})
    assert status == 200, text
    table = json.loads(text)
    names = [column["name"] for column in table["columnDefinitions"]]
    return [dict(zip(names, row["cells"])) for row in table["rows"]]


def test_job_becomes_a_gang(program):
    with program.up("--nodes", "8", "--node-cpu", "4", "--job-run-time", "1h",
                    "--pod-start-delay", "0s", "--pod-stop-delay", "0s",
                    "--feature-gates", GATES + ",WorkloadWithJob=true") as api:
        # One node too few: 28 of 32 pods would fit, so no pod is bound.
        nodes = sorted(item["metadata"]["name"] for item in items(api, "/api/v1/nodes"))
        harness.change(api, "PATCH", "/api/v1/nodes/" + nodes[0], {"spec": {"unschedulable": True}})
        create(api, JOBS, job("train", 32))
        reason, message = wait_for_condition(api, "False")[1:]
        assert (reason, message) == ("Unschedulable", "pod group is unschedulable"), message
        assert len(harness.list_pods(api)) == 32 and not bound(api)
        workload, = items(api, GROUP + "/workloads")
        made, = items(api, GROUP + "/podgroups")
        assert made["spec"]["schedulingPolicy"] == {"gang": {"minCount": 32}}, made
        for pod in harness.list_pods(api):
            assert pod["spec"]["schedulingGroup"] == {
                "podGroupName": made["metadata"]["name"]}, pod
        assert not bound(api)
        harness.change(api, "PATCH", "/api/v1/nodes/" + nodes[0],
                       {"spec": {"unschedulable": None}})
        up.wait_for("all of them running", lambda: sum(
            pod["status"]["phase"] == "Running" for pod in harness.list_pods(api)) == 32)
        assert condition(api) == ("True", "Scheduled", ""), condition(api)
        row, = table_cells(api, GROUP + "/podgroups")
        assert row["Policy"] == "Gang" and row["Status"] == "Scheduled", row
        assert row["Workload"] == workload["metadata"]["name"], row
        # All objects that the Job created are deleted with it.
        status, answer = api.json("DELETE", JOBS + "/train", {"propagationPolicy": "Background"})
        assert status == 200, answer
        up.wait_for("nothing left", lambda: not harness.list_pods(api) and
                    not items(api, GROUP + "/podgroups") and
                    not items(api, GROUP + "/workloads"))


def test_not_served_without_the_gate(program):
    with program.up("--nodes", "1", "--no-scheduler") as api:
        status, _, _ = api.request("GET", GROUP + "/podgroups")
        assert status == 404, status
        create(api, harness.PODS, harness.pod("p", schedulingGroup={"podGroupName": "g"}))
        assert "schedulingGroup" not in harness.list_pods(api)[0]["spec"]
        status, groups = api.json("GET", "/apis")
        assert status == 200
        versions = [version["version"] for found in groups["groups"]
                    if found["name"] == "scheduling.k8s.io" for version in found["versions"]]
        assert versions == ["v1"], versions


def test_gang_evicts_a_gang_as_a_whole(program):
    with program.up("--nodes", "4", "--node-cpu", "4", "--pod-start-delay", "0s",
                    "--pod-stop-delay", "0s",
                    "--feature-gates", GATES + ",WorkloadAwarePreemption=true") as api:
        create(api, CLASSES, {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                              "metadata": {"name": "high"}, "value": 1000})
        for name, count, min_count in (("low", 8, 8), ("single", 6, 1)):
            create(api, GROUP + "/podgroups", group(
                name, min_count, disruptionMode="PodGroup" if name == "low" else "Pod"))
            make_members(api, name, count)
            up.wait_for(name + " bound", lambda: len(bound(api, name)) == count)
        # 14 of 16 cpu are in use. The gang of 6 needs 4 more: it preempts pods of group "single".
        create(api, GROUP + "/podgroups", group("first", 6, priorityClassName="high"))
        make_members(api, "first", 6, priorityClassName="high")
        up.wait_for("first bound", lambda: len(bound(api, "first-")) == 6)
        # "low" uses 8 cpu now, "single" fewer than 8: the next gang must preempt all of "low".
        create(api, GROUP + "/podgroups", group("second", 8, priorityClassName="high"))
        make_members(api, "second", 8, priorityClassName="high")
        up.wait_for("second bound", lambda: len(bound(api, "second-")) == 8)
        left = {name: len(bound(api, name + "-")) for name in ("low", "single", "first", "second")}
        assert left["low"] in (0, 8) and left["first"] == 6 and left["second"] == 8, left
        assert left["low"] + left["single"] <= 2, left


def gauge(daemon, api, name):
    """Returns the sum of the daemon's metric series with this name."""
    import ssl
    context = ssl._create_unverified_context()
    asked = urllib.request.Request("https://127.0.0.1:%d/metrics" % daemon.port,
                                   headers={"Authorization": "Bearer " + api.token})
    with urllib.request.urlopen(asked, context=context, timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    return {line.split(" ")[0]: float(line.split(" ")[1]) for line in lines
            if line.startswith(name)}


def test_daemon(program):
    with program.up("--nodes", "4", "--node-cpu", "4", "--no-scheduler", "--pod-start-delay", "0s",
                    "--feature-gates", GATES) as api:
        proxy = fault_proxy.FaultProxy(api, None)
        try:
            with harness.daemon(program, api, "--feature-gates", GATES, proxy=proxy) as daemon:
                # The pods are created before their group, and one pod is missing.
                make_members(api, "gang", 7)
                create(api, GROUP + "/podgroups", group("gang", 8))
                create(api, harness.PODS, harness.pod("other"))
                harness.wait_until_bound(api, 1, prefix="other")
                assert not bound(api, "gang") and condition(api, "gang") is None
                create(api, harness.PODS, harness.pod(
                    "gang-7", "1", schedulingGroup={"podGroupName": "gang"}))
                harness.wait_until_bound(api, 8, prefix="gang")
                assert wait_for_condition(api, "True", "gang")[1:] == ("Scheduled", "")
                # This gang cannot fit: 9 of 16 cpu are in use.
                create(api, GROUP + "/podgroups", group("large", 8))
                make_members(api, "large", 8)
                wait_for_condition(api, "False", "large")
                assert not bound(api, "large")
                counts = gauge(daemon, api, "scheduler_podgroup_schedule_attempts_total")
                assert {label.split('"')[3] for label, count in counts.items() if count} == {
                    "scheduled", "unschedulable"}, counts
                patches = [json.loads(request.body) for request in proxy.requests
                           if request.method == "PATCH" and request.path ==
                           GROUP + "/podgroups/gang/status"]
                assert [patch["status"]["conditions"][0]["reason"] for patch in patches] == [
                    "Scheduled"], patches
        finally:
            proxy.close()


def test_daemon_without_the_gate(program):
    """The daemon does not list PodGroups and binds members one by one."""
    with program.up("--nodes", "1", "--node-cpu", "4", "--no-scheduler", "--pod-start-delay", "0s",
                    "--feature-gates", GATES) as api:
        proxy = fault_proxy.FaultProxy(api, None)
        try:
            with harness.daemon(program, api, proxy=proxy):
                create(api, GROUP + "/podgroups", group("gang", 8))
                make_members(api, "gang", 3)
                harness.wait_until_bound(api, 3, prefix="gang")
                assert not [request.path for request in proxy.requests
                            if "podgroups" in request.path]
        finally:
            proxy.close()


if __name__ == "__main__":
    up.main(globals())
