"""What a set of labels is worth: u(y, S) = g(|S|) where the true label y is in S, and nothing where it is not.

The form is eq. 2.3 of Heid, *Set-Valued Prediction for Part-of-Speech Tagging*, after Mortier et al. (*Efficient
set-valued prediction in multi-class classification*, 2021), who show how the measures of the field become a g.
Optimal sets (`predict.py`) need of a g only that it is not negative: it may rise, fall, or be a table.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..arrays import Doubles
from ..errors import CoreErrors, CRFError

Discount = Callable[[Doubles, int], Doubles]


@dataclass(frozen=True)
class Utility:
    """A g with a name.

    discount ((sizes, n_labels) -> Doubles): g of some sizes, given as floats, where there are n_labels labels.
    """

    name: str
    discount: Discount

    def values(self, n_labels: int) -> Doubles:
        """g of all sizes, in float64: float32 has ties where a g is flat.

        n_labels (int): L.
        RETURNS ((L,)): g(1) to g(L).
        RAISES (ValueError): for values that are negative or not finite, and for a table of another length.
        """
        if n_labels < 1:
            raise CRFError(CoreErrors.CRF108.format(name="n_labels", least=1, value=n_labels))
        found = np.asarray(self.discount(np.arange(1.0, n_labels + 1), n_labels), dtype=np.float64)
        check_values(found, n_labels, self.name)
        return found


def check_values(g: Doubles, n_labels: int, name: str = "g") -> None:
    """Raise a coded error unless a g has one value for each size, all finite and not negative.

    g ((L,)): g(1) to g(L). n_labels (int): L. name (str): for the message.
    """
    if g.shape != (n_labels,):
        raise CRFError(CoreErrors.CRF803.format(name=name, found=g.size, expected=n_labels))
    wrong = ~(np.isfinite(g) & (g >= 0))
    if wrong.any():
        size = int(np.argmax(wrong))
        raise CRFError(CoreErrors.CRF804.format(name=name, value=g[size], size=size + 1))


def make_utility(name: str, alpha: float = 1.0, beta: float = 1.0) -> Utility:
    """One of the utilities of the literature. All have g(1) = 1; L is the number of labels.

    g           1 - alpha ((s - 1) / (L - 1))^beta, Heid eq. 2.4. alpha is what the full set loses, beta bends the
                curve: small sets lose little for beta > 1, much for beta < 1. The text excludes its own default
                alpha = 1, which is allowed here.
    precision   1/s: one label of the set is taken by chance.
    recall      1: only a miss costs anything.
    f           (1 + beta^2) / (s + beta^2): F-beta of the set, where one label is true.
    u65, u80    1.6/s - 0.6/s^2 and 2.2/s - 1.2/s^2 (Zaffalon, Corani and Mauá 2012): a right set of two is worth .65
                and .80, where chance is worth .5.
    reject      1 for one label, 1 - alpha for all labels, 0 between: Chow's (1970) reject option, with alpha as the
                cost of rejection. It pays only for alpha < 1 - 1/L.

    name (str): as above.
    alpha (float): in (0, 1]; read by g and reject. beta (float): positive; read by g and f.
    RETURNS (Utility): of this name.
    RAISES (ValueError): for an unknown name, or a setting out of its range, whether read or not.
    """
    if not 0 < alpha <= 1:
        raise CRFError(CoreErrors.CRF802.format(setting="alpha", name=name, value=alpha, expected="in (0, 1]"))
    if not 0 < beta < np.inf:
        raise CRFError(CoreErrors.CRF802.format(setting="beta", name=name, value=beta, expected="positive and finite"))
    discounts: dict[str, Discount] = {
        "g": partial(_power, alpha, beta),
        "precision": partial(_discounted_accuracy, 0.0),
        "recall": _recall,
        "f": partial(_f_beta, beta),
        "u65": partial(_discounted_accuracy, 0.6),
        "u80": partial(_discounted_accuracy, 1.2),
        "reject": partial(_reject, alpha),
    }
    if name not in discounts:
        raise CRFError(CoreErrors.CRF801.format(name=name, known=", ".join(discounts)))
    return Utility(name, discounts[name])


def table_utility(values: Sequence[float] | Doubles | Callable[[int], float], name: str = "table") -> Utility:
    """A utility of one's own; g(1) may be anything.

    values (sequence or callable): g(1) to g(L), or a function of the size. name (str): for messages.
    RETURNS (Utility): its values are checked when they are asked for, as only then L is known.
    """
    if callable(values):
        return Utility(name, partial(_called, values))
    return Utility(name, partial(_listed, tuple(map(float, values))))


def _power(alpha: float, beta: float, sizes: Doubles, n_labels: int) -> Doubles:
    return 1 - alpha * ((sizes - 1) / max(1, n_labels - 1)) ** beta


def _discounted_accuracy(aversion: float, sizes: Doubles, n_labels: int) -> Doubles:
    """1/s, and something more for not having to guess; written so that rounding leaves g(1) = 1."""
    return 1 / sizes + aversion * (sizes - 1) / sizes**2


def _recall(sizes: Doubles, n_labels: int) -> Doubles:
    return np.ones_like(sizes)


def _f_beta(beta: float, sizes: Doubles, n_labels: int) -> Doubles:
    return (1 + beta**2) / (sizes + beta**2)


def _reject(alpha: float, sizes: Doubles, n_labels: int) -> Doubles:
    return np.where(sizes == 1, 1.0, np.where(sizes == n_labels, 1 - alpha, 0.0))


def _called(value: Callable[[int], float], sizes: Doubles, n_labels: int) -> Doubles:
    return np.array([value(int(size)) for size in sizes], dtype=np.float64)


def _listed(table: tuple[float, ...], sizes: Doubles, n_labels: int) -> Doubles:
    return np.array(table, dtype=np.float64)
