#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The life of a few objects with @kubernetes/client-node, which npm brings from its registry.

Usage: node_client.py BERTH plain|sanitized BUILD_FOLDER
"""
import os
import shutil
import subprocess
import sys

import up

HERE = os.path.dirname(os.path.abspath(__file__))


def install(folder):
    """The client in a folder of the build; None when it cannot be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "session.mjs"):
        shutil.copy(os.path.join(HERE, "node_client", name), folder)
    if not os.path.isdir(os.path.join(folder, "node_modules", "@kubernetes")):
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"],
                              cwd=folder, check=False)
        if done.returncode != 0:
            return None
    return folder


def main():
    program = up.Program(*sys.argv[1:3])
    folder = install(os.path.join(sys.argv[3], "node_client"))
    if folder is None:
        print("node, npm or the npm registry is not available")
        return up.SKIPPED
    with program.up("--nodes", "2") as cluster:
        return subprocess.run(["node", "session.mjs", cluster.kubeconfig], cwd=folder,
                              timeout=300, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
