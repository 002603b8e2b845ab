"""Tell whether the data of a project are there, and what to do if not; weasel calls it in the folder of the project.

python ../check.py [--var NAME] DATA FILE ...
"""

import argparse
import gzip
import hashlib
from pathlib import Path

from wasabi import msg
from weasel.util import load_project_config

PIECE = 1 << 20  # bytes that are read at a time


def problems(project: Path, data: Path, files: list[str]) -> list[str]:
    """Return what is wrong with the files, a line each.

    project (Path): Its folder. data (Path): Folder of the data, relative to the project's. files (list[str]): Paths
    in it; a file that ends in .gz is compared with the checksum of what it holds.
    """
    assets = {Path(asset["dest"]).name: asset for asset in load_project_config(project).get("assets", [])}
    found = []
    for name in files:
        path, asset = project / data / name, assets.get(Path(name).name.removesuffix(".gz"), {})
        if not path.exists():
            found.append(f"{name} is not in {data}")
        elif "checksum" in asset and _checksum(path) != asset["checksum"]:
            found.append(f"{path} is not the file of this project: its checksum differs")
    return found


def remedy(project: Path, variable: str = "data") -> str:
    """Return what a user can do to have the files. variable (str): Which one of the project names their folder."""
    own = f"projects/{project.resolve().name}"
    named = f"name the folder that has it, as an absolute path: --vars.{variable} DIR"
    if any(command["name"] == "fetch" for command in load_project_config(project)["commands"]):
        return f"Fetch it, python -m weasel run fetch {own}, or {named}"
    return f"{own}/project.yml says where it is from; {named}"


def _checksum(path: Path) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--var", default="data", help="variable of the project that names the folder")
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="+")
    given = parser.parse_args()
    lines = problems(Path.cwd(), given.folder, given.files)
    for line in lines:
        msg.fail(line)
    if lines:
        msg.text(remedy(Path.cwd(), given.var), exits=1)
    msg.good(f"The data are there: {', '.join(given.files)}")
