#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kind's life over HTTP, as clients use it: create, read, list and watch by label, patch,
update, status and scale, deletion by name and by selector.
"""
import http.client
import json
import urllib.parse

import up

# Only the API server runs: controllers would change the tested objects.
FLAGS = ["--tls", "off", "--no-scheduler", "--controllers=podgroup-protection-controller"]

NS = "default"
POD = {"containers": [{"name": "c", "image": "registry.example/app:1"}]}
LABELS = {"app": "life"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": POD}
BATCH_TEMPLATE = {"metadata": {"labels": LABELS}, "spec": dict(POD, restartPolicy="Never")}
SELECTOR = {"matchLabels": LABELS}
CONDITION = {"type": "Probed", "status": "True", "reason": "Test", "message": "by a test",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}
TIME = "2026-01-01T00:00:00.000000Z"
RULES = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
SUBJECTS = [{"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}]
RBAC = "rbac.authorization.k8s.io"


def role(kind):
    return {"apiGroup": RBAC, "kind": kind, "name": "reader"}


def webhook(name):
    return {"name": name, "clientConfig": {"url": "https://127.0.0.1:9/hook"},
            "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
            "rules": [{"apiGroups": ["none.example"], "apiVersions": ["v1"],
                       "resources": ["things"], "operations": ["CREATE"]}]}


# group and version, resource, namespaced, object, and the status that is patched (or None)
KINDS = [
    ("v1", "pods", True, {"spec": POD}, {"conditions": [CONDITION]}),
    ("v1", "podtemplates", True, {"template": TEMPLATE}, None),
    ("v1", "replicationcontrollers", True,
     {"spec": {"replicas": 1, "selector": LABELS, "template": TEMPLATE}},
     {"conditions": [CONDITION]}),
    ("v1", "services", True, {"spec": {"ports": [{"port": 80}], "selector": LABELS}},
     {"conditions": [CONDITION]}),
    ("v1", "endpoints", True, {"subsets": [{"addresses": [{"ip": "10.0.0.1"}],
                                            "ports": [{"port": 80}]}]}, None),
    ("v1", "configmaps", True, {"data": {"a": "b"}}, None),
    ("v1", "secrets", True, {"stringData": {"a": "b"}}, None),
    ("v1", "serviceaccounts", True, {}, None),
    ("v1", "limitranges", True,
     {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "100"}}]}}, None),
    ("v1", "resourcequotas", True, {"spec": {"hard": {"count/widgets.example.com": "5"}}},
     {"hard": {"count/widgets.example.com": "7"}}),
    ("v1", "persistentvolumeclaims", True,
     {"spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "none",
               "resources": {"requests": {"storage": "1Gi"}}}}, {"conditions": [CONDITION]}),
    ("v1", "events", True,
     {"involvedObject": {"kind": "Pod", "namespace": NS, "name": "x"}, "reason": "Probe",
      "message": "m", "type": "Normal", "source": {"component": "test"}}, None),
    ("v1", "persistentvolumes", False,
     {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
               "storageClassName": "none", "hostPath": {"path": "/x"}}},
     {"phase": "Failed", "message": "by a test", "reason": "Test"}),
    ("v1", "nodes", False, {}, {"conditions": [CONDITION]}),
    ("v1", "namespaces", False, {}, {"conditions": [CONDITION]}),
    ("apps/v1", "deployments", True,
     {"spec": {"replicas": 1, "selector": SELECTOR, "template": TEMPLATE}},
     {"conditions": [CONDITION]}),
    ("apps/v1", "replicasets", True,
     {"spec": {"replicas": 1, "selector": SELECTOR, "template": TEMPLATE}},
     {"conditions": [CONDITION]}),
    ("apps/v1", "statefulsets", True,
     {"spec": {"replicas": 1, "serviceName": "s", "selector": SELECTOR, "template": TEMPLATE}},
     {"conditions": [CONDITION]}),
    ("apps/v1", "daemonsets", True, {"spec": {"selector": SELECTOR, "template": TEMPLATE}},
     {"conditions": [CONDITION]}),
    ("apps/v1", "controllerrevisions", True, {"revision": 1, "data": {"a": "b"}}, None),
    ("batch/v1", "jobs", True, {"spec": {"template": BATCH_TEMPLATE}},
     {"conditions": [CONDITION]}),
    ("batch/v1", "cronjobs", True,
     {"spec": {"schedule": "*/1 * * * *", "jobTemplate": {"spec": {"template": BATCH_TEMPLATE}}}},
     {"lastScheduleTime": "2026-01-01T00:00:00Z"}),
    ("policy/v1", "poddisruptionbudgets", True,
     {"spec": {"minAvailable": 1, "selector": SELECTOR}}, {"conditions": [CONDITION]}),
    ("autoscaling/v2", "horizontalpodautoscalers", True,
     {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "x",
                                                    "apiVersion": "apps/v1"}}},
     {"conditions": [CONDITION]}),
    ("autoscaling/v1", "horizontalpodautoscalers", True,
     {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "x",
                                                    "apiVersion": "apps/v1"}}},
     {"currentReplicas": 2, "desiredReplicas": 2}),
    ("coordination.k8s.io/v1", "leases", True,
     {"spec": {"holderIdentity": "a", "leaseDurationSeconds": 30, "renewTime": TIME}}, None),
    ("discovery.k8s.io/v1", "endpointslices", True,
     {"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}],
      "ports": [{"port": 80}]}, None),
    ("events.k8s.io/v1", "events", True,
     {"eventTime": TIME, "reportingController": "test.example/x", "reportingInstance": "i",
      "action": "Do", "reason": "Probe", "type": "Normal", "note": "n",
      "regarding": {"kind": "Pod", "namespace": NS, "name": "x"}}, None),
    ("networking.k8s.io/v1", "ingresses", True,
     {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}},
     {"loadBalancer": {"ingress": [{"ip": "10.1.2.3"}]}}),
    ("networking.k8s.io/v1", "networkpolicies", True, {"spec": {"podSelector": {}}}, None),
    ("networking.k8s.io/v1", "ingressclasses", False,
     {"spec": {"controller": "example.com/x"}}, None),
    ("networking.k8s.io/v1", "servicecidrs", False, {"spec": {"cidrs": ["10.200.0.0/24"]}},
     {"conditions": [CONDITION]}),
    ("networking.k8s.io/v1", "ipaddresses", False,
     {"spec": {"parentRef": {"resource": "services", "namespace": NS, "name": "s"}}}, None),
    ("node.k8s.io/v1", "runtimeclasses", False, {"handler": "runc"}, None),
    (RBAC + "/v1", "roles", True, {"rules": RULES}, None),
    (RBAC + "/v1", "rolebindings", True, {"roleRef": role("Role"), "subjects": SUBJECTS}, None),
    (RBAC + "/v1", "clusterroles", False, {"rules": RULES}, None),
    (RBAC + "/v1", "clusterrolebindings", False,
     {"roleRef": role("ClusterRole"), "subjects": SUBJECTS}, None),
    ("scheduling.k8s.io/v1", "priorityclasses", False, {"value": 7}, None),
    ("storage.k8s.io/v1", "storageclasses", False, {"provisioner": "example.com/x"}, None),
    ("storage.k8s.io/v1", "csidrivers", False, {"spec": {"attachRequired": False}}, None),
    ("storage.k8s.io/v1", "csinodes", False, {"spec": {"drivers": []}}, None),
    ("storage.k8s.io/v1", "csistoragecapacities", True, {"storageClassName": "x"}, None),
    ("storage.k8s.io/v1", "volumeattachments", False,
     {"spec": {"attacher": "example.com/x", "nodeName": "n",
               "source": {"persistentVolumeName": "v"}}}, {"attached": True}),
    ("storage.k8s.io/v1", "volumeattributesclasses", False,
     {"driverName": "example.com/x", "parameters": {"a": "b"}}, None),
    ("resource.k8s.io/v1", "deviceclasses", False, {"spec": {}}, None),
    ("resource.k8s.io/v1", "resourceclaims", True,
     {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "x"}}]}}},
     {}),
    ("resource.k8s.io/v1", "resourceclaimtemplates", True,
     {"spec": {"spec": {"devices": {"requests": [
         {"name": "r", "exactly": {"deviceClassName": "x"}}]}}}}, None),
    ("resource.k8s.io/v1", "resourceslices", False,
     {"spec": {"driver": "example.com", "nodeName": "n",
               "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
               "devices": [{"name": "d"}]}}, None),
    ("admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", False,
     {"webhooks": [webhook("a.example.com")]}, None),
    ("admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations", False,
     {"webhooks": [webhook("a.example.com")]}, None),
    ("admissionregistration.k8s.io/v1", "validatingadmissionpolicies", False,
     {"spec": {"matchConstraints": {"resourceRules": [
         {"apiGroups": ["none.example"], "apiVersions": ["v1"], "resources": ["things"],
          "operations": ["CREATE"]}]}, "validations": [{"expression": "true"}]}},
     {"conditions": [CONDITION]}),
    ("admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings", False,
     {"spec": {"policyName": "x", "validationActions": ["Deny"]}}, None),
    ("apiregistration.k8s.io/v1", "apiservices", False,
     {"spec": {"group": "life.example", "version": "v1", "groupPriorityMinimum": 100,
               "versionPriority": 10, "insecureSkipTLSVerify": True,
               "service": {"namespace": NS, "name": "s"}}}, {"conditions": [CONDITION]}),
    ("apiextensions.k8s.io/v1", "customresourcedefinitions", False,
     {"spec": {"group": "life.example", "scope": "Namespaced",
               "names": {"plural": "widgets", "kind": "Widget"},
               "versions": [{"name": "v1", "served": True, "storage": True, "schema": {
                   "openAPIV3Schema": {"type": "object"}}}]}}, {"conditions": [CONDITION]}),
    ("flowcontrol.apiserver.k8s.io/v1", "flowschemas", False,
     {"spec": {"matchingPrecedence": 100, "priorityLevelConfiguration": {"name": "x"}}},
     {"conditions": [CONDITION]}),
    ("flowcontrol.apiserver.k8s.io/v1", "prioritylevelconfigurations", False,
     {"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 5,
                                              "limitResponse": {"type": "Reject"}}}},
     {"conditions": [CONDITION]}),
]
FIXED_NAMES = {
    "ipaddresses": "10.96.0.77", "apiservices": "v1.life.example",
    "customresourcedefinitions": "widgets.life.example",
}
# Kinds whose status subresource ignores changes of annotations and labels.
METADATA_IS_RESET = {"customresourcedefinitions", "resourceclaims"}
SCALED = {"deployments", "replicasets", "statefulsets", "replicationcontrollers"}


class Watch:
    """Watches the events of one collection, by label, until the watch is closed."""

    def __init__(self, cluster, path):
        self.connection = http.client.HTTPConnection("127.0.0.1", cluster.port, timeout=60)
        self.connection.request("GET", path, headers={
            "Authorization": "Bearer " + cluster.token})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()

    def next(self):
        return json.loads(self.answer.readline())

    def until(self, kind, condition=lambda item: True):
        while True:
            event = self.next()
            if event["type"] == kind and condition(event["object"]):
                return event["object"]

    def close(self):
        self.connection.close()


def root(version):
    return "/api/v1" if version == "v1" else "/apis/" + version


def call(cluster, method, path, body=None, code=200, patch=None):
    headers = {"Content-Type": "application/%s-patch+json" % patch} if patch else {}
    text = json.dumps(body).encode() if body is not None else None
    status, _, answer = cluster.request(method, path, text, headers=headers or {
        "Content-Type": "application/json"})
    answer = json.loads(answer)
    assert status == code, (method, path, status, answer)
    return answer


def contains(value, part):
    """Whether value contains every member of part."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(
            name in value and contains(value[name], member) for name, member in part.items())
    if isinstance(part, list):
        return isinstance(value, list) and all(
            any(contains(item, element) for item in value) for element in part)
    return value == part


