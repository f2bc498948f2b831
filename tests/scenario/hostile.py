#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile input ends with a message and exit status 2, in bounded memory."""
import json
import os

import scenario
from objects import lines, node, pod

SMALL_MB = 150  # limit of memory for inputs of at most a few MB
HEAD = b'{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"d","name":"web",'


def refused(program, stdin, *parts, limit_mb=SMALL_MB, arguments=()):
    answer = program.run("simulate", "-f", "-", *arguments, stdin=stdin).expect(2)
    for part in ("berth simulate: standard input: document ",) + parts:
        assert part in answer.err, "%s is not in %s" % (part, answer.err[:2000])
    assert len(answer.err) < 4096, len(answer.err)
    assert answer.out == ""
    assert program.sanitized or answer.peak_rss_mb < limit_mb, answer.peak_rss_mb
    return answer


def example_lines():
    with open(os.path.join(scenario.EXAMPLES, "cluster.yaml"), "rb") as file:
        return file.read()


def test_truncated_json(program):
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p%d" % i, "labels": {"a": "b"}}}
        for i in range(3)]}).encode()
    for length in range(1, len(text), 4 if program.sanitized else 1):
        answer = program.run("simulate", "-f", "-", stdin=text[:length], verify=False)
        assert answer.status == 2 and "document 1: " in answer.err, (length, answer.err)
    refused(program, text[:-40], "line 1", "unexpected end of JSON input")


def test_truncated_yaml(program):
    text = example_lines()
    for length in range(100, len(text), 977):
        answer = program.run("simulate", "-f", "-", stdin=text[:length], verify=False)
        assert answer.status in (0, 1, 2), (length, answer.status, answer.err)


def test_flipped_bytes(program):
    text = example_lines()
    for position in range(0, len(text), 499):
        for byte in (b"\x00", b"{", b"\xff", b"&", b"*"):
            changed = text[:position] + byte + text[position + 1:]
            answer = program.run("simulate", "-f", "-", stdin=changed, verify=False)
            assert answer.status in (0, 1, 2), (position, byte, answer.status, answer.err)


def test_deep_nesting(program):
    refused(program, b"[" * 1000000, "expected object, got array")
    refused(program, HEAD + b'"x":' + b"[" * 1000000, "exceeded max depth")
    refused(program, HEAD + b'"x":' + b'{"a":' * 1000000, "exceeded max depth")
    refused(program, b"a: " + b"[" * 1000000, "exceeded max depth")
    refused(program, b"".join(b" " * i + b"a:\n" for i in range(1000)), "exceeded max depth")
    lists = b'{"kind":"List","apiVersion":"v1","items":['
    refused(program, lists * 100 + b"]}" * 100, "lists are nested too deeply")


def test_alias_bomb(program):
    rows = [b"a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"]
    for i in range(1, 15):
        rows.append(b"a%d: &a%d [" % (i, i) + b",".join([b"*a%d" % (i - 1)] * 10) + b"]\n")
    refused(program, b"".join(rows), "document 1", "expands to more than", limit_mb=400)
    refused(program, b"a: &a [*a]\n", "document 1")


def long_string(before, megabytes, after):
    yield before
    for _ in range(megabytes):
        yield b"x" * 1000000
    yield after


def available_mb():
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) // 1024
    return 0


def test_huge_string(program):
    """A string of 1 GB, if the machine has the memory; berth needs little more than the input's
    size."""
    size = 1000 if available_mb() > 4000 and not program.sanitized else 100
    refused(program, long_string(HEAD + b'"labels":{"a":"', size, b'"}}}\n'),
            "Pod d/web: metadata.labels[a]: string of %d bytes" % (size * 1000000),
            limit_mb=size + 200)
    answer = program.run("simulate", "-f", "-", stdin=long_string(
        HEAD + b'"note":"', size, b'"}}\n'), verify=False).expect(1)
    assert "d/web" in answer.out
    assert program.sanitized or answer.peak_rss_mb < size + 200, answer.peak_rss_mb
    refused(program, long_string(b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  uid: ", 100,
                                 b"\n"),
            "Pod web: metadata.uid: string of 100000000 bytes", limit_mb=600)


def test_wrong_types(program):
    rows = [
        ('{"kind":"Pod","apiVersion":"v1","metadata":[]}',
         "Pod: metadata: expected object, got array"),
        ('{"kind":"Pod","apiVersion":"v1","metadata":{"name":5}}',
         "Pod: metadata.name: expected string, got number"),
        ('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"containers":{}}}',
         "Pod a: spec.containers: expected array, got object"),
        ('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"priority":"x"}}',
         "Pod a: spec.priority: "),
        ('{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"},'
         '"status":{"capacity":{"cpu":"4x"}}}',
         "Node a: status.capacity[cpu]: "),
        ('{"kind":7,"apiVersion":"v1"}', "object has no kind"),
        ('{"kind":"Pod","apiVersion":"v1","metadata":{}}', "metadata.name: name or generateName"),
        ('{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}},7]}',
         "items[1]: Pod: "),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n- 1\n", "document 2: "),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: yes}\n",
         "document 1: Pod: metadata.name: expected string, got bool"),
    ]
    for text, part in rows:
        refused(program, text, part)
    answer = program.simulate("\x00\x01\x02").expect(2)
    assert "standard input: this is binary data, not a manifest" in answer.err, answer.err


