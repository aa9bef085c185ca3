import { AD_HOC, Fixture } from '../schema/dataset.ts';
import type {
  EvalCell,
  EvalMode,
  EvalRunRequest,
  JudgeSpec,
  OnlineEvalRequest,
  ToolMode,
  Variant,
} from '../schema/eval-run.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import {
  checkAgents,
  checkFields,
  checkJudge,
  checkModel,
  checkOnline,
  checkRevisions,
  checkScore,
  checkSpec,
  connectAll,
  type Directory,
  type EvalLimits,
  refuse,
} from './checks.ts';
import { type Compared, checkComparable } from './diff.ts';
import type { ItemKey } from './keys.ts';

/**
 * Expands a request to units of work (evals-and-traces.md 6.1, 8): one per fixture, cell and sample, in the order of
 * the items. Checks run in the order of the contract, and the first failure is reported.
 *
 * Guarantees: a plan contains everything that a run needs apart from the configuration, so that the run continues
 * unchanged after a restart, even if its dataset has changed.
 */

/** The kind of plan in events. */
export type PlanKind = 'dataset_scripted' | 'dataset_live_matrix' | 'online_live_matrix';

export type EvalPlan = {
  kind: PlanKind;
  dataset_id: string;
  dataset_revision: number;
  mode: EvalMode;
  fixtures: Fixture[];
  /** Columns of the matrix; empty for a scripted run. */
  cells: EvalCell[];
  samples: number;
  agent_id?: string | undefined;
  agent_overrides?: EvalRunRequest['agent_overrides'];
  variants?: Variant[] | undefined;
  judge?: JudgeSpec | undefined;
  max_walltime_secs: number;
  max_total_tokens: number;
  tools: ToolMode;
  /** Maximum number of concurrent cells. */
  concurrency: number;
  /** True if a client waits for the result; without the client, the run is not needed. */
  isAwaited: boolean;
};

const DEFAULT_WALLTIME_SECS = 60;
const DEFAULT_TOTAL_TOKENS = 10_000;

export type Unit = ItemKey & { fixture: Fixture };

export const unitCount = ({ fixtures, cells, samples }: Pick<EvalPlan, 'fixtures' | 'cells' | 'samples'>) =>
  fixtures.length * Math.max(1, cells.length) * samples;

/** Samples vary fastest, then the columns, then the fixtures. */
export const unitAt = (
  { fixtures, cells, samples }: Pick<EvalPlan, 'fixtures' | 'cells' | 'samples'>,
  index: number,
): Unit | undefined => {
  const columns = Math.max(1, cells.length);
  const fixture = fixtures[Math.floor(index / (columns * samples))];
  const cell = cells[Math.floor(index / samples) % columns];
  return (
    fixture && {
      fixture,
      fixture_id: fixture.id,
      ...(cell && { cell }),
      ...(samples > 1 && { sample_index: index % samples }),
    }
  );
};

type Axes = Pick<EvalRunRequest, 'models' | 'agents' | 'variants'>;

/** An axis that was not requested has one unnamed position. */
const cellsOf = ({ models = [], agents, variants }: Axes): EvalCell[] =>
  models.flatMap((model_id) =>
    (agents ?? [undefined]).flatMap((agent_id) =>
      (variants ?? [undefined]).map((variant) => ({
        model_id,
        ...(agent_id !== undefined && { agent_id }),
        ...(variant && { variant_id: variant.id }),
      })),
    ),
  );

/** @throws Invalid, NotFound */
export const planRun = (
  request: EvalRunRequest,
  isAsync: boolean,
  limits: EvalLimits,
  directory: Directory,
): EvalPlan => {
  const { dataset_id, models, judge, samples = 1 } = request;
  const mode = request.mode ?? (models ? 'live' : 'scripted');
  checkFields(request, mode, limits);
  const dataset = directory.dataset(dataset_id);
  if (!dataset) throw new NotFound(`dataset not found: ${dataset_id}`);
  checkSpec(dataset.spec);
  const { fixtures = [] } = dataset.spec;
  const cells = cellsOf(request);
  const parts = { fixtures, cells, samples };
  checkBaseline({ ...parts, dataset_id, dataset_revision: dataset.meta.revision, mode }, request, directory);
  if (fixtures.length === 0) throw new Invalid(`dataset '${dataset_id}' has no fixtures to replay`);
  checkJudge(
    fixtures.map(({ expect }) => expect),
    judge,
    mode,
  );
  const most = isAsync ? limits.max_cells_per_async_run : limits.max_cells_per_sync_run;
  const units = unitCount(parts);
  if (units > most) {
    throw new Invalid(`the eval run expands to ${units} units; at most ${most} are allowed`);
  }
  if (judge) checkModel(judge.model_id, directory);
  checkAgents(request, directory);
  for (const model of models ?? []) checkModel(model, directory);
  connectAll(request, directory);
  return {
    kind: mode === 'live' ? 'dataset_live_matrix' : 'dataset_scripted',
    dataset_id,
    dataset_revision: dataset.meta.revision,
    mode,
    ...parts,
    ...settingsOf(request),
    concurrency: limits.max_concurrent_matrix_cells,
    isAwaited: !isAsync,
  };
};

/** @throws Invalid, NotFound */
export const planOnline = (
  request: OnlineEvalRequest,
  limits: EvalLimits,
  directory: Directory,
): EvalPlan => {
  const { user_input, models, judge, samples = 1, expectations = {} } = request;
  checkOnline(request, limits);
  // Parsed to apply the defaults of a dataset.
  const fixture = Fixture.parse({ id: AD_HOC, user_input, expect: expectations });
  const parts = { fixtures: [fixture], cells: cellsOf(request), samples };
  const units = unitCount(parts);
  const { max_cells_per_sync_online: most } = limits;
  refuse(units > most, `models and samples expand to ${units} units, which exceed sync online cap ${most}`);
  checkScore(expectations);
  checkJudge([expectations], judge, 'live');
  checkRevisions(judge, limits);
  checkAgents(request, directory);
  for (const model of models) checkModel(model, directory);
  if (judge) checkModel(judge.model_id, directory);
  connectAll(request, directory);
  return {
    kind: 'online_live_matrix',
    dataset_id: AD_HOC,
    dataset_revision: 0,
    mode: 'live',
    ...parts,
    ...settingsOf(request),
    concurrency: limits.max_concurrent_online_cells,
    isAwaited: true,
  };
};

const settingsOf = (request: EvalRunRequest | OnlineEvalRequest) => ({
  agent_id: request.agent_id,
  agent_overrides: request.agent_overrides,
  variants: request.variants,
  judge: request.judge,
  max_walltime_secs: request.max_walltime_secs ?? DEFAULT_WALLTIME_SECS,
  max_total_tokens: request.max_total_tokens ?? DEFAULT_TOTAL_TOKENS,
  tools: request.tools ?? 'none',
});

const checkBaseline = (
  run: Omit<Compared, 'keys' | 'execution_mode'> &
    Pick<EvalPlan, 'fixtures' | 'cells' | 'samples'> & { mode: EvalMode },
  { baseline_run_id: id }: EvalRunRequest,
  directory: Directory,
): void => {
  if (id === undefined) return;
  const baseline = directory.baseline(id);
  if (!baseline) throw new NotFound(`baseline eval run not found: ${id}`);
  // Every cell of every fixture will have the same samples and unique keys, so the samples of one cell are enough.
  const keys = Array.from({ length: run.samples }, (_, index) => unitAt(run, index) ?? []).flat();
  checkComparable({ ...run, execution_mode: run.mode, keys }, baseline);
};
