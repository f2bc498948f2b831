# SPDX-License-Identifier: Apache-2.0
"""VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone (specification 07 and 07b)."""
import re

from . import objects, quantity, status
from .cluster import AssumeError
from .framework import Plugin, PluginError
from .selectors import SelectorError, node_selector_matches, parse_label_selector, selector_matches

ZONE, REGION = 'topology.kubernetes.io/zone', 'topology.kubernetes.io/region'
BETA_ZONE, BETA_REGION = 'failure-domain.beta.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/region'
CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'
SELECTED_NODE = 'volume.kubernetes.io/selected-node'
BIND_COMPLETED, BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bind-completed', 'pv.kubernetes.io/bound-by-controller'

# in-tree plugin -> (CSI driver, member of the volume source, topology key of the driver) (07 4.1)
IN_TREE = {
    'kubernetes.io/gce-pd': ('pd.csi.storage.gke.io', 'gcePersistentDisk', 'topology.gke.io/zone'),
    'kubernetes.io/aws-ebs': ('ebs.csi.aws.com', 'awsElasticBlockStore', 'topology.ebs.csi.aws.com/zone'),
    'kubernetes.io/cinder': ('cinder.csi.openstack.org', 'cinder', 'topology.cinder.csi.openstack.org/zone'),
    'kubernetes.io/azure-disk': ('disk.csi.azure.com', 'azureDisk', None),
    'kubernetes.io/portworx-volume': ('pxd.portworx.com', 'portworxVolume', None),
    'kubernetes.io/azure-file': ('file.csi.azure.com', 'azureFile', None),
    'kubernetes.io/vsphere-volume': ('csi.vsphere.vmware.com', 'vsphereVolume', None)}
MIGRATED = list(IN_TREE)[:5]     # the plugins that this scheduler treats as migrated (07 4.1)


class NotFound(PluginError):
    """A claim that does not exist."""


# --- shared definitions (07 2)

def claim_name(pod, volume):
    """(claim name, whether ephemeral) of a pod volume, or None without a claim (07 2.2)."""
    if volume.get('persistentVolumeClaim') is not None:
        return volume['persistentVolumeClaim'].get('claimName', ''), False
    if volume.get('ephemeral') is not None:
        return pod.name + '-' + volume['name'], True
    return None


def is_owned(pod, claim):
    """Whether an ephemeral claim was made for the pod (07 2.3)."""
    owner = objects.controller_of(claim)
    return objects.namespace(claim) == pod.namespace and owner is not None and owner.get('uid') == pod.uid


def not_owned_text(pod, claim):
    return 'PVC %s/%s was not created for pod %s/%s (pod is not owner)' % (objects.namespace(claim), objects.name(claim), pod.namespace, pod.name)


def class_name(o):
    """Storage class of a claim or a volume (07 2.4)."""
    annotations = objects.annotations(o)
    return annotations[CLASS_ANNOTATION] if CLASS_ANNOTATION in annotations else o['spec'].get('storageClassName') or ''


def is_fully_bound(claim):
    """Spec 07 section 2.5."""
    return bool(claim['spec'].get('volumeName')) and BIND_COMPLETED in objects.annotations(claim)


def requested_storage(claim):
    request = ((claim['spec'].get('resources') or {}).get('requests') or {}).get('storage')
    return None if request is None else quantity.parse(request)


def binds_late(cluster, claim):
    """Whether the class of a claim waits for the first consumer (07 2.6)."""
    found = cluster.get('StorageClass', class_name(claim)) if class_name(claim) else None
    if found is None:
        return False
    if not found.get('volumeBindingMode'):
        raise PluginError('VolumeBindingMode not set for StorageClass "%s"' % class_name(claim))
    return found['volumeBindingMode'] == 'WaitForFirstConsumer'


def volume_affinity_matches(volume, labels):
    """Whether the node affinity of a PV matches node labels (07 2.7)."""
    required = (volume['spec'].get('nodeAffinity') or {}).get('required')
    return required is None or node_selector_matches(required, labels, None)


def topologies_match(terms, labels):
    """Whether StorageClass.allowedTopologies match node labels (07 2.9)."""
    return not terms or any(term.get('matchLabelExpressions') and all(labels.get(e['key']) in e['values'] for e in term['matchLabelExpressions'])
                            for term in terms)


# --- in-tree to CSI translation (07 4)

