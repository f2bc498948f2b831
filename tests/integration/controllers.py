#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Controllers and node agents of `berth up` behave as Kubernetes documents: services and their
endpoints, workloads, quotas, namespaces, autoscaling. Requests are plain JSON."""
import json
import os
import re
import socket
import struct

import up

FLAGS = ["--nodes", "3", "--zones", "3", "--pod-start-delay", "0s", "--pod-stop-delay", "0s",
         "--job-run-time", "100ms"]

CORE = "/api/v1/namespaces/%s/"
APPS = "/apis/apps/v1/namespaces/%s/"
BATCH = "/apis/batch/v1/namespaces/%s/"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices"
MERGE = {"Content-Type": "application/merge-patch+json"}


def call(cluster, method, path, body=None, status=None, **more):
    """Returns the object in the answer; fails on any other status than the expected one."""
    code, found = cluster.json(method, path, body, **more)
    assert code == status if status else code < 300, (method, path, code, found)
    return found


def read(cluster, path):
    """Returns the object; None if it does not exist."""
    code, found = cluster.json("GET", path)
    return found if code == 200 else None


def patch(cluster, path, body, **more):
    return call(cluster, "PATCH", path, json.dumps(body).encode(), headers=MERGE, **more)


def items(cluster, path):
    return call(cluster, "GET", path)["items"]


def namespace(cluster, name):
    call(cluster, "POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    up.wait_for("the service account", lambda: read(
        cluster, CORE % name + "serviceaccounts/default"))
    return name


def template(labels, annotations=None, **spec):
    spec.setdefault("containers", [{"name": "c", "image": "i:1"}])
    return {"metadata": {"labels": labels, "annotations": annotations or {}}, "spec": spec}


def pod(name, labels=None, annotations=None, **spec):
    made = template(labels or {}, annotations, **spec)
    made["metadata"]["name"] = name
    return made


def pods(cluster, name, selector=""):
    return items(cluster, CORE % name + "pods?labelSelector=" + selector)


def condition(found, kind):
    return next((entry for entry in (found or {}).get("status", {}).get("conditions", [])
                 if entry["type"] == kind), {})


# --- services ---

def test_service_of_the_api_server(cluster):
    path = CORE % "default" + "services/kubernetes"
    service = up.wait_for("the service", lambda: read(cluster, path))
    assert service["spec"]["clusterIP"] == "10.96.0.1"
    assert service["spec"]["ports"] == [{"name": "https", "port": 443, "protocol": "TCP",
                                         "targetPort": cluster.port}]
    endpoints = up.wait_for("endpoints", lambda: read(
        cluster, CORE % "default" + "endpoints/kubernetes"))
    address = endpoints["subsets"][0]["addresses"][0]["ip"]
    found = up.wait_for("the slice", lambda: read(cluster, SLICES % "default" + "/kubernetes"))
    assert found["endpoints"][0]["addresses"] == [address], found
    assert found["ports"][0]["port"] == cluster.port
    call(cluster, "DELETE", path)
    again = up.wait_for("a new one", lambda: read(cluster, path))
    assert again["metadata"]["uid"] != service["metadata"]["uid"]


def test_root_certificate(cluster):
    path = CORE % namespace(cluster, "root-ca") + "configmaps/kube-root-ca.crt"
    found = up.wait_for("the certificate", lambda: read(cluster, path))
    assert found["data"]["ca.crt"] == cluster.ca()
    patch(cluster, path, {"data": {"ca.crt": "no"}})
    up.wait_for("its repair", lambda: read(cluster, path)["data"] == found["data"])
    call(cluster, "DELETE", path)
    up.wait_for("its return", lambda: read(cluster, path))


def slices(cluster, name, service):
    return items(cluster, SLICES % name + "?labelSelector=kubernetes.io/service-name=" + service)


def test_endpoints_follow_pods(cluster):
    name = namespace(cluster, "endpoints")
    call(cluster, "POST", CORE % name + "services", {
        "metadata": {"name": "web", "labels": {"team": "a"}},
        "spec": {"selector": {"app": "web"}, "ports": [
            {"name": "http", "port": 80, "targetPort": "web"},
            {"name": "fixed", "port": 81, "targetPort": 8081}]}})
    only, = up.wait_for("an empty slice", lambda: slices(cluster, name, "web"))
    assert not only["endpoints"]
    up.wait_for("empty endpoints", lambda: read(cluster, CORE % name + "endpoints/web"))
    for i, port in enumerate([8080, 8080, 9090]):
        call(cluster, "POST", CORE % name + "pods", pod("p%d" % i, {"app": "web"}, containers=[
            {"name": "c", "image": "i:1", "ports": [{"name": "web", "containerPort": port}]}]))

    def ready():
        return sorted(address["targetRef"]["name"]
                      for subset in read(cluster, CORE % name + "endpoints/web").get("subsets", [])
                      for address in subset.get("addresses", []))
    up.wait_for("three addresses", lambda: ready() == ["p0", "p1", "p2"])
    found = read(cluster, CORE % name + "endpoints/web")
    assert found["metadata"]["labels"]["team"] == "a"
    by_port = {subset["ports"][0]["port"]: len(subset["addresses"]) for subset in found["subsets"]}
    assert by_port == {8080: 2, 9090: 1}, found

    def in_slices():
        return {endpoint["targetRef"]["name"]: endpoint
                for each in slices(cluster, name, "web") for endpoint in each["endpoints"] or []}
    up.wait_for("three endpoints", lambda: len(in_slices()) == 3)
    assert len(slices(cluster, name, "web")) == 2
    first = in_slices()["p0"]
    assert first["conditions"] == {"ready": True, "serving": True, "terminating": False}
    assert first["zone"].startswith("zone-") and first["nodeName"].startswith("node-")
    # A pod that is not ready stays in the slice, marked as not ready.
    patch(cluster, CORE % name + "pods/p1", {"metadata": {"annotations": {
        "berth.dev/ready": "false"}}})
    up.wait_for("p1 not ready", lambda: not in_slices()["p1"]["conditions"]["ready"])
    up.wait_for("two addresses", lambda: ready() == ["p0", "p2"])
    patch(cluster, CORE % name + "pods/p0", {"metadata": {"labels": {"app": "other"}}})
    up.wait_for("p0 gone", lambda: "p0" not in in_slices() and ready() == ["p2"])
    version = slices(cluster, name, "web")[0]["metadata"]["resourceVersion"]
    patch(cluster, CORE % name + "pods/p2", {"metadata": {"annotations": {"a": "b"}}})
    call(cluster, "DELETE", CORE % name + "services/web")
    assert version
    up.wait_for("no endpoints", lambda: not read(cluster, CORE % name + "endpoints/web"))
    up.wait_for("no slices", lambda: not slices(cluster, name, "web"))


def test_endpoints_without_a_service_stay(cluster):
    name = namespace(cluster, "own-endpoints")
    made = call(cluster, "POST", CORE % name + "endpoints", {
        "metadata": {"name": "e"}, "subsets": [{"addresses": [{"ip": "10.0.0.24"}],
                                                "ports": [{"port": 80}]}]})
    # The controller handles changes in order. When it has created and deleted the endpoints of this
    # later Service, it has also seen "e".
    call(cluster, "POST", CORE % name + "services", {
        "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}})
    up.wait_for("endpoints", lambda: read(cluster, CORE % name + "endpoints/s"))
    call(cluster, "DELETE", CORE % name + "services/s")
    up.wait_for("their end", lambda: not read(cluster, CORE % name + "endpoints/s"))
    found = read(cluster, CORE % name + "endpoints/e")
    assert found and found["metadata"]["uid"] == made["metadata"]["uid"], found


def test_endpoints_are_mirrored(cluster):
    name = namespace(cluster, "mirror")
    call(cluster, "POST", CORE % name + "services", {
        "metadata": {"name": "db"}, "spec": {"ports": [{"name": "sql", "port": 5432}]}})
    subsets = [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"name": "sql", "port": 5432}]}]
    call(cluster, "POST", CORE % name + "endpoints", {"metadata": {"name": "db"},
                                                      "subsets": subsets})
    found, = up.wait_for("the mirror", lambda: slices(cluster, name, "db"))
    assert found["endpoints"][0]["addresses"] == ["10.1.2.3"]
    assert found["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] == (
        "endpointslicemirroring-controller.k8s.io")
    subsets[0]["addresses"][0]["ip"] = "10.2.3.4"
    patch(cluster, CORE % name + "endpoints/db", {"subsets": subsets})
    up.wait_for("the new address", lambda: [each["endpoints"][0]["addresses"] for each in slices(
        cluster, name, "db")] == [["10.2.3.4"]])
    call(cluster, "DELETE", CORE % name + "endpoints/db")
    up.wait_for("no mirror", lambda: not slices(cluster, name, "db"))


# --- jobs ---

LONG = {"berth.dev/run-time": "1h"}


def job(cluster, name, job_name, annotations=None, spec=None, **more):
    made = dict({"template": template({"app": job_name}, annotations, restartPolicy="Never",
                                      **(spec or {}))}, **more)
    return call(cluster, "POST", BATCH % name + "jobs", {"metadata": {"name": job_name},
                                                         "spec": made})


def pods_of(cluster, name, job_name, count):
    found = up.wait_for("%d pods of %s" % (count, job_name), lambda: [
        each for each in pods(cluster, name, "job-name=" + job_name)
        if each["status"].get("phase") == "Running"][:count] if len(
            pods(cluster, name, "job-name=" + job_name)) >= count else None)
    if len(found) < count:
        return pods_of(cluster, name, job_name, count)
    return sorted(found, key=lambda each: each["metadata"]["name"])


def end_pod(cluster, name, found, phase, code=0):
    statuses = [dict(each, state={"terminated": {
        "exitCode": code, "startedAt": "2026-01-01T00:00:00Z",
        "finishedAt": "2026-01-01T00:00:00Z"}}) for each in found["status"]["containerStatuses"]]
    patch(cluster, CORE % name + "pods/%s/status" % found["metadata"]["name"],
          {"status": {"phase": phase, "containerStatuses": statuses}})


def wait_for_condition(cluster, path, kind, reason):
    def holds():
        found = condition(read(cluster, path), kind)
        return found if found.get("status") == "True" else None
    found = up.wait_for("%s of %s" % (kind, path), holds)
    assert found["reason"] == reason, found
    return read(cluster, path)


def test_job_success_policy(cluster):
    name = namespace(cluster, "jobs")
    path = BATCH % name + "jobs/leader"
    job(cluster, name, "leader", LONG, completions=3, parallelism=3, completionMode="Indexed",
        successPolicy={"rules": [{"succeededIndexes": "1-2", "succeededCount": 1}]})
    found = pods_of(cluster, name, "leader", 3)
    end_pod(cluster, name, found[0], "Succeeded")
    up.wait_for("index 0", lambda: read(cluster, path)["status"].get("completedIndexes") == "0")
    assert not condition(read(cluster, path), "SuccessCriteriaMet")
    end_pod(cluster, name, found[1], "Succeeded")
    done = wait_for_condition(cluster, path, "Complete", "SuccessPolicy")
    assert done["status"]["completedIndexes"] == "0,1", done
    assert condition(done, "SuccessCriteriaMet")["message"] == "Matched rules at index 0"
    up.wait_for("no active pod", lambda: not read(cluster, path)["status"].get("active"))


def test_job_failure_policy(cluster):
    rules = [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
             {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget",
                                                       "status": "True"}]}]
    path = BATCH % "jobs" + "jobs/"
    job(cluster, "jobs", "fails", {"berth.dev/exit-code": "42"}, podFailurePolicy={"rules": rules})
    done = wait_for_condition(cluster, path + "fails", "Failed", "PodFailurePolicy")
    assert "failed with exit code 42 matching FailJob rule at index 0" in (
        condition(done, "Failed")["message"]), done
    assert condition(done, "FailureTarget")["reason"] == "PodFailurePolicy"
    assert done["status"]["failed"] == 1
    # An evicted pod does not count as a failure.
    job(cluster, "jobs", "evicted", LONG, backoffLimit=0, podFailurePolicy={"rules": rules})
    only, = pods_of(cluster, "jobs", "evicted", 1)
    call(cluster, "POST", CORE % "jobs" + "pods/%s/eviction" % only["metadata"]["name"], {
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": only["metadata"]})
    again, = up.wait_for("another pod", lambda: [
        each for each in pods(cluster, "jobs", "job-name=evicted")
        if each["metadata"]["uid"] != only["metadata"]["uid"]])
    found = read(cluster, path + "evicted")
    assert not found["status"].get("failed") and not condition(found, "Failed"), found
    assert again["metadata"]["finalizers"] == ["batch.kubernetes.io/job-tracking"]


def test_job_backoff_per_index(cluster):
    path = BATCH % "jobs" + "jobs/indexes"
    made = job(cluster, "jobs", "indexes", LONG, completions=4, parallelism=4,
               completionMode="Indexed", backoffLimitPerIndex=0)
    assert made["spec"]["backoffLimit"] == 2**31 - 1
    found = pods_of(cluster, "jobs", "indexes", 4)
    assert found[0]["metadata"]["annotations"][
        "batch.kubernetes.io/job-index-failure-count"] == "0"
    end_pod(cluster, "jobs", found[0], "Failed", 1)
    end_pod(cluster, "jobs", found[2], "Failed", 1)
    end_pod(cluster, "jobs", found[1], "Succeeded")
    end_pod(cluster, "jobs", found[3], "Succeeded")
    done = wait_for_condition(cluster, path, "Failed", "FailedIndexes")
    assert done["status"]["failedIndexes"] == "0,2", done
    assert done["status"]["completedIndexes"] == "1,3", done
    job(cluster, "jobs", "too-many", {"berth.dev/exit-code": "1"}, completions=4, parallelism=1,
        completionMode="Indexed", backoffLimitPerIndex=0, maxFailedIndexes=1)
    done = wait_for_condition(cluster, BATCH % "jobs" + "jobs/too-many", "Failed",
                              "MaxFailedIndexesExceeded")
    assert done["status"]["failedIndexes"] == "0,1", done


def test_job_of_many_indexes(cluster):
    path = BATCH % "jobs" + "jobs/many"
    job(cluster, "jobs", "many", LONG, completions=2**31 - 1, parallelism=3,
        completionMode="Indexed", successPolicy={"rules": [{"succeededIndexes": "0,2-2000000000",
                                                            "succeededCount": 2}]})
    found = pods_of(cluster, "jobs", "many", 3)
    end_pod(cluster, "jobs", found[0], "Succeeded")
    end_pod(cluster, "jobs", found[1], "Succeeded")
    up.wait_for("indexes 3 and 4", lambda: sorted(
        each["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]
        for each in pods(cluster, "jobs", "job-name=many")
        if each["status"]["phase"] == "Running") == ["2", "3", "4"])
    assert read(cluster, path)["status"]["completedIndexes"] == "0,1"
    end_pod(cluster, "jobs", pods_of(cluster, "jobs", "many", 3)[2], "Succeeded")
    done = wait_for_condition(cluster, path, "Complete", "SuccessPolicy")
    assert done["status"]["completedIndexes"] == "0,1,4", done


def test_job_limits(cluster):
    def refusal(body):
        code, found = cluster.json("POST", BATCH % "jobs" + "jobs", {
            "metadata": {"name": "refused"},
            "spec": dict({"template": template({}, restartPolicy="Never")}, **body)})
        assert code == 422, (code, found)
        return found["details"]["causes"][0]["field"]
    indexed = {"completionMode": "Indexed", "completions": 100001}
    assert refusal(dict(indexed, parallelism=100001)) == "spec.parallelism"
    per_index = dict(indexed, backoffLimitPerIndex=1)
    assert refusal(per_index) == "spec.maxFailedIndexes"
    assert refusal(dict(per_index, maxFailedIndexes=10001)) == "spec.maxFailedIndexes"
    assert refusal(dict(per_index, maxFailedIndexes=1, parallelism=10001)) == "spec.parallelism"
    assert refusal(dict(indexed, maxFailedIndexes=1)) == "spec.backoffLimitPerIndex"
    assert refusal({"backoffLimitPerIndex": 1}) == "spec.backoffLimitPerIndex"
    assert refusal({"podReplacementPolicy": "TerminatingOrFailed", "podFailurePolicy": {
        "rules": [{"action": "Ignore", "onPodConditions": [
            {"type": "DisruptionTarget", "status": "True"}]}]}}) == "spec.podReplacementPolicy"


def test_job_elastic(cluster):
    path = BATCH % "jobs" + "jobs/elastic"
    job(cluster, "jobs", "elastic", LONG, completions=2, parallelism=2, completionMode="Indexed")
    pods_of(cluster, "jobs", "elastic", 2)
    patch(cluster, path, {"spec": {"completions": 4, "parallelism": 4}})
    pods_of(cluster, "jobs", "elastic", 4)
    patch(cluster, path, {"spec": {"completions": 5}}, status=422)
    patch(cluster, path, {"spec": {"completions": 1, "parallelism": 1}})
    pods_of(cluster, "jobs", "elastic", 1)


def test_job_adopts_and_releases(cluster):
    job(cluster, "jobs", "adopter", LONG, parallelism=1)
    found, = pods_of(cluster, "jobs", "adopter", 1)
    path = CORE % "jobs" + "pods/" + found["metadata"]["name"]
    labels = found["metadata"]["labels"]
    patch(cluster, path, {"metadata": {"labels": {key: None for key in labels}}})
    up.wait_for("the release", lambda: not read(cluster, path)["metadata"].get("ownerReferences"))
    assert not read(cluster, path)["metadata"].get("finalizers")
    other, = pods_of(cluster, "jobs", "adopter", 1)
    assert other["metadata"]["uid"] != found["metadata"]["uid"]
    patch(cluster, path, {"metadata": {"labels": labels}})
    up.wait_for("the adoption", lambda: (read(cluster, path) or {"metadata": {
        "ownerReferences": True}})["metadata"].get("ownerReferences"))


def test_job_managed_by_another(cluster):
    job(cluster, "jobs", "foreign", LONG, managedBy="example.com/other")
    job(cluster, "jobs", "own", LONG)
    pods_of(cluster, "jobs", "own", 1)
    assert not pods(cluster, "jobs", "job-name=foreign")
    assert not read(cluster, BATCH % "jobs" + "jobs/foreign").get("status")


def test_job_suspend(cluster):
    path = BATCH % "jobs" + "jobs/paused"
    job(cluster, "jobs", "paused", LONG, suspend=True, parallelism=2, completions=2)
    found = wait_for_condition(cluster, path, "Suspended", "JobSuspended")
    assert "startTime" not in found["status"]
    patch(cluster, path, {"spec": {"suspend": False}})
    pods_of(cluster, "jobs", "paused", 2)
    patch(cluster, path, {"spec": {"suspend": True}})
    up.wait_for("no pods", lambda: not pods(cluster, "jobs", "job-name=paused"))
    found = up.wait_for("its status", lambda: [each for each in [read(cluster, path)]
                                               if not each["status"].get("active")])[0]
    assert not found["status"].get("failed") and "startTime" not in found["status"], found
    patch(cluster, path, {"spec": {"suspend": False}})
    pods_of(cluster, "jobs", "paused", 2)
    assert condition(read(cluster, path), "Suspended")["status"] == "False"


def test_job_ttl(cluster):
    job(cluster, "jobs", "short", ttlSecondsAfterFinished=0)
    up.wait_for("no job", lambda: not read(cluster, BATCH % "jobs" + "jobs/short"))
    up.wait_for("no pods", lambda: not pods(cluster, "jobs", "job-name=short"))


# --- StatefulSets and DaemonSets ---

def stateful_set(cluster, name, set_name, replicas, annotations=None, **more):
    spec = dict({"replicas": replicas, "serviceName": set_name,
                 "selector": {"matchLabels": {"app": set_name}},
                 "template": template({"app": set_name}, annotations)}, **more)
    return call(cluster, "POST", APPS % name + "statefulsets", {
        "metadata": {"name": set_name}, "spec": spec})


def names_of(cluster, name, set_name):
    return sorted(each["metadata"]["name"] for each in pods(cluster, name, "app=" + set_name))


def set_ready(cluster, name, pod_name, ready):
    """Sets a pod's condition Ready in the kubelet's place; the node agent keeps the change."""
    path = CORE % name + "pods/" + pod_name
    conditions = [dict(each, status=str(ready)) if each["type"] == "Ready" else each
                  for each in read(cluster, path)["status"]["conditions"]]
    patch(cluster, path + "/status", {"status": {"conditions": conditions}})


def settle(cluster, path):
    """Waits until observedGeneration shows that the controller has handled the newest spec."""
    up.wait_for("the generation", lambda: (lambda found: found["status"].get(
        "observedGeneration") == found["metadata"]["generation"])(read(cluster, path)))


def test_stateful_set_halts(cluster):
    name = namespace(cluster, "sets")
    path = APPS % name + "statefulsets/"
    stateful_set(cluster, name, "ss", 1)
    up.wait_for("ss-0", lambda: read(cluster, path + "ss")["status"].get("readyReplicas") == 1)
    set_ready(cluster, name, "ss-0", False)
    patch(cluster, path + "ss", {"spec": {"replicas": 3}})
    settle(cluster, path + "ss")
    assert names_of(cluster, name, "ss") == ["ss-0"]
    set_ready(cluster, name, "ss-0", True)
    up.wait_for("three", lambda: read(cluster, path + "ss")["status"].get("readyReplicas") == 3)
    set_ready(cluster, name, "ss-0", False)
    patch(cluster, path + "ss", {"spec": {"replicas": 0}})
    up.wait_for("none", lambda: not names_of(cluster, name, "ss"))


def test_stateful_set_scales_down_in_order(cluster):
    path = APPS % "sets" + "statefulsets/down"
    stateful_set(cluster, "sets", "down", 3)
    up.wait_for("three", lambda: read(cluster, path)["status"].get("readyReplicas") == 3)
    for i in range(3):
        set_ready(cluster, "sets", "down-%d" % i, False)
    patch(cluster, path, {"spec": {"replicas": 0}})
    settle(cluster, path)
    assert names_of(cluster, "sets", "down") == ["down-0", "down-1", "down-2"]
    set_ready(cluster, "sets", "down-2", True)
    up.wait_for("down-2 gone", lambda: names_of(cluster, "sets", "down") == ["down-0", "down-1"])
    set_ready(cluster, "sets", "down-1", True)
    # All pods are deleted now, the unhealthy pod with the lowest number last.
    up.wait_for("none", lambda: not names_of(cluster, "sets", "down"))


def test_stateful_set_bursts(cluster):
    path = APPS % "sets" + "statefulsets/burst"
    stateful_set(cluster, "sets", "burst", 3, {"berth.dev/ready": "false"},
                 podManagementPolicy="Parallel")
    up.wait_for("three", lambda: len(names_of(cluster, "sets", "burst")) == 3)
    patch(cluster, path, {"spec": {"replicas": 1}})
    up.wait_for("one", lambda: names_of(cluster, "sets", "burst") == ["burst-0"])
    assert not read(cluster, path)["status"].get("readyReplicas")


def revisions(cluster, name, owner):
    return {each["metadata"]["name"]: each
            for each in items(cluster, APPS % name + "controllerrevisions")
            if each["metadata"]["ownerReferences"][0]["name"] == owner}


def test_stateful_set_partition_and_revisions(cluster):
    path = APPS % "sets" + "statefulsets/web"
    stateful_set(cluster, "sets", "web", 3, updateStrategy={
        "type": "RollingUpdate", "rollingUpdate": {"partition": 2}}, revisionHistoryLimit=1)
    up.wait_for("three", lambda: read(cluster, path)["status"].get("readyReplicas") == 3)
    first = read(cluster, path)["status"]["currentRevision"]
    found = revisions(cluster, "sets", "web")[first]
    assert found["revision"] == 1 and found["data"]["spec"]["template"]["$patch"] == "replace"

    def images():
        return {each["metadata"]["name"]: each["spec"]["containers"][0]["image"]
                for each in pods(cluster, "sets", "app=web") if each["status"].get("podIP")}
    patch(cluster, path, {"spec": {"template": {"spec": {"containers": [
        {"name": "c", "image": "i:2"}]}}}})
    up.wait_for("web-2", lambda: images() == {"web-0": "i:1", "web-1": "i:1", "web-2": "i:2"})
    status = read(cluster, path)["status"]
    assert status["currentRevision"] == first != status["updateRevision"]
    # A lost pod is created again with the template of its side of the partition.
    for each in ["web-0", "web-2"]:
        uid = read(cluster, CORE % "sets" + "pods/" + each)["metadata"]["uid"]
        call(cluster, "DELETE", CORE % "sets" + "pods/" + each)
        up.wait_for("another " + each, lambda: (read(cluster, CORE % "sets" + "pods/" + each) or {
            "metadata": {"uid": uid}})["metadata"]["uid"] != uid)
    up.wait_for("both back", lambda: images() == {"web-0": "i:1", "web-1": "i:1", "web-2": "i:2"})
    patch(cluster, path, {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
    up.wait_for("all", lambda: set(images().values()) == {"i:2"} and len(images()) == 3)
    up.wait_for("completion", lambda: read(cluster, path)["status"]["currentRevision"] ==
                read(cluster, path)["status"]["updateRevision"])
    # Restoring the first template gives the template's old revision a new number. Revisions beyond
    # the history limit are deleted.
    patch(cluster, path, {"spec": {"template": {"spec": {"containers": [
        {"name": "c", "image": "i:1"}]}}}})
    up.wait_for("back", lambda: read(cluster, path)["status"]["currentRevision"] == first)
    assert revisions(cluster, "sets", "web")[first]["revision"] == 3
    patch(cluster, path, {"spec": {"template": {"spec": {"containers": [
        {"name": "c", "image": "i:3"}]}}}})
    up.wait_for("i:3", lambda: set(images().values()) == {"i:3"} and len(images()) == 3)
    up.wait_for("two revisions", lambda: len(revisions(cluster, "sets", "web")) == 2)
    assert first in revisions(cluster, "sets", "web")


def test_stateful_set_waits_for_host_port(cluster):
    name = namespace(cluster, "ports")
    ports = {"nodeName": "node-0", "containers": [
        {"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 8080}]}]}
    call(cluster, "POST", CORE % name + "pods", pod("first", **ports))
    up.wait_for("the first pod", lambda: read(
        cluster, CORE % name + "pods/first")["status"].get("phase") == "Running")
    stateful_set(cluster, name, "evicted", 1, template=template({"app": "evicted"}, **ports))

    def refused():
        # The set deletes a refused pod at once, but the events of the pods stay.
        return {each["involvedObject"]["uid"] for each in read(
            cluster, CORE % name + "events")["items"] if each["reason"] == "NodePorts"}
    up.wait_for("two refusals", lambda: len(refused()) > 1)
    call(cluster, "DELETE", CORE % name + "pods/first")
    up.wait_for("the pod of the set", lambda: read(
        cluster, APPS % name + "statefulsets/evicted")["status"].get("readyReplicas") == 1)


def test_stateful_set_max_unavailable(cluster):
    path = APPS % "sets" + "statefulsets/wide"
    stateful_set(cluster, "sets", "wide", 4, podManagementPolicy="Parallel", updateStrategy={
        "type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}})
    up.wait_for("four", lambda: read(cluster, path)["status"].get("readyReplicas") == 4)
    patch(cluster, path, {"spec": {"template": template(
        {"app": "wide"}, {"berth.dev/ready": "false"})}})
    up.wait_for("two", lambda: read(cluster, path)["status"].get("updatedReplicas") == 2)
    settle(cluster, path)
    assert read(cluster, path)["status"]["readyReplicas"] == 2


def test_stateful_set_claims(cluster):
    claims = [{"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "none"}}]
    path = APPS % "sets" + "statefulsets/kept"
    stateful_set(cluster, "sets", "kept", 2, podManagementPolicy="Parallel",
                 volumeClaimTemplates=claims,
                 persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete",
                                                       "whenScaled": "Delete"})

    def left():
        return sorted(each["metadata"]["name"] for each in items(
            cluster, CORE % "sets" + "persistentvolumeclaims"))
    up.wait_for("two claims", lambda: left() == ["data-kept-0", "data-kept-1"])
    up.wait_for("owners", lambda: all(
        each["metadata"].get("ownerReferences") for each in items(
            cluster, CORE % "sets" + "persistentvolumeclaims")))
    patch(cluster, path, {"spec": {"replicas": 1}})
    up.wait_for("one claim", lambda: left() == ["data-kept-0"])
    call(cluster, "DELETE", path)
    up.wait_for("no claim", lambda: not left())


def test_claim_is_expanded(cluster):
    name = namespace(cluster, "volumes")
    call(cluster, "POST", "/apis/storage.k8s.io/v1/storageclasses", {
        "metadata": {"name": "grows"}, "provisioner": "csi.example.com",
        "allowVolumeExpansion": True})
    path = CORE % name + "persistentvolumeclaims/data"
    call(cluster, "POST", CORE % name + "persistentvolumeclaims", {
        "metadata": {"name": "data"}, "spec": {
            "storageClassName": "grows", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}})
    up.wait_for("the volume", lambda: read(cluster, path)["status"].get("phase") == "Bound")
    patch(cluster, path, {"spec": {"resources": {"requests": {"storage": "3Gi"}}}})
    up.wait_for("the new size", lambda: read(
        cluster, path)["status"]["capacity"] == {"storage": "3Gi"})
    volume = "/api/v1/persistentvolumes/" + read(cluster, path)["spec"]["volumeName"]
    assert read(cluster, volume)["spec"]["capacity"] == {"storage": "3Gi"}


def test_labels_of_nodes(cluster):
    call(cluster, "POST", "/api/v1/nodes", {"metadata": {
        "name": "other", "labels": {"kubernetes.io/arch": "arm64"}}})
    found = up.wait_for("its labels", lambda: (lambda labels: labels if len(labels) == 5 else None)(
        read(cluster, "/api/v1/nodes/other")["metadata"]["labels"]))
    assert found == {
        "beta.kubernetes.io/arch": "arm64", "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "arm64", "kubernetes.io/hostname": "other",
        "kubernetes.io/os": "linux"}, found
    call(cluster, "DELETE", "/api/v1/nodes/other")


def test_daemon_set_revisions(cluster):
    path = APPS % "sets" + "daemonsets/agent"
    call(cluster, "POST", APPS % "sets" + "daemonsets", {
        "metadata": {"name": "agent"}, "spec": {
            "selector": {"matchLabels": {"app": "agent"}}, "template": template({"app": "agent"})}})
    up.wait_for("three", lambda: read(cluster, path)["status"].get("numberReady") == 3)
    only, = revisions(cluster, "sets", "agent").values()
    hashes = {each["metadata"]["labels"]["controller-revision-hash"]
              for each in pods(cluster, "sets", "app=agent")}
    assert hashes == {only["metadata"]["labels"]["controller-revision-hash"]}
    patch(cluster, path, {"spec": {"template": {"spec": {"containers": [
        {"name": "c", "image": "i:2"}]}}}})
    up.wait_for("the update", lambda: read(cluster, path)["status"].get(
        "updatedNumberScheduled") == 3 and read(cluster, path)["status"]["numberReady"] == 3)
    assert sorted(each["revision"] for each in revisions(
        cluster, "sets", "agent").values()) == [1, 2]
    # The controller creates a deleted revision again if the revision is in use.
    newest = max(revisions(cluster, "sets", "agent").values(), key=lambda each: each["revision"])
    call(cluster, "DELETE", APPS % "sets" + "controllerrevisions/" + newest["metadata"]["name"])
    up.wait_for("its return", lambda: read(
        cluster, APPS % "sets" + "controllerrevisions/" + newest["metadata"]["name"]))
    # The set is deleted without its dependents and created again: the new set adopts the pods and
    # revisions, and no pod restarts.
    before = {each["metadata"]["uid"] for each in pods(cluster, "sets", "app=agent")}
    made = read(cluster, path)
    call(cluster, "DELETE", path + "?propagationPolicy=Orphan")
    up.wait_for("no set", lambda: not read(cluster, path))
    assert {each["metadata"]["uid"] for each in pods(cluster, "sets", "app=agent")} == before
    call(cluster, "POST", APPS % "sets" + "daemonsets", {
        "metadata": {"name": "agent"}, "spec": made["spec"]})
    up.wait_for("adoption", lambda: read(cluster, path)["status"].get(
        "updatedNumberScheduled") == 3)
    assert {each["metadata"]["uid"] for each in pods(cluster, "sets", "app=agent")} == before


# --- namespaces, quotas ---

def test_namespace_deletes_pods_first(cluster):
    name = namespace(cluster, "ending")
    made = pod("held")
    made["metadata"]["finalizers"] = ["example.com/hold"]
    call(cluster, "POST", CORE % name + "pods", made)
    call(cluster, "POST", CORE % name + "configmaps", {
        "metadata": {"name": "settings", "finalizers": ["example.com/keep"]}})
    up.wait_for("it runs", lambda: read(cluster, CORE % name + "pods/held")["status"].get("podIP"))
    path = "/api/v1/namespaces/" + name
    call(cluster, "DELETE", path)
    found = up.wait_for("the conditions", lambda: (lambda each: each if condition(
        each, "NamespaceFinalizersRemaining").get("status") == "True" else None)(
            read(cluster, path)))
    assert condition(found, "NamespaceContentRemaining")["message"] == (
        "Some resources are remaining: pods. has 1 resource instances"), found
    assert condition(found, "NamespaceFinalizersRemaining")["message"] == (
        "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource "
        "instances"), found
    assert "deletionTimestamp" not in read(
        cluster, CORE % name + "configmaps/settings")["metadata"]
    patch(cluster, CORE % name + "pods/held", {"metadata": {"finalizers": None}})
    up.wait_for("the config map", lambda: read(
        cluster, CORE % name + "configmaps/settings")["metadata"].get("deletionTimestamp"))
    assert read(cluster, path)["status"]["phase"] == "Terminating"
    patch(cluster, CORE % name + "configmaps/settings", {"metadata": {"finalizers": None}})
    up.wait_for("the end", lambda: not read(cluster, path))


def quota(cluster, name, quota_name, hard, **more):
    call(cluster, "POST", CORE % name + "resourcequotas", {
        "metadata": {"name": quota_name}, "spec": dict({"hard": hard}, **more)})
    path = CORE % name + "resourcequotas/" + quota_name
    up.wait_for("its status", lambda: read(cluster, path)["status"].get("hard") == hard)
    return lambda: read(cluster, path)["status"]["used"]


def test_quotas_with_scopes(cluster):
    name = namespace(cluster, "quotas")
    best = quota(cluster, name, "best-effort", {"pods": "1"}, scopes=["BestEffort"])
    rest = quota(cluster, name, "not-best-effort", {"pods": "1"}, scopes=["NotBestEffort"])
    ends = quota(cluster, name, "terminating", {"pods": "5"}, scopes=["Terminating"])
    high = quota(cluster, name, "high", {"pods": "1"}, scopeSelector={"matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In",
         "values": ["system-cluster-critical"]}]})
    call(cluster, "POST", CORE % name + "pods", pod("a"))
    refused = call(cluster, "POST", CORE % name + "pods", pod("b"), 403)
    assert "exceeded quota: best-effort, requested: pods=1, used: pods=1, limited: pods=1" in (
        refused["message"]), refused
    sized = [{"name": "c", "image": "i:1", "resources": {"requests": {"cpu": "1"}}}]
    call(cluster, "POST", CORE % name + "pods",
         pod("c", containers=sized, activeDeadlineSeconds=3600,
             priorityClassName="system-cluster-critical"))
    call(cluster, "POST", CORE % name + "pods", pod("d", containers=sized), 403)
    for used, what in [(best, "1"), (rest, "1"), (ends, "1"), (high, "1")]:
        up.wait_for("the count", lambda: used() == {"pods": what})
    call(cluster, "DELETE", CORE % name + "pods/a")
    up.wait_for("its release", lambda: best() == {"pods": "0"})


def test_quota_scopes_that_no_pod_has(cluster):
    name = namespace(cluster, "odd-scopes")
    priority = {"matchExpressions": [{"scopeName": "Terminating", "operator": "Exists"}]}
    for spec, field in [({"scopes": ["Sometimes"]}, "spec.scopes[0]"),
                        ({"scopes": ["BestEffort", "NotBestEffort"]}, "spec.scopes"),
                        ({"scopes": ["NotTerminating"], "scopeSelector": priority}, "spec.scopes"),
                        ({"scopes": ["BestEffort"], "hard": {"cpu": "1"}}, "spec.scopes")]:
        found = call(cluster, "POST", CORE % name + "resourcequotas", {
            "metadata": {"name": "odd"}, "spec": dict({"hard": {"pods": "1"}}, **spec)}, 422)
        assert [each["field"] for each in found["details"]["causes"]] == [field], found


def test_quota_follows_its_hard_limits(cluster):
    path = "/api/v1/namespaces/default/resourcequotas"
    cluster.json("POST", path, {"metadata": {"name": "narrowed"}, "spec": {
        "hard": {"configmaps": "50", "secrets": "50"}}})

    def status():
        return cluster.json("GET", path + "/narrowed")[1].get("status", {})

    up.wait_for("both", lambda: set(status().get("used", {})) == {"configmaps", "secrets"})
    quota = cluster.json("GET", path + "/narrowed")[1]
    quota["spec"]["hard"] = {"secrets": "60"}
    assert cluster.json("PUT", path + "/narrowed", quota)[0] == 200
    up.wait_for("one", lambda: status()["hard"] == {"secrets": "60"} and
                set(status()["used"]) == {"secrets"})
    cluster.json("DELETE", path + "/narrowed")


def test_quotas_of_services(cluster):
    name = namespace(cluster, "quota-services")
    used = quota(cluster, name, "services", {
        "services": "3", "services.nodeports": "2", "services.loadbalancers": "1"})

    def service(service_name, kind, count=1, status=None):
        return call(cluster, "POST", CORE % name + "services", {
            "metadata": {"name": service_name}, "spec": {"type": kind, "ports": [
                {"name": "p%d" % i, "port": 80 + i} for i in range(count)]}}, status)
    service("plain", "ClusterIP")
    service("node", "NodePort")
    service("wide", "NodePort", 2, 403)
    service("balanced", "LoadBalancer")
    up.wait_for("the counts", lambda: used() == {
        "services": "3", "services.nodeports": "2", "services.loadbalancers": "1"})
    service("fourth", "ClusterIP", 1, 403)
    refused = patch(cluster, CORE % name + "services/plain", {"spec": {"type": "NodePort"}},
                    status=403)
    assert "requested: services.nodeports=1, used: services.nodeports=2" in refused["message"]
    patch(cluster, CORE % name + "services/node", {"spec": {"type": "ClusterIP"}})
    up.wait_for("the change", lambda: used()["services.nodeports"] == "1")
    patch(cluster, CORE % name + "services/plain", {"spec": {"type": "NodePort"}})


def test_quota_of_claims_by_class(cluster):
    name = namespace(cluster, "quota-claims")
    used = quota(cluster, name, "gold", {
        "gold.storageclass.storage.k8s.io/requests.storage": "10Gi",
        "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "2"})
    for i, (class_name, status) in enumerate([("gold", 201), ("gold", 403), ("other", 201)]):
        call(cluster, "POST", CORE % name + "persistentvolumeclaims", {
            "metadata": {"name": "c%d" % i}, "spec": {
                "storageClassName": class_name, "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "6Gi"}}}}, status)
    up.wait_for("the counts", lambda: used() == {
        "gold.storageclass.storage.k8s.io/requests.storage": "6Gi",
        "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1"})


# --- what pods use, and autoscaling ---

METRICS = "/apis/metrics.k8s.io/v1beta1/"


def test_metrics(cluster):
    name = namespace(cluster, "metrics")
    sized = [{"name": "c", "image": "i:1", "resources": {"requests": {
        "cpu": "200m", "memory": "100Mi"}}}, {"name": "d", "image": "i:1"}]
    call(cluster, "POST", CORE % name + "pods", pod("share", {"app": "m"}, containers=sized))
    call(cluster, "POST", CORE % name + "pods", pod("fixed", {"app": "m"}, {
        "berth.dev/cpu-usage": "300m", "berth.dev/memory-usage": "1Gi"}, containers=sized))
    call(cluster, "POST", CORE % name + "pods", pod("pending", {"app": "m"},
                                                    schedulingGates=[{"name": "a.io/b"}]))
    path = METRICS + "namespaces/%s/pods" % name
    found = up.wait_for("two", lambda: (lambda each: each if len(each) == 2 else None)(
        {each["metadata"]["name"]: each for each in items(cluster, path)}))
    assert found["share"]["containers"] == [
        {"name": "c", "usage": {"cpu": "100000000n", "memory": "51200Ki"}},
        {"name": "d", "usage": {"cpu": "1000000n", "memory": "8192Ki"}}], found["share"]
    assert found["fixed"]["containers"][1]["usage"] == {"cpu": "150000000n", "memory": "524288Ki"}
    assert found["share"]["window"] == "15s"
    assert not read(cluster, path + "/pending")
    assert read(cluster, path + "/fixed")["metadata"]["labels"]["app"] == "m"
    node = read(cluster, CORE % name + "pods/fixed")["spec"]["nodeName"]
    usage = read(cluster, METRICS + "nodes/" + node)["usage"]
    assert int(usage["cpu"].rstrip("mn")) > 0, usage
    call(cluster, "DELETE", path + "/fixed", None, 405)


def autoscaler(cluster, name, **spec):
    return call(cluster, "POST", "/apis/autoscaling/v2/namespaces/%s/horizontalpodautoscalers"
                % name, {"metadata": {"name": "web"}, "spec": dict({
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment",
                                       "name": "web"},
                    "minReplicas": 2, "maxReplicas": 8}, **spec)})


def test_autoscaler(program):
    with program.up("--nodes", "3", "--time-scale", "30", "--pod-cpu-usage", "90%") as cluster:
        name = namespace(cluster, "scaled")
        web = APPS % name + "deployments/web"
        path = "/apis/autoscaling/v2/namespaces/scaled/horizontalpodautoscalers/web"
        call(cluster, "POST", APPS % name + "deployments", {"metadata": {"name": "web"}, "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": template({"app": "web"}, containers=[
                {"name": "c", "image": "i:1", "resources": {"requests": {"cpu": "100m"}}}])}})
        up.wait_for("the pods", lambda: read(cluster, web)["status"].get("readyReplicas") == 2)
        autoscaler(cluster, name, metrics=[{"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 45}}}])
        # Every pod uses 90 % at any number of pods: scale to the maximum.
        up.wait_for("the maximum", lambda: read(cluster, web)["spec"]["replicas"] == 8)
        found = up.wait_for("its conditions", lambda: (lambda each: each if condition(
            each, "ScalingLimited").get("reason") == "TooManyReplicas" else None)(
                read(cluster, path)))
        assert condition(found, "ScalingActive")["reason"] == "ValidMetricFound", found
        assert found["status"]["currentMetrics"][0]["resource"]["current"] == {
            "averageUtilization": 90, "averageValue": "90m"}, found
        # Every pod uses 9 %: scale down after five minutes of the cluster's time.
        patch(cluster, web, {"spec": {"template": {"metadata": {"annotations": {
            "berth.dev/cpu-usage": "9m"}}}}})
        up.wait_for("the minimum", lambda: read(cluster, web)["spec"]["replicas"] == 2)
        patch(cluster, web + "/scale", {"spec": {"replicas": 0}})
        up.wait_for("disabled", lambda: condition(
            read(cluster, path), "ScalingActive").get("reason") == "ScalingDisabled")
        patch(cluster, path, {"spec": {"scaleTargetRef": {"name": "nothing"}}})
        up.wait_for("no target", lambda: condition(
            read(cluster, path), "AbleToScale").get("reason") == "FailedGetScale")


def test_custom_metrics(program):
    with program.up("--nodes", "3", "--time-scale", "30") as cluster:
        name = namespace(cluster, "custom")
        web = APPS % name + "deployments/web"
        path = "/apis/autoscaling/v2/namespaces/custom/horizontalpodautoscalers/web"
        root = "/apis/custom.metrics.k8s.io/v1beta2/"
        call(cluster, "POST", APPS % name + "deployments", {"metadata": {"name": "web"}, "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": template({"app": "web"}, containers=[{"name": "c", "image": "i:1"}])}})
        up.wait_for("the pods", lambda: read(cluster, web)["status"].get("readyReplicas") == 2)

        def active():
            return condition(read(cluster, path), "ScalingActive")

        def replicas(count):
            return lambda: read(cluster, web)["spec"]["replicas"] == count

        # Pods metric: at first no pod reports a value, then all pods do.
        autoscaler(cluster, name, metrics=[{"type": "Pods", "pods": {
            "metric": {"name": "requests"},
            "target": {"type": "AverageValue", "averageValue": "10"}}}],
            behavior={"scaleDown": {"stabilizationWindowSeconds": 0}})
        up.wait_for("the failure", lambda: active().get("reason") == "FailedGetPodsMetric")
        assert active()["message"] == (
            "the HPA was unable to compute the replica count: unable to get metric requests: no "
            "metrics returned from custom metrics API"), active()
        up.wait_for("the event", lambda: [
            each for each in items(cluster, CORE % name + "events")
            if each["reason"] == "FailedComputeMetricsReplicas" and each["message"] ==
            "invalid metrics (1 invalid out of 1), first error is: failed to get pods metric "
            "value: unable to get metric requests: no metrics returned from custom metrics API"])
        patch(cluster, web, {"spec": {"template": {"metadata": {"annotations": {
            "berth.dev/metrics": "errors=1, requests{verb=get}=12, requests{verb=put}=2500m"}}}}})
        # Every pod reports 14.5 (12 + 2.5) at any number of pods: scale to the maximum.
        up.wait_for("the maximum", replicas(8))
        found = read(cluster, path)["status"]["currentMetrics"][0]
        assert found == {"type": "Pods", "pods": {"metric": {"name": "requests"}, "current": {
            "averageValue": "14500m"}}}, found
        assert active()["message"].endswith("a replica count from pods metric requests"), active()
        values = read(cluster, root + "namespaces/custom/pods/*/requests?labelSelector=app%3Dweb")
        assert values["kind"] == "MetricValueList" and len(values["items"]) >= 8, values
        first = values["items"][0]
        assert first["describedObject"] == {
            "kind": "Pod", "namespace": "custom", "apiVersion": "/v1",
            "name": first["describedObject"]["name"]}, first
        assert first["value"] == "14500m" and first["metric"] == {"name": "requests"}, first
        one = root + "namespaces/custom/pods/" + first["describedObject"]["name"]
        assert [each["value"] for each in items(
            cluster, one + "/requests?metricLabelSelector=verb%21%3Dput")] == ["12"]
        old = items(cluster, one.replace("v1beta2", "v1beta1") + "/errors")
        assert [(each["metricName"], each["value"]) for each in old] == [("errors", "1")], old
        failed = call(cluster, "GET", one + "/nothing", None, 404)
        assert failed["message"].startswith("the server could not find the metric nothing for "
                                            "pods web-"), failed
        assert not items(cluster, root + "namespaces/custom/pods/*/requests?labelSelector=app%3Dx")
        call(cluster, "GET", root + "namespaces/custom/nothings/a/requests", None, 404)
        call(cluster, "GET", one + "/requests?metricLabelSelector=%2B%2B", None, 400)
        call(cluster, "POST", one + "/requests", {}, 405)

        # Object metric: the value counts for all pods together. The tolerance in the HPA applies.
        call(cluster, "POST", CORE % name + "services", {
            "metadata": {"name": "front", "annotations": {"berth.dev/metrics": "hits=95"}},
            "spec": {"ports": [{"port": 80}]}})
        source = {"metric": {"name": "hits"}, "target": {"type": "Value", "value": "100"},
                  "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "front"}}
        metric = [{"type": "Object", "object": source}]
        up.wait_for("eight ready", lambda: read(cluster, web)["status"].get("readyReplicas") == 8)
        patch(cluster, path, {"spec": {"metrics": metric}})
        up.wait_for("the object", lambda: active()["message"].endswith("Service metric hits"))
        assert replicas(8)()
        patch(cluster, CORE % name + "services/front", {
            "metadata": {"annotations": {"berth.dev/metrics": "hits=85"}}})
        up.wait_for("0.85 of eight", replicas(7))
        patch(cluster, CORE % name + "services/front", {
            "metadata": {"annotations": {"berth.dev/metrics": "hits=20"}}})
        patch(cluster, path, {"spec": {"behavior": {"scaleDown": {"tolerance": "0.9"}}}})
        up.wait_for("the value", lambda: read(cluster, path)["status"]["currentMetrics"][0][
            "object"]["current"] == {"value": "20"})
        assert replicas(7)()
        patch(cluster, path, {"spec": {"behavior": {"scaleDown": {"tolerance": "0.01"}}}})
        up.wait_for("the minimum", replicas(2))

        # External metric: the value and its labels are annotations of the namespace.
        patch(cluster, "/api/v1/namespaces/custom", {"metadata": {"annotations": {
            "berth.dev/external-metrics": "queue{name=mail}=7, queue{name=jobs}=30"}}})
        external = "/apis/external.metrics.k8s.io/v1beta1/namespaces/custom/queue"
        assert [(each["metricLabels"], each["value"]) for each in items(cluster, external)] == [
            ({"name": "mail"}, "7"), ({"name": "jobs"}, "30")]
        assert len(items(cluster, external + "?labelSelector=name%3Djobs")) == 1
        patch(cluster, path, {"spec": {"metrics": [{"type": "External", "external": {
            "metric": {"name": "queue", "selector": {"matchLabels": {"name": "jobs"}}},
            "target": {"type": "AverageValue", "averageValue": "6"}}}]}})
        up.wait_for("five", replicas(5))
        assert active()["message"].endswith(
            "external metric queue(&LabelSelector{MatchLabels:map[string]string{name: jobs,},"
            "MatchExpressions:[]LabelSelectorRequirement{},})"), active()
        patch(cluster, path, {"spec": {"metrics": [{"type": "External", "external": {
            "metric": {"name": "other"}, "target": {"type": "Value", "value": "6"}}}]}})
        up.wait_for("no value", lambda: active()["message"].endswith(
            "unable to get external metric custom/other/nil: no metrics returned from external "
            "metrics API"))

        # Metrics APIs in discovery.
        groups = {each["name"]: [version["version"] for version in each["versions"]]
                  for each in read(cluster, "/apis")["groups"]}
        assert groups["custom.metrics.k8s.io"] == ["v1beta2", "v1beta1"], groups
        assert groups["external.metrics.k8s.io"] == ["v1beta1"], groups
        assert read(cluster, "/apis/custom.metrics.k8s.io")["preferredVersion"]["version"] == \
            "v1beta2"
        assert read(cluster, "/apis/external.metrics.k8s.io/v1beta1")["resources"] == []
        assert cluster.get("/apis/external.metrics.k8s.io/v1beta2")[0] == 404


# --- deletion with dependents ---

def owned(name, *owners, block=True, **more):
    """Returns a ConfigMap with owner references."""
    return {"metadata": dict({"name": name, "ownerReferences": [{
        "apiVersion": "v1", "kind": "ConfigMap", "name": each["metadata"]["name"],
        "uid": each["metadata"]["uid"], "blockOwnerDeletion": block} for each in owners]}, **more)}


def test_deletion_policies(cluster):
    name = namespace(cluster, "policies")
    path = CORE % name + "configmaps"

    def left():
        return sorted(each["metadata"]["name"] for each in items(cluster, path)
                      if each["metadata"]["name"] != "kube-root-ca.crt")
    for policy in ["Background", "Foreground", "Orphan"]:
        owner = call(cluster, "POST", path, {"metadata": {"name": "owner"}})
        middle = call(cluster, "POST", path, owned("middle", owner))
        call(cluster, "POST", path, owned("leaf", middle, finalizers=["example.com/hold"]))
        call(cluster, "DELETE", path + "/owner?propagationPolicy=" + policy)
        if policy == "Background":
            up.wait_for("the leaf only", lambda: left() == ["leaf"])
        elif policy == "Foreground":
            up.wait_for("the leaf to end", lambda: "deletionTimestamp" in read(
                cluster, path + "/leaf")["metadata"])
            # The deletion waits for every dependent that blocks it.
            assert left() == ["leaf", "middle", "owner"]
            assert read(cluster, path + "/middle")["metadata"]["finalizers"] == [
                "foregroundDeletion"]
        else:
            up.wait_for("no owner", lambda: left() == ["leaf", "middle"])
            assert "ownerReferences" not in read(cluster, path + "/middle")["metadata"]
            call(cluster, "DELETE", path + "/middle")
        patch(cluster, path + "/leaf", {"metadata": {"finalizers": None}})
        up.wait_for("all gone", lambda: not left())


def test_dependents_with_another_owner_stay(cluster):
    path = CORE % "policies" + "configmaps"
    ends = call(cluster, "POST", path, {"metadata": {"name": "ends"}})
    stays = call(cluster, "POST", path, {"metadata": {"name": "stays"}})
    call(cluster, "POST", path, owned("both", ends, stays))
    call(cluster, "POST", path, owned("one", ends))
    call(cluster, "DELETE", path + "/ends?propagationPolicy=Foreground")
    up.wait_for("the owner's end", lambda: not read(cluster, path + "/ends"))
    assert not read(cluster, path + "/one")
    owner, = read(cluster, path + "/both")["metadata"]["ownerReferences"]
    assert owner["name"] == "stays"


def test_dependency_circle(cluster):
    path = CORE % "policies" + "configmaps"
    made = [call(cluster, "POST", path, {"metadata": {"name": "circle%d" % i}}) for i in range(3)]
    for i in range(3):
        patch(cluster, path + "/circle%d" % i, owned("circle%d" % i, made[(i + 1) % 3]))
    call(cluster, "DELETE", path + "/circle0?propagationPolicy=Foreground")
    up.wait_for("all gone", lambda: not [
        each for each in items(cluster, path) if each["metadata"]["name"].startswith("circle")])


def test_orphans_of_a_deployment(cluster):
    name = namespace(cluster, "orphans")
    call(cluster, "POST", APPS % name + "deployments", {"metadata": {"name": "web"}, "spec": {
        "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
        "template": template({"app": "web"})}})
    path = APPS % name + "deployments/web"
    up.wait_for("the pods", lambda: read(cluster, path)["status"].get("readyReplicas") == 2)
    made = read(cluster, path)
    call(cluster, "DELETE", path + "?propagationPolicy=Orphan")
    up.wait_for("no deployment", lambda: not read(cluster, path))
    only, = items(cluster, APPS % name + "replicasets")
    assert "ownerReferences" not in only["metadata"]
    # A new deployment with the same template adopts the replica set and its pods.
    call(cluster, "POST", APPS % name + "deployments", {"metadata": {"name": "web"},
                                                        "spec": made["spec"]})
    up.wait_for("adoption", lambda: read(cluster, path)["status"].get("readyReplicas") == 2)
    again, = items(cluster, APPS % name + "replicasets")
    assert again["metadata"]["uid"] == only["metadata"]["uid"]
    call(cluster, "DELETE", path + "?propagationPolicy=Foreground")
    up.wait_for("nothing", lambda: not read(cluster, path))
    assert not items(cluster, APPS % name + "replicasets") and not pods(cluster, name)


def test_logs(cluster):
    name = namespace(cluster, "logs")
    call(cluster, "POST", CORE % name + "pods",
         pod("talks", {}, {"berth.dev/log": "hello\nworld\n"}))
    call(cluster, "POST", CORE % name + "pods", pod("silent"))
    up.wait_for("the pod runs", lambda: read(
        cluster, CORE % name + "pods/talks")["status"]["phase"] == "Running")
    status, headers, body = cluster.request("GET", CORE % name + "pods/talks/log?container=c")
    assert status == 200 and body == b"hello\nworld\n", body
    assert headers["Content-Type"].startswith("text/plain")
    assert "has no logs" in call(
        cluster, "GET", CORE % name + "pods/silent/log", None, 400)["message"]


class WebSocket:
    """A WebSocket client that only receives frames. The member headers is None if the server
    refused the upgrade."""

    def __init__(self, cluster, path, protocol="v5.channel.k8s.io"):
        self.socket = socket.create_connection(("127.0.0.1", cluster.port), timeout=60)
        if cluster.tls():
            self.socket = cluster.tls().wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.socket.sendall((
            "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: %s\r\n\r\n"
            % (path, cluster.token, protocol)).encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = dict(iter(lambda: tuple(
            self.file.readline().decode().strip().lower().split(": ", 1)), ("",)))

    def frames(self):
        """Yields (channel, payload) until the server closes the connection."""
        while True:
            first, length = self.file.read(2)
            if length == 126:
                length, = struct.unpack(">H", self.file.read(2))
            payload = self.file.read(length)
            if first == 0x88:
                self.socket.sendall(b"\x88\x80\0\0\0\0")
                assert payload == b"\x03\xe8" and self.file.read() == b""
                self.socket.close()
                return
            yield payload[0], payload[1:]


def running_pod(cluster, space, name, annotations, **spec):
    made = pod(name, {}, {"berth.dev/" + key: value for key, value in annotations.items()}, **spec)
    call(cluster, "POST", CORE % space + "pods", made)
    path = CORE % space + "pods/" + name
    up.wait_for("the pod runs", lambda: read(cluster, path)["status"]["phase"] == "Running")
    return path


def test_options_of_logs(cluster):
    name = namespace(cluster, "log-options")
    lines = "one\ntwo\nthree\n"
    path = running_pod(cluster, name, "p", {"log": lines}) + "/log"
    started = read(cluster, CORE % name + "pods/p")["status"]["containerStatuses"][0]["state"][
        "running"]["startedAt"][:-1] + ".000000000Z "
    for query, expected in [
            ("", lines), ("tailLines=2", "two\nthree\n"), ("tailLines=0", ""),
            ("tailLines=9", lines), ("limitBytes=5", "one\nt"), ("sinceSeconds=3600", lines),
            ("sinceTime=2100-01-01T00:00:00Z", ""), ("sinceTime=2000-01-01T00:00:00Z", lines),
            ("timestamps=true&tailLines=1", started + "three\n")]:
        assert cluster.get(path + "?" + query) == (200, expected.encode()), query
    for query, status, text in [
            ("tailLines=-1", 422, "tailLines: Invalid value: -1: must be greater than or equal"),
            ("limitBytes=0", 422, "limitBytes: Invalid value: 0: must be greater than 0"),
            ("sinceSeconds=x", 422, "sinceSeconds: Invalid value"),
            ("sinceSeconds=1&sinceTime=2000-01-01T00:00:00Z", 422, "at most one of"),
            ("previous=true", 400, 'previous terminated container "c" in pod "p" not found'),
            ("container=d", 400, "container d is not valid for pod p")]:
        found = call(cluster, "GET", path + "?" + query, None, status)
        assert text in found["message"], found
    both = [{"name": "a", "image": "i:1"}, {"name": "b", "image": "i:1"}]
    path = running_pod(cluster, name, "two", {"log": "x"}, containers=both) + "/log"
    assert "must be specified for pod two, choose one of: [a b]" in call(
        cluster, "GET", path, None, 400)["message"]
    assert cluster.get(path + "?container=b") == (200, b"x")


def test_logs_follow_until_the_end(cluster):
    name = namespace(cluster, "log-follow")
    path = running_pod(cluster, name, "p", {"log": "x\n", "run-time": "2s"}, restartPolicy="Never")
    status, body = cluster.get(path + "/log?follow=true")
    assert (status, body) == (200, b"x\n")
    ended = read(cluster, path)["status"]["containerStatuses"][0]["state"]
    assert "terminated" in ended, ended


def test_exec_and_attach(cluster):
    name = namespace(cluster, "exec")
    path = running_pod(cluster, name, "p", {
        "exec": "out\n", "exec-exit-code": "3", "log": "log\n", "run-time": "5s"},
        restartPolicy="Never")
    for protocol in "v5.channel.k8s.io", "v4.channel.k8s.io", "v9, v4.channel.k8s.io":
        found = WebSocket(cluster, path + "/exec?command=ls&stdout=true", protocol)
        assert found.status == 101, found.headers
        assert found.headers["sec-websocket-protocol"] == protocol.split(", ")[-1]
        (channel, out), (last, status) = found.frames()
        status = json.loads(status)
        assert (channel, out, last) == (1, b"out\n", 3)
        assert status["status"] == "Failure" and status["reason"] == "NonZeroExitCode", status
        assert status["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}], status
    assert WebSocket(cluster, path + "/exec?command=ls&stdout=true", "v9").status == 400
    assert WebSocket(cluster, path + "/exec?command=ls").status == 400
    for method in "GET", "POST":
        found = call(cluster, method, path + "/exec?command=ls&stdout=true", None, 400)
        assert found["message"] == "Upgrade request required", found
    found = call(cluster, "POST", path + "/exec?command=ls&stdout=true", None, 400, headers={
        "Connection": "Upgrade", "Upgrade": "SPDY/3.1"})
    assert "not over SPDY" in found["message"], found
    found = list(WebSocket(cluster, path + "/attach?stdout=true").frames())
    assert found[0] == (1, b"log\n") and json.loads(found[1][1])["status"] == "Success", found
    assert "terminated" in read(cluster, path)["status"]["containerStatuses"][0]["state"]
    assert WebSocket(cluster, path + "/exec?command=ls&stdout=true").status == 500


def test_metrics_of_the_server(cluster):
    call(cluster, "GET", "/api/v1/nodes")
    status, body = cluster.get("/metrics")
    assert status == 200
    lines = body.decode().splitlines()
    stored = {line.split('"')[1]: float(line.split()[-1]) for line in lines
              if line.startswith("apiserver_storage_objects{")}
    assert stored["nodes"] == 3 and stored["namespaces"] >= 4, stored
    assert any(line.startswith('apiserver_request_total{code="200",group="",resource="nodes",'
                               'scope="cluster",subresource="",verb="LIST",version="v1"} ')
               for line in lines), lines[:20]
    found = re.search(r'^apiserver_request_duration_seconds_sum\{component="apiserver",dry_run="",'
                      r'group="",resource="nodes",scope="cluster",subresource="",verb="LIST",'
                      r'version="v1"\} (\S+)$', body.decode(), re.M)
    assert 0 < float(found.group(1)) < 60, body.decode()[:2000]


# --- CronJobs, in a cluster whose clock runs faster ---

def cron_job(cluster, cron_name, policy="Allow", **more):
    spec = dict({"schedule": "*/1 * * * ?", "concurrencyPolicy": policy, "jobTemplate": {"spec": {
        "template": template({"app": cron_name}, LONG, restartPolicy="OnFailure")}}}, **more)
    return call(cluster, "POST", BATCH % "cron" + "cronjobs", {"metadata": {"name": cron_name},
                                                              "spec": spec})


def jobs_of(cluster, cron_name):
    return sorted((each for each in items(cluster, BATCH % "cron" + "jobs")
                   if each["metadata"]["ownerReferences"][0]["name"] == cron_name and
                   "deletionTimestamp" not in each["metadata"]),
                  key=lambda each: each["metadata"]["name"])


def test_cron_jobs(program):
    with program.up("--nodes", "2", "--time-scale", "30") as cluster:
        namespace(cluster, "cron")
        for policy in ["Allow", "Forbid", "Replace"]:
            cron_job(cluster, policy.lower(), policy)
        cron_job(cluster, "zone", timeZone="Europe/Berlin")
        cron_job(cluster, "suspended", suspend=True)
        up.wait_for("two jobs", lambda: len(jobs_of(cluster, "allow")) >= 2)
        first = up.wait_for("a job", lambda: jobs_of(cluster, "replace"))
        up.wait_for("its replacement", lambda: jobs_of(cluster, "replace") and
                    jobs_of(cluster, "replace")[0]["metadata"]["name"] !=
                    first[0]["metadata"]["name"])
        assert len(jobs_of(cluster, "replace")) == 1
        active = up.wait_for("one active", lambda: read(
            cluster, BATCH % "cron" + "cronjobs/replace")["status"].get("active"))
        assert len(active) == 1, active
        assert len(jobs_of(cluster, "forbid")) == 1
        assert not jobs_of(cluster, "suspended")
        if os.path.exists("/usr/share/zoneinfo/Europe/Berlin"):
            assert jobs_of(cluster, "zone")


if __name__ == "__main__":
    up.main(globals())
