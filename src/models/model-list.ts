import { z } from 'zod';
import { isDate, Modality, type ModelSpec } from '../schema/model.ts';
import { BOUNDS } from './bounds.ts';
import type { Capabilities } from './capabilities.ts';
import { listName } from './upstream-name.ts';

/**
 * What a provider's list of models says of each (config.md 7.1). A list is read as far as it can be: what is
 * missing, zero or of another form says nothing.
 */

export type ListSchema = 'openai' | 'gemini' | 'bedrock';

/** By upstream name, in the spelling of `listName`. */
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

/** `{}` where a name is not known: half a list would refuse what the model can do. */
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

/** @throws Error when it is no list of models at all */
export const parseModelList = (schema: ListSchema, body: unknown): ModelList => {
  const list = new Map<string, Capabilities>();
  for (const read of itemsIn(schema, body)) {
    const name = listName(read.name);
    if (!list.has(name)) list.set(name, capabilitiesIn(read));
  }
  return list;
};

/** The upstream name of the first entry, as it is sent. @throws Error when it is no list of models at all */
export const firstName = (schema: ListSchema, body: unknown): string | undefined =>
  itemsIn(schema, body)
    .map(({ name }) => name.replace(/^models\//, ''))
    .find((name) => name.trim() !== '');

const itemsIn = (schema: ListSchema, body: unknown): z.infer<typeof OpenAiItem>[] => {
  const { field, item } = LISTS[schema];
  const parsed = z.object({ [field]: z.array(z.unknown()) }).safeParse(body);
  const items = parsed.success ? parsed.data[field] : undefined;
  if (!items) throw new Error(`the answer has no list '${field}'`);
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

/** Whether the entry leaves something open that such a list may tell. */
export const lacksWhatListsTell = (schema: ListSchema, spec: ModelSpec): boolean => {
  const limits = spec.context_window === undefined || spec.max_output_tokens === undefined;
  if (schema === 'gemini') return limits;
  const { input, output } = spec.modalities ?? {};
  const isOpen = !input?.length || !output?.length;
  return schema === 'bedrock' ? isOpen : limits || isOpen || spec.knowledge_cutoff === undefined;
};
