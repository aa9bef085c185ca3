import { defineProvider } from '../models/define.ts';
import { ModelError } from '../models/errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Provider } from '../models/model.ts';
import { giveAnswer, type ScriptedAnswer, type ScriptedCall } from '../models/scripted-answer.ts';
import type { FakeClock } from './clock.ts';

/**
 * A tool call of a scripted model. Without an id, it is numbered `call_1`, `call_2`, … in the order of the script.
 *
 * @example
 * ```ts
 * const call: TurnCall = { tool: 'add', args: { a: 2, b: 3 } };
 * const model = scriptedModel([{ calls: [call] }, 'It is 5.']);
 * ```
 */
export type TurnCall = Omit<ScriptedCall, 'id' | 'args' | 'streamed'> & { id?: string; args?: unknown };

/**
 * One completion of a scripted model.
 *
 * @example
 * ```ts
 * const turn: Turn = { reasoning: 'A sum.', text: ['It ', 'is 5.'], usage: { total_tokens: 13 } };
 * const model = scriptedModel([turn]);
 * ```
 */
export type Turn = Omit<ScriptedAnswer, 'calls'> & {
  calls?: readonly TurnCall[];
  /** Delay before the completion, in milliseconds of the test's clock. */
  delayMs?: number;
};

/**
 * A turn of a script. A string is a text. A function receives the request; an error that it throws fails the
 * inference.
 *
 * @example
 * ```ts
 * const echo: ScriptedTurn = ({ messages }) => textOf(messages.at(-1)?.content ?? []);
 * const model = scriptedModel([echo, 'Goodbye']);
 * ```
 */
export type ScriptedTurn =
  | string
  | Turn
  | ((request: InferenceRequest) => string | Turn | Promise<string | Turn>);

/**
 * A model that `scriptedModel` creates, with the requests that it has received.
 *
 * @example
 * ```ts
 * const lastRequest = ({ requests }: ScriptedModel): InferenceRequest | undefined => requests.at(-1);
 * ```
 */
export type ScriptedModel = {
  /** The `model_id` of agents that use this model. */
  readonly id: string;
  /** Entries for `providers` and `models` of `createTroupe`; `startTestTroupe` adds them automatically. */
  readonly provider: Provider;
  readonly entry: { id: string; provider_id: string; upstream_model: string };
  /** Requests to the model, oldest first. */
  readonly requests: readonly InferenceRequest[];
  /** Number of unused turns of the script. */
  readonly remaining: number;
};

/**
 * Options of `scriptedModel`.
 *
 * @example
 * ```ts
 * const options: ScriptedModelOptions = { id: 'slow', clock: fakeClock() };
 * const model = scriptedModel([{ text: 'Late.', delayMs: 60_000 }], options);
 * ```
 */
export type ScriptedModelOptions = {
  /** Default: `scripted`. */
  id?: string;
  /** Clock of the delays. */
  clock?: FakeClock;
};

/**
 * Creates a model that returns one scripted turn per request. Further requests fail with an error.
 *
 * @example
 * ```ts
 * const model = scriptedModel([
 *   { reasoning: 'A sum.', calls: [{ tool: 'add', args: { a: 2, b: 3 } }] },
 *   ({ messages }) => `It is ${textOf(messages.at(-1)?.content ?? [])}.`,
 *   { fails: new ModelError('rate_limited', 'too fast') },
 * ]);
 * ```
 */
export const scriptedModel = (
  turns: readonly ScriptedTurn[],
  { id = 'scripted', clock }: ScriptedModelOptions = {},
): ScriptedModel => {
  const requests: InferenceRequest[] = [];
  let calls = 0;
  const numbered = ({ id: given, tool, args = {} }: TurnCall): ScriptedCall => {
    calls += 1;
    return { id: given ?? `call_${calls}`, tool, args, streamed: true };
  };
  const play = async (
    request: InferenceRequest,
    sink: InferenceSink,
    signal: AbortSignal,
  ): Promise<InferenceEnd> => {
    const turn = turns[requests.length];
    requests.push(request);
    if (turn === undefined) throw exhausted(id, turns.length, requests.length);
    const given = typeof turn === 'function' ? await turn(request) : turn;
    const { delayMs, calls = [], ...answer } = typeof given === 'string' ? { text: given } : given;
    if (delayMs !== undefined) await delay(delayMs, clock, signal);
    return giveAnswer({ ...answer, calls: calls.map(numbered) }, sink);
  };
  return {
    id,
    provider: defineProvider({ id, stream: (request, sink, { signal }) => play(request, sink, signal) }),
    entry: { id, provider_id: id, upstream_model: id },
    requests,
    get remaining() {
      return Math.max(0, turns.length - requests.length);
    },
  };
};

/** The error is final, because a retry would fail as well. */
const exhausted = (id: string, turns: number, requestNumber: number): ModelError =>
  new ModelError(
    'invalid_request',
    `the script of '${id}' has ${turns} turns, and this is request ${requestNumber}`,
    {
      final: true,
    },
  );

const delay = async (ms: number, clock: FakeClock | undefined, signal: AbortSignal): Promise<void> => {
  if (!clock)
    throw new TypeError('a turn has `delayMs`: give the model a clock, scriptedModel(turns, { clock })');
  await clock.sleep(ms, signal).catch(() => {
    throw new ModelError('cancelled', '');
  });
};
