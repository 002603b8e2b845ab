"""Messages of weighted grammars and of parsing with them (941 to 950)."""


class GrammarErrors:
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
