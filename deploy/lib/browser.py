"""Debian's chromium without a window, driven over its DevTools protocol by a pair of pipes.

Pipes need neither a port nor a library. Everything is stopped when the `Browser` block ends.
"""

import base64
import itertools
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import ROOT, Failure

CHROMIUM = "/usr/bin/chromium"
ANSWER_SECONDS = 30
# Timers and frames go on in every page, as they do in a browser source; nothing is fetched that no
# page asked for; /dev/shm may be small in a container.
SWITCHES = [
    "--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows", "--disable-background-networking",
    "--disable-component-update", "--disable-extensions", "--disable-sync", "--mute-audio",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
    "--lang=en",
]


def install_browser():
    """Installs chromium, and the fonts without which names would be boxes, where they are not."""
    done = subprocess.run(
        ["bash", "-c", 'source deploy/lib/debian.sh; install_missing "${browser_packages[@]}"'],
        cwd=ROOT, check=False,
    )
    if done.returncode != 0:
        raise Failure("there is no chromium")


class Browser:
    """A browser with a profile of its own."""

    def __init__(self, *switches):
        install_browser()
        self.folder = tempfile.mkdtemp(prefix="giftcombo-chromium-")
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()
        command = [CHROMIUM, *SWITCHES, *switches, f"--user-data-dir={self.folder}"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")  # which root can't have
        self.child = subprocess.Popen(
            ["bash", "-c", f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"', "-", *command],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.numbers = itertools.count(1)
        self.waiting = {}
        self.events = []  # (session, method, parameters)
        threading.Thread(target=self._collect, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            self.call("Browser.close")
            self.child.wait(10)
        except (Failure, OSError, subprocess.TimeoutExpired):
            self.child.kill()
            self.child.wait()
        os.close(self.commands)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _collect(self):
        rest = b""
        while chunk := os.read(self.answers, 1 << 20):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    self.waiting.pop(message["id"]).put(message)
                else:
                    self.events.append((message.get("sessionId"), message["method"],
                                        message["params"]))
        for waiting in list(self.waiting.values()):
            waiting.put({"error": {"message": "the browser has ended"}})

    def call(self, method, session=None, seconds=ANSWER_SECONDS, **parameters):
        """Sends a command of the protocol; its result."""
        number = next(self.numbers)
        answer = self.waiting[number] = queue.Queue()
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.commands, text):]
        try:
            found = answer.get(timeout=seconds)
        except queue.Empty:
            raise Failure(f"{method}: no answer in {seconds} s") from None
        if "error" in found:
            raise Failure(f"{method}: {found['error']['message']}")
        return found["result"]

    def page(self, address="about:blank", width=800, height=360, features=(), before=None,
             scale=1):
        """Opens a page; `before` is a script that runs before those of the page."""
        return Page(self, address, (width, height, scale), features, before)


class Page:
    """One page, as a browser source of a size has it."""

    def __init__(self, browser, address, size, features, before):
        width, height, scale = size
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        if features:
            self.call("Emulation.setEmulatedMedia",
                      features=[{"name": n, "value": v} for n, v in features])
        if before:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.go(address)

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def events(self, method):
        """The parameters of this page's events of a kind so far."""
        return [p for s, m, p in list(self.browser.events) if s == self.session and m == method]

    def go(self, address):
        """Loads an address to its end."""
        loaded = len(self.events("Page.loadEventFired"))
        found = self.call("Page.navigate", url=address)
        if found.get("errorText"):
            raise Failure(f"{address}: {found['errorText']}")
        end = time.monotonic() + ANSWER_SECONDS
        while len(self.events("Page.loadEventFired")) == loaded:
            if time.monotonic() > end:
                raise Failure(f"{address} does not load")
            time.sleep(0.01)

    def evaluate(self, script, seconds=ANSWER_SECONDS):
        """The value of a script's last expression, awaited if it is a promise."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                          awaitPromise=True, seconds=seconds)
        if "exceptionDetails" in found:
            raise Failure(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def screenshot(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        found = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    def memory(self):
        """(nodes, bytes of the scripts' heap) that are left after a collection."""
        self.call("HeapProfiler.collectGarbage")
        return (self.call("Memory.getDOMCounters")["nodes"],
                self.call("Runtime.getHeapUsage")["usedSize"])

    def complaints(self):
        """What went wrong in the page: exceptions, refused loads, errors and warnings."""
        found = [p["exceptionDetails"]["exception"].get("description", "")
                 for p in self.events("Runtime.exceptionThrown")]
        entries = [p["entry"] for p in self.events("Log.entryAdded")]
        found += [f"{entry['text']} {entry.get('url', '')}" for entry in entries]
        return found

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
