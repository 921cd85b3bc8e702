// The overview moves by itself; forms that need care ask first.
"use strict";
(() => {
  const overview = document.querySelector("[data-overview]");
  let tag = null;

  async function look() {
    try {
      const reply = await fetch("/overview.json", tag ? { headers: { "if-none-match": tag } } : {});
      if (reply.status === 200) {
        tag = reply.headers.get("etag");
        const found = await reply.json();
        for (const place of document.querySelectorAll("[data-value]")) {
          const value = found[place.dataset.value];
          if (value === undefined) continue;
          if (place.tagName === "METER") place.value = value;
          else place.textContent = value;
        }
      }
    } catch { /* the next look may work */ }
    setTimeout(look, 3000);
  }
  if (overview) setTimeout(look, 3000);

  // On a narrow screen the page that is open may stand beyond the edge of the list.
  const here = document.querySelector("nav [aria-current]");
  if (here) here.scrollIntoView({ block: "nearest", inline: "center" });

  const file = document.querySelector("[data-import]");
  if (file) file.addEventListener("change", async () => {
    const told = document.querySelector("[data-imported]");
    const chosen = file.files[0];
    if (!chosen) return;
    const name = chosen.name.replace(/[^\w.-]/g, "_");
    const reply = await fetch("/import", { method: "POST", body: chosen, headers: { "x-file-name": name } });
    const found = await reply.json().catch(() => ({ error: "This did not work" }));
    told.textContent = reply.ok ? `${found.taken} answers were added` : found.error;
    told.className = reply.ok ? "good" : "warn";
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input[type=text], input:not([type]), textarea, select")) return;
    const found = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (found) { event.preventDefault(); found.click(); }
  });
})();
