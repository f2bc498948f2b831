# SPDX-License-Identifier: Apache-2.0
"""`berth scheduler` against an API server in another process, over TLS.

The server is `berth up --no-scheduler`, or a real kube-apiserver with its etcd (kube_apiserver.py):
the same tests run against both.
"""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

import kube_apiserver
import up

VERIFY = {"BERTH_VERIFY": "1"}
# Runs almost no controllers, as kube-apiserver has none. The flag needs a name, and this controller
# has nothing to do.
NO_CONTROLLERS = "--controllers=podgroup-protection-controller"
PODS = "/api/v1/namespaces/default/pods"
START_SECONDS = 60


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """An API server that can be stopped, killed and started again on the same port."""

    def __init__(self, program, folder, flags=()):
        self.program = program
        self.folder = folder
        self.flags = list(flags)
        self.port = free_port()
        self.cluster = None
        self.start()

    def start(self):
        for attempt in range(20):
            try:
                self.cluster = up.Cluster(
                    self.program, self.folder, "--no-scheduler", NO_CONTROLLERS, "--listen",
                    "127.0.0.1:%d" % self.port, "--data-dir", os.path.join(self.folder, "data"),
                    *self.flags)
                return
            except AssertionError:
                # The connection of a watch may hold the port for a moment.
                if attempt == 19:
                    raise
                time.sleep(0.2)

    def stop(self, number=signal.SIGTERM):
        return self.cluster.stop(number)

    def finish(self):
        if self.cluster.process.poll() is None:
            self.cluster.stop(signal.SIGKILL)

    def __getattr__(self, name):
        return getattr(self.cluster, name)


@contextlib.contextmanager
def server(program, *flags):
    """Runs an API server during a with block; yields the Server or KubeApiServer."""
    with tempfile.TemporaryDirectory() as folder:
        if kube_apiserver.is_wanted():
            found = kube_apiserver.KubeApiServer(folder)
        else:
            found = Server(program, folder, flags)
        try:
            yield found
        except BaseException:
            print(found.output()[-3000:])
            raise
        finally:
            found.finish()


def write_kubeconfig(path, url, ca_file, token):
    """Writes a kubeconfig with a token. scheduler_credentials.py tests client certificates."""
    document = {
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {
            "server": url, "certificate-authority": ca_file}}],
        "users": [{"name": "u", "user": {"token": token}}]}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    os.chmod(path, 0o600)


