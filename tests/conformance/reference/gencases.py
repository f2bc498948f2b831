#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random scheduling cases as JSON lines (inputs only).

usage: gencases.py SEED COUNT [CATEGORY ...] > cases.jsonl
A case: {"name","config"?,"objects":[...],"pending":[Pod,...]}. "objects" has all objects of the
cluster.
"""
import sys, json, random

from gendevices import c_devices  # noqa: F401 -- a category like those below
from genunusual import unusual

seed, count = sys.argv[1], int(sys.argv[2])
only = sys.argv[3:]
CFG = {'apiVersion': 'kubescheduler.config.k8s.io/v1', 'kind': 'KubeSchedulerConfiguration'}
ZONES = ['a', 'b', 'c']
KEYS = ['disk', 'arch', 'tier', 'gpu']
VALS = {'disk': ['ssd', 'hdd', 'nvme'], 'arch': ['amd64', 'arm64'], 'tier': ['1', '2', '3', '10', 'x'], 'gpu': ['a100', 'h100']}
APPS = ['web', 'db', 'cache', 'batch']
NSS = ['default', 'prod', 'dev']

class G:
    def __init__(s, rnd):
        s.r = rnd
        s.uid = 0
        s.objs = []
    def p(s, x): return s.r.random() < x
    def meta(s, name, ns=None, **kw):
        s.uid += 1
        m = {'name': name, 'uid': 'uid-%d' % s.uid}
        if ns: m['namespace'] = ns
        m.update(kw)
        return m
    def add(s, api, kind, meta, **kw):
        o = {'apiVersion': api, 'kind': kind, 'metadata': meta}
        o.update(kw)
        s.objs.append(o)
        return o
    def cpu(s): return s.r.choice(['100m', '250m', '0.5', '1', '1500m', '2', '3', '0', '33m', '1.25'])
    def mem(s): return s.r.choice(['64Mi', '128Mi', '500Mi', '1Gi', '1.5Gi', '2Gi', '1000M', '1e9', '0', '123456789'])
    def requests(s, ext=False, eph=False):
        q = {}
        if s.p(.85): q['cpu'] = s.cpu()
        if s.p(.85): q['memory'] = s.mem()
        if eph and s.p(.4): q['ephemeral-storage'] = s.r.choice(['1Gi', '500Mi', '2Gi'])
        if ext and s.p(.5): q['example.com/foo'] = str(s.r.randrange(0, 4))
        if ext and s.p(.2): q['hugepages-2Mi'] = s.r.choice(['2Mi', '4Mi', '100Mi'])
        return q
    def container(s, name, **kw):
        q = s.requests(**kw)
        c = {'name': name, 'image': s.r.choice(['registry.k8s.io/pause:3.10', 'nginx', 'docker.io/library/redis:7', 'img.example/app:v1', 'img.example/app@sha256:' + 'a' * 64]), 'resources': {}}
        if q: c['resources']['requests'] = q
        return c
    def node(s, i, big=False, ext=False):
        name = 'node-%02d' % i
        lab = {'kubernetes.io/hostname': name}
        if s.p(.93): lab['topology.kubernetes.io/zone'] = s.r.choice(ZONES)
        lab['topology.kubernetes.io/region'] = 'r1'
        for k in KEYS:
            if s.p(.6): lab[k] = s.r.choice(VALS[k])
        alloc = {'cpu': s.r.choice(['2', '4', '8', '3900m', '16'] if not big else ['16', '32', '64']), 'memory': s.r.choice(['4Gi', '8Gi', '16Gi', '7.5Gi', '32Gi']),
                 'pods': s.r.choice(['110', '110', '110', '5', '3']), 'ephemeral-storage': s.r.choice(['10Gi', '5Gi', '20Gi'])}
        if ext:
            if s.p(.6): alloc['example.com/foo'] = str(s.r.randrange(1, 9))
            if s.p(.4): alloc['hugepages-2Mi'] = s.r.choice(['0', '64Mi', '1Gi'])
        spec = {}
        if s.p(.08): spec['unschedulable'] = True
        taints = []
        return s.add('v1', 'Node', s.meta(name, labels=lab), spec=spec, status={'allocatable': alloc, 'capacity': dict(alloc), 'conditions': [{'type': 'Ready', 'status': 'True'}]})
    def nodes(s, lo=3, hi=14, **kw): return [s.node(i, **kw) for i in range(s.r.randint(lo, hi))]
    def pod(s, name, ns=None, labels=None, node=None, containers=1, prio=None, **kw):
        ns = ns or 'default'
        m = s.meta(name, ns, labels=labels or {}, creationTimestamp='2026-01-01T00:00:%02dZ' % (s.uid % 60))
        spec = {'schedulerName': 'default-scheduler', 'priority': prio if prio is not None else 0, 'containers': [s.container('c%d' % k, **kw) for k in range(containers)]}
        st = {'phase': 'Pending'}
        if node:
            spec['nodeName'] = node
            st = {'phase': 'Running', 'startTime': '2026-01-01T00:%02d:%02dZ' % (s.r.randrange(60), s.r.randrange(60))}
        return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': m, 'spec': spec, 'status': st}
    def bound(s, nodes, n, **kw):
        for i in range(n):
            s.objs.append(s.decor(s.pod('run-%d' % i, node=s.r.choice(nodes)['metadata']['name'], ns=s.r.choice(NSS) if s.p(.3) else 'default',
                                labels={'app': s.r.choice(APPS)} if s.p(.8) else {}, **kw)))
    def decor(s, p): return p
    def labels(s):
        l = {}
        if s.p(.85): l['app'] = s.r.choice(APPS)
        if s.p(.4): l['ver'] = s.r.choice(['v1', 'v2'])
        return l
    # -- selectors
    def lsel(s):
        x = s.r.random()
        if x < .05: return {}
        if x < .6: return {'matchLabels': {'app': s.r.choice(APPS)}}
        e = []
        for _ in range(s.r.randint(1, 2)):
            op = s.r.choice(['In', 'NotIn', 'Exists', 'DoesNotExist'])
            k = s.r.choice(['app', 'ver'])
            d = {'key': k, 'operator': op}
            if op in ('In', 'NotIn'): d['values'] = s.r.sample(APPS if k == 'app' else ['v1', 'v2', 'v3'], s.r.randint(1, 2))
            e.append(d)
        return {'matchExpressions': e}
    def nsel_expr(s):
        k = s.r.choice(KEYS + ['topology.kubernetes.io/zone'])
        vals = VALS.get(k, ZONES)
        op = s.r.choice(['In', 'NotIn', 'Exists', 'DoesNotExist'] + (['Gt', 'Lt'] if k == 'tier' else []))
        d = {'key': k, 'operator': op}
        if op in ('In', 'NotIn'): d['values'] = s.r.sample(vals, min(len(vals), s.r.randint(1, 2)))
        if op in ('Gt', 'Lt'): d['values'] = [str(s.r.randrange(0, 6))]
        return d
    def nterm(s, nodes):
        t = {}
        if s.p(.9): t['matchExpressions'] = [s.nsel_expr() for _ in range(s.r.randint(1, 2))]
        if s.p(.15): t['matchFields'] = [{'key': 'metadata.name', 'operator': s.r.choice(['In', 'In', 'NotIn']), 'values': [s.r.choice(nodes)['metadata']['name']]}]
        return t
    def node_affinity(s, nodes, req=.7, pref=.7):
        a = {}
        if s.p(req): a['requiredDuringSchedulingIgnoredDuringExecution'] = {'nodeSelectorTerms': [s.nterm(nodes) for _ in range(s.r.randint(1, 2))]}
        if s.p(pref): a['preferredDuringSchedulingIgnoredDuringExecution'] = [{'weight': s.r.randint(1, 100), 'preference': s.nterm(nodes)} for _ in range(s.r.randint(1, 3))]
        return a
    def taint_nodes(s, nodes):
        for n in nodes:
            t = []
            for _ in range(s.r.choice([0, 0, 1, 1, 2, 3])):
                d = {'key': s.r.choice(['ded', 'gpu', 'x/y']), 'effect': s.r.choice(['NoSchedule', 'PreferNoSchedule', 'PreferNoSchedule', 'NoExecute'])}
                if s.p(.7): d['value'] = s.r.choice(['a', 'b'])
                if not any(z['key'] == d['key'] and z['effect'] == d['effect'] for z in t): t.append(d)
            if t: n['spec']['taints'] = t
    def tolerations(s):
        o = []
        for _ in range(s.r.choice([0, 1, 2, 3])):
            d = {}
            x = s.r.random()
            if x < .1: d = {'operator': 'Exists'}
            else:
                d['key'] = s.r.choice(['ded', 'gpu', 'x/y', 'node.kubernetes.io/unschedulable'])
                if s.p(.5): d['operator'] = 'Exists'
                else:
                    if s.p(.5): d['operator'] = 'Equal'
                    d['value'] = s.r.choice(['a', 'b'])
            if s.p(.7): d['effect'] = s.r.choice(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
            o.append(d)
        return o
    def aff_term(s, pref=False):
        t = {'topologyKey': s.r.choice(['kubernetes.io/hostname', 'topology.kubernetes.io/zone', 'topology.kubernetes.io/zone', 'topology.kubernetes.io/region', 'disk'])}
        if s.p(.95): t['labelSelector'] = s.lsel()
        x = s.r.random()
        if x < .2: t['namespaces'] = s.r.sample(NSS, s.r.randint(1, 2))
        elif x < .35: t['namespaceSelector'] = s.r.choice([{}, {'matchLabels': {'team': 'red'}}, {'matchExpressions': [{'key': 'team', 'operator': 'Exists'}]}])
        if pref: return {'weight': s.r.randint(1, 100), 'podAffinityTerm': t}
        return t
    def pod_affinity(s, req=.5, pref=.5):
        a = {}
        for kind in ('podAffinity', 'podAntiAffinity'):
            d = {}
            if s.p(req * (.6 if kind == 'podAffinity' else .5)): d['requiredDuringSchedulingIgnoredDuringExecution'] = [s.aff_term() for _ in range(s.r.choice([1, 1, 2]))]
            if s.p(pref): d['preferredDuringSchedulingIgnoredDuringExecution'] = [s.aff_term(True) for _ in range(s.r.choice([1, 1, 2]))]
            if d: a[kind] = d
        return a
    def spread(s, n=None):
        o, seen = [], set()
        for _ in range(n or s.r.choice([1, 1, 2])):
            k = s.r.choice(['topology.kubernetes.io/zone', 'topology.kubernetes.io/zone', 'kubernetes.io/hostname', 'disk'])
            w = s.r.choice(['DoNotSchedule', 'ScheduleAnyway'])
            if (k, w) in seen: continue
            seen.add((k, w))
            c = {'maxSkew': s.r.choice([1, 1, 2, 3]), 'topologyKey': k, 'whenUnsatisfiable': w}
            if s.p(.95): c['labelSelector'] = s.lsel()
            if w == 'DoNotSchedule' and s.p(.25): c['minDomains'] = s.r.randint(1, 5)
            if s.p(.2) and 'labelSelector' in c: c['matchLabelKeys'] = ['ver']
            if s.p(.3): c['nodeAffinityPolicy'] = s.r.choice(['Honor', 'Ignore'])
            if s.p(.3): c['nodeTaintsPolicy'] = s.r.choice(['Honor', 'Ignore'])
            o.append(c)
        return o
    def namespaces(s):
        for n in NSS: s.add('v1', 'Namespace', s.meta(n, labels={'kubernetes.io/metadata.name': n, **({'team': s.r.choice(['red', 'blue'])} if s.p(.7) else {})}))
    def cfg(s, plugin, args=None, plugins=None, **kw):
        prof = {'schedulerName': 'default-scheduler'}
        if args is not None:
            prof['pluginConfig'] = [{'name': plugin, 'args': dict({'apiVersion': CFG['apiVersion'], 'kind': plugin + 'Args'}, **args)}]
        if plugins: prof['plugins'] = plugins
        return dict(CFG, profiles=[prof], **kw)

def c_resources(g):
    nodes = g.nodes(ext=True)
    g.bound(nodes, g.r.randint(0, 30), ext=True, eph=True, containers=g.r.randint(1, 2))
    pend = []
    for i in range(g.r.randint(1, 6)):
        p = g.pod('pend-%d' % i, containers=g.r.randint(1, 3), ext=True, eph=True)
        if g.p(.35):
            p['spec']['initContainers'] = []
            for k in range(g.r.randint(1, 3)):
                c = g.container('i%d' % k, ext=True)
                if g.p(.4): c['restartPolicy'] = 'Always'
                p['spec']['initContainers'].append(c)
        if g.p(.25): p['spec']['overhead'] = {'cpu': '150m', 'memory': '100Mi'}
        if g.p(.2): p['spec']['resources'] = {'requests': {'cpu': g.r.choice(['2', '3', '4']), 'memory': g.r.choice(['4Gi', '3Gi'])}}
        pend.append(p)
    return pend, None

def c_strategy(g):
    nodes = g.nodes(ext=True)
    g.bound(nodes, g.r.randint(0, 30), ext=True)
    res = [{'name': n, 'weight': g.r.randint(1, 5)} for n in g.r.sample(['cpu', 'memory', 'ephemeral-storage', 'example.com/foo', 'hugepages-2Mi'], g.r.randint(1, 4))]
    ty = g.r.choice(['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio'])
    st = {'type': ty, 'resources': res}
    if ty == 'RequestedToCapacityRatio':
        us = sorted(g.r.sample(range(0, 101), g.r.randint(2, 4)))
        st['requestedToCapacityRatio'] = {'shape': [{'utilization': u, 'score': g.r.randint(0, 10)} for u in us]}
    args = {'scoringStrategy': st}
    if g.p(.3): args['ignoredResources'] = ['example.com/foo']
    if g.p(.2): args['ignoredResourceGroups'] = ['example.com']
    cfg = g.cfg('NodeResourcesFit', args)
    if g.p(.4):
        cfg['profiles'][0]['pluginConfig'].append({'name': 'NodeResourcesBalancedAllocation', 'args': {'apiVersion': CFG['apiVersion'], 'kind': 'NodeResourcesBalancedAllocationArgs',
            'resources': [{'name': n, 'weight': 1} for n in g.r.sample(['cpu', 'memory', 'ephemeral-storage', 'example.com/foo'], g.r.randint(1, 4))]}})
    return [g.pod('pend-%d' % i, containers=g.r.randint(1, 2), ext=True, eph=True) for i in range(g.r.randint(1, 5))], cfg

def c_nodeaffinity(g):
    nodes = g.nodes()
    g.taint_nodes(nodes)
    g.bound(nodes, g.r.randint(0, 10))
    pend = []
    for i in range(g.r.randint(1, 6)):
        p = g.pod('pend-%d' % i)
        if g.p(.4): p['spec']['nodeSelector'] = {k: g.r.choice(VALS[k]) for k in g.r.sample(KEYS, 1)}
        if g.p(.8): p['spec']['affinity'] = {'nodeAffinity': g.node_affinity(nodes)}
        if g.p(.6): p['spec']['tolerations'] = g.tolerations()
        if g.p(.05): p['spec']['nodeName'] = ''
        pend.append(p)
    cfg = None
    if g.p(.2): cfg = g.cfg('NodeAffinity', {'addedAffinity': g.node_affinity(nodes, 1, .5)})
    return pend, cfg

def c_taints(g):
    nodes = g.nodes()
    g.taint_nodes(nodes)
    g.bound(nodes, g.r.randint(0, 10))
    pend = []
    for i in range(g.r.randint(1, 6)):
        p = g.pod('pend-%d' % i)
        p['spec']['tolerations'] = g.tolerations()
        pend.append(p)
    return pend, None

def c_ports_images(g):
    nodes = g.nodes()
    for n in nodes:
        if g.p(.7):
            n['status']['images'] = [{'names': g.r.sample(['registry.k8s.io/pause:3.10', 'docker.io/library/nginx:latest', 'nginx:latest', 'docker.io/library/redis:7', 'img.example/app:v1'], g.r.randint(1, 2)),
                                      'sizeBytes': g.r.choice([1000, 25 << 20, 100 << 20, 700 << 20, 2 << 30])} for _ in range(g.r.randint(1, 4))]
    def ports(p):
        for c in p['spec']['containers']:
            if g.p(.7):
                c['ports'] = []
                for _ in range(g.r.randint(1, 2)):
                    hp = g.r.choice([80, 443, 8080, 0])
                    d = {'containerPort': hp or 9000, 'protocol': g.r.choice(['TCP', 'TCP', 'UDP'])}
                    if hp: d['hostPort'] = hp
                    if g.p(.4): d['hostIP'] = g.r.choice(['0.0.0.0', '127.0.0.1', '10.0.0.1'])
                    if not any(x.get('hostPort') == d.get('hostPort') and x['protocol'] == d['protocol'] and x.get('hostIP') == d.get('hostIP') for x in c['ports']): c['ports'].append(d)
        return p
    g.decor = ports
    g.bound(nodes, g.r.randint(0, 20))
    return [ports(g.pod('pend-%d' % i, containers=g.r.randint(1, 2))) for i in range(g.r.randint(1, 6))], None

def c_podaffinity(g):
    g.namespaces()
    nodes = g.nodes()
    def dec(p):
        if g.p(.4):
            a = g.pod_affinity(.4, .5)
            if a: p['spec']['affinity'] = a
        return p
    g.decor = dec
    g.bound(nodes, g.r.randint(0, 30))
    pend = []
    for i in range(g.r.randint(1, 6)):
        p = g.pod('pend-%d' % i, labels=g.labels(), ns=g.r.choice(NSS) if g.p(.3) else 'default')
        a = g.pod_affinity(.6, .6)
        if a: p['spec']['affinity'] = a
        pend.append(p)
    cfg = None
    if g.p(.25): cfg = g.cfg('InterPodAffinity', {'hardPodAffinityWeight': g.r.choice([0, 1, 50, 100]), 'ignorePreferredTermsOfExistingPods': g.p(.5)})
    return pend, cfg

def c_spread(g):
    g.namespaces()
    nodes = g.nodes()
    if g.p(.4): g.taint_nodes(nodes)
    g.bound(nodes, g.r.randint(0, 30))
    for o in g.objs:
        if o['kind'] == 'Pod' and g.p(.05): o['metadata']['deletionTimestamp'] = '2026-01-02T00:00:00Z'; o['metadata']['finalizers'] = ['x/y']
    pend = []
    for i in range(g.r.randint(1, 6)):
        p = g.pod('pend-%d' % i, labels=g.labels(), ns=g.r.choice(NSS) if g.p(.2) else 'default')
        sp = g.spread()
        if sp: p['spec']['topologySpreadConstraints'] = sp
        if g.p(.3): p['spec']['nodeSelector'] = {'arch': g.r.choice(VALS['arch'])}
        if g.p(.2): p['spec']['tolerations'] = g.tolerations()
        pend.append(p)
    return pend, None

def c_spread_default(g):
    nodes = g.nodes()
    g.bound(nodes, g.r.randint(0, 30))
    for a in APPS:
        if g.p(.6): g.add('v1', 'Service', g.meta('svc-' + a, 'default'), spec={'selector': {'app': a}, 'ports': [{'port': 80}]})
        if g.p(.5): g.add('apps/v1', 'ReplicaSet', g.meta('rs-' + a, 'default'), spec={'selector': g.lsel() if g.p(.3) else {'matchLabels': {'app': a}}, 'template': {'metadata': {'labels': {'app': a}}, 'spec': {'containers': []}}})
        if g.p(.2): g.add('apps/v1', 'StatefulSet', g.meta('ss-' + a, 'default'), spec={'serviceName': 'x', 'selector': {'matchLabels': {'app': a}}, 'template': {'metadata': {'labels': {'app': a}}, 'spec': {'containers': []}}})
        if g.p(.2): g.add('v1', 'ReplicationController', g.meta('rc-' + a, 'default'), spec={'selector': {'app': a}})
    pend = []
    for i in range(g.r.randint(1, 6)):
        a = g.r.choice(APPS)
        p = g.pod('pend-%d' % i, labels={'app': a, **({'ver': 'v1'} if g.p(.3) else {})})
        if g.p(.6):
            k, api = g.r.choice([('ReplicaSet', 'apps/v1'), ('ReplicaSet', 'apps/v1'), ('StatefulSet', 'apps/v1'), ('ReplicationController', 'v1')])
            pre = {'ReplicaSet': 'rs-', 'StatefulSet': 'ss-', 'ReplicationController': 'rc-'}[k]
            p['metadata']['ownerReferences'] = [{'apiVersion': api, 'kind': k, 'name': pre + a, 'uid': 'o', 'controller': True}]
        pend.append(p)
    cfg = None
    if g.p(.5):
        cs = []
        for k in g.r.sample(['topology.kubernetes.io/zone', 'kubernetes.io/hostname', 'disk'], g.r.randint(1, 2)):
            cs.append({'maxSkew': g.r.choice([1, 2]), 'topologyKey': k, 'whenUnsatisfiable': g.r.choice(['ScheduleAnyway', 'DoNotSchedule'])})
        cfg = g.cfg('PodTopologySpread', {'defaultConstraints': cs, 'defaultingType': 'List'})
    return pend, cfg

def c_volumes(g):
    nodes = g.nodes()
    zl = lambda n: n['metadata']['labels'].get('topology.kubernetes.io/zone')
    for sc in ('fast', 'slow', 'wait', 'topo', 'noprov'):
        d = {'provisioner': 'csi.example.com' if sc != 'noprov' else 'kubernetes.io/no-provisioner', 'volumeBindingMode': 'WaitForFirstConsumer' if sc in ('wait', 'topo', 'noprov') else 'Immediate', 'reclaimPolicy': 'Delete'}
        if sc == 'topo': d['allowedTopologies'] = [{'matchLabelExpressions': [{'key': 'topology.kubernetes.io/zone', 'values': g.r.sample(ZONES, g.r.randint(1, 2))}]}]
        g.add('storage.k8s.io/v1', 'StorageClass', g.meta(sc), **d)
    if g.p(.6): g.add('storage.k8s.io/v1', 'CSIDriver', g.meta('csi.example.com'), spec={'storageCapacity': g.p(.5), 'attachRequired': True})
    for n in nodes:
        if g.p(.7):
            d = {'name': 'csi.example.com', 'nodeID': n['metadata']['name'], 'topologyKeys': ['topology.kubernetes.io/zone']}
            if g.p(.6): d['allocatable'] = {'count': g.r.randint(1, 4)}
            g.add('storage.k8s.io/v1', 'CSINode', g.meta(n['metadata']['name']), spec={'drivers': [d]})
    for z in ZONES:
        for sc in ('wait', 'topo'):
            if g.p(.6): g.add('storage.k8s.io/v1', 'CSIStorageCapacity', g.meta('cap-%s-%s' % (z, sc), 'default'), storageClassName=sc, capacity=g.r.choice(['1Gi', '5Gi', '100Gi', '0']),
                              nodeTopology={'matchLabels': {'topology.kubernetes.io/zone': z}}, **({'maximumVolumeSize': '3Gi'} if g.p(.3) else {}))
    pvs, pvcs = [], []
    modes = ['ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany', 'ReadWriteOncePod']
    def pv(i, sc, **kw):
        spec = {'capacity': {'storage': g.r.choice(['1Gi', '2Gi', '5Gi', '10Gi'])}, 'accessModes': g.r.sample(modes[:3], g.r.randint(1, 2)), 'persistentVolumeReclaimPolicy': 'Retain',
                'storageClassName': sc, 'volumeMode': 'Filesystem' if g.p(.9) else 'Block'}
        lab = {}
        if g.p(.5): spec['csi'] = {'driver': 'csi.example.com', 'volumeHandle': 'vol-%d' % i}
        elif g.p(.3): spec['awsElasticBlockStore'] = {'volumeID': 'aws-%d' % i}
        else: spec['hostPath'] = {'path': '/x/%d' % i}
        if g.p(.5): spec['nodeAffinity'] = {'required': {'nodeSelectorTerms': [{'matchExpressions': [{'key': 'topology.kubernetes.io/zone', 'operator': 'In', 'values': g.r.sample(ZONES, g.r.randint(1, 2))}]}]}}
        if g.p(.25): lab = {g.r.choice(['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone']): g.r.choice(['a', 'b', 'c', 'a__b'])}
        if g.p(.1): lab['tier'] = 'gold'
        o = g.add('v1', 'PersistentVolume', g.meta('pv-%d' % i, labels=lab, resourceVersion=str(100 + i)), spec=spec, status={'phase': 'Available'})
        pvs.append(o)
        return o
    for i in range(g.r.randint(0, 8)): pv(i, g.r.choice(['fast', 'slow', 'wait', 'noprov', 'topo', '']))
    for i in range(g.r.randint(1, 8)):
        sc = g.r.choice(['fast', 'wait', 'wait', 'topo', 'noprov', 'missing', ''])
        spec = {'accessModes': [g.r.choice(modes)], 'resources': {'requests': {'storage': g.r.choice(['1Gi', '2Gi', '4Gi', '8Gi'])}}, 'storageClassName': sc, 'volumeMode': 'Filesystem'}
        if g.p(.1): spec['selector'] = {'matchLabels': {'tier': 'gold'}}
        m = g.meta('pvc-%d' % i, 'default', resourceVersion=str(200 + i))
        st = {'phase': 'Pending'}
        x = g.r.random()
        if x < .45:
            vol = pv(100 + i, sc)
            vol['spec']['claimRef'] = {'kind': 'PersistentVolumeClaim', 'namespace': 'default', 'name': m['name'], 'uid': m['uid'], 'apiVersion': 'v1'}
            vol['status']['phase'] = 'Bound'
            if g.p(.9):
                spec['volumeName'] = vol['metadata']['name'] if g.p(.95) else 'pv-gone'
                m['annotations'] = {'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes'}
                st = {'phase': 'Bound', 'accessModes': spec['accessModes'], 'capacity': spec['resources']['requests']}
        elif x < .5: st = {'phase': 'Lost'}
        elif x < .55 and pvs:
            g.r.choice(pvs)['spec'].setdefault('claimRef', {'kind': 'PersistentVolumeClaim', 'namespace': 'default', 'name': m['name'], 'apiVersion': 'v1'})
        if g.p(.04): m['deletionTimestamp'] = '2026-01-02T00:00:00Z'; m['finalizers'] = ['kubernetes.io/pvc-protection']
        if g.p(.1): m.setdefault('annotations', {})['volume.kubernetes.io/selected-node'] = g.r.choice(nodes)['metadata']['name']
        pvcs.append(g.add('v1', 'PersistentVolumeClaim', m, spec=spec, status=st))
    def vols(p, n):
        v = []
        for k in range(n):
            x = g.r.random()
            if x < .85 and pvcs: v.append({'name': 'v%d' % k, 'persistentVolumeClaim': {'claimName': g.r.choice(pvcs)['metadata']['name'], **({'readOnly': True} if g.p(.1) else {})}})
            elif x < .9: v.append({'name': 'v%d' % k, 'persistentVolumeClaim': {'claimName': 'nope'}})
            elif x < .95: v.append({'name': 'v%d' % k, 'gcePersistentDisk': {'pdName': g.r.choice(['d1', 'd2']), 'readOnly': g.p(.5)}})
            else: v.append({'name': 'v%d' % k, 'emptyDir': {}})
        if v: p['spec']['volumes'] = v
        return p
    for i in range(g.r.randint(0, 12)):
        p = g.pod('run-%d' % i, node=g.r.choice(nodes)['metadata']['name'])
        g.objs.append(vols(p, g.r.choice([0, 1, 1, 2])))
    pend = []
    for i in range(g.r.randint(1, 5)):
        p = vols(g.pod('pend-%d' % i), g.r.choice([1, 1, 2, 3]))
        if g.p(.15):
            p['spec'].setdefault('volumes', []).append({'name': 'eph', 'ephemeral': {'volumeClaimTemplate': {'spec': {'accessModes': ['ReadWriteOnce'], 'storageClassName': 'wait', 'resources': {'requests': {'storage': '1Gi'}}}}}})
            if g.p(.7):
                m = g.meta(p['metadata']['name'] + '-eph', 'default', resourceVersion='300')
                if g.p(.8): m['ownerReferences'] = [{'apiVersion': 'v1', 'kind': 'Pod', 'name': p['metadata']['name'], 'uid': p['metadata']['uid'], 'controller': True, 'blockOwnerDeletion': True}]
                g.add('v1', 'PersistentVolumeClaim', m, spec={'accessModes': ['ReadWriteOnce'], 'storageClassName': 'wait', 'resources': {'requests': {'storage': '1Gi'}}, 'volumeMode': 'Filesystem'}, status={'phase': 'Pending'})
        pend.append(p)
    return pend, None

def c_preempt(g):
    nodes = g.nodes(2, 9)
    prios = [-10, 0, 0, 5, 10, 100, 1000]
    def dec(p):
        if g.p(.25): p['spec']['affinity'] = {k: v for k, v in g.pod_affinity(.5, 0).items()}
        if g.p(.1):
            p['spec']['containers'][0]['ports'] = [{'containerPort': 80, 'hostPort': 80, 'protocol': 'TCP'}]
        return p
    g.decor = dec
    for i in range(g.r.randint(5, 40)):
        p = dec(g.pod('run-%02d' % i, node=g.r.choice(nodes)['metadata']['name'], labels=g.labels(), prio=g.r.choice(prios)))
        if g.p(.04): p['metadata']['deletionTimestamp'] = '2026-01-02T00:00:00Z'; p['metadata']['finalizers'] = ['x/y']
        g.objs.append(p)
    for i in range(g.r.choice([0, 1, 2, 3])):
        d = {'selector': g.lsel()}
        if g.p(.8): d['minAvailable'] = 1
        st = {'disruptionsAllowed': g.r.choice([0, 0, 1, 2]), 'currentHealthy': 1, 'desiredHealthy': 1, 'expectedPods': 1}
        if g.p(.1): st['disruptedPods'] = {'run-00': '2026-01-02T00:00:00Z'}
        g.add('policy/v1', 'PodDisruptionBudget', g.meta('pdb-%d' % i, 'default'), spec=d, status=st)
    for i in range(g.r.choice([0, 0, 1, 2])):
        p = g.pod('nom-%d' % i, labels=g.labels(), prio=g.r.choice(prios))
        p['status']['nominatedNodeName'] = g.r.choice(nodes)['metadata']['name']
        g.objs.append(p)
    pend = []
    for i in range(g.r.randint(1, 3)):
        p = dec(g.pod('pend-%d' % i, labels=g.labels(), prio=g.r.choice([0, 5, 10, 50, 1000, 2000])))
        p['spec']['containers'][0]['resources']['requests'] = {'cpu': g.r.choice(['1', '2', '3500m', '6']), 'memory': g.r.choice(['1Gi', '3Gi', '6Gi'])}
        if g.p(.1): p['spec']['preemptionPolicy'] = 'Never'
        if g.p(.2): p['spec']['topologySpreadConstraints'] = [c for c in g.spread() if c['whenUnsatisfiable'] == 'DoNotSchedule']
        if not p['spec'].get('topologySpreadConstraints', True): del p['spec']['topologySpreadConstraints']
        pend.append(p)
    return pend, None

def c_mixed(g):
    g.namespaces()
    nodes = g.nodes(6, 20, ext=True)
    if g.p(.5): g.taint_nodes(nodes)
    def dec(p):
        if g.p(.2):
            a = g.pod_affinity(.4, .4)
            if a: p['spec']['affinity'] = a
        return p
    g.decor = dec
    g.bound(nodes, g.r.randint(0, 50), ext=True)
    pend = []
    for i in range(g.r.randint(3, 12)):
        p = g.pod('pend-%02d' % i, labels=g.labels(), prio=g.r.choice([0, 0, 10]), ext=g.p(.3), ns=g.r.choice(NSS) if g.p(.2) else 'default')
        a = {}
        if g.p(.3): a.update(g.pod_affinity(.4, .5))
        if g.p(.4):
            x = g.node_affinity(nodes, .4, .8)
            if x: a['nodeAffinity'] = x
        if a: p['spec']['affinity'] = a
        if g.p(.4):
            sp = g.spread()
            if sp: p['spec']['topologySpreadConstraints'] = sp
        if g.p(.4): p['spec']['tolerations'] = g.tolerations()
        pend.append(p)
    cfg = None
    if g.p(.2):
        off = g.r.sample(['TaintToleration', 'NodeAffinity', 'InterPodAffinity', 'PodTopologySpread', 'ImageLocality', 'NodeResourcesBalancedAllocation', 'NodePorts', 'NodeUnschedulable'], g.r.randint(1, 3))
        cfg = g.cfg(None, None, {'multiPoint': {'disabled': [{'name': n} for n in off]}})
    elif g.p(.2):
        on = g.r.sample(['TaintToleration', 'NodeAffinity', 'InterPodAffinity', 'PodTopologySpread', 'ImageLocality', 'NodeResourcesFit'], g.r.randint(1, 3))
        cfg = g.cfg(None, None, {'score': {'disabled': [{'name': '*'}], 'enabled': [{'name': n, 'weight': g.r.randint(1, 10)} for n in on]}})
    return pend, cfg

def c_resize(g):
    """Pod-level resources, sidecars, in-place resize in flight, overhead, init ports, and
    quantities below one thousandth."""
    nodes = g.nodes(ext=True)
    def dec(p, bound=True):
        sp = p['spec']
        if g.p(.4):
            lv = {}
            if g.p(.7): lv['cpu'] = g.r.choice(['1', '1500m', '2', '250m', '0'])
            if g.p(.7): lv['memory'] = g.r.choice(['1Gi', '2Gi', '64Mi', '0'])
            if g.p(.2): lv['hugepages-2Mi'] = '4Mi'
            if lv: sp['resources'] = {'requests': lv}
            if g.p(.3) and lv: sp['resources']['limits'] = dict(lv)
        if g.p(.4):
            sp['initContainers'] = []
            for k in range(g.r.randint(1, 3)):
                c = g.container('i%d' % k, ext=g.p(.3))
                if g.p(.5): c['restartPolicy'] = 'Always'
                if g.p(.3): c['ports'] = [{'containerPort': 80, 'hostPort': g.r.choice([80, 81]), 'protocol': 'TCP'}]
                sp['initContainers'].append(c)
        if g.p(.2): sp['overhead'] = {'cpu': g.r.choice(['10m', '250m']), 'memory': '32Mi'}
        for c in sp['containers']:
            if g.p(.15): c['resources']['requests'] = {'cpu': g.r.choice(['1u', '500u', '1n', '0.0001', '1500u', '1e-3', '100e-3']), 'memory': g.r.choice(['1.5', '100k', '1Ki', '0.5Gi', '1E3', '12e6', '1024m'])}
            if g.p(.1): c['resources']['limits'] = {'cpu': '4', 'memory': '8Gi'}
        if bound and g.p(.5):
            st = []
            for c in sp['containers']:
                q = {'name': c['name'], 'ready': True, 'restartCount': 0, 'image': c['image'], 'imageID': ''}
                if g.p(.7): q['allocatedResources'] = {'cpu': g.r.choice(['50m', '2', '3']), 'memory': g.r.choice(['32Mi', '4Gi'])}
                if g.p(.7): q['resources'] = {'requests': {'cpu': g.r.choice(['50m', '1', '3']), 'memory': g.r.choice(['16Mi', '5Gi'])}}
                st.append(q)
            p['status']['containerStatuses'] = st
            if g.p(.4):
                p['status']['conditions'] = [{'type': 'PodResizePending', 'status': 'True', 'reason': g.r.choice(['Infeasible', 'Deferred'])}]
            elif g.p(.3): p['status']['conditions'] = [{'type': 'PodResizeInProgress', 'status': 'True'}]
            if g.p(.2): p['status']['resources'] = {'requests': {'cpu': '1', 'memory': '1Gi'}}
            if g.p(.2): p['status']['allocatedResources'] = {'cpu': '2', 'memory': '2Gi'}
        return p
    g.decor = dec
    g.bound(nodes, g.r.randint(3, 25), ext=g.p(.3), containers=g.r.randint(1, 3))
    return [dec(g.pod('pend-%d' % i, containers=g.r.randint(1, 3), ext=g.p(.3)), False) for i in range(g.r.randint(1, 5))], None

AMOUNTS = {'cpu': ['1e19', '3e19', '1E', '3E', '30E', '1e20', '9223372036854775807', '9223372036854775808', '8Ei', '1Ei', '0.0000000001', '9223372036854776', '1n'],
           'memory': ['1e19', '3e19', '1e20', '30E', '12e19', '9223372036854775807', '9223372036854775808', '8Ei', '9e18', '4611686018427387904', '1', '1m']}

def c_amounts(g):
    """Quantities at and beyond the limits of int64, in every field that requests come from."""
    pend, cfg = c_resize(g)
    def odd(q):
        for n in AMOUNTS:
            if n in q and g.p(.12): q[n] = g.r.choice(AMOUNTS[n])
    for o in g.objs + pend:
        if o['kind'] == 'Node':
            if g.p(.3): odd(o['status']['allocatable'])
        if o['kind'] != 'Pod': continue
        sp = o['spec']
        for c in sp['containers'] + sp.get('initContainers', []) + [sp] + o['status'].get('containerStatuses', []):
            odd((c.get('resources') or {}).get('requests', {}))
            odd(c.get('allocatedResources', {}))
        odd(sp.get('overhead', {}))
    return pend, cfg

def c_odd(g):
    """Legal but unusual selectors, tolerations, images and names."""
    g.namespaces()
    nodes = g.nodes()
    g.taint_nodes(nodes)
    for n in nodes:
        if g.p(.3): n['metadata']['labels']['num'] = g.r.choice(['5', '-3', '007', '9223372036854775807', '9223372036854775808', '1.5', '', ' 4'])
        if g.p(.3): n['metadata']['labels']['empty'] = ''
        if g.p(.2): n['spec'].setdefault('taints', []).append({'key': 'num', 'value': g.r.choice(['5', '10', 'x']), 'effect': 'NoSchedule'})
        n['status']['images'] = [{'names': g.r.sample(['nginx', 'nginx:latest', 'docker.io/library/nginx:latest', 'a:5000/x', 'a:5000/x:latest', 'img@sha256:' + 'b' * 64], 2), 'sizeBytes': g.r.choice([0, 30 << 20, 500 << 20])} for _ in range(g.r.randint(0, 3))]
    g.bound(nodes, g.r.randint(0, 15))
    pend = []
    for i in range(g.r.randint(2, 6)):
        p = g.pod('pend-%d' % i, labels=g.labels())
        sp = p['spec']
        sp['containers'][0]['image'] = g.r.choice(['nginx', 'nginx:latest', 'a:5000/x', 'a:5000/x:latest', 'img@sha256:' + 'b' * 64, 'docker.io/library/nginx'])
        if g.p(.3): sp['initContainers'] = [dict(g.container('i'), image='nginx')]
        if g.p(.2): sp['volumes'] = [{'name': 'im', 'image': {'reference': 'nginx:latest', 'pullPolicy': 'IfNotPresent'}}]
        x = g.r.random()
        if x < .15: sp['nodeSelector'] = {}
        elif x < .3: sp['nodeSelector'] = {'empty': ''}
        elif x < .4: sp['nodeSelector'] = {'bad key!': 'x'}
        elif x < .5: sp['nodeSelector'] = {'disk': 'bad value!'}
        if g.p(.7):
            def term():
                t = {}
                e = []
                for _ in range(g.r.choice([0, 1, 1, 2])):
                    op = g.r.choice(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'])
                    d = {'key': g.r.choice(['num', 'num', 'empty', 'disk', 'kubernetes.io/hostname']), 'operator': op}
                    if op in ('In', 'NotIn'): d['values'] = g.r.choice([['5', ''], ['007'], ['ssd', 'hdd'], ['bad value!'], ['node-00', 'node-01']])
                    if op in ('Gt', 'Lt'): d['values'] = g.r.choice([['4'], ['-10'], ['x'], ['1', '2'], ['9223372036854775807']])
                    e.append(d)
                if e or g.p(.3): t['matchExpressions'] = e
                if g.p(.25): t['matchFields'] = [{'key': g.r.choice(['metadata.name', 'metadata.name', 'metadata.uid']), 'operator': g.r.choice(['In', 'In', 'NotIn', 'Exists']), 'values': g.r.choice([['node-00'], ['node-01'], ['node-00', 'node-01'], ['nope']])}]
                return t
            a = {}
            if g.p(.7): a['requiredDuringSchedulingIgnoredDuringExecution'] = {'nodeSelectorTerms': [term() for _ in range(g.r.choice([0, 1, 1, 2, 3]))]}
            if g.p(.5): a['preferredDuringSchedulingIgnoredDuringExecution'] = [{'weight': g.r.choice([0, 1, 50, 100]), 'preference': term()} for _ in range(g.r.choice([0, 1, 2]))]
            sp['affinity'] = {'nodeAffinity': a}
            if g.p(.1): sp['affinity']['podAffinity'] = {}
            if g.p(.1): sp['affinity']['podAntiAffinity'] = {'requiredDuringSchedulingIgnoredDuringExecution': []}
        sp['tolerations'] = g.tolerations()
        if g.p(.2): sp['tolerations'].append({'operator': 'Equal', 'value': 'a'})
        if g.p(.2): sp['tolerations'].append({'key': 'num', 'operator': g.r.choice(['Gt', 'Lt']), 'value': g.r.choice(['3', '7', 'y']), 'effect': 'NoSchedule'})
        if g.p(.2): sp['tolerations'].append({'key': 'ded', 'operator': 'Exists', 'effect': '', 'tolerationSeconds': 30})
        pend.append(p)
    return pend, None

def c_binding(g):
    """The PV that each claim gets; volume limits with attachments and migrated in-tree volumes;
    zones and regions."""
    nodes = g.nodes(3, 8)
    for n in nodes:
        n['spec'].pop('unschedulable', None)
        n['status']['allocatable'].update(cpu='64', memory='256Gi', pods='110')
        if g.p(.3): n['metadata']['labels']['failure-domain.beta.kubernetes.io/zone'] = g.r.choice(ZONES)
    g.add('storage.k8s.io/v1', 'StorageClass', g.meta('local'), provisioner='kubernetes.io/no-provisioner', volumeBindingMode='WaitForFirstConsumer', reclaimPolicy='Delete')
    g.add('storage.k8s.io/v1', 'StorageClass', g.meta('csi'), provisioner='ebs.csi.aws.com', volumeBindingMode='WaitForFirstConsumer', reclaimPolicy='Delete')
    g.add('storage.k8s.io/v1', 'StorageClass', g.meta('intree'), provisioner='kubernetes.io/aws-ebs', volumeBindingMode='WaitForFirstConsumer', reclaimPolicy='Delete')
    g.add('storage.k8s.io/v1', 'CSIDriver', g.meta('ebs.csi.aws.com'), spec={'storageCapacity': g.p(.4), 'attachRequired': True})
    for z in ZONES:
        if g.p(.7): g.add('storage.k8s.io/v1', 'CSIStorageCapacity', g.meta('cap-' + z, 'default'), storageClassName='csi', capacity=g.r.choice(['2Gi', '20Gi', '100Gi']), nodeTopology={'matchLabels': {'topology.kubernetes.io/zone': z}},
                          **({'maximumVolumeSize': g.r.choice(['1Gi', '3Gi', '10Gi'])} if g.p(.6) else {}))
    for n in nodes:
        nm = n['metadata']['name']
        m = g.meta(nm)
        if g.p(.6): m['annotations'] = {'storage.alpha.kubernetes.io/migrated-plugins': g.r.choice(['kubernetes.io/aws-ebs', 'kubernetes.io/aws-ebs,kubernetes.io/gce-pd', 'kubernetes.io/gce-pd'])}
        dr = [{'name': 'ebs.csi.aws.com', 'nodeID': nm, 'topologyKeys': ['topology.kubernetes.io/zone'], 'allocatable': {'count': g.r.randint(1, 4)}}]
        if g.p(.3): dr.append({'name': 'pd.csi.storage.gke.io', 'nodeID': nm, 'topologyKeys': None, 'allocatable': {'count': g.r.randint(0, 2)}})
        if g.p(.9): g.add('storage.k8s.io/v1', 'CSINode', m, spec={'drivers': dr})
    modes = ['ReadWriteOnce', 'ReadWriteMany', 'ReadOnlyMany']
    def pv(i, sc):
        spec = {'capacity': {'storage': g.r.choice(['1Gi', '2Gi', '3Gi', '5Gi', '10Gi', '50Gi'])}, 'accessModes': g.r.sample(modes, g.r.randint(1, 3)), 'persistentVolumeReclaimPolicy': 'Retain', 'storageClassName': sc,
                'volumeMode': 'Filesystem' if g.p(.85) else 'Block'}
        lab = {}
        x = g.r.random()
        if x < .4: spec['local'] = {'path': '/d/%d' % i}
        elif x < .6: spec['csi'] = {'driver': 'ebs.csi.aws.com', 'volumeHandle': 'vol-%d' % g.r.randrange(1000)}
        elif x < .8:
            spec['awsElasticBlockStore'] = {'volumeID': 'aws://us-a/vol-%d' % g.r.randrange(1000)}
            if g.p(.6): lab['topology.kubernetes.io/zone'] = g.r.choice(ZONES + ['a__b'])
            if g.p(.3): lab['topology.kubernetes.io/region'] = g.r.choice(['r1', 'r2'])
        else:
            spec['gcePersistentDisk'] = {'pdName': 'pd-%d' % i}
            if g.p(.5): lab['failure-domain.beta.kubernetes.io/zone'] = g.r.choice(ZONES)
        if g.p(.4): spec['nodeAffinity'] = {'required': {'nodeSelectorTerms': [{'matchExpressions': [g.r.choice([
            {'key': 'topology.kubernetes.io/zone', 'operator': 'In', 'values': g.r.sample(ZONES, g.r.randint(1, 2))},
            {'key': 'kubernetes.io/hostname', 'operator': 'In', 'values': [g.r.choice(nodes)['metadata']['name'], g.r.choice(nodes)['metadata']['name']]}])]}]}}
        if g.p(.3): lab['tier'] = g.r.choice(['gold', 'silver'])
        m = g.meta('pv-%02d' % i, labels=lab, resourceVersion=str(100 + i))
        if g.p(.05): m['deletionTimestamp'] = '2026-01-02T00:00:00Z'; m['finalizers'] = ['kubernetes.io/pv-protection']
        return g.add('v1', 'PersistentVolume', m, spec=spec, status={'phase': g.r.choice(['Available'] * 8 + ['Released', 'Failed', 'Pending'])})
    free = [pv(i, g.r.choice(['local', 'local', 'csi'])) for i in range(g.r.randint(4, 14))]
    pvcs = []
    for i in range(g.r.randint(3, 10)):
        sc = g.r.choice(['local', 'local', 'local', 'csi', 'intree'])
        spec = {'accessModes': g.r.sample(modes, g.r.choice([1, 1, 2])), 'resources': {'requests': {'storage': g.r.choice(['500Mi', '1Gi', '2Gi', '4Gi', '8Gi'])}}, 'storageClassName': sc, 'volumeMode': 'Filesystem' if g.p(.9) else 'Block'}
        if g.p(.2): spec['selector'] = g.r.choice([{'matchLabels': {'tier': 'gold'}}, {'matchExpressions': [{'key': 'tier', 'operator': 'Exists'}]}])
        m = g.meta('pvc-%d' % i, 'default', resourceVersion=str(200 + i))
        st = {'phase': 'Pending'}
        x = g.r.random()
        if x < .3:
            vol = pv(50 + i, sc)
            vol['metadata'].pop('deletionTimestamp', None); vol['metadata'].pop('finalizers', None)
            vol['spec']['claimRef'] = {'kind': 'PersistentVolumeClaim', 'namespace': 'default', 'name': m['name'], 'uid': m['uid'], 'apiVersion': 'v1'}
            vol['status']['phase'] = 'Bound'
            spec['volumeName'] = vol['metadata']['name']
            m['annotations'] = {'pv.kubernetes.io/bind-completed': 'yes'}
            st = {'phase': 'Bound'}
        elif x < .45 and free:
            g.r.choice(free)['spec'].setdefault('claimRef', {'kind': 'PersistentVolumeClaim', 'namespace': 'default', 'name': m['name'], 'apiVersion': 'v1', **({'uid': m['uid'] if g.p(.7) else 'other'} if g.p(.5) else {})})
        if x > .9: m.setdefault('annotations', {})['volume.kubernetes.io/selected-node'] = g.r.choice(nodes)['metadata']['name']
        pvcs.append(g.add('v1', 'PersistentVolumeClaim', m, spec=spec, status=st))
    def vols(p, n):
        names = g.r.sample([c['metadata']['name'] for c in pvcs], min(n, len(pvcs)))
        p['spec']['volumes'] = [{'name': 'v%d' % k, 'persistentVolumeClaim': {'claimName': nm}} for k, nm in enumerate(names)]
        for c in p['spec']['containers']: c['resources'] = {}
        return p
    for i in range(g.r.randint(0, 8)): g.objs.append(vols(g.pod('run-%d' % i, node=g.r.choice(nodes)['metadata']['name']), g.r.choice([0, 1, 1, 2])))
    for i in range(g.r.choice([0, 0, 1, 3])):
        g.add('storage.k8s.io/v1', 'VolumeAttachment', g.meta('va-%d' % i), spec={'attacher': g.r.choice(['ebs.csi.aws.com', 'ebs.csi.aws.com', 'pd.csi.storage.gke.io']), 'nodeName': g.r.choice(nodes)['metadata']['name'],
              'source': {'persistentVolumeName': g.r.choice([o['metadata']['name'] for o in g.objs if o['kind'] == 'PersistentVolume'])}}, status={'attached': True})
    return [vols(g.pod('pend-%d' % i), g.r.choice([1, 1, 2, 3])) for i in range(g.r.randint(2, 6))], None

def c_evict(g):
    """Preemption with many candidates: ties at every criterion, nominated pending pods,
    ReadWriteOncePod, terminating victims."""
    nodes = g.nodes(3, 10)
    for n in nodes:
        n['spec'].pop('unschedulable', None)
        n['status']['allocatable'].update(cpu='4', memory='8Gi', pods='110')
    g.add('v1', 'PersistentVolumeClaim', g.meta('solo', 'default', resourceVersion='7', annotations={'pv.kubernetes.io/bind-completed': 'yes'}), spec={'accessModes': ['ReadWriteOncePod'], 'resources': {'requests': {'storage': '1Gi'}}, 'storageClassName': '', 'volumeMode': 'Filesystem', 'volumeName': 'pv-solo'}, status={'phase': 'Bound'})
    g.add('v1', 'PersistentVolume', g.meta('pv-solo', resourceVersion='8'), spec={'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOncePod'], 'hostPath': {'path': '/x'}, 'storageClassName': '', 'volumeMode': 'Filesystem',
          'claimRef': {'kind': 'PersistentVolumeClaim', 'namespace': 'default', 'name': 'solo', 'apiVersion': 'v1'}}, status={'phase': 'Bound'})
    prios = g.r.sample([-5, 0, 1, 5, 10], g.r.randint(1, 3))
    k = 0
    solo = g.p(.3)
    for n in nodes:
        for _ in range(g.r.randint(2, 5)):
            p = g.pod('run-%02d' % k, node=n['metadata']['name'], labels={'app': g.r.choice(APPS[:2])}, prio=g.r.choice(prios))
            k += 1
            p['spec']['containers'][0]['resources'] = {'requests': {'cpu': g.r.choice(['500m', '1', '2']), 'memory': '1Gi'}}
            if g.p(.15): p['status'].pop('startTime')
            if g.p(.5): p['status']['startTime'] = '2026-01-01T00:00:00Z'
            if g.p(.06): p['metadata']['deletionTimestamp'] = '2026-01-02T00:00:00Z'; p['metadata']['finalizers'] = ['x/y']
            if g.p(.2): p['spec']['containers'][0]['ports'] = [{'containerPort': 80, 'hostPort': 80, 'protocol': 'TCP'}]
            if solo:
                solo = False
                p['spec']['volumes'] = [{'name': 'v', 'persistentVolumeClaim': {'claimName': 'solo'}}]
            g.objs.append(p)
    for i in range(g.r.choice([0, 1, 2])):
        st = {'disruptionsAllowed': g.r.choice([0, 1, 2]), 'currentHealthy': 1, 'desiredHealthy': 1, 'expectedPods': 1}
        if g.p(.3): st['disruptedPods'] = {'run-%02d' % g.r.randrange(k): '2026-01-02T00:00:00Z'}
        g.add('policy/v1', 'PodDisruptionBudget', g.meta('pdb-%d' % i, 'default'), spec={'selector': g.r.choice([{'matchLabels': {'app': APPS[0]}}, {}, {'matchLabels': {'app': APPS[1]}}]), 'minAvailable': 1}, status=st)
    for i in range(g.r.choice([0, 0, 1, 3])):
        p = g.pod('nom-%d' % i, labels={'app': g.r.choice(APPS)}, prio=g.r.choice([0, 20, 100]))
        p['status']['nominatedNodeName'] = g.r.choice(nodes)['metadata']['name']
        if g.p(.3): p['spec']['affinity'] = {'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': [{'labelSelector': {'matchLabels': {'app': 'web'}}, 'topologyKey': 'topology.kubernetes.io/zone'}]}}
        g.objs.append(p)
    pend = []
    for i in range(g.r.randint(1, 3)):
        p = g.pod('pend-%d' % i, labels={'app': g.r.choice(APPS)}, prio=g.r.choice([3, 20, 50]))
        p['spec']['containers'][0]['resources'] = {'requests': {'cpu': g.r.choice(['2', '3', '3500m']), 'memory': g.r.choice(['1Gi', '4Gi'])}}
        if g.p(.2): p['status']['nominatedNodeName'] = g.r.choice(nodes)['metadata']['name']
        if g.p(.25): p['spec']['containers'][0]['ports'] = [{'containerPort': 80, 'hostPort': 80, 'protocol': 'TCP'}]
        if g.p(.2): p['spec']['volumes'] = [{'name': 'v', 'persistentVolumeClaim': {'claimName': 'solo'}}]
        if g.p(.2): p['spec']['affinity'] = {'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': [{'labelSelector': {'matchLabels': {'app': g.r.choice(APPS[:2])}}, 'topologyKey': g.r.choice(['kubernetes.io/hostname', 'topology.kubernetes.io/zone'])}]}}
        if g.p(.15): p['spec']['affinity'] = {'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': [{'labelSelector': {'matchLabels': {'app': g.r.choice(APPS[:2])}}, 'topologyKey': 'topology.kubernetes.io/zone'}]}}
        if g.p(.2): p['spec']['topologySpreadConstraints'] = [{'maxSkew': 1, 'topologyKey': g.r.choice(['topology.kubernetes.io/zone', 'kubernetes.io/hostname']), 'whenUnsatisfiable': 'DoNotSchedule', 'labelSelector': {'matchLabels': {'app': p['metadata']['labels']['app']}}}]
        pend.append(p)
    cfg = None
    if g.p(.2): cfg = g.cfg('DefaultPreemption', {'minCandidateNodesPercentage': g.r.choice([10, 50, 100]), 'minCandidateNodesAbsolute': 100})
    return pend, cfg

def c_churn(g):
    """Many pods of few kinds in a changing cluster: pods come and go; nodes join, change, leave."""
    g.namespaces()
    nodes = g.nodes(20, 60, ext=True)
    if g.p(.5): g.taint_nodes(nodes)
    g.bound(nodes, g.r.randint(0, 100))
    kinds = []
    for k in range(g.r.randint(2, 6)):
        t = g.pod('t', labels=g.labels(), prio=g.r.choice([0, 0, 10]), ext=g.p(.2), ns=g.r.choice(NSS) if g.p(.2) else 'default')
        a = {}
        if g.p(.35): a.update(g.pod_affinity(.4, .5))
        if g.p(.35):
            x = g.node_affinity(nodes, .4, .8)
            if x: a['nodeAffinity'] = x
        if a: t['spec']['affinity'] = a
        if g.p(.4):
            sp = g.spread()
            if sp: t['spec']['topologySpreadConstraints'] = sp
        if g.p(.3): t['spec']['tolerations'] = g.tolerations()
        kinds.append(t)
    names = ['%s/%s' % (o['metadata']['namespace'], o['metadata']['name']) for o in g.objs if o['kind'] == 'Pod']
    live = [n['metadata']['name'] for n in nodes]
    steps = []
    for i in range(g.r.randint(40, 120)):
        x = g.r.random()
        if x < .72:
            p = json.loads(json.dumps(g.r.choice(kinds)))
            p['metadata']['name'] = 'pend-%03d' % i
            g.uid += 1
            p['metadata']['uid'] = 'uid-%d' % g.uid
            names.append('%s/%s' % (p['metadata']['namespace'], p['metadata']['name']))
            steps.append(p)
        elif x < .88 and names:
            steps.append({'op': 'deletePod', 'pod': names.pop(g.r.randrange(len(names)))})
        elif x < .93:
            keep = len(g.objs)
            n = g.node(100 + i, ext=True)
            del g.objs[keep:]
            live.append(n['metadata']['name'])
            steps.append({'op': 'addNode', 'node': n})
        elif x < .97 and live:
            keep = len(g.objs)
            n = g.node(0, ext=True)
            del g.objs[keep:]
            nm = g.r.choice(live)
            n['metadata']['name'] = nm
            n['metadata']['labels']['kubernetes.io/hostname'] = nm
            steps.append({'op': 'updateNode', 'node': n})
        elif len(live) > 3:
            steps.append({'op': 'deleteNode', 'name': live.pop(g.r.randrange(len(live)))})
    return steps, None

def c_dra(g):
    nodes = g.nodes(2, 6)
    drv = 'gpu.example.com'
    classes = [('gpu', [{'cel': {'expression': 'device.driver == "gpu.example.com"'}}]),
               ('big', [{'cel': {'expression': 'device.driver == "gpu.example.com" && device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'}}]),
               ('any', [])]
    for n, sel in classes: g.add('resource.k8s.io/v1', 'DeviceClass', g.meta(n), spec={'selectors': sel} if sel else {})
    for n in nodes:
        if g.p(.85):
            devs = []
            for k in range(g.r.randint(1, 4)):
                d = {'name': 'gpu-%d' % k, 'attributes': {'model': {'string': g.r.choice(['a100', 'h100'])}, 'index': {'int': k}, 'numa': {'int': k % 2}, 'ecc': {'bool': g.p(.5)}, 'driverVersion': {'version': g.r.choice(['1.2.3', '2.0.0'])}},
                     'capacity': {'memory': {'value': g.r.choice(['40Gi', '80Gi', '24Gi'])}}}
                if g.p(.1): d['taints'] = [{'key': 'bad', 'effect': 'NoSchedule'}]
                devs.append(d)
            g.add('resource.k8s.io/v1', 'ResourceSlice', g.meta('slice-' + n['metadata']['name']), spec={'driver': drv, 'nodeName': n['metadata']['name'], 'pool': {'name': n['metadata']['name'], 'generation': 1, 'resourceSliceCount': 1}, 'devices': devs})
    exprs = ['device.attributes["gpu.example.com"].model == "a100"', 'device.attributes["gpu.example.com"].ecc', 'device.attributes["gpu.example.com"].index > 0',
             'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("30Gi"))', 'device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("1.5.0"))',
             '"model" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].model.startsWith("h")', 'device.attributes["gpu.example.com"].nope == "x"']
    def req(k):
        e = {'deviceClassName': g.r.choice(['gpu', 'gpu', 'big', 'any', 'missing'] if g.p(.1) else ['gpu', 'gpu', 'big', 'any'])}
        if g.p(.5): e['selectors'] = [{'cel': {'expression': g.r.choice(exprs)}}]
        x = g.r.random()
        if x < .15: e['allocationMode'] = 'All'
        else: e['allocationMode'] = 'ExactCount'; e['count'] = g.r.choice([1, 1, 1, 2, 3])
        if g.p(.1): e['tolerations'] = [{'key': 'bad', 'operator': 'Exists'}]
        if g.p(.2): return {'name': 'r%d' % k, 'firstAvailable': [dict(e, name='s0'), {'name': 's1', 'deviceClassName': 'gpu', 'allocationMode': 'ExactCount', 'count': 1}]}
        return {'name': 'r%d' % k, 'exactly': e}
    pend = []
    for i in range(g.r.randint(1, 5)):
        p = g.pod('pend-%d' % i)
        n = g.r.choice([1, 1, 2])
        p['spec']['resourceClaims'] = []
        for k in range(n):
            cn = 'claim-%d-%d' % (i, k)
            p['spec']['resourceClaims'].append({'name': 'c%d' % k, 'resourceClaimName': cn})
            if g.p(.96):
                rq = [req(j) for j in range(g.r.choice([1, 1, 2]))]
                sp = {'devices': {'requests': rq}}
                if len(rq) == 2 and g.p(.4): sp['devices']['constraints'] = [{'matchAttribute': 'gpu.example.com/' + g.r.choice(['numa', 'model'])}]
                g.add('resource.k8s.io/v1', 'ResourceClaim', g.meta(cn, 'default', resourceVersion=str(g.uid + 500)), spec=sp, status={})
        pend.append(p)
    return pend, None

def c_unusual(g):
    """Cases of the other categories with unusual values and more members."""
    return unusual(g, CATS)

CATS = {k[2:]: v for k, v in list(globals().items()) if k.startswith('c_')}
names = only or sorted(CATS)
for i in range(count):
    for n in names:
        g = G(random.Random('%s/%s/%d' % (seed, n, i)))
        pend, cfg = CATS[n](g)
        c = {'name': '%s-%s-%d' % (n, seed, i), 'objects': g.objs, 'pending': pend}
        if cfg: c['config'] = cfg
        if n == 'churn': c['brief'] = True
        print(json.dumps(c, separators=(',', ':')))
