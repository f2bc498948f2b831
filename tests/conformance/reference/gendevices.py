# SPDX-License-Identifier: Apache-2.0
"""Random devices and claims, in combinations that the recorded cases lack (specification 12)."""

DRIVERS = ['gpu.example.com', 'nic.example.com']
DOMAIN = 'device.attributes["%s"]'
CAPACITY = 'device.capacity["%s"]'
EXPRESSIONS = [
    'device.driver == "gpu.example.com"', 'device.allowMultipleAllocations', '!device.allowMultipleAllocations', '"model" in ' + DOMAIN,
    'has(' + DOMAIN + '.ecc) && ' + DOMAIN + '.ecc', DOMAIN + '.?index.orValue(7) > 0', 'has(' + DOMAIN + '.nope)', '"m" in ' + DOMAIN + ' || true',
    DOMAIN + '.model.startsWith("a") || true', '!("memory" in ' + CAPACITY + ') || ' + CAPACITY + '.memory.compareTo(quantity("4")) >= 0',
    '[1, 2].exists(i, i == ' + DOMAIN + '.?index.orValue(1))', DOMAIN + '.?model.orValue("a") in ["a", "b"]',
    # These expressions give an error on devices without the attribute or capacity.
    DOMAIN + '.model == "a"', DOMAIN + '.model in ["a", "b"]', DOMAIN + '.index % 2 == 0 || ' + DOMAIN + '.ecc', DOMAIN + '.nope == "x"',
    DOMAIN + '.version.isGreaterThan(semver("1.5.0"))', CAPACITY + '.memory.isGreaterThan(quantity("3"))',
    '("a" + "b").size() == 2 ? ' + DOMAIN + '.ecc : true', '1 / ' + DOMAIN + '.index == 1',
]
SAFE = 12
ZONE = 'topology.kubernetes.io/zone'
CONDITIONS = ['ready', 'attached']


