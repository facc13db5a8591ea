import gzip
import json
import signal
import subprocess
from pathlib import Path

import pytest

from graftwork.cli import main
from graftwork.data import Template, read_conll
from graftwork.models import load_chain, read_info
from graftwork.report import chunk_scores

MADE_ELSEWHERE = Path(__file__).parents[1] / "exchange" / "golden" / "tagger.crfsuite"

# A dozen sentences about animals: word, tag, chunk.
TEXT = """
The DT B-NP|old JJ I-NP|goat NN I-NP|sleeps VBZ B-VP|. . O
A DT B-NP|crow NN I-NP|saw VBD B-VP|the DT B-NP|goat NN I-NP|. . O
Crows NNS B-NP|never RB B-VP|sleep VBP I-VP|near IN B-PP|goats NNS B-NP
She PRP B-NP|fed VBD B-VP|two CD B-NP|small JJ I-NP|ducks NNS I-NP|. . O
Ducks NNS B-NP|swim VBP B-VP|on IN B-PP|the DT B-NP|pond NN I-NP|. . O
In IN B-PP|winter NN B-NP|the DT B-NP|pond NN I-NP|freezes VBZ B-VP
The DT B-NP|ducks NNS I-NP|have VBP B-VP|left VBN I-VP|. . O
He PRP B-NP|likes VBZ B-VP|the DT B-NP|old JJ I-NP|crow NN I-NP
Small JJ B-NP|goats NNS I-NP|jump VBP B-VP|over IN B-PP|walls NNS B-NP
A DT B-NP|duck NN I-NP|walks VBZ B-VP|behind IN B-PP|her PRP B-NP|. . O
The DT B-NP|goat NN I-NP|has VBZ B-VP|seen VBN I-VP|a DT B-NP|wall NN I-NP
Winter NN B-NP|came VBD B-VP|. . O
"""
TRAIN = [[tuple(token.split()) for token in line.split("|")] for line in TEXT.split("\n") if line]
TEST = [
    [
        ("The", "DT", "B-NP"),
        ("small", "JJ", "I-NP"),
        ("crow", "NN", "I-NP"),
        ("ran", "VBD", "B-VP"),
    ],
    [("He", "PRP", "B-NP"), ("has", "VBZ", "B-VP"), ("left", "VBN", "I-VP"), (".", ".", "O")],
]
FAST = ["--lam", "0.02", "--jobs", "1"]


def text_of(sentences, sep=" ", end="\n"):
    lines = (end.join(sep.join(token) for token in sentence) for sentence in sentences)
    return (end + end).join(lines) + end


def parsed(text, folder):
    path = folder / "parsed.txt"
    path.write_text(text)
    return read_conll(path)


