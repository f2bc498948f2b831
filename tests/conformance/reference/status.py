# SPDX-License-Identifier: Apache-2.0
"""Status of a plugin operation (specification 02 1.1 and 1.2)."""
SUCCESS = 'Success'
ERROR = 'Error'
UNSCHEDULABLE = 'Unschedulable'
UNRESOLVABLE = 'UnschedulableAndUnresolvable'
PENDING = 'Pending'
SKIP = 'Skip'
REJECTED = (UNSCHEDULABLE, UNRESOLVABLE, PENDING)


class Status:
    """A code, reasons, and the plugin that returned the status."""

    def __init__(self, code, *reasons, plugin=''):
        self.code, self.reasons, self.plugin = code, list(reasons), plugin

    @property
    def ok(self): return self.code == SUCCESS

    @property
    def rejected(self): return self.code in REJECTED

    @property
    def message(self): return ', '.join(self.reasons)

    def to_json(self):
        out = {'code': self.code}
        if not self.ok:
            if self.plugin:
                out['plugin'] = self.plugin
            out['reasons'] = self.reasons
        return out


def success(): return Status(SUCCESS)
def skip(): return Status(SKIP)
def error(text): return Status(ERROR, text)
def unschedulable(*reasons): return Status(UNSCHEDULABLE, *reasons)
def unresolvable(*reasons): return Status(UNRESOLVABLE, *reasons)
