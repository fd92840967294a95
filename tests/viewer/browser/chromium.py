"""Drives headless Chromium by its debugging protocol, over a pipe: needs Python's standard library alone."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
TIMEOUT = 30


def find():
    """The path of an installed browser, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Failure(Exception):
    pass


class Chromium:
    """One process of the browser, without a profile."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="reprise-chromium-", ignore_cleanup_errors=True)
        read, self.output = os.pipe()
        self.input, write = os.pipe()
        read, write = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write))  # 3 and 4 may be in use

        def connect():  # the browser reads commands from 3 and writes to 4
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.log = open(os.path.join(self.folder.name, "log"), "w+b")
        self.process = subprocess.Popen(
            [program, "--headless", "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}/profile",
             "--no-sandbox", "--no-first-run", "--disable-dev-shm-usage", "--use-angle=swiftshader",
             "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--hide-scrollbars"],
            preexec_fn=connect, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=dict(os.environ, HOME=self.folder.name))
        os.close(read)
        os.close(write)
        self.last, self.rest, self.events = 0, b"", []
        self.call("Browser.getVersion")

    def close(self):
        self.process.terminate()
        self.process.wait(TIMEOUT)
        for end in (self.input, self.output):
            os.close(end)
        self.log.close()
        self.folder.cleanup()

    def receive(self, deadline):
        """The next message, or None at the deadline."""
        while b"\0" not in self.rest:
            if not select.select([self.input], [], [], max(0, deadline - time.monotonic()))[0]:
                return None
            data = os.read(self.input, 1 << 20)
            if not data:
                self.log.seek(0)
                raise Failure("the browser ended: " + self.log.read().decode(errors="replace")[-2000:])
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        deadline = time.monotonic() + TIMEOUT
        while answer := self.receive(deadline):
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)
        raise Failure(f"{method}: no answer")

    def take_events(self, method, session=None):
        """Removes and returns the parameters of the events received so far."""
        self.call("Browser.getVersion")
        taken = [e for e in self.events if e.get("method") == method and e.get("sessionId") == session]
        self.events = [e for e in self.events if e not in taken]
        return [e["params"] for e in taken]


class Page:
    """A tab. Coordinates are CSS pixels."""

    def __init__(self, browser, width=1000, height=600, scale=1, mobile=False, dark=True, script=""):
        self.browser = browser
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        self.target = browser.call("Target.createTarget", url="about:blank", browserContextId=self.context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height, scale, mobile)
        if mobile:
            self.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
        self.theme(dark)
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        if script:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height, scale=1, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def theme(self, dark):
        value = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def wait(self, expression, seconds=TIMEOUT):
        """Waits until the expression is true and returns its value; exceptions, as before the document is there, count
        as false."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                if value := self.evaluate(expression):
                    return value
            except Failure as failure:
                value = failure
            if time.monotonic() > deadline:
                raise Failure(f"not true within {seconds} s: {expression}: {value}")
            time.sleep(0.02)

    def faults(self):
        """Exceptions of the page and what its security policy or the network refused."""
        found = [e["exceptionDetails"].get("exception", {}).get("description", "exception")
                 for e in self.browser.take_events("Runtime.exceptionThrown", self.session)]
        return found + [e["entry"]["text"] for e in self.browser.take_events("Log.entryAdded", self.session)
                        if e["entry"]["level"] == "error"]

    def screenshot(self):
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    # --- input ---

    def mouse(self, kind, x, y, button="none", buttons=0, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)

    def click(self, x, y, button="left"):
        self.drag((x, y), (x, y), button, steps=0)

    def drag(self, start, end, button="left", steps=8):
        mask = {"left": 1, "right": 2, "middle": 4}[button]
        self.move(*start)
        self.mouse("mousePressed", *start, button, mask, clickCount=1)
        for step in range(1, steps + 1):
            at = [a + (b - a) * step / steps for a, b in zip(start, end)]
            self.mouse("mouseMoved", *at, button, mask)
        self.mouse("mouseReleased", *end, button, 0, clickCount=1)

    def wheel(self, x, y, dx=0, dy=0):
        self.mouse("mouseWheel", x, y, deltaX=dx, deltaY=dy)

    def key(self, code, control=False, shift=False, commands=()):
        """Presses and releases a key of the US layout, named as KeyboardEvent.code."""
        key = {"Key": code[3:].lower(), "Dig": code[5:]}.get(code[:3], code)
        number = ord(key.upper()) if len(key) == 1 else {
            "Enter": 13, "Escape": 27, "Backspace": 8, "Tab": 9, "F1": 112, "F3": 114, "Home": 36, "ArrowLeft": 37,
            "ArrowRight": 39}[code]
        modifiers = 2 * control + 8 * shift
        held = [("ControlLeft", "Control", 17)] * control + [("ShiftLeft", "Shift", 16)] * shift
        for name, value, virtual in held:
            self.call("Input.dispatchKeyEvent", type="rawKeyDown", code=name, key=value, windowsVirtualKeyCode=virtual,
                      modifiers=modifiers)
        text = {"text": key} if len(key) == 1 and not control else {}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", code=code, key=key,
                  windowsVirtualKeyCode=number, modifiers=modifiers, commands=list(commands), **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", code=code, key=key, windowsVirtualKeyCode=number, modifiers=modifiers)
        for name, value, virtual in held:
            self.call("Input.dispatchKeyEvent", type="keyUp", code=name, key=value, windowsVirtualKeyCode=virtual)

    def type(self, text):
        for letter in text:
            code = f"Key{letter.upper()}" if letter.isalpha() else ""
            self.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter, code=code)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=letter, code=code)

    def touch(self, kind, *points):
        self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[
            {"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)])

    def tap(self, x, y):
        self.touch("touchStart", (x, y))
        self.touch("touchEnd")

    def drop(self, x, y, *paths):
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)
