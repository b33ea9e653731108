"""Boots the guest and ends it, and says how much memory it needs."""
