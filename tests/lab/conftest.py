"""Fixtures for tests of experiments."""

from pathlib import Path

import pytest
from helpers.experiments import make_config
from thinc.api import Config


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """A config of which four small documents are learned in one step."""
    return make_config(tmp_path_factory.mktemp("experiments"))


@pytest.fixture
def folder(config: Config) -> Path:
    """The folder of its corpora."""
    return Path(config["paths"]["train"]).parent
