#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/plugins/gpu_fragmentation, and inflated imports of Alibaba's GPU trace.

The tables are made up; their columns are those of the trace.
"""
import gzip
import json
import os
import random

from objects import lines, node, pod
import scenario

FOLDER = os.path.join(scenario.EXAMPLES, "plugins", "gpu_fragmentation")
STRATEGIES = ["least-allocated", "most-allocated", "requested-to-capacity-ratio"]
GPU = "berth.dev/gpu-milli"
FACTOR = 1.3


def plugin(program):
    return ["--plugin", os.path.join(os.path.dirname(program.path), "examples", "plugins",
                                     "gpu_fragmentation.so")]


def config(name):
    return os.path.join(FOLDER, name + ".yaml")


def made_up_tables(program, seed):
    """Nodes with 1 to 8 GPUs, and pods, half of which use a share of one GPU."""
    source = random.Random(seed)
    nodes = ["sn,cpu_milli,memory_mib,gpu,model"]
    for i in range(60):
        gpus = source.choice([0, 1, 2, 2, 4, 8, 8])
        cpu = source.choice([8, 12, 16]) * max(gpus, 2) * 1000
        nodes.append("node-%d,%d,262144,%d,V100" % (i, cpu, gpus))
    kinds = [(4000, 1, 320), (3000, 1, 810), (8000, 1, 470), (11000, 1, 1000), (12000, 1, 650),
             (6000, 1, 220), (16000, 2, 1000), (32000, 4, 1000), (64000, 8, 1000), (12000, 0, 0)]
    weights = [10, 12, 10, 20, 6, 4, 3, 2, 2, 6]
    pods = ["name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
            "deletion_time,scheduled_time"]
    for i in range(300):
        cpu, count, milli = source.choices(kinds, weights)[0]
        start = 10 * i
        pods.append("pod-%d,%d,1024,%d,%d,,LS,Running,%d,%d,%d" % (
            i, cpu, count, milli, start, start + source.randint(100, 3000), start))
    return (program.write("nodes-%d.csv" % seed, "\n".join(nodes) + "\n"),
            program.write("pods-%d.csv" % seed, "\n".join(pods) + "\n"))


def imported(program, tables, name, *flags):
    path = os.path.join(program.folder, name)
    program.run("import", "alibaba-gpu-2023", *tables, "-o", path, *flags).expect(0)
    return path


def recorded(path):
    """GPUs of nodes and requests of pods, by name, in thousandths of a GPU."""
    gpus, pods = {}, {}
    with gzip.open(path, "rt") as file:
        text = file.read().splitlines()
    for line in text:
        item = json.loads(line).get("add", {})
        if item.get("kind") == "Node":
            gpus[item["metadata"]["name"]] = int(item["status"]["allocatable"].get(GPU, 0))
        elif item.get("kind") == "Pod":
            requests = item["spec"]["containers"][0]["resources"]["requests"]
            pods[item["metadata"]["name"]] = int(requests.get(GPU, 0))
    assert gpus and pods, text[:3]
    return gpus, pods


def test_inflated_imports(program):
    """Pods are drawn until their requests reach FACTOR times the GPUs of all nodes; the same seed
    draws the same pods."""
    tables = made_up_tables(program, 1)
    first = imported(program, tables, "first.berthrec", "--inflate", str(FACTOR), "--seed", "5")
    again = imported(program, tables, "again.berthrec", "--inflate", str(FACTOR), "--seed", "5")
    other = imported(program, tables, "other.berthrec", "--inflate", str(FACTOR), "--seed", "6")
    contents = [open(path, "rb").read() for path in (first, again, other)]
    assert contents[0] == contents[1] and contents[0] != contents[2]
    gpus, pods = recorded(first)
    asked = list(pods.values())
    wanted = FACTOR * sum(gpus.values())
    assert sum(asked) >= wanted > sum(asked[:-1]), (sum(asked), wanted)


def test_wrong_factors(program):
    tables = made_up_tables(program, 1)
    for value, message in [("0", "--inflate: must be above 0 and at most 100, not 0\n"),
                           ("101", "--inflate: must be above 0 and at most 100, not 101\n"),
                           ("x", "--inflate: ")]:
        answer = program.run("import", "alibaba-gpu-2023", *tables, "--inflate", value, "-o",
                             "-").expect(2)
        assert message in answer.err, (value, answer.err)
    path = program.write("pods.yaml", lines(pod("a")))
    answer = program.run("import", "manifests", path, "--inflate", "2", "-o", "-").expect(2)
    assert "--inflate: only for alibaba-gpu-2023, not for manifests" in answer.err, answer.err
    empty = program.write("no-gpus.csv", "sn,cpu_milli,memory_mib,gpu,model\nn,1000,1000,0,\n")
    answer = program.run("import", "alibaba-gpu-2023", empty, tables[1], "--inflate", "2", "-o",
                         "-").expect(2)
    assert "--inflate: no node has a GPU" in answer.err, answer.err


def check_gpus(path, gpus, pods):
    """Each pod fits on GPUs of its node; pods placed earlier keep their GPUs."""
    free = {name: [1000] * (milli // 1000) for name, milli in gpus.items()}
    placed = 0
    with open(path) as file:
        for line in file:
            event = json.loads(line)
            if event["event"] != "bound":
                continue
            milli = pods[event["name"]]
            left = free[event["node"]]
            if milli >= 1000:
                empty = [i for i, amount in enumerate(left) if amount == 1000]
                assert len(empty) >= milli // 1000, (line, left)
                for i in empty[:milli // 1000]:
                    left[i] = 0
            elif milli > 0:
                fitting = [i for i, amount in enumerate(left) if amount >= milli]
                assert fitting, (line, left)
                left[min(fitting, key=lambda i: (left[i], i))] -= milli
            placed += milli
    return placed


def test_places_more_gpus(program):
    """Places more GPUs than the built-in strategies on inflated workloads, under the same rules for
    GPUs."""
    for seed in (1, 2):
        path = imported(program, made_up_tables(program, seed), "inflated-%d.berthrec" % seed,
                        "--inflate", str(FACTOR), "--seed", str(seed))
        flags = sum([["--config", config(name)] for name in STRATEGIES + ["gpu-fragmentation"]], [])
        answer = program.run("compare", path, *flags, *plugin(program), "-o", "json").expect(0)
        peaks = {item["name"]: next(resource["peak"] for resource in item["replay"]["resources"]
                                    if resource["name"] == GPU)
                 for item in answer.json()["alternatives"]}
        print("seed %d: %s" % (seed, peaks))
        assert all(peaks["gpu-fragmentation"] > peaks[name] for name in STRATEGIES), (seed, peaks)
        gpus, pods = recorded(path)
        events = os.path.join(program.folder, "events-%d.txt" % seed)
        program.run("replay", path, "--config", config("gpu-fragmentation"), *plugin(program),
                    "--events", events).expect(0)
        placed = check_gpus(events, gpus, pods)
        assert abs(placed / sum(gpus.values()) - peaks["gpu-fragmentation"]) < 1e-6


def test_pods_that_leave(program):
    """GPUs are free again when their pods have ended: the whole trace is placed."""
    path = imported(program, made_up_tables(program, 3), "trace.berthrec")
    answer = program.run("replay", path, "--config", config("gpu-fragmentation"), "-o", "json",
                         *plugin(program)).expect(0).json()
    assert answer["pods"]["bound"] == 300 and answer["pods"]["succeeded"] == 300, answer["pods"]


def gpu_pod(name, milli, node_name=None):
    item = pod(name, "100m", node_name)
    item["spec"]["containers"][0]["resources"]["requests"][GPU] = str(milli)
    item["spec"]["containers"][0]["resources"]["limits"] = {GPU: str(milli)}
    return item


def gpu_node(name, count, cpu="8"):
    item = node(name, cpu)
    item["status"]["capacity"][GPU] = str(1000 * count)
    return item


def simulated(program, objects, name="gpu-fragmentation"):
    answer = program.run("simulate", "-f", "-", "-o", "json", "--config", config(name),
                         *plugin(program), stdin=lines(*objects))
    assert answer.status in (0, 1), answer.err
    return {key.split("/")[1]: (item["node"], item["message"])
            for key, item in answer.pods().items()}


def test_a_share_is_of_one_gpu(program):
    """A share needs room on a single GPU: free parts of several GPUs do not add up. Pods that
    were running in the input count like pods that berth places."""
    for name in STRATEGIES + ["gpu-fragmentation"]:
        found = simulated(program, [gpu_node("n", 2)] + [gpu_pod("p%d" % i, 600) for i in range(3)],
                          name)
        assert [found[key][0] for key in ("p0", "p1", "p2")] == ["n", "n", ""], found
        assert "1 node(s) had no GPU with room for the share" in found["p2"][1], found
        found = simulated(program, [gpu_node("n", 2), gpu_pod("old", 600, "n"),
                                    gpu_pod("whole", 1000), gpu_pod("late", 350),
                                    gpu_pod("later", 400)], name)
        assert [found[key][0] for key in ("whole", "late", "later")] == ["n", "n", ""], found
    found = simulated(program, [gpu_node("n", 3), gpu_pod("a", 600), gpu_pod("b", 600),
                                gpu_pod("two", 1500)])
    assert "1 node(s) had too few empty GPUs" in found["two"][1], found


def test_fragments_are_used_first(program):
    """A share goes to the GPU whose remaining room typical pods can use."""
    path = program.write("typical.yaml", open(config("gpu-fragmentation")).read() + """\
  - name: GPUFragmentation
    args:
      typicalPods: [{cpuMilli: 1000, gpuMilli: 1000, count: 1}]
""")
    objects = [gpu_node("empty", 1), gpu_node("used", 1), gpu_pod("old", 500, "used"),
               gpu_pod("new", 400)]
    answer = program.run("simulate", "-f", "-", "-o", "json", "--config", path, *plugin(program),
                         stdin=lines(*objects)).expect(0)
    assert answer.pods()["default/new"]["node"] == "used", answer.out


def test_wrong_arguments(program):
    for args, message in [
            ("{resource: ''}", "resource: must not be empty"),
            ("{typicalPods: [{count: 0}]}", "typicalPods[0]: cpuMilli and gpuMilli must not"),
            ("{typicalPod: []}", "typicalPod")]:
        path = program.write("wrong.yaml", open(config("gpu-fragmentation")).read() +
                             "  - name: GPUFragmentation\n    args: %s\n" % args)
        answer = program.run("simulate", "-f", "-", "--config", path, *plugin(program),
                             stdin=lines(gpu_node("n", 1))).expect(2)
        assert message in answer.err, (args, answer.err)


if __name__ == "__main__":
    scenario.main(globals())
