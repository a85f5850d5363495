// Layers × heads as small maps. Only rows in sight are fetched and drawn; a press selects one for the large map.
import {element, measured} from '../shared/dom.js';
import {pictureOf, show} from '../shared/heatmap.js';
import {palette} from '../shared/colors.js';
import {Drawing} from '../shared/drawing.js';
import {session} from './session.js';
import {change, state} from './state.js';

const kCell = 64; // pixels of a small map in a picture

function cellOf(pane, layer, head) {
  const canvas = element('canvas', {'aria-hidden': 'true'});
  const cell = element('button', {type: 'button', class: 'cell', 'data-layer': layer, 'data-head': head,
    'aria-label': `Layer ${layer}, head ${head}`, 'aria-pressed': 'false', tabindex: -1, onclick: () => change({layer, head})}, canvas);
  return {cell, canvas};
}

// Draws what is there; fetches first if it is not.
async function fill(grid, row) {
  const {pane} = grid;
  const kind = state.grid;
  if (kind === 'gates' && !pane.model.gate?.layers.includes(row.layer)) {
    for (const canvas of row.canvases) canvas.getContext('2d').clearRect(0, 0, canvas.width, canvas.height);
    return;
  }
  row.wanted = `${kind}`;
  let maps = pane.pass.has(`small ${kind} ${row.layer}`);
  try {
    maps ??= await pane.pass.small(kind, row.layer);
  } catch {
    return; // the strip says what is wrong; the row stays empty and is asked for again when it comes back into sight
  }
  if (row.wanted !== kind || !row.seen) return;
  measured('grid-row', () => {
    for (const map of maps) {
      const canvas = row.canvases[map.head ?? 0];
      if (canvas) show(canvas, pictureOf(map, state.scale, kind === 'attention' && !state.first), grid.side, grid.side);
    }
  });
  row.drawn = true;
}

export class Grid {
  constructor(pane) {
    this.pane = pane;
    const {layers, heads} = pane.model;
    this.element = element('div', {class: 'grid', role: 'group', 'aria-label': `Small maps of ${pane.name} ${pane.note}, by layer and head`.replace(/ +/g, ' ')});
    this.element.style.gridTemplateColumns = `auto repeat(${heads}, minmax(2.75rem, ${heads > 6 ? 5 : 8}rem))`;
    this.element.append(element('span', {class: 'column-name'}),
      ...Array.from({length: heads}, (_, head) => element('span', {class: 'column-name', 'aria-hidden': 'true'}, head)));
    this.rows = Array.from({length: layers}, (_, layer) => this.row(layer, heads));
    this.observer = new IntersectionObserver((entries) => this.seen(entries), {root: this.element, rootMargin: '120px'});
    for (const row of this.rows) this.observer.observe(row.name);
    this.resize = new ResizeObserver(() => (this.measured = undefined));
    this.resize.observe(this.element);
    this.mark();
  }

  row(layer, heads) {
    const cells = Array.from({length: heads}, (_, head) => cellOf(this.pane, layer, head));
    const name = element('span', {class: 'row-name', 'aria-hidden': 'true'}, layer);
    this.element.append(name, ...cells.map((one) => one.cell));
    return {layer, name, cells: cells.map((one) => one.cell), canvases: cells.map((one) => one.canvas), seen: false, drawn: false};
  }

  // All cells are alike. Asked once: between drawing one cell and the next it would lay out the whole page anew.
  get side() {
    return (this.measured ??= this.rows[0].canvases[0].clientWidth || kCell);
  }

  seen(entries) {
    for (const entry of entries) {
      const row = this.rows.find((one) => one.name === entry.target);
      row.seen = entry.isIntersecting;
      if (row.seen && !row.drawn) fill(this, row);
    }
  }

  redraw() {
    for (const row of this.rows) {
      row.drawn = false;
      if (row.seen) fill(this, row);
    }
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
    const top = chosen.name.offsetTop - this.element.offsetTop;
    if (top < this.element.scrollTop || top + 40 > this.element.scrollTop + this.element.clientHeight) this.element.scrollTop = Math.max(0, top - 60);
  }

  end() {
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
