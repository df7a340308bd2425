# SPDX-License-Identifier: Apache-2.0 OR MIT
# What: granary report --serve, asked over HTTP: which requests are answered, and with what; windows against the trace's
#    own events.
# Invariant: what a window holds is found by the reader in Python, apart from the command. Nothing here depends on how long a
#    document takes: a client that waits asks again.
# Must not know: how the command makes a document.
"""Usage: serve.py GRANARY WRITE_TRACE SYNTHETIC_TRACE GRANARY_TRACE_PY"""
import collections
import http.client
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

GRANARY, WRITE_TRACE, SYNTHETIC_TRACE, READER = (os.path.abspath(path) for path in sys.argv[1:5])
SCRIPT = """program /bin/story
event 0 10 malloc 0x1000 24
event 0 20 malloc 0x1020 100
event 0 30 free 0x1000 0
event 1 40 malloc 0x2000 50
event 0 90 free 0x1020 0
"""
UNIT = 1e-7  # seconds
EVENTS = 300000
MOST_SINGLE = 500

spec = importlib.util.spec_from_file_location("granary_trace", READER)
granary_trace = importlib.util.module_from_spec(spec)
spec.loader.exec_module(granary_trace)


def granary(*arguments):
    return subprocess.run([GRANARY, *arguments], capture_output=True, text=True, check=False)


class Server:
    """granary report --serve, running"""

    def __init__(self, test, path, *options):
        self.process = subprocess.Popen(
            [GRANARY, "report", path, "--serve", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        test.addCleanup(self.end)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})\n", line)
        test.assertIsNotNone(found, (line, self.process.stderr.read() if not line else ""))
        self.port, self.token = int(found[1]), found[2]

    def end(self, number=signal.SIGINT):
        """its exit code, and what it said besides"""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate()
        return self.process.returncode, out, err

    def get(self, path, method="GET", headers=None, **parameters):
        query = "&".join(f"{name}={value}" for name, value in {"token": self.token, **parameters}.items())
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.request(method, f"{path}?{query}", headers=headers or {})
            reply = connection.getresponse()
            return reply.status, reply.read(), reply.headers
        finally:
            connection.close()

    def document(self, page="test", **window):
        while True:
            status, body, _ = self.get("/document", page=page, **window)
            if status != 202:
                return status, json.loads(body) if status == 200 else body.decode()
            assert 0 <= json.loads(body)["done"] <= 1
            time.sleep(0.02)


def section(document, name):
    return next(section for section in document["sections"] if section["id"] == name)


def chart(document, name, title):
    return next(chart for chart in section(document, name)["charts"] if chart["title"] == title)


