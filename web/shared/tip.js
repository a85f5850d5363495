// The one tooltip: exact values of what the pointer or the focus is on.
import {find} from './dom.js';

// lines: [bold, rest...]; placed beside the point, inside the window.
export function showTip(x, y, lines) {
  const tip = find('tip');
  const [name, ...rest] = lines;
  const bold = document.createElement('b');
  bold.textContent = name;
  tip.replaceChildren(bold, rest.length ? '\n' + rest.join('\n') : '');
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(8, y - box.height - 12) : y + 18}px`;
}

export function hideTip() {
  find('tip').hidden = true;
}