def in_tree_name(source):
    """The in-tree plugin of a volume source, if any (07 4.1)."""
    return next((name for name, (_, member, _) in IN_TREE.items() if source.get(member) is not None), None)


def _ebs_volume_id(text):
    """Spec 07 section 4.4."""
    if not text.startswith('aws://'):
        return text
    path = text[len('aws://'):]
    path = path[path.index('/'):].strip('/') if '/' in path else ''
    if not re.fullmatch('vol-[^/]*', path):
        raise PluginError('failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (%s)' % text)
    return path


def volume_handle(name, source, labels, inline):
    """The CSI handle of an in-tree volume (07 4.4)."""
    own = source[IN_TREE[name][1]]
    if name == 'kubernetes.io/gce-pd':
        zones = [] if inline else [z for z in (labels.get(BETA_ZONE) or labels.get(ZONE) or '').split('__') if z.strip()]
        if len(zones) == 1:
            return 'projects/UNSPECIFIED/zones/%s/disks/%s' % (zones[0], own['pdName'])
        if zones:
            return 'projects/UNSPECIFIED/regions/%s/disks/%s' % ('-'.join(zones[0].split('-')[:2]), own['pdName'])
        return 'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/' + own['pdName']
    if name == 'kubernetes.io/aws-ebs':
        return _ebs_volume_id(own['volumeID'])
    if name == 'kubernetes.io/azure-disk':
        if own.get('kind') and own['kind'].lower() != 'managed':
            raise PluginError('kind(%s) is not supported in csi migration' % own['kind'])
        return own['diskURI']
    return own['volumeID']


def translate(volume, csi_node):
    """The PV, in its CSI form if its in-tree plugin is migrated on the node (07 4.2, 4.3)."""
    name = in_tree_name(volume['spec'])
    migrated = objects.annotations(csi_node).get('storage.alpha.kubernetes.io/migrated-plugins', '').split(',') if csi_node else []
    if name not in MIGRATED or name not in migrated:
        return volume
    try:
        volume_handle(name, volume['spec'], objects.labels(volume), False)
    except PluginError as e:
        raise PluginError('could not translate pv: %s' % e)
    driver_key = IN_TREE[name][2]
    if driver_key is None:
        return volume
    volume, labels = objects.deep_copy(volume), objects.labels(volume)
    terms = ((volume['spec'].get('nodeAffinity') or {}).get('required') or {}).get('nodeSelectorTerms') or []
    expressions = [e for t in terms for e in t.get('matchExpressions') or []]
    keys = {e['key'] for e in expressions}
    is_beta = ZONE not in keys and (BETA_ZONE in keys or ZONE not in labels and BETA_ZONE in labels)
    zone_key = BETA_ZONE if is_beta else ZONE
    if any(e.get('values') for e in expressions if e['key'] == zone_key):
        for e in expressions:
            if e['key'] == zone_key:
                e['key'] = driver_key
    else:
        zones = sorted({z.strip() for z in labels.get(zone_key, '').split('__') if z.strip()})
        if zones:
            if not terms:
                terms = [{}]
                volume['spec']['nodeAffinity'] = {'required': {'nodeSelectorTerms': terms}}
            for t in terms:
                t.setdefault('matchExpressions', []).append({'key': driver_key, 'operator': 'In', 'values': zones})
    if is_beta and any(e['key'] == BETA_REGION and e.get('values') for e in expressions):
        for e in expressions:
            if e['key'] == BETA_REGION:
                e['key'] = REGION
    return volume


# --- plugins

