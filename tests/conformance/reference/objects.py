# SPDX-License-Identifier: Apache-2.0
"""Accessors for API objects held as decoded JSON, and the order of pods by importance."""
import copy
from datetime import datetime

UNSTARTED = 10**18      # stands for "not started yet" (08 3.1)


def name(o): return o['metadata']['name']
def namespace(o): return o['metadata'].get('namespace', '')
def uid(o): return o['metadata'].get('uid', '')
def labels(o): return o['metadata'].get('labels') or {}
def annotations(o): return o['metadata'].get('annotations') or {}
def resource_version(o): return o['metadata'].get('resourceVersion', '')
def status(o): return o.get('status') or {}
def spec(o): return o.get('spec') or {}
def is_being_deleted(o): return bool(o['metadata'].get('deletionTimestamp'))
def deep_copy(o): return copy.deepcopy(o)


def key(o):
    """"namespace/name", or the name alone for cluster scoped objects (01 5.15)."""
    return namespace(o) + '/' + name(o) if namespace(o) else name(o)


def controller_of(o):
    """The controlling owner reference, if any (01 5.14)."""
    return next((r for r in o['metadata'].get('ownerReferences') or [] if r.get('controller')), None)


def priority(pod):
    """spec.priority, 0 when absent (01 5.13)."""
    return pod['spec'].get('priority') or 0


def start_time(pod):
    """status.startTime in seconds; UNSTARTED when the pod has not started (08 3.1)."""
    text = status(pod).get('startTime')
    return int(datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp()) if text else UNSTARTED


def more_important(a, b):
    """Whether pod a is more important than pod b (08 3.1)."""
    if priority(a) != priority(b):
        return priority(a) > priority(b)
    if start_time(a) == start_time(b) == UNSTARTED:
        return True
    return start_time(a) < start_time(b)


def sort_by_importance(pods):
    """Insertion sort, most important first (08 9).

    The algorithm matters, because more_important is not a strict order for pods that have not
    started: each pod passes all such pods of equal priority in front of it.
    """
    for i in range(1, len(pods)):
        j = i
        while j > 0 and more_important(pods[j].obj, pods[j - 1].obj):
            pods[j], pods[j - 1] = pods[j - 1], pods[j]
            j -= 1
