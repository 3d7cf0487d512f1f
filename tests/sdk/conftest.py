"""One desk tool for all tests, and the parameter `provider`: every provider that is switched on."""

import os

import pytest

import expected
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
    # Tests of a mechanism say so by a mark; while it is off they are not collected.
    marks = [mark.args[0] for mark in metafunc.definition.iter_markers("mechanism")]
    on = [] if set(marks) - set(expected.mechanisms()) else expected.providers()
    chosen = [models.PROVIDERS[name] for name in on]
    for mark in metafunc.definition.iter_markers("only"):
        chosen = [provider for provider in chosen if mark.args[0](provider)]
    metafunc.parametrize("provider", chosen, ids=[provider.name for provider in chosen])


def pytest_configure(config):
    config.addinivalue_line("markers", "mechanism(name): needs this of the desk tool; see expected.py")
    config.addinivalue_line("markers", "only(predicate): for the providers of which it is true")
    config.option.strict_markers = True


def pytest_collection_modifyitems(config, items):
    # A test without any parameter that is switched on is no skipped test.
    items[:] = [item for item in items if "NOTSET" not in item.name]


def pytest_terminal_summary(terminalreporter):
    desk = Desk(os.environ["TOOLCORE_INSPECT"])
    there = desk.ask("version")["features"]
    desk.close()
    on = expected.providers()
    off = [
        name for name, provider in models.PROVIDERS.items() if name not in on and provider.dialect in there
    ]
    terminalreporter.write_line(
        f"on: {' '.join(on + expected.mechanisms())}; there, but off: {' '.join(off)}"
    )
