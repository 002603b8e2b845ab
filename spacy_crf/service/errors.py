"""Messages of the service, and what a request is refused with."""

from ..core.errors import CRFError, Messages


class Refusal(CRFError):
    """A request that is not answered. status (int): of HTTP. retry_after (int): seconds; 0 where it does not help."""

    def __init__(self, message: str, status: int = 422, retry_after: int = 0):
        super().__init__(message)
        self.status, self.retry_after = status, retry_after


class ServiceErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF580 = (
        "{name!r} cannot explain its labels: {why}. Ask a crf_tagger, set_valued_tagger or constrained_ner with "
        "weights of its own."
    )
    CRF581 = "No token, word or line begins at character {start}. Send the place of one, as it is answered."
    CRF582 = (
        "{name!r} does not know the tag {tag!r}, or no tag at all was sent. Send some of its labels; see GET /models."
    )
    CRF583 = (
        "Tables are written of the targets tag and pos, and not of {target!r}. Ask for the layout spacy, which readers "
        "of this library take."
    )
    CRF595 = "A check mark cannot be written: {problem}. Send the places and tags of cells, as the page does."
    CRF584 = (
        "{path}, line {line}, is no step of a training. Give the file that spacy.ConsoleLogger.v3 has written to its "
        "output_file."
    )
    CRFW584 = (
        "{path}, the log that the config names, is of another training: none of its steps has the loss of this "
        "pipeline. Its learning curve is left out. spaCy writes no log where a file is already: name another one, or "
        "give the right one with --log."
    )
    CRF585 = "There is no style {style!r}. Give one of: {known}."
    CRF586 = (
        "The document {document!r} cannot be shown in the style {style!r}: it has nothing in doc._.{name}. Run a "
        "component that writes it, or give the name that its config has."
    )
    CRF472 = (
        "Corrections of {kind} are not learned from in {name!r}: they are about {component!r}, and what learns is "
        "{learning!r}. Serve a pipeline without it."
    )
    CRF483 = (
        "There are too many punctuation marks or symbols in a row: {most} at most, as it takes long to tokenize them. "
        "Put white space between them, or take them out."
    )
    CRF720 = "The request is larger than {most} MB. Send less at a time, or start the service with a larger --max-mb."
    CRF726 = "There are {found} texts in the request, and {most} at most. Send several requests, or set --max-texts."
    CRF727 = (
        "The texts of the request have {found} characters together, and {most} at most. Send several requests, or set "
        "--max-chars."
    )
    CRF728 = "The work was not done within {seconds:g} seconds. Send less at a time, or set --timeout."
    CRF729 = "Too many requests are waiting for {name!r}. Try again in a moment."
    CRF730 = "There is no model {name!r}. There are: {known}."
    CRF732 = "{name} cannot answer /{kind}: {why}. GET /models tells what each model answers."
    CRF733 = (
        "The host {host!r} is none of this service: {known}. Open it by one of these, or start it with --name and the "
        "name that you use."
    )
    CRF734 = "The request is not as it should be: {problem}. /openapi.json describes it."
    CRF735 = "{what} cannot be read: {problem}"
    CRF736 = "Two models would have the name {name!r}. Give them as NAME=MODEL."
    CRF737 = "None of our components is in {model}: its components are {names}. Serve a pipeline that has one."
    CRF738 = "The service needs {package}, which is not installed. Install it: pip install 'spacy_crf[serve]'."
    CRF588 = "Nothing can listen to {host}, port {port}: {reason}. Choose another --port or --host."
    CRF253 = "The service cannot write its files ({reason}). See that there is room, and that --data can be written to."
    CRF739 = "The pipeline could not process the text ({error}). Send another one, or report it with this message."
    CRF740 = "The layer {layer!r} with the feature {feature!r} cannot be filled: {problem}."
    CRF743 = "No control of the labelling interface fits {name!r}: {problem}."
    CRF744 = "{name!r} is learning from corrections already. Try again when GET /models says that it has ended."
    CRF745 = "Nothing can be learned: start the service with --data FOLDER, where corrections and new models are kept."
    CRF746 = "There are {found} checked documents or sentences for {name!r}, and at least {least} are needed to learn."
    CRF747 = "{name!r} cannot learn from corrections: it has no component that labels tokens with weights of its own."
    CRF748 = "Training ended without a model ({error})."
    CRF749 = "The new model scores {new:.4f} on checked text that was held out, and the old one {old:.4f}: it stays."
