"""Language tags against the script that the texts are written in: the texts decide."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stressbed import scripts
from stressbed.dataset import rowlanguages
from stressbed.dataset.layout import PARALLEL, Slot, language_of
from stressbed.dataset.rowlanguages import Spoken
from stressbed.languages import canonical, is_known, script_of

log = logging.getLogger("stressbed")

LOOKED_AT = 2000
"""So many texts of a column say which script it is in."""


def correct_scripts(
    manifest: dict[str, Any], slots: Sequence[Slot], spoken: Mapping[tuple[str, str], Spoken]
) -> dict[tuple[str, str], Spoken]:
    """Put the texts' script into the tags of a manifest that name another one, with a note for each.

    A tag without a script stands for the usual one of its language. Tags of several languages or of none
    are left alone, and so are texts that no one script has most of.

    Args:
        manifest: Of a dataset; `languages`, `field_languages` and `notes` are changed in place.
        slots: Its columns of texts.
        spoken: Languages that rows name, by subset and split.

    Returns:
        `spoken` with the right tags.
    """
    by_tag: dict[tuple[str, str], list[str]] = {}
    corrected = dict(spoken)
    for slot in slots:
        of_slot = None if rowlanguages.covers(slot, spoken) else language_of(manifest, slot)
        found: dict[str, list[str]] = {}
        for row, _, text in slot.texts():
            tag = rowlanguages.spoken_in(slot, row, spoken) or str(of_slot)
            if len(texts := found.setdefault(tag, [])) < LOOKED_AT:
                texts.append(text)
        for tag, texts in found.items():
            by_tag.setdefault((slot.subset, tag), []).extend(texts)
    for (subset, tag), texts in by_tag.items():
        right = right_tag(tag, texts)
        if right == tag:
            continue
        _replace(manifest, manifest["languages"] if subset == PARALLEL else [subset], tag, right)
        for place in spoken:
            if place[0] == subset:
                corrected[place] = {
                    where: right if language == tag else language
                    for where, language in corrected[place].items()
                }
        note = f"language of {subset}: {right}, since its texts are not written as {tag} says"
        manifest.setdefault("notes", {})[note] = len(texts)
        log.warning("%s: %s", manifest["dataset"], note)
    return corrected


def right_tag(tag: str, texts: Sequence[str]) -> str:
    """Return a tag with the script that most texts have, where it names or implies another one."""
    if not is_known(tag):
        return tag
    said = script_of(tag) or canonical(tag).maximize().script or ""
    found = scripts.main_script(texts)
    if found in {scripts.UNKNOWN, said}:
        return tag
    chinese = {said, found} == {"Hans", "Hant"}
    if scripts.parts(said) & scripts.parts(found) and not chinese:
        return tag
    return f"{tag.replace('_', '-').split('-')[0]}-{found}"


def differing(ours: Mapping[str, Sequence[str]], theirs: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a note for each subset whose tags in the catalogue are not those of mteb."""
    for subset, tags in ours.items():
        if subset in theirs and list(theirs[subset]) != list(tags):
            yield f"language of {subset}: {', '.join(tags)}, where mteb says {', '.join(theirs[subset])}"


def _replace(manifest: dict[str, Any], subsets: Any, tag: str, right: str) -> None:
    for subset in list(subsets):
        tags = manifest["languages"][subset]
        manifest["languages"][subset] = [right if t == tag else t for t in tags]
        fields = manifest["field_languages"].get(subset)
        if fields:
            manifest["field_languages"][subset] = {f: right if t == tag else t for f, t in fields.items()}
