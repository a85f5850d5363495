// The attention of one head, large, with sums by key above and by query beside it. Pointer and locked tokens are lines on a
// layer of their own, so that moving them never redraws the map.
import {element, exact, measured, number, onFrame, visible} from '../shared/dom.js';
import {palette} from '../shared/colors.js';
import {pictureOf, sized} from '../shared/heatmap.js';
import {drawMap, scaleFor} from '../shared/map_pixels.js';
import {sumsOf} from '../shared/scale.js';
import {Drawing} from '../shared/drawing.js';
import {hideTip, showTip} from '../shared/tip.js';
import {session, setHover} from './session.js';
import {lock} from './token_buttons.js';
import {state} from './state.js';
import {headName, lacksChosen} from './parts.js';

// The highest bar by key, of all maps that are compared.
export const mostReceived = (sums) => sums.flatMap(({received}) => Array.from(received)).reduce((high, value) => Math.max(high, value), 1e-9);

export class LargeMap {
  // maps(): all that are beside each other, which share the scale of their sums.
  constructor(pane, maps) {
    Object.assign(this, {pane, maps});
    this.canvas = element('canvas', {'aria-hidden': 'true'});
    this.lines = element('canvas', {'aria-hidden': 'true'});
    this.map = element('div', {class: 'map', role: 'img', tabindex: 0}, this.canvas, this.lines);
    this.byKey = element('canvas', {'aria-hidden': 'true'});
    this.byQuery = element('canvas', {'aria-hidden': 'true'});
    this.top = element('span');
    this.element = element('div', {class: 'large'}, element('div', {class: 'by-key', role: 'img'}, this.byKey),
      element('p', {class: 'corner'}, '← by key,', element('br'), this.top, element('br'), '↓ by query'), this.map, element('div', {class: 'by-query', role: 'img'}, this.byQuery));
    this.mark = onFrame(() => this.drawLines());
    this.map.addEventListener('pointermove', (event) => this.over(event));
    this.map.addEventListener('pointerleave', () => {
      this.point = null;
      setHover(-1);
      hideTip();
      this.mark();
    });
    this.map.addEventListener('click', (event) => {
      const {query} = this.at(event);
      lock(query, event.shiftKey);
    });
    this.resize = new ResizeObserver(() => {
      this.size = null;
      this.draw();
    });
    this.resize.observe(this.map);
  }

  at(event) {
    const box = this.map.getBoundingClientRect();
    const count = this.pane.pass.count;
    const cell = (value) => Math.min(count - 1, Math.max(0, Math.floor(value * count)));
    return {query: cell((event.clientY - box.top) / box.height), key: cell((event.clientX - box.left) / box.width)};
  }

  over(event) {
    if (!this.values) return;
    this.point = this.at(event);
    const {query, key} = this.point;
    const {tokens} = this.pane.pass;
    const seen = key <= query;
    setHover(key);
    showTip(event.clientX, event.clientY, [`${visible(tokens[query])} → ${visible(tokens[key])}`, `query ${query}, key ${key}`,
      seen ? `attention ${exact(this.values.values[query * this.pane.pass.count + key])}` : 'not seen: it comes later',
      `key ${key} receives ${number(this.sums.received[key], 4)} on average`]);
    this.mark();
  }

  async update() {
    const {pass, model} = this.pane;
    const wanted = `${state.layer} ${state.head}`;
    this.wanted = wanted;
    this.element.hidden = lacksChosen(model) !== null; // said below, in place of the facts
    if (this.element.hidden) {
      this.values = null;
      this.sums = null;
      return;
    }
    let map;
    try {
      map = await pass.attention(state.layer, state.head);
    } catch {
      return; // said elsewhere
    }
    if (this.wanted !== wanted) return;
    this.values = map;
    this.draw();
  }

  draw() {
    if (!this.values || !this.map.isConnected) return;
    this.size ??= this.sizes();
    measured('large-map', () => {
      const look = {kind: state.scale, withoutFirst: !state.first};
      const {context, wide, high} = sized(this.canvas, this.size.map.width, this.size.map.height);
      const image = context.createImageData(wide, high);
      measured('picture', () => drawMap(image, this.values, {x: 0, y: 0, wide, high}, look));
      context.putImageData(image, 0, 0);
      this.scale = scaleFor(this.values, look);
      this.sums = this.sumsNow(look.withoutFirst);
      for (const map of this.maps()) map.drawReceived();
      this.drawGiven();
      this.describe();
      this.drawLines();
    });
  }

  // Kept until the map changes its size: asking makes the browser lay out all that has changed before.
  sizes() {
    const boxOf = (canvas) => canvas.parentElement.getBoundingClientRect();
    return {map: boxOf(this.canvas), byKey: boxOf(this.byKey), byQuery: boxOf(this.byQuery)};
  }

  // Adding up a million values takes longer than drawing them, so it is done once.
  sumsNow(withoutFirst) {
    const name = withoutFirst ? 'sumsWithoutFirst' : 'sums';
    return (this.values[name] ??= sumsOf(this.values.values, this.pane.pass.count, withoutFirst));
  }

  // The attention map in words, for who cannot see it.
  describe() {
    const {received} = this.sums;
    const most = received.reduce((best, value, i) => (value > received[best] ? i : best), 0);
    const name = `Attention of layer ${state.layer}, ${headName(state.head)}, ${this.pane.name} ${this.pane.note}`.trim();
    this.map.setAttribute('aria-label', `${name}: token ${most} “${this.pane.pass.tokens[most]}” receives most, ${number(received[most])} on average`);
    this.byKey.parentElement.setAttribute('aria-label', 'Mean attention that each key receives');
    this.byQuery.parentElement.setAttribute('aria-label', 'Attention that each query gives: to the first token, and to the others');
    this.map.dataset.drawn = this.wanted;
    this.map.dataset.high = this.scale.high;
  }

