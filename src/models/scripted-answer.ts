import type { AnswerPart } from '../schema/answer-part.ts';
import type { ProviderCall } from '../schema/provider-tool.ts';
import type { Usage } from '../schema/run-event.ts';
import type { ModelError } from './errors.ts';
import type { InferenceEnd, InferenceSink, InferenceSource, StopReason } from './model.ts';

/** One predefined completion of a scripted model. */

export type ScriptedCall = {
  id: string;
  tool: string;
  /** The arguments as JSON. */
  args: unknown;
  /** Whether the arguments are streamed as deltas, as providers do; default: all at once. */
  streamed?: boolean;
};

/**
 * Sent in this order: reasoning, calls of the provider, text, sources, parts, calls. Each text of a list is one delta.
 */
export type ScriptedAnswer = {
  reasoning?: string | readonly string[];
  /** Calls of tools that the provider executes. */
  providerCalls?: readonly ProviderCall[];
  text?: string | readonly string[];
  sources?: readonly InferenceSource[];
  parts?: readonly AnswerPart[];
  calls?: readonly ScriptedCall[];
  usage?: Usage;
  /** Default: `ToolUse` with calls, `EndTurn` without. */
  stop?: StopReason;
  /** The failure after all other output. */
  fails?: ModelError;
};

const deltas = (text: string | readonly string[] = []): readonly string[] =>
  typeof text === 'string' ? [text] : text;

const giveCall = ({ id, tool, args, streamed = false }: ScriptedCall, sink: InferenceSink): void => {
  const text = JSON.stringify(args);
  sink.toolStart(id, tool);
  if (streamed) sink.toolDelta(id, text);
  sink.toolEnd(id, text);
};

/** Sends everything at once. @throws the error in `fails` */
export const giveAnswer = (answer: ScriptedAnswer, sink: InferenceSink): InferenceEnd => {
  const { reasoning, providerCalls = [], text, sources = [], parts = [], calls = [], usage, fails } = answer;
  for (const delta of deltas(reasoning)) if (delta !== '') sink.reasoning(delta);
  for (const call of providerCalls) sink.providerCall?.(call);
  for (const delta of deltas(text)) if (delta !== '') sink.text(delta);
  for (const source of sources) sink.source?.(source);
  for (const part of parts) sink.part?.(part);
  for (const call of calls) giveCall(call, sink);
  if (fails) throw fails;
  const stop = answer.stop ?? (calls.length > 0 ? 'ToolUse' : 'EndTurn');
  return usage ? { stop, usage } : { stop };
};
