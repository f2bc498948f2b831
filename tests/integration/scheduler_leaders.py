#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Several `berth scheduler` with leader election: one is active, another takes over in time, and
two never write alternately."""
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time

import daemon_harness as harness
import fault_proxy
import up

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
SECONDS = {"lease": 4, "renew": 3, "retry": 0.5}
ELECTION = {"leaderElection": {"leaderElect": True, "leaseDuration": "4s", "renewDeadline": "3s",
                               "retryPeriod": "500ms"}}
NODES = 10


class Replica:
    """A daemon with a separate proxy, which records the daemon's writes and their times."""

    def __init__(self, stack, program, api, name, config=ELECTION, **more):
        self.proxy = fault_proxy.FaultProxy(api)
        stack.callback(self.proxy.close)
        self.daemon = stack.enter_context(harness.daemon(
            program, api, proxy=self.proxy, config=config, name=name, **more))

    def bindings(self):
        return [request.at for request in self.proxy.requests if request.is_binding]

    def leads(self):
        return "Successfully acquired lease" in self.daemon.output()


@contextlib.contextmanager
def replicas(program, count=2):
    with harness.server(program) as api, contextlib.ExitStack() as stack:
        harness.make_nodes(api, NODES, pods="1000")
        found = []
        for i in range(count):
            found.append(Replica(stack, program, api, "r%d" % i))
            found[i].daemon.wait_for_line(
                "Successfully acquired lease" if i == 0 else "Attempting to acquire")
        witness = harness.Bindings(api)
        yield api, found, witness
        witness.finish()


def lease_of(api):
    status, lease = api.json("GET", LEASE)
    assert status == 200, lease
    return lease


def check_apart(first, second):
    """Asserts that the second replica began to write after the first had ended."""
    a, b = first.bindings(), second.bindings()
    assert a and b
    assert max(a) < min(b), "both wrote: until %f, from %f" % (max(a), min(b))


def test_only_the_leader_binds(program):
    with replicas(program) as (api, (leader, standby), _):
        harness.make_pods(api, "p", 20)
        harness.wait_until_bound(api, 20)
        assert len(leader.bindings()) >= 20 and not standby.bindings()
        lease = lease_of(api)
        assert lease["spec"]["leaseDurationSeconds"] == SECONDS["lease"]
        assert lease["spec"]["leaseTransitions"] == 0


def test_a_standby_takes_over_after_kill_9(program):
    with replicas(program) as (api, (leader, standby), _):
        harness.make_pods(api, "p", 20)
        harness.wait_until_bound(api, 20)
        holder = lease_of(api)["spec"]["holderIdentity"]
        leader.daemon.stop(signal.SIGKILL)
        killed = time.monotonic()
        harness.make_pods(api, "q", 20)
        harness.wait_until_bound(api, 20, prefix="q", seconds=60)
        taken = min(standby.bindings()) - killed
        # Lease duration plus one retry with its jitter (spec 11 section 8.3), and some room.
        assert taken < SECONDS["lease"] + 2.2 * SECONDS["retry"] + 3, taken
        check_apart(leader, standby)
        lease = lease_of(api)
        assert lease["spec"]["holderIdentity"] != holder
        assert lease["spec"]["leaseTransitions"] == 1


def test_sigterm_hands_the_lease_over(program):
    with replicas(program) as (api, (leader, standby), _):
        harness.make_pods(api, "p", 10)
        harness.wait_until_bound(api, 10)
        assert leader.daemon.stop() == 0
        stopped = time.monotonic()
        assert "Requested to terminate, exiting" in leader.daemon.output()
        standby.daemon.wait_for_line("Successfully acquired lease", 10)
        assert time.monotonic() - stopped < 2.2 * SECONDS["retry"] + 2
        harness.make_pods(api, "q", 10)
        harness.wait_until_bound(api, 10, prefix="q")
        check_apart(leader, standby)


def test_a_paused_leader_sends_no_queued_writes(program):
    limit = dict(ELECTION, clientConnection={"qps": 5, "burst": 1})
    with harness.server(program) as api, contextlib.ExitStack() as stack:
        harness.make_nodes(api, NODES, pods="1000")
        leader = Replica(stack, program, api, "r0", limit)
        leader.daemon.wait_for_line("Successfully acquired lease")
        standby = Replica(stack, program, api, "r1")
        standby.daemon.wait_for_line("Attempting to acquire")
        witness = harness.Bindings(api)
        harness.make_pods(api, "p", 40)
        up.wait_for("a binding", leader.bindings)
        leader.daemon.process.send_signal(signal.SIGSTOP)
        harness.wait_until_bound(api, 40)
        leader.daemon.process.send_signal(signal.SIGCONT)
        assert leader.daemon.process.wait(timeout=30) == 1
        check_apart(leader, standby)
        witness.finish()


def test_a_paused_leader_sends_nothing_over_new_connections(program):
    with replicas(program) as (api, (leader, standby), _):
        def pause(request):
            if request.is_binding:
                leader.proxy.policy = None
                time.sleep(0.5)  # the leader's other bindings wait for TLS handshakes meanwhile
                leader.daemon.process.send_signal(signal.SIGSTOP)
        # All pods reach the leader at once, so that it needs several connections.
        leader.daemon.process.send_signal(signal.SIGSTOP)
        harness.make_pods(api, "p", 40)
        time.sleep(0.5)
        leader.proxy.policy = pause
        leader.daemon.process.send_signal(signal.SIGCONT)
        harness.wait_until_bound(api, 40)
        leader.daemon.process.send_signal(signal.SIGCONT)
        assert leader.daemon.process.wait(timeout=30) == 1
        check_apart(leader, standby)


