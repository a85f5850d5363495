// The tokens as a strip of buttons, coloured by what the reader chose; exact values on hover or focus.
import {choice, element, find, measured, number, replace, segments, spoken, visible} from '../shared/dom.js';
import {step, strong, table} from '../shared/colors.js';
import {scaleOf, scales, sumsOf} from '../shared/scale.js';
import {attentionKey} from '../shared/pass.js';
import {exportButtons} from '../shared/export.js';
import {hideTip, showTip} from '../shared/tip.js';
import {paneHeading, walker} from './parts.js';
import {stripDrawing} from './strip_drawing.js';
import {mainPane, onHover, onPanes, session, setHover} from './session.js';
import {change, state, subscribe} from './state.js';

const shades = [
  ['gate', 'Gate', 'How far the gate of this head is open at each token'],
  ['surprise', 'Surprise', 'How unexpected the token was: −ln of its probability'],
  ['received', 'Attention received', 'Mean attention of the tokens that see this one'],
  ['given', 'Attention given', 'Where the locked token looks (the last one if none is)'],
];

// What can be said of every token, from what has been fetched so far.
function valuesOf(pane) {
  const {pass} = pane;
  const {layer, head} = state;
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

// Fetches what the colours and the hints need.
function want(pane) {
  // A link may name another model's layer, for as long as that one is being loaded.
  if (state.layer >= pane.model.layers || state.head >= pane.model.heads) return Promise.resolve();
  const hasGate = pane.model.gate?.layers.includes(state.layer);
  const asked = [pane.pass.attention(state.layer, state.head), hasGate ? pane.pass.gates(state.layer) : null];
  return Promise.allSettled(asked.filter(Boolean));
}

function colour(pane) {
  measured('strip', () => {
    const values = valuesOf(pane);
    const shown = values[state.shade];
    const most = shown ? Math.max(...Array.from(shown, (value) => value || 0)) : 0;
    pane.scale = scaleOf(state.shade === 'surprise' && state.scale === 'linear' ? 'maximum' : state.scale, most);
    const colors = table();
    pane.buttons.forEach((button, t) => {
      const value = shown ? shown[t] : null;
      const locked = state.locked.includes(t);
      // Most stay as they are when a token is locked or another layer is alike; touching all would style the page anew.
      const sign = `${state.shade} ${value} ${locked} ${pane.scale.high} ${state.scale} ${colors.name}`;
      if (button.sign === sign) return;
      button.sign = sign;
      const place = shown ? step(pane.scale.share(value ?? 0)) : 0;
      button.style.backgroundColor = shown ? colors.css[place] : '';
      button.style.color = shown ? colors.ink[place] : '';
      button.dataset.shown = value === null || value === undefined ? '' : String(value);
      button.setAttribute('aria-label', `${t}: ${spoken(pane.pass.tokens[t])}, ${state.shade} ${number(value)}`);
      button.classList.toggle('locked', locked);
      button.setAttribute('aria-pressed', String(locked));
    });
    pane.values = values;
  });
}

function tipLines(pane, t) {
  const {values} = pane;
  const lines = [`${visible(pane.pass.tokens[t])}`, `token ${t}, id ${pane.pass.ids[t]}`, `surprise ${number(values.surprise[t])} nats`];
  const place = `layer ${state.layer}, ${state.head < 0 ? 'mean of heads' : 'head ' + state.head}`;
  if (values.gate) lines.push(`gate ${number(values.gate[t], 4)} (${place})`);
  if (values.received) lines.push(`attention received ${number(values.received[t], 4)}`);
  if (values.given) lines.push(`attention from ${lookers(pane.pass.count).join(', ')}: ${number(values.given[t], 4)}`);
  return lines;
}

export function lock(t, add) {
  const has = state.locked.includes(t);
  const others = state.locked.filter((position) => position !== t);
  change({locked: add ? (has ? others : [...others, t].sort((a, b) => a - b)) : has && !others.length ? [] : [t]});
}

function stripOf(pane) {
  const strip = element('div', {class: 'strip', role: 'group', 'aria-label': `Tokens of ${pane.name} ${pane.note}`.trim()});
  pane.buttons = pane.pass.tokens.map((token, t) => element('button', {type: 'button', 'data-token': t, tabindex: t ? -1 : 0}, visible(token)));
  strip.append(...pane.buttons);
  const over = (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    const t = Number(button.dataset.token);
    setHover(t);
    const box = button.getBoundingClientRect();
    showTip(box.left, box.bottom - 12, tipLines(pane, t));
  };
  strip.addEventListener('mouseover', over);
  strip.addEventListener('focusin', (event) => {
    for (const button of pane.buttons) button.tabIndex = button === event.target ? 0 : -1;
    over(event);
  });
  for (const leaving of ['mouseleave', 'focusout']) {
    strip.addEventListener(leaving, () => {
      setHover(-1);
      hideTip();
    });
  }
  strip.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (button) lock(Number(button.dataset.token), event.shiftKey);
  });
  return strip;
}

