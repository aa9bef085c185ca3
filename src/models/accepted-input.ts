import type { Capabilities } from './capabilities.ts';
import type { AcceptedInput, Model } from './model.ts';

export const acceptedInput = ({ modalities }: Capabilities): AcceptedInput =>
  modalities?.input?.length ? modalities.input : undefined;

/**
 * The union of the kinds of input that the members of a pool accept: the pool passes a request that one member rejects
 * to another.
 */
export const acceptedByAny = (members: readonly Capabilities[]): AcceptedInput => {
  const lists = members.map(acceptedInput);
  return lists.some((list) => list === undefined)
    ? undefined
    : [...new Set(lists.flatMap((list) => list ?? []))];
};

/**
 * Adds the kinds of input that the model currently accepts to each request, because the lists of providers change
 * during the life of a model.
 */
export const withKnownInput = (model: Model, known: () => Capabilities): Model => ({
  ...model,
  // The model of an embedding program may be a class instance, whose accessors a spread does not copy.
  id: model.id,
  provider: model.provider,
  upstream: model.upstream,
  stream(request, sink, signal) {
    const accepts = acceptedInput(known());
    return model.stream(accepts ? { ...request, accepts } : request, sink, signal);
  },
});
