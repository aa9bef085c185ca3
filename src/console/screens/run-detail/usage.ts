import { isObject } from '../../data/guard.ts';
import type { LogEvent } from '../../events/event.ts';
import { costOf, type Prices, spentOf, sumOf, type Tokens } from '../../runs/prices.ts';
import type { Run } from '../../runs/run.ts';

/** What the inferences of a run took, by what their providers call their models. */

export type ModelUsage = Tokens & { model: string; inferences: number; cost: number | undefined };

const count = (value: unknown): number => (typeof value === 'number' ? value : 0);

export const usageOf = (
  events: readonly LogEvent[],
  prices: Prices,
  { agent_id, cut_off }: Pick<Run, 'agent_id' | 'cut_off'>,
): { models: readonly ModelUsage[]; tokens: Tokens; cost: number | undefined } => {
  const byModel = new Map<string, Tokens & { inferences: number }>();
  for (const { event_kind, payload } of events) {
    if (event_kind !== 'InferenceComplete') continue;
    const model = typeof payload.model === 'string' ? payload.model : '';
    const usage = isObject(payload.usage) ? payload.usage : {};
    const before = byModel.get(model) ?? { input: 0, output: 0, inferences: 0 };
    byModel.set(model, {
      input: before.input + count(usage.prompt_tokens),
      output: before.output + count(usage.completion_tokens),
      inferences: before.inferences + 1,
    });
  }
  const models = [...byModel].map(([model, used]) => ({
    model,
    ...used,
    cost: costOf(used, prices.ofUpstream(model)),
  }));
  const lost = spentOf({ input_tokens: 0, output_tokens: 0, cut_off });
  const cut = costOf(lost, prices.ofAgent(agent_id));
  return {
    models,
    tokens: {
      input: models.reduce((sum, { input }) => sum + input, 0),
      output: models.reduce((sum, { output }) => sum + output, 0),
    },
    cost: sumOf([...models.map(({ cost }) => cost), cut]),
  };
};