function legend(pane) {
  if (!pane?.scale) return null;
  const canvas = element('canvas', {width: 256, height: 1, 'aria-hidden': 'true'});
  const context = canvas.getContext('2d');
  table().css.forEach((color, i) => {
    context.fillStyle = color;
    context.fillRect(i, 0, 1, 1);
  });
  return element('span', {class: 'legend'}, number(pane.scale.low, pane.scale.low ? 3 : 0), canvas, number(pane.scale.high, 2));
}

const view = {
  name: 'tokens', title: 'the tokens',
  drawing: () => stripDrawing(session.panes, state),
  table: () => ({columns: ['model', 'changes', 'position', 'id', 'token', 'surprise', 'gate', 'attention_received', 'attention_given'],
    rows: session.panes.flatMap((pane) => pane.pass.tokens.map((token, t) => [pane.name, pane.pass.subject.interventions.join('; '), t, pane.pass.ids[t],
      token, pane.values.surprise[t], pane.values.gate?.[t], pane.values.received?.[t], pane.values.given?.[t]]))}),
};

function drawTools() {
  replace(find('strip-tools'),
    segments('Colour tokens by', shades, state.shade, (shade) => change({shade})), walker(),
    element('span', {class: 'row'}, choice('Scale of colours', scales, state.scale, (scale) => change({scale}), {id: 'scale'}),
      element('label', {}, element('input', {type: 'checkbox', id: 'first', checked: state.first,
        onchange: (event) => change({first: event.target.checked})}), 'first token')),
    legend(mainPane()));
}

const notes = {
  gate: (pane) => (pane.model.gate ? `${strong()} is open. Click a token to lock it, shift-click to add, Escape to release; hover for exact values.`
    : `${pane.name} has no gate, so there is nothing to colour by. Choose another colour, or a model with a gate.`),
  surprise: () => `${strong()} is unexpected. The first token has no surprise: nothing was there to predict it from.`,
  received: () => `${strong()} gets much attention. A first token that stands out from all others is a sink.`,
  given: (pane) => `Where token ${lookers(pane.pass.count).join(', ')} looks. Click another token to see through its eyes.`,
};

async function recolour() {
  const panes = session.panes;
  for (const pane of panes) colour(pane);
  drawTools();
  const pane = mainPane();
  replace(find('strip-note'), pane ? [element('span', {}, notes[state.shade](pane)), exportButtons(view)] : null);
  if (!panes.length) return;
  await Promise.all(panes.map(want));
  if (panes !== session.panes) return;
  for (const one of panes) colour(one);
  drawTools();
  document.dispatchEvent(new CustomEvent('sluice:coloured'));
}

function rebuild() {
  const strips = find('strips');
  strips.classList.toggle('two', session.panes.length > 1);
  replace(strips, session.panes.length
    ? session.panes.map((pane) => element('div', {class: 'pane'}, session.panes.length > 1 || pane.note ? paneHeading(pane) : null, stripOf(pane)))
    : element('p', {class: 'empty'}, element('strong', {}, session.trouble ? 'Nothing to show' : 'No tokens yet'),
      session.trouble ? 'See the message above.' : 'Type a prompt above, or take one of the examples.'));
  recolour();
}

export function beginStrip() {
  onPanes(rebuild);
  onHover(() => {
    for (const pane of session.panes) {
      pane.marked?.classList.remove('hover');
      pane.marked = pane.buttons?.[session.hover];
      pane.marked?.classList.add('hover');
    }
  });
  subscribe((changed) => {
    if (['shade', 'layer', 'head', 'locked', 'scale', 'first'].some((name) => changed.has(name)) && session.panes.every((pane) => pane.buttons)) recolour();
  });
  document.addEventListener('sluice:theme', () => session.panes.every((pane) => pane.buttons) && recolour());
}
