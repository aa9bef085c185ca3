import { existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeReports } from '../../evals/report.ts';
import type { EvalRun } from '../../schema/eval-run.ts';
import { spentUsd } from '../../schema/usd.ts';
import { Usage } from '../usage.ts';
import { failureText } from './failure-text.ts';
import { renderJunit } from './junit.ts';
import { renderMarkdown } from './markdown.ts';
import { assess, type Difference, dollars, nameOf, type Outcome } from './outcome.ts';
import type { Compared, Watcher } from './service.ts';

/** Output for the caller: progress, verdict, files and the exit code. */

export type OutputOptions = {
  minPassRate?: number;
  maxCostUsd?: number;
  allow?: Difference[];
  report?: string;
  junit?: string;
  markdown?: string;
  quiet?: true;
};

/** Checks before the run that the output folders exist. */
export const checkFiles = ({ report, junit, markdown }: OutputOptions): void => {
  for (const [flag, file] of Object.entries({ report, junit, markdown })) {
    if (file !== undefined && file !== '-' && !existsSync(dirname(file)))
      throw new Usage(`--${flag}: directory ${dirname(file)} does not exist`);
  }
};

export const printLine = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const SILENT: Watcher = { item() {}, progress() {} };

const REPORTING: Watcher = {
  item(item, { finished, planned }) {
    const { passed, failures } = item.report;
    const cost_usd = spentUsd(item.report);
    const cost = cost_usd === undefined ? '' : ` ${dollars(cost_usd)}`;
    printLine(`${finished}/${planned} ${passed ? 'ok  ' : 'FAIL'} ${nameOf(item)}${cost}`);
    for (const failure of failures) printLine(`      ${failureText(failure)}`);
  },
  progress({ finished, planned, failed }) {
    printLine(`${finished}/${planned} played, ${failed} failed`);
  },
};

export const finish = ({ run, diff }: Compared, options: OutputOptions): void => {
  const outcome = assess(run, diff, {
    minPassRate: options.minPassRate,
    maxCostUsd: options.maxCostUsd,
    allowed: options.allow ?? [],
  });
  write(options.report, () => writeReports(run.items.map(({ report }) => report)));
  write(options.junit, () => renderJunit(run, outcome));
  write(options.markdown, () => renderMarkdown(run, diff, outcome));
  if (!options.quiet) printVerdict(run, outcome);
  process.exitCode = outcome.reasons.length === 0 ? 0 : 1;
};

const printVerdict = (run: EvalRun, { totals, blocking, reasons }: Outcome): void => {
  const cost = totals.cost_usd === undefined ? '' : `, ${dollars(totals.cost_usd)}`;
  printLine(`${totals.passed} of ${totals.items} passed, ${totals.tokens} tokens${cost}: eval run ${run.id}`);
  for (const entry of blocking) printLine(`${entry.kind}: ${nameOf(entry)}`);
  printLine(reasons.length === 0 ? 'good enough' : `not good enough: ${reasons.join('; ')}`);
};

const write = (file: string | undefined, text: () => string): void => {
  if (file === undefined) return;
  if (file === '-') process.stdout.write(text());
  else writeFileSync(file, text());
};

export const createWatcher = ({ quiet }: OutputOptions): Watcher => (quiet ? SILENT : REPORTING);
