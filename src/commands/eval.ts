import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command, type CommanderError, InvalidArgumentError, Option } from 'commander';
import { writeReports } from '../evals/report.ts';
import type { EvalRun } from '../schema/eval-run.ts';
import { addressed, type Connection } from './admin-client.ts';
import { failureText } from './eval/failure-text.ts';
import { junitOf } from './eval/junit.ts';
import { markdownOf } from './eval/markdown.ts';
import { DIFFERENCES, type Difference, dollars, nameOf, type Outcome, outcomeOf } from './eval/outcome.ts';
import { type Compared, connectEvals, type EvalService, type Watcher } from './eval/service.ts';
import { guarded, Usage } from './usage.ts';

/**
 * `troupe eval`: plays a dataset on a running service and says whether it is good enough, for pipelines. Exit codes
 * (evals-and-traces.md 8.2): 0 good enough, 1 not, 2 when the command cannot begin or the service cannot be asked.
 */

type Options = Connection & {
  model?: string[];
  agent?: string[];
  variant?: string[];
  samples?: number;
  judge?: string;
  rubric?: string;
  tools?: string;
  maxWalltimeSecs?: number;
  maxTotalTokens?: number;
  baseline?: string;
  minPassRate?: number;
  maxCostUsd?: number;
  allow?: Difference[];
  report?: string;
  junit?: string;
  markdown?: string;
  quiet?: true;
};

const whole = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError(`'${text}' is not a count.`);
  return Number(text);
};

const share = (text: string): number => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1)) throw new InvalidArgumentError('It is from 0 to 1.');
  return value;
};

const amount = (text: string): number => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('It is a number from 0.');
  return value;
};

const EXPLAINED = `
Without --model the scripts of the dataset are played and no model is asked. A variant is ID=FILE, where the file has
the overrides of the agent as JSON. A file name of "-" is standard output.

Without --baseline every item must pass, or the share that --min-pass-rate says. With it an item may fail that failed
there, and these are too much: regression, missing_from_new, drift, newly_added (and failed). Texts of models drift
by themselves: --allow drift.

Exit codes: 0 good enough, 1 not good enough, 2 wrong usage or no answer.`;

export const evalCommand = new Command('eval')
  .description('play datasets on a running service, for pipelines')
  .exitOverride((error: CommanderError) => process.exit(error.exitCode === 0 ? 0 : 2));

addressed(evalCommand.command('run'))
  .description('play a dataset, and say whether what came of it is good enough')
  .argument('<dataset>', 'id of the dataset')
  .option('--model <ids...>', 'models that are asked, each a column of the matrix')
  .option('--agent <ids...>', 'agents that are played')
  .option('--variant <id=file...>', 'overrides of the agent, each a column of the matrix')
  .option('--samples <n>', 'how often each cell is played', whole)
  .option('--judge <model>', 'the model that judges answers')
  .option('--rubric <text>', 'what the judge goes by; @FILE reads it')
  .addOption(
    new Option('--tools <mode>', 'what becomes of calls of tools').choices(['none', 'recorded', 'execute']),
  )
  .option('--max-walltime-secs <n>', 'of a cell', whole)
  .option('--max-total-tokens <n>', 'of a cell', whole)
  .option('--baseline <run>', 'an earlier run to compare with; `latest` is the newest of the dataset')
  .option('--min-pass-rate <share>', 'share of items that must pass, 0 to 1', share)
  .option('--max-cost-usd <usd>', 'what all of it may cost', amount)
  .addOption(new Option('--allow <kinds...>', 'differences that do no harm').choices(DIFFERENCES))
  .option('--report <file>', 'write the reports of the items, one JSON object a line')
  .option('--junit <file>', 'write them as JUnit XML')
  .option('--markdown <file>', 'write a summary as Markdown')
  .option('--quiet', 'no progress')
  .addHelpText('after', EXPLAINED)
  .action(
    guarded(
      async (dataset: string, options: Options) => {
        const request = requestOf(dataset, options);
        checkFiles(options);
        const service = connectEvals(options);
        const mode = options.model ? 'live' : 'scripted';
        const baseline =
          options.baseline === 'latest' ? await service.latest(dataset, mode) : options.baseline;
        const compared = await play(service, { ...request, baseline_run_id: baseline }, options);
        finish(compared, options);
      },
      { refused: 2 },
    ),
  );

