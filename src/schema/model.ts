import { z } from 'zod';
import { isObject, nullsAbsent, withoutNulls } from './endpoint.ts';
import { JsonObject } from './json.ts';
import { listOf } from './list.ts';
import { modelSettingFields } from './model-settings.ts';
import { requiredText } from './problems.ts';

/** Models, pools of models and providers (agent-loop.md 2.1 to 2.3, config.md 3.2 to 3.4). */

const u32 = z.int().nonnegative().max(4_294_967_295);

const aboveZero = (field: string) =>
  u32.refine((count) => count > 0, `field '${field}' must be greater than zero`).meta({ minimum: 1 });

const price = (field: string) =>
  z
    .number()
    .refine((usd) => usd >= 0, `field '${field}' must be a finite number of 0 or more`)
    .meta({ minimum: 0 });

export const Modality = z.enum(['text', 'image', 'audio', 'video', 'pdf']);

const modalities = (direction: 'input' | 'output') =>
  listOf(Modality).superRefine((list, context) => {
    const twice = list.find((one, index) => list.indexOf(one) !== index);
    if (twice) context.addIssue(`'modalities.${direction}' contains duplicate '${twice}'`);
  });

const ModalityFields = z.strictObject({
  input: modalities('input').optional(),
  output: modalities('output').optional(),
});

/** Whether the text is a valid calendar date, `YYYY-MM` or `YYYY-MM-DD`. */
export const isDate = (text: string): boolean => {
  if (!/^\d{4}-\d{2}(-\d{2})?$/.test(text)) return false;
  const day = text.length === 7 ? `${text}-01` : text;
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
};

const modelFields = {
  id: requiredText('id'),
  provider_id: requiredText('provider_id'),
  upstream_model: requiredText('upstream_model'),
  context_window: aboveZero('context_window').optional(),
  max_output_tokens: aboveZero('max_output_tokens').optional(),
  modalities: nullsAbsent(ModalityFields).optional(),
  knowledge_cutoff: z
    .string()
    .trim()
    .refine(isDate, "field 'knowledge_cutoff' must be a date: YYYY-MM or YYYY-MM-DD")
    .meta({ description: 'YYYY-MM or YYYY-MM-DD' })
    .optional(),
  input_token_price_per_million_usd: price('input_token_price_per_million_usd').optional(),
  output_token_price_per_million_usd: price('output_token_price_per_million_usd').optional(),
  ...modelSettingFields,
  cached_input_token_price_per_million_usd: price('cached_input_token_price_per_million_usd').optional(),
  cache_write_5m_token_price_per_million_usd: price('cache_write_5m_token_price_per_million_usd').optional(),
  cache_write_1h_token_price_per_million_usd: price('cache_write_1h_token_price_per_million_usd').optional(),
  reasoning_token_price_per_million_usd: price('reasoning_token_price_per_million_usd').optional(),
};

const ModelFields = z
  .strictObject(modelFields)
  .superRefine(({ context_window: window, max_output_tokens: output, max_tokens: most }, context) => {
    if (window !== undefined && output !== undefined && output > window) {
      context.addIssue(`max_output_tokens (${output}) must not exceed context_window (${window})`);
    }
    if (most !== undefined && output !== undefined && most > output) {
      context.addIssue(`max_tokens (${most}) must not exceed max_output_tokens (${output})`);
    }
  });

/** Removes empty lists of modalities. */
const unlessEmpty = ({ modalities: given, ...spec }: z.infer<typeof ModelFields>) => {
  const { input, output } = given ?? {};
  const modalities = { ...(input?.length && { input }), ...(output?.length && { output }) };
  return { ...spec, ...(Object.keys(modalities).length > 0 && { modalities }) };
};

export const ModelSpec = nullsAbsent(ModelFields)
  .transform(unlessEmpty)
  .meta({ id: 'ModelSpec', description: 'A model of a provider.' });
export type ModelSpec = z.infer<typeof ModelSpec>;

