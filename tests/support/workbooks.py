"""Small workbooks of Excel, written by hand: a zip file of XML, one cell after the other."""

import datetime
import io
import zipfile
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
# Number formats: general, a day, a moment, percent.
STYLES = (
    f'{HEAD}<styleSheet xmlns="{MAIN}"><cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/>'
    '<xf numFmtId="22"/><xf numFmtId="9"/></cellXfs></styleSheet>'
)
FIRST_DAY = datetime.datetime(1899, 12, 30)


class Percent(float):
    """A number that the sheet shows in percent."""


class Fault(str):
    """A cell with an error, such as #DIV/0!."""


class Formula(str):
    """A formula that nobody has computed."""


def letters(column: int) -> str:
    name = ""
    while column >= 0:
        name, column = chr(65 + column % 26) + name, column // 26 - 1
    return name


def cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Formula):
        return f'<c r="{place}"><f>{value}</f></c>'
    if isinstance(value, Fault):
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        text = f'<t xml:space="preserve">{escape(value)}</t>'
        return f'<c r="{place}" t="inlineStr"><is>{text}</is></c>'
    style = 3 if isinstance(value, Percent) else 0
    if isinstance(value, datetime.datetime):
        style, value = 2, (value - FIRST_DAY) / datetime.timedelta(days=1)
    elif isinstance(value, datetime.date):
        style, value = 1, (value - FIRST_DAY.date()).days
    return f'<c r="{place}" s="{style}"><v>{float(value)!r}</v></c>'


def sheet(rows: list[list[object]], merged: tuple[str, ...] = ()) -> str:
    lines = []
    for number, row in enumerate(rows, 1):
        cells = "".join(cell(f"{letters(k)}{number}", value) for k, value in enumerate(row))
        lines.append(f'<row r="{number}">{cells}</row>' if cells else "")
    joined = "".join(f'<mergeCell ref="{place}"/>' for place in merged)
    joined = f'<mergeCells count="{len(merged)}">{joined}</mergeCells>' if merged else ""
    data = f"<sheetData>{''.join(lines)}</sheetData>{joined}"
    return f'{HEAD}<worksheet xmlns="{MAIN}">{data}</worksheet>'


def workbook(sheets: dict[str, list[list[object]]], merged: tuple[str, ...] = ()) -> bytes:
    """A workbook with these sheets, of which None is an empty cell; cells merged in all of them."""
    numbers = range(1, len(sheets) + 1)
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{k}.xml" ContentType="{kinds}.worksheet+xml"/>'
        for k in numbers
    )
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{k}" r:id="rId{k}"/>'
        for k, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="rId{k}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k in numbers
    )
    parts = {
        "[Content_Types].xml": f'{HEAD}<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{kinds}.styles+xml"/>{types}</Types>',
        "_rels/.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships"><Relationship '
        f'Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">'
        f'{links}<Relationship Id="rId{len(sheets) + 1}" Type="{OFFICE}/styles" '
        'Target="styles.xml"/></Relationships>',
        "xl/styles.xml": STYLES,
    }
    parts |= {
        f"xl/worksheets/sheet{k}.xml": sheet(rows, merged)
        for k, rows in enumerate(sheets.values(), 1)
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return content.getvalue()
