#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two `berth scheduler` over connections with all kinds of faults, killed, stopped and restarted,
with an API server that restarts, nodes that change and pods of all shapes. When the faults end,
every pod is bound, no pod was bound twice, no node was ever overcommitted, and the two schedulers
wrote alternately only when the lease changed its holder.

Usage: scheduler_chaos.py BERTH plain|sanitized [--seconds N] [--seed N] [--rounds N]

The seed of each round is printed; the same seed makes the same plan, though not the same timing.
"""
import argparse
import bisect
import contextlib
import random
import re
import signal
import sys
import tempfile
import time
import traceback

import daemon_harness as harness
import fault_proxy
import scheduler_leaders as leaders
import up

NODES = 8
PODS_ALIVE_MAX = 150
ZONES = 3
NODE_MILLI = 4000
# Even seeds: one controller, which binds claims once the scheduler has chosen a volume. Odd seeds:
# all controllers, which also taint nodes without heartbeats and delete pods of deleted nodes.
CONTROLLERS = ["--controllers=persistentvolume-binder-controller", "--controllers=*"]
CLASSES = {"low": 10, "middle": 1000, "high": 100000}
CONFIG = dict(leaders.ELECTION, podInitialBackoffSeconds=1, podMaxBackoffSeconds=2)
# Limits of the daemon's requests per second. The first limit delays requests; -1 means no limit.
LIMITS = [{"qps": 20, "burst": 10}, {"qps": -1}, {"qps": -1}]
EXPECTED = {0, 1, -signal.SIGKILL}


def milli(item):
    total = 0
    for container in item["spec"]["containers"]:
        cpu = container["resources"]["requests"]["cpu"]
        total += int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000
    return total


class Witness(harness.Bindings):
    """Also sums the requests on each node, in the order of the server's events.

    A scheduler that does not get the answer to a binding counts the room of the pod as free until
    its watch reports the pod. So pods with such a binding do not count.
    """

    def __init__(self, api, sizes, unheard, note):
        self.sizes = sizes   # node -> milli CPU; a name keeps its size
        self.unheard = unheard  # names of pods whose binding's answer may be lost
        self.note = note
        self.on_node = {}    # node -> {uid: (name, milli CPU)}
        self.too_full = []
        self.alive = {}      # name -> pod
        super().__init__(api)

    def _see(self, item):
        super()._see(item)
        node, uid = harness.node_of(item), item["metadata"]["uid"]
        self.alive[item["metadata"]["name"]] = item
        if item["status"].get("phase") in ("Succeeded", "Failed"):
            self._gone(item)  # the pod does not run, for example because its node was deleted
        elif node and uid not in self.on_node.setdefault(node, {}):
            self.on_node[node][uid] = item["metadata"]["name"], milli(item)
            self.note("%s is on %s" % (item["metadata"]["name"], node))
            counted = {name: size for name, size in self.on_node[node].values()
                       if name not in self.unheard}
            if sum(counted.values()) > self.sizes[node]:
                self.too_full.append("%s with %s at %f, %s: %r" % (
                    node, item["metadata"]["name"], time.monotonic(),
                    time.strftime("%X", time.gmtime()), counted))

    def _gone(self, item):
        node, uid = harness.node_of(item), item["metadata"]["uid"]
        self.on_node.get(node, {}).pop(uid, None)
        self.note("%s is gone" % item["metadata"]["name"])
        self.alive.pop(item["metadata"]["name"], None)

    def _listed(self, items):
        """A list follows a break of the watch, which may have missed deletions: removes the pods
        that are not in the list."""
        self.note("all pods are listed")
        uids = {item["metadata"]["uid"] for item in items}
        for pods in self.on_node.values():
            for uid in set(pods) - uids:
                del pods[uid]
        self.alive = {item["metadata"]["name"]: item for item in items}

    def check(self):
        super().check()
        assert not self.too_full, self.too_full


class Replica:
    """Runs one daemon after the other behind one proxy."""

    def __init__(self, scene, slot):
        self.scene = scene
        self.slot = slot
        self.starts = []  # when each generation was started
        self.rng = random.Random(scene.seed * 10 + slot)
        self.fault = None
        self.proxy = fault_proxy.FaultProxy(scene.api, self._policy)
        self.daemon = None
        self.logs = []
        self.stopped_until = None
        self.start()

    def _policy(self, request):
        if request.is_binding:
            return self._binding(request)
        fault = self.fault
        return fault(request) if fault is not None else None

    def _binding(self, request):
        name = request.path.split("/")[-2]
        fault = self.fault(request) if self.fault is not None else None
        # The request of a killed daemon may be read after the next daemon has started, but its
        # connection was accepted before.
        generation = bisect.bisect(self.starts, request.connected_at)
        self.scene.bindings.append((request.at, self.slot, generation, name))
        self.scene.note("r%d-%d binds %s, %s" % (
            self.slot, generation, name, type(fault).__name__))
        if fault is not None and not isinstance(fault, (fault_proxy.Delay, fault_proxy.Answer)):
            self.scene.unheard.add(name)
        return fault

    @property
    def generation(self):
        return len(self.starts)

    def start(self):
        self.starts.append(time.monotonic())
        self.scene.note("r%d-%d starts" % (self.slot, self.generation))
        self.daemon = harness.Daemon(
            self.scene.program, self.scene.folder, self.scene.api,
            # A preemptor whose last victim ends early may wait until this flush (spec 08 section
            # 11.3); the default of 5 minutes is too long for this test.
            "--pod-max-in-unschedulable-pods-duration", "20s", proxy=self.proxy,
            config=dict(CONFIG, clientConnection=self.rng.choice(LIMITS)),
            name="r%d-%d" % (self.slot, self.generation))
        self.logs.append(self.daemon)
        self.memory = None
        self.started = time.monotonic()

    def end(self, number):
        self.wake()
        self.scene.note("r%d-%d gets %d" % (self.slot, self.generation, number))
        is_young = time.monotonic() - self.started < 2  # the process may not handle signals yet
        status = self.daemon.stop(number, 60)
        assert status in (0, 1) or status == -number and (
            is_young or number == signal.SIGKILL), self.daemon.ended()

    def pause(self, seconds):
        if self.rng.random() < 0.5:
            # The process stops while its requests wait for TLS handshakes.
            self.proxy.stall(0.5)
            time.sleep(0.3)
        self.scene.note("r%d-%d stops for %f" % (self.slot, self.generation, seconds))
        self.daemon.process.send_signal(signal.SIGSTOP)
        self.stopped_until = time.monotonic() + seconds

    def wake(self):
        if self.stopped_until is not None:
            self.scene.note("r%d-%d goes on" % (self.slot, self.generation))
            self.daemon.process.send_signal(signal.SIGCONT)
            self.stopped_until = None

    def tick(self):
        if self.stopped_until is not None and time.monotonic() >= self.stopped_until:
            self.wake()
        if not self.daemon.is_running():
            # A daemon that loses its lease exits, and its supervisor restarts it.
            status = self.daemon.stop()
            assert status in EXPECTED, self.daemon.ended()
            self.start()
        elif self.memory is None and time.monotonic() - self.started > 15:
            self.memory = harness.memory_bytes(self.daemon.process, "VmRSS")

    def change_line(self):
        self.fault = self._choose()
        if self.rng.random() < 0.3:
            self.scene.forget_answers()
            self.proxy.cut_everything()

    def _choose(self):
        rng, fault = self.rng, fault_proxy
        expired = fault.status_body(410, "Expired", "too old resource version: 1 (2)")
        busy = fault.status_body(429, "TooManyRequests", "too many requests")
        broken = fault.status_body(500, "InternalError", "it hurts")

        def some(chance, make, applies=lambda request: True):
            return lambda request: (
                make() if applies(request) and rng.random() < chance else None)
        # Delays of writes stay below the 1 s that another replica needs to take over.
        return rng.choice([
            None, None,
            some(0.2, lambda: fault.CutWithin(rng.randrange(1, 3000))),
            some(0.2, fault.CutBefore),
            some(0.8, lambda: fault.CutAfter(rng.uniform(0.05, 2)),
                 lambda request: request.is_watch),
            some(0.6, lambda: fault.Answer(410, expired),
                 lambda request: request.is_watch and "sendInitialEvents" not in request.query),
            some(0.4, lambda: fault.Answer(429, busy, {"Retry-After": "1"})),
            some(0.4, lambda: fault.Answer(500, broken)),
            some(0.5, lambda: fault.Delay(rng.uniform(0, 0.6)),
                 lambda request: not request.is_watch),
            some(0.3, fault.LoseAnswer, lambda request: request.is_binding),
            some(0.3, fault.LoseAnswer, lambda request: request.method != "GET"),
            some(1.0, fault.CutBefore),
        ])


class Scene:
    def __init__(self, program, stack, seed):
        self.program = program
        self.seed = seed
        self.rng = random.Random(seed)
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.api = stack.enter_context(harness.server(program, CONTROLLERS[seed % 2]))
        self.bindings = []  # (when, replica, its generation, pod)
        self.unheard = set()
        self.notes = []  # log of actions, to find the cause of a failure
        self.sizes = {}
        self.nodes = set()
        self.count = 0
        self.groups = 0
        self.gated = []
        for name, value in CLASSES.items():
            self.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
                "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                "metadata": {"name": name}, "value": value})
        self.create("/apis/storage.k8s.io/v1/storageclasses", {
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": "late"}, "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": "WaitForFirstConsumer"})
        for i in range(NODES):
            self.add_node(i)
        self.witness = Witness(self.api, self.sizes, self.unheard, self.note)
        self.replicas = []
        for slot in range(2):
            self.replicas.append(Replica(self, slot))
        stack.callback(self.finish)

    def finish(self):
        for replica in self.replicas:
            if replica.daemon.is_running():
                replica.wake()
                replica.daemon.stop(signal.SIGKILL)
            replica.proxy.close()

    def forget_answers(self):
        """Adds the pods that were bound in the last two seconds to self.unheard, because the daemon
        may not get the answers to these bindings."""
        self.unheard.update(
            name for at, _, _, name in self.bindings if at > time.monotonic() - 2)

    def note(self, text):
        self.notes.append("%f %s" % (time.monotonic(), text))

    # --- objects ---

    def create(self, path, document):
        harness.change(self.api, "POST", path, document)

    def patch_node(self, index, document):
        harness.change(self.api, "PATCH", "/api/v1/nodes/n%d" % index, document)

    def add_node(self, index, cpu_milli=NODE_MILLI):
        name = "n%d" % index
        self.note(name + " is added")
        self.sizes[name] = cpu_milli
        resources = {"cpu": "%dm" % cpu_milli, "memory": "64Gi", "pods": "500"}
        self.create("/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {
                "kubernetes.io/hostname": name, "disk": self.rng.choice(["ssd", "hdd"]),
                "topology.kubernetes.io/zone": "z%d" % (index % ZONES)}}})
        harness.change(self.api, "PATCH", "/api/v1/nodes/%s/status" % name, {
            "status": {"allocatable": resources, "capacity": resources}})
        self.patch_node(index, {"spec": {"taints": None}})
        self.nodes.add(index)

    def new_claim(self, name):
        """Makes a claim and the only volume for the claim, in a random zone."""
        zone = "z%d" % self.rng.randrange(ZONES)
        self.create("/api/v1/persistentvolumes", {
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v-" + name},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                     "storageClassName": "late", "hostPath": {"path": "/v"},
                     "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                         {"key": "topology.kubernetes.io/zone", "operator": "In",
                          "values": [zone]}]}]}}}})
        self.create("/api/v1/namespaces/default/persistentvolumeclaims", {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "late",
                     "resources": {"requests": {"storage": "1Gi"}}}})

    def shape(self, name):
        """Makes labels and a spec; every spec can be satisfied with enough nodes."""
        rng = self.rng
        group = "g%d" % rng.randrange(6)
        selector = {"labelSelector": {"matchLabels": {"group": group}}}
        zone = dict(selector, topologyKey="topology.kubernetes.io/zone")
        kind = rng.choice(["plain", "plain", "selector", "zone", "apart", "spread", "soft",
                           "gate", "priority", "priority", "priority", "claim"])
        if kind == "selector":
            return {}, {"nodeSelector": {"disk": rng.choice(["ssd", "hdd"])}}
        if kind == "zone":
            return {"group": group}, {"affinity": {"podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [zone]}}}
        if kind == "apart":
            # Up to three successive pods share a label and must be on different nodes.
            self.groups += 1
            apart = {"apart": "a%d" % (self.groups // 3)}
            return apart, {"affinity": {"podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{
                    "labelSelector": {"matchLabels": apart},
                    "topologyKey": "kubernetes.io/hostname"}]}}}
        if kind in ("spread", "soft"):
            return {"group": group}, {"topologySpreadConstraints": [dict(
                zone, maxSkew=rng.randrange(1, 3), whenUnsatisfiable=(
                    "DoNotSchedule" if kind == "spread" else "ScheduleAnyway"))]}
        if kind == "gate":
            self.gated.append(name)
            return {}, {"schedulingGates": [{"name": "example.com/wait"}]}
        if kind == "priority":
            return {}, {"priorityClassName": rng.choice(sorted(CLASSES))}
        if kind == "claim":
            self.new_claim("c-" + name)
            return {}, {"volumes": [{"name": "v", "persistentVolumeClaim": {
                "claimName": "c-" + name}}]}
        return {"group": group}, {}

    # --- what happens ---

    def add_pod(self):
        self.count += 1
        name = "p%d" % self.count
        labels, spec = self.shape(name)
        document = harness.pod(name, "%dm" % self.rng.choice([100, 200, 300, 700, 1500]),
                               terminationGracePeriodSeconds=0, **spec)
        document["metadata"]["labels"] = labels
        self.create(harness.PODS, document)

    def delete(self, name):
        self.note("%s is deleted" % name)
        self.api.request("DELETE", harness.PODS + "/" + name)

    def delete_pod(self):
        names = sorted(self.witness.alive)
        if names:
            self.delete(self.rng.choice(names))

    def open_gate(self):
        if self.gated:
            name = self.gated.pop(self.rng.randrange(len(self.gated)))
            self.api.request(
                "PATCH", harness.PODS + "/" + name, b'{"spec":{"schedulingGates":null}}',
                headers={"Content-Type": "application/merge-patch+json"})

    def change_pods(self):
        dice = self.rng.random()
        if len(self.witness.alive) > PODS_ALIVE_MAX or dice < 0.3:
            self.delete_pod()
        elif dice < 0.4:
            self.open_gate()
        else:
            self.add_pod()

    def change_nodes(self):
        rng = self.rng
        index = rng.randrange(NODES)
        if index not in self.nodes:
            self.add_node(index)
            return
        dice = rng.random()
        if dice < 0.15:
            self.note("n%d is deleted" % index)
            self.api.request("DELETE", "/api/v1/nodes/n%d" % index)
            self.nodes.discard(index)
        elif dice < 0.3:
            self.patch_node(index, {"metadata": {"labels": {"disk": rng.choice(["ssd", "hdd"])}}})
        elif dice < 0.45:
            effect = rng.choice(["NoSchedule", "PreferNoSchedule"])
            self.patch_node(index, {"spec": {"taints": [
                {"key": "example.com/t", "value": "1", "effect": effect}]}})
        elif dice < 0.6:
            self.patch_node(index, {"spec": {"unschedulable": True}})
            for name, item in sorted(self.witness.alive.items()):
                if harness.node_of(item) == "n%d" % index:
                    self.delete(name)
        else:
            self.patch_node(index, {"spec": {"taints": None, "unschedulable": None}})

    def change_replicas(self):
        replica = self.rng.choice(self.replicas)
        dice = self.rng.random()
        if dice < 0.5:
            replica.change_line()
        elif dice < 0.6:
            replica.end(signal.SIGKILL)
        elif dice < 0.7:
            replica.end(signal.SIGTERM)
        elif replica.stopped_until is None and dice < 0.85:
            replica.pause(self.rng.uniform(0.2, 8))

    def restart_server(self):
        number = self.rng.choice([signal.SIGKILL, signal.SIGTERM])
        self.note("the server gets %d" % number)
        self.api.stop(number)
        self.forget_answers()
        time.sleep(self.rng.uniform(0, 1))
        self.api.start()
        self.note("the server is back")
        for replica in self.replicas:
            replica.proxy.set_server(self.api)

    def run(self, seconds):
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            dice = self.rng.random()
            if dice < 0.85:
                self.change_pods()
            elif dice < 0.93:
                self.change_nodes()
            elif dice < 0.99:
                self.change_replicas()
            elif self.rng.random() < 0.5:
                self.restart_server()
            for replica in self.replicas:
                replica.tick()
            time.sleep(self.rng.uniform(0, 0.06))

    # --- the end ---

    def end_trouble(self):
        """Ends all faults, and makes room for every pod."""
        for replica in self.replicas:
            replica.fault = None
            replica.wake()
        for index in range(NODES):
            if index not in self.nodes:
                self.add_node(index)
            self.patch_node(index, {"spec": {"taints": None, "unschedulable": None}})
        for index in range(NODES, NODES + 2 * ZONES):
            self.add_node(index, 60000)
            self.patch_node(index, {"metadata": {"labels": {
                "disk": "ssd" if index < NODES + ZONES else "hdd"}}})
        while self.gated:
            self.open_gate()

    def wait_until_quiet(self):
        def waiting():
            for replica in self.replicas:
                replica.tick()
            return [item for item in harness.list_pods(self.api) if not harness.node_of(item)]
        try:
            up.wait_for("every pod has a node", lambda: not waiting(),
                        240 if self.program.sanitized else 120)
        except AssertionError:
            left = waiting()
            for item in left:
                print(item["metadata"]["name"], item["spec"], item["status"])
            raise AssertionError("never bound: %s" % " ".join(
                item["metadata"]["name"] for item in left)) from None

    def print_about(self, text):
        """Prints the log lines about the pods and nodes that the text of a failure names."""
        names = {'"%s"' % name for name in re.findall(r"\bn\d+", text)}
        names |= {'"default/%s"' % name for name in re.findall(r"\bp\d+", text)}
        for replica in self.replicas:
            for daemon in replica.logs:
                print("--- %s" % daemon.name)
                for line in daemon.output().splitlines():
                    if any(name in line for name in names):
                        print(line[:300])

    def check_turns(self):
        """Asserts that the binding replica changes only when the lease changes its holder."""
        owners = [(slot, generation) for _, slot, generation, _ in sorted(self.bindings)]
        turns = sum(1 for a, b in zip(owners, owners[1:]) if a != b)
        transitions = leaders.lease_of(self.api)["spec"]["leaseTransitions"]
        assert turns <= transitions, "%d turns with %d holders" % (turns, transitions)

    def check_dump(self, replica):
        time.sleep(1.5)
        before = len(replica.daemon.output())
        replica.daemon.process.send_signal(signal.SIGUSR2)
        up.wait_for("a dump", lambda: "Dump of scheduling queue" in
                    replica.daemon.output()[before:])
        assert "missedPods" not in replica.daemon.output()[before:], replica.daemon.output()[-4000:]

    def check_memory(self, replica):
        if replica.memory is None or self.program.sanitized:
            return
        now = harness.memory_bytes(replica.daemon.process, "VmRSS")
        assert now < replica.memory + (12 << 20), "from %d to %d bytes" % (replica.memory, now)

    def check(self):
        self.wait_until_quiet()
        self.witness.finish()
        self.check_turns()
        leader = up.wait_for("a leader", lambda: [
            replica for replica in self.replicas
            if "Successfully acquired lease" in replica.daemon.output()])[0]
        self.check_dump(leader)
        for replica in self.replicas:
            self.check_memory(replica)
            status = replica.daemon.stop(signal.SIGTERM)
            assert status == 0, replica.daemon.ended()
            for daemon in replica.logs:
                text = daemon.output()
                for word in ("AddressSanitizer", "runtime error", "BERTH_VERIFY", "assertion"):
                    assert word not in text, text[-6000:]


def run_round(program, seed, seconds):
    with contextlib.ExitStack() as stack:
        scene = Scene(program, stack, seed)
        try:
            scene.run(seconds)
            scene.end_trouble()
            scene.check()
        except BaseException as error:
            for replica in scene.replicas:
                print("--- %s\n%s" % (replica.daemon.name, replica.daemon.output()[-4000:]))
            print("\n".join(scene.notes))
            scene.print_about(str(error))
            traceback.print_exc(file=sys.stdout)
            raise
        victims = {request.path for replica in scene.replicas
                   for request in replica.proxy.requests if request.method == "DELETE"}
        return "%d pods, %d binding requests, %d victims, %d processes, %d transitions" % (
            len(scene.witness.at), len(scene.bindings), len(victims),
            sum(replica.generation for replica in scene.replicas),
            leaders.lease_of(scene.api)["spec"]["leaseTransitions"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("berth")
    parser.add_argument("mode", choices=["plain", "sanitized"])
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    program = up.Program(options.berth, options.mode)
    for seed in range(options.seed, options.seed + options.rounds):
        print("seed %d" % seed, flush=True)
        print(run_round(program, seed, options.seconds), flush=True)
    print("%d passed, 0 failed" % options.rounds)


if __name__ == "__main__":
    main()
