# SPDX-License-Identifier: Apache-2.0
"""The DynamicResources plugin (specification 12 6 to 13). dra_allocator.py searches for devices."""
from . import objects, quantity, resources, status
from .dra_allocator import AllocationError, Allocator, InvalidPool, devices_of
from .framework import Plugin, PluginError, default_normalize
from .selectors import node_selector_matches

PREFIX = 'deviceclass.resource.kubernetes.io/'
FINALIZER = 'resource.kubernetes.io/delete-protection'


class ClaimError(Exception):
    """A claim of the pod that cannot be used."""


def allocation_of(claim):
    return objects.status(claim).get('allocation')


def is_broken(claim):
    """Whether a device of an allocated claim failed to get ready (12 13.2)."""
    for r in allocation_of(claim)['devices'].get('results') or []:
        if not r.get('bindingConditions'):
            continue
        said = next((d for d in objects.status(claim).get('devices') or [] if all(d[k] == r[k] for k in ('driver', 'pool', 'device'))), None)
        if said is None:
            return False
        true = {c['type'] for c in said.get('conditions') or [] if c['status'] == 'True'}
        if true & set(r.get('bindingFailureConditions') or []):
            return True
        if not true >= set(r['bindingConditions']):
            return False
    return False


def subrequests(request):
    """(full name, bare name, request) of the request or of each of its alternatives (12 9.3)."""
    if request.get('exactly') is not None:
        return [(request['name'], request['name'], request['exactly'])]
    return [(request['name'] + '/' + s['name'], s['name'], s) for s in request.get('firstAvailable') or []]


class AllocatedDevices:
    """Devices that claims hold (12 4.3)."""

    def __init__(self, claims):
        self.dedicated, self.shared, self.aggregate = set(), set(), {}
        for claim in claims:
            for r in ((allocation_of(claim) or {}).get('devices') or {}).get('results') or []:
                device = (r['driver'], r['pool'], r['device'])
                if r.get('adminAccess'):
                    continue
                if not r.get('shareID'):
                    self.dedicated.add(device)
                    continue
                self.shared.add(device)
                held = self.aggregate.setdefault(device, {}) if r.get('consumedCapacity') else {}
                for name, amount in quantity.parse_map(r.get('consumedCapacity')).items():
                    held[name] = held.get(name, 0) + amount

    def holds(self, device):
        return device in self.dedicated or device in self.shared or device in self.aggregate


def class_for(cluster, resource):
    """Name of the first device class that provides an extended resource (12 4.4).

    The model ignores that several classes may name the same resource.
    """
    for found in cluster.list('DeviceClass'):
        if resource in (found['spec'].get('extendedResourceName'), PREFIX + objects.name(found)):
            return objects.name(found)
    return None


def is_via_claim(cluster, resource, node):
    """Whether a node can provide the resource only as devices (05 3.10, 12 14.2)."""
    return node.allocatable.get(resource, 0) <= 0 and class_for(cluster, resource) is not None


def special_requests(pod, by_class):
    """Requests of the claim for extended resources (12 14.3); `by_class`: resource -> class."""
    spec, found = pod.spec, []
    inits = spec.get('initContainers') or []
    containers = list(enumerate(inits + spec['containers']))
    is_short = {i: i < len(inits) and c.get('restartPolicy') != 'Always' for i, c in containers}
    for resource in sorted(by_class, key=str.encode):
        def request(i, container, count):
            names = sorted((container.get('resources') or {}).get('requests') or {}, key=str.encode)
            return {'name': 'container-%d-request-%d' % (i, names.index(resource)),
                    'exactly': {'deviceClassName': by_class[resource], 'allocationMode': 'ExactCount', 'count': count}}
        asked = [(i, c, int(quantity.parse(((c.get('resources') or {}).get('requests') or {}).get(resource, '0')))) for i, c in containers]
        longs = [(i, n) for i, _, n in asked if not is_short[i] and n > 0]
        found += [request(i, c, n) for i, c, n in asked if not is_short[i] and n > 0]
        largest = None
        for i, c, n in asked:
            if is_short[i] and n > 0:
                own = request(i, c, n - sum(m for k, m in longs if k >= i))
                if own['exactly']['count'] > 0 and (largest is None or own['exactly']['count'] > largest['exactly']['count']):
                    largest = own
        found += [largest] if largest else []
    return sorted(found, key=lambda r: r['name'].encode())


