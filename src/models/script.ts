import { z } from 'zod';
import { Json } from '../schema/json.ts';
import { timerMs } from '../schema/timer.ts';
import { ModelError } from './errors.ts';
import type { InferenceEnd, InferenceSink } from './model.ts';

/**
 * Scripted completions of a fixed length at a fixed pace, for benchmarks and tests.
 *
 * Guarantees: delta `n` is never early, and the pace does not drift: late deltas are sent immediately. Without delays
 * and without `per_turn`, all deltas are sent in one synchronous burst, before `playScript` returns. No timer outlives
 * the completion or its cancellation.
 */

const Named = { filename: z.string().optional() };

const ScriptedPart = z.union([
  z.strictObject({ file: z.string(), media_type: z.string(), ...Named }),
  z.strictObject({ url: z.string(), media_type: z.string().optional(), ...Named }),
  z.strictObject({ data: Json, ...Named }),
]);

export const Script = z.strictObject({
  tokens: z.int().nonnegative().meta({ description: 'deltas in an answer' }),
  text: z.string().min(1).default('token ').meta({ description: 'each delta' }),
  delay_ms: z.number().nonnegative().default(0).meta({ description: 'between two deltas' }),
  first_delay_ms: z.number().nonnegative().default(0).meta({ description: 'before the first delta' }),
  gap_every: z.int().nonnegative().default(0).meta({ description: 'deltas between two gaps; 0 = no gaps' }),
  gap_ms: z
    .number()
    .nonnegative()
    .default(0)
    .meta({ description: 'length of a gap, in addition to the delay' }),
  per_turn: z.int().nonnegative().default(0).meta({ description: 'deltas per event-loop tick; 0 = all' }),
  parts: z
    .array(
      z.strictObject({
        after: z.int().nonnegative().default(0).meta({ description: 'deltas before it' }),
        part: ScriptedPart,
      }),
    )
    .default([])
    .meta({ description: 'files (base64), addresses and data of the completion' }),
});
export type Script = z.infer<typeof Script>;

const PROMPT_TOKENS = 10;

/** Resolves after the last delta; rejects on cancel, or with the error that the sink throws. */
export const playScript = (script: Script, sink: InferenceSink, signal: AbortSignal): Promise<InferenceEnd> =>
  new Promise((resolve, reject) => {
    const started = performance.now();
    let given = 0;
    let unschedule = (): void => {};
    const settle = (conclude: () => void): void => {
      unschedule();
      signal.removeEventListener('abort', cancel);
      conclude();
    };
    const cancel = (): void => settle(() => reject(new ModelError('cancelled', '')));
    const turn = (): void => {
      try {
        const elapsed = performance.now() - started;
        given = give(script, given, elapsed, sink, signal);
        if (signal.aborted) return;
        if (given === script.tokens) giveParts(script, sink, (after) => after >= given);
        if (signal.aborted) return;
        if (given === script.tokens) settle(() => resolve(endOf(script)));
        else unschedule = schedule(turn, dueAt(script, given) - elapsed);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    signal.addEventListener('abort', cancel);
    turn();
  });

/** Sends the deltas that are due and allowed in one event-loop tick; returns the total number of sent deltas. */
const give = (
  script: Script,
  from: number,
  elapsed: number,
  sink: InferenceSink,
  signal: AbortSignal,
): number => {
  const { tokens, text, per_turn } = script;
  const limit = per_turn === 0 ? tokens : Math.min(tokens, from + per_turn);
  let given = from;
  while (given < limit && dueAt(script, given) <= elapsed && !signal.aborted) {
    if (script.parts.length > 0) {
      const now = given;
      giveParts(script, sink, (after) => after === now);
    }
    given += 1;
    sink.text(text);
  }
  return given;
};

const giveParts = ({ parts }: Script, sink: InferenceSink, isDue: (after: number) => boolean): void => {
  for (const { after, part } of parts) if (isDue(after)) sink.part?.(part);
};

/** Milliseconds between the start and the time at which a delta is due. */
const dueAt = ({ first_delay_ms, delay_ms, gap_every, gap_ms }: Script, index: number): number => {
  const gaps = gap_every === 0 ? 0 : Math.floor(index / gap_every);
  return first_delay_ms + index * delay_ms + gaps * gap_ms;
};

const schedule = (turn: () => void, inMs: number): (() => void) => {
  if (inMs <= 0) {
    const immediate = setImmediate(turn);
    return () => clearImmediate(immediate);
  }
  const timer = setTimeout(turn, timerMs(inMs));
  return () => clearTimeout(timer);
};

const endOf = ({ tokens }: Script): InferenceEnd => ({
  stop: 'EndTurn',
  usage: {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: tokens,
    total_tokens: PROMPT_TOKENS + tokens,
  },
});
