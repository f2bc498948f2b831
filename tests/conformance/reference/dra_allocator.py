# SPDX-License-Identifier: Apache-2.0
"""Search for devices for the claims of one pod on one node (specification 12 9)."""
from collections import namedtuple

from . import cel, objects, quantity
from .selectors import aggregate, is_tolerated, node_selector_matches, term_errors, term_is_empty

LIMIT = 32      # devices per claim (12 9.3, 9.4)


class AllocationError(Exception):
    """Aborts the pod's cycle."""


class InvalidPool(Exception):
    """No solution, and some pool of the node is invalid."""


class TooMany(Exception):
    """A branch that would exceed the device limit of a claim (12 9.4)."""


Device = namedtuple('Device', 'id spec slice')              # id: (driver, pool, name)
Pool = namedtuple('Pool', 'id state devices is_binding')    # state: ok, incomplete or invalid
Request = namedtuple('Request', 'base sub full bare spec is_admin')
Chosen = namedtuple('Chosen', 'request device capacity')


def requests_of(request):
    """A request, or its alternatives (12 9.3)."""
    base = request['name']
    if request.get('exactly') is not None:
        q = request['exactly']
        return [Request(base, None, base, base, q, bool(q.get('adminAccess')))]
    return [Request(base, s['name'], base + '/' + s['name'], s['name'], s, False) for s in request['firstAvailable']]


def devices_of(claim):
    return claim['spec'].get('devices') or {}


