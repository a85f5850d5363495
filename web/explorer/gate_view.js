// The view "Gates": token × head of a layer, down to the channels of an elementwise gate, the histogram, and the first token
// against the others.
import {element, exact, measured, number, percent, replace, visible} from '../shared/dom.js';
import {barChart, binsOf, histogram, kBins} from '../shared/charts.js';
import {svgElement, Drawing} from '../shared/drawing.js';
import {exportButtons} from '../shared/export.js';
import {pictureOf, show} from '../shared/heatmap.js';
import {palette} from '../shared/colors.js';
import {hideTip, showTip} from '../shared/tip.js';
import {facts, headName, inPanes, lacksChosen} from './parts.js';
import {session, setHover} from './session.js';
import {change, state} from './state.js';

let panels = [];

// A map with tokens from left to right, since there are more of them than heads: [columns of the map, tokens].
function turned(map) {
  if (map.turned) return map.turned;
  const values = new Float32Array(map.values.length);
  for (let t = 0; t < map.rows; ++t) for (let c = 0; c < map.columns; ++c) values[c * map.rows + t] = map.values[t * map.columns + c];
  return (map.turned = {values, rows: map.columns, columns: map.rows, causal: false});
}

class TokenMap {
  // name: what a row is, 'head' or 'channel'.
  constructor(pane, name, pressed) {
    Object.assign(this, {pane, name});
    this.canvas = element('canvas', {'aria-hidden': 'true'});
    this.chosen = element('div', {class: 'chosen', hidden: true});
    this.element = element('div', {class: 'heads', role: 'img', 'data-map': name}, this.canvas, this.chosen);
    this.element.addEventListener('pointermove', (event) => this.over(event));
    this.element.addEventListener('pointerleave', () => {
      setHover(-1);
      hideTip();
    });
    if (pressed) this.element.addEventListener('click', (event) => pressed(this.at(event).row));
  }

  at(event) {
    const box = this.element.getBoundingClientRect();
    const {rows, columns} = this.map;
    return {row: Math.min(rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * rows))),
      token: Math.min(columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * columns)))};
  }

  over(event) {
    if (!this.map) return;
    const {row, token} = this.at(event);
    setHover(token);
    showTip(event.clientX, event.clientY, [visible(this.pane.pass.tokens[token]), `token ${token}, ${this.name} ${row}`,
      `gate ${exact(this.map.values[row * this.map.columns + token])}`]);
  }

  // A frame around a row, or none.
  mark(row) {
    this.chosen.hidden = row < 0;
    this.chosen.style.top = `${(100 * row) / this.map.rows}%`;
    this.chosen.style.height = `${100 / this.map.rows}%`;
  }

  draw(map) {
    this.map = turned(map);
    const high = Math.max(28, Math.min(420, this.map.rows * (this.name === 'head' ? 26 : 5)));
    this.canvas.style.height = `${high}px`;
    measured(`gates-${this.name}`, () => show(this.canvas, pictureOf(this.map, state.scale, false), this.element.clientWidth || 300, high));
    this.element.setAttribute('aria-label', `Gates of layer ${state.layer}: ${this.map.rows} ${this.name}s by ${this.map.columns} tokens, mean ${number(mean(this.map.values))}`);
    this.element.dataset.drawn = `${state.layer}`;
  }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

// Values of the selected head, or of all heads of the layer.
function selected(map, head) {
  if (head < 0) return map.values;
  return Float32Array.from({length: map.rows}, (_, t) => map.values[t * map.columns + head]);
}

class Panel {
  constructor(pane) {
    this.pane = pane;
    this.heads = new TokenMap(pane, 'head', (head) => change({head}));
    this.channels = new TokenMap(pane, 'channel');
    this.below = element('div');
    this.charts = element('div', {class: 'panes two'});
    this.facts = element('div');
    this.title = element('h3', {class: 'note'});
    this.shown = element('div', {}, this.title, this.heads.element, this.below, this.facts, this.charts);
    this.none = element('p', {class: 'empty', hidden: true});
    this.element = pane.model.gate ? element('div', {}, this.shown, this.none)
      : element('p', {class: 'empty'}, element('strong', {}, `${pane.name} has no gate`),
        'Its attention always passes in full. Choose a model with a gate above, or see its attention.');
  }

