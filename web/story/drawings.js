// The story's own drawings, as shapes in the colours of the page.

const kSpace = 'http://www.w3.org/2000/svg';

// [element, attributes, text]
const drawings = {
  attention: {label: 'A token sends lines of different width back to earlier tokens', box: '0 0 480 130', shapes: [
    ['path', {d: 'M420 88C380 20 160 10 100 78', class: 'accent', 'stroke-width': 7}], ['path', {d: 'M420 88C390 40 290 30 220 80', class: 'accent', 'stroke-width': 3}],
    ['path', {d: 'M420 88C400 60 360 58 330 84', class: 'accent', 'stroke-width': 1.2}],
    ...[['the', 40], ['cat', 100], ['that', 160], ['sat', 220], ['on', 275], ['mats', 330]].flatMap(([word, x]) => [['circle', {cx: x, cy: 92, r: 6, class: 'dot'}], ['text', {x, y: 120, 'text-anchor': 'middle'}, word]]),
    ['circle', {cx: 420, cy: 92, r: 8, class: 'dot second'}], ['text', {x: 420, y: 120, 'text-anchor': 'middle'}, 'purrs']]},
  spotlight: {label: 'A spotlight that is narrow, wide, or turned to the corner, but never off', box: '0 0 480 150', shapes: [
    ...[[80, 'narrow', 'M80 22L62 110L98 110Z'], [230, 'wide', 'M230 22L150 110L310 110Z'], [400, 'turned to a corner', 'M400 22L330 110L352 110Z']].flatMap(([x, name, beam]) => [
      ['path', {d: beam, class: 'glow'}], ['path', {d: `M${x - 12} 12h24l-5 14h-14z`, class: 'ink', 'stroke-width': 2}], ['text', {x, y: 140, 'text-anchor': 'middle'}, name]]),
    ['path', {d: 'M20 112H460', class: 'ink', 'stroke-width': 1.2}]]},
  paint: {label: 'Two mixers in a row give the same paint as one', box: '0 0 480 130', shapes: [
    ...[[70, 'value map'], [190, 'output map']].flatMap(([x, name]) => [['rect', {x: x - 48, y: 36, width: 96, height: 44, rx: 9, class: 'box'}], ['text', {x, y: 63, 'text-anchor': 'middle'}, name]]),
    ['path', {d: 'M118 58h24M238 58h30M10 58h12', class: 'ink', 'stroke-width': 2}], ['text', {x: 285, y: 65, 'text-anchor': 'middle'}, '='], ['path', {d: 'M300 58h22M438 58h26', class: 'ink', 'stroke-width': 2}],
    ['rect', {x: 322, y: 30, width: 116, height: 56, rx: 9, class: 'box'}], ['text', {x: 380, y: 63, 'text-anchor': 'middle'}, 'one map']]},
  dimmer: {label: 'The output of attention passes a dimmer that the token itself turns', box: '0 0 480 150', shapes: [
    ['rect', {x: 20, y: 36, width: 120, height: 46, rx: 9, class: 'box'}], ['text', {x: 80, y: 64, 'text-anchor': 'middle'}, 'attention'], ['path', {d: 'M140 59h86M274 59h120', class: 'accent', 'stroke-width': 5}],
    ['circle', {cx: 250, cy: 59, r: 24, class: 'box'}], ['path', {d: 'M250 59L262 42', class: 'ink', 'stroke-width': 3}], ['text', {x: 250, y: 22, 'text-anchor': 'middle'}, 'gate, 0 to 1'],
    ['path', {d: 'M250 128V84', class: 'ink', 'stroke-width': 1.6}], ['text', {x: 250, y: 145, 'text-anchor': 'middle'}, 'the token itself'], ['text', {x: 430, y: 64, 'text-anchor': 'middle'}, 'onward']]},
};

export function drawing(name) {
  const {label, box, shapes} = drawings[name];
  const svg = document.createElementNS(kSpace, 'svg');
  const set = (node, attributes) => Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
  set(svg, {viewBox: box, class: 'drawn', role: 'img', 'aria-label': label});
  for (const [kind, attributes, text] of shapes) {
    const node = document.createElementNS(kSpace, kind);
    set(node, attributes);
    if (text) node.textContent = text;
    svg.append(node);
  }
  return svg;
}
