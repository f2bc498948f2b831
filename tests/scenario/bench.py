#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth bench: built-in workloads, the suite, files of scheduler_perf."""
import collections
import json
import os
import subprocess
import sys

import scenario

# Names of the members of an output line, in order.
HEAD = ["workload", "seed", "nodes", "bound", "scheduled", "failed"]
TAIL = ["seconds", "pods_per_s", "cpu_seconds", "pods_per_cpu_s", "load_seconds", "peak_rss_mb",
        "decisions", "verify"]
ORIGIN = ["threads", "commit", "compiler", "machine"]
CHANGES = ["changes", "change_us", "decisions_per_s", "decisions_per_cpu_s"]
EVENTS = ["events", "event_ms", "event_cpu_ms", "event_median_ms", "settled_ms",
          "waiting_pod_bytes"]
PREEMPTION = ["preempted", "victims", "preemptions_per_s"]
NOT_RANDOM = ["basic", "nodeaffinity", "taints", "spread", "prefspread", "affinity", "antiaffinity",
              "prefaffinity", "prefantiaffinity"]
RANDOM = ["hetero", "mixed", "preemption"]
NEW = ["churn", "backlog", "gated", "services", "daemonsets", "devices", "large",
       "nominated", "gangs", "racks", "worst"]
EXTRA = {"services": {"Service": 2, "ReplicaSet": 2},
         "gangs": {"PodGroup": 1}, "racks": {"PodGroup": 1},
         "devices": {"DeviceClass": 1, "ResourceSlice": 7, "ResourceClaim": 20}}
CONFIG = os.path.join(scenario.EXAMPLES, "scheduler-perf", "performance-config.yaml")


def sizes(nodes, bound, pending):
    return ["--nodes", str(nodes), "--bound", str(bound), "--pending", str(pending)]


def bench(program, *arguments, verify=False):
    """Run a benchmark; returns its output line as an object."""
    return program.run("bench", *arguments, verify=verify).expect(0).json()


def written(program, workload, nodes, bound, pending, *more):
    """Objects of a built-in workload."""
    answer = program.run("bench", "-w", workload, *sizes(nodes, bound, pending), "--write", "-",
                         *more).expect(0)
    return [json.loads(line) for line in answer.out.splitlines()]


