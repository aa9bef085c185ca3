import { existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeReports } from '../../evals/report.ts';
import { spentUsd } from '../../schema/eval-report.ts';
import type { EvalRun } from '../../schema/eval-run.ts';
import { Usage } from '../usage.ts';
import { failureText } from './failure-text.ts';
import { junitOf } from './junit.ts';
import { markdownOf } from './markdown.ts';
import { type Difference, dollars, nameOf, type Outcome, outcomeOf } from './outcome.ts';
import type { Compared, Watcher } from './service.ts';

/** What whoever called is told: while it goes on, at its end, in files, and by the exit code. */

export type Told = {
  minPassRate?: number;
  maxCostUsd?: number;
  allow?: Difference[];
  report?: string;
  junit?: string;
  markdown?: string;
  quiet?: true;
};

/** Before anything is played: what came of it must have a place to go. */
export const checkFiles = ({ report, junit, markdown }: Told): void => {
  for (const [flag, file] of Object.entries({ report, junit, markdown })) {
    if (file !== undefined && file !== '-' && !existsSync(dirname(file)))
      throw new Usage(`--${flag}: there is no folder ${dirname(file)}`);
  }
};

export const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const SILENT: Watcher = { item() {}, progress() {} };

const TELLING: Watcher = {
  item(item, { finished, planned }) {
    const { passed, failures } = item.report;
    const cost_usd = spentUsd(item.report);
    const cost = cost_usd === undefined ? '' : ` ${dollars(cost_usd)}`;
    tell(`${finished}/${planned} ${passed ? 'ok  ' : 'FAIL'} ${nameOf(item)}${cost}`);
    for (const failure of failures) tell(`      ${failureText(failure)}`);
  },
  progress({ finished, planned, failed }) {
    tell(`${finished}/${planned} played, ${failed} failed`);
  },
};

export const finish = ({ run, diff }: Compared, options: Told): void => {
  const outcome = outcomeOf(run, diff, {
    minPassRate: options.minPassRate,
    maxCostUsd: options.maxCostUsd,
    allowed: options.allow ?? [],
  });
  write(options.report, () => writeReports(run.items.map(({ report }) => report)));
  write(options.junit, () => junitOf(run, outcome));
  write(options.markdown, () => markdownOf(run, diff, outcome));
  if (!options.quiet) sayVerdict(run, outcome);
  process.exitCode = outcome.reasons.length === 0 ? 0 : 1;
};

const sayVerdict = (run: EvalRun, { totals, blocking, reasons }: Outcome): void => {
  const cost = totals.cost_usd === undefined ? '' : `, ${dollars(totals.cost_usd)}`;
  tell(`${totals.passed} of ${totals.items} passed, ${totals.tokens} tokens${cost}: eval run ${run.id}`);
  for (const entry of blocking) tell(`${entry.kind}: ${nameOf(entry)}`);
  tell(reasons.length === 0 ? 'good enough' : `not good enough: ${reasons.join('; ')}`);
};

const write = (file: string | undefined, text: () => string): void => {
  if (file === undefined) return;
  if (file === '-') process.stdout.write(text());
  else writeFileSync(file, text());
};

export const watcherOf = ({ quiet }: Told): Watcher => (quiet ? SILENT : TELLING);
