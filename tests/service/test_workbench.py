"""The start page: HTML of answers, rules of sets, explanations, files of what is checked, and all of it by keyboard."""

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from helpers.pages import Page
from helpers.paths import ROOT
from helpers.services import Models, ServedModel, httpx, refusal, served
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from spacy_crf import Corpus, PunctuationCorpus, SectionCorpus, explain
from spacy_crf.annotation.documents import write_text_settings
from spacy_crf.core.sets.predict import error_controlled_sets, make_utility, utility_optimal_sets
from spacy_crf.punctuation.docs import read_punctuation

RULES = ROOT / "spacy_crf" / "service" / "pages" / "sets.js"
TEXTS = {
    "tag": "They can swim to the <b>boats</b>.",
    "sets": "uinen <script>alert(1)</script> sawzel",
    "entities": "Ferreira, Tomás, and Edith <i>Crane</i>. The Kitchen Sonnet. Tollgate Press 2003.",
    "cite": 'Ferreira, Tomás, and Edith Crane. The <img src="x" onerror="alert(1)"> Sonnet. Tollgate Press 2003.',
    "sections": "1. Scope <script>\nAll ferries.\n\n2. Term\nA year, see 1.\n",
    "punctuate": "dear tom <b> thank you for your letter how is your sister",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_html_of_answers_shows_the_text_and_nothing_that_it_brings(client: httpx.Client, kind: str) -> None:
    (found,) = client.post(f"/{kind}", json={"text": TEXTS[kind], "html": True}).json()["results"]
    assert Page(found["html"]).text.count("<") >= TEXTS[kind].count("<")


def test_html_of_a_text_that_fails_is_its_error(client: httpx.Client) -> None:
    (found,) = client.post("/cite", json={"text": "", "html": True}).json()["results"]
    assert "html" in found


def test_all_probabilities_of_tags_come_with_the_page(client: httpx.Client, models: Models) -> None:
    (found,) = client.post("/sets", json={"text": "uinen sawzel", "html": True}).json()["results"]
    for token in found["tokens"]:
        assert sum(token["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert set(token["probabilities"]) <= set(found["labels"])


# -- rules ---------------------------------------------------------------------------------------------------------


def run_rules(script: str, data: Any) -> Any:
    """What the rules of the page make of data."""
    code = f"{RULES.read_text(encoding='utf8')}\nconst data = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
    code += f"process.stdout.write(JSON.stringify({script}));"
    done = subprocess.run(["node", "-e", code], input=json.dumps(data), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(shutil.which("node") is None, reason="the rules of the page run in node")
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), n_labels=st.integers(1, 40), beta=st.floats(0, 5), alpha=st.floats(0, 1))
def test_the_page_chooses_the_sets_that_python_does(seed: int, n_labels: int, beta: float, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(n_labels, rng.choice([0.05, 0.3, 1.0, 100.0])), size=200)
    rows[::7] = np.round(rows[::7], 1)  # equal ones, and zeros
    rows[::7, 0] += 1 - rows[::7].sum(axis=1)
    rows = np.clip(rows, 0, None) / np.clip(rows, 0, None).sum(axis=1, keepdims=True)
    mass = float(rng.uniform(0.01, 0.99))
    data = {"rows": rows.tolist(), "alpha": alpha, "beta": beta, "mass": mass}
    script = "data.rows.map((row) => [utilitySet(row, data.alpha, data.beta), massSet(row, data.mass)])"
    g = make_utility("g", alpha, beta).values(n_labels)
    ours = utility_optimal_sets(rows, g).members, error_controlled_sets(rows, 1 - mass).members
    for found, *expected in zip(run_rules(script, data), *ours):
        assert [sorted(places) for places in found] == [np.flatnonzero(own).tolist() for own in expected]


# -- explanations and files ------------------------------------------------------------------------------------------


def test_explanations_are_those_of_python(client: httpx.Client, models: Models) -> None:
    text = "They can swim."
    (found,) = client.post("/explain", json={"text": text, "start": 5, "html": True}).json()["results"]
    nlp = models["tagger"].nlp
    (expected,) = explain(nlp.get_pipe("crf_tagger"), nlp.make_doc(text), [1])
    assert (found["label"], found["runner_up"]) == (expected.label, expected.runner_up)
    assert found["contributions"][0]["name"] == expected.contributions[0].name
    assert found["labellings"][0]["differs"] == [] and found["labellings"][1]["differs"]
    masses = [one["probability"] for one in found["labellings"]]
    assert masses == sorted(masses, reverse=True)
    assert expected.contributions[0].name in Page(found["html"]).text


@pytest.mark.parametrize("punctuation", ["gold", "context"])
def test_the_labellings_of_an_explanation_are_the_n_best_of_the_component(punctuation: str) -> None:
    nlp = spacy.blank("xx")
    pipe = nlp.add_pipe("crf_tagger", config={"n_best": 5, "n_best_key": "crf_test_labellings"})
    gold = Doc(nlp.vocab, words=["a", "b", ",", "a", "c"], tags=["A", "B", "X", "A", "C"])
    told = {"punctuation": punctuation, "punctuation_tags": None, "cut_at_punctuation": False}
    write_text_settings(gold, told)
    if punctuation == "context":
        gold[2].tag_ = ""
    nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold)])
    nlp.update([Example(Doc(nlp.vocab, words=[token.text for token in gold]), gold)])
    text = " a  b , \n a\n\nc "
    (own,) = nlp(text)._.crf_test_labellings
    with served(Models([ServedModel("own", nlp)])) as client:
        (found,) = client.post("/explain", json={"text": text, "start": text.index("c")}).json()["results"]
    assert pipe.skips_white_space and found["text"] == "c"
    assert [one["labels"] for one in found["labellings"]] == own["labels"]
    assert [one["probability"] for one in found["labellings"]] == pytest.approx(own["probabilities"])
    words = {word for one in found["labellings"] for word, _ in one["differs"]}
    assert words <= ({"a", "b", "c"} if punctuation == "context" else {"a", "b", ",", "c"})


