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
    CRFW701 = (
        "Training with algorithm={algorithm!r} had not converged when it reached max_iterations = {iterations}. "
        "Give more, or a greater delta, or take the weights as they are."
    )
    CRFW801 = (
        "Too few calibration tokens for level {level}, which needs {least}: strata {listing} {fate}. Give more "
        "calibration data for them, or a greater level."
    )