def live(cluster, version, resource, namespaced, spec, status):
    marker = "life-%s-%s" % (resource[:30], version.split("/")[-1])
    every = "%s/%s" % (root(version), resource)
    path = "%s/namespaces/%s/%s" % (root(version), NS, resource) if namespaced else every
    query = "labelSelector=" + urllib.parse.quote("life=" + marker)
    name = FIXED_NAMES.get(resource, marker)
    item = dict(spec, metadata={"name": name, "labels": {"life": marker}})
    watch = Watch(cluster, "%s?watch=true&%s" % (path, query))
    # create, read, list
    made = call(cluster, "POST", path, item, 201)
    one = "%s/%s" % (path, name)
    assert call(cluster, "POST", path, item, 409)["reason"] == "AlreadyExists"
    assert call(cluster, "GET", one)["metadata"]["uid"] == made["metadata"]["uid"]
    watch.until("ADDED", lambda seen: seen["metadata"]["uid"] == made["metadata"]["uid"])
    for where in (path, every):
        found = call(cluster, "GET", where + "?" + query)
        assert found["kind"].endswith("List") and len(found["items"]) == 1, found
    # patch by each type, update
    patched = call(cluster, "PATCH", one, {"metadata": {"labels": {"patched": "merge"}}},
                   patch="merge")
    assert patched["metadata"]["labels"]["patched"] == "merge", patched
    call(cluster, "PATCH", one, {"metadata": {"annotations": {"s": "t"}}},
         patch="strategic-merge")
    call(cluster, "PATCH", one, [
        {"op": "test", "path": "/metadata/labels/patched", "value": "merge"},
        {"op": "replace", "path": "/metadata/labels/patched", "value": "json"}], patch="json")
    watch.until("MODIFIED", lambda seen: seen["metadata"]["labels"]["patched"] == "json")
    current = call(cluster, "GET", one)
    assert current["metadata"]["annotations"]["s"] == "t", current
    stale = json.loads(json.dumps(current))
    current["metadata"]["labels"]["updated"] = "yes"
    current = call(cluster, "PUT", one, current)
    stale["metadata"]["labels"]["updated"] = "late"
    assert call(cluster, "PUT", one, stale, 409)["reason"] == "Conflict"
    generation = current["metadata"].get("generation")
    # status
    if status is not None:
        assert call(cluster, "GET", one + "/status")["kind"] == current["kind"]
        answer = call(cluster, "PATCH", one + "/status", {
            "metadata": {"annotations": {"status": "patched"}}, "status": status}, patch="merge")
        assert contains(answer.get("status", {}), status), answer
        is_kept = resource in METADATA_IS_RESET
        assert ("status" in answer["metadata"]["annotations"]) != is_kept, answer
        assert answer["metadata"].get("generation") == generation, answer
        if "conditions" in status:
            answer["status"]["conditions"][0]["message"] = "updated"
            answer = call(cluster, "PUT", one + "/status", answer)
            assert contains(answer["status"], {"conditions": [{"message": "updated"}]}), answer
        written = answer.get("status", {})
        watch.until("MODIFIED", lambda seen: contains(seen.get("status", {}), written))
        # a write to the main resource leaves the status unchanged
        call(cluster, "PATCH", one, {"status": None}, patch="merge")
        assert contains(call(cluster, "GET", one).get("status", {}), written)
    else:
        call(cluster, "GET", one + "/status", code=404)
    if resource in SCALED:
        scale = call(cluster, "GET", one + "/scale")
        assert scale["kind"] == "Scale" and scale["spec"]["replicas"] == 1, scale
        assert scale["apiVersion"] == "autoscaling/v1", scale
        scale["spec"]["replicas"] = 2
        call(cluster, "PUT", one + "/scale", scale)
        call(cluster, "PATCH", one + "/scale", {"spec": {"replicas": 3}}, patch="merge")
        assert call(cluster, "GET", one)["spec"]["replicas"] == 3
    else:
        call(cluster, "GET", one + "/scale", code=404)
    # a dry run, then the deletion of all objects with the label
    call(cluster, "DELETE", one + "?dryRun=All")
    call(cluster, "GET", one)
    if resource == "namespaces":
        call(cluster, "DELETE", path + "?" + query, code=405)
        call(cluster, "DELETE", one)
    else:
        call(cluster, "DELETE", "%s?labelSelector=life%%3Dother" % path)
        call(cluster, "GET", one)
        call(cluster, "DELETE", "%s?%s&gracePeriodSeconds=0&propagationPolicy=Background" % (
            path, query))
    # without controllers nothing else removes the finalizers
    code, found = cluster.json("GET", one)
    if code == 200 and found["metadata"].get("finalizers"):
        assert "deletionTimestamp" in found["metadata"], found
        call(cluster, "PATCH", one, {"metadata": {"finalizers": None}}, patch="merge")
    if code == 200 and resource == "namespaces":
        assert found["status"]["phase"] == "Terminating", found
        found["spec"]["finalizers"] = []
        call(cluster, "PUT", one + "/finalize", found)
    watch.until("DELETED")
    watch.close()
    call(cluster, "GET", one, code=404)
    assert not call(cluster, "GET", every + "?" + query)["items"]


