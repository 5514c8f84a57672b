"""The jobs whose numbers agents were told, so that they can ask about them and stop them.

A job is shown only to the client whose call began it; what the server runs for itself is never among them.
"""

from omarchy_mcp.session.jobs import Job

MOST_OVER = 16
"""Jobs that are over and still asked about: each keeps its output in memory."""


class Told:
    """Jobs by their numbers, those that are over too, until newer ones take their place."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def add(self, job: Job) -> None:
        """Keep a job; of those that are over the oldest are let go."""
        self._jobs[job.id] = job
        over = [each.id for each in self._jobs.values() if each.exited.is_set()]
        for each in over[:-MOST_OVER]:
            del self._jobs[each]

    def find(self, number: str, client: str) -> Job | None:
        """A job of this client, None when there is none of that number any more."""
        job = self._jobs.get(number)
        return job if job is not None and job.origin.client == client else None
