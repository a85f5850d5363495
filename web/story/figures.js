// Parts that chapters are made of: a thing to do, tokens in colours, maps, and sentences with computed numbers in them.
import {element, find, measured, number, replace, spoken, visible} from '../shared/dom.js';
import {step, table} from '../shared/colors.js';
import {pictureOf, show} from '../shared/heatmap.js';
import {hideTip, showTip} from '../shared/tip.js';

export const p = (...parts) => element('p', {}, ...parts);

// A drawing is shrunk with its letters where there is less room, so it is made for the room there is.
export const chartWidth = () => Math.min(640, Math.max(260, find('main').clientWidth - 44));

// A computed number in a sentence.
export const value = (text, id) => element('b', {'data-computed': id ?? true}, text);

// The one thing to do in a chapter: what, the control, and the figure it changes.
export function tryIt(what, controls, ...figure) {
  return element('div', {class: 'card try'}, element('div', {class: 'do'}, element('b', {}, 'Try it'), element('span', {}, what), controls), ...figure);
}

export const found = () => element('div', {class: 'found', role: 'status', 'aria-live': 'polite'}, element('span', {class: 'note computing'}, 'computing …'));

export function slider(label, {low = 0, high, step: by = 1, at = low, moved, show: shown = String}) {
  const output = element('output', {class: 'mono'}, shown(at));
  const input = element('input', {type: 'range', min: low, max: high, step: by, value: at, 'aria-label': label, oninput: () => {
    output.textContent = shown(Number(input.value));
    moved(Number(input.value));
  }});
  return {element: element('label', {}, label, input, output), input, output};
}

// Tokens as buttons, coloured by shares from 0 to `high`.
export class TokenRow {
  constructor(label, pressed) {
    this.pressed = pressed;
    this.element = element('div', {class: 'strip', role: 'group', 'aria-label': label});
    this.element.addEventListener('click', (event) => {
      const button = event.target.closest('button');
      if (button) this.pressed?.(Number(button.dataset.token));
    });
    this.element.addEventListener('mouseover', (event) => {
      const button = event.target.closest('button');
      if (!button) return;
      const box = button.getBoundingClientRect();
      showTip(box.left, box.bottom - 12, [button.textContent, `token ${button.dataset.token}`, button.dataset.value === '' ? 'no value' : `${this.unit}: ${button.dataset.value}`]);
    });
    this.element.addEventListener('mouseleave', hideTip);
  }

  // values: by token; marks: {chosen, underlined}.
  draw(tokens, values, {unit, high = 1, chosen = -1, underlined = []}) {
    this.unit = unit;
    const colors = table();
    measured('story-tokens', () => {
      const marked = new Set(underlined);
      replace(this.element, tokens.map((token, t) => {
        const share = step((values[t] ?? 0) / high);
        const button = element('button', {type: 'button', 'data-token': t, 'data-value': values[t] === null || values[t] === undefined ? '' : number(values[t], 4),
          class: [t === chosen ? 'chosen' : '', marked.has(t) ? 'due' : ''].join(' ').trim() || null, 'aria-label': `${spoken(token)}, ${unit} ${number(values[t])}`,
          'aria-pressed': this.pressed ? String(t === chosen) : null}, visible(token));
        button.style.backgroundColor = colors.css[share];
        button.style.color = colors.ink[share];
        return button;
      }));
    });
  }
}

// A map with a caption; draw(map) with maps of shared/pass.js.
export class MapFigure {
  constructor(caption) {
    this.canvas = element('canvas', {role: 'img', 'aria-label': caption});
    this.caption = element('figcaption', {}, caption);
    this.element = element('figure', {}, this.caption, this.canvas);
  }

  draw(map, caption) {
    this.caption.textContent = caption;
    this.canvas.setAttribute('aria-label', caption);
    measured('story-map', () => show(this.canvas, pictureOf(map, 'linear', false), this.canvas.clientWidth || 240, this.canvas.clientHeight || 240));
  }
}
