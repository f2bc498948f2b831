#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading a live cluster (--kubeconfig, `berth snapshot`) from an API server in another process."""
import concurrent.futures
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile

import daemon_harness
import fault_proxy
import up

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenario"))
import scenario  # pylint: disable=wrong-import-position

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: new, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: new}}
  template:
    metadata: {labels: {app: new}}
    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 100m}}}]}
"""


def write_kubeconfig(folder, server, ca_file, token, name="kubeconfig"):
    path = os.path.join(folder, name)
    cluster = {"server": server}
    if ca_file:
        cluster["certificate-authority"] = ca_file
    with open(path, "w", encoding="utf-8") as file:
        json.dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": {"token": token}}]}, file)
    return path


class Scene:
    """A server with some objects, a proxy that records requests and injects faults, and the
    program that reads through the proxy."""

    def __init__(self, program, api, folder):
        self.api = api
        self.folder = folder
        self.runs = scenario.Program(program.path, program.sanitized, folder)
        self.requests = []
        self.fault = None
        self.proxy = fault_proxy.FaultProxy(api, self._policy)
        self.kubeconfig = write_kubeconfig(folder, self.proxy.server, self.proxy.ca_file,
                                           api.token)

    def _policy(self, request):
        self.requests.append(request)
        return self.fault(request) if self.fault is not None else None

    def run(self, command, *arguments, kubeconfig=None):
        self.requests.clear()
        return self.runs.run(command, "--kubeconfig", kubeconfig or self.kubeconfig, *arguments)

    def write(self, name, text):
        return self.runs.write(name, text)


@contextlib.contextmanager
def scene(program):
    with daemon_harness.server(program) as api, tempfile.TemporaryDirectory() as folder:
        fill(api)
        found = Scene(program, api, folder)
        try:
            yield found
        finally:
            found.proxy.close()


def create(api, path, body):
    status, _, answer = api.request("POST", path, json.dumps(body).encode(),
                                    {"Content-Type": "application/json"})
    assert status == 201, (status, answer)
    return json.loads(answer)


def fill(api):
    for index in range(3):
        create(api, "/api/v1/nodes", {
            "metadata": {"name": "n%d" % index, "labels": {"disk": "d%d" % index}},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "600"},
                       "capacity": {"cpu": "4", "memory": "8Gi", "pods": "600"}}})
    template = {"metadata": {"labels": {"app": "old"}},
                "spec": {"containers": [{"name": "c", "image": "x"}]}}
    create(api, "/apis/apps/v1/namespaces/default/deployments", {
        "metadata": {"name": "old"},
        "spec": {"replicas": 5, "selector": {"matchLabels": {"app": "old"}},
                 "template": template}})
    create(api, "/apis/batch/v1/namespaces/default/cronjobs", {
        "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 1 * * *", "jobTemplate": {"spec": {"template": {
            "spec": dict(template["spec"], restartPolicy="Never")}}}}})
    for index in range(1201):
        create(api, daemon_harness.PODS, {
            "metadata": {"name": "p%d" % index, "labels": {"app": "x"}},
            "spec": {"nodeName": "n%d" % (index % 3),
                     "containers": [{"name": "c", "image": "x"}]}})
    create(api, daemon_harness.PODS, {
        "metadata": {"name": "waiting"},
        "spec": {"containers": [{"name": "c", "image": "x", "resources": {
            "requests": {"cpu": "100"}}}]}})
    create(api, "/api/v1/namespaces/default/secrets", {
        "metadata": {"name": "s"}, "stringData": {"password": "hunter2"}})


def status_answer(code, reason, message):
    return fault_proxy.Answer(code, fault_proxy.status_body(code, reason, message),
                              {"Content-Type": "application/json"})


def resource_of(request):
    return request.path.rsplit("/", 1)[1]


def test_live_cluster(program):
    with scene(program) as cluster, silent_servers(cluster) as silent:
        check_decisions(cluster)
        check_snapshot(cluster)
        check_json(cluster)
        check_expired_pages(cluster)
        check_left_out(cluster)
        check_refusals(cluster)
        check_bad_answers(cluster)
        check_hurried_answers(cluster)
        check_cut_lists(cluster)
        check_exact_refused(cluster)
        check_events(cluster)
        check_role(cluster)
        check_merged_kubeconfigs(cluster)
        expect_sentence(silent[0].result(), "cannot reach the API server https://127.0.0.1:",
                        ": no connection within 10 seconds")
        expect_sentence(silent[1].result(), "does not answer: no data for 15 seconds")
        assert not os.path.exists(os.path.join(cluster.folder, "silent"))


@contextlib.contextmanager
def silent_servers(cluster):
    """
    Starts two snapshots that run beside the other tests, since each takes long: one from a server
    that accepts connections but does not even answer the TLS handshake, one from a server that
    answers no request. Yields the futures of the two results.
    """
    def read(server, ca_file, name):
        path = write_kubeconfig(cluster.folder, server, ca_file, "t", name)
        return cluster.runs.run("snapshot", "--kubeconfig", path, "-o",
                                os.path.join(cluster.folder, "silent"))
    mute = fault_proxy.FaultProxy(cluster.api, lambda request: fault_proxy.Delay(3600))
    with socket.socket() as listener, concurrent.futures.ThreadPoolExecutor(2) as pool:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        server = "https://127.0.0.1:%d" % listener.getsockname()[1]
        try:
            yield (pool.submit(read, server, None, "silent-kubeconfig"),
                   pool.submit(read, mute.server, mute.ca_file, "mute-kubeconfig"))
        finally:
            mute.close()


def check_decisions(cluster):
    """Simulates one more Deployment; existing workloads get no new pods, and all requests are
    GETs."""
    path = cluster.write("new.yaml", DEPLOYMENT)
    answer = cluster.run("simulate", "-f", path, "-o", "json").expect(1)
    pods = answer.pods()
    assert len(pods) == 4, sorted(pods)
    assert pods["default/waiting"]["reason"] == "Unschedulable"
    assert sum(node["pods"]["requested"] for node in answer.json()["nodes"]) == 1204
    assert answer.err == "", answer.err
    assert {request.method for request in cluster.requests} == {"GET"}
    assert not any(request.is_watch for request in cluster.requests)
    assert not any("secrets" in request.path for request in cluster.requests)
    pages = [request.query for request in cluster.requests if resource_of(request) == "pods"]
    assert len(pages) == 3, pages
    assert "resourceVersionMatch=Exact" in pages[0] and "continue=" in pages[2], pages


def check_snapshot(cluster):
    """A snapshot gives the same decisions as the live cluster, byte for byte."""
    path = cluster.write("new.yaml", DEPLOYMENT)
    kept = os.path.join(cluster.folder, "cluster.json.gz")
    live = cluster.run("simulate", "-f", path, "-o", "json").expect(1)
    answer = cluster.run("snapshot", "-o", kept).expect(0)
    assert "3 nodes, 1202 pods" in answer.out, answer.out
    again = cluster.runs.run("simulate", "-f", kept, "-f", path, "-o", "json").expect(1)
    assert again.out == live.out
    # The workload in the file creates the pods that its namesake in the cluster lacks.
    old = cluster.write("old.yaml", DEPLOYMENT.replace("new", "old"))
    for source in (["--kubeconfig", cluster.kubeconfig], ["-f", kept]):
        answer = cluster.runs.run("simulate", *source, "-f", old, "-o", "json").expect(1)
        assert len(answer.pods()) == 4, sorted(answer.pods())
        assert "Deployment default/old replaces the one in " in answer.err, answer.err
    plain = cluster.run("snapshot", "--no-gzip").expect(0).out
    assert "hunter2" not in plain and "managedFields" not in plain


def check_json(cluster):
    """Reads from a server without protobuf."""
    def answer(request):
        status, _, body = cluster.api.request("GET", request.target)
        return fault_proxy.Answer(status, body, {"Content-Type": "application/json"})
    live = cluster.run("snapshot", "--no-gzip").expect(0)
    cluster.fault = answer
    plain = cluster.run("snapshot", "--no-gzip").expect(0)
    assert json.loads(plain.out) == json.loads(live.out)
    cluster.fault = None


def check_expired_pages(cluster):
    """The server's state at the requested version expires between two pages of a list, or before
    the first page: the list starts again."""
    live = cluster.run("simulate", "-o", "json").expect(1)
    for mark in ("continue=", "resourceVersionMatch=Exact"):
        seen = []

        def expire(request, mark=mark, seen=seen):
            if resource_of(request) == "pods" and mark in request.query and not seen:
                seen.append(request)
                return status_answer(410, "Expired", "too old")
            return None
        cluster.fault = expire
        answer = cluster.run("simulate", "-o", "json").expect(1)
        assert seen and answer.out == live.out, mark
    cluster.fault = lambda request: status_answer(410, "Expired", "too old") \
        if resource_of(request) == "pods" else None
    answer = cluster.run("simulate").expect(2)
    assert "did not list pods: too old" in answer.err, answer.err
    cluster.fault = None


def check_left_out(cluster):
    def forbid(request):
        name = resource_of(request)
        if name == "poddisruptionbudgets":
            return status_answer(403, "Forbidden", "no")
        if name in ("csinodes", "resourceclaims"):
            return status_answer(404, "NotFound", "no")
        return None
    cluster.fault = forbid
    answer = cluster.run("simulate").expect(1)
    lines = answer.err.splitlines()
    assert len(lines) == 2, lines
    assert lines[0].endswith("csinodes.storage.k8s.io are not served: left out, limits of "
                             "attached volumes are not respected"), lines
    assert lines[1].endswith("poddisruptionbudgets.policy may not be listed: left out, "
                             "preemption and drains ignore them"), lines
    cluster.fault = None


def check_refusals(cluster):
    """Every failure is reported in one sentence."""
    cluster.fault = lambda request: status_answer(403, "Forbidden", "user u cannot list\x1b[31m") \
        if resource_of(request) == "pods" else None
    expect_sentence(cluster.run("simulate"), cluster.proxy.server,
                    "does not allow you to list pods: user u cannot list\\x1b[31m; "
                    "ask for the right to list pods")
    cluster.fault = None
    stale = write_kubeconfig(cluster.folder, cluster.proxy.server, cluster.proxy.ca_file,
                             "expired", "stale")
    expect_sentence(cluster.run("simulate", kubeconfig=stale), cluster.proxy.server,
                    "does not accept the kubeconfig's credentials (401 Unauthorized)")
    own = os.path.join(cluster.folder, "own-ca")
    with open(own, "w", encoding="utf-8") as file:
        file.write(cluster.api.ca())
    foreign = write_kubeconfig(cluster.folder, cluster.proxy.server, own, "t", "foreign")
    expect_sentence(cluster.run("simulate", kubeconfig=foreign), cluster.proxy.server,
                    "is not trusted: ")


def expect_sentence(answer, *parts):
    answer.expect(2)
    assert len(answer.err.splitlines()) == 1, answer.err
    for part in parts:
        assert part in answer.err, (part, answer.err)


def check_bad_answers(cluster):
    """Answers that are not lists, are cut off or have no end."""
    for answer, part in [
            (fault_proxy.Answer(200, b"<html>", {"Content-Type": "application/json"}),
             "sent a broken list of nodes"),
            (fault_proxy.Answer(200, b"", {"Content-Type": "application/json"}),
             "sent a broken list of nodes"),
            (fault_proxy.Answer(200, b'{"kind":"Pod","apiVersion":"v1"}',
                                {"Content-Type": "application/json"}),
             "sent a broken list of nodes: the answer is not a list"),
            (fault_proxy.Answer(500, b"oops", {}), "did not list nodes"),
            (fault_proxy.Answer(404, b"not here", {}), "has no nodes: is it a Kubernetes")]:
        cluster.fault = lambda request, answer=answer: answer \
            if resource_of(request) == "nodes" else None
        expect_sentence(cluster.run("simulate"), part)
    cluster.fault = None


def once(condition, fault):
    """Returns a policy that injects the fault into the first request for which condition() is
    true, and the list that the policy fills with this request."""
    seen = []

    def policy(request):
        if seen or not condition(request):
            return None
        seen.append(request)
        return fault
    return policy, seen


def check_hurried_answers(cluster):
    """The program waits as long as a short Retry-After asks; a long Retry-After is an error."""
    body = fault_proxy.status_body(429, "TooManyRequests", "slow down")
    live = cluster.run("simulate", "-o", "json").expect(1)
    cluster.fault, seen = once(lambda request: resource_of(request) == "services",
                               fault_proxy.Answer(429, body, {"Retry-After": "1"}))
    answer = cluster.run("simulate", "-o", "json").expect(1)
    assert seen and answer.out == live.out
    for code in (429, 503):
        cluster.fault = lambda request, code=code: fault_proxy.Answer(
            code, body, {"Retry-After": "3600"}) if resource_of(request) == "nodes" else None
        expect_sentence(cluster.run("simulate"), "is too busy to list nodes: try again in 3600 "
                        "seconds, as it asks for (HTTP %d)" % code)
    cluster.fault = lambda request: fault_proxy.Answer(429, body, {}) \
        if resource_of(request) == "nodes" else None
    expect_sentence(cluster.run("simulate"), "did not list nodes: ", "slow down (HTTP 429)")
    cluster.fault = None


def check_cut_lists(cluster):
    """If the connection ends before the answer, the program repeats the request; if the
    connection ends within a list, the program reports an error."""
    live = cluster.run("simulate", "-o", "json").expect(1)
    cluster.fault, seen = once(lambda request: "continue=" in request.query,
                               fault_proxy.CutBefore())
    answer = cluster.run("simulate", "-o", "json").expect(1)
    assert seen and answer.out == live.out
    for size in (1, 20, 3000):
        cluster.fault = lambda request, size=size: fault_proxy.CutWithin(size) \
            if resource_of(request) == "pods" else None
        kept = os.path.join(cluster.folder, "cut.json.gz")
        expect_sentence(cluster.run("snapshot", "-o", kept), cluster.proxy.server)
        assert not os.path.exists(kept)
    cluster.fault = None


def check_exact_refused(cluster):
    """Reads from servers that do not know resourceVersionMatch, and from servers that do not have
    the requested version."""
    live = cluster.run("simulate", "-o", "json").expect(1)
    for answer in (status_answer(400, "BadRequest", "resourceVersionMatch is unknown"),
                   status_answer(422, "Invalid", "resourceVersionMatch is forbidden"),
                   status_answer(504, "Timeout", "Too large resource version: 7, current: 5"),
                   status_answer(410, "Expired", "too old resource version")):
        cluster.fault = lambda request, answer=answer: answer \
            if "resourceVersionMatch" in request.query else None
        again = cluster.run("simulate", "-o", "json").expect(1)
        assert again.out == live.out
    cluster.fault = None


def check_events(cluster):
    """Prints a pod's events from the cluster, oldest first; their text cannot harm a terminal."""
    name = "waiting"
    uid = json.loads(cluster.api.request("GET", daemon_harness.PODS + "/" + name)[2])[
        "metadata"]["uid"]
    for index, (reason, message) in enumerate([("Second", "later\x1b[31m"), ("First", "sooner")]):
        create(cluster.api, "/api/v1/namespaces/default/events", {
            "metadata": {"name": "e%d" % index},
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": name, "uid": uid},
            "type": "Warning", "reason": reason, "message": message, "count": 3,
            "firstTimestamp": "2026-01-01T00:00:00Z",
            "lastTimestamp": "2026-01-0%dT00:00:00Z" % (3 - index)})
    for index, (other, of_uid) in enumerate([("p1", uid), (name, "of-one-that-is-gone")]):
        create(cluster.api, "/api/v1/namespaces/default/events", {
            "metadata": {"name": "other%d" % index}, "reason": "Other",
            "message": "of another pod", "involvedObject": {
                "kind": "Pod", "namespace": "default", "name": other, "uid": of_uid}})
    answer = cluster.run("explain", name).expect(1)
    assert answer.out.index("sooner") < answer.out.index("later"), answer.out
    assert "\x1b" not in answer.out and "of another pod" not in answer.out, answer.out
    asked = [request for request in cluster.requests if resource_of(request) == "events"]
    assert len(asked) == 1 and "involvedObject.name" in asked[0].query, asked
    cluster.fault = lambda request: status_answer(403, "Forbidden", "no events for you") \
        if resource_of(request) == "events" else None
    answer = cluster.run("explain", name).expect(1)
    assert "sooner" not in answer.out, answer.out
    assert "not read: the API server " in answer.out and "no events for you" in answer.out
    cluster.fault = None