class Daemon:
    """One `berth scheduler`."""

    def __init__(self, program, folder, api, *flags, config=None, environment=None, name="daemon",
                 proxy=None):
        self.folder = folder
        self.name = name
        self.port = free_port()
        kubeconfig = os.path.join(folder, name + ".kubeconfig")
        if proxy is not None:
            write_kubeconfig(kubeconfig, proxy.server, proxy.ca_file, api.token)
        else:
            kubeconfig = api.kubeconfig
        document = {"apiVersion": "kubescheduler.config.k8s.io/v1",
                    "kind": "KubeSchedulerConfiguration",
                    "clientConnection": {"kubeconfig": kubeconfig, "qps": -1},
                    "leaderElection": {"leaderElect": False}}
        for key, value in (config or {}).items():
            if isinstance(value, dict):
                document.setdefault(key, {}).update(value)
            else:
                document[key] = value
        self.config = os.path.join(folder, name + ".yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump(document, file)
        self.log_path = os.path.join(folder, name + ".log")
        self.log = open(self.log_path, "ab")
        self.command = [program.path, "scheduler", "--config", self.config, "--bind-address",
                        "127.0.0.1", "--secure-port", str(self.port), "-v", "3",
                        "--authentication-kubeconfig", kubeconfig,
                        "--authorization-kubeconfig", kubeconfig] + list(flags)
        self.is_stopped = False
        self.process = subprocess.Popen(
            self.command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
            env=dict(os.environ, **dict(VERIFY, **(environment or {}))))

    def output(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for_line(self, text, seconds=START_SECONDS):
        def seen():
            assert self.process.poll() is None or text in self.output(), self.ended()
            return text in self.output()
        return up.wait_for("%r in the log of %s" % (text, self.name), seen, seconds)

    def ended(self):
        return "%s ended with %r\n%s" % (self.name, self.process.poll(), self.output()[-4000:])

    def stop(self, number=signal.SIGTERM, seconds=30):
        """Stops the daemon and returns its exit status."""
        if self.process.poll() is None:
            self.is_stopped = True
            self.process.send_signal(number)
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("%s does not end\n%s" % (self.name, self.output()[-4000:]))
        finally:
            self.log.close()

    def is_running(self):
        return self.process.poll() is None


@contextlib.contextmanager
def daemon(program, api, *flags, **more):
    """Runs a daemon during a with block, and kills the daemon at the end. Asserts that no signal
    but one of stop() ended the daemon, and that the daemon's output has no report of a sanitizer,
    of a failed assertion or of BERTH_VERIFY."""
    with tempfile.TemporaryDirectory() as folder:
        found = Daemon(program, folder, api, *flags, **more)
        try:
            yield found
        except BaseException:
            print(found.output()[-6000:])
            raise
        finally:
            if found.is_running():
                found.stop(signal.SIGKILL)
        assert found.is_stopped or found.process.poll() >= 0, found.ended()
        text = found.output()
        for word in ("AddressSanitizer", "runtime error", "BERTH_VERIFY", "assertion"):
            assert word not in text, text[-6000:]


def change(api, method, path, document):
    """Sends a write that must succeed."""
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    status, _, text = api.request(method, path, json.dumps(document).encode(),
                                  headers={"Content-Type": kind})
    assert status in (200, 201), text


def make_nodes(api, count, cpu="16", pods="110"):
    """Creates nodes without a kubelet: pods on them stay Pending."""
    for i in range(count):
        resources = {"cpu": cpu, "memory": "64Gi", "pods": pods}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {
                    "name": "n%d" % i, "labels": {"kubernetes.io/hostname": "n%d" % i}}}
        status = {"allocatable": resources, "capacity": resources, "conditions": [
            {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "",
             "lastHeartbeatTime": "2026-01-01T00:00:00Z",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]}
        change(api, "POST", "/api/v1/nodes", node)
        change(api, "PATCH", "/api/v1/nodes/n%d/status" % i, {"status": status})
        # A new node is tainted until the node is ready.
        change(api, "PATCH", "/api/v1/nodes/n%d" % i, {"spec": {"taints": None}})


def pod(name, cpu="100m", **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": dict({
        "containers": [{"name": "c", "image": "registry.example/pause:3.9",
                        "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}]}, **spec)}


def make_pods(api, prefix, count, cpu="100m", **spec):
    for i in range(count):
        status, answer = api.json("POST", PODS, pod("%s%d" % (prefix, i), cpu, **spec))
        assert status == 201, answer


def list_pods(api):
    status, found = api.json("GET", PODS)
    assert status == 200, found
    return found["items"]


def node_of(item):
    return item["spec"].get("nodeName", "")


def wait_until_bound(api, count, seconds=120, prefix=""):
    """Waits until this many pods (with the prefix) have a node, and returns the pods."""
    def bound():
        try:
            items = list_pods(api)
        except (OSError, ValueError):
            return None  # the server restarts meanwhile
        found = [item for item in items if node_of(item) and
                 item["metadata"]["name"].startswith(prefix)]
        return found if len(found) >= count else None
    return up.wait_for("%d pods bound" % count, bound, seconds)


class Bindings:
    """Records every assignment of every pod from a separate watch."""

    def __init__(self, api):
        self.api = api
        self.nodes = {}  # uid -> the pod's nodes, in order
        self.at = {}     # uid -> when the pod was first seen bound
        self.stopping = False
        self.error = None
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        assert self.ready.wait(30), self.error

    def _see(self, item):
        node = node_of(item)
        uid = item["metadata"]["uid"]
        seen = self.nodes.setdefault(uid, [])
        if node and (not seen or seen[-1] != node):
            seen.append(node)
            self.at.setdefault(uid, time.monotonic())
        elif not node and seen:
            seen.append("")

    def _gone(self, item):
        """Hook for subclasses: a pod was deleted."""

    def _listed(self, items):
        """Hook for subclasses: the whole list, before _see() gets each item."""

    def _run(self):
        while not self.stopping:
            try:
                status, found = self.api.json("GET", PODS)
                if status != 200:
                    time.sleep(0.1)
                    continue
                self._listed(found["items"])
                for item in found["items"]:
                    self._see(item)
                self.ready.set()
                self._watch(found["metadata"]["resourceVersion"])
            except (OSError, ValueError) as error:
                self.error = error
                time.sleep(0.1)

    def _watch(self, version):
        import urllib.request
        asked = urllib.request.Request(
            "%s%s?watch=true&resourceVersion=%s&timeoutSeconds=30" % (
                self.api.server, PODS, version),
            headers={"Authorization": "Bearer " + self.api.token})
        with urllib.request.urlopen(asked, context=self.api.tls(), timeout=40) as stream:
            for line in stream:
                event = json.loads(line)
                if event["type"] in ("ADDED", "MODIFIED"):
                    self._see(event["object"])
                elif event["type"] == "DELETED":
                    self._see(event["object"])
                    self._gone(event["object"])
                elif event["type"] == "ERROR":
                    return
                if self.stopping:
                    return

    def check(self):
        """Asserts that no pod ever changed or lost its node."""
        wrong = {uid: nodes for uid, nodes in self.nodes.items() if len(nodes) > 1}
        assert not wrong, "bound twice: %r" % wrong

    def finish(self):
        self.stopping = True
        self.check()


def cpu_seconds(process):
    with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_bytes(process, name="VmHWM"):
    with open("/proc/%d/status" % process.pid, encoding="ascii") as file:
        return int(re.search(name + r":\s+(\d+) kB", file.read()).group(1)) * 1024
