"""Files: written whole or not at all, and the formats of recorded links."""
