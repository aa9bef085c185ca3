import { ModelError } from '../../src/models/errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Model } from '../../src/models/model.ts';
import type { Message } from '../../src/schema/message.ts';

/** The output that a sink received, in order. */
export type Heard =
  | ['text' | 'reasoning' | 'encrypted', string]
  | ['start' | 'delta' | 'end', id: string, value: string];

export const recordingSink = (heard: Heard[]): InferenceSink => ({
  text: (delta) => heard.push(['text', delta]),
  reasoning: (delta) => heard.push(['reasoning', delta]),
  reasoningEncrypted: (value) => heard.push(['encrypted', value]),
  toolStart: (id, name) => heard.push(['start', id, name]),
  toolDelta: (id, delta) => heard.push(['delta', id, delta]),
  toolEnd: (id, args) => heard.push(['end', id, args]),
});

export const userMessage = (text: string): Message => ({
  id: `m-${text}`,
  role: 'user',
  content: [{ type: 'text', text }],
});

export const requestOf = (text: string, more: Partial<InferenceRequest> = {}): InferenceRequest => ({
  system: [],
  messages: [userMessage(text)],
  tools: [],
  overrides: {},
  ...more,
});

export const infer = async (
  model: Model,
  request: InferenceRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ heard: Heard[]; end: InferenceEnd }> => {
  const heard: Heard[] = [];
  const end = await model.stream(request, recordingSink(heard), signal);
  return { heard, end };
};

/** The `ModelError` of an inference, and the output before it. */
export const inferenceFailure = async (
  model: Model,
  request: InferenceRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ heard: Heard[]; error: ModelError }> => {
  const heard: Heard[] = [];
  try {
    await model.stream(request, recordingSink(heard), signal);
  } catch (error) {
    if (error instanceof ModelError) return { heard, error };
    throw error;
  }
  throw new Error('the inference did not fail');
};

export const joined = (heard: readonly Heard[], kind: 'text' | 'reasoning'): string =>
  heard.map((entry) => (entry[0] === kind ? entry[1] : '')).join('');

/** Streamed arguments by call id. */
export const joinedArgs = (heard: readonly Heard[]): Record<string, string> => {
  const args: Record<string, string> = {};
  for (const [kind, id, delta = ''] of heard) {
    if (kind === 'delta') args[id] = (args[id] ?? '') + delta;
  }
  return args;
};