class VolumeRestrictions(Plugin):
    """Spec 07b section 2."""
    points = ('preFilter', 'filter')
    has_extensions = True
    DISKS = ('gcePersistentDisk', 'awsElasticBlockStore', 'rbd', 'iscsi')

    @staticmethod
    def claims(pod):
        return [v['persistentVolumeClaim'].get('claimName', '') for v in pod.volumes if v.get('persistentVolumeClaim') is not None]

    def pre_filter(self, state, pod):
        """Spec 07b section 2.3."""
        exclusive = set()
        for name in self.claims(pod):
            claim = self.cluster.get('PersistentVolumeClaim', pod.namespace + '/' + name)
            if claim is None:
                return status.unresolvable('persistentvolumeclaim "%s" not found' % name), None, None
            if 'ReadWriteOncePod' in (claim['spec'].get('accessModes') or []):
                exclusive.add(name)
        used = {(p.namespace, c) for node in self.cluster.snapshot() for p in node.pods for c in self.claims(p)}
        in_use = sum(1 for name in exclusive if (pod.namespace, name) in used)
        has_disk = any(v.get(kind) is not None for v in pod.volumes for kind in self.DISKS)
        if not has_disk and not in_use:
            return status.skip(), None, None
        return status.success(), {'exclusive': exclusive, 'in use': in_use}, None

    def clone(self, own): return dict(own)

    def update(self, own, pod, other, node, delta):
        """Spec 07b section 2.3."""
        own['in use'] += delta * sum(1 for name in self.claims(other) if name in own['exclusive'])

    @staticmethod
    def conflict(a, b):
        """Whether two volumes exclude each other on one node (07b 2.2)."""
        def both(kind): return a.get(kind) is not None and b.get(kind) is not None
        def read_only(kind): return a[kind].get('readOnly') and b[kind].get('readOnly')
        if both('gcePersistentDisk') and a['gcePersistentDisk']['pdName'] == b['gcePersistentDisk']['pdName'] and not read_only('gcePersistentDisk'):
            return True
        if both('awsElasticBlockStore') and a['awsElasticBlockStore']['volumeID'] == b['awsElasticBlockStore']['volumeID']:
            return True
        if both('iscsi') and a['iscsi']['iqn'] == b['iscsi']['iqn'] and not read_only('iscsi'):
            return True
        if both('rbd') and not read_only('rbd'):
            x, y = a['rbd'], b['rbd']
            return bool(set(x['monitors']) & set(y['monitors'])) and x.get('pool') == y.get('pool') and x['image'] == y['image']
        return False

    def filter(self, own, pod, node):
        """Spec 07b section 2.4."""
        if any(self.conflict(a, b) for a in pod.volumes for other in node.pods for b in other.volumes):
            return status.unschedulable('node(s) had no available disk')
        if own['in use'] > 0:
            return status.unschedulable('node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod')


class NodeVolumeLimits(Plugin):
    """Spec 07b section 1."""
    points = ('preFilter', 'filter')

    def pre_filter(self, state, pod):
        """Spec 07b section 1.4."""
        counted = any(claim_name(pod, v) or in_tree_name(v) for v in pod.volumes)
        return (status.success() if counted else status.skip()), None, None

    def resolve(self, claim, csi_node):
        """(driver, handle) of a claim, or None (07b 1.3.1)."""
        volume_name = claim['spec'].get('volumeName')
        volume = self.cluster.get('PersistentVolume', volume_name) if volume_name else None
        if volume is None:
            found = self.cluster.get('StorageClass', class_name(claim)) if class_name(claim) else None
            if found is None:
                return None
            handle, provisioner = 'to be provisioned-' + objects.key(claim), found['provisioner']
            if provisioner not in IN_TREE:
                return provisioner, handle
            return (IN_TREE[provisioner][0], handle) if csi_node is not None and provisioner in MIGRATED else None
        if volume['spec'].get('csi') is not None:
            return volume['spec']['csi'].get('driver', ''), volume['spec']['csi'].get('volumeHandle', '')
        name = in_tree_name(volume['spec'])
        if csi_node is None or name not in MIGRATED:
            return None
        try:
            return IN_TREE[name][0], volume_handle(name, volume['spec'], objects.labels(volume), False)
        except PluginError:
            return None

    def volumes_of(self, pod, csi_node, is_new):
        """unique name -> driver (07b 1.3.2)."""
        found = {}
        for volume in pod.volumes:
            named = claim_name(pod, volume)
            if named is None:
                name = in_tree_name(volume)
                if csi_node is not None and name in MIGRATED:
                    try:
                        handle = volume_handle(name, volume, {}, True)
                    except PluginError as e:
                        raise PluginError('converting volume(%s) from inline to csi: %s' % (volume['name'], e))
                    found[IN_TREE[name][0] + '/' + handle] = IN_TREE[name][0]
                continue
            name, is_ephemeral = named
            if name == '':
                raise PluginError('PersistentVolumeClaim had no name')
            claim = self.cluster.get('PersistentVolumeClaim', pod.namespace + '/' + name)
            if claim is None:
                if is_new:
                    raise NotFound('looking up PVC %s/%s: persistentvolumeclaim "%s" not found' % (pod.namespace, name, name))
                continue
            if is_ephemeral and not is_owned(pod, claim):
                raise PluginError(not_owned_text(pod, claim))
            driver, handle = self.resolve(claim, csi_node) or ('', '')
            if driver and handle:
                found[driver + '/' + handle] = driver
        return found

    def filter(self, own, pod, node):
        """Spec 07b section 1.5."""
        csi_node = self.cluster.get('CSINode', node.name)
        try:
            new = self.volumes_of(pod, csi_node, True)
        except NotFound as e:
            return status.unresolvable(str(e))
        drivers = objects.spec(csi_node or {}).get('drivers') or []
        limits = {d['name']: d['allocatable']['count'] for d in drivers if (d.get('allocatable') or {}).get('count') is not None}
        if not new or not limits:
            return None
        attached = {}
        for other in node.pods:
            attached.update(self.volumes_of(other, csi_node, False))
        added = [driver for handle, driver in new.items() if handle not in attached]
        for attachment in self.cluster.list('VolumeAttachment'):        # spec 07b 1.3.3
            volume_name = (attachment['spec'].get('source') or {}).get('persistentVolumeName')
            volume = self.cluster.get('PersistentVolume', volume_name) if volume_name else None
            driver = attachment['spec'].get('attacher')
            if attachment['spec'].get('nodeName') == node.name and driver and volume is not None and volume['spec'].get('csi') is not None:
                attached.setdefault(driver + '/' + volume['spec']['csi']['volumeHandle'], driver)
        used = list(attached.values())
        if any(driver in limits and used.count(driver) + added.count(driver) > limits[driver] for driver in added):
            return status.unschedulable('node(s) exceed max volume count')


