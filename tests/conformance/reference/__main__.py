# SPDX-License-Identifier: Apache-2.0
"""Command line: answer cases, or check the model's answers against expected ones."""
import gzip
import json
import sys

from . import quantity
from .cycle import answer

USAGE = 'usage: python3 -m reference answer CASES.jsonl[.gz] | check CASES.jsonl[.gz] EXPECTED.jsonl[.gz]'
STANDARD_REASONS = ('Insufficient cpu', 'Insufficient memory', 'Insufficient ephemeral-storage')


def lines(path):
    opener = gzip.open if path.endswith('.gz') else open
    with opener(path, 'rt', encoding='utf-8') as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def canonical(result):
    """A copy of a result without the differences that do not count (README of the vectors).

    These are the order of reasons about scalar resources, random share ids, the notation of
    amounts, empty members of tolerations, and an empty message.
    """
    result = json.loads(json.dumps(result))
    for verdict in (result.get('filter') or {}).values():
        if verdict['plugin'] == 'NodeResourcesFit':
            scalar = [r for r in verdict['reasons'] if r.startswith('Insufficient ') and r not in STANDARD_REASONS]
            verdict['reasons'] = [r for r in verdict['reasons'] if r not in scalar] + sorted(scalar)
    if not (result.get('postFilter') or {}).get('message', 'none'):
        del result['postFilter']['message']
    for write in result.get('writes') or []:
        for device in ((write.get('allocation') or {}).get('devices') or {}).get('results') or []:
            if 'shareID' in device:
                device['shareID'] = '*'
            for toleration in device.get('tolerations') or []:
                for member in [m for m in toleration if toleration[m] == '']:
                    del toleration[member]
            for name, amount in (device.get('consumedCapacity') or {}).items():
                device['consumedCapacity'][name] = str(quantity.parse(amount))
    return result


def differences(got, expected):
    """Lines that describe the first difference between two answers; empty if they agree."""
    if got.get('error') != expected.get('error'):
        return ['error', '  model    %s' % got.get('error'), '  expected %s' % expected.get('error')]
    mine, theirs = got.get('results') or [], expected.get('results') or []
    if len(mine) != len(theirs):
        return ['%d results instead of %d' % (len(mine), len(theirs))]
    for a, b in zip(map(canonical, mine), map(canonical, theirs)):
        members = [k for k in sorted({**a, **b}) if a.get(k) != b.get(k)]
        if members:
            out = [b.get('pod', '?')]
            for k in members:
                out += ['  %s' % k, '    model    %s' % json.dumps(a.get(k)), '    expected %s' % json.dumps(b.get(k))]
            return [line if len(line) < 2000 else line[:2000] + '...' for line in out]
    return []


def check(cases, expected, show=5):
    """Returns the number of failures; prints the first `show` failures."""
    passed = failed = 0
    for case, wanted in zip(lines(cases), lines(expected)):
        if case['name'] != wanted['name']:
            raise SystemExit('case %s does not belong to answer %s' % (case['name'], wanted['name']))
        try:
            found = differences(answer(case), wanted)
        except Exception as e:          # a case that the model does not cover must not stop the run
            found = ['exception %r' % e]
        passed, failed = passed + (not found), failed + bool(found)
        if found and failed <= show:
            print('\n'.join(['%s: %s' % (case['name'], found[0])] + found[1:]))
    print('%d passed, %d failed' % (passed, failed))
    return failed


def main(arguments):
    if len(arguments) == 2 and arguments[0] == 'answer':
        for case in lines(arguments[1]):
            print(json.dumps(answer(case), ensure_ascii=False), flush=True)
    elif len(arguments) == 3 and arguments[0] == 'check':
        return 1 if check(arguments[1], arguments[2]) else 0
    else:
        print(USAGE, file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
