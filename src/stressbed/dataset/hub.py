"""What a hub can answer instead of data, in words that a user can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stressbed.errors import DataError

LOG_IN = "log in (`hf auth login`, or set HF_TOKEN)"
RULES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("GatedRepoError",), "the hub asks for an agreement first (gated)",
     f"accept the terms on the repository's page and {LOG_IN}"),
    (("RevisionNotFoundError",), "the hub has no such revision",
     "correct `revision` in the catalogue entry"),
    (("OfflineModeIsEnabled",), "the hub is switched off and the data are not on this machine",
     "run `prefetch` on a machine with a network, or unset HF_HUB_OFFLINE"),
    (("RepositoryNotFoundError", "DatasetNotFoundError"), "the hub has no such repository, or it is private",
     f"check the name; if it is private, {LOG_IN}"),
    (("TransportError", "ConnectionError"), "the hub could not be reached, or the download broke off",
     "run again: what is complete is kept"),
    (("EntryNotFoundError",), "the repository lacks a file that is needed",
     "check the pinned `revision`"),
    (("HfHubHTTPError",), "the hub answered with an error", "try again later"),
)  # fmt: skip
"""Class names of an error (or its bases, or its causes) -> what happened, what to do; the first that fits."""


def _names(error: BaseException) -> set[str]:
    """Return the class names of an error, its bases and its causes.

    `datasets` passes some of the hub client's errors on as text only; those words count as names.
    """
    names: set[str] = set()
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        names |= {kind.__name__ for kind in type(link).__mro__}
        link = link.__cause__ or link.__context__
    for words, name in (("is a gated dataset", "GatedRepoError"), ("OfflineMode", "OfflineModeIsEnabled")):
        if any(words in str(e) for e in chain):
            names.add(name)
    return names


@contextmanager
def hub_errors(where: str) -> Iterator[None]:
    """Turn errors of the hub's client into `DataError`s that say what to do.

    Raises:
        DataError: The data could not be had.
    """
    from datasets.exceptions import DatasetGenerationError, DatasetsError
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    # The client's HTTP library differs between its versions; its errors share this base.
    http_error: type[BaseException] = next(
        kind for kind in HfHubHTTPError.__mro__ if kind.__name__ == "HTTPError"
    )
    try:
        yield
    except (
        http_error, LocalEntryNotFoundError, OfflineModeIsEnabled, DatasetsError, DatasetGenerationError,
        OSError, ValueError,
    ) as e:  # fmt: skip
        names = _names(e)
        for kinds, what, do in RULES:
            if names & set(kinds):
                said = f"{type(e).__name__}: {(str(e).splitlines() or [''])[0]:.200}"
                raise DataError(what, where=f"{where} ({said})", do=do) from e
        raise
