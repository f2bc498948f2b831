#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ServiceAccounts over real connections: tokens, rights by RBAC, pods with an account,
certificates, and tokens after a restart of the server. tests/unit/server tests the rules one by
one. Spec: 14 section 4, 14b section 4.3."""
import base64
import calendar
import json
import os
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

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
    """The aggregated role "view" collects rules of other roles; a label adds a custom role."""
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
    # The account of a new namespace exists as soon as a pod uses it.
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


def test_policies_ask_the_authorizer(cluster):
    """The policy of a namespace asks the authorizer, so the policy's result depends on the rights
    of the user."""
    admission = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    make(cluster, "/api/v1/namespaces", {"metadata": {"name": "asked", "labels": {"a": "b"}}})
    up.wait_for("an account", lambda: cluster.get(accounts("asked") + "/default")[0] == 200)
    bind(cluster, "asked-edit", "edit", "asked")
    make(cluster, RBAC + "/namespaces/asked/rolebindings", {
        "metadata": {"name": "edit"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                    "name": "edit"},
        "subjects": [{"kind": "ServiceAccount", "name": "asked", "namespace": "default"}]})
    make(cluster, accounts(), {"metadata": {"name": "asked"}})
    token = new_token(cluster, "asked")
    check = "authorizer%s.group('').resource('nodes').name('n').check('delete')"
    make(cluster, admission + "ies", {"metadata": {"name": "asks"}, "spec": {
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"a": "b"}},
            "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                               "operations": ["CREATE"], "resources": ["configmaps"]}]},
        "validations": [
            {"expression": check % "" + ".allowed()", "messageExpression":
             "'no: ' + %s.reason()" % (check % "")},
            {"expression": "!%s.allowed()" % (check % ".serviceAccount('default', 'asked')")}]}})
    make(cluster, admission + "ybindings", {"metadata": {"name": "asks"}, "spec": {
        "policyName": "asks", "validationActions": ["Deny"]}})
    path = "/api/v1/namespaces/asked/configmaps"
    up.wait_for("the rules of edit", lambda: cluster.get(path, token=token)[0] == 200)
    make(cluster, path, {"metadata": {"name": "of-admin"}})
    status, found = cluster.json("POST", path, {"metadata": {"name": "x"}}, token=token)
    assert status == 422 and "denied request: no: " in found["message"], found


def test_policies_add_labels_and_sidecars(cluster):
    """When the mutating policy has a binding, each new pod of a Deployment gets a label, an
    annotation and a sidecar; the sidecar gets the defaults of a container."""
    admission = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic"
    make(cluster, "/api/v1/namespaces", {"metadata": {"name": "meshed"}})
    up.wait_for("an account", lambda: cluster.get(accounts("meshed") + "/default")[0] == 200)
    make(cluster, "/api/v1/namespaces/meshed/configmaps",
         {"metadata": {"name": "mesh"}, "data": {"image": "mesh/proxy:2"}})
    make(cluster, admission + "ies", {"metadata": {"name": "mesh"}, "spec": {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "meshed"}},
            "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                               "operations": ["CREATE"], "resources": ["pods"]}]},
        "matchConditions": [{"name": "once", "expression":
                             "!object.spec.containers.exists(c, c.name == 'proxy')"}],
        "reinvocationPolicy": "IfNeeded",
        "mutations": [
            {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": """
                Object{
                  metadata: Object.metadata{labels: Object.metadata.labels{mesh: "on"}},
                  spec: Object.spec{containers: [
                    Object.spec.containers{name: "proxy", image: params.data.image}]}
                }"""}},
            {"patchType": "JSONPatch", "jsonPatch": {"expression": """
                [JSONPatch{op: "add", path: "/metadata/annotations", value: {
                  "containers": string(size(object.spec.containers))}}]"""}}]}})
    make(cluster, admission + "ybindings", {"metadata": {"name": "mesh"}, "spec": {
        "policyName": "mesh",
        "paramRef": {"name": "mesh", "parameterNotFoundAction": "Deny"}}})
    labels = {"app": "shop"}
    make(cluster, "/apis/apps/v1/namespaces/meshed/deployments", {
        "metadata": {"name": "shop"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "shop", "image": "shop:1"}]}}}})
    pods = up.wait_for("two pods", lambda: [
        pod for pod in cluster.json("GET", "/api/v1/namespaces/meshed/pods")[1]["items"]
        if pod["spec"].get("nodeName")][1:] and
        cluster.json("GET", "/api/v1/namespaces/meshed/pods")[1]["items"])
    for pod in pods:
        assert sorted(each["name"] for each in pod["spec"]["containers"]) == ["proxy", "shop"]
        proxy = [each for each in pod["spec"]["containers"] if each["name"] == "proxy"][0]
        assert proxy["image"] == "mesh/proxy:2" and proxy["imagePullPolicy"] == "IfNotPresent"
        # The admission plugins run again after the policy, so the sidecar mounts the token volume.
        assert proxy["volumeMounts"], proxy
        assert pod["metadata"]["labels"]["mesh"] == "on"
        assert pod["metadata"]["annotations"]["containers"] == "2"


# --- certificates ---

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


class Key:
    """Makes a private key and certificate signing requests with it."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "key.pem")
        self.folder = folder
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out",
                        self.path], check=True)

    def request(self, cluster, name, subject, names="", approve=True, **spec):
        """Creates and approves a CertificateSigningRequest, waits until the request is signed or
        has failed, and returns the request. approve False: returns the new request at once."""
        more = ["-addext", "subjectAltName=" + names] if names else []
        pem = subprocess.run(["openssl", "req", "-new", "-key", self.path, "-subj", subject] + more,
                             check=True, stdout=subprocess.PIPE).stdout
        made = make(cluster, REQUESTS, {"metadata": {"name": name}, "spec": dict({
            "request": base64.b64encode(pem).decode(), "usages": ["client auth"],
            "signerName": "kubernetes.io/kube-apiserver-client"}, **spec)})
        if not approve:
            return made
        made["status"] = {"conditions": [{
            "type": "Approved", "status": "True", "reason": "Test", "message": "x"}]}
        status, found = cluster.json("PUT", "%s/%s/approval" % (REQUESTS, name), made)
        assert status == 200, found

        def is_done():
            found = cluster.json("GET", "%s/%s" % (REQUESTS, name))[1]
            return found if "certificate" in found["status"] or len(
                found["status"]["conditions"]) > 1 else None
        return up.wait_for("the certificate", is_done)

    def certificate(self, found):
        path = os.path.join(self.folder, found["metadata"]["name"] + ".pem")
        with open(path, "wb") as file:
            file.write(base64.b64decode(found["status"]["certificate"]))
        return path


