#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile clients over real connections: other clients are still served, and memory is bounded.
Spec: 14 section 22."""
import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time

import pipeline
import up

FLAGS = ["--nodes", "1", "--tls", "off"]
PODS = "/api/v1/namespaces/default/pods"
MAPS = "/api/v1/namespaces/default/configmaps"
JSON = {"Content-Type": "application/json"}
YAML = {"Content-Type": "application/yaml"}
MERGE = {"Content-Type": "application/merge-patch+json"}
STALLED_SECONDS = 30  # the limit in bt_http_default_limits
# On a busy machine the server may fill the kernel's buffers only seconds after the request.
FILLING_SECONDS = 12
stalled = []  # clients that never read, from the first test to the last one


def resident_mb(cluster):
    """Returns the server's resident memory in MiB. Returns 0 under a sanitizer, because sanitizers
    keep freed memory for a while."""
    if sys.argv[2] == "sanitized":
        return 0
    with open("/proc/%d/status" % cluster.process.pid, encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+) kB", file.read()).group(1)) / 1024


def serves(cluster, seconds=5):
    """Asserts that other clients get answers within the time limit."""
    started = time.monotonic()
    for _ in range(10):
        assert cluster.json("GET", "/api/v1/namespaces/default")[0] == 200
    took = time.monotonic() - started
    assert took < seconds, "ten requests took %.1f s" % took


def test_slow_readers_begin(cluster):
    """Clients request much and read nothing; the last test checks how their connections end."""
    for i in range(40):
        status, _ = cluster.json("POST", MAPS, {"metadata": {"name": "large-%d" % i},
                                                "data": {"x": "y" * 500000}})
        assert status == 201
    before = resident_mb(cluster)
    for path in [MAPS] * 20 + [MAPS + "?watch=1"] * 20:
        connection = pipeline.connect(cluster, receive_bytes=4096)
        connection.sendall(pipeline.head(cluster, "GET", path))
        stalled.append((connection, time.monotonic()))
    serves(cluster)
    # Each client asked for a list of 20 MB. Kernel buffers may hold much of the lists; the server
    # must not.
    assert resident_mb(cluster) - before < 100, resident_mb(cluster) - before


def test_stalled_watchers_hold_no_changes(cluster):
    """The watch window advances past clients that read nothing."""
    with pipeline.Pipeline(cluster) as connection:
        for _ in range(4):
            assert set(connection.run((("PUT", MAPS + "/large-%d" % (i % 40), {
                "metadata": {"name": "large-%d" % (i % 40)}, "data": {"x": "%d" % i * 50000}})
                                       for i in range(1000, 1250)), 10)) == {200}
    serves(cluster)
    assert resident_mb(cluster) < 600, resident_mb(cluster)


def test_a_head_that_never_ends(cluster):
    with pipeline.connect(cluster) as connection:
        refusal = b""
        try:
            for _ in range(100):
                connection.sendall(b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 10000 + b"\r\n")
            connection.settimeout(10)
            refusal = connection.recv(100)
        except OSError:
            pass  # the server closed the connection at once
        assert not refusal or refusal.startswith((b"HTTP/1.1 431", b"HTTP/1.1 413",
                                                  b"HTTP/1.1 400")), refusal
    status, _ = cluster.get("/version", headers={"X": "y" * 40000})
    assert status in (413, 431), status


def test_slow_senders_do_not_hold_others_up(cluster):
    slow = [pipeline.connect(cluster) for _ in range(500)]
    for i, connection in enumerate(slow):
        text = pipeline.head(cluster, "POST", PODS, "Content-Length: 100\r\n") + b"{"
        connection.sendall(text[:i * len(text) // 500])
    serves(cluster)
    for connection in slow:
        connection.close()


def test_thousands_of_connections_come_and_go(cluster):
    before = resident_mb(cluster)
    list_head = pipeline.head(cluster, "GET", PODS)
    watch_head = pipeline.head(cluster, "GET", PODS + "?watch=1")
    for i in range(6000):
        connection = pipeline.connect(cluster)
        connection.sendall((b"", list_head[:30], list_head, watch_head)[i % 4])
        if i % 8 < 4:  # close with a reset instead of a regular end
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                  b"\1\0\0\0\0\0\0\0")
        connection.close()
    serves(cluster, 30)  # first the server handles what these connections left
    assert resident_mb(cluster) - before < 100, resident_mb(cluster) - before


def open_watches(cluster, count):
    """Returns the connections that have a watch, and the first refusal."""
    watches, refusal = [], None
    text = pipeline.head(cluster, "GET", PODS + "?watch=1")
    for _ in range(count):
        connection = pipeline.connect(cluster)
        connection.sendall(text)
        answer = connection.recv(4096)
        if not answer.startswith(b"HTTP/1.1 200"):
            refusal = answer
            connection.close()
            break
        watches.append(connection)
    return watches, refusal


def test_watches_leave_room_for_others(cluster):
    """Watches get 429 before they use up all connections."""
    watches, refusal = open_watches(cluster, 5000)
    assert refusal is not None and refusal.startswith(b"HTTP/1.1 429"), refusal
    assert b"\r\nRetry-After: " in refusal and b"TooManyRequests" in refusal, refusal
    assert len(watches) >= 1000
    serves(cluster)
    for connection in watches:
        connection.close()

    def has_room():
        again, refused = open_watches(cluster, 1)
        for connection in again:
            connection.close()
        return refused is None
    up.wait_for("room for watches", has_room, 5)


def test_more_connections_than_allowed(cluster):
    """Connections beyond the limit wait until others close."""
    idle = [pipeline.connect(cluster) for _ in range(4200)]
    connection = pipeline.connect(cluster)
    connection.sendall(pipeline.head(cluster, "GET", "/readyz"))
    connection.settimeout(1)
    try:
        assert connection.recv(100) == b"", "served beyond the limit"
    except socket.timeout:
        pass
    for some in idle:
        some.close()
    connection.close()
    up.wait_for("an answer", lambda: cluster.get("/readyz")[1] == b"ok", 10)
    serves(cluster)


def test_few_descriptors(program):
    """With few file descriptors, further connections wait, and the event loop does not spin."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    with tempfile.TemporaryDirectory() as folder, open(folder + "/log", "wb") as log:
        path = folder + "/kubeconfig"
        process = subprocess.Popen([program.path, "up", "--nodes", "1", "--tls", "off", "--listen",
                                    "127.0.0.1:0", "--kubeconfig-out", path], stdout=log,
                                   stderr=log, preexec_fn=limit)
        try:
            up.wait_for("a kubeconfig", lambda: os.path.exists(path), 20)
            with open(path, encoding="utf-8") as file:
                port = int(re.search(r"http://127.0.0.1:(\d+)", file.read()).group(1))
            idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
            time.sleep(1)
            with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
                before = sum(map(int, file.read().split()[13:15]))
            time.sleep(1)
            with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
                spent = sum(map(int, file.read().split()[13:15])) - before
            assert spent < 50, "%d ticks of a second's %d are spent on nothing" % (
                spent, os.sysconf("SC_CLK_TCK"))
            for connection in idle:
                connection.close()
            with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
                connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(100).startswith(b"HTTP/1.1 200")
        finally:
            process.terminate()
            assert process.wait(30) == 0


