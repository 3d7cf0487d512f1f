"""One desk tool for all tests, and the parameter `provider`: every provider."""

import os

import pytest

import models
from desk import Desk


@pytest.fixture(scope="session")
def desk():
    desk = Desk(os.environ["TOOLCORE_INSPECT"])
    yield desk
    desk.close()


def pytest_generate_tests(metafunc):
    if "provider" not in metafunc.fixturenames:
        return
    chosen = list(models.PROVIDERS.values())
    for mark in metafunc.definition.iter_markers("only"):
        chosen = [provider for provider in chosen if mark.args[0](provider)]
    assert chosen, f"{metafunc.definition.name} is for no provider"
    metafunc.parametrize("provider", chosen, ids=[provider.name for provider in chosen])


def pytest_configure(config):
    config.addinivalue_line("markers", "only(predicate): for the providers of which it is true")
    config.option.strict_markers = True
