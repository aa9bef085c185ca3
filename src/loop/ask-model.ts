import { DEAF } from '../models/deaf.ts';
import { monotonic } from '../schema/clock.ts';
import type { ModelAnswer, ModelQuestion } from '../tools/ask-model.ts';
import { observeInference } from './observe-inference.ts';
import type { Turn } from './turn.ts';

/**
 * A tool asks the model of its agent something beside the conversation. It costs what any inference costs: it is counted
 * for the run, and what has been heard is dropped when the model starts over.
 */
export const askModel = async (
  turn: Turn,
  { system, messages, temperature, max_tokens }: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelAnswer> => {
  const { model, retry } = turn.agent;
  const startedAt = monotonic(turn.clock);
  let text = '';
  const asked = model.stream(
    {
      system: system === undefined ? [] : [system],
      messages: messages.map(({ role, text: said }) => ({
        id: turn.ids.uuid(),
        role,
        content: [{ type: 'text', text: said }],
      })),
      tools: [],
      overrides: {
        ...(temperature !== undefined && { temperature }),
        ...(max_tokens !== undefined && { max_tokens }),
      },
      stream_idle_timeout_secs: retry.stream_idle_timeout_secs,
    },
    {
      ...DEAF,
      text(delta) {
        text += delta;
      },
      reset() {
        text = '';
      },
    },
    signal,
  );
  const end = await asked.catch((error: unknown) => {
    observeInference(turn, signal.aborted ? { startedAt, error } : { startedAt, error, traced: {} });
    throw error;
  });
  turn.inputTokens += end.usage?.prompt_tokens ?? 0;
  turn.outputTokens += end.usage?.completion_tokens ?? 0;
  observeInference(turn, {
    startedAt,
    end,
    ...(turn.trace && { traced: { content: [{ type: 'text', text }] } }),
  });
  return { text, model: end.by?.upstream ?? model.upstream, stop: end.stop };
};
