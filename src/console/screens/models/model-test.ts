import {
  type Guarded,
  isObject,
  list,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { send } from '../../data/request.ts';

/** Sends one prompt to several models without storing the results. */

const Report = object({
  final_text: withDefault(text, ''),
  total_input_tokens: optional(number),
  total_output_tokens: optional(number),
  session_duration_ms: optional(number),
  cost_usd: optional(number),
  runtime_failure: (value: unknown) => value,
});

const Item = object({ cell: optional(object({ model_id: text })), report: Report });
export type Answer = Guarded<typeof Item>;

const Online = object({ run: object({ items: list(Item) }) });

export type Question = { prompt: string; models: readonly string[]; seconds: number; tokens: number };

/** Responses in the order of the models. @throws RequestError */
export const askModels = async (
  { prompt, models, seconds, tokens }: Question,
  signal: AbortSignal,
): Promise<Answer[]> => {
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
export const failureOf = ({ report }: Answer): string | undefined => {
  const { runtime_failure: failure } = report;
  if (failure === undefined || failure === null || failure === false) return undefined;
  if (typeof failure === 'string') return failure;
  if (isObject(failure) && typeof failure.message === 'string') return failure.message;
  return JSON.stringify(failure);
};
