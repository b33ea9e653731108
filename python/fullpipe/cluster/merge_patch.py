"""Differences between two trees of plain data as JSON merge patches (RFC 7396), where null removes a key."""

from typing import Any


def patch(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the patch that turns one tree into another. Lists are replaced as a whole. No value may be None.

    >>> patch({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 5, "c": 2}, "e": [1]})
    {'d': None, 'a': {'b': 5}, 'e': [1]}
    """
    changed: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            inner = patch(old, value)
            if inner:
                changed[key] = inner
        elif key not in before or old != value or type(old) is not type(value):
            changed[key] = value
    return changed


def patched(tree: Any, changed: dict[str, Any]) -> dict[str, Any]:
    """Apply a patch to a tree (RFC 7396, section 2).

    >>> patched({"a": {"b": 1, "c": 2}, "d": 3}, {"d": None, "a": {"b": 5}, "e": [1]})
    {'a': {'b': 5, 'c': 2}, 'e': [1]}
    """
    result = dict(tree) if isinstance(tree, dict) else {}
    for key, value in changed.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value) if isinstance(value, dict) else value
    return result
