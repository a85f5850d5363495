// The tokens of a pane as buttons: coloured by a value of each, exact values on hover or focus, a press locks. A pass over the same
// tokens takes over the buttons of the one before: under a moving slider nothing is built anew.
import {debounced, element, number, spoken, visible} from '../shared/dom.js';
import {step, table} from '../shared/colors.js';
import {hideTip, showTip} from '../shared/tip.js';
import {setHover} from './session.js';
import {change, state} from './state.js';

const kRest = 300; // milliseconds until the tokens out of sight follow

export function lock(t, add) {
  const has = state.locked.includes(t);
  const others = state.locked.filter((position) => position !== t);
  change({locked: add ? (has ? others : [...others, t].sort((a, b) => a - b)) : has && !others.length ? [] : [t]});
}

export class TokenButtons {
  // hints(t), set by who owns it: lines of the tip.
  constructor(tokens, label) {
    Object.assign(this, {tokens, hints: () => []});
    this.buttons = tokens.map((token, t) => element('button', {type: 'button', 'data-token': t, tabindex: t ? -1 : 0}, visible(token)));
    this.element = element('div', {class: 'strip', role: 'group', 'aria-label': label}, this.buttons);
    this.inSight = new Set();
    this.nameRest = debounced(kRest, () => this.buttons.forEach((_, t) => this.name(t)));
    this.listen();
    this.watch();
  }

  // values: of every token, or nothing; scale: of scale.js; uncoloured: a token that gets no colour, or -1. Tokens out of sight get their values when there is time, and their colours
  // when they come into sight: of all that happens when a head is opened, styling a thousand buttons would take longest.
  show(values, scale, uncoloured = -1) {
    Object.assign(this, {values, scale, uncoloured});
    const colors = table();
    for (const t of this.inSight) this.dress(t, colors);
    this.nameRest();
  }

  dress(t, colors) {
    this.name(t);
    const place = this.values && t !== this.uncoloured ? step(this.scale.share(this.values[t] ?? 0)) : -1;
    const button = this.buttons[t];
    if (button.place === place && button.colors === colors) return;
    Object.assign(button, {place, colors});
    button.style.backgroundColor = colors.css[place] ?? '';
    button.style.color = colors.ink[place] ?? '';
  }

  name(t) {
    const {shade} = state;
    const value = this.values?.[t] ?? null;
    const locked = state.locked.includes(t);
    const button = this.buttons[t];
    const {says} = button;
    if (says && says.value === value && says.shade === shade && says.locked === locked) return;
    button.says = {value, shade, locked};
    button.dataset.shown = value === null ? '' : String(value);
    button.setAttribute('aria-label', `${t}: ${spoken(this.tokens[t])}, ${shade} ${number(value)}`);
    if (says?.locked === locked) return;
    button.classList.toggle('locked', locked);
    button.setAttribute('aria-pressed', String(locked));
  }

  watch() {
    const seen = (entries) => {
      for (const {target, isIntersecting} of entries) {
        const t = Number(target.dataset.token);
        if (isIntersecting) {
          this.inSight.add(t);
          this.dress(t, table());
        } else this.inSight.delete(t);
      }
    };
    const observer = new IntersectionObserver(seen, {root: this.element, rootMargin: '34px'}); // a row more
    for (const button of this.buttons) observer.observe(button);
  }

  listen() {
    const over = (event) => {
      const button = event.target.closest('button');
      if (!button) return;
      const t = Number(button.dataset.token);
      setHover(t);
      const box = button.getBoundingClientRect();
      showTip(box.left, box.bottom - 12, this.hints(t));
    };
    this.element.addEventListener('mouseover', over);
    this.element.addEventListener('focusin', (event) => {
      for (const button of this.buttons) button.tabIndex = button === event.target ? 0 : -1;
      over(event);
    });
    for (const leaving of ['mouseleave', 'focusout']) {
      this.element.addEventListener(leaving, () => {
        setHover(-1);
        hideTip();
      });
    }
    this.element.addEventListener('click', (event) => {
      const button = event.target.closest('button');
      if (!button) return;
      lock(Number(button.dataset.token), event.shiftKey);
      over(event); // the tip tells where the locked tokens look
    });
  }

  mark(t) {
    this.marked?.classList.remove('hover');
    this.marked = this.buttons[t];
    this.marked?.classList.add('hover');
  }
}
