"""How the page looks: light and dark, on screens of all sizes and on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1c1e21; --quiet: #565b63; --rule: #d5d8dd; --panel: #f4f6f8;
  --fill: #1d63b8; --soft: #8db7e6; --warn: #a8480c; --mark: #6b7078;
  --shade1: #f0f6fc; --shade2: #d6e6f7; --shade3: #b9d4f1; --shade4: #9cc2eb; --shade5: #7fb0e5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15171b; --text: #e9eaec; --quiet: #a8adb6; --rule: #3a3f47; --panel: #1f2228;
    --fill: #7ab2f5; --soft: #3f6ea6; --warn: #f0a069; --mark: #9197a0;
    --shade1: #181f28; --shade2: #1e2d3f; --shade3: #243c58; --shade4: #2b4b72; --shade5: #315b8c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 58rem; background: var(--page);
  color: var(--text); font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.35rem; margin: 0 0 .5rem; }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .25rem; }
h1, bdi, code { overflow-wrap: anywhere; }
p, header ul { margin: .4rem 0; max-width: 44rem; }
header ul { max-width: 52rem; }
section { border-top: 1px solid var(--rule); padding-top: 1.5rem; margin-top: 2.5rem; }
a { color: var(--fill); text-underline-offset: .15em; }
header ul, nav ol { padding-left: 1.35rem; }
header li { margin: .15rem 0; }
nav ol { margin: 1rem 0; columns: 18rem; }
.quiet, caption > span, figcaption { color: var(--quiet); }
.missing {
  background: var(--panel); border-left: 4px solid var(--rule); padding: .6rem .9rem;
}
.glance { display: grid; grid-template-columns: 1fr 1fr; gap: .6rem; margin: 1rem 0; }
.glance div { background: var(--panel); border-radius: .4rem;
  padding: .6rem .8rem; }
.glance dt { font-size: .85rem; }
.glance dd { margin: 0; font-size: 1.45rem; line-height: 1.35; font-weight: 600; }
.glance .quiet { font-size: .8rem; font-weight: 400; }
.scroll { overflow-x: auto; margin: 1.5rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
caption { text-align: left; padding-bottom: .35rem; }
caption b { font-weight: 600; }
caption > span { display: block; max-width: 48rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0;
  border-bottom: 1px solid var(--rule); }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--quiet); font-weight: 600; font-size: .85rem; vertical-align: bottom; }
tbody th { font-weight: 500; min-width: 5rem; }
td > bdi { display: inline-block; min-width: 4rem; }
.number { font-variant-numeric: tabular-nums; }
td.number, th.number { white-space: nowrap; }
td.number, th.number { text-align: right; width: 1%; }
.wide { width: 38%; min-width: 4.5rem; }
.broad th:first-child { width: 26%; }
.broad .wide { width: auto; min-width: 9rem; }
.stack:not(.broad) .wide { width: 62%; }
.warn { color: var(--warn); font-weight: 600; }
.bar { display: block; width: 100%; height: .8rem; margin-top: .35rem; }
.charts { display: flex; flex-wrap: wrap; gap: 0 2rem; }
.charts figure { flex: 1 1 17rem; }
figure { margin: 1.5rem 0; }
.chart { display: block; width: 100%; max-width: 27rem; height: auto; }
.chart text { fill: var(--quiet); font-size: 12px; }
figcaption { font-size: .92rem; max-width: 27rem; }
.track { fill: var(--rule); opacity: .55; }
.fill, .dot { fill: var(--fill); }
.soft { fill: var(--soft); }
.mark { fill: var(--mark); }
line.mark { stroke: var(--mark); stroke-dasharray: 5 4; }
.grid { stroke: var(--rule); }
.line { fill: none; stroke: var(--fill); stroke-width: 2; stroke-linejoin: round; }
.chosen { fill: var(--warn); stroke: var(--page); stroke-width: 1.5; }
.features .wide { min-width: 8rem; }
.stack.features:not(.broad) .wide { width: 22%; }
.bar.spark { height: 1.5rem; margin-top: 0; }
.matrix table { table-layout: fixed; }
.matrix.few { max-width: 36rem; }
.matrix th, .matrix td { padding: .25rem .3rem; }
.matrix thead th:first-child { width: 26%; padding-left: 0; }
.matrix :is(td, thead th.number) { text-align: center; width: auto; }
:is(.matrix, .means) thead th.number { white-space: normal; }
.matrix thead bdi { display: block; font-weight: 400; }
.matrix tbody th { padding-left: 0; }
.matrix td { border: 2px solid var(--page); }
.place { color: var(--quiet); font-size: .85em; font-variant-numeric: tabular-nums; }
.same { font-weight: 600; }
.shade-1 { background: var(--shade1); }
.shade-2 { background: var(--shade2); }
.shade-3 { background: var(--shade3); }
.shade-4 { background: var(--shade4); }
.shade-5 { background: var(--shade5); }
.take { font-size: .92rem; margin: -.75rem 0 1.5rem; }
.take::before { content: "\\2193\\00a0"; color: var(--quiet); }
.notes { margin: .2rem 0; padding-left: 1.35rem; max-width: 48rem; }
.item-text { display: block; font-weight: 400; font-size: .85rem; color: var(--quiet);
  max-width: 26rem; }
.item-picture { display: block; max-width: 8rem; max-height: 8rem; margin: .2rem 0;
  border-radius: .25rem; }
details { margin: .75rem 0; }
summary { cursor: pointer; color: var(--fill); }
ul.answers { margin: 0; padding: 0; list-style: none; }
.line-of-bar { display: flex; flex-wrap: wrap; gap: 0 .75rem; }
.line-of-bar > bdi { flex: 1 1 6rem; }
.line-of-bar > .number { flex: 0 0 2.25rem; }
.line-of-bar > span:last-child { flex: 2 1 7rem; }
@media screen and (max-width: 40rem) {
  table { font-size: .85rem; }
  thead th { font-size: .8rem; }
  th, td { padding-right: .45rem; }
  th.number { white-space: normal; }
  .wide { width: 22%; }
  .broad .wide, .drawn { display: none; }
  .stack :is(table, caption, thead, tbody) { display: block; }
  .stack tr { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
    border-bottom: 1px solid var(--rule); padding: .2rem 0; }
  .stack tr :is(th, td) { border: 0; padding-top: .1rem; padding-bottom: .1rem; width: auto; }
  .stack.broad th:first-child { width: auto; }
  .stack .number:nth-child(odd) { text-align: left; }
  .stack:not(.broad) .wide { grid-column: 1 / -1; width: auto; }
  .stack.features:not(.broad) .wide { width: auto; }
  .item-picture { max-width: 5rem; max-height: 5rem; }
  .matrix table { font-size: .75rem; }
  .matrix :is(td, thead th.number) { padding: .2rem .05rem; }
  .matrix thead bdi { display: none; }
  .matrix tbody th { min-width: 0; padding-right: .2rem; }
  .matrix td { border-width: 1px; }
}
@media (min-width: 36rem) {
  .glance { grid-template-columns: 1fr 1fr 1fr; }
}
@media print, (min-width: 56rem) {
  .glance { grid-template-columns: none; grid-auto-flow: column; grid-auto-columns: 1fr; }
}
@media screen and (min-width: 76rem) {
  body { display: grid; grid-template: "nav header" auto "nav main" 1fr / 12rem minmax(0, 56rem);
    gap: 0 3rem; justify-content: center; max-width: none; }
  header { grid-area: header; }
  main { grid-area: main; }
  nav { grid-area: nav; align-self: start; position: sticky; top: 1.5rem; font-size: .92rem; }
  nav ol { margin: .4rem 0; columns: auto; }
  nav li { margin: 0 0 .5rem; }
}
@page { size: A4; margin: 16mm 15mm; }
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --text: #000000; --quiet: #444444; --rule: #bbbbbb; --panel: #ffffff;
    --fill: #1d63b8; --soft: #8db7e6; --warn: #a8480c; --mark: #6b7078;
    --shade1: #f0f6fc; --shade2: #d6e6f7; --shade3: #b9d4f1; --shade4: #9cc2eb; --shade5: #7fb0e5;
  }
  html { font-size: 10pt; }
  body { max-width: none; padding: 0; print-color-adjust: exact; }
  nav, details, .take { display: none; }
  .more { display: block; }
  .more::details-content { content-visibility: visible; display: block; }
  .scroll { overflow: visible; }
  .glance { gap: .4rem; }
  .glance div { border: 1px solid var(--rule); padding: .4rem .5rem; }
  .glance dd { font-size: 1.2rem; }
  h1, h2, h3, h2 + p, h3 + p, caption, thead { break-after: avoid; }
  tbody tr:first-child { break-before: avoid; }
  p, figure, tr, caption, .short, .glance div, .missing { break-inside: avoid; }
  thead { display: table-header-group; }
  section { margin-top: 1.5rem; padding-top: 1rem; }
  .charts figure { flex: 1 1 40%; }
  .chart { max-width: 22rem; }
  @supports selector(::details-content) {
    .more summary { display: none; }
  }
}
"""
