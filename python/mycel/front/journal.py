"""What the branches and loop bodies of compiled code change: every assignment that interpreted code
makes goes through a place, and the journal of the innermost region keeps what stood there
before, so that both branches of an `if` start from the same state."""


class Journal:
    """The changes of one region, with what stood there before."""

    def __init__(self, outer, serial):
        self.outer, self.serial = outer, serial
        self.entries = {}  # key -> (place, old value)
        self.born = {}  # id -> object made inside: changes of these are nobody's business

    def note(self, place):
        """Remembers a place before it is changed."""
        if place.born_in(self):
            return
        key = place.key()
        if key not in self.entries:
            self.entries[key] = (place, place.get())

    def finals(self):
        """key -> (place, value now)."""
        return {key: (place, place.get()) for key, (place, _) in self.entries.items()}

    def roll_back(self):
        """Puts everything back as it was."""
        for place, old in reversed(list(self.entries.values())):
            place.set(old)