def test_what_cannot_be_explained_has_a_code(client: httpx.Client, load: Any) -> None:
    refusal(client.post("/explain", json={"text": "They swim.", "start": 1}), 422, "CRF581")
    refusal(client.post("/explain", json={"text": "a", "start": 0, "model": "none"}), 404, "CRF730")
    refusal(client.post("/explain", json={"text": "a", "start": 0, "model": "outline"}), 422, "CRF732")
    with served(Models([ServedModel("two", load("second_order"))])) as own:
        (found,) = own.post("/explain", json={"text": "They can swim.", "start": 5}).json()["results"]
        assert found["error"]["code"] and len(found["labellings"]) > 1


@pytest.mark.parametrize("layout", ["tsv", "conllu"])
def test_a_checked_file_has_the_checked_tokens_as_gold(client: httpx.Client, tmp_path: Path, layout: str) -> None:
    marks = [{"start": 5, "tags": ["NN"]}]
    body = {"text": "They can swim.", "checked": marks, "layout": layout, "name": "letter"}
    response = client.post("/checked", json=body)
    path = tmp_path / f"checked.{layout}"
    path.write_bytes(response.content)
    (doc,) = Corpus(path).read_docs(spacy.blank("en").vocab)
    assert [(token.text, token.tag_) for token in doc if token.tag_] == [("can", "NN")]


def test_several_tags_of_a_checked_token_have_their_weights(client: httpx.Client) -> None:
    body = {"text": "uinen sawzel", "kind": "sets", "checked": [{"start": 0, "tags": ["ART", "CARD"]}]}
    line = client.post("/checked", json=body).text.splitlines()[1]
    word, cell, mark = line.split("\t")
    assert word == "uinen" and mark == "yes" and cell.startswith("ART:0.") and "|CARD:0." in cell


@pytest.mark.parametrize(
    "model, mark, code",
    [
        ("tagger", {"start": 0, "tags": ["ART"]}, "CRF582"),
        ("tagger", {"start": 0, "tags": []}, "CRF582"),
        ("tagger", {"start": 2, "tags": ["NN"]}, "CRF581"),
        ("references", {"start": 0, "tags": ["TITLE"]}, "CRF583"),
    ],
)
def test_what_cannot_be_written_has_a_code(client: httpx.Client, model: str, mark: Any, code: str) -> None:
    body = {"text": "They can swim.", "model": model, "checked": [mark]}
    refusal(client.post("/checked", json=body), 422, code)


# -- in a browser ----------------------------------------------------------------------------------------------------


def wait_for(condition: Any) -> Any:
    for _ in range(200):
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen within ten seconds")


def open_page(browser: Any, client: httpx.Client, kind: str) -> None:
    browser.get("about:blank")
    browser.get(f"{client.base_url}#{kind}")
    wait_for(lambda: browser.execute_script("return typeof told !== 'undefined' && told && items().length > 0"))


