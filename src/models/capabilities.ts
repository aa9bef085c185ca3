import type { ModelSpec } from '../schema/model.ts';
import type { KnownModel } from './catalog.ts';

/**
 * What is known of a model (agent-loop.md 2.1): first what its entry says, then what the list of its provider says,
 * then what the catalog of public models has.
 */

export type Capabilities = Pick<
  ModelSpec,
  'context_window' | 'max_output_tokens' | 'modalities' | 'knowledge_cutoff'
>;

/** `discovered` is what the provider's own list says of the model. */
export const capabilitiesOf = (
  spec: Capabilities,
  discovered: Capabilities = {},
  known: KnownModel = {},
): Capabilities => {
  const context_window = spec.context_window ?? discovered.context_window ?? known.context_window;
  const output = spec.max_output_tokens ?? discovered.max_output_tokens ?? known.max_output_tokens;
  const knowledge_cutoff = spec.knowledge_cutoff ?? discovered.knowledge_cutoff ?? known.knowledge_cutoff;
  const modalities = modalitiesOf([spec.modalities, discovered.modalities, known]);
  return {
    ...(context_window !== undefined && { context_window }),
    // Two sources may contradict each other; an answer never exceeds the window.
    ...(output !== undefined && {
      max_output_tokens: Math.min(output, context_window ?? Number.POSITIVE_INFINITY),
    }),
    ...(modalities && { modalities }),
    ...(knowledge_cutoff !== undefined && { knowledge_cutoff }),
  };
};

type Modalities = Pick<KnownModel, 'input' | 'output'>;

/** The first source that has a list; an empty one is none. */
const modalitiesOf = (sources: readonly (Modalities | undefined)[]): Capabilities['modalities'] => {
  const input = sources.find((source) => source?.input?.length)?.input;
  const output = sources.find((source) => source?.output?.length)?.output;
  if (!input && !output) return undefined;
  return { ...(input && { input: [...input] }), ...(output && { output: [...output] }) };
};

/** What may be relied on whichever member of a pool answers. */
export const sharedCapabilities = (members: readonly Capabilities[]): Capabilities => {
  const context_window = least(members.map((each) => each.context_window));
  const max_output_tokens = least(members.map((each) => each.max_output_tokens));
  const input = common(members.map(({ modalities }) => modalities?.input));
  const output = common(members.map(({ modalities }) => modalities?.output));
  const cutoffs = members.flatMap(({ knowledge_cutoff }) => knowledge_cutoff ?? []).sort();
  const [knowledge_cutoff] = cutoffs.length === members.length ? cutoffs : [];
  return {
    ...(context_window !== undefined && { context_window }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...((input || output) && { modalities: { ...(input && { input }), ...(output && { output }) } }),
    ...(knowledge_cutoff !== undefined && { knowledge_cutoff }),
  };
};

const least = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.flatMap((value) => value ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** A member that says nothing takes anything. */
const common = <Value>(lists: readonly (readonly Value[] | undefined)[]): Value[] | undefined => {
  const [first, ...others] = lists.flatMap((list) => (list ? [list] : []));
  return first?.filter((value) => others.every((list) => list.includes(value)));
};
