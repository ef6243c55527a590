from __future__ import annotations

from collections.abc import Iterator

import pytest

from models.server import ScriptedServer, chat, running_server


@pytest.fixture(scope="module")
def running() -> Iterator[ScriptedServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def server(running: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """A server without a script of another test, and no settings of the one who runs the tests."""
    for name in ("RIPPLE_MODEL", "RIPPLE_BASE_URL", "RIPPLE_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return running.script(chat())
