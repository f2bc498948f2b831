# SPDX-License-Identifier: Apache-2.0
"""Runs the program on files and checks its output; shared by the scripts of this folder.

A script defines functions test_* that take a Program and assert, and ends with main(globals()).
"""
import json
import os
import subprocess
import sys
import tempfile
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples")
TIMEOUT_SECONDS = 120


class Answer:
    """Result of a run."""

    def __init__(self, status, out, err, peak_rss_mb):
        self.status = status
        self.out = out
        self.err = err
        self.peak_rss_mb = peak_rss_mb

    def expect(self, status):
        """Assert that the run ended with this exit status; returns the answer, for chaining."""
        assert self.status == status, "exit status %d, not %d\n%s%s" % (
            self.status, status, self.out[-2000:], self.err[-2000:])
        return self

    def json(self):
        return json.loads(self.out)

    def pods(self):
        """The pods of a JSON answer by "namespace/name"."""
        return {pod["namespace"] + "/" + pod["name"]: pod for pod in self.json()["pods"]}


def open_terminal():
    """Both ends of a pseudo-terminal; None if the system has none, as in a bare chroot."""
    try:
        return os.openpty()
    except OSError as error:
        print("no pseudo-terminal: %s" % error)
        return None


class Program:
    def __init__(self, path, sanitized, folder):
        self.path = path
        self.sanitized = sanitized  # the sanitizers distort memory use
        self.folder = folder

    def write(self, name, text):
        """Write a file to the test's folder; returns its path."""
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def run(self, *arguments, stdin=(), verify=True):
        """Run with these arguments; stdin is text, bytes, or an iterable of chunks of bytes."""
        if isinstance(stdin, str):
            stdin = [stdin.encode()]
        elif isinstance(stdin, bytes):
            stdin = [stdin]
        environment = dict(os.environ, BERTH_VERIFY="1" if verify else "")
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen([self.path] + list(arguments), stdin=subprocess.PIPE,
                                       stdout=out, stderr=err, env=environment)
            try:
                for chunk in stdin:
                    process.stdin.write(chunk)
                process.stdin.close()
            except BrokenPipeError:
                pass  # the program closed standard input early
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "replace"))
        return Answer(process.returncode, texts[0], texts[1], usage.ru_maxrss / 1024)

    def simulate(self, text, *arguments, output="json"):
        """Simulate the text, given on standard input."""
        return self.run("simulate", "-f", "-", "-o", output, *arguments, stdin=text)


def main(names):
    """Run all tests of a script: SCRIPT BERTH plain|sanitized. Ends with "N passed, N failed"."""
    path, mode = sys.argv[1:3]
    tests = [(name, test) for name, test in names.items() if name.startswith("test_")]
    failed = 0
    for name, test in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Program(path, mode == "sanitized", folder))
            except Exception:
                failed += 1
                print("%s failed:\n%s" % (name, traceback.format_exc()))
    print("%d passed, %d failed" % (len(tests) - failed, failed))
    sys.exit(1 if failed else 0)
