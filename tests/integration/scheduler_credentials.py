#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`berth scheduler` and its ways to authenticate and to reach the server: certificates, tokens,
credential plugins, passwords, proxies, server names. If a file changes while the daemon runs, the
daemon reads the file again. Spec 13 sections 4 to 7."""
import asyncio
import base64
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import types

import daemon_harness as harness
import fault_proxy
import up

NODES = 5
PODS = 20
AT_ONCE = 4
UNAUTHORIZED = fault_proxy.status_body(401, "Unauthorized", "Unauthorized")


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Authority:
    """A CA that signs client certificates."""

    def __init__(self, folder):
        self.folder = folder
        self.certificate, self.key = fault_proxy.make_certificate(
            folder, "DNS:authority", "authority")

    def issue(self, name):
        """Returns (certificate, key) for this common name, as PEM text."""
        key, request, certificate = (
            os.path.join(self.folder, name + end) for end in (".key", ".csr", ".crt"))
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=" + name)
        run("openssl", "x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey",
            self.key, "-CAcreateserial", "-out", certificate, "-days", "2")
        return read(certificate), read(key)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text, mode=0o600):
    """Replaces a file atomically, as kubelets do."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path + ".new", mode)
    os.rename(path + ".new", path)
    return path


def encoded(text):
    return base64.b64encode(text.encode()).decode()


class Scene:
    """A server, a proxy for clients, and daemons with separate kubeconfigs."""

    def __init__(self, program, api, proxy, folder):
        self.program = program
        self.api = api
        self.proxy = proxy
        self.folder = folder
        self.made = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    @contextlib.contextmanager
    def daemon(self, user=None, cluster=None, environment=None, secrets=()):
        """Runs a daemon with a separate kubeconfig. cluster: members that replace or extend the
        correct members of the kubeconfig's cluster."""
        found = {"server": self.proxy.server, "certificate-authority": self.proxy.ca_file}
        found.update(cluster or {})
        document = {
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {
                key: value for key, value in found.items() if value is not None}}],
            "users": [{"name": "u", "user": user or {}}]}
        kubeconfig = write(self.path("kubeconfig"), json.dumps(document))
        with harness.daemon(self.program, types.SimpleNamespace(kubeconfig=kubeconfig),
                            environment=environment) as daemon:
            yield daemon
            for secret in secrets:
                assert secret not in daemon.output(), "a secret is in the log"

    def bind_more(self, daemon):
        """Creates more pods and waits until they are bound."""
        prefix = "p%d-" % self.made
        self.made += 1
        harness.make_pods(self.api, prefix, PODS, cpu="10m")
        try:
            harness.wait_until_bound(self.api, PODS, 60, prefix)
        except AssertionError:
            print(daemon.output()[-4000:])
            raise

    def watches(self):
        return [request for request in self.proxy.requests if request.is_watch]


@contextlib.contextmanager
def scene(program, policy=None, **more):
    with contextlib.ExitStack() as stack:
        api = stack.enter_context(harness.server(program))
        harness.make_nodes(api, NODES, pods="1000")
        more.setdefault("token", api.token)
        proxy = fault_proxy.FaultProxy(api, policy, **more)
        stack.callback(proxy.close)
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        yield Scene(program, api, proxy, folder)


def bearer(request):
    return re.sub("^Bearer ", "", request.headers.get("authorization", ""))


# --- certificates ---

