// Elements in few words, and numbers and tokens as people read them.

// element('button', {class: 'quiet', onclick: f, 'aria-label': 'x'}, 'text', child, ...). Null children are left out.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (key === 'value' || key === 'checked' || key === 'disabled' || key === 'selected') made[key] = value;
    else made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const find = (id) => document.getElementById(id);

// New content for an element. Focus stays on the control that has taken the place of the old one: who works with the keyboard
// must not be thrown to the top by every redraw.
export function replace(parent, ...children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const key = focused && sign(focused);
  parent.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  if (!focused || parent.contains(focused)) return;
  [...parent.querySelectorAll(focused.tagName)].find((other) => sign(other) === key)?.focus({preventScroll: true});
}

const sign = (control) => control.id || [control.getAttribute('aria-label'), control.dataset.value, control.closest('[aria-label]')?.getAttribute('aria-label'),
  control.textContent].join('|');

// A select whose options are [value, label] pairs.
export function choice(label, options, value, changed, attributes = {}) {
  const select = element('select', {'aria-label': label, onchange: () => changed(select.value), ...attributes},
    options.map(([key, text]) => element('option', {value: key, selected: String(key) === String(value)}, text)));
  return select;
}

// Buttons of which one is pressed.
export function segments(label, options, value, changed) {
  return element('div', {class: 'segments', role: 'group', 'aria-label': label},
    options.map(([key, text, hint]) => element('button', {
      type: 'button', 'aria-pressed': String(String(key) === String(value)), 'data-value': key, title: hint,
      onclick: () => changed(key)}, text)));
}

// A minus, not a hyphen, also before an exponent.
export const withMinus = (text) => text.replaceAll('-', '−');

// Four significant digits, never an exponent for what probabilities and gates usually are.
export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  const size = Math.abs(value);
  if (size !== 0 && size < 0.0005) return withMinus(value.toExponential(1));
  const text = size >= 1000 ? Math.round(value).toLocaleString('en') : size >= 100 ? value.toFixed(1) : value.toFixed(digits);
  return withMinus(text);
}

// All that an f32 is sure of.
export const exact = (value) => (Number.isFinite(value) ? withMinus(String(Number(value.toPrecision(6)))) : number(value));

export function signed(value, digits = 3) {
  const text = number(value, digits);
  return value > 0 ? '+' + text : text;
}

// Two digits at least: of a large vocabulary the likeliest token may have a hundredth of a percent.
export function percent(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const size = Math.abs(100 * value);
  const text = size === 0 || size >= 0.1 ? size.toFixed(size < 10 ? 1 : 0) : size >= 0.0001 ? size.toPrecision(2) : '<\u00a00.0001';
  return `${value < 0 ? '−' : ''}${text}\u00a0%`;
}

// "1 token", "2 tokens".
export const counted = (count, name) => `${count} ${name}${count === 1 ? '' : 's'}`;

// Of parameters: 168K, 6.8M, 1.7B.
export const modelSize = (count) => (count >= 1e9 ? `${(count / 1e9).toFixed(1)}B` : count >= 1e6 ? `${(count / 1e6).toFixed(1)}M` : `${Math.round(count / 1e3)}K`);

// White space and control characters become signs that can be seen.
export function visible(token) {
  return token.replace(/ /g, '·').replace(/\n/g, '↵').replace(/\t/g, '⇥').replace(/\r/g, '␍')
    .replace(/[\u0000-\u001f\u007f]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`) || '∅';
}

// The tokens of an answer: their texts, or their numbers, as tokenName has them.
export const tokenNames = ({ids, tokens}) => tokens?.map((token, t) => token || `#${ids[t]}`) ?? ids.map(String);

// "5", "5 and 9", "5, 7 and 9"
export const listed = (items) => (items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`);

// A predicted token: its text, or its number where the model has no tokenizer, or one that knows fewer tokens than the model.
export const tokenName = ({id, token}) => (token === '' ? `#${id}` : visible(token ?? String(id)));

// What a screen reader says: a lone space would be silent.
export function spoken(token) {
  if (token === ' ') return 'space';
  if (token === '\n') return 'line break';
  return token.trim() || 'white space';
}

// Calls `action` once things have been quiet for so long.
export function debounced(milliseconds, action) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(action, milliseconds, ...values);
  };
}

// At once, and while calls keep coming once in so many milliseconds, with the last values.
export function paced(milliseconds, action) {
  let timer = 0;
  let last = [];
  let time = -milliseconds;
  return (...values) => {
    last = values;
    if (timer) return;
    timer = setTimeout(() => {
      timer = 0;
      time = performance.now();
      action(...last);
    }, Math.max(0, time + milliseconds - performance.now()));
  };
}

// At most once per frame, with the last values.
export function onFrame(action) {
  let asked = false;
  let last = [];
  return (...values) => {
    last = values;
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      action(...last);
    });
  };
}

// Marks how long drawing took, for tests and `sluice bench explore`.
export function measured(name, action) {
  const start = performance.now();
  const result = action();
  performance.measure(`sluice:${name}`, {start, end: performance.now()});
  return result;
}
