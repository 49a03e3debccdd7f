"""A wire between a node and its database that can be cut, for tests: a proxy on TCP over the database's socket.

It loses what a partition loses: everything, what goes one way, or what comes behind a commit: the database has
committed then, and the node does not hear of it."""
import os
import socket
import threading
import time


class Wire:
    def __init__(self, folder, host="127.0.0.1", target_port=5432):
        self.target = os.path.join(folder, f".s.PGSQL.{target_port}")
        self.listener = socket.create_server((host, 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.pairs = []
        self.delay = 0.0          # of each piece, in seconds
        self.lost = set()         # directions in which nothing comes through: "up", "down"
        self.lie = 0              # so many commits whose answer is lost with the connection
        self.on_lie = lambda: None
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            try:
                far.connect(self.target)
            except OSError:
                near.close()
                continue
            near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pair = {"near": near, "far": far}
            with self.lock:
                self.pairs.append(pair)
            for direction, source, sink in (("up", near, far), ("down", far, near)):
                threading.Thread(target=self.pump, args=(pair, direction, source, sink), daemon=True).start()

    def pump(self, pair, direction, source, sink):
        try:
            while data := source.recv(1 << 16):
                if self.delay:
                    time.sleep(self.delay)
                while direction in self.lost:
                    time.sleep(0.01)
                if direction == "down" and self.lie > 0 and b"COMMIT\0" in data:
                    self.lie -= 1
                    self.on_lie()
                    break  # the answer to a commit: it is lost
                sink.sendall(data)
        except OSError:
            pass
        self.close(pair)

    def close(self, pair):
        with self.lock:
            if pair in self.pairs:
                self.pairs.remove(pair)
        for end in (pair["near"], pair["far"]):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def cut(self):
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            self.close(pair)

    def end(self):
        self.listener.close()
        self.cut()
