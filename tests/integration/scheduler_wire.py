#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests of `berth scheduler` to the API server and its answers on the debug endpoints, byte
for byte: spec 11 sections 9 and 10, 11b sections 6 and 8, 13 section 14."""
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import tempfile

import daemon_harness as harness
import fault_proxy
import up

SPEC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "spec")
AS_JSON = {"clientConnection": {"contentType": "application/json"}}
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
# promtool warns of these metric names, but upstream has the same names.
UPSTREAM_NAMES = {name + ' counter metrics should have "_total" suffix' for name in (
    "authenticated_user_requests", "authentication_attempts")}
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
MICRO_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"


def ask(daemon, path, method="GET", token=None, body=None):
    """Returns (status, headers, text) of the daemon's endpoint."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", daemon.port, timeout=30,
                                             context=context)
    headers = {"Authorization": "Bearer " + token} if token else {}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def proxied(program, api, **more):
    proxy = fault_proxy.FaultProxy(api)
    return proxy, harness.daemon(program, api, proxy=proxy, **more)


def bodies(proxy, method, pattern):
    return [request.body.decode() for request in list(proxy.requests)
            if request.method == method and re.search(pattern, request.path)]


def test_bodies_of_writes(program):
    with harness.server(program) as api:
        harness.make_nodes(api, 1)
        proxy, running = proxied(program, api, config=AS_JSON)
        with running:
            harness.make_pods(api, "p", 1)
            pod = harness.wait_until_bound(api, 1)[0]
            meta = pod["metadata"]
            binding = bodies(proxy, "POST", "/binding$")[0]
            assert binding == (
                '{"kind":"Binding","apiVersion":"v1","metadata":{"name":"p0",'
                '"namespace":"default","uid":"%s"},"target":{"kind":"Node","name":"n0"}}'
                % meta["uid"]), binding
            event = up.wait_for("an event", lambda: bodies(proxy, "POST", "/events$"))[0]
            assert re.fullmatch(
                r'{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":'
                r'"p0\.[0-9a-f]+","namespace":"default"},"eventTime":"' + MICRO_TIME +
                r'","reportingController":"default-scheduler","reportingInstance":'
                r'"default-scheduler-[^"]+","action":"Binding","reason":"Scheduled","regarding":'
                r'{"kind":"Pod","namespace":"default","name":"p0","uid":"' + meta["uid"] +
                r'","apiVersion":"v1","resourceVersion":"\d+"},"note":"Successfully assigned '
                r'default/p0 to n0","type":"Normal"}', event), event
            # One pod that fits nowhere.
            harness.make_pods(api, "big", 1, cpu="100")
            patch = up.wait_for(
                "a patch", lambda: bodies(proxy, "PATCH", "/pods/big0/status$"))[0]
            message = ("0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
                       "preemption: 0/1 nodes are available: 1 Preemption is not helpful for "
                       "scheduling.")
            assert re.fullmatch(
                r'{"status":{"conditions":\[{"lastProbeTime":null,"lastTransitionTime":"' + TIME +
                r'","message":"' + re.escape(message) + r'",("observedGeneration":1,)?"reason":'
                r'"Unschedulable","status":"False","type":"PodScheduled"}\]}}', patch), patch
            event = up.wait_for("an event", lambda: [
                text for text in bodies(proxy, "POST", "/events$") if "big0" in text])[0]
            facts = json.loads(event)
            assert facts["note"] == message and facts["type"] == "Warning"
            assert facts["reason"] == "FailedScheduling" and facts["action"] == "Scheduling"
        proxy.close()


def test_the_same_in_protobuf(program):
    """With the default contentType of the configuration, which is protobuf, the server accepts all
    bodies of the daemon, protobuf and JSON."""
    with harness.server(program) as api:
        harness.make_nodes(api, 1)
        # A kube-apiserver also writes events into this namespace.
        harness.change(api, "POST", EVENTS, {
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "a.0"},
            "eventTime": "2026-01-01T00:00:00.000000Z", "type": "Normal", "note": "ready",
            "reason": "Ready", "action": "Started", "reportingController": "test",
            "reportingInstance": "test-0", "regarding": {"kind": "Namespace", "name": "default"}})
        proxy, running = proxied(program, api)
        with running:
            harness.make_pods(api, "p", 1)
            uid = harness.wait_until_bound(api, 1)[0]["metadata"]["uid"].encode()
            request = [asked for asked in proxy.requests if asked.is_binding][0]
            assert request.headers["content-type"] == "application/vnd.kubernetes.protobuf"
            assert request.body.startswith(b"k8s\0") and uid in request.body
            assert request.headers["accept"] == "application/vnd.kubernetes.protobuf, */*"
            assert re.fullmatch(
                r"kube-scheduler/v1\.36\.2 \(linux/\w+\) kubernetes/[0-9a-f]{7}/scheduler",
                request.headers["user-agent"])
            up.wait_for("an event", lambda: [
                asked for asked in proxy.requests if asked.path.endswith("/events")
                and asked.method == "POST"])

            def told():
                return [event["note"] for event in api.json("GET", EVENTS)[1]["items"]
                        if event["regarding"].get("uid", "").encode() == uid]
            assert up.wait_for("the event", told) == ["Successfully assigned default/p0 to n0"]
        proxy.close()


