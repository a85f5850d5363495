// What a page adds to its text: tables that sort, buttons that save figures and tables. Without it nothing is lost but
// these. It sees only the page and asks for nothing; the page's policy allows this text and no other.
'use strict';
(() => {
  const all = (selector) => Array.from(document.querySelectorAll(selector));

  const made = (tag, className, text) => {
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = text;
    return element;
  };

  const save = (name, blob) => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  const saveCsv = (table) => {
    const text = document.getElementById('table-' + table).querySelector('template').content.textContent;
    save(table + '.csv', new Blob([text], { type: 'text/csv' }));
  };

  const svgText = (figure) => new XMLSerializer().serializeToString(figure.querySelector('svg'));

  const saveSvg = (figure) =>
    save(figure.dataset.stem + '.svg', new Blob([svgText(figure)], { type: 'image/svg+xml' }));

  // Twice as many pixels as units, like the file beside the page.
  const savePng = (figure) => {
    const { width, height } = figure.querySelector('svg').viewBox.baseVal;
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement('canvas');
      canvas.width = Math.round(2 * width);
      canvas.height = Math.round(2 * height);
      canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(figure.dataset.stem + '.png', blob));
    };
    image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svgText(figure));
  };

  const button = (kind, name, action) => {
    const element = made('button', 'save', kind);
    element.type = 'button';
    element.setAttribute('aria-label', 'Save ' + name + ' as ' + kind);
    element.addEventListener('click', action);
    return element;
  };

  for (const figure of all('figure.drawing')) {
    const { stem, table } = figure.dataset;
    const tools = made('div', 'tools', '');
    tools.append(button('SVG', stem, () => saveSvg(figure)), button('PNG', stem, () => savePng(figure)));
    if (table) tools.append(button('CSV', stem, () => saveCsv(table)));
    figure.append(tools);
  }
  for (const figure of all('figure.table')) {
    const { name } = figure.dataset;
    const tools = made('div', 'tools', '');
    tools.append(button('CSV', name, () => saveCsv(name)));
    figure.append(tools);
  }

  // What is missing comes last in either direction, and equals stay in the order of the page.
  const compared = (a, b, isNumber) => {
    if (isNumber) return Number(a.dataset.value) - Number(b.dataset.value);
    return a.textContent.localeCompare(b.textContent, undefined, { numeric: true });
  };
  const isMissing = (cell, isNumber) => isNumber && cell.dataset.value === undefined;

  const sorted = (rows, column, direction) => {
    const isNumber = rows.some((row) => row.cells[column].dataset.value !== undefined);
    return rows.slice().sort((a, b) => {
      const [left, right] = [a.cells[column], b.cells[column]];
      const [noLeft, noRight] = [isMissing(left, isNumber), isMissing(right, isNumber)];
      if (noLeft || noRight) return noLeft - noRight;
      return direction === 'descending' ? compared(right, left, isNumber) : compared(left, right, isNumber);
    });
  };

  // One click: ascending, two: descending, three: as it was.
  const next = { null: 'ascending', ascending: 'descending', descending: null };

  for (const table of all('figure.table table')) {
    const body = table.tBodies[0];
    const original = Array.from(body.rows);
    const headings = Array.from(table.tHead.rows[0].cells);
    headings.forEach((heading, column) => {
      const sorter = made('button', 'sort', '');
      sorter.type = 'button';
      sorter.append(...heading.childNodes);
      heading.append(sorter);
      sorter.addEventListener('click', () => {
        const direction = next[heading.getAttribute('aria-sort')];
        for (const each of headings) each.removeAttribute('aria-sort');
        if (direction) heading.setAttribute('aria-sort', direction);
        body.append(...(direction ? sorted(original, column, direction) : original));
      });
    });
  }

  // Paper cannot be clicked. What the columns mean is shown there; long tables stay folded.
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = all('details.legend:not([open])');
    for (const each of opened) each.open = true;
  });
  addEventListener('afterprint', () => {
    for (const each of opened) each.open = false;
  });
})();