def show(path, *what):
    return subprocess.run(["openssl", "x509", "-in", path, "-noout"] + list(what), check=True,
                          stdout=subprocess.PIPE).stdout.decode()


def who(cluster, certificate, key):
    """Sends a SelfSubjectReview with a client certificate. Returns (status code, user name, groups)
    of the answer; if the server refuses, (status code, message, [])."""
    context = ssl.create_default_context(cadata=cluster.ca())
    context.load_cert_chain(certificate, key.path)
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    asked = urllib.request.Request(
        cluster.server + "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(asked, context=context, timeout=60) as answer:
            user = json.loads(answer.read())["status"]["userInfo"]
            return answer.status, user["username"], user["groups"]
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())["message"], []


def test_signed_certificates_authenticate(cluster):
    with tempfile.TemporaryDirectory() as folder:
        key = Key(folder)
        found = key.request(cluster, "jane", "/O=dev/O=ops/CN=jane", expirationSeconds=600)
        path = key.certificate(found)
        subprocess.run(["openssl", "verify", "-purpose", "sslclient", "-CAfile", "/dev/stdin",
                        path], input=cluster.ca().encode(), check=True)
        dates = dict(line.split("=") for line in show(path, "-dates").split("\n") if line)
        first, last = [calendar.timegm(time.strptime(dates[name], "%b %d %H:%M:%S %Y GMT"))
                       for name in ("notBefore", "notAfter")]
        # Valid from 300 s before the request, because clocks of clients may lag, to 600 s after it.
        assert last - first == 900, dates
        assert "TLS Web Client" in show(path, "-text") and "CA:FALSE" in show(path, "-text")
        assert who(cluster, path, key) == (
            201, "jane", ["dev", "ops", "system:authenticated"])
        # a certificate of an unknown signer authenticates no user
        own = os.path.join(folder, "own.pem")
        subprocess.run(["openssl", "req", "-x509", "-new", "-key", key.path, "-subj",
                        "/O=system:masters/CN=x", "-out", own], check=True)
        assert who(cluster, own, key)[0] in (401, 403)


def test_a_node_reaches_what_is_its_own(cluster):
    """Requests with a kubelet's certificate. tests/unit/server/test_rbac.c tests which requests are
    allowed."""
    kubelet = {"signerName": "kubernetes.io/kube-apiserver-client-kubelet",
               "usages": ["digital signature", "client auth"]}
    names = [cluster.json("GET", "/api/v1/nodes")[1]["items"][0]["metadata"]["name"], "other"]
    for name in "mine", "other":
        make(cluster, "/api/v1/namespaces/default/secrets", {"metadata": {"name": name}})
    up.wait_for("an account", lambda: cluster.get(accounts() + "/default")[0] == 200)
    make(cluster, "/api/v1/namespaces/default/pods", {
        "metadata": {"name": "reader"}, "spec": {
            "nodeName": names[0],
            "containers": [{"name": "c", "image": "i"}],
            "volumes": [{"name": "v", "secret": {"secretName": "mine"}}]}})
    with tempfile.TemporaryDirectory() as folder:
        key = Key(folder)
        found = key.request(cluster, "node", "/O=system:nodes/CN=system:node:" + names[0],
                            **kubelet)
        context = ssl.create_default_context(cadata=cluster.ca())
        context.load_cert_chain(key.certificate(found), key.path)

        def status_of(path):
            try:
                with urllib.request.urlopen(cluster.server + path, context=context,
                                            timeout=60) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                with error:
                    return error.code
        assert status_of("/api/v1/namespaces/default/secrets/mine") == 200
        assert status_of("/api/v1/namespaces/default/secrets/other") == 403
        assert status_of("/api/v1/nodes/" + names[0]) == 200
        assert status_of("/api/v1/nodes/" + names[1]) == 403
        assert status_of("/api/v1/pods?fieldSelector=spec.nodeName%3D" + names[0]) == 200
        assert status_of("/api/v1/pods") == 403


