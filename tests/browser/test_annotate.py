"""The annotation page in a real browser, by keyboard."""

import io
import re
import wave

import pytest

playwright = pytest.importorskip("playwright.sync_api")

from support.serving import serving  # noqa: E402
from support.studies import (  # noqa: E402
    CLASSES,
    Visitor,
    invitation,
    open_room,
    with_model,
)

expect = playwright.expect
expect.set_options(timeout=20_000)  # a busy machine is slow, not wrong
PAGES = ("/", "/mine", "/guide", "/practice", "/overview", "/clashes", "/clashes/1", "/items",
         "/people", "/exchange")  # fmt: skip


class Person:
    """Somebody with a browser of their own, who notes all that it asks for and complains about."""

    def __init__(self, browser, served, name="ann", role="annotator", width=1280, **more):
        self.served, self.requests, self.complaints = served, [], []
        size = {"width": width, "height": 900}
        self.context = browser.new_context(viewport=size, **more)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        if name is not None:
            self.page.goto(served.link(name, role))

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def name(self):
        return self.page.locator("#name").inner_text()

    def wait(self):
        """Until there is an item, which may be on its way."""
        expect(self.page.locator("#name")).to_have_text(re.compile("^tree"))

    def answer(self, *keys):
        """Answer, and wait until the next item is there, or nothing is left."""
        before = self.name()
        self.press(*keys)
        expect(self.page.locator("#name")).not_to_have_text(before)
        expect(self.page.locator("#item")).not_to_contain_text("One moment")

    def count(self, number):
        expect(self.page.locator("#count")).to_have_text(re.compile(f"^{number} answered"))

    def close(self):
        self.context.close()


@pytest.fixture
def served(browser, tmp_path):
    with serving(open_room(tmp_path / "trees.db", 12)) as found:
        yield found


def said(room):
    """What stands: picks and word by item."""
    live, found = room.live, {}
    for item, one in enumerate(live.items):
        for row in live.standing(item):
            picks = [CLASSES[k] for k in live.statements[live.answers["statement"][row]].picks]
            word = int(live.answers["word"][row])
            kind = ("said", "cannot", "none", "broken")[live.answers["kind"][row]]
            found[one.name] = (kind, picks if kind == "said" else [], live.words[word])
    return found


def test_answers_by_keyboard_alone(browser, served):
    ann = Person(browser, served)
    first = ann.name()
    ann.press("2", "j")  # two keys for a plain answer
    ann.count(1)
    assert said(served.room)[first] == ("said", ["elm"], "sure")
    second = ann.name()
    assert second != first
    ann.press("3", "1", "4", "1", "k")  # a set in its order; again removes
    ann.count(2)
    assert said(served.room)[second] == ("said", ["ash", "birch"], "rather")
    ann.press("Backspace")
    expect(ann.page.locator("#name")).to_have_text(second)
    expect(ann.page.locator("button[aria-pressed=true] .class")).to_have_text(["ash", "birch"])
    ann.count(1)
    assert second not in said(served.room)
    ann.press("l")  # what was taken back is still picked
    ann.count(2)
    assert said(served.room)[second] == ("said", ["ash", "birch"], "a guess")
    names = {}
    for key, kind in (("0", "cannot"), ("n", "none"), ("b", "broken")):
        names[kind] = ann.name()
        ann.press(key)
        expect(ann.page.locator("#name")).not_to_have_text(names[kind])
        ann.wait()
    put_off = ann.name()
    ann.press("ArrowRight")
    expect(ann.page.locator("#name")).not_to_have_text(put_off)
    ann.wait()
    ann.press("j")  # nothing is picked yet
    expect(ann.page.locator("#status")).to_contain_text("Pick a class first")
    ann.count(5)
    stands = said(served.room)
    assert {kind: stands[name][0] for kind, name in names.items()} == {k: k for k in names}
    assert put_off not in stands
    before = ann.name()
    ann.page.reload()  # in the middle
    expect(ann.page.locator("#name")).to_have_text(before)
    ann.press("c")
    ann.page.keyboard.type("1 odd leaf")
    ann.press("Escape", "1", "j")
    ann.count(6)
    assert served.room.store.ask("SELECT comment FROM answer WHERE comment IS NOT NULL") == [
        ("1 odd leaf",)
    ]
    assert ann.complaints == []
    assert {url.split("/")[2] for url in ann.requests} == {f"127.0.0.1:{served.port}"}
    ann.close()


