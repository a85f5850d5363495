// The view "Attention": small maps of all heads on the left, the selected one large on the right, for one or two panes.
import {element, number, percent, segments, visible} from '../shared/dom.js';
import {exportButtons} from '../shared/export.js';
import {attentionKey} from '../shared/pass.js';
import {Drawing} from '../shared/drawing.js';
import {sumsOf} from '../shared/scale.js';
import {Grid, gridDrawing, gridTable} from './grid.js';
import {LargeMap, largeDrawing, mostReceived} from './large_map.js';
import {facts, headName, inPanes, lacksChosen} from './parts.js';
import {onHover, session} from './session.js';
import {change, state} from './state.js';

const kManyHeads = 8; // more would be cut off at the right of the narrower part

let grids = [];
let larges = [];
let parts = {};

const gridView = {name: 'grid', title: 'the small maps', drawing: gridDrawing, tableName: 'heads', tableTitle: 'a line of figures for each head', table: gridTable};

const largeView = {
  name: 'attention', title: 'the attention map',
  drawing() {
    const shown = shownMaps();
    const most = mostReceived(shown.map(({pane, map}) => sumsOf(map.values, pane.pass.count, !state.first)));
    const drawings = shown.map(({pane, map}) => largeDrawing(pane, map, most));
    const whole = new Drawing(drawings.reduce((sum, one) => sum + one.width, 0), Math.max(...drawings.map((one) => one.height), 10), 'Attention');
    let x = 0;
    for (const one of drawings) {
      whole.place(x, 0, one);
      x += one.width;
    }
    return whole;
  },
  table: () => ({columns: ['model', 'changes', 'layer', 'head', 'query', 'query_token', 'key', 'key_token', 'attention'],
    rows: shownMaps().flatMap(({pane, map}) => rowsOf(pane, map))}),
};

const shownMaps = () => session.panes.map((pane) => ({pane, map: pane.pass.has(attentionKey(state.layer, state.head))})).filter((one) => one.map);

function rowsOf(pane, map) {
  const {tokens, count, subject} = pane.pass;
  const rows = [];
  for (let query = 0; query < count; ++query) {
    for (let key = 0; key <= query; ++key) {
      rows.push([pane.name, subject.interventions.join('; '), state.layer, state.head < 0 ? 'mean' : state.head, query, tokens[query], key, tokens[key], map.values[query * count + key]]);
    }
  }
  return rows;
}

// The sink of the selected head in numbers, beside what attention without any preference would give.
function factsOf(pane) {
  const lacks = lacksChosen(pane.model);
  if (lacks) return element('p', {class: 'empty'}, lacks);
  const {view} = pane.pass;
  const layer = view.layers[state.layer];
  if (!layer?.attention) return element('p', {class: 'note'}, 'This layer has no attention.');
  const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const chosen = (list) => (state.head < 0 ? mean(list) : list[state.head]);
  return facts([
    ['On the first token', percent(chosen(layer.attention.sink)), `uniform attention: ${percent(view.sink.floor)}`, 'fact-sink'],
    ['All layers', percent(view.sink.mean), `uniform attention: ${percent(view.sink.floor)}`],
    ['Entropy', number(chosen(layer.attention.entropy), 2), 'nats; 0: a single token'],
    ['Largest activation', number(layer.activation.largest, 1), `after layer ${state.layer}, at token ${layer.activation.position} “${visible(pane.pass.tokens[layer.activation.position] ?? '')}”`],
  ]);
}

export function build() {
  end();
  grids = session.panes.map((pane) => new Grid(pane));
  larges = session.panes.map((pane) => new LargeMap(pane, () => larges));
  const {panes} = session;
  parts = {title: element('h2'), facts: panes.map(() => element('div')), kind: element('span')};
  const gridCard = element('section', {class: 'card', 'aria-label': 'Small maps'},
    element('div', {class: 'head'}, element('h2', {}, 'Layers × heads'), parts.kind, exportButtons(gridView)),
    inPanes(panes, (pane) => grids[panes.indexOf(pane)].element),
    element('p', {class: 'note'}, 'A row is a layer, a column a head. Arrow keys walk; press one to see it large. CSV has a line for each head: sink, entropy, mean gate; the values of a map are in the CSV of the large one.'));
  const largeCard = element('section', {class: 'card', 'aria-label': 'Large map'},
    element('div', {class: 'head'}, parts.title, exportButtons(largeView)),
    inPanes(panes, (pane) => [larges[panes.indexOf(pane)].element, parts.facts[panes.indexOf(pane)]]),
    element('p', {class: 'note'}, 'Rows are queries, columns the tokens they look at. Above and beside it, orange is what goes to the first token.'));
  update(new Set());
  // Two large maps side by side are what one compares, so they come first.
  return {content: panes.length < 2 ? [gridCard, largeCard] : [largeCard, gridCard], split: panes.length < 2 && (panes[0].model.heads > kManyHeads ? 'broad' : true)};
}

export function update(changed) {
  if (!larges.length) return;
  const concerns = (...names) => !changed.size || names.some((name) => changed.has(name));
  if (concerns('grid')) parts.kind.replaceChildren(segments('Small maps show', [['attention', 'Attention'], ['gates', 'Gates']], state.grid, (grid) => change({grid})));
  if (concerns('layer', 'head')) {
    parts.title.textContent = `Attention of layer ${state.layer}, ${headName(state.head)}`;
    session.panes.forEach((pane, p) => parts.facts[p]?.replaceChildren(factsOf(pane)));
  }
  for (const grid of grids) {
    if (changed.size && concerns('scale', 'first', 'grid', 'theme')) grid.redraw();
    grid.mark(changed.has('layer') || !changed.size);
  }
  for (const large of larges) large.update();
}

export function end() {
  for (const one of [...grids, ...larges]) one.end();
  grids = [];
  larges = [];
}

onHover(() => {
  for (const large of larges) large.mark();
});
