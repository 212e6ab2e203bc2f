"""Keys of endpoints: taken from the environment, never shown in any form; addresses and redirects."""

from __future__ import annotations

import base64
import html
import json
import logging
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from loopback_endpoint import Reply, chat

from stressbed import redaction
from stressbed.check.models import check_embedder, check_generator
from stressbed.config import secrets
from stressbed.config.entries import EmbedderEntry, GeneratorEntry
from stressbed.endpoint import address
from stressbed.endpoint.connection import Connection, Patience
from stressbed.errors import EngineError
from stressbed.generate.request import ChatRequest
from stressbed.jobs import job

KEY = "made+up/key=12&3 4".replace(" ", "")
FAST = {"wait_scale": 0.001, "tries": 2}


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """Secrets of one test are none of the next."""
    monkeypatch.setattr(redaction, "_known", {})


def ask(engine, text="a"):
    return engine.complete([ChatRequest((("user", text),), 5)], ["k"])[0]


@pytest.mark.parametrize("around", ["{}", "{}\n", "{}\r\n", "  {}\t", "\ufeff{}", "\u200b{}\u00a0"])
def test_blanks_and_line_ends_around_a_key_are_taken_off(endpoint, opened, monkeypatch, around):
    monkeypatch.setenv("EP_KEY", around.format(KEY))
    ask(opened(api_key_env="EP_KEY", engine_options=FAST))
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("made-up\nkey-12345", "line end"),
        ("made-up\r\nX-Other: key-12345", "line end"),
        ("made-up key-12345", "blank"),
        ("made-up\u00a0key-12345", "blank"),
        ("made-up-k\u00e9y-12345", "accents"),
        ("made-up-key-\U0001f511", "accents"),
        ("made-up\x07key-12345", "control"),
        ("Bearer made-up-key-12345", "`Bearer`"),
    ],
)
def test_a_key_that_cannot_be_sent_is_told_before_any_work_and_not_shown(
    opened, monkeypatch, caplog, key, why
):
    monkeypatch.setenv("EP_KEY", key)
    with pytest.raises(EngineError, match="EP_KEY holds no key that can be sent") as e:
        opened(api_key_env="EP_KEY")
    assert why in str(e.value)
    url = "http://127.0.0.1:1/v1"
    generator = GeneratorEntry(id="g", engine="openai", model="m", base_url=url, api_key_env="EP_KEY")
    embedder = EmbedderEntry(id="e", backend="openai", model="m", base_url=url, api_key_env="EP_KEY")
    found = [*check_generator(generator, Path("c.yaml")), *check_embedder(embedder, Path("c.yaml"))]
    assert ["no key that can be sent" in str(p) for p in found] == [True, True]
    shown = str(e.value) + caplog.text + "".join(map(str, found))
    assert "12345" not in shown
    assert "\U0001f511" not in shown


