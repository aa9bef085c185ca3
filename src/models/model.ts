import type { ToolDescriptor } from '../schema/agent.ts';
import type { Message } from '../schema/message.ts';
import type { ModelSpec } from '../schema/model.ts';
import type { InferenceOverrides } from '../schema/run.ts';
import type { Usage } from '../schema/run-event.ts';

/**
 * What the loop programs against: a model pushes its answer into a sink and returns how it ended.
 *
 * Guarantees: the sink is called synchronously, in the order of the provider's stream, and never again once the
 * signal has fired or the promise has settled. A failure is a `ModelError`, unless the sink itself threw.
 * Costs: one call a delta; no event object and no promise of this layer's own.
 */

export type InferenceRequest = {
  /** System texts in order. */
  system: readonly string[];
  /** History without the system prompt; every tool message answers a call before it. */
  messages: readonly Message[];
  tools: readonly ToolDescriptor[];
  /** `null` or absent = unset. */
  overrides: Partial<InferenceOverrides>;
};

export type InferenceSink = {
  text(delta: string): void;
  reasoning(delta: string): void;
  /** Opaque text that a provider wants back; complete. */
  reasoningEncrypted(value: string): void;
  toolStart(id: string, name: string): void;
  toolDelta(id: string, argsDelta: string): void;
  /** `argsText` is the whole JSON text of the arguments; it is broken only if the model wrote it so. */
  toolEnd(id: string, argsText: string): void;
};

export type StopReason = 'EndTurn' | 'MaxTokens' | 'ToolUse' | 'StopSequence';

export type InferenceEnd = { usage?: Usage; stop: StopReason };

export type Model = {
  id: string;
  /** id of the provider */
  provider: string;
  /** name of the model at the provider */
  upstream: string;
  stream(request: InferenceRequest, sink: InferenceSink, signal: AbortSignal): Promise<InferenceEnd>;
};

export type Provider = {
  id: string;
  model(spec: ModelSpec): Model;
};