class Hands:
    """Somebody with a keyboard and no pointer, on one of the views."""

    def __init__(self, browser: Any, client: httpx.Client, kind: str, downloads: Path):
        self.browser, self.downloads = browser, downloads
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
        open_page(browser, client, kind)
        for _ in range(30):
            self.press("\ue004")  # Tab
            if self.focused("here.dataset.n") is not None:
                return
        raise AssertionError("no part of the answer can be reached")

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def hold_shift(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).key_down("\ue008").send_keys(*keys).key_up("\ue008").perform()

    def focused(self, script: str) -> Any:
        return self.browser.execute_script(f"const here = document.activeElement; return {script}")

    def go_to(self, text: str) -> None:
        for _ in range(60):
            if self.focused("here.textContent.trim()") == text:
                assert self.focused("getComputedStyle(here).outlineStyle") == "solid"  # the focus can be seen
                return
            self.press("\ue014")  # right
        raise AssertionError(text)

    def go_back_to(self, button: str) -> None:
        """Leave the answer for a button above it."""
        for _ in range(20):
            self.hold_shift("\ue004")
            if self.focused("here.textContent") == button:
                return
        raise AssertionError(button)

    def download(self, layout: str) -> Path:
        self.go_back_to("Download TSV" if layout == "tsv" else "Download file")
        self.press("\ue007")  # Enter
        path = self.downloads / f"checked.{layout}"
        wait_for(path.exists)
        return path


@pytest.mark.slow
def test_a_tag_is_corrected_and_downloaded_by_keyboard_alone(
    browser: Any, client: httpx.Client, tmp_path: Path
) -> None:
    from selenium.webdriver.common.keys import Keys

    hands = Hands(browser, client, "tag", tmp_path)
    assert hands.focused("here.textContent") == "TheyPRP"
    hands.press(Keys.ARROW_RIGHT)
    assert hands.focused("here.textContent") == "canMD"
    assert hands.focused("getComputedStyle(here).outlineStyle") == "solid"  # the focus can be seen
    hands.press(Keys.ENTER)
    assert hands.focused("here.id") == "choice"
    wait_for(lambda: "labelling" in browser.execute_script("return panel.textContent"))
    hands.press("V", "B", "N")
    hands.press(Keys.ENTER)
    assert hands.focused("here.textContent") == "swimVB"
    assert browser.execute_script("return openers()[1].getAttribute('aria-label')") == "can: VBN, checked"
    hands.press(Keys.ENTER)
    hands.press(Keys.ESCAPE)
    assert hands.focused("here.textContent") == "swimVB"
    assert browser.execute_script("return panel.hidden && checked.size") == 1
    assert "can\tVBN\tyes\n" in hands.download("tsv").read_text(encoding="utf8")


@pytest.mark.slow
def test_entities_are_corrected_and_downloaded_by_keyboard_alone(
    browser: Any, client: httpx.Client, tmp_path: Path
) -> None:
    """Another label, an entity that is none, and a new one over words that are selected."""
    from selenium.webdriver.common.keys import Keys

    hands = Hands(browser, client, "entities", tmp_path)
    hands.go_to("Edith")
    hands.hold_shift(Keys.ARROW_RIGHT)
    assert browser.execute_script("return answer.querySelectorAll('.selected').length") == 2
    hands.press(Keys.ENTER)
    assert browser.execute_script("return panel.querySelector('h2').textContent") == "Edith Crane"
    hands.press("E", "D", "I", Keys.ENTER)
    label = "return openers()[5].getAttribute('aria-label')"
    assert browser.execute_script(label) == "Edith: EDITOR, checked"
    assert hands.focused("here.textContent").startswith(".")
    hands.go_to("The")
    hands.press(Keys.ENTER)
    hands.press(Keys.HOME, Keys.ENTER)  # no entity
    hands.go_to("Tollgate")
    hands.press(Keys.ENTER, Keys.TAB, Keys.TAB)  # the last word of the entity
    hands.press("T", Keys.ENTER)
    (doc,) = Corpus(hands.download("spacy")).read_docs(spacy.blank("en").vocab)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Edith Crane", "EDITOR"), ("Tollgate", "PUBLISHER")]
    assert [token.text for token in doc if token.ent_iob_ == "O"] == ["The", "Kitchen", "Sonnet", "."]