def test_certificate_in_files_is_rotated(program):
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(folder)
        with scene(program, client_ca=authority.certificate) as found:
            certificate, key = authority.issue("first")
            user = {"client-certificate": write(found.path("client.crt"), certificate),
                    "client-key": write(found.path("client.key"), key)}
            with found.daemon(user) as daemon:
                found.bind_more(daemon)
                assert {request.peer for request in found.proxy.requests} == {"first"}
                # For a while the new certificate is on disk with the old key: the daemon continues
                # to use the old pair.
                certificate, key = authority.issue("second")
                write(found.path("client.crt"), certificate)
                found.bind_more(daemon)
                time.sleep(1.2)
                found.proxy.cut_everything()
                found.bind_more(daemon)
                assert {request.peer for request in found.proxy.requests} == {"first"}
                write(found.path("client.key"), key)
                time.sleep(1.2)
                found.proxy.cut_everything()
                before = len(found.proxy.requests)
                found.bind_more(daemon)
                # Only the last requests are checked, because connections that were opened before
                # the change may still use the first pair.
                later = found.proxy.requests[before:]
                assert len(later) > 10
                assert {request.peer for request in later[-10:]} == {"second"}


def test_certificate_given_inline(program):
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(folder)
        with scene(program, client_ca=authority.certificate) as found:
            certificate, key = authority.issue("inline")
            user = {"client-certificate-data": encoded(certificate),
                    "client-key-data": encoded(key), "token": "also-a-token"}
            cluster = {"certificate-authority": None,
                       "certificate-authority-data": encoded(read(found.proxy.ca_file))}
            with found.daemon(user, cluster, secrets=["also-a-token"]) as daemon:
                found.bind_more(daemon)
            # The daemon sends both the certificate and the token.
            assert {(request.peer, bearer(request)) for request in found.proxy.requests} == {
                ("inline", "also-a-token")}


def test_no_certificate_where_one_is_needed(program):
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(folder)
        with scene(program, client_ca=authority.certificate) as found:
            with found.daemon({"token": "t0ken"}, secrets=["t0ken"]) as daemon:
                daemon.wait_for_line("Failed to watch")
                assert re.search("failed to list .*(tls: |EOF|reset|broken)", daemon.output())
            assert not found.proxy.requests


# --- tokens ---

def test_token_file_is_rotated(program):
    """The daemon reads the token again after 50 s; no watch ends because of the new token."""
    def policy(request):
        return None if bearer(request) in accepted else fault_proxy.Answer(401, UNAUTHORIZED)
    accepted = {"first-token"}
    with scene(program, policy) as found:
        path = write(found.path("token"), "  first-token\n")
        with found.daemon({"tokenFile": path, "token": "ignored"},
                          secrets=["first-token", "second-token", "ignored"]) as daemon:
            found.bind_more(daemon)
            watches = len(found.watches())
            accepted.add("second-token")
            write(path, "second-token")
            os.unlink(path)  # for a while the file is missing
            deadline = time.monotonic() + 58
            while time.monotonic() < deadline:
                found.bind_more(daemon)
                if "Unable to rotate token" in daemon.output():
                    write(path, "second-token")
                    found.bind_more(daemon)
                    break
                time.sleep(2)
            accepted.discard("first-token")
            found.bind_more(daemon)
            assert bearer(found.proxy.requests[-1]) == "second-token"
            assert "Unable to rotate token" in daemon.output()
            assert len(found.watches()) == watches


IN_CLUSTER = """#!/bin/sh
# A service account where pods have it, seen by this process only.
exec unshare -m sh -c 'mount -t tmpfs none /run &&
    mkdir -p /run/secrets/kubernetes.io/serviceaccount &&
    mount --bind %s /run/secrets/kubernetes.io/serviceaccount && exec "$0" "$@"' %s "$@"
"""


def may_mount():
    return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/run"],
                          capture_output=True, check=False).returncode == 0


