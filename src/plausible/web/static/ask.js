// The page that asks. Answers wait in localStorage until the server has kept them; each has a
// token, so that one that is sent twice is kept once.
"use strict";
(() => {
  const state = JSON.parse(document.getElementById("state").textContent);
  const $ = (id) => document.getElementById(id);
  const store = `plausible:${state.study}`;
  const buttons = [...document.querySelectorAll("[data-place]")];
  const names = state.classes.map((one) => one.name);
  const keys = new Map(state.classes.map((one, place) => [one.key, place]).filter(([key]) => key));
  const wordKeys = new Map(state.words.map((one) => [one.key, one.name]));
  const doKeys = {
    "0": "cannot", "n": "none", "arrowright": "later", "b": "broken", "backspace": "undo",
    "c": "comment", "=": "level", "#": "numbers", "m": "model", "?": "keys", " ": "play",
  };
  const ODDS = [1, 2, 5, 10, 20];
  const history = [...state.last].reverse();
  let items = state.items.slice();
  let picks = [], odds = {}, level = false, useOdds = false, since = 0, current = null;
  let sending = false, wait = 500, timer = null, saw = false, toldWaiting = false, later = null;

  const token = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(18));
    return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_");
  };

  // -- Answers that wait --------------------------------------------------------------------------

  const waiting = () => {
    try { return JSON.parse(localStorage.getItem(store) || "[]"); } catch { return []; }
  };
  const keep = (list) => {
    if (list.length) localStorage.setItem(store, JSON.stringify(list));
    else localStorage.removeItem(store);
  };
  const push = (path, body) => {
    keep([...waiting(), { path, body }]);
    tellWaiting();
    send();
  };
  const drop = (done) => keep(waiting().filter((one) => one.body.token !== done));

  function tellWaiting() {
    const count = waiting().length;
    if (wait > 500 && count) {
      say(`${count} ${count === 1 ? "answer waits" : "answers wait"} for the server`, "warn");
      toldWaiting = true;
    } else if (toldWaiting && !count) {
      // Only after "waits": a late reply may not wipe out "Pick a class first".
      say("All answers are kept");
      toldWaiting = false;
    }
  }

  async function send() {
    if (sending) return;
    sending = true;
    clearTimeout(timer);
    try {
      for (let list = waiting(); list.length; list = waiting()) {
        const { path, body } = list[0];
        const have = items.map((one) => one.id);
        const reply = await fetch(path, {
          method: "POST", headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...body, have }),
        });
        if (reply.status === 429 || reply.status >= 500) throw new Error("away");
        if (reply.status === 401) {
          say("You are signed out. Your answers wait here: open your link again.", "warn");
          sending = false;
          return;
        }
        const found = await reply.json();
        drop(body.token);
        wait = 500;
        tellWaiting();
        if (!reply.ok) { say(found.error || "This answer was refused", "warn"); continue; }
        take(found, body.item);
      }
    } catch {
      wait = Math.min(wait * 2, 15000);
      tellWaiting();
      timer = setTimeout(send, wait);
    }
    sending = false;
  }

  function take(found, about) {
    const queued = new Set(waiting().map((one) => one.body.item));
    for (const one of found.next || []) {
      if (!items.some((other) => other.id === one.id) && !queued.has(one.id)) items.push(one);
    }
    if (found.item) {
      const again = items.find((one) => one.id === found.item.id);
      if (again) again.shown = found.item.shown;
    }
    if (found.after) tellAfter(found.after, about);
    if (found.progress) tellProgress(found.progress);
    if (found.words) tellWords(found.words);
    preload();
    if (!current && items.length) show();
    else if (!current) tellEnd();
  }

  // -- The item -----------------------------------------------------------------------------------

  function preload() {
    for (const one of items.slice(1)) {
      if (one.kind === "image" && one.media && !one.ahead) {
        one.ahead = new Image();
        one.ahead.src = one.media;
      }
    }
  }

  function element(tag, text, kind) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  function rows(content) {
    let cells = {};
    try { cells = JSON.parse(content || "{}"); } catch { cells = {}; }
    const table = element("dl", undefined, "row");
    for (const [name, value] of Object.entries(cells)) {
      table.append(element("dt", name), element("dd", value));
    }
    return table;
  }

  function show() {
    current = items[0] || null;
    const place = $("item");
    place.replaceChildren();
    $("name").textContent = current ? current.name : "";
    document.body.classList.toggle("done", !current);
    if (!current) {
      tellEnd();
      askLater();
    } else if (current.kind === "text") {
      place.append(element("p", current.content, "text"));
    } else if (current.kind === "row") {
      place.append(rows(current.content));
    } else {
      const media = element(current.kind === "audio" ? "audio" : "img");
      if (current.kind === "audio") { media.controls = true; media.preload = "auto"; }
      else media.alt = `Item ${current.name}`;
      media.src = current.media;
      media.addEventListener("error", () => say("This cannot be shown: B says so", "warn"));
      place.append(media, rows(current.content));
    }
    picks = []; odds = {}; level = false; useOdds = false; saw = false;
    const field = $("comment").querySelector("textarea");
    field.value = "";
    $("comment").hidden = true;
    document.querySelector("[data-do=comment]").setAttribute("aria-expanded", "false");
    since = performance.now();
    draw();
    suggest();
    window.scrollTo(0, 0);
  }

  function tellEnd() {
    // While answers are on their way, more items may come back with the reply.
    const text = waiting().length ? "One moment ..." : "Nothing is left to ask. Thank you!";
    $("item").replaceChildren(element("p", text, "large"));
  }

  function draw() {
    for (const button of buttons) {
      const place = picks.indexOf(Number(button.dataset.place));
      button.setAttribute("aria-pressed", String(place >= 0));
      const also = level ? "equally likely" : "also possible";
      const mark = place < 0 ? "" : place === 0 && !(level && picks.length > 1) ? "most likely" : also;
      button.querySelector(".mark").textContent = mark;
      button.classList.toggle("first", place === 0);
    }
    toggle("level", level && picks.length > 1);
    toggle("numbers", useOdds && picks.length > 1);
    drawOdds();
  }

  function toggle(name, on) {
    const button = document.querySelector(`[data-do=${name}]`);
    if (button) button.setAttribute("aria-pressed", String(on));
  }

  function drawOdds() {
    const place = $("odds");
    place.hidden = !(useOdds && picks.length > 1);
    if (place.hidden) return place.replaceChildren();
    place.replaceChildren(element("p", "How many times likelier than the least likely of these?", "quiet"));
    for (const pick of picks) {
      const label = element("label", `${names[pick]} `);
      const choice = element("select");
      for (const one of ODDS) choice.append(new Option(`${one} to 1`, one, false, (odds[pick] || 1) === one));
      choice.addEventListener("change", () => { odds[pick] = Number(choice.value); });
      label.append(choice);
      place.append(label);
    }
    return undefined;
  }

  function suggest() {
    const box = $("suggested");
    box.hidden = !(current && current.suggested);
    if (!box.hidden) {
      saw = true;
      box.textContent = `The model says: ${current.suggested.join(" or ")}`;
    }
  }

  async function look() {
    const about = current;
    if (!about || !about.asked) {
      if ($("suggested").hidden) say("What a model says is not shown here", "warn");
      return;
    }
    try {
      const reply = await fetch("/look", {
        method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify({ item: about.id }),
      });
      if (!reply.ok) throw new Error("away");
      about.suggested = (await reply.json()).suggested;
      about.asked = false;
    } catch {
      say("The server does not tell now what the model says: try again", "warn");
      return;
    }
    if (current !== about) return;
    suggest();
    say("Your answer will say that you have seen this");
  }

  function say(text, kind) {
    const line = $("status");
    line.textContent = text;
    line.className = kind || "quiet";
  }

  function tellProgress({ done, left }) {
    $("bar").value = done + left ? done / (done + left) : 1;
    $("count").textContent = `${done} answered, ${left} to go`;
  }

  function tellWords(list) {
    for (const one of list) {
      const button = [...document.querySelectorAll("[data-word]")].find((b) => b.dataset.word === one.name);
      if (button) button.querySelector("small").textContent = one.told;
    }
  }

  async function more() {
    if (items.length) return;
    try {
      const reply = await fetch("/next");
      if (reply.ok) take(await reply.json());
    } catch { /* it is asked again */ }
    if (!items.length) askLater();
  }

  function askLater() {
    clearTimeout(later);
    later = setTimeout(more, 20000);
  }

  // -- What people do -----------------------------------------------------------------------------

  function pick(place) {
    if (!current || place >= names.length) return;
    if (picks.includes(place)) picks = picks.filter((one) => one !== place);
    else picks.push(place);
    draw();
    if (!state.use_words && picks.length) submit("said", null);
  }

  function submit(kind, word) {
    if (!current) return;
    if (kind === "said" && !picks.length) {
      say("Pick a class first, or say that you cannot tell", "warn");
      return;
    }
    const chosen = kind === "said" ? picks.map((place) => names[place]) : [];
    const body = {
      token: token(), item: current.id, kind, picks: chosen, word,
      level: level && chosen.length > 1,
      numbers: useOdds && chosen.length > 1 ? picks.map((place) => odds[place] || 1) : null,
      comment: $("comment").querySelector("textarea").value.trim() || null,
      seconds: Math.round(performance.now() - since) / 1000,
      client_at: Date.now() / 1000, saw,
    };
    history.push({ token: body.token, item: current, picks: chosen, level, comment: body.comment });
    if (current.after && !saw && kind === "said") return offer(body);
    finish(kind, body, chosen, word);
    return undefined;
  }

  function finish(kind, body, chosen, word) {
    const said = { said: chosen.join(" or "), cannot: "cannot tell", none: "none of these",
                   later: "later", broken: "broken" }[kind];
    items.shift();
    keep([...waiting(), { path: kind === "later" ? "/later" : "/answer", body }]);
    show();
    say(`${said}${word ? `, ${word}` : ""}`);
    tellWaiting();
    send();
  }

  function offer(body) {
    // The model's opinion comes with the reply, when one's own is kept; it may be changed then.
    saw = true;
    if (!state.use_words) { picks = []; draw(); }
    say("Enter goes on");
    push("/answer", body);
  }

  function tellAfter(classes, about) {
    const box = $("suggested");
    // A late reply may be about an item that one has left.
    if (!current || current.id !== about || !current.after || !saw) return;
    box.hidden = false;
    box.textContent = `The model says: ${classes.join(" or ")}. Answer again, or press Enter to go on.`;
  }

  function goOn() {
    if (current && current.after && saw) { items.shift(); show(); }
  }

  function undo() {
    const last = history.pop();
    if (!last) { say("There is nothing to undo", "warn"); return; }
    const list = waiting();
    const isFirst = list.length && list[0].body.token === last.token;
    if (list.some((one) => one.body.token === last.token) && !(isFirst && sending)) drop(last.token);
    else push("/undo", { token: token(), undoes: last.token });
    items = [last.item, ...items.filter((one) => one.id !== last.item.id)];
    show();
    picks = last.picks.map((name) => names.indexOf(name)).filter((place) => place >= 0);
    level = Boolean(last.level);
    $("comment").querySelector("textarea").value = last.comment || "";
    draw();
    say("Taken back: answer again");
  }

  function play() {
    const sound = $("item").querySelector("audio");
    if (sound && sound.paused) sound.play().catch(() => say("This cannot be played: B says so", "warn"));
    else if (sound) sound.pause();
  }

  function act(name) {
    if (name === "undo") undo();
    else if (name === "level") { level = !level; useOdds = false; draw(); }
    else if (name === "numbers") { useOdds = !useOdds; level = false; draw(); }
    else if (name === "comment") {
      $("comment").hidden = !$("comment").hidden;
      document.querySelector("[data-do=comment]").setAttribute("aria-expanded", String(!$("comment").hidden));
      if (!$("comment").hidden) $("comment").querySelector("textarea").focus();
    } else if (name === "model") look();
    else if (name === "play") play();
    else if (name === "keys") location.assign("/guide");
    else if (["cannot", "none", "later", "broken"].includes(name)) submit(name, null);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (event.target.closest("textarea, select, input")) {
      if (key === "escape") event.target.blur();
      return;
    }
    if (event.repeat && !keys.has(key)) return;
    if (key === " " && (event.target.closest("button, a, audio") || !$("item").querySelector("audio"))) return;
    if (key === "enter" && current && current.after && saw) { event.preventDefault(); goOn(); return; }
    if (keys.has(key)) pick(keys.get(key));
    else if (wordKeys.has(key) && state.use_words) submit("said", wordKeys.get(key));
    else if (doKeys[key]) act(doKeys[key]);
    else return;
    event.preventDefault();
  });
  for (const button of buttons) button.addEventListener("click", () => pick(Number(button.dataset.place)));
  for (const button of document.querySelectorAll("[data-word]")) {
    button.addEventListener("click", () => submit("said", button.dataset.word));
  }
  for (const button of document.querySelectorAll("[data-do]")) {
    button.addEventListener("click", () => act(button.dataset.do));
  }
  window.addEventListener("online", () => { wait = 500; send(); });

  const queued = new Set(waiting().map((one) => one.body.item));
  items = items.filter((one) => !queued.has(one.id));
  tellProgress(state.progress);
  show();
  preload();
  send();
})();
