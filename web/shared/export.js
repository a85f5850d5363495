// Saves what a view shows as SVG, PNG or CSV. A view says how it is drawn and what its numbers are; this turns them
// into files.
import {element, find} from './dom.js';
import {palette} from './colors.js';
import {svgText, canvasOf} from './drawing.js';

export function save(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = element('a', {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 30000);
  // Tests and people who listen get to know that a file was made, and how large it is.
  document.dispatchEvent(new CustomEvent('sluice:saved', {detail: {name, type: blob.type, size: blob.size, blob}}));
}

// The fewest digits that give the same f32 again, for what came as one; other numbers have all of theirs.
function shortest(value) {
  if (Math.fround(value) !== value || Number.isInteger(value)) return String(value);
  for (let digits = 6; digits < 9; ++digits) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === value) return String(text);
  }
  return String(Number(value.toPrecision(9)));
}

// Text that a spreadsheet might take for a formula gets a quote before it.
function cell(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  if (typeof value === 'number') return shortest(value);
  const text = /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value);
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

export function csvText(columns, rows) {
  return [columns, ...rows].map((row) => Array.from(row, cell).join(',')).join('\n') + '\n';
}

function tell(error) {
  const box = find('trouble');
  box.textContent = error.message;
  box.hidden = false;
}

// Three small buttons. view: {name, drawing(): Drawing, table(): {columns, rows}}, or promises of them, asked only when pressed. Where the
// table is of something else than the drawing: tableName and tableTitle, which say of what.
export function exportButtons(view) {
  const file = () => `sluice-${view.name}`;
  const forms = {
    SVG: async () => save(`${file()}.svg`, new Blob([svgText(await view.drawing(), palette().paper)], {type: 'image/svg+xml'})),
    PNG: async () => canvasOf(await view.drawing(), palette().paper).toBlob((blob) => blob && save(`${file()}.png`, blob), 'image/png'),
    CSV: async () => {
      const {columns, rows} = await view.table();
      save(`sluice-${view.tableName ?? view.name}.csv`, new Blob([csvText(columns, rows)], {type: 'text/csv'}));
    },
  };
  const titleOf = (form) => `Save ${(form === 'CSV' ? view.tableTitle : null) ?? view.title ?? view.name} as ${form}`;
  return element('div', {class: 'exports', role: 'group', 'aria-label': `Save ${view.title ?? view.name}`},
    Object.entries(forms).map(([name, make]) => element('button', {type: 'button', class: 'quiet', 'data-export': `${view.name}.${name.toLowerCase()}`,
      'aria-label': titleOf(name), title: titleOf(name), onclick: () => make().catch(tell)}, name)));
}
