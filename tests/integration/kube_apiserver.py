# SPDX-License-Identifier: Apache-2.0
"""A real kube-apiserver with its etcd, for tests that otherwise run against `berth up`.

A script uses kube-apiserver if the word kube-apiserver follows the other arguments of the script.
BERTH_KUBE_APISERVER and BERTH_ETCD name the two programs; without BERTH_KUBE_APISERVER the script
is skipped.
"""
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

TOKEN = "integration-test-admin"


SKIPPED = 77  # exit status with which meson reports a test as skipped


def is_wanted():
    if "kube-apiserver" not in sys.argv[3:]:
        return False
    if not os.environ.get("BERTH_KUBE_APISERVER"):
        print("BERTH_KUBE_APISERVER names no kube-apiserver: skipped")
        sys.exit(SKIPPED)
    return True


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class KubeApiServer:
    """Same interface as daemon_harness.Server, so that tests can stop and restart the server."""

    def __init__(self, folder):
        self.folder = folder
        self.port, self.etcd_port, peer = _free_port(), _free_port(), _free_port()
        self.server = "https://127.0.0.1:%d" % self.port
        self.token = TOKEN
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        self.certificate = os.path.join(folder, "server.crt")
        self.key = os.path.join(folder, "server.key")
        self.log = open(os.path.join(folder, "server.log"), "w+b")
        self._make_files()
        etcd = os.environ.get("BERTH_ETCD", "etcd")
        url = "http://127.0.0.1:%d" % self.etcd_port
        peer_url = "http://127.0.0.1:%d" % peer
        self.etcd = subprocess.Popen(
            [etcd, "--data-dir", os.path.join(folder, "etcd"), "--listen-client-urls", url,
             "--advertise-client-urls", url, "--listen-peer-urls", peer_url,
             "--initial-advertise-peer-urls", peer_url,
             "--initial-cluster", "default=" + peer_url],
            stdout=self.log, stderr=self.log)
        self.process = None
        self.start()

    def _make_files(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.key,
             "-out", self.certificate, "-days", "2", "-subj", "/CN=kube-apiserver", "-addext",
             "subjectAltName=IP:127.0.0.1"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(os.path.join(self.folder, "tokens.csv"), "w", encoding="utf-8") as file:
            file.write('%s,admin,admin,"system:masters"\n' % TOKEN)
        with open(self.kubeconfig, "w", encoding="utf-8") as file:
            json.dump({
                "apiVersion": "v1", "kind": "Config", "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {
                    "server": self.server, "certificate-authority": self.certificate}}],
                "users": [{"name": "u", "user": {"token": TOKEN}}]}, file)

    def start(self):
        self.process = subprocess.Popen(
            [os.environ["BERTH_KUBE_APISERVER"],
             "--etcd-servers", "http://127.0.0.1:%d" % self.etcd_port,
             "--bind-address", "127.0.0.1", "--secure-port", str(self.port),
             "--tls-cert-file", self.certificate, "--tls-private-key-file", self.key,
             "--token-auth-file", os.path.join(self.folder, "tokens.csv"),
             "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24",
             "--service-account-issuer", "https://kubernetes.default.svc",
             "--service-account-key-file", self.key,
             "--service-account-signing-key-file", self.key,
             "--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition"],
            stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 120
        while True:
            try:
                if self.request("GET", "/readyz")[0] == 200 and \
                        self.request("GET", "/api/v1/namespaces/default")[0] == 200:
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("kube-apiserver does not start\n" + self.output()[-5000:])
            time.sleep(0.2)

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=90)

    def finish(self):
        for process in (self.process, self.etcd):
            process.kill()
            process.wait()
        self.log.close()

    def tls(self):
        return ssl.create_default_context(cafile=self.certificate)

    def output(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def request(self, method, path, body=None, headers=(), token=None):
        headers = dict(headers)
        headers.setdefault("Authorization", "Bearer " + (token or self.token))
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        asked = urllib.request.Request(self.server + path, data=body, method=method,
                                       headers=headers)
        try:
            with urllib.request.urlopen(asked, context=self.tls(), timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def json(self, method, path, body=None, **more):
        status, _, text = self.request(method, path, body, **more)
        return status, json.loads(text)
