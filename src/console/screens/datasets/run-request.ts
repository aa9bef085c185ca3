import { type JsonObject, object, text } from '../../data/guard.ts';
import { invalidate } from '../../data/queries.ts';
import { send } from '../../data/request.ts';

/** How a dataset is played. */
export type RunSettings = {
  mode: 'scripted' | 'live';
  models: readonly string[];
  agent: string;
  samples: number;
  tools: 'none' | 'recorded' | 'execute';
  judge: string;
  rubric: string;
  seconds: string;
  tokens: string;
  /** The run that it is held against; empty: none. */
  baseline: string;
};

export const USUAL: RunSettings = {
  mode: 'scripted',
  models: [],
  agent: '',
  samples: 1,
  tools: 'none',
  judge: '',
  rubric: '',
  seconds: '',
  tokens: '',
  baseline: '',
};

const limit = (typed: string): number | undefined => (/^\d+$/.test(typed) ? Number(typed) : undefined);

/** Nothing is said that is as usual: the service refuses what it does not expect. */
export const requestOf = (id: string, settings: RunSettings): JsonObject => {
  const { mode, models, agent, samples, tools, judge, rubric, seconds, tokens } = settings;
  const baseline = settings.baseline === '' ? {} : { baseline_run_id: settings.baseline };
  if (mode === 'scripted') return { dataset_id: id, mode, ...baseline, async: true };
  const given: JsonObject = {
    dataset_id: id,
    mode,
    models,
    agent_id: agent || undefined,
    samples: samples > 1 ? samples : undefined,
    tools: tools === 'none' ? undefined : tools,
    judge: judge === '' ? undefined : { model_id: judge, ...(rubric && { rubric }) },
    max_walltime_secs: limit(seconds),
    max_total_tokens: limit(tokens),
    ...baseline,
    async: true,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
};

const Started = object({ run: object({ id: text }) });

/** @returns the id of the eval run that goes on @throws RequestError */
export const startRun = async (id: string, settings: RunSettings): Promise<string> => {
  const body = requestOf(id, settings);
  const { run } = await send({ method: 'POST', path: '/v1/eval/runs', body }, Started);
  invalidate('/v1/eval/runs');
  return run.id;
};

/** How many times something is played. */
export const cellsOf = ({ mode, models, samples }: RunSettings, fixtures: number): number =>
  mode === 'scripted' ? fixtures : fixtures * models.length * Math.max(1, samples);
