"""Answers as people have them: read rightly, or refused with the option that mends it.

Every file here is read twice: in Python, and by the command, which must say the same. Where it is
refused, the option that the message names is given, and what comes out then must be right.
"""

import io
import json
import re
import shlex
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from plausible.cli import main
from plausible.errors import InputError
from plausible.experts import Annotations
from plausible.io import TableError, read_annotations, read_known, read_training

ALL, NOTHING = "all classes", "no class"  # "cannot tell" and "none of these"


@dataclass
class Right:
    """What an answers file means.

    said : sorted list of (item, annotator, classes joined by |, or `ALL`, or `NOTHING`)
    notes : words that notes must hold, each in one of them
    """

    said: list[tuple[str, str, str]]
    notes: list[str] = field(default_factory=list)
    doubt: list[float] | None = None
    classes: list[Any] | None = None


@dataclass
class Refused:
    """A refusal: words of the message, the option that mends it, and what comes out then."""

    words: list[str]
    option: str
    then: Right
    value: Any = None  # another value of the option than that of the message


@dataclass
class Case:
    file: str
    expected: Right | Refused
    name: str = "answers.csv"
    options: dict[str, Any] = field(default_factory=dict)


def meaning_of(answers: Annotations) -> list[tuple[str, str, str]]:
    contours = answers.contours
    found = []
    for item, who, statement in zip(
        answers.item, answers.annotator, answers.statement, strict=True
    ):
        possible = contours[statement] == 1
        names = "|".join(sorted(str(name) for name in answers.classes[possible]))
        said = NOTHING if not possible.any() else ALL if possible.all() else names
        found.append((str(answers.items[item]), str(answers.annotators[who]), said))
    return sorted(found)


def rows(*cells: str) -> list[tuple[str, str, str]]:
    """``"x ann cat"``: item, annotator and answer."""
    return sorted((a, b, c) for a, b, c in (cell.split(maxsplit=2) for cell in cells))


PLAIN = rows("x ann cat", "x bob dog", "y ann dog", "y bob dog")
STUDIO = [
    {
        "id": number,
        "data": {"image": image, "caption": "so so"},
        "annotations": [
            {
                "completed_by": {"id": 3, "email": who},
                "was_cancelled": chosen is None,
                "result": [
                    {"from_name": "animal", "type": "choices", "value": {"choices": chosen}},
                ]
                if chosen
                else [],
            }
            for who, chosen in said.items()
        ],
        "predictions": [{"result": []}],
    }
    for number, image, said in [
        (7, "x", {"ann": ["cat"], "bob": ["dog", "cat"]}),
        (9, "y", {"ann": None, "bob": ["dog"], "cy": ["eel"]}),
    ]
]
TURK = """HITId,HITTypeId,AssignmentStatus,WorkerId,Input.image_url,Answer.category,Answer.comment
h1,t,Approved,ann,x,cat,
h1,t,Approved,bob,x,dog,blurred
h2,t,Submitted,ann,y,dog,
h2,t,Approved,bob,y,dog,
h2,t,Rejected,cy,y,cat,spam
"""


def lines(*records: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, records)) + "\n"


def prodigy(text: str, who: str, **more: Any) -> dict[str, Any]:
    return {"text": text, "_input_hash": ord(text), "_session_id": who, **more}


OPTIONS = [{"id": name, "text": name.upper()} for name in ("cat", "dog", "eel")]
NEVER = Right([])  # such a file holds no answers, whatever is said about it
COUNTS = "photo,cat,dog,eel\nx,5,0,0\ny,1,3,1\nz,0,0,5\n"
BY_CLASS = rows(*["x anyone cat"] * 5, "y anyone cat", *["y anyone dog"] * 3, "y anyone eel",
                *["z anyone eel"] * 5)  # fmt: skip

# Twelve answers of three people, as (number, item, person, answer).
GRID = [
    (3 * k + j, item, who, ("cat", "dog", "eel")[(k + (j == 2)) % 3])
    for k, item in enumerate(("i0", "i1", "i2", "i3"))
    for j, who in enumerate(("ann", "bob", "cy"))
]
SAID = [(item, who, said) for _, item, who, said in GRID]