def test_every_kind(cluster):
    for version, resource, *rest in KINDS:
        try:
            live(cluster, version, resource, *rest)
        except AssertionError as error:
            raise AssertionError("%s of %s" % (resource, version)) from error


def test_data_of_revisions_is_fixed(cluster):
    path = "/apis/apps/v1/namespaces/default/controllerrevisions"
    call(cluster, "POST", path, {"metadata": {"name": "fixed"}, "revision": 1,
                                 "data": {"a": "b"}}, 201)
    call(cluster, "PATCH", path + "/fixed", {"revision": 2}, patch="merge")
    answer = call(cluster, "PATCH", path + "/fixed", {"data": {"a": "c"}}, 422, "merge")
    assert answer["details"]["causes"][0]["message"].endswith("field is immutable"), answer
    call(cluster, "DELETE", path + "/fixed")


def test_services_change_their_type(cluster):
    path = "/api/v1/namespaces/default/services"
    one = path + "/changing"
    cluster_ip = call(cluster, "POST", path, {
        "metadata": {"name": "changing"}, "spec": {"ports": [{"port": 80}]}}, 201)["spec"]
    node_port = call(cluster, "PATCH", one, {"spec": {"type": "NodePort"}}, patch="merge")["spec"]
    assert node_port["clusterIP"] == cluster_ip["clusterIP"], node_port
    assert 30000 <= node_port["ports"][0]["nodePort"] < 32768, node_port
    assert node_port["externalTrafficPolicy"] == "Cluster", node_port
    # an update without a nodePort keeps the assigned port
    answer = call(cluster, "PUT", one, {
        "metadata": {"name": "changing"},
        "spec": {"type": "NodePort", "ports": [{"port": 80}]}})["spec"]
    assert answer["ports"] == node_port["ports"], answer
    # a change of the type removes fields that only the old type has
    answer = call(cluster, "PATCH", one, {"spec": {"type": "ClusterIP"}}, patch="merge")["spec"]
    assert answer == cluster_ip, answer
    call(cluster, "PATCH", one, {"spec": {"type": "NodePort"}}, patch="merge")
    answer = call(cluster, "PATCH", one, {
        "spec": {"type": "ExternalName", "externalName": "a.example"}}, patch="merge")["spec"]
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy",
                "externalTrafficPolicy"} & set(answer), answer
    assert "nodePort" not in answer["ports"][0], answer
    answer = call(cluster, "PATCH", one, {
        "spec": {"type": "LoadBalancer", "externalName": None}}, patch="merge")["spec"]
    assert answer["clusterIP"] and answer["allocateLoadBalancerNodePorts"], answer
    call(cluster, "DELETE", one)


