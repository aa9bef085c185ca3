import { readFileSync, writeFileSync } from 'node:fs';
import { settingsMarkdown } from '../../src/settings.ts';
import { metricsMarkdown } from './metrics-table.ts';

/** Writes the tables of the README that the code has: of settings and of metrics. */
const tables = { settings: settingsMarkdown(), metrics: metricsMarkdown() };

const file = new URL('../../README.md', import.meta.url);
let readme = readFileSync(file, 'utf8');
for (const [name, table] of Object.entries(tables)) {
  const marked = new RegExp(`<!-- ${name} -->\\n[\\s\\S]*?<!-- /${name} -->`);
  readme = readme.replace(marked, () => `<!-- ${name} -->\n${table}\n<!-- /${name} -->`);
}
writeFileSync(file, readme);
