"""Fixtures of every test that runs the whole product; each such folder's conftest.py takes them from here."""

from collections.abc import Iterator

import pytest

from system import journal, product
from system.client import Era, Rpc
from system.product import Product

BEGUN = pytest.StashKey[float]()


@pytest.fixture(scope="session", name="installed")
def installed_fixture() -> Iterator[Product]:
    """The product, installed once a run."""
    yield product.shared()
    product.close_shared()


@pytest.fixture(name="product")
def product_fixture(installed: Product, request: pytest.FixtureRequest) -> Product:
    """The product with a listening socket and nothing left of the test before."""
    request.node.stash[BEGUN] = journal.moment()
    installed.ready()
    return installed


@pytest.fixture(name="rpc")
def rpc_fixture(product: Product) -> Rpc:
    """A client of the modern era."""
    return product.rpc(Era.MODERN)


@pytest.fixture(name="audit")
def audit_fixture(product: Product) -> Product:
    """The product, where this user may read its journal."""
    product.wake()
    if not journal.readable(product.world):
        pytest.skip("this user may not read the journal his services write (volatile storage)")
    return product


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Put the product's own words beside a failure."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]  # pluggy's wrappers are typed as plain iterators
    begun = item.stash.get(BEGUN, None)
    if report.when != "teardown" and report.failed and begun is not None and product.shared.cache_info().currsize:
        report.sections.append(("the product's journal", product.shared().words(begun - 1)))