CASES = {
    # -- Other tools
    "frames and those they were assigned to": Case(
        "task;job;assignee;frame;label;type\n"
        + "".join(f"pets;7;{who};{item};{said};tag\n" for _, item, who, said in GRID),
        Refused(
            ["'task' is the same in every row, and 'frame' looks like items"],
            "names",
            Right(SAID, ["not used: 'task', 'job', 'type'"]),
        ),
        name="pets.csv",
        options={"names": {"annotator": "assignee"}},
    ),
    "Toloka": Case(
        "INPUT:image\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:assignment_id\t"
        "ASSIGNMENT:worker_id\tASSIGNMENT:status\n"
        + "".join(f"{item}\t{said}\t\ta{n}\t{who}\tAPPROVED\n" for n, item, who, said in GRID),
        Right(SAID, ["'toloka.tsv' was read as an export of Toloka"]),
        name="toloka.tsv",
    ),
    "Zooniverse": Case(
        "classification_id,user_name,user_id,workflow_id,annotations,subject_ids\n"
        + "".join(
            f'{n},{who}!,{who},1,"[{{""task"":""T0"",""value"":""{said}""}}]",{item}\n'
            for n, item, who, said in GRID
        ),
        Right(
            [(item, f"{who}!", said) for item, who, said in SAID],
            ["was read as an export of Zooniverse", "not used: 'classification_id', 'user_id'"],
        ),
    ),
    "the short JSON of Label Studio with ids of answers": Case(
        json.dumps(
            [
                {
                    "id": n,
                    "image": item,
                    "animal": said,
                    "annotator": who,
                    "annotation_id": 90 + n,
                    "lead_time": 1.5,
                }
                for n, item, who, said in GRID
            ]
        ),
        Refused(
            ["'image', 'animal' could be"],
            "names",
            Right(SAID),
            {"label": "animal", "item": "image"},
        ),
        name="min.json",
    ),
    "a mark for the class of each answer": Case(
        "item,annotator,cat,dog,eel\n"
        + "".join(
            f"{item},{who},{','.join(str(int(said == k)) for k in ('cat', 'dog', 'eel'))}\n"
            for _, item, who, said in GRID
        ),
        Refused(["'cat', 'dog', 'eel' look like numbers by class"], "kind", Right(SAID)),
    ),
    # -- Columns
    "capitals": Case(
        "Item,Annotator,Label\nx,ann,cat\nx,bob,dog\ny,ann,dog\ny,bob,dog\n", Right(PLAIN)
    ),
    "camel case and hyphens": Case(
        "Task-ID,WorkerId,Answer,Accept Time\nx,ann,cat,1\nx,bob,dog,2\ny,ann,dog,3\ny,bob,dog,4\n",
        Right(PLAIN, ["not used: 'Accept Time'"]),
    ),
    "blanks in the header, semicolons": Case(
        " item ; rater ; category \nx;ann;cat\nx;bob;dog\ny;ann;dog\ny;bob;dog\n", Right(PLAIN)
    ),
    "Mechanical Turk": Case(
        TURK,
        Right(
            PLAIN,
            [
                "results of Mechanical Turk",
                "column 'Input.image_url'",
                "1 answer left out",
                "not used: 'Answer.comment', 'HITId', 'HITTypeId'",
            ],
        ),
    ),
    "Mechanical Turk with two questions": Case(
        "HITId,WorkerId,Input.url,Answer.animal,Answer.color\n"
        "1,ann,x,cat,red\n1,bob,x,dog,red\n2,ann,y,dog,red\n2,bob,y,dog,blue\n",
        Refused(
            ["'Answer.animal', 'Answer.color'"],
            "names",
            Right(PLAIN, ["not used: 'Answer.color', 'HITId'"]),
        ),
    ),
    "Mechanical Turk with buttons": Case(
        "HITId,WorkerId,Input.url,Answer.taskAnswers\n"
        + "".join(
            f'{hit},{who},{item},"[{{""animal"":{{""cat"":{cat},""dog"":{dog}}}}}]"\n'
            for hit, who, item, cat, dog in [
                (1, "ann", "x", "true", "false"),
                (1, "bob", "x", "false", "true"),
                (2, "ann", "y", "false", "true"),
                (2, "bob", "y", "false", "true"),
            ]
        ),
        Right(PLAIN),
    ),
    "Mechanical Turk with a column for each button": Case(
        "HITId,AssignmentStatus,WorkerId,Input.url,Answer.cat.on,Answer.dog.on,Answer.not sure.on\n"
        "1,Approved,ann,x,true,false,false\n1,Approved,bob,x,FALSE,TRUE,FALSE\n"
        "2,Approved,ann,y,true,true,false\n2,Approved,bob,y,false,false,false\n"
        "2,Approved,cy,y,false,false,true\n2,Rejected,dan,y,true,true,false\n",
        Right(
            rows("x ann cat", "x bob dog", f"y ann {ALL}", f"y bob {ALL}", f"y cy {ALL}"),
            [
                "chosen or not in 'Answer.cat.on', 'Answer.dog.on'",
                "1 answer with several classes, read as one of these",
                "1 answer in which nothing is chosen, read as cannot tell",
                "read as 'cannot tell': 'not sure' (1 answer)",
            ],
        ),
    ),
    "Mechanical Turk with boxes to tick": Case(
        "HITId,WorkerId,Input.url,Answer.animal.cat,Answer.animal.dog,Answer.feedback\n"
        "1,ann,x,on,,nice\n1,bob,x,,on,\n2,ann,y,,on,\n2,bob,y,,on,\n",
        Right(PLAIN, ["not used: 'Answer.feedback', 'HITId'"]),
    ),
    "Mechanical Turk with two questions in boxes": Case(
        "HITId,WorkerId,Input.url,Answer.a.cat,Answer.a.dog,Answer.b.red,Answer.b.blue\n"
        "1,ann,x,true,false,true,false\n1,bob,x,false,true,true,false\n"
        "2,ann,y,false,true,false,true\n2,bob,y,false,true,true,false\n",
        Refused(["'Answer.a', 'Answer.b'"], "ignore", Right(PLAIN)),
    ),
    "Mechanical Turk with questions of yes and no": Case(
        "HITId,WorkerId,Input.url,Answer.furry,Answer.loud\n"
        "1,ann,x,true,true\n1,bob,x,false,false\n2,ann,y,true,true\n2,bob,y,false,true\n",
        Refused(
            ["'Answer.furry', 'Answer.loud'"],
            "names",
            Right(rows("x ann True", "x bob False", "y ann True", "y bob False")),
        ),
    ),
    "counts by class": Case(
        COUNTS,
        Refused(["look like counts", "about 5 in each row"], "kind", Right(BY_CLASS)),
        options={"names": {"item": "photo"}},
    ),
    "counts by class of unequal sums": Case(
        "photo,cat,dog,eel\n"
        + "".join(
            f"i{k},{','.join('0' if j != k % 3 else str(1 + k % 4) for j in range(3))}\n"
            for k in range(12)
        ),
        Refused(
            ["'cat', 'dog', 'eel' look like counts"],
            "kind",
            Right(
                sorted(
                    (f"i{k}", "anyone", ("cat", "dog", "eel")[k % 3])
                    for k in range(12)
                    for _ in range(1 + k % 4)
                ),
                ["items are those of the column 'photo'"],
            ),
        ),
    ),
    "people who agree in numbers from 0": Case(
        "photo,r1,r2,r3\n"
        + "".join(f"i{k},{k % 4},{k % 4},{(k + (k == 5)) % 4}\n" for k in range(9)),
        Right(
            sorted(
                (f"i{k}", f"r{r}", str((k + (k == 5 and r == 3)) % 4))
                for k in range(9)
                for r in (1, 2, 3)
            ),
            ["items are those of the column 'photo'", "read as a person: r1, r2, r3"],
        ),
    ),
    "a vote beside the people": Case(
        "photo,ann,bob,cy,Majority\nw,cat,cat,dog,cat\nx,dog,dog,dog,dog\ny,cat,cat,cat,cat\n"
        "z,dog,,dog,dog\n",
        Refused(
            ["'Majority' may be what was made of them"],
            "ignore",
            Right(
                rows(
                    "w ann cat",
                    "w bob cat",
                    "w cy dog",
                    "x ann dog",
                    "x bob dog",
                    "x cy dog",
                    "y ann cat",
                    "y bob cat",
                    "y cy cat",
                    "z ann dog",
                    "z cy dog",
                )
            ),
        ),
    ),
    "a code for no answer": Case(
        "photo,r1,r2\n"
        + "".join(f"i{k},{1 + k % 3},{99 if k == 4 else 1 + k % 3}\n" for k in range(6)),
        Right(
            sorted(
                (f"i{k}", f"r{r}", "99" if k == 4 and r == 2 else str(1 + k % 3))
                for k in range(6)
                for r in (1, 2)
            ),
            ["read as a class: 99 (1 answer), though other classes are 1 to 3"],
        ),
    ),
    "the first line that Excel writes": Case(
        "sep=;\r\nitem;annotator;label\r\nx;ann;cat\r\nx;bob;dog\r\ny;ann;dog\r\ny;bob;dog\r\n",
        Right(PLAIN, ["semicolons separate its cells"]),
    ),
    "sureness with decimal commas": Case(
        "item;rater;class;confidence\nx;ann;cat;0,9\nx;bob;dog;1,00\ny;ann;dog;0,75\ny;bob;dog;0,5\n",
        Right(PLAIN, ["doubt = 1 - confidence"], doubt=[0.1, 0.0, 0.25, 0.5]),
    ),
    "German names and sureness": Case(
        "Bild;Bearbeiter;Klasse;Sicherheit\n"
        + "".join(
            f"i{k};p{j};{'Hund' if j else 'Vögel'};0,{5 + j}\n" for k in range(4) for j in range(3)
        ),
        Refused(
            ["'Sicherheit' holds fractions"],
            "names",
            Right(
                sorted(
                    (f"i{k}", f"p{j}", "Hund" if j else "Vögel") for k in range(4) for j in range(3)
                ),
                ["not used: 'Sicherheit'"],
            ),
        ),
    ),
    "lists of Python": Case(
        "image,annotator,labels\nx,ann,['cat']\nx,bob,\"['dog', 'cat']\"\n"
        "y,ann,['dog']\ny,bob,['eel']\n",
        Right(rows("x ann cat", "x bob cat|dog", "y ann dog", "y bob eel")),
    ),
    "a data set of Argilla": Case(
        lines(
            *[
                {
                    "text": item,
                    "external_id": item,
                    "animal-suggestion": None,
                    "animal": [
                        {"user_id": who, "value": said, "status": "submitted"}
                        for who, said in given
                    ],
                }
                for item, given in [
                    ("x", [("ann", "cat"), ("bob", "dog")]),
                    ("y", [("ann", "dog"), ("bob", "dog")]),
                ]
            ]
        ),
        Right(PLAIN, ["an export of Argilla"]),
        "records.jsonl",
    ),
    "unknown names": Case(
        "photo,who,said\nx,ann,cat\nx,bob,dog\ny,ann,dog\ny,bob,dog\n",
        Refused(["'photo', 'who', 'said'"], "names", Right(PLAIN)),
    ),
    "names that say nothing": Case(
        "a,b,c\n"
        + "".join(f"i{k},p{j},{'cat' if j else 'dog'}\n" for k in range(9) for j in range(4)),
        Refused(
            ["'a', 'b', 'c'"],
            "names",
            Right(
                sorted(
                    (f"i{k}", f"p{j}", "cat" if j else "dog") for k in range(9) for j in range(4)
                )
            ),
        ),
    ),
    "two columns that could be the label": Case(
        "item,annotator,answer,category\nx,ann,cat,1\nx,bob,dog,1\ny,ann,dog,2\ny,bob,dog,2\n",
        Refused(["'answer', 'category' could be"], "names", Right(PLAIN)),
    ),
    "ids of answers": Case(
        "id,photo_nr,annotator,label\n"
        + "".join(
            f"{4 * k + j},i{k},p{j},{'cat' if j % 2 else 'dog'}\n"
            for k in range(5)
            for j in range(4)
        ),
        Refused(
            ["another one in every row", "'photo_nr' looks like items"],
            "names",
            Right(
                sorted(
                    (f"i{k}", f"p{j}", "cat" if j % 2 else "dog")
                    for k in range(5)
                    for j in range(4)
                )
            ),
        ),
    ),
    "free text": Case(
        "item,annotator,answer\n" + "".join(f"{k},ann,I saw {k} of them\n" for k in range(40)),
        Refused(["40 different ones in 40 answers"], "names", NEVER),
    ),
    "a survey about persons": Case(
        "person,gender,smoker,city\n"
        + "".join(
            f"p{k},{'mf'[k % 2]},{'yn'[k % 3 == 0]},{['Rome', 'Paris', 'Kyiv', 'Lima'][k % 4]}\n"
            for k in range(12)
        ),
        Refused(["'person', 'gender', 'smoker', 'city'"], "names", NEVER),
    ),
    "a column for each person": Case(
        "nr,ann,bob\nx,cat,dog\ny,dog,dog\nz,cat,\n",
        Right(
            rows("x ann cat", "x bob dog", "y ann dog", "y bob dog", "z ann cat"),
            ["read as a person: ann, bob"],
        ),
        options={"names": {"item": "nr"}},
    ),
    # -- Words
    "words of not knowing": Case(
        "item,annotator,label\nx,ann,cat\nx,bob,not sure\nx,cy,Cannot tell\ny,ann,n/a\n"
        "y,bob,I don't know\ny,cy,dog\nz,ann,?\nz,bob,\nz,cy,None of the above\n",
        Right(
            rows(
                "x ann cat",
                f"x bob {ALL}",
                f"x cy {ALL}",
                f"y ann {ALL}",
                f"y bob {ALL}",
                "y cy dog",
                f"z ann {ALL}",
                f"z bob {ALL}",
                f"z cy {NOTHING}",
            ),
            ["'not sure' (1 answer)", "left empty", "'None of the above' (1 answer)"],
        ),
    ),
    "spellings": Case(
        'item,annotator,label\nx,ann,blues\nx,bob,BLUES\nx,cy,"blues "\ny,ann,hip-hop\n'
        "y,bob,Hip Hop\ny,cy,hip_hop\nz,ann,blues\nz,bob,blues\nz,cy,hip-hop\n",
        Right(
            rows(
                "x ann blues",
                "x bob blues",
                "x cy blues",
                "y ann hip-hop",
                "y bob hip-hop",
                "y cy hip-hop",
                "z ann blues",
                "z bob blues",
                "z cy hip-hop",
            ),
            ["'blues' (3 answers), 'BLUES' (1), 'blues ' (1)"],
        ),
    ),
    "either of two": Case(
        "item,annotator,label\nx,ann,cat\nx,bob,cat/dog\ny,ann,Dog or cat\ny,bob,dog\nz,ann,eel\n"
        'z,bob,"cat, dog or eel"\n',
        Right(
            rows(
                "x ann cat",
                "x bob cat|dog",
                "y ann cat|dog",
                "y bob dog",
                "z ann eel",
                f"z bob {ALL}",
            ),
            ["'cat/dog' (1 answer), 'Dog or cat' (1)"],
        ),
    ),
    "two at once": Case(
        "item,annotator,label\nx,ann,cat\nx,bob,cat & dog\ny,ann,dog\n"
        'y,bob,"dog, cat"\nz,ann,eel\n',
        Refused(
            ["'cat & dog' (1 answer), 'dog, cat' (1)"],
            "map",
            Right(rows("x ann cat", "x bob cat|dog", "y ann dog", "y bob cat|dog", "z ann eel")),
            {"cat & dog": "cat|dog", "dog, cat": "cat|dog"},
        ),
    ),
    "cells of JSON": Case(
        'item,annotator,label\nx,ann,"{""choices"": [""cat"", ""dog""]}"\nx,bob,"[""eel""]"\n'
        'y,ann,cat\ny,bob,"[""dog"", ""eel""]"\n',
        Right(
            rows("x ann cat|dog", "x bob eel", "y ann cat", "y bob dog|eel"),
            ["2 answers with a list"],
        ),
    ),
    "a typo among hundreds": Case(
        "item,annotator,label\n"
        + "".join(f"i{k},ann,{'blues' if k % 2 else 'jazz'}\n" for k in range(240))
        + "x,ann,bleus\ny,ann,polka\n",
        Right(
            sorted(
                [(f"i{k}", "ann", "blues" if k % 2 else "jazz") for k in range(240)]
                + [("x", "ann", "bleus"), ("y", "ann", "polka")]
            ),
            ["may be typos: 'bleus' (1 answer)", "hardly anybody named: 'polka' (1 answer)"],
        ),
    ),
    "a word that may be a class": Case(
        "item,annotator,label\nx,ann,cat\nx,bob,other\ny,ann,dog\ny,bob,cat\n",
        Right(
            rows("x ann cat", "x bob other", "y ann dog", "y bob cat"),
            ["read as classes: 'other' (1 answer)"],
        ),
    ),
    "letters in both cases": Case(
        "item,annotator,label\nx,ann,y\nx,bob,Y\ny,ann,n\ny,bob,y\n",
        Refused(
            ["both 'y' (2 answers) and 'Y' (1)"],
            "map",
            Right(rows("x ann y", "x bob y", "y ann n", "y bob y")),
        ),
    ),
    "a class that is not listed": Case(
        "item,annotator,label\nx,ann,cat\nx,bob,dgo\ny,ann,dgo\ny,bob,emu\nz,bob,Cat\n",
        Refused(
            [
                "'dgo' in 2 rows (row 2 on line 3, row 3 on line 4)",
                "'emu' in 1 row (row 4 on line 5)",
            ],
            "map",
            Right(
                rows("x ann cat", "x bob dog", "y ann dog", f"y bob {ALL}", "z bob cat"),
                ["'cat' (1 answer), 'Cat' (1)"],
            ),
            {"dgo": "dog", "emu": "cannot tell"},
        ),
        options={"classes": ["cat", "dog", "eel"]},
    ),
    # -- How sure people are
    "confidence": Case(
        "item,annotator,label,Confidence\nx,ann,cat,0.9\nx,bob,dog,0.6\ny,ann,dog,1\ny,bob,dog,0.7\n",
        Right(PLAIN, ["'Confidence' was read as confidence"], [0.1, 0.4, 0.0, 0.3]),
    ),
    "percent": Case(
        "item,annotator,label,certainty\nx,ann,cat,90\nx,bob,dog,60\ny,ann,dog,100\ny,bob,dog,5\n",
        Right(PLAIN, ["read as percent, from 5 to 100"], [0.1, 0.4, 0.0, 0.95]),
    ),
    "percent with marks, one of them blank": Case(
        "item,annotator,label,sure\nx,ann,cat,90%\nx,bob,dog,60 %\ny,ann,dog,50%\ny,bob,dog,\n",
        Right(PLAIN, ["1 answer has no doubt"], [0.1, 0.4, 0.5, 0.4]),
    ),
    "words of confidence": Case(
        "item,annotator,label,confidence\nx,ann,cat,high\nx,bob,dog,Low\ny,ann,dog,high\n"
        "y,bob,dog,low\n",
        Refused(
            ["it holds 'high', 'Low', 'low'"],
            "words",
            Right(PLAIN, ["the doubt of each word"], [0.05, 0.5, 0.05, 0.5]),
        ),
    ),
    "ratings of confidence": Case(
        "item,annotator,label,confidence\nx,ann,cat,5\nx,bob,dog,1\ny,ann,dog,3\ny,bob,dog,5\n",
        Refused(["ratings 1, 3, 5"], "words", Right(PLAIN, [], [0.05, 0.8, 0.42, 0.05])),
    ),
    "a score": Case(
        "item,annotator,label,score\nx,ann,cat,0.9\nx,bob,dog,0.6\ny,ann,dog,1\ny,bob,dog,0.7\n",
        Refused(["'score'"], "names", Right(PLAIN, [], [0.1, 0.4, 0.0, 0.3])),
    ),
    "a probability that is a confidence": Case(
        "item,annotator,label,probability\nx,ann,cat,0.9\nx,bob,dog,0.6\ny,ann,dog,1\n"
        "y,bob,dog,0.7\n",
        Refused(["one row for each answer"], "names", Right(PLAIN, [], [0.1, 0.4, 0.0, 0.3])),
    ),
    "both doubt and confidence": Case(
        "item,annotator,label,doubt,confidence\nx,ann,cat,0.1,0.9\nx,bob,dog,0.4,0.6\n"
        "y,ann,dog,0,1\ny,bob,dog,0.3,0.7\n",
        Refused(["'doubt' and 'confidence'"], "ignore", Right(PLAIN, [], [0.1, 0.4, 0.0, 0.3])),
    ),
    "blank doubts": Case(
        "item,annotator,label,doubt\nx,ann,cat,0.2\nx,bob,dog,\ny,ann,dog,\ny,bob,dog,0.4\n",
        Right(PLAIN, ["2 answers have no doubt"], [0.2, 0.4, 0.2, 0.4]),
    ),
    # -- Numbers and repetitions
    "-1 beside many classes": Case(
        "item,annotator,label\nx,ann,0\nx,bob,-1\ny,ann,2\ny,bob,1\n",
        Right(
            rows("x ann 0", f"x bob {ALL}", "y ann 2", "y bob 1"),
            ["-1 was answered once, beside 0 to 2"],
            classes=[0, 1, 2],
        ),
    ),
    "-1 beside 0 and 1": Case(
        "item,annotator,label\nx,ann,0\nx,bob,-1\ny,ann,1\ny,bob,1\n",
        Refused(
            ["-1 was answered once beside 0 and 1"],
            "map",
            Right(rows("x ann 0", f"x bob {ALL}", "y ann 1", "y bob 1"), [], None, [0, 1]),
        ),
    ),
    "-1 and 1": Case(
        "item,annotator,label\nx,ann,1\nx,bob,-1\ny,ann,-1\n",
        Right(
            rows("x ann 1", "x bob -1", "y ann -1"),
            ["-1 was answered 2 times: read as a class"],
            classes=[-1, 1],
        ),
    ),
    "answers given twice": Case(
        "item,annotator,label\nx,ann,cat\nx,ann,cat\nx,bob,dog\ny,ann,dog\ny,ann,cat\ny,bob,dog\n",
        Right(
            rows("x ann cat", "x ann cat", "x bob dog", "y ann dog", "y ann cat", "y bob dog"),
            ["1 answer repeats", "Once, a person gave different answers"],
        ),
    ),
    "anonymous": Case(
        "item,label\nx,cat\nx,dog\nx,cat\ny,dog\ny,dog\n",
        Right(
            rows("x anyone cat", "x anyone cat", "x anyone dog", "y anyone dog", "y anyone dog"),
            ["answers are anonymous"],
        ),
    ),
    "people whom no name tells": Case(
        "item,label,initials\n"
        + "".join(
            f"i{k},{'cat' if (k + j) % 3 else 'dog'},p{j}\n" for k in range(6) for j in range(3)
        ),
        Refused(
            ["'initials' looks like one"],
            "names",
            Right(
                sorted(
                    (f"i{k}", f"p{j}", "cat" if (k + j) % 3 else "dog")
                    for k in range(6)
                    for j in range(3)
                )
            ),
        ),
    ),
    "names with blanks around them": Case(
        "item,annotator,label\nx,ann,cat\nx ,bob,dog\ny, ann,dog\ny,bob,dog\n",
        Right(PLAIN, ["items that differ by blanks", "annotators that differ by blanks"]),
    ),
    # -- Exports
    "Label Studio": Case(
        json.dumps(STUDIO),
        Right(
            rows("7 ann cat", "7 bob cat|dog", f"9 ann {ALL}", "9 bob dog", "9 cy eel"),
            ["export of Label Studio", "skipped", "names={'item': 'data.image'}"],
        ),
        name="project-1.json",
    ),
    "Label Studio by a field of the data": Case(
        json.dumps(STUDIO, indent=1),
        Right(
            rows("x ann cat", "x bob cat|dog", f"y ann {ALL}", "y bob dog", "y cy eel"),
            ["predictions of models, which are not used: 2"],
        ),
        name="project-2.json",
        options={"names": {"item": "data.image"}},
    ),
    "Label Studio's short JSON": Case(
        json.dumps(
            [
                {
                    "id": n,
                    "image": image,
                    "animal": animal,
                    "annotator": who,
                    "annotation_id": k,
                    "created_at": "2024-01-01",
                    "updated_at": "2024-01-02",
                    "lead_time": 1.5,
                }
                for k, (n, image, animal, who) in enumerate(
                    [
                        (1, "x", "cat", "ann"),
                        (1, "x", {"choices": ["cat", "eel"]}, "bob"),
                        (2, "y", "dog", "ann"),
                        (2, "y", "eel", "bob"),
                    ]
                )
            ]
        ),
        Right(rows("x ann cat", "x bob cat|eel", "y ann dog", "y bob eel")),
        name="min.json",
        options={"names": {"item": "image"}},
    ),
    "Label Studio's CSV with ratings": Case(
        "annotation_id,annotator,created_at,id,image,lead_time,stars,updated_at\n"
        + "".join(
            f'{k},{who},2024,{item},im{item}.png,{k}.5,"[{{""rating"": {stars}}}]",2024\n'
            for k, (item, who, stars) in enumerate(
                [(1, "ann", 4), (1, "bob", 5), (2, "ann", 1), (2, "bob", 4)]
            )
        ),
        Right(
            rows("1 ann 4", "1 bob 5", "2 ann 1", "2 bob 4"),
            ["export of Label Studio"],
            classes=[1, 4, 5],
        ),
    ),
    "doccano": Case(
        lines(
            {"id": 1, "text": "hi", "label": ["cat"]},
            {"id": 2, "text": "ho", "label": []},
            {"id": 3, "text": "he", "label": ["dog", "cat"]},
            {"id": 4, "text": "a", "label": ["eel"]},
        ),
        Right(
            rows("1 ann cat", f"2 ann {ALL}", "3 ann cat|dog", "4 ann eel"), ["export of doccano"]
        ),
        name="ann.jsonl",
    ),
    "Prodigy with options": Case(
        lines(
            prodigy("x", "ann", options=OPTIONS, accept=["cat"], answer="accept"),
            prodigy("x", "bob", options=OPTIONS, accept=["cat", "dog"], answer="accept"),
            prodigy("y", "ann", options=OPTIONS, accept=[], answer="ignore"),
            prodigy("y", "bob", options=OPTIONS, accept=["eel"], answer="accept"),
        ),
        Right(
            rows("x ann cat", "x bob cat|dog", f"y ann {ALL}", "y bob eel"),
            ["export of Prodigy", "'ignore', which count as 'cannot tell': 1"],
        ),
        name="db-out.jsonl",
        options={"names": {"item": "text"}},
    ),
    "Prodigy, one label at a time": Case(
        lines(
            prodigy("x", "ann", label="cat", answer="accept"),
            prodigy("x", "bob", label="dog", answer="reject"),
            prodigy("y", "ann", label="eel", answer="accept"),
        ),
        Right(rows("x ann cat", "x bob cat|eel", "y ann eel")),
        name="teach.jsonl",
        options={"names": {"item": "text"}},
    ),
    "Argilla": Case(
        json.dumps(
            [
                {
                    "id": name,
                    "fields": {"text": "..."},
                    "metadata": {},
                    "status": "completed",
                    "suggestions": {"animal": {"value": "cat", "score": 0.9, "agent": "model"}},
                    "responses": {
                        "animal": [{"value": value, "user_id": who} for who, value in said]
                    },
                }
                for name, said in [
                    ("x", [("ann", "cat"), ("bob", "dog")]),
                    ("y", [("ann", "dog"), ("bob", ["dog"])]),
                ]
            ]
        ),
        Right(PLAIN, ["export of Argilla", "suggestions of models, which are not used: 2"]),
        name="records.json",
    ),
    "Argilla with two questions": Case(
        lines(
            *[
                {
                    "id": name,
                    "fields": {"text": "..."},
                    "responses": [
                        {
                            "user_id": who,
                            "status": state,
                            "values": {"animal": {"value": value}, "stars": {"value": 3}},
                        }
                        for who, value, state in said
                    ],
                }
                for name, said in [
                    ("x", [("ann", "cat", "submitted"), ("bob", "dog", "submitted")]),
                    (
                        "y",
                        [
                            ("ann", "dog", "submitted"),
                            ("bob", "dog", "submitted"),
                            ("cy", "cat", "draft"),
                        ],
                    ),
                ]
            ]
        ),
        Refused(["'animal', 'stars'"], "names", Right(PLAIN, ["left out: 1"])),
        name="feedback.jsonl",
    ),
}


