// Maps straight into the pixels of the screen, for those that follow a hand: no picture of a million values in between. Where
// several values fall on one pixel the largest is shown, so that a narrow line does not vanish.
import {step, table} from './colors.js';
import {largest, scaleOf} from './scale.js';

const kept = new WeakMap(); // by values: Map from what was asked for

function remembered(map, key, make) {
  let made = kept.get(map.values);
  if (!made) kept.set(map.values, (made = new Map()));
  if (!made.has(key)) {
    if (made.size > 6) made.clear();
    made.set(key, make());
  }
  return made.get(key);
}

// look: {kind, withoutFirst}, as of scale.js.
export function scaleFor(map, {kind, withoutFirst}) {
  return scaleOf(kind, remembered(map, `largest ${withoutFirst}`, () => largest(map.values, map.columns, withoutFirst)));
}

// Where each of so many pixels begins among so many values, and behind the last where they end.
const edges = (count, pixels) => Int32Array.from({length: pixels + 1}, (_, i) => Math.floor((i * count) / pixels));

// [high, wide] values; what is not to be drawn is not a number: what a causal map cannot see.
function pooled(map, wide, high, withoutFirst) {
  const {values, rows, columns, causal} = map;
  const pool = new Float32Array(wide * high).fill(NaN);
  const left = edges(columns, wide);
  const top = edges(rows, high);
  for (let y = 0; y < high; ++y) {
    const rowEnd = Math.max(top[y] + 1, top[y + 1]);
    for (let row = top[y]; row < rowEnd; ++row) {
      const end = causal ? Math.min(columns, row + 1) : columns;
      for (let x = 0, i = y * wide; x < wide && left[x] < end; ++x, ++i) {
        const columnEnd = Math.min(end, Math.max(left[x] + 1, left[x + 1]));
        let most = pool[i] >= 0 || pool[i] < 0 ? pool[i] : -Infinity;
        for (let column = left[x]; column < columnEnd; ++column) {
          const value = withoutFirst && column === 0 ? 0 : values[row * columns + column];
          if (value > most) most = value;
        }
        pool[i] = most;
      }
    }
  }
  return pool;
}

// Places on the logarithmic scale by the upper half of a positive f32: sign, exponent and seven bits of the fraction. What the other bits
// would add is a third of a shade, and a logarithm for each of a million pixels takes longer than all else.
const logPlaces = new Map(); // by the highest value

function logPlacesOf(scale) {
  if (!logPlaces.has(scale.high)) {
    if (logPlaces.size > 40) logPlaces.clear();
    const middles = new Float32Array(Uint32Array.from({length: 1 << 15}, (_, upper) => (upper << 16) | 0x8000).buffer);
    logPlaces.set(scale.high, Uint8Array.from(middles, (value) => step(scale.share(value))));
  }
  return logPlaces.get(scale.high);
}

const kNotANumber = 0x7fc0; // its upper half

function paintLog(pixels, width, pool, {x, y, wide, high}, scale) {
  const {packed} = table();
  const places = logPlacesOf(scale);
  const bits = new Int32Array(pool.buffer);
  for (let row = 0, i = 0; row < high; ++row) {
    for (let column = 0, to = (y + row) * width + x; column < wide; ++column, ++i, ++to) {
      const upper = bits[i] >> 16;
      if (upper !== kNotANumber) pixels[to] = packed[upper > 0 ? places[upper] : 0];
    }
  }
}

// Draws a map into a rectangle of an image of the screen's pixels.
export function drawMap(image, map, {x, y, wide, high}, look) {
  const pool = remembered(map, `${wide} ${high} ${look.withoutFirst}`, () => pooled(map, wide, high, look.withoutFirst));
  const scale = scaleFor(map, look);
  const {packed} = table();
  const pixels = new Uint32Array(image.data.buffer);
  if (look.kind === 'log') return paintLog(pixels, image.width, pool, {x, y, wide, high}, scale);
  const factor = 255 / scale.high;
  for (let row = 0, i = 0; row < high; ++row) {
    for (let column = 0, to = (y + row) * image.width + x; column < wide; ++column, ++i, ++to) {
      const value = pool[i];
      if (value !== value) continue;
      const place = value * factor + 0.5;
      pixels[to] = packed[place > 255 ? 255 : place > 0 ? place | 0 : 0];
    }
  }
}