  async update() {
    const {pane} = this;
    if (!pane.model.gate) return;
    this.title.textContent = `Layer ${state.layer}: rows are heads, columns are tokens`;
    const wanted = (this.wanted = `${state.layer} ${state.head}`);
    this.none.textContent = lacksChosen(pane.model) ?? (pane.model.gate.layers.includes(state.layer) ? '' : `Layer ${state.layer} of ${pane.model.id} has no gate.`);
    this.none.hidden = !this.none.textContent;
    this.shown.hidden = !this.none.hidden;
    if (this.shown.hidden) {
      this.map = null; // nothing to save
      return;
    }
    let map;
    try {
      map = await pane.pass.gates(state.layer);
    } catch (error) {
      if (this.wanted === wanted && error.name !== 'AbortError') {
        for (const part of [this.facts, this.charts]) replace(part);
        this.fail(`The gates of layer ${state.layer} could not be fetched.`, error);
      }
      return;
    }
    if (this.wanted !== wanted) return;
    this.map = map;
    this.drilled = null;
    this.values = selected(map, state.head);
    this.heads.draw(map);
    this.heads.mark(state.head);
    if (!this.drills()) { // else of its channels, when they are there
      this.drawFacts();
      this.drawCharts();
    }
    await this.drill(wanted);
  }

  fail(what, error) {
    replace(this.below, element('p', {class: 'trouble', role: 'alert'}, `${what} ${error.message}`));
  }

  drills() {
    return this.pane.model.gate.width > 1 && state.head >= 0;
  }

  // Down to channels where a gate has several per head.
  async drill(wanted) {
    if (this.pane.model.gate.width === 1) {
      replace(this.below, element('p', {class: 'note'}, 'One gate per head: there is nothing below it.'));
      return;
    }
    if (!this.drills()) {
      replace(this.below, element('p', {class: 'note'}, 'An elementwise gate: press a head to see its channels.'));
      return;
    }
    // Of the head before nothing stays, neither while this one's channels come nor if they do not.
    if (!this.pane.pass.has(`channels ${state.layer} ${state.head}`)) {
      for (const part of [this.facts, this.charts]) replace(part);
      replace(this.below, element('p', {class: 'note'}, `Channels of head ${state.head} …`));
    }
    let channels;
    try {
      channels = await this.pane.pass.channels(state.layer, state.head);
    } catch (error) {
      if (this.wanted === wanted && error.name !== 'AbortError') this.fail(`The channels of head ${state.head} could not be fetched.`, error);
      return;
    }
    if (this.wanted !== wanted) return;
    this.drilled = channels;
    replace(this.below, element('h3', {class: 'note'}, `Channels of head ${state.head}`), this.channels.element);
    this.channels.draw(channels);
    this.values = channels.values;
    this.drawFacts();
    this.drawCharts();
  }

  gate() {
    return this.pane.pass.view.layers[state.layer].gates.find((one) => one.position === 'g1');
  }

  // Shares are of the gate's own values, channel by channel: means over channels are hardly ever near an end. Of a whole layer
  // the server has counted them.
  drawFacts() {
    const gate = this.gate();
    const whole = state.head < 0;
    const share = (test) => this.values.filter(test).length / this.values.length;
    const counted = this.pane.model.gate.width > 1 ? ', of all channels' : '';
    replace(this.facts, facts([
      ['Mean gate', number(whole ? gate.mean : mean(this.values)), `${headName(state.head)} of layer ${state.layer}`, 'fact-gate'],
      ['Nearly closed', percent(whole ? gate.closed : share((value) => value < 0.1)), `below 0.1${counted}`, 'fact-closed'],
      ['Nearly open', percent(whole ? gate.open : share((value) => value > 0.9)), `above 0.9${counted}`, 'fact-open'],
      ['First token', number(gate.first), `the others: ${number(gate.others)} (whole layer)`],
    ]));
  }

  // Of every value of the layer, as the server has counted them: in shares, and in finer parts.
  layerBins() {
    const {heads, width} = this.pane.model.gate;
    const total = this.pane.pass.count * heads * width;
    const bins = new Array(kBins).fill(0);
    const {histogram: shares} = this.gate();
    shares.forEach((share, i) => (bins[Math.floor((i * kBins) / shares.length)] += Math.round(share * total)));
    return bins;
  }

