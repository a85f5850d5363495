// What changes of gates do: divergence, probabilities, flipped tokens, the sink, and two continuations with the same seed.
import {debounced, element, measured, number, percent, replace, signed, tokenName, tokenNames, visible} from '../shared/dom.js';
import {barChart} from '../shared/charts.js';
import {svgElement} from '../shared/drawing.js';
import {exportButtons} from '../shared/export.js';
import {post} from '../shared/api.js';
import {misfit} from '../shared/changes.js';
import {continueText, endNote, endsText, samplerOf} from './continuation.js';
import {effectDrawing, effectTable} from './effect_export.js';
import {facts} from './parts.js';
import {interventionsOf, mainModel, mainPane, session, subjectOf} from './session.js';
import {change, state} from './state.js';

const kRows = 8;
const kMostRows = 200; // of tokens that a server compares (docs/http.md)
const kLate = 500; // milliseconds after which figures that are no longer true look so

export class Effects {
  // model: whose gates are changed; id: of the element, and before the names of its figures.
  constructor(model, id = 'effects') {
    Object.assign(this, {model, prefix: id === 'effects' ? '' : `${id}-`});
    this.facts = element('div');
    this.charts = element('div');
    this.table = element('div', {class: 'wide'});
    this.flips = element('div');
    this.texts = element('div', {class: 'panes two'});
    const view = {name: 'effect', title: 'the effect', drawing: () => effectDrawing(this.result), table: () => this.numbers()};
    const title = `What it does to ${model.id}`;
    this.element = element('section', {class: 'card effects', id, 'aria-label': title}, element('div', {class: 'head'}, element('h2', {}, title), exportButtons(view)),
      this.facts, this.charts, this.table, this.flips,
      element('div', {class: 'head'}, element('h3', {}, 'What it would say'), element('span', {class: 'note'}, 'same prompt, same seed'),
        element('button', {type: 'button', class: 'quiet words', onclick: () => change({seed: state.seed + 1})}, 'another seed')), this.texts);
    this.said = debounced(350, () => this.speak());
  }

  // The pane of its model: of two of the same model the changed one.
  pane() {
    return this.model === mainModel() ? mainPane() : session.panes.find((pane) => pane.model === this.model);
  }

  async update() {
    const {model} = this;
    const pane = this.pane();
    this.under?.abort();
    this.speaking?.abort(); // figures first: a large model takes a minute for what it would have said
    const mine = (this.under = new AbortController());
    if (!model.gate || !pane || state.text === '') return this.empty('');
    try {
      const a = await subjectOf(model, mine.signal);
      if (mine.signal.aborted) return;
      const interventions = interventionsOf(model, pane.pass.count);
      const b = {...a, interventions};
      if (!interventions.length) this.empty(this.whyNothing(pane.pass.count));
      else {
        if (!this.result) this.empty('Computing …');
        this.late ??= setTimeout(() => this.element.setAttribute('aria-busy', 'true'), kLate);
        const result = await post('/api/v1/compare', {a, b, count: 20}, mine.signal);
        if (mine.signal.aborted) return;
        this.result = result;
        this.settle();
        measured('effects', () => this.draw());
      }
      this.subjects = {a, b};
      this.said();
    } catch (error) {
      if (!mine.signal.aborted) this.empty(error.message);
    }
  }

  // Changes are on, but the model may lack what they name.
  whyNothing(tokens) {
    const reasons = state.changes.filter((one) => one.on).map((one) => misfit(this.model, one, tokens)).filter(Boolean);
    return reasons.length ? `Nothing is changed: ${[...new Set(reasons)].join('; ')}.` : 'Switch a change on, and the figures appear here.';
  }

  // What is shown is true again, or gone; whatever came of the question that made it late.
  settle() {
    clearTimeout(this.late);
    this.late = null;
    this.element.removeAttribute('aria-busy');
  }

  empty(text) {
    this.settle();
    this.result = null;
    delete this.element.dataset.kl;
    replace(this.facts, element('p', {class: 'empty'}, text));
    replace(this.charts);
    replace(this.table);
    replace(this.flips);
  }

