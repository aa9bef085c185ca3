import { byIn, usageIn } from '../models/errors.ts';
import type { InferenceRequest, InferenceSink, SentSettings } from '../models/model.ts';
import { NOOP_SINK } from '../models/noop-sink.ts';
import { monotonic } from '../schema/clock.ts';
import type { ModelAnswer, ModelQuestion } from '../tools/ask-model.ts';
import { allow, purposeOf, refusedError, withinAllowance } from './allowance.ts';
import { trackAttempts } from './attempts.ts';
import { observeInference } from './observe-inference.ts';
import { countUsage } from './rounds.ts';
import type { Turn } from './turn.ts';

/**
 * A model call by a tool, outside the conversation. It counts towards the usage of the run like any inference, and its
 * partial output is dropped when the model restarts its answer.
 */
export const askModel = async (
  turn: Turn,
  { system, messages, temperature, max_tokens }: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelAnswer> => {
  const { model, retry } = turn.agent;
  const startedAt = monotonic(turn.clock);
  const request: InferenceRequest = {
    system: system === undefined ? [] : [system],
    messages: messages.map(({ role, text: content }) => ({
      id: turn.ids.uuid(),
      role,
      content: [{ type: 'text', text: content }],
    })),
    tools: [],
    overrides: {
      ...(temperature !== undefined && { temperature }),
      ...(max_tokens !== undefined && { max_tokens }),
    },
    stream_idle_timeout_secs: retry.stream_idle_timeout_secs,
  };
  let text = '';
  let reasoning = '';
  let sent: SentSettings | undefined;
  const attempts = trackAttempts(turn, () => text + reasoning);
  const sink: InferenceSink = {
    ...NOOP_SINK,
    sent(settings) {
      sent = settings;
    },
    text(delta) {
      text += delta;
    },
    reasoning(delta) {
      reasoning += delta;
    },
    brokeOff: attempts.brokeOff,
    reset() {
      text = '';
      reasoning = '';
      attempts.restart();
    },
  };
  const cutOff = (): void => {
    attempts.brokeOff();
    attempts.end();
  };
  // The record of a cancelled run is written before the model call has failed.
  signal.addEventListener('abort', cutOff, { once: true });
  const purpose = purposeOf(turn.agent);
  const allowance = await allow(turn.account(), purpose, request, signal);
  if (allowance && allowance.kind !== 'granted') throw refusedError(allowance, purpose);
  const allowed = allowance ? withinAllowance(request, purpose, allowance) : request;
  attempts.begin(allowed, allowance);
  const completion = model.stream(allowed, sink, signal);
  const end = await completion
    .catch((error: unknown) => {
      attempts.brokeOff(usageIn(error), byIn(error));
      attempts.end();
      const traced = { sent, lost: attempts.lost() };
      observeInference(turn, signal.aborted ? { startedAt, error } : { startedAt, error, traced });
      throw error;
    })
    .finally(() => {
      signal.removeEventListener('abort', cutOff);
    });
  attempts.end(end);
  countUsage(turn, end);
  observeInference(turn, {
    startedAt,
    end,
    ...(turn.trace && { traced: { sent, content: [{ type: 'text', text }], lost: attempts.lost() } }),
  });
  return { text, model: end.by?.upstream ?? model.upstream, stop: end.stop };
};
