"""What is wrong with a config, or with a file that a command reads or writes."""

import re
from difflib import get_close_matches

from thinc.api import ConfigValidationError

from .errors import ReadingErrors

UNEXPECTED = re.compile(r"unexpected argument|(?i:extra (?:fields|inputs) (?:are )?not permitted)")


def told_problem(error: BaseException) -> str:
    """Return the message of an error: of the system, with the file; for settings that a config must not have, with the
    nearest names that there are.

    spaCy's own message shows the whole block. It checks a config before it asks a component, so this is for commands.
    """
    if isinstance(error, OSError) and error.filename:
        return ReadingErrors.CRF498.format(path=error.filename, reason=error.strerror)
    if not isinstance(error, ConfigValidationError):
        return str(error)
    problems = [([str(part) for part in one["loc"]], str(one["msg"])) for one in error.errors or ()]
    wrong = [place[-1] for place, problem in problems if UNEXPECTED.search(problem)]
    known = [name for name in error.config or {} if name not in (*wrong, "nlp", "name") and not name.startswith("@")]
    told = []
    for (*block, name), problem in problems:
        where, near = ".".join(block), ", ".join(get_close_matches(name, known, n=3)) or ", ".join(known)
        message = ReadingErrors.CRF847.format(block=where, name=name, near=near)
        told.append(message if name in wrong and near else f"{where}.{name}: {problem}")
    return " ".join(told) or str(error)
