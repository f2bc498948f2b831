# SPDX-License-Identifier: Apache-2.0
"""Cases of the other categories with unusual values, and with members of other categories."""
import copy

ZONE, HOST = 'topology.kubernetes.io/zone', 'kubernetes.io/hostname'
PRIORITIES = [-2147483648, -1, 0, 1, 1000000000, 2000001000, 2147483647]
FEATURES = ['Another', 'RestartAllContainersOnContainerExits', 'UserNamespacesHostNetworkSupport', 'Zoo']
BASES = ['mixed', 'spread', 'spread_default', 'podaffinity', 'preempt', 'evict', 'odd', 'resize', 'ports_images', 'resources', 'taints', 'nodeaffinity',
         'volumes', 'binding', 'devices', 'devices', 'dra', 'churn']


class Unusual:
    def __init__(self, g, nodes):
        self.g, self.r, self.p, self.nodes = g, g.r, g.p, nodes

    def pick(self, *choices): return self.r.choice(choices)
    def some(self, items, chance): return [x for x in items if self.p(chance)]

    def selector(self):
        """A label selector, rarely one that does not parse."""
        x = self.r.random()
        if x < .5:
            return self.g.lsel()
        if x < .6:
            return {}
        if x < .7:
            return {'matchExpressions': [{'key': self.pick('app', 'ver', 'none'), 'operator': self.pick('NotIn'), 'values': ['web']}]}
        if x < .78:
            return {'matchExpressions': [{'key': self.pick('app', 'none'), 'operator': 'DoesNotExist'}]}
        if x < .9:
            return {'matchLabels': {self.pick('app', 'ver'): self.pick('web', 'v1', '')}, 'matchExpressions': [{'key': 'app', 'operator': 'In',
                                                                                                    'values': ['web', 'web', 'db']}]}
        if x < .97:
            return {'matchLabels': {}, 'matchExpressions': []}
        return {'matchExpressions': [self.pick({'key': 'app', 'operator': 'in', 'values': ['web']}, {'key': 'app', 'operator': 'In', 'values': []},
                                               {'key': 'app', 'operator': 'Exists', 'values': ['x']}, {'key': '', 'operator': 'NotIn', 'values': []},
                                               {'key': 'a/b/c', 'operator': 'In', 'values': ['no value', 'x' * 64]}, {'key': 'App/x', 'operator': 'Exists'})]}

    # --- nodes

    def node(self, n):
        labels, spec, status = n['metadata']['labels'], n['spec'], n['status']
        if self.p(.1): labels.pop(self.pick(HOST, ZONE), None)
        if self.p(.15): labels[self.pick(ZONE, HOST, 'disk')] = self.pick('', 'a', 'same')
        if self.p(.03): n['metadata'].pop('labels')
        if self.p(.2):
            spec['taints'] = [{'key': self.pick('ded', 'gpu', 'sla'), 'effect': self.pick('NoSchedule', 'PreferNoSchedule', 'NoExecute', 'Other'),
                               'value': self.pick('', 'a', '10'),
                               **({'timeAdded': '2026-01-01T00:00:00Z'} if self.p(.5) else {})} for _ in range(self.pick(1, 2, 3))]
        allocatable = status['allocatable']
        if self.p(.1): allocatable.pop(self.pick('cpu', 'memory', 'pods', 'ephemeral-storage'), None)
        if self.p(.1): allocatable[self.pick('cpu', 'memory', 'ephemeral-storage', 'pods')] = self.pick('0', '1m', '1', '100m')
        if self.p(.3):
            for name in self.r.sample(['example.com/foo', 'hugepages-2Mi', 'hugepages-1Gi', 'attachable-volumes-x', 'kubernetes.io/batch', 'requests.example.com/x',
                                       'foo',
                                       'Example.com/x', 'a.b/c/d', 'storage'], self.r.randint(1, 4)):
                allocatable[name] = self.pick('0', '1', '2', '1500m', '4Mi')
        if self.p(.3):
            status['images'] = [{'names': self.r.sample(['nginx', 'nginx:latest', 'docker.io/library/redis:7', 'registry.k8s.io/pause:3.10', 'img.example/app:v1',
                                                         'img.example/app@sha256:' + 'a' * 64], 2),
                                 'sizeBytes': self.pick(0, 1 << 20, 25 << 20, 900 << 20, 3 << 30, 9223372036854775807)} for _ in range(self.pick(1, 2, 3))]

        if self.p(.3): status['declaredFeatures'] = self.r.sample(FEATURES, self.r.randint(0, 3))

    # --- pods

    def spread(self):
        found = []
        for _ in range(self.pick(1, 1, 2, 3)):
            c = {'maxSkew': self.pick(1, 1, 1, 2, 5, 2147483647), 'topologyKey': self.pick(ZONE, ZONE, HOST, 'disk', 'nowhere'),
                 'whenUnsatisfiable': self.pick('DoNotSchedule', 'DoNotSchedule', 'ScheduleAnyway', 'ScheduleAnyway',
                                                'Other') if self.p(.1) else self.pick('DoNotSchedule', 'ScheduleAnyway')}
            if self.p(.92): c['labelSelector'] = self.selector()
            if self.p(.3): c['minDomains'] = self.pick(1, 2, 3, 5, 100)
            if self.p(.4): c['matchLabelKeys'] = self.r.sample(['app', 'ver', 'none'], self.r.randint(1, 2))
            if self.p(.4): c['nodeAffinityPolicy'] = self.pick('Honor', 'Ignore', 'Ignore', 'Other')
            if self.p(.5): c['nodeTaintsPolicy'] = self.pick('Honor', 'Honor', 'Ignore', 'Other')
            found.append(c)
        return found

    def term(self):
        t = {'topologyKey': self.pick(ZONE, ZONE, HOST, 'disk', 'nowhere', 'topology.kubernetes.io/region')}
        if self.p(.93): t['labelSelector'] = self.selector()
        x = self.r.random()
        if x < .2: t['namespaces'] = self.r.sample(['default', 'prod', 'dev', 'gone'], self.r.randint(1, 2))
        if .1 < x < .5:
            t['namespaceSelector'] = self.pick({}, {'matchLabels': {'team': 'red'}}, {'matchExpressions': [{'key': 'team', 'operator': 'NotIn', 'values': ['red']}]},
                                               {'matchExpressions': [{'key': 'team', 'operator': 'DoesNotExist'}]},
                                               {'matchExpressions': [{'key': 'team', 'operator': 'Exists'}]})
        if self.p(.2): t['matchLabelKeys'] = ['ver']
        if self.p(.1): t['mismatchLabelKeys'] = ['app']
        return t

    def pod_affinity(self):
        found = {}
        for kind in self.some(['podAffinity', 'podAntiAffinity'], .6):
            d = {}
            if self.p(.5): d['requiredDuringSchedulingIgnoredDuringExecution'] = [self.term() for _ in range(self.pick(0, 1, 1, 2))]
            if self.p(.5): d['preferredDuringSchedulingIgnoredDuringExecution'] = [{'weight': self.pick(1, 50, 100, 0, -5),
                                                                                    'podAffinityTerm': self.term()} for _ in range(self.pick(0, 1, 1, 2))]
            found[kind] = d
        return found

    def node_term(self):
        t = {}
        if self.p(.8):
            t['matchExpressions'] = []
            for _ in range(self.pick(0, 1, 1, 2)):
                operator = self.pick('In', 'In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt')
                e = {'key': self.pick('tier', 'disk', ZONE, HOST, 'gpu', 'bad key', 'a/b/c', '/x', 'x/', '') if self.p(.2) else self.pick('tier', 'disk', ZONE,
                                                                                                    HOST), 'operator': operator if self.p(.97) else 'Near'}
                if operator in ('In', 'NotIn'): e['values'] = self.pick(['1', '10'], ['ssd'], ['a', 'b'], [''], ['a' * 64], ['bad value'], [])
                if operator in ('Gt', 'Lt'): e['values'] = self.pick(['2'], ['0'], ['007'], ['+3'], ['-3'], ['9223372036854775808'], ['1', '2'], [])
                if operator == 'Exists' and self.p(.1): e['values'] = ['x<&>"']
                t['matchExpressions'].append(e)
        if self.p(.2):
            t['matchFields'] = [{'key': self.pick('metadata.name', 'metadata.name', 'metadata.namespace', 'spec.x'),
                                 'operator': self.pick('In', 'In', 'NotIn', 'Exists', 'Gt'),
                                 'values': self.pick([self.r.choice(self.nodes)['metadata']['name']], [''], ['x'], [self.nodes[0]['metadata']['name'], 'y'],
                                                     [])} for _ in range(self.pick(1, 1, 2))]
        return t

    def node_affinity(self):
        a = {}
        if self.p(.6): a['requiredDuringSchedulingIgnoredDuringExecution'] = {'nodeSelectorTerms': [self.node_term() for _ in range(self.pick(0, 1, 1, 2, 3))]}
        if self.p(.6): a['preferredDuringSchedulingIgnoredDuringExecution'] = [{'weight': self.pick(1, 10, 100, 0, 2147483647, -7),
                                                                                'preference': self.node_term()} for _ in range(self.pick(0, 1, 1, 2))]
        return a

    def tolerations(self):
        return [{**({'key': self.pick('ded', 'gpu', 'sla', '')} if self.p(.85) else {}), **({'operator': self.pick('Exists', 'Equal', '', 'Gt', 'Lt',
                                                                                                    'Other')} if self.p(.7) else {}),
                 **({'value': self.pick('a', '10', '5', '')} if self.p(.5) else {}), **({'effect': self.pick('NoSchedule', 'PreferNoSchedule', 'NoExecute',
                                                                                                    '')} if self.p(.6) else {}),
                 **({'tolerationSeconds': self.pick(0, 30, -1)} if self.p(.2) else {})} for _ in range(self.pick(1, 1, 2, 3))]

    def ports(self):
        return [{'containerPort': 80, 'hostPort': self.pick(80, 80, 443, 0, -1), **({'protocol': self.pick('TCP', 'UDP', 'SCTP', '')} if self.p(.7) else {}),
                 **({'hostIP': self.pick('', '0.0.0.0', '::', '127.0.0.1', '10.0.0.1', '127.0.00.1')} if self.p(.5) else {})} for _ in range(self.pick(1, 1, 2))]

    def requests(self):
        return {name: self.pick('0', '1', '2', '500m', '1Mi', '4Mi', '100m', '-1') for name in
                self.r.sample(['cpu', 'memory', 'ephemeral-storage', 'example.com/foo', 'hugepages-2Mi', 'hugepages-1Gi', 'attachable-volumes-x',
                               'kubernetes.io/batch',
                               'requests.example.com/x', 'foo', 'Example.com/x', 'a.b/c/d', 'pods', 'storage'], self.r.randint(0, 5))}

    def disk(self):
        x = self.r.random()
        if x < .25: return {'gcePersistentDisk': {'pdName': self.pick('d1', 'd2'), 'readOnly': self.p(.5)}}
        if x < .45: return {'awsElasticBlockStore': {'volumeID': self.pick('vol-1', 'aws://z/vol-1', 'aws://z/bad')}}
        if x < .6: return {'rbd': {'monitors': self.r.sample(['m1', 'm2', 'm3'], self.r.randint(1, 2)), 'image': self.pick('i', 'j'),
                                   **({'pool': 'p'} if self.p(.5) else {}), 'readOnly': self.p(.5)}}
        if x < .75: return {'iscsi': {'targetPortal': 't', 'iqn': self.pick('q1', 'q2'), 'lun': 0, 'readOnly': self.p(.5)}}
        if x < .85: return {'azureDisk': {'diskName': 'd', 'diskURI': self.pick('u1', 'u2'), **({'kind': self.pick('Managed', 'Shared')} if self.p(.5) else {})}}
        if x < .9: return {'cinder': {'volumeID': 'c1'}}
        if x < .95: return {'image': {'reference': self.pick('nginx', 'docker.io/library/redis:7')}}
        return {'emptyDir': {}}

    def pod(self, p, is_bound):
        spec, status = p['spec'], p.setdefault('status', {})
        if self.p(.2): spec['priority'] = self.pick(*PRIORITIES)
        if self.p(.05): spec.pop('priority', None)
        if self.p(.15): spec['topologySpreadConstraints'] = self.spread()
        if self.p(.2): spec['affinity'] = {**(spec.get('affinity') or {}), **self.pod_affinity()}
        if self.p(.12): spec['affinity'] = {**(spec.get('affinity') or {}), 'nodeAffinity': self.node_affinity()}
        if self.p(.25): spec['tolerations'] = self.tolerations()
        if self.p(.1): spec['nodeSelector'] = self.pick({}, {'disk': 'ssd'}, {'disk': ''}, {ZONE: 'a'}, {'bad key': 'x'})
        for c in self.some(spec['containers'], .12): c['ports'] = self.ports()
        for c in self.some(spec['containers'], .15): c['resources'] = {'requests': self.requests()}
        if self.p(.15):
            spec['initContainers'] = [{'name': 'u%d' % i, 'image': self.pick('nginx', 'docker.io/library/redis:7'), 'resources': {'requests': self.requests()},
                                       **({'restartPolicy': self.pick('Always', 'Always', 'OnFailure')} if self.p(.6) else {}),
                                       **({'ports': self.ports()} if self.p(.3) else {})} for i in range(self.pick(1, 2, 3))]
        if self.p(.1): spec['resources'] = {'requests': self.requests()}
        if self.p(.1): spec['overhead'] = self.requests()
        if self.p(.06): spec.update(hostNetwork=True, hostUsers=self.p(.3))
        for c in self.some(spec['containers'], .04): c['restartPolicyRules'] = [{'action': self.pick('RestartAllContainers', 'Restart')}]
        if self.p(.12): spec.setdefault('volumes', []).extend({'name': 'w%d' % i, **self.disk()} for i in range(self.pick(1, 1, 2)))
        if is_bound:
            if self.p(.05): p['metadata'].update(deletionTimestamp='2026-01-02T00:00:00Z', finalizers=['x/y'])
            if self.p(.05): status['conditions'] = [{'type': 'DisruptionTarget', 'status': self.pick('True', 'True', 'False'),
                                                     'reason': self.pick('PreemptionByScheduler', 'EvictionByEvictionAPI')}]
            if self.p(.1): status['startTime'] = self.pick('2026-01-01T00:00:00Z', '2025-12-31T23:59:59Z', '2026-01-01T01:00:00+01:00')
        elif 'nominatedNodeName' not in status and self.p(.04):
            status['nominatedNodeName'] = self.r.choice(self.nodes)['metadata']['name']
            if self.p(.2): status['nominatedNodeName'] = 'gone'
        if not is_bound and self.p(.03): spec['preemptionPolicy'] = self.pick('Never', 'PreemptLowerPriority', 'Other')
        if not is_bound and self.p(.02): spec['containers'] = []
        if self.p(.2): p['metadata']['labels'] = {**(p['metadata'].get('labels') or {}), 'ver': self.pick('v1', 'v2', '')}
        if self.p(.03): p['metadata'].pop('labels', None)

    # --- other objects

    def budget(self, b):
        if self.p(.3): b['spec']['selector'] = self.selector()
        if self.p(.1): b['spec'].pop('selector', None)
        if self.p(.2): b['status']['disruptionsAllowed'] = self.pick(-1, 0, 1, 2147483647)

    def volume(self, v):
        spec = v['spec']
        if self.p(.1): spec['nodeAffinity'] = self.pick({}, {'required': {'nodeSelectorTerms': []}},
                                                        {'required': {'nodeSelectorTerms': [self.node_term() for _ in range(self.pick(1, 2))]}})
        if self.p(.05): spec['volumeMode'] = self.pick('Block', 'Filesystem', '')
        if self.p(.05): spec.pop('volumeMode', None)
        if self.p(.05): spec['volumeAttributesClassName'] = self.pick('gold', '')
        if self.p(.05): spec['capacity'] = self.pick({}, {'storage': '0'}, {'storage': '1Ei'}, {'storage': '1500m'})
        if self.p(.05): v['metadata'].setdefault('annotations', {})['volume.beta.kubernetes.io/storage-class'] = self.pick('wait', 'fast', 'local', '')
        if self.p(.1): v['metadata'].setdefault('labels', {})[self.pick(ZONE, 'failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/region',
                                                                        'failure-domain.beta.kubernetes.io/region')] = \
            self.pick('a', 'a__b', 'a__', '', ' a __ b', 'r1')

    def claim(self, c):
        spec = c['spec']
        if self.p(.05): spec['selector'] = self.selector()
        if self.p(.05): spec['volumeMode'] = self.pick('Block', '')
        if self.p(.05): spec['volumeAttributesClassName'] = self.pick('gold', '')
        if self.p(.05): spec['resources'] = self.pick({}, {'requests': {}}, {'requests': {'storage': '0'}}, {'requests': {'storage': '1Ei'}})
        if self.p(.05): spec['accessModes'] = self.pick([], ['ReadWriteOncePod'], ['ReadWriteOnce', 'ReadOnlyMany'])
        if self.p(.05): c['metadata'].setdefault('annotations', {})['volume.beta.kubernetes.io/storage-class'] = self.pick('wait', 'fast', 'local', '', 'missing')
        if self.p(.03): c['metadata'].setdefault('annotations', {})['volume.kubernetes.io/selected-node'] = self.pick('', 'gone')

    def storage_class(self, c):
        if self.p(.05): c.pop('volumeBindingMode', None)
        if self.p(.1): c['allowedTopologies'] = self.pick([], [{}], [{'matchLabelExpressions': [{'key': ZONE, 'values': ['a']}]},
                                                                     {'matchLabelExpressions': [{'key': 'disk', 'values': ['ssd', 'hdd']}]}],
                                                          [{'matchLabelExpressions': [{'key': ZONE, 'values': ['a', 'b']}, {'key': 'disk', 'values': ['ssd']}]}])

    def storage_capacity(self, c):
        if self.p(.2): c['nodeTopology'] = self.pick({}, {'matchExpressions': [{'key': ZONE, 'operator': 'In', 'values': ['a', 'c']}]},
                                                     {'matchExpressions': [{'key': 'disk', 'operator': 'DoesNotExist'}]})
        if self.p(.05): c.pop('nodeTopology', None)
        if self.p(.1): c.pop('capacity', None)
        if self.p(.1): c['maximumVolumeSize'] = self.pick('0', '2Gi', '1Ei')

    def csi_node(self, n):
        for d in self.some(n['spec'].get('drivers') or [], .15): d['allocatable'] = self.pick({}, {'count': 0}, {'count': 1}, {'count': 2147483647})
        if self.p(.1): n['metadata'].setdefault('annotations', {})['storage.alpha.kubernetes.io/migrated-plugins'] = \
            self.pick('', 'kubernetes.io/aws-ebs', 'kubernetes.io/gce-pd,kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/cinder,kubernetes.io/portworx-volume')

    # --- devices

    def amount(self): return self.pick('0', '1', '2', '3', '4', '6', '0.5', '1500m', '2500m', '1Ki', '1Mi', '4Gi', '1n', '9223372036854775807')

    def slice(self, s):
        spec = s['spec']
        for d in self.some(spec.get('devices') or [], .35):
            for c in (d.get('capacity') or {}).values():
                if self.p(.5): c['value'] = self.amount()
                if self.p(.3):
                    c['requestPolicy'] = {**({'default': self.amount()} if self.p(.8) else {}),
                                          **self.pick({}, {'validValues': sorted({self.pick('1', '2', '3', '4', '1500m') for _ in range(3)})},
                                                      {'validRange': {'min': self.amount(), **({'max': self.amount()} if self.p(.5) else {}),
                                                                      **({'step': self.pick('1', '2', '3', '1500m')} if self.p(.5) else {})}},
                                                      {'validRange': {'max': self.amount()}})}
            if self.p(.2): d['allowMultipleAllocations'] = self.p(.8)
            if self.p(.2):
                d['taints'] = [{'key': self.pick('bad', 'old', ''), 'effect': self.pick('NoSchedule', 'NoExecute', 'None', 'PreferNoSchedule', ''),
                                **({'value': self.pick('v', '5')} if self.p(.6) else {}),
                                **({'timeAdded': '2026-01-01T00:00:00Z'} if self.p(.3) else {})} for _ in range(self.pick(1, 2))]
            if self.p(.2): d['attributes'] = {**(d.get('attributes') or {}), **{self.pick('model', 'example.com/model', 'gpu.example.com/model', 'index',
                                                                                          'numa'): self.pick({'string': 'a'}, {'int': 0},
                                                                                                    {'int': -9223372036854775808}, {'bool': True},
                                                                                                    {'version': '1.0.0'}, {'string': ''})}}
            for c in self.some(d.get('consumesCounters') or [], .3):
                for x in c['counters'].values(): x['value'] = self.amount()
        for c in self.some(spec.get('sharedCounters') or [], .3):
            for x in c['counters'].values(): x['value'] = self.amount()
        if self.p(.05): spec['pool']['generation'] = self.pick(0, -1, 9223372036854775807)
        if self.p(.05) and spec.get('nodeSelector'): spec['nodeSelector'] = self.pick({'nodeSelectorTerms': []}, {'nodeSelectorTerms': [{}]},
                                                                                      {'nodeSelectorTerms': [self.node_term(), self.node_term()]},
                                                                                      {'nodeSelectorTerms': [self.node_term()]})

    def device_class(self, c):
        if self.p(.1): c['spec']['config'] = [{'opaque': {'driver': 'gpu.example.com', 'parameters': self.pick({'k': 1}, {}, {'k': [1, {'z': None}]})}}]

    def part(self, q):
        """Change a request of a claim, or an alternative."""
        if self.p(.1): q['count'] = self.pick(1, 2, 32, 33, 9223372036854775807)
        if self.p(.03): q['allocationMode'] = self.pick('', 'Some', 'All')
        if self.p(.2): q['tolerations'] = [{**({'key': self.pick('bad', 'old', '')} if self.p(.8) else {}),
                                            **({'operator': self.pick('Exists', 'Equal', '', 'Gt', 'Other')} if self.p(.8) else {}),
                                            **({'value': self.pick('v', '1')} if self.p(.5) else {}),
                                            **({'effect': self.pick('NoSchedule', 'NoExecute', 'None', '')} if self.p(.5) else {}),
                                            **({'tolerationSeconds': self.pick(0, 5)} if self.p(.2) else {})} for _ in range(self.pick(1, 2))]
        if self.p(.2): q['capacity'] = {'requests': {self.pick('memory', 'cores', 'absent') if self.p(.3) else 'memory': self.amount() for _ in range(self.pick(0, 1,
                                                                                                    2))}}
        if self.p(.02): q['selectors'] = [{}]
        if self.p(.02): q['deviceClassName'] = self.pick('', 'gone')

    def resource_claim(self, c):
        devices = (c['spec'].get('devices') or {})
        for r in self.some(devices.get('requests') or [], .4):
            for q in [r['exactly']] if 'exactly' in r else r.get('firstAvailable') or []: self.part(q)
            if self.p(.02) and 'firstAvailable' in r: r['firstAvailable'] = []
        if self.p(.05): devices.setdefault('constraints', []).append(self.pick({}, {'matchAttribute': 'nodomain'},
                                                                               {'matchAttribute': 'gpu.example.com/numa',
                                                                                'distinctAttribute': 'gpu.example.com/index'}, {'matchAttribute': 'example.com/model'}, {'distinctAttribute': 'example.com/model'}))
        if self.p(.02): c['spec'] = {}
        if self.p(.02): c['spec'] = {'devices': {}}

    def config(self):
        """Arguments of one plugin that the other categories leave at their defaults."""
        x = self.r.random()
        if x < .3:
            constraints, seen = [], set()
            for c in self.spread():
                c.pop('labelSelector', None)
                if (c['topologyKey'], c['whenUnsatisfiable']) not in seen and c['whenUnsatisfiable'] != 'Other':
                    seen.add((c['topologyKey'], c['whenUnsatisfiable']))
                    constraints.append(c)
            return self.g.cfg('PodTopologySpread', {'defaultConstraints': constraints, 'defaultingType': 'List'})
        if x < .5:
            return self.g.cfg('InterPodAffinity', {'hardPodAffinityWeight': self.pick(0, 1, 100), 'ignorePreferredTermsOfExistingPods': self.p(.6)})
        if x < .7:
            return self.g.cfg('NodeAffinity', {'addedAffinity': self.g.node_affinity(self.nodes)})
        if x < .9:
            return self.g.cfg('NodeResourcesFit', {'ignoredResources': self.r.sample(['example.com/foo', 'hugepages-2Mi', 'cpu', 'kubernetes.io/batch'], 2),
                                                   'ignoredResourceGroups': self.pick([], ['example.com', 'kubernetes.io']),
                                                   'scoringStrategy': {'type': self.pick('LeastAllocated', 'MostAllocated'),
                                                                       'resources': [{'name': n, 'weight': self.pick(1, 100)} for n in
                                                                       self.r.sample(['cpu', 'memory', 'pods', 'foo', 'example.com/foo', 'hugepages-1Gi',
                                                                                      'kubernetes.io/batch', 'ephemeral-storage'], 3)]}})
        return self.g.cfg('DefaultPreemption', {'minCandidateNodesPercentage': self.pick(1, 100), 'minCandidateNodesAbsolute': 100})


