"""What commands refuse: words of a command line, and what its one sentence says."""

import pytest

import graftwork as gw

FILES = {
    "t.csv": "mood,age\n" + "low,31\nhigh,44\nmid,22\n" * 10,
    "two.csv": "a,b\n",
    "word.csv": "a,b,1\nb,c,x\n",
    "twice.csv": "a,b,1\nb,a,2\n",
    "minus.csv": "a,b,-1\n",
    "edges.csv": "a,b\na,nobody\n",
    "nothing.csv": "",
    "lacks.csv": "rain,visits\nyes,1\n",
    "state.csv": "rain,visits,wet\nyes,9,True\n",
    "short.csv": "rain,visits,wet\nyes,1\n",
    "header.csv": "rain,visits,wet\n",
    "gap.csv": "rain,visits,wet\nyes,,True\n",
    "white.csv": "\n \n",
    "wett.csv": "first,second\nrain,wett\n",
    "snow.csv": "rain,snow\n",
    "loop.csv": "first,second\nrain,rain\n",
    "half.csv": "first,second\nrain,\n",
    "names.csv": "rain\nwet\n",
    "group.csv": "variable,group\nhello,world\n",
    "some.csv": "rain,x\nwet,x\n",
    "rows.csv": "rain,visits,wet\nyes,1,True\n",
    "text.gw": "hello",
    "train.txt": "The DT B-NP\ngoat NN I-NP\nran VBD B-VP\n\nHe PRP B-NP\nsaw VBD B-VP\n",
    "empty.txt": "\n\n",
    "one.txt": "dog\nbarks\n",
    "pairs.txt": "dog B-NP\n",
    "tags.txt": "dog x NN\n",
    "ragged.txt": "dog NN B-NP\nbarks V\n",
}
LEARN = {
    "absent.csv": "no such file",
    "absent": "mushroom",
    "none/*.csv": "no file matches 'none/*.csv'",
    "chain.csv --lam few": "'--lam'",
    "chain.csv --lam -1": "'--lam'",
    "chain.csv --lam 0.1 --fdr 0.2": "--fdr 0.2 has no effect where lam is a number: it is for "
    "--lam auto. Leave it out.",
    "absent.csv --method magic": "best-choice",
    "absent.csv --method grafting-ligth": "did you mean 'grafting-light'?",
    "absent.csv --method grafting-light:cuont=3": "did you mean 'count'?",
    "chain.csv --method auto:exchange=2": "auto has no option 'exchange'",
    "chain.csv --method forced-pruning:delete=worst": "descent, greedy, rejection, mcmc",
    "chain.csv --penalty l2": "--lam must be a number with --penalty l2, got 'auto'",
    "chain.csv --penalty l3": "--penalty l3 is not known",
    "chain.csv --unary-lam -1": "'--unary-lam'",
    "chain.csv --tie 0": "'--tie'",
    "chain.csv --tie 2.5": "'--tie'",
    "chain.csv --jobs 0": "--jobs must be",
    "chain.csv --holdout 2": "'--holdout'",
    "chain.csv --tol 0": "--tol must be",
    "chain.csv --weights m": "'m'",
    "chain.csv --sep ab": "one character",
    "chain.csv --out chain.csv": "--out",
    "chain.csv --out chain.csv/deep": "--out",
    "chain.csv --speed 9": "--speed",
    "": "Missing argument",
    # where a search starts
    "chain.csv --lam 0.05 --start chowliu": "neither chow-liu nor a file",
    "chain.csv --start chow-liu": "begins without edges",
    "chain.csv --lam 0.05 --start edges.csv": "no variable",
    "chain.csv --lam 0.05 --start nothing.csv": "the file is empty",
    # goals and criteria
    "chain.csv --criterion k-fold": "--criterion k-fold does not serve --goal structure",
    "chain.csv --goal prediction --criterion k-fold:folds": "is not OPTION=VALUE",
    "chain.csv --goal prediction --criterion k-fold:folds=x": "must be a number",
    "chain.csv --goal prediction --criterion k-fold:gamma=1": "'gamma' is not known",
    "chain.csv --goal truth": "truth",
    "chain.csv --fdr 2": "--fdr must be",
    # what is known of edges
    "chain.csv --required a-b": "'a-b' is neither a pair A~B nor a file",
    "chain.csv --forbidden a~e": "--forbidden: there is no variable 'e'",
    "chain.csv --required a~b --forbidden b~a": "both required and forbidden",
    "chain.csv --penalty-weights none.csv": "'none.csv' is no file",
    "chain.csv --penalty-weights two.csv": "two.csv: line 1 has no factor",
    "chain.csv --penalty-weights word.csv": "word.csv: line 2 has no factor",
    "chain.csv --penalty-weights twice.csv": "line 2 gives b and a another factor",
    "chain.csv --lam 0.05 --penalty-weights minus.csv": "got -1.0",
    # columns
    "chain.csv --drop aa": "chain.csv: there is no column 'aa' to drop; did you mean 'a'?",
    "chain.csv --columns a,e": "there is no column 'e' to read",
    "chain.csv --columns a --drop a": "no column is left",
    "chain.csv --drop a --weights a": "'a' holds the weights, so it cannot be dropped",
    # counts
    "counts.gwc": "use --loss likelihood, with a number for lam",
    "counts.gwc --loss likelihood": "or use --criterion ebic",
    "counts.gwc --lam 0.1 --sep ;": "read as they are",
    "counts.gwc --dry-run": "estimated from rows",
    "short.csv --dry-run": "line 2 has 2 cells",
    "chain.csv --dry-run --method best-choise": "did you mean 'best-choice'",
    "model.gw": "holds a network, where counts of pairs are wanted",
    # order and bins
    "t.csv --ordinal all": "write --ordinal mood:lowest,...,highest",
    "t.csv --ordinal moods": "--ordinal names 'moods', which is not a column; did you mean",
    "t.csv --ordinal mood:low,high": "--ordinal: 'mood' has the states",
    "t.csv --ordinal a<b": "--ordinal 'a < b' orders nothing: no column has these answers",
    "t.csv --ordinal mood:low,low": "--ordinal: 'mood' has the state 'low' in two places",
    "t.csv --lam 0.1 --ordinal age --penalty l1": "--ordinal goes with --penalty group-l1",
    "t.csv --bins 1": "--bins must be a whole number greater than or equal to 2",
    "t.csv --bins age:1": "--bins of 'age' must be a whole number",
    "t.csv --bins mood:3": "--bins names 'mood', which is not a column of numbers",
    "t.csv --bins ages:3": "--bins names 'ages', which is not a column; did you mean 'age'",
}
CRF = {
    "absent.txt": "there is no such file",
    "trein.txt": "did you mean 'train.txt'?",
    ".": "is a directory",
    "empty.txt": "empty.txt: there is no token in the file.",
    "one.txt": "one.txt: there is one column only",
    "ragged.txt": "line 2 has 2 columns, but line 1 has 3; mend the line, or use --sep if",
    "bad.txt": "bad.txt: line 1 is not UTF-8",
    "train.txt --test absent.txt": "there is no such file",
    "train.txt --test pairs.txt": "pairs.txt: there are 2 columns, but train.txt has",
    "pairs.txt --template chunking": "looks at column 1 ('tag', counted from 0)",
    "train.txt --template chunkin": "did you mean 'chunking'?",
    "train.txt --template absent.tpl": "there is no such file",
    "train.txt --types NX": "there is no chunk type 'NX'",
    "tags.txt --types NP": "'NN' is not a chunk tag",
    "absent.txt --lam 0.1 --c1 1": "--lam and --c1 are both given",
    "absent.txt --lam 0": "--lam must be a number greater than 0",
    "absent.txt --lam few": "'--lam'",
    "absent.txt --c1 -1": "--c1 must be a number greater than 0",
    "absent.txt --l2 -1": "'--l2'",
    "absent.txt --method graftin": "did you mean 'grafting'?",
    "absent.txt --method chow-liu": "no method 'chow-liu' for chains",
    "absent.txt --method gain:tie=3": "gain has no option 'tie'. The options are 'count'.",
    "absent.txt --method full:features=true": "no option 'features'; it has none.",
    "absent.txt --max-iter -1": "'--max-iter'",
    "train.txt --method full --select 3": "leave out --select 3",
    "train.txt --method gain:count=3 --select 3": "--select 3 and the method's option count",
    "absent.txt --select 0": "'--select'",
    "absent.txt --order 3": "'--order'",
    "absent.txt --penalty l3": "'--penalty'",
    "absent.txt --candidates some": "'--candidates'",
    "absent.txt --min-count 0": "'--min-count'",
    "absent.txt --max-features -1": "'--max-features'",
    "absent.txt --tol 0": "--tol must be",
    "absent.txt --jobs 0": "--jobs must be",
    "train.txt --out train.txt": "--out",
    "": "Missing argument",
}
OTHERS = {
    "bootstrap counts.gwc": "rows are needed here",
    "bootstrap chain.csv --drop aa": "there is no column 'aa' to drop; did you mean 'a'?",
    "query m.gw rian": "did you mean 'rain'",
    "query m.gw --given visits=7": "The states are '0', '1', '2'",
    "query m.gw --given rain": "NAME=STATE",
    "query m.gw --given rain=no --given rain=yes": "--given names 'rain' twice",
    "query m.gw --pair rain": "two variables",
    "query m.gw --pair rain,rain": "two different variables",
    "query m.gw --inference magic": "'--inference'",
    "score m.gw lacks.csv": "lacks.csv: there is no column 'wet'",
    "score m.gw state.csv": "visits = '9'",
    "score m.gw short.csv": "line 2 has 2 cells",
    "score m.gw header.csv": "no rows below the header",
    "score m.gw gap.csv": "missing",
    "score m.gw nothing.csv": "empty",
    "score m.gw rows.csv --truth nothing.csv": "nothing.csv: the file is empty",
    "score m.gw rows.csv --truth white.csv": "white.csv: the file is empty",
    "score m.gw rows.csv --truth wett.csv": "wett.csv: line 2: there is no variable 'wett'; did",
    "score m.gw rows.csv --truth snow.csv": "line 1: there is no variable 'snow'",
    "score m.gw rows.csv --truth loop.csv": "line 2 joins 'rain' to itself",
    "score m.gw rows.csv --truth half.csv": "line 2 does not have two names",
    "score m.gw rows.csv --truth names.csv": "line 1 does not have two names",
    "score m.gw rows.csv --truth model.gw": "model.gw: there is no variable 'coin'",
    "score m.gw rows.csv --truth absent.csv": "absent.csv",
    "score m.gw rows.csv --truth bad.txt": "bad.txt",
    "score m.gw rows.csv --truth .": "",
    "show absent.gw": "absent.gw",
    "show text.gw": "text.gw",
    "query text.gw": "text.gw",
    "sample text.gw 3": "text.gw",
    "score text.gw rows.csv": "text.gw",
    "show m.gw --groups some.csv": "visits",
    "show m.gw --groups group.csv": "line 2",
    "show m.gw --groups names.csv": "line 1 has no group",
    "show m.gw --groups none.csv": "none.csv",
    "compare-groups chain.csv --by aa": "no variable 'aa'",
    "compare-groups chain.csv": "--by",
    "compare-groups chain.csv --by a --permutations -1": "permutations",
    "compare-groups chain.csv --by a --drop b,a": "'a', which --drop leaves out",
    "explore nowhere": "there is no 'nowhere'; give a folder that learn wrote",
    "explore empty": "holds no model.gw, groups.json or bootstrap.json",
    "explore group.csv": "group.csv",
    "explore m.gw --out no/such/page.html": "no such folder",
    "explore m.gw --out page.txt": "'page.txt' does not end in .html or .htm",
    "explore bad.crfsuite": "is not a CRFsuite model, or damaged",
    "explore m.gw --groups group.csv": "there is no variable 'hello'",
    "explore m.gw --groups absent.csv": "there is no file 'absent.csv'",
    "convert m.gw x.xyz": "x.xyz",
    "convert m.gw x.uai --to uia": "uia",
    "convert m.gw x.crfsuite": "",
    "convert absent.uai x.gw": "absent.uai",
    "convert m.gw nowhere/x.uai": "nowhere",
}
REFUSED = (
    {f"learn {words}": said for words, said in LEARN.items()}
    | {f"crf {words}": said for words, said in CRF.items()}
    | OTHERS
)


