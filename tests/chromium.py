"""A real browser: where it is, and what shows that a page breaks its own policy."""

import os
import shutil

PATH = os.environ.get("FULLPIPE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""
"""Before a page: `window.violations` has every breach of its content security policy."""
