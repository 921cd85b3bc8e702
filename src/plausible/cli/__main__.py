"""``python -m plausible.cli`` is the command ``plausible``."""

from plausible.cli.main import main

raise SystemExit(main())