@pytest.fixture
def place(tmp_path, monkeypatch, chain_csv, model_file):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "bad.txt").write_bytes(b"d\xf6g NN\n")
    (tmp_path / "bad.crfsuite").write_bytes(b"lCRF" + bytes(20))
    (tmp_path / "empty").mkdir()
    gw.count_pairs(chain_csv).save("counts.gwc")
    coins = {"coin": ["head", "tail"], "dime": ["head", "tail"]}
    gw.PairwiseMRF(coins, None, {("coin", "dime"): [[1, 0], [0, 1]]}).save("model.gw")
    return tmp_path


@pytest.mark.parametrize("command", ["learn", "crf", "others"])
def test_they_are_refused_in_one_sentence(graftwork, place, command):
    for words, said in REFUSED.items():
        if words.split()[0] == command or (command == "others" and words in OTHERS):
            result = graftwork(*words.split())
            assert result.code == 2, words
            assert result.out == "" or words.startswith("show m.gw"), words
            errors = [line for line in result.lines if line.startswith("error: ")]
            assert errors == result.lines[-1:], words
            assert said.lower() in errors[0].lower(), (words, errors[0])
            for python in ("Traceback", "ordinal=", "bins=", "states=", " dict", "['", "{'"):
                assert python not in result.err, words
    assert not (place / "out" / "model.gw").exists()
    assert "--sep '' must be some" in graftwork("crf", "train.txt", "--sep", "").lines[-1]
