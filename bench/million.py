#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many nodes and pods end to end, with `berth up --no-scheduler`, `berth scheduler` and a client.

Usage: million.py BERTH [--nodes N] [--pods N] [--connections N] [--pipeline N] [--json]

The nodes are simulated and exist before the first create. The client creates the pods over
keepalive connections, with protobuf bodies in both directions and --pipeline requests under way per
connection. Prints the times at which the last pod was created and bound and the last event was
written, the CPU time and peak memory of both programs, and the server's time by request. BERTH: the
program of a release build. A million nodes with a million pods need 10 GB of memory.
"""
import argparse
import json
import multiprocessing
import os
import re
import selectors
import socket
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "integration"))

import daemon_harness as harness  # noqa: E402: the path above is needed first
import up  # noqa: E402
import up_figures  # noqa: E402

PROTOBUF = "application/vnd.kubernetes.protobuf"


# --- bodies ---


def field(number, value):
    """Encodes a field of a protobuf message: bytes, a text or an integer."""
    def varint(left):
        out = b""
        while left > 127:
            out += bytes([left & 127 | 128])
            left >>= 7
        return out + bytes([left])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def pod_body(document):
    """up_figures.example_pod as protobuf, with generateName."""
    def texts(number, members):
        return b"".join(field(number, field(1, key) + field(2, value))
                        for key, value in members.items())

    def amounts(number, members):
        return b"".join(field(number, field(1, key) + field(2, field(1, value)))
                        for key, value in members.items())

    container = document["spec"]["containers"][0]
    resources = container["resources"]
    spec = field(2, b"".join([
        field(1, container["name"]), field(2, container["image"]),
        b"".join(field(6, field(3, port["containerPort"])) for port in container["ports"]),
        b"".join(field(7, field(1, entry["name"]) + field(2, entry["value"]))
                 for entry in container["env"]),
        field(8, amounts(1, resources["limits"]) + amounts(2, resources["requests"]))]))
    metadata = field(2, "web-7c5ddbdf54-") + texts(11, document["metadata"]["labels"])
    return b"k8s\0" + field(1, field(1, "v1") + field(2, "Pod")) + field(
        2, field(1, metadata) + field(2, spec))


# --- the client ---


def create_pods(port, count, connections, pipeline):
    """Create `count` pods; every answer must be 201."""
    body = pod_body(up_figures.example_pod(""))
    request = ("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nAccept: %s\r\n"
               "Content-Length: %d\r\n\r\n" % (
                   up_figures.PODS, PROTOBUF, PROTOBUF, len(body))).encode() + body
    selector = selectors.DefaultSelector()
    left, created = count, 0
    for _ in range(connections):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        some = min(pipeline, left)
        left -= some
        connection.sendall(request * some)
        selector.register(connection, selectors.EVENT_READ, [b""])
    while created < count:
        for key, _ in selector.select():
            text = key.fileobj.recv(1 << 18)
            assert text, "the server ended a connection"
            # A status line may be split between two reads.
            text = key.data[0] + text
            done = text.count(b"HTTP/1.1 201 Created\r\n")
            assert text.count(b"HTTP/1.1 ") == done, text[:2000]
            cut = text.rfind(b"H", len(text) - 21)
            is_cut = cut >= 0 and b"HTTP/1.1 201 Created\r\n".startswith(text[cut:])
            key.data[0] = text[cut:] if is_cut else b""
            created += done
            some = min(done, left)
            left -= some
            if some:
                key.fileobj.sendall(request * some)


# --- figures ---


def counters(text, name):
    """Returns {labels: value} of one metric in the text of /metrics."""
    found = {}
    for labels, value in re.findall(r"^%s\{(.*)\} (\S+)$" % name, text, re.M):
        found[frozenset(re.findall(r'(\w+)="([^"]*)"', labels))] = float(value)
    return found


def total(found, **wanted):
    return sum(value for labels, value in found.items() if labels.issuperset(wanted.items()))


KINDS = {"create": {"verb": "POST", "resource": "pods", "subresource": ""},
         "bind": {"verb": "POST", "resource": "pods", "subresource": "binding"},
         "events": {"verb": "POST", "resource": "events"}}


def measure(program, options, folder):
    figures = {"nodes": options.nodes, "pods": options.pods}
    started = time.monotonic()
    with program.up("--no-scheduler", "--tls", "off", "--nodes", str(options.nodes),
                    "--zones", "3") as api:
        figures["nodes_ready_s"] = time.monotonic() - started
        up_figures.wait_until_quiet(api.process)
        figures["nodes_settled_s"] = time.monotonic() - started
        started = time.monotonic()
        daemon = harness.Daemon(program, folder, api, "-v", "0")
        up_figures.wait_until_quiet(daemon.process)
        figures["daemon_ready_s"] = time.monotonic() - started
        processes = {"server": api.process, "daemon": daemon.process}
        cpu = {name: harness.cpu_seconds(process) for name, process in processes.items()}
        before = api.get("/metrics")[1].decode()
        started = time.monotonic()
        client = multiprocessing.Process(target=create_pods, args=(
            api.port, options.pods, options.connections, options.pipeline))
        client.start()
        seen, changed = {}, {}
        # Like kube-scheduler, the daemon drops events if 1,000 wait, so their number is unknown.
        while (min(seen.get("create", 0), seen.get("bind", 0)) < options.pods
               or time.monotonic() - started < changed["events"] + 1):
            time.sleep(0.2)
            assert client.exitcode in (None, 0), "the client failed"
            assert daemon.is_running(), daemon.ended()
            assert time.monotonic() - started < options.timeout, (
                seen, api.output()[-2000:], daemon.output()[-2000:])
            text = api.get("/metrics")[1].decode()
            requests = counters(text, "apiserver_request_total")
            for kind, labels in KINDS.items():
                count = total(requests, code="201", **labels)
                if count != seen.get(kind):
                    seen[kind], changed[kind] = count, time.monotonic() - started
                    if kind == "bind":
                        spent = {name: harness.cpu_seconds(process)
                                 for name, process in processes.items()}
        for kind in KINDS:
            figures["last_%s_s" % kind] = changed[kind]
        figures["events"] = int(seen["events"])
        for name, process in processes.items():
            figures[name + "_cpu_s_when_bound"] = spent[name] - cpu[name]
        client.join()
        for name, process in processes.items():
            figures[name + "_cpu_s"] = harness.cpu_seconds(process) - cpu[name]
            figures[name + "_peak_mb"] = harness.memory_bytes(process) / 1e6
        earlier, later = (counters(text, "apiserver_request_duration_seconds_sum")
                          for text in (before, text))
        for kind, labels in KINDS.items():
            figures["server_%s_s" % kind] = total(later, **labels) - total(earlier, **labels)
        pending = api.json("GET", harness.PODS + "?fieldSelector=spec.nodeName%3D&limit=1")[1]
        assert pending["items"] == [], "not all pods are bound"
        daemon.stop()
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("berth")
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--pods", type=int, default=50000)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--pipeline", type=int, default=4)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    program = up.Program(options.berth, "plain")
    up.START_SECONDS = options.timeout
    os.environ["BERTH_VERIFY"] = harness.VERIFY["BERTH_VERIFY"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(program, options, folder)
    if options.json:
        print(json.dumps({name: round(value, 2) for name, value in figures.items()}))
        return
    for name, value in figures.items():
        print("%-28s %12.*f" % (name, 0 if isinstance(value, int) else 2, value))


if __name__ == "__main__":
    main()
