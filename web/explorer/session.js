// What is loaded: the models, and the one or two panes that the state asks for. A pane is a model with a pass over the
// prompt, as it is or with its gates changed.
import {about, models, post} from '../shared/api.js';
import {listed} from '../shared/dom.js';
import {foreignLetters} from '../shared/nursery.js';
import {passOf} from '../shared/pass.js';
import {fitting, interventionOf, misfit} from '../shared/changes.js';
import {change, misread, state} from './state.js';

export const session = {
  models: [],
  panes: [], // {name, note, model, pass, changed}
  hover: -1, // the token under the pointer, in every pane
  trouble: null, // why there is nothing to show
  notes: [], // what is shown otherwise than the link says, and why
  readOnly: false, // models are not changed, nor made to talk
};

const listeners = {panes: [], hover: []};
export const onPanes = (listener) => listeners.panes.push(listener);
export const onHover = (listener) => listeners.hover.push(listener);

function announce(what) {
  for (const listener of listeners[what]) listener();
}

export function setHover(position) {
  if (session.hover === position) return;
  session.hover = position;
  announce('hover');
}

export const modelNamed = (id) => session.models.find((model) => model.id === id);
// Without a choice the first with a gate: there is more to see.
export const mainModel = () => modelNamed(state.model) ?? session.models.find((model) => model.gate) ?? session.models.find((model) => !model.error) ?? session.models[0];

// The pane whose tokens the keys and the tables mean: the changed one where there are two of a model.
export const mainPane = () => session.panes.find((pane) => pane.main) ?? session.panes[0];

export async function loadModels() {
  const [known, {read_only: readOnly}] = await Promise.all([models(), about()]);
  Object.assign(session, {models: known, readOnly});
}

// The changes that apply to a model.
export const changesOf = (model, tokens) => (session.readOnly ? [] : fitting(model, state.changes, tokens));
export const interventionsOf = (model, tokens) => changesOf(model, tokens).map(interventionOf);

const promptIds = new Map();

// The prompt's tokens, for what continues them.
async function idsOf(model, text, signal) {
  if (!model.tokenizer) return numbersIn(text);
  const key = `${model.id}\n${text}`;
  if (!promptIds.has(key)) {
    if (promptIds.size > 20) promptIds.clear();
    promptIds.set(key, (await post('/api/v1/tokenize', {model: model.id, prompt: text}, signal)).ids);
  }
  return promptIds.get(key);
}

// The prompt of a model without a tokenizer: its tokens by number.
function numbersIn(text) {
  const numbers = (text.match(/\d+/g) ?? []).map(Number);
  if (!numbers.length) throw new Error('This model has no tokenizer. Type the numbers of tokens, such as 1 2 3, or start with --tokenizer.');
  return numbers;
}

// With the generated tokens that are looked at, if this model has the same tokens as the one that generated them.
export async function subjectOf(model, signal, step = state.step) {
  const same = model.tokenizer_fingerprint === mainModel().tokenizer_fingerprint;
  if ((!step || !same) && model.tokenizer) return {model: model.id, prompt: state.text, interventions: []};
  const ids = await idsOf(model, state.text, signal);
  return {model: model.id, ids: ids.concat(same ? state.more.slice(0, step) : []), interventions: []};
}

async function changedPass(model, signal) {
  const subject = await subjectOf(model, signal);
  // A token that is not there cannot be changed, so the tokens have to be known first.
  const byToken = state.changes.some((one) => one.on && one.scope === 'position');
  const tokens = byToken ? (await passOf(model, subject, signal)).count : Infinity;
  return passOf(model, {...subject, interventions: interventionsOf(model, tokens)}, signal);
}

async function makePanes(signal) {
  const model = mainModel();
  const changed = changesOf(model).length > 0;
  const main = {name: model.id, note: changed ? 'with its gates changed' : '', model, main: true, changed, pass: await changedPass(model, signal)};
  if (state.beside === '=' && !session.readOnly) {
    const plain = {name: model.id, note: 'as it is', model, changed: false, pass: await passOf(model, await subjectOf(model, signal), signal)};
    return [plain, {...main, note: changed ? 'with its gates changed' : 'nothing changed yet'}];
  }
  const other = state.beside ? modelNamed(state.beside) : null;
  if (!other) return [main];
  const changedToo = changesOf(other).length > 0;
  return [main, {name: other.id, note: changedToo ? 'with its gates changed' : '', model: other, changed: changedToo, pass: await changedPass(other, signal)}];
}

