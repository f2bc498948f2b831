# SPDX-License-Identifier: Apache-2.0
"""Short constructors of API objects for the scripts of this folder."""
import json


def node(name, cpu="4", memory="8Gi", spec=None, labels=None):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": labels or {}}, "spec": spec or {},
            "status": {"capacity": {"cpu": cpu, "memory": memory, "pods": "10"}}}


def pod(name, cpu="1", node_name=None, labels=None, **spec):
    spec["containers"] = [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]
    if node_name is not None:
        spec["nodeName"] = node_name
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels or {}}, "spec": spec}


def deployment(name, replicas, cpu="1"):
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": pod("x", cpu)["spec"]}}}


def priority_class(name, value, policy=None):
    item = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": name}, "value": value}
    if policy is not None:
        item["preemptionPolicy"] = policy
    return item


def budget(name, labels, allowed, **spec):
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": dict(spec, selector={"matchLabels": labels}),
            "status": {"disruptionsAllowed": allowed}}


def lines(*objects):
    """The objects as JSON lines."""
    return "".join(json.dumps(item) + "\n" for item in objects)
