import { ModelError } from '../models/errors.ts';
import type { InferenceEnd } from '../models/model.ts';
import { monotonic } from '../schema/clock.ts';
import { type TracedInference, traceInference } from './trace.ts';
import type { Turn } from './turn.ts';

/** One call of a model. `end` is set when it succeeded, otherwise `error`. */
export type Called = {
  startedAt: number;
  /** Time by the clock of the turn; defaults to now. */
  endedAt?: number;
  /** Defaults to the model of the agent. */
  by?: { provider: string; upstream: string };
  /** Time of the first output. */
  firstAt?: number | undefined;
  end?: InferenceEnd;
  error?: unknown;
  /** Data for its trace. */
  traced?: Pick<TracedInference, 'step_index' | 'request' | 'sent' | 'content' | 'calls' | 'lost'>;
};

export const observeInference = (turn: Turn, called: Called): void => {
  const { startedAt, endedAt = monotonic(turn.clock), firstAt, end, error, traced } = called;
  const { model, spec } = turn.agent;
  const by = end?.by ?? called.by ?? model;
  const call = {
    agent: spec.id,
    model: by.upstream,
    provider: by.provider,
    seconds: (endedAt - startedAt) / 1000,
    ...(firstAt !== undefined && { firstSeconds: (firstAt - startedAt) / 1000 }),
  };
  if (end)
    turn.observe.inference.ended({
      status: 'ok',
      ...call,
      ...(end.usage && { usage: end.usage }),
      ...(end.cost_usd !== undefined && { cost: end.cost_usd }),
    });
  else
    turn.observe.inference.ended({
      ...call,
      status: 'error',
      errorClass: classOf(error),
    });
  if (turn.trace && traced) traceInference(turn, { ...traced, seconds: call.seconds, by: call, end, error });
};

const classOf = (error: unknown): string => (error instanceof ModelError ? error.class : 'internal');