def test_a_late_reply_does_not_wipe_out_what_was_said(browser, served):
    ann = Person(browser, served)
    held = []
    ann.page.route("**/later", lambda route: held.append(route))
    put_off = ann.name()
    ann.press("ArrowRight")
    expect(ann.page.locator("#name")).not_to_have_text(put_off)
    ann.press("j")
    expect(ann.page.locator("#status")).to_contain_text("Pick a class first")
    with ann.page.expect_response("**/later") as reply:
        held[0].continue_()
    reply.value.finished()
    ann.press("2")  # a word that follows the reply is read after it
    expect(ann.page.locator("button[aria-pressed=true] .class")).to_have_text(["elm"])
    expect(ann.page.locator("#status")).to_contain_text("Pick a class first")
    ann.close()


def test_answers_wait_while_the_server_is_away(browser, served):
    ann = Person(browser, served)
    names = []
    ann.press("2", "j")
    ann.count(1)
    served.stop()
    for number in (1, 2):
        names.append(ann.name())
        ann.press(str(number), "k")
    expect(ann.page.locator("#status")).to_contain_text("2 answers wait for the server")
    assert len(said(served.room)) == 1
    served.start()
    expect(ann.page.locator("#status")).to_have_text("All answers are kept")
    ann.count(3)
    assert [said(served.room)[name][1] for name in names] == [["oak"], ["elm"]]
    assert served.room.store.ask("SELECT count(*) FROM answer") == [(3,)]
    ann.close()


@pytest.mark.long
def test_what_a_model_says_stays_hidden_until_it_may_be_seen(browser, tmp_path):
    """By a coin: before, after, or never."""
    room = with_model(tmp_path / "trees.db", "coin", 60)
    with serving(room) as served:
        ann = Person(browser, served)
        box, seen = ann.page.locator("#suggested"), set()
        arms = {}
        while len(seen) < 3:
            name = ann.name()
            item = next(one for one in room.live.items if one.name == name)
            rows = room.store.ask(f"SELECT arm FROM shown WHERE item = {item.id}")
            arm = arms[name] = rows[-1][0]
            seen.add(arm)
            if arm == "before":
                expect(box).to_have_text("The model says: elm or ash")
            else:
                expect(box).to_be_hidden()
                ann.press("m")
                expect(ann.page.locator("#status")).to_contain_text("is not shown here")
                expect(box).to_be_hidden()
            ann.press("1", "j")
            if arm == "after":
                expect(box).to_contain_text("The model says: elm or ash. Answer again, or press")
                ann.press("Enter")
            expect(ann.page.locator("#name")).not_to_have_text(name)
            ann.wait()
        ann.count(len(arms))  # all are kept
        stored = room.store.ask("SELECT item.name, saw_suggestion FROM answer JOIN item "
                                "ON item.id = answer.item")  # fmt: skip
        assert {name: bool(saw) for name, saw in stored} == {
            name: arm == "before" for name, arm in arms.items()
        }
        assert ann.complaints == []
        ann.close()


@pytest.mark.long
def test_the_model_is_heard_when_asked(browser, tmp_path):
    room = with_model(tmp_path / "trees.db", "asked", 12)
    with serving(room) as served:
        ann = Person(browser, served)
        box = ann.page.locator("#suggested")
        expect(box).to_be_hidden()
        ann.answer("1", "j")
        expect(box).to_be_hidden()
        ann.press("m")
        expect(box).to_have_text("The model says: elm or ash")
        ann.answer("2", "j")
        ann.count(2)
        rows = room.store.ask("SELECT saw_suggestion FROM answer ORDER BY id")
        assert [bool(saw) for (saw,) in rows] == [False, True]
        ann.close()


def sound(seconds=1):
    """A file of silence."""
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(16000 * seconds))
    return made.getvalue()


@pytest.mark.long
def test_pictures_sounds_and_rows_are_shown(browser, tmp_path):
    image = pytest.importorskip("PIL.Image")
    media = tmp_path / "media"
    media.mkdir()
    image.new("RGB", (60, 40), "green").save(media / "leaf.png")
    (media / "wind.wav").write_bytes(sound())
    tables = {
        "image": {"item": ["tree 0"], "photo": ["leaf.png"], "place": ["a <b>hill</b>"]},
        "audio": {"item": ["tree 0"], "voice": ["wind.wav"]},
        "row": {"item": ["tree 0"], "height": [12.5], "note": ["=1+1"]},
    }
    for kind, table in tables.items():
        column = {"image": "photo", "audio": "voice"}.get(kind)
        given = {kind: column} if column else {}
        room = open_room(tmp_path / f"{kind}.db", items=table, media=media, **given)
        with serving(room) as served:
            ann = Person(browser, served)
            ann.wait()
            item = ann.page.locator("#item")
            if kind == "image":
                expect(item.locator("img")).to_have_js_property("naturalWidth", 60)
                expect(item).to_contain_text("a <b>hill</b>")
            elif kind == "audio":
                expect(item.locator("audio")).to_have_js_property("duration", 1)
                ann.press("Space")
                expect(item.locator("audio")).to_have_js_property("ended", True)  # it was played
            else:
                expect(item.locator("dt")).to_have_text(["height", "note"])
                expect(item.locator("dd")).to_have_text(["12.5", "=1+1"])
            ann.press("?")
            expect(ann.page.locator("h2").last).to_have_text("How to answer")
            assert ann.complaints == []
            ann.close()


