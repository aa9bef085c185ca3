import { readFileSync } from 'node:fs';
import t from 'tap';

/** Contrast of the design tokens according to WCAG 2.1. */

const css = readFileSync(new URL('../../src/console/design/tokens.css', import.meta.url), 'utf8');

const tokensOf = (theme: string): Map<string, string> => {
  const [, block = ''] = new RegExp(`data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(css) ?? [];
  return new Map(
    Array.from(block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g), ([, name = '', value = '']) => [name, value]),
  );
};

const luminance = (color: string): number => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

const contrast = (a: string, b: string): number => {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
};

for (const theme of ['light', 'dark']) {
  t.test(`${theme}: gives texts and states enough contrast on every background`, async (t) => {
    const tokens = tokensOf(theme);
    const on = (text: string, ground: string) => contrast(tokens.get(text) ?? '', tokens.get(ground) ?? '');
    t.equal(tokens.size >= 22, true, 'the tokens are found');
    for (const ground of ['bg', 'surface', 'surface-2']) {
      t.ok(on('text', ground) >= 13, `text on ${ground}: ${on('text', ground)}`);
      for (const text of ['text-2', 'text-3', 'accent', 'success', 'warn', 'error', 'info', 'agent'])
        t.ok(on(text, ground) >= 4.5, `${text} on ${ground}: ${on(text, ground)}`);
    }
    for (const state of ['success', 'warn', 'error', 'info', 'agent', 'accent'])
      t.ok(on(state, `${state}-tint`) >= 4.5, `${state} on its tint: ${on(state, `${state}-tint`)}`);
    for (const ground of ['accent', 'accent-hover']) t.ok(on('on-accent', ground) >= 4.5, `on ${ground}`);
    t.ok(on('line-strong', 'surface') >= 3, 'borders of inputs');
  });
}
