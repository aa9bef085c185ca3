import type { InferenceRequest } from '../models/model.ts';
import { estimateMessages, estimateText, estimateTools } from '../plugins/context/estimate.ts';
import type { Tokens } from '../schema/cut-off.ts';
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
  const lost: Tokens = { input: 0, output: 0 };
  let asked: number | undefined;
  let length = 0;
  return {
    begin(request) {
      asked = estimateRequest(request);
    },
    brokeOff(usage) {
      if (asked === undefined) return;
      const before = length;
      const text = received();
      length = text.length;
      if (length === before && !usage) return;
      const tokens = {
        // A request that continues an answer contains what was received before.
        input: usage?.prompt_tokens || asked + Math.ceil(before / 4),
        output: Math.max(usage?.completion_tokens ?? 0, estimateText(text.slice(before))),
      };
      lost.input += tokens.input;
      lost.output += tokens.output;
      noteLost(turn, tokens);
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

const estimateRequest = ({ system, messages, tools }: InferenceRequest): number =>
  system.reduce((sum, each) => sum + estimateText(each), 0) +
  estimateMessages(messages) +
  estimateTools(tools);

/** An attempt was lost with its process: that its request was sent is known, what came of it is not. */
export const noteLostAttempt = (turn: Turn, request: InferenceRequest): void => {
  if (!turn.lostAttempt) return;
  turn.lostAttempt = false;
  noteLost(turn, { input: estimateRequest(request), output: 0 });
};

/** Tokens of an attempt that broke off. */
export const noteLost = (turn: Turn, tokens: Tokens): void => {
  const { lost, agent, observe } = turn;
  lost.input += tokens.input;
  lost.output += tokens.output;
  countTokens(turn, tokens);
  const { provider, upstream } = agent.model;
  observe.inference.cutOff({ agent: agent.spec.id, model: upstream, provider, ...tokens });
};
