"""A model and data hub on 127.0.0.1: as much of the Hugging Face API as its own client asks for.

A repository is a folder `root/{datasets|models}/{owner}/{name}` with a fixed revision. It can be
gated, and downloads of a file can be broken off, a given number of times: the first after half of its bytes.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Repo:
    """A repository: its kind, name, revision, and how it behaves."""

    kind: str
    name: str
    revision: str
    gated: bool = False
    broken: dict[str, int] = field(default_factory=dict)


class Hub:
    """The server; use it as a context manager. `requests` lists what was asked, `url` is the endpoint."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.repos: dict[tuple[str, str], Repo] = {}
        self.requests: list[str] = []

    def add(self, kind: str, name: str, revision: str, files: dict[str, bytes], **more: object) -> Repo:
        """Put a repository on the hub; `kind` is `datasets` or `models`."""
        for path, data in files.items():
            target = self.root / kind / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        repo = Repo(kind, name, revision, **more)
        self.repos[kind, name] = repo
        return repo

    def __enter__(self) -> Hub:
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        self.route(b"")

    def do_HEAD(self) -> None:
        self.route(b"")

    def do_POST(self) -> None:
        self.route(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def route(self, body: bytes) -> None:
        url = urlsplit(self.path)
        parts = [unquote(p) for p in url.path.strip("/").split("/")]
        self.hub.requests.append(f"{self.command} {url.path}")
        if parts[0] == "api" and len(parts) >= 4:
            self.api(parts[1], "/".join(parts[2:4]), parts[4:], parse_qs(url.query), body)
        elif "resolve" in parts:
            at = parts.index("resolve")
            kind = "datasets" if parts[0] == "datasets" else "models"
            self.resolve(kind, "/".join(parts[at - 2 : at]), parts[at + 1], "/".join(parts[at + 2 :]))
        else:
            self.fail(404, "EntryNotFound")

    def repo(self, kind: str, name: str, revision: str) -> Repo | None:
        repo = self.hub.repos.get((kind, name))
        if repo is None:
            self.fail(404, "RepoNotFound")
        elif revision not in {"main", repo.revision}:
            self.fail(404, "RevisionNotFound")
            return None
        return repo

    def api(self, kind: str, name: str, rest: list[str], query: dict[str, list[str]], body: bytes) -> None:
        repo = self.repo(kind, name, rest[1] if len(rest) > 1 else "main")
        if repo is None:
            return
        base = self.hub.root / kind / name
        what = rest[0] if rest else "revision"
        if what == "revision":
            files = [p for p in sorted(base.rglob("*")) if p.is_file()]
            self.send(
                {
                    "_id": "0", "id": name, "sha": repo.revision, "private": False, "disabled": False,
                    "gated": "auto" if repo.gated else False, "downloads": 0, "likes": 0, "tags": [],
                    "lastModified": "2024-01-01T00:00:00.000Z", "createdAt": "2024-01-01T00:00:00.000Z",
                    "siblings": [{"rfilename": p.relative_to(base).as_posix()} for p in files],
                }
            )  # fmt: skip
        elif what == "tree":
            folder = base.joinpath(*rest[2:])
            if not folder.is_dir():
                self.fail(404, "EntryNotFound")
                return
            deep = query.get("recursive", ["false"])[0].lower() in {"true", "1"}
            self.send([self.entry(base, p) for p in sorted(folder.rglob("*") if deep else folder.iterdir())])
        elif what == "paths-info":
            wanted = (
                json.loads(body)["paths"] if body[:1] == b"{" else parse_qs(body.decode()).get("paths", [])
            )
            self.send([self.entry(base, base / p) for p in wanted if (base / p).exists()])
        else:
            self.fail(404, "EntryNotFound")

    @staticmethod
    def entry(base: Path, path: Path) -> dict[str, object]:
        name = path.relative_to(base).as_posix()
        if path.is_dir():
            return {"type": "directory", "path": name, "oid": "0" * 40, "size": 0}
        data = path.read_bytes()
        return {"type": "file", "path": name, "oid": hashlib.sha1(data).hexdigest(), "size": len(data)}

    def resolve(self, kind: str, name: str, revision: str, path: str) -> None:
        repo = self.repo(kind, name, revision)
        if repo is None:
            return
        if repo.gated:
            self.fail(403, "GatedRepo")
            return
        file = self.hub.root / kind / name / path
        if not file.is_file():
            self.fail(404, "EntryNotFound", {"X-Repo-Commit": repo.revision})
            return
        data = file.read_bytes()
        headers = {
            "X-Repo-Commit": repo.revision,
            "ETag": f'"{hashlib.sha1(data).hexdigest()}"',
            "Accept-Ranges": "bytes",
        }
        start, status = 0, 200
        asked = self.headers.get("Range", "")
        if self.command == "GET" and asked.startswith("bytes="):
            start, status = int(asked[6:].partition("-")[0] or 0), 206
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self.begin(status, headers, len(data) - start)
        if self.command == "GET":
            if repo.broken.get(path, 0) > 0:
                repo.broken[path] -= 1
                if start == 0:
                    self.wfile.write(data[: len(data) // 2])
                self.close_connection = True
                self.connection.close()
                return
            self.wfile.write(data[start:])

    def begin(self, status: int, headers: dict[str, str], length: int) -> None:
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(length)}.items():
            self.send_header(key, value)
        self.end_headers()

    def send(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.begin(200, {"Content-Type": "application/json"}, len(data))
        if self.command != "HEAD":
            self.wfile.write(data)

    def fail(self, status: int, code: str, headers: dict[str, str] | None = None) -> None:
        data = json.dumps({"error": code}).encode()
        shown = {"X-Error-Code": code, "X-Error-Message": code, **(headers or {})}
        self.begin(status, shown, len(data))
        if self.command != "HEAD":
            self.wfile.write(data)
