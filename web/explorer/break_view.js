// The view "Break it": a list of changes of gates that can be switched on and off, and beside it what they do.
import {choice, element, find, paced, replace} from '../shared/dom.js';
import {fresh, interventionOf, kindNames, misfit, overridden, scopeNames} from '../shared/changes.js';
import {commandFor} from './command.js';
import {Effects} from './effects.js';
import {kReadOnly, mainModel, mainPane, session} from './session.js';
import {change, state} from './state.js';

let effects = []; // of every model whose gates are changed
let list = null;
let command = null;

// While a slider moves the state follows at this pace, in milliseconds: fast enough to look live, slow enough for the server.
const kSliderPace = 60;

const besides = () => session.panes.map((pane) => pane.model).filter((model) => model !== mainModel());

// The same changes are made in both of two models, as far as each has what they name. The first that has a gate is the one
// whose layers and heads can be chosen.
const gated = () => [mainModel(), ...besides()].filter((model) => model?.gate);
const subject = () => gated()[0] ?? mainModel();
const subjectPass = () => (subject() === mainModel() ? mainPane() : session.panes.find((pane) => pane.model === subject()))?.pass;

const write = (index, values, how = 'push') => change({changes: state.changes.map((one, i) => (i === index ? {...one, ...values} : one))}, how);
const range = (count) => Array.from({length: count ?? 0}, (_, i) => [i, i]);

// What a link names and the model lacks can be chosen as well: a list without it would seem to say something else.
const withChosen = (options, chosen, name) => (options.some(([value]) => value === chosen) ? options : [...options, [chosen, `${name} ${chosen} (not there)`]]);

// Where it applies.
function placeControls(one, index) {
  const model = subject();
  const controls = [choice('What is changed', scopeNames, one.scope, (scope) => write(index, {scope}))];
  if (one.scope === 'layer' || one.scope === 'head') {
    controls.push(choice('Layer', withChosen((model.gate?.layers ?? []).map((layer) => [layer, `layer ${layer}`]), one.layer, 'layer'), one.layer, (layer) => write(index, {layer: Number(layer)})));
  }
  if (one.scope === 'head') controls.push(choice('Head', withChosen(range(model.heads).map(([i]) => [i, `head ${i}`]), one.head, 'head'), one.head, (head) => write(index, {head: Number(head)})));
  if (one.scope === 'position') {
    const count = subjectPass()?.count ?? 1;
    controls.push(element('input', {type: 'number', min: 0, max: count - 1, value: one.position, 'aria-label': 'Position of the token',
      onchange: ({target}) => {
        target.value = Math.min(count - 1, Math.max(0, Math.trunc(Number(target.value) || 0))); // what is used
        write(index, {position: Number(target.value)});
      }}));
  }
  return controls;
}

// What it becomes. The slider writes itself; the list is not rebuilt under the pointer.
function amountControls(one, index, code) {
  if (one.kind !== 'constant' && one.kind !== 'scale') return [];
  const high = one.kind === 'scale' ? 2 : 1;
  const shown = element('output', {class: 'mono'}, one.amount.toFixed(2));
  const moved = paced(kSliderPace, (amount) => write(index, {amount}));
  const slider = element('input', {type: 'range', min: 0, max: high, step: 0.01, value: one.amount, id: `amount-${index}`,
    'aria-label': one.kind === 'scale' ? 'Factor' : 'Value of the gate', oninput: () => {
      const amount = Number(slider.value);
      shown.textContent = amount.toFixed(2);
      code.textContent = interventionOf({...state.changes[index], amount});
      moved(amount);
    }});
  return [slider, shown];
}

// Why a change that is on does nothing, or not all that it says.
function reasonIdle(one, index) {
  if (!one.on) return null;
  const count = subjectPass()?.count;
  const unfit = misfit(subject(), one, count);
  if (unfit) return {idle: true, words: `Does nothing: ${unfit}.`};
  const other = overridden(subject(), state.changes, index, count);
  if (!other) return null;
  return {idle: other.whole, words: `${other.whole ? 'Overridden' : 'Overridden in part'} by change ${other.by + 1}, which comes later.`};
}

