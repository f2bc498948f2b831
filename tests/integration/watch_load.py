#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hundred watchers get thousands of events, each once and in order; a stalled watcher does not
slow the other watchers."""
import hashlib
import json
import re
import selectors
import socket
import ssl
import sys
import time

import up

WATCHERS = 100
WRITES = 2000 if sys.argv[2:3] == ["sanitized"] else 5000
FLAGS = ["--no-scheduler", "--tls", "off"]
EVENT = re.compile(rb'"resourceVersion":"(\d+)"')


class Connection:
    """A raw connection, so that a hundred watchers cost this process little."""

    def __init__(self, cluster, path):
        self.socket = socket.create_connection(("127.0.0.1", cluster.port))
        context = cluster.tls()
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.socket.sendall(("GET %s HTTP/1.1\r\nHost: localhost:%d\r\nAuthorization: Bearer %s\r\n"
                             "\r\n" % (path, cluster.port, cluster.token)).encode())
        self.raw = b""
        self.in_body = False
        self.lines = b""  # the incomplete line at the end of the stream
        self.digest = hashlib.sha256()
        self.count = 0
        self.ended = False

    def read(self):
        """Reads the available data; returns the complete lines."""
        try:
            data = self.socket.recv(1 << 20)
        except (BlockingIOError, ssl.SSLWantReadError):
            return []
        if not data:
            self.ended = True
            return []
        self.raw += data
        if not self.in_body:
            head, found, rest = self.raw.partition(b"\r\n\r\n")
            if not found:
                return []
            assert head.startswith(b"HTTP/1.1 200"), head
            self.in_body, self.raw = True, rest
        self._unchunk()
        *whole, self.lines = self.lines.split(b"\n")
        for line in whole:
            self.digest.update(line)
        self.count += len(whole)
        return whole

    def _unchunk(self):
        at, out = 0, []
        while True:
            end = self.raw.find(b"\r\n", at)
            if end < 0:
                break
            size = int(self.raw[at:end], 16)
            if size == 0:
                self.ended = True
                break
            if len(self.raw) < end + 4 + size:
                break
            out.append(self.raw[end + 2:end + 2 + size])
            at = end + 4 + size
        self.raw = self.raw[at:]
        self.lines += b"".join(out)


def writer(cluster, count):
    """Creates and changes configmaps over one connection; yields after each batch."""
    connection = socket.create_connection(("127.0.0.1", cluster.port))
    answers = connection.makefile("rb")
    head = "Host: localhost:%d\r\nAuthorization: Bearer %s\r\n" % (cluster.port, cluster.token)
    batch = 50
    for start in range(0, count, batch):
        text = b""
        for i in range(start, min(start + batch, count)):
            body = json.dumps({"metadata": {"name": "m%d" % (i % 500)},
                               "data": {"i": str(i), "pad": "x" * 200}}).encode()
            if i < 500:
                line = "POST /api/v1/namespaces/default/configmaps"
            else:
                line = "PUT /api/v1/namespaces/default/configmaps/m%d" % (i % 500)
            text += ("%s HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                     % (line, head, len(body))).encode() + body
        connection.sendall(text)
        for i in range(start, min(start + batch, count)):
            status = answers.readline()
            assert b" 200 " in status or b" 201 " in status, status
            length = 0
            for line in iter(answers.readline, b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            answers.read(length)
        yield


def test_every_watcher_sees_every_change_once_and_in_order(cluster):
    version = cluster.json("GET", "/api/v1/configmaps")[1]["metadata"]["resourceVersion"]
    path = "/api/v1/configmaps?watch=1&resourceVersion=" + version
    selector = selectors.DefaultSelector()
    watchers = [Connection(cluster, path) for _ in range(WATCHERS)]
    stalled = Connection(cluster, path)  # never reads
    for watcher in watchers:
        watcher.socket.setblocking(False)
        selector.register(watcher.socket, selectors.EVENT_READ, watcher)
    first = watchers[0]
    last_version, indices = int(version), []
    started = last_read = time.monotonic()
    source = writer(cluster, WRITES)
    written = False
    while any(watcher.count < WRITES for watcher in watchers):
        if not written:
            written = next(source, "end") == "end"
        assert time.monotonic() - last_read < 60, [watcher.count for watcher in watchers]
        for key, _ in selector.select(0.2 if written else 0):
            lines = key.data.read()
            last_read = time.monotonic()
            assert not key.data.ended, "a watch ended early"
            if key.data is first:
                for line in lines:
                    event = json.loads(line)
                    found = int(event["object"]["metadata"]["resourceVersion"])
                    assert found > last_version
                    last_version = found
                    indices.append(int(event["object"]["data"]["i"]))
    seconds = time.monotonic() - started
    assert indices == list(range(WRITES))
    assert [watcher.count for watcher in watchers] == [WRITES] * WATCHERS
    assert len({watcher.digest.digest() for watcher in watchers}) == 1
    print("%d writes reached %d watchers in %.1f s" % (WRITES, WATCHERS, seconds))
    for connection in watchers + [stalled]:
        connection.socket.close()


def test_protobuf_watchers_see_the_same(cluster):
    """A JSON watch and a protobuf watch get the same events with the same versions (spec 14 case
    42)."""
    version = cluster.json("GET", "/api/v1/configmaps")[1]["metadata"]["resourceVersion"]
    for i in range(20):
        status, _ = cluster.json("PUT", "/api/v1/namespaces/default/configmaps/m1",
                                 {"metadata": {"name": "m1"}, "data": {"n": str(i)}})
        assert status == 200
    path = "/api/v1/configmaps?watch=1&timeoutSeconds=1&resourceVersion=" + version
    _, text = cluster.get(path)
    versions = [json.loads(line)["object"]["metadata"]["resourceVersion"]
                for line in text.splitlines()]
    assert len(versions) == 20
    status, headers, frames = cluster.request("GET", path, headers={
        "Accept": "application/vnd.kubernetes.protobuf;stream=watch"})
    assert status == 200
    assert headers["Content-Type"] == "application/vnd.kubernetes.protobuf;stream=watch"
    at, count = 0, 0
    while at < len(frames):
        length = int.from_bytes(frames[at:at + 4], "big")
        frame = frames[at + 4:at + 4 + length]
        assert len(frame) == length and b"MODIFIED" in frame and b"k8s\x00" in frame
        assert versions[count].encode() in frame
        at, count = at + 4 + length, count + 1
    assert count == 20


def test_an_answer_of_protobuf_is_what_watchers_get(cluster):
    """Some creates are answered as protobuf while a watch is open, others as JSON: the events of
    both contain the object that a GET returns."""
    protobuf = {"Accept": "application/vnd.kubernetes.protobuf"}
    maps = "/api/v1/namespaces/default/configmaps"
    version = cluster.json("GET", maps)[1]["metadata"]["resourceVersion"]
    with socket.create_connection(("127.0.0.1", cluster.port)) as watcher:
        watcher.sendall(("GET %s?watch=1&timeoutSeconds=2&resourceVersion=%s HTTP/1.1\r\n"
                         "Host: localhost\r\nConnection: close\r\nAccept: "
                         "application/vnd.kubernetes.protobuf;stream=watch\r\n\r\n" % (
                             maps, version)).encode())
        envelopes = []
        for i in range(12):
            path = "%s/answered-%d" % (maps, i)
            body = {"metadata": {"name": path.rsplit("/", 1)[1]}, "data": {"n": "x" * 100 * i}}
            status, _, answer = cluster.request("POST", maps, body,
                                                headers=protobuf if i % 3 else {})
            assert status == 201
            envelopes.append(cluster.get(path, headers=protobuf)[1])
            assert i % 3 == 0 or answer == envelopes[-1]
        text = b"".join(iter(lambda: watcher.recv(65536), b""))
    # Chunks end between two events, so no event contains a chunk length.
    assert text.count(b"ADDED") == 12, text[:3000]
    for envelope in envelopes:
        assert text.count(envelope) == 1, envelope


if __name__ == "__main__":
    up.main(globals())