def test_what_is_read_at_the_start(program):
    with harness.server(program) as api:
        proxy, running = proxied(program, api)
        with running as daemon:
            daemon.wait_for_line("Handlers synced")
            watched = {request.path: request.query for request in proxy.requests
                       if request.is_watch}
            core = ["pods", "nodes", "namespaces", "services", "replicationcontrollers",
                    "persistentvolumes", "persistentvolumeclaims"]
            wanted = ["/api/v1/" + name for name in core]
            wanted += ["/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets",
                       "/apis/policy/v1/poddisruptionbudgets"]
            wanted += ["/apis/storage.k8s.io/v1/" + name for name in (
                "storageclasses", "csinodes", "csidrivers", "csistoragecapacities",
                "volumeattachments")]
            wanted += ["/apis/resource.k8s.io/v1/" + name for name in (
                "resourceclaims", "resourceslices", "deviceclasses")]
            config_maps = "/api/v1/namespaces/kube-system/configmaps"
            assert sorted(set(watched) - {config_maps}) == sorted(wanted)
            assert "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed" in (
                watched["/api/v1/pods"])
            assert proxy.requests[0].path == "/apis/events.k8s.io/v1" or any(
                request.path == "/apis/events.k8s.io/v1" for request in proxy.requests)
            status, _, text = ask(daemon, "/readyz")
            assert (status, text) == (200, "ok")
        proxy.close()


def test_health_and_rights(program):
    with harness.server(program) as api, harness.daemon(program, api) as daemon:
        daemon.wait_for_line("Handlers synced")
        for path in ("/healthz", "/livez", "/readyz"):
            status, headers, text = ask(daemon, path)
            assert (status, text) == (200, "ok"), (path, status, text)
            assert headers["Content-Type"] == "text/plain; charset=utf-8"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Cache-Control"] == "no-cache, private"
        assert ask(daemon, "/livez?verbose")[2] == "[+]ping ok\nlivez check passed\n"
        assert ask(daemon, "/healthz/")[0] == 403
        assert ask(daemon, "/healthz/", token=api.token)[0] == 404
        status, _, text = ask(daemon, "/metrics")
        assert status == 403
        assert json.loads(text) == {
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": 'forbidden: User "system:anonymous" cannot get path "/metrics"',
            "reason": "Forbidden", "details": {}, "code": 403}
        assert text.startswith('{"kind":"Status"')
        status, _, text = ask(daemon, "/healthz", token="wrong")
        assert status == 401
        assert text == ('{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
                        '"message":"Unauthorized","reason":"Unauthorized","code":401}\n')
        status, _, text = ask(daemon, "/configz", token=api.token)
        assert status == 200
        assert json.loads(text)["componentconfig"]["leaderElection"]["leaderElect"] is False
        status, _, text = ask(daemon, "/debug/flags/v", "PUT", api.token, "4")
        assert (status, text) == (200, "successfully set klog.logging.verbosity to 4")
        assert ask(daemon, "/statusz", token=api.token)[2].startswith("\nkube-scheduler statusz\n")
        assert ask(daemon, "/flagz", token=api.token)[2].startswith("\nkube-scheduler flagz\n")
        assert ask(daemon, "/nothing", token=api.token)[::2] == (404, "404 page not found\n")


def families_of_the_spec():
    """Returns {name: (type, labels)} of the metrics in the table of spec 11 section 10.2."""
    with open(os.path.join(SPEC, "11-daemon.md"), encoding="utf-8") as file:
        text = file.read()
    table = text[text.index("### 10.2 "):text.index("### 10.3 ")]
    found = {}
    for name, kind, labels, stability in re.findall(
            r"^\| `(\w+)` \| (counter|gauge|histogram)(?: \{([^}]*)\})? \| (\w+) \|", table, re.M):
        found["scheduler_" + name] = (
            kind, sorted(label.strip() for label in labels.split(",") if label), stability)
    return found


