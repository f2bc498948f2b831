# SPDX-License-Identifier: Apache-2.0
"""A shell set up like a reader's: a copy of the tree's examples, and berth in the PATH."""
import os
import select
import shutil
import signal
import subprocess
import sys
import time

import scenario

SECONDS = 240  # for one command, on a slow machine with sanitizers
UPDATE_SECONDS = 3  # for a command in the background whose output is unknown
MARK = "end-of-command"
# The wrapper's flags come first, so that the page's own flags override them.
WRAPPER = """#!/bin/sh
case "$1" in
up) shift; set -- up --listen 127.0.0.1:0 "$@" ;;
esac
exec %s "$@"
"""


def executable(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


class Session:
    def __init__(self, program, folder, kubectl):
        self.home = os.path.join(folder, "home")
        self.tree = os.path.join(folder, "berth")
        self.log = os.path.join(folder, "background")
        for name in ("examples", "include", "packaging"):
            shutil.copytree(os.path.join(scenario.ROOT, name), os.path.join(self.tree, name))
        build = os.path.join(self.tree, "build")
        os.makedirs(build)
        os.makedirs(self.home)
        executable(os.path.join(build, "berth"), WRAPPER % os.path.abspath(program.path))
        built = os.path.join(os.path.dirname(os.path.abspath(program.path)), "examples")
        os.symlink(built, os.path.join(build, "examples"))
        path = [build] + ([os.path.dirname(kubectl)] if kubectl else []) + [os.environ["PATH"]]
        environment = dict(os.environ, PATH=":".join(path), HOME=self.home, LC_ALL="C.UTF-8",
                           COLUMNS="100")
        for name in ("KUBECONFIG", "BERTH_VERIFY"):
            environment.pop(name, None)
        # A process group, so that commands in the background end with the shell.
        self.shell = subprocess.Popen(["bash", "--noprofile", "--norc"], cwd=self.tree,
                                      env=environment, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      start_new_session=True)
        self.status = 0

    def _read_until_mark(self):
        deadline = time.monotonic() + SECONDS
        text = b""
        while b"\n%s " % MARK.encode() not in text or not text.endswith(b"\n"):
            ready, _, _ = select.select([self.shell.stdout], [], [],
                                        max(0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError("it does not end:\n" + text.decode("utf-8", "replace"))
            part = os.read(self.shell.stdout.fileno(), 65536)
            if not part:
                raise AssertionError("the shell has ended:\n" + text.decode("utf-8", "replace"))
            text += part
        output, _, status = text.decode("utf-8", "replace").rpartition("\n%s " % MARK)
        self.status = int(status)
        return output

    def run(self, command):
        """Run a command; returns standard output and error, interleaved."""
        whole = subprocess.run(["bash", "-n", "-c", command], capture_output=True, check=False)
        assert whole.returncode == 0 and whole.stderr == b"", (command, whole.stderr)
        script = "(exit %d)\n{ %s\n} </dev/null\nprintf '\\n%s %%d\\n' $?\n" % (
            self.status, command, MARK)
        self.shell.stdin.write(script.encode())
        self.shell.stdin.flush()
        return self._read_until_mark()

    def run_in_background(self, command, is_enough):
        """Start a command; returns its output once is_enough(output) holds, or after SECONDS."""
        with open(self.log, "w", encoding="utf-8"):
            pass
        # Open for appending: the file may be emptied while the command still writes.
        self.run("{ %s\n} >>%s 2>&1" % (command, self.log))
        deadline = time.monotonic() + (UPDATE_SECONDS if "--update" in sys.argv else SECONDS)
        while True:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                output = file.read()
            if is_enough(output) or time.monotonic() > deadline:
                return output
            time.sleep(0.02)

    def save(self, name, text, append):
        path = os.path.join(self.tree, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a" if append else "w", encoding="utf-8") as file:
            file.write(text)

    def close(self):
        self.shell.stdin.close()
        os.killpg(self.shell.pid, signal.SIGTERM)
        self.shell.wait()
        self.shell.stdout.close()
