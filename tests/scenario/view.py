#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""berth view in a real browser: the page shows the same as the commands answer."""
import atexit
import concurrent.futures
import contextlib
import datetime
import json
import math
import os
import random
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

import browser
import scenario
from objects import lines, node, pod, priority_class

CLUSTER = os.path.join(scenario.EXAMPLES, "cluster.yaml")
# An accessibility checker, from npm.
AXE = os.environ.get("BERTH_AXE") or os.path.join(
    scenario.ROOT, "node_modules", "axe-core", "axe.min.js")


# Certificates are made by the servers under test.
UNVERIFIED = ssl.create_default_context()
UNVERIFIED.check_hostname = False
UNVERIFIED.verify_mode = ssl.CERT_NONE


class Page:
    """A server, and the link to its page."""

    def __init__(self, url, process):
        self.url, self.token = re.fullmatch(r"(https?://\S+)/#token=(\w+)", url).groups()
        self.link = url
        self.process = process

    def request(self, path, body=None, **headers):
        """Send a request; returns status, headers and body."""
        headers.setdefault("Authorization", "Bearer " + self.token)
        request = urllib.request.Request(self.url + path, data=body,
                                         headers={name.replace("_", "-"): value
                                                  for name, value in headers.items() if value})
        try:
            with urllib.request.urlopen(request, context=UNVERIFIED, timeout=120) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def get(self, path):
        status, _, body = self.request(path)
        assert status == 200, (status, body)
        return json.loads(body)

    def ask(self, *arguments, **more):
        status, _, body = self.request(
            "/api/question", json.dumps({"arguments": arguments, **more}).encode())
        return status, json.loads(body)


@contextlib.contextmanager
def serving(program, *arguments, command="view"):
    with subprocess.Popen([program.path, command, *arguments], stdout=subprocess.PIPE,
                          env=dict(os.environ, BERTH_VERIFY="1"), text=True) as process:
        try:
            link = None
            while link is None:
                line = process.stdout.readline()
                assert line, "the server ended: %s" % process.wait()
                link = re.search(r"http\S+token=\w+", line)
            yield Page(link[0], process)
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0


idle_browsers = []


@contextlib.contextmanager
def looking(page, state="", width=1400, height=900):
    """Yields a browser that has drawn the page; checks at the end that its console is empty."""
    if not idle_browsers:
        idle_browsers.append(browser.Browser())
        atexit.register(idle_browsers[-1].close)
    window = idle_browsers.pop()
    window.resize(width, height)
    window.open(page.link + ("&" + state if state else ""))
    window.wait_for("document.documentElement.dataset.ready")
    yield window
    assert not window.complaints, window.complaints
    for url in window.requests:
        assert url.startswith((page.url, "data:", "about:", "blob:")), url
    window.reset()
    idle_browsers.append(window)


@contextlib.contextmanager
def cluster_with_page(program, *flags, manifests=""):
    """Run berth up --view; yields its kubeconfig, and the page."""
    kubeconfig = os.path.join(program.folder, "kubeconfig")
    path = program.write("load.yaml", manifests or "[]")
    with serving(program, "--view", "--listen", "127.0.0.1:0", "--kubeconfig-out", kubeconfig,
                 "--pod-start-delay", "0s", *flags, *(["-f", path] if manifests else []),
                 command="up") as page:
        yield kubeconfig, page


PACKED = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - pluginConfig:
      - name: NodeResourcesFit
        args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s, namespace: default}
