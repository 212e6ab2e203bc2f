"""Reading YAML files with errors that name the line, and without silent losses."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import yaml

from stressbed.config.words import KEY, OTHER_BASE, Place, Spelled
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


def read_mapping(path: str | Path, what: str = "config file") -> Spelled:
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
        content, spelling = _loaded(text)
    except _DuplicateKeyError as e:
        raise ConfigError(str(e), where=str(path), do="keep one of them") from e
    except _OtherBaseError as e:
        raise ConfigError(
            str(e),
            where=str(path),
            do="write it in quotes if it is a word, or as an ordinary number",
        ) from e
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
    return Spelled(content, spelling)


class _OtherBaseError(yaml.YAMLError):
    pass


def _loaded(text: str) -> tuple[Any, dict[Place, str]]:
    """Return a document, and how its scalars were written that are no text.

    Raises:
        YAMLError: It is no YAML, has a key twice, or a number to the base 8 or 60.
    """
    loader = _UniqueKeyLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, {}
        spelling = dict(_spelled(node, (), loader, frozenset()))
        return loader.construct_document(node), spelling
    finally:
        loader.dispose()


def _spelled(
    node: yaml.Node, place: Place, loader: _UniqueKeyLoader, above: frozenset[int]
) -> Iterator[tuple[Place, str]]:
    """Yield place and spelling of each number, date, true, false and null, keys included."""
    if id(node) in above:  # an anchor inside itself
        return
    inside = above | {id(node)}
    if isinstance(node, yaml.ScalarNode):
        kind = node.tag.rsplit(":", 1)[-1]
        if kind in {"int", "float"} and OTHER_BASE.fullmatch(node.value):
            raise _OtherBaseError(
                f"line {node.start_mark.line + 1}: YAML reads {node.value} as the number "
                f"{loader.construct_object(node)}"
            )
        if kind not in {"str", "merge"} and not node.style:
            yield place, node.value
    elif isinstance(node, yaml.SequenceNode):
        for i, item in enumerate(node.value):
            yield from _spelled(item, (*place, i), loader, inside)
    elif isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag.endswith(":merge"):
                continue
            key = loader.construct_object(key_node)
            for _, raw in _spelled(key_node, (), loader, inside):
                yield (*place, key, KEY), raw
            yield from _spelled(value_node, (*place, key), loader, inside)


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
