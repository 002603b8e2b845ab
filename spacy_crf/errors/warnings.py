"""Warnings; the first digit of a code is the layer, as for errors."""


class WarningMessages:
    CRFW101 = (
        "The best sequences agree with all gold labels of the held-out data, which says nothing about the temperature: "
        "it stays at 1. Take more data, or data that the model was not trained on."
    )
    CRFW401 = "Component {name!r}: labels without an example in the training data are never predicted well: {labels}."
    CRFW402 = (
        "Component {name!r}: document {document!r} has gold spans that overlap. A chain holds one span per token, so "
        "their tokens count as unknown. Give the component a group of spans without overlaps."
    )
    CRFW430 = (
        "Component {name!r}: the tag dictionary leaves no sequence of tags for document {document!r}, as the scheme or "
        "`forbidden` rules out what it allows. There, and in others like it, any tag may be given to any word. Add "
        "`rules` to the dictionary, or raise its min_count."
    )
    CRFW440 = (
        "Component {name!r}: document {document!r} has gold spans of one label without a token between them. With "
        "scheme = 'none' they are one span. Take the scheme 'BIO' if they are to be told apart."
    )
    CRFW560 = (
        "{path}, line {line}: the tags of the reference cannot be read: {fault}. It is left out. Correct the line, or "
        "name its fields in the setting 'fields' of the block 'references'."
    )
    CRFW965 = (
        "The tree of document {document!r} is not learned from, as no parse can have it: {problem} Correct its gold "
        "sections: each begins with a number or a title that is labelled so."
    )
    CRFW701 = (
        "Training with algorithm={algorithm!r} had not converged when it reached max_iterations = {iterations}. "
        "Give more, or a greater delta, or take the weights as they are."
    )
    CRFW801 = (
        "Too few calibration tokens for level {level}, which needs {least}: strata {listing} {fate}. Give more "
        "calibration data for them, or a greater level."
    )
    CRFW901 = (
        "The hard constraints cannot hold together for {name}: relaxed there: {relaxed}. Soften some of them, or give "
        "the more important ones a higher priority."
    )
    CRFW902 = (
        "The labelling of {name} is not certified to be the best under the constraints (gap {gap:.3g}). Raise "
        "max_iterations or max_states, or install a solver: `pip install highspy`."
    )
    CRFW972 = (
        "{words} words are few to calibrate the marks of {name!r} by. Below {few} the probabilities may become worse: "
        "compare the errors, and give more text."
    )
    CRFW973 = (
        "No word has a probability under which {marks} would be right {precision:.0%} of the time, so that the "
        "threshold is 1. Lower the precision."
    )
    CRFW974 = (
        "Component {name!r} is trained further, so that its calibration holds no more: it is dropped. Run "
        "`python -m spacy crf calibrate` again."
    )
    CRFW971 = "{path}: left out while reading punctuated text: {dropped}."
    CRFW903 = "The solver gave no answer for {name}, so that other methods were used: {error}"
    CRFW904 = (
        "No labelling of {name} that satisfies all hard constraints was found: relaxed there: {relaxed}. Raise "
        "max_iterations or max_states, or soften some of them."
    )
