"""A look at the config files before Snakemake opens them, whose own words for a bad one are a traceback.

`profiles/default/profile.yaml` calls this: the profile is the first file of a workflow that Snakemake reads.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from stressbed.config.yamlfile import read_mapping
from stressbed.errors import ConfigError

OPTIONS = ("--configfile", "--configfiles")


def config_files(argv: Sequence[str]) -> list[str]:
    """Return the config files that are named on a Snakemake command line, without the program's name."""
    found: list[str] = []
    reading = False
    for word in argv:
        option, equals, value = word.partition("=")
        if word.startswith("-"):
            reading = option in OPTIONS
            found += [value] if reading and equals else []
        elif reading:
            found.append(word)
    return found


def look_at_config_files() -> None:
    """End the process with a message if a config file on the command line cannot be read.

    Raises:
        SystemExit: A file is missing, no file, not UTF-8 or not YAML.
    """
    try:
        for name in config_files(sys.argv[1:]):
            read_mapping(name, "run config")
    except ConfigError as error:
        sys.exit(f"\n{error}\n")
