import type { ModelSpec } from '../schema/model.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Provider, Structured } from './model.ts';

export type ProviderDefinition = {
  /** What models name as their `provider_id`. */
  id: string;
  /**
   * Gives one answer to the sink, in order, and says how it ended. It stops when the signal fires. A failure that
   * others can make sense of is a `ModelError`.
   */
  stream(
    request: InferenceRequest,
    sink: InferenceSink,
    about: { model: ModelSpec; signal: AbortSignal },
  ): Promise<InferenceEnd>;
  /**
   * The provider keeps to `output` of a request: together with tools, or in requests without them. Without, a
   * structured result is asked for as a call of a tool.
   */
  structured?: Structured;
};

/**
 * A provider of models that the program brings itself.
 *
 * @example
 * const parrot = defineProvider({
 *   id: 'parrot',
 *   stream: async ({ messages }, sink) => {
 *     sink.text(`${messages.length} messages so far`);
 *     return { stop: 'EndTurn' };
 *   },
 * });
 */
export const defineProvider = ({ id, stream, structured }: ProviderDefinition): Provider => ({
  id,
  model: (model) => ({
    id: model.id,
    provider: id,
    upstream: model.upstream_model,
    ...(structured && { structured: () => structured }),
    // Also what is thrown before the first await is a failed inference.
    stream: async (request, sink, signal) => stream(request, sink, { model, signal }),
  }),
});
