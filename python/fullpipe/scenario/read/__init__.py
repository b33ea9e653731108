"""Reading scenario files: TOML, paths into it, and lines that say what is wrong."""
