# SPDX-License-Identifier: Apache-2.0
"""Cluster state: pods, nodes, other objects, nominations (specification 01b 8 and 9, 03b)."""
from functools import cached_property

from . import objects, quantity, resources
from .selectors import SelectorError, parse_label_selector, selector_matches


class AffinityTerm:
    """A pod affinity or anti-affinity term (06 3.3)."""

    def __init__(self, pod, term, weight=0):
        self.selector = parse_label_selector(term.get('labelSelector'))
        self.namespace_selector = parse_label_selector(term.get('namespaceSelector'))
        self.namespaces = set(term.get('namespaces') or [])
        if not self.namespaces and term.get('namespaceSelector') is None:
            self.namespaces = {pod.namespace}
        self.topology_key, self.weight = term.get('topologyKey', ''), weight

    def matches(self, pod, namespace_labels):
        """Whether the term matches the pod (06 3.4).

        `namespace_labels`: the labels of the pod's namespace; {} if the term's namespace selector
        is resolved to names.
        """
        in_namespace = pod.namespace in self.namespaces or selector_matches(self.namespace_selector, namespace_labels)
        return in_namespace and selector_matches(self.selector, pod.labels)


class PodInfo:
    """A pod and the values that depend on the pod alone (01b 8)."""

    def __init__(self, obj):
        self.obj, self.spec = obj, obj['spec']
        self.name, self.namespace, self.uid, self.key = objects.name(obj), objects.namespace(obj), objects.uid(obj), objects.key(obj)
        self.labels, self.priority = objects.labels(obj), objects.priority(obj)
        self.volumes, self.tolerations = obj['spec'].get('volumes') or [], obj['spec'].get('tolerations') or []

    @cached_property
    def requests(self): return resources.to_integers(resources.pod_requests(self.obj, use_status=True))

    @cached_property
    def nonzero_requests(self): return resources.nonzero_requests(self.obj)

    @cached_property
    def host_ports(self): return resources.host_ports(self.obj)

    @cached_property
    def _terms(self):
        """The four groups of affinity terms and their parse errors (06 3.3)."""
        affinity, groups, errors = self.spec.get('affinity') or {}, {}, []
        for kind in ('podAffinity', 'podAntiAffinity'):
            anti = 'Anti' if kind == 'podAntiAffinity' else ''
            for strength in ('required', 'preferred'):
                terms = (affinity.get(kind) or {}).get(strength + 'DuringSchedulingIgnoredDuringExecution') or []
                try:
                    if strength == 'required':
                        parsed = [AffinityTerm(self, t) for t in terms]
                    else:
                        parsed = [AffinityTerm(self, t['podAffinityTerm'], t.get('weight', 0)) for t in terms]
                except SelectorError as e:
                    parsed = []
                    errors.append((strength, anti, '%s%sAffinityTerms: %s' % (strength, anti, e)))
                groups[strength, kind] = parsed
        return groups, errors

    @property
    def required_affinity(self): return self._terms[0]['required', 'podAffinity']

    @property
    def required_anti_affinity(self): return self._terms[0]['required', 'podAntiAffinity']

    @property
    def preferred_affinity(self): return self._terms[0]['preferred', 'podAffinity']

    @property
    def preferred_anti_affinity(self): return self._terms[0]['preferred', 'podAntiAffinity']

    @property
    def affinity_errors(self):
        """The parse errors of the terms: required before preferred, then affinity before
        anti-affinity (06 3.3)."""
        return [text for strength, _, text in sorted(self._terms[1], key=lambda e: (e[0] != 'required', e[1]))]

    @property
    def has_affinity(self):
        affinity = self.spec.get('affinity') or {}
        return affinity.get('podAffinity') is not None or affinity.get('podAntiAffinity') is not None

    @property
    def has_preferred_affinity(self):
        affinity, preferred = self.spec.get('affinity') or {}, 'preferredDuringSchedulingIgnoredDuringExecution'
        return any((affinity.get(kind) or {}).get(preferred) for kind in ('podAffinity', 'podAntiAffinity'))


class NodeInfo:
    """A node and its pods (01b 9).

    `node` is None while pods name a node that is deleted or not added yet.
    """

    def __init__(self, name):
        self.name, self.node, self.pods, self.used_ports = name, None, [], set()
        self.labels, self.taints, self.allocatable = {}, [], {}
        self.image_states, self.is_changed = {}, True

    def set_node(self, node):
        """Spec 01b section 9.4."""
        self.node, self.labels, self.is_changed = node, objects.labels(node), True
        self.taints = objects.spec(node).get('taints') or []
        self.allocatable = resources.to_integers(quantity.amount_map(objects.status(node).get('allocatable')))

    def copy(self):
        other = NodeInfo(self.name)
        other.__dict__.update(self.__dict__)
        other.pods, other.used_ports = list(self.pods), set(self.used_ports)
        return other

    def add(self, pod):
        """Spec 01b section 9.2."""
        self.pods.append(pod)
        self.is_changed = True
        self.used_ports.update(pod.host_ports)

    def remove(self, pod):
        """Move the last pod to the place of the removed pod. Free the ports of the removed pod,
        even those that another pod uses (01b 9.3)."""
        i = [p.uid for p in self.pods].index(pod.uid)
        self.is_changed = True
        self.pods[i] = self.pods[-1]
        self.pods.pop()
        self.used_ports.difference_update(pod.host_ports)

    def requested(self):
        """Sum of the pods' requests (01b 9.1)."""
        total = {}
        for pod in self.pods:
            for name, amount in pod.requests.items():
                total[name] = total.get(name, 0) + amount
        return {name: quantity.wrap(amount) for name, amount in total.items()}

    def nonzero_requested(self):
        """Sum of the pods' non-zero requests (01b 9.1)."""
        return {name: quantity.wrap(sum(p.nonzero_requests[name] for p in self.pods)) for name in ('cpu', 'memory')}


