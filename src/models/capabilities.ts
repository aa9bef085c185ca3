import type { ModelSpec } from '../schema/model.ts';

/**
 * What is known of a model (agent-loop.md 2.1): first what its entry says, then what its provider's list said,
 * then what is known of its family. Families are only good enough for limits: modalities and the cutoff date
 * come from the first two or not at all, because a wrong one would refuse what the model can do.
 */

export type Capabilities = Pick<
  ModelSpec,
  'context_window' | 'max_output_tokens' | 'modalities' | 'knowledge_cutoff'
>;

type Limits = Required<Pick<Capabilities, 'context_window' | 'max_output_tokens'>>;

const limits = (context_window: number, max_output_tokens: number): Limits => ({
  context_window,
  max_output_tokens,
});

/** By the beginning of the upstream name; the first that applies. */
const FAMILIES: readonly [name: RegExp, limits: Limits][] = [
  [/^gpt-4o/, limits(128_000, 16_384)],
  [/^gpt-4\.1/, limits(1_047_576, 32_768)],
  [/^gpt-5\.[45]/, limits(1_050_000, 128_000)],
  [/^(o1|o3|o4-mini)/, limits(200_000, 100_000)],
  [/^claude-opus-4-7/, limits(1_000_000, 128_000)],
  [/^claude-sonnet-4-6/, limits(1_000_000, 64_000)],
  [/^claude-haiku-4-5/, limits(200_000, 64_000)],
  [/^claude-((opus|sonnet|haiku)-)?4/, limits(200_000, 32_000)],
  [/^claude-3/, limits(200_000, 8192)],
  [/^gemini-(1\.5|2\.0)/, limits(1_048_576, 8192)],
  [/^gemini-2\.5/, limits(1_048_576, 65_536)],
];

const familyOf = (upstream: string): Partial<Limits> => {
  const name = upstream
    .trim()
    .toLowerCase()
    .replace(/^models\//, '');
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? {};
};

/** `discovered` is what the provider's own list says of the model. */
export const capabilitiesOf = (spec: ModelSpec, discovered: Capabilities = {}): Capabilities => {
  const family = familyOf(spec.upstream_model);
  const context_window = spec.context_window ?? discovered.context_window ?? family.context_window;
  const output = spec.max_output_tokens ?? discovered.max_output_tokens ?? family.max_output_tokens;
  const knowledge_cutoff = spec.knowledge_cutoff ?? discovered.knowledge_cutoff;
  const modalities = modalitiesOf(spec, discovered);
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

/** An empty list says nothing. */
const modalitiesOf = (
  { modalities: own }: Capabilities,
  { modalities: found }: Capabilities,
): Capabilities['modalities'] => {
  const input = own?.input?.length ? own.input : found?.input;
  const output = own?.output?.length ? own.output : found?.output;
  if (!input?.length && !output?.length) return undefined;
  return { ...(input?.length && { input }), ...(output?.length && { output }) };
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