class VolumeBinding(Plugin):
    """Spec 07 section 5."""
    points = ('preFilter', 'filter', 'reserve')

    def pre_filter(self, state, pod):
        """Spec 07 sections 5.1 and 6."""
        any_claim = False
        for volume in pod.volumes:
            named = claim_name(pod, volume)
            if named is None:
                continue
            (name, is_ephemeral), any_claim = named, True
            claim = self.cluster.get('PersistentVolumeClaim', pod.namespace + '/' + name)
            text = None
            if claim is None:
                text = 'persistentvolumeclaim "%s" not found' % name
                if is_ephemeral:
                    text = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "%s"' % name
            elif objects.status(claim).get('phase') == 'Lost':
                text = 'persistentvolumeclaim "%s" bound to non-existent persistentvolume "%s"' % (name, claim['spec'].get('volumeName', ''))
            elif objects.is_being_deleted(claim):
                text = 'persistentvolumeclaim "%s" is being deleted' % name
            elif is_ephemeral and not is_owned(pod, claim):
                text = not_owned_text(pod, claim)
            if text:
                return status.unresolvable(text), None, None
        if not any_claim:
            return status.skip(), None, None
        bound, late, immediate = [], [], []
        for volume in pod.volumes:
            named = claim_name(pod, volume)
            if named is None:
                continue
            claim = self.cluster.view('PersistentVolumeClaim', pod.namespace + '/' + named[0])
            try:
                if is_fully_bound(claim):
                    bound.append(claim)
                elif binds_late(self.cluster, claim) and not claim['spec'].get('volumeName'):
                    late.append(claim)
                else:
                    immediate.append(claim)
            except PluginError as e:
                return status.error(str(e)), None, None
        if immediate:
            return status.unresolvable('pod has unbound immediate PersistentVolumeClaims'), None, None
        return status.success(), {'bound': bound, 'late': late, 'by node': {}}, None

    def filter(self, own, pod, node):
        """FindPodVolumes (07 5.2, 7.1)."""
        bound_ok, unbound_ok, space_ok, volume_found = True, True, True, True
        static, dynamic = [], []
        for claim in own['bound']:              # spec 07 7.2
            volume = self.cluster.view('PersistentVolume', claim['spec']['volumeName'])
            if volume is None:
                volume_found = False
                break
            if not volume_affinity_matches(translate(volume, self.cluster.get('CSINode', node.name)), node.labels):
                bound_ok = False
                break
        chosen = [c for c in own['late'] if SELECTED_NODE in objects.annotations(c)]
        if any(objects.annotations(c)[SELECTED_NODE] != node.name for c in chosen):
            unbound_ok = False
        else:
            static, unmatched = self.match_static([c for c in own['late'] if c not in chosen], node)
            if chosen + unmatched:
                unbound_ok, space_ok, dynamic = self.check_provision(chosen + unmatched, node)
        reasons = []
        if not bound_ok:
            reasons.append("node(s) didn't match PersistentVolume's node affinity")
        if not unbound_ok:
            reasons.append("node(s) didn't find available persistent volumes to bind")
        if not space_ok:
            reasons.append('node(s) did not have enough free storage')
        if not volume_found:
            reasons.append('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)')
        if reasons:
            return status.unresolvable(*reasons)
        own['by node'][node.name] = (static, dynamic)

    def match_static(self, claims, node):
        """([(volume, claim)], claims without a volume), smallest request first (07 7.3)."""
        matched, unmatched, taken = [], [], set()
        for claim in sorted(claims, key=lambda c: requested_storage(c) or 0):
            volume = self.find_volume(claim, node, taken)
            if volume is None:
                unmatched.append(claim)
            else:
                taken.add(objects.name(volume))
                matched.append((volume, claim))
        return matched, unmatched

    @staticmethod
    def is_for_claim(volume, claim):
        """Spec 07 section 7.4."""
        ref = volume['spec'].get('claimRef')
        return (ref is not None and ref.get('name') == objects.name(claim) and ref.get('namespace') == claim['metadata'].get('namespace')
                and (not ref.get('uid') or ref['uid'] == objects.uid(claim)))

    def find_volume(self, claim, node, taken):
        """The volume that was made for the claim, else the smallest volume that fits (07 7.4)."""
        try:
            selector = parse_label_selector(claim['spec'].get('selector'))
        except SelectorError as e:
            raise PluginError('error creating internal label selector for claim: %s: %s' % (objects.key(claim), e))
        need, best = requested_storage(claim) or 0, None
        for name in sorted(self.cluster.stores.get('PersistentVolume', {})):
            volume = self.cluster.view('PersistentVolume', name)
            spec = volume['spec']
            size, mine = quantity.parse((spec.get('capacity') or {}).get('storage', 0)), self.is_for_claim(volume, claim)
            if (class_name(self.cluster.get('PersistentVolume', name)) != class_name(claim) or name in taken or size < need
                    or spec.get('claimRef') is not None and not mine or objects.is_being_deleted(volume)
                    or spec.get('volumeMode', 'Filesystem') != claim['spec'].get('volumeMode', 'Filesystem')
                    or (spec.get('volumeAttributesClassName') or '') != (claim['spec'].get('volumeAttributesClassName') or '')):
                continue
            in_reach = volume_affinity_matches(volume, node.labels)
            if mine:
                return volume if in_reach else None
            if (objects.status(volume).get('phase') == 'Available' and (selector is None or selector_matches(selector, objects.labels(volume)))
                    and class_name(volume) == class_name(claim) and in_reach
                    and set(claim['spec'].get('accessModes') or []) <= set(spec.get('accessModes') or []) and (best is None or size < best[0])):
                best = size, volume
        return best[1] if best else None

    def check_provision(self, claims, node):
        """(whether the claims can be provisioned, whether space is enough, the claims) (07 7.5)."""
        dynamic = []
        for claim in claims:
            name = class_name(claim)
            if name == '':
                raise PluginError('no class for claim "%s"' % objects.key(claim))
            found = self.cluster.get('StorageClass', name)
            if found is None:
                raise PluginError('failed to find storage class "%s"' % name)
            if found.get('provisioner', '') in ('', 'kubernetes.io/no-provisioner') or not topologies_match(found.get('allowedTopologies'), node.labels):
                return False, True, []
            if not self.has_capacity(found, claim, node):
                return True, False, []
            dynamic.append(claim)
        return True, True, dynamic

    def has_capacity(self, storage_class, claim, node):
        """Spec 07 section 7.6."""
        request, driver = requested_storage(claim), self.cluster.get('CSIDriver', storage_class['provisioner'])
        if request is None or driver is None or not driver['spec'].get('storageCapacity'):
            return True
        for capacity in self.cluster.list('CSIStorageCapacity'):
            limit = capacity.get('maximumVolumeSize', capacity.get('capacity'))
            if (capacity.get('storageClassName') == objects.name(storage_class) and limit is not None and capacity.get('nodeTopology') is not None
                    and quantity.value(quantity.parse(limit)) >= quantity.value(request)
                    and selector_matches(parse_label_selector(capacity['nodeTopology']), node.labels)):
                return True
        return False

    def all_bound(self, pod):
        """Whether all claims of the pod are bound (07 8, step 1)."""
        for volume in pod.volumes:
            named = claim_name(pod, volume)
            if named is None:
                continue
            claim = self.cluster.view('PersistentVolumeClaim', pod.namespace + '/' + named[0])
            if claim is None or named[1] and not is_owned(pod, claim) or not is_fully_bound(claim):
                return False
        return True

    def reserve(self, own, pod, node_name):
        """Assume the bindings. Return (status, writes of PreBind) (07 5.4, 8, 9.1)."""
        if not own or node_name not in own['by node'] or self.all_bound(pod):
            return status.success(), []
        static, dynamic = own['by node'][node_name]
        writes = [{'op': 'bindPV', 'pv': objects.name(v), 'pvc': objects.key(c)} for v, c in static]
        writes += [{'op': 'provision', 'pvc': objects.key(c), 'selectedNode': node_name} for c in dynamic]
        try:
            for volume, claim in static:
                bound = self.bind(volume, claim)
                if bound is not None:
                    self.cluster.assume('PersistentVolume', bound)
            for claim in dynamic:
                chosen = objects.deep_copy(claim)
                chosen['metadata'].setdefault('annotations', {})[SELECTED_NODE] = node_name
                self.cluster.assume('PersistentVolumeClaim', chosen)
        except AssumeError as e:
            return status.error(str(e)), []
        return status.success(), writes

    def bind(self, volume, claim):
        """The volume bound to the claim, or None if nothing changes (07 8, bind)."""
        bound, changed, meta = objects.deep_copy(volume), False, claim['metadata']
        ref = bound['spec'].get('claimRef')
        if ref is None or (ref.get('name'), ref.get('namespace'), ref.get('uid')) != (meta['name'], meta.get('namespace'), objects.uid(claim)):
            bound['spec']['claimRef'] = {'kind': 'PersistentVolumeClaim', 'apiVersion': 'v1', 'namespace': meta.get('namespace'), 'name': meta['name'],
                                         'uid': objects.uid(claim), 'resourceVersion': objects.resource_version(claim)}
            changed = True
        if not self.is_for_claim(volume, claim) and BOUND_BY_CONTROLLER not in objects.annotations(bound):
            bound['metadata'].setdefault('annotations', {})[BOUND_BY_CONTROLLER] = 'yes'
            changed = True
        return bound if changed else None