@pytest.fixture(params=CASES)
def case(request, tmp_path):
    found = CASES[request.param]
    path = tmp_path / found.name
    path.write_text(found.file)
    return path, found


def check(answers: Annotations, right: Right) -> None:
    assert meaning_of(answers) == sorted(right.said)
    for words in right.notes:
        assert any(words in note for note in answers.notes), (words, answers.notes)
    if right.doubt is not None:
        assert answers.doubt.tolist() == pytest.approx(right.doubt)
    if right.classes is not None:
        assert answers.classes.tolist() == right.classes


def test_there_are_many_messy_files():
    assert len({case.file for case in CASES.values()}) >= 40


def test_a_messy_file_is_read_rightly_or_refused_with_what_mends_it(case):
    path, found = case
    if isinstance(found.expected, Right):
        check(read_annotations(path, **found.options), found.expected)
        return
    with pytest.raises(InputError) as caught:
        read_annotations(path, **found.options)
    assert isinstance(caught.value, TableError)
    for words in found.expected.words:
        assert words in str(caught.value)
    assert f"{found.expected.option}=" in str(caught.value)
    suggested = caught.value.settings[found.expected.option]
    value = suggested if found.expected.value is None else found.expected.value
    if found.expected.then is NEVER:
        return
    options = dict(found.options)
    both = isinstance(value, dict) and isinstance(options.get(found.expected.option), dict)
    options[found.expected.option] = options[found.expected.option] | value if both else value
    check(read_annotations(path, **options), found.expected.then)


