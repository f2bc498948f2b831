#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What controllers and node agents of `berth up` do, as Kubernetes documents it: services and their
endpoints, workloads, quotas, namespaces, autoscaling. Requests are plain JSON."""
import json

import up

FLAGS = ["--nodes", "3", "--zones", "3", "--pod-start-delay", "0s", "--pod-stop-delay", "0s",
         "--job-run-time", "100ms"]

CORE = "/api/v1/namespaces/%s/"
APPS = "/apis/apps/v1/namespaces/%s/"
BATCH = "/apis/batch/v1/namespaces/%s/"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/%s/endpointslices"
MERGE = {"Content-Type": "application/merge-patch+json"}


def call(cluster, method, path, body=None, status=None, **more):
    """The answered object; a failure unless that status is expected."""
    code, found = cluster.json(method, path, body, **more)
    assert code == status if status else code < 300, (method, path, code, found)
    return found


def read(cluster, path):
    """NULL when there is none."""
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
    # A pod that is not ready stays, marked as such.
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
    # What is evicted does not count as a failure.
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
        cron_job(cluster, "zone", timeZone="Europe/Berlin", suspend=True)
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


if __name__ == "__main__":
    up.main(globals())
