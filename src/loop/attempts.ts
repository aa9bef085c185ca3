import type { InferenceRequest, InferenceUsage } from '../models/model.ts';
import { estimateRequest, estimateText } from '../plugins/context/estimate.ts';
import { textTokens } from '../plugins/context/text-tokens.ts';
import type { Spent, Tokens } from '../schema/cut-off.ts';
import type { Granted } from '../schema/spending.ts';
import { addUsd } from '../schema/usd.ts';
import { usedBy } from './allowance.ts';
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
  let sent: InferenceRequest | undefined;
  let allowance: Granted | undefined;
  let before: Spent | undefined;
  let requestTokens: number | undefined;
  let upstream: string | null | undefined;
  let length = 0;
  return {
    begin(request, permitted, lostBefore) {
      sent = request;
      allowance = permitted;
      before = lostBefore;
      requestTokens = estimateRequest(request);
      upstream = request.overrides.upstream_model;
    },
    brokeOff(usage, by) {
      if (requestTokens === undefined) return;
      const start = length;
      const text = received();
      length = text.length;
      if (length === start && !usage) return;
      const tokens = {
        // A request that continues an answer contains the output that was received before.
        input: usage?.prompt_tokens || requestTokens + textTokens(text.slice(0, start)),
        output: Math.max(usage?.completion_tokens ?? 0, estimateText(text.slice(start))),
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
    end(completed) {
      if (allowance && sent) {
        const used = completed && usedBy(turn.agent.model, sent, completed, () => received().slice(length));
        allowance.settle({
          tokens: tokensIn(lost) + tokensIn(before) + (used?.tokens ?? 0),
          usd: addUsd(addUsd(lost.usd, before?.usd), used?.usd),
        });
      }
      allowance = undefined;
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

const tokensIn = (spent: Spent | undefined): number => (spent ? spent.input + spent.output : 0);

/**
 * Counts an attempt that was lost with its process: its request was sent, its output is unknown. Returns what it has
 * spent.
 */
export const noteLostAttempt = (turn: Turn, request: InferenceRequest): Spent | undefined => {
  if (!turn.lostAttempt) return undefined;
  turn.lostAttempt = false;
  const tokens = { input: estimateRequest(request), output: 0 };
  const { upstream_model } = request.overrides;
  const usd = turn.agent.model.costUsd?.(usageOf(tokens, undefined), upstream_model);
  noteLost(turn, { ...tokens, usd });
  return { ...tokens, usd };
};

/** Counts the tokens of an aborted attempt. */
export const noteLost = (turn: Turn, tokens: Spent, model = turn.agent.model.id): void => {
  const { lost, agent, observe } = turn;
  lost.input += tokens.input;
  lost.output += tokens.output;
  turn.costUsd = addUsd(turn.costUsd, tokens.usd);
  countTokens(turn, tokens);
  turn.noteUsage({ agent: agent.spec.id, model, ...tokens });
  const { provider, upstream } = agent.model;
  observe.inference.cutOff({ agent: agent.spec.id, model: upstream, provider, ...tokens });
};
