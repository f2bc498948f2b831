# SPDX-License-Identifier: Apache-2.0
"""A running `berth up` for the scripts of this folder.

A script defines functions test_* that take a Cluster, and ends with main(globals()). main() runs
these functions in the order of the file against one cluster; the script may set the cluster's flags
as FLAGS. A test whose parameter is called `program` gets a Program instead, and starts a separate
cluster.
"""
import concurrent.futures
import contextlib
import functools
import inspect
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request

START_SECONDS = 60
SKIPPED = 77  # exit status with which meson reports a test as skipped


class Cluster:
    """One process of `berth up`, with its files in a separate folder."""

    def __init__(self, program, folder, *flags):
        self.folder = folder
        self.kubeconfig = os.path.join(folder, "kubeconfig")
        self.log = open(os.path.join(folder, "log"), "w+b")
        command = [program.path, "up", "--listen", "127.0.0.1:0", "--kubeconfig-out",
                   self.kubeconfig] + list(flags)
        environment = dict({"BERTH_VERIFY": "1"}, **os.environ)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.kubeconfig)
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log,
                                        stdin=subprocess.DEVNULL, env=environment)
        self._wait_until_ready()

    def _wait_until_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError("berth up ended with %d\n%s"
                                     % (self.process.returncode, self.output()))
            if os.path.exists(self.kubeconfig):
                with contextlib.suppress(OSError):
                    if self.get("/readyz")[1] == b"ok":
                        return
            time.sleep(0.02)
        raise AssertionError("berth up is not ready\n" + self.output())

    def output(self):
        self.log.flush()
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    @functools.cached_property
    def _config(self):
        import yaml
        with open(self.kubeconfig, encoding="utf-8") as file:
            return yaml.safe_load(file)

    @property
    def server(self):
        return self._config["clusters"][0]["cluster"]["server"]

    @property
    def token(self):
        return self._config["users"][0]["user"].get("token", "")

    @property
    def port(self):
        return int(self.server.rsplit(":", 1)[1])

    def tls(self):
        """A TLS context that trusts the cluster's CA; None on plain HTTP."""
        return self._tls

    def ca(self):
        """The CA's certificate, as PEM."""
        import base64
        cluster = self._config["clusters"][0]["cluster"]
        return base64.b64decode(cluster["certificate-authority-data"]).decode()

    @functools.cached_property
    def _tls(self):
        return None if self.server.startswith("http://") else ssl.create_default_context(
            cadata=self.ca())

    def request(self, method, path, body=None, headers=(), token=None):
        """Sends one request and returns (status, headers, body)."""
        headers = dict(headers)
        token = self.token if token is None else token
        if token:
            headers.setdefault("Authorization", "Bearer " + token)
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

    def get(self, path, **more):
        status, _, body = self.request("GET", path, **more)
        return status, body

    def json(self, method, path, body=None, **more):
        """Sends one request and returns (status, document)."""
        status, _, text = self.request(method, path, body, **more)
        return status, json.loads(text)

    def stop(self, number=signal.SIGTERM):
        """Stops the process and returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            status = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("berth up does not end\n" + self.output())
        self.log.close()
        return status


class Program:
    def __init__(self, path, mode):
        self.path = path
        self.sanitized = mode == "sanitized"

    @contextlib.contextmanager
    def up(self, *flags):
        """Runs a cluster during a with block; asserts that the cluster ends without an error."""
        with tempfile.TemporaryDirectory() as folder:
            cluster = Cluster(self, folder, *flags)
            try:
                yield cluster
            except BaseException:
                print(cluster.output()[-5000:])
                raise
            finally:
                if cluster.process.poll() is None:
                    status = cluster.stop()
                    assert status == 0, "berth up ended with %d" % status


def wait_for(what, condition, seconds=60):
    """Calls condition() again and again until its value is true, and returns the value. what: name
    of the awaited state in the message of a timeout."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError("not within %d seconds: %s" % (seconds, what))
        time.sleep(0.05)


def main(names):
    """Runs all tests of a script: SCRIPT BERTH plain|sanitized. Ends with "N passed, N failed".

    A script whose tests mostly wait, each on a separate cluster, may set AT_ONCE: the number of
    tests that run at the same time.
    """
    program = Program(*sys.argv[1:3])
    tests = [(name, test) for name, test in names.items() if name.startswith("test_")]
    shared = [name for name, test in tests if "program" not in inspect.signature(test).parameters]
    failed = 0

    def run_test(name, test):
        """Returns None, or the text of the test's failure."""
        try:
            test(cluster if name in shared else program)
            return None
        except Exception:
            return "%s failed:\n%s" % (name, traceback.format_exc())

    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(program.up(*names.get("FLAGS", []))) if shared else None
        pool = stack.enter_context(
            concurrent.futures.ThreadPoolExecutor(names.get("AT_ONCE", 1)))
        for failure in pool.map(run_test, *zip(*tests)):
            if failure is not None:
                failed += 1
                print(failure)
                if cluster is not None and cluster.process.poll() is not None:
                    print(cluster.output()[-5000:])
                    pool.shutdown(cancel_futures=True)
                    break
    print("%d passed, %d failed" % (len(tests) - failed, failed))
    sys.exit(1 if failed else 0)
