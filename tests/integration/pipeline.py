# SPDX-License-Identifier: Apache-2.0
"""Raw connections to a running `berth up`, for pipelined and broken requests."""
import json
import socket


def connect(cluster, timeout=60, receive_bytes=None):
    """Opens a socket, with TLS if the cluster uses TLS. timeout: seconds; receive_bytes: size of
    the kernel's receive buffer, None: the default."""
    connection = socket.socket()
    if receive_bytes is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.settimeout(timeout)
    try:
        connection.connect(("127.0.0.1", cluster.port))
        context = cluster.tls()
        if context is not None:
            connection = context.wrap_socket(connection, server_hostname="localhost")
    except BaseException:
        connection.close()
        raise
    return connection


def head(cluster, method, path, more=""):
    return ("%s %s HTTP/1.1\r\nHost: localhost:%d\r\nAuthorization: Bearer %s\r\n%s\r\n" % (
        method, path, cluster.port, cluster.token, more)).encode()


class Pipeline:
    """One keepalive connection; requests are sent before earlier answers arrive."""

    def __init__(self, cluster):
        self.socket = connect(cluster)
        self.answers = self.socket.makefile("rb")
        self.common = "Host: localhost:%d\r\nAuthorization: Bearer %s\r\n" % (
            cluster.port, cluster.token)

    def send(self, requests):
        """Sends requests (method, path, document); document None: no body."""
        parts = []
        for method, path, document in requests:
            body = b"" if document is None else json.dumps(document).encode()
            kind = ("application/merge-patch+json" if method == "PATCH" else "application/json")
            parts.append(("%s %s HTTP/1.1\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (
                method, path, self.common, kind, len(body))).encode() + body)
        self.socket.sendall(b"".join(parts))

    def receive(self):
        """Returns (status, body) of the next answer; raises ConnectionError if the connection
        ended."""
        status = self.answers.readline()
        if not status.startswith(b"HTTP/1.1 "):
            raise ConnectionError("the connection ended")
        length = 0
        for line in iter(self.answers.readline, b"\r\n"):
            if not line:
                raise ConnectionError("the connection ended")
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = self.answers.read(length)
        if len(body) != length:
            raise ConnectionError("the connection ended")
        return int(status.split()[1]), body

    def run(self, requests, batch=50):
        """Sends many requests, at most `batch` of them at a time, and returns their statuses."""
        requests, statuses = list(requests), []
        for start in range(0, len(requests), batch):
            some = requests[start:start + batch]
            self.send(some)
            statuses += [self.receive()[0] for _ in some]
        return statuses

    def close(self):
        self.answers.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()
