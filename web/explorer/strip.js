// The tokens as a strip of buttons, coloured by what the reader chose, and the tools above it.
import {choice, debounced, element, exact, find, listed, measured, number, replace, segments, visible} from '../shared/dom.js';
import {strong, table} from '../shared/colors.js';
import {scaleOf, scales, sumsOf} from '../shared/scale.js';
import {attentionKey} from '../shared/pass.js';
import {exportButtons} from '../shared/export.js';
import {lacksChosen, paneHeading, walker} from './parts.js';
import {stripDrawing} from './strip_drawing.js';
import {TokenButtons} from './token_buttons.js';
import {mainPane, onHover, onPanes, session} from './session.js';
import {change, state, subscribe} from './state.js';

const shades = [
  ['gate', 'Gate', 'How far the gate of this head is open at each token'],
  ['surprise', 'Surprise', 'How unexpected the token was: −ln of its probability'],
  ['received', 'Attention received', 'Mean attention of the tokens that see this one'],
  ['given', 'Attention given', 'Where the locked token looks (the last one if none is)'],
];

const kTips = 200; // milliseconds

// What can be said of every token, from what has been fetched so far.
function valuesOf(pane) {
  const {pass} = pane;
  const {layer, head} = state;
  if (lacksChosen(pane.model)) return {surprise: pass.view.surprise};
  const gates = pass.has(`gates ${layer}`);
  const attention = pass.has(attentionKey(layer, head));
  const sums = attention ? (attention.sums ??= sumsOf(attention.values, pass.count, false)) : null;
  return {gate: gates ? Float32Array.from({length: pass.count}, (_, t) => gateAt(gates, t, head)) : null, surprise: pass.view.surprise,
    received: sums?.received, given: attention ? givenOf(attention, pass.count) : null};
}

function gateAt(map, token, head) {
  if (head >= 0) return map.values[token * map.columns + head];
  let sum = 0;
  for (let h = 0; h < map.columns; ++h) sum += map.values[token * map.columns + h];
  return sum / map.columns;
}

export const lookers = (count) => (state.locked.length ? state.locked.filter((position) => position < count) : [count - 1]);

function givenOf(map, count) {
  const from = lookers(count);
  return Float32Array.from({length: count}, (_, key) => from.reduce((sum, query) => sum + map.values[query * count + key], 0) / from.length);
}

// What is not there yet, as functions that fetch it: what the colours need, or all that the tips say.
function missing(pane, all) {
  const {pass, model} = pane;
  const {layer, head} = state;
  // A link may name another model's layer, for as long as that one is being loaded.
  if (lacksChosen(model)) return [];
  const gates = (all || state.shade === 'gate') && model.gate?.layers.includes(layer) && !pass.has(`gates ${layer}`);
  const attention = (all || state.shade === 'received' || state.shade === 'given') && !pass.has(attentionKey(layer, head));
  return [gates ? () => pass.gates(layer) : null, attention ? () => pass.attention(layer, head) : null].filter(Boolean);
}

const subjectNow = () => `${state.shade} ${state.layer} ${state.head}`;

// Where attention is shown without the first token, that one has no colour either.
const leftOut = () => !state.first && (state.shade === 'received' || state.shade === 'given');

// New values for some panes, and one scale for all: there is one legend, and colours beside each other are compared.
function colour(panes) {
  measured('strip', () => {
    for (const pane of panes) {
      pane.values = valuesOf(pane);
      pane.strip.subject = subjectNow();
    }
    const coloured = session.panes.filter((pane) => pane.values);
    const most = coloured.flatMap((pane) => Array.from(pane.values[state.shade] ?? []).slice(leftOut() ? 1 : 0)).reduce((high, value) => (value > high ? value : high), 0);
    const scale = scaleOf(state.shade === 'surprise' && state.scale === 'linear' ? 'maximum' : state.scale, most);
    for (const pane of coloured) {
      pane.scale = scale;
      pane.strip.show(pane.values[state.shade], scale, leftOut() ? 0 : -1);
    }
  });
}

function tipLines(pane, t) {
  const values = valuesOf(pane);
  const lines = [`${visible(pane.pass.tokens[t])}`, `token ${t}, id ${pane.pass.ids[t]}`, `surprise ${exact(values.surprise[t])} nats`];
  const place = `layer ${state.layer}, ${state.head < 0 ? 'mean of heads' : 'head ' + state.head}`;
  if (values.gate) lines.push(`gate ${exact(values.gate[t])} (${place})`);
  if (values.received) lines.push(`attention received ${exact(values.received[t])}`);
  if (values.given) lines.push(`attention from ${listed(lookers(pane.pass.count))}: ${exact(values.given[t])}`);
  return lines;
}

const ramps = {}; // by theme

function ramp() {
  const colors = table();
  if (ramps[colors.name]) return ramps[colors.name];
  const canvas = element('canvas', {width: 256, height: 1, 'aria-hidden': 'true'});
  const context = canvas.getContext('2d');
  colors.css.forEach((color, i) => {
    context.fillStyle = color;
    context.fillRect(i, 0, 1, 1);
  });
  return (ramps[colors.name] = canvas);
}

const legend = ({scale}) => element('span', {class: 'legend'}, number(scale.low, scale.low ? 3 : 0), ramp(), number(scale.high, scale.high < 0.1 ? 4 : 2));

