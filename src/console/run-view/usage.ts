import { addUsd } from '../../schema/usd.ts';
import type { Span } from './span.ts';

export type ModelUsage = {
  model: string;
  inferences: number;
  input: number;
  output: number;
  /** Undefined if no inference of the model has a price. */
  cost: number | undefined;
};

/** Usage of the inferences of a run, by the provider's name of the model. */
export const usageOf = (spans: readonly Span[]): ModelUsage[] => {
  const byModel = new Map<string, ModelUsage>();
  for (const { kind, name: model, tokens, costUsd } of spans) {
    if (kind !== 'inference' || !tokens) continue;
    const before = byModel.get(model);
    byModel.set(model, {
      model,
      inferences: (before?.inferences ?? 0) + 1,
      input: (before?.input ?? 0) + tokens.input,
      output: (before?.output ?? 0) + tokens.output,
      cost: addUsd(before?.cost, costUsd),
    });
  }
  return [...byModel.values()];
};