def calls_of(document):
    return {row[0]: row[1] for row in chart(document, "statistics", "Calls")["rows"]}


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="granary-serve-")
        cls.story = os.path.join(cls.folder.name, "story")
        cls.much = os.path.join(cls.folder.name, "much")
        subprocess.run([WRITE_TRACE, cls.story], input=SCRIPT, text=True, check=True)
        subprocess.run([SYNTHETIC_TRACE, cls.much, str(EVENTS), "3"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def expect(self, reply, status, text=""):
        self.assertEqual(reply[0], status, reply)
        self.assertIn(text, reply[1].decode())
        self.assertEqual(reply[1].count(b"\n"), 1, reply)

    def test_the_page_and_the_whole(self):
        server = Server(self, self.story)
        status, page, headers = server.get("/")
        self.assertEqual(status, 200)
        self.assertIn(b"connect-src 'self'", page)
        self.assertNotIn(b"connect-src 'none'", page)
        self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
        for name, value in {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
                            "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"}.items():
            self.assertEqual(headers[name], value)
        self.assertEqual(server.document(), (200, json.loads(granary("summary", "--json", self.story).stdout)))
        status, first, _ = server.get("/first")
        self.assertEqual(status, 200)
        first = json.loads(first)
        self.assertIn("first picture", " ".join(first["notes"]))
        self.assertEqual(section(first, "statistics")["answer"], "3 allocations and 2 frees in 9.1 µs.")
        self.assertEqual(server.end(), (0, "", ""))

    def test_a_token_that_is_not_right(self):
        server = Server(self, self.story)
        wrong = ["", "0" * 32, server.token[:-1], server.token + "0", server.token[1:] + server.token[0], "%00"]
        for path in ("/", "/first", "/document", "/nowhere"):
            for token in wrong:
                self.expect(server.get(path, token=token), 403, "token")
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        self.addCleanup(connection.close)
        connection.request("GET", "/document")
        self.assertEqual(connection.getresponse().status, 403)

    def test_another_host(self):
        server = Server(self, self.story)
        for host in ("example.com", f"example.com:{server.port}", "127.0.0.1", f"127.0.0.1:{server.port + 1}", ""):
            self.expect(server.get("/", headers={"Host": host}), 403, "host")
        self.assertEqual(server.get("/", headers={"Host": f"localhost:{server.port}"})[0], 200)
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            plain.sendall(f"GET /?token={server.token} HTTP/1.0\r\n\r\n".encode())
            self.assertIn(b" 403 ", plain.makefile("rb").readline())

    def test_other_methods(self):
        server = Server(self, self.story)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
            reply = server.get("/", method=method)
            self.assertEqual((reply[0], reply[2]["Allow"]), (405, "GET"), method)
        self.assertEqual(server.get("/", method="HEAD")[:2], (405, b""))
        self.assertGreaterEqual(server.get("/", method="BREW")[0], 400)
        self.assertEqual(server.document()[0], 200)

    def test_what_is_not_there(self):
        server = Server(self, self.story)
        for path in ("/nowhere", "/../../etc/passwd", "/%2e%2e/etc/passwd", "//", "/document/", "/index.html"):
            self.expect(server.get(path), 404, "no such page")

    def test_what_is_no_http(self):
        server = Server(self, self.story)
        for text in (b"\0\0\0\0", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * (1 << 20)):
            with socket.create_connection(("127.0.0.1", server.port)) as plain:
                try:
                    plain.sendall(text)
                    plain.shutdown(socket.SHUT_WR)
                    plain.recv(1 << 16)
                except OSError:
                    continue  # it need not hear all of that
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            head = f"POST /?token={server.token} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 99\r\n\r\n"
            plain.sendall(head.encode() + b"a" * 99)
            self.assertNotIn(b" 200 ", plain.makefile("rb").readline())
        self.assertEqual(server.document()[0], 200)

    def test_windows_that_are_none(self):
        server = Server(self, self.story)
        for window in ({"from": "2e-6", "to": "1e-6"}, {"from": "-1", "to": "1"}, {"from": "nan", "to": "1"},
                       {"from": "0", "to": "inf"}, {"from": "x", "to": "1"}, {"from": "", "to": ""},
                       {"from": "1", "to": "2"}, {"from": "0"}, {"to": "1"}, {"from": "1e-6x", "to": "2e-6"},
                       {"from": "1e300", "to": "1e301"}):
            self.expect(server.get("/document", page="test", **window), 400, "window")
        for page in ("", "A", "a" * 65, "a/b"):
            self.expect(server.get("/document", page=page), 400, "page")
        whole = server.document()[1]
        self.assertEqual(server.document(**{"from": "0", "to": "99"})[1], whole)
        self.assertEqual(server.document(**{"from": "0", "to": str(whole["slices"][-1])})[1], whole)

    def test_single_events(self):
        server = Server(self, self.story)
        status, document = server.document(**{"from": "2e-6", "to": "9e-6"})
        self.assertEqual(status, 200)
        rows = chart(document, "events", "Events")["rows"]
        self.assertEqual([(round(row[0], 9), row[1], row[2], row[3], row[4]) for row in rows],
                         [(2e-6, "thread 0", "malloc", 0x1020, 100), (3e-6, "thread 0", "free", 0x1000, 24),
                          (4e-6, "thread 1", "malloc", 0x2000, 50)])
        self.assertAlmostEqual(rows[1][5], 2e-6)
        self.assertEqual([round(moment, 9) for moment in document["window"]], [2e-6, 9e-6])
        self.assertIn("At most 150 bytes were in use", section(document, "footprint")["answer"])
        # a window that is shorter than the unit of time holds a unit
        self.assertEqual(len(chart(server.document(**{"from": "3e-6", "to": "3.00001e-6"})[1], "events", "Events")["rows"]), 1)
        self.assertEqual(section(server.document(**{"from": "5e-6", "to": "6e-6"})[1], "events")["answer"], "Nothing.")

    def test_windows_hold_what_the_trace_has(self):
        events = list(granary_trace.Trace(self.much).events())
        last = max(event.time for event in events)
        server = Server(self, self.much)
        whole = server.document()[1]
        edges = whole["slices"]
        windows = [(edges[0], edges[1]), (edges[31], edges[64]), (edges[127], edges[128]), (edges[100], edges[101])]
        for _ in range(3):  # and closer, down to single events
            inner = server.document(**{"from": repr(windows[-1][0]), "to": repr(windows[-1][1])})[1]["slices"]
            windows.append((inner[64], inner[66]))
        for begin, end in windows:
            first, behind = (-int(-(moment / UNIT - 1e-3) // 1) for moment in (begin, end))
            behind = max(behind, first + 1)
            expected = collections.Counter(event.op for event in events if first <= event.time < behind)
            document = server.document(**{"from": repr(begin), "to": repr(end)})[1]
            self.assertAlmostEqual(document["window"][0], first * UNIT, 9)
            self.assertAlmostEqual(document["window"][1], min(behind, last + 1) * UNIT, 9)
            if sum(expected.values()) <= MOST_SINGLE:
                rows = chart(document, "events", "Events")["rows"] if expected else []
                self.assertEqual(collections.Counter(row[2] for row in rows), expected)
            if expected:
                self.assertEqual(calls_of(document), expected)
        self.assertLess(sum(expected.values()), MOST_SINGLE)

    def test_two_readers(self):
        server = Server(self, self.much)
        end = float(json.loads(server.get("/first")[1])["slices"][-1])
        windows = {"one": {"from": "0", "to": repr(end / 2)}, "two": {"from": repr(end / 2), "to": repr(end)}}
        documents = {}
        while len(documents) < 2:
            for page, window in windows.items():
                status, body, _ = server.get("/document", page=page, **window)
                self.assertIn(status, (200, 202))
                if status == 200:
                    documents[page] = json.loads(body)
        sums = collections.Counter(calls_of(documents["one"]))
        sums.update(calls_of(documents["two"]))
        self.assertEqual(sums, calls_of(server.document()[1]))
        self.assertEqual(server.end(), (0, "", ""))

    def test_the_last_question_counts(self):
        server = Server(self, self.much)
        edges = server.document()[1]["slices"]
        for at in range(1, 100):
            self.assertIn(server.get("/document", page="hasty", **{"from": repr(edges[at]), "to": repr(edges[128])})[0],
                          (200, 202))
        document = server.document(page="hasty", **{"from": repr(edges[3]), "to": repr(edges[4])})[1]
        self.assertAlmostEqual(document["window"][0], edges[3], 6)

    def test_many_readers_who_do_not_wait(self):
        server = Server(self, self.much)
        for at in range(200):
            self.assertEqual(server.get("/document", page=f"reader-{at}", **{"from": f"{at + 1}e-6", "to": "1"})[0] // 100, 2)
        self.assertEqual(server.document()[0], 200)
        self.assertEqual(server.end(), (0, "", ""))

    def test_a_damaged_trace(self):
        with open(self.much, "rb") as file:
            content = file.read()
        path = os.path.join(self.folder.name, "damaged")
        with open(path, "wb") as file:
            file.write(content[: len(content) * 2 // 3])
        server = Server(self, path)
        whole = server.document()[1]
        self.assertIn("damaged at byte", whole["notes"][0])
        self.assertIn("damaged at byte", json.loads(server.get("/first")[1])["notes"][0])
        window = {"from": repr(whole["slices"][50]), "to": repr(whole["slices"][60])}
        self.assertIn("damaged at byte", server.document(**window)[1]["notes"][0])
        self.assertEqual(server.end(), (0, "", ""))

    def test_a_file_that_grows_and_one_that_is_cut_short(self):
        path = os.path.join(self.folder.name, "changing")
        shutil.copyfile(self.much, path)
        server = Server(self, path)
        whole = server.document()[1]
        with open(path, "ab") as file:
            file.write(b"x" * 100000)
        window = {"from": repr(whole["slices"][64]), "to": repr(whole["slices"][65])}
        self.assertEqual(server.document(**window)[0], 200)
        os.truncate(path, 0)
        with self.assertRaises(OSError):
            server.document(**{"from": repr(whole["slices"][20]), "to": repr(whole["slices"][30])})
        code, out, err = server.end()
        self.assertEqual((code, out, err), (1, "", f"granary: '{path}' was truncated while it was read: open it again\n"))

    def test_ports(self):
        server = Server(self, self.story)
        done = granary("report", self.story, "--serve", "--port", str(server.port))
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done)
        self.assertIn(f"port {server.port}", done.stderr)
        self.assertIn("Address already in use", done.stderr)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", server.port))
        port = server.port
        self.assertEqual(server.end(signal.SIGTERM), (0, "", ""))
        self.assertEqual(Server(self, self.story, "--port", str(port)).port, port)

    def test_words_that_do_not_fit(self):
        for words in (["--port", "1"], ["--serve", "-o", "x.html"], ["--serve", "--port", "65536"],
                      ["--serve", "--port", "-1"], ["--serve", "--port", "http"]):
            done = granary("report", self.story, *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done)

    def test_what_is_no_trace(self):
        done = granary("report", os.path.join(self.folder.name, "nowhere"), "--serve")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1))

    def test_it_ends_while_it_works(self):
        server = Server(self, self.much)
        self.assertEqual(server.end(), (0, "", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
