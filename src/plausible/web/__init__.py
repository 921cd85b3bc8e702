"""The annotation page: items are asked, people may doubt, and their answers become beliefs.

`plausible annotate` starts it; these functions do the same from Python. What is imported here needs
the extra ``web``.
"""

from plausible.web.app import make_app
from plausible.web.room import Room, Settings
from plausible.web.server import open_study, serve
from plausible.web.store import Store

# isort: split
# For the rooms above; not part of the public interface.
from plausible.web.exchange import write_out as write_out
from plausible.web.intake import take_in as take_in
from plausible.web.people import find_or_add as find_or_add
from plausible.web.people import invite as invite
from plausible.web.server import Stop as Stop
from plausible.web.server import database_of as database_of
from plausible.web.store import end_all as end_all
from plausible.web.store import is_database as is_database
from plausible.web.suggest import digest_of as digest_of
from plausible.web.suggest import save_suggestions as save_suggestions

__all__ = ["Room", "Settings", "Store", "make_app", "open_study", "serve"]
