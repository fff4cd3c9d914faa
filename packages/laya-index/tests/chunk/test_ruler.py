from hypothesis import given
from hypothesis import strategies as st
from laya_index.chunk.ruler import CharacterRuler, TableRuler

TEXT = "x" * 12


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 14))
def test_characters_are_measured_like_a_table_of_their_places(one: int, two: int, n: int) -> None:
    plain, table = CharacterRuler(TEXT), TableRuler(range(13))
    start, end = sorted((one, two))
    assert plain.size(start, end) == table.size(start, end) == end - start
    assert plain.reach(start, n) == table.reach(start, n)
    assert plain.first_within(end, n) == table.first_within(end, n)
    assert max(plain.last_showing(end, n), -1) == table.last_showing(end, n)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.data())
def test_a_table_answers_by_its_sizes(steps: list[int], data: st.DataObject) -> None:
    sizes = [sum(steps[:i]) for i in range(len(steps) + 1)]
    ruler, places = TableRuler(sizes), range(len(sizes))
    place, n = data.draw(st.sampled_from(places)), data.draw(st.integers(0, 9))
    assert ruler.reach(place, n) == max(i for i in places if sizes[i] - sizes[place] <= n)
    assert ruler.first_within(place, n) == min(i for i in places if sizes[place] - sizes[i] <= n)
    showing = [i for i in places if sizes[place] - sizes[i] >= n]
    assert ruler.last_showing(place, n) == max(showing, default=-1)
