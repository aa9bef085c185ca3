import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../run/places.ts';

/** The table of a document between the two comments with its name. */
const marked = (name: string): RegExp =>
  new RegExp(`(?<=<!-- ${name} -->\\n)[\\s\\S]*?(?=\\n<!-- /${name} -->)`);

/** The table with this name in a document. Undefined if the document does not contain its comments. */
export const readTable = (name: string, path: string): string | undefined =>
  marked(name).exec(readFileSync(join(ROOT, path), 'utf8'))?.[0];

/** The names of all tables of a document. */
export const namesOfTables = (path: string): string[] =>
  Array.from(
    readFileSync(join(ROOT, path), 'utf8').matchAll(/<!-- \/([\w-]+) -->/g),
    ([, name = '']) => name,
  );

/**
 * Replaces the table with this name in a document.
 *
 * @throws Error if the document does not contain its comments
 */
export const replaceTable = (name: string, table: string, path: string): void => {
  if (readTable(name, path) === undefined)
    throw new Error(`${path} has no <!-- ${name} --> and <!-- /${name} -->`);
  const document = join(ROOT, path);
  writeFileSync(
    document,
    readFileSync(document, 'utf8').replace(marked(name), () => table),
  );
};
