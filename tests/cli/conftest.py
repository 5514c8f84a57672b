from system.fixtures import audit_fixture, installed_fixture, product_fixture, pytest_runtest_makereport

__all__ = ["audit_fixture", "installed_fixture", "product_fixture", "pytest_runtest_makereport"]
