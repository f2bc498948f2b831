# SPDX-License-Identifier: Apache-2.0
"""PodTopologySpread and InterPodAffinity, which look at pods of all nodes (specification 06)."""
import math

from . import objects, status
from .cluster import AffinityTerm
from .framework import Plugin
from .selectors import (SelectorError, conjunction, parse_label_selector, required_affinity_matches, selector_matches, untolerated_hard_taint)

HOSTNAME, ZONE = 'kubernetes.io/hostname', 'topology.kubernetes.io/zone'
MAX_INT32, MAX_INT64 = 2**31 - 1, 2**63 - 1
SYSTEM_DEFAULTS = [{'topologyKey': HOSTNAME, 'maxSkew': 3, 'whenUnsatisfiable': 'ScheduleAnyway'},
                   {'topologyKey': ZONE, 'maxSkew': 5, 'whenUnsatisfiable': 'ScheduleAnyway'}]      # spec 06 2.4


class Constraint:
    """A parsed topology spread constraint (06 2.3)."""

    def __init__(self, c, pod):
        self.key, self.max_skew = c['topologyKey'], c.get('maxSkew', 0)
        self.min_domains = 1 if c.get('minDomains') is None else c['minDomains']
        self.honors_affinity = c.get('nodeAffinityPolicy') in (None, 'Honor')
        self.honors_taints = c.get('nodeTaintsPolicy') == 'Honor'
        self.selector = parse_label_selector(c.get('labelSelector'))
        extra = {k: pod.labels[k] for k in c.get('matchLabelKeys') or [] if k in pod.labels}
        if extra and self.selector is not None:
            self.selector = self.selector + conjunction(extra)

    def counts_node(self, pod, node):
        """Whether pods on this node are counted (06 2.5)."""
        if self.honors_affinity and not required_affinity_matches(pod.obj, node.node):
            return False
        return not (self.honors_taints and untolerated_hard_taint(node.taints, pod.tolerations))

    def count(self, pod, node):
        """Number of matching pods on a node; 0 for an empty selector (06 2.6)."""
        if not self.selector:
            return 0
        return sum(1 for q in node.pods if not objects.is_being_deleted(q.obj) and q.namespace == pod.namespace and selector_matches(self.selector, q.labels))


def go_log(x):
    """Natural logarithm as the FreeBSD algorithm computes it (06 2.13)."""
    l1, l2, l3, l4 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01
    l5, l6, l7 = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01
    high, low = 6.93147180369123816490e-01, 1.90821492927058770002e-10
    fraction, exponent = math.frexp(x)
    if fraction <= 7.07106781186547524401e-01:
        fraction, exponent = fraction * 2, exponent - 1
    f, k = fraction - 1, float(exponent)
    s = f / (2 + f)
    s2 = s * s
    s4 = s2 * s2
    t1, t2 = s2 * (l1 + s4 * (l3 + s4 * (l5 + s4 * l7))), s4 * (l2 + s4 * (l4 + s4 * l6))
    half = 0.5 * f * f
    return k * high - ((half - (s * (half + (t1 + t2)) + k * low)) - f)


def round_half_away(x):
    whole = math.floor(abs(x))
    whole += 1 if abs(x) - whole >= 0.5 else 0
    return whole if x >= 0 else -whole