def generated(workload, nodes, bound, pending):
    """The same workload as bench/generate.py writes it."""
    generator = os.path.join(scenario.ROOT, "bench", "generate.py")
    text = subprocess.run([sys.executable, generator, workload, str(nodes), str(bound),
                           str(pending)], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def test_same_objects_as_the_script(program):
    for workload in NOT_RANDOM:
        ours = written(program, workload, 12, 20, 15)
        theirs = generated(workload, 12, 20, 15)
        assert len(ours) == len(theirs) == 47
        for mine, other in zip(ours, theirs):
            assert mine == other, (workload, mine, other)


def traits_of(item):
    """Kinds of fields that a random pod has, without their random values."""
    spec = item["spec"]
    affinity = spec.get("affinity", {})
    return (item["kind"], "color" in item["metadata"]["labels"],
            "app" in item["metadata"]["labels"], "topologySpreadConstraints" in spec,
            tuple(sorted((name, tuple(sorted(affinity[name]))) for name in affinity)),
            spec.get("priority"))


def test_random_objects_are_of_the_same_kinds(program):
    count = 3000
    for workload in RANDOM:
        ours = collections.Counter(map(traits_of, written(program, workload, 10, 40, count)))
        theirs = collections.Counter(map(traits_of, generated(workload, 10, 40, count)))
        for traits in set(ours) | set(theirs):
            difference = abs(ours[traits] - theirs[traits])
            # Four standard deviations of the counts' difference, plus a constant.
            allowed = 4 * (2 * max(ours[traits], theirs[traits])) ** .5 + 4
            assert difference <= allowed, (workload, traits, ours[traits], theirs[traits])


def test_hetero_draws_what_the_script_draws(program):
    def drawn(objects):
        pods = [item for item in objects if item["kind"] == "Pod"]
        requests = [pod["spec"]["containers"][0]["resources"]["requests"] for pod in pods]
        memory = [int(request["memory"][:-2]) for request in requests]
        assert 64 <= min(memory) < 200 and 1900 < max(memory) <= 2047, (min(memory), max(memory))
        apps = {pod["metadata"]["labels"]["app"] for pod in pods}
        assert 1400 < len(apps) < 2000, len(apps)
        return {request["cpu"] for request in requests}

    assert drawn(written(program, "hetero", 10, 0, 3000)) == drawn(generated("hetero", 10, 0, 3000))


def test_counts_and_numbers(program):
    for workload in NOT_RANDOM + RANDOM + NEW:
        objects = written(program, workload, 7, 9, 11)
        kinds = collections.Counter(item["kind"] for item in objects)
        extra = EXTRA.get(workload, {})
        assert kinds == dict({"Node": 7, "Pod": 20}, **extra), (workload, kinds)
        pods = [item for item in objects if item["kind"] == "Pod"]
        names = [item["metadata"]["name"] for item in objects if item["kind"] == "Node"]
        assert [pod["spec"].get("nodeName") for pod in pods] == \
            [names[i % 7] for i in range(9)] + [None] * 11, workload
        assert len({pod["metadata"]["uid"] for pod in pods}) == 20


def test_new_objects(program):
    for pod in written(program, "services", 3, 0, 40):
        if pod["kind"] == "Pod":
            owner = pod["metadata"]["ownerReferences"][0]
            assert owner["kind"] == "ReplicaSet" and owner["controller"] is True, owner
            assert owner["name"] == pod["metadata"]["labels"]["app"], pod
    daemons = [item for item in written(program, "daemonsets", 3, 0, 6) if item["kind"] == "Pod"]
    wanted = [item["spec"]["affinity"]["nodeAffinity"]
              ["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]
              ["matchFields"][0]["values"] for item in daemons]
    assert wanted == [["node-%05d" % (i % 3)] for i in range(6)], wanted
    assert len({json.dumps(item["spec"]) for item in written(program, "worst", 1, 0, 50)}) == 51
    waiting = {json.dumps(item["spec"]) for item in written(program, "backlog", 0, 0, 250)}
    assert len(waiting) == 100
    assert all(item["spec"]["schedulingGates"] for item in written(program, "gated", 0, 0, 3))
    large = [len(json.dumps(item)) for item in written(program, "large", 2, 0, 2)]
    assert min(large) > 10000, large


def test_lines(program):
    special = {"churn": CHANGES, "worst": CHANGES, "backlog": EVENTS, "preemption": PREEMPTION}
    for workload in NOT_RANDOM + RANDOM + NEW:
        run = bench(program, "-w", workload, *sizes(40, 40, 60))
        assert list(run) == HEAD + special.get(workload, []) + TAIL + ORIGIN, (workload, run)
        assert run["workload"] == workload and run["verify"] == "off" and run["threads"] == 1
        assert [run["nodes"], run["bound"]] == [40, 40], run
        assert list(run["machine"]) == ["cpu", "cores", "memory_mb", "system"], run
        assert run["machine"]["cores"] >= 1 and run["commit"] != "" and run["compiler"] != ""
        if workload not in ("antiaffinity", "backlog", "preemption"):
            assert [run["scheduled"], run["failed"]] == [60, 0], run


def test_outcomes(program):
    run = bench(program, "-w", "antiaffinity", *sizes(40, 40, 60))
    assert [run["scheduled"], run["failed"]] == [40, 20], run
    run = bench(program, "-w", "preemption", *sizes(150, 600, 20))
    assert [run["preempted"], run["victims"]] == [20, 60], run
    run = bench(program, "-w", "worst", *sizes(40, 40, 60))
    assert run["changes"] == 40 * 60, run
    run = bench(program, "-w", "churn", *sizes(40, 80, 60), "--changes", "5")
    assert 200 < run["changes"] < 800, run
    assert "changes" not in bench(program, "-w", "churn", *sizes(40, 80, 60), "--changes", "0")
    run = bench(program, "-w", "backlog", *sizes(40, 40, 300))
    # Each of ten nodes has room for one pod of one shape.
    assert [run["events"], run["scheduled"]] == [10, 10] and run["failed"] >= 300, run
    assert 0 < run["event_median_ms"] <= run["event_ms"] <= run["settled_ms"], run


def test_gangs(program):
    # The last gang is smaller, and is bound, too.
    run = bench(program, "-w", "gangs", *sizes(40, 40, 100), "--verify")
    assert [run["scheduled"], run["failed"], run["verified_pods"]] == [100, 0, 100], run
    # Each of the three racks has room for seven gangs of 512 pods.
    run = bench(program, "-w", "racks", *sizes(150, 150, 1124), "--verify-pods", "20")
    assert [run["scheduled"], run["failed"], run["verified_pods"]] == [1124, 0, 20], run
    groups = [item for item in written(program, "racks", 150, 150, 1124)
              if item["kind"] == "PodGroup"]
    assert [item["spec"]["schedulingPolicy"]["gang"]["minCount"] for item in groups] == \
        [512, 512, 100], groups
    run = bench(program, "-w", "gangs", *sizes(1, 0, 200))
    # The node has room for one gang of 64 and for the last gang, which has 8 pods.
    assert run["scheduled"] == 64 + 8 and run["failed"] % 64 == 0, run


def test_a_backlog_does_not_delay_the_pod_that_fits(program):
    """An event that requeues thousands of pods costs no more than a few hundred attempts."""
    run = bench(program, "-w", "backlog", *sizes(50, 0, 50000))
    attempts = run["scheduled"] + run["failed"]
    woken = attempts - 50000
    assert run["scheduled"] == 10 and woken > 10 * 500, run
    # The event takes the time of 50 to 100 attempts, or of 1000 if pods were tried one by one. The
    # limit is the time of 400, because machines differ.
    assert run["event_cpu_ms"] / 1e3 <= 400 * run["cpu_seconds"] / 50000, run
    assert run["waiting_pod_bytes"] <= 600, run


def test_same_seed_same_decisions(program):
    for workload in RANDOM + NEW:
        first = bench(program, "-w", workload, *sizes(40, 40, 60))
        again = bench(program, "-w", workload, *sizes(40, 40, 60))
        assert first["decisions"] == again["decisions"], workload
    decisions = {bench(program, "-w", "hetero", *sizes(40, 40, 60), "--seed", str(seed))
                 ["decisions"] for seed in range(4)}
    assert len(decisions) == 4, decisions


def test_a_written_workload_is_the_same(program):
    for workload in ["basic", "mixed", "spread", "services", "devices"]:
        path = os.path.join(program.folder, workload + ".jsonl")
        program.run("bench", "-w", workload, *sizes(30, 30, 40), "--write", path).expect(0)
        replayed = bench(program, path)
        assert replayed["file"] == path
        assert replayed["decisions"] == \
            bench(program, "-w", workload, *sizes(30, 30, 40))["decisions"], workload


def test_a_second_run_must_agree(program):
    for workload in NOT_RANDOM + RANDOM + NEW:
        run = bench(program, "-w", workload, *sizes(30, 30, 30), "--verify")
        assert run["verify"] == "agreed", run
        assert run["verified_pods"] == run["scheduled"] + run["failed"], run
        run = bench(program, "-w", workload, *sizes(30, 30, 30), "--verify-pods", "12")
        assert run["verified_pods"] == 12, run
        assert bench(program, "-w", workload, *sizes(30, 30, 30), verify=True)["verify"] == "inline"


def test_many_pods_need_little_memory(program):
    if program.sanitized:
        return
    few = bench(program, "-w", "basic", *sizes(500, 0, 10000))
    many = bench(program, "-w", "basic", *sizes(500, 0, 50000))
    # Bound pods stay; pending pods are deleted.
    assert many["peak_rss_mb"] - few["peak_rss_mb"] < 30, (few, many)


def test_wrong_usage(program):
    for arguments, message in [
            (["-w", "basik"], "--workload: basik is none of basic, nodeaffinity, taints, hetero"),
            (["-w", "basic", "file"], "--workload: takes no file, got file"),
            (["-w", "basic", "--nodes", "-1"], "--nodes: must be at least 0"),
            (["-w", "basic", "--pending", "1000000000"], "--pending: must be at most 100000000"),
            (["-w", "basic", "--nodes", "0"], "--bound: bound pods need nodes"),
            (["-w", "basic", "--write", "/nowhere/x"], "--write: /nowhere/x: No such file"),
            (["--write", "x", "y"], "--write: needs --workload"),
            (["--suite", "--write", "x"], "--write: needs --workload"),
            (["-w", "basic", "--suite"], "exclude each other"),
            (["-w", "basic", "--quick"], "--quick: needs --suite"),
            (["-w", "basic", "--only", "x"], "--only: needs --suite or --scheduler-perf"),
            (["--suite", "file"], "--suite: takes no file, got file"),
            (["--suite", "--only", "basic,nothing"], "--only: nothing is none of the suite's"),
            (["--suite", "-o", "xml"], "--output: xml is none of table, json"),
            (["--scheduler-perf", CONFIG, "x"], "--scheduler-perf: takes no other file, got x"),
            (["--scheduler-perf", CONFIG, "--only", "x"], "no workload of that name (--only)"),
            (["--scheduler-perf", CONFIG, "--verify-pods", "5"], "--verify-pods: --scheduler-perf"),
            (["--scheduler-perf", "/nowhere"], "/nowhere: No such file")]:
        answer = program.run("bench", *arguments).expect(2)
        assert message in answer.err and answer.out == "", (arguments, answer.err)


def test_suite(program):
    flags = ["--suite", "--quick", "--only", "spread-2k,antiaffinity", "--only", "worst"]
    answer = program.run("bench", *flags, "-o", "json", "--verify-pods", "5", verify=False)
    report = answer.expect(0).json()
    assert list(report) == ORIGIN + ["measurements"], report
    names = [item["name"] for item in report["measurements"]]
    assert names == ["spread-2k", "antiaffinity-2k", "antiaffinity-4k", "worst"], names
    for item in report["measurements"]:
        special = CHANGES if item["workload"] == "worst" else []
        assert list(item) == ["name"] + HEAD + special + TAIL + [
            "verified_pods", "runs", "pods_per_s_min", "pods_per_s_max"], item
        assert item["verified_pods"] == 5 and item["runs"] == 1 and item["nodes"] == 500, item
        assert item["name"] in answer.err
    answer = program.run("bench", *flags, "--repeat", "3", verify=False).expect(0)
    lines = answer.out.splitlines()
    assert "commit" in lines[0] and lines[2].startswith("NAME"), lines
    assert [line.split()[0] for line in lines[3:]] == names, lines


def test_suite_in_full_compares_with_upstream(program):
    if program.sanitized:
        return
    report = bench(program, "--suite", "--only", "basic-2k", "--repeat", "1", "-o", "json")
    item = report["measurements"][0]
    assert item["upstream_pods_per_s"] == 301, item
    assert abs(item["ratio"] - item["pods_per_s"] / 301) < 1, item


def perf(program, tests, **files):
    """Run test cases of scheduler_perf. The file of cases is JSON, which is valid YAML; the
    templates are in the same folder."""
    for name, text in files.items():
        program.write("perf/%s.yaml" % name.replace("_", "-"), text)
    path = program.write("perf/config.yaml", json.dumps(tests) if tests is not None else "")
    return program.run("bench", "--scheduler-perf", path)


POD = ("apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\nspec:\n  containers:\n"
       "  - {name: c, image: i, resources: {requests: {cpu: '1'}}}\n")


def case(*operations, **more):
    test = {"name": "Case", "defaultPodTemplatePath": "pod.yaml",
            "workloadTemplate": list(operations),
            "workloads": [{"name": "Small", "params": {"n": 3, "word": "x"}}]}
    test.update(more)
    return [test]


def nodes(count):
    return {"opcode": "createNodes", "count": count}


def pods(count, **more):
    return dict({"opcode": "createPods", "count": count, "collectMetrics": True}, **more)


def claim_spec(**request):
    exactly = dict({"deviceClassName": "test-class"}, **request)
    return {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}


def manifest(kind, name, group="resource.k8s.io/v1", **fields):
    return json.dumps(dict({"apiVersion": group, "kind": kind, "metadata": {"name": name}},
                           **fields))


def template_pod(name):
    return POD + "  resourceClaims: [{name: x, resourceClaimTemplateName: %s}]\n" % name


CLAIM = manifest("ResourceClaim", "c-{{.Index}}", spec=claim_spec())
DEVICES = {
    "claim": CLAIM,
    "class_": manifest("DeviceClass", "test-class", spec={"selectors": [{"cel": {
        "expression": 'device.driver == "test-driver.cdi.k8s.io"'}}]}),
    "template": manifest("ResourceClaimTemplate", "t", spec={"spec": claim_spec(selectors=[
        {"cel": {"expression": 'device.attributes["test-driver.cdi.k8s.io"].driverVersion'
                               '.major() >= 1 && device.capacity["test-driver.cdi.k8s.io"]'
                               '.memory.isGreaterThan(quantity("1Mi"))'}}])}),
    "node": "apiVersion: v1\nkind: Node\nmetadata: {generateName: scheduler-perf-dra-}\n"
            "status: {capacity: {cpu: '90', memory: 9Gi, pods: '90'}}\n",
}


def anything(path, **more):
    return dict({"opcode": "createAny", "templatePath": path}, **more)


def driver(devices, pattern="scheduler-perf-dra-*"):
    return {"opcode": "createResourceDriver", "driverName": "test-driver.cdi.k8s.io",
            "nodes": pattern, "maxClaimsPerNodeParam": devices}


def gated(text):
    return text + "  schedulingGates: [{name: wait}]\n"


def labelled(text, label):
    return text.replace("generateName: p-", "generateName: %s-, labels: {app: %s}" % (label, label))


def test_scheduler_perf_unknown_operation_fails_its_test_case(program):
    tests = case({"opcode": "createThings"}) + case(nodes(1), pods(2), name="Other") + \
        case(nodes(1), pods(9), name="TooMany") + [{}]
    answer = perf(program, tests, pod=POD).expect(2)
    run = answer.json()
    assert [run["test"], run["scheduled"]] == ["Other", 2], run
    for message in ["test case Case: op 1: opcode: createThings is unknown; known are createNodes,",
                    "test case TooMany: workload Small: op 2 (createPods): 5 pods fit nowhere",
                    "test case 4: name: missing", "config.yaml: 3 of 4 failed"]:
        assert message in answer.err, answer.err
    path = os.path.join(program.folder, "perf", "config.yaml")
    program.run("bench", "--scheduler-perf", path, "--only", "Other").expect(0)
    answer = program.run("bench", "--scheduler-perf", path, "--only", "Case/Small").expect(2)
    assert "createThings is unknown" in answer.err and answer.out == "", answer.err


def test_scheduler_perf_host_names(program):
    apart = labelled(POD, "apart") + (
        "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [\n"
        "    {topologyKey: kubernetes.io/hostname,\n"
        "     labelSelector: {matchLabels: {app: apart}}}]}}\n")
    assert perf(program, case(nodes(3), pods(3)), pod=apart).expect(0).json()["scheduled"] == 3
    answer = perf(program, case(nodes(3), pods(9)), pod=apart).expect(2)
    assert "6 pods fit nowhere" in answer.err, answer.err
    # The hostname label of a template or a strategy takes precedence over the default label.
    one = "apiVersion: v1\nkind: Node\nmetadata: {generateName: n-, labels: {" \
        "kubernetes.io/hostname: one}}\nstatus: {capacity: {cpu: '4', memory: 8Gi, pods: '9'}}\n"
    same = dict(nodes(3), nodeTemplatePath="one.yaml")
    answer = perf(program, case(same, pods(2)), pod=apart, one=one).expect(2)
    assert "1 pod fits nowhere" in answer.err, answer.err
    same["uniqueNodeLabelStrategy"] = {"labelKey": "kubernetes.io/hostname"}
    perf(program, case(same, pods(3)), pod=apart, one=one).expect(0)


def test_scheduler_perf_default_pod(program):
    tests = case(nodes(1), pods(40))
    del tests[0]["defaultPodTemplatePath"]
    assert perf(program, tests).expect(0).json()["scheduled"] == 40
    tests[0]["workloadTemplate"][1]["count"] = 41  # pods of 100m each, on 4 CPU
    assert "1 pod fits nowhere" in perf(program, tests).expect(2).err


def test_scheduler_perf_parameters(program):
    for name in ("count", "countParam", "COUNTPARAM"):
        tests = case(dict({"opcode": "createNodes"}, **{name: "$n"}), pods(2, **{
            "collectMetrics": "$yes"}))
        tests[0]["workloads"] = [{"name": "w%d" % i, "params": {"n": i, "yes": i == 2},
                                  "labels": ["short"], "threshold": {"a": 1e12},
                                  "featureGates": {"SchedulerAsyncPreemption": True}}
                                 for i in (1, 2)]
        runs = [json.loads(line) for line in
                perf(program, tests, pod=POD).expect(0).out.splitlines()]
        assert [(run["nodes"], run["measured"]) for run in runs] == [(1, 0), (2, 2)], runs


def test_scheduler_perf_templates(program):
    node = ("{{/* a comment */}}apiVersion: v1\nKind: Node\n"
            "metadata: {name: 'n-{{ .Index }}-of-{{- .Count -}} ',\n"
            "  Labels: {place: 'p{{.Index}}'}}\n"
            "Status: {Capacity: {cpu: '4', memory: 8Gi, pods: '9'}}\n")
    pod = POD + "  NODESELECTOR: {place: p1}\n"
    made = dict(nodes(3), nodeTemplatePath="node.yaml")
    perf(program, case(made, pods(4)), pod=pod, node=node).expect(0)
    answer = perf(program, case(made, pods(5)), pod=pod, node=node).expect(2)
    assert "1 pod fits nowhere" in answer.err, answer.err
    named = POD + (
        "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {\n"
        "    nodeSelectorTerms: [{matchFields: [\n"
        "      {key: metadata.name, operator: In, values: [n-2-of-3]}]}]}}}\n")
    perf(program, case(made, pods(4)), pod=named, node=node).expect(0)
    perf(program, case(made, pods(5)), pod=named, node=node).expect(2)


def test_scheduler_perf_barriers(program):
    huge = labelled(POD, "huge").replace("cpu: '1'", "cpu: '99'")
    flags = dict(pod=labelled(POD, "plain"), huge=huge, gated=gated(POD))
    stuck = pods(2, podTemplatePath="huge.yaml", skipWaitToCompletion=True, collectMetrics=False)
    waiting = pods(3, podTemplatePath="gated.yaml", skipWaitToCompletion=True,
                   collectMetrics=False, namespace="g")
    attempted = {"opcode": "barrier", "stageRequirement": "Attempted"}
    run = perf(program, case(nodes(1), stuck, waiting, attempted, pods(4)), **flags)
    run = run.expect(0).json()
    assert [run["scheduled"], run["measured"]] == [4, 4] and run["failed_attempts"] >= 2, run
    plain = {"opcode": "barrier", "stageRequirement": "Scheduled",
             "labelSelector": {"matchLabels": {"app": "plain"}}}
    perf(program, case(nodes(1), stuck, pods(4, skipWaitToCompletion=True), plain),
         **flags).expect(0)
    answer = perf(program, case(nodes(1), stuck, waiting, {"opcode": "barrier"}), **flags).expect(2)
    assert "op 4 (barrier): 2 pods fit nowhere" in answer.err, answer.err
    # No operation waits for gated pods.
    perf(program, case(nodes(1), dict(waiting, skipWaitToCompletion=False)), **flags).expect(0)


def test_scheduler_perf_metrics_between(program):
    start = {"opcode": "startCollectingMetrics", "name": "x", "namespaces": ["a", "b"],
             "labelSelector": {"matchLabels": {"app": "plain"}}}
    some = [pods(1, namespace=name, podTemplatePath=path, collectMetrics=False)
            for name in "abc" for path in ("plain.yaml", "other.yaml")]
    flags = dict(plain=labelled(POD, "plain"), other=labelled(POD, "other"))
    stop = {"opcode": "stopCollectingMetrics"}
    run = perf(program, case(nodes(3), some[0], start, *some, stop, some[2]), **flags)
    run = run.expect(0).json()
    assert [run["measured"], run["scheduled"]] == [2, 8] and run["seconds"] > 0, run
    # Pods placed while a barrier, a sleep or a deletion waits are measured, too.
    run = perf(program, case(nodes(1), {"opcode": "startCollectingMetrics"},
                             dict(some[0], skipWaitToCompletion=True), {"opcode": "barrier"},
                             dict(some[2], skipWaitToCompletion=True),
                             {"opcode": "sleep", "duration": "1s"}, stop), **flags)
    assert run.expect(0).json()["measured"] == 2, run.out


def test_scheduler_perf_steady_state(program):
    steady = pods(3, steadyState=True, durationParam="$time")
    tests = case(nodes(1), steady)
    tests[0]["workloads"] = [{"name": "w", "params": {"time": "2s"}},
                             {"name": "none", "params": {"time": "0s"}}]
    runs = [json.loads(line) for line in perf(program, tests, pod=POD).expect(0).out.splitlines()]
    # An attempt and the creation of a pod take a millisecond each; four pods fit at once.
    assert 900 < runs[0]["measured"] <= runs[0]["scheduled"] <= 2000, runs[0]
    assert [runs[1]["measured"], runs[1]["scheduled"]] == [3, 3], runs[1]


def test_scheduler_perf_gradual_deletion(program):
    # Four pods fit at once; two pods are deleted each second.
    run = perf(program, case(nodes(1), pods(4, deletePodsPerSecond=2, collectMetrics=False),
                             pods(3)), pod=POD).expect(0).json()
    assert run["scheduled"] == 7 and run["failed_attempts"] > 0, run
    delete = {"opcode": "deletePods", "namespace": "a", "deletePodsPerSecond": 2}
    for skip in (False, True):
        run = perf(program, case(nodes(1), pods(4, namespace="a", collectMetrics=False),
                                 dict(delete, skipWaitToCompletion=skip), pods(4)), pod=POD)
        run = run.expect(0).json()
        assert (run["failed_attempts"] > 0) == skip and run["scheduled"] == 8, run
    # Only the pods that the label selector matches are deleted.
    delete = {"opcode": "deletePods", "namespace": "a",
              "labelSelector": {"matchLabels": {"app": "other"}}}
    first = [pods(2, namespace="a", podTemplatePath=path, collectMetrics=False)
             for path in ("plain.yaml", "other.yaml")]
    flags = dict(plain=labelled(POD, "plain"), other=labelled(POD, "other"), pod=POD)
    perf(program, case(nodes(1), *first, delete, pods(2)), **flags).expect(0)
    perf(program, case(nodes(1), *first, delete, pods(3)), **flags).expect(2)


def test_scheduler_perf_any_object(program):
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: 'n-{{.Index}}'}\n" \
        "status: {capacity: {cpu: '%d', memory: 8Gi, pods: '9'}}\n"
    flags = dict(pod=POD, node=node % 1, larger=node % 4, gated=gated(POD).replace(
        "generateName: p-", "name: 'g-{{.Index}}'"))
    flags["ungated"] = flags["gated"].replace("  schedulingGates: [{name: wait}]\n", "")
    update = {"opcode": "updateAny", "templatePath": "larger.yaml", "count": 2}
    create = anything("node.yaml", countParam="$n")
    run = perf(program, case(create, pods(3)), **flags).expect(0).json()
    assert [run["nodes"], run["scheduled"]] == [3, 3], run
    perf(program, case(create, pods(9)), **flags).expect(2)
    perf(program, case(create, update, pods(9)), **flags).expect(0)
    named = POD + "  nodeSelector: {kubernetes.io/hostname: n-1}\n"
    perf(program, case(nodes(1), create, pods(1, podTemplatePath="named.yaml")), named=named,
         **flags).expect(2)
    two = dict(nodes(2), nodeTemplatePath="node.yaml")
    perf(program, case(two, update, pods(4, podTemplatePath="named.yaml")), named=named,
         **flags).expect(0)
    run = perf(program, case(create, pods(9, skipWaitToCompletion=True),
                             dict(update, updatePerSecond=1), {"opcode": "barrier"}), **flags)
    assert run.expect(0).json()["failed_attempts"] > 0, run.out
    answer = perf(program, case(create, dict(update, count=4)), **flags).expect(2)
    assert "op 2 (updateAny): there is no Node n-3" in answer.err, answer.err
    # Updates remove gates of pods.
    run = perf(program, case(
        create, anything("gated.yaml", namespace="g", count=3),
        {"opcode": "barrier", "stageRequirement": "Attempted"},
        {"opcode": "updateAny", "templatePath": "ungated.yaml", "namespace": "g", "count": 2},
        {"opcode": "barrier", "namespaces": ["g"]}), **flags).expect(0).json()
    assert run["scheduled"] == 2, run
    # Any kind is accepted: selectors read namespaces, preemption reads budgets.
    budget = manifest("PodDisruptionBudget", "b", "policy/v1", spec={"minAvailable": 1})
    perf(program, case(create, anything("budget.yaml", namespace="new"), pods(1)),
         budget=budget, **flags).expect(0)


def test_scheduler_perf_allocatable(program):
    strategy = {"nodeAllocatable": {"attachable-volumes-csi-x": "2", "example.com/foo": "2"},
                "csiNodeAllocatable": {"csi.example.com": {"count": 2}},
                "migratedPlugins": ["kubernetes.io/aws-ebs", "kubernetes.io/gce-pd"]}
    made = dict(nodes(2), nodeAllocatableStrategy=strategy)
    foo = POD.replace("{cpu: '1'}", "{example.com/foo: '1'}")
    assert perf(program, case(made, pods(4)), pod=foo).expect(0).json()["scheduled"] == 4
    perf(program, case(nodes(2), pods(4)), pod=foo).expect(2)
    # Volumes: two per node, the driver's limit. Templates of volumes need no names.
    volume = json.dumps({"apiVersion": "v1", "kind": "PersistentVolume", "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
        "csi": {"driver": "csi.example.com", "volumeHandle": "v-{{.Index}}"}}})
    claim = json.dumps({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
    with_volumes = {"persistentVolumeTemplatePath": "volume.yaml",
                    "persistentVolumeClaimTemplatePath": "claim.yaml"}
    flags = {"pod": POD, "volume": volume, "claim": claim}
    perf(program, case(made, pods(4, **with_volumes)), **flags).expect(0)
    answer = perf(program, case(made, pods(5, **with_volumes)), **flags).expect(2)
    assert "1 pod fits nowhere" in answer.err, answer.err
    perf(program, case(nodes(2), pods(5, **with_volumes)), **flags).expect(0)


def test_scheduler_perf_devices(program):
    made = dict(nodes(2), nodeTemplatePath="node.yaml")
    start = [made, nodes(1), driver("$n"), anything("class-.yaml"),
             anything("template.yaml", namespace="test")]
    flags = dict(DEVICES, pod=template_pod("t"))

    def measured(count, **more):
        return pods(count, namespace="test", **more)
    run = perf(program, case(*start, measured(6)), **flags).expect(0).json()
    assert run["scheduled"] == 6, run
    answer = perf(program, case(*start, measured(7)), **flags).expect(2)
    assert "1 pod fits nowhere" in answer.err, answer.err
    # Devices of preallocated claims are not allocated again.
    before = [anything("claim.yaml", namespace="init", count=4),
              {"opcode": "allocResourceClaims", "namespace": "init"}]
    perf(program, case(*start, *before, measured(2)), **flags).expect(0)
    answer = perf(program, case(*start, *before, measured(3)), **flags).expect(2)
    assert "1 pod fits nowhere" in answer.err, answer.err
    before[0]["count"] = 7
    answer = perf(program, case(*start, *before), **flags).expect(2)
    assert "ResourceClaim init/c-6: no node has free devices for it" in answer.err, answer.err
    # A deleted pod releases its devices, even while other pods wait for devices.
    steady = measured(6, steadyState=True, duration="1s")
    run = perf(program, case(*start, steady), **flags).expect(0).json()
    assert run["measured"] > 300, run
    run = perf(program, case(*start, measured(6, collectMetrics=False, deletePodsPerSecond=1),
                             measured(4)), **flags).expect(0).json()
    assert run["scheduled"] == 10 and run["failed_attempts"] > 0, run
    # A claim that several pods share, and devices behind an extended resource.
    shared = POD + "  resourceClaims: [{name: x, resourceClaimName: c-0}]\n"
    extended = POD.replace("requests: {cpu: '1'}", "limits: {example.com/gpu: '1'}")
    class_ = json.loads(DEVICES["class_"])
    class_["spec"]["extendedResourceName"] = "example.com/gpu"
    more = dict(flags, shared=shared, extended=extended, class_=json.dumps(class_))
    one = anything("claim.yaml", namespace="test")
    gate = {"featureGates": {"DRAExtendedResource": True}}
    for path in ("shared.yaml", "extended.yaml"):
        some = dict(measured(6, podTemplatePath=path))
        run = perf(program, case(*start, one if path == "shared.yaml" else nodes(1), some, **gate),
                   **more).expect(0).json()
        assert run["scheduled"] == 6, run
        run = perf(program, case(*start, one, dict(some, count=2, steadyState=True, duration="1s"),
                                 **gate), **more).expect(0).json()
        assert run["measured"] > 300, run
    answer = perf(program, case(*start, measured(7, podTemplatePath="extended.yaml"), **gate),
                  **more).expect(2)
    assert "1 pod fits nowhere" in answer.err, answer.err
    # More devices than a slice may have.
    tests = case(*start, measured(80))
    tests[0]["workloads"][0]["params"]["n"] = 300
    perf(program, tests, **flags).expect(0)


def test_scheduler_perf_example(program):
    only = ["SchedulingBasic/100Nodes", "SchedulingWhileThingsChange", "SchedulingInManyNamespaces",
            "SchedulingWithVolumes,PodsMakeRoomForOthers",
            "SchedulingWithDevices,PodsWaitForNodesToGrow"]
    flags = [flag for name in only for flag in ("--only", name)]
    answer = program.run("bench", "--scheduler-perf", CONFIG, *flags).expect(0)
    runs = [json.loads(line) for line in answer.out.splitlines()]
    assert [(run["test"], run["measured"], run["scheduled"]) for run in runs] == [
        ("SchedulingBasic", 400, 500), ("SchedulingWhileThingsChange", 500, 500),
        ("SchedulingInManyNamespaces", 100, 100), ("SchedulingWithVolumes", 200, 200),
        ("PodsMakeRoomForOthers", 15, 55), ("SchedulingWithDevices", 500, 500),
        ("PodsWaitForNodesToGrow", 40, 60)], runs
    assert runs[4]["victims"] == 10 and runs[4]["failed_attempts"] >= 5, runs[4]
    assert runs[6]["failed_attempts"] >= 40, runs[6]
    with open(CONFIG, encoding="utf-8") as file:
        text = file.read()
    for opcode in ["createNodes", "createNamespaces", "createPods", "createPodSets", "churn",
                   "barrier", "sleep", "deletePods", "createAny", "updateAny",
                   "createResourceDriver", "allocResourceClaims", "startCollectingMetrics",
                   "stopCollectingMetrics"]:
        assert "opcode: %s " % opcode in text.replace("\n", " "), opcode
    for run in runs:
        assert list(run) == [
            "file", "test", "workload", "nodes", "measured", "scheduled", "failed_attempts",
            "victims", "seconds", "pods_per_s", "cpu_seconds", "load_seconds", "decisions",
            "verify"] + ORIGIN, run
        assert run["verify"] == "inline"
    again = program.run("bench", "--scheduler-perf", CONFIG, *flags, "--verify",
                        verify=False).expect(0)
    assert [json.loads(line)["decisions"] for line in again.out.splitlines()] == \
        [run["decisions"] for run in runs]
    assert json.loads(again.out.splitlines()[0])["verify"] == "agreed"


def test_scheduler_perf_operations(program):
    run = perf(program, case(nodes(2), pods(8)), pod=POD).expect(0).json()
    assert [run["nodes"], run["measured"]] == [2, 8], run
    run = perf(program, case(
        {"opcode": "createNodes", "countParam": "$n"}, pods(None, countParam="$n")),
               pod=POD).expect(0).json()
    assert [run["nodes"], run["measured"]] == [3, 3], run
    # The second four pods fit only after the first four pods have been deleted.
    run = perf(program, case(
        nodes(1), pods(4, namespace="a", collectMetrics=False),
        {"opcode": "deletePods", "namespace": "a"}, pods(4, namespace="b")),
               pod=POD).expect(0).json()
    assert [run["measured"], run["scheduled"]] == [4, 8], run
    # A node that churn creates has room for the last pod.
    run = perf(program, case(
        nodes(1), {"opcode": "churn", "mode": "create", "number": 1, "intervalMilliseconds": 1000,
                   "templatePaths": ["node.yaml"]}, pods(8)), pod=POD,
               node="apiVersion: v1\nkind: Node\nmetadata: {name: 'more-{{ .Index }}'}\n"
                    "status: {capacity: {cpu: '4', memory: 8Gi, pods: '9'}}\n").expect(0).json()
    assert [run["nodes"], run["scheduled"]] == [1, 8] and run["failed_attempts"] > 0, run


def test_scheduler_perf_labels_of_nodes(program):
    labelled = {"opcode": "createNodes", "count": 4,
                "labelNodePrepareStrategy": {"labelKey": "zone", "labelValues": ["a", "b"]},
                "uniqueNodeLabelStrategy": {"labelKey": "own"}}
    spread = POD + ("  nodeSelector: {zone: b}\n  topologySpreadConstraints:\n"
                    "  - {maxSkew: 1, topologyKey: own, whenUnsatisfiable: DoNotSchedule,\n"
                    "     labelSelector: {}}\n")
    run = perf(program, case(labelled, pods(8)), pod=spread).expect(0).json()
    assert run["scheduled"] == 8, run
    answer = perf(program, case(labelled, pods(9)), pod=spread).expect(2)
    assert "op 2 (createPods): 1 pod fits nowhere: namespace-2/p-" in \
        answer.err, answer.err


def test_scheduler_perf_threshold(program):
    workloads = [{"name": "w", "threshold": 1e12}]
    answer = perf(program, case(nodes(1), pods(1), workloads=workloads), pod=POD).expect(1)
    assert answer.json()["threshold"] == 1000000000000, answer.out
    # Selectors of other metrics are ignored.
    for more in ({"thresholdMetricSelector": {"name": "x"}}, {"threshold": {"x": 1e12}}):
        other = [dict(workloads[0], **more)]
        perf(program, case(nodes(1), pods(1), workloads=other), pod=POD).expect(0)
    workloads[0]["threshold"] = 0.001
    perf(program, case(nodes(1), pods(1), workloads=workloads), pod=POD).expect(0)


def test_scheduler_perf_configuration(program):
    config = ("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
              "profiles: [{schedulerName: other}]\n")
    tests = case(nodes(1), pods(1), schedulerConfigPath="config-of-it.yaml")
    other = POD + "  schedulerName: other\n"
    assert perf(program, tests, pod=other, config_of_it=config).expect(0).json()["scheduled"] == 1
    answer = perf(program, case(nodes(1), pods(1), featureGates={"NoSuchGate": True}),
                  pod=POD).expect(2)
    assert "NoSuchGate" in answer.err, answer.err


def test_scheduler_perf_errors(program):
    known = "known are createNodes, createNamespaces, createPods, createPodSets, churn, barrier, " \
        "sleep, deletePods, createAny, updateAny, createResourceDriver, allocResourceClaims, " \
        "startCollectingMetrics, stopCollectingMetrics"
    barrier = {"opcode": "barrier"}
    for operations, message in [
            ([{"opcode": "createThings"}], "op 1: opcode: createThings is unknown; " + known),
            ([barrier, {}], "op 2: opcode: missing"),
            (["x"], "op 1: operation: expected object, got string"),
            ([{"opcode": "createNodes"}],
             "op 1 (createNodes): count: missing, and there is no countParam"),
            ([{"opcode": "createNodes", "count": 1, "countParam": "$n"}],
             "op 1 (createNodes): count: countParam is there as well"),
            ([{"opcode": "createNodes", "countParam": "n"}], 'countParam: "n" must start with $'),
            ([nodes("3")], "op 1 (createNodes): count: expected number, got string"),
            ([nodes(-3)], "op 1 (createNodes): count: -3 is not a count"),
            ([nodes(1.5)], "op 1 (createNodes): count: 1.5 is not a count"),
            ([dict(nodes(1), podTemplatePath="x")],
             "op 1 (createNodes): podTemplatePath: unknown field; known are count, countParam"),
            ([{"opcode": "createNodes", "countParam": "$none"}],
             "workload Small: op 1 (createNodes): countParam: the workload has no parameter none; "
             "it has n, word"),
            ([{"opcode": "createNodes", "countParam": "$word"}],
             "countParam: the parameter word is not a count"),
            ([{"opcode": "createNamespaces", "count": 1}], "prefix: missing"),
            ([{"opcode": "createPodSets", "count": 1, "namespacePrefix": "x"}],
             "op 1 (createPodSets): createPodsOp: missing"),
            ([{"opcode": "createPodSets", "count": 1, "namespacePrefix": "x",
               "createPodsOp": {"opcode": "createPods"}}],
             "op 1 (createPodSets): createPodsOp: count: missing"),
            ([pods(1, persistentVolumeTemplatePath="x")], "need each other"),
            ([{"opcode": "churn", "mode": "often", "templatePaths": ["x"]}],
             'op 1 (churn): mode: "often" is none of create, recreate'),
            ([{"opcode": "churn", "mode": "create"}], "op 1 (churn): templatePaths: none"),
            ([{"opcode": "churn", "mode": "create", "templatePaths": "x"}],
             "templatePaths: expected array, got string"),
            ([{"opcode": "churn", "mode": "recreate", "templatePaths": ["x"]}],
             "number: missing, mode is recreate"),
            ([{"opcode": "sleep"}], "one of duration and durationParam is needed"),
            ([{"opcode": "sleep", "duration": "10"}], "missing unit in duration"),
            ([{"opcode": "deletePods"}], "op 1 (deletePods): namespace: missing"),
            ([dict(nodes(1), nodeTemplatePath="none.yaml")], "none.yaml: No such file"),
            ([dict(nodes(1), nodeTemplatePath="pod.yaml")], "pod.yaml: a Pod, not a Node"),
            ([dict(nodes(1), nodeTemplatePath="action.yaml")],
             "action.yaml: template action {{.Name}} is not known, only {{.Index}} and {{.Count}}"),
            ([dict(nodes(1), nodeTemplatePath="open.yaml")], "template action without its end"),
            ([dict(nodes(1), nodeTemplatePath="nameless.yaml")],
             "nameless.yaml: metadata: neither name nor generateName"),
            ([nodes(1), pods(2, podTemplatePath="same.yaml")], "pod same is there already"),
            ([pods(1)], "1 pod fits nowhere"),
            ([{"opcode": "barrier", "stageRequirement": "Bound"}],
             'op 1 (barrier): stageRequirement: "Bound" is none of Attempted, Scheduled'),
            ([{"opcode": "barrier", "labelSelector": {"matchLabels": 1}}],
             "op 1 (barrier): labelSelector: matchLabels: expected object, got number"),
            ([pods(1, steadyState=True)], "duration: missing, steadyState needs it"),
            ([pods(1, steadyState="$word", duration="1s")],
             "op 1 (createPods): steadyState: the parameter word is not a bool"),
            ([nodes(1), pods(1, podTemplatePath="huge.yaml", steadyState=True, duration="1s")],
             "op 2 (createPods): no pod got a node"),
            ([{"opcode": "createAny"}], "op 1 (createAny): templatePath: missing"),
            ([{"opcode": "createAny", "templatePath": "thing.yaml"}], "thing.yaml: "),
            ([{"opcode": "updateAny", "templatePath": "same.yaml", "namespace": "a"}],
             "op 1 (updateAny): there is no Pod a/same"),
            ([{"opcode": "createResourceDriver", "nodes": "*", "maxClaimsPerNode": 1}],
             "op 1 (createResourceDriver): driverName: missing"),
            ([{"opcode": "createResourceDriver", "driverName": "d", "nodes": "none-*",
               "maxClaimsPerNode": 1}], 'nodes: no node is called "none-*"'),
            ([{"opcode": "createResourceDriver", "driverName": "d", "nodes": "*",
               "maxClaimsPerNode": 65537}],
             "op 1 (createResourceDriver): maxClaimsPerNode: at most 65536"),
            ([{"opcode": "allocResourceClaims"}], "namespace: missing"),
            ([nodes(1), {"opcode": "createAny", "templatePath": "claim.yaml", "namespace": "a"},
              {"opcode": "allocResourceClaims", "namespace": "a"}],
             "op 3 (allocResourceClaims): ResourceClaim a/c-0: "),
            ([nodes(1), pods(1, podTemplatePath="with-template.yaml")],
             "there is no ResourceClaimTemplate none"),
            ([{"opcode": "stopCollectingMetrics"}], "no metrics are collected"),
            ([{"opcode": "startCollectingMetrics"}, {"opcode": "startCollectingMetrics"}],
             "op 2 (startCollectingMetrics): metrics are collected already"),
            ([{"opcode": "startCollectingMetrics"}, nodes(1), pods(1)],
             "op 3 (createPods): collectMetrics: startCollectingMetrics came before"),
            ([dict(nodes(1), nodeAllocatableStrategy={"nodeAllocatable": {"cpu": "x"}})],
             "nodeAllocatableStrategy: nodeAllocatable[cpu]: "),
            ([dict(nodes(1), nodeAllocatableStrategy={"csiNodeAllocatable": {"d": {}}})],
             "nodeAllocatableStrategy: csiNodeAllocatable[d]: count: a number is needed"),
            ([dict(nodes(1), nodeAllocatableStrategy={"migratedPlugins": [1]})],
             "nodeAllocatableStrategy: migratedPlugins: expected string, got number")]:
        answer = perf(program, case(*operations), pod=POD, same=POD.replace("generateName: p-",
                                                                           "name: same"),
                      action="kind: Node\nmetadata: {name: '{{.Name}}'}\n", open="name: {{.Index\n",
                      nameless="apiVersion: v1\nkind: Node\n",
                      huge=POD.replace("cpu: '1'", "cpu: '99'"), claim=CLAIM,
                      thing="apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\n",
                      with_template=template_pod("none")).expect(2)
        assert message in answer.err and "config.yaml: test case Case: " in answer.err, \
            (operations, answer.err)


def test_scheduler_perf_errors_of_the_file(program):
    for tests, message in [
            ({"name": "x"}, "config.yaml: expected a list of test cases, got object"),
            ([{}], "test case 1: name: missing"),
            ([{"name": "x"}], "test case x: workloadTemplate: missing"),
            ([{"name": "x", "workloadTemplate": 3}],
             "workloadTemplate: expected array, got number"),
            ([{"name": "x", "workloadTemplate": []}], "test case x: workloads: missing"),
            ([{"name": "x", "workloadTemplate": [], "workloads": [{}]}],
             "test case x: workload 1: name: missing"),
            ([{"name": "x", "workloadTemplate": [], "workloads": [{"name": "w", "params": 1}]}],
             "workload w: params: expected object, got number"),
            ([{"name": "x", "workloadTemplate": [], "workloads": [
                {"name": "w", "featureGates": {"x": 1}}]}],
             "workload w: featureGates: expected bool, got number"),
            (case(featureGates={"x": 1}), "featureGates: expected bool, got number"),
            (case(defaultPodTemplatePath=1), "defaultPodTemplatePath: expected string, got number"),
            (None, "config.yaml: expected a list of test cases, got null")]:
        answer = perf(program, tests).expect(2)
        assert message in answer.err, (tests, answer.err)


if __name__ == "__main__":
    scenario.main(globals())
