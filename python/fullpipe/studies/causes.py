"""Causes of differences from printed numbers: a closed list, with one term per cause.

A transcription names a cause only after an experiment that changed nothing else; otherwise it is unknown.
"""

from enum import StrEnum


class Cause(StrEnum):
    """Explanation of a difference."""

    SOCKET_BUFFER = "socket buffer"
    SEGMENT_SIZE = "segment size"
    DEVICE_QUEUE = "device queue"
    TOKEN_BUCKET = "token bucket"
    QUEUE_SIZE = "queue size"
    QUEUE_DISCIPLINE = "queue discipline"
    LOSS_DETECTION = "loss detection"
    RATE_SAMPLES = "rate samples"
    POLICER_RULE = "policer rule"
    WIFI_ACCESS = "Wi-Fi access"
    OTHER_SIMULATOR = "needs that simulator"
    OTHER_IMPLEMENTATION = "another implementation"
    OTHER_MEASURE = "another measure"
    AMBIGUOUS_TEXT = "ambiguous text"
    ENDED_CONNECTION = "connection ended on the way"
    UNPRINTED_PARAMETER = "unprinted parameter"
    OWN_ERROR = "paper's own error"
    UNKNOWN = "unknown"
