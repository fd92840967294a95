#!/usr/bin/env python3
"""Uses `reprise serve` in headless Chromium, and compares its pictures with those of the window.

usage: browser_test.py REPRISE WRITE_TRACE [UNITTEST ARGUMENTS]

Skipped (77) without Chromium. Prints bytes per frame, latency and the time to the first picture; these are not checked
as closely as they are measured, since they depend on the machine.
"""
import base64
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import chromium
from chromium import Page
from link import Link

PROGRAM = WRITE_TRACE = BROWSER = FOLDER = None
WIDTH, HEIGHT = 1000, 600

# Notes when frames are drawn, and the times from an event to the arrival and to the acknowledgement of the next frame.
# answered() returns the number of draws once the server has answered a message and the page has drawn what came before
# the answer. hold() keeps the page's timers of that length, which pass() runs one by one.
PROBE = """(() => {
  const seen = window.seen = {draws: [], arrival: [], latency: [], event: 0};
  const {clear} = WebGL2RenderingContext.prototype, {send} = WebSocket.prototype;
  const {setTimeout, clearTimeout} = window;
  const held = new Map();
  let heldLength = 0;
  window.hold = length => { heldLength = length; };
  window.pass = () => {
    const [[id, run]] = held;
    held.delete(id);
    run();
  };
  window.heldTimers = () => held.size;
  window.setTimeout = (run, after) => {
    if (after !== heldLength) return setTimeout(run, after);
    const id = {};
    held.set(id, run);
    return id;
  };
  window.clearTimeout = id => held.delete(id) || clearTimeout(id);
  window.answered = async () => {
    await new Promise(answer => {
      socket.addEventListener('message', function check({data}) {
        if (data !== '{"type":"alive"}') return;
        socket.removeEventListener('message', check);
        answer();
      });
      socket.send('{"type":"alive"}');
    });
    for (let i = 0; i < 2; ++i) await new Promise(requestAnimationFrame);
    return seen.draws.length;
  };
  WebGL2RenderingContext.prototype.clear = function(mask) {
    seen.draws.push(performance.now());
    clear.call(this, mask);
  };
  addEventListener('load', () => {
    const {takeFrame} = Renderer.prototype;
    Renderer.prototype.takeFrame = function(data) {
      if (seen.event) seen.arrival.push(performance.now() - seen.event);
      return takeFrame.call(this, data);
    };
  });
  WebSocket.prototype.send = function(data) {
    if (typeof data === 'string' && data.startsWith('{"type":"ack"') && seen.event) {
      seen.latency.push(performance.now() - seen.event);
      seen.event = 0;
    }
    send.call(this, data);
  };
  for (const type of ['pointermove', 'pointerdown', 'pointerup', 'wheel', 'keydown'])
    addEventListener(type, event => { seen.event ||= event.timeStamp; }, true);
})()"""

# Compares two pictures: the part of pixels with a channel that differs by more than 48, and the mean difference.
COMPARE = """(async (pictures) => {
  const [a, b] = await Promise.all(pictures.map(async text => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + text;
    await image.decode();
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  }));
  if (a.width !== b.width || a.height !== b.height) return {size: [a.width, a.height, b.width, b.height]};
  let far = 0, sum = 0;
  for (let i = 0; i < a.data.length; i += 4) {
    let most = 0;
    for (let c = 0; c < 3; ++c) {
      const difference = Math.abs(a.data[i + c] - b.data[i + c]);
      sum += difference;
      most = Math.max(most, difference);
    }
    if (most > 48) ++far;
  }
  return {far: far * 4 / a.data.length, mean: sum * 4 / (3 * a.data.length)};
})"""


# The number of colours in a rectangle of a picture.
COLOURS = """(async (text, left, top, width, height) => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + text;
  await image.decode();
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  return new Set(new Uint32Array(context.getImageData(left, top, width, height).data.buffer)).size;
})"""


def difference(page, a, b):
    return page.evaluate(f"{COMPARE}(['{base64.b64encode(a).decode()}', '{base64.b64encode(b).decode()}'])")


