"""Coded errors and warnings, and the messages of the core."""

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, get_args

LONGEST = 4000  # characters of a message, whatever it quotes


class CRFError(ValueError):
    """An error of this library: its message begins with a code in brackets.

    code (str): such as "CRF101"; "" for a message without one.

    >>> import spacy
    >>> from spacy_crf import CRFError
    >>> nlp = spacy.blank("en")
    >>> tagger = nlp.add_pipe("crf_tagger")
    >>> try:
    ...     tagger.cfg["temperature"] = -1.0
    ... except CRFError as error:
    ...     print(error.code)
    CRF408
    """

    def __init__(self, message: str):
        super().__init__(message if len(message) <= LONGEST else f"{message[: LONGEST // 2]} [..] {message[-500:]}")

    @property
    def code(self) -> str:
        found = re.match(r"\[(CRFW?\d+)\]", str(self))
        return found[1] if found else ""


class CRFWarning(UserWarning):
    """A warning of this library: its message begins with a code in brackets.

    >>> import warnings
    >>> from spacy_crf import CRFWarning
    >>> warnings.simplefilter("error", CRFWarning)  # what is doubtful stops a script
    """


class Messages(type):
    """Prefixes every message of a class with its code."""

    def __getattribute__(cls, name: str) -> str:
        value: str = type.__getattribute__(cls, name)
        return value if name.startswith("_") else f"[{name}] {value}"


@contextmanager
def required(message: str, kind: type[Exception] = CRFError) -> Iterator[None]:
    """Raise an error where a package that is imported is not installed. message (str), kind (type): of the error."""
    try:
        yield
    except ImportError as error:
        raise kind(message) from error


def excerpt(text: str) -> str:
    """Return the beginning of a text, by which messages name a document."""
    line = text.replace("\n", " ")
    return line if len(line) <= 40 else f"{line[:37]}..."


class CoreErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF101 = "Expected {name} of shape {expected}, got {actual}."
    CRF102 = (
        "The {name} hold NaN or +inf. Look for feature values that are not finite numbers, or for weights "
        "of a training run that diverged."
    )
    CRF103 = (
        "No label sequence is allowed for sequence(s) {sequences}: the transition mask, the forbidden pairs "
        "or the given labels exclude every path."
    )
    CRF104 = "Gold weights must be finite and not negative."
    CRF105 = "Unit {unit} has a row of gold weights without a positive one: no label would be right."
    CRF106 = "Spans need a labelling scheme: set `scheme` to 'BIO' or 'BILUO'."
    CRF107 = "Unit {unit} has the gold label {label}. Give an index from 0 to {last}, or -1 if it is unknown."
    CRF108 = "{name} must be a whole number of at least {least}, got {value!r}."
    CRF109 = (
        "The given labels are impossible for sequence(s) {sequences}: with them, the transition mask or the forbidden "
        "pairs exclude every path. Correct them, or give fewer."
    )
    CRF110 = "The temperature must be a positive number, got {value!r}."
    CRF111 = "There is nothing to fit a temperature to: no unit has a gold label."
    CRF120 = "The least probability of a candidate label must be at least 0 and below 1, got {value!r}."
    CRF162 = (
        "There is no way to tell {what} under constraints. Ask the chain alone: set probabilities = 'chain', or take "
        "the constraints away."
    )
    CRF201 = (
        "Training diverged in iteration {iteration}: the objective is {value}. Look for feature values that are "
        "very large or not finite, or give a larger c2."
    )
    CRF204 = "The training setting {name} is {value}; it must be {expected}."
    CRF436 = (
        "Component {name!r}: {what} is not available for models of order 2. Leave it out, or set order = 1 in the "
        "model block and train again."
    )
    CRF522 = (
        "The custom token attribute '{name}' is already in use and computes its value, so a column cannot "
        "be written to it. Choose another name behind 'ext:'."
    )
    CRF449 = (
        "Document {document!r}: the gold tags of {token!r}, token._.{name}, are {weights}. Give a dict from tags to "
        "finite weights of at least 0, one of them above 0."
    )
    CRF528 = (
        "Document {document!r}: `_.{name}` does not know {what}, which changed behind the component that wrote it "
        "(merge_entities, retokenize and the like). Read it before, let the component run behind what changes tokens, "
        "or ask tokens that stayed as they were."
    )
    CRF532 = "There are {found} sets of gold tags for {expected} tokens. Give one for each token, empty for no gold."
    CRF556 = (
        "`{owner}._.{name}` shows what a component has said, and cannot be assigned. Assign what the Doc holds, such "
        "as a list of all tokens (`doc._.tag_set`) or a tree (`doc._.section_tree_json`), or an attribute of your own."
    )
    CRF549 = "The setting {name} is {value!r}; it must be {expected}."
    CRF801 = "There is no utility {name!r}. Use one of: {known}; or `table_utility` for your own."
    CRF802 = "The setting {setting} of the utility {name!r} is {value!r}; it must be {expected}."
    CRF803 = (
        "The utility {name!r} has {found} values, but sets may have up to {expected} members. Give all from g(1) to "
        "g({expected})."
    )
    CRF804 = (
        "The utility {name!r} is {value} for sets of {size}. Utilities must be finite and not negative: a set that is "
        "worth less than nothing would be better the less probable it is."
    )
    CRF805 = (
        "Unit {unit} has {name} that are no distribution: least {least}, sum {total}. Give probabilities that sum "
        "to 1, such as node marginals or a softmax."
    )
    CRF806 = "The level is {value!r}; it must be {expected}."
    CRF808 = "Tag tree: no coarse tag is given for {labels}. Put every label under one."
    CRF809 = "Tag tree: {tag!r} is above itself ({path}). Remove one of these links."
    CRF810 = "Tag tree: {child!r} is under both {first!r} and {second!r}. Put it under one of them."
    CRF811 = (
        "The best paths of a sequence must be at least one, with one probability each, best first; got {paths} "
        "paths and {found} probabilities, {problem}."
    )
    CRF812 = (
        "{unit} has the gold weights {weights}. Weights must sum to 1 (the gold is one of these tags), or all be "
        "1 (all of these tags are right), or all be 0 (there is no gold)."
    )
    CRF816 = "The level is {level!r}; give the share that may be missed, more than 0 and less than 1, such as 0.1."
    CRF817 = (
        "There is nothing to calibrate on: no unit has gold, or, where each label has a promise, none has gold that "
        "the model knows. Give calibration data with gold labels of the model."
    )
    CRF818 = (
        "{n} calibration {unit}s are too few for level {level}, which needs {least}: with them, the smallest level "
        "that can be had is {smallest:.4g}. Give more calibration data, a greater level, or a smaller unit."
    )
    CRF819 = "The setting {name} of prediction sets is {value!r}; it must be {expected}."
    CRF820 = (
        "The score {kind!r} {needs} random numbers here. Set its option randomised, and give `uniforms`, one number "
        "for each unit, both or neither."
    )
    CRF821 = (
        "Condition {condition!r} {needs} groups. Give `groups`, a number for each unit, for condition 'group' only."
    )
    CRF822 = "Random numbers for prediction sets must lie in [0, 1]. Draw them from the uniform distribution."
    CRF823 = (
        "Unit {unit!r} {needs} numbers of units. Give `units`, the sentence or document of each token, for these two "
        "only."
    )
    CRF829 = "Tag tree: more than {most} coarse tags are above {label!r}. Leave some of them out."
    CRF824 = (
        "No sets keep the level {level}{where}: of {n} calibration {unit}s, {missed:.6g} are lost to gold that the "
        "model cannot give. The smallest level that can be had is {smallest:.4g}. Give a greater level, or train with "
        "such gold."
    )
    CRF901 = (
        "Constraint {text!r} cannot be read: {problem}. Write it as `family(arguments) options`, such as {example}."
    )
    CRF902 = "Constraint {constraint!r} names the label {label!r}, which the model does not have. Nearest: {near}."
    CRF903 = "There is no constraint family {kind!r}. Nearest: {near}."
    CRF904 = "Constraint {constraint!r}: the setting {setting} is {value!r}; it must be {expected}."
    CRF905 = "Constraint {constraint!r} has {problem}. The family {kind!r} is written {usage}."
    CRF906 = (
        "Constraint {constraint!r} asks for the unit predicate {name!r}, which is not given. Given: {known}. Define "
        "it, or correct the name."
    )
    CRF907 = (
        "Constraint {constraint!r} needs {what} of the units, which are not given. Give {what} with the sequences, or "
        "leave the constraint out."
    )
    CRF908 = "The rule {constraint!r} has {found} clauses when multiplied out, more than {most}. Split or shorten it."
    CRF909 = (
        "The hard constraints {listing} contradict each other: no labelling satisfies them all. Soften or drop one."
    )
    CRF910 = "Constraint {text!r} makes no sense: {error}"
    CRF921 = "There is no decoding method {method!r}. Use one of: {known}."
    CRF922 = "The decoding setting {setting} is {value!r}; it must be {expected}."
    CRF923 = (
        "There is no solver for integer programmes: {problem}. Install one with `pip install highspy` (HiGHS) or `pip "
        "install 'pulp[cbc]'` (CBC), or choose another decoder: auto, lagrangian and automaton need none."
    )
    CRF924 = "The solver {name!r} is not available. Available here: {known}. Name one of these, or install it."
    CRF925 = "The solver {name!r} failed: {error}. Try another one, or the decoder auto."
    CRF926 = (
        "A sequence of {units} units with {found} arcs is too long for an integer programme of at most {most}. Use the "
        "decoder auto, lagrangian or automaton, or cut the text into shorter sequences."
    )
    CRF927 = "Facts about units must have one row for each of the {expected} units, but {name} has {actual}."
    CRF931 = "There is nothing to mine constraints from: no sequence has a label. Give labelled sequences."
    CRF932 = "The mining setting {setting} is {value!r}; it must be {expected}."
    CRF940 = (
        "{name} has {units} units, which is too many for a grammar of {rules} rules and {symbols} symbols (also of the "
        "parts of long right sides): it would take hours, or gigabytes. Give shorter documents, or a smaller grammar."
    )
    CRF941 = (
        "Grammar, {where}: {problem}. Write a rule as `Parent -> Child Child [0.5] | Child [0.2]`, or a directive as "
        "`%start Parent`, `%terminals a b` or `%weights plain` (or `log`)."
    )
    CRF942 = (
        "Grammar, {where}: the symbol {symbol!r} is on the left of no rule and is no terminal. Nearest: {near}. "
        "Correct it, or add it to %terminals."
    )
    CRF943 = (
        "Grammar, {where}: the weight of {rule} is {weight!r}; it must be {expected}. Leave out a rule that is never "
        "to be used."
    )
    CRF944 = "Grammar: the start symbol {start!r} is on the left of no rule. Name one that is, in a line `%start NAME`."
    CRF945 = (
        "Grammar, {where}: the symbol {symbol!r} is in no tree of the grammar, as {reason}. Correct its rules, or "
        "leave them out."
    )
    CRF946 = "Grammar, {where}: {rule} {problem}."
    CRF947 = (
        "{name} has no tree under the grammar with the start symbol {start!r}: {reason}. Add rules that allow it, or "
        "treat such documents apart."
    )
    CRF948 = (
        "Unary rules of the grammar lead from {symbols} back to the same symbol with {quantity}: {consequence}. "
        "Lower the weights of these rules, or the scores of their spans."
    )
    CRF949 = "The tree {name} cannot be used with the grammar: {problem}."
    CRF950 = "The parsing setting or input {setting} is {value}; it must be {expected}."
    CRF961 = "The arrays of a document's units differ in length: {sizes}. Give one row for each unit."
    CRF962 = (
        "Label scores have the shape {shape}, which does not hold the labels {roles}. Give one column for each label: "
        "numbering, title, and at least one for text."
    )
    CRF963 = "Unit {unit} has no label with a finite score. Give each unit at least one label that is possible."
    CRF964 = "The gold tree of document {name!r} cannot be made by the parser: {problem}."


class CoreWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW101 = (
        "The best sequences agree with all gold labels of the held-out data, which says nothing about the temperature: "
        "it stays at 1. Take more data, or data that the model was not trained on."
    )
    CRFW529 = (
        "The custom attribute `{owner}._.{name}` was registered before by somebody else, in a way that does not show "
        "what a component says. Leave that registration out, as components make their own, or give another name."
    )
    CRFW801 = (
        "Too few calibration tokens for level {level}, which needs {least}: strata {listing} {fate}. Give more "
        "calibration data for them, or a greater level."
    )
    CRFW901 = (
        "The hard constraints cannot hold together for {name}: relaxed there: {relaxed}. Soften some of them, or give "
        "the more important ones a higher priority."
    )
    CRFW902 = "The labelling of {name} is not certified to be the best under the constraints (gap {gap:.3g}). {advice}."
    CRFW903 = "The solver gave no answer for {name}, so that {instead}: {error}"
    CRFW904 = (
        "No labelling of {name} that satisfies all hard constraints was found: relaxed there: {relaxed}. Raise "
        "max_iterations, max_states or budget, or soften some of them."
    )
    CRFW905 = (
        "No labelling of {name} within tau = {tau:g} of the best score satisfies all hard constraints: relaxed there: "
        "{relaxed}. Lower tau, or soften some of them."
    )
    CRFW961 = (
        "Document {name!r} may be read in very many ways: after the first {most:,} moves of the section parser only "
        "the best {cap} stacks of open sections at each heading were kept. Give `max_states` a number, or split the "
        "document; `exact` says whether its tree is the best all the same."
    )