class PodTopologySpread(Plugin):
    """Spec 06 section 2."""
    points = ('preFilter', 'filter', 'preScore', 'score')
    has_extensions = True

    def __init__(self, cluster, arguments):
        """Spec 06 section 2.4."""
        super().__init__(cluster, arguments)
        self.system_defaults = (arguments.get('defaultingType') or 'System') == 'System'
        self.defaults = SYSTEM_DEFAULTS if self.system_defaults else arguments.get('defaultConstraints') or []

    def default_selector(self, pod):
        """Selector from the services and the controller of a pod (06 2.3)."""
        merged = {}
        for service in self.cluster.list('Service'):
            wanted = service['spec'].get('selector')
            if objects.namespace(service) == pod.namespace and wanted is not None and all(pod.labels.get(k) == v for k, v in wanted.items()):
                merged.update(wanted)
        selector = conjunction(merged)
        owner = objects.controller_of(pod.obj)
        if owner is None:
            return selector
        kind = (owner.get('apiVersion', ''), owner.get('kind'))
        found = self.cluster.get(owner.get('kind'), pod.namespace + '/' + owner['name'])
        if found and kind == ('v1', 'ReplicationController'):
            merged.update(found['spec'].get('selector') or {})
            return conjunction(merged)
        if found and kind in (('apps/v1', 'ReplicaSet'), ('apps/v1', 'StatefulSet')):
            try:
                return selector + (parse_label_selector(found['spec'].get('selector')) or [])
            except SelectorError:
                pass
        return selector

    def constraints(self, pod, action):
        """The pod's constraints, or the defaults if the pod has none (06 2.3)."""
        def parse(listed):
            return [Constraint(c, pod) for c in listed if c.get('whenUnsatisfiable') == action]
        own = pod.spec.get('topologySpreadConstraints') or []
        if own:
            return parse(own)
        defaults, selector = parse(self.defaults), self.default_selector(pod)
        if not selector:
            return []
        for c in defaults:
            c.selector = selector
        return defaults

    @staticmethod
    def has_all_keys(constraints, node):
        return all(c.key in node.labels for c in constraints)

    def pre_filter(self, state, pod):
        """Count matching pods per domain (06 2.7)."""
        try:
            constraints = self.constraints(pod, 'DoNotSchedule')
        except SelectorError as e:
            return status.error("get constraints from pod: obtaining pod's hard topology spread constraints: %s" % e), None, None
        if not constraints:
            return status.skip(), None, None
        counts = [{} for _ in constraints]
        for node in self.cluster.snapshot():
            if self.has_all_keys(constraints, node):
                for c, per_domain in zip(constraints, counts):
                    if c.counts_node(pod, node):
                        domain = node.labels[c.key]
                        per_domain[domain] = per_domain.get(domain, 0) + c.count(pod, node)
        return status.success(), (constraints, counts), None

    def clone(self, own):
        return own[0], [dict(per_domain) for per_domain in own[1]]

    def update(self, own, pod, other, node, delta):
        """Spec 06 section 2.8."""
        constraints, counts = own
        if other.namespace != pod.namespace or not self.has_all_keys(constraints, node):
            return
        for c, per_domain in zip(constraints, counts):
            if selector_matches(c.selector, other.labels) and c.counts_node(pod, node):
                domain = node.labels[c.key]
                per_domain[domain] = per_domain.get(domain, 0) + delta

    def filter(self, own, pod, node):
        """Spec 06 section 2.9."""
        for c, per_domain in zip(*own):
            if c.key not in node.labels:
                return status.unresolvable("node(s) didn't match pod topology spread constraints (missing required label)")
            lowest = min(per_domain.values()) if per_domain else MAX_INT32
            if len(per_domain) < c.min_domains:
                lowest = 0
            itself = 1 if selector_matches(c.selector, pod.labels) else 0
            if per_domain.get(node.labels[c.key], 0) + itself - lowest > c.max_skew:
                return status.unschedulable("node(s) didn't match pod topology spread constraints")

    def pre_score(self, state, pod, nodes):
        """(status, data for Score or None) (06 2.10).

        The data is (constraints, ignored node names, counts per domain, weights).
        """
        every_key = bool(pod.spec.get('topologySpreadConstraints')) or not self.system_defaults
        try:
            constraints = self.constraints(pod, 'ScheduleAnyway')
        except SelectorError as e:
            return status.error("calculating preScoreState: obtaining pod's soft topology spread constraints: %s" % e), None
        if not constraints or not self.cluster.snapshot():
            return status.skip(), None
        ignored = {n.name for n in nodes if every_key and not self.has_all_keys(constraints, n)}
        counts = [{} for _ in constraints]
        for node in nodes:
            for c, per_domain in zip(constraints, counts):
                if node.name not in ignored and c.key != HOSTNAME:
                    per_domain.setdefault(node.labels.get(c.key, ''), 0)
        weights = []
        for c, per_domain in zip(constraints, counts):
            size = len(nodes) - len(ignored) if c.key == HOSTNAME else len(per_domain)
            weights.append(go_log(float(size + 2)))
        for node in self.cluster.snapshot():
            if every_key and not self.has_all_keys(constraints, node):
                continue
            for c, per_domain in zip(constraints, counts):
                domain = node.labels.get(c.key, '')
                if domain in per_domain and c.counts_node(pod, node):
                    per_domain[domain] += c.count(pod, node)
        return status.success(), (constraints, ignored, counts, weights)

    def score(self, own, pod, node):
        """Spec 06 section 2.11."""
        constraints, ignored, counts, weights = own
        if node.name in ignored:
            return 0
        total = 0.0
        for c, per_domain, weight in zip(constraints, counts, weights):
            if c.key in node.labels:
                count = c.count(pod, node) if c.key == HOSTNAME else per_domain[node.labels[c.key]]
                total = total + (float(count) * weight + float(c.max_skew - 1))
        return round_half_away(total)

    def normalize(self, own, nodes, scores):
        """Spec 06 section 2.12."""
        ignored = own[1]
        counted = [s for node, s in zip(nodes, scores) if node.name not in ignored]
        low, high = min(counted + [MAX_INT64]), max(counted + [0])
        return [0 if node.name in ignored else 100 if high == 0 else 100 * (high + low - s) // high for node, s in zip(nodes, scores)]


class AffinityState:
    """Counts per (topology key, value) (06 3.5)."""

    def __init__(self, affinity, anti_affinity, namespace_labels):
        self.affinity, self.anti_affinity, self.namespace_labels = affinity, anti_affinity, namespace_labels
        self.affinity_counts, self.anti_affinity_counts, self.existing_anti_affinity_counts = {}, {}, {}


class InterPodAffinity(Plugin):
    """Spec 06 section 3."""
    points = ('preFilter', 'filter', 'preScore', 'score')
    has_extensions = True

    def __init__(self, cluster, arguments):
        """Spec 06 section 3.10."""
        super().__init__(cluster, arguments)
        weight = arguments.get('hardPodAffinityWeight')
        self.hard_weight = 1 if weight is None else weight
        self.ignore_existing_preferences = bool(arguments.get('ignorePreferredTermsOfExistingPods'))

    def resolve(self, term):
        """Resolve the namespace selector of the incoming pod's term to names (06 3.4)."""
        if not term.namespace_selector:
            return term
        resolved = AffinityTerm.__new__(AffinityTerm)
        resolved.__dict__.update(term.__dict__)
        resolved.namespaces = term.namespaces | {objects.name(n) for n in self.cluster.list('Namespace')
                                                 if selector_matches(term.namespace_selector, objects.labels(n))}
        return resolved

    def pre_filter(self, state, pod):
        """Spec 06 section 3.5."""
        if pod.affinity_errors:
            errors = pod.affinity_errors
            return status.unresolvable('parsing pod: ' + (errors[0] if len(errors) == 1 else '[%s]' % ', '.join(errors))), None, None
        own = AffinityState([self.resolve(t) for t in pod.required_affinity], [self.resolve(t) for t in pod.required_anti_affinity],
                            self.cluster.namespace_labels(pod.namespace))
        for node in self.cluster.snapshot():
            for other in node.pods:
                self.update(own, pod, other, node, 1)
        if not own.existing_anti_affinity_counts and not own.affinity and not own.anti_affinity:
            return status.skip(), None, None
        return status.success(), own, None

    def clone(self, own):
        other = AffinityState(own.affinity, own.anti_affinity, own.namespace_labels)
        other.affinity_counts, other.anti_affinity_counts = dict(own.affinity_counts), dict(own.anti_affinity_counts)
        other.existing_anti_affinity_counts = dict(own.existing_anti_affinity_counts)
        return other

    def update(self, own, pod, other, node, delta):
        """Add another pod to the counts, or subtract it (06 3.5, 3.6)."""
        def count(counts, term):
            if term.topology_key in node.labels:
                pair = (term.topology_key, node.labels[term.topology_key])
                counts[pair] = counts.get(pair, 0) + delta
                if counts[pair] == 0:
                    del counts[pair]
        for term in other.required_anti_affinity:
            if term.matches(pod, own.namespace_labels):
                count(own.existing_anti_affinity_counts, term)
        if own.affinity and all(t.matches(other, {}) for t in own.affinity):
            for term in own.affinity:
                count(own.affinity_counts, term)
        for term in own.anti_affinity:
            if term.matches(other, {}):
                count(own.anti_affinity_counts, term)

    def filter(self, own, pod, node):
        """Spec 06 section 3.7."""
        satisfied = True
        for term in own.affinity:
            if term.topology_key not in node.labels:
                return status.unresolvable("node(s) didn't match pod affinity rules")
            satisfied &= own.affinity_counts.get((term.topology_key, node.labels[term.topology_key]), 0) > 0
        if not satisfied:
            first_of_its_kind = not own.affinity_counts and all(t.matches(pod, {}) for t in own.affinity)
            if not first_of_its_kind:
                return status.unresolvable("node(s) didn't match pod affinity rules")
        for term in own.anti_affinity:
            if own.anti_affinity_counts.get((term.topology_key, node.labels.get(term.topology_key)), 0) > 0:
                return status.unschedulable("node(s) didn't match pod anti-affinity rules")
        for pair in node.labels.items():
            if own.existing_anti_affinity_counts.get(pair, 0) > 0:
                return status.unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")

    def pre_score(self, state, pod, nodes):
        """Weights per (topology key, value) (06 3.8)."""
        if self.ignore_existing_preferences and not pod.has_preferred_affinity:
            return status.skip(), None
        affinity = [self.resolve(t) for t in pod.preferred_affinity]
        anti_affinity = [self.resolve(t) for t in pod.preferred_anti_affinity]
        namespace_labels, weights = self.cluster.namespace_labels(pod.namespace), {}
        for node in self.cluster.snapshot():
            def add(term, weight):
                if term.topology_key in node.labels:
                    pair = (term.topology_key, node.labels[term.topology_key])
                    weights[pair] = weights.get(pair, 0) + weight
            for other in node.pods if node.labels else []:
                if not pod.has_preferred_affinity and not other.has_affinity:
                    continue
                for term in affinity:
                    if term.matches(other, {}):
                        add(term, term.weight)
                for term in anti_affinity:
                    if term.matches(other, {}):
                        add(term, -term.weight)
                for term in other.required_affinity if self.hard_weight > 0 else []:
                    if term.matches(pod, namespace_labels):
                        add(term, self.hard_weight)
                for term in other.preferred_affinity:
                    if term.matches(pod, namespace_labels):
                        add(term, term.weight)
                for term in other.preferred_anti_affinity:
                    if term.matches(pod, namespace_labels):
                        add(term, -term.weight)
        return (status.success(), weights) if weights else (status.skip(), None)

    def score(self, weights, pod, node):
        """Spec 06 section 3.9."""
        return sum(weights.get(pair, 0) for pair in node.labels.items())

    def normalize(self, weights, nodes, scores):
        """Spec 06 section 3.9."""
        low, high = min(scores), max(scores)
        return [int(100.0 * (float(s - low) / float(high - low))) if high > low else 0 for s in scores]
