"""A real browser: where it is, and what shows that a page breaks its own policy."""

import os
import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The first has no windows: it opens a page in a quarter of the time of the others."""
PATH = os.environ.get("FULLPIPE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"]
"""No graphics card is imitated, which takes a tenth of the time of a page: it is drawn without one."""
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""
"""Before a page: `window.violations` has every breach of its content security policy."""
