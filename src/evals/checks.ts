import type { AgentSpec } from '../schema/agent.ts';
import type { Dataset, DatasetSpec, Expectation } from '../schema/dataset.ts';
import type { EvalMode, EvalRunRequest, JudgeSpec, OnlineEvalRequest } from '../schema/eval-run.ts';
import type { ModelSpec } from '../schema/model.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import type { Compared } from './diff.ts';

/** Validates requests for eval runs, with the error messages of evals-and-traces.md 6.1 and 8. */

export type EvalLimits = {
  max_cells_per_sync_run: number;
  max_cells_per_async_run: number;
  max_concurrent_matrix_cells: number;
  max_cells_per_sync_online: number;
  max_concurrent_online_cells: number;
  max_samples_per_cell: number;
  max_judge_revisions: number;
};

/** Lookups in the configuration and the store. */
export type Directory = {
  dataset(id: string): Dataset | undefined;
  baseline(id: string): Compared | undefined;
  agent(id: string): AgentSpec | undefined;
  model(id: string): ModelSpec | undefined;
  hasProvider(id: string): boolean;
  /** @throws if the model is not usable */
  connect(model_id: string): unknown;
};

const LIVE_ONLY = ' requires mode="live"';

export const refuse = (isWrong: boolean, message: string): void => {
  if (isWrong) throw new Invalid(message);
};

/** The order of the checks is that of the contract; additional checks follow the ones that they resemble. */
export const checkFields = (request: EvalRunRequest, mode: EvalMode, limits: EvalLimits): void => {
  const { models, samples, judge } = request;
  const isScripted = mode === 'scripted';
  const liveOnly = (field: keyof EvalRunRequest): void =>
    refuse(isScripted && request[field] !== undefined, field + LIVE_ONLY);
  refuse(isScripted && models !== undefined, '`models` is only valid with mode="live"');
  refuse(models?.length === 0, '`models` must be non-empty');
  checkUnique('model', models);
  refuse(!isScripted && models === undefined, 'mode="live" requires `models`');
  liveOnly('max_walltime_secs');
  liveOnly('max_total_tokens');
  checkWalltime(request);
  liveOnly('agent_id');
  liveOnly('agents');
  liveOnly('agent_overrides');
  liveOnly('variants');
  liveOnly('tools');
  checkAxes(request);
  refuse(samples === 0, '`samples` must be at least 1');
  refuse(
    isScripted && samples !== undefined,
    `samples${LIVE_ONLY}: scripted replays are deterministic, and every sample is the same`,
  );
  checkSamples(request, limits);
  liveOnly('judge');
  checkRevisions(judge, limits);
};

export const checkOnline = (request: OnlineEvalRequest, limits: EvalLimits): void => {
  refuse(request.models.length === 0, '`models` must be non-empty');
  checkUnique('model', request.models);
  checkWalltime(request);
  checkAxes(request);
  refuse(request.samples === 0, '`samples` must be at least 1');
  checkSamples(request, limits);
};

type Fields = EvalRunRequest | OnlineEvalRequest;

const checkWalltime = ({ max_walltime_secs }: Fields): void =>
  refuse(max_walltime_secs === 0, '`max_walltime_secs` must be at least 1');

const checkSamples = ({ samples = 1 }: Fields, { max_samples_per_cell: most }: EvalLimits): void =>
  refuse(samples > most, `samples=${samples} exceeds cap ${most}`);

export const checkRevisions = (
  judge: JudgeSpec | undefined,
  { max_judge_revisions: most }: EvalLimits,
): void => {
  const { revise_max_retries: retries = 0 } = judge ?? {};
  refuse(retries > most, `revise_max_retries=${retries} exceeds cap ${most}`);
};

const checkAxes = ({ agent_id, agents, agent_overrides, variants }: Fields): void => {
  refuse(agents !== undefined && agent_id !== undefined, '`agents` and `agent_id` exclude each other');
  refuse(agents?.length === 0, '`agents` must be non-empty');
  checkUnique('agent', agents);
  const both = variants !== undefined && agent_overrides !== undefined;
  refuse(both, '`variants` and `agent_overrides` exclude each other');
  refuse(variants?.length === 0, '`variants` must be non-empty');
  checkUnique(
    'variant',
    variants?.map(({ id }) => id),
  );
};

const checkUnique = (what: string, ids: readonly string[] = []): void => {
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  refuse(twice !== undefined, `duplicate ${what} '${twice}'`);
};

/** Applies to specs to be written and to specs written by other programs. */
export const checkSpec = ({ fixtures = [] }: DatasetSpec): void => {
  const seen = new Set<string>();
  for (const { id } of fixtures) {
    if (seen.has(id)) throw new Invalid(`duplicate fixture id: ${id}`);
    seen.add(id);
  }
  for (const { expect } of fixtures) checkScore(expect);
};

export const checkScore = ({ min_judge_score: score }: Expectation): void => {
  if (score === undefined || (score >= 0 && score <= 1)) return;
  throw new Invalid(`\`min_judge_score\` must be within [0.0, 1.0], not ${score}`);
};

export const checkJudge = (
  expectations: readonly Expectation[],
  judge: JudgeSpec | undefined,
  mode: EvalMode,
): void => {
  if (expectations.every(({ min_judge_score }) => min_judge_score === undefined)) return;
  refuse(mode !== 'live', 'fixtures with `min_judge_score` need mode="live"');
  refuse(judge === undefined, 'fixtures have `min_judge_score`: provide `judge`');
  refuse(
    (judge?.rubric ?? '').trim() === '',
    'fixtures have `min_judge_score`: `judge.rubric` must not be empty',
  );
};

export const checkAgents = ({ agent_id, agents = [] }: Fields, directory: Directory): void => {
  for (const id of agent_id === undefined ? agents : [agent_id]) {
    if (!directory.agent(id)) throw new NotFound(`agent not found: agents/${id}`);
  }
};

export const checkModel = (id: string, directory: Directory): void => {
  const model = directory.model(id);
  if (!model) throw new NotFound(`model not found: models/${id}`);
  if (!directory.hasProvider(model.provider_id)) {
    throw new NotFound(`provider not found: providers/${model.provider_id}`);
  }
};

/** @throws Error if a configured model is not usable */
export const connectAll = ({ models = [], judge }: Fields, directory: Directory): void => {
  for (const id of judge ? [...models, judge.model_id] : models) {
    try {
      directory.connect(id);
    } catch (cause) {
      throw new Error(`model '${id}' cannot be called`, { cause });
    }
  }
};