def families_of(text):
    """Parses the text of /metrics. Returns {name: (type, labels, stability)}; labels is None if the
    metric has no sample."""
    kinds, labels, stability = {}, {}, {}
    for line in text.splitlines():
        match = re.match(r"# TYPE (\S+) (\S+)", line)
        if match:
            kinds[match.group(1)] = match.group(2)
        match = re.match(r"# HELP (\S+) \[(\w+)\]", line)
        if match:
            stability[match.group(1)] = match.group(2)
        match = re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ", line)
        if match and not line.startswith("#"):
            name = match.group(1)
            if name not in kinds:
                name = re.sub("_(bucket|sum|count)$", "", name)
            names = set(re.findall(r'(\w+)="', match.group(2) or "")) - {"le"}
            labels.setdefault(name, sorted(names))
    return {name: (kind, labels.get(name), stability.get(name)) for name, kind in kinds.items()}


def helps_of_the_spec():
    """Returns {metric name: help text} of the table in spec 11 section 10.7."""
    with open(os.path.join(SPEC, "11-daemon.md"), encoding="utf-8") as file:
        part = file.read().split("### 10.7")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", part, re.M))


def helps_of(text):
    return {name: help_text for name, help_text in re.findall(
        r"^# HELP (\S+) (?:\[[A-Z]+\] )?(.*)$", text, re.M)}


