"""Run the experiments of the papers, or list what they gave.

Example: plausible reproduce come_2008 --quick
"""

import argparse
from typing import Any

from plausible.cli.options import add_seed
from plausible.cli.talk import Talk


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the verb."""
    add_seed(parser)


def run(given: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """To come."""
    raise NotImplementedError
