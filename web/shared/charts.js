// Small charts as drawings: bars along tokens, histograms, lines by layer, tables.
import {Drawing} from './drawing.js';
import {palette} from './colors.js';
import {number, visible, withMinus} from './dom.js';

// A number at or above the value for the top of an axis that is round, as is its half.
export function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.5, 2, 3, 4, 5, 6, 8, 10]) if (value <= step * power * 1.0001) return step * power;
  return 10 * power;
}

// No more digits than it takes: 0, 15, 30 and 0, 0.75, 1.5.
const tick = (value) => (Math.abs(value) >= 0.0005 || value === 0 ? withMinus(String(Number(value.toPrecision(3)))) : number(value));

function frame(drawing, box, top, {low = 0, ticks = [0, 0.5, 1], unit = ''} = {}) {
  const colors = palette();
  for (const share of ticks) {
    const y = box.y + box.height * (1 - share);
    drawing.line(box.x, y, box.x + box.width, y, share === 0 ? colors.faint : colors.grid);
    drawing.text(box.x - 6, y + 4, tick(low + (top - low) * share) + unit, {anchor: 'end', size: 11, fill: colors.faint});
  }
}

// series: [{name, values, color}], grouped side by side at each category.
export function barChart({title, categories, series, width = 560, height = 200, top, note, digits = 3}) {
  const colors = palette();
  const drawing = new Drawing(width, height, title);
  const legend = series.length > 1 ? 20 : 0;
  const box = {x: 48, y: 12 + legend, width: width - 60, height: height - 44 - legend};
  const most = top ?? niceTop(Math.max(...series.flatMap((one) => Array.from(one.values, (value) => value || 0)), 1e-9));
  frame(drawing, box, most);
  const slot = box.width / Math.max(1, categories.length);
  const bar = Math.max(1, Math.min(40, (slot * 0.76) / series.length));
  const every = Math.ceil(categories.length / Math.max(1, Math.floor(box.width / 26)));
  categories.forEach((name, i) => {
    series.forEach((one, s) => {
      const value = Math.min(most, Math.max(0, one.values[i] || 0));
      const high = (box.height * value) / most;
      const x = box.x + slot * (i + 0.5) + bar * (s - series.length / 2);
      drawing.rect(x, box.y + box.height - high, Math.max(0.8, bar - 1), high, one.color ?? (s ? colors.second : colors.accent),
        {hint: `${one.name} · ${name}: ${number(one.values[i], digits)}`});
    });
    if (i % every === 0) {
      drawing.text(box.x + slot * (i + 0.5), box.y + box.height + 15, visible(String(name)).slice(0, Math.max(3, Math.floor(slot * every / 7))),
        {anchor: 'middle', size: 11, fill: colors.faint});
    }
  });
  if (note) drawing.text(box.x + box.width, height - 4, note, {anchor: 'end', size: 11, fill: colors.faint});
  if (legend) legendOf(drawing, box.x, 12, series);
  return drawing;
}

// Further to the left where the names would not fit otherwise.
function legendOf(drawing, right, y, series) {
  const colors = palette();
  const wide = series.reduce((sum, one) => sum + 34 + one.name.length * 7, 0);
  let x = Math.max(0, Math.min(right, drawing.width - wide));
  for (const [s, one] of series.entries()) {
    const color = one.color ?? (s ? colors.second : colors.accent);
    // Told apart by more than colour: the second is dashed or hatched by a gap.
    drawing.line(x, y - 4, x + 18, y - 4, color, {width: 4, dash: one.dash});
    drawing.text(x + 24, y, one.name, {size: 12, fill: colors.ink});
    x += 34 + one.name.length * 7;
  }
}

