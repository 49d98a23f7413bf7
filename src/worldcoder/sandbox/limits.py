"""What a worker may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What a worker may use of time, memory and words.

    call_seconds: CPU time of one call of a program.
    silence_seconds: wall-clock time without a sign of life.
    request_seconds: wall-clock time of a whole request, unless the request gives its own.
    memory: bytes of address space on top of what the worker has when it starts.
    frame_bytes: one frame from a worker.
    reply_bytes: all frames of one request together.
    cpu_seconds: CPU time of a worker's whole life, the backstop.
    """

    call_seconds: float = 1.0
    silence_seconds: float = 5.0
    request_seconds: float = 600.0
    memory: int = 2 << 30
    frame_bytes: int = 8 << 20
    reply_bytes: int = 256 << 20
    cpu_seconds: int = 3600
