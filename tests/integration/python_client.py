#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The life of a few objects with the Python client (Debian's python3-kubernetes)."""
import sys
import tempfile
import threading

import up

try:
    import kubernetes
    from kubernetes import client, config, watch
except ImportError:
    print("python3-kubernetes is not installed")
    sys.exit(up.SKIPPED)

FLAGS = ["--nodes", "2"]


def core(cluster):
    config.load_kube_config(cluster.kubeconfig)
    return client.CoreV1Api()


def pod(name, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}},
            "spec": dict({"containers": [{"name": "c", "image": "i:1"}]}, **spec)}


def test_list_and_versions(cluster):
    api = core(cluster)
    assert [node.metadata.name for node in api.list_node().items] == ["node-0", "node-1"]
    assert client.VersionApi().get_code().minor == "36"
    assert "v1" in client.CoreApi().get_api_versions().versions


def test_a_pod_runs(cluster):
    api = core(cluster)
    api.create_namespaced_pod("default", pod("a"))
    events = watch.Watch()
    for event in events.stream(api.list_namespaced_pod, "default", timeout_seconds=60):
        found = event["object"]
        if found.metadata.name == "a" and found.status.phase == "Running":
            events.stop()
    found = api.read_namespaced_pod("a", "default")
    assert found.spec.node_name and found.status.pod_ip
    assert found.spec.tolerations[0].toleration_seconds == 300
    assert found.metadata.creation_timestamp.tzinfo is not None


def test_patches(cluster):
    api = core(cluster)
    found = api.patch_namespaced_pod("a", "default", {"metadata": {"labels": {"x": "1"}}})
    assert found.metadata.labels == {"app": "a", "x": "1"}
    found = api.patch_namespaced_pod(
        "a", "default", [{"op": "remove", "path": "/metadata/labels/x"}])
    assert found.metadata.labels == {"app": "a"}
    node = api.patch_node("node-1", {"spec": {"unschedulable": True}})
    assert node.spec.unschedulable
    api.patch_node("node-1", {"spec": {"unschedulable": None}})


def test_update_conflict(cluster):
    api = core(cluster)
    api.create_namespaced_config_map("default", {"metadata": {"name": "m"}, "data": {"a": "1"}})
    first = api.read_namespaced_config_map("m", "default")
    second = api.read_namespaced_config_map("m", "default")
    first.data["a"] = "2"
    api.replace_namespaced_config_map("m", "default", first)
    second.data["a"] = "3"
    try:
        api.replace_namespaced_config_map("m", "default", second)
        raise AssertionError("no conflict")
    except client.ApiException as error:
        assert error.status == 409 and "the object has been modified" in error.body


def test_scale_a_deployment(cluster):
    core(cluster)
    apps = client.AppsV1Api()
    apps.create_namespaced_deployment("default", {
        "metadata": {"name": "web"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}},
                 "template": {"metadata": {"labels": {"app": "web"}},
                              "spec": {"containers": [{"name": "c", "image": "i:1"}]}}}})
    apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 3}})
    up.wait_for("three replicas", lambda: apps.read_namespaced_deployment(
        "web", "default").status.available_replicas == 3)
    apps.delete_namespaced_deployment("web", "default", propagation_policy="Background")
    up.wait_for("no pods of it", lambda: not core(cluster).list_namespaced_pod(
        "default", label_selector="app=web").items)


def test_eviction_and_delete(cluster):
    api = core(cluster)
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="a"))
    api.create_namespaced_pod_eviction("a", "default", eviction)
    up.wait_for("the pod is gone", lambda: not api.list_namespaced_pod(
        "default", field_selector="metadata.name=a").items)
    try:
        api.read_namespaced_pod("a", "default")
        raise AssertionError("still there")
    except client.ApiException as error:
        assert error.status == 404 and error.reason == "Not Found"