def words_for(options: dict[str, Any]) -> list[str]:
    from plausible.cli.wording import as_option

    return [word for name, value in options.items() for word in shlex.split(as_option(name, value))]


def test_the_command_says_the_same(case, capsys, tmp_path):
    path, found = case
    words = ["pool", str(path), "-o", str(tmp_path / "out.csv"), "--doubt", "0.2", "--on-conflict",
             "unknown", *words_for(found.options)]  # fmt: skip
    code = main(words)
    told = capsys.readouterr().err
    if isinstance(found.expected, Right):
        known = read_known(path, doubt=0.2, on_conflict="unknown", **found.options)
        assert code == 0
        assert f"({len(known.labels.classes)} in all)" in told.splitlines()[0]
        check(known.annotations, found.expected)
        assert not re.search(r"(?<!-)\b(map|names|classes|repeats)=", told)
        return
    option = f"--{found.expected.option}"
    assert code == 1
    assert f" {option}" in told
    assert len(told.splitlines()) == 1
    if found.expected.value is None and found.expected.option != "names":
        place = shlex.split(told.partition(f" {option}")[2].strip(" ;.\n=").partition(";")[0])[0]
        assert main([*words, f"{option}={place.rstrip('.,')}"]) == 0


def test_the_command_that_check_prints_works(case, capsys, tmp_path, monkeypatch):
    path, found = case
    monkeypatch.chdir(tmp_path)
    code = main(["check", path.name, "--json", *words_for(found.options)])
    told = json.loads(capsys.readouterr().out)
    assert (code == 0) == isinstance(found.expected, Right)
    if code == 0 or told["command"] is not None:
        assert main(shlex.split(told["command"])[1:]) == 0, capsys.readouterr().err
    else:
        assert not told["to_decide"][-1]["options"] or len(told["to_decide"]) > 1


