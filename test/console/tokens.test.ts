import { readFileSync } from 'node:fs';
import t from 'tap';

/** Contrast of the design tokens according to WCAG 2.1, and difference of the marks for color-blind people. */

const css = readFileSync(new URL('../../src/console/design/tokens.css', import.meta.url), 'utf8');

const tokensOf = (theme: string): Map<string, string> => {
  const [, block = ''] = new RegExp(`data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(css) ?? [];
  return new Map(
    Array.from(block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g), ([, name = '', value = '']) => [name, value]),
  );
};

type Vector = [number, number, number];

const linear = (color: string): Vector => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return [r, g, b];
};

const luminance = (color: string): number => {
  const [r, g, b] = linear(color);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

const product = (matrix: readonly Vector[], [x, y, z]: Vector): Vector => {
  const [r = 0, g = 0, b = 0] = matrix.map((row) =>
    Math.min(1, Math.max(0, row[0] * x + row[1] * y + row[2] * z)),
  );
  return [r, g, b];
};

/** How color vision sees linear RGB: complete, and without one kind of cone (Machado et al. 2009). */
const VISIONS: Readonly<Record<string, readonly Vector[]>> = {
  complete: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** CIE L*a*b*. */
const lab = ([r, g, b]: Vector): Vector => {
  const curve = (share: number): number => (share > 0.008856 ? Math.cbrt(share) : 7.787 * share + 16 / 116);
  const x = curve((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047);
  const y = curve(0.2126 * r + 0.7152 * g + 0.0722 * b);
  const z = curve((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
};

const difference = (a: Vector, b: Vector): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

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

  t.test(
    `${theme}: marks differ for every kind of color vision, and from the states of charts`,
    async (t) => {
      const tokens = tokensOf(theme);
      const marks = Array.from(tokens).filter(([name]) => name.startsWith('mark-'));
      t.equal(marks.length, 6);
      for (const [name, color] of marks) {
        for (const ground of ['surface', 'surface-2', 'info-tint', 'warn-tint', 'success-tint', 'error-tint'])
          t.ok(contrast(color, tokens.get(ground) ?? '') >= 3, `${name} on ${ground}`);
        for (const [other, another] of marks.filter(([each]) => each > name)) {
          for (const [vision, matrix] of Object.entries(VISIONS)) {
            const [one, two] = [color, another].map((each) => lab(product(matrix, linear(each))));
            t.ok(one && two && difference(one, two) >= 30, `${name} and ${other}: ${vision}`);
          }
        }
      }
    },
  );
}