@pytest.mark.slow
def test_restored_text_is_corrected_and_downloaded_by_keyboard_alone(
    browser: Any, client: httpx.Client, tmp_path: Path
) -> None:
    """A mark at the end of a sentence makes the next word begin one."""
    from selenium.webdriver.common.keys import Keys

    hands = Hands(browser, client, "punctuate", tmp_path)
    hands.press(Keys.ARROW_RIGHT, Keys.ENTER)
    hands.press("P", "E", "R", Keys.TAB, "T", "O", "M", Keys.ENTER)
    assert browser.execute_script("return answer.firstChild.textContent").startswith("Dear Tom. Thank you")
    hands.press(Keys.ENTER, Keys.ENTER)
    (example,) = PunctuationCorpus(hands.download("spacy"))(spacy.blank("en"))
    assert example.reference.text.split()[:4] == ["dear", "Tom", "Thank", "you"]
    assert read_punctuation(example.reference)["marks"][:4] == [None, "PERIOD", "", None]


@pytest.mark.slow
def test_an_outline_is_corrected_and_downloaded_by_keyboard_alone(
    browser: Any, client: httpx.Client, tmp_path: Path
) -> None:
    """A line becomes a heading, a section another level, the rest is right."""
    from selenium.webdriver.common.keys import Keys

    outline = "return [...answer.querySelectorAll('nav a')].map((one) => one.querySelector('.name').textContent)"
    hands = Hands(browser, client, "sections", tmp_path)
    assert browser.execute_script(outline) == ["1. Scope", "2. Term", "2.1", "2.2"]
    hands.go_to("2.2")
    hands.press(Keys.ENTER, Keys.TAB, Keys.ARROW_UP, Keys.ENTER)  # level 1
    hands.press(Keys.ENTER, "S", Keys.ENTER)  # what is behind it is its title
    assert browser.execute_script(outline)[3] == "2.2 It may be extended by letter, see 1."
    hands.go_back_to("Check the rest")
    hands.press(Keys.ENTER, Keys.TAB, Keys.TAB)
    (example,) = SectionCorpus(hands.download("spacy"))(spacy.blank("en"))
    tree = example.reference._.section_tree
    assert [(node.number, node.title, node.level) for node in tree.walk()] == [
        *(("1.", "Scope", 1), ("2.", "Term", 1), ("2.1", "", 2)),
        ("2.2", "It may be extended by letter, see 1.", 1),
    ]


@pytest.mark.slow
def test_an_entity_is_made_with_the_pointer(browser: Any, client: httpx.Client) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    open_page(browser, client, "entities")
    first, last = browser.execute_script("return [openers()[5], openers()[6]]")
    ActionChains(browser).click_and_hold(first).move_to_element(last).release().perform()
    assert browser.execute_script("return panel.querySelector('h2').textContent") == "Edith Crane"
    browser.execute_script("close()")
    ActionChains(browser).click(first).send_keys("\ue00c").key_down("\ue008").click(last).key_up("\ue008").perform()
    assert browser.execute_script("return panel.querySelector('h2').textContent") == "Edith Crane"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tag", "sets", "entities", "sections", "punctuate"])
def test_what_a_page_sends_can_be_read(browser: Any, client: httpx.Client, kind: str) -> None:
    """All cells as they are, in every view."""
    open_page(browser, client, kind)
    browser.execute_script(
        "checkRest(); window.saved = ''; URL.createObjectURL = (blob) => { saved = blob; return '#'; }"
    )
    browser.execute_script(f"download('{'tsv' if kind in ('tag', 'sets') else 'spacy'}')")
    wait_for(lambda: browser.execute_script("return saved || state.className === 'error'"))
    assert browser.execute_script("return state.className") == ""
    assert browser.execute_script(
        "return openers().every((part) => part.getAttribute('aria-label').endsWith('checked'))"
    )


@pytest.mark.slow
def test_white_space_at_the_ends_of_an_entity_hides_nothing(browser: Any, client: httpx.Client) -> None:
    open_page(browser, client, "entities")
    browser.execute_script("text.value = `\\n${KINDS.entities.example} \\n`; ask()")
    wait_for(lambda: browser.execute_script("return asked.endsWith('\\n') && told.entities.length > 0"))
    found = browser.execute_script("return told.entities.map((one) => [one.start, one.end, one.label])")
    shown = browser.execute_script("return items().map((cell) => [cell.start, correction().said(cell).tags[0]])")
    assert all([start, label] in shown for low, end, label in found for start, _ in shown if low <= start < end)
    assert found[0][0] == 0  # which is no cell


@pytest.mark.slow
def test_what_is_checked_is_there_when_the_same_is_asked_again(browser: Any, client: httpx.Client) -> None:
    open_page(browser, client, "tag")
    browser.execute_script("settle(items()[0], { start: 0, tags: ['NN'] }); text.value = 'Another text.'; ask()")
    wait_for(lambda: browser.execute_script("return asked === 'Another text.' && checked.size === 0"))
    browser.execute_script("text.value = KINDS.tag.example; ask()")
    wait_for(lambda: browser.execute_script("return asked === KINDS.tag.example && checked.size === 1"))


