"""Reading of scenario files: TOML, dotted paths, and error messages."""
