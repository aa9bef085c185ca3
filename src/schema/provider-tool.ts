import { z } from 'zod';
import { JsonObject } from './json.ts';
import { listOf } from './list.ts';

/**
 * Tools that a model provider executes, and their calls.
 *
 * The names and options are Troupe's; each wire format translates them. These are not tools of the service: no
 * permission rule, hook or limit of calls applies to them, because the service receives a call after the provider has
 * started to execute it.
 */

export const ProviderToolType = z.enum(['web_search', 'web_fetch', 'code_execution', 'file_search']);
export type ProviderToolType = z.infer<typeof ProviderToolType>;

const MOST_DOMAINS = 100;
const MOST_STORES = 50;

const Domain = z
  .string()
  .max(253)
  .regex(/^[\w*-]+(\.[\w*-]+)+(\/[^\s?#]*)?$/, {
    error: 'must be a domain with an optional path, such as example.com/docs',
  });

const domains = listOf(Domain, MOST_DOMAINS)
  .refine((list) => list.length > 0, { error: 'must name at least one domain' })
  .optional();

const count = z.int().positive();

const webOptions = {
  allowed_domains: domains.meta({ description: 'only pages of these domains' }),
  blocked_domains: domains.meta({ description: 'no pages of these domains' }),
  max_uses: count.optional().meta({ description: 'maximum calls per request to the provider' }),
};

const UserLocation = z.strictObject({
  city: z.string().min(1).optional(),
  region: z.string().min(1).optional(),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, { error: 'must be a country code of two capital letters, such as DE' })
    .optional(),
  timezone: z.string().min(1).optional().meta({ description: 'IANA name, such as Europe/Berlin' }),
});

const ProviderToolFields = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('web_search'),
    ...webOptions,
    user_location: UserLocation.optional().meta({
      description: 'a hint; omitted where the provider does not support it',
    }),
    context_size: z.enum(['low', 'medium', 'high']).optional().meta({
      description: 'amount of page content for the model; omitted where the provider has no such option',
    }),
  }),
  z.strictObject({
    type: z.literal('web_fetch'),
    ...webOptions,
    max_content_tokens: count
      .optional()
      .meta({ description: 'limit per page; omitted where the provider has no such option' }),
  }),
  z.strictObject({
    type: z.literal('code_execution'),
    file_ids: listOf(z.string().min(1), MOST_STORES)
      .optional()
      .meta({ description: 'files at the provider that the code can read' }),
  }),
  z.strictObject({
    type: z.literal('file_search'),
    store_ids: listOf(z.string().min(1), MOST_STORES)
      .refine((list) => list.length > 0, { error: 'must name at least one store' })
      .meta({ description: 'vector stores (OpenAI) or file search stores (Gemini)' }),
    max_results: z.int().min(1).max(50).optional().meta({ description: 'passages per search' }),
  }),
]);

export const ProviderTool = ProviderToolFields.refine(
  (tool) => !('allowed_domains' in tool && tool.allowed_domains && tool.blocked_domains),
  { error: 'has both allowed_domains and blocked_domains; only one of them is allowed' },
).meta({ id: 'ProviderTool', description: 'A tool that the model provider executes.' });
/**
 * A tool that the model provider executes, in `provider_tools` of an agent (agent-loop.md 6.6). No permission rule or
 * hook of the service applies to its calls.
 *
 * @example
 * ```ts
 * const tools: ProviderTool[] = [
 *   { type: 'web_search', max_uses: 3, user_location: { city: 'Rome', country: 'IT' } },
 *   { type: 'code_execution' },
 * ];
 * ```
 */
export type ProviderTool = z.infer<typeof ProviderTool>;

export const ProviderTools = listOf(ProviderTool, ProviderToolType.options.length).superRefine(
  (tools, context) => {
    for (const [index, { type }] of tools.entries()) {
      if (tools.findIndex((each) => each.type === type) === index) continue;
      context.addIssue({ code: 'custom', path: [index, 'type'], message: `'${type}' is listed twice` });
    }
  },
);

const callFields = {
  id: z.string(),
  tool: ProviderToolType,
  status: z.enum(['running', 'completed', 'failed']),
  input: JsonObject.optional().meta({
    description: 'such as `query` or `queries`, `urls`, `code` with its `language`',
  }),
  output: JsonObject.optional().meta({
    description: 'such as `results`, `pages`, or `stdout` with `stderr` and `files`',
  }),
  error: z.string().optional(),
};

/**
 * The current state of a call that the model provider executes (agent-loop.md 6.6).
 *
 * @example
 * ```ts
 * const report = (sink: InferenceSink): void => {
 *   const call: ProviderCall = { id: 'search_1', tool: 'web_search', status: 'running', input: { query: 'rain' } };
 *   sink.providerCall?.(call);
 *   sink.providerCall?.({ ...call, status: 'completed', output: { results: [] } });
 * };
 * ```
 */
export type ProviderCall = z.infer<z.ZodObject<typeof callFields>>;

export const ProviderCallBlock = z.object({ type: z.literal('provider_call'), ...callFields });
export type ProviderCallBlock = z.infer<typeof ProviderCallBlock>;

const title = z.string();

/** Sources that an answer refers to. */
export const SourceUrlBlock = z.object({
  type: z.literal('source_url'),
  id: z.string(),
  url: z.string(),
  title: title.optional(),
});
export const SourceDocumentBlock = z.object({
  type: z.literal('source_document'),
  id: z.string(),
  media_type: z.string(),
  title,
  filename: z.string().optional(),
});
export type SourceBlock = z.infer<typeof SourceUrlBlock> | z.infer<typeof SourceDocumentBlock>;

/** The activity that reports a call in the stream of a run. */
export const PROVIDER_CALL = 'provider-call';

const Reported = z.object(callFields);

/** Returns the call of an activity; undefined for every other activity. */
export const callOfActivity = ({
  activity_type,
  content,
}: {
  activity_type: string;
  content: unknown;
}): ProviderCall | undefined =>
  activity_type === PROVIDER_CALL ? Reported.safeParse(content).data : undefined;

export const isProviderCall = <Block extends { type: string }>(
  block: Block,
): block is Extract<Block, { type: 'provider_call' }> => block.type === 'provider_call';

export const isSource = <Block extends { type: string }>(
  block: Block,
): block is Extract<Block, { type: SourceBlock['type'] }> =>
  block.type === 'source_url' || block.type === 'source_document';
