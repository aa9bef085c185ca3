import { addUsd } from '../models/cost.ts';
import type { InferenceRequest, InferenceUsage } from '../models/model.ts';
import { estimateMessages, estimateText, estimateTools } from '../plugins/context/estimate.ts';
import { textTokens } from '../plugins/context/text-tokens.ts';
import type { Spent, Tokens } from '../schema/cut-off.ts';
import { countTokens } from './rounds.ts';
import type { Attempts, Turn } from './turn.ts';

/**
 * The attempts of one inference, and the tokens of those that broke off.
 *
 * Guarantees: an attempt is counted at most once, whichever comes first of its failure and the end of its step; an
 * attempt of which nothing was received costs nothing. Providers report tokens at the end of an answer, so the counts
 * are estimates (agent-loop.md 12.1), except for what a provider reported before the break.
 * Costs: nothing per token.
 *
 * @param received all that was received of the answer: text, reasoning, names and arguments of calls
 */
export const trackAttempts = (turn: Turn, received: () => string): Attempts => {
  const lost: Spent = { input: 0, output: 0 };
  let asked: number | undefined;
  let upstream: string | null | undefined;
  let length = 0;
  return {
    begin(request) {
      asked = estimateRequest(request);
      upstream = request.overrides.upstream_model;
    },
    brokeOff(usage, by) {
      if (asked === undefined) return;
      const before = length;
      const text = received();
      length = text.length;
      if (length === before && !usage) return;
      const tokens = {
        // A request that continues an answer contains what was received before.
        input: usage?.prompt_tokens || asked + textTokens(text.slice(0, before)),
        output: Math.max(usage?.completion_tokens ?? 0, estimateText(text.slice(before))),
      };
      const usd = turn.agent.model.costUsd?.(usageOf(tokens, usage), upstream, by);
      lost.input += tokens.input;
      lost.output += tokens.output;
      lost.usd = addUsd(lost.usd, usd);
      noteLost(turn, { ...tokens, usd });
    },
    restart() {
      length = 0;
    },
    end() {
      asked = undefined;
    },
    lost: () => lost,
  };
};

/** Estimated tokens, with the details that the provider reported of the same attempt. */
const usageOf = ({ input, output }: Tokens, usage: InferenceUsage | undefined): InferenceUsage => ({
  ...usage,
  prompt_tokens: input,
  completion_tokens: output,
});

const estimateRequest = ({ system, messages, tools }: InferenceRequest): number =>
  system.reduce((sum, each) => sum + estimateText(each), 0) +
  estimateMessages(messages) +
  estimateTools(tools);

/** An attempt was lost with its process: that its request was sent is known, what came of it is not. */
export const noteLostAttempt = (turn: Turn, request: InferenceRequest): void => {
  if (!turn.lostAttempt) return;
  turn.lostAttempt = false;
  const tokens = { input: estimateRequest(request), output: 0 };
  const { upstream_model } = request.overrides;
  noteLost(turn, { ...tokens, usd: turn.agent.model.costUsd?.(usageOf(tokens, undefined), upstream_model) });
};

/** Tokens of an attempt that broke off. */
export const noteLost = (turn: Turn, tokens: Spent): void => {
  const { lost, agent, observe } = turn;
  lost.input += tokens.input;
  lost.output += tokens.output;
  turn.costUsd = addUsd(turn.costUsd, tokens.usd);
  countTokens(turn, tokens);
  const { provider, upstream } = agent.model;
  observe.inference.cutOff({ agent: agent.spec.id, model: upstream, provider, ...tokens });
};