  drawReceived() {
    if (!this.sums || !this.size) return;
    const colors = palette();
    const {received} = this.sums;
    const {context: key} = sized(this.byKey, this.size.byKey.width, this.size.byKey.height);
    const most = mostReceived(this.maps().map((map) => map.sums).filter(Boolean));
    this.top.textContent = `top ${number(most, most < 0.1 ? 3 : 2)}`;
    const wide = this.byKey.width / received.length;
    received.forEach((value, i) => {
      const high = (this.byKey.height * value) / most;
      key.fillStyle = i ? colors.accent : colors.second;
      key.fillRect(i * wide, this.byKey.height - high, Math.max(1, wide - (wide > 4 ? 1 : 0)), high);
    });
  }

  drawGiven() {
    const colors = palette();
    const {given, first} = this.sums;
    const count = given.length;
    const {context: query} = sized(this.byQuery, this.size.byQuery.width, this.size.byQuery.height);
    const tall = this.byQuery.height / count;
    for (let i = 0; i < count; ++i) {
      const toFirst = state.first ? first[i] : 0;
      query.fillStyle = colors.second;
      query.fillRect(0, i * tall, this.byQuery.width * toFirst, Math.max(1, tall - (tall > 4 ? 1 : 0)));
      query.fillStyle = colors.accent;
      query.fillRect(this.byQuery.width * toFirst, i * tall, this.byQuery.width * Math.max(0, given[i] - toFirst), Math.max(1, tall - (tall > 4 ? 1 : 0)));
    }
  }

  drawLines() {
    if (!this.size) return;
    const {context} = sized(this.lines, this.size.map.width, this.size.map.height);
    const colors = palette();
    const count = this.pane.pass.count;
    const {width, height} = this.lines;
    const row = (query, color) => {
      context.strokeStyle = color;
      context.lineWidth = Math.max(1.5, devicePixelRatio);
      context.strokeRect(0.5, (query * height) / count, width - 1, Math.max(2, height / count));
    };
    const column = (key, color) => {
      context.strokeStyle = color;
      context.strokeRect((key * width) / count, 0.5, Math.max(2, width / count), height - 1);
    };
    for (const query of state.locked) if (query < count) row(query, colors.second);
    if (this.point) row(this.point.query, colors.accent);
    if (session.hover >= 0 && session.hover < count) column(session.hover, colors.accent);
  }

  end() {
    this.resize.disconnect();
  }
}

// Of labels in pixels: the height of a line, the width of a letter; and how many letters a key shows.
const kLine = 11.5;
const kLetter = 7;
const kKeyLetters = 6;

// The map with its sums and the tokens along its edges, for the export.
export function largeDrawing(pane, values, most) {
  const colors = palette();
  const side = 560;
  const count = pane.pass.count;
  const picture = pictureOf(values, state.scale, !state.first);
  const sums = sumsOf(values.values, count, !state.first);
  const drawing = new Drawing(side + 190, side + 190, `Attention of layer ${state.layer}, ${headName(state.head)}`);
  drawing.text(90, 24, `${pane.name} ${pane.note} · layer ${state.layer}, ${headName(state.head)} · ${state.scale} up to ${number(picture.scale.high)}`, {weight: 600, fill: colors.ink});
  const x = 90, y = 100, cell = side / count;
  drawing.pixels(x, y, side, side, picture.canvas);
  drawing.rect(x, y, side, side, 'none', {stroke: colors.line});
  for (let i = 0; i < count; ++i) {
    drawing.rect(x + i * cell, y - 6 - (56 * sums.received[i]) / most, Math.max(0.5, cell - 0.5), (56 * sums.received[i]) / most, i ? colors.accent : colors.second, {hint: `key ${i}: ${number(sums.received[i], 4)}`});
    const first = state.first ? sums.first[i] : 0;
    drawing.rect(x + side + 6, y + i * cell, 70 * first, Math.max(0.5, cell - 0.5), colors.second, {hint: `query ${i} to the first token: ${number(first, 4)}`});
    drawing.rect(x + side + 6 + 70 * first, y + i * cell, 70 * Math.max(0, sums.given[i] - first), Math.max(0.5, cell - 0.5), colors.accent);
  }
  const label = {size: 11, mono: true, fill: colors.faint};
  const named = (letters) => pane.pass.tokens.map((token) => [...visible(token)].slice(0, letters).join(''));
  const rows = named(10), keys = named(kKeyLetters);
  for (let i = 0, every = Math.ceil(kLine / cell); i < count; i += every) drawing.text(x - 6, y + (i + 0.5) * cell + 4, rows[i], {anchor: 'end', ...label});
  // As many as have room beside each other.
  const widest = keys.reduce((most, name) => Math.max(most, [...name].length), 1);
  for (let i = 0, every = Math.ceil((kLetter * (widest + 1)) / cell); i < count; i += every) drawing.text(x + (i + 0.5) * cell, y + side + 14, keys[i], {anchor: 'middle', ...label});
  drawing.text(x + side / 2, y + side + 34, 'key', {anchor: 'middle', fill: colors.faint});
  return drawing;
}
