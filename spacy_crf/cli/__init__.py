"""`python -m spacy crf ...`: importing this module adds the commands to spaCy's own command line."""

from spacy.cli._util import app as spacy_app

from . import annotate as annotate
from . import calibrate as calibrate
from . import cite as cite
from . import constraints as constraints
from . import convert as convert
from . import dictionary as dictionary
from . import experiment as experiment
from . import explain as explain
from . import guarantee as guarantee
from . import inspect as inspect
from . import pool as pool
from . import punctuate as punctuate
from . import review as review
from . import score as score
from . import search as search
from . import sections as sections
from . import sets as sets
from . import spelling as spelling
from . import tag as tag
from . import tune as tune
from .app import app as app

spacy_app.add_typer(app, name="crf")
