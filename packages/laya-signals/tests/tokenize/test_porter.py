"""Porter's stemmer, in its author's own version.

Expected stems were taken from NLTK's `PorterStemmer(mode="MARTIN_EXTENSIONS")`, which agrees with
ours on every word of the retrieval corpora that it was tried on (96,047).
"""

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st
from laya_signals.tokenize.porter import porter_stem

STEMS = """
caresses caress  ponies poni  ties ti  caress caress  cats cat  feed feed  agreed agre
plastered plaster  bled bled  motoring motor  sing sing  conflated conflat  troubled troubl
sized size  hopping hop  tanned tan  falling fall  hissing hiss  fizzed fizz  failing fail
filing file  happy happi  sky sky  relational relat  conditional condit  rational ration
valenci valenc  digitizer digit  conformably conform  radically radic  differently differ
vilely vile  analogously analog  vietnamization vietnam  predication predic  operator oper
feudalism feudal  decisiveness decis  hopefulness hope  callousness callous  formality formal
sensitivity sensit  sensibility sensibl  triplicate triplic  formative form  formalize formal
electricity electr  electrical electr  hopeful hope  goodness good  revival reviv
allowance allow  inference infer  airliner airlin  gyroscopic gyroscop  adjustable adjust
defensible defens  irritant irrit  replacement replac  adjustment adjust  dependent depend
adoption adopt  homologous homolog  communism commun  activate activ  angularity angular
effective effect  bowdlerize bowdler  probate probat  rate rate  cease ceas  controlling control
rolling roll  ecology ecolog  analogies analog  ecological ecolog  biology biologi  possibly possibl
assembly assembl  bubbliness bubbli  ugliness ugli  trekked trek  ecced ec  dying dy
is is  as as  a a  by by  yes ye  say sai  enjoyed enjoi  opinion opinion  champion champion
""".split()


@pytest.mark.parametrize(("word", "stem"), list(zip(STEMS[::2], STEMS[1::2], strict=True)))
def test_a_word_has_its_published_stem(word, stem):
    assert porter_stem(word) == stem


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=12))
def test_a_stem_is_never_longer_than_its_word_by_more_than_an_e(word):
    stem = porter_stem(word)
    assert len(stem) <= len(word)
    assert bool(stem) == bool(word)


@given(
    st.text("abcdeimnorstuy", min_size=3, max_size=6),
    st.sampled_from(["", "s", "ed", "ing", "ational", "ness", "ful", "ement", "ability", "ly"]),
)
def test_it_is_snowball_s_but_for_the_departures(start, ending):
    word, snowball = start + ending, Stemmer.Stemmer("porter").stemWord
    if not {"bl", "log"} & {part for part in ("bl", "log") if part in word}:
        assert porter_stem(word) == snowball(word)
