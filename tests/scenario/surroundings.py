#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""berth simulate reads every kind of object that plugins use: each kind changes a decision here."""
import scenario
from objects import lines, node, pod

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
NO_PROVISIONER = "kubernetes.io/no-provisioner"


def zoned(name, zone, **rest):
    return node(name, labels={ZONE: zone, HOST: name}, **rest)


def nodes():
    return [zoned("n1", "a"), zoned("n2", "b")]


def claim(name, storage_class=None, volume=None, **spec):
    item = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": dict(spec, accessModes=["ReadWriteOnce"],
                         resources={"requests": {"storage": "1Gi"}})}
    if storage_class is not None:
        item["spec"]["storageClassName"] = storage_class
    if volume is not None:
        item["spec"]["volumeName"] = volume
        item["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        item["status"] = {"phase": "Bound"}
    return item


def volume(name, node_name=None, storage_class="", claimed_by=None, labels=None, **source):
    spec = dict(source, accessModes=["ReadWriteOnce"], capacity={"storage": "2Gi"},
                storageClassName=storage_class)
    if node_name is not None:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": HOST, "operator": "In", "values": [node_name]}]}]}}
    if claimed_by is not None:
        spec["claimRef"] = {"namespace": "default", "name": claimed_by, "kind":
                            "PersistentVolumeClaim", "apiVersion": "v1"}
    return {"apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": name, "labels": labels or {}}, "spec": spec,
            "status": {"phase": "Available" if claimed_by is None else "Bound"}}


def storage_class(name, provisioner=NO_PROVISIONER, mode="WaitForFirstConsumer", **rest):
    return dict(rest, apiVersion="storage.k8s.io/v1", kind="StorageClass",
                metadata=rest.get("metadata", {"name": name}), provisioner=provisioner,
                volumeBindingMode=mode)