class VolumeZone(Plugin):
    """Spec 07b section 3."""
    points = ('preFilter', 'filter')

    def pre_filter(self, state, pod):
        """Spec 07b section 3.2."""
        wanted = []
        for volume in pod.volumes:
            if volume.get('persistentVolumeClaim') is None:
                continue
            name, text = volume['persistentVolumeClaim'].get('claimName', ''), None
            claim = self.cluster.get('PersistentVolumeClaim', pod.namespace + '/' + name)
            if name == '':
                return status.unresolvable('PersistentVolumeClaim had no name'), None, None
            if claim is None:
                return status.unresolvable('persistentvolumeclaim "%s" not found' % name), None, None
            volume_name = claim['spec'].get('volumeName') or ''
            if not volume_name:
                class_, found = class_name(claim), self.cluster.get('StorageClass', class_name(claim))
                if class_ == '':
                    text = 'PersistentVolumeClaim had no pv name and storageClass name'
                elif found is None:
                    text = 'storageclass.storage.k8s.io "%s" not found' % class_
                elif not found.get('volumeBindingMode'):
                    text = 'VolumeBindingMode not set for StorageClass "%s"' % class_
                elif found['volumeBindingMode'] == 'WaitForFirstConsumer':
                    continue
                return status.unresolvable(text or 'PersistentVolume had no name'), None, None
            found = self.cluster.get('PersistentVolume', volume_name)
            if found is None:
                return status.unresolvable('persistentvolume "%s" not found' % volume_name), None, None
            for key in (BETA_ZONE, BETA_REGION, ZONE, REGION):      # spec 07b 3.1
                parts = [part.strip() for part in objects.labels(found).get(key, '').split('__')]
                if all(parts):
                    wanted.append((key, set(parts)))
        return (status.success(), wanted, None) if wanted else (status.skip(), None, None)

    def filter(self, wanted, pod, node):
        """Spec 07b section 3.3."""
        if not any(key in node.labels for key in (BETA_ZONE, BETA_REGION, ZONE, REGION)):
            return None
        for key, values in wanted:
            have = node.labels.get(key)
            if have is None:
                have = node.labels.get({BETA_ZONE: ZONE, BETA_REGION: REGION}.get(key, key))
            if have is None or have not in values:
                return status.unresolvable('node(s) had no available volume zone')
