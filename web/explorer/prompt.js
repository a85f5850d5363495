// The prompt box, its examples, the models to choose from, and what is going on.
import {counted, debounced, element, find, modelSize, replace} from '../shared/dom.js';
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

let lastExample = {text: null, kind: ''};

async function typedExample(type) {
  const seed = (pressed[type] = (pressed[type] ?? -1) + 1);
  const {prompts} = await get(`/api/v1/prompts?seed=${seed}&bytes=200`);
  return {text: prompts.find((prompt) => prompt.type === type)?.text ?? '', kind: 'prose'};
}

const nurseryExample = async (index) => ({text: (await nurserySequence(index, kNurseryLetters)).text, kind: 'nursery'});

const numbersExample = async () => ({text: kNumbers, kind: 'numbers'});

const firstExample = (kind) => (kind === 'numbers' ? numbersExample() : kind === 'nursery' ? nurseryExample(0) : typedExample('factual'));

const newPrompt = (text, how, values = {}) => change({...values, text, more: [], step: 0, locked: []}, how);

function show(example, how, values) {
  lastExample = example;
  newPrompt(example.text, how, values);
}

async function take(make) {
  try {
    show(await make());
  } catch (error) {
    say(error);
  }
}

function drawExamples() {
  const model = mainModel();
  if (!model) return;
  const chip = (name, label, make) => element('button', {type: 'button', 'data-example': name, onclick: () => take(make)}, label);
  const chips = {nursery: () => Array.from({length: kNurseryExamples}, (_, i) => chip(`sequence ${i + 1}`, `Sequence ${i + 1}`, () => nurseryExample(i))),
    numbers: () => [chip('numbers', 'Token numbers', numbersExample)],
    prose: () => Object.entries(labels).map(([type, label]) => chip(type, label, () => typedExample(type)))}[kindOf(model)]();
  replace(find('examples'), element('span', {class: 'note'}, 'Examples'), chips, model.nursery ? element('a', {class: 'note', href: 'story#spotlight'}, 'What are these letters?') : null);
}

// Something to look at when the page opens.
export async function firstPrompt() {
  show(await firstExample(kindOf(mainModel())), 'replace');
}

let choices = 0; // of models: of two quick ones the later counts, whichever example comes first
let noExample = null; // why the chosen model has none, said with its panes

// An example for one kind of model says nothing to another; what the reader wrote stays, also what is written while the example comes.
async function chooseModel(id) {
  const mine = ++choices;
  const kind = kindOf(session.models.find((one) => one.id === id));
  const values = () => ({model: id, beside: state.beside === id ? '' : state.beside});
  const stays = () => kind === lastExample.kind || state.text !== lastExample.text || find('prompt').value !== lastExample.text;
  if (stays()) return change(values());
  let example = null;
  try {
    example = await firstExample(kind);
  } catch (error) {
    noExample = error;
  }
  if (mine !== choices) return;
  if (!example || stays()) change(values());
  else show(example, 'push', values());
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

// Behind a place in the queue; nothing where the server does not know.
export const aboutSeconds = (seconds) => (Number.isFinite(seconds) ? `, about ${Math.max(1, Math.ceil(seconds))} s` : '');

// What the server is doing for us, with a clock: the first look at a large model reads gigabytes before there is a layer to count.
function underway(queue) {
  const waiting = queue.yours?.[0];
  const {running} = queue;
  if (waiting && !running?.yours) return `waiting, place ${waiting.place}${aboutSeconds(waiting.expected_s)}`;
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
  else status.textContent = pass ? `${counted(pass.count, 'token')} · ${timing.cached ? 'from memory' : taken(timing.computed_s)}` : '';
}

export function beginPrompt() {
  const box = find('prompt');
  box.value = state.text;
  const typed = debounced(kTyping, () => newPrompt(box.value));
  box.addEventListener('input', typed);
  find('model').addEventListener('change', (event) => chooseModel(event.target.value));
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
    say(session.trouble ?? noExample);
    noExample = null;
    drawNotes();
    drawStatus(null);
  });
  document.addEventListener('sluice:queue', (event) => drawStatus(event.detail));
}
