from system.consent import asked_fixture, begun_fixture, pool_fixture, shown_fixture
from system.fixtures import (
    audit_fixture,
    installed_fixture,
    product_fixture,
    pytest_runtest_makereport,
    rpc_fixture,
)

__all__ = [
    "asked_fixture",
    "audit_fixture",
    "begun_fixture",
    "installed_fixture",
    "pool_fixture",
    "product_fixture",
    "pytest_runtest_makereport",
    "rpc_fixture",
    "shown_fixture",
]
