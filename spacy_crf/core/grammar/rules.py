"""One weighted rule of a context-free grammar."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rule:
    """A rule of a grammar.

    parent (str): its left side. children (tuple of str): its right side, at least one symbol.
    log_weight (float): natural logarithm of its weight; weights above 1 are allowed.
    place (str | None): where it stands, such as `line 3`, for messages.
    """

    parent: str
    children: tuple[str, ...]
    log_weight: float = 0.0
    place: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.parent} -> {' '.join(self.children)}"

    @property
    def where(self) -> str:
        """Where the rule is, for messages."""
        return f"rule {self}" if self.place is None else self.place
