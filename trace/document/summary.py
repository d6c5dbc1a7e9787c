"""What lists of documents and messages say of a document."""

from dataclasses import dataclass

from ..events import steps_of
from ..schema import Document, Failure


@dataclass(frozen=True)
class Summary:
    """One document in a few numbers and words."""

    module: str
    title: str
    steps: int
    claims: int
    """`assert` statements that ran."""
    checks: int
    """How often they ran."""
    failed_claims: int
    """`assert` statements that did not hold each time."""
    held: int
    """How often one was not false."""
    failure: str | None
    """Kind of what ended the run early."""
    complaint: str
    """What ended it, in one line, or else the first warning; empty if all is well."""

    @classmethod
    def of(cls, document: Document) -> "Summary":
        """Return the summary of a document."""
        statements, held = document.claims.statement, document.claims.held
        rows = zip(statements, held, strict=True)
        failure = document.failure
        return cls(
            module=document.module,
            title=document.title,
            steps=len(steps_of(document.events)),
            claims=len(set(statements)),
            checks=len(statements),
            failed_claims=len({statement for statement, outcome in rows if not outcome}),
            held=len(held) - held.count(False),
            failure=failure and failure["kind"],
            complaint=_complaint(failure, document.warnings),
        )


def _complaint(failure: Failure | None, warnings: list[str]) -> str:
    if not failure:
        others = f" ({len(warnings) - 1} more in the terminal)" if len(warnings) > 1 else ""
        return f"{warnings[0]}{others}" if warnings else ""
    places = [f"{entry['path']}:{entry['line']}: " for entry in failure["traceback"][-1:]]
    kind = "a claim is false" if failure["kind"] == "claim" else failure["type"]
    message = failure["message"].partition("\n")[0]
    return "".join(places) + ": ".join(filter(None, [kind, message]))
