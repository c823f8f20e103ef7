"""What all judges over an endpoint can be told, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, get_type_hints

from assay.errors import InputError


class EndpointOptions(TypedDict, total=False):
    """Options of `OpenAIJudge`, `DecisionsJudge` and `SystemOneJudge`.

    timeout             seconds of one attempt at most; once it is known what the endpoint usually takes, a multiple of
                        that (60)
    deadline            seconds of all attempts at one request, without waiting for turns (120)
    max_attempts        attempts, of which refusals for rate (429) do not count, up to 20 of them (5)
    retry_base          seconds before the second attempt, doubled each time (0.5)
    max_concurrency     requests in flight at most, embeddings included, adapted below that; shared by all judges on the
                        same endpoint and key (32)
    requests_per_minute, tokens_per_minute      limits to keep within; None for none
    window_tokens       what the model reads and writes together; longer material is asked about in parts (32,000)
    extra_body          sent along with every request that is judged
    headers             sent along with every request; to this endpoint and nowhere else
    identity            stands for the address in what judgements are kept under: the same model elsewhere, or on
    another
                        port, is then the same judge
    """

    timeout: float
    deadline: float
    max_attempts: int
    retry_base: float
    max_concurrency: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    window_tokens: int
    extra_body: Mapping[str, Any] | None
    headers: Mapping[str, str] | None
    identity: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`EndpointOptions` with their defaults, checked. Raises InputError for what cannot work."""

    timeout: float = 60.0
    deadline: float = 120.0
    max_attempts: int = 5
    retry_base: float = 0.5
    max_concurrency: int = 32
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    window_tokens: int = 32_000
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    identity: str | None = None

    @classmethod
    def of(cls, options: EndpointOptions) -> Settings:
        """The settings that these options ask for."""
        unknown = sorted(set(options) - set(get_type_hints(EndpointOptions)))
        if unknown:
            raise InputError(
                f"there is no option {unknown[0]!r}; the options are {', '.join(EndpointOptions.__annotations__)}"
            )
        given = {
            name: value for name, value in options.items() if not (value is None and name in ("extra_body", "headers"))
        }
        return cls(**given)  # type: ignore[arg-type]  # checked by name above

    def __post_init__(self) -> None:
        for name in ("max_attempts", "max_concurrency"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, not {getattr(self, name)!r}")
        if self.window_tokens < 1000:
            raise InputError(f"window_tokens must be at least 1000, not {self.window_tokens!r}")
        for name in ("timeout", "deadline"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name}: expected a positive number of seconds, got {getattr(self, name)!r}")

    @property
    def limits(self) -> dict[str, Any]:
        """Those of the throttle."""
        return {
            "maximum": self.max_concurrency,
            "requests_per_minute": self.requests_per_minute,
            "tokens_per_minute": self.tokens_per_minute,
        }