spec:
  replicas: %d
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: %s}}}]}
"""


def deployment(name, replicas, cpu):
    return DEPLOYMENT % (name, replicas, name, name, cpu)


def text_of(window, selector="body"):
    return window.evaluate("document.querySelector(%s).innerText" % json.dumps(selector))


# --- the server ---

def test_nothing_is_shown_without_the_token(program):
    with serving(program, "-f", CLUSTER) as page:
        for path in ("/api/cluster", "/api/node?name=node-a1", "/api/changes", "/api/samples"):
            for header in (None, "Bearer ", "Bearer " + page.token[:-1], page.token):
                status, _, body = page.request(path, Authorization=header)
                assert status == 401 and "node-a1" not in body, (path, header, status)
        status, _, _ = page.request("/api/question", b'{"arguments":["pending"]}',
                                    Authorization=None)
        assert status == 401
        status, headers, _ = page.request("/session", b"")
        cookie = headers["Set-Cookie"]
        assert status == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie
        pair = cookie.split(";")[0]
        assert page.request("/api/cluster", Authorization=None, Cookie=pair)[0] == 200
        assert page.request("/api/cluster", Authorization=None, Cookie="x=y; " + pair)[0] == 200
        assert page.request("/api/cluster", Authorization=None, Cookie=pair + "0")[0] == 401
        assert page.request("/session", b"", Authorization="Bearer x")[0] == 401


def test_other_names_and_other_sites_are_refused(program):
    with serving(program, "-f", CLUSTER) as page:
        port = page.url.rpartition(":")[2]
        for host in ("evil.example:" + port, "127.0.0.1", "127.0.0.1:1", "localhost.evil:" + port):
            status, _, body = page.request("/", Host=host)
            assert status == 421 and "<script" not in body, (host, status)
        assert page.request("/api/cluster", Host="localhost:" + port)[0] == 200
        for site in ("cross-site", "same-site"):
            assert page.request("/api/cluster", Sec_Fetch_Site=site)[0] == 403
        _, headers, _ = page.request("/", Authorization=None)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"


def test_the_port_of_http_may_be_left_out(program):
    try:
        socket.create_server(("127.0.0.80", 80)).close()
    except OSError:
        return  # only root may listen there
    with serving(program, "-f", CLUSTER, "--listen", "127.0.0.80:80") as page:
        for host in ("127.0.0.80", "localhost", "127.0.0.80:80"):
            assert page.request("/api/cluster", Host=host)[0] == 200, host
        assert page.request("/api/cluster", Host="evil.example")[0] == 421


def test_answers_are_those_of_the_commands(program):
    with serving(program, "-f", CLUSTER) as page:
        for arguments in (["pending"], ["explain", "research/gpu-without-toleration"],
                          ["explain", "deployment/web"], ["whatif", "--drain", "node-a1"],
                          ["whatif", "--add", "3=node-b1", "--from-scratch"],
                          ["capacity", "--like", "deployment/web"]):
            status, answer = page.ask(*arguments)
            expected = program.run(*arguments, "-f", CLUSTER, "-o", "json")
            assert status == 200 and answer["exitStatus"] == expected.status, answer
            assert answer["output"] == json.loads(expected.out), arguments
            words = answer["commandLine"].split(" ")
            assert words[:2] == ["berth", arguments[0]] and CLUSTER in words, words
        spec = ("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n"
                "spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n")
        _, answer = page.ask("capacity", files=[{"flag": "--pod", "text": spec}])
        expected = program.run("capacity", "--pod", program.write("x.yaml", spec), "-f", CLUSTER,
                               "-o", "json")
        assert answer["output"] == expected.json()
    folder = os.path.join(program.folder, "deep", "er")
    os.makedirs(folder)
    shutil.copy(CLUSTER, folder)
    with serving(program, "-R", "-f", os.path.dirname(folder)) as page:
        _, answer = page.ask("pending")
        expected = program.run(*shlex.split(answer["commandLine"])[1:], "-o", "json").expect(1)
        assert answer["output"] == expected.json(), answer["commandLine"]


def test_limits_of_manifests_are_requests(program):
    limited = pod("limited", node_name="n1")
    limited["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "3", "memory": "1Gi"}}
    path = program.write("all.json", json.dumps(node("n1")) + "\n" + json.dumps(limited))
    told = program.run("simulate", "-f", path, "-o", "json").json()["nodes"][0]
    with serving(program, "-f", path) as page:
        assert page.get("/api/cluster")["use"] == [[3000, 1 << 30, 0, 1]]
        assert page.get("/api/node?name=n1")["pods"][0]["request"] == [3000, 1 << 30, 0, 1]
    assert (told["cpuMilli"]["requested"], told["memoryBytes"]["requested"]) == (3000, 1 << 30)


def test_sums_wrap_as_those_of_the_scheduler(program):
    """The sanitizers refuse a sum that overflows."""
    pods = [pod("p%d" % i, node_name="n1", cpu="3P") for i in range(4)]
    path = program.write("all.json", lines(node("n1", cpu="9P"), *pods))
    told = program.run("simulate", "-f", path, "-o", "json").json()["nodes"][0]
    with serving(program, "-f", path) as page:
        assert page.get("/api/cluster")["use"][0][0] == told["cpuMilli"]["requested"] < 0
        page.get("/api/samples")


def test_a_deleted_pod_does_not_wait(program):
    deleted = pod("deleted")
    deleted["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["a.b/c"])
    parts = [{"berthrec": 1, "start": "2026-01-01T00:00:00Z", "objects": 2},
             {"t": 0, "add": deleted}, {"t": 0, "add": pod("waits")}, {"t": 100, "end": True}]
    with serving(program, program.write("day.berthrec", lines(*parts))) as page:
        assert page.get("/api/cluster")["pending"] == 1
        assert page.ask("pending")[1]["output"]["summary"]["pending"] == 1
        assert set(page.get("/api/samples")["pending"]) == {1}


def test_pods_of_manifests_have_the_priority_of_their_class(program):
    classes = [priority_class("high", 1000), priority_class("usual", 7)]
    classes[1]["globalDefault"] = True
    pods = [pod("a", node_name="n1"), pod("b", node_name="n1"), pod("c", node_name="n1")]
    pods[0]["spec"]["priorityClassName"] = "high"
    pods[1]["spec"]["priorityClassName"] = "system-node-critical"
    path = program.write("all.json", lines(*classes, node("n1"), *pods))
    with serving(program, "-f", path) as page:
        told = page.get("/api/node?name=n1")["pods"]
    assert [entry["priority"] for entry in told] == [1000, 2000001000, 7], told
    pods[0]["spec"]["priorityClassName"] = "none"
    path = program.write("all.json", lines(node("n1"), *pods))
    answer = program.run("view", "-f", path).expect(2)
    assert ": document 2: Pod default/a: pods \"a\" is forbidden: no PriorityClass" in answer.err, (
        answer.err)


def test_the_page_runs_only_commands_that_read(program):
    with serving(program, "-f", CLUSTER) as page:
        for arguments, message in (
                (["up"], "up cannot be asked"), (["simulate"], "simulate cannot be asked"),
                (["pending", "-f", "/etc/passwd"], "-f cannot be asked"),
                (["pending", "--kubeconfig=/x"], "--kubeconfig=/x cannot be asked"),
                (["whatif", "--with", "/etc/passwd"], "--with cannot be asked"),
                (["whatif", "--plugin", "/x.so"], "--plugin cannot be asked"),
                (["explain", "-ofoo"], "-ofoo cannot be asked"),
                ([], "arguments"), (["explain", 1], "arguments[1]"),
                (["explain", "a\0b"], "arguments[1]"), (["explain"] + ["x"] * 99, "arguments")):
            status, answer = page.ask(*arguments)
            assert status == 400 and message in answer["error"], (arguments, answer)
        status, answer = page.ask("pending", files=[{"flag": "--output", "text": "x"}])
        assert status == 400 and "--output takes no text" in answer["error"]
        status, answer = page.ask("pending", "--namespace")
        assert status == 400 and "pending: --namespace needs a value" in answer["error"], answer
        status, answer = page.ask("pending", at=-5)
        assert status == 400 and "at: " in answer["error"]
        for body in (b"", b"{", b"[]", b"null", b"\xff" * 100):
            assert page.request("/api/question", body)[0] == 400, body
        _, answer = page.ask("explain", "no-such-pod")
        assert answer["exitStatus"] == 2 and "no-such-pod" in answer["messages"]
        assert page.request("/api/node?name=nothing")[0] == 404
        assert page.request("/api/samples?steps=1")[0] == 400
        assert page.request("/etc/passwd")[0] == 404
        assert page.request("/api/cluster", b"x")[0] == 405
        assert page.request("/api/question", b"x" * 4000000)[0] == 413


def test_others_reach_the_page_over_tls_only(program):
    with serving(program, "-f", CLUSTER, "--listen", "0.0.0.0:0") as page:
        assert page.url.startswith("https://127.0.0.1:"), page.url
        assert page.request("/api/cluster")[0] == 200
        assert page.request("/api/cluster", Authorization="Bearer x")[0] == 401
        _, headers, _ = page.request("/session", b"")
        assert "; Secure" in headers["Set-Cookie"]
        try:
            urllib.request.urlopen(page.url.replace("https", "http"), timeout=60)
        except OSError:
            pass
        else:
            raise AssertionError("plain HTTP is served")


def test_without_an_address_all_addresses_are_served(program):
    for command, flags in (("view", ["-f", CLUSTER]), ("up", [
            "--view", "--kubeconfig-out", os.path.join(program.folder, "kubeconfig")])):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        with serving(program, *flags, "--listen", ":%d" % port, command=command):
            socket.create_connection(("127.0.0.1", port)).close()
            if os.path.exists("/proc/net/if_inet6"):
                socket.create_connection(("::1", port)).close()


def test_reading_a_cluster_needs_the_reader_role_only(program):
    with open(os.path.join(scenario.ROOT, "packaging", "kubernetes", "reader.yaml"),
              encoding="utf-8") as file:
        role = file.read()
    load = deployment("web", 3, "500m") + "---\n" + role + """---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: viewer, namespace: default}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: viewer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: berth-reader}
