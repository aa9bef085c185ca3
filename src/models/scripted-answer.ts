import type { AnswerPart } from '../schema/answer-part.ts';
import type { ProviderCall } from '../schema/provider-tool.ts';
import type { Usage } from '../schema/run-event.ts';
import type { ModelError } from './errors.ts';
import type { InferenceEnd, InferenceSink, InferenceSource, StopReason } from './model.ts';

/** One answer of a model that is no model: what it says is known before. */

export type ScriptedCall = {
  id: string;
  tool: string;
  /** The arguments as JSON; a string that is no JSON cannot be given. */
  args: unknown;
  /** Whether the arguments come bit by bit, as providers stream them; default: at once. */
  streamed?: boolean;
};

/** Given in this order: reasoning, calls of the provider, text, sources, parts, calls. A list of texts is one delta each. */
export type ScriptedAnswer = {
  reasoning?: string | readonly string[];
  /** Calls of tools that the provider executes. */
  providerCalls?: readonly ProviderCall[];
  text?: string | readonly string[];
  /** What the answer refers to. */
  sources?: readonly InferenceSource[];
  parts?: readonly AnswerPart[];
  calls?: readonly ScriptedCall[];
  usage?: Usage;
  /** Default: `ToolUse` with calls, `EndTurn` without. */
  stop?: StopReason;
  /** Breaks off with this, behind everything else. */
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

/** Gives all of it at once. @throws what it fails with */
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