def test_ports_on_nodes(cluster):
    path = "/api/v1/namespaces/default/services"

    def send(name, kind, port, code):
        return call(cluster, "POST", path, {
            "metadata": {"name": name},
            "spec": {"type": kind, "ports": [{"port": 80, "nodePort": port}]}}, code)

    for kind, port, text in (
            ("NodePort", 80, "Invalid value: 80: provided port is not in the valid range. "
                             "The range of valid ports is 30000-32767"),
            ("ClusterIP", 30080, "Forbidden: may not be used when `type` is 'ClusterIP'")):
        answer = send("refused", kind, port, 422)
        assert answer["message"] == (
            'Service "refused" is invalid: spec.ports[0].nodePort: ' + text), answer
    send("first", "NodePort", 30080, 201)
    answer = send("second", "NodePort", 30080, 422)
    assert answer["message"].endswith("provided port is already allocated"), answer
    call(cluster, "PATCH", path + "/first", {"metadata": {"labels": {"a": "b"}}}, patch="merge")
    call(cluster, "DELETE", path + "/first")
    send("second", "NodePort", 30080, 201)
    call(cluster, "DELETE", path + "/second")


def test_events_expire(program):
    path = "/api/v1/namespaces/default/events"
    with program.up("--event-ttl", "500ms") as short:
        call(short, "POST", path, {
            "metadata": {"name": "old"}, "reason": "Tested", "type": "Normal",
            "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}}, 201)
        up.wait_for("no events", lambda: short.json("GET", path)[1]["items"] == [])


if __name__ == "__main__":
    up.main(globals())