def using(name, claim_name, cpu="1", node_name=None):
    return pod(name, cpu, node_name, volumes=[
        {"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}])


def place_of(answer, name="default/a"):
    return answer.pods()[name]["node"]


def message_of(answer, name="default/a"):
    return answer.pods()[name]["message"]


def test_claim_is_looked_up(program):
    answer = program.simulate(lines(*nodes(), using("a", "data"))).expect(1)
    assert 'persistentvolumeclaim "data" not found' in message_of(answer), message_of(answer)


def test_bound_volume_ties_to_its_node(program):
    for name in ["n1", "n2"]:
        answer = program.simulate(lines(
            *nodes(), claim("data", "", "v"), volume("v", name, claimed_by="data"),
            using("a", "data"))).expect(0)
        assert place_of(answer) == name


def test_zone_label_of_a_volume(program):
    answer = program.simulate(lines(
        *nodes(), claim("data", "", "v"), volume("v", claimed_by="data", labels={ZONE: "b"}),
        using("a", "data"))).expect(0)
    assert place_of(answer) == "n2"


def test_free_volume_is_matched(program):
    text = lines(*nodes(), storage_class("local"), claim("data", "local"),
                 volume("v", "n2", "local"), using("a", "data"))
    assert place_of(program.simulate(text).expect(0)) == "n2"


def test_a_volume_is_taken_once(program):
    text = lines(*nodes(), storage_class("local"), claim("one", "local"), claim("two", "local"),
                 volume("v", "n2", "local"), using("a", "one"), using("b", "two"))
    answer = program.simulate(text).expect(1)
    assert place_of(answer) == "n2"
    assert "didn't find available persistent volumes to bind" in message_of(answer, "default/b")


def test_immediate_claims_must_be_bound(program):
    for mode in ["Immediate", None]:
        fast = storage_class("fast", "x.example.com", mode)
        if mode is None:
            del fast["volumeBindingMode"]
        answer = program.simulate(lines(*nodes(), fast, claim("data", "fast"), using("a", "data")))
        assert "pod has unbound immediate PersistentVolumeClaims" in message_of(answer.expect(1))


def test_allowed_topologies_of_a_class(program):
    dynamic = storage_class("dynamic", "x.example.com", allowedTopologies=[
        {"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}])
    answer = program.simulate(lines(*nodes(), dynamic, claim("data", "dynamic"),
                                    using("a", "data"))).expect(0)
    assert place_of(answer) == "n2"


def test_default_storage_class(program):
    dynamic = storage_class("dynamic", "x.example.com", allowedTopologies=[
        {"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}])
    dynamic["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    text = lines(*nodes(), dynamic, claim("data"), using("a", "data"))
    assert place_of(program.simulate(text).expect(0)) == "n2"


def test_claims_of_a_stateful_set(program):
    stateful = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
                "spec": {"replicas": 2, "serviceName": "db", "volumeClaimTemplates": [
                    {"metadata": {"name": "data"}, "spec": claim("x", "local")["spec"]}],
                         "template": {"metadata": {"labels": {"app": "db"}},
                                      "spec": pod("x")["spec"]}}}
    text = lines(*nodes(), storage_class("local"), volume("v1", "n1", "local"),
                 volume("v2", "n2", "local"), stateful)
    answer = program.simulate(text).expect(0)
    assert sorted(item["node"] for item in answer.json()["pods"]) == ["n1", "n2"]


def csi_node(name, count):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name},
            "spec": {"drivers": [{"name": "x.example.com", "nodeID": name,
                                  "allocatable": {"count": count}}]}}


def csi_volumes(count):
    for index in range(count):
        yield claim("c%d" % index, "", "v%d" % index)
        yield volume("v%d" % index, claimed_by="c%d" % index,
                     csi={"driver": "x.example.com", "volumeHandle": "h%d" % index})


def test_volume_limit_of_a_csi_node(program):
    text = [zoned("n1", "a"), *csi_volumes(3), using("a", "c0"), using("b", "c1"),
            using("c", "c2")]
    program.simulate(lines(csi_node("n1", 3), *text)).expect(0)
    answer = program.simulate(lines(csi_node("n1", 2), *text)).expect(1)
    assert "exceed max volume count" in message_of(answer, "default/c"), answer.out


def test_capacity_of_a_csi_driver(program):
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver",
              "metadata": {"name": "x.example.com"}, "spec": {"storageCapacity": True}}
    capacity = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
                "metadata": {"name": "c", "namespace": "kube-system"},
                "storageClassName": "dynamic", "capacity": "5Gi",
                "nodeTopology": {"matchLabels": {ZONE: "b"}}}
    text = [*nodes(), storage_class("dynamic", "x.example.com"), claim("data", "dynamic"),
            using("a", "data")]
    program.simulate(lines(*text)).expect(0)
    answer = program.simulate(lines(*text, driver)).expect(1)
    assert "did not have enough free storage" in message_of(answer), answer.out
    assert place_of(program.simulate(lines(*text, driver, capacity)).expect(0)) == "n2"


def attachment(index, node_name):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment",
            "metadata": {"name": "attachment-%d" % index},
            "spec": {"attacher": "x.example.com", "nodeName": node_name,
                     "source": {"persistentVolumeName": "v%d" % index}},
            "status": {"attached": True}}


def test_volume_attachments_count(program):
    """An attached volume counts against the limit although no pod uses it."""
    text = [zoned("n1", "a"), csi_node("n1", 1), *csi_volumes(2), using("a", "c0")]
    program.simulate(lines(*text)).expect(0)
    answer = program.simulate(lines(*text, attachment(1, "n1"))).expect(1)
    assert "exceed max volume count" in message_of(answer), answer.out


SPREADING = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule}
"""


def spread(program, *objects, owner=None):
    """Number of placed pods when only the first of two zones has room: 3, or 1 if pods are spread.
    """
    pods = [pod("p%d" % index, labels={"app": "web"}) for index in range(3)]
    for item in pods:
        if owner is not None:
            item["metadata"]["ownerReferences"] = [dict(owner, uid="u", controller=True)]
    config = program.write("spread.yaml", SPREADING)
    answer = program.simulate(
        lines(zoned("n1", "a"), zoned("n2", "b", cpu="100m"), *objects, *pods), "--config", config)
    placed = [item for item in answer.json()["pods"] if item["node"] != ""]
    assert answer.status == (0 if len(placed) == 3 else 1)
    return len(placed)


def test_services_spread(program):
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
               "spec": {"selector": {"app": "web"}}}
    assert spread(program) == 3
    assert spread(program, service) == 1
    service["spec"]["selector"] = {"app": "other"}
    assert spread(program, service) == 3
    service["spec"]["selector"] = {"app": "web"}
    service["metadata"]["namespace"] = "elsewhere"
    assert spread(program, service) == 3


def test_owners_spread(program):
    # These workloads make no further pods: their three pods are in the input.
    owners = [
        ("apps/v1", "ReplicaSet", {"matchLabels": {"app": "web"}}),
        ("apps/v1", "StatefulSet", {"matchLabels": {"app": "web"}}),
        ("v1", "ReplicationController", {"app": "web"}),
    ]
    for version, kind, selector in owners:
        reference = {"apiVersion": version, "kind": kind, "name": "web"}
        owner = {"apiVersion": version, "kind": kind, "metadata": {"name": "web"},
                 "spec": {"replicas": 0, "selector": selector,
                          "template": {"metadata": {"labels": {"app": "web"}},
                                       "spec": pod("x")["spec"]}}}
        assert spread(program, owner=reference) == 3, kind
        assert spread(program, owner, owner=reference) == 1, kind


def test_labels_of_namespaces(program):
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "web"}},
         "namespaceSelector": {"matchLabels": {"team": "shop"}}}]}}
    other = pod("other", "100m", "n1", labels={"app": "web"})
    other["metadata"]["namespace"] = "stage"
    text = [zoned("n1", "a"), other, pod("a", affinity=apart)]
    program.simulate(lines(*text)).expect(0)
    namespace = {"apiVersion": "v1", "kind": "Namespace",
                 "metadata": {"name": "stage", "labels": {"team": "shop"}}}
    answer = program.simulate(lines(*text, namespace)).expect(1)
    assert "didn't match pod anti-affinity rules" in message_of(answer), answer.out


def test_namespaces_that_are_only_named_have_their_name_as_a_label(program):
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "web"}},
         "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "stage"}}}]}}
    other = pod("other", "100m", "n1", labels={"app": "web"})
    other["metadata"]["namespace"] = "stage"
    program.simulate(lines(zoned("n1", "a"), other, pod("a", affinity=apart))).expect(1)


def test_priority_class_that_is_missing(program):
    answer = program.simulate(lines(*nodes(), pod("a", priorityClassName="high"))).expect(2)
    assert "no PriorityClass with name high was found" in answer.err, answer.err
    for name in ["system-node-critical", "system-cluster-critical"]:
        answer = program.simulate(lines(*nodes(), pod("a", priorityClassName=name))).expect(0)
        assert answer.pods()["default/a"]["priority"] >= 2000000000


def namespaced(value, namespace="shop"):
    value["metadata"]["namespace"] = namespace
    return value


def test_quota_limit_range_and_runtime_class(program):
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
             "spec": {"hard": {"requests.cpu": "2500m"}}}
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {
        "limits": [{"type": "Container", "defaultRequest": {"cpu": "500m"}}]}}
    gvisor = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "handler": "h",
              "metadata": {"name": "gvisor"}, "overhead": {"podFixed": {"cpu": "700m"}},
              "scheduling": {"nodeSelector": {HOST: "n2"}}}
    plain = {"containers": [{"name": "c"}]}
    one = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"},
           "spec": dict(plain, runtimeClassName="gvisor")}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 5, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": plain}}}
    text = lines(*nodes(), gvisor, *[namespaced(each) for each in (
        limits, quota, web, pod("running", "500m", "n1"), one)])
    answer = program.simulate(text).expect(1)
    # The running pod uses 500m of the quota, and pod "one" 1200m with its overhead. The other 800m
    # are enough for one of the five pods of "web".
    assert answer.pods()["shop/one"]["node"] == "n2"
    assert len(answer.pods()) == 2, answer.out
    refused = answer.json()["refused"]
    assert [(each["kind"], each["name"]) for each in refused] == [("Deployment", "web")], refused
    assert refused[0]["message"].endswith(
        "is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: "
        "requests.cpu=2200m, limited: requests.cpu=2500m"), refused
    assert "Deployment shop/web: pods " in answer.err and "exceeded quota: q" in answer.err
    answer = program.run("whatif", "-f", "-", "--scale", "deployment/shop/web=6", stdin=text)
    assert answer.expect(0).err.count("exceeded quota: q") == 1, answer.err
    text = text.replace('"replicas": 5', '"replicas": 1')
    answer = program.run("whatif", "-f", "-", "--cordon", "n1", stdin=text).expect(0)
    assert answer.err == "", answer.err
    answer = program.run("whatif", "-f", "-", "--scale", "deployment/shop/web=5", stdin=text)
    assert answer.expect(0).err.count("exceeded quota: q") == 1, answer.err
    answer = program.simulate(lines(*nodes(), one)).expect(0)
    assert "RuntimeClass gvisor is not in the input" in answer.err, answer.err


if __name__ == "__main__":
    scenario.main(globals())