def test_in_cluster_under_load(program):
    """The token changes while pods are bound; the former token expires later."""
    if not may_mount():
        print("test_in_cluster_under_load needs a mount namespace: skipped")
        return

    def policy(request):
        return None if bearer(request) in accepted else fault_proxy.Answer(401, UNAUTHORIZED)
    accepted = {"first-token"}
    with scene(program, policy) as found:
        folder = found.path("account")
        os.mkdir(folder)
        write(os.path.join(folder, "token"), "first-token")
        write(os.path.join(folder, "ca.crt"), read(found.proxy.ca_file))
        wrapper = write(found.path("berth"), IN_CLUSTER % (folder, program.path), 0o700)
        environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1",
                       "KUBERNETES_SERVICE_PORT": str(found.proxy.port)}
        with harness.daemon(types.SimpleNamespace(path=wrapper),
                            types.SimpleNamespace(kubeconfig=""),
                            environment=environment) as daemon:
            found.bind_more(daemon)
            assert "Using the inClusterConfig" in daemon.output()
            accepted.add("second-token")
            write(os.path.join(folder, "token"), "second-token")
            watches = len(found.watches())
            deadline = time.monotonic() + 58
            while bearer(found.proxy.requests[-1]) != "second-token":
                assert time.monotonic() < deadline
                found.bind_more(daemon)
                time.sleep(2.5)
            accepted.discard("first-token")
            found.bind_more(daemon)
            assert len(found.watches()) == watches
            for token in ("first-token", "second-token"):
                assert token not in daemon.output()


def test_basic(program):
    expected = "Basic " + encoded("user:pass:word")

    def policy(request):
        right = request.headers.get("authorization") == expected
        return None if right else fault_proxy.Answer(401, UNAUTHORIZED)
    with scene(program, policy) as found:
        with found.daemon({"username": "user", "password": "pass:word"},
                          secrets=["pass:word", encoded("user:pass:word")]) as daemon:
            found.bind_more(daemon)


# --- plugins ---

PLUGIN = """#!%s
import json, os, sys, time
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
assert info["kind"] == "ExecCredential" and sys.argv[1:] == ["get", "it"]
assert os.environ["COLOUR"] == "green"
folder = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(folder, "runs"), "a") as file:
    file.write(json.dumps(info["spec"]) + "\\n")
status = {"token": "at-%%.3f" %% time.time()}
with open(os.path.join(folder, "status")) as file:
    status.update(json.load(file))
life = status.pop("life", None)
if life is not None:
    end = time.time() + life
    status["expirationTimestamp"] = time.strftime(
        "%%Y-%%m-%%dT%%H:%%M:%%S", time.gmtime(end)) + (".%%03dZ" %% (end %% 1 * 1000))
print(json.dumps({"kind": "ExecCredential", "apiVersion": info["apiVersion"], "status": status}))
""" % sys.executable


def plugin(found, **more):
    path = write(found.path("plugin"), PLUGIN, 0o700)
    return {"exec": dict({
        "apiVersion": "client.authentication.k8s.io/v1", "command": path, "args": ["get", "it"],
        "env": [{"name": "COLOUR", "value": "green"}], "interactiveMode": "Never"}, **more)}


def runs(found):
    return [json.loads(line) for line in read(found.path("runs")).splitlines()]


def test_plugin_whose_tokens_last_a_second(program):
    refused = []

    def policy(request):
        try:
            age = time.time() - float(bearer(request).replace("at-", ""))
        except ValueError:
            age = 1e9
        if age < 2.5:
            return None
        refused.append(request)
        return fault_proxy.Answer(401, UNAUTHORIZED)
    with scene(program, policy) as found:
        write(found.path("status"), json.dumps({"life": 1}))
        with found.daemon(plugin(found, provideClusterInfo=True), secrets=["at-"]) as daemon:
            found.bind_more(daemon)
            watches = len(found.watches())
            for _ in range(5):
                time.sleep(1)
                found.bind_more(daemon)
            assert len(found.watches()) == watches  # their token was valid when they started
        assert not refused, [request.target for request in refused]
        asked = runs(found)
        assert 5 <= len(asked) < 60, len(asked)
        assert asked[0]["interactive"] is False
        assert asked[0]["cluster"]["server"] == found.proxy.server
        assert base64.b64decode(asked[0]["cluster"]["certificate-authority-data"]).decode() == (
            read(found.proxy.ca_file))


