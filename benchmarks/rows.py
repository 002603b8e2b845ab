"""The rows of the table: which number is shown where, under which label, and in which form."""

from typing import NamedTuple

TITLES = {
    "chunking": "CoNLL-2000 chunking: 19 templates, c2 = 1.0, trained to convergence",
    "xpos": "UD English EWT, XPOS: the peer with c2 = 0.5 and 100 iterations, ours with configs/crf_tagger.cfg",
    "upos": "UD English EWT, UPOS: the same, ours with `target = pos`",
    "historical": "Middle Low German (ReN), 71 tags: 17 templates, c2 = 1.0, 120 iterations",
}


class Row(NamedTuple):
    """One line of the table.

    task (str): task of the number.
    work (str): kind of work of the number.
    key (str): name of the number in the job's result.
    label (str): what the reader sees.
    form (str): a format for the number.
    scale (float): factor before formatting.
    percent (bool): compare by difference in points, not by ratio.
    """

    task: str
    work: str
    key: str
    label: str
    form: str = "{:,.0f}"
    scale: float = 1.0
    percent: bool = False


def _seconds(task: str, work: str, key: str, label: str) -> Row:
    return Row(task, work, key, label, "{:,.1f} s")


def _percent(task: str, work: str, key: str, label: str) -> Row:
    return Row(task, work, key, label, "{:.2f} %", percent=True)


def _speed(task: str, work: str, label: str, key: str = "tokens_per_second") -> Row:
    return Row(task, work, key, label, "{:,.0f} tokens/s")


def _mebibytes(task: str, work: str, key: str, label: str) -> Row:
    return Row(task, work, key, label, "{:,.0f} MiB")


def _tagging(task: str) -> tuple[Row, ...]:
    return (
        _percent(task, "train", "test_accuracy", "accuracy, test"),
        _percent(task, "train", "dev_accuracy", "accuracy, dev"),
        Row(task, "train", "iterations", "L-BFGS iterations"),
        _seconds(task, "train", "features_wall", "feature extraction"),
        _seconds(task, "train", "append_wall", "handing the features over"),
        _seconds(task, "train", "train_wall", "training alone"),
        _seconds(task, "train", "total_wall", "features and training (ours: all of `spacy train`)"),
        _mebibytes(task, "train", "peak_mebibytes", "peak memory of the command"),
        Row(task, "train", "model_bytes", "model size", "{:.1f} MiB", scale=2**-20),
        _speed(task, "end_to_end", "words to labels"),
        _speed(task, "end_to_end", "words to labels, first Docs after loading", "cold_tokens_per_second"),
    )


ROWS: tuple[Row, ...] = (
    Row("chunking", "train", "objective", "objective at the end", "{:,.1f}"),
    Row("chunking", "train", "iterations", "L-BFGS iterations"),
    Row("chunking", "train", "features", "features (weights)"),
    _percent("chunking", "train", "test_accuracy", "accuracy, test"),
    _percent("chunking", "train", "test_f1", "chunk F1, test"),
    _seconds("chunking", "train", "features_wall", "feature extraction"),
    _seconds("chunking", "train", "append_wall", "handing the features over"),
    _seconds("chunking", "train", "train_wall", "training alone, wall"),
    _seconds("chunking", "train", "train_cpu", "training alone, CPU"),
    _seconds("chunking", "fit", "fit_wall", "`estimator.CRF.fit`, encoding included; `Trainer.train`"),
    Row("chunking", "fit", "objective", "its objective", "{:,.2f}"),
    Row("chunking", "train", "model_bytes", "model size", "{:.1f} MiB", scale=2**-20),
    Row("chunking", "train", "load_wall", "load time", "{:.1f} ms", scale=1000.0),
    _mebibytes("chunking", "memory", "peak_mebibytes", "peak memory of learning"),
    _speed("chunking", "decode", "decoding, prepared features"),
    _speed("chunking", "decode", "decoding, lists of strings", "from_lists_tokens_per_second"),
    _speed("chunking", "marginals", "all-label marginals, prepared features"),
    _speed("chunking", "marginals", "all-label marginals, from Docs", "from_docs_tokens_per_second"),
    _speed("chunking", "end_to_end", "words to labels"),
    _speed("chunking", "end_to_end", "words to labels, first Docs after loading", "cold_tokens_per_second"),
    *_tagging("xpos"),
    *_tagging("upos"),
)
