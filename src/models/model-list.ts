import { z } from 'zod';
import { isDate, Modality, type ModelSpec } from '../schema/model.ts';
import { BOUNDS } from './bounds.ts';
import type { Capabilities } from './capabilities.ts';
import { listName } from './upstream-name.ts';

/**
 * Parses a provider's list of models (config.md 7.1). Parsing is lenient: a missing, zero or malformed field is
 * ignored.
 */

export type ListSchema = 'openai' | 'gemini' | 'bedrock';

/** Keyed by upstream name, as `listName` spells it. */
export type ModelList = ReadonlyMap<string, Capabilities>;

const count = z.int().positive().max(4_294_967_295).optional().catch(undefined);
const names = z.array(z.string()).optional().catch(undefined);

const Modalities = z.object({
  input_modalities: names,
  inputModalities: names,
  output_modalities: names,
  outputModalities: names,
});

const OpenAiItem = Modalities.extend({
  id: z.string(),
  context_window: count,
  context_length: count,
  context_size: count,
  max_context_length: count,
  max_model_len: count,
  max_output_tokens: count,
  max_completion_tokens: count,
  top_provider: z.object({ max_completion_tokens: count }).optional().catch(undefined),
  architecture: Modalities.optional().catch(undefined),
  knowledge_cutoff: z.string().trim().refine(isDate).optional().catch(undefined),
}).transform((item) => ({
  name: item.id,
  window:
    item.context_window ??
    item.context_length ??
    item.context_size ??
    item.max_context_length ??
    item.max_model_len,
  output: item.max_output_tokens ?? item.max_completion_tokens ?? item.top_provider?.max_completion_tokens,
  modalities: modalitiesOf(item.architecture) ?? modalitiesOf(item),
  knowledge_cutoff: item.knowledge_cutoff,
}));

const GeminiItem = z
  .object({
    name: z.string(),
    inputTokenLimit: count,
    input_token_limit: count,
    outputTokenLimit: count,
    output_token_limit: count,
  })
  .transform((item) => ({
    name: item.name,
    window: item.inputTokenLimit ?? item.input_token_limit,
    output: item.outputTokenLimit ?? item.output_token_limit,
    modalities: undefined,
    knowledge_cutoff: undefined,
  }));

const BedrockItem = Modalities.extend({ modelId: z.string() }).transform((item) => ({
  name: item.modelId,
  window: undefined,
  output: undefined,
  modalities: modalitiesOf(item),
  knowledge_cutoff: undefined,
}));

/** Returns `{}` if a name is unknown: an incomplete list would exclude input that the model accepts. */
const modalitiesOf = (from: z.infer<typeof Modalities> | undefined): Capabilities['modalities'] => {
  const given = {
    input: from?.input_modalities ?? from?.inputModalities,
    output: from?.output_modalities ?? from?.outputModalities,
  };
  if (!given.input?.length && !given.output?.length) return undefined;
  const input = z.array(Modality).safeParse(spelled(given.input));
  const output = z.array(Modality).safeParse(spelled(given.output));
  if (!input.success || !output.success) return {};
  return {
    ...(input.data.length && { input: input.data }),
    ...(output.data.length && { output: output.data }),
  };
};

const spelled = (given: readonly string[] = []): string[] => [
  ...new Set(
    given.map((name) => name.trim().toLowerCase()).map((name) => (name === 'images' ? 'image' : name)),
  ),
];

const LISTS = {
  openai: { field: 'data', item: OpenAiItem },
  gemini: { field: 'models', item: GeminiItem },
  bedrock: { field: 'modelSummaries', item: BedrockItem },
} as const;

/** @throws Error when the body is not a list of models */
export const parseModelList = (schema: ListSchema, body: unknown): ModelList => {
  const list = new Map<string, Capabilities>();
  for (const read of itemsIn(schema, body)) {
    const name = listName(read.name);
    if (!list.has(name)) list.set(name, capabilitiesIn(read));
  }
  return list;
};

/** The upstream names in the form for requests, with their capabilities. @throws Error when the body is not a list */
export const namedModels = (schema: ListSchema, body: unknown): ReadonlyMap<string, Capabilities> =>
  new Map(itemsIn(schema, body).map((item) => [requestName(item.name), capabilitiesIn(item)]));

const requestName = (name: string): string => name.replace(/^models\//, '');

/**
 * The upstream name of the first entry, in the form for requests. @throws Error when the body is not a list of models
 */
export const firstName = (schema: ListSchema, body: unknown): string | undefined =>
  itemsIn(schema, body)
    .map(({ name }) => requestName(name))
    .find((name) => name.trim() !== '');

const itemsIn = (schema: ListSchema, body: unknown): z.infer<typeof OpenAiItem>[] => {
  const { field, item } = LISTS[schema];
  const parsed = z.object({ [field]: z.array(z.unknown()) }).safeParse(body);
  const items = parsed.success ? parsed.data[field] : undefined;
  if (!items) throw new Error(`the response has no list '${field}'`);
  return items.slice(0, BOUNDS.listEntries).flatMap((each) => item.safeParse(each).data ?? []);
};

const capabilitiesIn = (item: z.infer<typeof OpenAiItem>): Capabilities => {
  const { window, output, modalities, knowledge_cutoff } = item;
  const contradicts = window !== undefined && output !== undefined && output > window;
  return {
    ...(!contradicts && window !== undefined && { context_window: window }),
    ...(!contradicts && output !== undefined && { max_output_tokens: output }),
    ...(modalities && Object.keys(modalities).length > 0 && { modalities }),
    ...(knowledge_cutoff !== undefined && { knowledge_cutoff }),
  };
};

/** Whether the entry lacks a field that a list of this schema may contain. */
export const needsModelList = (schema: ListSchema, spec: ModelSpec): boolean => {
  const limits = spec.context_window === undefined || spec.max_output_tokens === undefined;
  if (schema === 'gemini') return limits;
  const { input, output } = spec.modalities ?? {};
  const isOpen = !input?.length || !output?.length;
  return schema === 'bedrock' ? isOpen : limits || isOpen || spec.knowledge_cutoff === undefined;
};
