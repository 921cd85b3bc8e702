"""The command ``plausible``: from files of answers to decisions and a report.

Messages go to standard error, results to standard output. Exit codes: 0 done, 1 bad data or files
(what and where), 2 wrong usage, 130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
"""

from plausible.cli import signals

if signals.is_command():
    signals.listen()  # also while everything else is imported

from plausible.cli.main import main

__all__ = ["main"]
