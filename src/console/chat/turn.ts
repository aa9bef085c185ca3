import type { UIMessage } from 'ai';
import { addUsd } from '../data/cost.ts';
import { isObject } from '../data/guard.ts';
import { callsIn } from './call.ts';

/** What the service tells of a run beside what the agent says: data parts of the stream. */
export type Turn = {
  /** A message that was continued has been written by more than one. */
  runIds: string[];
  threadId: string | undefined;
  model: string | undefined;
  inferences: number;
  /** Milliseconds that the model took. */
  durationMs: number;
  inputTokens: number;
  outputTokens: number;
  /** Undefined where the service reports none. */
  costUsd: number | undefined;
};

const textAt = (data: unknown, key: string): string | undefined => {
  const value = isObject(data) ? data[key] : undefined;
  return typeof value === 'string' ? value : undefined;
};

const numberAt = (data: unknown, key: string): number => {
  const value = isObject(data) ? data[key] : undefined;
  return typeof value === 'number' ? value : 0;
};

const costAt = (data: unknown): number | undefined =>
  isObject(data) && typeof data.costUsd === 'number' ? data.costUsd : undefined;

export const turnOf = ({ parts }: Pick<UIMessage, 'parts'>): Turn => {
  const turn: Turn = {
    runIds: [],
    threadId: undefined,
    model: undefined,
    inferences: 0,
    durationMs: 0,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: undefined,
  };
  for (const part of parts) {
    if (!('data' in part)) continue;
    const { data } = part;
    if (part.type === 'data-run-info') {
      const runId = textAt(data, 'runId');
      if (runId !== undefined && !turn.runIds.includes(runId)) turn.runIds.push(runId);
      turn.threadId = textAt(data, 'threadId') ?? turn.threadId;
    } else if (part.type === 'data-inference-complete') {
      const usage = isObject(data) ? data.usage : undefined;
      turn.inferences += 1;
      turn.model = textAt(data, 'model') ?? turn.model;
      turn.durationMs += numberAt(data, 'durationMs');
      turn.inputTokens += numberAt(usage, 'prompt_tokens');
      turn.outputTokens += numberAt(usage, 'completion_tokens');
      turn.costUsd = addUsd(turn.costUsd, costAt(data));
    }
  }
  return turn;
};

export type Stats = {
  messages: number;
  calls: number;
  lastTurnMs: number | undefined;
  inputTokens: number;
  outputTokens: number;
  costUsd: number | undefined;
};

export const statsOf = (messages: readonly UIMessage[]): Stats => {
  const turns = messages.filter(({ role }) => role === 'assistant').map(turnOf);
  const sum = (of: (turn: Turn) => number): number => turns.reduce((total, turn) => total + of(turn), 0);
  const last = turns.findLast(({ inferences }) => inferences > 0);
  return {
    messages: messages.length,
    calls: messages.reduce((total, message) => total + callsIn(message).length, 0),
    lastTurnMs: last?.durationMs,
    inputTokens: sum((turn) => turn.inputTokens),
    outputTokens: sum((turn) => turn.outputTokens),
    costUsd: turns.map(({ costUsd }) => costUsd).reduce(addUsd, undefined),
  };
};