def test_watch_resumes_and_expires(cluster):
    api = core(cluster)
    version = api.list_namespaced_config_map("default").metadata.resource_version
    for i in range(3):
        api.create_namespaced_config_map("default", {"metadata": {"name": "w%d" % i}})
    names = []
    events = watch.Watch()
    for event in events.stream(api.list_namespaced_config_map, "default",
                               resource_version=version, timeout_seconds=30):
        names.append((event["type"], event["object"].metadata.name))
        if len(names) == 3:
            events.stop()
    assert names == [("ADDED", "w0"), ("ADDED", "w1"), ("ADDED", "w2")], names


def test_dynamic_client(cluster):
    core(cluster)
    from kubernetes import dynamic
    found = dynamic.DynamicClient(client.ApiClient())
    maps = found.resources.get(api_version="v1", kind="ConfigMap")
    maps.create(namespace="default", body={"metadata": {"name": "dyn"}, "data": {"k": "v"}})
    assert maps.get(name="dyn", namespace="default").data.k == "v"
    maps.delete(name="dyn", namespace="default")


def test_parallel_writers_lose_nothing(cluster):
    """Patches without resourceVersion never conflict; all of them are applied."""
    api = core(cluster)
    api.create_namespaced_config_map("default", {"metadata": {"name": "busy"}})

    def write(worker):
        mine = client.CoreV1Api(config.new_client_from_config(cluster.kubeconfig))
        for i in range(20):
            mine.patch_namespaced_config_map(
                "busy", "default", {"data": {"%d-%d" % (worker, i): "x"}})
    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(api.read_namespaced_config_map("busy", "default").data) == 80


class Informer:
    """Keeps the ConfigMaps by name with list and watch, like the informers of other client
    libraries."""

    def __init__(self, api):
        self.api = api
        self.version = None
        self.objects = {}
        self.lists = 0

    def list(self):
        found = self.api.list_namespaced_config_map("default")
        self.version = found.metadata.resource_version
        self.objects = {item.metadata.name: item.data for item in found.items}
        self.lists += 1

    def follow_until(self, name):
        """Watches until the object with this name is known. If the watch's version is too old,
        lists again."""
        while name not in self.objects:
            try:
                self._watch(name)
            except client.ApiException as error:
                assert error.status == 410 and "too old resource version" in error.reason, error
                self.list()

    def _watch(self, name):
        events = watch.Watch()
        for event in events.stream(self.api.list_namespaced_config_map, "default",
                                   resource_version=self.version, timeout_seconds=60):
            found = event["object"]
            self.version = found.metadata.resource_version
            if event["type"] == "DELETED":
                self.objects.pop(found.metadata.name, None)
            else:
                self.objects[found.metadata.name] = found.data
            if found.metadata.name == name:
                events.stop()


def test_informer_over_restarts(program):
    """The watch resumes or gets 410 and lists again: no change is lost."""
    def config_map(name, value="1"):
        return {"metadata": {"name": name}, "data": {"v": value}}
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--nodes", "1", "--data-dir", folder]
        with program.up(*flags) as cluster:
            api = core(cluster)
            informer = Informer(api)
            informer.list()
            for name in ["a", "b"]:
                api.create_namespaced_config_map("default", config_map(name))
            informer.follow_until("b")
            assert informer.lists == 1
            api.delete_namespaced_config_map("a", "default")
            api.replace_namespaced_config_map("b", "default", config_map("b", "2"))
        with program.up(*flags) as cluster:
            informer.api = core(cluster)
            informer.api.create_namespaced_config_map("default", config_map("c"))
            informer.follow_until("c")
            assert informer.objects.pop("kube-root-ca.crt")
            assert informer.objects == {"b": {"v": "2"}, "c": {"v": "1"}}, informer.objects
            informer.version = "1"  # an early version, which the server no longer keeps
            informer.api.create_namespaced_config_map("default", config_map("d"))
            lists = informer.lists
            informer.follow_until("d")
            assert informer.lists == lists + 1 and len(informer.objects) == 4


if __name__ == "__main__":
    assert kubernetes.__version__
    up.main(globals())