def test_metrics(program):
    with harness.server(program) as api:
        harness.make_nodes(api, 2)
        with harness.daemon(program, api) as daemon:
            harness.make_pods(api, "p", 5)
            harness.make_pods(api, "big", 1, cpu="100")
            harness.wait_until_bound(api, 5)
            up.wait_for("a failure", lambda: 'result="unschedulable"' in ask(
                daemon, "/metrics", token=api.token)[2])
            status, headers, text = ask(daemon, "/metrics", token=api.token)
            assert status == 200
            assert headers["Content-Type"].startswith("text/plain; version=0.0.4")
            spec, found = families_of_the_spec(), families_of(text)
            assert len(spec) > 35, sorted(spec)
            for name, (kind, labels, stability) in found.items():
                if name.startswith("scheduler_"):
                    assert name in spec, name
                    assert (kind, stability) == (spec[name][0], spec[name][2]), name
                    assert labels is None or labels == spec[name][1], (name, labels)
            helps = helps_of_the_spec()
            for path in ("/metrics", "/metrics/resources", "/metrics/slis"):
                for name, help_text in helps_of(ask(daemon, path, token=api.token)[2]).items():
                    assert help_text == helps.get(name), (name, help_text)
            assert ('scheduler_schedule_attempts_total{profile="default-scheduler",'
                    'result="scheduled"} 5') in text
            assert 'scheduler_pending_pods{queue="unschedulable"} 1' in text
            for name in ("scheduler_framework_extension_point_duration_seconds",
                         "scheduler_plugin_execution_duration_seconds",
                         "scheduler_scheduling_attempt_duration_seconds",
                         "scheduler_queue_incoming_pods_total", "scheduler_cache_size",
                         "scheduler_plugin_evaluation_total", "scheduler_unschedulable_pods",
                         "rest_client_requests_total", "process_cpu_seconds_total",
                         "kubernetes_build_info", "kubernetes_feature_enabled"):
                assert found[name][1] is not None, name
            assert re.search(r'^scheduler_plugin_evaluation_total\{extension_point="Sign",'
                             r'plugin="NodeAffinity",', text, re.M)
            assert re.search(r'^version_info\{binary="1\.36\.\d+",.*emulation="1\.36",', text, re.M)
            assert re.search(r'^rest_client_request_size_bytes_bucket\{host="[^"]+",verb="GET",'
                             r'le="64"\} [1-9]', text, re.M)
            # Watches count when they are opened, not when they end.
            watches = re.search(r'^rest_client_requests_total\{code="200",host="[^"]+",'
                                r'method="GET"\} (\d+)$', text, re.M)
            assert watches and int(watches.group(1)) >= 18, watches
            promtool = shutil.which("promtool")
            if promtool:
                checked = subprocess.run([promtool, "check", "metrics"], input=text.encode(),
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                complaints = set(checked.stdout.decode().splitlines()) - UPSTREAM_NAMES
                assert not complaints - {""}, complaints
            status, _, text = ask(daemon, "/metrics/resources", token=api.token)
            assert re.search(
                r'^kube_pod_resource_request\{namespace="default",node="n\d",pod="p0",priority="0",'
                r'resource="cpu",scheduler="default-scheduler",unit="cores"\} 0\.1$', text,
                re.M), text
            status, _, text = ask(daemon, "/metrics/slis", token=api.token)
            assert status == 200


def test_flags_apply_to_the_metrics_of_the_clients(program):
    families = ("rest_client_requests_total", "rest_client_request_duration_seconds")
    flags = ["--allow-metric-labels=%s,host=other" % name for name in families]
    with harness.server(program) as api:
        with harness.daemon(program, api, *flags) as daemon:
            daemon.wait_for_line("Handlers synced")
            text = ask(daemon, "/metrics", token=api.token)[2]
            for name in families:
                hosts = re.findall(r'^%s(?:_count)?\{.*host="([^"]+)"' % name, text, re.M)
                assert hosts and set(hosts) == {"unexpected"}, (name, hosts)


def test_secrets_stay_secret(program):
    """The secret is not in the log at the highest verbosity, not in flagz, not in an error."""
    with harness.server(program) as api:
        harness.make_nodes(api, 1)
        for form in ("text", "json"):
            with harness.daemon(program, api, "-v", "10", "--logging-format=" + form) as daemon:
                harness.make_pods(api, form, 2)
                harness.wait_until_bound(api, 2, prefix=form)
                check_secrets(api, daemon)
                if form == "json":
                    lines = [json.loads(line) for line in daemon.output().splitlines()]
                    assert all(line["ts"] > 1e12 and line["msg"] for line in lines)


def check_secrets(api, daemon):
    ask(daemon, "/metrics", token="a-callers-secret")
    ask(daemon, "/metrics", token=api.token)
    text = daemon.output() + ask(daemon, "/flagz", token=api.token)[2] + ask(
        daemon, "/configz", token=api.token)[2]
    assert api.token not in text
    assert "a-callers-secret" not in text
    # root owns the files in /proc of a process that is not dumpable; such a process writes no core
    # file.
    status = os.stat("/proc/%d/environ" % daemon.process.pid)
    assert status.st_uid == 0


def test_odd_configuration_files(program):
    """The daemon reads or refuses each of these files, with little time and memory."""
    kind = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    bomb = kind + "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for before, name in zip("abcdefghi", "bcdefghij"):
        bomb += "%s: &%s [%s]\n" % (name, name, ", ".join(["*" + before] * 9))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config")

        def run(*wrapper):
            return subprocess.run(
                [*wrapper, program.path, "scheduler", "--config", path, "--secure-port", "0",
                 "--master", "http://127.0.0.1:1", "--write-config-to",
                 os.path.join(folder, "out")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                timeout=60, check=False)

        def refuse(text, error):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = run()
            assert done.returncode == 1 and error in done.stderr.decode(), done
        refuse(kind + "# " + "x" * 5000000, "larger than 4194304 bytes")
        refuse(bomb, "document expands to more than 4194304 bytes")
        refuse("{" * 100000, "nested deeper than 256 levels")
        refuse("a: " + "{a: " * 100000, "exceeded max depth of 100")
        refuse(kind + "profiles: [{plugins: {filter: {enabled: [{name: Mine}]}}}]",
               'initializing profiles: creating profile for scheduler name default-scheduler: '
               'FilterPlugin \\"Mine\\" does not exist')
        os.chmod(folder, 0o755)
        os.chmod(path, 0)
        if os.geteuid() == 0 and shutil.which("setpriv"):
            done = run("setpriv", "--reuid", "65534", "--clear-groups")
            assert "open %s: permission denied" % path in done.stderr.decode(), done
        os.unlink(path)
        os.mkfifo(path)
        with subprocess.Popen(["sh", "-c", "printf '%s' \"$1\" > \"$2\"", "sh",
                               kind + "parallelism: 3\n", path]) as writer:
            done = run()
            assert writer.wait() == 0
        assert done.returncode == 0 and "Wrote configuration" in done.stderr.decode(), done
        with open(os.path.join(folder, "out"), encoding="utf-8") as file:
            assert "\nparallelism: 3\n" in file.read()


def test_bad_configuration_is_reported(program):
    with tempfile.TemporaryDirectory() as folder:
        def run(text, mode=0o600, *flags):
            path = os.path.join(folder, "config.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, mode)
            done = subprocess.run([program.path, "scheduler", "--config", path, *flags],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            assert done.returncode == 1, done
            return done.stderr.decode()
        kind = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        assert 'err="Object \'Kind\' is missing in \'{}\'"' in run("{}")
        assert "parallelism: Invalid value: 0" in run(kind + "parallelism: 0\n")
        missing = os.path.join(folder, "nothing")
        text = run(kind + "clientConnection: {kubeconfig: %s}\n" % missing)
        assert "stat %s: no such file or directory" % missing in text
        bad = os.path.join(folder, "kubeconfig")
        with open(bad, "w", encoding="utf-8") as file:
            file.write("apiVersion: v1\nkind: Config\nclusters: [")
        assert 'error loading config file \\"%s\\"' % bad in run(
            kind + "clientConnection: {kubeconfig: %s}\n" % bad)


if __name__ == "__main__":
    up.main(globals())
