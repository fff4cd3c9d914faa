"""Pairs of a question and a text, labelled by whether the text answers."""

from __future__ import annotations

from laya_eval.study.decisions import pairs

CAP = 1000


def test_squad_s_own_pairs_are_those_of_held_out_articles(study_data):
    found = pairs.squad_own(study_data / "squad2_dev", CAP)
    assert {pair.label.group for pair in found} == {"Ctenophora", "Normans"}
    assert sum(pair.label.answerable for pair in found) == 12
    assert len(found) == 14


def test_the_nearest_paragraph_is_of_the_article_and_lacks_the_answer(study_data):
    found = pairs.squad_near(study_data / "squad2_dev", CAP)
    by_id = {pair.label.id: pair for pair in found}
    assert len(found) == 24
    near = by_id["qNormans-0/near"]
    assert not near.label.answerable
    assert "Normans" in near.evidence
    assert "red" not in near.evidence
    assert near.label.query == by_id["qNormans-0/own"].label.query


def test_medquad_has_another_aspect_and_another_entity(study_data):
    found = pairs.medquad(study_data / "medquad_sample", CAP)
    assert len(found) == 60
    for own, aspect, entity in zip(found[::3], found[1::3], found[2::3], strict=True):
        kind = "symptoms" if "symptoms" in own.label.query else "causes"
        assert own.label.answerable
        assert own.label.group in own.evidence
        assert kind in own.evidence
        assert not aspect.label.answerable
        assert own.label.group in aspect.evidence
        assert kind not in aspect.evidence
        assert not entity.label.answerable
        assert own.label.group not in entity.evidence
        assert kind in entity.evidence


def test_wikiqa_takes_the_test_split_s_sentences(study_data):
    found = pairs.wikiqa(study_data / "wikiqa", CAP)
    assert len(found) == 36
    assert sum(pair.label.answerable for pair in found) == 6


def test_a_cap_counts_questions(study_data):
    found = pairs.wikiqa(study_data / "wikiqa", 10)
    assert len(found) == 30
    assert len({pair.label.query for pair in found}) == 10


def test_ids_differ(study_data):
    for source in pairs.PAIR_SETS:
        if (study_data / source.folder).exists():
            ids = [pair.label.id for pair in source.load(study_data / source.folder, CAP)]
            assert len(set(ids)) == len(ids)
