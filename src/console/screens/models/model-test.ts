import { type Guarded, list, number, object, text, withDefault } from '../../data/guard.ts';
import { send } from '../../data/request.ts';
import { textOf } from '../../entry/entry.ts';
import { Item } from '../../eval-results/report.ts';

/** Sends one prompt to several models without storing the results. */

const Online = object({ run: object({ items: list(Item) }) });

export const Question = object({
  prompt: withDefault(text, ''),
  models: list(text),
  seconds: number,
  tokens: number,
});
export type Question = Guarded<typeof Question>;

/** Responses in the order of the models. @throws RequestError */
export const askModels = async (
  { prompt, models, seconds, tokens }: Question,
  signal: AbortSignal,
): Promise<Item[]> => {
  const body = {
    user_input: prompt,
    models,
    persist: false,
    max_walltime_secs: seconds,
    max_total_tokens: tokens,
  };
  const { run } = await send({ method: 'POST', path: '/v1/eval/online', body, signal }, Online);
  return run.items;
};

/** The reason for a missing response; undefined if there is one. */
export const failureOf = ({ runtime_failure: failure }: Pick<Item['report'], 'runtime_failure'>) =>
  failure && (textOf(failure.message) || JSON.stringify(failure));
