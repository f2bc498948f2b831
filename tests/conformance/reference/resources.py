# SPDX-License-Identifier: Apache-2.0
"""Resource names, requests of a pod, host ports (specification 01b)."""
from . import quantity
from .selectors import label_key_errors

DEFAULT_REQUESTS = quantity.amount_map({'cpu': '100m', 'memory': '200Mi'})       # spec 01b 6
NOTHING = quantity.Amount(0, 0, True)
STANDARD = ('cpu', 'memory', 'ephemeral-storage')


# --- names (01b 2)

def is_native(name): return '/' not in name or 'kubernetes.io/' in name
def is_hugepages(name): return name.startswith('hugepages-')


def is_extended(name):
    """Whether the resource is an extended resource (01b 2)."""
    return not is_native(name) and not name.startswith('requests.') and not label_key_errors('requests.' + name)


def is_scalar(name):
    """Whether the resource is kept by name, unlike cpu, memory and ephemeral-storage (01b 2)."""
    return is_extended(name) or is_hugepages(name) or 'kubernetes.io/' in name or name.startswith('attachable-volumes-')


def is_pod_level(name): return name in ('cpu', 'memory') or is_hugepages(name)


# --- requests (01b 3)

def _add(a, b):
    return {name: a[name] + b[name] if name in a and name in b else {**a, **b}[name] for name in {**a, **b}}


def _maximum(a, b):
    return {name: a[name].larger(b[name]) if name in a and name in b else {**a, **b}[name] for name in {**a, **b}}


def _resize_is_infeasible(pod):
    for condition in (pod.get('status') or {}).get('conditions') or []:
        if condition.get('type') == 'PodResizePending':
            return condition.get('reason') == 'Infeasible'
    return False


def _with_status(pod, desired, actual, allocated):
    """The maximum of `desired`, `actual` and `allocated`. An infeasible resize leaves out `desired`
    (01b 3.1)."""
    first = {} if _resize_is_infeasible(pod) else desired
    return _maximum(_maximum(first, quantity.amount_map(actual)), quantity.amount_map(allocated))


def container_requests(pod, container, missing, use_status):
    """Effective requests of one container (01b 3.1)."""
    requests = quantity.amount_map((container.get('resources') or {}).get('requests'))
    if use_status:
        status = pod.get('status') or {}
        by_name = {s['name']: s for s in (status.get('containerStatuses') or []) + (status.get('initContainerStatuses') or [])}
        found = by_name.get(container['name'])
        if found is not None and found.get('resources') is not None:
            requests = _with_status(pod, requests, found['resources'].get('requests'), found.get('allocatedResources'))
    return {**missing, **requests}


def has_pod_level_requests(pod):
    return any(is_pod_level(name) for name in (pod['spec'].get('resources') or {}).get('requests') or {})


def pod_requests(pod, pod_level=True, missing={}, use_status=False):
    """Requests of a pod as exact amounts (01b 3.2 to 3.4)."""
    spec, status = pod['spec'], pod.get('status') or {}
    total = {}
    for container in spec.get('containers') or []:
        total = _add(total, container_requests(pod, container, missing, use_status))
    sidecars, peak = {}, {}
    for container in spec.get('initContainers') or []:
        is_sidecar = container.get('restartPolicy') == 'Always'
        own = container_requests(pod, container, missing, use_status and is_sidecar)
        if is_sidecar:
            total, sidecars = _add(total, own), _add(sidecars, own)
            step = sidecars
        else:
            step = _add(own, sidecars)
        peak = _maximum(peak, step)
    total = _maximum(total, peak)
    if pod_level and has_pod_level_requests(pod):
        desired = quantity.amount_map(spec['resources']['requests'])
        effective = desired
        if use_status and status.get('resources') is not None:
            effective = _with_status(pod, desired, status['resources'].get('requests'), status.get('allocatedResources'))
        for name in desired:
            if is_pod_level(name):
                total[name] = effective.get(name, NOTHING)
    return _add(total, quantity.amount_map(spec.get('overhead')))


def to_integers(amounts):
    """cpu in thousandths, everything else in whole units; unknown names are dropped (01b 3.6)."""
    return {name: quantity.milli_value(amount) if name == 'cpu' else quantity.value(amount)
            for name, amount in amounts.items() if name in STANDARD or name == 'pods' or is_scalar(name)}


def nonzero_requests(pod):
    """cpu and memory, with the defaults for containers without a request (01b 6)."""
    requests = pod_requests(pod, use_status=True)
    missing = DEFAULT_REQUESTS
    if has_pod_level_requests(pod):
        missing = {name: amount for name, amount in DEFAULT_REQUESTS.items() if name not in requests}
    if missing:
        requests = pod_requests(pod, missing=missing, use_status=True)
    return {'cpu': quantity.milli_value(requests.get('cpu', 0)), 'memory': quantity.value(requests.get('memory', 0))}


# --- host ports (01b 7)

def host_ports(pod):
    """(ip, protocol, port) of the host ports of sidecars and containers (01b 7)."""
    sidecars = [c for c in pod['spec'].get('initContainers') or [] if c.get('restartPolicy') == 'Always']
    return [(p.get('hostIP') or '0.0.0.0', p.get('protocol') or 'TCP', p['hostPort'])
            for c in sidecars + (pod['spec'].get('containers') or []) for p in c.get('ports') or [] if (p.get('hostPort') or 0) > 0]


def ports_conflict(a, b):
    """Whether two host ports have the same protocol, port and address (01b 7). 0.0.0.0 equals every
    address."""
    return a[1:] == b[1:] and ('0.0.0.0' in (a[0], b[0]) or a[0] == b[0])
