"""A TCP connection that can be slow, be cut and be counted, between the browser and the server."""
import queue
import socket
import threading
import time


class Link:
    """Forwards connections of a port of its own to `port`; each direction takes `delay` seconds."""

    def __init__(self, port, delay=0.0):
        self.target, self.delay = port, delay
        self.down = self.up = 0  # bytes: to the browser, to the server
        self.is_open, self.is_stalled = True, False  # stalled: nothing arrives, and nobody notices
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                browser = self.listener.accept()[0]
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target)) if self.is_open else None
            except OSError:
                server = None
            if not server:
                browser.close()
                continue
            self.sockets += [browser, server]
            for end in (browser, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, sink, is_down in ((server, browser, True), (browser, server, False)):
                waiting = queue.Queue()
                threading.Thread(target=self.read, args=(source, waiting, is_down), daemon=True).start()
                threading.Thread(target=self.write, args=(waiting, sink), daemon=True).start()

    def read(self, source, waiting, is_down):
        while True:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            if is_down:
                self.down += len(data)
            else:
                self.up += len(data)
            waiting.put((time.monotonic() + self.delay, data))
            if not data:
                return

    def write(self, waiting, sink):
        while True:
            at, data = waiting.get()
            time.sleep(max(0, at - time.monotonic()))
            if self.is_stalled:
                continue
            try:
                if not data:
                    sink.shutdown(socket.SHUT_RDWR)
                    return
                sink.sendall(data)
            except OSError:
                return

    def cut(self):
        """Ends all connections; new ones are refused until mend()."""
        self.is_open = False
        for end in self.sockets:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
        self.sockets = []

    def mend(self):
        self.is_open, self.is_stalled = True, False

    def close(self):
        self.cut()
        self.listener.close()
