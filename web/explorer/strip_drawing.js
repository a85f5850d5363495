// The token strip as a picture, for its export: tokens in rows, wrapped as on the page.
import {Drawing} from '../shared/drawing.js';
import {palette, step, table} from '../shared/colors.js';
import {number, visible} from '../shared/dom.js';

const kWidth = 900;
const kLetter = 8.6;
const kRow = 30;

// Places of all tokens: [{x, y, width}], and how high the rows are together.
function wrapped(tokens) {
  let x = 0;
  let y = 0;
  const places = tokens.map((token) => {
    const width = Math.max(22, [...visible(token)].length * kLetter + 10);
    if (x + width > kWidth) {
      x = 0;
      y += kRow;
    }
    const place = {x, y, width};
    x += width + 3;
    return place;
  });
  return {places, height: y + kRow};
}

export function stripDrawing(panes, state) {
  const colors = palette();
  const shades = table();
  const parts = panes.map((pane) => ({pane, ...wrapped(pane.pass.tokens)}));
  const drawing = new Drawing(kWidth + 32, 40 + parts.reduce((sum, part) => sum + part.height + 44, 0), `Tokens by ${state.shade}`);
  let y = 28;
  for (const {pane, places, height} of parts) {
    const place = `layer ${state.layer}, ${state.head < 0 ? 'mean of heads' : 'head ' + state.head}`;
    drawing.text(16, y, `${pane.name} ${pane.note}`.trim() + ` · ${state.shade} · ${place} · ${number(pane.scale.low)} to ${number(pane.scale.high)}`,
      {weight: 600, fill: colors.ink});
    const shown = pane.values[state.shade];
    places.forEach((at, t) => {
      const coloured = shown && t !== pane.strip.uncoloured;
      const shade = coloured ? step(pane.scale.share(shown[t] ?? 0)) : 0;
      drawing.rect(16 + at.x, y + 12 + at.y, at.width, 26, coloured ? shades.hex[shade] : colors.soft,
        {radius: 4, hint: `${t}: ${number(shown?.[t])}`, stroke: state.locked.includes(t) ? colors.second : undefined});
      drawing.text(16 + at.x + at.width / 2, y + 30 + at.y, visible(pane.pass.tokens[t]),
        {anchor: 'middle', size: 14, mono: true, fill: coloured ? shades.ink[shade] : colors.ink});
    });
    y += height + 44;
  }
  return drawing;
}