def test_what_is_read_in_python_follows_the_same_rules():
    answers = Annotations.from_long(
        ["x"] * 4 + ["y"] * 3,
        ["ann", "bob", "cy", "dee", "ann", "bob", "cy"],
        ["blues", "BLUES", "Not sure", "jazz / blues", "jazz", "n/a", "jazz"],
        confidence=["high", "low", None, "high", "low", "low", "high"],
        words={"high": 0.1, "low": 0.4},
    )
    table = {
        "item": ["x"] * 4 + ["y"] * 3,
        "annotator": ["ann", "bob", "cy", "dee", "ann", "bob", "cy"],
        "label": ["blues", "BLUES", "Not sure", "jazz / blues", "jazz", "n/a", "jazz"],
        "sure": ["high", "low", None, "high", "low", "low", "high"],
    }
    read = read_annotations(table, words={"high": 0.1, "low": 0.4})
    assert answers.classes.tolist() == read.classes.tolist() == ["blues", "jazz"]
    assert meaning_of(answers) == meaning_of(read)
    np.testing.assert_allclose(answers.doubt, read.doubt)
    assert [note for note in answers.notes if "cannot tell" in note] == [
        note for note in read.notes if "cannot tell" in note
    ]


def test_one_minus_doubt_is_confidence():
    rng = np.random.default_rng(0)
    doubt = rng.uniform(size=30)
    table = {
        "item": np.arange(30) // 3,
        "annotator": np.arange(30) % 3,
        "label": rng.choice(["c", "a", "b"], size=30),
    }
    one = read_annotations({**table, "doubt": doubt})
    other = read_annotations({**table, "confidence": 1 - doubt})
    percent = read_annotations({**table, "certainty": [f"{100 * (1 - d)}%" for d in doubt]})
    np.testing.assert_allclose(one.pool().contour, other.pool().contour, atol=1e-12)
    np.testing.assert_allclose(one.pool().contour, percent.pool().contour, atol=1e-12)


