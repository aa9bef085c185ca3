import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../run/places.ts';
import { citingFiles, documents } from './pages.ts';

/** Files of the repository that comments and documents name in backticks. */

const COMMENT = /\/\*[\s\S]*?\*\/|(?:^|\s)\/\/[^\n]*/g;
const IN_COMMENT = /`((?:[\w.-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:tsx?|mjs))`/g;
const IN_DOCUMENT = /`((?:src|machines|test|bench|\.build)\/[\w./-]+\.(?:tsx?|mjs))`/g;

const known = new Set(citingFiles());

const namesIn = (text: string, pattern: RegExp): string[] =>
  Array.from(text.matchAll(pattern), ([, name = '']) => name);

/** True if a file of the repository has this path, or a path that ends with it. */
const isKnown = (name: string): boolean =>
  known.has(name) || [...known].some((path) => path.endsWith(`/${name}`));

t.test('names only existing files in comments', async (t) => {
  const named = [...known].flatMap((file) =>
    (readFileSync(join(ROOT, file), 'utf8').match(COMMENT) ?? [])
      .flatMap((comment) => namesIn(comment, IN_COMMENT))
      .map((name) => ({ file, name })),
  );
  t.ok(named.length > 20);
  t.strictSame(
    named.filter(({ name }) => !isKnown(name)),
    [],
  );
});

t.test('names only existing files of the repository in documents', async (t) => {
  const named = documents().flatMap(({ file, source }) =>
    namesIn(source, IN_DOCUMENT).map((name) => ({ file, name })),
  );
  t.ok(named.length > 5);
  t.strictSame(
    named.filter(({ name }) => !isKnown(name)),
    [],
  );
});