const view = {
  name: 'tokens', title: 'the tokens',
  drawing: () => stripDrawing(session.panes, state),
  // With all that the tips say, whatever the colours show just now.
  async table() {
    const {panes} = session;
    const head = state.head < 0 ? 'mean' : state.head;
    await Promise.all(panes.flatMap((pane) => missing(pane, true)).map((fetch) => fetch()));
    const rows = panes.flatMap((pane) => {
      const values = valuesOf(pane);
      return pane.pass.tokens.map((token, t) => [pane.name, pane.pass.subject.interventions.join('; '), t, pane.pass.ids[t], token, values.surprise[t],
        state.layer, head, values.gate?.[t], values.received?.[t], values.given?.[t], lookers(pane.pass.count).join(' ')]);
    });
    return {columns: ['model', 'changes', 'position', 'id', 'token', 'surprise', 'layer', 'head', 'gate', 'attention_received', 'attention_given', 'given_by'], rows};
  },
};

let toolsShow = '';

function drawTools() {
  const scale = mainPane()?.scale;
  const show = JSON.stringify([state.shade, state.layer, state.head, state.scale, state.first, scale?.low, scale?.high, table().name]);
  if (show === toolsShow) return;
  toolsShow = show;
  replace(find('strip-tools'),
    segments('Colour tokens by', shades, state.shade, (shade) => change({shade})), walker(),
    element('span', {class: 'row'}, choice('Scale of colours', scales, state.scale, (kind) => change({scale: kind}), {id: 'scale'}),
      element('label', {}, element('input', {type: 'checkbox', id: 'first', checked: state.first,
        onchange: (event) => change({first: event.target.checked})}), 'first token')),
    scale ? legend(mainPane()) : null);
}

// Why a pane has no colours by gate; null if it has.
function gateless({name, model}) {
  if (!model.gate) return `${name} has no gate, so its tokens have no colour.`;
  return lacksChosen(model) || model.gate.layers.includes(state.layer) ? null : `Layer ${state.layer} of ${name} has no gate, so its tokens have no colour.`;
}

const notes = {
  gate: () => [session.panes.some((pane) => pane.model.gate) ? `${strong()} is open. Click a token to lock it, shift-click to add, Escape to release; hover for exact values.` : null,
    ...session.panes.map(gateless), session.panes.every(gateless) ? 'Choose another colour, or a model with a gate.' : null].filter(Boolean).join(' '),
  surprise: () => `${strong()} is unexpected. The first token has no surprise: nothing was there to predict it from.`,
  received: () => `${strong()} gets much attention. A first token that stands out from all others is a sink.`,
  given: (pane) => {
    const from = lookers(pane.pass.count);
    return `${from.length > 1 ? `Where tokens ${listed(from)} look, on average` : `Where token ${from[0]} looks`}. Click another token to see through its eyes.`;
  },
};

let noteShows = '';

function drawNote(text) {
  if (text === noteShows) return;
  noteShows = text;
  replace(find('strip-note'), text ? [element('span', {}, text), exportButtons(view)] : null);
}

async function fetchAndColour(all) {
  const panes = session.panes;
  const fetches = panes.flatMap((pane) => missing(pane, all)).map((fetch) => fetch());
  await Promise.allSettled(fetches);
  if (panes !== session.panes || !fetches.length) return;
  colour(panes);
  drawTools();
}

// What only the tips say waits until a slider or a held key stands still.
const fetchForTips = debounced(kTips, () => fetchAndColour(true));

async function recolour() {
  const panes = session.panes;
  // Under a moving slider colours stay until the new ones have come.
  colour(panes.filter((pane) => pane.strip.subject !== subjectNow() || !missing(pane, false).length));
  drawTools();
  const pane = mainPane();
  drawNote(pane ? [notes[state.shade](pane), ...panes.map((one) => lacksChosen(one.model))].filter(Boolean).join(' ') : '');
  if (!panes.length) return;
  await fetchAndColour(false);
  if (panes === session.panes) fetchForTips();
}

// A pass over the same tokens as before takes over its buttons.
let panesBefore = [];

function takeOver() {
  const {panes} = session;
  const sign = (pane) => JSON.stringify([pane.name, pane.note, pane.pass.tokens]);
  const same = panes.length > 0 && panes.length === panesBefore.length && panes.every((pane, p) => sign(pane) === sign(panesBefore[p]));
  panes.forEach((pane, p) => {
    if (same) Object.assign(pane, {strip: panesBefore[p].strip, values: panesBefore[p].values, scale: panesBefore[p].scale});
    else pane.strip = new TokenButtons(pane.pass.tokens, `Tokens of ${pane.name} ${pane.note}`.trim());
    pane.strip.hints = (t) => tipLines(pane, t);
  });
  panesBefore = panes;
  return same;
}

function rebuild() {
  const {panes} = session;
  if (!takeOver()) {
    const strips = find('strips');
    strips.classList.toggle('two', panes.length > 1);
    replace(strips, panes.length
      ? panes.map((pane) => element('div', {class: 'pane'}, panes.length > 1 || pane.note ? paneHeading(pane) : null, pane.strip.element))
      : element('p', {class: 'empty'}, element('strong', {}, session.trouble ? 'Nothing to show' : 'No tokens yet'),
        session.trouble ? 'See the message above.' : 'Type a prompt above, or take one of the examples.'));
  }
  recolour();
}

export function beginStrip() {
  const hasStrips = () => session.panes.every((pane) => pane.strip);
  // Until the first pass is there; a large model takes its time.
  replace(find('strips'), element('p', {class: 'empty'}, element('strong', {}, 'The model reads the prompt'), 'What it is doing stands above, at the right.'));
  onPanes(rebuild);
  onHover(() => {
    for (const pane of session.panes) pane.strip?.mark(session.hover);
  });
  subscribe((changed) => {
    if (['shade', 'layer', 'head', 'locked', 'scale', 'first'].some((name) => changed.has(name)) && hasStrips()) recolour();
  });
  document.addEventListener('sluice:theme', () => hasStrips() && recolour());
}