class DraState:
    """The cycle state of one pod, from PreFilter on (12 7)."""

    def __init__(self, claims=(), extended=None):
        self.claims, self.unallocated = list(claims), [c for c in claims if not allocation_of(c)]
        self.unavailable, self.by_node, self.allocated, self.classes = set(), {}, None, {}
        # extended: requests of scalar resources, or None if no device class provides any of them
        # special: node -> claim for extended resources (12 14)
        self.extended, self.special = extended, {}


class DynamicResources(Plugin):
    points = ('preFilter', 'filter', 'postFilter', 'score', 'reserve')

    def resolve(self, pod):
        """The claims of a pod (12 6)."""
        claims, made = [], {s['name']: s for s in objects.status(pod.obj).get('resourceClaimStatuses') or []}
        for entry in pod.spec.get('resourceClaims') or []:
            name, must_own = entry.get('resourceClaimName'), False
            if name is None and entry.get('resourceClaimTemplateName') is not None:
                if entry['name'] not in made:
                    raise ClaimError('pod "%s": ResourceClaim not created yet' % pod.key)
                name, must_own = made[entry['name']].get('resourceClaimName'), True
                if name is None:
                    continue
            elif name is None:
                raise ClaimError('pod "%s", spec.resourceClaim "%s": none of the supported fields are set' % (pod.key, entry['name']))
            key = pod.namespace + '/' + name
            claim = self.cluster.get('ResourceClaim', key)
            if claim is None:
                raise ClaimError('could not find ResourceClaim "%s"' % key)
            if objects.is_being_deleted(claim):
                raise ClaimError('resourceclaim "%s" is being deleted' % name)
            if must_own and (objects.controller_of(claim) or {}).get('uid') != pod.uid:
                raise ClaimError('ResourceClaim %s was not created for Pod %s (Pod is not owner)' % (key, pod.key))
            claims.append(claim)
        return claims

    def check_requests(self, claim):
        """Check that the device classes of an unallocated claim exist (12 7, step 6b)."""
        for request in devices_of(claim).get('requests') or []:
            parts = subrequests(request)
            if not parts:
                return status.unresolvable('resource claim %s, request %s: unknown request type' % (objects.key(claim), request['name']))
            for full, _, q in parts:
                if not q.get('deviceClassName'):
                    return status.error('request %s: unsupported request type' % full)
                if self.cluster.get('DeviceClass', q['deviceClassName']) is None:
                    return status.unresolvable('request %s: device class %s does not exist' % (full, q['deviceClassName']))
        return None

    def pre_filter(self, state, pod):
        """Spec 12 section 7."""
        try:
            claims = self.resolve(pod)
        except ClaimError as e:
            return status.unresolvable(str(e)), DraState(), None
        scalars = {n: q for n, q in resources.to_integers(resources.pod_requests(pod.obj)).items()
                   if q != 0 and (resources.is_extended(n) or n.startswith(PREFIX))}
        extended = scalars if any(class_for(self.cluster, n) for n in scalars) else None
        if not claims and extended is None:
            return status.skip(), DraState(), None
        own = DraState(claims, extended)
        for claim in own.unallocated:
            wrong = self.check_requests(claim)
            if wrong:
                return wrong, DraState(), None
        own.allocated = AllocatedDevices(self.cluster.list('ResourceClaim'))
        own.classes = {objects.name(c): c for c in self.cluster.list('DeviceClass')}
        return status.success(), own, None

    def special_claim(self, own, pod, node):
        """(rejection or None, claim for extended resources on the node or None) (12 14.2)."""
        via = {}
        for name in own.extended or ():
            if is_via_claim(self.cluster, name, node):
                via[name] = class_for(self.cluster, name)
            elif name not in node.allocatable:
                return status.unresolvable('cannot fit resource'), None
        # a pod with other claims gets a claim without requests (defect D10 of 12 21)
        if not via and not (own.claims and own.extended):
            return None, None
        return None, {'metadata': {'name': '<extended-resources>', 'namespace': pod.namespace},
                      'spec': {'devices': {'requests': special_requests(pod, via)}}}

    def filter(self, own, pod, node):
        """Spec 12 section 8."""
        unavailable = set()
        rejected, special = self.special_claim(own, pod, node)
        if rejected:
            return rejected
        own.special[node.name] = special
        wanted = own.unallocated + ([special] if special else [])
        for i, claim in enumerate(own.claims):
            selector = (allocation_of(claim) or {}).get('nodeSelector')
            if selector is not None and not node_selector_matches(selector, node.labels, node.name):
                unavailable.add(i)
            elif allocation_of(claim) and is_broken(claim):
                unavailable.add(i)
        found = []
        if wanted:
            try:
                found = Allocator(self.cluster.list('ResourceSlice'), own.classes, own.allocated, node, wanted).allocate()
            except AllocationError as e:
                raise PluginError(str(e))
            except InvalidPool:
                return status.unresolvable('invalid resource pools were encountered')
            if found is None:
                return status.unresolvable('cannot allocate all claims')
        if unavailable:
            own.unavailable |= unavailable
            return status.unresolvable('resourceclaim not available on the node')
        # also on nodes that have the extended resources in allocatable
        if own.unallocated or own.extended is not None:
            own.by_node[node.name] = found

    def post_filter(self, state, pod, statuses, absent):
        """Spec 12 section 10. Without PreFilter there is no state to read."""
        own = state.own.get(self.name)
        if own is None:
            return status.ERROR, 'not found', None, {}
        if not own.claims and own.extended is None:
            return status.UNSCHEDULABLE, 'no new claims to deallocate', None, {}
        for i in sorted(own.unavailable):
            reserved = objects.status(own.claims[i]).get('reservedFor') or []
            if not reserved or len(reserved) == 1 and reserved[0].get('uid') == pod.uid:
                return status.UNSCHEDULABLE, 'deallocation of ResourceClaim completed', None, {}
        return status.UNSCHEDULABLE, 'still not schedulable', None, {}

    def score(self, own, pod, node):
        """Earlier alternatives of firstAvailable are better (12 11)."""
        if own is None or node.name not in own.by_node:
            return 0
        new, total = iter(own.by_node[node.name]), 0
        for claim in own.claims:
            allocation = allocation_of(claim) or next(new)
            used = {r['request'] for r in allocation['devices']['results']}
            for request in devices_of(claim).get('requests') or []:
                for i, s in enumerate(request.get('firstAvailable') or []):
                    if request['name'] + '/' + s['name'] in used:
                        total += 8 - i
        return total

    def normalize(self, own, nodes, scores):
        """Spec 12 section 11."""
        return default_normalize(scores)

    def reserve(self, own, pod, node_name):
        """Keep the allocations for later pods. Return (status, writes of PreBind) (12 12, 13.1)."""
        if own is None:
            return status.success(), []
        if own.unallocated and not own.by_node.get(node_name):
            return status.error('claim allocation not found for node'), []
        new, writes = iter(own.by_node.get(node_name) or []), []
        claims = list(own.claims)
        if own.special.get(node_name):
            made = objects.deep_copy(own.special[node_name])
            made['metadata']['name'] = '%s-extended-resources-%d' % (pod.name, self.cluster.asked)
            claims.append(made)
        for claim in claims:
            written, key = objects.deep_copy(claim), objects.key(claim)
            if not written.get('status'):
                written['status'] = {}
            if not allocation_of(claim):
                written['status']['allocation'] = next(new)
                finalizers = written['metadata'].setdefault('finalizers', [])
                if FINALIZER not in finalizers:
                    finalizers.append(FINALIZER)
                    writes.append({'op': 'finalizers', 'claim': key})
            reserved = written['status'].setdefault('reservedFor', [])
            if any(r.get('uid') == pod.uid for r in reserved):
                continue
            reserved.append({'resource': 'pods', 'name': pod.name, 'uid': pod.uid})
            allocation = dict(written['status']['allocation'])
            if not allocation['devices'].get('results'):
                allocation['devices'] = {k: v for k, v in allocation['devices'].items() if k != 'results'}
            writes.append({'op': 'allocate', 'claim': key, 'allocation': allocation,
                           'reservedFor': ['%s/%s' % (r['resource'], r['name']) for r in reserved]})
            self.cluster.stores.setdefault('ResourceClaim', {})[key] = written
        return status.success(), writes