subjects: [{kind: ServiceAccount, name: viewer, namespace: default}]
"""
    with cluster_with_page(program, "--nodes", "3", manifests=load) as (kubeconfig, _):
        with open(kubeconfig, encoding="utf-8") as file:
            config = yaml.safe_load(file)
        request = urllib.request.Request(
            config["clusters"][0]["cluster"]["server"]
            + "/api/v1/namespaces/default/serviceaccounts/viewer/token",
            data=b'{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}',
            headers={"Authorization": "Bearer " + config["users"][0]["user"]["token"],
                     "Content-Type": "application/json"})
        with urllib.request.urlopen(request, context=UNVERIFIED, timeout=60) as answer:
            token = json.load(answer)["status"]["token"]
        config["users"][0]["user"] = {"token": token}
        reader = program.write("reader.kubeconfig", yaml.safe_dump(config))
        with serving(program, "--kubeconfig", reader, "--allow-changes") as page:
            for _ in range(600):
                if page.get("/api/cluster")["running"] == 3:
                    break
                time.sleep(0.1)
            assert len(page.get("/api/cluster")["nodes"]) == 3
            assert page.ask("pending")[1]["output"]["summary"]["pending"] == 0
            # The account has no other permissions.
            _, _, body = page.request("/api/change", b'{"type": "cordon", "node": "node-0"}')
            result = json.loads(body)["results"][0]
            assert not result["ok"] and "forbidden" in result["message"], result
            # Only the present can be asked in a terminal.
            now = page.get("/api/cluster")["at"]
            assert shlex.split(page.ask("pending")[1]["commandLine"]) == [
                "berth", "pending", "--kubeconfig", reader]
            assert "commandLine" not in page.ask("pending", at=now)[1]
        with serving(program, "-f", CLUSTER, "--kubeconfig", reader) as page:
            _, answer = page.ask("pending")
            expected = program.run(*shlex.split(answer["commandLine"])[1:], "-o", "json").expect(1)
            assert answer["output"] == expected.json(), answer["commandLine"]


# --- the page ---

def test_the_page_shows_nodes_and_pending_pods(program):
    pending = program.run("pending", "-f", CLUSTER, "-o", "json").json()
    with serving(program, "-f", CLUSTER) as page, looking(page) as window:
        assert window.evaluate("location.href").rstrip("/") == page.url, "the token stays there"
        window.wait_for("document.querySelectorAll('#body .group').length == %d"
                        % len(pending["groups"]))
        assert text_of(window, "#n-nodes") == "6"
        assert text_of(window, "#n-pending") == str(pending["summary"]["pending"])
        shown = text_of(window, "#body")
        for group in pending["groups"]:
            assert group["message"] in shown and group["change"] in shown
            # A screen reader reads the count and the name as two words.
            owner = group["owner"]["kind"] or group["namespace"]
            assert "%d %s" % (group["count"], owner) in shown, shown
        # A tile has the colour of its use; arrow keys move between tiles.
        window.evaluate("byId('tiles').focus()")
        window.press("ArrowRight")
        assert text_of(window, "#tile-text").startswith("node-a2, cpu:")
        window.press("Enter")
        window.wait_for("byId('body').innerText.includes('What if it is drained?')")
        assert "node=node-a2" in window.evaluate("location.hash")
        window.evaluate("history.back()")
        window.wait_for("document.querySelectorAll('#body .group').length > 3")
        # Choosing a group explains its pod; pointing at a reason highlights its nodes.
        window.evaluate("[...document.querySelectorAll('#body .group')]"
                        ".find((e) => e.innerText.includes('gpu-without-tol')).click()")
        answer = program.run("explain", "research/gpu-without-toleration", "-f", CLUSTER,
                             "-o", "json").json()
        window.wait_for("byId('body').innerText.includes('What is in the way')")
        shown = text_of(window, "#body")
        assert answer["message"] in shown
        for group in answer["groups"]:
            assert ", ".join(group["reasons"]) in shown
        for number, group in enumerate(answer["groups"]):
            window.point_at("#body li:nth-child(%d) > .group" % (number + 1))
            assert window.evaluate("[...lit.keys()]") == group["nodes"]
        window.point_at("h1")
        assert window.evaluate("lit") is None
        window.evaluate("document.querySelector('#body .group').focus()")
        assert window.evaluate("[...lit.keys()]") == answer["groups"][0]["nodes"]


def test_scores_stand_plugin_by_plugin(program):
    answer = program.run("explain", "deployment/web", "-f", CLUSTER, "-o", "json").json()
    best = sorted((node for node in answer["nodes"] if node["fits"]),
                  key=lambda node: -node["total"])[:4]
    with serving(program, "-f", CLUSTER) as page, \
            looking(page, "tab=details&pod=deployment/web") as window:
        window.wait_for("byId('scores')")
        rows = window.evaluate("[...byId('scores').rows].map((row) =>"
                               " [...row.cells].map((cell) => cell.innerText))")
        assert rows[0] == ["Plugin"] + [node["name"] for node in best], rows
        for name, *scores in rows[1:-1]:
            assert scores == [str(node["scores"][name]) for node in best], (name, scores)
        assert len(rows) == len(best[0]["scores"]) + 2
        assert rows[-1] == ["Total"] + [str(node["total"]) for node in best], rows
        window.point_at("#scores th button")
        assert window.evaluate("[...lit.keys()]") == [best[0]["name"]]


def test_nodes_are_grouped_by_pool_where_they_have_one(program):
    def nodes(labels):
        return "".join(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": "n%d" % i, "labels": {key: value.replace("N", str(i))
                                          for key, value in labels.items()}}}) for i in range(3))

    zone = {"topology.kubernetes.io/zone": "zone-N"}
    for labels, label in (({"pool": "pool-N", **zone}, "pool"),
                          ({"pool": "same", **zone}, "topology.kubernetes.io/zone"),
                          ({"eks.amazonaws.com/nodegroup": "N", "pool": "N"},
                           "eks.amazonaws.com/nodegroup"),
                          (zone, "topology.kubernetes.io/zone"), ({"other": "N"}, "-")):
        path = program.write("nodes.json", nodes(labels))
        with serving(program, "-f", path) as page, looking(page) as window:
            assert window.evaluate("byId('group').value") == label, (labels, label)
            assert window.evaluate("groupTitles.length") == (0 if label == "-" else 3)


def test_questions_are_asked_from_the_page(program):
    with serving(program, "-f", CLUSTER) as page, \
            looking(page, "tab=whatif") as window:
        window.wait_for("document.querySelector('#body form')")
        window.evaluate("document.querySelector('#body form input').focus()")
        window.type("node-a1")
        window.press("Enter")
        window.wait_for("byId('body').innerText.includes('Worse: 1 pod lost.')")
        assert "berth whatif --drain node-a1" in window.evaluate(
            "document.querySelector('#body pre').textContent")
        window.evaluate("document.querySelector('.chips button').click()")
        window.wait_for("byId('body').innerText.includes('Add a change')")
        window.click("#tab-capacity")
        window.wait_for("document.querySelector('#body form input')")
        window.evaluate("document.querySelector('#body form input').focus()")
        window.type("deployment/shop/web")
        window.wait_for("[...byId('workloads').options].map((one) => one.value).join()"
                        " == 'deployment/shop/web'")
        window.press("Enter")
        replicas = program.run("capacity", "--like", "deployment/web", "-n", "shop", "-f", CLUSTER,
                               "-o", "json").json()
        replicas = (replicas["items"][0] if "items" in replicas else replicas)["status"]["replicas"]
        window.wait_for("document.querySelector('#body .big')?.innerText == '%d'" % replicas)
        # The address has the whole state, so another window with this address shows the same.
        state = window.evaluate("location.hash").lstrip("#")
        with looking(page, state) as other:
            other.wait_for("document.querySelector('#body .big')?.innerText == '%d'" % replicas)
        window.evaluate("byId('search').focus()")
        window.type("node-c")
        window.wait_for("byId('found').children.length == 2")
        window.press("ArrowDown")
        window.press("Enter")
        window.wait_for("byId('body').querySelector('h3')?.innerText == 'node-c2-gpu'")


def test_a_running_pod_is_not_called_pending(program):
    with serving(program, "-f", CLUSTER) as page, \
            looking(page, "tab=details&pod=shop/search-0") as window:
        window.wait_for("byId('scores')")
        assert "would fit if it were pending: " in text_of(window, "#body")


def test_a_namespace_may_have_the_name_of_a_kind(program):
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"},
           "spec": {"template": {"spec": pod("x", restartPolicy="Never")["spec"]}}}
    train = dict(pod("train", cpu="2"), metadata={"name": "train", "namespace": "jobs"})
    path = program.write("all.json", "".join(
        json.dumps(one) + "\n" for one in (node("n1", cpu="8"), job, train)))
    with serving(program, "-f", path) as page, \
            looking(page) as window:
        window.wait_for("document.querySelectorAll('#body .group').length == 2")
        window.evaluate("[...document.querySelectorAll('#body .group')]"
                        ".find((one) => one.innerText.includes('jobs/train')).click()")
        window.wait_for("byId('body').querySelector('h3')?.innerText == 'jobs/train'")
        window.evaluate("[...document.querySelectorAll('#body button')]"
                        ".find((one) => one.innerText.startsWith('How many more')).click()")
        window.wait_for("document.querySelector('#body .big')?.innerText == '4'")


def test_changes_are_tried_out_and_taken_back(program):
    config = program.write("packed.yaml", PACKED)
    with serving(program, "-f", CLUSTER) as page, looking(page, "tab=whatif") as window:
        window.wait_for("document.querySelector('#body form')")
        for action, value in (("drain", "node-a1"), ("add", "3=node-b1"),
                              ("scale", "deployment/shop/web=7")):
            window.evaluate("document.querySelector('#body select').value = '%s'" % action)
            window.evaluate("document.querySelector('#body form input').focus()")
            window.type(value)
            window.press("Enter")
            window.wait_for("[...document.querySelectorAll('.chips li')].at(-1)?.innerText"
                            ".startsWith('%s %s')" % (action, value))
        window.evaluate("document.querySelector('#body textarea').value = %s"
                        % json.dumps(PACKED))
        window.evaluate("[...document.querySelectorAll('#body button')]"
                        ".find((e) => e.textContent == 'Use it').click()")
        window.wait_for("document.querySelectorAll('.chips li').length == 4")
        window.wait_for("document.querySelector('#body pre')?.textContent.includes('/dev/stdin')")
        changes = ["whatif", "--drain", "node-a1", "--add", "3=node-b1", "--scale",
                   "deployment/shop/web=7", "-f", CLUSTER, "-o", "json"]
        expected = program.run(*changes, "--new-config", config).json()
        shown = text_of(window, "#body")
        moved = [pod for pod in expected["pods"] if pod["change"] != "none"]
        assert moved and all(pod["namespace"] + "/" + pod["name"] in shown for pod in moved)
        cells = window.evaluate("[...document.querySelectorAll('#body tbody tr')].slice(0, 2)"
                                ".map((row) => [...row.cells].map((cell) => cell.innerText))")
        summary = expected["summary"]
        assert cells == [["nodes", str(summary["nodesBefore"]), str(summary["nodesAfter"])],
                         ["pending", str(summary["pendingBefore"]),
                          str(summary["pendingAfter"])]], cells
        assert window.evaluate("document.querySelectorAll('.pair canvas').length") == 2
        # The shown command line has the same effect when it is copied.
        line = window.evaluate("document.querySelector('#body pre').textContent")
        answer = subprocess.run(
            ["sh", "-c", line.replace("berth whatif", program.path + " whatif -o json", 1)],
            env=dict(os.environ, BERTH_VERIFY="1"), capture_output=True, text=True, check=False)
        repeated = json.loads(answer.stdout)
        for key in ("summary", "pods", "nodes"):
            assert repeated[key] == expected[key], (line, key, answer.stderr)
        # Another window shows the same, including the configuration; Undo removes the last change.
        state = window.evaluate("location.hash").lstrip("#")
        with looking(page, state) as other:
            other.wait_for("document.querySelectorAll('.chips li').length == 4")
            other.wait_for("document.querySelector('#body pre')")
            assert text_of(other, "#body tbody") == text_of(window, "#body tbody")
        press = ("[...document.querySelectorAll('#body button')]"
                 ".find((e) => e.innerText == '%s').click()")
        window.evaluate(press % "Undo")
        window.wait_for("document.querySelectorAll('.chips li').length == 3")
        assert "scale" not in text_of(window, ".chips")
        window.evaluate("history.back()")
        window.wait_for("document.querySelectorAll('.chips li').length == 4")
        window.wait_for("document.querySelector('#body pre')")
        window.evaluate(press % "Start over")
        window.wait_for("byId('body').innerText.includes('Add a change')")
        assert "what=" not in window.evaluate("location.hash")


def test_wrong_input_can_be_corrected(program):
    press = ("[...document.querySelectorAll('#body button')]"
             ".find((e) => e.innerText == '%s').click()")
    with serving(program, "-f", CLUSTER) as page, \
            looking(page, "tab=whatif&what=drain+node-a1%0Aadd+5") as window:
        window.wait_for("byId('body').innerText.includes('write N=NODE')")
        assert window.evaluate("document.querySelectorAll('.chips li').length") == 2
        window.evaluate(press % "Undo")
        window.wait_for("byId('body').innerText.includes('Worse: 1 pod lost.')")
        show(window, "tab=capacity&like=deployment/shop/webb")
        window.wait_for("document.querySelector('#body .bad')")
        window.evaluate("document.querySelector('#body form input').value = 'deployment/shop/web'")
        window.evaluate(press % "How many more fit?")
        window.wait_for("document.querySelector('#body .big')")


def test_an_answer_does_not_replace_a_later_view(program):
    slow_ask = """(() => {
        const quick = ask;
        window.ask = async (words, files, signal) => {
            await new Promise((resolve) => setTimeout(resolve, 1500));
            return quick(words, files, signal);
        };
    })()"""
    with serving(program, "-f", CLUSTER) as page, looking(page, "tab=details") as window:
        window.evaluate(slow_ask)
        for state, shown in (("{tab: 'details', node: 'node-a1'}", "What if it is drained?"),
                             ("{tab: 'whatif'}", "Add a change")):
            window.evaluate("go({tab: 'pending'}); go(%s)" % state)
            window.wait_for("byId('body').innerText.includes('%s')" % shown)
            window.evaluate("new Promise((resolve) => setTimeout(resolve, 2500))")
            assert shown in text_of(window, "#body")
        # A question is answered although the cluster changes meanwhile.
        window.evaluate("panelAt = -10000; go({tab: 'pending'}); changed();"
                        " new Promise((resolve) => setTimeout(resolve, 1000))")
        window.evaluate("panelAt = -10000; changed()")
        window.wait_for("document.querySelector('#body .group')", seconds=1.2)


def test_a_search_is_for_the_text_in_the_field(program):
    with serving(program, "-f", CLUSTER) as page, looking(page, "tab=change") as window:
        assert window.evaluate("[...document.querySelectorAll('[role=tab]')]"
                               ".map((tab) => tab.tabIndex)") == [0, -1, -1, -1, -1]
        window.evaluate("byId('search').focus()")
        window.type("Node-A1")
        window.wait_for("byId('found').children.length == 1")
        window.evaluate("byId('search').value = 'node-b1'")
        window.press("Enter")
        window.wait_for("state.node == 'node-b1'")
        window.evaluate("byId('search').focus()")
        window.type("x")
        window.wait_for("byId('search').getAttribute('aria-expanded') == 'true'")
        window.press("Tab")
        assert window.evaluate("byId('search').getAttribute('aria-expanded')") == "false"


def test_keys_keep_the_tile_in_sight(program):
    def check():
        assert window.evaluate("(() => { const box = byId('canvas-box').getBoundingClientRect();"
                               " const tip = byId('tip').getBoundingClientRect();"
                               " const y = byId('tiles').getBoundingClientRect().y"
                               " + tiles[focused].y;"
                               " return tip.y >= box.y && tip.bottom <= box.bottom"
                               " && y >= box.y && y + tileSize <= box.bottom + 1; })()")

    with serving(program, "-f", write_large(program, 5000, 1)) as page, \
            looking(page, width=360, height=740) as window:
        assert window.evaluate("byId('canvas-box').scrollHeight > byId('canvas-box').clientHeight")
        window.evaluate("byId('tiles').focus()")
        for key in ("End", "ArrowUp", "Home"):
            window.press(key)
            check()
        window.resize(1400, 900)
        window.wait_for("innerWidth == 1400 && tileSize > 4")
        window.press("End")
        check()
    with serving(program, "-f", program.write("none.json", lines(pod("p")))) as page, \
            looking(page) as window:
        window.evaluate("byId('tiles').focus()")
        window.press("ArrowRight")
        window.press("Enter")
        assert window.evaluate("focused") == -1


HOSTILE = "<img src=x onerror=alert(1)>"


def test_hostile_texts_stay_texts(program):
    labels = {"topology.kubernetes.io/zone": HOSTILE, "emoji": "\U0001f4a3" * 63,
              "right": "\u202etxt.exe\u202c\u05d0"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n\u202e<b>x</b>",
                                                             "labels": labels},
            "spec": {"taints": [{"key": HOSTILE, "value": "'\"", "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}}
    pod = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": "</script><script>alert(1)</script>", "namespace": HOSTILE},
           "spec": {"containers": [{"name": "c"}], "schedulingGates": [{"name": HOSTILE}]}}
    path = program.write("hostile.json", json.dumps(node) + json.dumps(pod))
    with serving(program, "-f", path) as page, looking(page) as window:
        window.wait_for("document.querySelector('#body .group')")
        assert HOSTILE in text_of(window, "#body")
        for state in ("color=taints", "table=yes", "tab=details&node=n%E2%80%AE%3Cb%3Ex%3C/b%3E"):
            window.evaluate("location.hash = %s; readAddress(); show()" % json.dumps("#" + state))
            window.wait_for("!document.querySelector('#body .wait')")
        assert HOSTILE in text_of(window, "#body")
        assert not window.evaluate(
            "document.querySelectorAll('img, script:not([src]), b.x').length")


def test_everything_has_a_name_and_fits_narrow_and_dark(program):
    unnamed = ("[...document.querySelectorAll('button, input, select, textarea, canvas, a')]"
               ".filter((e) => e.offsetParent !== null && !e.textContent.trim()"
               " && !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')"
               " && !(e.labels && e.labels.length))"
               ".map((e) => e.outerHTML.slice(0, 200))")
    with serving(program, "-f", CLUSTER) as page, looking(page) as window:
        for state in ("tab=pending", "tab=whatif&what=drain+node-a1", "tab=details&node=node-a1",
                      "tab=capacity&like=deployment/shop/web",
                      "tab=details&pod=research/gpu-without-toleration", "table=yes"):
            window.evaluate("location.hash = %s; readAddress(); show()" % json.dumps("#" + state))
            window.wait_for("!document.querySelector('#body .wait')")
            nameless = window.evaluate(unnamed)
            assert not nameless, (state, nameless)
            window.resize(400, 800)
            window.wait_for("innerWidth == 400")
            assert window.evaluate("document.documentElement.scrollWidth") <= 400, state
            window.resize(1400, 900)
            window.wait_for("innerWidth == 1400")
        taint = {"key": "k" * 63, "value": "v" * 63, "effect": "NoSchedule"}
        path = program.write("long.json", lines(node("n" * 253, spec={"taints": [taint]})))
        with serving(program, "-f", path) as long, \
                looking(long, "color=taints", width=400, height=800) as other:
            other.wait_for("byId('legend').innerText.includes('vvv')")
            assert other.evaluate("document.documentElement.scrollWidth") <= 400
        window.set_media(prefers_color_scheme="dark")
        window.wait_for("getComputedStyle(document.body).backgroundColor == 'rgb(15, 19, 25)'")


STATES = ("tab=pending", "tab=whatif&what=drain+node-a1%0Aadd+3%3Dnode-b1",
          "tab=details&node=node-a1", "tab=capacity&like=deployment/shop/web", "tab=capacity",
          "tab=details&pod=research/gpu-without-toleration", "tab=details&pod=deployment/web",
          "table=yes", "color=taints", "tab=details")


def show(window, state):
    """Open an address in the page, and wait for its view."""
    window.evaluate("location.hash = %s; readAddress(); show()" % json.dumps("#" + state))
    window.wait_for("!document.querySelector('#body .wait[data-asks]')")


def test_an_accessibility_checker_finds_nothing(program):
    if not os.path.exists(AXE):
        print("skipped: no axe-core (npm install axe-core, or BERTH_AXE=.../axe.min.js)")
        return
    with open(AXE, encoding="utf-8") as file:
        checker = file.read()
    load = deployment("web", 3, "500m") + "---\n" + deployment("huge", 2, "50")
    with serving(program, "-f", CLUSTER) as files, \
            cluster_with_page(program, "--nodes", "4", manifests=load) as (_, live):
        for page, states in ((files, STATES), (live, ("tab=change", "tab=pending"))):
            with looking(page) as window:
                window.evaluate(checker + "; null")
                problems = []
                # The scheme changes nothing but colours.
                for scheme, rules in (("light", "{}"), ("dark", "{runOnly: ['color-contrast']}")):
                    window.set_media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
                    for state in states:
                        show(window, state)
                        found = window.evaluate("axe.run(%s).then((a) => a.violations.map((v) =>"
                                                " [v.impact, v.id, v.help, v.nodes.map((n) =>"
                                                " n.html.slice(0, 200))]))" % rules)
                        problems += [(scheme, state, *one) for one in found]
                assert not problems, "\n".join(map(str, problems))


# --- a live cluster ---

ANY_KINDS = """\
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: team}, data: {a: b}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: one}, spec: {size: 3}}
---
{apiVersion: example.com/v1, kind: Gadget, metadata: {name: two}}
"""


def test_the_page_follows_a_cluster_and_changes_it(program):
    load = deployment("web", 20, "500m") + "---\n" + deployment("huge", 3, "50")
    with cluster_with_page(program, "--nodes", "10", "--zones", "2", manifests=load) as \
            (kubeconfig, page), looking(page) as window:
        window.wait_for("byId('n-running').innerText == '20' && byId('n-pending').innerText == '3'")
        window.wait_for("byId('state').innerText == 'live'")
        pending = program.run("pending", "--kubeconfig", kubeconfig, "-o", "json").json()
        group = pending["groups"][0]
        window.wait_for("byId('body').innerText.includes(%s)" % json.dumps(group["message"]))
        # A deployment created in the text box appears without a reload.
        window.click("#tab-change")
        window.wait_for("document.querySelector('#body textarea')")
        window.evaluate("(() => { const box = document.querySelector('#body textarea');"
                        " box.value = %s; box.dispatchEvent(new Event('input')); })()"
                        % json.dumps(deployment("more", 5, "100m")))
        window.click("#body form button.main")
        window.wait_for("byId('body').innerText.includes('Deployment default/more done')")
        window.wait_for("byId('n-running').innerText == '25'")
        # An empty number of replicas is not 0.
        scale = ("(() => { const form = [...document.querySelectorAll('#body form')].at(-1);"
                 " [form.elements[0].value, form.elements[1].value] = ['%s', '%s'];"
                 " form.requestSubmit();"
                 " return document.querySelector('#body [role=status]').innerText; })()")
        for name, replicas in (("deployment/default/more", ""), ("", "6")):
            assert " done" in window.evaluate(scale % (name, replicas)), name
        assert window.evaluate(scale % ("deployment/default/x/more", "5")) == "Sending…"
        window.wait_for("byId('body').innerText.includes('Deployment default/x/more: ')")
        assert window.evaluate(scale % ("deployment/default/more", "5")) == "Sending…"
        window.wait_for("byId('body').innerText.includes('Deployment default/more done')")
        status, _, body = page.request("/api/change", json.dumps(
            {"type": "scale", "kind": "Deployment", "namespace": "default", "name": "web",
             "replicas": 2}).encode())
        assert status == 200 and json.loads(body)["results"][0]["ok"], body
        window.wait_for("byId('n-running').innerText == '7'")
        # Draining: the pods move, and the node is crossed out.
        node = page.get("/api/search?text=more-")[1]["node"]
        window.evaluate("go({tab: 'details', node: %s})" % json.dumps(node))
        window.wait_for("[...document.querySelectorAll('#body button')]"
                        ".find((e) => e.innerText == 'Drain')")
        window.evaluate("[...document.querySelectorAll('#body button')]"
                        ".find((e) => e.innerText == 'Drain').click()")
        window.wait_for("get('/api/node?name=%s').then((a) => a.pods.length == 0"
                        " && a.node.unschedulable)" % node)
        window.wait_for("byId('n-running').innerText == '7'")
        for change, message in (({"type": "apply", "text": "kind: X\napiVersion: v1"}, "X: "),
                                ({"type": "apply", "text": "{"}, "the text"),
                                ({"type": "apply", "text": "a: b"}, "document 1: apiVersion"),
                                ({"type": "scale", "replicas": -1}, "replicas: "),
                                ({"type": "boil", "node": "x"}, "type: "), ({}, "node: ")):
            status, _, body = page.request("/api/change", json.dumps(change).encode())
            assert status == 400 and message in body, (change, body)
        # The page shows the count of pending pods on every tab, and unschedulable events.
        page.request("/api/change", json.dumps(
            {"type": "scale", "kind": "Deployment", "namespace": "default", "name": "huge",
             "replicas": 5}).encode())
        window.wait_for("byId('n-pending').innerText == '5'")
        window.wait_for("get('/api/samples').then((a) => a.decided.reduce((x, y) => x + y)"
                        " >= a.bound.reduce((x, y) => x + y) + 2)")
        # All kinds of the server can be applied, even a kind that the same text defines.
        _, _, body = page.request("/api/change", json.dumps(
            {"type": "apply", "text": ANY_KINDS}).encode())
        results = json.loads(body).get("results")
        assert results, body
        assert [one["object"] for one in results] == [
            "Namespace team", "ConfigMap team/settings", "CustomResourceDefinition "
            "widgets.example.com", "Widget default/one", "Gadget two"], results
        assert [one["ok"] for one in results] == [True, True, True, True, False], results
        assert "does not serve this kind" in results[4]["message"], results
        _, _, body = page.request("/api/change", json.dumps({"type": "apply", "text": json.dumps(
            {"kind": "List", "apiVersion": "v1", "items": [
                {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}}
                for name in ("first", "second")]})}).encode())
        assert [(one["object"], one["ok"]) for one in json.loads(body)["results"]] == [
            ("ConfigMap default/first", True), ("ConfigMap default/second", True)], body
        _, _, body = page.request("/api/change", b'{"type": "cordon", "node": "../secrets"}')
        result = json.loads(body)["results"][0]
        assert not result["ok"] and "could not find" in result["message"], result
        # The past is still shown: the pods of that time, on their nodes of that time.
        samples = page.get("/api/samples")
        place = samples["running"].index(max(samples["running"]))
        at = math.ceil(samples["from"] + place * samples["step"])
        then = page.get("/api/cluster?at=%d" % at)
        assert then["running"] > 7, then["running"]
        window.evaluate("go({tab: 'pending', at: '%d', node: ''})" % at)
        window.wait_for("byId('n-running').innerText == '%d'" % then["running"])
        assert window.evaluate("byId('now').hidden") is False
        _, answer = page.ask("pending", at=at)
        assert answer["output"]["summary"]["pending"] >= 3


def test_the_page_says_that_the_api_server_is_gone(program):
    kubeconfig = os.path.join(program.folder, "kubeconfig")
    arguments = [program.path, "up", "--tls=off", "--nodes", "1", "--data-dir",
                 os.path.join(program.folder, "data"), "--kubeconfig-out", kubeconfig, "--listen"]

    @contextlib.contextmanager
    def api_server(address):
        with subprocess.Popen(arguments + [address], stdout=subprocess.PIPE, text=True) as process:
            yield re.search(r"http://([\d.:]+),", process.stdout.readline())[1]
            process.terminate()

    with contextlib.ExitStack() as stack:
        with api_server("127.0.0.1:0") as address:
            page = stack.enter_context(serving(program, "--kubeconfig", kubeconfig))
            window = stack.enter_context(looking(page))
            window.wait_for("byId('state').innerText == 'live'")
        window.wait_for("byId('state').innerText == 'the API server does not answer, trying again'"
                        " && byId('state').className == 'lost'")
        with api_server(address):
            window.wait_for("byId('state').innerText == 'live'")


def test_the_page_says_that_its_server_is_another_one(program):
    arguments = ["-f", CLUSTER, "--listen"]
    with contextlib.ExitStack() as stack:
        with serving(program, *arguments, "127.0.0.1:0") as page:
            window = stack.enter_context(looking(page))
        window.wait_for("byId('state').innerText == 'connection lost, trying again'")
        window.complaints.clear()  # about the connection
        path = program.write("one.json", lines(node("n1")))
        with serving(program, "-f", path, "--listen", page.url.split("/")[-1]) as other:
            window.wait_for("byId('state').innerText.startsWith('open the link')"
                            " && byId('state').className == 'lost'")
            window.complaints.clear()
            # Another tab opens the new link.
            other_session = "fetch('/session', {method: 'POST', headers: {Authorization: '%s'}})"
            window.evaluate(other_session % ("Bearer " + other.token))
            window.wait_for("byId('state').innerText == 'from files'")
            window.wait_for("byId('n-nodes').innerText == '1'")
            # The new link is opened in the same tab, which only changes the fragment.
            window.evaluate("window.beforeReload = true")
            window.open(other.link)
            window.wait_for("!window.beforeReload && document.documentElement.dataset.ready")
            assert "token" not in window.evaluate("location.href")
            window.complaints.clear()


def test_a_page_that_looks_cannot_change(program):
    with serving(program, "-f", CLUSTER) as page:
        status, _, body = page.request("/api/change", b'{"type": "cordon", "node": "node-a1"}')
        assert status == 403 and "--allow-changes" in body
    answer = program.run("view", "-f", CLUSTER, "--allow-changes").expect(2)
    assert "only a live cluster can be changed" in answer.err


def test_a_recording_is_looked_at(program):
    lines = [{"berthrec": 1, "start": "2026-01-01T00:00:00Z", "objects": 1},
             {"t": 0, "add": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
                      "status": {"allocatable": {"cpu": "4", "pods": "10"}}}},
             {"t": 10, "add": {"apiVersion": "v1", "kind": "Pod",
                               "metadata": {"name": "p", "namespace": "d",
                                            "creationTimestamp": "2026-01-01T00:00:10Z"},
                               "spec": {"containers": [{"name": "c", "resources": {
                                   "requests": {"cpu": "1"}}}]}}},
             {"t": 30, "change": "Pod", "name": "d/p",
              "patch": {"spec": {"nodeName": "n1"}}},
             {"t": 90, "delete": "Pod", "name": "d/p"},
             {"t": 100, "end": True}]
    path = program.write("day.berthrec", "\n".join(json.dumps(line) for line in lines) + "\n")
    with serving(program, path) as page:
        start = page.get("/api/cluster")["from"]
        assert start == 1767225600000
        for seconds, running, waiting, cpu in ((5, 0, 0, 0), (20, 0, 1, 0), (60, 1, 0, 1000),
                                               (95, 0, 0, 0)):
            then = page.get("/api/cluster?at=%d" % (start + seconds * 1000))
            assert (then["running"], then["pending"], then["use"][0][0]) == (
                running, waiting, cpu), (seconds, then)
        samples = page.get("/api/samples?steps=11")
        assert samples["pending"] == [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0], samples
        assert samples["running"] == [0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0]
        assert samples["bound"] == samples["decided"] == [0, 0, 0, 1] + 7 * [0], samples
        assert samples["waitP50"] == samples["waitP99"] == 3 * [None] + [20] + 7 * [None]
        _, answer = page.ask("explain", "d/p", at=start + 20000)
        assert answer["output"]["fate"] == "Fits" and "commandLine" not in answer, answer
        with looking(page, "at=%d" % (start + 60000)) as window:
            window.wait_for("byId('n-running').innerText == '1'")
            window.wait_for("byId('state').innerText == 'a recording'")
            window.evaluate("byId('now').focus()")
            window.press("Enter")
            window.wait_for("byId('n-running').innerText == '0'")
            assert window.evaluate("byId('now').hidden && document.activeElement.id") == "slider"
            window.evaluate("location.hash = '#at=noon'")
            window.wait_for("state.at == '' && byId('time-text').innerText == 'the end'")
            assert window.evaluate("document.querySelectorAll('#charts svg').length") == 4
    # The replay binds each pod at once.
    with serving(program, path, "--replay") as page:
        samples = page.get("/api/samples?steps=11")
        assert samples["running"] == [0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0], samples
        assert samples["waitP99"] == [None, 0] + 9 * [None]
        assert page.get("/api/source")["state"] == "a replay"
    bad = lines[:2] + [{"t": 1, "change": "Node", "name": "x", "patch": {}}]
    path = program.write("bad.berthrec", "\n".join(json.dumps(line) for line in bad))
    answer = program.run("view", path).expect(2)
    assert "line 3" in answer.err and "Node x" in answer.err, answer.err


def test_nodes_of_the_past_have_the_amounts_of_that_time(program):
    bound = pod("p", node_name="n1", cpu="2")
    parts = [{"berthrec": 1, "start": "2026-01-01T00:00:00Z", "objects": 2},
             {"t": 0, "add": node("n1", cpu="4")}, {"t": 0, "add": bound},
             {"t": 50, "change": "Node", "name": "n1",
              "patch": {"status": {"allocatable": {"cpu": "8"}}}},
             {"t": 100, "end": True}]
    with serving(program, program.write("day.berthrec", lines(*parts))) as page:
        start = page.get("/api/cluster")["from"]
        for seconds, cpu in ((10, 4000), (50, 8000), (100, 8000)):
            at = start + seconds * 1000
            answer = page.ask("whatif", "--cordon", "n1", at=at)[1]["output"]
            assert answer["cluster"]["before"]["cpuMilli"]["allocatable"] == cpu
            for shown in (page.get("/api/cluster?at=%d" % at)["nodes"][0],
                          page.get("/api/node?name=n1&at=%d" % at)["node"]):
                assert shown["allocatable"][0] == cpu, (seconds, shown)
        shares = page.get("/api/samples?steps=5")["use"][0]
        assert shares == [0.5, 0.5, 0.25, 0.25, 0.25], shares


def test_a_replay_is_that_of_the_command(program):
    path = program.write("shop.berthrec", made_up_hour())
    config = program.write("packed.yaml", PACKED)
    replay = program.run("replay", path, "--config", config, "-o", "json").expect(0).json()
    with serving(program, path, "--replay", "--config", config) as page:
        end = page.get("/api/cluster")
        assert end["running"] == replay["pods"]["running"], end["running"]
        assert end["pending"] == replay["pods"]["pending"], end["pending"]
        used = sum(1 for use in end["use"] if use[3] > 0)
        assert used == replay["samples"][-1]["usedNodes"], used
        samples = page.get("/api/samples?steps=361")
        assert sum(samples["bound"]) == replay["pods"]["bound"]
        assert max(samples["pending"]) == max(one["pending"] for one in replay["samples"])
        with looking(page) as window:
            window.wait_for("byId('state').innerText == 'a replay'")
            window.wait_for("byId('n-running').innerText == '%d'" % end["running"])
            # The slider spans the whole hour.
            length = window.evaluate("samples.step * (samples.pending.length - 1)")
            assert abs(length - 3600000) < 1, length
            for part in range(1000, 399, -20):
                window.evaluate("(() => { byId('slider').value = %d;"
                                " byId('slider').dispatchEvent(new Event('input')); })()" % part)
            at = end["from"] + 1440000
            then = page.get("/api/cluster?at=%d" % at)
            assert then["running"] != end["running"]
            window.wait_for("byId('n-running').innerText == '%d'" % then["running"])
            window.wait_for("location.hash == '#at=%d'" % at)
            window.wait_for("byId('time-text').innerText.endsWith(':00')")
            waiting = page.ask("pending", at=at)[1]["output"]["summary"]["pending"]
            window.wait_for("byId('n-pending').innerText == '%d'" % waiting)
    with serving(program, path) as page:
        recorded = sum(1 for use in page.get("/api/cluster")["use"] if use[3] > 0)
    assert used < recorded, (used, recorded)
    for arguments, message in ((["-f", CLUSTER, "--replay"], "no recording"),
                               ([path, "--replay", "--config", path], "shop.berthrec")):
        answer = program.run("view", *arguments).expect(2)
        assert message in answer.err, answer.err


# --- size ---

def write_large(program, nodes, pods):
    """Write a file of a large cluster with running pods."""
    lines = []
    for i in range(nodes):
        lines.append({"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": "node-%05d" % i,
            "labels": {"topology.kubernetes.io/zone": "zone-%d" % (i % 7)}},
            "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}}})
    for i in range(pods):
        lines.append({"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": "pod-%06d" % i, "namespace": "default"}, "spec": {
                "nodeName": "node-%05d" % (i * 7919 % nodes), "containers": [
                    {"name": "c", "image": "x", "resources": {
                        "requests": {"cpu": "%dm" % (i % 40 * 50)}}}]}})
    return program.write("large.json", "".join(json.dumps(line) for line in lines))


def cpu_seconds(pid):
    """CPU time that a process has used."""
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid):
    """Memory of a process, with its share of shared pages (PSS)."""
    with open("/proc/%d/smaps_rollup" % pid, encoding="utf-8") as file:
        return int(re.search(r"Pss:\s+(\d+)", file.read())[1]) / 1024


def child_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="utf-8") as file:
        return int(file.read().split()[0])


def test_a_command_that_is_killed(program):
    with serving(program, "-f", write_large(program, 1000, 20000)) as page, \
            concurrent.futures.ThreadPoolExecutor() as pool:
        asked = pool.submit(page.ask, "whatif", "--drain", "*", "--recreate-bare-pods")
        while True:
            with contextlib.suppress(IndexError):
                os.kill(child_of(page.process.pid), signal.SIGKILL)
                break
        status, answer = asked.result()
        assert status == 200 and answer["exitStatus"] == 2 and "output" not in answer, answer
        assert answer["messages"] == "signal 9 ended the command\n", answer


def test_many_nodes_stay_smooth(program):
    nodes, pods = (500, 5000) if program.sanitized else (10000, 100000)
    path = write_large(program, nodes, pods)
    # CPU times, because other programs may run on this machine.
    with serving(program, "-f", path) as page, looking(page) as window:
        assert text_of(window, "#n-nodes") == "{:,}".format(nodes)
        assert text_of(window, "#n-running") == "{:,}".format(pods)
        before = window.cpu_seconds() + cpu_seconds(page.process.pid)
        window.reload()
        window.wait_for("document.documentElement.dataset.ready")
        taken = window.cpu_seconds() + cpu_seconds(page.process.pid) - before
        assert taken < 1 or program.sanitized, "%.2f s to the first picture" % taken
        # The mouse moves from tile to tile; every third frame it points at a reason.
        before = window.cpu_seconds()
        window.evaluate("""new Promise((resolve) => {
            let number = 0;
            const box = byId("tiles").getBoundingClientRect();
            const names = cluster.nodes.filter((_, i) => i % 3 === 0).map((node) => node.name);
            const step = () => {
                const tile = tiles[number * 37 % tiles.length];
                byId("tiles").dispatchEvent(new MouseEvent("mousemove",
                    {clientX: box.x + tile.x + 1, clientY: box.y + tile.y + 1}));
                if (number % 3 === 0) point(number % 6 === 0 ? names : null);
                if (++number < 90) requestAnimationFrame(step); else resolve();
            };
            requestAnimationFrame(step);
        })""")
        frame = (window.cpu_seconds() - before) / 90
        assert frame < 1 / 30, "%.1f ms of work a frame" % (frame * 1000)


def test_the_page_takes_little_memory(program):
    if program.sanitized:
        return
    nodes, pods = 2000, 20000
    path = write_large(program, nodes, pods)
    arguments = ("-f", path, "--listen", "127.0.0.1:0", "--pod-start-delay", "0s",
                 "--kubeconfig-out", os.path.join(program.folder, "kubeconfig"))
    with serving(program, "--view", *arguments, command="up") as page:
        while page.get("/api/cluster")["running"] < pods:
            time.sleep(0.1)
        watcher = child_of(page.process.pid)
        with looking(page) as window:
            window.wait_for("byId('n-running').innerText == '20,000'")
        with_page = memory_mb(page.process.pid) + memory_mb(watcher)
        alone = memory_mb(page.process.pid)
    assert with_page <= 1.2 * alone, (with_page, alone)


def test_slow_browsers_slow_nothing_down(program):
    """Fifty clients follow changes, ask questions and never read, while pods are created."""
    load = deployment("web", 300, "10m")
    kubeconfig = os.path.join(program.folder, "kubeconfig")
    with cluster_with_page(program, "--nodes", "50", "--tls", "off", manifests=load) as \
            (kubeconfig, page):
        with open(kubeconfig, encoding="utf-8") as file:
            server = re.search(r"server: (http\S+)", file.read())[1]

        def create(name):
            """CPU seconds that the server uses for a burst of creations."""
            before = cpu_seconds(page.process.pid)
            for i in range(150):
                pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s-%d" % (name, i)},
                       "spec": {"containers": [{"name": "c", "image": "x"}]}}
                request = urllib.request.Request(
                    server + "/api/v1/namespaces/default/pods", data=json.dumps(pod).encode(),
                    headers={"Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    assert answer.status == 201
            return cpu_seconds(page.process.pid) - before

        create("warm")
        alone = create("alone")
        watcher = child_of(page.process.pid)
        memory = memory_mb(watcher)
        address = urllib.parse.urlsplit(page.url)
        readers = []
        try:
            for i in range(50):
                reader = socket.socket()
                reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                reader.connect((address.hostname, address.port))
                head = "GET %%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n" % (
                    address.netloc, page.token)
                reader.sendall(((head % "/api/cluster") * (i % 5) + head % "/api/changes").encode())
                readers.append(reader)
            slow = create("slow")
            # Clients that read still get answers, and see the new pods.
            while page.get("/api/cluster")["running"] < 300 + 3 * 150:
                time.sleep(0.1)
            grown = memory_mb(watcher) - memory
        finally:
            for reader in readers:
                reader.close()
    assert slow <= 1.5 * alone + 0.2, (slow, alone)
    assert grown < 60 or program.sanitized, "%.0f MB" % grown


def test_the_page_is_small(program):
    with serving(program, "-f", CLUSTER) as page:
        total = sum(len(page.request(path, Authorization=None)[2].encode())
                    for path in ("/", "/view.css", "/view.js"))
    assert total <= 200000, total


def test_wrong_use_is_refused(program):
    for arguments, message in (
            (["-f", CLUSTER, "--listen", "127.0.0.1:70000"], "--listen: 127.0.0.1:70000: the port"),
            (["-f", CLUSTER, "--history", "0s"], "--history: must be longer"),
            (["-f", CLUSTER, "--tls-cert-file", "x"], "come together"),
            (["-f", CLUSTER, "x.berthrec"], "either recordings, or a cluster"),
            (["nothing.berthrec"], "nothing.berthrec"),
            (["-f", "nothing.yaml"], "nothing.yaml")):
        answer = program.run("view", *arguments).expect(2)
        assert message in answer.err and not answer.out, (message, answer.err)


# --- the pictures of the guide ---

def made_up_hour():
    """A recording of one hour of a shop: 48 nodes in three zones, and some pods that do not fit."""
    chance = random.Random(22)
    start = datetime.datetime(2026, 3, 2, 9, tzinfo=datetime.timezone.utc)

    def stamp(seconds):
        return (start + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def node(name, zone, cpu, memory, taints=(), **resources):
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {
            "topology.kubernetes.io/zone": zone, "kubernetes.io/os": "linux",
            "pool": name.split("-")[0]}}, "spec": {"taints": list(taints)},
                "status": {"allocatable": {"cpu": str(cpu), "memory": "%dGi" % memory,
                                           "pods": "110", **resources},
                           "conditions": [{"type": "Ready", "status": "True"}]}}

    gpu_taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    nodes = [node("worker-%02d" % i, "zone-%s" % "abc"[i % 3], 16, 64) for i in range(1, 43)]
    nodes += [node("gpu-%d" % i, "zone-%s" % "abc"[i % 3], 32, 128, [gpu_taint],
                   **{"nvidia.com/gpu": "4"}) for i in range(1, 7)]
    kinds = [("web", "shop", 110, "1500m", 3), ("api", "shop", 70, "2", 4),
             ("cart", "shop", 24, "1", 6), ("search", "shop", 18, "4", 14),
             ("batch", "reports", 30, "3", 5)]
    objects = list(nodes)
    events = []
    room = {one["metadata"]["name"]: [16000, 64] for one in nodes[:42]}

    def pod(name, namespace, owner, seconds, cpu, memory, **more):
        requests = {"cpu": cpu, "memory": "%dGi" % memory, **more.pop("requests", {})}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": name, "namespace": namespace, "uid": "uid-" + name,
            "creationTimestamp": stamp(seconds), "labels": {"app": owner},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": owner,
                                 "uid": "uid-" + owner, "controller": True}]},
                "spec": {"containers": [{"name": "c", "resources": {"requests": requests}}],
                         **more}}

    for owner, namespace, replicas, cpu, memory in kinds + [("trainer", "ml", 3, "8", 32),
                                                             ("warehouse", "reports", 2, "24", 96)]:
        template = pod("x", namespace, owner, 0, cpu, memory)["spec"]
        objects.append({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {
            "name": owner, "namespace": namespace, "uid": "uid-" + owner}, "spec": {
                "replicas": replicas, "selector": {"matchLabels": {"app": owner}},
                "template": {"metadata": {"labels": {"app": owner}}, "spec": template}}})
    for owner, namespace, replicas, cpu, memory in kinds:
        milli = int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000
        for i in range(replicas):
            seconds = chance.uniform(60, 2400) if owner != "batch" else chance.uniform(1500, 1700)
            name = "%s-%s" % (owner, "%05x" % chance.getrandbits(20))
            target = chance.choice([one for one, left in room.items()
                                    if left[0] >= milli and left[1] >= memory])
            room[target][0] -= milli
            room[target][1] -= memory
            wait = chance.expovariate(2) + (8 if owner == "batch" else 0)
            events.append((seconds, {"add": pod(name, namespace, owner, seconds, cpu, memory)}))
            events.append((seconds + wait, {"change": "Pod", "name": namespace + "/" + name,
                                            "patch": {"spec": {"nodeName": target}}}))
            if owner == "batch":
                end = seconds + chance.uniform(600, 1500)
                events.append((end, {"delete": "Pod", "name": namespace + "/" + name}))
    for i in range(3):
        events.append((3000 + i, {"add": pod(
            "trainer-%d" % i, "ml", "trainer", 3000 + i, "8", 32,
            requests={"nvidia.com/gpu": "1"})}))
    for i in range(2):
        events.append((3100 + i, {"add": pod(
            "warehouse-%d" % i, "reports", "warehouse", 3100 + i, "24", 96)}))
    events.append((3300, {"change": "Node", "name": "worker-17",
                          "patch": {"spec": {"unschedulable": True}}}))
    lines = [{"berthrec": 1, "start": stamp(0), "objects": len(objects)}]
    lines += [{"t": 0, "add": one} for one in objects]
    lines += [{"t": round(seconds, 3), **event}
              for seconds, event in sorted(events, key=lambda one: one[0])]
    lines.append({"t": 3600, "end": True})
    return "\n".join(json.dumps(line) for line in lines) + "\n"


PICTURES = (
    ("view-pending", "", "document.querySelector('#body .group')"),
    ("view-pod", "tab=details&pod=ml/trainer-0",
     "byId('body').innerText.includes('What would help')"),
    ("view-node", "tab=details&node=worker-03", "byId('body').innerText.includes('pods')"),
    ("view-whatif", "tab=whatif&what=drain+worker-03%0Aadd+2%3Dgpu-1",
     "byId('body').innerText.includes('Before')"),
    ("view-capacity", "tab=capacity&like=deployment/shop/search",
     "document.querySelector('#body .big')"),
    ("view-time", "at=1772443640000&color=memory", "document.querySelector('#body > *')"),
)


def save_pictures(program, folder):
    """Take the screenshots of docs/guide/looking-at-a-cluster.md: view.py BERTH pictures DIR."""
    path = program.write("shop.berthrec", made_up_hour())
    with serving(program, path) as page, \
            looking(page, width=1280, height=800) as window:
        for name, state, is_there in PICTURES:
            dark = name == "view-time"
            window.set_media(prefers_color_scheme="dark" if dark else "light")
            window.evaluate("location.hash = %s; readAddress(); show()" % json.dumps("#" + state))
            window.wait_for("!document.querySelector('#body .wait')")
            window.wait_for(is_there)
            window.evaluate("new Promise((resolve) => setTimeout(resolve, 400))")
            window.save_screenshot(os.path.join(folder, name + ".png"))


def test_the_pictures_of_the_guide_can_be_made(program):
    save_pictures(program, program.folder)
    for name, _, _ in PICTURES:
        with open(os.path.join(program.folder, name + ".png"), "rb") as file:
            assert len(file.read()) > 20000, name + " is empty"


if __name__ == "__main__":
    if sys.argv[2] == "pictures":
        with tempfile.TemporaryDirectory() as temporary:
            save_pictures(scenario.Program(sys.argv[1], False, temporary), sys.argv[3])
    else:
        scenario.main(globals())