def test_too_many(program):
    refused(program, '{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"a"},'
            '"spec":{"replicas":2147483647,"template":{"spec":{"containers":[{"name":"c"}]}}}}',
            "ReplicaSet default/a: ", "more than 1000000 pods", limit_mb=3000)


def asking(amounts, which="requests"):
    return {"containers": [{"name": "c"}, {"name": "d", "resources": {which: amounts}}]}


def workload(api_version, kind, spec):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "w", "namespace": "a"},
            "spec": spec}


def with_template(spec):
    """Yield (workload, path of its pod template) for each kind, with this pod spec."""
    template = {} if spec is None else {"template": {"spec": spec}}
    kinds = [("apps/v1", kind) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")]
    for api_version, kind in kinds + [("batch/v1", "Job"), ("v1", "ReplicationController")]:
        yield workload(api_version, kind, template), "spec.template"
    yield workload("batch/v1", "CronJob", {"jobTemplate": {"spec": template}}), \
        "spec.jobTemplate.spec.template"


def refused_by_all(program, item, message):
    """Simulate, explain, whatif and capacity refuse an object with the same message. whatif and
    capacity are tried twice: with the object in the cluster, and as their --with or --pod."""
    nodes = program.write("nodes.json", lines(node("n1")))
    path = program.write("refused.json", lines(item))
    for command in (["simulate", "-f", nodes, "-f", path], ["explain", "-f", nodes, "-f", path],
                    ["whatif", "-f", nodes, "-f", path, "--drain", "n1"],
                    ["whatif", "-f", nodes, "--with", path],
                    ["capacity", "-f", nodes, "-f", path, "--like", "pod/p"],
                    ["capacity", "-f", nodes, "--pod", path]):
        answer = program.run(*command).expect(2)
        name = "%s %s/%s" % (item["kind"], item["metadata"].get("namespace", "default"),
                             item["metadata"]["name"])
        assert answer.out == "" and answer.err.endswith(
            "refused.json: document 1: %s: %s\n" % (name, message)), (command, answer.err)


def test_negative_requests(program):
    negative = 'Invalid value: "-1": must be greater than or equal to 0'
    whole = 'Invalid value: "500m": must be an integer'
    init = {"initContainers": asking({"memory": "-1"})["containers"][1:],
            "containers": [{"name": "c"}]}
    rows = [
        (asking({"cpu": "-1"}), "containers[1].resources.requests[cpu]: " + negative),
        (asking({"x.com/y": "-1"}), "containers[1].resources.requests[x.com/y]: " + negative),
        (asking({"x.com/y": "0.5"}), "containers[1].resources.requests[x.com/y]: " + whole),
        (asking({"memory": "-1"}, "limits"),
         "containers[1].resources.limits[memory]: " + negative),
        (init, "initContainers[0].resources.requests[memory]: " + negative),
        (dict(asking({}), resources={"requests": {"cpu": "-1"}}),
         "resources.requests[cpu]: " + negative),
        (dict(asking({}), overhead={"cpu": "-1"}), "overhead[cpu]: " + negative),
    ]
    for spec, message in rows:
        item = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
        refused_by_all(program, item, "spec." + message)
    for item, place in with_template(rows[0][0]):
        refused_by_all(program, item, place + ".spec." + rows[0][1])
    for amount in ("0", "-0", "1e-3"):
        program.simulate(lines(node("n1"), pod("p", cpu=amount))).expect(0)


def test_workloads_without_a_template(program):
    for item, place in with_template(None):
        refused_by_all(program, item, place + (": Required value" if item["apiVersion"] == "v1"
                                               else ".spec.containers: Required value"))


def test_damaged_gzip(program):
    import gzip
    data = gzip.compress(b"{}" * 10000)
    for broken in (data[:30], data[:20] + b"\x00" * 20 + data[40:]):
        answer = program.run("simulate", "-f", "-", stdin=broken).expect(2)
        assert "standard input: " in answer.err and "gzipped data" in answer.err, answer.err


def test_messages_show_no_control_characters(program):
    texts = ['{"kind":"Pod","apiVersion":"v1","metadata":{"name":"\\u001b[2J"},"spec":[]}',
             '{"kind":"Po\\u001b[2Jd","apiVersion":"v1","metadata":[]}',
             '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"\\u001b[2J":3}}}']
    for text in texts:
        answer = program.run("simulate", "-f", "-", stdin=text).expect(2)
        assert "\x1b" not in answer.err, answer.err


if __name__ == "__main__":
    scenario.main(globals())
