#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth scheduler` with HTTP extenders: every verb, both forms of nodes, failures, TLS."""
import contextlib
import http.server
import json
import ssl
import tempfile
import threading
import time

import daemon_harness as harness
import fault_proxy
import up


class Extender:
    """An extender whose verbs are functions: answer = verbs[name](request)."""

    def __init__(self, verbs, tls=None):
        self.asked = []  # (verb, request)
        self.verbs = verbs
        extender = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                assert self.headers["Content-Type"] == "application/json"
                verb = self.path.rsplit("/", 1)[1]
                request = json.loads(body)
                extender.asked.append((verb, request))
                answer = extender.verbs[verb](request)
                status = 200
                if isinstance(answer, tuple):
                    status, answer = answer
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                with contextlib.suppress(OSError):  # the client may have given up
                    self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        scheme = "http"
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        self.url = "%s://127.0.0.1:%d/scheduler" % (scheme, self.server.server_address[1])
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def requests(self, verb):
        return [request for asked, request in list(self.asked) if asked == verb]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@contextlib.contextmanager
def scene(program, extenders, nodes=4, **more):
    with harness.server(program) as api:
        harness.make_nodes(api, nodes)
        with harness.daemon(program, api, config={"extenders": extenders}, **more) as daemon:
            yield api, daemon


def only(*allowed):
    """Returns a filter verb that keeps these nodes; request and answer contain node objects."""
    def verb(request):
        assert request["NodeNames"] is None
        items = [node for node in request["Nodes"]["items"]
                 if node["metadata"]["name"] in allowed]
        failed = {node["metadata"]["name"]: "not mine" for node in request["Nodes"]["items"]
                  if node not in items}
        return {"Nodes": {"items": items}, "FailedNodes": failed, "Error": ""}
    return verb


def test_filter_with_objects(program):
    extender = Extender({"filter": only("n2")})
    with scene(program, [{"urlPrefix": extender.url, "filterVerb": "filter"}]) as (api, _):
        harness.make_pods(api, "p", 3)
        pods = harness.wait_until_bound(api, 3)
        assert {harness.node_of(item) for item in pods} == {"n2"}
    request = extender.requests("filter")[0]
    assert set(request) == {"Pod", "Nodes", "NodeNames"}
    assert request["Pod"]["metadata"]["name"].startswith("p")
    # Node objects are complete, with fields that a scheduler does not read.
    assert request["Pod"]["spec"]["containers"][0]["image"] == "registry.example/pause:3.9"
    assert "terminationGracePeriodSeconds" in request["Pod"]["spec"]
    assert len(request["Nodes"]["items"]) == 4
    assert request["Nodes"]["items"][0]["status"]["conditions"][0]["type"] == "Ready"
    extender.close()


def test_filter_with_names(program):
    def verb(request):
        assert request["Nodes"] is None
        return {"NodeNames": [name for name in request["NodeNames"] if name != "n0"],
                "FailedAndUnresolvableNodes": {"n0": "never"}}
    extender = Extender({"filter": verb})
    with scene(program, [{"urlPrefix": extender.url + "//", "filterVerb": "filter",
                          "nodeCacheCapable": True}], nodes=2) as (api, _):
        harness.make_pods(api, "p", 3)
        pods = harness.wait_until_bound(api, 3)
        assert {harness.node_of(item) for item in pods} == {"n1"}
    extender.close()


def condition_of(api, name):
    _, found = api.json("GET", harness.PODS + "/" + name)
    for condition in found["status"].get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return condition
    return None


def test_reasons_of_an_extender_are_reported(program):
    extender = Extender({"filter": only()})
    with scene(program, [{"urlPrefix": extender.url, "filterVerb": "filter"}]) as (api, _):
        harness.make_pods(api, "p", 1)
        condition = up.wait_for("a condition", lambda: condition_of(api, "p0"))
        assert condition["reason"] == "Unschedulable"
        assert condition["message"].startswith("0/4 nodes are available: 4 not mine."), condition
    extender.close()


def test_prioritize(program):
    def verb(request):
        names = [node["metadata"]["name"] for node in request["Nodes"]["items"]]
        return [{"Host": name, "Score": 10 if name == "n3" else 0} for name in names]
    extender = Extender({"prioritize": verb})
    with scene(program, [{"urlPrefix": extender.url, "prioritizeVerb": "prioritize",
                          "weight": 50}]) as (api, _):
        harness.make_pods(api, "p", 3)
        pods = harness.wait_until_bound(api, 3)
        assert {harness.node_of(item) for item in pods} == {"n3"}
    extender.close()


def test_bind(program):
    server = {}

    def verb(request):
        status, answer = server["api"].json(
            "POST", "/api/v1/namespaces/%s/pods/%s/binding" % (
                request["PodNamespace"], request["PodName"]),
            {"apiVersion": "v1", "kind": "Binding",
             "metadata": {"name": request["PodName"], "namespace": request["PodNamespace"],
                          "uid": request["PodUID"]},
             "target": {"kind": "Node", "name": request["Node"]}})
        return {"Error": "" if status == 201 else answer["message"]}
    extender = Extender({"bind": verb})
    with scene(program, [{"urlPrefix": extender.url, "bindVerb": "bind"}]) as (api, _):
        server["api"] = api
        harness.make_pods(api, "p", 3)
        harness.wait_until_bound(api, 3)
    assert len(extender.requests("bind")) == 3
    extender.close()