def test_token_of_a_plugin_is_revoked(program):
    revoked = [0.0]

    def policy(request):
        given = bearer(request)
        if given and float(given.replace("at-", "")) > revoked[0]:
            return None
        return fault_proxy.Answer(401, UNAUTHORIZED)
    with scene(program, policy) as found:
        write(found.path("status"), "{}")
        with found.daemon(plugin(found), secrets=["at-"]) as daemon:
            found.bind_more(daemon)
            before = len(runs(found))
            assert before <= 3, before  # one run for each kubeconfig
            revoked[0] = time.time()
            found.bind_more(daemon)  # the first binding fails, and the pod is retried
            assert len(runs(found)) == before + 1


# The daemon watches these config maps with the authentication kubeconfig. The credential plugin of
# that kubeconfig runs again when another request needs a token.
CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"


def paths(found, peer):
    return {request.path for request in found.watches() if request.peer == peer}


def test_plugin_gives_certificates(program):
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(folder)
        with scene(program, client_ca=authority.certificate) as found:
            def give(name, life):
                certificate, key = authority.issue(name)
                write(found.path("status"), json.dumps({
                    "token": None, "life": life, "clientCertificateData": certificate,
                    "clientKeyData": key}))
            give("first", 3)
            with found.daemon(plugin(found)) as daemon:
                found.bind_more(daemon)
                give("second", 3600)
                time.sleep(3)
                found.bind_more(daemon)
                # All connections were closed, and the watches were opened again.
                up.wait_for("watches of the second", lambda: paths(found, "second") ==
                            paths(found, "first") - {CONFIG_MAPS}, 30)
                assert "Failed to watch" not in daemon.output()
                # Each watch resumes at its last version, without a new list.
                assert not [request for request in found.watches()
                            if request.peer == "second" and "sendInitialEvents" in request.query]


def test_plugin_that_fails(program):
    with scene(program) as found:
        with found.daemon(plugin(found)) as daemon:  # the plugin finds no status file
            daemon.wait_for_line("getting credentials: exec: executable %s failed with exit code 1"
                                 % found.path("plugin"))
            assert not found.proxy.requests
            write(found.path("status"), "{}")
            found.bind_more(daemon)


# --- proxies ---

class ConnectProxy:
    """A proxy for CONNECT only. Every host name leads to 127.0.0.1."""

    def __init__(self, credentials=None):
        self.asked = []  # (target, credentials)
        self.credentials = credentials
        self._loop = asyncio.new_event_loop()
        started = threading.Event()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

        async def start():
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=200)
            self.port = server.sockets[0].getsockname()[1]
            started.set()
        asyncio.run_coroutine_threadsafe(start(), self._loop)
        assert started.wait(10)

    async def _serve(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target, _ = head.split(" ", 2)
            given = re.search(r"(?im)^proxy-authorization: *basic (\S+)", head)
            given = base64.b64decode(given.group(1)).decode() if given else None
            assert method == "CONNECT" and "authorization: bearer" not in head.lower(), head
            self.asked.append((target, given))
            if given != self.credentials:
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n"
                             b"Content-Length: 0\r\n\r\n")
                await writer.drain()
                writer.close()
                return
            other_reader, other_writer = await asyncio.open_connection(
                "127.0.0.1", int(target.rsplit(":", 1)[1]))
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await asyncio.gather(self._pass(reader, other_writer),
                                 self._pass(other_reader, writer))

    @staticmethod
    async def _pass(reader, writer):
        with contextlib.suppress(OSError):
            while True:
                data = await reader.read(65536)
                if not data:
                    break
                writer.write(data)
                await writer.drain()
        writer.close()


def test_proxy_url_with_credentials(program):
    connect = ConnectProxy("me:se:cret")
    with scene(program) as found:
        url = "http://me:se%%3Acret@127.0.0.1:%d" % connect.port
        with found.daemon({"token": "t"}, {"proxy-url": url},
                          secrets=["se:cret", "se%3Acret"]) as daemon:
            found.bind_more(daemon)
        target = "127.0.0.1:%d" % found.proxy.port
        assert set(connect.asked) == {(target, "me:se:cret")}
        # One connection for each watch, a few for calls.
        assert len(connect.asked) < 60, len(connect.asked)


