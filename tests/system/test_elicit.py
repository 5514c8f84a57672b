"""The client that called is asked as well: its form may decline, and approve only where the person named it.

Every client here is the SDK's own, in both eras of the protocol.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitResult, Implementation, InputRequiredResult, TextContent

from system import consent, desktop, journal
from system.bus import text
from system.client import Answer
from system.consent import DEADLINE, asking, ended, question, questions
from system.product import CONTROL, Product
from system.screen import Screen, screen
from system.test_clients import added, clients_fixture  # noqa: F401 - a fixture
from system.world import wait_until

TESTER = "elicit-test"
ERAS = ("auto", "legacy")
MARKED = f'may_answer = ["{TESTER}"]\n'
YES, NO, AWAY = (ElicitResult(action=action, content={}) for action in ("accept", "decline", "cancel"))
RUN = {"route": desktop.ASKED, "args": ["x"]}


class Form:
    """What a client shows its person: it notes what it was asked, and answers once it is told what."""

    def __init__(self, result: ElicitResult | None = None) -> None:
        self.asked: list[Any] = []
        self.gone = threading.Event()
        self._result = result

    def answer(self, result: ElicitResult) -> None:
        self._result = result

    async def __call__(self, context: object, params: Any) -> ElicitResult:
        self.asked.append(params)
        try:
            while self._result is None:
                await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            self.gone.set()
            raise
        return self._result

    def shown(self) -> Any:
        """The one form that was shown."""
        (params,) = wait_until(lambda: list(self.asked), "a form in the client", 15)
        return params


@asynccontextmanager
async def connected(product: Product, mode: str, form: Form | None, name: str = TESTER, token: str = "") -> Any:
    own = {"Authorization": f"Bearer {token or product.token()}"}
    async with (
        httpx2.AsyncClient(headers=own, timeout=httpx2.Timeout(30, read=120)) as web,
        Client(
            streamable_http_client(product.url, http_client=web), mode=mode, elicitation_callback=form,
            client_info=Implementation(name=name, version="0"),
        ) as client,
    ):  # fmt: skip
        yield client


def read(result: CallToolResult) -> Answer:
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    return Answer(failed=result.is_error, data=result.structured_content or {}, text=text, seconds=0)


def with_client(
    product: Product, act: Callable[[Client], Awaitable[Any]], mode: str = "auto", form: Form | None = None,
    name: str = TESTER,
) -> Any:  # fmt: skip
    async def whole() -> Any:
        async with connected(product, mode, form, name) as client:
            return await act(client)

    return asyncio.run(whole())


def call(
    product: Product, pool: ThreadPoolExecutor, mode: str, form: Form | None, name: str = TESTER, **more: Any
) -> "Future[Answer]":
    """Begin the guarded call, or another."""

    async def act(client: Client) -> Answer:
        return read(await client.call_tool("omarchy_run", {**RUN, **more}))

    return pool.submit(with_client, product, act, mode, form, name)


async def first(client: Client, arguments: dict[str, Any] | None = None) -> InputRequiredResult:
    """Call, and stop where the client would show its form."""
    result = await client.session.call_tool("omarchy_run", arguments or RUN, allow_input_required=True)
    assert isinstance(result, InputRequiredResult), result
    return result


async def again(
    client: Client, state: InputRequiredResult, answer: ElicitResult | None, arguments: dict[str, Any] | None = None
) -> Answer:
    """Repeat the call with what came of the form."""
    (key,) = state.input_requests or {}
    result = await client.session.call_tool(
        "omarchy_run", arguments or RUN, request_state=state.request_state,
        input_responses={key: answer} if answer is not None else None,
    )  # fmt: skip
    return read(result)


@pytest.fixture(name="marked")
def marked_fixture(product: Product) -> Iterator[Product]:
    """A product that asks, whose person lets the tests' client answer."""
    with asking(product, more=MARKED):
        yield product


@pytest.fixture(name="shown")
def shown_fixture(marked: Product) -> Iterator[Screen]:
    with screen(marked) as it:
        yield it