def test_what_is_not_signed(cluster):
    kubelet = {"signerName": "kubernetes.io/kube-apiserver-client-kubelet",
               "usages": ["digital signature", "client auth"]}
    serving = {"signerName": "kubernetes.io/kubelet-serving",
               "usages": ["digital signature", "server auth"]}
    rows = [
        ("usage", "/CN=a", "", {"usages": ["client auth", "server auth"]}, "usages must be"),
        ("kubelet", "/O=system:nodes/CN=system:node:n", "", kubelet, None),
        ("organization", "/O=nodes/CN=system:node:n", "", kubelet, "organization"),
        ("name", "/O=system:nodes/CN=n", "", kubelet, "common name"),
        ("names", "/O=system:nodes/CN=system:node:n", "DNS:n", kubelet, "DNS and IP"),
        ("serving", "/O=system:nodes/CN=system:node:n", "DNS:n,IP:10.0.0.1", serving, None),
        ("no-names", "/O=system:nodes/CN=system:node:n", "", serving, "is required"),
        ("mail", "/O=system:nodes/CN=system:node:n", "DNS:n,email:a@b.c", serving, "email"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        key = Key(folder)
        for name, subject, names, spec, text in rows:
            found = key.request(cluster, "row-" + name, subject, names, **spec)
            if text is None:
                assert "certificate" in found["status"], found
                assert names.replace(",", ", ").replace("IP:", "IP Address:") in show(
                    key.certificate(found), "-text")
            else:
                failed = found["status"]["conditions"][1]
                assert failed["type"] == "Failed" and text in failed["message"], (name, found)
                assert failed["reason"] == "SignerValidationFailure"
        # Two requests stay unsigned: "other" has a signer without a controller in Kubernetes,
        # "waiting" is not approved.
        key.request(cluster, "other", "/CN=a", approve=False, signerName="example.com/mine")
        key.request(cluster, "waiting", "/CN=a", approve=False)
        status, found = cluster.json("POST", REQUESTS, {
            "metadata": {"name": "masters"}, "spec": {
                "request": base64.b64encode(subprocess.run(
                    ["openssl", "req", "-new", "-key", key.path, "-subj",
                     "/O=system:masters/CN=a"], check=True, stdout=subprocess.PIPE).stdout
                ).decode(), "usages": ["client auth"],
                "signerName": "kubernetes.io/kube-apiserver-client"}})
        assert status == 403 and "system:masters" in found["message"], found
        for name in "other", "waiting":
            found = cluster.json("GET", "%s/%s" % (REQUESTS, name))[1]
            assert "certificate" not in found.get("status", {}), found


def test_users_that_may_approve(cluster):
    """An approver needs the right to update approvals, and the right to approve for the signer."""
    cluster.json("POST", "/api/v1/namespaces/default/serviceaccounts",
                 {"metadata": {"name": "approver"}})
    role = {"metadata": {"name": "approver"}, "rules": [
        {"apiGroups": ["certificates.k8s.io"], "resources": ["*"], "verbs": ["get", "update"]}]}
    make(cluster, "/apis/rbac.authorization.k8s.io/v1/clusterroles", role)
    make(cluster, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
        "metadata": {"name": "approver"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                    "name": "approver"},
        "subjects": [{"kind": "ServiceAccount", "name": "approver", "namespace": "default"}]})
    token = new_token(cluster, "approver")
    path = REQUESTS + "/waiting/approval"
    found = cluster.json("GET", REQUESTS + "/waiting")[1]
    found["status"] = {"conditions": [{
        "type": "Denied", "status": "True", "reason": "Test", "message": "x"}]}
    status, answer = cluster.json("PUT", path, found, token=token)
    assert status == 403, answer
    assert ('user not permitted to approve requests with signerName '
            '"kubernetes.io/kube-apiserver-client"') in answer["message"], answer
    role["rules"].append({"apiGroups": ["certificates.k8s.io"], "resources": ["signers"],
                          "resourceNames": ["kubernetes.io/*"], "verbs": ["approve"]})
    cluster.json("PUT", "/apis/rbac.authorization.k8s.io/v1/clusterroles/approver", role)
    status, answer = cluster.json("PUT", path, found, token=token)
    assert status == 200, answer


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
    # Another server has another signing key, so it rejects the token.
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
