import { ModelError, usageIn } from '../models/errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceUsage, Model } from '../models/model.ts';
import { estimateRequest, estimateText } from '../plugins/context/estimate.ts';
import type { Termination } from '../schema/run.ts';
import type { Account, Allowance, Granted, Used } from '../schema/spending.ts';
import type { ResolvedAgent } from './agent.ts';

/** Budgets of inferences: each is permitted before it starts, and charged afterwards. */

/** The output of a model whose limit is unknown. */
const USUAL_OUTPUT = 4096;

/** Whose inference it is. `mostOutput`: the most tokens that the model returns unless the request limits them. */
export type Purpose = { agent: string; model: Model; mostOutput: number | undefined };

export const purposeOf = ({ spec, model, mostOutput }: ResolvedAgent): Purpose => ({
  agent: spec.id,
  model,
  mostOutput,
});

type Allowed = Allowance | undefined;

/** Reserves the greatest cost of the request; undefined if no budget applies. */
export const allow = (
  account: Account | undefined,
  { agent, model, mostOutput = USUAL_OUTPUT }: Purpose,
  request: InferenceRequest,
  signal: AbortSignal,
): Allowed | Promise<Allowed> =>
  account?.reserve(
    {
      agent,
      model: model.id,
      input: estimateRequest(request),
      output: request.overrides.max_tokens ?? mostOutput,
      priceOf: (usage) => model.costUsd?.(usage, request.overrides.upstream_model),
    },
    signal,
  );

/** Returns the request with at most the reserved output. A limit that the model has anyway is not sent. */
export const withinAllowance = (
  request: InferenceRequest,
  { mostOutput }: Purpose,
  { output }: Granted,
): InferenceRequest =>
  output === (request.overrides.max_tokens ?? mostOutput)
    ? request
    : { ...request, overrides: { ...request.overrides, max_tokens: output } };

/** How a run ends whose inference is not permitted. */
export const refusedEnding = (
  refused: Exclude<Allowance, Granted>,
  { model }: Pick<Purpose, 'model'>,
): Extract<Termination, { type: 'stopped' | 'error' }> =>
  refused.kind === 'exceeded'
    ? { type: 'stopped', value: { code: 'budget', detail: refused.budget } }
    : { type: 'error', value: unpricedText(refused.budget, model) };

const unpricedText = (budget: string, { id }: Model): string =>
  `model '${id}' has no price (budget '${budget}')`;

/** The error of an inference outside of steps that is not permitted. */
export const refusedError = (
  refused: Exclude<Allowance, Granted>,
  { model }: Pick<Purpose, 'model'>,
): ModelError =>
  new ModelError(
    'invalid_request',
    refused.kind === 'exceeded'
      ? `budget '${refused.budget}' is exceeded`
      : unpricedText(refused.budget, model),
  );

/** Returns the usage of a completed inference. A provider that reports no tokens is charged by the estimate. */
export const usedBy = (
  { costUsd }: Pick<Model, 'costUsd'>,
  request: InferenceRequest,
  { usage, cost_usd, by }: Pick<InferenceEnd, 'usage' | 'cost_usd' | 'by'>,
  received: () => string,
): Used => {
  const { prompt_tokens: input = 0, completion_tokens: output = 0 } = usage ?? {};
  if (input + output > 0) return { tokens: input + output, usd: cost_usd };
  const prompt_tokens = estimateRequest(request);
  const completion_tokens = estimateText(received());
  return {
    tokens: prompt_tokens + completion_tokens,
    usd: cost_usd ?? costUsd?.({ prompt_tokens, completion_tokens }, request.overrides.upstream_model, by),
  };
};

/**
 * Wraps a model for inferences that do not track attempts: summaries and judgements. Without an account it is the
 * model itself.
 */
export const metered = (account: Account | undefined, purpose: Purpose): Model => {
  const { model } = purpose;
  if (!account) return model;
  return {
    ...model,
    async stream(given, sink, signal) {
      const allowance = await allow(account, purpose, given, signal);
      if (!allowance) return model.stream(given, sink, signal);
      if (allowance.kind !== 'granted') throw refusedError(allowance, purpose);
      const request = withinAllowance(given, purpose, allowance);
      let text = '';
      const hearing = {
        ...sink,
        text(delta: string) {
          text += delta;
          sink.text(delta);
        },
      };
      try {
        const end = await model.stream(request, hearing, signal);
        allowance.settle(usedBy(model, request, end, () => text));
        return end;
      } catch (error) {
        allowance.settle(usedByFailed(model, request, usageIn(error), text));
        throw error;
      }
    },
  };
};

/** A failed inference without output costs nothing, unless its provider has reported tokens. */
const usedByFailed = (
  model: Model,
  request: InferenceRequest,
  usage: InferenceUsage | undefined,
  text: string,
): Used => {
  if (!usage && text === '') return { tokens: 0, usd: 0 };
  const usd = usage && model.costUsd?.(usage, request.overrides.upstream_model);
  return usedBy(
    model,
    request,
    { ...(usage && { usage }), ...(usd !== undefined && { cost_usd: usd }) },
    () => text,
  );
};