def require(message: str, name: str, value: object, holds: object, expected: str) -> None:
    """Raise a coded error with a message about a setting and its value, unless what is expected of it holds."""
    if not holds:
        raise CRFError(message.format(name=name, setting=name, value=value, expected=expected))


def require_numbers(settings: Any) -> None:
    """Raise a coded error for the first setting whose number stands in quotes, which spaCy takes for a number, too.

    settings (Any): a dataclass.
    """
    for one in fields(settings):
        value, kinds = getattr(settings, one.name), (one.type, *get_args(one.type))
        if (int in kinds or float in kinds) and re.match(r"\s*[-+]?\.?\d", str(value)):
            require_unquoted(one.name, value)


def require_unquoted(name: str, value: object) -> None:
    """Raise a coded error for a number in quotes."""
    require(CoreErrors.CRF549, name, value, not isinstance(value, str), "a number, without quotes")


def require_blocks(owner: object, blocks: Mapping[str, tuple[type, str]]) -> None:
    """Raise a coded error for the first setting that is neither null nor a block of its kind, such as a table without
    the registered name. owner (object): has the settings. blocks (Mapping): types and registered names by setting."""
    for name, (kind, registered) in blocks.items():
        value = getattr(owner, name)
        is_block = value is None or isinstance(value, kind)
        require(CoreErrors.CRF549, name, value, is_block, f"null, or a block with @misc = {registered!r}")


def require_least(**settings: tuple[float, int]) -> None:
    """Raise a coded error for the first setting that is below the least value beside it, or not finite."""
    for name, (value, least) in settings.items():
        require_unquoted(name, value)
        require(CoreErrors.CRF204, name, value, least <= value < math.inf, f"at least {least}")


def require_count(least: int = 1, /, **counts: int) -> None:
    """Raise a coded error for the first whole number that is too small."""
    for name, value in counts.items():
        if value < least:
            raise CRFError(CoreErrors.CRF108.format(name=name, least=least, value=value))
