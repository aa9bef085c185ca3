import type { Capabilities } from './capabilities.ts';
import type { AcceptedInput, Model } from './model.ts';

export const acceptedInput = ({ modalities }: Capabilities): AcceptedInput =>
  modalities?.input?.length ? modalities.input : undefined;

/** What any member of a pool accepts: a request that one member refuses is for another one. */
export const acceptedByAny = (members: readonly Capabilities[]): AcceptedInput => {
  const lists = members.map(acceptedInput);
  return lists.some((list) => list === undefined)
    ? undefined
    : [...new Set(lists.flatMap((list) => list ?? []))];
};

/** Tells the model, with each request, what is known of it: lists of providers change while it exists. */
export const withKnownInput = (model: Model, known: () => Capabilities): Model => ({
  ...model,
  // An embedding program may have a class whose accessors a copy does not have.
  id: model.id,
  provider: model.provider,
  upstream: model.upstream,
  stream(request, sink, signal) {
    const accepts = acceptedInput(known());
    return model.stream(accepts ? { ...request, accepts } : request, sink, signal);
  },
});
