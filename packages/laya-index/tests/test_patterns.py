import pytest
from laya_index.patterns import checked, lenient_spec, spec_of


def test_patterns_are_those_of_a_gitignore_file() -> None:
    spec = spec_of(["*.md", "!drafts/**", "/top.txt"])
    names = ["a.md", "x/a.md", "drafts/a.md", "top.txt", "x/top.txt"]
    assert [spec.match_file(name) for name in names] == [True, True, False, True, False]


@pytest.mark.parametrize("pattern", ["!", "a\\", "[z-a]"])
def test_what_is_no_pattern_is_named_or_passed_over(pattern: str) -> None:
    with pytest.raises(ValueError, match="is no pattern as in a") as caught:
        spec_of(["*.md", pattern])
    assert repr(pattern) in str(caught.value)
    with pytest.raises(ValueError, match="is no pattern"):
        checked((pattern,))
    assert lenient_spec([pattern, "*.md"]).match_file("a.md")


def test_good_patterns_are_handed_back() -> None:
    assert checked(("*.md", "!x")) == ("*.md", "!x")