def check_role(cluster):
    """The role of packaging/ allows the requests of the program, and nothing more."""
    path = os.path.join(scenario.ROOT, "packaging", "kubernetes", "reader.yaml")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    rules = re.findall(r"- apiGroups: \[(.*)\]\n  resources: \[(.*)\]\n  verbs: \[(.*)\]\n", text)
    assert len(rules) == text.count("apiGroups")
    assert {verbs for *_, verbs in rules} == {"list, watch"}  # berth record watches
    allowed = {(group.strip('"'), name) for group, names, _ in rules for name in names.split(", ")}
    cluster.run("explain", "waiting").expect(1)
    asked = set()
    for request in cluster.requests:
        parts = request.path.split("/")
        asked.add(("" if parts[1] == "api" else parts[2], parts[-1]))
        assert request.method == "GET" and "limit=500" in request.query, request.target
    assert asked == allowed, asked ^ allowed


def check_merged_kubeconfigs(cluster):
    """Kubeconfigs merge as in kubectl: the first file that has a value wins, and paths are
    relative to their file."""
    parts = {
        "users": {"current-context": "c", "users": [{"name": "u", "user": {"tokenFile": "token"}}],
                  "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]},
        "clusters": {"current-context": "other", "clusters": [{"name": "c", "cluster": {
            "server": cluster.proxy.server, "certificate-authority": "../ca.crt"}}],
                     "contexts": [{"name": "c", "context": {"cluster": "other", "user": "u"}},
                                  {"name": "other", "context": {"cluster": "no", "user": "u"}}]}}
    for name, content in parts.items():
        cluster.write(os.path.join(name, "config"), json.dumps(
            dict(content, apiVersion="v1", kind="Config")))
    cluster.write(os.path.join("users", "token"), cluster.api.token)
    with open(cluster.proxy.ca_file, encoding="utf-8") as file:
        cluster.write("ca.crt", file.read())
    paths = ":".join(os.path.join(cluster.folder, name, "config")
                     for name in ("users", "missing", "clusters"))

    def run(*arguments):
        return subprocess.run(
            [cluster.runs.path, "snapshot", "--kubeconfig", "", "--no-gzip", *arguments],
            env=dict(os.environ, KUBECONFIG=paths), capture_output=True, text=True, check=False,
            timeout=scenario.TIMEOUT_SECONDS)
    done = run()
    assert done.returncode == 0 and len(json.loads(done.stdout)["items"]) > 1200, done.stderr
    done = run("--context", "misspelt")
    assert done.returncode == 2 and 'has no context "misspelt" (it has "c", "other")' in \
        done.stderr, done.stderr
    done = run("--context", "other")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr


def test_unreachable(program):
    with tempfile.TemporaryDirectory() as folder:
        runs = scenario.Program(program.path, program.sanitized, folder)
        server = "https://127.0.0.1:%d" % daemon_harness.free_port()
        path = write_kubeconfig(folder, server, None, "t")
        expect_sentence(runs.run("simulate", "--kubeconfig", path),
                        "cannot reach the API server %s: connection refused" % server)
        path = write_kubeconfig(folder, "https://no-such-host.invalid", None, "t")
        expect_sentence(runs.run("simulate", "--kubeconfig", path), "its name is not known here")


def test_kubeconfigs(program):
    with tempfile.TemporaryDirectory() as folder:
        runs = scenario.Program(program.path, program.sanitized, folder)
        missing = os.path.join(folder, "missing")
        expect_sentence(runs.run("simulate", "--kubeconfig", missing),
                        "there is no kubeconfig " + missing)
        broken = runs.write("broken", "a: [")
        expect_sentence(runs.run("simulate", "--kubeconfig", broken), broken)
        empty = runs.write("empty", "")
        expect_sentence(runs.run("simulate", "--kubeconfig", empty), "has no contexts")
        path = write_kubeconfig(folder, "https://127.0.0.1:1", None, "t")
        expect_sentence(runs.run("simulate", "--kubeconfig", path, "--context", "prod"),
                        'has no context "prod" (it has "c")')
        expect_sentence(runs.run("simulate", "--kubeconfig", path, "--context", ""),
                        "connection refused")
        for variables, part in [
                ({"KUBECONFIG": missing + ":" + path}, "connection refused"),
                ({"KUBECONFIG": missing}, "no file that KUBECONFIG lists exists"),
                ({"HOME": folder}, "KUBECONFIG is not set and ~/.kube/config does not exist")]:
            done = subprocess.run([program.path, "simulate", "--kubeconfig", ""],
                                  env=variables, capture_output=True, text=True, check=False,
                                  timeout=scenario.TIMEOUT_SECONDS)
            assert done.returncode == 2 and part in done.stderr, (variables, done.stderr)


if __name__ == "__main__":
    up.main(globals())
