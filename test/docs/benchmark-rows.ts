import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../run/places.ts';
import { tableOf } from './fields.ts';

/** The rows of the page of benchmarks that the README shows: what is measured, and its baseline. */
const SHOWN: readonly (readonly [what: string, baseline: string])[] = [
  ['a run through a provider, all at once', 'ai 6 on node:http'],
  ['a run through a provider, one chunk a tick', 'ai 6 on node:http'],
  ['a run at 50 tokens/s, 150 clients', 'ai 6 on node:http'],
  ['a run at 50 tokens/s, 150 clients', 'the bare proxy'],
];

/** The table of the README: rows of the page of benchmarks without their aim. */
export const benchmarkRowsMarkdown = (): string => {
  const lines = readFileSync(join(ROOT, 'src/docs/benchmarks.md'), 'utf8').split('\n');
  const rows = SHOWN.map(([what, baseline]) => {
    const line = lines.find((each) => each.startsWith(`| ${what} |`) && each.includes(`, ${baseline} |`));
    if (line === undefined) throw new Error(`the page of benchmarks has no row '${what}' of '${baseline}'`);
    return line.slice('| '.length, -' |'.length).split(' | ').slice(0, -1);
  });
  return tableOf(['What', 'Troupe', 'Baseline', 'Ratio'], rows);
};
