// The view "Next token": what would come next and how likely, as the model and as the sampler see it; a continuation whose
// every token can be pressed to look into the step that made it.
import {element, number, percent, replace, spoken, tokenName, visible} from '../shared/dom.js';
import {post} from '../shared/api.js';
import {tableDrawing} from '../shared/charts.js';
import {exportButtons} from '../shared/export.js';
import {passOf} from '../shared/pass.js';
import {continueText, endNote, endsText, samplerOf} from './continuation.js';
import {ranges} from './link_readers.js';
import {inPanes} from './parts.js';
import {interventionsOf, kReadOnly, mainModel, mainPane, session, subjectOf} from './session.js';
import {change, state, subscribe} from './state.js';

let parts = null;
let tables = []; // {pane, top} as last shown
let asking = null;
let speaking = null; // {stop: AbortController, texts} while tokens come, also while another view is open
let said = {key: '', tokens: [], end: null}; // texts of state.more, and what came after them

// Behind which token: the locked one, else the last.
const positionOf = (pane) => (state.locked.length ? Math.min(state.locked[0], pane.pass.count - 1) : pane.pass.count - 1);

function rowOf(model, row, chosen, most) {
  const fill = element('span', {class: 'fill'});
  fill.style.width = `${(100 * row.probability) / most}%`;
  const sampled = element('span', {class: 'fill second'});
  sampled.style.width = `${(100 * row.sampled) / most}%`;
  return element('tr', {'data-id': row.id}, element('th', {scope: 'row'}, element('span', {class: 'token'}, tokenName(row)), endsText(model, row.id), row.id === chosen ? ' ← taken' : null),
    element('td', {}, percent(row.probability)), element('td', {}, row.sampled === 0 ? 'left out' : percent(row.sampled)), element('td', {class: 'bars'}, fill, sampled));
}

async function ask() {
  asking?.abort();
  const mine = (asking = new AbortController());
  const {panes} = session;
  try {
    const answers = [];
    for (const pane of panes) {
      const {temperature, top_k, top_p} = samplerOf(state);
      answers.push({pane, position: positionOf(pane), ...await post('/api/v1/next', {...pane.pass.subject, position: positionOf(pane), count: 20, temperature, top_k, top_p}, mine.signal)});
    }
    if (mine.signal.aborted || !parts) return;
    tables = answers;
    drawTables();
  } catch (error) {
    if (!mine.signal.aborted && parts) replace(parts.tables, element('p', {class: 'trouble'}, error.message));
  }
}

function drawTables() {
  replace(parts.tables, inPanes(tables.map((one) => one.pane), (pane) => {
    const {top, entropy, position} = tables.find((one) => one.pane === pane);
    const most = Math.max(...top.flatMap((row) => [row.probability, row.sampled]), 1e-9);
    const taken = state.step < state.more.length && position === pane.pass.count - 1 ? state.more[state.step] : pane.pass.ids[position + 1];
    return [element('p', {class: 'note'}, `After token ${position} “${visible(pane.pass.tokens[position])}”; entropy ${number(entropy, 2)} nats`),
      element('table', {class: 'numbers'}, element('caption', {class: 'unseen'}, 'The next token'),
        element('thead', {}, element('tr', {}, ['Next token', 'model', 'sampler', ''].map((name) => element('th', {scope: 'col'}, name)))),
        element('tbody', {}, top.map((row) => rowOf(pane.model, row, taken, most))))];
  }));
}

function slider(label, id, {range: [low, high], step, value, show, write}) {
  const shown = element('output', {class: 'mono'}, show(value));
  const input = element('input', {type: 'range', id, min: low, max: high, step, value, 'aria-label': label, oninput: () => {
    shown.textContent = show(Number(input.value));
    change(write(Number(input.value)));
  }});
  return element('label', {}, label, input, shown);
}

function samplerControls() {
  const whole = (label, id, [low, high] = ranges[id]) => element('label', {}, label, element('input', {type: 'number', id, min: low, max: high, value: state[id], 'aria-label': label,
    onchange: ({target}) => {
      target.value = Math.min(high, Math.max(low, Math.trunc(Number(target.value) || 0))); // what is used
      change({[id]: Number(target.value)});
    }}));
  return element('div', {class: 'row'},
    slider('Temperature', 'temperature', {range: ranges.temperature, step: 0.05, value: state.temperature, show: (value) => value.toFixed(2), write: (temperature) => ({temperature})}),
    slider('Top-p', 'topP', {range: ranges.topP, step: 0.05, value: state.topP, show: (value) => value.toFixed(2), write: (topP) => ({topP})}),
    whole('Top-k', 'topK'), session.readOnly ? null : [whole('Seed', 'seed'), whole('Tokens', 'length')]);
}

