// Small parts that several views have: the heading of a pane, the walker through layers and heads.
import {element} from '../shared/dom.js';
import {mainModel} from './session.js';
import {change, state} from './state.js';

export function paneHeading(pane) {
  return element('h3', {}, pane.name, pane.note ? element('small', {}, pane.note) : null);
}

// Side by side where there are two.
export function inPanes(panes, content) {
  return element('div', {class: panes.length > 1 ? 'panes two' : 'panes'},
    panes.map((pane) => element('div', {class: 'pane'}, panes.length > 1 ? paneHeading(pane) : null, content(pane))));
}

const within = (value, low, high) => (value < low ? high : value > high ? low : value);

// Round at both ends; heads begin with the mean of all.
export function walk(layers, heads) {
  const model = mainModel();
  if (!model?.layers) return;
  change({layer: within(state.layer + layers, 0, model.layers - 1), head: within(state.head + heads, -1, model.heads - 1)});
}

// Why a model cannot show the layer and head that are chosen, in words; null if it can. Of two models one may have fewer.
export function lacksChosen(model) {
  if (state.layer >= model.layers) return `${model.id} has no layer ${state.layer}: its last is ${model.layers - 1}.`;
  if (state.head >= model.heads) return `${model.id} has no head ${state.head}: its last is ${model.heads - 1}.`;
  return null;
}

export const headName = (head) => (head < 0 ? 'all heads' : `head ${head}`);

function stepper(name, value, less, more) {
  return element('span', {class: 'walker', role: 'group', 'aria-label': name},
    element('button', {type: 'button', class: 'quiet', 'aria-label': `Previous ${name}`, onclick: less}, '‹'),
    element('output', {id: `at-${name}`}, value),
    element('button', {type: 'button', class: 'quiet', 'aria-label': `Next ${name}`, onclick: more}, '›'));
}

export function walker() {
  return element('span', {class: 'walker'}, stepper('layer', `layer ${state.layer}`, () => walk(-1, 0), () => walk(1, 0)),
    stepper('head', headName(state.head), () => walk(0, -1), () => walk(0, 1)));
}

export function facts(list) {
  return element('dl', {class: 'facts'}, list.map(([name, value, more, id]) => element('div', {}, element('dt', {}, name),
    element('dd', {id}, value, more ? element('small', {}, more) : null))));
}
