import { z } from 'zod';
import { Json, JsonObject } from './json.ts';
import { ProviderCallBlock, ProviderToolType, SourceDocumentBlock, SourceUrlBlock } from './provider-tool.ts';

/** Messages and their content blocks (runtime.md 2.3), as stored and as sent. */

/** Error message for a union whose members differ in their `type`. */
const unknownType =
  (types: readonly string[]) =>
  ({ code }: { code?: string }): string | undefined =>
    code === 'invalid_union' ? `must be one of ${types.map((type) => `'${type}'`).join(', ')}` : undefined;

const SOURCES = [
  z.object({
    type: z.literal('url'),
    url: z.string(),
    media_type: z.string().optional().meta({ description: 'default: derived from the file extension' }),
  }),
  z.object({
    type: z.literal('base64'),
    media_type: z.string(),
    data: z.string().meta({ description: 'standard base64 with padding; at most 8 MiB decoded' }),
  }),
  z.object({
    type: z.literal('file'),
    file_id: z.string().meta({ description: 'id of an uploaded file' }),
    media_type: z.string().optional().meta({ description: 'set by the service: that of the file' }),
    bytes: z.int().optional().meta({ description: 'set by the service: size of the file' }),
  }),
] as const;

export const MediaSource = z.discriminatedUnion('type', SOURCES, {
  error: unknownType(['url', 'base64', 'file']),
});

const PartNote = z
  .object({
    media_type: z.string().optional(),
    filename: z.string().optional(),
    metadata: JsonObject.optional(),
  })
  .meta({ description: 'fields of the A2A part that have no other field in the block' });

const TextBlock = z.object({
  type: z.literal('text'),
  text: z.string(),
  media_type: z
    .literal('application/json')
    .optional()
    .meta({ description: 'the text is the JSON of a data part' }),
  part: PartNote.optional(),
});

const mediaBlock = <const T extends string>(type: T) =>
  z.object({
    type: z.literal(type),
    source: MediaSource,
    title: z.string().optional(),
    part: PartNote.optional(),
  });

const INPUT_BLOCKS = [
  TextBlock,
  mediaBlock('image'),
  mediaBlock('document'),
  mediaBlock('audio'),
  mediaBlock('video'),
] as const;

export const InputBlock = z
  .discriminatedUnion('type', INPUT_BLOCKS, {
    error: unknownType(INPUT_BLOCKS.map(({ shape }) => shape.type.value)),
  })
  .meta({
    id: 'InputBlock',
    description:
      'A text or a file of a client or a tool. PDFs and all other files except images, audio and video are documents.',
  });
/**
 * A text or a file of a message or of the result of a tool (runtime.md 2.3). `fileBlock` of `troupe/client` converts
 * a `Blob` to one. A file is a URL, standard base64 of at most 8 MiB, or the id of an uploaded file.
 *
 * @example
 * ```ts
 * const blocks: InputBlock[] = [
 *   { type: 'text', text: 'What is on this picture?' },
 *   { type: 'image', source: { type: 'url', url: 'https://example.com/cat.png' } },
 * ];
 * ```
 */
export type InputBlock = z.infer<typeof InputBlock>;

export const ContentBlock = z
  .discriminatedUnion('type', [
    ...INPUT_BLOCKS,
    z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: Json }),
    z.object({ type: z.literal('tool_result'), tool_use_id: z.string(), content: z.array(TextBlock) }),
    z.object({ type: z.literal('thinking'), thinking: z.string() }),
    ProviderCallBlock,
    SourceUrlBlock,
    SourceDocumentBlock,
  ])
  .meta({ id: 'ContentBlock', description: 'A part of the content of a message.' });
/**
 * A part of the content of a stored message (runtime.md 2.3): a text, a file, reasoning, a call, its result, or a
 * source.
 *
 * @example
 * ```ts
 * const sourcesOf = (content: readonly ContentBlock[]): string[] =>
 *   content.flatMap((block) => (block.type === 'source_url' ? block.url : []));
 * ```
 */
export type ContentBlock = z.infer<typeof ContentBlock>;

export const ToolCall = z
  .object({ id: z.string(), name: z.string(), arguments: Json })
  .meta({ id: 'ToolCall', description: 'A call that the model requested; `arguments` is the parsed JSON.' });
export type ToolCall = z.infer<typeof ToolCall>;

export const Role = z.enum(['system', 'user', 'assistant', 'tool']);
export type Role = z.infer<typeof Role>;