def test_a_flood_in_one_pipeline(cluster):
    """One client sends without reading; other clients are served in turn, and all requests are
    answered."""
    before = resident_mb(cluster)
    connection = pipeline.Pipeline(cluster)
    text = pipeline.head(cluster, "GET", "/api/v1/namespaces/default")
    connection.socket.setblocking(False)
    sent = 0
    while sent < 100000 * len(text):
        try:
            at = sent % len(text)
            sent += connection.socket.send((text * 100)[at:])
        except BlockingIOError:
            break
    serves(cluster)
    assert resident_mb(cluster) - before < 100
    connection.socket.settimeout(30)
    for _ in range(sent // len(text)):
        assert connection.receive()[0] == 200
    connection.close()


def test_huge_selectors(cluster):
    for selector in ("a%20in%20(" + ",".join("x%d" % i for i in range(3000)) + ")",
                     ",".join("a%d" % i for i in range(3000)), "(" * 20000, "a" * 20000):
        started = time.monotonic()
        status, _ = cluster.json("GET", PODS + "?labelSelector=" + selector)
        assert status in (200, 400), status
        status, _ = cluster.json("GET", PODS + "?fieldSelector=" + selector)
        assert status == 400, status
        assert time.monotonic() - started < 5


def test_many_audiences(cluster):
    """Both the token and its review have as many audiences as fit."""
    many = ["%x" % i for i in range(1700)]
    status, answer = cluster.json(
        "POST", "/api/v1/namespaces/default/serviceaccounts/default/token",
        {"spec": {"audiences": many}})
    assert status == 201, answer
    started = time.monotonic()
    status, answer = cluster.json("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
        "spec": {"token": answer["status"]["token"], "audiences": many[-1:] * 300000}})
    assert status == 201 and answer["status"]["authenticated"], answer
    assert time.monotonic() - started < 5