@pytest.fixture
def train(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(text_of(TRAIN))
    return path


@pytest.fixture
def held(tmp_path):
    path = tmp_path / "test.txt"
    path.write_text(text_of(TEST))
    return path


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """The directory of one run that tests ask about and leave as it is."""
    folder = tmp_path_factory.mktemp("learned")
    (folder / "train.txt").write_text(text_of(TRAIN))
    (folder / "test.txt").write_text(text_of(TEST))
    words = ["--test", folder / "test.txt", "--out", folder / "run", "-q", *FAST]
    assert main(["crf", *map(str, [folder / "train.txt", *words])]) == 0
    return folder / "run"


def refused(result):
    """Return the one sentence of a refusal."""
    assert result.code == 2, result.err
    assert result.out == ""
    errors = [line for line in result.lines if line.startswith("error: ")]
    assert errors == result.lines[-1:]
    return errors[0]


def test_crf_writes_everything(graftwork, train, held, tmp_path):
    out = tmp_path / "deep" / "run"
    result = graftwork("crf", train, "--test", held, "--out", out, *FAST)
    assert result.code == 0, result.err
    assert {p.name for p in out.iterdir()} == {
        "model.gw", "summary.txt", "weights.csv", "trace.jsonl", "predictions.txt", "scores.json",
    }  # fmt: skip
    summary = (out / "summary.txt").read_text()
    assert summary in result.out
    assert max(map(len, summary.splitlines())) <= 88
    words = " ".join(summary.split())
    for part in (
        "12 sentences with 63 tokens and 6 labels", "made by the template chunking", " candidates ",
        "Strongest weights for each label", "tag[0]=", "ransitions", "Optimal within",
        "on the mean loss of a sentence (CRFsuite's c1 = 0.24)", "chunks true predicted correct",
        "test.txt: Of 8 tokens",
    ):  # fmt: skip
        assert part in words
    model, info = load_chain(out / "model.gw"), read_info(out / "model.gw")
    assert model.labels == ("B-NP", "B-PP", "B-VP", "I-NP", "I-VP", "O")
    assert model.n_features == len((out / "weights.csv").read_text().splitlines()) - 1
    assert Template.parse(info["template"]) == Template.named("chunking")
    assert (info["columns"], info["lam"], info["sentences"]) == (2, 0.02, 12)
    rounds = [json.loads(line) for line in (out / "trace.jsonl").read_text().splitlines()]
    assert rounds[-1]["edges"] == model.n_features
    assert "learning from 12 sentences with 63 tokens" in result.lines


def test_scores_are_those_of_the_predictions(learned):
    written = read_conll(learned / "predictions.txt")
    assert [[token[:3] for token in sentence] for sentence in written] == TEST
    truth, tags = ([[token[k] for token in s] for s in written] for k in (2, 3))
    scores = json.loads((learned / "scores.json").read_text())
    assert scores.items() >= chunk_scores(truth, tags).to_dict().items()
    assert scores["unknown_labels"] == {}
    assert scores["accuracy"] > 0.8


def test_a_run_without_test_leaves_no_scores_of_another(graftwork, train, held, tmp_path):
    out = tmp_path / "run"
    graftwork("crf", train, "--test", held, "--out", out, "-q", *FAST)
    result = graftwork("crf", train, "--out", out, *FAST)
    assert "No sentences to test on were given." in result.out
    assert not (out / "predictions.txt").exists()
    assert not (out / "scores.json").exists()


def test_c1_is_lambda_times_sentences(graftwork, train, tmp_path):
    graftwork("crf", train, "--out", tmp_path, "--c1", "0.6", "-q")
    assert read_info(tmp_path / "model.gw")["lam"] == pytest.approx(0.05)
    graftwork("crf", train, "--out", tmp_path, "-q")
    assert read_info(tmp_path / "model.gw")["lam"] == pytest.approx(1 / 12)


def test_types_keep_some_chunks(graftwork, train, held, tmp_path):
    words = ["--test", held, "--types", "NP, PP", "--out", tmp_path, *FAST]
    result = graftwork("crf", train, *words)
    assert result.code == 0, result.err
    assert load_chain(tmp_path / "model.gw").labels == ("B-NP", "B-PP", "I-NP", "O")
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert "VP" not in scores["types"]
    assert scores["unknown_labels"] == {}
    tagged = graftwork("tag", tmp_path / "model.gw", held)
    assert tagged.out == (tmp_path / "predictions.txt").read_text()
    assert "VP" not in tagged.out + tagged.err
    assert "chunk types   NP, PP" in graftwork("show", tmp_path / "model.gw").out


def test_templates_from_files(graftwork, train, tmp_path):
    template = tmp_path / "template.txt"
    template.write_text("U00:%x[0,1]\nU01:%x[-1,1]/%x[0,1]\nB\n")
    words = ["crf", train, "--template", template, "--out", tmp_path, *FAST]
    result = graftwork(*words)
    assert result.code == 0, result.err
    assert "made by the template template.txt" in result.out
    assert read_info(tmp_path / "model.gw")["template"] == "tag[0]\ntag[-1] tag[0]\ntransitions"
    template.write_text("columns: form pos\npos[0]\n")
    result = graftwork(*words)
    assert "a chain always learns which label follows which" in result.err
    assert graftwork(*words, "--quiet").err == ""
    assert graftwork("tag", tmp_path / "model.gw", train).code == 0
    graftwork("crf", train, "--template", "words", "--out", tmp_path, *FAST)
    assert "suffix2(word[0])" in read_info(tmp_path / "model.gw")["template"]


def test_words_and_labels_that_are_no_chunks(graftwork, tmp_path):
    data = tmp_path / "tags.tsv"
    data.write_text(text_of([[token[:2] for token in s] for s in TRAIN[:2]], sep="\t"))
    result = graftwork("crf", data, "--test", data, "--out", tmp_path, *FAST)
    assert result.code == 0, result.err
    assert "made by the template words" in " ".join(result.out.split())
    assert "label  true  predicted" in result.out
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["labels"][0]["label"] == "."
    assert "% of the tokens of tags.tsv are right" in " ".join(
        graftwork("show", tmp_path / "model.gw").out.split()
    )


@pytest.mark.parametrize(
    "content",
    [
        b"\n\n-DOCSTART- -X-\n\ndog N\n\n\n\ndog N\n\n",
        "Ünal N\n\U0001f415 N\n\n日本\u3000語 X\n".encode(),
        b"\xef\xbb\xbfdog N\r\nbarks V\r\n\r\ndog N\r\n",
        b"a=b|c N\n\\ _B-1\n_B-1 O\n",
    ],
    ids=["blanks", "unicode", "crlf", "marks"],
)
def test_odd_files_are_learned_and_tagged(graftwork, tmp_path, content):
    data, out = tmp_path / "data", tmp_path / "run"
    data.write_bytes(content)
    result = graftwork("crf", data, "--test", data, "--out", out, *FAST)
    assert result.code == 0, result.err
    tagged = tmp_path / "tagged.txt"
    assert graftwork("tag", out / "model.gw", data, "--out", tagged).code == 0
    assert tagged.read_bytes() == (out / "predictions.txt").read_bytes()
    assert [[t[:-1] for t in s] for s in read_conll(tagged)] == read_conll(data)


@pytest.mark.parametrize(("sep", "mark"), [(",", ","), (r"\t", "\t")])
def test_other_separators(graftwork, tmp_path, sep, mark):
    data = tmp_path / "data.txt"
    data.write_text("New York,B-LOC\nsleeps,O\n\nHe,O\n".replace(",", mark))
    result = graftwork("crf", data, "--test", data, "--sep", sep, "--out", tmp_path, *FAST)
    assert result.code == 0, result.err
    assert (tmp_path / "predictions.txt").read_text().startswith(f"New York{mark}B-LOC{mark}")
    tagged = graftwork("tag", tmp_path / "model.gw", data, "--sep", sep)
    assert tagged.out == (tmp_path / "predictions.txt").read_text()
    assert graftwork("tag", tmp_path / "model.gw", data).out == tagged.out
    words = refused(graftwork("tag", tmp_path / "model.gw", data, "--sep", "ork"))
    assert "check whether 'ork' is what separates columns" in words


def test_labels_known_only_to_the_test_count_as_wrong(graftwork, train, tmp_path):
    test = tmp_path / "new.txt"
    test.write_text("The DT B-NP\ngoat NN I-NP\nOh UH B-INTJ\nmy UH I-INTJ\n")
    result = graftwork("crf", train, "--test", test, "--out", tmp_path, *FAST)
    assert result.code == 0, result.err
    assert "2 tokens have labels that the model does not know" in " ".join(result.out.split())
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["unknown_labels"] == {"B-INTJ": 1, "I-INTJ": 1}
    assert scores["types"]["INTJ"]["recall"] == 0
    assert scores["n_right_tokens"] <= 2
    test.write_text("The DT WHAT\n")
    result = graftwork("crf", train, "--test", test, "--out", tmp_path, *FAST)
    assert result.code == 0, result.err
    assert "1 token has a label that the model does not know" in " ".join(result.out.split())
    result = graftwork("crf", train, "--test", test, "--types", "NP", "--out", tmp_path, *FAST)
    assert result.code == 0, result.err
    assert (tmp_path / "predictions.txt").read_text() == "The DT WHAT B-NP\n"


def test_tag_needs_no_labels_and_no_template(graftwork, learned, tmp_path):
    bare = tmp_path / "bare.txt"
    bare.write_text(text_of([[token[:2] for token in s] for s in TEST]))
    result = graftwork("tag", learned / "model.gw", bare)
    assert result.code == 0, result.err
    assert result.err == ""
    written = read_conll(learned / "predictions.txt")
    assert result.out == text_of([[(*token[:2], token[3]) for token in s] for s in written])
    out = tmp_path / "tagged.txt.gz"
    silent = graftwork("tag", learned / "model.gw", bare, "--out", out, "--jobs", "1")
    assert (silent.code, silent.out, silent.err) == (0, "", "")
    assert gzip.decompress(out.read_bytes()).decode() == result.out


def test_tag_scores_where_labels_are(graftwork, learned, held, tmp_path):
    result = graftwork("tag", learned / "model.gw", held)
    assert result.out == (learned / "predictions.txt").read_text()
    assert "test.txt: Of 8 tokens" in result.err
    assert "precision" in result.err
    to_file = graftwork("tag", learned / "model.gw", held, "--out", tmp_path / "t.txt")
    assert to_file.out == result.err
    assert to_file.err == ""


def test_tag_gives_probabilities(graftwork, learned, held):
    result = graftwork("tag", learned / "model.gw", held, "--marginals")
    labels = load_chain(learned / "model.gw").labels
    for line in filter(None, result.out.splitlines()):
        _, _, _, tag, *cells = line.split()
        shares = {name: float(p) for name, p in (cell.rsplit(":", 1) for cell in cells)}
        assert tuple(shares) == labels
        assert sum(shares.values()) == pytest.approx(1, abs=1e-5)
        assert tag in labels


def test_tag_refuses_in_one_sentence(graftwork, learned, model_file, train, tmp_path):
    chain = learned / "model.gw"
    assert "holds a network, where a chain" in refused(graftwork("tag", model_file, train))
    assert "there is no file" in refused(graftwork("tag", tmp_path / "absent.gw", train))
    assert "graftwork learn or graftwork crf" in refused(graftwork("tag", train, train))
    assert "there is no such file" in refused(graftwork("tag", chain, tmp_path / "absent.txt"))
    for content, told in [
        ("dog\n", "there is 1 column, but the model looks at 2 (or 3 with labels)"),
        ("a b c d\n", "there are 4 columns, but the model looks at 2"),
        ("", "no token"),
    ]:
        (tmp_path / "odd.txt").write_text(content)
        assert told in refused(graftwork("tag", chain, tmp_path / "odd.txt"))
    plain = tmp_path / "plain.gw"
    load_chain(chain).save(plain)
    assert refused(graftwork("tag", plain, train)).endswith(
        "say it with --template: chunking, words, or a file."
    )
    load_chain(chain).save(plain, Template.parse("tag[-1]"))
    assert read_info(plain) == {"template": "tag[-1]"}
    load_chain(chain).save(plain, {"why": "x"}, template=Template.parse("tag[-1]"))
    assert read_info(plain) == {"why": "x", "template": "tag[-1]"}
    load_chain(chain).save(plain, info={"template": "tag[0]"})
    assert graftwork("tag", plain, train).code == 0
    load_chain(chain).save(plain, info={"template": "tog[0]"})
    assert "there is no column 'tog'" in refused(graftwork("tag", plain, train))
    (tmp_path / "new.txt").write_text("Georg\nschläft\n", encoding="utf-8")
    foreign = graftwork("tag", MADE_ELSEWHERE, tmp_path / "new.txt", "--template", "words")
    assert foreign.code == 0
    assert "of the 35 attributes have a weight in the model" in foreign.err


def test_show_says_what_a_chain_is(graftwork, learned, tmp_path):
    result = graftwork("show", learned / "model.gw", "--top", "1")
    assert result.code == 0, result.err
    said = " ".join(result.out.split())
    for part in (
        "A chain of order 1.", "learned from train.txt, 12 sentences with 63 tokens",
        "method grafting-light", "candidates ", "chunk F1", "Optimal within", "Labels B-NP, B-PP",
        "Template bias word[-2]", "Strongest weights for each label", "from to weight",
    ):  # fmt: skip
        assert part in said
    assert "Strongest" not in graftwork("show", learned / "model.gw", "--top", "0").out
    bare = tmp_path / "bare.gw"
    load_chain(learned / "model.gw").save(bare)
    shown = graftwork("show", bare)
    assert shown.code == 0, shown.err
    assert "How it was learned" not in shown.out


def test_commands_for_networks_refuse_chains(graftwork, learned, chain_csv, tmp_path):
    chain = learned / "model.gw"
    for words in (
        ["score", chain, chain_csv],
        ["query", chain],
        ["sample", chain, "3"],
        ["learn", chain_csv, "--start", chain, "--lam", "0.1", "--out", tmp_path],
    ):
        assert "holds a chain of labels, where a network is wanted" in refused(graftwork(*words))
    for option in ("--plot", "--edges"):
        told = refused(graftwork("show", chain, option, tmp_path / "x.png"))
        assert "only networks have edges" in told


def test_interrupt_keeps_the_best_so_far(start, train, tmp_path):
    # Features one at a time, to the last digit: long enough to be stopped.
    words = [
        "crf",
        train,
        "--lam",
        "1e-6",
        "--select",
        "1",
        "--method",
        "grafting",
        "--tol",
        "1e-9",
    ]
    process = start(*words, "--jobs", "1", cwd=tmp_path, pause=0.0)
    while ": 0 features" in (line := process.stderr.readline()) or " features," not in line:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "the best model so far is in" in err
    assert out.startswith("Interrupted: this is the best model so far.")
    assert "it was interrupted" in " ".join(out.split())
    assert load_chain(tmp_path / "out" / "model.gw").n_features > 0


def test_interrupt_while_reading(graftwork, train, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("graftwork.cli.sentences.read_labelled", interrupted)
    result = graftwork("crf", train, "--out", tmp_path)
    assert result.code == 130
    assert "interrupted before there was a model to save." in result.err
    assert not (tmp_path / "model.gw").exists()


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_sentences_may_come_through_a_pipe(start, learned, train, tmp_path, name):
    tagging = start("tag", learned / "model.gw", name, cwd=tmp_path, stdin=subprocess.PIPE)
    out, err = tagging.communicate(text_of(TEST), timeout=120)
    assert tagging.returncode == 0, err
    assert [[token[:3] for token in sentence] for sentence in parsed(out, tmp_path)] == TEST
    words = ["crf", name, "--out", "piped", "-q", *FAST]
    learning = start(*words, cwd=tmp_path, stdin=subprocess.PIPE)
    _, err = learning.communicate(train.read_text(), timeout=120)
    assert learning.returncode == 0, err
    piped, usual = (read_info(at / "model.gw") for at in (tmp_path / "piped", learned))
    assert piped["data"] == "stdin"
    for name in ("sentences", "tokens", "columns"):
        assert piped[name] == usual[name]


CONLLU = "".join(
    f"# sent_id = {k}\n1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n"
    f"2-3\t{noun}s\t_\t_\t_\t_\t_\t_\t_\t_\n"
    f"2\t{noun}\t{noun}\tNOUN\tNN\t_\t0\troot\t_\t_\n3\truns\trun\tVERB\tVBZ\t_\t2\tdep\t_\t_\n\n"
    for k, noun in enumerate(["goat", "crow", "duck", "dog"] * 4)
)


def test_conllu_is_learned_from_and_tagged(graftwork, tmp_path):
    (tmp_path / "train.conllu").write_text(CONLLU)
    run, file = tmp_path / "run", tmp_path / "train.conllu"
    words = refused(graftwork("crf", file, "--out", run, *FAST))
    assert words.endswith("Words are what attributes are made of.")
    assert "--label of graftwork crf: upos, xpos," in words
    assert graftwork("crf", file, "--label", "XPOS", "--out", run, "-q", *FAST).code == 0
    assert read_info(run / "model.gw")["label"] == "XPOS"
    tagged = graftwork("tag", run / "model.gw", file)
    assert tagged.out.startswith("The DT DT\ngoat NN NN\nruns VBZ VBZ\n\nThe DT DT\ncrow ")
    assert "Of 48 tokens 48 have the right label" in tagged.err
    blank = CONLLU.replace("DT\t_", "_\t_").replace("NN\t_", "_\t_").replace("VBZ\t_", "_\t_")
    (tmp_path / "new.conllu").write_text(blank)
    new = graftwork("tag", run / "model.gw", tmp_path / "new.conllu")
    assert new.out.startswith("The DT\ngoat NN\nruns VBZ\n\n")
    assert new.err == ""
    assert graftwork("explain", run / "model.gw", tmp_path / "new.conllu").out.startswith(
        "1 The: DT"
    )


def test_a_label_may_be_any_column(graftwork, tmp_path):
    turned = [[(label, word, tag) for word, tag, label in part] for part in TRAIN]
    (tmp_path / "train.txt").write_text("# text = x\n" + text_of(turned))
    run = tmp_path / "run"
    words = ["--label", 1, "--out", run, "-q", *FAST]
    assert graftwork("crf", tmp_path / "train.txt", *words).code == 0
    tagged = graftwork("tag", run / "model.gw", tmp_path / "train.txt")
    assert tagged.out.split("\n")[0].split()[:3] == list(TRAIN[0][0])
    assert "no column 7" in refused(graftwork("crf", tmp_path / "train.txt", "--label", 7))


def test_sentences_of_a_pipe_are_labelled_as_they_come(start, learned, tmp_path):
    tagging = start("tag", learned / "model.gw", "-", cwd=tmp_path, stdin=subprocess.PIPE)
    tagging.stdin.write("The DT\ncrow NN\n\n")
    tagging.stdin.flush()
    assert [tagging.stdout.readline() for _ in range(2)] == ["The DT B-NP\n", "crow NN I-NP\n"]
    tagging.stdin.write("He PRP\n")  # the first was there before this one was
    out, err = tagging.communicate(timeout=120)
    assert (out, err, tagging.returncode) == ("\nHe PRP B-NP\n", "", 0)
