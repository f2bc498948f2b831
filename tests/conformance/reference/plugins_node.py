# SPDX-License-Identifier: Apache-2.0
"""Plugins that look at one node at a time (specification 05)."""
import math

from . import objects, quantity, resources, status
from .dra import is_via_claim
from .framework import Plugin, default_normalize
from .selectors import (SelectorError, is_tolerated, node_affinity, node_selector_matches, parse_preferred_terms, required_affinity_matches,
                        required_node_affinity, term_matches, untolerated_hard_taint)

MIB = 2**20


class NodeUnschedulable(Plugin):
    """Spec 05 section 7."""
    points = ('filter',)
    TAINT = {'key': 'node.kubernetes.io/unschedulable', 'effect': 'NoSchedule'}

    def filter(self, own, pod, node):
        if objects.spec(node.node).get('unschedulable') and not is_tolerated(self.TAINT, pod.tolerations):
            return status.unresolvable('node(s) were unschedulable')


class NodeName(Plugin):
    """Spec 05 section 6."""
    points = ('filter',)

    def filter(self, own, pod, node):
        if pod.spec.get('nodeName') and pod.spec['nodeName'] != node.name:
            return status.unresolvable("node(s) didn't match the requested node name")


class TaintToleration(Plugin):
    """Spec 05 section 8."""
    points = ('filter', 'preScore', 'score')

    def filter(self, own, pod, node):
        """Spec 05 section 8.1."""
        if untolerated_hard_taint(node.taints, pod.tolerations):
            return status.unresolvable('node(s) had untolerated taint(s)')

    def pre_score(self, state, pod, nodes):
        """Spec 05 section 8.2."""
        return status.success(), [t for t in pod.tolerations if t.get('effect', '') in ('', 'PreferNoSchedule')]

    def score(self, tolerations, pod, node):
        """Spec 05 section 8.2."""
        return sum(1 for t in node.taints if t.get('effect') == 'PreferNoSchedule' and not is_tolerated(t, tolerations))

    def normalize(self, own, nodes, scores):
        """Spec 05 section 8.2."""
        return default_normalize(scores, reverse=True)


class NodeAffinity(Plugin):
    """Spec 05 section 9."""
    points = ('preFilter', 'filter', 'preScore', 'score')

    def __init__(self, cluster, arguments):
        super().__init__(cluster, arguments)
        added = arguments.get('addedAffinity') or {}
        self.added_required = added.get('requiredDuringSchedulingIgnoredDuringExecution')
        self.added_preferred = added.get('preferredDuringSchedulingIgnoredDuringExecution') or None

    def pre_filter(self, state, pod):
        """Spec 05 section 9.2."""
        required = required_node_affinity(pod.obj)
        if required is None and self.added_required is None and pod.spec.get('nodeSelector') is None:
            return status.skip(), None, None
        names, terms = set(), (required or {}).get('nodeSelectorTerms') or []
        for term in terms:
            candidates = None
            for r in term.get('matchFields') or []:
                if r['key'] == 'metadata.name' and r['operator'] == 'In':
                    values = set(r.get('values') or [])
                    candidates = values if candidates is None else candidates & values
            if candidates is None:
                return status.success(), None, None
            names |= candidates
        if not terms:
            return status.success(), None, None
        if not names:
            return status.unresolvable('pod affinity terms conflict'), None, None
        return status.success(), None, names

    def filter(self, own, pod, node):
        """Spec 05 section 9.3."""
        if self.added_required is not None and not node_selector_matches(self.added_required, node.labels, node.name):
            return status.unresolvable("node(s) didn't match scheduler-enforced node affinity")
        if not required_affinity_matches(pod.obj, node.node):
            return status.unresolvable("node(s) didn't match Pod's node affinity/selector")

    def pre_score(self, state, pod, nodes):
        """Spec 05 section 9.4."""
        preferred = node_affinity(pod.obj).get('preferredDuringSchedulingIgnoredDuringExecution')
        if preferred is None and self.added_preferred is None:
            return status.skip(), None
        try:
            return status.success(), parse_preferred_terms(self.added_preferred or []) + parse_preferred_terms(preferred or [])
        except SelectorError as e:
            return status.error(str(e)), None

    def score(self, terms, pod, node):
        """Spec 05 section 9.4."""
        return sum(weight for weight, term in terms if term_matches(term, node.labels, node.name))

    def normalize(self, own, nodes, scores):
        """Spec 05 section 9.4."""
        return default_normalize(scores)


