// The view "Layers' guesses": the logit lens. What each layer would say next if the model ended there, by position.
import {element, measured, number, percent, replace, tokenName, visible} from '../shared/dom.js';
import {palette, step, strong, table as colorTable} from '../shared/colors.js';
import {post} from '../shared/api.js';
import {Drawing} from '../shared/drawing.js';
import {exportButtons} from '../shared/export.js';
import {hideTip, showTip} from '../shared/tip.js';
import {inPanes} from './parts.js';
import {lock} from './token_buttons.js';
import {session, setHover} from './session.js';
import {state} from './state.js';

let asking = null;
let shown = []; // {pane, lens}
let body = null;

function cellOf({pane, lens}, layer, i) {
  const [best] = layer.top[i];
  const last = lens.layers.at(-1).top[i][0];
  const colors = colorTable();
  const place = step(best.probability);
  const cell = element('td', {class: best.id === last.id ? 'final' : null, 'data-layer': layer.layer, 'data-position': lens.first + i}, tokenName(best));
  cell.style.backgroundColor = colors.css[place];
  cell.style.color = colors.ink[place];
  return cell;
}

function tipLines({pane, lens}, layer, i) {
  const position = lens.first + i;
  return [`after “${visible(pane.pass.tokens[position])}”`, `layer ${layer.layer}, position ${position}`,
    ...layer.top[i].map((row) => `${tokenName(row)}  ${percent(row.probability)}`),
    layer.surprise[i] === null ? 'nothing follows yet' : `surprise of what follows ${number(layer.surprise[i], 2)} nats`];
}

function tableOf(one) {
  const {pane, lens} = one;
  const layers = [...lens.layers].reverse();
  const positions = Array.from({length: lens.last - lens.first + 1}, (_, i) => lens.first + i);
  const table = element('table', {}, element('caption', {class: 'unseen'}, `Likeliest next token by layer and position, ${pane.name}`),
    element('thead', {}, element('tr', {}, element('th', {scope: 'col'}, 'layer'), positions.map((position) => element('th', {scope: 'col', title: `position ${position}`}, visible(pane.pass.tokens[position]))))),
    element('tbody', {}, layers.map((layer) => element('tr', {}, element('th', {scope: 'row'}, layer.layer), positions.map((_, i) => cellOf(one, layer, i))))));
  table.addEventListener('mouseover', (event) => {
    const cell = event.target.closest('td');
    if (!cell) return;
    const position = Number(cell.dataset.position);
    setHover(position);
    const box = cell.getBoundingClientRect();
    showTip(box.left, box.bottom - 12, tipLines(one, lens.layers.find((layer) => layer.layer === Number(cell.dataset.layer)), position - lens.first));
  });
  table.addEventListener('mouseleave', () => {
    setHover(-1);
    hideTip();
  });
  table.addEventListener('click', (event) => {
    const cell = event.target.closest('td');
    if (cell) lock(Number(cell.dataset.position), event.shiftKey);
  });
  return [rangeNote(one), element('div', {class: 'lens', tabindex: 0, role: 'region', 'aria-label': `Guesses of the layers of ${pane.name}`}, table)];
}

// A table of all tokens would be too wide; which of them it has is said.
function rangeNote({pane, lens}) {
  if (lens.last - lens.first + 1 === pane.pass.count) return null;
  return element('p', {class: 'note range'}, `Tokens ${lens.first} to ${lens.last} of ${pane.pass.count} (0 to ${pane.pass.count - 1}). Lock an earlier one to see those around it.`);
}

// Around the locked token, else the last: at most so many positions at once.
const kPositions = 64;

function rangeOf(pane) {
  const last = state.locked.length ? Math.min(pane.pass.count - 1, Math.max(state.locked[0] + 8, kPositions - 1)) : pane.pass.count - 1;
  return {first: Math.max(0, last - kPositions + 1), last};
}