  draw() {
    const {a, b, difference} = this.result;
    replace(this.facts, facts([
      ['KL divergence', number(difference.kl_mean), 'nats, mean over tokens', `${this.prefix}fact-kl`],
      ['After the last token', number(difference.kl_last), 'nats'],
      ['Other likeliest token', percent(1 - difference.agreement), `${difference.changed.length} of ${a.ids.length} positions`, `${this.prefix}fact-flipped`],
      ['Surprise', number(b.nll), `${signed(difference.nll)} nats per token`, `${this.prefix}fact-surprise`],
      ['Sink', percent(b.sink.mean), `before ${percent(a.sink.mean)}, uniform ${percent(a.sink.floor)}`, `${this.prefix}fact-sink-after`],
    ]));
    replace(this.charts, element('figure', {class: 'chart'}, element('figcaption', {class: 'note'}, 'Divergence after each token, nats'), svgElement(this.klChart())));
    const rows = difference.next.slice(0, kRows);
    const most = Math.max(...rows.flatMap((row) => [row.a, row.b]), 1e-9);
    const bar = (value, name) => {
      const fill = element('span', {class: name});
      fill.style.width = `${(100 * value) / most}%`;
      return fill;
    };
    replace(this.table, element('table', {class: 'numbers'}, element('caption', {class: 'unseen'}, 'Probabilities of the next token before and after'),
      element('thead', {}, element('tr', {}, ['Next token', 'before', 'after', 'change', ''].map((name) => element('th', {scope: 'col'}, name)))),
      element('tbody', {}, rows.map((row) => element('tr', {}, element('th', {scope: 'row'}, element('span', {class: 'token'}, tokenName(row)), endsText(this.model, row.id)), element('td', {}, percent(row.a)),
        element('td', {}, percent(row.b)), element('td', {}, signed(100 * row.change, Math.abs(row.change) < 0.001 ? 4 : 1)), element('td', {class: 'bars'}, bar(row.a, 'fill'), bar(row.b, 'fill second')))))));
    this.drawFlips();
    this.element.dataset.kl = String(difference.kl_mean);
  }

  // Where the likeliest next token is another one now.
  drawFlips() {
    const {a, difference} = this.result;
    const named = (one) => [element('td', {}, element('span', {class: 'token'}, tokenName(one))), element('td', {}, percent(one.probability))];
    const {changed} = difference;
    if (!changed.length) return replace(this.flips, element('p', {class: 'note'}, 'Behind every token the likeliest next one is the same as before.'));
    replace(this.flips, element('h3', {}, 'Where another token is the likeliest now'),
      element('div', {class: 'flips wide', tabindex: 0, role: 'region', 'aria-label': 'Changed likeliest tokens'}, element('table', {class: 'numbers', id: `${this.prefix}flips`}, element('caption', {class: 'unseen'}, 'Positions whose likeliest next token changed'),
        element('thead', {}, element('tr', {}, [['After', 1], ['position', 1], ['before', 2], ['now', 2]].map(([name, columns]) => element('th', {scope: 'col', colspan: columns}, name)))),
        element('tbody', {}, changed.map(({position, a: was, b: is}) => element('tr', {'data-position': position}, element('th', {scope: 'row'}, element('span', {class: 'token'}, visible(tokenNames(a)[position]))),
          element('td', {}, position), named(was), named(is)))))));
  }

  klChart() {
    const {a, difference} = this.result;
    return barChart({title: 'KL divergence after each token', categories: tokenNames(a), series: [{name: 'KL', values: difference.kl}], width: Math.max(300, Math.min(640, this.element.clientWidth - 40 || 640)), height: 150});
  }

  // The likeliest tokens on the page are few; a file has as many as the server gives.
  async numbers() {
    if (!this.result) throw new Error('There is no effect to save: switch a change on.');
    const {a, b} = this.subjects;
    return effectTable(a.model, b.interventions, await post('/api/v1/compare', {a, b, count: kMostRows}));
  }

  // Both continuations, one after the other in the queue; differing tokens are underlined.
  async speak() {
    if (!this.subjects) return;
    this.speaking?.abort();
    const mine = (this.speaking = new AbortController());
    const {a, b} = this.subjects;
    const boxes = ['as it is', 'changed'].map((name) => ({said: element('p', {class: 'said', 'data-said': this.prefix + name}), name}));
    replace(this.texts, boxes.map((box) => element('div', {class: 'pane'}, element('h3', {}, box.name), box.said)));
    // Token by token; the box is marked when nothing more will come.
    const tell = async ({said}, subject, before) => {
      const end = await continueText(subject, samplerOf(state), (token, index) => said.append(element('span', {class: before && before[index] !== token.id ? 'differs' : null}, token.text)), mine.signal,
        (words) => said.childElementCount || (said.dataset.waits = words));
      said.append(endNote(end) ?? '');
      said.dataset.ended = end.reason;
      return end.ids;
    };
    try {
      const before = await tell(boxes[0], a);
      if (!b.interventions.length) return boxes[1].said.append(element('span', {class: 'note'}, 'Nothing is changed.'));
      await tell(boxes[1], b, before);
    } catch (error) {
      if (!mine.signal.aborted) boxes[1].said.append(element('span', {class: 'note'}, error.message));
    }
  }

  end() {
    this.under?.abort();
    this.speaking?.abort();
    this.settle();
    this.subjects = null;
  }
}
