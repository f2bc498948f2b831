#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Error answers over real connections: codes, reasons, messages. Spec: 14, 13 section 9.
crash.py tests expired versions (410), since a restart forgets old ones; limits.py tests limits."""
import json
import time

import pipeline
import up

FLAGS = ["--nodes", "1"]
PODS = "/api/v1/namespaces/default/pods"
JSON = {"Content-Type": "application/json"}


def refused(cluster, method, path, code, reason, message, body=None, **more):
    """Returns the Status of a refused request."""
    status, found = cluster.json(method, path, body, **more)
    assert status == code, (status, found)
    assert found["kind"] == "Status" and found["status"] == "Failure" and found["code"] == code
    assert found.get("reason", "") == reason, found
    assert message in found["message"], found["message"]
    return found


def pod(name="p", **spec):
    return {"metadata": {"name": name},
            "spec": dict({"containers": [{"name": "c", "image": "i:1"}]}, **spec)}


def test_400(cluster):
    refused(cluster, "POST", PODS, 400, "BadRequest", "", b"{", headers=JSON)
    refused(cluster, "POST", PODS, 400, "BadRequest", 'Service in version "v1" cannot be handled'
            " as a Pod", {"kind": "Service", "apiVersion": "v1"})
    refused(cluster, "GET", PODS + "?limit=x", 400, "BadRequest", "strconv.ParseInt")
    refused(cluster, "GET", PODS + "?fieldSelector=spec.foo%3D1", 400, "BadRequest",
            "field label not supported: spec.foo")
    refused(cluster, "GET", PODS + "?labelSelector=%3D%3D", 400, "BadRequest", "")
    refused(cluster, "POST", PODS + "?fieldValidation=Strict", 400, "BadRequest",
            'unknown field "spec.bad"', pod(bad=1))
    refused(cluster, "POST", PODS, 400, "BadRequest", "", b"[" * 100000, headers=JSON)


def test_401_and_403(cluster):
    found = refused(cluster, "GET", PODS, 401, "Unauthorized", "Unauthorized", token="wrong")
    assert found == {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                     "message": "Unauthorized", "reason": "Unauthorized", "code": 401}
    refused(cluster, "GET", PODS, 403, "Forbidden", 'User "system:anonymous" cannot list resource '
            '"pods" in API group "" in the namespace "default"', token="")
    assert cluster.get("/healthz", token="")[1] == b"ok"


def test_404(cluster):
    found = refused(cluster, "GET", PODS + "/nope", 404, "NotFound", 'pods "nope" not found')
    assert found["details"] == {"name": "nope", "kind": "pods"}
    refused(cluster, "GET", "/api/v1/foos", 404, "NotFound",
            "the server could not find the requested resource")
    status, body = cluster.get("/apis/foo/v1/bars")
    assert (status, body.strip()) == (404, b"404 page not found")
    refused(cluster, "POST", "/api/v1/namespaces/nope/pods", 404, "NotFound",
            'namespaces "nope" not found', pod())


def test_405(cluster):
    refused(cluster, "POST", PODS + "/x", 405, "MethodNotAllowed",
            "the server does not allow this method on the requested resource", pod())
    refused(cluster, "DELETE", "/api/v1/namespaces", 405, "MethodNotAllowed", "")


def test_406(cluster):
    refused(cluster, "GET", PODS, 406, "NotAcceptable",
            "only the following media types are accepted", headers={"Accept": "image/png"})


def test_409(cluster):
    cluster.json("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "m"}})
    found = refused(cluster, "POST", "/api/v1/namespaces/default/configmaps", 409,
                    "AlreadyExists", 'configmaps "m" already exists', {"metadata": {"name": "m"}})
    assert found["details"] == {"name": "m", "kind": "configmaps"}
    refused(cluster, "PUT", "/api/v1/namespaces/default/configmaps/m", 409, "Conflict",
            "the object has been modified; please apply your changes to the latest version",
            {"metadata": {"name": "m", "resourceVersion": "1"}})


def test_413(cluster):
    refused(cluster, "POST", PODS, 413, "RequestEntityTooLarge", "",
            b" " * (4 << 20), headers=JSON)
    # The server refuses a Content-Length that is too large before any byte of the body arrives.
    with pipeline.connect(cluster) as connection:
        connection.sendall(pipeline.head(cluster, "POST", PODS, "Content-Type: application/json\r\n"
                                "Content-Length: 1000000000\r\n"))
        assert connection.recv(100).startswith(b"HTTP/1.1 413"), "not refused"


def test_415(cluster):
    refused(cluster, "POST", PODS, 415, "UnsupportedMediaType",
            "the body of the request was in an unknown format", b"x",
            headers={"Content-Type": "text/plain"})
    refused(cluster, "PATCH", "/api/v1/namespaces/default/configmaps/m", 415,
            "UnsupportedMediaType", "", b"{}", headers=JSON)


def test_422(cluster):
    found = refused(cluster, "POST", PODS, 422, "Invalid", 'Pod "p" is invalid: ',
                    {"metadata": {"name": "p"}, "spec": {"containers": []}})
    assert found["details"]["causes"][0] == {
        "reason": "FieldValueRequired", "message": "Required value",
        "field": "spec.containers"}, found["details"]
    refused(cluster, "POST", PODS + "?dryRun=Foo", 422, "Invalid",
            'dryRun: Unsupported value: ["Foo"]: supported values: "All"', pod())
    refused(cluster, "GET", PODS + "?sendInitialEvents=true", 422, "Invalid",
            "sendInitialEvents is forbidden for list")


def test_429(cluster):
    labelled = dict(pod("guarded"), metadata={"name": "guarded", "labels": {"a": "b"}})
    assert cluster.json("POST", PODS, labelled)[0] == 201
    up.wait_for("a running pod", lambda: cluster.json("GET", PODS + "/guarded")[1]["status"][
        "phase"] == "Running")
    budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    cluster.json("POST", budgets, {"metadata": {"name": "b"}, "spec": {
        "minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}})
    up.wait_for("a status", lambda: cluster.json("GET", budgets + "/b")[1]["status"].get(
        "currentHealthy") == 1)
    found = refused(cluster, "POST", PODS + "/guarded/eviction", 429, "TooManyRequests",
                    "Cannot evict pod as it would violate the pod's disruption budget.",
                    {"apiVersion": "policy/v1", "kind": "Eviction",
                     "metadata": {"name": "guarded"}})
    assert found["details"]["causes"][0]["reason"] == "DisruptionBudget"
    assert "needs 1 healthy pods and has 1 currently" in found["details"]["causes"][0]["message"]


def test_504(cluster):
    started = time.monotonic()
    status, headers, body = cluster.request("GET", PODS + "?resourceVersion=999999999")
    assert status == 504 and headers["Retry-After"] == "1"
    found = json.loads(body)
    assert found["reason"] == "Timeout"
    assert found["message"].startswith("Timeout: Too large resource version: 999999999, current: ")
    assert time.monotonic() - started < 10


def test_nonsense(cluster):
    for text in (b"\0" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01" * 100,
                 b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzzzz\r\n",
                 b"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n"):
        with pipeline.connect(cluster) as connection:
            connection.sendall(text)
            connection.settimeout(2)
            try:
                connection.recv(1000)
            except OSError:
                pass
    assert cluster.get("/readyz")[1] == b"ok"


def test_http_refuses_what_browsers_send(program):
    """Plain HTTP needs no token, so pages of other web sites must not reach the server."""
    with program.up("--tls", "off") as cluster:
        assert cluster.get("/api/v1/nodes")[0] == 200
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            assert cluster.get("/api/v1/nodes", headers=headers)[0] == 403, headers


if __name__ == "__main__":
    up.main(globals())
