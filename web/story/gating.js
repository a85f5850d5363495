// Chapters four to six: two linear maps are one, the gate between them, and a model with it beside one without.
import {choice, element, number, percent, replace, signed} from '../shared/dom.js';
import {lineChart} from '../shared/charts.js';
import {svgElement} from '../shared/drawing.js';
import {post} from '../shared/api.js';
import {drawing} from './drawings.js';
import {MapFigure, TokenRow, chartWidth, found, p, tryIt, value} from './figures.js';
import {cast, explorerLink, largestActivation, look, meanOf, mostDifferentHead, reader, sinkHead, textFor, whereDue} from './material.js';

// Every head of a model as options of a select.
const heads = (model, layers = [...Array(model.layers).keys()]) => layers.flatMap((layer) => [...Array(model.heads).keys()].map((head) => [`${layer} ${head}`, `layer ${layer}, head ${head}`]));

export function paint() {
  const model = reader();
  const result = found();
  const chart = element('figure', {class: 'chart'});
  const fail = (error) => replace(result, p(error.message));

  async function draw(which) {
    const [layer, head] = which.split(' ').map(Number);
    const text = await textFor(model);
    const rank = await post('/api/v1/rank', {model: model.id, prompt: text.text, interventions: [], layer, head});
    const share = (values) => values.map((one) => one / (values[0] || 1));
    replace(chart, element('figcaption', {class: 'note'}, 'Strength of each direction, beside the strongest'), svgElement(lineChart({title: 'Singular values of the two maps in a row and of the value map alone', across: 'direction', top: 1,
      series: [{name: 'both in a row', values: share(rank.product)}, {name: 'value map alone', values: share(rank.value)}], width: chartWidth(), height: 200})));
    const {ranks} = rank;
    replace(result,
      p(`Head ${head} of layer ${layer} in ${model.id} squeezes `, value(String(rank.hidden)), ' channels into ', value(String(rank.head_dim)), ' and back. The two maps have rank ', value(String(ranks.value)), ' and ', value(String(ranks.output)), '; one after the other they are a single map of rank ', value(String(ranks.product), 'rank'), ', ',
        ranks.product <= Math.min(ranks.value, ranks.output) ? 'no more than either. The second map has added nothing that one could not have done alone.' : 'which cannot be more than either: here rounding blurs the count.'),
      p(ranks.gates === 0 ? 'This model has no gate in between, so that one map is the same for every token.'
        : model.gate?.width === 1 ? ['Its gate stands between the two. It is one number for each token, so on this text it changes the map in ', value(String(ranks.gates)), ` direction${ranks.gates === 1 ? '' : 's'}: the same map, times another number for every token, with the same rank.`]
          : ['Its gate stands between the two, with a number for each channel. On this text it changes the map in ', value(String(ranks.gates)), ` independent direction${ranks.gates === 1 ? '' : 's'} from token to token: no single map can do that.`]));
  }

  const pick = choice('Head', heads(model), `${Math.floor(model.layers / 2)} 0`, (which) => draw(which).catch(fail));
  return {
    id: 'paint', title: 'Mixing paint', needs: [],
    content: [
      p('A second complaint about plain attention has nothing to do with light. What a head takes home is a mixture, so much of this token, so much of that, like paint. Before the mixing every token goes through one linear map, after it through another. Nothing happens in between, and two linear maps in a row are one.'),
      drawing('paint'),
      tryIt('Pick a head and compare.', pick, chart, result),
    ],
    start: () => draw(pick.value),
  };
}

// Mean gate at tokens where a copy is due and at the others, of every head: [{layer, head, busy, idle}].
async function gatesByWork(model, pass, copies) {
  const busy = new Set(whereDue(copies));
  const rows = [];
  for (const layer of model.gate.layers) {
    const map = await pass.gates(layer);
    for (let head = 0; head < map.columns; ++head) {
      const at = (wanted) => meanOf([...Array(map.rows).keys()].filter((t) => t > 0 && busy.has(t) === wanted).map((t) => map.values[t * map.columns + head]));
      rows.push({layer, head, busy: at(true), idle: at(false)});
    }
  }
  return rows;
}