def unusual(g, categories):
    """A case of a random category, changed. `categories`: name -> function that draws a case."""
    pending, config = categories[g.r.choice(BASES)](g)
    nodes = [o for o in g.objs if o['kind'] == 'Node']
    u = Unusual(g, nodes)
    changes = {'PodDisruptionBudget': u.budget, 'PersistentVolume': u.volume, 'PersistentVolumeClaim': u.claim, 'StorageClass': u.storage_class,
               'CSIStorageCapacity': u.storage_capacity, 'CSINode': u.csi_node, 'ResourceSlice': u.slice, 'DeviceClass': u.device_class,
               'ResourceClaim': u.resource_claim, 'Node': u.node, 'Pod': lambda p: u.pod(p, 'nodeName' in p['spec'])}
    for o in g.objs + [p for p in pending if 'op' not in p]:
        if o['kind'] in changes:
            changes[o['kind']](o)
    if not any(o['kind'] == 'Namespace' for o in g.objs) and g.p(.7):
        g.namespaces()
    if g.p(.3) and not any(o['kind'] == 'PodDisruptionBudget' for o in g.objs):
        for i in range(g.r.randint(1, 2)):
            g.add('policy/v1', 'PodDisruptionBudget', g.meta('more-%d' % i, 'default'), spec={'selector': u.selector(), 'minAvailable': 1},
                  status={'disruptionsAllowed': u.pick(-1, 0, 1)})
    if config is None and g.p(.3):
        config = u.config()
    if g.p(.3):                                 # the cluster changes between the pods
        steps = []
        for p in pending:
            steps.append(p)
            if g.p(.2) and not any('op' in s for s in pending):
                changed = copy.deepcopy(g.r.choice(nodes))
                changed['metadata'].setdefault('labels', {})
                u.node(changed)
                steps.append({'op': 'updateNode', 'node': changed})
            names = ['%s/%s' % (o['metadata']['namespace'], o['metadata']['name']) for o in g.objs + pending if o.get('kind') == 'Pod']
            if g.p(.3) and names:
                steps.append({'op': 'deletePod', 'pod': g.r.choice(names)})
        pending = steps
    return pending, config