def trace(name, *kind):
    path = FOLDER / name
    if not path.exists():
        subprocess.run([WRITE_TRACE, path, *map(str, kind)], check=True)
    return path


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", *map(str, arguments), "--port", "0"], stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, XDG_CONFIG_HOME=str(FOLDER / "config"), DISPLAY=""))
        for line in self.process.stdout:
            if match := re.search(r"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{32})", line):
                break
        else:
            raise chromium.Failure("reprise serve printed no link")
        self.port, self.token = int(match[1]), match[2]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(chromium.TIMEOUT)
        self.process.stdout.close()

    def wait_until_idle(self, seconds=0.1):
        """Waits until all threads are seen asleep for some time, which is longer than they sleep between frames."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for thread in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
                if (thread / "stat").read_text().rsplit(")", 1)[1].split()[0] != "S":
                    until = time.monotonic() + seconds
            time.sleep(0.01)

    def processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class BrowserTest(unittest.TestCase):
    def setUp(self):
        self.pages = []

    def tearDown(self):
        for page in self.pages:
            page.close()

    def serve(self, *arguments):
        server = Server(*arguments)
        self.addCleanup(server.close)
        return server

    def open(self, server, state="", port=None, token=None, **options):
        page = Page(BROWSER, script=PROBE, **{"width": WIDTH, "height": HEIGHT, **options})
        self.pages.append(page)
        page.server = server
        page.origin = f"http://127.0.0.1:{port or server.port}"
        BROWSER.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
                     origin=page.origin, browserContextId=page.context)
        page.open(f"{page.origin}/#token={token or server.token}" + (state and "&" + state))
        return page

    def shown(self, *arguments, **options):
        """A page whose picture is complete."""
        page = self.open(*arguments, **options)
        page.wait("document.getElementById('status').hidden && seen.draws.length > 1")
        self.settle(page)
        return page

    def settle(self, page):
        """Waits until the server has nothing to draw and the page has drawn everything."""
        before, now = None, page.evaluate("answered()")
        while before != now:
            page.server.wait_until_idle()
            before, now = now, page.evaluate("answered()")

    def wait_for_picture(self, page, other, is_expected):
        """Waits until the difference of the picture to `other` is the expected one."""
        deadline = time.monotonic() + chromium.TIMEOUT
        while True:
            self.settle(page)
            found = difference(page, other, page.screenshot())
            if is_expected(found):
                return
            self.assertLess(time.monotonic(), deadline, found)

    def wait_for_change(self, page, before):
        self.wait_for_picture(page, before, lambda found: found["far"] > 0.01)

    def wait_for_same(self, page, before):
        self.wait_for_picture(page, before, lambda found: found["far"] < 0.001)

    def wait_for_copy(self, page, pattern):
        """Waits until the whole clipboard matches, and returns it."""
        return page.wait(f"navigator.clipboard.readText().then(text => /^(?:{pattern})$/.test(text) && text)")

    def hash(self, page):
        return page.evaluate("location.hash.slice(1)")

    def status(self, page):
        return page.evaluate("document.getElementById('status').hidden ? '' : document.getElementById('status').innerText")

class Pictures(BrowserTest):
    """Of the same trace, view and size, the page shows what the window draws: two software renderers, with coordinates
    of the page rounded to 1/64 pixel."""

    def check(self, name, width, height, scale=1, dark=True):
        path = trace("run.reprise")
        server = self.serve(path)
        page = self.shown(server, f"view={name}", width=width, height=height, scale=scale, dark=dark)
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=width / 2, y=height - 2)  # hovers over nothing
        self.settle(page)
        reference = FOLDER / f"{name}.png"
        subprocess.run([PROGRAM, "view", path, "--screenshot", reference, "--view", name, "--size", f"{width}x{height}"],
                       check=True)
        picture = page.screenshot()
        (FOLDER / f"{name}-page.png").write_bytes(picture)
        result = difference(page, picture, reference.read_bytes())
        print(f"{name}, {width}x{height}: {result}")
        self.assertEqual(page.faults(), [])
        self.assertLess(result.get("far", 1), 0.004, result)
        self.assertLess(result["mean"], 0.5, result)

    def test_graph(self):
        self.check("graph", 1000, 600)

    def test_timeline_of_a_large_window(self):
        self.check("timeline", 1600, 900)

    def test_nodes(self):
        self.check("nodes", 1000, 600)

    def test_a_high_resolution_is_drawn_with_more_pixels_and_equal_size(self):
        server = self.serve(trace("run.reprise"))
        for scale in (1, 2, 3):
            page = self.shown(server, "view=timeline", scale=scale)
            self.assertEqual(page.evaluate("[view.width, view.height]"), [scale * WIDTH, scale * HEIGHT])
            # The timeline's "from replay start" ends at 97 and is followed by nothing.
            picture = base64.b64encode(page.screenshot()).decode()
            texts = page.evaluate(f"{COLOURS}('{picture}', ...{[scale * x for x in (10, 209, 90, 15)]})")
            beside = page.evaluate(f"{COLOURS}('{picture}', ...{[scale * x for x in (102, 209, 50, 15)]})")
            self.assertGreater(texts, 10)
            self.assertEqual(beside, 1)

    def test_a_new_size_is_taken(self):
        page = self.shown(self.serve(trace("run.reprise")), "view=graph", width=WIDTH - 100, height=HEIGHT - 100)
        page.resize(WIDTH, HEIGHT)
        page.wait(f"view.width === {WIDTH}")
        self.settle(page)
        subprocess.run([PROGRAM, "view", trace("run.reprise"), "--screenshot", FOLDER / "again.png", "--view", "graph",
                        "--size", f"{WIDTH}x{HEIGHT}"], check=True)
        self.assertLess(difference(page, page.screenshot(), (FOLDER / "again.png").read_bytes())["far"], 0.004)


# Places in the views of the hand-made trace at WIDTH x HEIGHT.
BLUR = (524, 370)      # a node in the graph
SEARCH = (690, 20)     # the field
TENTH = (286, 125)     # a bar of the strip of replays
EMPTY = (120, 480)     # of the graph
EXPORT, EXPORT_DOT = (900, 20), (770, 111)  # the button, and the last item of its menu


class Use(BrowserTest):
    def graph(self, delay=0.0, **options):
        self.server = self.serve(trace("run.reprise"))
        link = Link(self.server.port, delay)
        self.addCleanup(link.close)
        return self.shown(self.server, "view=graph", port=link.port, **options)

    def test_a_click_selects_a_node_that_the_table_copies(self):
        page = self.graph()
        page.click(*BLUR)
        self.settle(page)
        page.key("Digit5")
        page.wait("location.hash.includes('view=nodes')")
        page.click(400, 520)  # below the rows: the table has the keyboard
        self.settle(page)
        page.key("KeyC", control=True)
        self.assertNotRegex(self.wait_for_copy(page, r"[^]*\bblur\b[^]*"), r"\bstore\b")

    def test_a_click_in_the_strip_shows_a_replay_and_the_link_names_it(self):
        page = self.graph()
        page.click(*TENTH)
        page.wait("location.hash.includes('replay=10')")
        self.assertNotIn("token", self.hash(page))

    def test_a_drag_in_the_timeline_selects_a_span(self):
        page = self.graph()
        page.key("Digit3")
        page.wait("location.hash.includes('view=timeline')")
        page.move(80, 590)
        self.settle(page)
        before = page.screenshot()
        page.drag((300, 330), (500, 330))
        page.move(80, 590)
        self.wait_for_change(page, before)
        page.key("Escape")
        self.wait_for_same(page, before)

    def test_a_search_is_typed_copied_and_pasted(self):
        page = self.graph(delay=0.1)
        page.key("KeyF", control=True)
        page.type("blur")  # before the page knows that there is a field
        page.wait("document.activeElement.id === 'text'")
        page.key("KeyA", control=True)
        page.key("KeyC", control=True)
        self.wait_for_copy(page, "blur")
        page.evaluate("navigator.clipboard.writeText('sum \\u00fc')")
        page.key("KeyV", control=True, commands=["paste"])
        page.evaluate("navigator.clipboard.writeText('')")
        page.key("KeyA", control=True)
        page.key("KeyX", control=True)
        self.wait_for_copy(page, "sum \\u00fc")
        page.call("Input.imeSetComposition", text="ni", selectionStart=2, selectionEnd=2)
        page.call("Input.insertText", text="\u4f60")
        page.key("KeyA", control=True)
        page.key("KeyC", control=True)
        self.wait_for_copy(page, "\\u4f60")
        page.key("Escape")
        page.click(*EMPTY)
        page.wait("document.activeElement.id === 'view'")

    def test_without_a_clipboard_the_text_is_shown(self):
        page = self.graph()
        page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        page.key("KeyF", control=True)
        page.wait("document.activeElement.id === 'text'")
        page.type("blur")
        page.key("KeyA", control=True)
        page.key("KeyC", control=True)
        page.wait("document.getElementById('copied').open")
        self.assertEqual(page.evaluate("document.getElementById('copied-text').value"), "blur")

    def test_keys_of_the_browser_stay_with_it(self):
        page = self.graph()
        page.evaluate("window.left = []; addEventListener('keydown', e => e.defaultPrevented || left.push(e.code))")
        for code in ("KeyR", "KeyT", "KeyL", "Digit0"):
            page.key(code, control=True)
        page.key("KeyF", control=True)
        self.assertEqual([code for code in page.evaluate("left") if code != "ControlLeft"], ["KeyR", "KeyT", "KeyL", "Digit0"])

    def test_the_back_button_returns_to_the_view_before(self):
        page = self.graph()
        page.move(80, 590)
        self.settle(page)
        before = page.screenshot()
        page.key("Digit3")
        page.wait("location.hash.includes('view=timeline')")
        page.evaluate("history.back()")
        page.wait("location.hash.includes('view=graph')")
        self.wait_for_same(page, before)
        page.evaluate("history.forward()")
        page.wait("location.hash.includes('view=timeline')")

    def test_a_link_names_one_of_several_traces(self):
        folder = FOLDER / "traces"
        (folder / "inner").mkdir(parents=True)
        for name in ("a.reprise", "inner/b.reprise"):
            shutil.copy(trace("run.reprise"), folder / name)
        links = ["trace=inner/b.reprise&graph=other&view=nodes", "trace=a.reprise&graph=step&view=timeline"]
        page = self.shown(self.serve(folder), links[0])
        page.wait("document.title.startsWith('b.reprise')")
        page.evaluate(f"location.hash = '#{links[1]}'")
        page.wait("document.title.startsWith('a.reprise')")
        self.settle(page)
        self.assertEqual(self.hash(page), links[1])
        page.evaluate("history.back()")
        page.wait("document.title.startsWith('b.reprise')")
        self.settle(page)
        self.assertEqual(self.hash(page), links[0])

    def test_two_browsers_have_their_own_state(self):
        first = self.graph()
        link = self.hash(first)
        second = self.shown(self.server, "graph=other&view=nodes", dark=False)
        self.assertRegex(self.hash(second), "graph=other.*view=nodes")
        second.key("Digit3")
        second.wait("location.hash.includes('view=timeline')")
        self.assertEqual(self.hash(first), link)

    def test_a_new_theme_of_the_system_is_taken(self):
        page = self.graph()
        dark = page.screenshot()
        page.theme(False)
        self.wait_for_picture(page, dark, lambda found: found["mean"] > 50)


class Files(BrowserTest):
    def test_a_dropped_file_is_uploaded_and_opened(self):
        server = self.serve()  # the start page
        page = self.shown(server)
        path = trace("long.reprise", "large", 100, 22000)
        page.drop(500, 300, path)
        page.wait("document.title.includes('long.reprise')")
        self.assertEqual(page.faults(), [])
        self.assertEqual(page.evaluate("document.getElementById('transfers').children.length"), 0)

    def test_an_export_and_a_picture_are_downloaded(self):
        page = self.shown(self.serve(trace("run.reprise")), "view=graph")
        folder = FOLDER / "downloads"
        folder.mkdir(exist_ok=True)
        BROWSER.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), browserContextId=page.context)
        page.key("KeyP", control=True)
        picture = self.arrived(folder, "*.png")
        self.wait_for_same(page, picture)
        page.click(*EXPORT)
        self.settle(page)
        page.click(*EXPORT_DOT)
        self.assertRegex(self.arrived(folder, "*.dot").decode(), r'^digraph[\s\S]*blur[\s\S]*\}\s*$')
        page.wait("document.getElementById('transfers').children.length === 0")

    def arrived(self, folder, pattern):
        deadline = time.monotonic() + chromium.TIMEOUT
        while time.monotonic() < deadline:
            if found := list(folder.glob(pattern)):  # renamed when it is complete
                return found[0].read_bytes()
            time.sleep(0.05)
        self.fail(f"no file {pattern} was downloaded: {list(folder.iterdir())}")


class Connections(BrowserTest):
    def test_a_wrong_token_is_refused_and_asked_for(self):
        server = self.serve(trace("run.reprise"))
        page = self.open(server, token="0" * 32)
        page.wait("!document.getElementById('token-field').hidden")
        self.assertIn("token", self.status(page))
        page.evaluate(f"document.getElementById('token').value = '{server.token}'")
        page.evaluate("document.getElementById('again').click()")
        page.wait("document.getElementById('status').hidden")

    def test_the_token_leaves_the_address(self):
        server = self.serve(trace("run.reprise"))
        page = self.shown(server, "view=timeline")
        self.assertNotIn(server.token, page.evaluate("location.href + document.cookie + JSON.stringify(history.state)"))
        page.call("Page.reload")
        page.wait("document.getElementById('status').hidden && seen.draws.length > 1 && location.hash.includes('timeline')")

    def test_a_cut_connection_resumes(self):
        server = self.serve(trace("run.reprise"))
        link = Link(server.port)
        self.addCleanup(link.close)
        page = self.shown(server, "view=graph", port=link.port)
        page.click(*BLUR)  # a selection, which the link does not name
        page.move(80, 590)
        self.settle(page)
        before = page.screenshot()
        link.cut()
        page.wait("!document.getElementById('status').hidden")
        self.assertRegex(self.status(page), "Connection lost\\s+Retrying in \\d+ s")
        link.mend()
        page.wait("document.getElementById('status').hidden")
        self.wait_for_same(page, before)

    def test_a_silent_connection_is_lost(self):
        server = self.serve(trace("run.reprise"))
        link = Link(server.port)
        self.addCleanup(link.close)
        page = self.shown(server, "view=graph", port=link.port)
        page.evaluate("hold(kSilence)")
        page.move(*EMPTY)
        self.settle(page)
        page.move(EMPTY[0] + 1, EMPTY[1])
        self.assertEqual(page.evaluate("heldTimers()"), 1)  # the picture did not change
        page.evaluate("pass()")
        page.wait("heldTimers() === 0")  # the server has answered that it is there
        self.assertEqual(self.status(page), "")
        link.is_stalled = True
        page.click(*BLUR)
        page.evaluate("pass()")
        self.assertEqual(self.status(page), "")
        page.evaluate("pass()")
        self.assertNotEqual(self.status(page), "")
        link.mend()
        page.wait("document.getElementById('status').hidden")

    def test_a_read_only_server_takes_no_files(self):
        page = self.shown(self.serve(trace("run.reprise"), "--read-only"), "view=graph")
        page.drop(500, 300, trace("run.reprise"))
        page.wait("document.querySelector('#transfers .failed')?.textContent.includes('read-only')")

    def test_a_frame_of_another_page_may_contain_it(self):
        server = self.serve(trace("run.reprise"))
        outer = Page(BROWSER)
        self.pages.append(outer)
        outer.open(f"http://localhost:{server.port}/no-such-page")
        outer.wait("document.body !== null && location.pathname === '/no-such-page'")
        link = f"http://127.0.0.1:{server.port}/#token={server.token}"
        outer.evaluate(f"document.body.innerHTML = '<iframe width=900 height=500 src=\"{link}\">'")

        def frames():
            return [each["frame"] for each in outer.call("Page.getFrameTree")["frameTree"].get("childFrames", [])]

        deadline = time.monotonic() + chromium.TIMEOUT
        while not any("view=graph" in each.get("urlFragment", "") for each in frames()):
            self.assertLess(time.monotonic(), deadline, frames())
            time.sleep(0.1)


class Phone(BrowserTest):
    def test_touch(self):
        server = self.serve(trace("run.reprise"))
        page = self.shown(server, "view=graph", width=390, height=844, scale=2, mobile=True)
        self.assertEqual(page.evaluate("[view.width, view.height]"), [780, 1688])
        page.evaluate("hold(kLongPress)")
        before = page.screenshot()
        page.touch("touchStart", (200, 250))
        for x in range(200, 280, 8):
            page.touch("touchMove", (x, 250))
        page.touch("touchEnd")
        self.wait_for_change(page, before)
        panned = page.screenshot()
        page.touch("touchStart", (150, 280), (250, 280))
        for step in range(1, 8):
            page.touch("touchMove", (150 - 6 * step, 280), (250 + 6 * step, 280))
        page.touch("touchEnd")
        self.wait_for_change(page, panned)
        zoomed = page.screenshot()
        page.touch("touchStart", (200, 250))
        page.evaluate("pass()")  # a long press: the menu
        page.touch("touchEnd")
        self.wait_for_change(page, zoomed)
        page.tap(200, 400)  # closes it
        page.tap(158, 61)  # the tab Timeline
        page.wait("location.hash.includes('view=timeline')")
        page.tap(210, 20)  # the search
        page.wait("document.activeElement.id === 'text'")
        self.assertFalse(page.evaluate("document.getElementById('keyboard').hidden"))
        self.assertEqual(page.faults(), [])

    def test_a_finger_scrolls_a_table(self):
        server = self.serve(trace("long.reprise", "large", 100, 22000))
        page = self.shown(server, "view=nodes", width=390, height=600, scale=2, mobile=True)
        page.evaluate("hold(kLongPress)")
        before = page.screenshot()
        page.touch("touchStart", (150, 480))
        for y in range(480, 280, -20):
            page.touch("touchMove", (150, y))
        page.touch("touchEnd")
        self.wait_for_change(page, before)


class Costs(BrowserTest):
    """Prints the figures; the limits are several times what a slow machine needs."""

    def test_bytes_and_latency(self):
        server = self.serve(trace("long.reprise", "large", 100, 22000))
        for delay in (0, 0.05):
            link = Link(server.port, delay)
            self.addCleanup(link.close)
            page = self.shown(server, "view=graph", port=link.port)
            opened = link.down
            for name, act in (("pan", lambda: page.drag((300, 400), (500, 450), "right", 30)),
                              ("zoom", lambda: [page.wheel(400, 400, 0, -20) for _ in range(20)]),
                              ("strip of replays", lambda: page.drag((200, 120), (600, 120), "left", 30)),
                              ("hover", lambda: [page.move(x, 400) for x in range(200, 600, 20)])):
                page.evaluate("seen.draws = []")
                start, began = link.down, time.monotonic()
                act()
                seconds = time.monotonic() - began
                self.settle(page)
                draws = page.evaluate("seen.draws.length")
                size = (link.down - start) / max(draws, 1)
                print(f"{name}, round trip {2000 * delay:.0f} ms: {draws} frames in {seconds:.1f} s, "
                      f"{size / 1000:.1f} KB each")
                self.assertLess(size, 50000)
            page.evaluate("seen.arrival = [], seen.latency = []")
            for _ in range(9):
                page.evaluate("seen.event = 0")
                page.wheel(400, 400, 0, -20)
                self.settle(page)
            arrival, latency = page.evaluate(
                "[seen.arrival, seen.latency].map(all => all.sort((a, b) => a - b)[all.length >> 1])")
            print(f"one notch, round trip {2000 * delay:.0f} ms: the frame arrives after {arrival:.0f} ms and is drawn after "
                  f"{latency:.0f} ms (medians)")
            self.settle(page)
            start, used = link.down, server.processor_seconds()
            time.sleep(1)
            used = server.processor_seconds() - used
            print(f"opening: {opened / 1000:.0f} KB; idle: {link.down - start} bytes and {used * 1000:.0f} ms of processor "
                  "time in 1 s")
            self.assertLess(link.down - start, 500)
            page.close()
            self.pages.remove(page)

    def test_first_picture_of_22000_replays(self):
        path = trace("long.reprise", "large", 100, 22000)
        for again in ("first", "second"):
            server = self.serve(path)
            page = self.open(server, width=1600, height=900)
            page.wait("location.hash.includes('graph=')")
            milliseconds = page.evaluate("seen.draws.filter(at => at).at(-1)")
            self.settle(page)
            print(f"22,000 replays, {again} server: {milliseconds:.0f} ms to the first picture of the graph, "
                  f"{page.evaluate('seen.draws.at(-1)'):.0f} ms to the last")
            self.assertLess(milliseconds, 5000)


if __name__ == "__main__":
    browser = chromium.find()
    if not browser:
        print("skipped: none of " + ", ".join(chromium.PROGRAMS) + " is installed")
        sys.exit(77)
    PROGRAM, WRITE_TRACE = sys.argv[1:3]
    with tempfile.TemporaryDirectory(prefix="reprise-browser-") as name:
        FOLDER = pathlib.Path(name)
        BROWSER = chromium.Chromium(browser)
        try:
            unittest.main(argv=sys.argv[:1] + sys.argv[3:])
        finally:
            BROWSER.close()