export const ReasoningItem = z
  .object({
    provider: z.string().meta({ description: 'id of the provider that made the item' }),
    model: z.string().meta({ description: 'name of the model at the provider' }),
    format: z.string().meta({ description: "the provider's protocol, such as `anthropic`" }),
    after: z
      .object({ text: z.int(), calls: z.int() })
      .meta({ description: 'position of the item: after this many characters of text and this many calls' }),
    item: JsonObject.meta({ description: 'data that the protocol requires unchanged in later requests' }),
    tool: ProviderToolType.optional().meta({
      description: 'provider tool of the item; sent back while the tool is offered',
    }),
  })
  .meta({
    id: 'ReasoningItem',
    description: 'Reasoning that a provider requires in later requests; opaque to clients.',
  });
export type ReasoningItem = z.infer<typeof ReasoningItem>;

export const MessageMetadata = z.object({
  run_id: z.string().optional(),
  step_index: z.int().optional().meta({ description: '0-based step of the run that produced it' }),
  sender_agent_id: z.string().optional(),
  external_id: z.string().optional(),
  a2a: z
    .object({
      metadata: JsonObject.optional(),
      extensions: z.array(z.string()).optional(),
      reference_task_ids: z.array(z.string()).optional(),
      request_metadata: JsonObject.optional(),
    })
    .optional()
    .meta({ description: 'metadata that an A2A client sent with the message and its request' }),
  compaction: z.object({ from_seq: z.int(), to_seq: z.int() }).optional(),
  reasoning: z.string().optional().meta({ description: 'reasoning of the model before its response' }),
  reasoning_items: z.array(ReasoningItem).optional().meta({
    description: 'only sent back to the model that produced them',
  }),
  rewind: z
    .object({
      from_seq: z.int(),
      to_seq: z.int().optional().meta({ description: 'default: the message before this one' }),
    })
    .optional()
    .meta({
      description: 'from this message on, the history no longer contains the messages with these numbers',
    }),
  replaces: z.string().optional().meta({ description: 'the edited message that this message replaces' }),
  denied: z.literal(true).optional().meta({
    description: 'the call was rejected: it is hidden from readers of the history, not from the model',
  }),
});

export type MessageMetadata = z.infer<typeof MessageMetadata>;

export const Message = z
  .object({
    id: z.string(),
    role: Role,
    content: z.array(ContentBlock),
    tool_calls: z.array(ToolCall).optional(),
    tool_call_id: z.string().optional(),
    visibility: z.literal('internal').optional(),
    metadata: MessageMetadata.optional(),
  })
  .meta({ id: 'Message', description: 'A message of a thread.' });
/**
 * A message of the history of a thread (runtime.md 2.3), as models, plugins and scripted turns read it.
 *
 * @example
 * ```ts
 * const lastQuestion = (messages: readonly Message[]): string =>
 *   textOf(messages.filter(({ role }) => role === 'user').at(-1)?.content ?? []);
 * ```
 */
export type Message = z.infer<typeof Message>;

export const ListedMessage = Message.extend({
  seq: z.int().meta({ description: '1-based position in the history of the thread; never changes' }),
  created_at: z.int().meta({ description: 'seconds since the epoch' }),
}).meta({ id: 'ListedMessage', description: 'A message with its position in the thread.' });
/**
 * A message with its position in the history of its thread (runtime.md 2.3). `seq` starts at 1 and never changes;
 * `created_at` is in seconds since the epoch.
 *
 * @example
 * ```ts
 * const textOf = ({ content }: ListedMessage): string =>
 *   content.map((block) => (block.type === 'text' ? block.text : '')).join('');
 * for await (const message of client.threads.messages('first')) console.log(message.seq, textOf(message));
 * ```
 */
export type ListedMessage = z.infer<typeof ListedMessage>;

export const MessageList = z
  .object({
    messages: z.array(ListedMessage),
    total: z.int(),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
    prev_cursor: z.string().optional(),
  })
  .meta({ id: 'MessageList', description: 'One page of messages.' });
export type MessageList = z.infer<typeof MessageList>;

/** Whether a client has rewound the message; it stays in the history so that later messages keep their numbers. */
export const isRewound = ({ metadata }: Message): boolean => metadata?.rewind !== undefined;

/**
 * Returns the text of a message: its text blocks, joined without a separator.
 *
 * @example
 * ```ts
 * const text = textOf([{ type: 'thinking', thinking: 'A sum.' }, { type: 'text', text: 'It is 5.' }]);
 * console.log(text); // It is 5.
 * ```
 */
export const textOf = (content: readonly ContentBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');
