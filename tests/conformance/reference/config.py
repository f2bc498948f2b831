# SPDX-License-Identifier: Apache-2.0
"""The plugins of a KubeSchedulerConfiguration's first profile (specification 02 8, 10 6)."""

# Default plugins with their weights, in multiPoint order (02 8.2). Plugins that do not affect
# decisions are left out.
DEFAULT_PLUGINS = [
    ('NodeUnschedulable', 0), ('NodeName', 0), ('TaintToleration', 3), ('NodeAffinity', 2), ('NodePorts', 0), ('NodeResourcesFit', 1),
    ('VolumeRestrictions', 0), ('NodeVolumeLimits', 0), ('VolumeBinding', 0), ('VolumeZone', 0), ('PodTopologySpread', 2),
    ('InterPodAffinity', 2), ('DynamicResources', 2), ('DefaultPreemption', 0), ('NodeResourcesBalancedAllocation', 1), ('ImageLocality', 1), ('NodeDeclaredFeatures', 0)]
LEFT_OUT = ('SchedulingGates', 'PrioritySort', 'DefaultBinder')
POINTS = ('preFilter', 'filter', 'postFilter', 'preScore', 'score', 'reserve')


def _names(plugin_set, member):
    return [(p['name'], p.get('weight') or 0) for p in (plugin_set or {}).get(member) or [] if p['name'] not in LEFT_OUT]


def merge(default, custom):
    """Merge a user's multiPoint set into the default set (02 8.3)."""
    enabled, disabled = _names(custom, 'enabled'), [name for name, _ in _names(custom, 'disabled')]
    merged, used = [], set()
    if '*' not in disabled:
        for name, weight in default:
            if name in disabled:
                continue
            own = [i for i, entry in enumerate(enabled) if entry[0] == name]
            used.update(own[-1:])
            merged.append(enabled[own[-1]] if own else (name, weight))
    return merged + [entry for i, entry in enumerate(enabled) if i not in used]


def expand(multi_point, custom, implements):
    """The plugins of one extension point, in order (02 8.5)."""
    explicit, disabled = _names(custom, 'enabled'), [name for name, _ in _names(custom, 'disabled')]
    names = [name for name, _ in explicit]
    if '*' in disabled:
        return names
    multi = [name for name, _ in multi_point if implements(name) and name not in disabled]
    overrides = [name for name in names if name in multi]
    return overrides + [name for name in multi if name not in names] + [name for name in names if name not in multi]


class Profile:
    """Plugin names per point, weights and arguments."""

    def __init__(self, configuration, implements):
        """implements(plugin name, point): whether the plugin implements the extension point."""
        document = ((configuration or {}).get('profiles') or [{}])[0]
        plugins = document.get('plugins') or {}
        multi_point = merge(DEFAULT_PLUGINS, plugins.get('multiPoint'))
        self.points = {point: expand(multi_point, plugins.get(point), lambda name: implements(name, point)) for point in POINTS}
        self.weights = {}
        for name, weight in _names(plugins.get('score'), 'enabled') + multi_point:       # spec 02 8.6: the first entry counts
            self.weights.setdefault(name, weight or 1)
        self.arguments = {c['name']: c.get('args') or {} for c in document.get('pluginConfig') or []}