def test_a_blank_doubt_is_neither_the_surest_nor_the_last_word():
    text = "item,annotator,label,doubt\nx,ann,a,0.5\ny,ann,b,\ny,bob,a,0.1\nz,bob,,\n"
    answers = read_annotations(io.StringIO(text))
    assert answers.doubt.tolist()[:3] == [0.5, 0.5, 0.1]
    assert next(note for note in answers.notes if "no doubt" in note).startswith("1 answer has")
    empty = read_annotations(io.StringIO("item,annotator,label,doubt\nx,ann,a,\ny,bob,b,\n"))
    assert empty.doubt is None
    assert any("column is empty" in note for note in empty.notes)


def test_repeats_once_first_and_last():
    text = (
        "item,annotator,label\nx,ann,cat\nx,ann,cat\nx,bob,dog\ny,ann,dog\ny,ann,cat\ny,bob,eel\n"
    )
    for repeats, said in [
        ("once", rows("x ann cat", "x bob dog", "y ann dog", "y ann cat", "y bob eel")),
        ("first", rows("x ann cat", "x bob dog", "y ann dog", "y bob eel")),
        ("last", rows("x ann cat", "x bob dog", "y ann cat", "y bob eel")),
    ]:
        assert meaning_of(read_annotations(io.StringIO(text), repeats=repeats)) == said
    doubted = Annotations.from_long(
        ["x"] * 3, ["ann"] * 3, ["cat"] * 3, doubt=[0.1, 0.2, 0.1], repeats="once"
    )
    assert doubted.doubt.tolist() == [0.1, 0.2]  # another doubt is another answer