@pytest.mark.slow
def test_what_is_checked_belongs_to_the_answer_that_is_shown(browser: Any, client: httpx.Client) -> None:
    """A request for another view or model that fails leaves the answer there; what is sent is still about that."""
    open_page(browser, client, "tag")
    browser.execute_script(
        "settle(items()[0], { start: 0, tags: ['NN'] }); const send = fetch; window.sent = [];"
        "window.fetch = (path, request) => { sent.push([path, JSON.parse(request.body)]);"
        ' return Promise.resolve(new Response(\'{"message": "no"}\', { status: 503 })); };'
    )
    for asking in ("choice.value = 'sets'; ask()", "choose('sections')"):
        browser.execute_script(f"state.className = ''; {asking}")
        wait_for(lambda: browser.execute_script("return state.className === 'error'"))
        assert browser.execute_script("return correction() === CORRECTIONS.tag && items().length > 0")
        browser.execute_script("sent.length = 0; download('tsv'); open(openers()[1])")
        for path, body in wait_for(lambda: browser.execute_script("return sent.length === 2 && sent")):
            assert (path, body["kind"], body["model"]) in [("checked", "tag", "tagger"), ("explain", "tag", "tagger")]


@pytest.mark.slow
def test_an_entity_behind_a_wide_character_is_called_by_its_words(browser: Any, client: httpx.Client) -> None:
    open_page(browser, client, "entities")
    browser.execute_script("text.value = `😀😀 ${KINDS.entities.example}`; ask()")
    wait_for(lambda: browser.execute_script("return asked.startsWith('😀') && told.entities.length > 0"))
    start, end = browser.execute_script(
        "const n = items().findIndex((cell) => correction().said(cell).tags[0] && cell.start > 3);"
        "open(openers()[n]); const { start, end } = correction().said(items()[n]); return [start, end]"
    )
    asked, shown = browser.execute_script("return [asked, panel.querySelector('h2').textContent]")
    assert shown == asked[start:end]


@pytest.mark.slow
def test_what_begins_a_sentence_in_the_page_is_spelt_as_the_library_does(browser: Any, client: httpx.Client) -> None:
    open_page(browser, client, "punctuate")
    browser.execute_script("text.value = 'dear tom 3rd thank www.example.org tom iPhone tom you'; ask()")
    wait_for(lambda: browser.execute_script("return asked.includes('3rd') && items().length === 9"))
    said = "return items().map((cell) => correction().said(cell).tags[1])"
    script = "for (const cell of items()) settle(cell, { start: cell.start, tags: ['PERIOD', cell.tags[1]] });"
    for cell, form in zip(browser.execute_script("return items()"), browser.execute_script(said)):
        assert form == cell["tags"][1]
    browser.execute_script(f"{script} for (const n of [2, 3, 4, 6, 8]) settle(items()[n], null);")
    forms = browser.execute_script(said)
    assert (forms[2].lower(), forms[4], forms[8]) == ("3rd", "www.example.org", "You") and forms[2][1:] == "rd"
    assert forms[6] in ("iPhone", browser.execute_script("return items()[6].tags[1]"))


@pytest.mark.slow
def test_sliders_act_without_a_request(browser: Any, client: httpx.Client) -> None:
    open_page(browser, client, "sets")
    browser.execute_script("window.fetch = () => { throw new Error('a request') }")
    sizes = []
    for mass in (0.5, 0.9, 0.99):
        browser.execute_script(
            f"const s = knobs.querySelectorAll('input[type=range]')[2]; s.value = {mass};"
            "s.dispatchEvent(new Event('input', { bubbles: true }))"
        )
        sizes.append(browser.execute_script("return items().reduce((sum, item) => sum + tagsOf(item).length, 0)"))
    assert sizes[0] < sizes[1] < sizes[2]
    browser.execute_script(
        "const s = knobs.querySelector('input[type=range]'); s.value = 0.9;"
        "s.dispatchEvent(new Event('input', { bubbles: true }))"
    )
    low = browser.execute_script("return answer.querySelectorAll('.low').length")
    assert low == browser.execute_script("return items().filter((item) => item.probability < 0.9).length") > 0


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("kind", TEXTS)
def test_no_view_is_wider_than_the_window(browser: Any, client: httpx.Client, kind: str, width: int) -> None:
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.get("about:blank")
    browser.get(f"{client.base_url}#{kind}")
    wait_for(lambda: browser.execute_script("return typeof told !== 'undefined' && told && answer.children.length"))
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []
