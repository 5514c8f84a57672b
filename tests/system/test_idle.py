"""A server that may leave when nobody needs it: nothing is lost by it, and nobody notices."""

from collections.abc import Iterator

import pytest

from system import desktop
from system.client import Era
from system.product import SERVICE, SOCKET, Product
from system.streams import Held
from system.world import UnmetError, wait_until

IDLE = 1
LEAVES = 10.0
# Long enough to see that something does not happen.
STAYS = 3.0
EXITS = 6


@pytest.fixture(name="leaving")
def leaving_fixture(product: Product) -> Iterator[Product]:
    """The product with an idle exit of a second."""
    product.desktop.write_config(f"[server]\nidle_exit_s = {IDLE}\n")
    product.sleep()
    yield product
    product.desktop.write_config()
    product.sleep()


def left(product: Product) -> bool:
    """Whether the service is on its way out, or gone."""
    return product.show(SERVICE, "ActiveState") != "active"


def test_a_request_at_the_moment_it_leaves_is_answered(leaving: Product) -> None:
    rpc = leaving.rpc()
    for _ in range(EXITS):
        assert rpc.do(desktop.TRUE).outcome == "ok"
        wait_until(lambda: left(leaving), "it leaves", LEAVES)
        assert leaving.show(SOCKET, "ActiveState") == "active"
    assert rpc.do(desktop.TRUE).outcome == "ok"
    assert leaving.show(SERVICE, "Result") == "success"


@pytest.mark.parametrize("era", list(Era))
def test_it_stays_while_a_stream_is_attached(leaving: Product, era: Era) -> None:
    with Held(leaving, era) as stream:
        with pytest.raises(UnmetError):
            wait_until(lambda: left(leaving), "it left", STAYS)
        assert not stream.ends


def test_it_stays_while_a_command_runs(leaving: Product) -> None:
    job = leaving.rpc().do(desktop.SLEEP, "60", "busy", timeout_ms=100).data["job"]
    with pytest.raises(UnmetError):
        wait_until(lambda: left(leaving), "it left", STAYS)
    leaving.world.systemctl("stop", leaving.job_unit(job))
    wait_until(lambda: left(leaving), "it leaves", LEAVES)


def test_a_session_of_the_handshake_era_outlives_a_quiet_moment(leaving: Product) -> None:
    rpc = leaving.rpc(Era.HANDSHAKE)
    with pytest.raises(UnmetError):
        wait_until(lambda: left(leaving), "it left", STAYS)
    assert rpc.ask("tools/list", {})["tools"]


def test_without_the_setting_it_stays(product: Product) -> None:
    product.rpc().do(desktop.TRUE)
    with pytest.raises(UnmetError):
        wait_until(lambda: left(product), "it left", STAYS)
