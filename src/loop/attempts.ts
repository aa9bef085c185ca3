import type { InferenceRequest, InferenceUsage } from '../models/model.ts';
import { estimateMessages, estimateText, estimateTools } from '../plugins/context/estimate.ts';
import { textTokens } from '../plugins/context/text-tokens.ts';
import type { Spent, Tokens } from '../schema/cut-off.ts';
import { addUsd } from '../schema/usd.ts';
import { countTokens } from './rounds.ts';
import type { Attempts, Turn } from './turn.ts';

/**
 * The attempts of one inference, and the tokens of aborted ones.
 *
 * Guarantees: an attempt is counted at most once, on its failure or at the end of its step; an attempt without any
 * received output costs nothing. Providers report tokens at the end of an answer, so the counts are estimates
 * (agent-loop.md 12.1), except for the usage that a provider reported before the connection broke.
 * Cost: nothing per token.
 *
 * @param received returns all received output of the answer: text, reasoning, names and arguments of calls
 */
export const trackAttempts = (turn: Turn, received: () => string): Attempts => {
  const lost: Spent = { input: 0, output: 0 };
  let requestTokens: number | undefined;
  let upstream: string | null | undefined;
  let length = 0;
  return {
    begin(request) {
      requestTokens = estimateRequest(request);
      upstream = request.overrides.upstream_model;
    },
    brokeOff(usage, by) {
      if (requestTokens === undefined) return;
      const before = length;
      const text = received();
      length = text.length;
      if (length === before && !usage) return;
      const tokens = {
        // A request that continues an answer contains the output that was received before.
        input: usage?.prompt_tokens || requestTokens + textTokens(text.slice(0, before)),
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
      requestTokens = undefined;
    },
    lost: () => lost,
  };
};

/** Estimated tokens, with the details that the provider reported for the same attempt. */
const usageOf = ({ input, output }: Tokens, usage: InferenceUsage | undefined): InferenceUsage => ({
  ...usage,
  prompt_tokens: input,
  completion_tokens: output,
});

const estimateRequest = ({ system, messages, tools }: InferenceRequest): number =>
  system.reduce((sum, each) => sum + estimateText(each), 0) +
  estimateMessages(messages) +
  estimateTools(tools);

/** Counts an attempt that was lost with its process: its request was sent, its output is unknown. */
export const noteLostAttempt = (turn: Turn, request: InferenceRequest): void => {
  if (!turn.lostAttempt) return;
  turn.lostAttempt = false;
  const tokens = { input: estimateRequest(request), output: 0 };
  const { upstream_model } = request.overrides;
  noteLost(turn, { ...tokens, usd: turn.agent.model.costUsd?.(usageOf(tokens, undefined), upstream_model) });
};

/** Counts the tokens of an aborted attempt. */
export const noteLost = (turn: Turn, tokens: Spent): void => {
  const { lost, agent, observe } = turn;
  lost.input += tokens.input;
  lost.output += tokens.output;
  turn.costUsd = addUsd(turn.costUsd, tokens.usd);
  countTokens(turn, tokens);
  const { provider, upstream } = agent.model;
  observe.inference.cutOff({ agent: agent.spec.id, model: upstream, provider, ...tokens });
};
