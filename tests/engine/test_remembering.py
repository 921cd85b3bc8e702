"""Summaries that were just taken are not taken again."""

from plausible.engine import remembering


def test_points_of_the_last_two_passes_are_remembered():
    passes = []

    def summarize(points):
        passes.append(len(points))
        return [point[0] ** 2 for point in points]

    squares = remembering(summarize)
    one, two, three = [1.0], [2.0], [3.0]
    assert squares([one, two]) == [1.0, 4.0]
    assert squares([three]) == [9.0]
    assert squares([two]) == [4.0]
    assert squares([three, one]) == [9.0, 1.0]
    assert passes == [2, 1]
    assert squares([[2.0]]) == [4.0]  # equal, but another
    assert squares([one, three]) == [1.0, 9.0]  # one was forgotten
    assert passes == [2, 1, 1, 2]
