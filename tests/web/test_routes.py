"""Every route by every role, and what is refused."""

import csv
import io
import json
import zipfile

import numpy as np
import pytest
from starlette.testclient import TestClient

from plausible import web
from plausible.io import annotations_of, read_annotations, read_doccano, read_label_studio
from plausible.web.app import routes
from plausible.web.guard import CSP, HEADERS, LONGEST_BODY, Bucket
from plausible.web.room import told
from support.studies import CLASSES, TOKEN, Visitor, invitation, new_token, open_room

ROLES = ("nobody", "annotator", "reviewer", "manager")
# What each role is answered: nobody, annotator, reviewer, manager.
EVERYBODY, NOBODY = (200, 200, 200, 200), (404, 404, 404, 404)
TABLE = {
    ("GET", "/"): (401, 200, 200, 200),
    ("POST", "/answer"): (401, 400, 400, 400),
    ("POST", "/later"): (401, 400, 400, 400),
    ("POST", "/undo"): (401, 400, 400, 400),
    ("POST", "/look"): (401, 400, 400, 400),
    ("GET", "/next"): (401, 200, 200, 200),
    ("GET", "/media/1"): (401, 404, 404, 404),
    ("GET", "/static/style.css"): EVERYBODY,
    ("GET", "/healthz"): EVERYBODY,
    ("GET", "/join/nonsense"): NOBODY,
    ("POST", "/join/nonsense"): NOBODY,
    ("POST", "/leave"): (303, 303, 303, 303),
    ("GET", "/guide"): (401, 200, 200, 200),
    ("GET", "/practice"): (401, 200, 200, 200),
    ("POST", "/practice"): (401, 200, 200, 200),
    ("GET", "/mine"): (401, 200, 200, 200),
    ("GET", "/overview"): (401, 403, 200, 200),
    ("GET", "/overview.json"): (401, 403, 200, 200),
    ("GET", "/clashes"): (401, 403, 200, 200),
    ("GET", "/clashes/1"): (401, 403, 200, 200),
    ("POST", "/settle"): (401, 403, 404, 404),
    ("GET", "/items"): (401, 403, 200, 200),
    ("GET", "/people"): (401, 403, 403, 200),
    ("POST", "/people/invite"): (401, 403, 403, 400),
    ("GET", "/exchange"): (401, 403, 403, 200),
    ("GET", "/export"): (401, 403, 403, 200),
    ("POST", "/import"): (401, 403, 403, 400),
    ("GET", "/report"): (401, 403, 200, 200),
    ("GET", "/nonsense"): NOBODY,
}


def test_every_route_is_in_the_table():
    there = {
        (method, route.path.split("{")[0])
        for route in routes()
        for method in route.methods - {"HEAD"}
    }
    told_ = {(method, path) for method, path in TABLE}
    for method, start in there:
        exact = (method, start) in told_ and not start.endswith("/")
        assert exact or any(m == method and p.startswith(start) for m, p in told_), (method, start)


@pytest.mark.parametrize("role", ROLES)
def test_every_route_by_every_role(room, role):
    ann = Visitor(room, "ann")
    ann.say(ann.state()["items"][0]["id"], ["elm"])  # the report needs an answer
    visitor = Visitor(room, None if role == "nobody" else f"a {role}", role)
    found = {}
    for method, path in TABLE:
        if path == "/nonsense" or path.startswith("/join"):
            room.limits.joins = Bucket(10, 1.0)
        reply = visitor.client.request(method, path)
        found[method, path] = reply.status_code
        headers = {k.lower(): v for k, v in reply.headers.items()}
        assert set(HEADERS) <= set(headers), path
        csp = headers["content-security-policy"]
        assert csp == CSP or "sandbox" in csp
        assert headers["x-content-type-options"] == "nosniff"
        if reply.headers.get("content-type", "").startswith("text/html") and path != "/report":
            assert "<script>" not in reply.text
            assert " style=" not in reply.text
            assert "http://" not in reply.text.replace("http://testserver", "")
    assert found == {key: codes[ROLES.index(role)] for key, codes in TABLE.items()}


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 400),
        ({"sec-fetch-site": "none"}, 400),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://testserver"}, 400),
        ({"origin": "http://testserver:81"}, 403),
        ({"host": "evil.example"}, 421),
        ({"host": "testserver.evil.example"}, 421),
        ({}, 400),
    ],
)
def test_only_our_own_page_may_change_something(room, headers, code):
    reply = Visitor(room, "ann").post("/answer", {}, headers=headers)
    assert reply.status_code == code
    assert "content-security-policy" in reply.headers


