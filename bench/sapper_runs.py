"""Runs of the built sapper, and tables of what they said: for the scripts beside it."""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build/release")
VERDICTS = ["agree", "policy", "undetermined", "mismatch", "rejected", "crash", "timeout"]


def sapper(*arguments):
    """What it printed; ends the script where it could not do its work."""
    done = subprocess.run([os.path.join(BUILD, "sapper"), *arguments], text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"sapper {' '.join(arguments[:3])} ended with {done.returncode}")
    return done.stdout


def row(cells):
    """A row of a Markdown table."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
