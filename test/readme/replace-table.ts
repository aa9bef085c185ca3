import { readFileSync, writeFileSync } from 'node:fs';

const README = new URL('../../README.md', import.meta.url);

/**
 * Replaces what the README has between the two comments with this name.
 *
 * @throws Error when the README does not have them
 */
export const replaceTable = (name: string, table: string): void => {
  const marked = new RegExp(`<!-- ${name} -->\\n[\\s\\S]*?<!-- /${name} -->`);
  const readme = readFileSync(README, 'utf8');
  if (!marked.test(readme)) throw new Error(`README.md has no <!-- ${name} --> and <!-- /${name} -->`);
  writeFileSync(
    README,
    readme.replace(marked, () => `<!-- ${name} -->\n${table}\n<!-- /${name} -->`),
  );
};