def test_reading_from_another_site_needs_the_host(room):
    ann = Visitor(room, "ann")
    assert ann.get("/healthz", headers={"host": "evil.example"}).status_code == 421
    assert ann.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200  # a link


@pytest.mark.parametrize(
    "body",
    [
        {"token": "short"},
        {"token": 7},
        {"kind": "sung"},
        {"picks": []},
        {"picks": ["fig"]},
        {"picks": ["elm", "elm"]},
        {"picks": "elm"},
        {"picks": [["elm"]]},
        {"word": "quite"},
        {"word": None},
        {"kind": "cannot"},
        {"kind": "cannot", "picks": [], "word": "sure"},
        {"comment": "x" * 3000},
        {"comment": 7},
        {"numbers": [3]},
        {"numbers": [1, 2]},
        {"numbers": "1"},
    ],
)
def test_odd_answers_are_refused(room, body):
    ann = Visitor(room, "ann")
    item = ann.state()["items"][0]["id"]
    whole = {"token": new_token(), "item": item, "kind": "said", "picks": ["elm"], "word": "sure"}
    reply = ann.post("/answer", whole | body)
    assert reply.status_code == 400, reply.text
    assert "should" in reply.json()["error"]
    assert room.live.count.sum() == 0


@pytest.mark.parametrize("item", [0, -1, 10**9, "1", None, True, 1.5, [1]])
def test_items_that_are_not_there(room, item):
    assert Visitor(room, "ann").say(item, ["elm"]).status_code == 404


def test_items_of_others_are_foreign(room):
    ann, bob = Visitor(room, "ann"), Visitor(room, "bob")
    mine = [one["id"] for one in ann.state()["items"]]
    assert bob.say(mine[0], ["elm"]).status_code == 403
    assert ann.say(mine[0], ["elm"]).status_code == 200
    assert {one["id"] for one in bob.state()["items"]}.isdisjoint(mine[1:])


def test_a_token_is_kept_once_and_is_of_one_person(room):
    ann, bob = Visitor(room, "ann"), Visitor(room, "bob")
    item, other = ann.state()["items"][0]["id"], bob.state()["items"][0]["id"]
    token = new_token()
    replies = [ann.say(item, ["elm"], token=token) for _ in range(3)]
    assert {reply.json()["answer"] for reply in replies} == {1}
    assert ann.say(item, ["oak"], token=token).json()["answer"] == 1  # the first one stands
    assert room.live.count.sum() == 1
    assert bob.say(other, ["elm"], token=token).status_code == 403
    assert bob.post("/undo", {"token": new_token(), "undoes": token}).status_code == 404


def test_bodies_and_haste_have_limits(room):
    ann = Visitor(room, "ann")
    item = ann.state()["items"][0]["id"]
    assert ann.say(item, ["elm"], comment="x" * LONGEST_BODY).status_code == 413

    def endless():
        for _ in range(100):
            yield b"x" * 1024

    assert ann.client.post("/answer", content=endless()).status_code == 413
    assert ann.client.post("/answer", content=b"[1").status_code == 400
    assert ann.client.post("/answer", content=b"[" * 5000).status_code == 400
    room.limits.answers = Bucket(3, 0.0)
    codes = [ann.post("/answer", {}).status_code for _ in range(5)]
    assert codes == [400, 400, 400, 429, 429]
    bucket = Bucket(2, 1.0)
    assert [bucket.take("a", now) for now in (0, 0, 0, 1.5, 1.6)] == [
        True,
        True,
        False,
        True,
        False,
    ]
    assert bucket.take("b", 0)


def test_invitations_are_used_by_a_button_and_end(room):
    token = invitation(room, "reviewer", uses=2)
    stored = room.store.ask("SELECT token_hash FROM invitation")[0][0]
    assert token not in stored
    for _ in range(3):  # previews of links use nothing up
        assert Visitor(room).get(f"/join/{token}").status_code == 200
    one = Visitor(room)
    reply = one.client.post(f"/join/{token}", data={"name": "  Cleo   B. "})
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert one.get("/overview").status_code == 200
    assert one.get("/people").status_code == 403
    taken = Visitor(room).client.post(f"/join/{token}", data={"name": "Cleo B."})
    assert taken.status_code == 400
    assert "is taken" in taken.text
    assert Visitor(room).client.post(f"/join/{token}", data={"name": "<b>Dan"}).status_code == 303
    assert Visitor(room).client.post(f"/join/{token}", data={"name": "Eve"}).status_code == 404
    old = invitation(room, days=-1)
    room.limits.joins = Bucket(10, 1.0)
    assert Visitor(room).client.post(f"/join/{old}", data={"name": "Eve"}).status_code == 404
    boss = Visitor(room, "boss", "manager")
    assert "&lt;b&gt;Dan" in boss.get("/people").text
    assert "<b>Dan" not in boss.get("/people").text
    room.limits.joins = Bucket(3, 0.0)
    codes = [Visitor(room).get("/join/x").status_code for _ in range(5)]
    assert codes == [404, 404, 404, 429, 429]