function item(one, index) {
  const code = element('code', {}, interventionOf(one));
  const why = reasonIdle(one, index);
  return element('li', {class: `change${one.on ? '' : ' off'}${why?.idle ? ' idle' : ''}`, 'data-change': index},
    element('input', {type: 'checkbox', checked: one.on, 'aria-label': `Change ${index + 1} is on`, id: `on-${index}`, onchange: (event) => write(index, {on: event.target.checked})}),
    placeControls(one, index), choice('Becomes', kindNames, one.kind, (kind) => write(index, {kind})), amountControls(one, index, code),
    element('button', {type: 'button', class: 'quiet remove', 'aria-label': `Remove change ${index + 1}`,
      onclick: () => change({changes: state.changes.filter((_, i) => i !== index)})}, '✕'), code, why ? element('p', {class: 'why'}, why.words) : null);
}

const add = (one) => change({changes: [...state.changes, one]});

function drawList() {
  const model = subject();
  if (session.readOnly) {
    replace(list, element('p', {class: 'empty'}, element('strong', {}, 'Nothing can be changed here'), `${kReadOnly} Start sluice explore without it to turn the dimmers.`));
    return;
  }
  if (!model?.gate) {
    replace(list, element('p', {class: 'empty'}, element('strong', {}, `${model?.id ?? 'This model'} has no gate`), 'There is no dimmer to turn. Choose a model with a gate above.'));
    return;
  }
  replace(list,
    state.changes.length ? element('ul', {class: 'changes'}, state.changes.map(item))
      : element('p', {class: 'empty'}, element('strong', {}, 'Nothing is changed'), 'Close a head, open a layer, hold every gate at one value: the model answers at once.'),
    element('div', {class: 'chips', role: 'group', 'aria-label': 'Add a change'},
      element('button', {type: 'button', id: 'add-change', onclick: () => add({...fresh(state.layer, state.head)})}, '+ this head or layer'),
      element('button', {type: 'button', onclick: () => add({...fresh(0, -1), scope: 'all', kind: 'open'})}, '+ all open'),
      element('button', {type: 'button', onclick: () => add({...fresh(0, -1), scope: 'all', kind: 'constant'})}, '+ all at one value'),
      state.locked.length ? element('button', {type: 'button', onclick: () => add({...fresh(0, -1), scope: 'position', position: state.locked[0]})}, `+ token ${state.locked[0]}`) : null));
}

const drawCommand = () => replace(command, session.readOnly || !subject()?.gate ? null : commandFor(subject(), subjectPass()));

// Whether the list shows the state already, but for the amounts that a slider is just writing.
let shape = '';
const shapeOf = () => JSON.stringify([subject()?.id, subjectPass()?.count, state.locked[0], state.layer, state.head, state.changes.map((one) => ({...one, amount: 0}))]);

function effectsOf() {
  if (session.readOnly || !subject()) return [];
  return (gated().length ? gated() : [subject()]).map((model, i) => new Effects(model, i ? 'effects-beside' : 'effects'));
}

const gateless = () => (gated().length ? [mainModel(), ...besides()] : []).filter((model) => !model.gate)
  .map((model) => element('p', {class: 'note', id: 'gateless'}, `${model.id}${model === mainModel() ? '' : ', beside it,'} has no gate: nothing is changed in it.`));

export function build() {
  list = element('div');
  command = element('div');
  effects = effectsOf();
  shape = shapeOf();
  drawList();
  drawCommand();
  for (const one of effects) one.update();
  return {split: effects.length === 1, content: [
    element('section', {class: 'card', 'aria-label': 'Changes'}, element('div', {class: 'head'}, element('h2', {}, 'Turn the dimmers'),
      state.beside !== '=' && mainModel()?.gate && !session.readOnly ? element('button', {type: 'button', class: 'quiet words', id: 'show-beside', onclick: () => change({beside: '='})}, 'show with and without side by side') : null), list, session.readOnly ? null : gateless(), command),
    effects.length > 1 ? element('div', {class: 'panes two'}, effects.map((one) => one.element)) : effects[0]?.element].filter(Boolean)};
}

export function update(changed) {
  if (!list) return;
  const now = shapeOf();
  const sliding = document.activeElement?.type === 'range' && list.contains(document.activeElement);
  if (now !== shape || (changed.has('changes') && !sliding)) drawList();
  shape = now;
  drawCommand();
  if (changed.has('beside')) find('show-beside')?.toggleAttribute('hidden', state.beside === '=');
  if (['changes', 'temperature', 'topK', 'topP', 'seed', 'length'].some((name) => changed.has(name))) for (const one of effects) one.update();
}

export function end() {
  for (const one of effects) one.end();
  effects = [];
  list = null;
  command = null;
}
