#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The life of a few objects with @kubernetes/client-node, which npm brings from its registry.

Usage: node_client.py BERTH plain|sanitized BUILD_FOLDER
"""
import os
import shutil
import subprocess
import sys
import tempfile

import up

HERE = os.path.dirname(os.path.abspath(__file__))


def install(folder):
    """Installs the client in a folder and returns the folder; None if npm cannot fetch the
    client."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    os.makedirs(folder, exist_ok=True)
    for name in ("package.json", "session.mjs", "informer.mjs"):
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
        done = subprocess.run(["node", "session.mjs", cluster.kubeconfig], cwd=folder,
                              timeout=300, check=False)
    return done.returncode or informer_over_a_restart(program, folder)


def informer_over_a_restart(program, folder):
    """An informer that keeps running while the server is replaced at the same address."""
    maps = "/api/v1/namespaces/default/configmaps"
    with tempfile.TemporaryDirectory() as data:
        flags = ["--nodes", "1", "--data-dir", os.path.join(data, "data")]
        kubeconfig = os.path.join(data, "kubeconfig")
        with program.up(*flags) as cluster:
            flags += ["--listen", "127.0.0.1:%d" % cluster.port]
            shutil.copy(cluster.kubeconfig, kubeconfig)
            cluster.json("POST", maps, {"metadata": {"name": "before"}})
            process = subprocess.Popen(["node", "informer.mjs", kubeconfig], cwd=folder, text=True,
                                       stdout=subprocess.PIPE)
            assert process.stdout.readline() == "add before\n"
        with program.up(*flags) as cluster:
            assert cluster.json("POST", maps, {"metadata": {"name": "after"}})[0] == 201
            assert cluster.json("DELETE", maps + "/before")[0] == 200
            out = process.communicate(timeout=60)[0]
            assert process.returncode == 0, out
    print("informer over a restart passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
