# SPDX-License-Identifier: Apache-2.0
"""The base class of plugins, and the runners of the extension points (specification 02 3 to 5)."""
from . import status
from .quantity import divide


class PluginError(Exception):
    """A plugin could not answer. Becomes a status with code Error."""


class Plugin:
    """A plugin implements the extension points in `points`.

    `cluster` is the state. `arguments` has the plugin's arguments in the configuration.
    """
    points = ()
    has_extensions = False      # AddPod and RemovePod

    def __init__(self, cluster, arguments):
        self.cluster, self.arguments = cluster, arguments

    @property
    def name(self): return type(self).__name__

    def pre_filter(self, state, pod):
        """(status, own state, names of the nodes to search or None for all nodes)"""

    def clone(self, own): return own
    def update(self, own, pod, other, node, delta):
        """AddPod (delta 1) or RemovePod (delta -1) of `other` on `node`."""

    def filter(self, own, pod, node): """Status, or None for success."""
    def pre_score(self, state, pod, nodes): return status.success(), None
    def score(self, own, pod, node): return 0
    def normalize(self, own, nodes, scores): return scores


class CycleState:
    """The data that the plugins keep for one pod (02 3)."""

    def __init__(self, profile):
        self.profile, self.own, self.scoring, self.skip_filter = profile, {}, {}, set()

    def clone(self, plugins):
        other = CycleState(self.profile)
        other.own = {name: plugins[name].clone(own) for name, own in self.own.items()}
        other.skip_filter = self.skip_filter
        return other


class Framework:
    """The plugins of a profile, and how each point is run."""

    def __init__(self, cluster, profile, plugins):
        self.cluster, self.profile, self.plugins = cluster, profile, plugins

    def at(self, point):
        return [self.plugins[name] for name in self.profile.points[point]]

    def run_pre_filter(self, pod):
        """(status, state, node names or None, names of the plugins that narrowed) (02 5.1)."""
        state, names, narrowing = CycleState(self.profile), None, []
        for plugin in self.at('preFilter'):
            result, own, wanted = plugin.pre_filter(state, pod)
            if result.code == status.SKIP:
                state.skip_filter.add(plugin.name)
                if own is not None:
                    state.own[plugin.name] = own
                continue
            if own is not None:
                state.own[plugin.name] = own
            if result.code == status.UNRESOLVABLE:
                result.plugin = plugin.name
                return result, state, None, None
            if not result.ok:
                result = status.error('running PreFilter plugin "%s": %s' % (plugin.name, result.message))
                result.plugin = plugin.name
                return result, state, None, None
            if wanted is not None:
                narrowing.append(plugin.name)
                names = set(wanted) if names is None else names & set(wanted)
                if not names:
                    text = "node(s) didn't satisfy plugin %s" % narrowing[0]
                    if len(narrowing) > 1:
                        text = "node(s) didn't satisfy plugin(s) [%s] simultaneously" % ' '.join(sorted(narrowing))
                    return status.unresolvable(text), state, names, narrowing
        return status.success(), state, names, narrowing

    def run_update(self, state, pod, other, node, delta):
        """Run the AddPod extensions (delta 1) or the RemovePod extensions (delta -1) (02 5.2)."""
        for plugin in self.at('preFilter'):
            if plugin.has_extensions and plugin.name not in state.skip_filter:
                plugin.update(state.own[plugin.name], pod, other, node, delta)

    def run_filter(self, state, pod, node):
        """The status of the first Filter plugin that fails, or success (02 5.3)."""
        for plugin in self.at('filter'):
            if plugin.name in state.skip_filter:
                continue
            try:
                result = plugin.filter(state.own.get(plugin.name), pod, node) or status.success()
            except PluginError as e:
                result = status.error(str(e))
            if not result.ok:
                if not result.rejected:
                    result = status.error('running "%s" filter plugin: %s' % (plugin.name, result.message))
                result.plugin = plugin.name
                return result
        return status.success()

    def run_filter_with_nominated(self, state, pod, node):
        """Run Filter with the nominated pods of the node added, then without them (02 5.4)."""
        nominated = [q for q in self.cluster.nominated.get(node.name, []) if q.priority >= pod.priority and q.uid != pod.uid]
        if nominated:
            with_nominated, state_with = node.copy(), state.clone(self.plugins)
            for q in nominated:
                with_nominated.add(q)
                self.run_update(state_with, pod, q, with_nominated, 1)
            result = self.run_filter(state_with, pod, with_nominated)
            if not result.ok:
                return result
        return self.run_filter(state, pod, node)

    def run_pre_score(self, state, pod, nodes):
        """Return the first error, or success. state.scoring gets the PreScore data of the plugins
        that did not skip (02 5.6)."""
        state.scoring = {plugin.name: None for plugin in self.at('score')}
        for plugin in self.at('preScore'):
            try:
                result, own = plugin.pre_score(state, pod, nodes)
            except PluginError as e:
                result, own = status.error(str(e)), None
            if result.code == status.SKIP:
                state.scoring.pop(plugin.name, None)
            elif not result.ok:
                return status.error('running PreScore plugin "%s": %s' % (plugin.name, result.message))
            elif plugin.name in state.scoring:
                state.scoring[plugin.name] = own
        return status.success()

    def run_score(self, state, pod, nodes):
        """Returns {node name: {plugin: normalised score x weight}} (02 5.7)."""
        scores = {node.name: {} for node in nodes}
        for name, prepared in state.scoring.items():
            plugin = self.plugins[name]
            # DynamicResources scores from the data that its Filter stored
            own = state.own.get(name) if prepared is None else prepared
            raw = [plugin.score(own, pod, node) for node in nodes]
            for node, points in zip(nodes, plugin.normalize(own, nodes, raw)):
                scores[node.name][name] = points
        for node in nodes:
            for name, points in scores[node.name].items():
                if not 0 <= points <= 100:
                    raise PluginError('applying score defaultWeights on Score plugins: plugin "%s" returns an invalid score %d, '
                                      'it should in the range of [0, 100] after normalizing' % (name, points))
                scores[node.name][name] = points * self.profile.weights[name]
        return scores

    def run_reserve(self, state, pod, node_name):
        """(status, API writes that PreBind would make) (02 5.8)."""
        writes = []
        for plugin in self.at('reserve'):
            result, own_writes = plugin.reserve(state.own.get(plugin.name), pod, node_name)
            if not result.ok:
                return status.error('running Reserve plugin "%s": %s' % (plugin.name, result.message)), []
            writes += own_writes
        return status.success(), writes


def default_normalize(scores, reverse=False):
    """Scale scores to 0..100 by the largest. With `reverse`, the largest becomes 0 (05 3.8)."""
    largest = max([0] + scores)
    if largest == 0:
        return [100] * len(scores) if reverse else scores
    scaled = [divide(100 * s, largest) for s in scores]
    return [100 - s for s in scaled] if reverse else scaled