def refusals(product: Product) -> list[str]:
    """Messages about answers that did not count."""
    return [
        str(each["MESSAGE"])
        for each in product.records("question", since=consent.BEGUN[0])
        if each.get("OMARCHY_MCP_ACTION") == "ignored"
    ]


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_that_may_answer_approves_its_call_once(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor, mode: str
) -> None:
    form = Form()
    answer = call(marked, pool, mode, form)
    text = form.shown().message
    assert f'run "{desktop.ASKED}" with "x"\n' in text
    assert "The desk is asked too" in text
    shown.question()
    assert not marked.desktop.runs()
    form.answer(YES)
    assert answer.result().outcome == "ok", answer.result()
    assert marked.desktop.runs() == [["x"]]
    ended(marked, "accepted", shown, runs=1)
    if journal.readable(marked.world):
        (entry,) = (each for each in marked.records("question", since=consent.BEGUN[0]))
        assert entry["OMARCHY_MCP_CALLER"] == f"the client '{TESTER}'"
        calls = [each for each in marked.records(since=consent.BEGUN[0]) if "OMARCHY_MCP_CONSENT" in each]
        assert [(each["OMARCHY_MCP_OUTCOME"], each["OMARCHY_MCP_CONSENT"]) for each in calls] == [("ok", "accepted")]
        assert calls[0]["OMARCHY_MCP_CALL_ID"] == entry["OMARCHY_MCP_CALL_ID"]


@pytest.mark.parametrize("mode", ERAS)
def test_what_a_client_declines_is_taken_off_the_desk_and_is_not_asked_again(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor, mode: str
) -> None:
    form = Form()
    answer = call(marked, pool, mode, form)
    form.shown()
    shown.question()
    form.answer(NO)
    assert "refused this call (in the form their client showed)" in answer.result().text
    ended(marked, "declined", shown)
    assert "is not asked about it" in call(marked, pool, mode, Form(YES)).result().text
    assert not marked.desktop.runs()


@pytest.mark.parametrize("mode", ERAS)
def test_a_form_that_is_taken_away_leaves_the_question_to_the_desk(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor, mode: str
) -> None:
    answer = call(marked, pool, mode, Form(AWAY))
    shown.click("approve")
    assert answer.result().outcome == "ok"
    ended(marked, "accepted", shown, runs=1)


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_nobody_named_is_shown_no_form_and_the_desk_alone_decides(
    product: Product, pool: ThreadPoolExecutor, mode: str
) -> None:
    form = Form(YES)
    with asking(product, more='may_answer = ["somebody else"]\n'), screen(product) as shown:
        answer = call(product, pool, mode, form)
        shown.question()
        assert not product.desktop.runs()
        shown.click("approve")
        assert answer.result().outcome == "ok"
        ended(product, "accepted", shown, runs=1)
    assert not form.asked


@pytest.mark.parametrize(("named", "asked"), [("codex", True), (TESTER, False), ("default", False)])
def test_a_client_with_a_token_of_its_own_is_known_by_that_alone(
    product: Product, clients: Path, named: str, *, asked: bool
) -> None:
    token, form = added(product, "codex"), Form(NO)

    async def whole() -> Answer:
        async with connected(product, "legacy", form, token=token) as client:
            work = asyncio.ensure_future(client.call_tool("omarchy_run", RUN))
            row = await asyncio.to_thread(question, product) if not asked else None
            if row is not None:
                assert row["client"] == "codex"
                assert await asyncio.to_thread(product.control.raw, "Deny", "sa{sv}", (row["id"], {})) == ("", [])
            return read(await work)

    with asking(product, more=f'may_answer = ["{named}"]\n'), screen(product) as shown:
        assert ("in the form" in asyncio.run(whole()).text) is asked
        ended(product, "declined", shown)
    assert bool(form.asked) is asked


def test_an_answer_is_that_of_the_client_whose_token_it_came_with(
    marked: Product, clients: Path, shown: Screen
) -> None:
    other = added(marked, "codex")

    async def whole() -> Answer:
        async with connected(marked, "auto", Form()) as client, connected(marked, "auto", Form(), token=other) as thief:
            state = await first(client)
            stolen = await again(thief, state, YES)
            assert not marked.desktop.runs()
            assert (await again(client, state, NO)).failed
            return stolen

    assert "cannot use this answer" in asyncio.run(whole()).text
    ended(marked, "declined", shown)