def test_the_lease_is_stolen(program):
    with replicas(program, count=1) as (api, (leader,), _):
        harness.make_pods(api, "p", 10)
        harness.wait_until_bound(api, 10)
        lease = lease_of(api)
        stolen = time.monotonic()
        # The other holder renews the lease for as long as the daemon runs.
        while leader.daemon.is_running():
            assert time.monotonic() - stolen < 20, leader.daemon.ended()
            lease = lease_of(api)
            lease["spec"].update(holderIdentity="thief", renewTime=time.strftime(
                "%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime()))
            api.json("PUT", LEASE, lease)
            time.sleep(0.1)
        assert leader.daemon.stop() == 1
        assert "Leaderelection lost" in leader.daemon.output(), leader.daemon.output()[-2000:]
        harness.make_pods(api, "q", 5)
        time.sleep(1)
        assert not any(harness.node_of(item) for item in harness.list_pods(api)
                       if item["metadata"]["name"].startswith("q"))
        assert lease_of(api)["spec"]["holderIdentity"] == "thief"


def test_the_server_is_away_for_longer_than_the_deadline(program):
    with replicas(program, count=1) as (api, (leader,), _):
        leader.proxy.policy = lambda request: fault_proxy.CutBefore()
        leader.proxy.cut_everything()
        started = time.monotonic()
        status = leader.daemon.process.wait(timeout=30)
        assert status == 1, leader.daemon.ended()
        assert SECONDS["renew"] - 1 < time.monotonic() - started < 12
        assert "Leaderelection lost" in leader.daemon.output()


def test_a_leader_that_was_stopped_for_long_writes_nothing(program):
    """SIGSTOP until the standby has taken over: the old leader must not continue its work."""
    with replicas(program) as (api, (leader, standby), _):
        harness.make_pods(api, "p", 10)
        harness.wait_until_bound(api, 10)
        leader.daemon.process.send_signal(signal.SIGSTOP)
        standby.daemon.wait_for_line("Successfully acquired lease", 30)
        harness.make_pods(api, "q", 200)
        leader.daemon.process.send_signal(signal.SIGCONT)
        harness.wait_until_bound(api, 200, prefix="q")
        assert leader.daemon.process.wait(timeout=30) == 1, leader.daemon.ended()
        check_apart(leader, standby)


def test_the_lease_is_deleted(program):
    with replicas(program, count=1) as (api, (leader,), _):
        holder = lease_of(api)["spec"]["holderIdentity"]
        api.request("DELETE", LEASE)
        up.wait_for("a new lease", lambda: api.json("GET", LEASE)[0] == 200, 10)
        assert lease_of(api)["spec"]["holderIdentity"] == holder
        harness.make_pods(api, "p", 5)
        harness.wait_until_bound(api, 5)


def test_events_name_the_leader(program):
    with replicas(program, count=1) as (api, (leader,), _):
        holder = lease_of(api)["spec"]["holderIdentity"]

        def told():
            _, found = api.json("GET", "/api/v1/namespaces/kube-system/events")
            return [item for item in found["items"] if item["reason"] == "LeaderElection"]
        up.wait_for("an event", told, 20)
        event = told()[0]
        assert event["message"] == holder + " became leader"
        assert event["involvedObject"]["kind"] == "Lease"
        assert event["source"]["component"] == "default-scheduler"
        assert event["type"] == "Normal"
        assert leader.daemon.stop() == 0
        assert told()[-1]["message"] == holder + " stopped leading", told()


def jump(path, seconds):
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write("%d\n" % seconds)
    os.rename(path + ".new", path)


def test_the_wall_clock_jumps(program):
    """A preloaded library shifts the daemon's time of day by hours, in both directions."""
    shim = os.environ.get("BERTH_TEST_CLOCK_SHIM", "")
    if not shim or program.sanitized:
        return  # the shim must be preloaded first, but so must a sanitizer's library
    with harness.server(program) as api, tempfile.TemporaryDirectory() as folder, \
            contextlib.ExitStack() as stack:
        harness.make_nodes(api, NODES, pods="1000")
        offset = os.path.join(folder, "offset")
        jump(offset, 0)
        shifted = {"LD_PRELOAD": shim, "BERTH_TEST_CLOCK_OFFSET": offset}
        replica = Replica(stack, program, api, "r0", environment=shifted)
        replica.daemon.wait_for_line("Successfully acquired lease")
        witness = harness.Bindings(api)
        # A pod that fits nowhere is in backoff while the clock jumps, and must be tried again.
        status, _ = api.json("POST", harness.PODS, harness.pod("big", cpu="100"))
        assert status == 201
        for i, seconds in enumerate([3600, -7200, 86400, 0]):
            jump(offset, seconds)
            told = subprocess.run(["date", "+%s"], env=dict(os.environ, **shifted),
                                  stdout=subprocess.PIPE, check=True).stdout
            assert abs(int(told) - time.time() - seconds) < 60, (told, seconds)
            harness.make_pods(api, "p%d-" % i, 10)
            harness.wait_until_bound(api, 10, prefix="p%d-" % i, seconds=30)
            time.sleep(1)
        harness.make_pods(api, "end", 1)
        api.json("PATCH", "/api/v1/nodes/n0/status", json.dumps({"status": {
            "allocatable": {"cpu": "200", "memory": "64Gi", "pods": "1000"},
            "capacity": {"cpu": "200", "memory": "64Gi", "pods": "1000"}}}).encode(),
            headers={"Content-Type": "application/merge-patch+json"})
        harness.wait_until_bound(api, 1, prefix="big", seconds=60)
        assert replica.daemon.is_running(), replica.daemon.ended()
        witness.finish()


if __name__ == "__main__":
    up.main(globals())
