"""The quality benchmark on a tiny set of each kind."""

import json

import pytest

from benchmarks import quality


@pytest.fixture
def locomo(tmp_path):
    conversation = {
        "speaker_a": "Ada",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "Did you see the lighthouse?"},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "Yes, on Sunday, with my sister Carol"},
        ],
        "session_2_date_time": "9:00 am on 1 June, 2023",
        "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "I bought a violin"}],
    }
    questions = [
        {"question": "What did Ada buy, a violin?", "evidence": ["D2:01"], "category": 1},
        {"question": "Who saw the lighthouse?", "evidence": ["D:1:2; D1:1", "D9:9"], "category": 5},
        {"question": "Without evidence?", "evidence": ["D7:1"], "category": 2},
    ]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"conversation": conversation, "qa": questions}]))
    return path


def test_turns_carry_their_dates_and_dirty_evidence_is_read(locomo):
    ((turns, questions),) = quality.read_locomo(locomo)
    assert [(turn.name, turn.session, turn.text) for turn in turns] == [
        ("D1:1", 1, "[1:56 pm on 8 May, 2023] Ada: Did you see the lighthouse?"),
        ("D1:2", 1, "[1:56 pm on 8 May, 2023] Bob: Yes, on Sunday, with my sister Carol"),
        ("D2:1", 2, "[9:00 am on 1 June, 2023] Ada: I bought a violin"),
    ]
    assert [(dict(one.relevant), one.category) for one in questions] == [
        ({"D2:1": 1}, "multi-hop"),
        ({"D1:2": 1, "D1:1": 1}, "adversarial"),
    ]


def test_every_set_is_measured_and_written(locomo, tmp_path, capsys):
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "7", "title": "Tea", "text": "leaves and water"}))
    (tmp_path / "queries_test.jsonl").write_text(json.dumps({"_id": "1", "text": "tea water"}))
    (tmp_path / "beir_qrels_test.tsv").write_text("query-id\tcorpus-id\tscore\n1\t7\t1\n")
    (tmp_path / "cran.all.1400").write_text(".I 1\n.T\nwings\n.A\nme\n.B\nx\n.W\nlift of\nwings\n")
    (tmp_path / "cran.qry").write_text(".I 001\n.W\nlift of wings\n")
    (tmp_path / "cranqrel").write_text("1 1 2\n")
    paragraph = {"context": "Der Turm steht in Köln.", "qas": [{"question": "Wo steht der Turm?"}]}
    (tmp_path / "xquad.de.json").write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}))
    out = tmp_path / "out.json"
    sets = ["--locomo", locomo, "--scifact", tmp_path, "--cranfield", tmp_path, "--xquad", tmp_path / "xquad.de.json"]
    assert quality.main([*map(str, sets), "--out", str(out)]) == 0
    found = json.loads(out.read_text())["sets"]
    assert list(found) == ["LoCoMo", "SciFact", "Cranfield", "XQuAD de"]
    for title in found:
        for ranking in quality.RANKINGS:
            means = found[title]["hash"][ranking]["all"]
            words_alone_miss_an_answer = (title, ranking) == ("LoCoMo", "keyword")
            assert means["questions"] == (2 if title == "LoCoMo" else 1)
            assert means["recall@10"] == (0.75 if words_alone_miss_an_answer else 1.0)
    assert "held out" not in found["LoCoMo"]["hash"]["hybrid"]
    assert "Cranfield" in capsys.readouterr().out


def test_recall_hits_and_gain_are_those_of_their_definitions():
    figures = quality._figures(["a", "x", "b", *"cdefghi"], {"x": 1, "b": 1, "z": 1, "i": 1})
    assert (figures["recall@5"], figures["recall@10"], figures["MRR"]) == (0.5, 0.75, 0.5)
    assert (figures["hit@1"], figures["hit@5"]) == (0.0, 1.0)
    gain = 1 / 1.584962500721156 + 1 / 2 + 1 / 3.4594316186372973
    best = 1 + 1 / 1.584962500721156 + 1 / 2 + 1 / 2.321928094887362
    assert figures["nDCG@10"] == pytest.approx(gain / best)
