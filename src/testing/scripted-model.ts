import { defineProvider } from '../models/define.ts';
import { ModelError } from '../models/errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Provider } from '../models/model.ts';
import { giveAnswer, type ScriptedAnswer, type ScriptedCall } from '../models/scripted-answer.ts';
import type { FakeClock } from './clock.ts';

/** Asks for a tool. Without an id it gets `call_1`, `call_2`, … in the order of the script. */
export type TurnCall = Omit<ScriptedCall, 'id' | 'args' | 'streamed'> & { id?: string; args?: unknown };

/** What the model gives when it is asked once. */
export type Turn = Omit<ScriptedAnswer, 'calls'> & {
  calls?: readonly TurnCall[];
  /** Milliseconds of the clock of the test before anything is said. */
  delayMs?: number;
};

/** A string is a text. A function sees what the model is asked; what it throws, the inference fails with. */
export type ScriptedTurn =
  | string
  | Turn
  | ((request: InferenceRequest) => string | Turn | Promise<string | Turn>);

export type ScriptedModel = {
  /** What agents name as their `model_id`. */
  readonly id: string;
  /** For `createTroupe`: its `providers` and its `models` take these two. `startTestTroupe` does it by itself. */
  readonly provider: Provider;
  readonly entry: { id: string; provider_id: string; upstream_model: string };
  /** What the model was asked, the oldest first. */
  readonly requests: readonly InferenceRequest[];
  /** How many turns of the script nobody has asked for yet. */
  readonly remaining: number;
};

export type ScriptedModelOptions = {
  /** Default: `scripted`. */
  id?: string;
  /** The clock of its delays. */
  clock?: FakeClock;
};

/**
 * A model that says what the test has written down, a turn each time that it is asked. Asked more often than that,
 * the inference fails and says so.
 *
 * @example
 * const model = scriptedModel([
 *   { reasoning: 'A sum.', calls: [{ tool: 'add', args: { a: 2, b: 3 } }] },
 *   ({ messages }) => `It is ${textOf(messages.at(-1)?.content ?? [])}.`,
 *   { fails: new ModelError('rate_limited', 'too fast') },
 * ]);
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

/** Nobody tries again: there is nothing more to say. */
const exhausted = (id: string, turns: number, asked: number): ModelError =>
  new ModelError(
    'invalid_request',
    `the script of '${id}' has ${turns} turns, and this is request ${asked}`,
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
