import { readFileSync, writeFileSync } from 'node:fs';
import { settingsMarkdown } from '../../src/settings.ts';

/** Writes the settings table of the README from the table of the code. */
const file = new URL('../../README.md', import.meta.url);
const readme = readFileSync(file, 'utf8');
const marked = /<!-- settings -->\n[\s\S]*?<!-- \/settings -->/;
writeFileSync(
  file,
  readme.replace(marked, () => `<!-- settings -->\n${settingsMarkdown()}\n<!-- /settings -->`),
);