def test_a_yes_nobody_asked_a_client_for_is_none(marked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    async def act(client: Client) -> Answer:
        state = await client.session.call_tool(
            "omarchy_run", RUN, input_responses={"choice": YES}, allow_input_required=True
        )
        assert isinstance(state, InputRequiredResult)  # it is asked
        assert not marked.desktop.runs()
        return await again(client, state, NO)

    assert with_client(marked, act, form=Form()).failed
    ended(marked, "declined", shown)


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_that_may_no_longer_answer_cannot_approve_what_it_was_asked_before(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor, mode: str
) -> None:
    form = Form()
    answer = call(marked, pool, mode, form)
    form.shown()
    marked.desktop.write_config("ask = true\n")
    form.answer(YES)
    if journal.readable(marked.world):
        wait_until(lambda: any("may not approve" in each for each in refusals(marked)), "its yes is recorded as none")
    assert not marked.desktop.runs()
    assert len(questions(marked)) == 1
    shown.click("deny")
    assert answer.result().failed
    ended(marked, "declined", shown)


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_that_may_no_longer_answer_can_still_decline(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor, mode: str
) -> None:
    form = Form()
    answer = call(marked, pool, mode, form)
    form.shown()
    shown.question()
    marked.desktop.write_config("ask = true\n")
    form.answer(NO)
    assert "in the form their client showed" in answer.result().text
    ended(marked, "declined", shown)


@pytest.mark.parametrize("mode", ERAS)
def test_what_a_form_would_not_show_whole_is_for_the_desk_alone(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor, mode: str
) -> None:
    form = Form(YES)
    answer = call(marked, pool, mode, form, args=["a" * 500])
    shown.question()
    shown.do("Card", "u", str(shown.questions()[0].number))
    assert consent.approve(marked, question(marked)) == ""
    assert answer.result().outcome == "ok"
    assert not form.asked
    ended(marked, "accepted", shown, runs=1)


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_that_shows_no_forms_leaves_it_to_the_desk(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor, mode: str
) -> None:
    answer = call(marked, pool, mode, None)
    shown.click("approve")
    assert answer.result().outcome == "ok"
    ended(marked, "accepted", shown, runs=1)


def test_what_the_desk_approves_first_takes_the_form_away(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    form = Form()
    answer = call(marked, pool, "legacy", form)
    form.shown()
    shown.click("approve")
    assert answer.result().outcome == "ok"
    assert form.gone.wait(5)
    ended(marked, "accepted", shown, runs=1)


def test_what_the_desk_approves_first_runs_once_the_client_is_back_and_no_second_time(
    marked: Product, shown: Screen
) -> None:
    async def act(client: Client) -> tuple[Answer, Answer]:
        state = await first(client)
        await asyncio.to_thread(shown.click, "approve")
        assert not marked.desktop.runs()
        return await again(client, state, AWAY), await again(client, state, YES)

    ran, stale = with_client(marked, act, form=Form())
    assert ran.outcome == "ok"
    assert stale.outcome == "refused"
    ended(marked, "accepted", shown, runs=1)


@pytest.mark.parametrize(("button", "answer"), [("deny", YES), ("approve", NO), ("deny", NO), ("deny", None)])
def test_a_no_of_either_side_holds_against_what_comes_later(
    marked: Product, shown: Screen, button: str, answer: ElicitResult | None
) -> None:
    async def act(client: Client) -> Answer:
        state = await first(client)
        await asyncio.to_thread(shown.click, button)
        return await again(client, state, answer)

    refused = with_client(marked, act, form=Form())
    assert "refused this call" in refused.text
    ended(marked, "declined" if button == "deny" else "accepted", shown)


def test_an_answer_that_was_kept_counts_once(marked: Product, shown: Screen) -> None:
    async def act(client: Client) -> list[Answer]:
        state = await first(client)
        return [await again(client, state, answer) for answer in (YES, YES, NO, None)]

    ran, *stale = with_client(marked, act, form=Form())
    assert ran.outcome == "ok"
    assert [each.outcome for each in stale] == ["refused"] * 3
    assert all("it was used before" in each.text and "nothing ran" in each.text for each in stale)
    ended(marked, "accepted", shown, runs=1)
    if journal.readable(marked.world):
        assert len(refusals(marked)) == 3


def test_two_answers_at_once_run_it_once(marked: Product, shown: Screen) -> None:
    async def act(client: Client) -> list[Answer]:
        state = await first(client)
        return list(await asyncio.gather(*(again(client, state, YES) for _ in range(6))))

    outcomes = [each.outcome for each in with_client(marked, act, form=Form())]
    assert sorted(outcomes) == ["ok", *["refused"] * 5]
    ended(marked, "accepted", shown, runs=1)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("button", ["approve", "deny"])
def test_of_two_answers_at_once_the_first_counts(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor, mode: str, button: str
) -> None:
    form = Form()
    answer = call(marked, pool, mode, form)
    form.shown()
    toast = shown.question()
    clicked = pool.submit(shown.do, "Click", "us", str(toast.number), button)
    form.answer(YES)
    result = answer.result()
    clicked.exception()
    runs = marked.desktop.runs()
    assert runs == ([["x"]] if result.outcome == "ok" else [])
    assert result.outcome == "ok" or button == "deny"
    ended(marked, "accepted" if runs else "declined", shown, runs=len(runs))


@pytest.mark.parametrize("how", ["forged", "other arguments", "other client", "other tool"])
def test_a_state_that_is_not_this_calls_is_refused_and_recorded(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor, how: str
) -> None:
    async def act(client: Client) -> Answer:
        state = await first(client)
        match how:
            case "forged":
                sealed = state.request_state or ""
                forged = state.model_copy(update={"request_state": sealed[:-6] + "AAAAAA"})
                refused = await again(client, forged, YES)
            case "other arguments":
                refused = await again(client, state, YES, {**RUN, "args": ["y"]})
            case "other client":
                async with connected(marked, "auto", Form(), "another") as another:
                    refused = await again(another, state, YES)
            case _:
                other = {"target": "media", "function": "next"}
                refused = read(
                    await client.session.call_tool(
                        "omarchy_shell_call", other, request_state=state.request_state, input_responses={"choice": YES}
                    )
                )
        assert not marked.desktop.runs()
        assert (await again(client, state, YES)).outcome == "ok"  # the right one still counts
        return refused

    refused = with_client(marked, act, form=Form())
    assert refused.outcome == "refused"
    assert "cannot use this answer" in refused.text
    ended(marked, "accepted", shown, runs=1)
    if journal.readable(marked.world):
        reasons = [str(each.get("OMARCHY_MCP_RULE")) for each in marked.records(since=consent.BEGUN[0])]
        assert reasons.count("stale-answer") == 1


def test_a_yes_that_is_too_late_runs_nothing(product: Product) -> None:
    with asking(product, DEADLINE, MARKED), screen(product) as shown:

        async def act(client: Client) -> Answer:
            state = await first(client)
            await asyncio.to_thread(wait_until, lambda: not questions(product), "its time is over", DEADLINE + 5)
            return await again(client, state, YES)

        assert "nobody answered within" in with_client(product, act, form=Form()).text
        ended(product, "timed_out", shown)


def test_a_client_that_comes_back_too_late_has_lost_its_call_and_what_was_approved(audit: Product) -> None:
    def written() -> list[journal.Entry]:
        found = audit.records(since=consent.BEGUN[0])
        return [each for each in found if each.get("OMARCHY_MCP_OUTCOME") == "cancelled"]

    async def act(client: Client) -> Answer:
        state = await first(client)
        await asyncio.to_thread(shown.click, "approve")
        await asyncio.to_thread(wait_until, written, "a record of the call", DEADLINE + 10)
        return await again(client, state, YES)

    with asking(audit, DEADLINE, MARKED), screen(audit) as shown:
        assert "its time is over" in with_client(audit, act, form=Form()).text
        ended(audit, "accepted", shown)
        (entry,) = written()
        assert (entry["OMARCHY_MCP_ROUTE"], entry["OMARCHY_MCP_TIER"]) == (desktop.ASKED, "guarded")
        assert "did not come back" in entry["OMARCHY_MCP_REASON"]


def test_the_server_does_not_leave_while_a_client_has_a_form_to_bring_back(product: Product) -> None:
    product.sleep()  # no session of another test keeps this one's server
    with asking(product, DEADLINE, f"{MARKED}[server]\nidle_exit_s = 1\n"), screen(product):
        with_client(product, first, form=Form())
        pid = product.pid()
        wait_until(lambda: not questions(product), "its time is over", DEADLINE + 5)
        assert product.pid() == pid
        wait_until(lambda: not product.pid(), "the server has left", 20)


def test_the_same_call_made_anew_goes_on_with_the_question_that_is_open(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor
) -> None:
    async def act(client: Client) -> tuple[Answer, Answer]:
        state = await first(client)
        anew = asyncio.ensure_future(client.session.call_tool("omarchy_run", RUN))
        row = await asyncio.to_thread(question, marked)
        await asyncio.to_thread(shown.question)
        assert row["number"] == (await asyncio.to_thread(question, marked))["number"]
        stale = await again(client, state, YES)
        assert not marked.desktop.runs()
        await asyncio.to_thread(shown.click, "approve")
        return stale, read(await anew)

    stale, ran = with_client(marked, act, form=Form())
    assert stale.outcome == "refused"
    assert ran.outcome == "ok"
    ended(marked, "accepted", shown, runs=1)


@pytest.mark.parametrize("service", ["server", "control"])
def test_a_service_that_was_started_anew_takes_no_answer_to_a_question_of_before(
    marked: Product, shown: Screen, service: str
) -> None:
    async def act(client: Client) -> Answer:
        state = await first(client)
        if service == "server":
            await asyncio.to_thread(marked.restart)
        else:
            await asyncio.to_thread(marked.world.systemctl, "restart", CONTROL)
        return await again(client, state, YES)

    refused = with_client(marked, act, form=Form())
    assert refused.outcome == "refused"
    assert "nobody was asked" in refused.text
    assert not marked.desktop.runs()
    assert not questions(marked)


def test_a_deny_written_while_the_form_was_open_wins(marked: Product, shown: Screen) -> None:
    async def act(client: Client) -> Answer:
        state = await first(client)
        marked.desktop.write_config(f'ask = true\n{MARKED}deny = ["{desktop.ASKED}"]')
        await asyncio.to_thread(marked.control.call, "Reload")
        await asyncio.to_thread(wait_until, lambda: consent.rule(marked) == "deny", "the deny is in force")
        return await again(client, state, YES)

    assert "denies it" in with_client(marked, act, form=Form()).text
    ended(marked, "withdrawn", shown)


@pytest.mark.parametrize(("said", "runs"), [(NO, 0), (YES, 1), (AWAY, 1)])
def test_what_was_allowed_while_the_form_was_open_can_still_be_declined(
    marked: Product, shown: Screen, said: ElicitResult, runs: int
) -> None:
    async def act(client: Client) -> Answer:
        state = await first(client)
        marked.desktop.write_config(f'ask = true\n{MARKED}allow_groups = ["install"]')
        await asyncio.to_thread(marked.control.call, "Reload")
        await asyncio.to_thread(wait_until, lambda: consent.rule(marked) == "refuse", "the rule is in force")
        return await again(client, state, said)

    assert with_client(marked, act, form=Form()).failed is not bool(runs)
    ended(marked, "withdrawn" if runs else "declined", shown, runs=runs)


def test_what_the_desk_granted_for_longer_can_still_be_declined_once(marked: Product, shown: Screen) -> None:
    async def act(client: Client) -> tuple[Answer, Answer, Answer]:
        state = await first(client)
        row = await asyncio.to_thread(question, marked)
        assert await asyncio.to_thread(approve_always, row) == ""
        no = await again(client, state, NO)
        assert not marked.desktop.runs()
        return no, await again(client, state, YES), read(await client.session.call_tool("omarchy_run", RUN))

    def approve_always(row: dict[str, Any]) -> str:
        return consent.approve(marked, row, scope="args", life="always")

    no, stale, granted = with_client(marked, act, form=Form())
    assert "refused this call" in no.text
    assert "it was used before" in stale.text
    assert granted.outcome == "ok"
    ended(marked, "accepted", shown, runs=1)


def test_a_command_that_changed_while_the_form_was_open_does_not_run(marked: Product, shown: Screen) -> None:
    script = marked.desktop.path / "bin" / "omarchy-install-asked"
    before = script.read_bytes()

    async def act(client: Client) -> Answer:
        state = await first(client)
        script.write_bytes(before + b"# changed\n")
        return await again(client, state, YES)

    try:
        assert "no longer the one that was shown" in with_client(marked, act, form=Form()).text
        ended(marked, "withdrawn", shown)
    finally:
        script.write_bytes(before)


@pytest.mark.parametrize("mode", ERAS)
def test_no_form_is_shown_for_what_no_answer_could_allow(product: Product, pool: ThreadPoolExecutor, mode: str) -> None:
    form = Form(YES)
    with asking(product, more=f'{MARKED}deny = ["{desktop.ASKED}", "omarchy theme set"]'), screen(product) as shown:
        for route, args in (
            (desktop.ROOT, []),
            (desktop.ASKED, ["x"]),
            ("omarchy theme set", []),
            ("omarchy plugin remove", ["bruce-forte.mcp-server"]),
        ):
            assert call(product, pool, mode, form, route=route, args=args).result().failed
        assert not [entry for entry in shown.listed()["log"] if entry[0] == "Notify"]
    assert not form.asked
    assert not product.desktop.runs()


def test_only_the_server_brings_answers_of_clients(marked: Product, shown: Screen, pool: ThreadPoolExecutor) -> None:
    form = Form()
    answer = call(marked, pool, "legacy", form)
    form.shown()
    told = {"action": text("accept"), "declared": text(TESTER), "digest": text(question(marked)["digest"])}
    assert marked.control.raw("Redeem", "sa{sv}", ("x", told))[0] == "org.freedesktop.DBus.Error.AccessDenied"
    done = marked.rpc().do(desktop.CALL_BUS, "Redeem", "sa{sv}", "x", "0")
    assert "AccessDenied" in done.text or "Access denied" in done.text, done
    assert not marked.desktop.runs()
    form.answer(NO)
    assert answer.result().failed


def test_who_may_answer_is_told_in_the_status(marked: Product) -> None:
    assert marked.control.status()["may_answer"] == [TESTER]


@pytest.mark.parametrize("mode", ERAS)
def test_a_theme_that_was_not_named_is_chosen_from_those_there_are(
    product: Product, pool: ThreadPoolExecutor, mode: str
) -> None:
    form = Form()
    answer = call(product, pool, mode, form, route="omarchy theme set", args=[])
    choice = form.shown().requested_schema["properties"]["choice"]
    assert "Tokyo Night" in choice["enum"]
    form.answer(ElicitResult(action="accept", content={"choice": "Tokyo Night"}))
    assert answer.result().outcome == "ok", answer.result()
    assert answer.result().data["target"] == "Tokyo Night"


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("said", "why"),
    [
        (NO, "do not fit"),
        (AWAY, "do not fit"),
        (YES, "do not fit"),
        (ElicitResult(action="accept", content={"choice": "../../etc"}), "argument"),
        (ElicitResult(action="accept", content={"choice": "No Such Theme"}), "there is no theme"),
    ],
    ids=["no", "away", "nothing", "hostile", "unknown"],
)
def test_what_is_chosen_is_an_argument_like_any_other(
    product: Product, pool: ThreadPoolExecutor, mode: str, said: ElicitResult, why: str
) -> None:
    refused = call(product, pool, mode, Form(said), route="omarchy theme set", args=[]).result()
    assert refused.outcome == "refused"
    assert why in refused.text


@pytest.mark.parametrize("mode", ERAS)
def test_what_is_chosen_is_asked_about_like_any_other_call(
    marked: Product, shown: Screen, pool: ThreadPoolExecutor, mode: str
) -> None:
    form = Form(ElicitResult(action="accept", content={"choice": "odd+name"}))
    ran = call(marked, pool, mode, form, route="omarchy theme set", args=[]).result()
    assert ran.outcome != "refused", ran
    picker, approval = form.asked
    assert picker.requested_schema["required"] == ["choice"]
    assert 'with "odd+name"' in approval.message
    ended(marked, "accepted", shown)


def test_a_client_without_forms_hears_what_is_lacking(product: Product, pool: ThreadPoolExecutor) -> None:
    refused = call(product, pool, "auto", None, route="omarchy theme set", args=[]).result()
    assert "its arguments are: <theme-name>" in refused.text