class NodePorts(Plugin):
    """Spec 05 section 10."""
    points = ('preFilter', 'filter')

    def pre_filter(self, state, pod):
        return (status.success() if pod.host_ports else status.skip()), None, None

    def filter(self, own, pod, node):
        if any(resources.ports_conflict(wanted, used) for wanted in pod.host_ports for used in node.used_ports):
            return status.unschedulable("node(s) didn't have free ports for the requested pod ports")


def scoring_resources(listed):
    """(name, weight) of the listed resources, or of the defaults (05 11.1, 12.1)."""
    return [(r['name'], r.get('weight') or 1) for r in listed or [{'name': 'cpu'}, {'name': 'memory'}]]


def scoring_inputs(amounts, node, names, nonzero):
    """(capacity, used, used with the pod, weight) of the resources that count (05 11.4)."""
    requests, requested = resources.to_integers(amounts), node.requested()
    if nonzero:
        requested = {**requested, **node.nonzero_requested()}
    inputs = []
    for name, weight in names:
        request, capacity = requests.get(name, 0), node.allocatable.get(name, 0)
        if name != 'pods' and capacity != 0 and not (request == 0 and resources.is_scalar(name)):
            used = requested.get(name, 0)
            inputs.append((capacity, used, quantity.wrap(used + request), weight))
    return inputs


class NodeResourcesFit(Plugin):
    """Spec 05 section 11."""
    points = ('preFilter', 'filter', 'preScore', 'score')

    def __init__(self, cluster, arguments):
        """Spec 05 section 11.1."""
        super().__init__(cluster, arguments)
        self.ignored, self.ignored_groups = arguments.get('ignoredResources') or [], arguments.get('ignoredResourceGroups') or []
        strategy = arguments.get('scoringStrategy') or {'type': 'LeastAllocated'}
        self.strategy, self.resources = strategy.get('type') or 'LeastAllocated', scoring_resources(strategy.get('resources'))
        shape = (strategy.get('requestedToCapacityRatio') or {}).get('shape') or []
        self.shape = [(p.get('utilization', 0), p.get('score', 0) * 10) for p in shape]

    def pre_filter(self, state, pod):
        """Spec 05 section 11.2."""
        requests = resources.to_integers(resources.pod_requests(pod.obj))
        return status.success(), {name: max(amount, 0) for name, amount in requests.items()}, None     # 01b 10, setMax

    def filter(self, requests, pod, node):
        """Spec 05 section 11.3."""
        reasons, hopeless, used = [], False, node.requested()
        if len(node.pods) + 1 > node.allocatable.get('pods', 0):
            reasons.append('Too many pods')
        for name in list(resources.STANDARD) + sorted(n for n in requests if resources.is_scalar(n)):
            request, capacity = requests.get(name, 0), node.allocatable.get(name, 0)
            ignored = resources.is_extended(name) and (name in self.ignored or name.split('/')[0] in self.ignored_groups)
            if request == 0 or ignored:
                continue
            if name not in resources.STANDARD and is_via_claim(self.cluster, name, node):
                continue
            if request > quantity.wrap(capacity - used.get(name, 0)):
                reasons.append('Insufficient ' + name)
                hopeless |= request > capacity
        if reasons:
            return status.unresolvable(*reasons) if hopeless else status.unschedulable(*reasons)

    def pre_score(self, state, pod, nodes):
        """Spec 05 section 11.6."""
        return status.success(), resources.pod_requests(pod.obj, pod_level=False, missing=resources.DEFAULT_REQUESTS)

    def on_shape(self, utilization):
        """The score for a utilization: linear between the points of the shape (05 3.9)."""
        points = self.shape
        if utilization <= points[0][0]:
            return points[0][1]
        for (u0, s0), (u1, s1) in zip(points, points[1:]):
            if utilization <= u1:
                return s0 + quantity.divide((s1 - s0) * (utilization - u0), u1 - u0)
        return points[-1][1]

    def score(self, amounts, pod, node):
        """Spec 05 section 11.5."""
        total, weights = 0, 0
        for capacity, _, requested, weight in scoring_inputs(amounts, node, self.resources, nonzero=True):
            if self.strategy == 'LeastAllocated':
                points = 0 if requested > capacity else quantity.divide(quantity.wrap(quantity.wrap(capacity - requested) * 100), capacity)
            elif self.strategy == 'MostAllocated':
                points = quantity.divide(quantity.wrap(min(requested, capacity) * 100), capacity)
            else:
                points = self.on_shape(100 if requested > capacity else quantity.divide(quantity.wrap(requested * 100), capacity))
                if points <= 0:
                    continue
            total, weights = quantity.wrap(total + points * weight), weights + weight
        if weights == 0:
            return 0
        if self.strategy == 'RequestedToCapacityRatio':
            return math.floor(float(total) / float(weights) + 0.5)
        return quantity.divide(total, weights)


