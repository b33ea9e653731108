"""Only the browser that has shown the token gets anything, and it gets nothing that could harm it."""

import signal
import sys
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from fullpipe.cli.ui.application import guarded
from fullpipe.cli.ui.guard import Guard
from tests.children import started
from tests.ui.conftest import ADDRESS, Served, what_if
from tests.ui.test_server import Cli

URL = f"http://{ADDRESS}"


def fresh(guard: Guard) -> TestClient:
    """A browser without the cookie."""
    return TestClient(guard, base_url=URL, follow_redirects=False)


def test_the_token_becomes_a_cookie_and_goes_from_the_address(guard: Guard) -> None:
    answer = fresh(guard).get("/", params={"token": guard.token})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert guard.token not in cookie


def test_the_token_works_once(guard: Guard) -> None:
    assert fresh(guard).get("/", params={"token": guard.token}).status_code == 303
    again = fresh(guard).get("/", params={"token": guard.token})
    assert again.status_code == 401
    assert "set-cookie" not in again.headers


def test_a_wrong_token_opens_nothing_and_uses_up_nothing(guard: Guard) -> None:
    assert fresh(guard).get("/", params={"token": "x" * 43}).status_code == 401
    assert fresh(guard).get("/", params={"token": "\u00e9"}).status_code == 401
    assert fresh(guard).get("/", params={"token": guard.token}).status_code == 303


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/about", "/api/live", "/nothing"])
def test_without_the_cookie_nothing_is_there(guard: Guard, path: str) -> None:
    assert fresh(guard).get(path).status_code == 401
    assert fresh(guard).post(path, json={}).status_code == 401
    assert fresh(guard).get(path, headers={"cookie": "fullpipe-4321=guessed"}).status_code == 401


@pytest.mark.parametrize(
    "host", ["example.org", "127.0.0.1", "127.0.0.1:4322", "localhost", "", "[::1]:4321"]
)
def test_another_host_is_refused_even_with_the_cookie(client: TestClient, host: str) -> None:
    assert client.get("/api/about", headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://example.org"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:4321"},
        {"origin": "http://127.0.0.1:4322"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_site_is_refused_even_with_the_cookie(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/api/check", json={"scenario": what_if()}, headers=headers).status_code == 403
    assert client.get("/api/about", headers=headers).status_code == 403


def test_its_own_origin_passes(client: TestClient) -> None:
    headers = {"origin": URL, "sec-fetch-site": "same-origin"}
    assert client.post("/api/check", json={"scenario": what_if()}, headers=headers).status_code == 200


def test_only_json_is_posted(client: TestClient) -> None:
    kinds = ("text/plain", "application/x-www-form-urlencoded", "")
    for kind in kinds:
        answer = client.post("/api/live", content="{}", headers={"content-type": kind})
        assert answer.status_code == 415
    assert client.put("/api/live", json={}).status_code == 405
    assert client.delete("/").status_code == 405


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/about", "/nothing"])
def test_every_answer_says_what_a_browser_may_do(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_answers_that_refuse_say_so_too(guard: Guard) -> None:
    assert "frame-ancestors 'none'" in fresh(guard).get("/").headers["content-security-policy"]


@pytest.mark.parametrize(
    "name", ["../guard.py", "..%2fguard.py", "%2e%2e/guard.py", "guard.py", "/etc/passwd"]
)
def test_no_name_of_a_file_leads_out_of_the_page(client: TestClient, name: str) -> None:
    assert client.get(f"/static/{name}").status_code == 404


def test_a_large_request_is_refused(client: TestClient) -> None:
    answer = client.post("/api/check", json={"scenario": "x" * 1_100_000})
    assert answer.status_code == 400
    assert "larger than" in answer.json()["problems"][0]


def test_clients_may_leave_out_the_port_of_http(tmp_path: Path) -> None:
    guard = guarded(tmp_path, "127.0.0.1:80", False)
    browser = TestClient(guard, base_url="http://127.0.0.1", headers={"origin": "http://127.0.0.1"})
    assert browser.get("/", params={"token": guard.token}).status_code == 200
    assert browser.get("/api/about", headers={"host": "evil.example"}).status_code == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "0", "00.0.0.0", "::", "::0", "::ffff:0.0.0.0", ""])
def test_every_address_is_none(fullpipe: Cli, host: str) -> None:
    told = fullpipe("ui", "--no-browser", "--expose", "--host", host)
    assert told.exit_code == 2
    assert "means all addresses" in " ".join(told.output.split())


def test_a_store_is_a_folder(fullpipe: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = fullpipe("ui", "--no-browser", "file")
    assert (told.exit_code, "is a file; name the folder of stored runs" in told.output) == (2, True)


def test_a_process_prints_one_address_that_works_once(served: Served) -> None:
    url, process = served()
    assert url.startswith("http://127.0.0.1:")
    with httpx.Client(follow_redirects=True) as browser:
        assert "app.js" in browser.get(url).text
        about = browser.get(httpx.URL(url).copy_with(path="/api/about", query=None))
        assert "cubic" in [each["name"] for each in about.json()["algorithms"]]
    assert httpx.get(url).status_code == 401
    assert process.poll() is None


def test_two_servers_do_not_share_a_cookie(served: Served) -> None:
    (one, _), (other, _) = served(), served()
    with httpx.Client(follow_redirects=True) as browser:
        assert browser.get(one).status_code == 200
        assert browser.get(other).status_code == 200
        for url in (one, other):
            assert browser.get(httpx.URL(url).copy_with(path="/api/about", query=None)).status_code == 200


@pytest.mark.parametrize("again", [False, True])
def test_ctrl_c_says_that_the_server_was_stopped(tmp_path: Path, again: bool) -> None:
    with started([sys.executable, "-m", "fullpipe", "ui", "--no-browser"], cwd=tmp_path) as process:
        url = process.stdout.readline().strip()
        if again:
            assert httpx.get(url).status_code == 303
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert told == "fullpipe: stopped; the page is no longer served\n"
        assert process.returncode == 1
