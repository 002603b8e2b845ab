"""Streams in which a document that fails does not take its batch down."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from spacy import util
from spacy.tokens import Doc

from ..core.chain.potentials import NonFiniteError, NoPathError
from ..core.errors import CRFError, excerpt
from .errors import PipeErrors


class IsolatesFailures:
    """Runs `predict` and `set_annotations` over batches; of a batch that fails, each Doc is tried alone."""

    name: str
    predict: Callable[[Sequence[Doc]], Any]
    set_annotations: Callable[[Sequence[Doc], Any], None]
    get_error_handler: Any  # of spaCy, whose types differ between versions

    def __call__(self, doc: Doc) -> Doc:
        """Process one Doc in place; if it fails, the error handler is told."""
        self._processed([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Process a stream; a Doc that fails goes to the error handler alone, and the rest of its batch goes on."""
        for docs in util.minibatch(stream, size=batch_size):
            yield from self._processed(docs)

    def _processed(self, docs: list[Doc]) -> list[Doc]:
        """The Docs of a batch that did not fail."""
        try:
            self.set_annotations(docs, self.predict(docs))
        except Exception as error:
            if len(docs) > 1:
                return [done for doc in docs for done in self._processed([doc])]
            self.get_error_handler()(self.name, self, docs, self._explained(error, docs[0]))
            return []
        return docs

    def _explained(self, error: Exception, doc: Doc) -> Exception:
        """The error; one of the core with the name of the document, which the core does not know."""
        if isinstance(error, NonFiniteError | NoPathError):
            message = PipeErrors.CRF407.format(name=self.name, document=excerpt(doc.text), error=error)
            return CRFError(message).with_traceback(error.__traceback__)
        return error
