"""Labels of a component, as spaCy asks for them and as its config keeps them."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab

from ..core.errors import CRFError
from .errors import PipeErrors


class HasLabels:
    """Keeps labels in `cfg`."""

    name: str
    vocab: Vocab
    cfg: Any

    @abstractmethod
    def describe_gold(self) -> str:
        """How messages name the annotation that the component learns from."""
        raise NotImplementedError

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the component."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> list[str]:
        """Labels as `initialize` takes them back."""
        return list(self.cfg["labels"])

    def set_labels(self, labels: Iterable[str]) -> None:
        """Take labels in the order of their first occurrence.

        RAISES (ValueError): where there are none, or one cannot be written.
        """
        distinct = list(dict.fromkeys(labels))
        if not distinct:
            where = {"annotation": self.describe_gold(), "target": self.cfg.get("target")}
            raise CRFError(PipeErrors.CRF402.format(name=self.name, **where))
        for label in distinct:
            self.check_label(label)
            self.vocab.strings.add(label)
        self.cfg["labels"] = distinct

    def check_label(self, label: str) -> None:
        """Raise a coded error for a label that the component could not write."""
        if not isinstance(label, str) or not label:
            raise CRFError(PipeErrors.CRF409.format(name=self.name, label=label))
        if self.cfg.get("target") == "pos" and label not in POS_IDS:
            raise CRFError(PipeErrors.CRF413.format(name=self.name, label=label))

    def references(self, get_examples: Callable[[], Iterable[Example]]) -> Iterator[Doc]:
        """The gold sides of examples, read once.

        RAISES (TypeError): for something else than examples.
        """
        for example in get_examples():
            validate_examples([example], f"{type(self).__name__}.initialize")
            yield example.reference