class Devices:
    def __init__(self, g):
        self.is_extended = g.p(.3)
        self.g, self.r, self.p = g, g.r, g.p
        self.published, self.shares, self.held = [], 0, set()       # (slice spec, device)

    def pick(self, *choices): return self.r.choice(choices)

    # --- slices

    def attributes(self, driver):
        found = {}
        for name, draw, chance in (('model', lambda: {'string': self.pick('a', 'b', 'c')}, .85), ('index', lambda: {'int': self.r.randrange(3)}, .85),
                                   ('numa', lambda: {'int': self.r.randrange(2)}, .8), ('ecc', lambda: {'bool': self.p(.5)}, .8),
                                   ('version', lambda: {'version': self.pick('1.2.3', '2.0.0')}, .8)):
            if self.p(chance):
                found[name if self.p(.85) else driver + '/' + name] = draw()
        if self.p(.008):
            found['odd'] = {}
        if self.p(.4):
            found['example.com/rack'] = {'string': self.pick('x', 'y')}
        return found

    def policy(self):
        x = self.r.random()
        if x < .4:
            return None
        if x < .7:
            span = {'min': self.pick('0', '1', '2')}
            if self.p(.6):
                span['max'] = self.pick('3', '4', '6')
            if self.p(.5):
                span['step'] = self.pick('1', '2')
            return {'default': self.pick('0', '1', '2'), 'validRange': span}
        return {'default': self.pick('1', '2'), 'validValues': self.pick(['1', '2', '4'], ['2'], ['1', '3'])}

    def capacity(self, shareable):
        found = {}
        for name in ('memory', 'cores'):
            if self.p(.8):
                found[name] = {'value': self.pick('2', '4', '8', '4Gi' if name == 'memory' else '500m')}
                policy = self.policy() if shareable else None
                if policy:
                    found[name]['requestPolicy'] = policy
        return found

    def taints(self):
        return [{'key': self.pick('bad', 'old'), 'effect': self.pick('NoSchedule', 'NoExecute', 'None'), **({'value': 'v'} if self.p(.5) else {})}
                for _ in range(self.pick(1, 1, 2))]

    def node_selector(self, nodes):
        if self.p(.25):
            return {'nodeSelectorTerms': [{'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': [self.r.choice(nodes)['metadata']['name']]}]}]}
        return {'nodeSelectorTerms': [{'matchExpressions': [self.pick({'key': ZONE, 'operator': 'In', 'values': self.r.sample(['a', 'b', 'c'], 2)},
                                                                      {'key': 'disk', 'operator': 'Exists'}, {'key': 'arch', 'operator': 'NotIn', 'values': ['arm64']})
                                                            for _ in range(self.pick(1, 1, 2))]}]}

    def place(self, nodes, into):
        x = self.r.random()
        if x < .4:
            into['nodeName'] = self.r.choice(nodes)['metadata']['name']
        elif x < .7:
            into['allNodes'] = True
        else:
            into['nodeSelector'] = self.node_selector(nodes)

    def device(self, driver, name, nodes, per_device, counters):
        shareable = self.p(.25)
        found = {'name': name, 'attributes': self.attributes(driver), 'capacity': self.capacity(shareable)}
        if shareable:
            found['allowMultipleAllocations'] = True
        if self.p(.15):
            found['taints'] = self.taints()
        if self.p(.06):
            found['bindingConditions'], found['bindingFailureConditions'] = CONDITIONS[:self.pick(1, 2)], ['broken']
        if self.p(.1):
            found['bindsToNode'] = True
        if per_device:
            self.place(nodes, found)
        if counters and self.p(.7):
            found['consumesCounters'] = [{'counterSet': s, 'counters': {c: {'value': self.pick('1', '2', '3')} for c in self.r.sample(names, self.r.randint(1, len(names)))}}
                                         for s, names in self.r.sample(sorted(counters.items()), self.r.randint(1, len(counters)))]
            if self.p(.02):
                found['consumesCounters'][0]['counterSet'] = 'absent'
        return found

    def publish(self, name, spec):
        self.g.add('resource.k8s.io/v1', 'ResourceSlice', self.g.meta(name), spec=spec)
        self.published += [(spec, d) for d in spec.get('devices') or []]

    def pool(self, number, nodes):
        driver, pool = self.pick(*DRIVERS), self.pick('a', 'b', 'p%d' % number)
        if any((s['driver'], s['pool']['name']) == (driver, pool) for s, _ in self.published):
            return
        count, generation, per_device = self.pick(1, 1, 1, 2, 3), self.r.randint(1, 2), self.p(.2)
        counters = {'set-%d' % i: ['memory', 'slots'][:self.pick(1, 2)] for i in range(self.pick(1, 1, 2))} if self.p(.35) else {}
        where, devices = {}, 0
        self.place(nodes, where)
        stated = count + bool(counters)
        for i in range(count):
            if self.p(.06):
                continue                        # a slice is missing, so the pool is incomplete
            if self.p(.2):
                where = {}
                self.place(nodes, where)
            spec = {'driver': driver, 'pool': {'name': pool, 'generation': generation, 'resourceSliceCount': stated},
                    **({'perDeviceNodeSelection': True} if per_device else where), 'devices': []}
            for _ in range(self.r.randint(1, 3)):
                name = 'dev-%d' % (devices if not self.p(.015) else 0)
                spec['devices'].append(self.device(driver, name, nodes, per_device, counters))
                devices += 1
            self.publish('%s-slice-%d-%d' % (self.pick('x', 'y', 'z'), number, i), spec)
        if counters:
            spec = {'driver': driver, 'pool': {'name': pool, 'generation': generation, 'resourceSliceCount': stated},
                    'sharedCounters': [{'name': s, 'counters': {c: {'value': self.pick('2', '3', '5')} for c in names}} for s, names in counters.items()]}
            self.place(nodes, spec)
            self.publish('counters-%d' % number, spec)
        if self.p(.12):                         # a slice of the previous or next generation
            spec = {'driver': driver, 'pool': {'name': pool, 'generation': generation + self.pick(-1, 1), 'resourceSliceCount': self.pick(1, 2)},
                    'devices': [self.device(driver, 'dev-0', nodes, False, {})]}
            self.place(nodes, spec)
            self.publish('%s-other-%d' % (self.pick('a', 'z'), number), spec)

    # --- classes and claims

    def expression(self):
        """A CEL expression. Most expressions give no error on devices without the attribute."""
        text = self.r.choice(EXPRESSIONS[:SAFE] if self.p(.85) else EXPRESSIONS)
        return text.replace('%s', self.pick(*DRIVERS))

    def selectors(self, chance):
        return [{'cel': {'expression': self.expression()}} for _ in range(self.pick(1, 1, 2))] if self.p(chance) else []

    def config(self):
        return {'opaque': {'driver': self.pick(*DRIVERS), 'parameters': {'k': self.pick('v', 'w')}}}

    def classes(self):
        safe = [EXPRESSIONS[0], 'device.driver == "nic.example.com"', '"model" in ' + DOMAIN % DRIVERS[0]]
        for name in ('any', 'gpu', 'nic', 'drawn'):
            spec = {}
            if name == 'drawn' and self.p(.9):
                spec['selectors'] = [{'cel': {'expression': self.pick(*safe) if self.p(.8) else self.expression()}}]
            elif name != 'any':
                spec['selectors'] = [{'cel': {'expression': 'device.driver == "%s.example.com"' % name}}] if name != 'drawn' else []
            if self.p(.25):
                spec['config'] = [self.config() for _ in range(self.pick(1, 2))]
            if self.is_extended and name != 'any' and self.p(.7):
                spec['extendedResourceName'] = 'example.com/' + name
            self.g.add('resource.k8s.io/v1', 'DeviceClass', self.g.meta(name), spec=spec)

    def part(self):
        """The members that an exact request and an alternative have in common."""
        found = {'deviceClassName': self.pick('any', 'any', 'gpu', 'nic', 'drawn') if self.p(.985) else 'missing'}
        selectors = self.selectors(.35)
        if selectors:
            found['selectors'] = selectors
        x = self.r.random()
        if x < .12:
            found['allocationMode'] = 'All'
        elif x < .99:
            found['allocationMode'], found['count'] = 'ExactCount', self.pick(1, 1, 1, 2, 3) if self.p(.98) else self.pick(31, 33)
        if self.p(.3):
            found['tolerations'] = [self.pick({'operator': 'Exists'}, {'key': 'bad', 'operator': 'Exists'}, {'key': 'old', 'operator': 'Equal', 'value': 'v'},
                                              {'key': 'bad', 'effect': 'NoSchedule', 'operator': 'Exists'}) for _ in range(self.pick(1, 1, 2))]
        if self.p(.25):
            found['capacity'] = {'requests': {self.pick('memory', 'cores') if self.p(.95) else 'absent': self.pick('1', '2', '3', '5') for _ in range(self.pick(1, 2))}}
        return found

    def request(self, number):
        name = 'r%d' % number
        if self.p(.25):
            return {'name': name, 'firstAvailable': [{'name': 's%d' % i, **self.part()} for i in range(self.pick(1, 2, 2, 3))]}
        exactly = self.part()
        if self.p(.12):
            exactly['adminAccess'] = self.p(.9)
        return {'name': name, 'exactly': exactly}

    def names_of(self, requests):
        return [r['name'] for r in requests] + [r['name'] + '/' + s['name'] for r in requests for s in r.get('firstAvailable') or []]

    def claim_spec(self):
        requests = [self.request(i) for i in range(self.pick(1, 1, 2, 2, 3))]
        spec, names = {'requests': requests}, self.names_of(requests)
        for member, chance in (('constraints', .35), ('config', .3)):
            for _ in range(self.pick(1, 1, 2) if self.p(chance) else 0):
                if member == 'config':
                    one = self.config()
                else:
                    attribute = self.pick('numa', 'model', 'index', 'version', 'ecc')
                    one = {self.pick('matchAttribute', 'matchAttribute', 'distinctAttribute'):
                           'example.com/rack' if self.p(.25) else self.pick(*DRIVERS) + '/' + attribute}
                if self.p(.6):
                    one['requests'] = self.r.sample(names, self.r.randint(1, min(2, len(names))))
                spec.setdefault(member, []).append(one)
        return {'devices': spec}

    def allocation(self, spec, nodes):
        """An allocation, possibly one that the scheduler would never make. Dedicated devices are
        allocated once."""
        results = []
        for request in spec['devices']['requests']:
            if not self.published:
                break
            source, device = self.r.choice(self.published)
            parts = request.get('firstAvailable')
            key = (source['driver'], source['pool']['name'], device['name'])
            one = {'request': request['name'] + ('/' + self.r.choice(parts)['name'] if parts else ''), 'driver': key[0], 'pool': key[1], 'device': key[2]}
            if request.get('exactly', {}).get('adminAccess'):
                one['adminAccess'] = True
            elif device.get('allowMultipleAllocations'):
                self.shares += 1
                one['shareID'] = 'a671734a-e8e5-11e4-8fde-42010af0%04x' % self.shares
                if device.get('capacity'):
                    one['consumedCapacity'] = {name: self.pick('0', '1', '2') for name in device['capacity']}
            elif key in self.held:
                continue
            else:
                self.held.add(key)
            if device.get('bindingConditions'):
                one['bindingConditions'], one['bindingFailureConditions'] = device['bindingConditions'], device['bindingFailureConditions']
            results.append(one)
        found = {'devices': {'results': results}}
        if self.p(.6):
            found['nodeSelector'] = self.node_selector(nodes)
        if not results:
            return None
        return found

    def device_statuses(self, allocation):
        return [{'driver': r['driver'], 'pool': r['pool'], 'device': r['device'],
                 'conditions': [{'type': c, 'status': self.pick('True', 'True', 'False'), 'reason': 'R', 'message': 'm'}
                                for c in self.pick(CONDITIONS, CONDITIONS[:1], CONDITIONS + ['broken'])]}
                for r in allocation['devices']['results'] if r.get('bindingConditions') and self.p(.7)]

    def claim(self, name, nodes, owner=None):
        meta = self.g.meta(name, 'default', resourceVersion=str(self.g.uid + 500))
        spec, status = self.claim_spec(), {}
        if owner:
            meta['ownerReferences'] = [{'apiVersion': 'v1', 'kind': 'Pod', 'name': owner[0], 'uid': owner[1], 'controller': True}]
        if self.p(.015):
            meta['deletionTimestamp'] = '2026-01-01T00:00:00Z'
        allocation = self.allocation(spec, nodes) if self.p(.25) else None
        if allocation:
            status['allocation'] = allocation
            found = self.device_statuses(allocation)
            if found:
                status['devices'] = found
            if self.p(.6):
                status['reservedFor'] = [{'resource': 'pods', 'name': 'other-%d' % i, 'uid': 'other-%d' % i} for i in range(self.pick(1, 1, 2))]
        if allocation or self.p(.1):
            meta['finalizers'] = ['resource.kubernetes.io/delete-protection']
        return self.g.add('resource.k8s.io/v1', 'ResourceClaim', meta, spec=spec, status=status)

    # --- pods

    def claim_of(self, pod, number, k, nodes, shared):
        """One entry of a pod's claims."""
        entry = {'name': 'c%d' % k}
        x = self.r.random()
        if x < .2 and shared:
            return {**entry, 'resourceClaimName': self.r.choice(shared)}
        name = 'claim-%d-%d' % (number, k)
        if x < .4:
            entry['resourceClaimTemplateName'] = 't'
            made = {'name': entry['name']}
            if self.p(.95):
                made['resourceClaimName'] = name
                self.claim(name, nodes, (pod['metadata']['name'], pod['metadata']['uid'] if self.p(.97) else 'x'))
            if self.p(.97):
                pod['status'].setdefault('resourceClaimStatuses', []).append(made)
            return entry
        if self.p(.98):
            found = self.claim(name, nodes)
            reserved = found['status'].get('reservedFor')
            if reserved and self.p(.3):
                reserved[self.r.randrange(len(reserved))] = {'resource': 'pods', 'name': pod['metadata']['name'], 'uid': pod['metadata']['uid']}
        return {**entry, 'resourceClaimName': name}

    def ask_extended(self, pod):
        """In some containers, request extended resources that a device class may provide."""
        spec = pod['spec']
        spec['initContainers'] = [self.g.container('i%d' % i) for i in range(self.pick(0, 0, 1, 2))]
        spec['containers'] += [self.g.container('d')] if self.p(.3) else []
        for container in spec['initContainers'] + spec['containers']:
            if container in spec['initContainers'] and self.p(.3):
                container['restartPolicy'] = 'Always'
            for _ in range(self.pick(0, 1, 1, 2)):
                name = self.pick('example.com/gpu', 'example.com/gpu', 'example.com/nic', 'example.com/drawn', 'deviceclass.resource.kubernetes.io/any')
                container['resources'].setdefault('requests', {})[name] = self.pick('1', '1', '2', '0')

    def pending(self, nodes):
        shared, pods = ['shared-%d' % i for i in range(self.pick(0, 1, 2))], []
        for name in shared:
            self.claim(name, nodes)
        for i in range(self.r.randint(2, 6)):
            pod = self.g.pod('pend-%d' % i)
            pod['spec']['resourceClaims'] = []
            asks_extended = self.is_extended and self.p(.7)
            if asks_extended:
                self.ask_extended(pod)
            for k in range(self.pick(0, 0, 1) if asks_extended else self.pick(1, 1, 2, 3)):
                entry = self.claim_of(pod, i, k, nodes, shared)
                if not any(e.get('resourceClaimName') == entry.get('resourceClaimName') is not None for e in pod['spec']['resourceClaims']):
                    pod['spec']['resourceClaims'].append(entry)
            pods.append(pod)
        return pods


def c_devices(g):
    """Pools of all scopes and states, shareable and partitioned devices, every form of request,
    extended resources."""
    nodes, devices = g.nodes(2, 5), Devices(g)
    devices.classes()
    for i in range(g.r.randint(1, 5)):
        devices.pool(i, nodes)
    for node in nodes:
        if devices.is_extended and g.p(.3):
            node['status']['allocatable'][g.r.choice(['example.com/gpu', 'example.com/nic'])] = g.r.choice(['0', '1', '3'])
    return devices.pending(nodes), None
