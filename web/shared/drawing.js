// A picture as a list of shapes, which becomes SVG on the page, SVG in a file, or pixels. One description for all three, so
// that what is exported is what was seen.

const kFont = 'system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const kMono = 'ui-monospace, "DejaVu Sans Mono", Menlo, monospace';
const kSpace = 'http://www.w3.org/2000/svg';

export class Drawing {
  constructor(width, height, title) {
    Object.assign(this, {width, height, title, shapes: []});
  }

  rect(x, y, width, height, fill, more = {}) {
    this.shapes.push({kind: 'rect', x, y, width, height, fill, ...more});
  }

  line(x1, y1, x2, y2, stroke, more = {}) {
    this.shapes.push({kind: 'line', x1, y1, x2, y2, stroke, width: 1, ...more});
  }

  text(x, y, text, more = {}) {
    this.shapes.push({kind: 'text', x, y, text: String(text), size: 12, fill: '#000', anchor: 'start', weight: 400, ...more});
  }

  path(points, stroke, more = {}) {
    this.shapes.push({kind: 'path', points, stroke, width: 1.5, ...more});
  }

  // The canvas is stretched without smoothing: one of its pixels is one value.
  pixels(x, y, width, height, canvas) {
    this.shapes.push({kind: 'pixels', x, y, width, height, canvas});
  }

  // Another drawing at a place in this one.
  place(x, y, drawing) {
    this.shapes.push({kind: 'group', x, y, shapes: drawing.shapes});
  }
}

const round = (value) => Math.round(value * 100) / 100;

function attributesOf(shape) {
  switch (shape.kind) {
    case 'rect':
      return {x: round(shape.x), y: round(shape.y), width: round(Math.max(0, shape.width)), height: round(Math.max(0, shape.height)),
        fill: shape.fill, rx: shape.radius, stroke: shape.stroke, 'fill-opacity': shape.opacity};
    case 'line':
      return {x1: round(shape.x1), y1: round(shape.y1), x2: round(shape.x2), y2: round(shape.y2), stroke: shape.stroke,
        'stroke-width': shape.width, 'stroke-dasharray': shape.dash?.join(' ')};
    case 'text':
      return {x: round(shape.x), y: round(shape.y), fill: shape.fill, 'font-size': shape.size, 'font-weight': shape.weight,
        'text-anchor': shape.anchor, 'font-family': shape.mono ? kMono : kFont, 'xml:space': 'preserve'};
    case 'path':
      return {d: shape.points.map(([x, y], i) => `${i ? 'L' : 'M'}${round(x)} ${round(y)}`).join(''), fill: 'none',
        stroke: shape.stroke, 'stroke-width': shape.width, 'stroke-dasharray': shape.dash?.join(' '), 'stroke-linejoin': 'round'};
    case 'pixels':
      return {x: shape.x, y: shape.y, width: shape.width, height: shape.height, preserveAspectRatio: 'none',
        'image-rendering': 'pixelated', href: shape.canvas.toDataURL('image/png')};
    default:
      return {transform: `translate(${round(shape.x)} ${round(shape.y)})`};
  }
}

const names = {pixels: 'image', group: 'g'};

function node(shape, owner) {
  const made = owner.createElementNS(kSpace, names[shape.kind] ?? shape.kind);
  for (const [key, value] of Object.entries(attributesOf(shape))) {
    if (value === undefined) continue;
    if (key === 'xml:space') made.setAttributeNS('http://www.w3.org/XML/1998/namespace', key, value);
    else made.setAttribute(key, value);
  }
  if (shape.kind === 'text') made.textContent = shape.text;
  if (shape.kind === 'group') made.append(...shape.shapes.map((part) => node(part, owner)));
  if (shape.hint) {
    const title = owner.createElementNS(kSpace, 'title');
    title.textContent = shape.hint;
    made.append(title);
  }
  return made;
}

// As an element of the page. Pixels cannot be in it: the page's policy forbids images from data, so views that have
// some show a canvas instead.
export function svgElement(drawing, owner = document) {
  const svg = owner.createElementNS(kSpace, 'svg');
  svg.setAttribute('viewBox', `0 0 ${drawing.width} ${drawing.height}`);
  svg.setAttribute('width', drawing.width);
  svg.setAttribute('height', drawing.height);
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', drawing.title);
  svg.append(...drawing.shapes.map((shape) => node(shape, owner)));
  return svg;
}

export function svgText(drawing, background) {
  // A document that is never shown loads no images.
  const owner = document.implementation.createDocument(kSpace, 'svg');
  const svg = svgElement(drawing, owner);
  const title = owner.createElementNS(kSpace, 'title');
  title.textContent = drawing.title;
  svg.prepend(title, node({kind: 'rect', x: 0, y: 0, width: drawing.width, height: drawing.height, fill: background}, owner));
  return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(svg) + '\n';
}

function paint(context, shape) {
  context.setLineDash(shape.dash ?? []);
  if (shape.kind === 'rect') {
    context.globalAlpha = shape.opacity ?? 1;
    context.fillStyle = shape.fill;
    if (shape.fill !== 'none') context.fillRect(shape.x, shape.y, Math.max(0, shape.width), Math.max(0, shape.height));
    context.globalAlpha = 1;
    context.strokeStyle = shape.stroke ?? '';
    if (shape.stroke) context.strokeRect(shape.x, shape.y, shape.width, shape.height);
  } else if (shape.kind === 'text') {
    context.font = `${shape.weight} ${shape.size}px ${shape.mono ? kMono : kFont}`;
    context.textAlign = {start: 'left', middle: 'center', end: 'right'}[shape.anchor];
    context.fillStyle = shape.fill;
    context.fillText(shape.text, shape.x, shape.y);
  } else if (shape.kind === 'pixels') {
    context.imageSmoothingEnabled = false;
    context.drawImage(shape.canvas, shape.x, shape.y, shape.width, shape.height);
  } else if (shape.kind === 'group') {
    context.save();
    context.translate(shape.x, shape.y);
    for (const part of shape.shapes) paint(context, part);
    context.restore();
  } else {
    const points = shape.kind === 'line' ? [[shape.x1, shape.y1], [shape.x2, shape.y2]] : shape.points;
    context.strokeStyle = shape.stroke;
    context.lineWidth = shape.width;
    context.beginPath();
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
  }
}

export function canvasOf(drawing, background, scale = 2) {
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(drawing.width * scale);
  canvas.height = Math.ceil(drawing.height * scale);
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  paint(context, {kind: 'rect', x: 0, y: 0, width: drawing.width, height: drawing.height, fill: background});
  for (const shape of drawing.shapes) paint(context, shape);
  return canvas;
}
