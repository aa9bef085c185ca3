import { addUsd } from '../../data/cost.ts';
import { isObject } from '../../data/guard.ts';
import type { LogEvent } from '../../events/event.ts';

/** What the inferences of a run took, by what their providers call their models. */

type Tokens = { input: number; output: number };

export type ModelUsage = Tokens & { model: string; inferences: number; cost: number | undefined };

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

export const usageOf = (events: readonly LogEvent[]): { models: readonly ModelUsage[]; tokens: Tokens } => {
  const byModel = new Map<string, ModelUsage>();
  for (const { event_kind, payload } of events) {
    if (event_kind !== 'InferenceComplete') continue;
    const model = typeof payload.model === 'string' ? payload.model : '';
    const usage = isObject(payload.usage) ? payload.usage : {};
    const before = byModel.get(model);
    byModel.set(model, {
      model,
      input: count(before?.input) + count(usage.prompt_tokens),
      output: count(before?.output) + count(usage.completion_tokens),
      inferences: count(before?.inferences) + 1,
      cost: addUsd(before?.cost, typeof payload.cost_usd === 'number' ? payload.cost_usd : undefined),
    });
  }
  const models = [...byModel.values()];
  return {
    models,
    tokens: {
      input: models.reduce((sum, { input }) => sum + input, 0),
      output: models.reduce((sum, { output }) => sum + output, 0),
    },
  };
};
