"""Messages of prediction sets, their calibration, and comparison taggers (8xx)."""


class SetErrors:
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
    CRF807 = "An exact search over all sets is for at most {most} labels, got {found}. Leave out improbable labels."
    CRF808 = "Tag tree: no coarse tag is given for {labels}. Put every label under one."
    CRF809 = "Tag tree: {tag!r} is above itself ({path}). Remove one of these links."
    CRF810 = "Tag tree: {child!r} is under both {first!r} and {second!r}. Put it under one of them."
    CRF811 = (
        "The best paths of a sequence must be at least one, with one log probability each, best first; got {paths} "
        "paths and {found} log probabilities, {problem}."
    )
    CRF812 = (
        "Unit {unit} has the gold weights {weights}. Weights must sum to 1 (the gold is one of these tags), or all be "
        "1 (all of these tags are right), or all be 0 (there is no gold)."
    )
    CRF813 = (
        "The gold tags {gold} cannot be read. Weights must sum to 1 (the gold is one of these tags), or all be 1 "
        "(all of these tags are right)."
    )
    CRF814 = "The gold tag {tag!r} is not among the labels. Nearest: {near}. Correct it, or add it to the labels."

    # Calibration
    CRF816 = "The level is {level!r}; give the share that may be missed, more than 0 and less than 1, such as 0.1."
    CRF817 = "There is nothing to calibrate on: no unit has gold. Give calibration data with gold labels."
    CRF818 = (
        "{n} calibration {unit}s are too few for level {level}, which needs {least}: with them, the smallest level "
        "that can be had is {smallest:.4g}. Give more calibration data, or a greater level."
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

    # Comparison taggers
    CRF831 = "There is nothing to learn from: no unit has a gold label. Give sequences with known gold."
    CRF832 = "The sequences have {words} words, but gold has {units} units. Give one label (or -1) for each word."
    CRF833 = "The setting {name} is {value!r}; give a finite number of at least 0."
    CRF834 = "A hidden Markov model of order {order!r} is not known. Give 2 (pairs of labels) or 3 (triples of labels)."
    CRF835 = (
        "The features have {found} columns, but the maximum-entropy Markov model was trained on {expected}. Use the "
        "feature index of its training."
    )
    CRF836 = "Lengths of sequences sum to {lengths}, but there are {rows} rows of {name}. Give one row for each unit."

    # Tag dictionary
    CRF840 = "The setting {name} of the tag dictionary is {value!r}; it must be {expected}."
    CRF841 = (
        "Tag dictionary {path}, line {line}: {text!r} is not 'word<TAB>tag<TAB>count', with a count above 0 or none."
    )
    CRF842 = "The tag dictionary {path} cannot be read: {error}."
    CRF843 = (
        "The word {word!r} of the tag dictionary, or its tag {tag!r}, has a tab or a line break in it, which a table "
        "cannot hold."
    )