def test_deep_and_swollen_documents(cluster):
    deep = b'{"a":' * 200000 + b"1" + b"}" * 200000
    aliases = "a0: &a0 [%s]\n" % ",".join(["x"] * 10) + "".join(
        "a%d: &a%d [%s]\n" % (i, i, ",".join(["*a%d" % (i - 1)] * 10)) for i in range(1, 12))
    merges = "b0: &b0 {x: 1}\n" + "".join(
        "b%d: &b%d {<<: *b%d, k%d: *b%d}\n" % (i, i, i - 1, i, i - 1) for i in range(1, 60))
    cluster.json("POST", MAPS, {"metadata": {"name": "m"}})
    for method, path, headers, body in (
            ("POST", MAPS, JSON, deep), ("PATCH", MAPS + "/m", MERGE, deep),
            ("PATCH", MAPS + "/m", {"Content-Type": "application/json-patch+json"},
             b"[" * 300000),
            ("PATCH", MAPS + "/m", {"Content-Type": "application/json-patch+json"}, json.dumps(
                [{"op": "copy", "from": "/metadata", "path": "/metadata/annotations"}] * 2
                + [{"op": "copy", "from": "/metadata", "path": "/metadata/x%d" % i}
                   for i in range(40)]).encode()),
            ("PATCH", MAPS + "/m?fieldManager=a", {"Content-Type": "application/apply-patch+yaml"},
             ("apiVersion: v1\nkind: ConfigMap\n" + aliases).encode()),
            ("POST", MAPS, YAML, ("metadata: {name: y}\n" + aliases).encode()),
            ("POST", MAPS, YAML, ("metadata: {name: y}\n" + merges).encode()),
            ("POST", MAPS, YAML, ("a:" + " [" * 5000).encode()),
            ("POST", MAPS, {"Content-Type": "application/vnd.kubernetes.protobuf"},
             b"k8s\0" + b"\x0a\xff\xff\xff\x7f" * 1000)):
        started = time.monotonic()
        status, found = cluster.json(method, path, body, headers=headers)
        assert 400 <= status < 500, (path, headers, status, str(found)[:300])
        assert time.monotonic() - started < 10, (path, headers)
    serves(cluster)
    assert resident_mb(cluster) < 1000, resident_mb(cluster)


def test_patches_that_grow_an_object(cluster):
    """Patches an object until the server refuses; the last accepted version stays stored."""
    for name, path, patch, code in (
            ("data", MAPS + "/grows-data", lambda i: {"data": {"k%d" % i: "x" * 100000}}, 422),
            ("annotations", MAPS + "/grows-annotations",
             lambda i: {"metadata": {"annotations": {"k%d" % i: "x" * 20000}}}, 422),
            ("arguments", PODS + "/grows-arguments",
             lambda i: {"metadata": {"finalizers": ["a.b/%s" % ("x" * 60)] * (i * 10000)}}, 413)):
        made = {"metadata": {"name": "grows-" + name}}
        if path.startswith(PODS):
            made["spec"] = {"containers": [{"name": "c", "image": "i"}]}
        assert cluster.json("POST", os.path.dirname(path), made)[0] == 201
        for i in range(200):
            status, found = cluster.json("PATCH", path, patch(i), headers=MERGE)
            if status != 200:
                break
        assert status == code, (name, i, status, str(found)[:300])
        assert cluster.json("GET", path)[0] == 200
        assert cluster.json("PATCH", path, {"metadata": {"finalizers": None}}, headers=MERGE)[
            0] == 200


def test_slow_readers_were_cut(cluster):
    """Clients of the first test read what the kernel buffered, then the end of the connection."""
    for connection, since in stalled:
        time.sleep(max(0, since + FILLING_SECONDS + STALLED_SECONDS - time.monotonic()))
        connection.settimeout(5)
        taken = 0
        try:
            while True:
                data = connection.recv(1 << 20)
                if not data:
                    break
                taken += len(data)
        except ConnectionResetError:
            pass
        assert taken < 20000000, "it was served to its end"
        connection.close()
    serves(cluster)
    assert resident_mb(cluster) < 600, resident_mb(cluster)


if __name__ == "__main__":
    up.main(globals())