@pytest.mark.long
def test_a_hundred_items(browser, tmp_path):
    with serving(open_room(tmp_path / "trees.db", 100)) as served:
        ann = Person(browser, served)
        for number in range(100):
            name = ann.name()
            ann.press(str(number % 4 + 1), "jkl"[number % 3])
            expect(ann.page.locator("#name")).not_to_have_text(name)
            if number < 99:
                expect(ann.page.locator("#name")).to_have_text(re.compile("^tree"))
        ann.count(100)
        expect(ann.page.locator("#item")).to_contain_text("Nothing is left to ask")
        assert len(said(served.room)) == 100
        assert ann.complaints == []
        ann.close()


@pytest.mark.long
def test_two_people_are_blind_to_each_other_and_a_reviewer_settles(browser, tmp_path):
    with serving(open_room(tmp_path / "trees.db", 2, answers=2)) as served:
        people = [Person(browser, served, "Ada"), Person(browser, served, "Ben")]
        for _ in range(2):
            for key, one in zip("12", people, strict=True):
                if one.name():
                    one.answer(key, "j")
        served.room.asking.until[:] = 0
        for key, one in zip("12", people, strict=True):
            one.page.goto(served.base)
            while one.name():
                assert "Ada" not in one.page.content().replace("Ada</span>", "")
                one.answer(key, "j")
        token = invitation(served.room, "reviewer")
        boss = Person(browser, served, None)
        boss.page.goto(f"{served.base}/join/{token}")
        boss.page.get_by_label("Your name").fill("Cleo")
        boss.page.get_by_role("button", name="Join").click()
        boss.page.goto(f"{served.base}/overview")
        expect(boss.page.locator("[data-value=clash]").first).to_have_text("2")
        boss.page.goto(f"{served.base}/clashes")
        boss.page.locator("tbody a").first.click()
        expect(boss.page.locator("tbody").first).to_contain_text("Ada")
        boss.page.wait_for_load_state()  # keys are heard from here on
        boss.press("1", "2", "j")
        expect(boss.page.locator("h1")).to_have_text("Clashes")
        expect(boss.page.locator("tbody tr")).to_have_count(1)
        assert served.room.store.ask("SELECT label FROM settlement") == [('["oak", "elm"]',)]
        boss.page.goto(f"{served.base}/overview")
        ann = Visitor(served.room, "Zoe")
        served.room.asking.until[:] = 0
        before = boss.page.locator("[data-value=answers]").inner_text()
        if items := ann.state()["items"]:
            ann.say(items[0]["id"], ["elm"])
            expect(boss.page.locator("[data-value=answers]")).not_to_have_text(before)
        assert boss.complaints == []
        for one in (*people, boss):
            one.close()


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark"), (640, "light")])
def test_every_page_is_readable_and_named(browser, tmp_path, width, scheme):
    """640 px are 1280 px at 200 % zoom."""
    from browser.conftest import MEASURES

    gold = {f"tree {k}": "elm" for k in range(8)}
    with serving(open_room(tmp_path / "trees.db", 12, gold=gold)) as served:
        ann = Visitor(served.room, "ann with a long name", "annotator")
        ann.answer_all(lambda item: (["elm", "oak"], "rather"), 4)
        boss = Person(browser, served, "boss", "manager", width, color_scheme=scheme)
        for path in PAGES:
            boss.page.goto(served.base + path)
            assert boss.page.evaluate("document.documentElement.scrollWidth") <= width, path
            low = [one for one in boss.page.evaluate(f"({MEASURES}).contrasts()")
                   if one["contrast"] < 4.5]  # fmt: skip
            assert low == [], path
            nameless = boss.page.evaluate("""() =>
                [...document.querySelectorAll("button, input:not([type=hidden]), select, " +
                    "textarea, img, meter, progress")]
                .filter(e => e.checkVisibility() && !(e.textContent.trim() || e.labels?.length
                    || e.getAttribute("aria-label") || e.alt)).map(e => e.outerHTML)""")
            assert nameless == [], path
            assert boss.page.locator("h1").count() == 1, path
            for here in boss.page.locator("nav [aria-current]").all():  # is not beyond the edge
                box = here.bounding_box()
                assert -1 <= box["x"] <= width + 1 - box["width"], path
        assert boss.complaints == []
        boss.close()
