"""Saved pipelines behind a real socket."""

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import spacy
from helpers.folders import unpack_model
from spacy.language import Language

Load = Callable[[str], Language]


@pytest.fixture(scope="session")
def load(tmp_path_factory: pytest.TempPathFactory) -> Load:
    """Load one of the saved models."""
    folder = tmp_path_factory.mktemp("models")

    def load_model(name: str) -> Language:
        path = folder / name
        if not path.exists():
            unpack_model(name, path)
        return spacy.load(path)

    return load_model


@pytest.fixture(scope="session")
def models(load: Load) -> Any:
    from helpers.services import Limits, Models, ServedModel

    outline = spacy.blank("en")
    outline.add_pipe("section_parser")
    loaded = {name: load(name) for name in ("tagger", "sets", "references", "punctuation")} | {"outline": outline}
    limits = Limits(megabytes=0.5, texts=5, characters=50_000)
    return Models([ServedModel(name, nlp, limits=limits) for name, nlp in loaded.items()])


@pytest.fixture(scope="session")
def client(models: Any) -> Iterator[Any]:
    from helpers.services import served

    with served(models, models["tagger"].limits) as client:
        yield client


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser without a window."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs the extra browser, and Chromium")
    programme, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if programme is None or driver is None:
        pytest.skip("the page is tried in Chromium, by chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = programme
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()
