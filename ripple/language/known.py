"""The names that a namespace uses, for the rules that writing and recall share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ripple.language.names import KnownNames
from ripple.types import UnitDraft

__all__ = ["NamesInUse"]


@dataclass(slots=True)
class NamesInUse:
    """Participants, locations and speakers of one namespace, and when its newest memory was said (UTC).

    Written by the namespace's writer; a reader beside it sees a name early or late, never half.
    """

    participants: KnownNames = field(default_factory=KnownNames)
    locations: KnownNames = field(default_factory=KnownNames)
    speakers: KnownNames = field(default_factory=KnownNames)
    newest: datetime | None = None

    def learn(self, drafts: Iterable[UnitDraft]) -> None:
        """Enter the names and times of units."""
        for draft in drafts:
            for name in draft.participants:
                self.participants.add(name)
            for name in draft.locations:
                self.locations.add(name)
            if draft.speaker is not None:
                self.speakers.add(draft.speaker)
            if draft.said_at is not None and (self.newest is None or draft.said_at > self.newest):
                self.newest = _in_utc(draft.said_at)

    def keep(
        self,
        find_participant: Callable[[str], str | None],
        find_location: Callable[[str], str | None],
    ) -> None:
        """Forget the names that no unit has any more."""
        for names, find in (
            (self.participants, find_participant),
            (self.speakers, find_participant),
            (self.locations, find_location),
        ):
            for name in [name for name in names if find(name) is None]:
                names.discard(name)


def _in_utc(moment: datetime) -> datetime:
    """Return the moment in UTC, as a store gives it that is opened again; at the ends of the calendar as it is."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment
