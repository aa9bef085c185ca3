import type { ModelSpec } from '../schema/model.ts';
import type { KnownModel } from './catalog.ts';

/**
 * Capabilities of a model (agent-loop.md 2.1), from three sources in order of precedence: its entry, its provider's
 * list of models, the catalog of public models.
 */

export type Capabilities = Pick<
  ModelSpec,
  'context_window' | 'max_output_tokens' | 'modalities' | 'knowledge_cutoff'
>;

/** `discovered`: capabilities from the provider's list. */
export const mergeCapabilities = (
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
    // Two sources may contradict each other; a completion never exceeds the context window.
    ...(output !== undefined && {
      max_output_tokens: Math.min(output, context_window ?? Number.POSITIVE_INFINITY),
    }),
    ...(modalities && { modalities }),
    ...(knowledge_cutoff !== undefined && { knowledge_cutoff }),
  };
};

type Modalities = Pick<KnownModel, 'input' | 'output'>;

/** Uses the first source with a list; an empty list counts as missing. */
const modalitiesOf = (sources: readonly (Modalities | undefined)[]): Capabilities['modalities'] => {
  const input = sources.find((source) => source?.input?.length)?.input;
  const output = sources.find((source) => source?.output?.length)?.output;
  if (!input && !output) return undefined;
  return { ...(input && { input: [...input] }), ...(output && { output: [...output] }) };
};

/** The capabilities that every member of a pool has. */
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

/** A missing list does not restrict the values. */
const common = <Value>(lists: readonly (readonly Value[] | undefined)[]): Value[] | undefined => {
  const [first, ...others] = lists.flatMap((list) => (list ? [list] : []));
  return first?.filter((value) => others.every((list) => list.includes(value)));
};
