#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ServiceAccounts over real connections: tokens, what RBAC lets them do, pods that need them; and
after a restart. Rules one by one are in tests/unit/server. Spec: 14 section 4, 14b 4.3."""
import base64
import json
import os
import tempfile

import up

FLAGS = ["--nodes", "1"]
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def accounts(namespace="default"):
    return "/api/v1/namespaces/%s/serviceaccounts" % namespace


def pods(namespace="default"):
    return "/api/v1/namespaces/%s/pods" % namespace


def make(cluster, path, document):
    status, found = cluster.json("POST", path, document)
    assert status == 201, found
    return found


def pod(name, **spec):
    return {"metadata": {"name": name},
            "spec": dict({"containers": [{"name": "c", "image": "i:1"}]}, **spec)}


def bind(cluster, name, role, account):
    make(cluster, RBAC + "/namespaces/default/rolebindings", {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "default"}]})


def new_token(cluster, account, **spec):
    return make(cluster, accounts() + "/%s/token" % account, {"spec": spec})["status"]["token"]


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_aggregated_roles(cluster):
    """"view" has its rules from others, and a custom one more with a label."""
    make(cluster, accounts(), {"metadata": {"name": "viewer"}})
    bind(cluster, "view", "view", "viewer")
    token = new_token(cluster, "viewer")
    found = claims(token)
    assert found["sub"] == "system:serviceaccount:default:viewer", found
    assert found["exp"] - found["iat"] == 3600, found
    up.wait_for("the rules of view", lambda: cluster.get(pods(), token=token)[0] == 200)
    assert cluster.get("/api/v1/namespaces/default/secrets", token=token)[0] == 403
    assert cluster.get("/api/v1/nodes", token=token)[0] == 403
    status, answer = cluster.json("POST", pods(), pod("x"), token=token)
    assert status == 403 and answer["message"].startswith(
        'pods is forbidden: User "system:serviceaccount:default:viewer" cannot create'), answer
    make(cluster, RBAC + "/clusterroles", {
        "metadata": {"name": "more", "labels": {
            "rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        "rules": [{"verbs": ["list"], "apiGroups": [""], "resources": ["secrets"]}]})
    up.wait_for("one more rule", lambda: cluster.get(
        "/api/v1/namespaces/default/secrets", token=token)[0] == 200)


def test_pods_need_their_account(cluster):
    status, answer = cluster.json("POST", pods(), pod("p", serviceAccountName="none"))
    assert status == 403 and answer["message"] == (
        'pods "p" is forbidden: error looking up service account default/none: serviceaccount '
        '"none" not found'), answer
    # The account of a new namespace is there as soon as a pod wants it
    make(cluster, "/api/v1/namespaces", {"metadata": {"name": "new"}})
    found = make(cluster, pods("new"), pod("p"))
    volume = found["spec"]["volumes"][0]
    assert volume["name"].startswith("kube-api-access-") and found["spec"]["containers"][0][
        "volumeMounts"] == [{"name": volume["name"], "readOnly": True, "mountPath":
                             "/var/run/secrets/kubernetes.io/serviceaccount"}], found
    assert cluster.get(accounts("new") + "/default")[0] == 200


def test_kept_tokens(cluster):
    make(cluster, accounts(), {"metadata": {"name": "kept"}})
    make(cluster, "/api/v1/namespaces/default/secrets", {
        "metadata": {"name": "kept", "annotations": {
            "kubernetes.io/service-account.name": "kept"}},
        "type": "kubernetes.io/service-account-token"})
    data = up.wait_for("the token", lambda: cluster.json(
        "GET", "/api/v1/namespaces/default/secrets/kept")[1].get("data"))
    token = base64.b64decode(data["token"]).decode()
    assert base64.b64decode(data["ca.crt"]).decode() == cluster.ca()
    assert cluster.get("/apis", token=token)[0] == 200
    cluster.request("DELETE", accounts() + "/kept")
    assert cluster.get("/apis", token=token)[0] == 401
    up.wait_for("the Secret's end", lambda: cluster.get(
        "/api/v1/namespaces/default/secrets/kept")[0] == 404)


def test_restart(program):
    with tempfile.TemporaryDirectory() as folder:
        with program.up("--data-dir", folder) as cluster:
            make(cluster, accounts(), {"metadata": {"name": "robot"}})
            bind(cluster, "all", "cluster-admin", "robot")
            token = new_token(cluster, "robot")
            assert cluster.get(pods(), token=token)[0] == 200
        assert os.stat(folder + "/sa.key").st_mode & 0o777 == 0o600
        with program.up("--data-dir", folder) as cluster:
            assert cluster.get(pods(), token=token)[0] == 200
            assert cluster.get("/api/v1/pods", token=token)[0] == 403
    # Another server has another key
    with program.up() as cluster:
        make(cluster, accounts(), {"metadata": {"name": "robot"}})
        assert cluster.get(pods(), token=token)[0] == 401


def test_everything_is_allowed(program):
    with program.up("--authorization", "AlwaysAllow") as cluster:
        make(cluster, accounts(), {"metadata": {"name": "robot"}})
        token = new_token(cluster, "robot")
        assert cluster.get("/api/v1/nodes", token=token)[0] == 200
        assert cluster.get("/api/v1/nodes", token="")[0] == 401
        assert cluster.get(RBAC + "/clusterroles/view")[0] == 404


if __name__ == "__main__":
    up.main(globals())