def test_sessions_can_be_ended_and_not_forged(room):
    boss, ann = Visitor(room, "boss", "manager"), Visitor(room, "ann")
    assert ann.get("/mine").status_code == 200
    reply = boss.client.post("/people/out", data={"person": ann.person.id})
    assert reply.status_code == 200
    assert ann.get("/mine").status_code == 401
    forged = Visitor(room)
    forged.client.cookies.set("plausible_session", room.sessions.sign(boss.person)[:-2] + "xx")
    assert forged.get("/mine").status_code == 401
    reply = boss.client.post("/people/role", data={"person": ann.person.id, "role": "reviewer"})
    assert room.people[ann.person.id].role == "reviewer"
    reply = boss.client.post("/people/role", data={"person": boss.person.id, "role": "annotator"})
    assert reply.status_code == 400  # nobody locks themselves out
    made = boss.client.post("/people/invite", data={"role": "annotator", "uses": "3"}).text
    assert "http://testserver/join/" in made


def test_the_link_of_this_machine(room):
    boss = web.find_or_add(room.store, "boss", "manager")
    room.meet()
    room.settings.local_person = boss.id
    stranger = Visitor(room)
    assert stranger.get("/?token=wrong").status_code == 401
    reply = stranger.get(f"/?token={TOKEN}")
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    assert stranger.get("/people").status_code == 200


def test_a_proxy_is_believed_only_from_its_address(room):
    room.settings.trust_header, room.settings.trusted_proxy = "x-remote-user", "10.0.0.1"
    app = web.make_app(room)
    for address, code in (("10.0.0.1", 200), ("10.0.0.2", 401)):
        client = TestClient(app, client=(address, 5000))
        assert client.get("/mine", headers={"x-remote-user": "zoe"}).status_code == code
    assert [one.name for one in room.people.values()] == ["zoe"]


PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


