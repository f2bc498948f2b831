#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth scheduler` while connections and servers fail: in the end every pod is bound, no pod
twice, and no change is lost. fault_proxy.py injects the faults."""
import contextlib
import json
import random
import signal
import tempfile
import threading
import time

import daemon_harness as harness
import fault_proxy
import up

NODES = 20
PODS = 150


@contextlib.contextmanager
def scene(program, policy=None, pods=PODS, **more):
    """A server, a proxy, a daemon behind the proxy, and a witness of all bindings."""
    with harness.server(program) as api:
        harness.make_nodes(api, NODES)
        proxy = fault_proxy.FaultProxy(api, policy)
        try:
            with harness.daemon(program, api, proxy=proxy, **more) as daemon:
                witness = harness.Bindings(api)
                yield api, proxy, daemon, witness
                harness.wait_until_bound(api, pods, 180)
                time.sleep(0.5)
                witness.finish()
                assert len(witness.at) >= pods
                assert daemon.is_running(), daemon.ended()
        finally:
            proxy.close()


def is_write(request):
    return request.method != "GET"


def is_read(request):
    return request.method == "GET" and not request.is_watch


def test_connections_are_cut_in_the_middle_of_answers(program):
    rng = random.Random(1)

    def policy(request):
        if rng.random() < 0.2:
            return fault_proxy.CutWithin(rng.randrange(1, 3000))
        if rng.random() < 0.1:
            return fault_proxy.CutBefore()
        return None
    with scene(program, policy) as (api, _, _, _):
        harness.make_pods(api, "p", PODS)


def test_connections_are_cut_after_a_while(program):
    rng = random.Random(2)

    def policy(request):
        return fault_proxy.CutAfter(rng.uniform(0.05, 3)) if request.is_watch else None
    with scene(program, policy) as (api, proxy, _, _):
        for i in range(5):
            harness.make_pods(api, "p%d-" % i, PODS // 5)
            time.sleep(0.3)
            proxy.cut_everything()


def test_every_watch_is_too_old(program):
    expired = fault_proxy.status_body(410, "Expired", "too old resource version: 1 (2)")
    rng = random.Random(3)

    def policy(request):
        # Streaming lists pass, otherwise the daemon would never receive an object.
        if not request.is_watch or "sendInitialEvents" in request.query:
            return fault_proxy.CutAfter(rng.uniform(0.3, 1)) if request.is_watch else None
        if rng.random() < 0.5:
            return fault_proxy.Answer(410, expired)
        event = b'{"type":"ERROR","object":' + expired + b"}\n"
        return fault_proxy.Answer(200, event)
    with scene(program, policy) as (api, proxy, _, _):
        for i in range(5):
            harness.make_pods(api, "p%d-" % i, PODS // 5)
            time.sleep(0.5)
        assert any(request.is_watch and "sendInitialEvents" not in request.query
                   for request in proxy.requests)


def test_streaming_lists_are_refused(program):
    refused = fault_proxy.status_body(
        422, "Invalid", "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch "
        "unless the WatchList feature gate is enabled")

    def policy(request):
        return fault_proxy.Answer(422, refused) if "sendInitialEvents" in request.query else None
    with scene(program, policy) as (api, proxy, _, _):
        harness.make_pods(api, "p", PODS)
    assert any("limit=500" in request.query for request in proxy.requests)


def test_bursts_of_429_and_500(program):
    started = time.monotonic()
    busy = fault_proxy.status_body(429, "TooManyRequests", "too many requests")
    broken = fault_proxy.status_body(500, "InternalError", "it hurts")
    rng = random.Random(4)

    def policy(_):
        if (time.monotonic() - started) % 3 > 1:
            return None  # for two of every three seconds there are no faults
        if rng.random() < 0.5:
            return fault_proxy.Answer(429, busy, {"Retry-After": "1"})
        return fault_proxy.Answer(500, broken)
    with scene(program, policy) as (api, _, _, _):
        for i in range(5):
            harness.make_pods(api, "p%d-" % i, PODS // 5)
            time.sleep(0.7)


def test_slow_answers(program):
    rng = random.Random(5)

    def policy(request):
        return None if request.is_watch else fault_proxy.Delay(rng.uniform(0, 1.5))
    with scene(program, policy) as (api, _, _, _):
        harness.make_pods(api, "p", PODS)


def test_answers_to_bindings_are_lost(program):
    policy = fault_proxy.sometimes(6, 0.3, fault_proxy.LoseAnswer,
                                   lambda request: request.is_binding)
    with scene(program, policy) as (api, proxy, _, _):
        harness.make_pods(api, "p", PODS)
    bound = [request.path for request in proxy.requests if request.is_binding]
    # The client does not retry a binding, and the scheduler does not schedule a bound pod again.
    assert len(bound) < PODS * 1.5, len(bound)


def test_answers_to_all_writes_are_lost_at_times(program):
    policy = fault_proxy.sometimes(7, 0.2, fault_proxy.LoseAnswer, is_write)
    with scene(program, policy) as (api, _, _, _):
        harness.make_pods(api, "p", PODS)


def test_the_server_restarts(program):
    rng = random.Random(8)
    with harness.server(program) as api:
        harness.make_nodes(api, NODES)
        with harness.daemon(program, api) as daemon:
            for i in range(4):
                harness.make_pods(api, "p%d-" % i, PODS // 4)
                time.sleep(rng.uniform(0, 0.4))
                api.stop(rng.choice([signal.SIGKILL, signal.SIGTERM]))
                time.sleep(rng.uniform(0, 1))
                api.start()
            harness.wait_until_bound(api, PODS // 4 * 4, 180)
            assert daemon.is_running(), daemon.ended()
            harness.Bindings(api).finish()


def test_a_second_scheduler_takes_pods(program):
    """Another client binds the same pods as fast as it can."""
    with scene(program) as (api, _, daemon, _):
        stop = threading.Event()

        def steal():
            rng = random.Random(9)
            while not stop.is_set():
                for item in harness.list_pods(api):
                    if not harness.node_of(item):
                        meta = item["metadata"]
                        api.json("POST", harness.PODS + "/%s/binding" % meta["name"], {
                            "apiVersion": "v1", "kind": "Binding",
                            "metadata": {"name": meta["name"], "namespace": "default"},
                            "target": {"kind": "Node", "name": "n%d" % rng.randrange(NODES)}})
        thief = threading.Thread(target=steal)
        thief.start()
        try:
            harness.make_pods(api, "p", PODS)
            harness.wait_until_bound(api, PODS)
        finally:
            stop.set()
            thief.join()


def test_pods_and_nodes_come_and_go_behind_a_bad_line(program):
    rng = random.Random(10)

    def policy(request):
        dice = rng.random()
        if dice < 0.05:
            return fault_proxy.CutWithin(rng.randrange(1, 5000))
        if dice < 0.08 and request.is_binding:
            return fault_proxy.LoseAnswer()
        if dice < 0.1:
            return fault_proxy.Delay(0.3)
        return None
    with harness.server(program) as api:
        harness.make_nodes(api, NODES)
        proxy = fault_proxy.FaultProxy(api, policy)
        try:
            with harness.daemon(program, api, proxy=proxy) as daemon:
                witness = harness.Bindings(api)
                alive = set()
                for i in range(200):
                    name = "q%d" % i
                    status, _ = api.json("POST", harness.PODS, harness.pod(name))
                    assert status == 201
                    alive.add(name)
                    if rng.random() < 0.3:
                        gone = rng.choice(sorted(alive))
                        alive.discard(gone)
                        api.request("DELETE", harness.PODS + "/" + gone + "?gracePeriodSeconds=0")
                    if rng.random() < 0.05:
                        gone = "n%d" % rng.randrange(NODES // 2)
                        api.request("DELETE", "/api/v1/nodes/" + gone)
                harness.wait_until_bound(api, len(alive), 180)
                witness.finish()
                assert daemon.is_running(), daemon.ended()
                # The dump compares the scheduler's cache with the server's objects.
                time.sleep(1.5)
                daemon.process.send_signal(signal.SIGUSR2)
                daemon.wait_for_line("Dump of scheduling queue")
                # Deleted nodes that had pods are still in the cache, as in upstream, so only missed
                # pods are errors.
                assert "missedPods" not in daemon.output(), daemon.output()[-4000:]
        finally:
            proxy.close()


def test_every_binding_has_an_event(program):
    """Some writes of events fail; each event is still written, and only once."""
    policy = fault_proxy.sometimes(
        11, 0.3, lambda: fault_proxy.Answer(
            500, fault_proxy.status_body(500, "InternalError", "not now"), {"Retry-After": "1"}),
        lambda request: "/events" in request.path and request.method == "POST")
    with harness.server(program) as api:
        harness.make_nodes(api, NODES)
        proxy = fault_proxy.FaultProxy(api, policy)
        try:
            with harness.daemon(program, api, proxy=proxy):
                harness.make_pods(api, "p", 20)
                harness.wait_until_bound(api, 20)

                def told():
                    _, found = api.json(
                        "GET", "/apis/events.k8s.io/v1/namespaces/default/events")
                    return [item for item in found["items"] if item["reason"] == "Scheduled"]
                up.wait_for("20 events", lambda: len(told()) >= 20, 60)
                names = [item["regarding"]["name"] for item in told()]
                assert len(names) == len(set(names)) == 20, sorted(names)
                for item in told():
                    assert item["note"].startswith(
                        "Successfully assigned default/%s to n" % item["regarding"]["name"])
        finally:
            proxy.close()


if __name__ == "__main__":
    up.main(globals())
