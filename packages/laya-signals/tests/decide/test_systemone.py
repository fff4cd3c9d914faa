"""The client of the System One protocol, against a real HTTP server on loopback."""

import json
import logging
import pickle
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from laya_signals.decide import DecisionModel, QuestionError, ServerError
from laya_signals.decide.systemone import SystemOneDecision
from laya_signals.errors import ConfigError
from laya_signals.registry import signals

KEY = "sk-very-secret-0123456789"
NOUL = {"id": "holds", "type": "noul", "instructions": "Is it?"}
CHOICE = {"id": "pick", "type": "choice", "instructions": "Which?", "options": ["a", "b"]}
SCORE = {"id": "rate", "type": "score", "instructions": "How?", "options": ["low", "high"]}


class Server:
    """Answers like a System One server, or with the next of the replies that were laid out."""

    def __init__(self):
        self.requests = []
        self.replies = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, dict(self.headers), body))
                reply = outer.replies.pop(0) if outer.replies else outer.answer
                status, headers, content = reply(self.path, body) if callable(reply) else reply
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # a client that stopped waiting has closed the connection

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        serve = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        serve.start()

    def answer(self, path, body):
        def result(state):
            answers = {
                "noul": {"type": "noul", "noul": len(str(state)) / 100},
                "choice": {"type": "choice", "choice": "b", "probabilities": {"a": 0, "b": 1}},
                "score": {"type": "score", "score": 0.5},
            }
            return {
                "answers": {name: answers[q["type"]] for name, q in body["questions"].items()},
                "usage": {"input_tokens": 9, "truncated": False},
            }

        if path == "/v1/systemone":
            return 200, {}, result(body["state"])
        assert path == "/v1/systemone/batch"
        return 200, {}, {"results": [result(state) for state in body["states"]]}

    def close(self):
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = Server()
    yield running
    running.close()


@pytest.fixture
def pauses(monkeypatch):
    """Every wait of the client, none of which is waited for."""
    waited = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


def client(server, **settings):
    return SystemOneDecision(url=server.url, **settings)


def test_the_provider_implements_the_seam(server):
    block = {"provider": "decision.systemone", "config": {"url": server.url}}
    model = signals.resolve(block, DecisionModel)
    assert model.predict_batch(["x" * 40], [NOUL])[0]["answers"]["holds"]["noul"] == 0.4


def test_one_state_goes_to_the_route_for_one(server):
    [decision] = client(server).predict_batch([{"query": "Köln"}], [NOUL])
    [(path, headers, body)] = server.requests
    assert path == "/v1/systemone"
    assert body == {
        "state": {"query": "Köln"},
        "questions": {"holds": {"type": "noul", "instructions": "Is it?"}},
    }
    assert "Authorization" not in headers
    assert decision["answers"]["holds"]["confidence"] == pytest.approx(0.83)
    assert decision["usage"]["input_tokens"] == 9


def test_many_states_travel_in_batches_and_come_back_in_order(server):
    states = ["x" * n for n in range(7)]
    decisions = client(server, batch_size=3, model="english").predict_batch(
        states, [NOUL, CHOICE, SCORE]
    )
    assert [d["answers"]["holds"]["noul"] for d in decisions] == [n / 100 for n in range(7)]
    assert [d["answers"]["pick"]["choice"] for d in decisions] == ["b"] * 7
    assert [path for path, _, _ in server.requests] == ["/v1/systemone/batch"] * 2 + [
        "/v1/systemone"
    ]
    assert [body.get("states", [body.get("state")]) for _, _, body in server.requests] == [
        states[:3], states[3:6], states[6:]
    ]  # fmt: skip
    assert {body["model"] for _, _, body in server.requests} == {"english"}
    assert server.requests[0][2]["questions"]["rate"]["criteria"] == ["low", "high"]


def test_no_states_ask_nobody(server):
    assert client(server).predict_batch([], [NOUL]) == []
    assert server.requests == []


def test_a_busy_server_is_asked_again_when_it_says_so(server, pauses):
    server.replies = [(429, {"Retry-After": "3"}, {}), (503, {"Retry-After": "1.5"}, {})]
    assert len(client(server).predict_batch(["a"], [NOUL])) == 1
    assert pauses == [3.0, 1.5]
    assert len(server.requests) == 3


