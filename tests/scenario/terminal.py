# SPDX-License-Identifier: Apache-2.0
"""An interactive shell in a pseudo-terminal: sends keys and reads the output."""
import fcntl
import os
import pty
import select
import struct
import termios
import time

COLUMNS, LINES = 220, 200


class Terminal:
    def __init__(self, arguments, folder, environment, timeout_seconds):
        self.deadline = time.monotonic() + timeout_seconds
        self.shown = b""
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(arguments[0], arguments, environment)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))

    def type(self, keys):
        os.write(self.file, keys.encode())

    def wait_for(self, text):
        """Returns the output up to and including the text; the next call continues after it."""
        while text.encode() not in self.shown:
            ready = select.select([self.file], [], [], max(0, self.deadline - time.monotonic()))[0]
            assert ready, "%r is not shown, but %r" % (text, self.shown[-2000:])
            chunk = os.read(self.file, 65536)
            assert chunk, self.shown[-2000:]
            self.shown += chunk
        end = self.shown.index(text.encode()) + len(text)
        before, self.shown = self.shown[:end], self.shown[end:]
        return before.decode("utf-8", "replace")

    def close(self):
        os.close(self.file)  # the shell gets SIGHUP
        os.waitpid(self.process, 0)
