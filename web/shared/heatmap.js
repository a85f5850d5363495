// Maps of values as pixels: one value, one pixel of an off-screen canvas, which the screen stretches. A picture is made once
// for its values, scale and theme, then only copied.
import {table, step} from './colors.js';
import {largest, scaleOf} from './scale.js';
import {measured} from './dom.js';

// map: {values: Float32Array [rows, columns], rows, columns, causal}. kind: of scale.js; withoutFirst: the first column is
// left pale and does not count for the maximum.
const pictures = new WeakMap();

// Upper triangles of causal maps are never values, so they are left transparent.
export function pictureOf(map, kind, withoutFirst) {
  let made = pictures.get(map.values);
  if (!made) pictures.set(map.values, (made = new Map()));
  const colors = table();
  const key = `${kind}|${withoutFirst}|${colors.name}`;
  if (!made.has(key)) {
    if (made.size > 5) made.clear();
    made.set(key, measured('picture', () => draw(map, kind, withoutFirst, colors)));
  }
  return made.get(key);
}

function draw(map, kind, withoutFirst, colors) {
  const {values, rows, columns} = map;
  const most = largest(values, columns, withoutFirst);
  const scale = scaleOf(kind, most);
  const canvas = document.createElement('canvas');
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext('2d');
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const {packed} = colors;
  const linear = kind !== 'log';
  const factor = 255 / scale.high;
  for (let row = 0, i = 0; row < rows; ++row) {
    const end = map.causal ? Math.min(columns, row + 1) : columns;
    i = row * columns;
    for (let column = 0; column < end; ++column, ++i) {
      if (withoutFirst && column === 0) {
        pixels[i] = packed[0];
        continue;
      }
      // The common scales stay free of calls: a map of 1,024 tokens has a million values.
      const place = linear ? values[i] * factor + 0.5 : step(scale.share(values[i]));
      pixels[i] = packed[place > 255 ? 255 : place > 0 ? place | 0 : 0];
    }
  }
  context.putImageData(image, 0, 0);
  return {canvas, scale, most};
}

// A canvas of the page at the screen's resolution, empty: {context, wide, high}, in pixels of the screen.
export function sized(canvas, width, height) {
  const wide = Math.max(1, Math.round(width * pixelRatio()));
  const high = Math.max(1, Math.round(height * pixelRatio()));
  const context = canvas.getContext('2d');
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  } else context.clearRect(0, 0, wide, high);
  return {context, wide, high};
}

export const pixelRatio = () => Math.min(3, devicePixelRatio || 1);

// Copies a picture into a canvas. One with more values than the canvas has pixels is smoothed, so that a narrow line does not
// vanish between two of them.
export function show(canvas, picture, width, height) {
  const {context, wide, high} = sized(canvas, width, height);
  context.imageSmoothingEnabled = picture.canvas.width > wide || picture.canvas.height > high;
  context.drawImage(picture.canvas, 0, 0, wide, high);
}
