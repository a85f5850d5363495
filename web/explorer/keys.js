// The keyboard: arrows walk layers and heads wherever nothing else takes them; a page of keys behind "?".
import {element, find, replace} from '../shared/dom.js';
import {walk} from './parts.js';
import {mainPane, session} from './session.js';
import {lock} from './token_buttons.js';
import {change, state} from './state.js';

const views = ['attention', 'gates', 'break', 'next', 'lens'];

// What has a use of its own for a key: who types keeps all of them, and a slider or a list its arrows.
const isTyping = (target) => target.closest('textarea, input[type="text"], input[type="number"], dialog') !== null;
const takesArrows = (target) => target.closest('select, input, [role="tablist"], .lens') !== null;
// A list jumps to the option that begins with what is pressed.
const takesDigit = (target, digit) => target.matches('select') && [...target.options].some((option) => option.label.startsWith(digit));

function walkTokens(by) {
  const pane = mainPane();
  if (!pane?.strip) return;
  const at = pane.strip.buttons.indexOf(document.activeElement);
  const from = at >= 0 ? at : session.hover >= 0 ? session.hover : (state.locked[0] ?? 0) - by;
  pane.strip.buttons[Math.min(pane.strip.buttons.length - 1, Math.max(0, from + by))].focus();
}

const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};

function pressed(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === 'Escape' && !find('keys').open) {
    if (state.locked.length) change({locked: []});
    return;
  }
  if (isTyping(event.target)) return;
  if (steps[event.key]) {
    if (takesArrows(event.target)) return;
    if (event.shiftKey && steps[event.key][1]) walkTokens(steps[event.key][1]);
    else walk(...steps[event.key]);
  } else if (/^[1-5]$/.test(event.key) && !takesDigit(event.target, event.key)) change({view: views[Number(event.key) - 1]});
  else if (event.target.matches('select')) return;
  else if (event.key === 'l' && session.hover >= 0) lock(session.hover, false);
  else if (event.key === '?') openHelp();
  else if (event.key === '/') find('prompt').focus();
  else return;
  event.preventDefault();
}

const keys = [
  ['← →', 'previous or next head'], ['↑ ↓', 'previous or next layer'], ['Shift ← →', 'previous or next token'],
  ['Enter', 'lock the token; with Shift: lock one more'], ['Esc', 'release all'], ['1 … 5', 'the five views'], ['/', 'to the prompt'], ['?', 'this page'],
];

const words = [
  ['Gate', 'A number, mostly between 0 and 1, by which the output of a head is multiplied. Headwise: one per head and token. Elementwise: one per channel.'],
  ['Sink', 'A token, nearly always the first, that gets attention from everywhere though it has little to say.'],
  ['Surprise', 'Minus the logarithm of the probability that the model gave to a token before it saw it, in nats.'],
  ['KL divergence', 'How far two predictions are from each other, in nats. 0: they are the same.'],
];

function openHelp() {
  const dialog = find('keys');
  replace(dialog, element('h2', {id: 'keys-title'}, 'Keys'), element('dl', {}, keys.flatMap(([key, what]) => [element('dt', {}, element('kbd', {}, key)), element('dd', {}, what)])),
    element('h2', {}, 'Words'), element('dl', {}, words.flatMap(([word, what]) => [element('dt', {}, word), element('dd', {}, what)])),
    element('button', {type: 'button', class: 'main', onclick: () => dialog.close()}, 'Close'));
  dialog.showModal();
}

export function beginKeys() {
  document.addEventListener('keydown', pressed);
  find('help').addEventListener('click', openHelp);
}
