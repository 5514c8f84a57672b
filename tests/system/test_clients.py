"""Clients with tokens of their own: let in and shut out while the server serves, told apart in everything."""

import json
import os
import pty
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from system import client, desktop, journal, wire
from system.bus import text
from system.client import Era, Rpc, with_sdk
from system.product import CONTROL, SLICE, Product
from system.streams import Held
from system.world import REPO, wait_until

PROGRAM = str(REPO / "bin" / "omarchy-mcpctl")
HEADERS = str(REPO / "bin" / "omarchy-mcp-headers")
Done = subprocess.CompletedProcess[str]


def ctl(product: Product, *words: str) -> Done:
    return product.world.run(PROGRAM, *words, check=False, OMARCHY_MCP_VENV=product.venv)


@pytest.fixture(name="clients")
def clients_fixture(product: Product) -> Iterator[Path]:
    """The file of clients while the server serves; afterwards there are none."""
    product.wake()
    file = product.state / "clients.json"
    yield file
    file.unlink(missing_ok=True)


def added(product: Product, name: str, verb: str = "add") -> str:
    """Add a client; returns its token."""
    done = ctl(product, "client", verb, name, "--show", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def called(product: Product, name: str, since: float) -> list[journal.Entry]:
    """The records of a client's calls."""
    return [each for each in product.records(since=since) if each["OMARCHY_MCP_CLIENT"] == name]


def headers(rpc: Rpc, session: str) -> dict[str, str]:
    """What a client sends along for a session."""
    return client.headers(rpc.token, Era.HANDSHAKE, "", session=session)


def status(product: Product, token: str) -> int:
    return Rpc(product.port, token).post("tools/list", {}).status


# --- let in and shut out


def test_a_client_comes_in_and_goes_without_a_restart(product: Product, clients: Path) -> None:
    pid, since = product.pid(), journal.moment()
    token = added(product, "codex")
    assert len(token) == 43
    assert status(product, token) == 200
    assert Rpc(product.port, token).do(desktop.TRUE).outcome == "ok"
    assert ctl(product, "client", "revoke", "codex").returncode == 0
    assert status(product, token) == 401
    assert status(product, product.token()) == 200
    assert product.pid() == pid

    def told() -> list[str]:
        records = [each for each in product.records("config", since=since) if each.get("OMARCHY_MCP_CLIENT") == "codex"]
        return [str(each["OMARCHY_MCP_ACTION"]) for each in records]

    wait_until(lambda: told() == ["added", "revoked"], "both changes are in the record")
    assert len(called(product, "codex", since)) == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_real_client_of_either_era_is_known_by_its_token(product: Product, clients: Path, mode: str) -> None:
    token, since = added(product, "agent-1"), journal.moment()
    found = with_sdk(product.url, token, mode, lambda agent: agent.call_tool("omarchy_search_commands", {}))
    assert not found.is_error
    wait_until(lambda: called(product, "agent-1", since), "the call is in the record under its name")


@pytest.mark.parametrize("era", list(Era))
def test_what_a_revoked_client_listens_to_ends_and_nothing_else_does(product: Product, clients: Path, era: Era) -> None:
    token = added(product, "codex")
    with Held(product, era, again=False) as other, Held(product, era, again=False, token=token) as held:
        ctl(product, "client", "revoke", "codex")
        wait_until(lambda: held.ends, "its stream has ended")
        assert dict(held.ends) == {"clean": 1}
        assert not other.ends
    assert status(product, token) == 401


def test_a_rotated_token_is_useless_at_once_and_its_session_goes_on(product: Product, clients: Path) -> None:
    rpc = Rpc(product.port, added(product, "codex"), Era.HANDSHAKE)
    rpc.initialize()
    new = added(product, "codex", "rotate")
    assert rpc.post("tools/list", {}).status == 401
    rpc.token = new
    assert rpc.post("tools/list", {}).status == 200


def test_the_first_clients_token_is_rotated_in_its_file(product: Product, clients: Path) -> None:
    old = product.token()
    done = ctl(product, "client", "rotate", "default", "--json")
    assert json.loads(done.stdout)["token_file"] == str(product.state / "token")
    assert product.token() not in done.stdout + done.stderr
    assert product.token() != old
    assert [status(product, token) for token in (old, product.token())] == [401, 200]


def test_another_clients_session_is_not_found(product: Product, clients: Path) -> None:
    mine, other = product.rpc(Era.HANDSHAKE), Rpc(product.port, added(product, "codex"), Era.HANDSHAKE)
    other.session = mine.session
    for method in ("tools/list", "ping"):
        reply = other.post(method, {})
        assert reply.status == 404
        assert reply.json()["error"]["message"] == "Session not found"
    assert wire.request(product.port, "DELETE", "/mcp", headers=headers(other, mine.session)).status == 404
    assert mine.post("tools/list", {}).status == 200


def test_naming_ones_own_session_as_well_opens_no_other(product: Product, clients: Path) -> None:
    mine, other = product.rpc(Era.HANDSHAKE), Rpc(product.port, added(product, "codex"), Era.HANDSHAKE)
    other.initialize()
    body = client.message("tools/list", {}, Era.HANDSHAKE).encode()
    for pair in ((mine.session, other.session), (other.session, mine.session)):
        named = "".join(f"Mcp-Session-Id: {session}\r\n" for session in pair)
        rest = "".join(f"{name}: {value}\r\n" for name, value in headers(other, "").items())
        head = f"POST /mcp HTTP/1.1\r\nHost: {wire.HOST}:{product.port}\r\nContent-Length: {len(body)}\r\n"
        assert wire.send_raw(product.port, f"{head}{named}{rest}\r\n".encode() + body).status == 404


def test_a_file_that_cannot_be_read_shuts_out_all_but_the_first(product: Product, clients: Path) -> None:
    token = added(product, "codex")
    assert status(product, token) == 200
    clients.write_text("{", encoding="utf-8")
    assert [status(product, each) for each in (token, product.token())] == [401, 200]
    assert ctl(product, "client", "add", "more", "--show").returncode == 1
    wait_until(lambda: "client file" in str(product.control.status()["token_problem"]), "the person can see why")


# --- what is shown, and what is kept


def test_a_token_is_kept_nowhere(product: Product, clients: Path, audit: object) -> None:
    since = journal.moment()
    token = added(product, "codex")
    status(product, token)
    assert clients.stat().st_mode & 0o777 == 0o600
    for file in product.state.rglob("*"):
        assert not file.is_file() or token.encode() not in file.read_bytes(), file
    assert token not in product.words(since)


def test_a_token_is_not_written_where_nobody_reads_it(product: Product, clients: Path) -> None:
    for verb in ("add", "rotate"):
        done = ctl(product, "client", verb, "codex")
        assert (done.returncode, done.stdout) == (2, "")
        assert "--token-file" in done.stderr
    assert not clients.exists()


def test_on_a_terminal_a_token_is_shown_once(product: Product, clients: Path) -> None:
    ours, its = pty.openpty()
    env = {**product.world.env, "OMARCHY_MCP_VENV": product.venv}
    done = subprocess.run([PROGRAM, "client", "add", "codex", "-q"], env=env, stdin=its, stdout=its, check=False)
    os.close(its)
    shown = os.read(ours, 4096).decode().split()
    os.close(ours)
    assert done.returncode == 0
    assert len(shown) == 1
    assert status(product, shown[0]) == 200


def test_a_token_goes_into_a_private_file_that_was_not_there(product: Product, clients: Path, tmp_path: Path) -> None:
    file = tmp_path / "token"
    done = ctl(product, "client", "add", "codex", f"--token-file={file}", "--json")
    assert json.loads(done.stdout) == {
        "verb": "client", "action": "add", "outcome": "ok", "client": "codex", "token_file": str(file),
    }  # fmt: skip
    assert file.stat().st_mode & 0o777 == 0o600
    assert status(product, file.read_text(encoding="utf-8").strip()) == 200
    before = file.read_bytes()
    assert ctl(product, "client", "add", "other", f"--token-file={file}").returncode == 1
    assert file.read_bytes() == before
    twice = tmp_path / "twice"
    assert ctl(product, "client", "add", "codex", f"--token-file={twice}").returncode == 1
    assert not twice.exists()


def test_the_list_says_who_may_come_in(product: Product, clients: Path) -> None:
    added(product, "codex")
    rows = json.loads(ctl(product, "client", "--json").stdout)
    assert [(row["name"], bool(row["token_file"])) for row in rows] == [("default", True), ("codex", False)]
    assert all(row["made_usec"] for row in rows)
    shown = ctl(product, "client", "list").stdout
    assert [line.split()[0] for line in shown.splitlines()] == ["CLIENT", "default", "codex"]
    assert ctl(product, "client", "revoke", "nobody").returncode == 1


# --- questions and grants


def test_what_a_client_asks_and_was_granted_is_its_own_and_ends_with_it(product: Product, clients: Path) -> None:
    product.desktop.write_config("ask = true\nask_timeout_s = 60\n")
    product.world.systemctl("restart", CONTROL)
    product.control.call("Reload")
    wait_until(
        lambda: product.rpc().call("omarchy_run", route=desktop.ASKED, preview=True).data["would_ask"], "it asks"
    )
    try:
        codex = Rpc(product.port, added(product, "codex"))
        with ThreadPoolExecutor() as pool:
            asked = pool.submit(codex.do, desktop.ASKED, "x", seconds=60)
            rows = wait_until(lambda: product.control.call("Questions"), "a question", 15)
            assert [row["client"] for row in rows] == ["codex"]
            options = {"digest": text(rows[0]["digest"]), "scope": text("args"), "life": text("10min")}
            assert product.control.raw("Approve", "sa{sv}", (rows[0]["id"], options))[0] == ""
            assert asked.result(30).outcome == "ok"
        assert [grant["client"] for grant in product.control.call("Grants")] == ["codex"]
        assert codex.do(desktop.ASKED, "x").outcome == "ok"
        with ThreadPoolExecutor() as pool:
            pending = pool.submit(codex.do, desktop.ASKED, "y", seconds=60)
            wait_until(lambda: product.control.call("Questions"), "another question", 15)
            assert ctl(product, "client", "revoke", "codex").returncode == 0
            assert pending.result(30).outcome == "refused"
        assert product.control.call("Grants") == []
        assert product.control.call("Questions") == []
    finally:
        product.desktop.write_config()
        (product.state / "consent.json").unlink(missing_ok=True)
        product.control.call("Reload")


# --- what a client is told


@pytest.mark.parametrize("program", ["claude", "codex", "gemini", "opencode"])
def test_a_clients_configuration_has_the_address_and_no_token(product: Product, program: str) -> None:
    done = ctl(product, "client-config", f"--client={program}", "--json")
    found = json.loads(done.stdout)
    assert found["client"] == program
    assert product.url in found["snippet"]
    assert product.token() not in done.stdout + done.stderr
    reads = found["snippet"] + found["first"]
    assert HEADERS in reads or str(product.state / "token") in reads
    shown = ctl(product, "client-config", f"--client={program}").stdout
    assert shown == "".join(f"{part}\n" for part in (found["snippet"], found["first"]) if part)


def test_another_clients_configuration_names_its_file(product: Product) -> None:
    assert ctl(product, "client-config", "--client=claude", "--name=codex").returncode == 2
    for program in ("claude", "codex", "gemini", "opencode"):
        words = ("client-config", f"--client={program}", "--name=codex", "--token-file=/secret/file")
        assert "/secret/file" in ctl(product, *words).stdout


def test_the_helper_prints_the_header_that_lets_in(product: Product, tmp_path: Path) -> None:
    printed = product.world.run(HEADERS).stdout
    assert json.loads(printed) == {"Authorization": f"Bearer {product.token()}"}
    file = tmp_path / "token"
    file.write_text('\ufeff a"b\\c \n', encoding="utf-8")
    assert json.loads(product.world.run(HEADERS, str(file)).stdout) == {"Authorization": 'Bearer a"b\\c'}
    for content in ("", "two words", "two\nlines"):
        file.write_text(content, encoding="utf-8")
        done = product.world.run(HEADERS, str(file), check=False)
        assert (done.returncode, done.stdout) == (1, "")
    assert product.world.run(HEADERS, str(tmp_path / "none"), check=False).returncode == 1


@pytest.mark.parametrize("action", [("add", "mine", "--show"), ("rotate", "codex", "--show"), ("rotate", "default")])
def test_what_an_agent_started_gets_no_token(product: Product, clients: Path, action: tuple[str, ...]) -> None:
    token, own = added(product, "codex"), product.token()
    unit = ("systemd-run", "--user", "--wait", "--pipe", "--quiet", "--collect", f"--slice={SLICE}")
    env = f"--setenv=OMARCHY_MCP_VENV={product.venv}"
    done = product.world.run(*unit, env, PROGRAM, "client", *action, check=False)
    assert (done.returncode, done.stdout) == (4, "")
    assert [status(product, each) for each in (token, own)] == [200, 200]
    assert product.token() == own
