// Layers × heads as small maps. Only rows in sight are fetched and drawn; a press selects one for the large map.
import {element, measured} from '../shared/dom.js';
import {pictureOf, pixelRatio, sized} from '../shared/heatmap.js';
import {drawMap} from '../shared/map_pixels.js';
import {palette} from '../shared/colors.js';
import {Drawing} from '../shared/drawing.js';
import {session} from './session.js';
import {change, state} from './state.js';

const kCell = 64; // pixels of a small map in a picture

// What of a row is where, in pixels of the page: all cells are alike, and all rows.
function placesOf(row) {
  const [first, second] = row.cells.map((cell) => cell.getBoundingClientRect());
  return {side: first.width, pitch: second ? second.left - first.left : first.width, width: row.cells.at(-1).getBoundingClientRect().right - first.left};
}

// Draws what is there; fetches first if it is not. paced: in the frames that have time for it.
async function fill(grid, row, paced = false) {
  const {pane} = grid;
  const kind = state.grid;
  row.wanted = kind;
  if (kind === 'gates' && !pane.model.gate?.layers.includes(row.layer)) return row.canvas?.remove();
  let maps = pane.pass.has(`small ${kind} ${row.layer}`);
  try {
    maps ??= await pane.pass.small(kind, row.layer);
  } catch {
    return; // the strip says what is wrong; the row stays empty and is asked for again when it comes back into sight
  }
  if (row.wanted !== kind || !row.seen || grid.ended) return;
  const draw = () => row.wanted === kind && row.seen && !grid.ended && measured('grid-row', () => grid.draw(row, maps));
  if (paced) inFrames(draw);
  else draw();
}

// While rows are scrolled into sight several may arrive between two frames; each frame draws for so many milliseconds and leaves the
// rest to the next.
const kDrawing = 5;
const waiting = [];

function inFrames(action) {
  waiting.push(action);
  if (waiting.length === 1) requestAnimationFrame(drawSome);
}

function drawSome() {
  const end = performance.now() + kDrawing;
  try {
    do waiting.shift()(); while (waiting.length && performance.now() < end);
  } finally {
    // Also if one of them failed: the others would wait for ever.
    if (waiting.length) requestAnimationFrame(drawSome);
  }
}

export class Grid {
  constructor(pane) {
    this.pane = pane;
    const {layers, heads} = pane.model;
    this.element = element('div', {class: 'grid', role: 'group', 'aria-label': `Small maps of ${pane.name} ${pane.note}, by layer and head`.replace(/ +/g, ' ')});
    this.element.style.gridTemplateColumns = `auto repeat(${heads}, minmax(${heads > 8 ? 2.2 : 2.75}rem, ${heads > 6 ? 5 : 8}rem))`;
    this.element.append(element('span', {class: 'column-name'}),
      ...Array.from({length: heads}, (_, head) => element('span', {class: 'column-name', 'aria-hidden': 'true'}, head)));
    this.rows = Array.from({length: layers}, (_, layer) => this.row(layer, heads));
    this.element.addEventListener('click', ({target}) => {
      if (target.matches('.cell')) change({layer: Number(target.dataset.layer), head: Number(target.dataset.head)});
    });
    this.observer = new IntersectionObserver((entries) => this.seen(entries), {root: this.element, rootMargin: '120px'});
    for (const row of this.rows) this.observer.observe(row.name);
    this.resize = new ResizeObserver(() => this.resized());
    this.resize.observe(this.element);
    this.mark();
  }

  row(layer, heads) {
    const cells = Array.from({length: heads}, (_, head) => element('button', {type: 'button', class: 'cell', 'data-layer': layer, 'data-head': head,
      'aria-label': `Layer ${layer}, head ${head}`, 'aria-pressed': 'false', tabindex: -1}));
    const name = element('span', {class: 'row-name', 'aria-hidden': 'true'}, layer);
    this.element.append(name, ...cells);
    return {layer, name, cells, canvas: null, seen: false};
  }

  // One canvas over all cells of a row, there as long as the row is in sight: a browser composes every canvas anew with every
  // frame, and a canvas for each of 768 cells left 9 frames a second.
  draw(row, maps) {
    row.canvas ??= element('canvas', {'aria-hidden': 'true', 'data-layer': row.layer});
    row.canvas.style.gridRow = `${row.layer + 2} / span 1`; // below the names of the columns
    this.places ??= placesOf(row);
    const {side, pitch, width} = this.places;
    const {context, wide, high} = sized(row.canvas, width, side);
    const image = context.createImageData(wide, high);
    const ratio = pixelRatio();
    const inner = Math.max(1, Math.floor((side - 2) * ratio)); // inside the cell's border
    const look = {kind: state.scale, withoutFirst: state.grid === 'attention' && !state.first};
    for (const map of maps) {
      const x = Math.min(wide - inner, Math.round(((map.head ?? 0) * pitch + 1) * ratio));
      drawMap(image, map, {x, y: Math.round(ratio), wide: inner, high: Math.min(inner, high - Math.round(ratio))}, look);
    }
    context.putImageData(image, 0, 0);
    if (!row.canvas.isConnected) this.element.append(row.canvas);
  }