def test_a_repeated_row_is_an_answer_more_unless_told_otherwise():
    rng = np.random.default_rng(1)
    items, people = rng.integers(5, size=60), rng.integers(4, size=60)
    said = rng.choice(["a", "b", "c"], size=60)
    answers = Annotations.from_long(items, people, said)
    triples = list(zip(items.tolist(), people.tolist(), said.tolist(), strict=True))
    n_equal = len(triples) - len(set(triples))
    pairs = {pair: {t[2] for t in triples if t[:2] == pair} for pair in {t[:2] for t in triples}}
    n_changed = sum(len(labels) > 1 for labels in pairs.values())
    assert any(note.startswith(f"{n_equal} answers repeat") for note in answers.notes)
    assert any(note.startswith(f"{n_changed} times, a person") for note in answers.notes)


def test_anonymous_answers_share_one_doubt():
    table = {"item": list("xxxyyyzzzwww"), "label": list("aabbbaaaaccb")}
    known = read_known(table)
    assert known.annotations.annotators.tolist() == ["anyone"]
    same = read_annotations({**table, "annotator": ["one"] * 12})
    np.testing.assert_allclose(known.labels.contour, same.pool().contour)


def test_one_row_for_each_item_is_a_label_and_several_are_answers():
    once = read_known(io.StringIO("item,label\nx,cat\ny,dog\n"))
    assert once.annotations is None
    again = read_known(io.StringIO("item,label\nx,cat\ny,dog\ny,cat\n"))
    assert len(again.annotations) == 3


def test_words_in_tables_of_labels_follow_the_same_rules():
    text = (
        "item,label,confidence\nw,Cat,0.8\nx,not sure,0.5\ny,cat,100%\nz,dog or cat,0.9\nv,dog,1\n"
    )
    known = read_known(io.StringIO(text))
    assert known.labels.classes.tolist() == ["cat", "dog"]
    np.testing.assert_allclose(
        known.labels.contour, [[1, 0.2], [1, 1], [1, 0], [1, 1], [0, 1]], atol=1e-12
    )
    assert any("'not sure' (1 answer)" in note for note in known.notes)
    with pytest.raises(TableError, match="words="):
        read_known(io.StringIO("item,label,sure\nx,cat,high\ny,dog,low\n"))
    minus = read_known(io.StringIO("item,label\nx,0\ny,-1\nz,2\nw,1\n"))
    assert minus.labels.classes.tolist() == [0, 1, 2]
    assert minus.labels.is_unknown.tolist() == [False, True, False, False]


def test_columns_that_are_not_used_are_listed():
    text = "item,annotator,label,time,comment\nx,ann,cat,3,so\ny,bob,dog,4,no\n"
    assert "not used: 'time', 'comment'" in read_annotations(io.StringIO(text)).notes
    labels = read_known(io.StringIO("item,label,time\nx,cat,1\ny,dog,2\n"))
    assert "not used: 'time'" in labels.notes


def test_counts_in_messages_are_those_of_the_class_that_is_named():
    said = ["hiphop"] * 5 + ["blues"] * 40 + ["jazz"] * 7
    table = {"item": range(52), "annotator": ["ann"] * 52, "label": said}
    with pytest.raises(TableError, match=r"'hiphop' in 5 rows .*'blues' in 40 rows"):
        read_annotations(table, classes=["jazz", "rock"])


def test_a_map_that_changes_nothing_is_told():
    table = {"item": [1, 2], "annotator": ["a", "a"], "label": ["cat", "dog"]}
    notes = read_annotations(table, map={"catt": "cat"}).notes
    assert "map: no answer is 'catt'; did you mean 'cat'?" in notes


def test_items_of_an_export_that_no_feature_knows_may_be_named_by_another_field(tmp_path):
    path = tmp_path / "project.json"
    path.write_text(json.dumps(STUDIO))
    features = {"image": ["y", "x", "w"], "length": [1.5, 2.5, 0.5]}
    with pytest.raises(TableError, match="another field of the export") as caught:
        read_training(path, features)
    training = read_training(path, features, names=caught.value.settings["names"])
    assert training.rows.tolist() == [1, 0]
    turk = read_training(io.StringIO(TURK), features)
    assert turk.rows.tolist() == [1, 0]
    assert turk.labels.crisp().tolist()[0] == "dog"


@pytest.mark.parametrize("kind", [io.StringIO, lambda text: io.BytesIO(text.encode())])
def test_exports_are_known_from_file_objects_too(kind):
    answers = read_annotations(kind(json.dumps(STUDIO)))
    assert answers.items.tolist() == [7, 9]
    assert read_known(kind(json.dumps(STUDIO))).items.tolist() == [7, 9]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "Respondent ID,Start,photo 1,photo 2,photo 3,photo 4\n7,9:00,cat,dog,cat,cat\n"
            "8,9:05,cat,dog,dog,cat\n9,9:07,cat,cat,cat,dog\n",
            ["each row is of another person ('Respondent ID')", "pivot_longer in R"],
        ),
        (
            "id,text,animal.responses,animal.responses.users\n1,so,['cat' 'dog'],['ann' 'bob']\n",
            ["lists of responses", "records.to_json"],
        ),
        ("image,ann,,bob,\n,label,sure,label,sure\nx,cat,1,dog,1\n", ["merged leave such gaps"]),
        (",image\n1,x\n", ["row.names = FALSE in R"]),
    ],
)
def test_tables_that_must_be_written_otherwise_say_how(text, words):
    with pytest.raises(TableError) as caught:
        read_annotations(io.StringIO(text))
    for word in words:
        assert word in str(caught.value)
    assert "names=" not in str(caught.value)  # which would lead astray


def test_a_mark_for_each_item_is_refused_with_its_kind():
    text = "photo,cat,dog,eel\nw,1,0,0\nx,0,1,0\ny,0,0,1\nz,0,1,0\n"
    with pytest.raises(TableError, match="a single 1 in each row") as caught:
        read_annotations(io.StringIO(text))
    known = read_known(io.StringIO(text), kind=caught.value.settings["kind"])
    assert known.labels.crisp().tolist() == ["cat", "dog", "eel", "dog"]
    assert known.items.tolist() == ["w", "x", "y", "z"]


