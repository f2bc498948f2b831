# SPDX-License-Identifier: Apache-2.0
"""A real browser, driven over the DevTools protocol, for tests of pages that talk to a server."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

import websocket


class CommandFailed(Exception):
    """The browser refused a command: its name and the message."""


class Browser:
    """One page of a headless Chromium that reaches only loopback.

    complaints: errors and warnings on its console, and failed requests.
    """

    def __init__(self, width=1400, height=900, flags=()):
        browser = shutil.which("chromium")
        assert browser, "chromium is missing: tools/install-deps.sh build test"
        self.profile = tempfile.mkdtemp(prefix="berth-browser-")
        self.process = subprocess.Popen(
            [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--user-data-dir=" + self.profile, "--remote-debugging-port=0",
             "--remote-allow-origins=*", "--window-size=%d,%d" % (width, height),
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
             "--force-color-profile=srgb", *flags, "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.complaints = []
        self.requests = []
        self.number = 0
        address = self.read_address()
        self.socket = websocket.create_connection(address, timeout=120)
        target = self.send("Target.getTargets")["targetInfos"]
        page = next(one for one in target if one["type"] == "page")
        self.session = None
        self.session = self.send("Target.attachToTarget", targetId=page["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def read_address(self):
        for line in self.process.stderr:
            found = re.search(rb"DevTools listening on (ws://\S+)", line)
            if found:
                return found[1].decode()
        raise AssertionError("the browser did not start")

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(30)
        self.process.stderr.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method, **parameters):
        """Send one command and return its result; handles the events that arrive before."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise CommandFailed(method, answer["error"]["message"])
                return answer["result"]
            self.take_event(answer)

    def take_event(self, event):
        parameters = event.get("params", {})
        method = event.get("method", "")
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(parameters["args"])[:2000])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(json.dumps(parameters["entry"])[:2000])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, url):
        self.send("Page.navigate", url=url)

    def reload(self):
        """Load the page again; returns once the new document has replaced the old one."""
        self.evaluate("window.beforeReload = true")
        self.send("Page.reload")
        self.wait_for("!window.beforeReload")

    def reset(self):
        """Restore the initial state: blank page, no cookies, no emulated media, no complaints."""
        self.open("about:blank")
        self.wait_for("location.href == 'about:blank'")
        self.send("Network.clearBrowserCookies")
        self.set_media()
        self.complaints.clear()
        self.requests.clear()

    def cpu_seconds(self):
        """CPU seconds that the page's thread has used."""
        self.send("Performance.enable", timeDomain="threadTicks")
        metrics = self.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "ThreadTime")

    def evaluate(self, expression):
        """The value of a JavaScript expression; promises are waited for."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, expression, seconds=60):
        """Wait until the expression is true; returns its value. The page may navigate meanwhile."""
        end = time.monotonic() + seconds
        while True:
            try:
                value = self.evaluate("(() => { try { const v = %s;"
                                      " return v instanceof Node ? true : v; }"
                                      " catch (e) { return null; } })()" % expression)
            except CommandFailed as failure:
                # The document of the question is gone; the next document answers.
                if not re.search("navigated|context", failure.args[1]):
                    raise
                value = None
            if value:
                return value
            assert time.monotonic() < end, "never true: %s\n%s" % (
                expression, self.evaluate("document.body.innerText")[:3000])
            time.sleep(0.05)

    def set_media(self, **features):
        """Emulate media: prefers_color_scheme="dark" or media="print"."""
        media = features.pop("media", "")
        self.send("Emulation.setEmulatedMedia", media=media, features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def resize(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def press(self, key, text=None):
        codes = {"Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "ArrowUp": 38,
                 "Tab": 9, "Escape": 27, "Home": 36, "End": 35}
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, 0)}
        if text or key == "Enter":
            common["text"] = text or "\r"
        self.send("Input.dispatchKeyEvent", type="keyDown", **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def middle_of(self, selector):
        """Coordinates of the element's middle, after scrolling it into view."""
        return self.evaluate("(() => { const e = document.querySelector(%s);"
                            " e.scrollIntoView({block: 'nearest'});"
                            " const b = e.getBoundingClientRect();"
                            " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
                             % json.dumps(selector))

    def point_at(self, selector):
        x, y = self.middle_of(selector)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        self.click_at(*self.middle_of(selector))

    def click_at(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                      clickCount=1)

    def save_screenshot(self, path):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
