"""Options and fixtures for all tests."""

import pytest
from helpers.fixtures import clue, nlp, vocab, write
from helpers.tag_counts import make_tagged, plain_grams, stored
from helpers.tagged import extension
from hypothesis import HealthCheck, settings

__all__ = ["clue", "extension", "make_tagged", "nlp", "plain_grams", "stored", "vocab", "write"]

settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
# for what the library promises: python -m pytest -m promise --hypothesis-profile=slow, or tests/promises.py
settings.register_profile(
    "slow", deadline=None, max_examples=100_000, suppress_health_check=list(HealthCheck), print_blob=True
)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", default=False, help="also run the slow tests")
    parser.addoption("--rewrite-snapshots", action="store_true", default=False, help="rewrite those of tests/contract")
    parser.addoption("--examples", type=int, help="examples of each property, other ones each time")


@pytest.hookimpl(trylast=True)  # after the profile that hypothesis itself is asked for
def pytest_configure(config: pytest.Config) -> None:
    if (examples := config.getoption("--examples")) is not None:
        settings.register_profile("examples", settings.get_profile("slow"), max_examples=examples)
        settings.load_profile("examples")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    skip = pytest.mark.skip(reason="slow: runs with --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)
