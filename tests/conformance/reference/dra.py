# SPDX-License-Identifier: Apache-2.0
"""The DynamicResources plugin (specification 12 6 to 13); the search for devices is in dra_allocator.py."""
from . import objects, quantity, status
from .dra_allocator import AllocationError, Allocator, InvalidPool
from .framework import Plugin, PluginError, default_normalize
from .selectors import node_selector_matches

FINALIZER = 'resource.kubernetes.io/delete-protection'


class ClaimError(Exception):
    """A claim of the pod that cannot be used."""


def allocation_of(claim):
    return objects.status(claim).get('allocation')


def subrequests(request):
    """(full name, bare name, request) of what may be allocated for a request (12 9.3)."""
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


class DraState:
    """Kept for one pod from PreFilter on (12 7)."""

    def __init__(self, claims=()):
        self.claims, self.unallocated = list(claims), [c for c in claims if not allocation_of(c)]
        self.unavailable, self.by_node, self.allocated, self.classes = set(), {}, None, {}


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
        """Device classes of an unallocated claim (12 7, step 6b)."""
        for request in claim['spec'].get('devices', {}).get('requests') or []:
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
        """12 7."""
        try:
            claims = self.resolve(pod)
        except ClaimError as e:
            return status.unresolvable(str(e)), DraState(), None
        if not claims:
            return status.skip(), DraState(), None
        own = DraState(claims)
        for claim in own.unallocated:
            wrong = self.check_requests(claim)
            if wrong:
                return wrong, DraState(), None
        own.allocated = AllocatedDevices(self.cluster.list('ResourceClaim'))
        own.classes = {objects.name(c): c for c in self.cluster.list('DeviceClass')}
        return status.success(), own, None

    def filter(self, own, pod, node):
        """12 8."""
        unavailable = set()
        for i, claim in enumerate(own.claims):
            selector = (allocation_of(claim) or {}).get('nodeSelector')
            if selector is not None and not node_selector_matches(selector, node.labels, node.name):
                unavailable.add(i)
        found = []
        if own.unallocated:
            try:
                found = Allocator(self.cluster.list('ResourceSlice'), own.classes, own.allocated, node, own.unallocated).allocate()
            except AllocationError as e:
                raise PluginError(str(e))
            except InvalidPool:
                return status.unresolvable('invalid resource pools were encountered')
            if found is None:
                return status.unresolvable('cannot allocate all claims')
        if unavailable:
            own.unavailable |= unavailable
            return status.unresolvable('resourceclaim not available on the node')
        if own.unallocated:
            own.by_node[node.name] = found

    def post_filter(self, state, pod, statuses, absent):
        """12 10. Without a PreFilter run there is no state to read."""
        own = state.own.get(self.name)
        if own is None:
            return status.ERROR, 'not found', None, {}
        if not own.claims:
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
            for request in claim['spec']['devices'].get('requests') or []:
                for i, s in enumerate(request.get('firstAvailable') or []):
                    if request['name'] + '/' + s['name'] in used:
                        total += 8 - i
        return total

    def normalize(self, own, nodes, scores):
        """12 11."""
        return default_normalize(scores)

    def reserve(self, own, pod, node_name):
        """Keep the allocations; the writes are those of 12 13.1 (12 12, 13)."""
        if own is None or not own.claims:
            return status.success(), []
        if own.unallocated and not own.by_node.get(node_name):
            return status.error('claim allocation not found for node'), []
        new, writes = iter(own.by_node.get(node_name) or []), []
        for claim in own.claims:
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
            writes.append({'op': 'allocate', 'claim': key, 'allocation': written['status']['allocation'],
                           'reservedFor': ['%s/%s' % (r['resource'], r['name']) for r in reserved]})
            self.cluster.stores['ResourceClaim'][key] = written
        return status.success(), writes