/** Known properties of a model apart from its entry, in the fields of the entry. */
export const KnownFields = z
  .object({
    context_window: modelFields.context_window,
    max_output_tokens: modelFields.max_output_tokens,
    modalities: ModalityFields.optional(),
    knowledge_cutoff: modelFields.knowledge_cutoff,
    input_token_price_per_million_usd: modelFields.input_token_price_per_million_usd,
    output_token_price_per_million_usd: modelFields.output_token_price_per_million_usd,
    cached_input_token_price_per_million_usd: modelFields.cached_input_token_price_per_million_usd,
    cache_write_5m_token_price_per_million_usd: modelFields.cache_write_5m_token_price_per_million_usd,
    cache_write_1h_token_price_per_million_usd: modelFields.cache_write_1h_token_price_per_million_usd,
    reasoning_token_price_per_million_usd: modelFields.reasoning_token_price_per_million_usd,
  })
  .meta({
    id: 'KnownModel',
    description:
      'Limits, abilities and prices from the list of the provider, or else from the catalog of public models. They apply to fields that the entry of the model omits; a price in the entry also replaces the known prices of parts of the same tokens.',
  });
export type KnownFields = z.infer<typeof KnownFields>;

const MemberFields = z.strictObject({
  model_id: requiredText('model_id'),
  weight: u32.default(1).meta({ minimum: 1 }),
  role: z.enum(['member', 'failover_only']).default('member'),
});

const RoutingFields = z.strictObject({
  home: z.enum(['deterministic', 'round_robin', 'first_healthy']).default('deterministic'),
  sticky_scope: z.enum(['thread', 'run']).default('thread'),
});

const SwitchFields = z.strictObject({
  on_circuit_open: z.boolean().default(true),
  on_quota: z.boolean().default(true),
  quota_retry_after_threshold_secs: z.int().nonnegative().optional(),
  on_permanent: z.boolean().default(true),
  max_switches_per_session: u32.optional(),
});

const PoolFields = z
  .strictObject({
    id: requiredText('id'),
    members: listOf(nullsAbsent(MemberFields)).meta({ minItems: 1 }),
    routing: nullsAbsent(RoutingFields).prefault({}),
    switch: nullsAbsent(SwitchFields).prefault({}),
  })
  .superRefine(({ members }, context) => {
    if (members.length === 0) return context.addIssue('must declare at least one member');
    const seen = new Set<string>();
    for (const { model_id, weight } of members) {
      if (seen.has(model_id)) context.addIssue(`duplicate member model_id '${model_id}'`);
      seen.add(model_id);
      if (weight === 0) context.addIssue(`member '${model_id}' weight must be greater than zero`);
    }
    if (members.every(({ role }) => role !== 'member')) {
      context.addIssue("at least one member must be home-eligible (role 'member')");
    }
  });

export const PoolSpec = nullsAbsent(PoolFields).meta({
  id: 'ModelPoolSpec',
  description: 'Models with failover between them.',
});
export type PoolSpec = z.infer<typeof PoolSpec>;

const ProviderFields = z.strictObject({
  id: requiredText('id'),
  adapter: requiredText('adapter'),
  api_key: z.string().nullable().optional(),
  base_url: z.string().nullable().optional().meta({ format: 'uri' }),
  timeout_secs: z.int().nonnegative().optional().meta({ description: 'default 300' }),
  adapter_options: JsonObject.optional(),
});

/** An empty key or URL counts as absent; `has_api_key` is an output field that reports a stored key. */
const asGiven = (given: z.input<typeof ProviderFields>): unknown => {
  const spec = withoutNulls(given);
  if (!isObject(spec)) return spec;
  const { has_api_key: _, ...rest } = spec;
  return Object.fromEntries(
    Object.entries(rest).filter(
      ([field, value]) => !(value === '' && ['api_key', 'base_url'].includes(field)),
    ),
  );
};

export const ProviderSpec = z
  .preprocess(asGiven, ProviderFields)
  .meta({ id: 'ProviderSpec', description: 'A model provider with its credentials.' });
export type ProviderSpec = z.infer<typeof ProviderSpec>;