  resized() {
    const before = this.places;
    this.places = undefined;
    if (before && this.rows[0] && placesOf(this.rows[0]).width !== before.width) this.redraw();
  }

  seen(entries) {
    for (const entry of entries) {
      const row = this.rows.find((one) => one.name === entry.target);
      row.seen = entry.isIntersecting;
      if (row.seen) fill(this, row, true);
      else row.canvas?.remove();
    }
  }

  // What is in sight first; the rows above and below it, which wait to be scrolled to, in the frame behind.
  redraw() {
    const {scrollTop, clientHeight} = this.element;
    const inSight = ({name}) => name.offsetTop + name.offsetHeight > scrollTop && name.offsetTop < scrollTop + clientHeight;
    const waiting = [];
    for (const row of this.rows.filter((one) => one.seen)) {
      if (inSight(row)) fill(this, row);
      else waiting.push(row);
    }
    requestAnimationFrame(() => setTimeout(() => waiting.forEach((row) => row.seen && fill(this, row))));
  }

  // One cell takes part in the tab order: the selected one. Only it and the one before are touched: there may be a thousand.
  mark(scroll = true) {
    this.marked?.setAttribute('aria-pressed', 'false');
    this.marked?.setAttribute('tabindex', '-1');
    this.marked = this.rows[state.layer]?.cells[Math.max(0, state.head)];
    this.marked?.setAttribute('aria-pressed', String(state.head >= 0));
    this.marked?.setAttribute('tabindex', '0');
    const chosen = this.rows[state.layer];
    if (!chosen || !scroll) return;
    const top = chosen.name.offsetTop;
    if (top < this.element.scrollTop || top + 40 > this.element.scrollTop + this.element.clientHeight) this.element.scrollTop = Math.max(0, top - 60);
  }

  end() {
    this.ended = true;
    this.observer.disconnect();
    this.resize.disconnect();
  }
}

// All maps that have been fetched, as on the page.
export function gridDrawing() {
  const colors = palette();
  const gap = 6;
  const widths = session.panes.map((pane) => 30 + pane.model.heads * (kCell + gap));
  const most = Math.max(...session.panes.map((pane) => pane.model.layers));
  const drawing = new Drawing(widths.reduce((a, b) => a + b + 24, 16), 60 + most * (kCell + gap), `Small maps: ${state.grid}, by layer and head`);
  let left = 16;
  session.panes.forEach((pane, p) => {
    drawing.text(left, 22, `${pane.name} ${pane.note} · ${state.grid}`, {weight: 600, fill: colors.ink});
    for (let head = 0; head < pane.model.heads; ++head) drawing.text(left + 30 + head * (kCell + gap) + kCell / 2, 42, head, {size: 11, anchor: 'middle', fill: colors.faint});
    for (let layer = 0; layer < pane.model.layers; ++layer) {
      const y = 50 + layer * (kCell + gap);
      drawing.text(left + 20, y + kCell / 2 + 4, layer, {size: 11, anchor: 'end', fill: colors.faint});
      for (const map of pane.pass.has(`small ${state.grid} ${layer}`) ?? []) {
        const x = left + 30 + (map.head ?? 0) * (kCell + gap);
        drawing.pixels(x, y, kCell, kCell, pictureOf(map, state.scale, state.grid === 'attention' && !state.first).canvas);
        drawing.rect(x, y, kCell, kCell, 'none', {stroke: colors.line});
      }
    }
    left += widths[p] + 24;
  });
  return drawing;
}

export function gridTable() {
  const columns = ['model', 'changes', 'layer', 'head', 'sink', 'late_sink', 'entropy', 'gate_mean'];
  const rows = session.panes.flatMap((pane) => pane.pass.view.layers.flatMap((layer) => Array.from({length: pane.model.heads}, (_, head) => [
    pane.name, pane.pass.subject.interventions.join('; '), layer.layer, head, layer.attention?.sink[head], layer.attention?.late_sink?.[head],
    layer.attention?.entropy[head], layer.gates?.find((gate) => gate.position === 'g1')?.by_head?.[head]])));
  return {columns, rows};
}
