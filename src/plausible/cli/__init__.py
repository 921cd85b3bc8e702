"""The command ``plausible``: from files of answers to decisions and a report.

Messages go to standard error, results to standard output. Exit codes: 0 done, 1 bad data or files
(what and where), 2 wrong usage, 130 interrupted by Ctrl-C.
"""

from plausible.cli.main import main

__all__ = ["main"]
