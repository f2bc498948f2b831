#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 during writes with --data-dir: no acknowledged write is lost, versions never decrease."""
import http.client
import json
import os
import random
import re
import resource
import signal
import tempfile
import threading
import time

import pipeline
import up

ROUNDS = 5


class Acknowledged:
    """State that the server has acknowledged: the last answer for each object, and the largest
    resource version."""

    def __init__(self):
        self.objects = {}  # name -> (data, or None when deleted)
        self.uncertain = {}  # name -> write without an answer yet
        self.version = 0


def write_until_killed(cluster, worker, known, lock, stop):
    """Creates, changes and deletes objects; records acknowledged and unanswered writes."""
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
            continue  # the server applied the write, but the answer did not arrive
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
        for name in "ab":
            cluster.json("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        page = cluster.json("GET", "/api/v1/namespaces?limit=1")[1]["metadata"]["continue"]
        cluster.json("DELETE", "/api/v1/namespaces/b")
        before = cluster.json("GET", path)[1]
        token, config = cluster.token, open(cluster.kubeconfig, encoding="utf-8").read()
        authority = config.split("certificate-authority-data:")[1].split()[0]
        assert cluster.stop() == 0
        cluster = up.Cluster(program, folder, "--data-dir", data)
        # The server keeps its credentials and the pod, and adds no second set of nodes.
        assert cluster.token == token
        assert authority in open(cluster.kubeconfig, encoding="utf-8").read()
        assert cluster.json("GET", path)[1] == before
        assert len(cluster.json("GET", "/api/v1/nodes")[1]["items"]) == 2
        version = cluster.json("GET", "/api/v1/pods")[1]["metadata"]["resourceVersion"]
        assert int(version) >= int(before["metadata"]["resourceVersion"])
        # The server refuses a watch from an old version, so the watcher must list again.
        _, text = cluster.get("/api/v1/pods?watch=1&resourceVersion=1&timeoutSeconds=1")
        event = json.loads(text.splitlines()[0])
        assert event["type"] == "ERROR" and event["object"]["code"] == 410
        expect_gone(cluster, "/api/v1/pods?resourceVersion=1&resourceVersionMatch=Exact",
                    "The resourceVersion for the provided list is too old.")
        found = expect_gone(cluster, "/api/v1/namespaces?limit=1&continue=" + page,
                            "The provided continue parameter is too old to display a consistent "
                            "list result.")
        # The error contains a continue token for clients that accept an inconsistent list.
        status, found = cluster.json("GET", "/api/v1/namespaces?limit=1&continue="
                                     + found["metadata"]["continue"])
        assert status == 200 and len(found["items"]) == 1
        assert cluster.stop() == 0


def flood_until_killed(cluster, worker, acknowledged, asked):
    """Sends pipelines of a hundred writes until the server is killed. Each name is written once."""
    path, count = "/api/v1/namespaces/default/configmaps", 0
    try:
        with pipeline.Pipeline(cluster) as connection:
            while True:
                names = ["f%d-%d-%d" % (cluster.process.pid, worker, count + i)
                         for i in range(100)]
                count += len(names)
                asked.extend(names)
                connection.send(("POST", path, {"metadata": {"name": name}, "data": {"n": name}})
                                for name in names)
                for name in names:
                    status, body = connection.receive()
                    assert status == 201, body
                    acknowledged[name] = int(
                        json.loads(body)["metadata"]["resourceVersion"])
    except (OSError, ValueError):
        pass  # the killed server closed the connection


def watch_until_killed(cluster, seen):
    """Records the events that a watcher receives."""
    connection = pipeline.connect(cluster)
    connection.sendall(pipeline.head(
        cluster, "GET", "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0"))
    text = b""
    try:
        while True:
            data = connection.recv(1 << 20)
            if not data:
                break
            text += data
    except OSError:
        pass
    connection.close()
    # A chunk may end within an event: remove the chunk lengths, which no test object contains.
    for line in re.sub(rb"\r\n[0-9a-f]+\r\n", b"", text).split(b"\n"):
        try:
            event = json.loads(line)
            metadata = event["object"]["metadata"]
        except (ValueError, TypeError):
            # The HTTP head, a chunk's length (a number), or the incomplete last line.
            continue
        seen[metadata["name"]] = int(metadata["resourceVersion"])


def test_what_was_seen_is_kept(program):
    """SIGKILL under heavy load: every acknowledged write and every watch event is in the file."""
    with tempfile.TemporaryDirectory() as folder:
        data, acknowledged, asked = os.path.join(folder, "data"), {}, []
        for i in range(4):
            cluster, seen = up.Cluster(program, folder, "--data-dir", data, "--tls", "off"), {}
            threads = [threading.Thread(target=flood_until_killed, args=(
                cluster, worker, acknowledged, asked)) for worker in range(4)]
            threads += [threading.Thread(target=watch_until_killed, args=(cluster, seen))
                        for _ in range(2)]
            for thread in threads:
                thread.start()
            before, deadline = len(acknowledged), time.monotonic() + 60
            time.sleep(0.7 + 0.4 * i)
            while len(acknowledged) <= before + 1000 and time.monotonic() < deadline:
                time.sleep(0.05)  # a slow machine has answered few writes so far
            os.kill(cluster.process.pid, signal.SIGKILL)
            cluster.process.wait()
            for thread in threads:
                thread.join()
            cluster.log.close()
            assert len(seen) > 100 and len(acknowledged) > 100, (len(seen), len(acknowledged))
            cluster = up.Cluster(program, folder, "--data-dir", data, "--tls", "off")
            found = cluster.json("GET", "/api/v1/namespaces/default/configmaps")[1]
            stored = {item["metadata"]["name"]: int(item["metadata"]["resourceVersion"])
                      for item in found["items"]}
            for name, version in list(acknowledged.items()) + list(seen.items()):
                assert stored.get(name) == version, (name, version, stored.get(name))
            strange = set(stored) - set(asked)
            assert all(not name.startswith("f") for name in strange), strange
            assert int(found["metadata"]["resourceVersion"]) >= max(stored.values())
            assert cluster.stop() == 0


def fill_until_refused(cluster):
    """Creates objects until the server refuses one; returns the accepted names, and the answer that
    refused."""
    accepted, path = [], "/api/v1/namespaces/default/configmaps"
    for i in range(2000):
        try:
            status, found = cluster.json("POST", path, {
                "metadata": {"name": "big-%d" % i}, "data": {"x": "y" * 20000}})
        except OSError as error:
            return accepted, error
        if status != 201:
            return accepted, found
        accepted.append("big-%d" % i)
    raise AssertionError("the disk is never full")


def test_a_full_disk(program):
    """A write that cannot be stored gets 500, the process ends with a message, and the file
    opens again."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        flags = ("--data-dir", data, "--tls", "off")
        cluster = up.Cluster(program, folder, *flags)
        resource.prlimit(cluster.process.pid, resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
        accepted, refusal = fill_until_refused(cluster)
        assert len(accepted) > 20
        assert isinstance(refusal, dict) and refusal["code"] == 500, refusal
        assert "the store cannot be written" in refusal["message"], refusal
        assert cluster.process.wait(30) == 2, cluster.process.returncode
        assert "berth up: " in cluster.output() and data in cluster.output(), cluster.output()
        cluster.log.close()
        cluster = up.Cluster(program, folder, *flags)
        for name in accepted:
            assert cluster.json("GET", "/api/v1/namespaces/default/configmaps/" + name)[0] == 200
        status, _ = cluster.json("POST", "/api/v1/namespaces/default/configmaps", {
            "metadata": {"name": "after"}})
        assert status == 201
        assert cluster.stop() == 0


def test_the_last_answer_over_tls(program):
    """The answer to the write that fails comes before the end, also on a connection that is kept
    open."""
    with tempfile.TemporaryDirectory() as folder:
        cluster = up.Cluster(program, folder, "--data-dir", os.path.join(folder, "data"))
        resource.prlimit(cluster.process.pid, resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
        connection = http.client.HTTPSConnection("127.0.0.1", cluster.port, timeout=60,
                                                 context=cluster.tls())
        status, number = 201, 0
        while status == 201:
            number += 1
            connection.request("POST", "/api/v1/namespaces/default/configmaps", json.dumps({
                "metadata": {"name": "big-%d" % number}, "data": {"x": "y" * 100000}}), {
                    "Authorization": "Bearer " + cluster.token,
                    "Content-Type": "application/json"})
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
        assert status == 500 and b"the store cannot be written" in text, text
        connection.close()
        assert cluster.process.wait(30) == 2, cluster.process.returncode
        cluster.log.close()


def expect_gone(cluster, path, message):
    status, found = cluster.json("GET", path)
    assert status == 410 and found["reason"] == "Expired", found
    assert found["message"].startswith(message), found["message"]
    return found


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
