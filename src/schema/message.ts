import { z } from 'zod';
import { Json, JsonObject } from './json.ts';
import { ProviderCallBlock, ProviderToolType, SourceDocumentBlock, SourceUrlBlock } from './provider-tool.ts';

/** Messages and their content blocks (runtime.md 2.3), as stored and as sent. */

/** For a union whose members differ in their `type`. */
const unknownType =
  (types: readonly string[]) =>
  ({ code }: { code?: string }): string | undefined =>
    code === 'invalid_union' ? `must be one of ${types.map((type) => `'${type}'`).join(', ')}` : undefined;

const SOURCES = [
  z.object({
    type: z.literal('url'),
    url: z.string(),
    media_type: z.string().optional().meta({ description: 'without, it follows from the end of the path' }),
  }),
  z.object({
    type: z.literal('base64'),
    media_type: z.string(),
    data: z.string().meta({ description: 'standard base64 with padding; at most 8 MiB decoded' }),
  }),
] as const;

export const MediaSource = z.discriminatedUnion('type', SOURCES, { error: unknownType(['url', 'base64']) });

const PartNote = z
  .object({
    media_type: z.string().optional(),
    filename: z.string().optional(),
    metadata: JsonObject.optional(),
  })
  .meta({ description: 'what came with the content in an A2A part and has no other place in the block' });

const TextBlock = z.object({
  type: z.literal('text'),
  text: z.string(),
  media_type: z
    .literal('application/json')
    .optional()
    .meta({ description: 'the text is the JSON of data that came as data' }),
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
      'A text or a file that a client or a tool writes. PDFs and all other files that are no image, audio or video are documents.',
  });
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
export type ContentBlock = z.infer<typeof ContentBlock>;

export const ToolCall = z
  .object({ id: z.string(), name: z.string(), arguments: Json })
  .meta({ id: 'ToolCall', description: 'A call that the model asked for; `arguments` is the parsed JSON.' });
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
      .meta({ description: 'the place of the item: behind so many characters of text and so many calls' }),
    item: JsonObject.meta({ description: 'what the protocol wants back, unchanged' }),
    tool: ProviderToolType.optional().meta({
      description: 'the tool of the provider that the item belongs to; sent back while the tool is offered',
    }),
  })
  .meta({
    id: 'ReasoningItem',
    description: 'Reasoning that a provider wants back; opaque to everyone else.',
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
    .meta({ description: 'what an A2A client sent with the message, and with the request that carried it' }),
  compaction: z.object({ from_seq: z.int(), to_seq: z.int() }).optional(),
  reasoning: z.string().optional().meta({ description: 'what the model has thought before its answer' }),
  reasoning_items: z.array(ReasoningItem).optional().meta({
    description: 'sent back to the model that made them with the next request, and to no other model',
  }),
  rewind: z.object({ from_seq: z.int() }).optional().meta({
    description: 'a mark: from this message on, what came before the mark is not in the history any more',
  }),
  replaces: z
    .string()
    .optional()
    .meta({ description: 'the message that a user has edited: this one stands in its place' }),
  denied: z
    .literal(true)
    .optional()
    .meta({ description: 'the call was refused: readers of the history do not see it, the model does' }),
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
export type Message = z.infer<typeof Message>;

export const ListedMessage = Message.extend({
  seq: z.int().meta({ description: '1-based position in the history of the thread; never changes' }),
  created_at: z.int().meta({ description: 'seconds since the epoch' }),
}).meta({ id: 'ListedMessage', description: 'A message with its place in the thread.' });
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

/** It is in a history for those behind it to keep their numbers: a client has gone back over it. */
export const isRewound = ({ metadata }: Message): boolean => metadata?.rewind !== undefined;

/** The text of a message: its text blocks, joined. */
export const textOf = (content: readonly ContentBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');
