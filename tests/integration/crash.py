#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 during writes with --data-dir: nothing acknowledged is lost, versions never go back."""
import json
import os
import random
import signal
import tempfile
import threading
import time

import up

ROUNDS = 5


class Acknowledged:
    """What the server said it has: the last answer for each object, and the largest version."""

    def __init__(self):
        self.objects = {}  # name -> (data, or None when deleted)
        self.uncertain = {}  # name -> what was under way
        self.version = 0


def write_until_killed(cluster, worker, known, lock, stop):
    """Create, change and delete; note what was acknowledged and what had no answer."""
    rng = random.Random(worker)
    path = "/api/v1/namespaces/default/configmaps"
    count = 0
    while not stop.is_set():
        name = "w%d-%d" % (worker, rng.randrange(40))
        with lock:
            exists = known.objects.get(name) is not None
        count += 1
        data = {"n": "%d-%d" % (worker, count)}
        if not exists:
            asked = ("POST", path, {"metadata": {"name": name}, "data": data})
        elif rng.random() < 0.3:
            asked, data = ("DELETE", path + "/" + name, None), None
        else:
            asked = ("PUT", path + "/" + name, {"metadata": {"name": name}, "data": data})
        with lock:
            known.uncertain[name] = data
        try:
            status, document = cluster.json(*asked)
        except (OSError, ValueError, up.urllib.error.URLError):
            return
        except Exception as error:  # a connection that was cut in the middle of an answer
            if "IncompleteRead" in repr(error) or "RemoteDisconnected" in repr(error):
                return
            raise
        assert status in (200, 201), document
        with lock:
            del known.uncertain[name]
            known.objects[name] = data
            version = document["metadata"].get("resourceVersion")
            if version:
                known.version = max(known.version, int(version))


def check(cluster, known):
    status, found = cluster.json("GET", "/api/v1/namespaces/default/configmaps")
    assert status == 200
    assert int(found["metadata"]["resourceVersion"]) >= known.version
    stored = {item["metadata"]["name"]: item.get("data") for item in found["items"]
              if item["metadata"]["name"].startswith("w")}
    for name in set(stored) | set(known.objects):
        wanted, got = known.objects.get(name), stored.get(name)
        if name in known.uncertain and got == known.uncertain[name]:
            continue  # it happened, the answer did not arrive
        assert got == wanted, "%s: %r is stored, %r was acknowledged" % (name, got, wanted)
    known.objects = stored
    known.uncertain = {}
    known.version = int(found["metadata"]["resourceVersion"])


def test_nothing_acknowledged_is_lost(program):
    with tempfile.TemporaryDirectory() as folder:
        known, lock = Acknowledged(), threading.Lock()
        data = os.path.join(folder, "data")
        for i in range(ROUNDS):
            cluster = up.Cluster(program, folder, "--data-dir", data, "--nodes", "2")
            check(cluster, known)
            stop = threading.Event()
            threads = [threading.Thread(target=write_until_killed,
                                        args=(cluster, worker, known, lock, stop))
                       for worker in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(1 + i * 0.3)
            os.kill(cluster.process.pid, signal.SIGKILL)
            cluster.process.wait()
            stop.set()
            for thread in threads:
                thread.join()
            cluster.log.close()
            assert known.version > 0
        cluster = up.Cluster(program, folder, "--data-dir", data)
        check(cluster, known)
        assert cluster.stop() == 0


def test_a_restart_continues_where_it_was(program):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        cluster = up.Cluster(program, folder, "--data-dir", data, "--nodes", "2")
        status, _ = cluster.json("POST", "/api/v1/namespaces/default/pods", {
            "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}})
        assert status == 201
        path = "/api/v1/namespaces/default/pods/p"
        up.wait_for("a running pod", lambda: cluster.json("GET", path)[1]["status"]["phase"]
                    == "Running")
        before = cluster.json("GET", path)[1]
        token, config = cluster.token, open(cluster.kubeconfig, encoding="utf-8").read()
        authority = config.split("certificate-authority-data:")[1].split()[0]
        assert cluster.stop() == 0
        cluster = up.Cluster(program, folder, "--data-dir", data)
        # The same credentials and the same pod, and no second set of nodes.
        assert cluster.token == token
        assert authority in open(cluster.kubeconfig, encoding="utf-8").read()
        assert cluster.json("GET", path)[1] == before
        assert len(cluster.json("GET", "/api/v1/nodes")[1]["items"]) == 2
        version = cluster.json("GET", "/api/v1/pods")[1]["metadata"]["resourceVersion"]
        assert int(version) >= int(before["metadata"]["resourceVersion"])
        # An old version is refused, so that watchers list again.
        _, text = cluster.get("/api/v1/pods?watch=1&resourceVersion=1&timeoutSeconds=1")
        event = json.loads(text.splitlines()[0])
        assert event["type"] == "ERROR" and event["object"]["code"] == 410
        assert cluster.stop() == 0


def test_a_data_folder_has_one_owner(program):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as second:
        data = os.path.join(folder, "data")
        cluster = up.Cluster(program, folder, "--data-dir", data)
        try:
            up.Cluster(program, second, "--data-dir", data)
            raise AssertionError("two owners")
        except AssertionError as error:
            assert "in use by another process" in str(error), error
        assert cluster.stop() == 0


if __name__ == "__main__":
    up.main(globals())
