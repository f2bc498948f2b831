# SPDX-License-Identifier: Apache-2.0
"""An HTTPS proxy between a client and an API server that injects faults of networks and servers.

FaultProxy(server, policy) listens on its own port. policy(request) returns None to pass the
request, or one of the faults below. The proxy's thread calls the policy.
"""
import asyncio
import contextlib
import os
import random
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse


class Request:
    """A request, as the policy sees it."""

    def __init__(self, method, target, headers, body, connected_at, peer=""):
        self.connected_at = connected_at  # when the proxy accepted the client's connection
        self.peer = peer  # common name in the client's certificate
        self.method = method
        self.target = target
        self.path, _, self.query = target.partition("?")
        self.headers = headers
        self.body = body
        self.at = time.monotonic()

    @property
    def is_watch(self):
        return "watch=true" in self.query

    @property
    def is_binding(self):
        return self.method == "POST" and self.path.endswith("/binding")


class Answer:
    """The proxy answers; the server does not receive the request."""

    def __init__(self, status, body=b"", headers=()):
        self.status = status
        self.body = body
        self.headers = dict(headers)


class CutBefore:
    """The connection closes before the server receives the request."""


class LoseAnswer:
    """The server processes the request, but the client gets no answer."""


class CutWithin:
    """The connection closes after this many bytes of the answer's body."""

    def __init__(self, size):
        self.size = size


class CutAfter:
    """The connection closes after this many seconds, even in the middle of the answer."""

    def __init__(self, seconds):
        self.seconds = seconds


class Delay:
    def __init__(self, seconds):
        self.seconds = seconds


class Hold:
    """The request is held until a threading.Event is set, so that a test can act in between."""

    def __init__(self, event):
        self.event = event


def make_certificate(folder, names="IP:127.0.0.1,DNS:localhost", subject="proxy"):
    """Makes a self-signed certificate, which is its own CA; returns paths (certificate, key)."""
    certificate = os.path.join(folder, subject + ".crt")
    key = os.path.join(folder, subject + ".key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=" + subject,
         "-addext", "subjectAltName=" + names],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return certificate, key


class _Cut(Exception):
    """Closes the client's connection."""


