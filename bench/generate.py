#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a scheduling workload as JSON lines: nodes, pods bound to them, pending pods.

The same arguments give the same bytes. README.md in this folder says what the workloads are.
"""
import argparse
import json
import random
import sys

SEED = 7
INSTANCE_TYPES = ["m5.large", "m5.xlarge", "c5.2xlarge", "r5.4xlarge"]
UNIFORM_SIZE = ("4", "32Gi")
MIXED_SIZES = [("4", "16Gi"), ("8", "32Gi"), ("16", "64Gi"), ("32", "256Gi")]
CPU_CHOICES_MILLI = [50, 100, 150, 200, 250, 330, 500, 750, 1000]
MIXED_KINDS = ["antiaffinity", "affinity", "prefaffinity", "prefantiaffinity", "spread", "basic",
               "hetero"]
WORKLOADS = ["basic", "nodeaffinity", "taints", "hetero", "spread", "prefspread", "affinity",
             "antiaffinity", "prefaffinity", "prefantiaffinity", "mixed", "preemption"]


class Generator:
    """Draws the random parts of a workload in one fixed order."""

    def __init__(self, workload, without):
        self.workload = workload
        self.without = without
        self.random = random.Random(SEED)

    def node(self, index):
        zones = 10 if self.workload in ("spread", "prefspread") else 3
        name = "node-%05d" % index
        size = UNIFORM_SIZE
        if self.workload in ("hetero", "mixed"):
            size = MIXED_SIZES[index % len(MIXED_SIZES)]
        spec = {}
        if self.workload == "taints" and index % 3 == 0:
            spec["taints"] = [{"key": "dedicated", "value": "infra", "effect": "PreferNoSchedule"}]
        resources = {"cpu": size[0], "memory": size[1], "pods": "110"}
        return {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "uid": "n-%d" % index, "labels": {
                "kubernetes.io/hostname": name,
                "topology.kubernetes.io/zone": "zone-%d" % (index % zones),
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": INSTANCE_TYPES[index % len(INSTANCE_TYPES)],
            }},
            "spec": spec,
            "status": {"capacity": resources, "allocatable": resources,
                       "conditions": [{"type": "Ready", "status": "True"}]},
        }

    def pod(self, index, kind, node_name=None):
        pod = {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "pod-%06d" % index, "namespace": "default", "uid": "p-%d" % index,
                         "labels": {}},
            "spec": {"schedulerName": "default-scheduler", "priority": 0, "containers": [{
                "name": "pause", "image": "registry.k8s.io/pause:3.10",
                "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}},
            }]},
            "status": {"phase": "Pending"},
        }
        shape = getattr(self, "shape_" + kind, None)
        if shape is not None:
            shape(pod["spec"], pod["metadata"]["labels"])
        if node_name is not None:
            pod["spec"]["nodeName"] = node_name
            pod["status"]["phase"] = "Running"
        return pod

    def bound_kind(self):
        if self.workload == "mixed":
            return self.random.choice(MIXED_KINDS)
        if self.workload == "preemption":
            return "evictable"
        return "hetero" if self.workload == "hetero" else "basic"

    def pending_kind(self):
        # Only the workload mixed has more than one kind.
        return self.random.choice(MIXED_KINDS if self.workload == "mixed" else [self.workload])

    def shape_antiaffinity(self, spec, labels):
        labels["color"] = "green"
        spec["affinity"] = {"podAntiAffinity": required_term("green", "kubernetes.io/hostname")}

    def shape_affinity(self, spec, labels):
        labels["color"] = "blue"
        spec["affinity"] = {"podAffinity": required_term("blue", "topology.kubernetes.io/zone")}

    def shape_prefaffinity(self, spec, labels):
        labels["color"] = "red"
        spec["affinity"] = {"podAffinity": preferred_term("red")}

    def shape_prefantiaffinity(self, spec, labels):
        labels["color"] = "yellow"
        spec["affinity"] = {"podAntiAffinity": preferred_term("yellow")}

    def shape_spread(self, spec, labels):
        labels["color"] = "blue"
        spec["topologySpreadConstraints"] = [
            spread_constraint(5, "DoNotSchedule", color_selector("blue"))]

    def shape_prefspread(self, spec, labels):
        labels["color"] = "blue"
        spec["topologySpreadConstraints"] = [
            spread_constraint(5, "ScheduleAnyway", color_selector("blue"))]

    def shape_nodeaffinity(self, spec, _labels):
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{
                "key": "topology.kubernetes.io/zone", "operator": "In",
                "values": ["zone-1", "zone-2"]}]}]}}}

    def shape_evictable(self, spec, _labels):
        """On a node with four of these pods, only another small pod fits."""
        spec["priority"] = self.random.choice([-10, 0, 10])
        spec["containers"][0]["resources"]["requests"]["cpu"] = "900m"

    def shape_preemption(self, spec, _labels):
        spec["priority"] = 1000
        spec["containers"][0]["resources"]["requests"]["cpu"] = "3"

    def shape_hetero(self, spec, labels):
        """Random numbers for parts that --without omits are also drawn, so that the other parts
        stay the same."""
        draw = self.random
        labels["app"] = "app-%d" % draw.randrange(2000)
        own_app = {"matchLabels": {"app": labels["app"]}}
        spec["containers"][0]["resources"]["requests"] = {
            "cpu": "%dm" % draw.choice(CPU_CHOICES_MILLI),
            "memory": "%dMi" % draw.randrange(64, 2048)}
        if draw.random() < .3:
            spec["affinity"] = {"nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{
                    "weight": draw.randrange(1, 100),
                    "preference": {"matchExpressions": [{
                        "key": "node.kubernetes.io/instance-type", "operator": "In",
                        "values": draw.sample(INSTANCE_TYPES, 2)}]}}]}}
        if draw.random() < .2 and "spread" not in self.without:
            spec["topologySpreadConstraints"] = [spread_constraint(1, "ScheduleAnyway", own_app)]
        if draw.random() < .1 and "affinity" not in self.without:
            spec.setdefault("affinity", {})["podAntiAffinity"] = {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": own_app, "topologyKey": "kubernetes.io/hostname"}]}


def color_selector(color):
    return {"matchLabels": {"color": color}}


def required_term(color, topology_key):
    return {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": color_selector(color), "topologyKey": topology_key}]}


def preferred_term(color):
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{
        "weight": 1,
        "podAffinityTerm": {"labelSelector": color_selector(color),
                            "topologyKey": "kubernetes.io/hostname"}}]}


def spread_constraint(max_skew, when_unsatisfiable, selector):
    return {"maxSkew": max_skew, "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": when_unsatisfiable, "labelSelector": selector}


def objects(generator, node_count, bound_count, pending_count):
    for index in range(node_count):
        yield generator.node(index)
    for index in range(bound_count):
        yield generator.pod(index, generator.bound_kind(), "node-%05d" % (index % node_count))
    for index in range(bound_count, bound_count + pending_count):
        yield generator.pod(index, generator.pending_kind())


def parse_without(text):
    parts = [part for part in text.split(",") if part]
    for part in parts:
        if part not in ("spread", "affinity"):
            raise argparse.ArgumentTypeError("%r is neither spread nor affinity" % part)
    return parts


def parse_count(text):
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return count


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("nodes", type=parse_count, help="number of nodes")
    parser.add_argument("bound", type=parse_count, help="number of pods that have a node")
    parser.add_argument("pending", type=parse_count, help="number of pods to be scheduled")
    parser.add_argument("--without", type=parse_without, default=[], metavar="PART,...",
                        help="hetero, mixed: leave out spread and/or (pod) affinity of hetero pods")
    arguments = parser.parse_args()
    if arguments.nodes == 0 and arguments.bound != 0:
        parser.error("bound pods need nodes")
    generator = Generator(arguments.workload, arguments.without)
    for item in objects(generator, arguments.nodes, arguments.bound, arguments.pending):
        sys.stdout.write(json.dumps(item, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