let underway = null;

// Gives up what is under way, then looks anew.
export async function load() {
  underway?.abort();
  const mine = (underway = new AbortController());
  const before = session.panes;
  if (session.models.length) dropUnknownTokens();
  try {
    session.panes = state.text === '' || !session.models.length ? [] : await makePanes(mine.signal);
    session.trouble = null;
  } catch (error) {
    if (mine.signal.aborted) return;
    session.trouble = error;
    session.panes = [];
  }
  if (mine.signal.aborted) return;
  for (const pane of before) if (!session.panes.some((now) => now.pass === pane.pass)) pane.pass.end();
  session.notes = notesNow();
  keepWithin();
  announce('panes');
}

export const kReadOnly = 'This server was started with --read-only: models can be looked at and compared, but not changed and not made to talk.';

// What a link asks for and cannot be had. Without a word one would take what is shown for what was asked for.
function notesNow() {
  const model = mainModel();
  const notes = misread.map((what) => `In the link: ${what}.`);
  if (state.model && !modelNamed(state.model)) notes.push(`There is no model “${state.model}” here. This is ${model.id}.`);
  if (state.beside && state.beside !== '=' && !modelNamed(state.beside)) notes.push(`There is no model “${state.beside}” to put beside it.`);
  if (state.layer >= model.layers) notes.push(`${model.id} has no layer ${state.layer}. This is layer ${model.layers - 1}.`);
  if (state.head >= model.heads) notes.push(`${model.id} has no head ${state.head}. This is head ${model.heads - 1}.`);
  const pane = mainPane();
  const gone = pane ? state.locked.filter((position) => position >= pane.pass.count) : [];
  if (gone.length) notes.push(`There is no token ${gone.join(', ')}. The last is ${pane.pass.count - 1}.`);
  notes.push(...limitNotes(), ...matchNote());
  const on = state.changes.filter((one) => one.on);
  if (session.readOnly && (on.length || state.beside === '=')) return [...notes, `${kReadOnly} The changes in the link are left out.`];
  const idle = on.map((one) => misfit(model, one, pane?.pass.count)).filter(Boolean);
  if (idle.length) notes.push(`${idle.length === 1 ? 'A change does' : `${idle.length} changes do`} nothing: ${[...new Set(idle)].join('; ')}.`);
  return notes;
}

// Where models are asked for more than they have learned.
function limitNotes() {
  const long = ({model, pass}) => model.positions && pass.count > model.positions;
  const notes = session.panes.filter(long).map(({model: {id, positions}, pass: {count}}) => `${id} was made for ${positions} tokens, and these are ${count}. What it does with the last ${count - positions} nobody has trained.`);
  const young = foreignLetters(state.text) ? [...new Set(session.panes.filter((pane) => pane.model.nursery).map((pane) => pane.name))] : [];
  if (young.length) notes.push(`${listed(young)} ${young.length > 1 ? 'have' : 'has'} read nothing but letters of the nursery behind a ^. What other signs give says little.`);
  return [...new Set(notes)];
}

// Of two tokenizers the same place need not be the same word.
function matchNote() {
  const [one, other] = session.panes;
  if (!other || one.model.tokenizer_fingerprint === other.model.tokenizer_fingerprint) return [];
  return [`${one.name} and ${other.name} have different tokenizers (${one.pass.count} and ${other.pass.count} tokens here). Tokens beside each other are matched by their position only.`];
}

// Generated tokens that a link names and the model does not have would be refused by the server: they go before it is asked.
function dropUnknownTokens() {
  const {id, vocabulary} = mainModel();
  const unknown = state.more.filter((token) => token >= vocabulary);
  if (unknown.length) {
    misread.push(`${id} has no token ${unknown[0]}, the last is ${vocabulary - 1}; what was generated is left out`);
    change({more: [], step: 0}, 'replace');
  } else if (state.step > state.more.length) {
    misread.push(`there is no generated token ${state.step}, the link has ${state.more.length}; this is the prompt`);
    change({step: 0}, 'replace');
  }
}

// Another model may have fewer layers or heads, another prompt fewer tokens.
function keepWithin() {
  const pane = mainPane();
  if (!pane) return;
  const layer = Math.min(state.layer, pane.model.layers - 1);
  const head = Math.min(state.head, pane.model.heads - 1);
  const locked = state.locked.filter((position) => position < pane.pass.count);
  change({layer, head, locked}, 'replace');
}
