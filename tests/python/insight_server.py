"""Starts `mycel insight` for tests and asks it."""

import contextlib
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import mycel

PROGRAM = os.path.join(os.path.dirname(mycel.__file__), "bin", "mycel")


class Server:
    def __init__(self, url):
        self.url = url.split("?")[0]

    def raw(self, path, **headers):
        """(status, headers, body) of any request."""
        request = urllib.request.Request(self.url + path.lstrip("/"), headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def ask(self, question, **args):
        status, _, body = self.raw(f"api/{question}?{urllib.parse.urlencode(args)}")
        assert status == 200, (status, body)
        return json.loads(body)

    def wait(self, f, seconds=20):
        """f() once it is true."""
        deadline = time.time() + seconds
        while not (found := f()):
            assert time.time() < deadline, "it never came"
            time.sleep(0.1)
        return found


@contextlib.contextmanager
def serving(folder, database, *options):
    command = [PROGRAM, "insight", str(folder), "--port", "0", "--database", str(database)]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://"), url
        server = Server(url)
        server.address = url
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        process.stdout.close()