def test_a_moment_to_come_back_at_is_understood(server, pauses):
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    server.replies = [(503, {"Retry-After": moment}, {})]
    client(server).predict_batch(["a"], [NOUL])
    assert 15 < pauses[0] <= 20


def test_without_a_time_the_pauses_grow_up_to_a_bound(server, pauses):
    server.replies = [(429, {"Retry-After": "soon"}, {}), *[(503, {}, {})] * 3]
    client(server, backoff=1.0, max_wait=3.0).predict_batch(["a"], [NOUL])
    assert [0.75 <= p / 2**n <= 1.25 for n, p in enumerate(pauses[:2])] == [True] * 2
    assert pauses[2:] == [3.0, 3.0]


def test_tries_end(server, pauses):
    server.replies = [(429, {}, {})] * 9
    with pytest.raises(ServerError, match=r"still busy \(429\) after 3 tries") as caught:
        client(server, retries=2).predict_batch(["a"], [NOUL])
    assert caught.value.status == 429
    assert len(server.requests) == 3
    assert len(pauses) == 2


def test_a_server_that_asks_for_too_much_patience_is_given_up_on(server, pauses):
    server.replies = [(503, {"Retry-After": "3600"}, {})]
    with pytest.raises(ServerError, match=r"come back in 3600 seconds, longer than max_wait"):
        client(server).predict_batch(["a"], [NOUL])
    assert (pauses, len(server.requests)) == ([], 1)


def test_a_slow_server_is_a_time_out(server):
    release = threading.Event()

    def slow(path, body):
        release.wait(10)
        return server.answer(path, body)

    server.replies = [slow]
    with pytest.raises(ServerError, match=r"no answer within 0\.2 seconds") as caught:
        client(server, timeout=0.2).predict_batch(["a"], [NOUL])
    release.set()
    assert caught.value.status is None


def test_a_server_that_is_not_there_is_named():
    with pytest.raises(ServerError, match=r"cannot reach http://127\.0\.0\.1:9/v1/systemone"):
        SystemOneDecision(url="http://127.0.0.1:9").predict_batch(["a"], [NOUL])


GOOD = {"answers": {"holds": {"noul": 0.5}, "pick": {"choice": "a"}}}


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((200, {}, b"<html>"), "no JSON"),
        ((200, {}, b"\xff\xfe"), "no JSON"),
        ((200, {}, [1]), "no object"),
        ((200, {}, {"results": [GOOD]}), "1 results for 2 states"),
        ((200, {}, {"results": [GOOD] * 3}), "3 results for 2 states"),
        ((200, {}, {"answers": {}}), "no results for 2 states"),
        ((200, {}, {"results": [GOOD, {}]}), "state 1: there are no answers"),
        ((200, {}, {"results": [GOOD, {"answers": {"holds": {"noul": 1}}}]}), "answer to 'pick'"),
        ((422, {}, {"detail": "question 'holds': too long"}), "422: question 'holds': too long"),
        ((500, {}, b"oh\n no"), "answered 500: oh no"),
        ((404, {}, b""), "answered 404$"),
        ((302, {"Location": "http://127.0.0.1:9/"}, b""), "answered 302"),
    ],
)
def test_what_is_no_answer_is_a_clear_error(server, reply, message):
    server.replies = [reply]
    with pytest.raises(ServerError, match=message) as caught:
        client(server).predict_batch(["a", "b"], [NOUL, CHOICE])
    assert server.url in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("question", "answer", "wrong"),
    [
        (NOUL, {"noul": 1.5}, "no probability"),
        (NOUL, {"noul": float("nan")}, "no probability"),
        (NOUL, {"noul": "0.5"}, "no number"),
        (NOUL, {"noul": True}, "no number"),
        (NOUL, {}, "no number"),
        (CHOICE, {"choice": "c"}, "none of its labels"),
        (SCORE, {"score": None}, "no number"),
    ],
)
def test_an_answer_that_is_none_is_named(server, question, answer, wrong):
    server.replies = [(200, {}, {"answers": {question["id"]: answer}})]
    with pytest.raises(ServerError, match=f"state 0: the answer to '{question['id']}' is {wrong}"):
        client(server).predict_batch(["a"], [question])


