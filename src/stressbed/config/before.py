"""A look at the command line and the config files before Snakemake reads them: its own words are tracebacks.

`profiles/default/profile.yaml` calls this: the profile is the first file of a workflow that Snakemake reads.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from stressbed.config.values import given_path
from stressbed.config.yamlfile import read_mapping
from stressbed.errors import ConfigError

CONFIG_FILES = ("--configfile", "--configfiles")
SETTINGS = ("--config", "-C")
FOLDERS = ("--directory", "-d")

KEY = re.compile(r"[a-zA-Z_][\w-]*\w")
"""Keys that Snakemake takes on the command line."""

NESTED = re.compile(r"(?P<key>[a-zA-Z_]\w*)[:.](?P<inner>[a-zA-Z_][\w.:]*)=(?P<value>.*)", re.DOTALL)
"""How other programs name a key inside another one."""


def words_of(argv: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the words that follow some options on a command line, without the program's name."""
    found: list[str] = []
    reading = False
    for word in argv:
        option, equals, value = word.partition("=")
        if word.startswith("-"):
            reading = option in options
            found += [value] if reading and equals else []
        elif reading:
            found.append(word)
    return found


def config_files(argv: Sequence[str]) -> list[str]:
    """Return the config files that are named on a Snakemake command line, without the program's name."""
    return words_of(argv, CONFIG_FILES)


def wrong_settings(argv: Sequence[str]) -> Iterator[ConfigError]:
    """Yield what Snakemake would not read of `--config`, with how it is written."""
    for word in words_of(argv, SETTINGS):
        key, equals, _ = word.partition("=")
        if nested := NESTED.fullmatch(word):
            inner = re.split("[:.]", nested["inner"])
            value = nested["value"]
            for name in reversed(inner):
                value = f"{{{name}: {value}}}"
            do = f"write '{nested['key']}={value}'"
        elif not equals:
            do = f"write '{key}=VALUE'; targets stand before `--config`, lists in one word: 'seeds=[1, 2]'"
        elif not KEY.fullmatch(key):
            do = "write KEY=VALUE with a key of the run config"
        else:
            continue
        yield ConfigError(
            f"{word!r} cannot be read", where="command line, --config", allowed="KEY=VALUE", do=do
        )


def look_at_config_files() -> None:
    """End the process with a message if the command line or a config file on it cannot be read.

    Raises:
        SystemExit: A setting is no KEY=VALUE, a folder would be called `~`, Snakemake's cache cannot be
            written, or a file is missing, no file, not UTF-8 or not YAML.
    """
    argv = sys.argv[1:]
    try:
        for problem in wrong_settings(argv):
            raise problem
        _writable_cache()
        for option, names in (("--directory", words_of(argv, FOLDERS)), ("--configfile", config_files(argv))):
            for name in names:
                _as_written(name, option)
        for name in config_files(argv):
            read_mapping(name, "run config")
    except ConfigError as error:
        sys.exit(f"\n{error}\n")


def _writable_cache() -> None:
    """Refuse a home folder in which Snakemake cannot make its cache: it would end with a traceback."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "snakemake"
    there = next(p for p in (folder, *folder.absolute().parents) if p.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise ConfigError(
            f"Snakemake cannot keep its cache: {there} cannot be written",
            where=str(folder),
            do="export XDG_CACHE_HOME=... with a folder that can be written",
        )


def _as_written(name: str, option: str) -> None:
    """Refuse a path with a `~` or a variable, which the shell has not seen: Snakemake takes it as it is."""
    if name.startswith("/"):
        return
    try:
        path = given_path(name)
    except ValueError as e:
        raise ConfigError(f"{e}: {name!r}", where=f"command line, {option}") from e
    if name.startswith("~"):
        raise ConfigError(
            f"the shell has left {name!r} as it is, and Snakemake does not know `~`",
            where=f"command line, {option}",
            do=f"write {str(path)!r}, or `{option} {name}` without `=` and quotation marks",
        )