def test_media_by_number_inside_the_folder_and_of_known_types(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    files = {"a.png": PNG, "b.svg": b"<svg xmlns='http://www.w3.org/2000/svg'></svg>",
             "c.png": b"<script>alert(1)</script>", "d.wav": b"RIFF0000WAVEfmt "}  # fmt: skip
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (tmp_path / "secret.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    names = [*files, "../secret.png", str(tmp_path / "secret.png"), "link.png", "none.png"]
    room = open_room(tmp_path / "t.db", items={"item": list("abcdefgh"), "photo": names},
                     image="photo", media=folder)  # fmt: skip
    boss = Visitor(room, "boss", "manager")
    codes = [boss.get(f"/media/{k + 1}").status_code for k in range(len(names))]
    assert codes == [200, 404, 404, 200, 404, 404, 404, 404]
    reply = boss.get("/media/1")
    assert reply.headers["content-type"] == "image/png"
    assert "sandbox" in reply.headers["content-security-policy"]
    for path in ("/media/../t.db", "/media/%2e%2e/t.db", "/media/a.png", "/static/../app.py",
                 "/static/%2e%2e/app.py", "/static/..%2fapp.py"):  # fmt: skip
        assert boss.get(path).status_code == 404, path
    ann = Visitor(room, "ann")
    shown = {one["id"] for one in ann.state()["items"]}
    other = next(k for k in range(1, 9) if k not in shown)
    assert ann.get(f"/media/{other}").status_code == 404
    room.close()


def talk(room):
    """Answers of two people: hard ones, sets, cannot tell, none of these."""
    said = [(["elm"], "sure", "said"), (["birch", "oak"], "rather", "said"), ([], None, "cannot"),
            ([], None, "none"), (["ash", "elm", "oak"], "a guess", "said"),
            (["oak"], "rather", "said")]  # fmt: skip
    for name, start in (("ann", 0), ("bob", 3)):
        who = Visitor(room, name)
        for k in range(6):
            picks, word, kind = said[(start + k) % 6]
            item = who.state()["items"][0]["id"]
            reply = who.say(item, picks, word, kind, comment="=1+1" if k == 0 else None)
            assert reply.status_code == 200


def same_sets(one, two, none_is_silent=False):
    """Whether annotations say the same sets of the same items by the same people."""

    def said(answers):
        found = {}
        names = answers.classes.tolist()
        for k in range(len(answers)):
            contour = answers.contours[answers.statement[k]]
            key = str(answers.items[answers.item[k]]), str(answers.annotators[answers.annotator[k]])
            found[key] = frozenset(n for n, v in zip(names, contour, strict=True) if v > 0)
        return found

    return said(one) == said(two)


def test_what_goes_out_is_what_was_said(room, tmp_path):
    talk(room)
    expected = annotations_of(told(room.store))
    boss = Visitor(room, "boss", "manager")
    for form, name, read in (
        ("csv", "a.csv", read_annotations),
        ("label-studio", "a.json", read_label_studio),
    ):
        path = tmp_path / name
        path.write_bytes(boss.get(f"/export?as={form}").content)
        found = read(path, classes=CLASSES)
        assert same_sets(found, expected), form
    packed = zipfile.ZipFile(io.BytesIO(boss.get("/export?as=doccano").content))
    packed.extractall(tmp_path / "doccano")
    files = {path.stem: path for path in (tmp_path / "doccano").glob("*.jsonl")}
    assert set(files) == {"ann", "bob"}
    found = read_doccano(files, classes=CLASSES)
    assert same_sets(found, expected)
    path = tmp_path / "masses.csv"
    path.write_bytes(boss.get("/export?as=masses").content)
    found = read_annotations(path)  # which knows its classes
    assert found.classes.tolist() == CLASSES
    assert same_sets(found, expected)
    one, two = (answers.pool(on_conflict="unknown") for answers in (found, expected))
    assert found.items.tolist() == expected.items.tolist()
    np.testing.assert_allclose(one.contour, two.contour, atol=1e-12)
    np.testing.assert_allclose(one.conflict, two.conflict, atol=1e-12)


def test_a_table_tells_the_order_whether_it_counts_and_the_odds(room):
    ann, boss = Visitor(room, "ann"), Visitor(room, "boss", "manager")
    for more in ({}, {"level": True}, {"numbers": [5, 1, 2]}):
        item = ann.state()["items"][0]["id"]
        assert ann.say(item, ["ash", "birch", "oak"], "rather", **more).status_code == 200
    rows = list(csv.DictReader(io.StringIO(boss.get("/export?as=csv").text)))
    assert [(row["label"], row["equally"], row["odds"]) for row in rows] == [
        ("ash|birch|oak", "", ""),
        ("ash|birch|oak", "yes", ""),
        ("ash|birch|oak", "", "5 to 1 to 2"),
    ]


def test_formulas_are_neutralised_on_request(room):
    talk(room)
    boss = Visitor(room, "boss", "manager")
    for asked, wanted in (("", "=1+1"), ("&spreadsheet=on", "'=1+1")):
        rows = list(csv.DictReader(io.StringIO(boss.get(f"/export?as=csv{asked}").text)))
        assert {row["comment"] for row in rows} == {"", wanted}


def test_what_comes_in_is_added_once(room):
    boss = Visitor(room, "boss", "manager")
    text = "item,annotator,label,doubt\ntree 1,zoe,elm|oak,0.4\ntree 2,zoe,cannot tell,\n"
    for added in (2, 0):
        reply = boss.client.post("/import", content=text, headers={"x-file-name": "../../x.csv"})
        assert (reply.status_code, reply.json()) == (200, {"taken": added})
    assert room.live.count.sum() == 2
    answers = annotations_of(told(room.store))
    assert answers.annotators.tolist() == ["zoe"]
    for bad in ("item,annotator,label\ntree 1,zoe,fig\n", "item,annotator,label\nshrub,zoe,elm\n"):
        reply = boss.client.post("/import", content=bad, headers={"x-file-name": "x.csv"})
        assert reply.status_code == 400
        assert "of the study" in reply.json()["error"]


def test_reviewers_read_comments_and_names_unless_these_are_hidden(tmp_path):
    for names in (True, False):
        room = open_room(tmp_path / f"{names}.db", 2, answers=2, names=names)
        for name, pick in (("Ada", "elm"), ("Ben", "oak")):
            who = Visitor(room, name)
            for item in who.state()["items"]:
                who.say(item["id"], [pick], comment=f"<i>{pick}</i>")
        boss = Visitor(room, "boss", "reviewer")
        for path in ("/clashes/1", "/report"):
            text = boss.get(path).text
            assert ("Ada" in text) == ("Ben" in text) == names, path
            assert ("person 1" in text) != names, path
        text = boss.get("/clashes/1").text
        assert "&lt;i&gt;elm&lt;/i&gt;" in text
        assert "&lt;i&gt;oak&lt;/i&gt;" in text
        room.close()


def test_settling_decides_and_the_settler_is_asked_no_more(tmp_path):
    room = open_room(tmp_path / "t.db", 2, answers=2)
    for name, pick in (("ann", "elm"), ("bob", "oak")):
        Visitor(room, name).answer_all(lambda item, pick=pick: ([pick], "sure"))
    boss = Visitor(room, "boss", "reviewer")
    now = boss.get("/overview.json")
    assert now.json()["clash"] == 2
    tag = now.headers["etag"]
    assert boss.get("/overview.json", headers={"if-none-match": tag}).status_code == 304
    assert "tree 0" in boss.get("/clashes").text
    page = boss.get("/clashes/1").text
    assert all(name in page for name in ("ann", "bob", "elm", "oak"))
    assert "tree 0" not in {one["name"] for one in boss.state()["items"]}
    reply = boss.client.post("/settle", data={"item": "1", "what": "settle", "why": "a slip",
                                              "label": ["oak", "birch"]})  # fmt: skip
    assert reply.status_code == 303
    contour = dict(zip(CLASSES, room.live.contours()[0], strict=True))
    assert contour["oak"] == 1
    assert contour["elm"] < 0.1
    assert boss.client.post("/settle", data={"item": "2", "what": "open"}).status_code == 303
    found = boss.get("/overview.json", headers={"if-none-match": tag}).json()
    assert (found["settled"], found["unknown"], found["clash"]) == (1, 1, 0)
    assert boss.client.post("/settle", data={"item": "2", "what": "again"}).status_code == 303
    assert not room.live.ended[1]
    for bad in ({"what": "settle", "why": "a slip"},
                {"what": "settle", "label": "fig", "why": "a slip"},
                {"what": "settle", "label": "oak", "why": "?"}, {"what": "sing"}):  # fmt: skip
        assert boss.client.post("/settle", data={"item": "1"} | bad).status_code == 400
    room.close()


def test_others_are_not_seen_before_ones_own_answer(room):
    ann, bob = Visitor(room, "ann"), Visitor(room, "bob")
    ann.answer_all(lambda item: (["birch"], "sure"))
    room.asking.until[:] = 0
    for path in ("/", "/next", "/mine", "/guide"):
        text = bob.get(path).text
        assert "ann" not in text.replace("annot", "")
    for one in bob.state()["items"]:
        assert set(one) == {"id", "name", "kind", "content", "media", "shown"}


def test_practice_shows_the_truth_and_keeps_nothing(tmp_path):
    gold = {f"tree {k}": "elm" for k in range(8)}
    room = open_room(tmp_path / "t.db", 12, gold=gold)
    assert room.live.practice.sum() == 2
    ann = Visitor(room, "ann")
    assert "it is" not in ann.get("/practice").text
    assert "it is <strong>elm" in ann.client.post("/practice?n=0", data={"class": "oak"}).text
    assert "That was all" in ann.get("/practice?n=2").text
    assert not room.live.answers.size
    room.close()


def test_my_answers_can_be_found_and_changed(room):
    ann = Visitor(room, "ann")
    said = ann.answer_all(lambda item: (["elm"] if "3" in item["name"] else ["oak"], "rather"))
    assert len(said) == 12
    text = ann.get("/mine?q=elm").text
    assert "tree 3" in text
    assert "tree 4" not in text
    item = next(one.id for one in room.live.items if one.name == "tree 4")
    again = ann.get(f"/?item={item}").text
    first = json.loads(again.split('id="state">')[1].split("</script>")[0])["items"][0]
    assert first["id"] == item
    assert ann.say(item, ["birch"], "sure").status_code == 200
    assert "birch" in ann.get("/mine?q=tree 4").text
    kept = room.store.ask("SELECT count(*), max(replaces) FROM answer")
    assert kept[0][0] == 13
    assert kept[0][1] is not None


def test_what_was_put_off_comes_back(room):
    ann = Visitor(room, "ann")
    first = ann.state()["items"][0]
    reply = ann.post("/later", {"token": new_token(), "item": first["id"]})
    assert reply.status_code == 200
    assert first["id"] not in {one["id"] for one in ann.state()["items"]}
    said = ann.answer_all(lambda item: (["elm"], "sure"), 11)
    assert first["name"] not in said
    assert ann.state()["items"][0]["id"] == first["id"]
    assert room.live.count.sum() == 11


def test_the_report_is_live(room):
    talk(room)
    text = Visitor(room, "rob", "reviewer").get("/report").text
    assert "ann" in text
