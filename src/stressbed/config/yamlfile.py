"""Reading YAML files with errors that name the line, and without silent losses."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from stressbed.errors import ConfigError

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # libyaml is optional
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]


class _DuplicateKeyError(yaml.YAMLError):
    def __init__(self, key: object, first: int, second: int) -> None:
        super().__init__(f"the key {key!r} stands on line {first} and again on line {second}")


class _UniqueKeyLoader(_Loader):
    """A safe loader that refuses a key that stands twice: plain YAML keeps the last one silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Return a mapping; a key that stands twice in it is an error that names both lines."""
        lines: dict[Hashable, int] = {}
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if isinstance(key, Hashable):
                if key in lines:
                    raise _DuplicateKeyError(key, lines[key], line)
                lines[key] = line
        return super().construct_mapping(node, deep)


def read_mapping(path: str | Path, what: str = "config file") -> dict[str, Any]:
    """Return the mapping that a YAML file holds.

    Args:
        path: The file.
        what: What the file is, for the message.

    Raises:
        ConfigError: The file is missing, empty, not UTF-8, not YAML, has a key twice, or is no mapping.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as e:
        raise ConfigError(f"no such {what}", where=str(path), do="check the path") from e
    except UnicodeDecodeError as e:
        raise ConfigError(
            f"the {what} is not UTF-8: byte {e.start} cannot be read",
            where=str(path),
            do="save the file as UTF-8",
        ) from e
    except OSError as e:
        raise ConfigError(f"the {what} cannot be read: {e.strerror}", where=str(path)) from e
    try:
        content = yaml.load(text, Loader=_UniqueKeyLoader)  # noqa: S506  # a subclass of the safe loader
    except _DuplicateKeyError as e:
        raise ConfigError(str(e), where=str(path), do="keep one of them") from e
    except yaml.YAMLError as e:
        raise _not_yaml(e, text, path, what) from e
    if content is None:
        raise ConfigError(f"the {what} is empty", where=str(path))
    if not isinstance(content, dict):
        raise ConfigError(
            f"the {what} holds a {type(content).__name__}",
            where=str(path),
            allowed="a mapping: lines of `key: value`",
        )
    return content


def _not_yaml(error: yaml.YAMLError, text: str, path: Path, what: str) -> ConfigError:
    mark = getattr(error, "problem_mark", None)
    where = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path)
    problem = getattr(error, "problem", None) or str(error)
    lines = text.splitlines()
    tab = mark is not None and mark.line < len(lines) and "\t" in lines[mark.line][: mark.column + 1]
    return ConfigError(
        f"the {what} is not valid YAML: {problem}",
        where=where,
        do="indent with spaces, not with tabs" if tab else "check indentation, colons and quotes there",
    )
