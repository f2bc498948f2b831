#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth scheduler` from start to end against `berth up --no-scheduler`: the behaviour that an
operator sees without faults. scheduler_faults.py tests faults."""
import json
import re
import signal
import subprocess

import daemon_harness as harness
import scheduler_wire as wire
import up

ELECTION = {"leaderElection": {"leaderElect": True}}


def test_pods_are_bound(program):
    with harness.server(program) as api:
        harness.make_nodes(api, 10)
        with harness.daemon(program, api, "-v", "2", config=ELECTION) as daemon:
            harness.make_pods(api, "p", 100)
            harness.make_pods(api, "big", 1, cpu="1000")
            harness.wait_until_bound(api, 100, prefix="p")
            found = harness.wait_until_bound(api, 100)
            nodes = {harness.node_of(item) for item in found}
            assert len(nodes) == 10, nodes
            daemon.wait_for_line('"Unable to schedule pod; no fit; waiting" pod="default/big0"')
            check_condition(api)
            check_events(api)
            check_lines(daemon)
            check_lease(api)
            check_dump(daemon)
            assert daemon.stop() == 0, daemon.ended()
            assert "Requested to terminate, exiting" in daemon.output()
        assert lease(api)["holderIdentity"] == ""


def check_condition(api):
    def told():
        _, pod = api.json("GET", harness.PODS + "/big0")
        return pod["status"].get("conditions")
    condition, = up.wait_for("the condition", told, 30)
    assert condition["type"] == "PodScheduled" and condition["status"] == "False"
    assert condition["reason"] == "Unschedulable"
    assert condition["message"] == (
        "0/10 nodes are available: 10 Insufficient cpu. no new claims to deallocate, preemption: "
        "0/10 nodes are available: 10 Preemption is not helpful for scheduling."), condition
    assert condition["lastProbeTime"] is None


def check_events(api):
    def told():
        _, found = api.json("GET", "/apis/events.k8s.io/v1/namespaces/default/events?limit=500")
        return found["items"] if len(found["items"]) >= 101 else None
    events = up.wait_for("101 events", told, 60)
    scheduled = [item for item in events if item["reason"] == "Scheduled"]
    assert len(scheduled) == 100
    for item in scheduled:
        assert item["action"] == "Binding" and item["type"] == "Normal"
        assert item["reportingController"] == "default-scheduler"
        assert re.fullmatch(r"Successfully assigned default/p\d+ to n\d", item["note"])
    failed = [item for item in events if item["reason"] == "FailedScheduling"]
    assert failed and failed[0]["regarding"]["name"] == "big0" and failed[0]["type"] == "Warning"


def check_lines(daemon):
    """Log lines that operators rely on, in their order: spec 11 section 6.1."""
    text = daemon.output()
    at = -1
    for line in ('"Starting Kubernetes Scheduler" version="v1.36.2"', '"Golang settings"',
                 '"Serving securely on 127.0.0.1:%d"' % daemon.port,
                 '"Attempting to acquire leader lease..."', '"Successfully acquired lease"',
                 '"Successfully bound pod to node" pod="default/p'):
        found = text.find(line, at + 1)
        if found < 0:
            found = text.find(line.strip('"'), at + 1)  # some lines are not structured
        assert found > at, "%s\n%s" % (line, text[:6000])
        at = found
    assert text.count('"Successfully bound pod to node"') == 100


def lease(api):
    status, found = api.json(
        "GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler")
    assert status == 200, found
    return found["spec"]


def check_lease(api):
    spec = lease(api)
    assert re.fullmatch(r".+_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", spec["holderIdentity"])
    assert spec["leaseDurationSeconds"] == 15 and spec["leaseTransitions"] == 0


def check_dump(daemon):
    daemon.process.send_signal(signal.SIGUSR2)
    daemon.wait_for_line("Dump of scheduling queue")
    text = daemon.output()
    assert "Cache mismatch" not in text
    assert "Dump of cached NodeInfo" in text
    assert "unschedulablePods:1" in text or "backoffQ:1" in text


def test_edge_11_44_without_election_the_end_is_a_failure(program):
    with harness.server(program) as api:
        harness.make_nodes(api, 1)
        with harness.daemon(program, api) as daemon:
            harness.make_pods(api, "p", 1)
            harness.wait_until_bound(api, 1)
            assert daemon.stop() == 1
            assert '"command failed" err="finished without leader elect"' in daemon.output()


def test_edge_11_45_second_signal(program):
    """While the server does not answer, the daemon waits after the first signal; the second signal
    ends the daemon at once."""
    with harness.server(program) as api:
        harness.make_nodes(api, 1)
        with harness.daemon(program, api, config=ELECTION) as daemon:
            daemon.wait_for_line("Successfully acquired lease")
            api.cluster.process.send_signal(signal.SIGSTOP)
            try:
                daemon.process.send_signal(signal.SIGTERM)
                daemon.process.send_signal(signal.SIGINT)
                assert daemon.stop(seconds=10) == 1
            finally:
                api.cluster.process.send_signal(signal.SIGCONT)
        assert lease(api)["holderIdentity"] != ""


def test_configuration_is_written(program):
    with harness.server(program) as api:
        with harness.daemon(program, api, "--write-config-to", "/dev/stdout") as daemon:
            assert daemon.process.wait(timeout=30) == 0
            daemon.log.close()
            text = daemon.output()
            assert "Wrote configuration" in text and "kind: KubeSchedulerConfiguration" in text


def test_configz_shows_what_was_logged(program):
    """At log level 2 and above, /configz has the profiles as built; below level 2, it has the
    profiles as read from the file."""
    profile = {"pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 5}},
                                {"name": "Elsewhere", "args": {"x": 1}}]}
    with harness.server(program) as api:
        for level, first, elsewhere in (
                (1, "VolumeBinding", True), (2, "DefaultPreemption", False)):
            with harness.daemon(program, api, "--v=%d" % level,
                                config={"profiles": [profile]}) as daemon:
                daemon.wait_for_line("Serving securely")
                status, _, text = wire.ask(daemon, "/configz", token=api.token)
                assert status == 200, text
                found = json.loads(text)["componentconfig"]["profiles"][0]["pluginConfig"]
                names = [item["name"] for item in found]
                assert names[0] == first and ("Elsewhere" in names) == elsewhere, names


def test_no_configuration(program):
    """Edge case 11 21: without a configuration the daemon ends with a message."""
    result = subprocess.run([program.path, "scheduler", "--secure-port", "0"],
                            capture_output=True, text=True, timeout=30, check=False)
    assert result.returncode == 1
    assert ("invalid configuration: no configuration has been provided, try setting "
            "KUBERNETES_MASTER environment variable") in result.stderr, result.stderr
    assert json.dumps("command failed") in result.stderr


if __name__ == "__main__":
    up.main(globals())
