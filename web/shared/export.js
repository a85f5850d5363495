// Saves what a view shows as SVG, PNG or CSV. A view says how it is drawn and what its numbers are; this turns them
// into files.
import {element} from './dom.js';
import {palette} from './colors.js';
import {svgText, canvasOf} from './drawing.js';

function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = element('a', {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 30000);
  // Tests and people who listen get to know that a file was made, and how large it is.
  document.dispatchEvent(new CustomEvent('sluice:saved', {detail: {name, type: blob.type, size: blob.size, blob}}));
}

// Text that a spreadsheet might take for a formula gets a quote before it.
function cell(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value);
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

export function csvText(columns, rows) {
  return [columns, ...rows].map((row) => Array.from(row, cell).join(',')).join('\n') + '\n';
}

// Three small buttons. view: {name, drawing(): Drawing, table(): {columns, rows}}, asked only when pressed.
export function exportButtons(view) {
  const file = () => `sluice-${view.name}`;
  const forms = {
    SVG: () => save(`${file()}.svg`, new Blob([svgText(view.drawing(), palette().paper)], {type: 'image/svg+xml'})),
    PNG: () => canvasOf(view.drawing(), palette().paper).toBlob((blob) => blob && save(`${file()}.png`, blob), 'image/png'),
    CSV: () => {
      const {columns, rows} = view.table();
      save(`${file()}.csv`, new Blob([csvText(columns, rows)], {type: 'text/csv'}));
    },
  };
  return element('div', {class: 'exports', role: 'group', 'aria-label': `Save ${view.title ?? view.name}`},
    Object.entries(forms).map(([name, make]) => element('button', {type: 'button', class: 'quiet', 'data-export': `${view.name}.${name.toLowerCase()}`,
      'aria-label': `Save ${view.title ?? view.name} as ${name}`, onclick: make}, name)));
}