async function ask() {
  asking?.abort();
  const mine = (asking = new AbortController());
  try {
    const answers = [];
    for (const pane of session.panes) answers.push({pane, lens: await post('/api/v1/lens', {...pane.pass.subject, ...rangeOf(pane), count: 3}, mine.signal)});
    if (mine.signal.aborted || !body) return;
    shown = answers;
    measured('lens', () => replace(body, inPanes(answers.map((one) => one.pane), (pane) => tableOf(answers.find((one) => one.pane === pane)))));
  } catch (error) {
    if (!mine.signal.aborted && body) replace(body, element('p', {class: 'trouble'}, error.message));
  }
}

const kWide = 58;
const kHigh = 22;

const kAcross = 16; // positions beside each other in a picture; the next are below

function drawing() {
  const colors = palette();
  const shades = colorTable();
  const blocks = shown.flatMap(({pane, lens}) => Array.from({length: Math.ceil((lens.last - lens.first + 1) / kAcross)}, (_, b) => {
    const first = lens.first + b * kAcross;
    return {pane, lens, first, last: Math.min(lens.last, first + kAcross - 1), high: 50 + kHigh * (lens.layers.length + 1)};
  }));
  const whole = new Drawing(70 + kWide * Math.max(5, ...blocks.map((block) => block.last - block.first + 1)), blocks.reduce((sum, block) => sum + block.high, 20), 'Logit lens');
  let y = 24;
  for (const {pane, lens, first, last, high} of blocks) {
    whole.text(14, y, `${pane.name} ${pane.note} · likeliest next token by layer, after tokens ${first} to ${last}`, {weight: 600, fill: colors.ink});
    [...lens.layers].reverse().forEach((layer, row) => {
      const top = y + 14 + kHigh * row;
      whole.text(50, top + 16, layer.layer, {anchor: 'end', size: 11, fill: colors.faint});
      layer.top.slice(first - lens.first, last - lens.first + 1).forEach(([best], i) => {
        const place = step(best.probability);
        whole.rect(60 + kWide * i, top, kWide - 2, kHigh - 2, shades.hex[place], {hint: percent(best.probability)});
        whole.text(60 + kWide * (i + 0.5), top + 15, tokenName(best).slice(0, 7), {anchor: 'middle', size: 12, mono: true, fill: shades.ink[place]});
      });
    });
    for (let i = first; i <= last; ++i) whole.text(60 + kWide * (i - first + 0.5), y + 28 + kHigh * lens.layers.length, visible(pane.pass.tokens[i]).slice(0, 7), {anchor: 'middle', size: 11, mono: true, fill: colors.faint});
    y += high;
  }
  return whole;
}

const view = {
  name: 'lens', title: "the layers' guesses", drawing,
  table: () => ({columns: ['model', 'changes', 'layer', 'position', 'token', 'guess', 'probability', 'surprise'],
    rows: shown.flatMap(({pane, lens}) => lens.layers.flatMap((layer) => layer.top.map(([best], i) => [pane.name, pane.pass.subject.interventions.join('; '), layer.layer, lens.first + i,
      pane.pass.tokens[lens.first + i], best.token ?? best.id, best.probability, layer.surprise[i]])))}),
};

export function build() {
  body = element('div', {id: 'lens'});
  ask();
  return {content: [element('section', {class: 'card', 'aria-label': "Layers' guesses"}, element('div', {class: 'head'}, element('h2', {}, 'What each layer would say next'), exportButtons(view)), body,
    element('p', {class: 'note'}, `Columns are the tokens read so far, the last layer is on top. ${strong()} is sure; outlined is what the last layer says, too.`))]};
}

export function update(changed) {
  if (body && changed.has('locked') && session.panes.some((pane) => pane.pass.count > kPositions)) ask();
  if (body && changed.has('theme') && shown.length) replace(body, inPanes(shown.map((one) => one.pane), (pane) => tableOf(shown.find((one) => one.pane === pane))));
}

export function end() {
  asking?.abort();
  body = null;
  shown = [];
}