class AssumeError(Exception):
    """An object cannot be assumed."""


class Cluster:
    """All objects that the scheduler knows."""

    def __init__(self, listed):
        self.nodes, self.stores, self.nominated = {}, {}, {}
        self.images = {}        # image name -> (size of the first report, names of the nodes with it)
        self.asked = 0          # number of the current pod, for names of created claims
        self.assumed = {'PersistentVolume': {}, 'PersistentVolumeClaim': {}}
        pods = []
        for o in listed:
            if o['kind'] == 'Node':
                self.set_node(o)
            elif o['kind'] == 'Pod':
                pods.append(o)
            else:
                self.stores.setdefault(o['kind'], {})[objects.key(o)] = o
        for o in pods:
            if objects.status(o).get('phase') in ('Succeeded', 'Failed'):
                continue
            nominated = objects.status(o).get('nominatedNodeName')
            if o['spec'].get('nodeName'):
                self.node_info(o['spec']['nodeName']).add(PodInfo(o))
            elif nominated:
                self.nominated.setdefault(nominated, []).append(PodInfo(o))

    # --- nodes and pods

    def node_info(self, name):
        return self.nodes.setdefault(name, NodeInfo(name))

    def set_node(self, node):
        """Spec 03b sections 5.1 and 5.2."""
        info = self.node_info(objects.name(node))
        if info.node is not None:
            self.drop_images(info.node)
        for image in objects.status(node).get('images') or []:
            for name in image.get('names') or []:
                self.images.setdefault(name, (image.get('sizeBytes', 0), set()))[1].add(info.name)
        info.set_node(node)

    def drop_images(self, node):
        """Spec 03b section 5.4."""
        for image in objects.status(node).get('images') or []:
            for name in image.get('names') or []:
                holders = self.images.get(name, (0, set()))[1]
                holders.discard(objects.name(node))
                if not holders:
                    self.images.pop(name, None)

    def snapshot(self):
        """The existing nodes in name order (03b)."""
        return [self.nodes[name] for name in sorted(self.nodes) if self.nodes[name].node is not None]

    def refresh(self):
        """Before a cycle, count the holders of the images of each node that has changed (03b 4)."""
        for info in self.snapshot():
            if info.is_changed:
                names = {name for image in objects.status(info.node).get('images') or [] for name in image.get('names') or []}
                info.image_states = {name: (self.images[name][0], len(self.images[name][1])) for name in names}
                info.is_changed = False

    def apply(self, step):
        """Apply a change of the cluster between two pods (README of the vectors)."""
        if step['op'] == 'deletePod':
            for info in self.nodes.values():
                for pod in [p for p in info.pods if p.key == step['pod']]:
                    info.remove(pod)
        elif step['op'] in ('addNode', 'updateNode'):
            self.set_node(step['node'])
        elif step['op'] == 'deleteNode':
            info = self.nodes.get(step['name'])
            if info is not None and info.node is not None:
                self.drop_images(info.node)
            if info is not None and info.pods:
                info.node = None        # its pods stay until they are deleted
            elif info is not None:
                del self.nodes[step['name']]

    def assume_pod(self, pod, node_name):
        """Place a pod on a node (03 4)."""
        placed = PodInfo({**pod.obj, 'spec': {**pod.spec, 'nodeName': node_name}})
        self.node_info(node_name).add(placed)
        return placed

    # --- other objects

    def list(self, kind): return list(self.stores.get(kind, {}).values())
    def get(self, kind, key): return self.stores.get(kind, {}).get(key)

    def namespace_labels(self, namespace):
        found = self.get('Namespace', namespace)
        return objects.labels(found) if found else {}

    def view(self, kind, key):
        """The assumed version of an object, if there is one and the stored version has not changed
        since. Otherwise the stored version (07 3.1)."""
        stored, assumed = self.get(kind, key), self.assumed[kind].get(key)
        if stored is not None and assumed is not None and objects.resource_version(assumed) == objects.resource_version(stored):
            return assumed
        return stored

    def assume(self, kind, o):
        """Remember a version of an object that is not written yet (07 3.1)."""
        key, stored = objects.key(o), self.get(kind, objects.key(o))
        if stored is None:
            raise AssumeError('%ss "%s" not found' % (kind.lower(), key))
        have, want = objects.resource_version(stored), objects.resource_version(o)
        if have != want:
            raise AssumeError('"%s" is out of sync (stored: %s, assume: %s)' % (key, have, want))
        self.assumed[kind][key] = o