def test_a_bad_question_or_state_is_never_sent(server):
    model = client(server)
    for states, questions in [
        (["a"], []), ("a", [NOUL]), (["a", 7], [NOUL]), (["a", "\ud800"], [NOUL]),
        ([{"a": float("nan")}], [NOUL]), ([{"a": {1}}], [NOUL]),
    ]:  # fmt: skip
        with pytest.raises(QuestionError):
            model.predict_batch(states, questions)
    assert server.requests == []


# The key.


def test_the_key_travels_as_bearer_token(server, monkeypatch):
    client(server, api_key=KEY + "\n").predict_batch(["a"], [NOUL])
    monkeypatch.setenv("SOME_KEY", KEY + "2")
    client(server, api_key_env="SOME_KEY").predict_batch(["a"], [NOUL])
    sent = [headers["Authorization"] for _, headers, _ in server.requests]
    assert sent == [f"Bearer {KEY}", f"Bearer {KEY}2"]


def test_a_variable_without_a_key_is_named(server, monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(ConfigError, match="SOME_KEY is not set"):
        client(server, api_key_env="SOME_KEY").predict_batch(["a"], [NOUL])
    with pytest.raises(ConfigError, match="not both"):
        client(server, api_key=KEY, api_key_env="SOME_KEY")


@pytest.mark.parametrize("key", ["", " \n", "two words", "line\nbreak", "clé"])
def test_what_cannot_be_a_key_is_refused_without_showing_it(server, key):
    with pytest.raises(ConfigError, match="api_key holds no key") as caught:
        client(server, api_key=key).predict_batch(["a"], [NOUL])
    assert not key.strip() or key not in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize(("key", "hint"), [(KEY, "was refused"), (None, "give api_key")])
def test_a_refused_key_is_said_so(server, key, hint):
    server.replies = [(401, {}, {"detail": "invalid or missing bearer token"})]
    with pytest.raises(ServerError, match=hint) as caught:
        client(server, api_key=key).predict_batch(["a"], [NOUL])
    assert caught.value.status == 401


def test_the_key_is_never_shown(server, caplog, pauses):
    caplog.set_level(logging.DEBUG)
    model = client(server, api_key=KEY, timeout=0.3, retries=1)
    echo = {"detail": f"you sent Bearer {KEY}"}
    server.replies = [(429, {}, echo), (500, {}, echo), (401, {}, echo)]
    shown = [repr(model), repr(model.config), str(model.config), model.config.model_dump_json()]
    for _ in range(2):
        with pytest.raises(ServerError) as caught:
            model.predict_batch(["a"], [NOUL])
        shown.append(repr(caught.value))
        assert caught.value.__cause__ is None
    gone = SystemOneDecision(url="http://127.0.0.1:9", api_key=KEY)
    with pytest.raises(ServerError) as caught:
        gone.predict_batch(["a"], [NOUL])
    shown.append(repr(caught.value))
    assert KEY not in "".join(shown) + caplog.text
    assert "***" in shown[4]


def test_neither_key_nor_patience_change_the_fingerprint(server):
    fingerprint = client(server).fingerprint
    assert client(server, api_key=KEY, timeout=1, retries=9).fingerprint == fingerprint
    assert client(server, model="english").fingerprint != fingerprint


def test_a_pickled_client_still_works(server):
    model = client(server, api_key=KEY)
    model.predict_batch(["a"], [NOUL])
    copy = pickle.loads(pickle.dumps(model))
    model.close()
    copy.predict_batch(["a"], [NOUL])
    assert server.requests[-1][1]["Authorization"] == f"Bearer {KEY}"
    model.predict_batch(["a"], [NOUL])  # a closed client opens anew


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8000", "ftp://host", "http://", f"http://me:{KEY}@host", "http://host?key=1"]
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ConfigError, match="url") as caught:
        SystemOneDecision(url=url)
    assert KEY not in str(caught.value)


def test_a_trailing_slash_does_not_matter(server):
    assert SystemOneDecision(url=server.url + "/").config.url == server.url
