// The prompt box, its examples, the models to choose from, and what is going on.
import {debounced, element, find, modelSize, replace} from '../shared/dom.js';
import {get} from '../shared/api.js';
import {nurserySequence} from '../shared/nursery.js';
import {mainModel, onPanes, session} from './session.js';
import {change, state, subscribe} from './state.js';

const labels = {factual: 'Factual', technical: 'Technical', conversational: 'Conversation', repetitive: 'Repetitive', 'code-like': 'Code'};
const kTyping = 250; // milliseconds of quiet after which typing counts as a prompt
const kNurseryExamples = 4;
const kNurseryLetters = 47;
const kNumbers = '1 2 3 5 8 13 21 34 55 89';

let pressed = {}; // how often each example was asked for: the next is another one

// Sequences, prose or numbers: what a model can read.
const kindOf = (model) => (!model.tokenizer ? 'numbers' : model.nursery ? 'nursery' : 'prose');

let given = {text: null, kind: ''}; // the last example

function give(text, kind) {
  given = {text, kind};
  return text;
}

async function typedExample(type) {
  const seed = (pressed[type] = (pressed[type] ?? -1) + 1);
  const {prompts} = await get(`/api/v1/prompts?seed=${seed}&bytes=200`);
  return give(prompts.find((prompt) => prompt.type === type)?.text ?? '', 'prose');
}

async function nurseryExample(index) {
  return give((await nurserySequence(index, kNurseryLetters)).text, 'nursery');
}

const firstExample = async (kind) => (kind === 'numbers' ? give(kNumbers, kind) : kind === 'nursery' ? nurseryExample(0) : typedExample('factual'));

export const newPrompt = (text, how) => change({text, more: [], step: 0, locked: []}, how);

async function take(make) {
  try {
    newPrompt(await make());
  } catch (error) {
    say(error);
  }
}

function drawExamples() {
  const model = mainModel();
  if (!model) return;
  const chips = model.nursery
    ? Array.from({length: kNurseryExamples}, (_, i) => element('button', {type: 'button', 'data-example': `sequence ${i + 1}`, onclick: () => take(() => nurseryExample(i))}, `Sequence ${i + 1}`))
    : !model.tokenizer ? [element('button', {type: 'button', 'data-example': 'numbers', onclick: () => newPrompt(give(kNumbers, 'numbers'))}, 'Token numbers')]
    : Object.entries(labels).map(([type, label]) => element('button', {type: 'button', 'data-example': type, onclick: () => take(() => typedExample(type))}, label));
  replace(find('examples'), element('span', {class: 'note'}, 'Examples'), chips, model.nursery ? element('a', {class: 'note', href: 'story#spotlight'}, 'What are these letters?') : null);
}

// Something to look at when the page opens.
export async function firstPrompt() {
  newPrompt(await firstExample(kindOf(mainModel())), 'replace');
}

// An example for one kind of model says nothing to another; what the reader wrote stays.
async function chooseModel(id) {
  const model = session.models.find((one) => one.id === id);
  const values = {model: id, beside: state.beside === id ? '' : state.beside};
  if (state.text !== given.text || kindOf(model) === given.kind) return change(values);
  const text = await firstExample(kindOf(model));
  change({...values, text, more: [], step: 0, locked: []});
}

export function say(error) {
  const box = find('trouble');
  box.hidden = !error;
  box.textContent = error?.message ?? '';
}

function drawNotes() {
  const box = find('notes');
  box.hidden = !session.notes.length;
  replace(box, session.notes.map((note) => element('p', {}, note)));
}

function drawModels() {
  const usable = session.models.filter((model) => !model.error);
  const label = (model) => (model.error ? `${model.id} (cannot be read)` : `${model.id} · ${modelSize(model.parameters)}${model.gate ? `, ${model.gate.granularity}` : ', no gate'}`);
  const option = (model, value) => element('option', {value: model.id, selected: model.id === value, disabled: Boolean(model.error)}, label(model));
  const main = mainModel();
  replace(find('model'), session.models.map((model) => option(model, main?.id)));
  replace(find('beside'), element('option', {value: '', selected: state.beside === ''}, 'nothing'),
    main?.gate && !session.readOnly ? element('option', {value: '=', selected: state.beside === '='}, 'the same, unchanged') : null,
    usable.filter((model) => model !== main).map((model) => option(model, state.beside)));
  for (const id of ['model', 'beside']) find(id).disabled = false;
}

const taken = (seconds) => (seconds < 1 ? `${Math.round(1000 * seconds)} ms` : `${seconds.toFixed(1)} s`);

// What the server is doing for us, with a clock: the first look at a large model reads gigabytes before there is a layer to count.
function underway(queue) {
  const waiting = queue.yours?.[0];
  const {running} = queue;
  if (waiting && !running?.yours) return `waiting, place ${waiting.place}${waiting.expected_s ? `, about ${Math.ceil(waiting.expected_s)} s` : ''}`;
  const clock = running?.seconds >= 2 ? `, ${Math.round(running.seconds)} s` : '';
  if (running?.total) return `computing, ${running.done} of ${running.total}${clock}`;
  const unread = running && session.models.find((model) => model.id === running.model && !model.loaded);
  return unread ? `loading ${unread.id}${clock || ' …'}` : `computing${clock || ' …'}`;
}

function drawStatus(queue) {
  const status = find('status');
  status.classList.toggle('busy', Boolean(queue));
  const pass = session.panes[0]?.pass;
  const timing = pass?.view.timing;
  if (queue) status.textContent = underway(queue);
  else status.textContent = pass ? `${pass.count} tokens · ${timing.cached ? 'from memory' : taken(timing.computed_s)}` : '';
}

export function beginPrompt() {
  const box = find('prompt');
  box.value = state.text;
  const typed = debounced(kTyping, () => newPrompt(box.value));
  box.addEventListener('input', typed);
  find('model').addEventListener('change', (event) => chooseModel(event.target.value).catch(say));
  find('beside').addEventListener('change', (event) => change({beside: event.target.value}));
  drawModels();
  drawExamples();
  subscribe((changed) => {
    // Not while somebody types: the box is then ahead of the state.
    if (changed.has('text') && box.value !== state.text) box.value = state.text;
    if (changed.has('model') || changed.has('beside')) drawModels();
    if (changed.has('model')) drawExamples();
  });
  onPanes(() => {
    for (const pane of session.panes) pane.model.loaded = true;
    say(session.trouble);
    drawNotes();
    drawStatus(null);
  });
  document.addEventListener('sluice:queue', (event) => drawStatus(event.detail));
}
