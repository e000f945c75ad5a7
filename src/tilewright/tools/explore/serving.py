"""The page of `tilewright explore` on an address of this machine; it asks for news, and shows them where it is."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlparse

from rich.console import Console

from tilewright.tools.explore.page import page_json, render_page
from tilewright.tools.explore.sources import ExploreError
from tilewright.tools.explore.watching import Versions, watch_file

WAIT = 20.0
"""Seconds that a question for news is left open."""


def serve(versions: Versions, port: int, *, watched: Path | None = None) -> None:
    """Serve until Ctrl-C; port 0 takes a free one. With `watched` the file is compiled again whenever it is saved.
    Raises ExploreError where the port is taken, and what the first compilation raises."""
    versions.compile()
    with make_server(versions, port) as server:
        Console().print(f"http://127.0.0.1:{server.server_port}/  (Ctrl-C ends it)", highlight=False)
        if watched is not None:
            Thread(target=lambda: list(watch_file(versions, watched)), daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


def make_server(versions: Versions, port: int) -> ThreadingHTTPServer:
    """The server, of this machine alone. Raises ExploreError where the port is taken."""

    class Handler(_Handler):
        shown = versions

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except (OSError, OverflowError) as error:
        raise ExploreError(f"cannot serve at port {port}: {getattr(error, 'strerror', None) or error}") from None
    server.daemon_threads = True
    return server


class _Handler(BaseHTTPRequestHandler):
    shown: Versions

    def do_GET(self) -> None:
        """`/` is the page, `/news?after=3` what is newer than the third compilation, once there is such."""
        url = urlparse(self.path)
        if self.headers.get("Host", "").partition(":")[0] not in ("127.0.0.1", "localhost"):
            self.send_error(403)  # another site's name that was made to mean this machine
        elif url.path == "/":
            shown = self.shown.shown
            page = render_page(*shown.recordings, labels=shown.labels, live=shown.number)
            self._answer(page, "text/html; charset=utf-8", shown.number)
        elif url.path == "/news":
            after = parse_qs(url.query).get("after", ["0"])[0]
            news = self.shown.wait_after(int(after) if after.isdigit() else 0, WAIT)
            if news is None:
                self.send_response(204)
                self.end_headers()
            else:
                text = page_json(*news.recordings, labels=news.labels, live=news.number)
                self._answer(text, "application/json", news.number)
        elif url.path == "/favicon.ico":
            self.send_response(204)
            self.end_headers()
        else:
            self.send_error(404)

    def _answer(self, text: str, kind: str, number: int) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Number", str(number))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of requests."""