// Values against layers or positions. floor: {value, name}, a dashed line to compare with.
export function lineChart({title, series, width = 560, height = 200, top, floor, across = 'layer', digits = 3}) {
  const colors = palette();
  const drawing = new Drawing(width, height, title);
  const box = {x: 52, y: 30, width: width - 68, height: height - 64};
  const all = series.flatMap((one) => Array.from(one.values)).concat(floor ? [floor.value] : []);
  const most = top ?? niceTop(Math.max(...all.filter(Number.isFinite), 1e-9));
  frame(drawing, box, most);
  const count = Math.max(...series.map((one) => one.values.length));
  const place = (i, value) => [box.x + (count > 1 ? (box.width * i) / (count - 1) : box.width / 2),
    box.y + box.height * (1 - Math.min(most, Math.max(0, value)) / most)];
  series.forEach((one, s) => {
    const color = one.color ?? (s ? colors.second : colors.accent);
    const points = Array.from(one.values, (value, i) => place(i, value)).filter(([, y]) => Number.isFinite(y));
    drawing.path(points, color, {width: 2.2, dash: s ? [6, 4] : undefined});
    if (count <= 64) {
      points.forEach(([x, y], i) => drawing.rect(x - 3, y - 3, 6, 6, color,
        {radius: s ? 0 : 3, hint: `${one.name} · ${across} ${i}: ${number(one.values[i], digits)}`}));
    }
  });
  if (floor) {
    const [, y] = place(0, floor.value);
    drawing.line(box.x, y, box.x + box.width, y, colors.faint, {dash: [2, 4], width: 1.4});
    drawing.text(box.x + box.width, y - 5, floor.name, {anchor: 'end', size: 11, fill: colors.faint});
  }
  const every = Math.ceil(count / Math.max(2, Math.min(16, Math.floor(box.width / 26))));
  for (let i = 0; i < count; i += every) drawing.text(place(i, 0)[0], box.y + box.height + 16, i, {anchor: 'middle', size: 11, fill: colors.faint});
  drawing.text(box.x + box.width, height - 4, across, {anchor: 'end', size: 11, fill: colors.faint});
  legendOf(drawing, box.x, 14, series.map((one, s) => ({...one, dash: s ? [5, 3] : undefined})));
  return drawing;
}

export const kBins = 20;

export function binsOf(values) {
  const bins = new Array(kBins).fill(0);
  for (const value of values) bins[Math.min(kBins - 1, Math.max(0, Math.floor(value * kBins)))] += 1;
  return bins;
}

// counts: of kBins equal parts from 0 to 1.
export function histogram({title, counts, width = 380, height = 180}) {
  const colors = palette();
  const drawing = new Drawing(width, height, title);
  const box = {x: 48, y: 12, width: width - 60, height: height - 44};
  const total = Math.max(1, counts.reduce((sum, count) => sum + count, 0));
  const most = niceTop(Math.max(...counts) / total);
  frame(drawing, box, most);
  const slot = box.width / kBins;
  counts.forEach((count, i) => {
    const high = (box.height * count) / total / most;
    drawing.rect(box.x + slot * i + 0.5, box.y + box.height - high, slot - 1, high, colors.accent,
      {hint: `${(i / kBins).toFixed(2)} to ${((i + 1) / kBins).toFixed(2)}: ${count} of ${total}`});
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    drawing.text(box.x + box.width * share, box.y + box.height + 15, share, {anchor: 'middle', size: 11, fill: colors.faint});
  }
  drawing.text(box.x + box.width, height - 4, 'gate', {anchor: 'end', size: 11, fill: colors.faint});
  return drawing;
}

// A table as a picture: for the export of views that are tables on the page.
export function tableDrawing(title, columns, rows) {
  const colors = palette();
  const wide = columns.map((name, c) => 24 + 7.4 * Math.min(48, Math.max(name.length, ...rows.map((row) => String(row[c]).length))));
  const drawing = new Drawing(wide.reduce((a, b) => a + b, 24), 56 + 22 * (rows.length + 1), title);
  drawing.text(12, 24, title, {size: 14, weight: 600, fill: colors.ink});
  let x = 12;
  columns.forEach((name, c) => {
    drawing.text(x, 50, name, {weight: 600, fill: colors.faint});
    rows.forEach((row, r) => drawing.text(x, 74 + 22 * r, String(row[c]).slice(0, 48), {fill: colors.ink, mono: c === 0}));
    x += wide[c];
  });
  drawing.line(12, 57, drawing.width - 12, 57, colors.line);
  return drawing;
}
