{
  // Texts that are drawn: the element that holds each, and the rectangles of its lines.
  texts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || element.closest("svg title")) continue;
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      const lines = [...range.getClientRects()].filter(r => r.width > 0 && r.height > 0);
      if (lines.length) found.push({ element, lines, text: walker.currentNode.data });
    }
    return found;
  },

  color(words) {
    const parts = words.match(/[\d.]+/g).map(Number);
    return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 };
  },

  // Color of the ground behind an element, from the page up.
  ground(element) {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.push(this.color(getComputedStyle(at).backgroundColor));
    }
    return layers.reverse().reduce((below, layer) =>
      below.map((c, k) => layer.alpha * layer.rgb[k] + (1 - layer.alpha) * c), [255, 255, 255]);
  },

  luminance(rgb) {
    const linear = rgb.map(c => c / 255).map(c =>
      c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  },

  contrast(ink, ground) {
    const mixed = ink.rgb.map((c, k) => ink.alpha * c + (1 - ink.alpha) * ground[k]);
    const [dark, light] = [mixed, ground].map(c => this.luminance(c)).sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  },

  contrasts() {
    return this.texts().map(({ element, text }) => {
      const style = getComputedStyle(element);
      const ink = this.color(element instanceof SVGElement ? style.fill : style.color);
      for (let at = element; at; at = at.parentElement) ink.alpha *= getComputedStyle(at).opacity;
      return { text, contrast: this.contrast(ink, this.ground(element)) };
    });
  },

  shape_contrasts() {
    return [...document.querySelectorAll("svg .fill, svg .dot, svg .line")].map(shape => {
      const style = getComputedStyle(shape);
      const ink = this.color(style.fill === "none" ? style.stroke : style.fill);
      return this.contrast(ink, this.ground(shape.closest("svg").parentElement));
    });
  },

  page_luminance() {
    return this.luminance(this.ground(document.body));
  },

  // Pixels by which the page is wider than the window.
  sideways() {
    return document.scrollingElement.scrollWidth - document.documentElement.clientWidth;
  },

  // Tables that have to be pushed sideways to be read.
  wide_tables() {
    return [...document.querySelectorAll(".scroll")]
      .filter(box => box.scrollWidth > box.clientWidth + 1)
      .map(box => `${box.getAttribute("aria-label")}: ${box.scrollWidth} > ${box.clientWidth}`);
  },

  // The block or the figure that holds an element.
  holder(element) {
    while (!(element instanceof SVGSVGElement)
      && (element instanceof SVGElement || getComputedStyle(element).display === "inline")) {
      element = element.parentElement;
    }
    return element;
  },

  // Texts that stick out of the cell, the item or the figure that holds them.
  spilt_texts() {
    return this.texts().filter(({ element, lines }) => {
      const box = this.holder(element).getBoundingClientRect();
      return lines.some(line => line.left < box.left - 1 || line.right > box.right + 1
        || line.top < box.top - 3 || line.bottom > box.bottom + 3);
    }).map(({ text }) => text);
  },

  // Words of our own that were broken in the middle; names of people and classes may be.
  broken_words() {
    return this.texts().filter(({ element }) => !element.closest("bdi, code, svg"))
      .flatMap(({ element, text }) => {
        const node = [...element.childNodes].find(child => child.data === text);
        return [...text.matchAll(/[A-Za-z]+/g)].filter(word => {
          const range = document.createRange();
          range.setStart(node, word.index);
          range.setEnd(node, word.index + word[0].length);
          const tops = [...range.getClientRects()].map(line => Math.round(line.top));
          return new Set(tops).size > 1;
        }).map(word => word[0]);
      });
  },

  // For each figure: texts that leave it, pairs of texts that touch, and the smallest letters.
  figures() {
    return [...document.querySelectorAll("svg.chart")].map(svg => {
      const view = svg.getBoundingClientRect();
      const texts = [...svg.querySelectorAll("text")];
      const boxes = texts.map(text => text.getBoundingClientRect());
      const words = texts.map(text => text.textContent);
      const apart = (a, b) => a.right <= b.left || b.right <= a.left
        || a.bottom <= b.top || b.bottom <= a.top;
      const scale = view.width / svg.viewBox.baseVal.width;
      return {
        n_texts: texts.length,
        outside: words.filter((_, k) => boxes[k].left < view.left || boxes[k].right > view.right
          || boxes[k].top < view.top || boxes[k].bottom > view.bottom),
        touching: words.flatMap((word, k) => words.slice(k + 1)
          .filter((_, j) => !apart(boxes[k], boxes[k + 1 + j])).map(other => [word, other])),
        letters: scale * Math.min(...texts.map(t => parseFloat(getComputedStyle(t).fontSize))),
      };
    });
  },

  // Tables whose heads may stand alone at the end of a sheet of paper.
  lonely_heads() {
    return [...document.querySelectorAll("table")].filter(table =>
      getComputedStyle(table.querySelector("tbody tr")).breakBefore !== "avoid"
      || getComputedStyle(table.caption).breakAfter !== "avoid").map(table => table.caption.innerText);
  },

  // What paper may cut, with its height in pixels and whether a cut is forbidden.
  unbreakable() {
    return [...document.querySelectorAll("figure, tr, .glance > *, .missing")].map(element => ({
      what: element.tagName + " " + element.textContent.slice(0, 40),
      height: element.getBoundingClientRect().height,
      kept: getComputedStyle(element).breakInside === "avoid",
    }));
  },
}