def test_preempt(program):
    def verb(request):
        assert request["NodeNameToMetaVictims"] is None
        name, victims = sorted(request["NodeNameToVictims"].items())[-1]
        return {"NodeNameToMetaVictims": {name: {
            "Pods": [{"UID": item["metadata"]["uid"]} for item in victims["Pods"]],
            "NumPDBViolations": 0}}}
    extender = Extender({"preempt": verb})
    with scene(program, [{"urlPrefix": extender.url, "preemptVerb": "preempt"}],
               nodes=3) as (api, _):
        for name, value in (("low", 1), ("high", 1000)):
            status, answer = api.json("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                "metadata": {"name": name}, "value": value})
            assert status == 201, answer
        harness.make_pods(api, "low", 3, cpu="15", priorityClassName="low",
                          terminationGracePeriodSeconds=0)
        harness.wait_until_bound(api, 3)
        harness.make_pods(api, "high", 1, cpu="15", priorityClassName="high")
        up.wait_for("a question", lambda: extender.requests("preempt"))
        pods = harness.wait_until_bound(api, 1, prefix="high")
        assert harness.node_of(pods[0]) == "n2"
        assert len([item for item in harness.list_pods(api)
                    if item["metadata"]["name"].startswith("low")]) == 2
    request = extender.requests("preempt")[0]
    assert set(request) == {"Pod", "NodeNameToVictims", "NodeNameToMetaVictims"}
    extender.close()


def test_ignorable_extenders_fail_without_harm(program):
    broken = Extender({"filter": lambda request: (500, {})})
    slow = Extender({"filter": lambda request: time.sleep(3) or {}})
    gone = Extender({})
    gone.close()
    extenders = [{"urlPrefix": url, "filterVerb": "filter", "ignorable": True,
                  "httpTimeout": "300ms"} for url in (broken.url, slow.url, gone.url)]
    with scene(program, extenders) as (api, daemon):
        harness.make_pods(api, "p", 3)
        harness.wait_until_bound(api, 3)
        text = daemon.output()
        assert "Skipping extender as it returned error and has ignorable flag set" in text
        assert "failed filter with extender at URL %s/filter, code 500" % broken.url in text
    broken.close()
    slow.close()


def test_an_extender_that_fails_fails_the_attempt(program):
    answers = [(500, {})] * 2

    def verb(request):
        return answers.pop() if answers else {"NodeNames": request["NodeNames"]}
    extender = Extender({"filter": verb})
    with scene(program, [{"urlPrefix": extender.url, "filterVerb": "filter",
                          "nodeCacheCapable": True}]) as (api, _):
        harness.make_pods(api, "p", 1)
        condition = up.wait_for("a condition", lambda: condition_of(api, "p0"))
        assert condition["reason"] == "SchedulerError", condition
        assert condition["message"] == (
            "failed filter with extender at URL %s/filter, code 500" % extender.url), condition
        harness.wait_until_bound(api, 1)
    extender.close()


def test_leases_are_renewed_while_an_extender_thinks(program):
    def verb(request):
        time.sleep(6)
        return {"NodeNames": request["NodeNames"]}
    extender = Extender({"filter": verb})
    election = {"leaderElect": True, "leaseDuration": "3s", "renewDeadline": "2s",
                "retryPeriod": "500ms"}
    with harness.server(program) as api:
        harness.make_nodes(api, 2)
        with harness.daemon(program, api, config={
                "leaderElection": election, "extenders": [{
                    "urlPrefix": extender.url, "filterVerb": "filter", "httpTimeout": "20s",
                    "nodeCacheCapable": True}]}) as daemon:
            daemon.wait_for_line("Successfully acquired lease")
            harness.make_pods(api, "p", 2)
            harness.wait_until_bound(api, 2, 60)
            assert daemon.is_running(), daemon.ended()
            assert daemon.stop() == 0
    extender.close()


def test_tls(program):
    with tempfile.TemporaryDirectory() as folder:
        pair = fault_proxy.make_certificate(folder)
        extender = Extender({"filter": only("n1")}, tls=pair)
        verb = {"urlPrefix": extender.url, "filterVerb": "filter", "enableHTTPS": True}
        # Requests succeed with the right CA, and without a CA, because then the certificate is not
        # verified. Requests fail with another CA.
        for tls in ({"tlsConfig": {"caFile": pair[0]}}, {}):
            with scene(program, [dict(verb, **tls)]) as (api, _):
                harness.make_pods(api, "p", 1)
                pods = harness.wait_until_bound(api, 1)
                assert harness.node_of(pods[0]) == "n1"
        other = fault_proxy.make_certificate(tempfile.mkdtemp(dir=folder))
        with scene(program, [dict(verb, tlsConfig={"caFile": other[0]})]) as (api, _):
            harness.make_pods(api, "p", 1)
            condition = up.wait_for("a condition", lambda: condition_of(api, "p0"))
            assert condition["reason"] == "SchedulerError"
            assert "certificate signed by unknown authority" in condition["message"], condition
        extender.close()


if __name__ == "__main__":
    up.main(globals())