export function dimmer() {
  const model = cast.gated;
  const result = found();
  const row = new TokenRow('Tokens by how far the gate is open');
  const link = element('a', {}, 'Open it in the explorer');
  const holder = element('span');
  let state = null;

  function draw(which) {
    const {pass, text, rows} = state;
    const [layer, head] = which.split(' ').map(Number);
    const map = pass.has(`gates ${layer}`);
    const values = Float32Array.from({length: map.rows}, (_, t) => map.values[t * map.columns + head]);
    row.draw(pass.tokens, values, {unit: 'gate', underlined: whereDue(text.copies)});
    const {busy, idle} = rows.find((one) => one.layer === layer && one.head === head);
    const lowest = values.reduce((best, one, t) => (one < values[best] ? t : best), 0);
    const highest = values.reduce((best, one, t) => (one > values[best] ? t : best), 0);
    replace(result, p('This gate goes from ', value(number(values[lowest])), ` (token ${lowest}) to `, value(number(values[highest])), ` (token ${highest}).`),
      text.copies ? p('Where a copy is due (underlined) it is ', value(number(busy)), ' on average, elsewhere ', value(number(idle)), '. ',
        busy > idle + 0.05 ? 'It opens for the work and dims when there is none: a spotlight with a dimmer.' : busy < idle - 0.05 ? 'It dims for the copy and is open elsewhere, so this head has another job.' : 'It hardly cares about copies. Try another head.') : p('On prose nobody has told us which tokens need help, so we only look.'));
    link.href = explorerLink({model: model.id, text: text.text, layer, head, shade: 'gate', view: 'gates'});
  }

  return {
    id: 'dimmer', title: 'The dimmer', needs: ['gated'],
    content: [
      p('Here is the switch. Before a head hands over what it has mixed, multiply it by a number between nothing and all: the gate. Each token computes its own gate from itself, through one more small map and a curve that never leaves that range.'),
      element('p', {class: 'formula'}, 'output = σ(x · W) ⊙ attention(x)'),
      drawing('dimmer'),
      p('The shares still add up to one. But now the head can say: whatever I found, never mind. ', model?.gate.width === 1
        ? `The gate of ${model.id} is headwise: one number for each head and token. The two maps of the last chapter are still one, but every token multiplies it by a number of its own. So the head as a whole is no longer one fixed linear map, though for each token the rank is what it was.`
        : `The gate of ${model?.id} is elementwise: a number for each channel between the two maps of the last chapter. Every token sets them anew, so for every token another map comes out, and no single one can take the place of both.`),
      model?.nursery ? element('p', {class: 'note'}, 'We begin with the head whose gate differs most between work and rest. Others differ less.') : null,
      tryIt('Compare the gates of the heads on this text.', holder, row.element, result, element('p', {class: 'more'}, link)),
    ].filter(Boolean),
    async start() {
      const text = await textFor(model);
      const pass = await look(model, text.text);
      const rows = await gatesByWork(model, pass, text.copies);
      state = {pass, text, rows};
      const best = rows.reduce((a, b) => (Math.abs(b.busy - b.idle) > Math.abs(a.busy - a.idle) ? b : a));
      const pick = choice('Head', heads(model, model.gate.layers), `${best.layer} ${best.head}`, draw);
      replace(holder, pick);
      draw(pick.value);
    },
  };
}

