import { z } from 'zod';

/** Items of the output of a response (openai-responses.md 7.4), and of conversations. */

const status = z.enum(['in_progress', 'completed', 'incomplete']);

const UrlCitation = z.object({
  type: z.literal('url_citation'),
  url: z.string(),
  title: z.string(),
  start_index: z.int(),
  end_index: z.int(),
});

const FilePath = z.object({
  type: z.literal('file_path'),
  file_id: z.string(),
  index: z.int().meta({ description: 'position among the files of the answer' }),
});

export const Annotation = z.discriminatedUnion('type', [UrlCitation, FilePath]);
export type Annotation = z.output<typeof Annotation>;

export const OutputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(Annotation),
  logprobs: z.array(z.never()),
});
export type OutputText = z.output<typeof OutputText>;

export const Refusal = z.object({ type: z.literal('refusal'), refusal: z.string() });
export type Refusal = z.output<typeof Refusal>;

export const ReasoningItem = z.object({
  id: z.string(),
  type: z.literal('reasoning'),
  summary: z.array(z.object({ type: z.literal('summary_text'), text: z.string() })),
  encrypted_content: z.string().nullable().optional().meta({
    description: 'with `include: ["reasoning.encrypted_content"]`, where the provider has one',
  }),
  status,
});
export type ReasoningItem = z.output<typeof ReasoningItem>;

export const MessageItem = z.object({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  content: z.array(z.discriminatedUnion('type', [OutputText, Refusal])),
  phase: z.enum(['commentary', 'final_answer']).optional().meta({
    description: '`commentary` when calls follow in the same step',
  }),
  status,
});
export type MessageItem = z.output<typeof MessageItem>;

export const FunctionCallItem = z.object({
  id: z.string(),
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string().meta({ description: 'JSON' }),
  status,
});
export type FunctionCallItem = z.output<typeof FunctionCallItem>;

export const McpCallItem = z.object({
  id: z.string(),
  type: z.literal('mcp_call'),
  server_label: z.literal('troupe'),
  name: z.string(),
  arguments: z.string().meta({ description: 'JSON' }),
  output: z.string().nullable(),
  error: z
    .object({
      type: z.literal('mcp_tool_execution_error'),
      content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
    })
    .nullable(),
  approval_request_id: z.string().nullable(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
});
export type McpCallItem = z.output<typeof McpCallItem>;

export const McpApprovalRequestItem = z.object({
  id: z.string(),
  type: z.literal('mcp_approval_request'),
  server_label: z.literal('troupe'),
  name: z.string(),
  arguments: z.string().meta({ description: 'JSON' }),
  status,
});
export type McpApprovalRequestItem = z.output<typeof McpApprovalRequestItem>;

export const OutputItem = z
  .discriminatedUnion('type', [
    ReasoningItem,
    MessageItem,
    FunctionCallItem,
    McpCallItem,
    McpApprovalRequestItem,
  ])
  .meta({ id: 'OpenAiOutputItem', description: 'An item of the output of a response, by `type`.' });
export type OutputItem = z.output<typeof OutputItem>;

/** The longest output of a call that an item contains, in bytes. */
const LONGEST_OUTPUT = 64 * 1024;

export const outputText = (text: string, annotations: Annotation[] = []): OutputText => ({
  type: 'output_text',
  text,
  annotations,
  logprobs: [],
});

/** A web page that a text refers to. */
export type Source = { url: string; title: string };

/** Providers name no place in the text, so the annotations are at its end. */
export const annotationsFor = (
  { sources, files }: { sources: readonly Source[]; files: readonly string[] },
  end: number,
): Annotation[] => [
  ...sources.map(
    ({ url, title }) => ({ type: 'url_citation', url, title, start_index: end, end_index: end }) as const,
  ),
  ...files.map((file_id, index) => ({ type: 'file_path', file_id, index }) as const),
];

export const reasoningItem = (id: string, text: string): ReasoningItem => ({
  id,
  type: 'reasoning',
  summary: [{ type: 'summary_text', text }],
  status: 'completed',
});

/** Returns the output or the error of a call. `text` is what the model reads. */
export const callResult = (
  text: string,
  isFailed: boolean,
): Pick<McpCallItem, 'output' | 'error' | 'status'> => {
  const shown = cut(text);
  return isFailed
    ? {
        output: null,
        error: { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: shown }] },
        status: 'failed',
      }
    : { output: shown, error: null, status: 'completed' };
};

/** Cuts between characters. */
const cut = (text: string): string =>
  Buffer.byteLength(text) <= LONGEST_OUTPUT
    ? text
    : new TextDecoder().decode(Buffer.from(text).subarray(0, LONGEST_OUTPUT), { stream: true });

/** Returns the item as it is added: with all keys and empty values. */
export const begun = (item: OutputItem): OutputItem => {
  switch (item.type) {
    case 'reasoning':
      return { ...item, summary: [], status: 'in_progress' };
    case 'message': {
      const { phase: _unknown, ...rest } = item;
      return { ...rest, content: [], status: 'in_progress' };
    }
    case 'function_call':
      return { ...item, arguments: '', status: 'in_progress' };
    case 'mcp_call':
      return { ...item, arguments: '', output: null, error: null, status: 'in_progress' };
    case 'mcp_approval_request':
      return { ...item, status: 'in_progress' };
  }
};