def test_proxy_and_server_name(program):
    """The certificate is verified against tls-server-name; the proxy gets the host of the URL."""
    connect = ConnectProxy()
    with scene(program, names="DNS:api.berth.test") as found:
        cluster = {"tls-server-name": "api.berth.test",
                   "proxy-url": "http://127.0.0.1:%d" % connect.port}
        with found.daemon({"token": "t"}, cluster) as daemon:
            found.bind_more(daemon)
        assert {target for target, _ in connect.asked} == {"127.0.0.1:%d" % found.proxy.port}


def test_proxy_refuses(program):
    connect = ConnectProxy("me:right")
    with scene(program) as found:
        url = "http://me:wr0ng@127.0.0.1:%d" % connect.port
        with found.daemon({"token": "t"}, {"proxy-url": url}, secrets=["wr0ng"]) as daemon:
            daemon.wait_for_line("Failed to watch")
            assert "407" in daemon.output() or "Proxy Authentication" in daemon.output()
        assert not found.proxy.requests


def test_proxy_of_the_environment(program):
    connect = ConnectProxy()
    with scene(program, names="DNS:api.berth.test") as found:
        server = "https://api.berth.test:%d" % found.proxy.port
        proxy = "http://127.0.0.1:%d" % connect.port
        environment = {"HTTPS_PROXY": proxy, "NO_PROXY": "other.test,10.0.0.0/8"}
        with found.daemon({"token": "t"}, {"server": server},
                          environment=environment) as daemon:
            found.bind_more(daemon)
        assert {target for target, _ in connect.asked} == {
            "api.berth.test:%d" % found.proxy.port}
        # Hosts in NO_PROXY are resolved directly, and this name does not exist.
        count = len(connect.asked)
        environment["NO_PROXY"] = ".berth.test"
        with found.daemon({"token": "t"}, {"server": server},
                          environment=environment) as daemon:
            daemon.wait_for_line("lookup api.berth.test")
        assert len(connect.asked) == count


def test_loopback_is_not_proxied(program):
    with scene(program) as found:
        environment = {"HTTPS_PROXY": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1"}
        with found.daemon({"token": "t"}, environment=environment) as daemon:
            found.bind_more(daemon)


# --- certificate authorities ---

def test_tls_server_name(program):
    with scene(program, names="DNS:api.berth.test") as found:
        with found.daemon({"token": "t"}, {"tls-server-name": "api.berth.test"}) as daemon:
            found.bind_more(daemon)
        with found.daemon({"token": "t"}) as daemon:
            daemon.wait_for_line("x509: certificate is not valid for 127.0.0.1")


def test_insecure(program):
    with scene(program, names="DNS:another") as found:
        cluster = {"certificate-authority": None, "insecure-skip-tls-verify": True}
        with found.daemon({"token": "t"}, cluster) as daemon:
            found.bind_more(daemon)
        cluster["certificate-authority"] = found.proxy.ca_file
        with found.daemon({"token": "t"}, cluster) as daemon:
            assert daemon.process.wait(30) == 1
            assert ("specifying a root certificates file with the insecure flag is not allowed"
                    in daemon.output())


def test_wrong_authority(program):
    with tempfile.TemporaryDirectory() as folder:
        wrong, _ = fault_proxy.make_certificate(folder, subject="wrong")
        with scene(program) as found:
            with found.daemon({"token": "t0ken"}, {"certificate-authority": wrong},
                              secrets=["t0ken"]) as daemon:
                daemon.wait_for_line("x509: certificate signed by unknown authority")
            assert not found.proxy.requests
            with found.daemon({"token": "t0ken"}, {
                    "certificate-authority": None,
                    "certificate-authority-data": encoded("hello")}) as daemon:
                assert daemon.process.wait(30) == 1
                assert ("unable to load root certificates: unable to parse bytes as PEM block"
                        in daemon.output())


if __name__ == "__main__":
    up.main(globals())
