# SPDX-License-Identifier: Apache-2.0
"""A pod's scheduling cycle, as the vectors record it (specification 03, README of the vectors)."""
from . import plugins_node, plugins_topology, plugins_volume, status
from .cluster import Cluster, PodInfo
from .config import Profile
from .dra import DynamicResources
from .framework import Framework, Plugin, PluginError
from .preemption import DefaultPreemption, fit_error


def registry():
    """plugin name -> class (02 7)."""
    found = {c.__name__: c for module in (plugins_node, plugins_topology, plugins_volume) for c in vars(module).values()
             if isinstance(c, type) and issubclass(c, Plugin) and c is not Plugin}
    return {**found, 'DynamicResources': DynamicResources, 'DefaultPreemption': DefaultPreemption}


class Scheduler:
    def __init__(self, case):
        self.cluster, classes = Cluster(case['objects']), registry()
        profile = Profile(case.get('config'), lambda name, point: point in classes[name].points)
        plugins = {name: c(self.cluster, profile.arguments.get(name) or {}) for name, c in classes.items()}
        self.framework = Framework(self.cluster, profile, plugins)
        plugins['DefaultPreemption'].framework = self.framework

    def schedule(self, obj):
        """Run PreFilter, Filter on every node, PreScore, Score, assume, Reserve. If no node fits,
        run PostFilter (03 3)."""
        pod, framework, cluster = PodInfo(obj), self.framework, self.cluster
        cluster.refresh()
        out = {'pod': pod.key}
        result, state, names, narrowing = framework.run_pre_filter(pod)
        out['preFilter'] = result.to_json()
        count = len(cluster.snapshot())
        if result.rejected:
            out['message'] = fit_error(count, {}, result, result.message)
            out['postFilter'] = self.post_filter(state, pod, {}, result)
            return out
        if not result.ok:
            out['error'] = result.message
            return out

        nodes, absent = cluster.snapshot(), status.unresolvable()
        if names is not None:                   # spec 03 3.4
            nodes = [n for n in nodes if n.name in names]
            out['preFilterNodes'] = sorted(names)
            absent = status.unresolvable("node(s) didn't satisfy plugin(s) [%s]" % ' '.join(sorted(narrowing)))
        feasible, statuses = [], {}
        for node in nodes:
            result = framework.run_filter_with_nominated(state, pod, node)
            if result.ok:
                feasible.append(node)
            elif result.rejected:
                statuses[node.name] = result
            else:
                out['error'] = result.message
                break
        if statuses:
            out['filter'] = {name: {'code': s.code, 'plugin': s.plugin, 'reasons': s.reasons} for name, s in statuses.items()}
        if 'error' in out:
            if feasible:
                out['feasible'] = [n.name for n in feasible]
            return out
        if not feasible:
            out['message'] = fit_error(count, statuses, absent)
            out['postFilter'] = self.post_filter(state, pod, statuses, absent)
            return out

        out['feasible'] = [n.name for n in feasible]
        result = framework.run_pre_score(state, pod, feasible)
        out['preScore'] = result.to_json()
        if not result.ok:
            out['error'] = result.message
            return out
        try:
            scores = framework.run_score(state, pod, feasible)
        except PluginError as e:
            out['error'] = str(e)
            return out
        out['scores'] = {name: {'total': sum(by.values()), 'plugins': by} for name, by in scores.items()}
        highest = max(s['total'] for s in out['scores'].values())
        out['best'] = [n.name for n in feasible if out['scores'][n.name]['total'] == highest]
        out['selected'] = out['best'][0]

        placed = cluster.assume_pod(pod, out['selected'])       # spec 03 4
        result, writes = framework.run_reserve(state, pod, out['selected'])
        if not result.ok:
            out['reserve'] = {'code': result.code, 'reasons': result.reasons}
            cluster.nodes[out['selected']].remove(placed)
        elif writes:
            out['writes'] = writes
        return out

    def post_filter(self, state, pod, statuses, absent):
        """Run the PostFilter plugins in order. Join the reasons of plugins that did not help
        (02 5.5)."""
        reasons, nominated = [], None
        for plugin in self.framework.at('postFilter'):
            code, text, wanted, details = plugin.post_filter(state, pod, statuses, absent)
            if code == status.SUCCESS:
                return {'code': code, 'nominated': wanted, **details}
            if code == status.ERROR:
                return {'code': code, 'message': text}
            reasons.append(text)
            nominated = wanted if wanted is not None else nominated
        out = {'code': status.UNSCHEDULABLE, 'message': ', '.join(reasons)}
        if nominated is not None:
            out['nominated'] = nominated
        return out


def answer(case):
    """The answer for a case, in the format of the recorded answers."""
    scheduler, results = Scheduler(case), []
    for step in case['pending']:
        if 'op' in step:
            scheduler.cluster.apply(step)
            continue
        scheduler.cluster.asked = len(results) + 1
        out = scheduler.schedule(step)
        if case.get('brief'):
            out['feasibleCount'] = len(out.pop('feasible', []))
            out.pop('filter', None)
            out.get('postFilter', {}).pop('candidates', None)
            scores = out.pop('scores', None)
            if scores:
                out['bestTotal'] = max(s['total'] for s in scores.values())
        results.append(out)
    return {'name': case['name'], 'results': results}
