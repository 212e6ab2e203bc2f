"""Where files come from: folders, and files inside installed packages."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from stressbed.errors import ConfigError

PACKAGE = "package:"


def resolve(name: str, folder: Path) -> Path:
    """Return the path of a file or folder.

    Args:
        name: A path relative to `folder`, an absolute path, one from `~` on, or `package:NAME/PATH` for a
            file inside an installed package (which is found, not imported).
        folder: Folder that relative paths start from.

    Raises:
        ConfigError: The package is not installed.
    """
    if not name.startswith(PACKAGE):
        return folder / Path(name).expanduser()
    package, _, rest = name.removeprefix(PACKAGE).partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            f"the package {package!r} is not installed",
            where=name,
            do="`make setup` installs the packages that bring models and data",
        )
    return Path(spec.submodule_search_locations[0]) / rest


def gguf_parts(gguf: Path) -> list[Path]:
    """Return the files that make up a GGUF file: itself, its parts in order, or nothing.

    Package registries limit the size of a package, so large weights come in several: beside the
    package NAME there are NAME_part1, NAME_part2, ..., with `data/FILE.part00` and so on.
    """
    if gguf.is_file():
        return [gguf]
    package = gguf.parent
    found = package.parent.glob(f"{package.name}_part*/data/{gguf.name}.part*")
    return sorted(found, key=lambda p: p.name)
