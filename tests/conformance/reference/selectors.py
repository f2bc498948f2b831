# SPDX-License-Identifier: Apache-2.0
"""Label selectors, node selectors, tolerations (specification 01 5.4 to 5.12, 05 3.5, 3.6)."""
import json
import re

from . import objects

NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
NAME_HELP = "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '" + NAME + "')"
NAME_RULE = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "


class SelectorError(Exception):
    """A selector that does not parse."""


# --- label keys and values

def label_key_errors(key):
    """The errors of a label key, as texts (01 5.4)."""
    parts, errors = key.split('/'), []
    if len(parts) > 2:
        return ["a valid label key " + NAME_RULE + NAME_HELP + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    if len(parts) == 2:
        if not parts[0]:
            errors.append('prefix part must be non-empty')
        else:
            if len(parts[0].encode()) > 253:
                errors.append('prefix part must be no more than 253 bytes')
            if not re.fullmatch(SUBDOMAIN, parts[0]):
                errors.append("prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end "
                              "with an alphanumeric character (e.g. 'example.com', regex used for validation is '" + SUBDOMAIN + "')")
    if not parts[-1]:
        errors.append('name part must be non-empty')
    elif len(parts[-1].encode()) > 63:
        errors.append('name part must be no more than 63 bytes')
    if not re.fullmatch(NAME, parts[-1]):
        errors.append('name part ' + NAME_RULE + NAME_HELP)
    return errors


def label_value_errors(value):
    """The errors of a label value, as texts (01 5.4)."""
    errors = []
    if len(value.encode()) > 63:
        errors.append('must be no more than 63 bytes')
    if value and not re.fullmatch(NAME, value):
        errors.append("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
                      "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(" + NAME + ")?')")
    return errors


def to_int64(text):
    """A decimal int64, or None (01 5.5, Gt and Lt)."""
    if not re.fullmatch('[+-]?[0-9]+', text):
        return None
    number = int(text)
    return number if -2**63 <= number < 2**63 else None


def requirement_matches(key, operator, values, labels):
    """Whether a requirement matches a label set (01 5.5)."""
    if operator == 'In':
        return key in labels and labels[key] in values
    if operator == 'NotIn':
        return key not in labels or labels[key] not in values
    if operator == 'Exists':
        return key in labels
    if operator == 'DoesNotExist':
        return key not in labels
    have, bound = to_int64(labels[key]) if key in labels else None, to_int64(values[0])
    if have is None or bound is None:
        return False
    return have > bound if operator == 'Gt' else have < bound


# --- label selectors: None selects nothing, an empty list selects everything

def conjunction(wanted):
    """The selector that requires every label of a map."""
    return [(key, 'In', (value,)) for key, value in sorted(wanted.items())]


def parse_label_selector(selector):
    """A LabelSelector as a list of requirements; None if absent, which selects nothing (01 5.6)."""
    if selector is None:
        return None
    requirements = conjunction(selector.get('matchLabels') or {})
    for e in selector.get('matchExpressions') or []:
        operator, values = e.get('operator', ''), tuple(e.get('values') or ())
        if operator not in ('In', 'NotIn', 'Exists', 'DoesNotExist'):
            requirements.append((e.get('key', ''), operator, None))
        else:
            requirements.append((e.get('key', ''), operator, values))
    for key, operator, values in requirements:
        if values is None:
            raise SelectorError('"%s" is not a valid label selector operator' % operator)
        errors = _requirement_errors(key, operator, values)
        if errors:
            raise SelectorError(aggregate(errors))
    return requirements


def _requirement_errors(key, operator, values):
    """Spec 06 section 1.3."""
    wrong = label_key_errors(key)
    errors = ['key: Invalid value: %s: %s' % (_quote(key), '; '.join(wrong))] if wrong else []
    if operator in ('In', 'NotIn') and not values:
        errors.append("values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty")
    if operator in ('Exists', 'DoesNotExist') and values:
        errors.append('values: Invalid value: %s: values set must be empty for exists and does not exist' % _json(list(values)))
    for i, v in enumerate(values):
        wrong = label_value_errors(v)
        if wrong:
            errors.append('values[%d][%s]: Invalid value: %s: %s' % (i, key, _quote(v), '; '.join(wrong)))
    return errors


def selector_matches(requirements, labels):
    """Whether a parsed label selector matches a label set (01 5.6)."""
    return requirements is not None and all(requirement_matches(k, op, v, labels) for k, op, v in requirements)


# --- node selectors

def _quote(text): return json.dumps(text, ensure_ascii=False)


def _json(value):
    if value is None:
        return 'null'
    text = json.dumps(value, separators=(',', ':'), ensure_ascii=False)
    return text.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026')


def _expression_errors(r, path):
    """Spec 01 sections 5.5 and 5.8."""
    operator, values, key = r.get('operator', ''), r.get('values') or [], r.get('key', '')
    if operator not in ('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'):
        return ['%s.operator: Unsupported value: %s: supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"' % (path, _quote(operator))]
    errors = []
    wrong = label_key_errors(key)
    if wrong:
        errors.append('%s.key: Invalid value: %s: %s' % (path, _quote(key), '; '.join(wrong)))
    invalid = '%s.values: Invalid value: %s: ' % (path, _json(r.get('values')))
    if operator in ('In', 'NotIn') and not values:
        errors.append(invalid + "for 'in', 'notin' operators, values set can't be empty")
    if operator in ('Exists', 'DoesNotExist') and values:
        errors.append(invalid + 'values set must be empty for exists and does not exist')
    if operator in ('Gt', 'Lt'):
        if len(values) != 1:
            errors.append(invalid + "for 'Gt', 'Lt' operators, exactly one value is required")
        for i, v in enumerate(values):
            if to_int64(v) is None:
                errors.append("%s.values[%d]: Invalid value: %s: for 'Gt', 'Lt' operators, the value must be an integer" % (path, i, _quote(v)))
    for i, v in enumerate(values):
        wrong = label_value_errors(v)
        if wrong:
            errors.append('%s.values[%d][%s]: Invalid value: %s: %s' % (path, i, key, _quote(v), '; '.join(wrong)))
    return errors


def _field_errors(r, path):
    if r.get('operator', '') not in ('In', 'NotIn'):
        return ['%s.operator: Unsupported value: %s: supported values: "In", "NotIn"' % (path, _quote(r.get('operator', '')))]
    if len(r.get('values') or []) != 1:
        return ['%s.values: Invalid value: %s: must have one element' % (path, _json(r.get('values')))]
    return []


def term_errors(term, path):
    """Parse errors of a NodeSelectorTerm (05 3.6, 01 5.8)."""
    errors = []
    for i, r in enumerate(term.get('matchExpressions') or []):
        errors += _expression_errors(r, '%s.matchExpressions[%d]' % (path, i))
    for i, r in enumerate(term.get('matchFields') or []):
        errors += _field_errors(r, '%s.matchFields[%d]' % (path, i))
    return errors


def aggregate(errors):
    """Join errors. Each text appears once; several texts are put in brackets (01 5.16)."""
    distinct = list(dict.fromkeys(errors))
    return distinct[0] if len(distinct) == 1 else '[' + ', '.join(distinct) + ']'


def term_is_empty(term):
    return not term.get('matchExpressions') and not term.get('matchFields')


def term_matches(term, labels, node_name):
    """Whether a well-formed term matches. Without a node name, fields are ignored (05 3.6)."""
    for r in term.get('matchExpressions') or []:
        if not requirement_matches(r['key'], r['operator'], r.get('values') or [], labels):
            return False
    for r in (term.get('matchFields') or []) if node_name else []:
        field = node_name if r['key'] == 'metadata.name' else ''
        if (field == r['values'][0]) != (r['operator'] == 'In'):
            return False
    return True


def node_selector_matches(selector, labels, node_name):
    """Whether any non-empty, well-formed term matches (05 3.6, 01 5.8)."""
    return any(term_matches(t, labels, node_name) for t in selector.get('nodeSelectorTerms') or []
               if not term_is_empty(t) and not term_errors(t, ''))


def parse_preferred_terms(preferred):
    """(weight, term) of the preferred terms that count (01 5.9). Fails if one does not parse."""
    terms, errors = [], []
    for i, p in enumerate(preferred):
        term = p.get('preference') or {}
        if p.get('weight', 0) == 0 or term_is_empty(term):
            continue
        errors += term_errors(term, '[%d]' % i)
        terms.append((p['weight'], term))
    if errors:
        raise SelectorError(aggregate(errors))
    return terms


def node_affinity(pod):
    return (pod['spec'].get('affinity') or {}).get('nodeAffinity') or {}


def required_node_affinity(pod):
    return node_affinity(pod).get('requiredDuringSchedulingIgnoredDuringExecution')


def required_affinity_matches(pod, node):
    """Whether the pod's spec.nodeSelector and required node affinity match the node (01 5.10)."""
    labels = objects.labels(node)
    if any(labels.get(k) != v for k, v in (pod['spec'].get('nodeSelector') or {}).items()):
        return False
    required = required_node_affinity(pod)
    return required is None or node_selector_matches(required, labels, objects.name(node))


# --- tolerations

def tolerates(toleration, taint):
    """Whether the toleration tolerates the taint (01 5.12)."""
    if toleration.get('effect') and toleration['effect'] != taint.get('effect', ''):
        return False
    if toleration.get('key') and toleration['key'] != taint.get('key', ''):
        return False
    operator = toleration.get('operator', '')
    if operator in ('', 'Equal'):
        return toleration.get('value', '') == taint.get('value', '')
    return operator == 'Exists'


def is_tolerated(taint, tolerations):
    return any(tolerates(t, taint) for t in tolerations or [])


def untolerated_hard_taint(taints, tolerations):
    """Whether a NoSchedule or NoExecute taint is not tolerated (05 3.5)."""
    return any(t.get('effect') in ('NoSchedule', 'NoExecute') and not is_tolerated(t, tolerations) for t in taints)