def consumed_amount(request, capacity):
    """Amount of a capacity that a request consumes (12 9.7)."""
    policy = capacity.get('requestPolicy')
    if request is None:
        return quantity.parse(policy['default'] if policy and policy.get('default') is not None else capacity['value'])
    amount = quantity.parse(request)
    valid = (policy or {}).get('validRange')
    if valid and valid.get('min') is not None:
        low = quantity.parse(valid['min'])
        if amount < low:
            return low
        if valid.get('step') is None:
            return amount
        start, step = quantity.round_up(low), quantity.round_up(quantity.parse(valid['step']))
        return start + step * -(-(quantity.round_up(amount) - start) // step)
    return next((v for v in map(quantity.parse, (policy or {}).get('validValues') or []) if v >= amount), amount)


def violates_policy(amount, capacity):
    """Spec 12 section 9.7."""
    policy = capacity.get('requestPolicy')
    if not policy or policy.get('default') is not None and amount == quantity.parse(policy['default']):
        return False
    valid = policy.get('validRange')
    if valid:
        if valid.get('max') is not None and amount > quantity.parse(valid['max']):
            return True
        return valid.get('step') is not None and (amount - quantity.parse(valid['min'])) % quantity.parse(valid['step']) != 0
    return bool(policy.get('validValues')) and all(amount != quantity.parse(v) for v in policy['validValues'])


def counters_of(device):
    """(set, counter) -> amount that a device consumes (12 9.8)."""
    return {(c['counterSet'], name): quantity.parse(v['value']) for c in device.get('consumesCounters') or [] for name, v in c['counters'].items()}


def same_requirement(a, b):
    """Spec 12 section 9.9."""
    return (a['key'], a['operator'], set(a.get('values') or [])) == (b['key'], b['operator'], set(b.get('values') or []))


class Constraint:
    """matchAttribute or distinctAttribute of a claim (12 9.9)."""

    def __init__(self, spec):
        self.spec, self.count, self.value, self.seen = spec, 0, None, {}

    def applies(self, request):
        names = self.spec.get('requests') or []
        return not names or request.base in names or request.sub is not None and request.full in names

    @staticmethod
    def attribute(name, device):
        """(type, value) of a fully qualified attribute, None when missing."""
        attributes = device.spec.get('attributes') or {}
        domain, _, short = name.partition('/')
        found = attributes.get(name) or (attributes.get(short) if domain == device.id[0] else None)
        if found is None:
            return None
        return next(((kind, found[kind]) for kind in ('string', 'int', 'bool', 'version') if kind in found), ('other', None))

    def add(self, request, device):
        """Spec 12 section 9.9."""
        if not self.applies(request):
            return True
        is_match = self.spec.get('matchAttribute') is not None
        value = self.attribute(self.spec['matchAttribute'] if is_match else self.spec['distinctAttribute'], device)
        if value is None:
            return False
        if is_match:
            if self.count == 0:
                self.value = value
            elif value != self.value or value[0] == 'other':
                return False
            self.count += 1
            return True
        if value in self.seen.values():
            return False
        self.seen[request.base] = value
        return True

    def remove(self, request):
        if not self.applies(request):
            return
        if self.spec.get('matchAttribute') is not None:
            self.count -= 1
        else:
            self.seen.pop(request.base, None)


class Allocator:
    def __init__(self, slices, classes, allocated, node, claims):
        self.slices, self.classes, self.allocated, self.node, self.claims = slices, classes, allocated, node, claims
        self.available, self.used = {}, {}              # counters per pool (12 9.8)
        self.taken_for = set()                          # (dedicated device, claim) (12 9.2)
        self.capacity_taken = {}
        self.answers = {}

    # --- pools (12 9.1)

    def node_matches(self, fields):
        """Whether the node matches the node fields of a slice or device (12 9.1)."""
        if fields.get('nodeName'):
            return fields['nodeName'] == self.node.name
        if fields.get('allNodes'):
            return True
        selector = fields.get('nodeSelector')
        if selector is None:
            return False
        errors = [e for i, t in enumerate(selector.get('nodeSelectorTerms') or []) if not term_is_empty(t)
                  for e in term_errors(t, 'nodeSelectorTerms[%d]' % i)]
        if errors:
            raise AllocationError('failed to parse node selector: ' + aggregate(errors))
        return node_selector_matches(selector, self.node.labels, self.node.name)

    def is_relevant(self, name, spec):
        if spec.get('sharedCounters'):
            return True
        if spec.get('nodeName') or spec.get('allNodes') or spec.get('nodeSelector') is not None:
            try:
                return self.node_matches(spec)
            except AllocationError as e:
                raise AllocationError('gather pool information: failed to perform node selection for slice %s: %s' % (name, e))
        return bool(spec.get('perDeviceNodeSelection')) and any(self.node_matches(d) for d in spec.get('devices') or [])

    def gather_pools(self):
        """Spec 12 section 9.1."""
        groups = {}
        for s in self.slices:
            spec = s['spec']
            if self.is_relevant(objects.name(s), spec):
                id_, generation = (spec['driver'], spec['pool']['name']), spec['pool']['generation']
                if id_ not in groups or generation > groups[id_][0]:
                    groups[id_] = (generation, [])
                if generation == groups[id_][0]:
                    groups[id_][1].append(s)
        pools = [self.make_pool(id_, generation, kept) for id_, (generation, kept) in groups.items()]
        return sorted((p for p in pools if p is not None), key=lambda p: (p.is_binding, p.id[0].encode(), p.id[1].encode()))

    def make_pool(self, id_, generation, kept):
        """The pool `id_`, or None if the pool is obsolete (12 9.1).

        `kept`: the slices of this generation that are relevant for the node.
        """
        everywhere = [s for s in self.slices if (s['spec']['driver'], s['spec']['pool']['name']) == id_]
        current = [s for s in everywhere if s['spec']['pool']['generation'] == generation]
        wanted = kept[0]['spec']['pool']['resourceSliceCount']
        if len(kept) != wanted:
            if any(s['spec']['pool']['generation'] > generation for s in everywhere):
                return None
            if len(current) != wanted:
                return Pool(id_, 'incomplete', [], False)
        devices = [Device(id_ + (d['name'],), d, s) for s in sorted(kept, key=lambda s: objects.name(s).encode()) for d in s['spec'].get('devices') or []]
        counter_sets = [c for s in current for c in s['spec'].get('sharedCounters') or []]
        counters = {(c['name'], name): quantity.parse(v['value']) for c in counter_sets for name, v in c['counters'].items()}
        all_devices = [d for s in current for d in s['spec'].get('devices') or []]
        names, set_names = [d.id for d in devices], [c['name'] for c in counter_sets]
        if len(set(names)) < len(names) or len(set(set_names)) < len(set_names) or any(w not in counters for d in all_devices for w in counters_of(d)):
            return Pool(id_, 'invalid', [], False)
        for d in all_devices:                           # spec 12 9.8
            if self.allocated.holds(id_ + (d['name'],)):
                for counter, amount in counters_of(d).items():
                    counters[counter] -= amount
        self.available[id_] = counters
        return Pool(id_, 'ok', devices, any(d.spec.get('bindingConditions') for d in devices))

    # --- tests of one device

    def selectable(self, c, request, device):
        """Spec 12 section 9.5; the result is cached per device and request."""
        key = (c, request.full, device.id)
        if key not in self.answers:
            self.answers[key] = self.is_selected(c, request, device)
        return self.answers[key]

    def is_selected(self, c, request, device):
        class_ = request.spec['deviceClassName']
        for who, selectors in (('class ' + class_, self.classes[class_]['spec'].get('selectors')),
                               ('claim ' + objects.key(self.claims[c]), request.spec.get('selectors'))):
            for i, selector in enumerate(selectors or []):
                try:
                    if not cel.device_matches(selector['cel']['expression'], device.slice['spec']['driver'], device.spec):
                        return False
                except cel.CompileError as e:
                    raise AllocationError('%s: selector #%d: CEL compile error: %s' % (who, i, e))
                except cel.CelError as e:
                    raise AllocationError('%s: selector #%d: CEL runtime error: %s' % (who, i, e))
        return not device.slice['spec'].get('perDeviceNodeSelection') or self.node_matches(device.spec)

    def capacity_for(self, request, device):
        """Capacity name -> consumed amount; None if an amount does not fit (12 9.7)."""
        wanted, capacities = (request.spec.get('capacity') or {}).get('requests') or {}, device.spec.get('capacity') or {}
        if any(name not in capacities for name in wanted):
            return None
        amounts, held, own = {}, self.allocated.aggregate.get(device.id, {}), self.capacity_taken.get(device.id, {})
        for name, capacity in capacities.items():
            amounts[name] = consumed_amount(wanted.get(name), capacity)
            if violates_policy(amounts[name], capacity) or held.get(name, 0) + own.get(name, 0) + amounts[name] > quantity.parse(capacity['value']):
                return None
        return amounts

    def in_use(self, device):
        return device.id in self.allocated.dedicated or any(id_ == device.id for id_, _ in self.taken_for)

    # --- validation (12 9.3)

    def validate(self):
        """Set the number of devices of each request, and the devices of each "All" request."""
        self.number, self.all_devices = {}, {}
        for c, claim in enumerate(self.claims):
            total = 0
            for r in devices_of(claim).get('requests') or []:
                for request in requests_of(r):
                    self.number[c, request.full] = self.count_devices(c, request)
                total = min(total + min(self.number[c, request.full] for request in requests_of(r)), quantity.INT64_MAX)
            if total > LIMIT:
                raise AllocationError('claim %s: number of requested devices %d exceeds the claim limit of 32' % (objects.key(claim), total))
            for i, k in enumerate(devices_of(claim).get('constraints') or []):
                if k.get('matchAttribute') is None and k.get('distinctAttribute') is None:
                    raise AllocationError('claim %s, constraint #%d: empty constraint (unsupported constraint type?)' % (objects.key(claim), i))

    def count_devices(self, c, request):
        """Spec 12 section 9.3."""
        who, q = 'claim %s, request %s' % (objects.key(self.claims[c]), request.bare), request.spec
        for i, selector in enumerate(q.get('selectors') or []):
            if selector.get('cel') is None:
                raise AllocationError('%s, selector #%d: CEL expression empty (unsupported selector type?)' % (who, i))
        who += ': '
        if q['deviceClassName'] not in self.classes:
            raise AllocationError(who + 'could not retrieve device class %s: deviceclass.resource.k8s.io "%s" not found' % (q['deviceClassName'], q['deviceClassName']))
        mode = q.get('allocationMode', '')
        if mode == 'ExactCount':
            return q.get('count', 0)
        if mode != 'All':
            raise AllocationError(who + 'unsupported count mode ' + mode)
        found = []
        for pool in self.pools:
            if pool.state != 'ok':
                problem = 'being updated' if pool.state == 'incomplete' else 'invalid'
                raise AllocationError(who + 'asks for all devices, but resource pool %s/%s is currently %s' % (pool.id + (problem,)))
            found += [d for d in pool.devices if self.selectable(c, request, d) and self.capacity_for(request, d) is not None]
        self.all_devices[c, request.full] = found
        return len(found)

    # --- search (12 9.4)

    def allocate(self):
        """Allocation results, one per claim; None without a solution (12 9)."""
        self.pools = self.gather_pools()
        self.devices = [d for pool in self.pools for d in pool.devices]
        self.validate()
        self.chosen, self.selected = [[] for _ in self.claims], {}
        self.constraints = [[Constraint(k) for k in devices_of(claim).get('constraints') or []] for claim in self.claims]
        try:
            found = self.search(0, 0, None, 0, 0)
        except TooMany:
            found = False
        if found:
            return [self.result(c) for c in range(len(self.claims))]
        if any(pool.state == 'invalid' for pool in self.pools):
            raise InvalidPool()
        return None

    def search(self, c, r, alternative, k, start):
        """Whether the rest of claim `c`, from device `k` of request `r`, and all later claims can
        be satisfied (12 9.4)."""
        if c == len(self.claims):
            return True
        listed = devices_of(self.claims[c]).get('requests') or []
        if r == len(listed):
            try:
                return self.search(c + 1, 0, None, 0, 0)
            except TooMany:
                return False
        requests = requests_of(listed[r])
        if listed[r].get('exactly') is None and alternative is None:
            all_too_many = True
            for i in range(len(requests)):
                try:
                    if self.search(c, r, i, 0, 0):
                        self.selected[c, r] = i
                        return True
                    all_too_many = False
                except TooMany:
                    pass
            if all_too_many:
                raise TooMany()
            return False
        request = requests[alternative or 0]
        number, wants_all = self.number[c, request.full], request.spec['allocationMode'] == 'All'
        if wants_all and number == 0:
            return False
        if k >= number:
            return self.search(c, r + 1, None, 0, 0)
        if len(self.chosen[c]) + number - k > LIMIT:
            raise TooMany()
        if wants_all:
            return self.try_device(c, r, alternative, k, 0, request, self.all_devices[c, request.full][k], True)
        for i in range(start, len(self.devices)):
            device = self.devices[i]
            busy = (device.id, c) in self.taken_for if request.is_admin else self.in_use(device)
            if (not busy and self.selectable(c, request, device) and self.capacity_for(request, device) is not None
                    and self.try_device(c, r, alternative, k, i + 1, request, device, False)):
                return True
        return False

    def try_device(self, c, r, alternative, k, start, request, device, must):
        """Take a device and continue the search. If the search fails, give the device back."""
        if not self.take(c, request, device, must):
            return False
        try:
            if self.search(c, r, alternative, k + 1, start):
                return True
        except TooMany:
            self.give_back(c, request, device)
            raise
        self.give_back(c, request, device)
        return False

    def take(self, c, request, device, must):
        """Spec 12 section 9.6. Counters taken before a rejection stay taken (12 21, D6)."""
        shareable = bool(device.spec.get('allowMultipleAllocations'))
        if (device.id, c) in self.taken_for if request.is_admin and not shareable else not request.is_admin and self.in_use(device):
            return False
        capacity_in_use = device.id in self.allocated.aggregate or bool(self.capacity_taken.get(device.id))
        pool, wanted = device.id[:2], counters_of(device.spec)
        if wanted and not (shareable and capacity_in_use):
            used = self.used.setdefault(pool, {})
            for counter, amount in wanted.items():
                used[counter] = used.get(counter, 0) + amount
            if any(used.get(counter, 0) > amount for counter, amount in self.available[pool].items()):
                for counter, amount in wanted.items():
                    used[counter] -= amount
                return False
        if any(t.get('effect') in ('NoSchedule', 'NoExecute') and not is_tolerated(t, request.spec.get('tolerations')) for t in device.spec.get('taints') or []):
            return False
        for i, constraint in enumerate(self.constraints[c]):
            if not constraint.add(request, device):
                if must:
                    raise AllocationError('claim %s, request %s: cannot add device %s because a claim constraint would not be satisfied'
                                          % (objects.key(self.claims[c]), request.bare, '/'.join(device.id)))
                for earlier in self.constraints[c][:i]:
                    earlier.remove(request)
                return False
        amounts = self.capacity_for(request, device)
        if amounts is None:
            # undo the constraints, so that nothing stays behind (defect D12 of 12 21)
            for constraint in self.constraints[c]:
                constraint.remove(request)
            return False
        if not shareable:
            self.taken_for.add((device.id, c))
        if shareable:
            own = self.capacity_taken.setdefault(device.id, {})
            for name, amount in amounts.items():
                own[name] = own.get(name, 0) + amount
        self.chosen[c].append(Chosen(request, device, amounts if shareable else None))
        return True

    def give_back(self, c, request, device):
        """Undo take(). Spec 12 section 9.6."""
        for constraint in self.constraints[c]:
            constraint.remove(request)
        self.taken_for.discard((device.id, c))
        amounts = self.chosen[c].pop().capacity
        if amounts is None:
            for counter, amount in counters_of(device.spec).items():
                self.used[device.id[:2]][counter] -= amount
            return
        own = self.capacity_taken.get(device.id, {})
        for name, amount in amounts.items():
            own[name] = own.get(name, 0) - amount
        if not any(own.values()):
            self.capacity_taken.pop(device.id, None)

    # --- result (12 9.9)

    def result(self, c):
        """The allocation of a claim (12 9.9)."""
        results = []
        for request, device, capacity in self.chosen[c]:
            one = {'request': request.full, 'driver': device.id[0], 'pool': device.id[1], 'device': device.id[2]}
            if request.is_admin:
                one['adminAccess'] = True
            for member, source in (('tolerations', request.spec), ('bindingConditions', device.spec), ('bindingFailureConditions', device.spec)):
                if source.get(member):
                    one[member] = source[member]
            if capacity is not None:
                one['shareID'] = '*'        # random upstream
                if capacity:
                    one['consumedCapacity'] = {name: '%dn' % (amount * 10**9) for name, amount in capacity.items()}
            results.append(one)
        allocation = {'devices': {'results': results}}
        config = self.result_config(c)
        if config:
            allocation['devices']['config'] = config
        selector = self.result_node_selector(c)
        if selector:
            allocation['nodeSelector'] = selector
        return allocation

    def result_config(self, c):
        """Configuration of the classes, then of the claim (12 9.9)."""
        by_class, config, names_used = {}, [], []
        for r, request in enumerate(devices_of(self.claims[c]).get('requests') or []):
            one = requests_of(request)[self.selected.get((c, r), 0)]
            full, class_ = one.full, one.spec['deviceClassName']
            names_used.append(full)
            if class_ in by_class:
                for entry in by_class[class_]:
                    entry['requests'].append(full)
                continue
            by_class[class_] = [{'source': 'FromClass', 'requests': [full], **entry} for entry in self.classes[class_]['spec'].get('config') or []]
            config += by_class[class_]
        for entry in devices_of(self.claims[c]).get('config') or []:
            names = entry.get('requests') or []
            times = 1 if not names else sum(1 for full in names_used if full in names or full.split('/')[0] in names)
            config += [{'source': 'FromClaim', **entry}] * times
        return config

    def result_node_selector(self, c):
        """The node selector of the nodes that can use the devices (12 9.9)."""
        fields, expressions = [], []
        for _, device, _ in self.chosen[c]:
            source = device.spec if device.slice['spec'].get('perDeviceNodeSelection') else device.slice['spec']
            if source.get('nodeName') or device.spec.get('bindsToNode'):
                return {'nodeSelectorTerms': [{'matchFields': [{'key': 'metadata.name', 'operator': 'In', 'values': [self.node.name]}]}]}
            for term in ((source.get('nodeSelector') or {}).get('nodeSelectorTerms') or [])[:1]:
                for member, found in (('matchFields', fields), ('matchExpressions', expressions)):
                    for r in term.get(member) or []:
                        if not any(same_requirement(r, other) for other in found):
                            found.append(r)
        term = {}
        if expressions:
            term['matchExpressions'] = expressions
        if fields:
            term['matchFields'] = fields
        return {'nodeSelectorTerms': [term]} if term else None
