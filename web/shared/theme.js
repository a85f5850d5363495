// Dark or light: as the system says until the reader says otherwise. Loaded before the page is drawn.
const kept = (() => {
  try {
    return localStorage.getItem('sluice-theme');
  } catch {
    return null; // storage can be forbidden; the switch then lasts until the page is left
  }
})();
if (kept === 'dark' || kept === 'light') document.documentElement.dataset.theme = kept;

const dark = matchMedia('(prefers-color-scheme: dark)');

function shown() {
  return document.documentElement.dataset.theme ?? (dark.matches ? 'dark' : 'light');
}

function announce() {
  const button = document.getElementById('theme');
  if (button) button.setAttribute('aria-label', shown() === 'dark' ? 'Switch to light colours' : 'Switch to dark colours');
  document.dispatchEvent(new CustomEvent('sluice:theme'));
}

document.addEventListener('DOMContentLoaded', () => {
  announce();
  document.getElementById('theme')?.addEventListener('click', () => {
    const next = shown() === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem('sluice-theme', next);
    } catch {
      // see above
    }
    announce();
  });
});
dark.addEventListener('change', announce);