class NodeResourcesBalancedAllocation(Plugin):
    """Spec 05 section 12."""
    points = ('preScore', 'score')

    def __init__(self, cluster, arguments):
        super().__init__(cluster, arguments)
        self.resources = scoring_resources(arguments.get('resources'))

    def pre_score(self, state, pod, nodes):
        """Spec 05 section 12.2."""
        amounts = resources.pod_requests(pod.obj, use_status=True)
        asked = [quantity.milli_value(amounts.get(n, 0)) if n == 'cpu' else quantity.value(amounts.get(n, 0)) for n, _ in self.resources]
        return (status.success(), amounts) if any(asked) else (status.skip(), None)

    def score(self, amounts, pod, node):
        """Spec 05 section 12.3."""
        inputs = scoring_inputs(amounts, node, self.resources, nonzero=False)
        before = self.balance([min(1.0, float(used) / float(capacity)) for capacity, used, _, _ in inputs])
        after = self.balance([min(1.0, float(requested) / float(capacity)) for capacity, _, requested, _ in inputs])
        return 50 + quantity.divide(50 + after - before, 2)

    @staticmethod
    def balance(fractions):
        """100 minus 100 times the standard deviation of the fractions (05 12.3)."""
        deviation = 0.0
        if len(fractions) == 2:
            deviation = abs((fractions[0] - fractions[1]) / 2)
        elif len(fractions) > 2:
            mean = 0.0
            for f in fractions:
                mean += f
            mean /= len(fractions)
            squares = 0.0
            for f in fractions:
                squares += (f - mean) * (f - mean)
            deviation = math.sqrt(squares / len(fractions))
        return quantity.truncate((1 - deviation) * 100)


class ImageLocality(Plugin):
    """Spec 05 section 13."""
    points = ('score',)

    def score(self, own, pod, node):
        """Spec 05 section 13.1."""
        containers = (pod.spec.get('initContainers') or []) + (pod.spec.get('containers') or [])
        names = [c.get('image', '') for c in containers] + [v['image'].get('reference', '') for v in pod.volumes if v.get('image')]
        total = 0
        count = sum(1 for n in self.cluster.nodes.values() if n.node is not None)
        for name in names:
            size, holders = node.image_states.get(name if name.rfind(':') > name.rfind('/') else name + ':latest', (0, 0))
            total = quantity.wrap(total + quantity.truncate(float(size) * (float(holders) / float(count))))
        low, high = 23 * MIB, 1000 * MIB * len(containers)
        total = low if total < low else min(total, high)
        return quantity.divide(100 * (total - low), high - low)


class NodeDeclaredFeatures(Plugin):
    """Spec 05 section 14."""
    points = ('preFilter', 'filter')
    KNOWN = ('ExtendWebSocketsToKubelet', 'InPlacePodLevelResourcesVerticalScaling', 'InPlacePodVerticalScalingInitContainers',
             'RestartAllContainersOnContainerExits', 'UserNamespacesHostNetworkSupport')

    def pre_filter(self, state, pod):
        required, containers = set(), (pod.spec.get('containers') or []) + (pod.spec.get('initContainers') or [])
        if any(r.get('action') == 'RestartAllContainers' for c in containers for r in c.get('restartPolicyRules') or []):
            required.add('RestartAllContainersOnContainerExits')
        if pod.spec.get('hostNetwork') and pod.spec.get('hostUsers') is False:
            required.add('UserNamespacesHostNetworkSupport')
        return (status.success() if required else status.skip()), required or None, None

    def filter(self, required, pod, node):
        """The scan of both lists expects that they are sorted."""
        declared, found, i = objects.status(node.node).get('declaredFeatures') or [], set(), 0
        for name in self.KNOWN:
            while i < len(declared) and declared[i] < name:
                i += 1
            if i < len(declared) and declared[i] == name:
                found.add(name)
                i += 1
        if not required <= found:
            return status.unresolvable("node(s) didn't match Pod's required features")
