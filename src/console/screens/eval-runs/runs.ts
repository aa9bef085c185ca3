import { fields, flag, list, number, object, optional, text, withDefault } from '../../data/guard.ts';
import { type Loaded, type Resource, useWhile } from '../../data/queries.ts';
import { readPages } from '../../data/read-pages.ts';
import { pathOf } from '../../data/request.ts';
import { Item } from '../../eval-results/report.ts';
import type { Say } from '../../i18n/locale.ts';
import type texts from './texts.json';

const Facts = {
  ...fields(text, 'id', 'dataset_id', 'execution_mode'),
  dataset_revision: withDefault(number, 0),
  started_at_secs: number,
  ended_at_secs: optional(number),
  status: optional(text),
  planned_item_count: optional(number),
};

const Summary = object({
  ...Facts,
  ...fields(number, 'item_count', 'passed_count', 'failed_count'),
  models: withDefault(list(text), []),
});
export type RunSummary = ReturnType<typeof Summary>;

const Page = object({ runs: list(Summary), next_cursor: optional(text) });

export const OFF = { statuses: [404] };

/** Maximum page size of the service, and a limit for the number of pages. */
const PAGE = 200;
const MOST_PAGES = 25;

const readAll = async (dataset: string | undefined, signal: AbortSignal): Promise<RunSummary[]> => {
  const found: RunSummary[] = [];
  const request = { path: '/v1/eval/runs', query: { dataset_id: dataset, limit: PAGE }, signal };
  for await (const { runs } of readPages(request, Page, MOST_PAGES)) found.push(...runs);
  return found;
};

/** Polling intervals of a running eval run, and of a list that contains one. */
const LOOK_MS = 2000;
const LIST_MS = 5000;

export const isRunning = ({ status }: { status: string | undefined }): boolean => status === 'running';

const runsOf = (dataset?: string): Resource<RunSummary[]> => ({
  path: '/v1/eval/runs',
  query: { dataset_id: dataset, all: true },
  guard: list(Summary),
  read: (signal) => readAll(dataset, signal),
  off: OFF,
});

/** A minimal read that succeeds if the feature is enabled. */
export const ANY_RUN: Resource<unknown> = {
  path: '/v1/eval/runs',
  query: { limit: 1 },
  guard: Page,
  off: OFF,
};

/** Eval runs of a dataset or of all datasets, newest first. */
export const useEvalRuns = (dataset?: string): Loaded<RunSummary[]> =>
  useWhile(runsOf(dataset), (runs) => runs.some(isRunning), LIST_MS);

const Aggregate = object({
  fixture_id: text,
  cell: optional(object({ model_id: text })),
  samples: number,
  pass_rate: number,
  pass_at_k: flag,
  pass_pow_k: flag,
});
export type Aggregate = ReturnType<typeof Aggregate>;

const Answer = object({
  run: object({ ...Facts, items: list(Item) }),
  aggregates: withDefault(list(Aggregate), []),
});
export type RunAnswer = ReturnType<typeof Answer>;

export const runOf = (id: string): Resource<RunAnswer> => ({
  path: pathOf`/v1/eval/runs/${id}`,
  query: { aggregate: 'samples' },
  guard: Answer,
  off: OFF,
});

export const useEvalRun = (id: string): Loaded<RunAnswer> =>
  useWhile(runOf(id), ({ run }) => isRunning(run), LOOK_MS);

type Compared = Pick<RunSummary, 'id' | 'dataset_id' | 'dataset_revision' | 'execution_mode'>;

export const obstacleOf = (one: Compared, other: Compared): 'dataset' | 'revision' | 'mode' | undefined => {
  if (one.dataset_id !== other.dataset_id) return 'dataset';
  if (one.dataset_revision !== other.dataset_revision) return 'revision';
  return one.execution_mode === other.execution_mode ? undefined : 'mode';
};

type Named = Pick<RunSummary, 'started_at_secs'> & { models: readonly string[] };

/** `gpt-large · 23:35` */
export const nameOf = (
  { models, started_at_secs }: Named,
  t: Say<keyof typeof texts>,
  moment: (at: number) => string,
): string => `${models.join(', ') || t('mode.scripted')} · ${moment(started_at_secs * 1000)}`;

export const durationOf = ({ started_at_secs: from, ended_at_secs: to }: RunSummary): number | undefined =>
  to === undefined ? undefined : (to - from) * 1000;

/** Pass rates of a dataset, from the oldest run to the newest. */
export const passRates = (runs: readonly RunSummary[], dataset: string): number[] =>
  runs
    .filter((run) => run.dataset_id === dataset && run.item_count > 0)
    .map(({ passed_count, item_count }) => passed_count / item_count)
    .reverse();
