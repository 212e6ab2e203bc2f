"""What a hub can answer instead of data, in words that a user can act on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stressbed.errors import DataError

UNREACHABLE = "the hub could not be reached, or the download broke off"
OFFLINE = "run `prefetch` on a machine with a network, or unset HF_HUB_OFFLINE"


def _remedy(error: BaseException) -> tuple[str, str] | None:
    """Return (what, do) for an error of the hub's client, or None if it is something else."""
    import httpx
    from datasets.exceptions import DatasetNotFoundError
    from huggingface_hub import errors as hub

    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in chain:
        chain.append(link)
        link = link.__cause__ or link.__context__
    for kind, what, do in (
        (hub.GatedRepoError, "the hub asks for an agreement first (gated)",
         "accept the terms on the repository's page and log in (`hf auth login`, or set HF_TOKEN)"),
        (hub.RevisionNotFoundError, "the hub has no such revision",
         "correct `revision` in the catalogue entry"),
        (hub.RepositoryNotFoundError, "the hub has no such repository, or it is private",
         "check the name; log in if it is private (`hf auth login`, or set HF_TOKEN)"),
        (hub.OfflineModeIsEnabled, "the hub is switched off and the data are not on this machine", OFFLINE),
        (hub.EntryNotFoundError, "the repository lacks a file that is needed",
         "check the pinned `revision`; the repository may have changed"),
        (DatasetNotFoundError, "the hub has no such dataset, or no such revision, or it is gated",
         "check name and `revision`; log in if it is gated"),
        (hub.HfHubHTTPError, "the hub answered with an error", "try again later"),
        (httpx.TransportError, UNREACHABLE, "run again: what is complete is kept"),
        (ConnectionError, UNREACHABLE, "run again: what is complete is kept"),
    ):  # fmt: skip
        for cause in chain:
            if isinstance(cause, kind):
                return what, do
    return None


@contextmanager
def hub_errors(where: str) -> Iterator[None]:
    """Turn errors of the hub's client into `DataError`s that say what to do.

    Raises:
        DataError: The data could not be had.
    """
    import httpx
    from datasets.exceptions import DatasetGenerationError, DatasetsError
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    try:
        yield
    except (
        HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled, DatasetsError, DatasetGenerationError,
        httpx.HTTPError, OSError, ValueError,
    ) as e:  # fmt: skip
        known = _remedy(e)
        if known is None:
            raise
        what, do = known
        raise DataError(
            what, where=f"{where} ({type(e).__name__}: {str(e).splitlines()[0]:.200})", do=do
        ) from e
