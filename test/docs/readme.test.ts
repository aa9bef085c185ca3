import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../run/places.ts';

/** The README is a front page: it has a limited size, and repeats only statements that a page of the manual contains. */

const MOST_BYTES = 8192;

const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const readme = textOf('README.md');

t.test('has the size of a front page', async (t) => {
  const bytes = Buffer.byteLength(readme);
  t.ok(bytes <= MOST_BYTES, `${bytes} bytes`);
});

t.test('states the supported versions of Node as the page of platforms does', async (t) => {
  const [sentence = ''] =
    /Troupe runs on Node .*? newer\./s.exec(textOf('src/docs/reference/platforms.md')) ?? [];
  t.ok(sentence.length > 0);
  t.ok(readme.replaceAll('\n', ' ').includes(sentence.replaceAll('\n', ' ')), sentence);
});