def test_labels_with_people_and_items_they_share_are_refused(tmp_path):
    path = tmp_path / "pets.csv"
    rows_ = "".join(f"{item},{who},{said}\n" for _, item, who, said in GRID)
    path.write_text(f"frame,assignee,label\n{rows_}")
    with pytest.raises(TableError, match="'assignee' looks like people who spoke") as caught:
        read_known(path)
    assert caught.value.settings["names"] == {"item": "frame", "annotator": "assignee"}
    known = read_known(path, names=caught.value.settings["names"])
    assert meaning_of(known.annotations) == sorted(SAID)
    known = read_known(path, form=caught.value.settings["form"])
    assert known.annotations is None
    assert len(known.labels) == len(GRID)


def test_a_last_row_of_sums_is_no_item():
    above = "item,cat,dog\nx,5,0\ny,1,4\nz,2,3\n"
    for options in ({}, {"kind": "count"}):
        with pytest.raises(TableError, match=r"row 4 on line 5\) is called 'Total'.*; delete it"):
            read_annotations(io.StringIO(f"{above}Total,8,7\n"), **options)
    assert len(read_annotations(io.StringIO(above), kind="count")) == 15
    assert len(read_annotations(io.StringIO(f"{above}w,8,6\n"), kind="count")) == 29


ROWS_ABOVE = "item,annotator,label\nw,ann,cat\nx,ann,dog\nx,bob,eel\ny,bob,dog\n"


@pytest.mark.parametrize(
    ("below", "words"),
    [
        ("Source: own survey\n", "line (line 6) says only 'Source: own survey', as notes below"),
        ("* by hand\nSource: A, B\n", "last 2 (from line 6 on) say only '* by hand'"),
        ("Source: own survey,,\n", "(row 5 on line 6) says only 'Source: own survey'"),
        ("# checked\nz,ann,cat\n# end\n", "2 comments (line 6: '# checked', line 8: '# end')"),
        ("z,ann", "(row 5 on line 6) ends after 2 cells with 'z,ann', as if the file was cut off"),
    ],
)
def test_what_stands_below_a_table_is_told_as_what_it_is(below, words, tmp_path, capsys):
    path = tmp_path / "said.csv"
    path.write_text(ROWS_ABOVE + below)
    with pytest.raises(TableError) as caught:
        read_annotations(path)
    assert words in str(caught.value)
    assert "fill in" not in str(caught.value)
    assert main(["check", str(path), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["command"] is None  # which could not work


@pytest.mark.parametrize(
    "text",
    [
        "photo,ann,bob\nw,cat,cat\nx,dog,cat\ny,eel,eel\nz,cat,eel\nSource: own survey,,\n",
        "item,label\nw,cat\nx,dog\ny,eel\nSource: own survey,\n",
        "photo,cat,dog,eel\nw,3,0,0\nx,0,2,1\ny,0,0,3\nz,1,2,0\nSource: own survey,,,\n",
    ],
)
def test_a_note_below_a_table_of_any_layout_is_no_item(text):
    options = {"kind": "count"} if "eel\nw,3" in text else {}
    with pytest.raises(TableError, match="says only 'Source: own survey', as notes below a table"):
        read_known(io.StringIO(text), **options)
    kept = text.replace("Source: own survey", "last").replace("\nw,", "\nthe first,")
    if not options:
        assert len(read_known(io.StringIO(kept)).items) in (4, 5)  # an item without an answer


def test_a_last_item_that_nobody_could_tell_is_no_note():
    text = "item,label\nphoto 1,cat\nphoto 2,dog\nphoto 3,\n"
    assert read_known(io.StringIO(text)).labels.is_unknown.tolist() == [False, False, True]


def test_a_form_with_a_row_for_each_person_is_refused():
    form = "Timestamp,Email Address,Photo 1,Photo 2,Photo 3\n" + "".join(
        f"2024-05-0{k},{who}@x.org,{said}\n"
        for k, (who, said) in enumerate(
            [("ann", "cat,dog,dog"), ("bob", "dog,dog,cat"), ("cy", "cat,cat,cat")], 1
        )
    )
    with pytest.raises(TableError, match=r"another person \('Email Address'\).* for each answer"):
        read_annotations(io.StringIO(form))


def test_counts_with_a_column_of_sums():
    text = "photo,cat,dog,total\nw,2,1,3\nx,0,4,4\ny,5,0,5\nz,1,1,2\n"
    with pytest.raises(TableError, match="'total' is the sum of 'cat', 'dog'") as caught:
        read_annotations(io.StringIO(text))
    answers = read_annotations(io.StringIO(text), **caught.value.settings)
    assert answers.votes().tolist() == [[2, 1], [0, 4], [5, 0], [1, 1]]
    assert answers.items.tolist() == ["w", "x", "y", "z"]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ("w,0.5,0.5\nx,1,0\ny,0.25,0.75\nz,0,1\n", "probability"),
        ("w,1,0.5\nx,1,0\ny,0.25,1\nz,0,1\n", "plausibility"),
    ],
)
def test_numbers_by_class_are_refused_with_their_kind(cells, kind):
    text = f"photo,cat,dog\n{cells}"
    with pytest.raises(TableError, match="look like numbers by class") as caught:
        read_known(io.StringIO(text))
    assert caught.value.settings["kind"] == kind
    known = read_known(io.StringIO(text), kind=kind)
    assert known.items.tolist() == ["w", "x", "y", "z"]
    numbers = [[float(x) for x in line.split(",")[1:]] for line in cells.splitlines()]
    np.testing.assert_allclose(known.labels.contour, numbers)


def test_the_index_of_a_data_frame_names_the_items():
    pandas = pytest.importorskip("pandas")
    long = pandas.DataFrame(PLAIN * 2, columns=["image", "who", "label"])
    long["image"] = [f"{one}{k // 4}" for k, one in enumerate(long["image"])]
    wide = long.pivot(index="image", columns="who", values="label")
    for table in (wide, wide.reset_index()):
        assert read_annotations(table).items.tolist() == ["x0", "x1", "y0", "y1"]
        assert read_annotations(table).annotators.tolist() == ["ann", "bob"]


def test_a_line_number_counts_the_line_that_excel_writes():
    text = "sep=;\nitem;annotator;label\nx;ann;cat\nx;;dog\n"
    with pytest.raises(TableError, match="row 2 on line 4"):
        read_annotations(io.StringIO(text))
