import { isObject, type JsonObject, object, text } from '../../data/guard.ts';
import { invalidate } from '../../data/queries.ts';
import { send } from '../../data/request.ts';

/** The request of an eval run, as the form edits it. */
export type RunSettings = JsonObject & { mode: string };

export const modelsIn = ({ models }: RunSettings): string[] =>
  Array.isArray(models) ? models.filter((model) => typeof model === 'string') : [];

const samplesIn = ({ samples }: RunSettings): number => (typeof samples === 'number' ? samples : 1);

/** The service rejects the fields of live runs for a scripted one, and a judge without a model. */
export const requestOf = (id: string, settings: RunSettings): JsonObject => {
  const { mode, baseline_run_id, judge, ...live } = settings;
  const hasJudge = isObject(judge) && typeof judge.model_id === 'string';
  const request = {
    dataset_id: id,
    mode,
    ...(mode === 'live' && { ...live, ...(hasJudge && { judge }) }),
    baseline_run_id,
    async: true,
  };
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
};

const Started = object({ run: object({ id: text }) });

/**
 * @returns the id of the started eval run
 * @throws RequestError
 */
export const startRun = async (id: string, settings: RunSettings): Promise<string> => {
  const body = requestOf(id, settings);
  const { run } = await send({ method: 'POST', path: '/v1/eval/runs', body }, Started);
  invalidate('/v1/eval/runs');
  return run.id;
};

export const cellsOf = (settings: RunSettings, fixtures: number): number =>
  settings.mode === 'live' ? fixtures * modelsIn(settings).length * samplesIn(settings) : fixtures;
