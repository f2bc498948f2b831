# SPDX-License-Identifier: Apache-2.0
"""DefaultPreemption as a PostFilter plugin (specification 08)."""
from . import objects, status
from .framework import Plugin
from .selectors import SelectorError, parse_label_selector, selector_matches

OFFSET = 2147483648     # added to each priority so that more victims always weigh more (08 10.2)


def fit_error(count, statuses, absent, pre_filter_message=''):
    """The text of a FitError (03 8). `absent`: status of the nodes not in `statuses` (03 3.4)."""
    head = '0/%d nodes are available:' % count
    if pre_filter_message:
        return '%s %s.' % (head, pre_filter_message)
    counts = {}
    for one in list(statuses.values()) + [absent] * (count - len(statuses)):
        for reason in one.reasons:
            counts[reason] = counts.get(reason, 0) + 1
    lines = sorted('%d %s' % (n, reason) for reason, n in counts.items())
    return head + (' ' + ', '.join(lines) + '.' if lines else '')


def is_preemption_in_progress(pod):
    """Whether the pod is a terminating victim of an earlier preemption (08 6)."""
    if not objects.is_being_deleted(pod.obj):
        return False
    for c in objects.status(pod.obj).get('conditions') or []:
        if c['type'] == 'DisruptionTarget':
            return c.get('status') == 'True' and c.get('reason') == 'PreemptionByScheduler'
    return False


class Candidate:
    def __init__(self, node, victims, violations):
        self.node, self.victims, self.violations = node, victims, violations

    def order(self):
        """The criteria in order. The candidate with the largest tuple is selected (08 10.2)."""
        highest = max(v.priority for v in self.victims)
        return (-self.violations, -self.victims[0].priority, -sum(v.priority + OFFSET for v in self.victims), -len(self.victims),
                min(objects.start_time(v.obj) for v in self.victims if v.priority == highest))

    def to_json(self):
        return {'node': self.node, 'victims': [v.key for v in self.victims], 'pdbViolations': self.violations}


class DefaultPreemption(Plugin):
    """Spec 08 sections 4 to 10.

    Examines every potential node: section 7 (limit on candidates, random offset) is left out.
    """
    points = ('postFilter',)
    framework = None

    def post_filter(self, state, pod, statuses, absent):
        """(code, message, nominated node or None, details) (08 5)."""
        reason = self.not_eligible(pod, statuses, absent)
        if reason:
            return status.UNSCHEDULABLE, 'preemption: ' + reason, None, {}
        nodes = self.cluster.snapshot()
        candidates, failed = [], {}
        for node in nodes:                      # spec 08 3.4, 8
            if statuses.get(node.name, absent).code != status.UNSCHEDULABLE:
                continue
            victims, violations, result = self.select_victims(state.clone(self.framework.plugins), pod, node.copy())
            if result.ok and victims:
                candidates.append(Candidate(node.name, victims, violations))
            elif result.ok:
                failed[node.name] = status.error('expected at least one victim pod on node "%s"' % node.name)
            else:
                failed[node.name] = result
        if not candidates:
            errors = list(dict.fromkeys(s.message for s in failed.values() if s.code == status.ERROR))
            if errors:
                return status.ERROR, 'preemption: ' + (errors[0] if len(errors) == 1 else '[%s]' % ', '.join(errors)), None, {}
            not_helpful = status.unresolvable('Preemption is not helpful for scheduling')
            return status.UNSCHEDULABLE, 'preemption: ' + fit_error(len(nodes), failed, not_helpful), '', {}
        best = max(c.order() for c in candidates)
        choices = sorted(c.node for c in candidates if c.order() == best)
        details = {'candidates': [c.to_json() for c in sorted(candidates, key=lambda c: c.node)], 'choices': choices}
        return status.SUCCESS, '', choices[0] if len(choices) == 1 else 'one of choices', details

    def not_eligible(self, pod, statuses, absent):
        """The reason why the pod may not preempt, or '' (08 6)."""
        if pod.spec.get('preemptionPolicy') == 'Never':
            return 'not eligible due to preemptionPolicy=Never.'
        nominated = objects.status(pod.obj).get('nominatedNodeName')
        if nominated and statuses.get(nominated, absent).code != status.UNRESOLVABLE:
            node = next((n for n in self.cluster.snapshot() if n.name == nominated), None)
            if node and any(v.priority < pod.priority and is_preemption_in_progress(v) for v in node.pods):
                return 'not eligible due to a terminating pod on the nominated node.'
        return ''

    def select_victims(self, state, pod, node):
        """(victims, PDB violations, status) (08 9). `node` is a private copy."""
        def take_off(v):
            node.remove(v)
            self.framework.run_update(state, pod, v, node, -1)

        def put_back(v):
            node.add(v)
            self.framework.run_update(state, pod, v, node, 1)

        def fits():
            return self.framework.run_filter_with_nominated(state, pod, node)

        removable = [v for v in node.pods if v.priority < pod.priority]
        for v in removable:
            take_off(v)
        if not removable:
            return [], 0, status.unresolvable('No preemption victims found for incoming pod')
        result = fits()
        if not result.ok:
            return [], 0, result
        objects.sort_by_importance(removable)
        violating, others = self.split_by_budget(removable)
        victims, violations = [], 0
        for v in violating + others:
            put_back(v)
            if not fits().ok:
                take_off(v)
                victims.append(v)
                violations += 1 if v in violating else 0
        if violating and others:
            objects.sort_by_importance(victims)
        return victims, violations, status.success()

    def split_by_budget(self, pods):
        """(pods whose eviction breaks a PodDisruptionBudget, the others) (08 9.1)."""
        budgets, violating, others = self.cluster.list('PodDisruptionBudget'), [], []
        allowed = [objects.status(b).get('disruptionsAllowed', 0) for b in budgets]
        for v in pods:
            violates = False
            for i, b in enumerate(budgets if v.labels else []):
                try:
                    selector = parse_label_selector(b['spec'].get('selector'))
                except SelectorError:
                    continue
                if (objects.namespace(b) == v.namespace and selector and selector_matches(selector, v.labels)
                        and v.name not in (objects.status(b).get('disruptedPods') or {})):
                    allowed[i] -= 1
                    violates |= allowed[i] < 0
            (violating if violates else others).append(v)
        return violating, others
