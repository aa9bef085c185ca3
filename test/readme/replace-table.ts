import { readFileSync, writeFileSync } from 'node:fs';

const README = new URL('../../README.md', import.meta.url);

/** Replaces what the README has between the two comments with this name. */
export const replaceTable = (name: string, table: string): void => {
  const marked = new RegExp(`<!-- ${name} -->\\n[\\s\\S]*?<!-- /${name} -->`);
  const readme = readFileSync(README, 'utf8');
  writeFileSync(
    README,
    readme.replace(marked, () => `<!-- ${name} -->\n${table}\n<!-- /${name} -->`),
  );
};