FORMS = {
    "plain": lambda k: k,
    "quoted": lambda k: quote(k, safe=""),
    "quoted in small letters": lambda k: quote(k, safe="").lower(),
    "quoted plus": quote_plus,
    "html": html.escape,
    "json": lambda k: json.dumps({"key": f"Bearer {k}"}),
    "address": lambda k: f"https://user:{quote(k, safe='')}@host/v1?api_key={quote(k, safe='')}",
    "behind much else": lambda k: "x" * 290 + k,
    "quoted twice": lambda k: quote(quote(k, safe=""), safe=""),
    "json with slashes": lambda k: k.replace("/", "\\/"),
    "base64": lambda k: base64.b64encode(k.encode()).decode(),
    "base64 of user and key": lambda k: base64.b64encode(f"user:{k}\n".encode()).decode(),
    "base64 for addresses": lambda k: base64.urlsafe_b64encode(f"me:{k}".encode()).decode(),
    "hexadecimal": lambda k: k.encode().hex(),
    "its beginning": lambda k: f"{k[:12]}...",
    "its end": lambda k: f"...{k[-12:]}",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", [200, 400, 401, 429, 502])
def test_a_key_that_is_echoed_is_never_shown(endpoint, opened, monkeypatch, caplog, form, status):
    monkeypatch.setenv("EP_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    echo = FORMS[form](KEY)
    endpoint.rule = lambda body, n: Reply(status, f"wrong key {echo} here")
    with pytest.raises(EngineError) as e:
        ask(opened(api_key_env="EP_KEY", engine_options=FAST))
    shown = (str(e.value) + repr(e.value) + caplog.text).lower()
    for written in (KEY, quote(KEY, safe=""), html.escape(KEY), "key=12", "key%3d12", "made+up", "=12&3",
                    KEY.encode().hex()[4:-4], "made%2", "key%253d"):  # fmt: skip
        assert written.lower() not in shown
    for before in range(3):  # what base64 makes of the middle of the key, wherever it stands
        middle = base64.b64encode(bytes(before) + KEY[3:-3].encode()).decode()[4:-4]
        assert middle.lower() not in shown


def test_a_piece_of_a_key_is_not_left_where_a_message_is_cut(monkeypatch):
    redaction.keep_out("secret-0123456789")
    assert "secret" not in redaction.excerpt("x" * 290 + "secret-0123456789")


def test_an_answer_that_echoes_the_key_is_kept_without_it(endpoint, opened, monkeypatch):
    monkeypatch.setenv("EP_KEY", KEY)
    endpoint.rule = lambda body, n: chat(f"you said {KEY} to me")
    assert ask(opened(api_key_env="EP_KEY", engine_options=FAST)).text == "you said *** to me"


def test_a_key_that_is_a_word_does_not_spoil_answers(endpoint, opened, monkeypatch):
    monkeypatch.setenv("EP_KEY", "EMPTY")
    endpoint.rule = lambda body, n: chat("the box is EMPTY")
    assert ask(opened(api_key_env="EP_KEY", engine_options=FAST)).text == "the box is EMPTY"
    assert redaction.redacted("EMPTYING, or EMPTY?") == "EMPTYING, or ***?"


def test_words_that_a_key_begins_with_stay_in_answers(endpoint, opened, monkeypatch):
    monkeypatch.setenv("EP_KEY", "translation-service")
    endpoint.rule = lambda body, n: chat("a translation")
    assert ask(opened(api_key_env="EP_KEY", engine_options=FAST)).text == "a translation"
    assert redaction.redacted("key translation-serv...") == "key ***..."


def test_no_log_of_a_job_holds_a_key_even_in_a_traceback(tmp_path, capsys):
    redaction.keep_out(KEY)
    log = tmp_path / "a.log"
    with pytest.raises(SystemExit), job("generate", log_file=str(log)):
        raise RuntimeError(f"a header of {KEY}")
    logging.getLogger("stressbed").handlers.clear()
    logging.getLogger("stressbed").propagate = True
    for text in (log.read_text(), capsys.readouterr().err):
        assert "a header of ***" in text
        assert KEY not in text


@pytest.mark.parametrize(
    "url",
    [
        "https://made-up-key@host.example/v1",
        "https://user:made-up-key@host.example/v1",
        "https://host.example/v1?api_key=made-up-key",
        "https://host.example/v1?api-version=1&subscription-key=made-up-key",
        "https://host.example/v1?sig=made-up-key",
    ],
)
def test_a_key_within_an_address_is_refused_and_not_shown(opened, url):
    with pytest.raises(EngineError, match="the address holds a secret") as e:
        opened(base_url=url)
    (found,) = secrets.find({"generators": [{"id": "g", "base_url": url}]}, "c.yaml")
    assert "made-up-key" not in str(e.value) + str(found) + redaction.redacted(f"went to {url} now")


def test_parameters_of_an_address_stay_behind_the_path(endpoint, opened):
    assert (
        address.joined("https://h/v1/?api-version=2", "/embeddings")
        == "https://h/v1/embeddings?api-version=2"
    )
    assert list(address.secrets_in("https://h/v1?api-version=2")) == []
    assert address.shown("https://u:p@h:8/v1?api-version=2#x") == "https://h:8/v1"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_with_key_and_texts(endpoint, opened, monkeypatch, status):
    monkeypatch.setenv("EP_KEY", KEY)
    there = {"location": endpoint.url.replace("127.0.0.1", "localhost") + f"/chat/completions?key={KEY}"}
    endpoint.rule = lambda body, n: Reply(status, "", there)
    with pytest.raises(EngineError, match=r"redirects \(status \d+\) to http://localhost:\d+/v1/chat") as e:
        ask(opened(api_key_env="EP_KEY", engine_options=FAST))
    assert len(endpoint.bodies) == 1
    assert KEY not in str(e.value)
    assert "write it into `base_url`" in e.value.do


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("http://127.0.0.1:8/v1", True), ("http://127.8.9.1/v1", True), ("http://127.1/v1", True),
        ("http://LOCALHOST:8/v1", True), ("http://localhost.:8/v1", True), ("http://a.localhost/v1", True),
        ("http://[::1]:8/v1", True), ("http://[::ffff:127.0.0.1]/v1", True), ("http://0.0.0.0:8/v1", True),
        ("http://ip6-localhost:8/v1", True), ("http://localhost.localdomain/v1", True),
        ("http://[::1%25lo]:8/v1", True),
        ("http://127.evil.example/v1", False), ("http://localhost.example/v1", False),
        ("http://10.0.0.1/v1", False), ("http://[2001:db8::1]/v1", False), ("http://[bad/v1", False),
    ],
)  # fmt: skip
def test_which_addresses_are_this_machines_own(url, own):
    assert address.is_loopback(url) is own


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"])
def test_addresses_of_this_machine_are_asked_without_a_proxy(endpoint, opened, monkeypatch, name):
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(opened(engine_options=FAST)).text == "A"


def test_a_proxy_in_between_is_named(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://user:made-up-password@127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    there = Connection(
        "http://llm.invalid/v1", api_key_env=None, patience=Patience(tries=1, wait_scale=0), concurrency=1,
        where="generator 'g'", error=EngineError,
    )  # fmt: skip
    with pytest.raises(EngineError, match=r"through the proxy http://127.0.0.1:9 of the environment") as e:
        there.post("/x", {}, read=dict)
    assert "made-up-password" not in str(e.value)