  histogramOf() {
    const counts = state.head < 0 ? this.layerBins() : binsOf(this.values);
    const total = counts.reduce((sum, count) => sum + count, 0);
    return histogram({title: `Histogram of ${total} gate values, layer ${state.layer}, ${headName(state.head)}`, counts});
  }

  firstChart() {
    const layers = this.pane.pass.view.layers.filter((layer) => layer.gates?.length);
    const gates = layers.map((layer) => layer.gates.find((one) => one.position === 'g1') ?? {});
    const colors = palette();
    return barChart({title: 'Mean gate of the first token and of the others, by layer', categories: layers.map((layer) => layer.layer), height: 180, width: 380,
      series: [{name: 'first token', values: gates.map((gate) => gate.first), color: colors.second}, {name: 'others', values: gates.map((gate) => gate.others), color: colors.accent}],
      note: 'layer'});
  }

  drawCharts() {
    measured('gate-charts', () => replace(this.charts,
      element('figure', {class: 'chart'}, element('figcaption', {class: 'note'}, 'How often each value'), svgElement(this.histogramOf())),
      element('figure', {class: 'chart'}, element('figcaption', {class: 'note'}, 'First token against the others'), svgElement(this.firstChart()))));
  }

  // With the channels of a head if they are on the page.
  drawing() {
    const colors = palette();
    const drawing = new Drawing(820, this.drilled ? 730 : 470, `Gates of layer ${state.layer}`);
    drawing.text(20, 26, `${this.pane.name} ${this.pane.note} · gates of layer ${state.layer}: heads by tokens`, {weight: 600, fill: colors.ink});
    drawing.pixels(20, 40, 780, 200, pictureOf(this.heads.map, state.scale, false).canvas);
    drawing.rect(20, 40, 780, 200, 'none', {stroke: colors.line});
    drawing.place(20, 262, this.histogramOf());
    drawing.place(420, 262, this.firstChart());
    if (!this.drilled) return drawing;
    drawing.text(20, 484, `channels of head ${state.head} by tokens`, {weight: 600, fill: colors.ink});
    drawing.pixels(20, 498, 780, 200, pictureOf(this.channels.map, state.scale, false).canvas);
    drawing.rect(20, 498, 780, 200, 'none', {stroke: colors.line});
    return drawing;
  }

  // Of an elementwise gate the value of a head is the mean over its channels, and those of the head that is open follow.
  rows() {
    const {pane, map, drilled} = this;
    const row = (t, head, channel, gate) => [pane.name, pane.pass.subject.interventions.join('; '), state.layer, t, pane.pass.tokens[t], head, channel, gate];
    const cells = ({rows, columns, values}, make) => Array.from({length: rows * columns}, (_, i) => make(Math.floor(i / columns), i % columns, values[i]));
    return [...cells(map, (t, head, gate) => row(t, head, null, gate)), ...(drilled ? cells(drilled, (t, channel, gate) => row(t, state.head, channel, gate)) : [])];
  }
}

const view = {
  name: 'gates', title: 'the gates',
  drawing() {
    const drawings = panels.filter((panel) => panel.map).map((panel) => panel.drawing());
    const whole = new Drawing(820, Math.max(60, drawings.reduce((sum, one) => sum + one.height, 0)), 'Gates');
    let y = 0;
    for (const one of drawings) {
      whole.place(0, y, one);
      y += one.height;
    }
    return whole;
  },
  table: () => ({columns: ['model', 'changes', 'layer', 'token_position', 'token', 'head', 'channel', 'gate'], rows: panels.filter((panel) => panel.map).flatMap((panel) => panel.rows())}),
};

export function build() {
  panels = session.panes.map((pane) => new Panel(pane));
  const card = element('section', {class: 'card', 'aria-label': 'Gates'}, element('div', {class: 'head'}, element('h2', {}, 'Gates, token by token'), exportButtons(view)),
    inPanes(session.panes, (pane) => panels[session.panes.indexOf(pane)].element));
  requestAnimationFrame(() => update());
  return {content: [card]};
}

export function update() {
  for (const panel of panels) panel.update();
}

export function end() {
  panels = [];
}

