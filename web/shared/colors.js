// Colours for values. Lightness changes evenly along every map, so that it reads without colour, too.

// Anchors in the polar form of Oklab: lightness, strength, hue in degrees.
const maps = {
  light: [[0.985, 0.012, 250], [0.82, 0.08, 232], [0.61, 0.125, 250], [0.34, 0.125, 275]],
  dark: [[0.245, 0.018, 262], [0.44, 0.1, 266], [0.68, 0.115, 228], [0.94, 0.09, 108]],
};

const palettes = {
  light: {paper: '#ffffff', soft: '#f3f5f9', ink: '#1a2030', faint: '#566074', line: '#d5dbe6', accent: '#2457c5', second: '#a3470a', grid: '#e7ebf2'},
  dark: {paper: '#12151c', soft: '#1b202a', ink: '#e6e9f0', faint: '#a0a9ba', line: '#353d4c', accent: '#8fb4ff', second: '#ffb27a', grid: '#262c38'},
};

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : prefersDark.matches;
}

// How the highest values look, in words.
export const strong = () => (isDark() ? 'Bright' : 'Dark');

export const palette = () => palettes[isDark() ? 'dark' : 'light'];

const encode = (light) => {
  const value = Math.min(1, Math.max(0, light));
  return Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));
};

// Oklab's definition (B. Ottosson, 2020): cubes of cone responses, then to the primaries of sRGB.
function rgb([light, strength, hue]) {
  const angle = (hue * Math.PI) / 180;
  const a = strength * Math.cos(angle);
  const b = strength * Math.sin(angle);
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encode(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)];
}

function along(anchors, share) {
  const place = share * (anchors.length - 1);
  const first = Math.min(Math.floor(place), anchors.length - 2);
  const part = place - first;
  return anchors[first].map((value, i) => value + (anchors[first + 1][i] - value) * part);
}

const tables = {};

// 256 colours, as one number per pixel (little-endian RGBA) and as CSS.
export function table() {
  const name = isDark() ? 'dark' : 'light';
  if (!tables[name]) {
    const colors = Array.from({length: 256}, (_, i) => rgb(along(maps[name], i / 255)));
    tables[name] = {
      name,
      packed: Uint32Array.from(colors, ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r),
      css: colors.map(([r, g, b]) => `rgb(${r} ${g} ${b})`),
      hex: colors.map((parts) => '#' + parts.map((part) => part.toString(16).padStart(2, '0')).join('')),
      // Where black and white stand out alike, both have a contrast of 4.58: pure ones are always enough for AA.
      ink: colors.map((parts) => (luminance(parts) > 0.179 ? '#000000' : '#ffffff')),
    };
  }
  return tables[name];
}

function luminance(parts) {
  const [r, g, b] = parts.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Where in the table a share from 0 to 1 stands. Not a number: the lowest.
export const step = (share) => (share > 0 ? Math.min(255, (share * 255 + 0.5) | 0) : 0);
