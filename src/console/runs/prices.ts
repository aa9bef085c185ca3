import { useMemo } from 'react';
import type { CutOff } from '../data/cut-off.ts';
import { number, object, optional, text } from '../data/guard.ts';
import { useResource } from '../data/queries.ts';
import { recordsOf } from '../data/records.ts';

/** What inferences cost, by the prices that the models have now. */

/** USD for a million tokens; undefined where nobody knows. */
export type Price = { input: number | undefined; output: number | undefined };

export type Tokens = { input: number; output: number };

type Counted = { input_tokens: number; output_tokens: number; cut_off?: CutOff | undefined };

/** What is paid for: complete answers, and attempts that broke off. */
export const spentOf = ({ input_tokens, output_tokens, cut_off }: Counted): Tokens => ({
  input: input_tokens + (cut_off?.input_tokens ?? 0),
  output: output_tokens + (cut_off?.output_tokens ?? 0),
});

/** Undefined where a price is missing: never a part of it. Nothing costs nothing, whatever the price. */
export const costOf = ({ input, output }: Tokens, price: Price | undefined): number | undefined => {
  if (input === 0 && output === 0) return 0;
  if (price?.input === undefined || price.output === undefined) return undefined;
  return (input * price.input + output * price.output) / 1e6;
};

/** Undefined as soon as one part is. */
export const sumOf = (costs: readonly (number | undefined)[]): number | undefined => {
  let total = 0;
  for (const cost of costs) {
    if (cost === undefined) return undefined;
    total += cost;
  }
  return total;
};

const MODELS = recordsOf(
  'models',
  object({
    id: text,
    upstream_model: optional(text),
    input_token_price_per_million_usd: optional(number),
    output_token_price_per_million_usd: optional(number),
  }),
);
const AGENTS = recordsOf('agents', object({ id: text, model_id: optional(text) }));

export type Prices = {
  /** Of the model that the agent has now, whatever it had when it ran; none for a pool. */
  ofAgent(agentId: string): Price | undefined;
  /** Of what a provider calls its model; undefined where models with that name differ in their price. */
  ofUpstream(name: string): Price | undefined;
};

export const usePrices = (): Prices => {
  const models = useResource(MODELS).data;
  const agents = useResource(AGENTS).data;
  return useMemo(() => {
    const byId = new Map<string, Price>();
    const byUpstream = new Map<string, Price | undefined>();
    for (const model of models ?? []) {
      const price = {
        input: model.input_token_price_per_million_usd,
        output: model.output_token_price_per_million_usd,
      };
      byId.set(model.id, price);
      if (model.upstream_model === undefined) continue;
      const other = byUpstream.get(model.upstream_model);
      const isSame = other?.input === price.input && other?.output === price.output;
      byUpstream.set(
        model.upstream_model,
        !byUpstream.has(model.upstream_model) || isSame ? price : undefined,
      );
    }
    const modelOf = new Map(agents?.map(({ id, model_id }) => [id, model_id]));
    return {
      ofAgent: (agentId) => byId.get(modelOf.get(agentId) ?? ''),
      ofUpstream: (name) => byUpstream.get(name),
    };
  }, [models, agents]);
};
