import { readFileSync } from 'node:fs';
import { Command, type CommanderError, InvalidArgumentError, Option } from 'commander';
import { createDiff } from '../evals/diff.ts';
import { readReports } from '../evals/report.ts';
import type { EvalReport } from '../schema/eval-report.ts';
import type { EvalItem } from '../schema/eval-run.ts';
import { addressed, type Connection } from './admin-client.ts';
import { withService } from './eval/alone.ts';
import { checkFiles, createWatcher, finish, type OutputOptions, printLine } from './eval/ending.ts';
import { readFixtures } from './eval/folder.ts';
import { DIFFERENCES } from './eval/outcome.ts';
import { type Compared, connectEvals, type EvalService } from './eval/service.ts';
import { guarded, Usage } from './usage.ts';

/**
 * `troupe eval`: runs test cases and compares the results with thresholds, for pipelines. Exit codes
 * (evals-and-traces.md 8.2): 0 thresholds met; 1 not met; 2 if the command cannot start or the service is unreachable.
 */

type Options = Connection &
  OutputOptions & {
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

const VARIANTS = `
Without --model the scripts of the dataset are replayed and no model is called. A variant is ID=FILE, where the file has
the overrides of the agent as JSON.
`;

const ENOUGH = `
Without --baseline every item must pass, or the share in --min-pass-rate. With it an item may fail that failed
there, and these are failures: regression, missing_from_new, drift, newly_added (and failed). Texts of models drift
by themselves: --allow drift. A file name of "-" is standard output.

Exit codes: 0 good enough, 1 not good enough, 2 wrong usage or no answer.`;

export const evalCommand = new Command('eval')
  .description('run evals against a running service in a pipeline')
  .exitOverride((error: CommanderError) => process.exit(error.exitCode === 0 ? 0 : 2));

const withReports = (command: Command): Command =>
  command
    .option('--min-pass-rate <share>', 'share of items that must pass, 0 to 1', share)
    .addOption(new Option('--allow <kinds...>', 'accepted differences').choices(DIFFERENCES))
    .option('--report <file>', 'write item reports, one JSON object per line')
    .option('--junit <file>', 'write item reports as JUnit XML')
    .option('--markdown <file>', 'write a summary as Markdown')
    .option('--quiet', 'do not print progress');

withReports(addressed(evalCommand.command('run')))
  .description('run a dataset and check the results against thresholds')
  .argument('<dataset>', 'id of the dataset')
  .option('--model <ids...>', 'models under test, each a column of the matrix')
  .option('--agent <ids...>', 'agents under test')
  .option('--variant <id=file...>', 'overrides of the agent, each a column of the matrix')
  .option('--samples <n>', 'samples per cell', whole)
  .option('--judge <model>', 'model that judges responses')
  .option('--rubric <text>', 'grading rubric for the judge, or @FILE')
  .addOption(new Option('--tools <mode>', 'handling of tool calls').choices(['none', 'recorded', 'execute']))
  .option('--max-walltime-secs <n>', 'maximum duration of a cell', whole)
  .option('--max-total-tokens <n>', 'maximum tokens of a cell', whole)
  .option('--baseline <run>', 'earlier run to compare with; `latest` is the newest run of the dataset')
  .addHelpText('after', `${VARIANTS}${ENOUGH}`)
  .option('--max-cost-usd <usd>', 'maximum total cost', amount)
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

withReports(evalCommand.command('replay'))
  .description('replay the fixtures of a directory without a service or a model')
  .argument('<folder>', 'directory with one fixture per file, *.json')
  .option('--baseline <file>', 'earlier report to compare with')
  .addHelpText('after', ENOUGH)
  .action(
    guarded(
      async (folder: string, options: OutputOptions & { baseline?: string }) => {
        const fixtures = readFixtures(folder);
        const before = options.baseline === undefined ? undefined : reportsIn(options.baseline);
        checkFiles(options);
        const { run } = await withService(fixtures, (service, dataset_id) =>
          play(service, { dataset_id, baseline_run_id: undefined }, options),
        );
        finish({ run, diff: before && createDiff(run.items, before) }, options);
      },
      { refused: 2 },
    ),
  );

/** Items of the reports in a file. @throws Usage */
const reportsIn = (file: string): EvalItem[] => {
  const { reports, issues } = readReports(fileText('--baseline', file));
  if (issues.length > 0) {
    const lines = issues.map(({ line, message }) => `${file}:${line}: ${message}`);
    throw new Usage(lines.join('\n'));
  }
  // The comparison reads only the kinds of failures.
  return reports.map((report) => ({ fixture_id: report.fixture_id, report: report as EvalReport }));
};

/** @throws Usage */
const requestOf = (
  dataset_id: string,
  options: Options,
): { dataset_id: string; [field: string]: unknown } => {
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
    throw new Usage(`${flag}: file ${file} cannot be read`);
  }
};

/** An interrupted command cancels its run, because running it costs money. */
const play = async (
  service: EvalService,
  request: { dataset_id: string; baseline_run_id: string | undefined },
  output: OutputOptions,
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
    if (!output.quiet) printLine(`eval run ${id}`);
    await service.follow(id, createWatcher(output));
    return await compareAtEnd(service, id, request.baseline_run_id);
  } finally {
    process.off('SIGINT', cancel).off('SIGTERM', cancel);
  }
};

/** A cancelled run has too few items to be compared. */
const compareAtEnd = async (
  service: EvalService,
  id: string,
  baseline: string | undefined,
): Promise<Compared> => {
  const alone = await service.get(id, undefined);
  return alone.run.status === undefined && baseline !== undefined ? service.get(id, baseline) : alone;
};
