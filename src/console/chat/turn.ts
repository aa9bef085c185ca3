import type { UIMessage } from 'ai';
import { addUsd } from '../../schema/usd.ts';
import { isObject } from '../data/guard.ts';
import { callsIn } from './call.ts';

/** Facts that the service reports about the runs of a message, from the data parts of the stream. */
export type Turn = {
  /** A message that was continued was written by several runs. */
  runIds: string[];
  threadId: string | undefined;
  model: string | undefined;
  inferences: number;
  /** Time spent in the model, in milliseconds. */
  durationMs: number;
  inputTokens: number;
  outputTokens: number;
  /** Undefined if the service reports no cost. */
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
    if (part.type === 'data-run-info') addRun(turn, part.data);
    else if (part.type === 'data-inference-complete') addInference(turn, part.data);
  }
  return turn;
};

const addRun = (turn: Turn, data: unknown): void => {
  const runId = textAt(data, 'runId');
  if (runId !== undefined && !turn.runIds.includes(runId)) turn.runIds.push(runId);
  turn.threadId = textAt(data, 'threadId') ?? turn.threadId;
};

const addInference = (turn: Turn, data: unknown): void => {
  const usage = isObject(data) ? data.usage : undefined;
  turn.inferences += 1;
  turn.model = textAt(data, 'model') ?? turn.model;
  turn.durationMs += numberAt(data, 'durationMs');
  turn.inputTokens += numberAt(usage, 'prompt_tokens');
  turn.outputTokens += numberAt(usage, 'completion_tokens');
  turn.costUsd = addUsd(turn.costUsd, costAt(data));
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