class FaultProxy:
    def __init__(self, server, policy=None, client_ca=None, token=None,
                 names="IP:127.0.0.1,DNS:localhost"):
        """
        server: a Cluster of up.py or a similar object; set_server replaces it. client_ca: the CA of
        the client certificates that the proxy requires. token: replaces the client's Authorization
        header towards the server. names: names in the proxy's certificate.
        """
        self.folder = tempfile.TemporaryDirectory()
        self.certificate, self.key = make_certificate(self.folder.name, names)
        self.client_ca = client_ca
        self.token = token
        self.policy = policy
        self.requests = []  # every Request, in order
        self.set_server(server)
        self._clients = {}  # writer -> task
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        started = threading.Event()
        self._loop.call_soon_threadsafe(lambda: self._loop.create_task(self._start(started)))
        self._thread.start()
        assert started.wait(10)

    def set_server(self, server):
        url = urllib.parse.urlsplit(server.server)
        self._host, self._port = url.hostname, url.port
        self._tls = server.tls()

    @property
    def server(self):
        return "https://127.0.0.1:%d" % self.port

    @property
    def ca_file(self):
        return self.certificate

    def _run(self):
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _start(self, started):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        if self.client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.client_ca)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=500)
        self._listener.setblocking(False)
        self.port = self._listener.getsockname()[1]
        started.set()
        # Not asyncio.start_server, which reports a connection only after its TLS handshake.
        while True:
            connection, _ = await self._loop.sock_accept(self._listener)
            self._loop.create_task(self._open(connection, context, time.monotonic()))

    async def _open(self, connection, context, connected_at):
        reader = asyncio.StreamReader(limit=1 << 20)
        with contextlib.suppress(OSError):  # the handshake failed
            await self._loop.connect_accepted_socket(
                lambda: asyncio.StreamReaderProtocol(
                    reader, lambda _, writer: self._serve(reader, writer, connected_at)),
                connection, ssl=context)

    def cut_everything(self):
        """Closes all connections of clients."""
        def cut():
            for writer, task in list(self._clients.items()):
                writer.transport.abort()
                task.cancel()  # an aborted TLS transport does not wake its reader
        self._loop.call_soon_threadsafe(cut)

    def stall(self, seconds):
        """Does nothing for this time: connections wait for their TLS handshake."""
        self._loop.call_soon_threadsafe(time.sleep, seconds)

    def close(self):
        async def end():
            others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            self._listener.close()
            self._loop.stop()
        asyncio.run_coroutine_threadsafe(end(), self._loop)
        self._thread.join(10)
        self.folder.cleanup()

    async def _serve(self, reader, writer, connected_at):
        self._clients[writer] = asyncio.current_task()
        upstream = None
        try:
            while True:
                request, raw = await self._read_request(
                    reader, connected_at, self._peer_of(writer))
                self.requests.append(request)
                fault = self.policy(request) if self.policy is not None else None
                if isinstance(fault, Answer):
                    await self._answer(writer, fault)
                    continue
                if isinstance(fault, CutBefore):
                    raise _Cut
                if isinstance(fault, Delay):
                    await asyncio.sleep(fault.seconds)
                while isinstance(fault, Hold) and not fault.event.is_set():
                    await asyncio.sleep(0.01)
                if upstream is None:
                    upstream = await asyncio.open_connection(
                        self._host, self._port, ssl=self._tls, limit=1 << 20)
                upstream[1].write(raw)
                await upstream[1].drain()
                relay = self._relay(upstream[0], writer, fault)
                if isinstance(fault, CutAfter):
                    await asyncio.wait_for(relay, fault.seconds)
                else:
                    await relay
        except (_Cut, OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ssl.SSLError,
                asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            self._clients.pop(writer, None)
            writer.transport.abort()
            if upstream is not None:
                upstream[1].transport.abort()

    @staticmethod
    async def _read_head(reader):
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head[:-4].decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        return head, first, headers

    @staticmethod
    def _peer_of(writer):
        certificate = writer.get_extra_info("peercert") or {}
        for part in certificate.get("subject", ()):
            for name, value in part:
                if name == "commonName":
                    return value
        return ""

    async def _read_request(self, reader, connected_at, peer):
        head, first, headers = await self._read_head(reader)
        method, target, _ = first.split(" ", 2)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Request(method, target, headers, body, connected_at, peer)
        if self.token is not None:
            lines = [line for line in head[:-4].split(b"\r\n")
                     if not line.lower().startswith(b"authorization:")]
            lines.append(b"Authorization: Bearer " + self.token.encode())
            head = b"\r\n".join(lines) + b"\r\n\r\n"
        return request, head + body

    @staticmethod
    async def _answer(writer, answer):
        headers = {"Content-Length": str(len(answer.body)), "Content-Type": "application/json"}
        headers.update(answer.headers)
        lines = "".join("%s: %s\r\n" % pair for pair in headers.items())
        head = "HTTP/1.1 %d Fault\r\n%s\r\n" % (answer.status, lines)
        writer.write(head.encode() + answer.body)
        await writer.drain()

    async def _relay(self, reader, writer, fault):
        """Forwards one answer from the server to the client."""
        allowed = fault.size if isinstance(fault, CutWithin) else None
        head, first, headers = await self._read_head(reader)
        lost = isinstance(fault, LoseAnswer)

        async def pass_on(data, counts=True):
            nonlocal allowed
            if lost:
                return
            if allowed is not None and counts:
                if len(data) >= allowed:
                    writer.write(data[:allowed])
                    await writer.drain()
                    raise _Cut
                allowed -= len(data)
            writer.write(data)
            await writer.drain()

        await pass_on(head, counts=False)
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while True:
                line = await reader.readuntil(b"\r\n")
                size = int(line.split(b";")[0], 16)
                await pass_on(line + await reader.readexactly(size + 2))
                if size == 0:
                    break
        elif int(first.split(" ")[1]) not in (204, 304):
            left = int(headers.get("content-length", "0"))
            while left > 0:
                data = await reader.read(min(left, 65536))
                if not data:
                    raise _Cut
                left -= len(data)
                await pass_on(data)
        if lost or allowed is not None:
            raise _Cut


def status_body(code, reason, message):
    """Returns a Status in the API server's words."""
    import json
    return json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                       "message": message, "reason": reason, "code": code}).encode()


def sometimes(seed, chance, fault, applies=lambda request: True):
    """Returns a policy that injects fault() into a random share (chance) of the requests for which
    applies(request) is true."""
    rng = random.Random(seed)

    def policy(request):
        if applies(request) and rng.random() < chance:
            return fault()
        return None
    return policy
