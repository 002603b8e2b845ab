"""Put the documents of ReN into one folder for each part, as documents.tsv says.

python split.py DATA OUTPUT
"""

import csv
import shutil
import sys
from pathlib import Path


def split(data: Path, output: Path) -> None:
    """Copy the files of `pos` and `poscase` to OUTPUT/{pos,poscase}/{train,dev,test}."""
    with (data / "documents.tsv").open(encoding="utf8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    for kind in ("pos", "poscase"):
        shutil.rmtree(output / kind, ignore_errors=True)
        for row in rows:
            target = output / kind / row["split"] / f"{row['file']}.tsv"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(data / kind / target.name, target)


if __name__ == "__main__":
    split(Path(sys.argv[1]), Path(sys.argv[2]))