/** @throws Usage */
const requestOf = (dataset_id: string, options: Options): object => {
  const { model, agent = [], variant, samples, judge, rubric, tools } = options;
  if (rubric !== undefined && judge === undefined) throw new Usage('--rubric needs --judge');
  return {
    dataset_id,
    models: model,
    ...(agent.length === 1 ? { agent_id: agent[0] } : agent.length > 1 && { agents: agent }),
    variants: variant?.map(variantOf),
    samples,
    ...(judge !== undefined && { judge: { model_id: judge, rubric: rubric && textOf(rubric) } }),
    tools,
    max_walltime_secs: options.maxWalltimeSecs,
    max_total_tokens: options.maxTotalTokens,
  };
};

/** Before anything is played: what came of it must have a place to go. */
const checkFiles = ({ report, junit, markdown }: Options): void => {
  for (const [flag, file] of Object.entries({ report, junit, markdown })) {
    if (file !== undefined && file !== '-' && !existsSync(dirname(file)))
      throw new Usage(`--${flag}: there is no folder ${dirname(file)}`);
  }
};

const variantOf = (given: string): object => {
  const at = given.indexOf('=');
  if (at < 1) throw new Usage(`--variant: '${given}' is not of the form ID=FILE`);
  const text = fileText('--variant', given.slice(at + 1));
  try {
    return { id: given.slice(0, at), agent_overrides: JSON.parse(text) };
  } catch {
    throw new Usage(`--variant: ${given.slice(at + 1)} is not JSON`);
  }
};

const textOf = (rubric: string): string =>
  rubric.startsWith('@') ? fileText('--rubric', rubric.slice(1)) : rubric;

const fileText = (flag: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new Usage(`${flag}: there is no file ${file} that can be read`);
  }
};

/** A run that nobody waits for any more is cancelled: it costs money. */
const play = async (
  service: EvalService,
  request: { baseline_run_id: string | undefined },
  { quiet }: Options,
): Promise<Compared> => {
  let id: string | undefined;
  let isUnwanted = false;
  const cancel = (): void => {
    isUnwanted = true;
    if (id !== undefined) service.cancel(id).catch(() => {});
  };
  process.once('SIGINT', cancel).once('SIGTERM', cancel);
  try {
    id = await service.start(request);
    if (isUnwanted) cancel();
    if (!quiet) tell(`eval run ${id}`);
    await service.follow(id, quiet ? SILENT : TELLING);
    return await compareAtEnd(service, id, request.baseline_run_id);
  } finally {
    process.off('SIGINT', cancel).off('SIGTERM', cancel);
  }
};

/** One that was cancelled has too few items to be compared. */
const compareAtEnd = async (
  service: EvalService,
  id: string,
  baseline: string | undefined,
): Promise<Compared> => {
  const alone = await service.get(id, undefined);
  return alone.run.status === undefined && baseline !== undefined ? service.get(id, baseline) : alone;
};

const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const SILENT: Watcher = { item() {}, progress() {} };

const TELLING: Watcher = {
  item(item, { finished, planned }) {
    const { passed, failures, cost_usd } = item.report;
    const cost = cost_usd === undefined ? '' : ` ${dollars(cost_usd)}`;
    tell(`${finished}/${planned} ${passed ? 'ok  ' : 'FAIL'} ${nameOf(item)}${cost}`);
    for (const failure of failures) tell(`      ${failureText(failure)}`);
  },
  progress({ finished, planned, failed }) {
    tell(`${finished}/${planned} played, ${failed} failed`);
  },
};

const finish = ({ run, diff }: Compared, options: Options): void => {
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