export function pair() {
  const {plain, gated} = cast;
  const result = found();
  const table = element('div', {class: 'wide'});
  const left = new MapFigure('without a gate');
  const right = new MapFigure('with a gate');
  const link = element('a', {}, 'See both in the explorer');
  const seen = new Map(); // by sequence: the figures of both
  let index = 0;

  async function measure(model) {
    const text = await textFor(model, index);
    const pass = await look(model, text.text);
    return {model, pass, text: text.text, most: sinkHead(pass), sink: pass.view.sink.mean, floor: pass.view.sink.floor, largest: largestActivation(pass).largest, nll: pass.view.nll};
  }

  const rows = [['Attention on the first token', 'sink', percent, (a, b) => signed(100 * (b - a), 1) + ' points'], ['Uniform share', 'floor', percent, () => ''], ['Largest number in the stream', 'largest', (one) => number(one, 1), (a, b) => signed(b - a, 1)],
    ['Surprise per token, nats', 'nll', number, (a, b) => signed(b - a)]];

  function verdict(name, key, unit) {
    const all = [...seen.values()];
    const lower = all.filter(({a, b}) => b[key] < a[key]).length;
    const fall = meanOf(all.map(({a, b}) => a[key] - b[key])) * unit.factor;
    return p(`${name}: lower with the gate in `, value(`${lower} of ${all.length}`), ` ${all.length === 1 ? 'text' : 'texts'}, on average ${fall < 0 ? 'higher' : 'lower'} by `, value(number(Math.abs(fall), unit.digits)), unit.name,
      lower === 0 ? '. So this pair does not show it.' : lower < all.length ? '. So it is not the same on every text.' : '.');
  }

  async function draw() {
    const a = await measure(plain);
    const b = await measure(gated);
    seen.set(index, {a, b});
    const differs = plain.nursery === gated.nursery ? mostDifferentHead(a.pass, b.pass) : null;
    const shown = differs ?? b.most;
    link.href = explorerLink({model: gated.id, beside: plain.id, text: b.text, layer: shown.layer, head: shown.head, shade: 'received'});
    for (const [figure, one, share] of [[left, a, differs?.a], [right, b, differs?.b]]) {
      const {layer, head} = differs ?? one.most;
      figure.draw(await one.pass.attention(layer, head), `${one.model.id}: layer ${layer}, head ${head}, ${percent(share ?? one.most.sink)} on the first token`);
    }
    replace(table, element('table', {class: 'numbers'}, element('caption', {class: 'unseen'}, 'Both models on the same text'), element('thead', {}, element('tr', {}, ['On this text', plain.id, gated.id, 'difference'].map((name) => element('th', {scope: 'col'}, name)))),
      element('tbody', {}, rows.map(([name, key, show, difference]) => element('tr', {}, element('th', {scope: 'row'}, name), element('td', {'data-computed': key}, show(a[key])), element('td', {}, show(b[key])), element('td', {}, difference(a[key], b[key])))))));
    replace(result, verdict('The first token’s share', 'sink', {factor: 100, digits: 1, name: ' points'}), verdict('The largest number', 'largest', {factor: 1, digits: 1, name: ''}),
      p('Surprise differs by ', value(number(meanOf([...seen.values()].map((one) => Math.abs(one.b.nll - one.a.nll))))), ' nats per token on average', plain.nursery !== gated.nursery ? '; but the two read different texts here, so that says little.' : '.'),
      differs ? p(`The maps show layer ${differs.layer}, head ${differs.head}, of all heads the one in which the two differ most on this text: `, value(percent(differs.a)), ' without the gate, ', value(percent(differs.b)), ' with it. Heads of two trainings need not have the same job, and not every head is like that: the one with the most on the first token keeps ', value(percent(a.most.sink)), ` in ${plain.id} (layer ${a.most.layer}, head ${a.most.head}) and `, value(percent(b.most.sink)), ` in ${gated.id} (layer ${b.most.layer}, head ${b.most.head}).`) : null);
  }

  return {
    id: 'pair', title: 'Side by side', needs: ['plain', 'gated'],
    content: [
      p(plain?.nursery && gated?.nursery && plain.layers === gated.layers && plain.heads === gated.heads ? 'Two models of the nursery, grown alike, but one has the gate. ' : 'Two models, and one has the gate. How alike they were grown only you know. ', 'If the story is right, the one with the gate can leave the first token alone, and has no need of huge numbers either.'),
      plain?.nursery ? element('p', {class: 'note'}, 'As in all chapters, sequences that are nearly all copies, or have hardly any, are passed over. They are rare, and on them the pair may look different.') : null,
      tryIt('One text is one text. Try more of them.', element('button', {type: 'button', onclick: () => {
        index += 1;
        draw().catch((error) => replace(result, p(error.message)));
      }}, 'Another text'), element('div', {class: 'maps'}, left.element, right.element), table, result,
      element('p', {class: 'more'}, link)),
    ].filter(Boolean),
    start: draw,
  };
}