function drawSaid() {
  const running = speaking !== null;
  parts.go.textContent = running ? 'Stop' : 'Generate';
  parts.go.classList.toggle('main', !running);
  const known = said.key === keyOfSaid();
  replace(parts.said, element('span', {class: 'given'}, state.text),
    running ? speaking.texts.map((text) => element('span', {}, text)) : state.more.map((id, i) => element('button', {type: 'button', 'data-step': i, 'aria-pressed': String(state.step === i && i > 0), 'aria-label': `Generated token ${i}: ${spoken(known ? said.tokens[i] ?? '' : String(id))}. Look into its step`,
      onclick: () => change({step: i, locked: []})}, known ? said.tokens[i] || '\ufffd' : `[${id}]`)), known && !running && said.end ? endNote(said.end) : null);
  parts.hint.textContent = state.more.length
    ? state.step ? `Looking at the step that made generated token ${state.step}: everything above shows the prompt and what came before it.` : 'Press a token to look into the step that made it.'
    : session.readOnly ? `${kReadOnly} The sampler only changes the table.` : 'The same seed gives the same text, here and on the command line.';
  parts.back.hidden = !state.step;
  parts.said.hidden = session.readOnly && !state.more.length;
}

const keyOfSaid = (ids = state.more) => JSON.stringify([mainModel()?.id, state.text, ids]);

// Texts of tokens that came with a link.
async function nameTokens() {
  const key = keyOfSaid();
  if (said.key === key || !state.more.length || speaking) return;
  const subject = await subjectOf(mainModel(), undefined, state.more.length);
  const pass = await passOf(mainModel(), subject);
  said = {key, tokens: pass.tokens.slice(-state.more.length), end: null};
  if (parts) drawSaid();
}

async function generate() {
  if (speaking) {
    speaking.stop.abort();
    return;
  }
  const model = mainModel();
  const ids = [];
  let end = null;
  parts.trouble.hidden = true;
  change({more: [], step: 0});
  const mine = (speaking = {stop: new AbortController(), texts: []});
  const {signal} = mine.stop;
  drawSaid();
  try {
    const subject = {...await subjectOf(model, signal, 0), interventions: interventionsOf(model, mainPane()?.pass.count)};
    end = await continueText(subject, samplerOf(state), (token) => {
      if (speaking !== mine) return;
      ids.push(token.id);
      mine.texts.push(token.text);
      parts?.said.append(element('span', {}, token.text));
    }, signal, (words) => parts && (parts.hint.textContent = words));
  } catch (error) {
    if (!signal.aborted && parts) {
      parts.trouble.textContent = error.message;
      parts.trouble.hidden = false;
    }
  }
  if (speaking !== mine) return;
  speaking = null;
  said = {key: keyOfSaid(ids), tokens: mine.texts, end};
  change({more: ids}, 'replace');
  if (parts) drawSaid();
}

// What continues another text, or another model's, is no continuation of this one.
subscribe((changed) => {
  if (!speaking || !['text', 'model', 'more', 'step'].some((name) => changed.has(name))) return;
  speaking.stop.abort();
  speaking = null;
  if (parts) drawSaid();
});

const view = {
  name: 'next', title: 'the next token',
  drawing: () => tableDrawing('The next token', ['token', 'model', 'sampler', 'of'], tables.flatMap(({pane, top}) => top.map((row) => [tokenName(row), number(row.probability, 4), number(row.sampled, 4), `${pane.name} ${pane.note}`]))),
  table: () => ({columns: ['model', 'changes', 'position', 'id', 'token', 'probability', 'sampled'],
    rows: tables.flatMap(({pane, top, position}) => top.map((row) => [pane.name, pane.pass.subject.interventions.join('; '), position, row.id, row.token, row.probability, row.sampled]))}),
};

export function build() {
  parts = {tables: element('div', {id: 'next-tables', class: 'wide'}), said: element('p', {class: 'said', id: 'said'}), hint: element('p', {class: 'note'}), trouble: element('p', {class: 'trouble', role: 'alert', hidden: true}),
    go: element('button', {type: 'button', id: 'generate', class: 'main', onclick: generate}, 'Generate'),
    back: element('button', {type: 'button', class: 'quiet words', onclick: () => change({step: 0})}, 'back to the prompt')};
  drawSaid();
  nameTokens().catch(() => {}); // without their texts the tokens show their ids
  ask();
  // Two tables beside each other need the whole width.
  return {split: session.panes.length < 2, content: [
    element('section', {class: 'card', 'aria-label': 'Next token'}, element('div', {class: 'head'}, element('h2', {}, 'What comes next'), exportButtons(view)), parts.tables),
    element('section', {class: 'card', 'aria-label': 'Continuation'}, element('div', {class: 'head'}, element('h2', {}, session.readOnly ? 'The sampler' : session.panes.length > 1 ? `Let ${mainModel().id} go on` : 'Let it go on'), session.readOnly ? null : parts.go, parts.back), samplerControls(), parts.trouble, parts.said, parts.hint)]};
}

export function update(changed) {
  if (!parts) return;
  if (['locked', 'temperature', 'topK', 'topP', 'step'].some((name) => changed.has(name)) && session.panes.length) ask();
  if (changed.has('more') || changed.has('step')) {
    drawSaid();
    nameTokens().catch(() => {});
  }
}

export function end() {
  asking?.abort();
  parts = null;
}
