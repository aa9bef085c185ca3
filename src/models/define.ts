import type { ModelSpec } from '../schema/model.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Provider, Structured } from './model.ts';

/**
 * The parts of a provider that a program implements, for `defineProvider`.
 *
 * @example
 * ```ts
 * const echo: ProviderDefinition = {
 *   id: 'echo',
 *   stream: async ({ messages }, sink, { signal }) => {
 *     for (const block of messages.at(-1)?.content ?? []) {
 *       signal.throwIfAborted();
 *       if (block.type === 'text') sink.text(block.text);
 *     }
 *     return { stop: 'EndTurn' };
 *   },
 * };
 * ```
 */
export type ProviderDefinition = {
  /** The value of `provider_id` in models. */
  id: string;
  /**
   * Streams one completion to the sink, in order, and returns how it ended. It must stop when the signal is aborted. A
   * failure that callers can classify must be a `ModelError`.
   */
  stream(
    request: InferenceRequest,
    sink: InferenceSink,
    about: { model: ModelSpec; signal: AbortSignal },
  ): Promise<InferenceEnd>;
  /**
   * Declares that the provider honors `output` of a request: together with tools, or only in requests without them. If
   * absent, a structured result is requested as a tool call.
   */
  structured?: Structured;
};

/**
 * Defines a model provider that the embedding program implements. Models refer to it by its id.
 *
 * @example
 * ```ts
 * const parrot = defineProvider({
 *   id: 'parrot',
 *   stream: async ({ messages }, sink) => {
 *     sink.text(`${messages.length} messages so far`);
 *     return { stop: 'EndTurn' };
 *   },
 * });
 * const models = [{ id: 'parrot', provider_id: 'parrot', upstream_model: 'parrot' }];
 * const troupe = await createTroupe({
 *   listen: false,
 *   settings: { storage_dir: './data' },
 *   providers: [parrot],
 *   models,
 * });
 * await troupe.stop();
 * ```
 */
export const defineProvider = ({ id, stream, structured }: ProviderDefinition): Provider => ({
  id,
  model: (model) => ({
    id: model.id,
    provider: id,
    upstream: model.upstream_model,
    ...(structured && { structured: () => structured }),
    // The function is async so that a synchronous throw is a failed inference too.
    stream: async (request, sink, signal) => stream(request, sink, { model, signal }),
  }),
});
