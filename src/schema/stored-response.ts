import type { ResponseStatus } from '../../machines/response.ts';
import type { JsonObject } from './json.ts';

/**
 * One leg of a response as stored (openai-responses.md 12). The texts of its output are those of the history; the row has what
 * cannot be derived from there: the request, the order of the items and the numbers of the events.
 */

export type StoredItemType = 'reasoning' | 'message' | 'function_call' | 'mcp_call' | 'mcp_approval_request';

/** An item of the output, in its order. */
export type StoredItem = {
  id: string;
  type: StoredItemType;
  /** Step of the run. */
  step: number;
  /** Id of the call in the history. */
  call?: string;
  /** Number of the call among those of the run. */
  n?: number;
  /** A part of the text of its step: start, and end if the text continues in a later item. */
  from?: number;
  to?: number;
  /** Text that is not part of the history: a question, or the reason of a refusal. */
  text?: string;
  refusal?: true;
  /** The request for an approval, which the history hides once it is denied. */
  asked?: { name: string; arguments: string };
  /** Id of the earlier request that approved the call. */
  approved?: string;
  failed?: true;
  incomplete?: true;
  /** Ids of the files that the answer contains. */
  files?: string[];
  /** The completion was reset: its place in the output stays empty. */
  void?: true;
};

/**
 * An event of the stream: its kind (`EVENT_KINDS` of the protocol), the position of its item, and its number. Deltas
 * have the number of the first one and the length of each: characters with these codes while all are below 256, which are
 * written and read many times faster than numbers.
 */
export type EventMark = readonly [
  kind: number,
  index: number,
  number: number,
  lengths?: readonly number[] | string,
];

/** An item of the input of the request that is not a message. */
export type StoredInput =
  | { type: 'output'; id: string; call: string; call_id: string }
  | { type: 'approval'; id: string; request: string; approve: boolean; reason?: string };

/** The parameters of the request that a response repeats, in the form of the resource. Defaults are left out. */
export type ResponseEcho = {
  model: string;
  instructions?: string;
  previous_response_id?: string;
  background?: boolean;
  store?: boolean;
  tools?: JsonObject[];
  tool_choice?: JsonObject | string;
  parallel_tool_calls?: boolean;
  max_tool_calls?: number;
  max_output_tokens?: number;
  reasoning?: { effort: string | null; summary: string | null };
  text?: { format: JsonObject; verbosity: string };
  temperature?: number;
  top_p?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  truncation?: 'auto' | 'disabled';
  service_tier?: string;
  metadata?: Record<string, string>;
  user?: string;
  safety_identifier?: string;
  prompt_cache_key?: string;
};

export type ResponseUsage = {
  input: number;
  output: number;
  cached: number;
  written: number;
  reasoning: number;
};

export type StoredResponse = {
  run_id: string;
  thread_id: string;
  /** 1 for the request that started the run. */
  leg: number;
  status: ResponseStatus;
  /** Why it is incomplete. */
  reason?: string;
  error?: { code: string; message: string };
  /** Milliseconds. */
  created_at: number;
  /** Milliseconds. */
  ended_at?: number;
  /** Number of the last message before its input, and of its last message. */
  from_seq: number;
  to_seq?: number;
  echo: ResponseEcho;
  /** Whether the client has asked for encrypted reasoning. */
  encrypted?: true;
  inputs: StoredInput[];
  items: StoredItem[];
  events: EventMark[];
  /** Number of the next event. */
  next: number;
  /** A process that continues the leg numbers its events from here on. */
  reserved: number;
  /** Calls of the run so far. */
  calls: number;
  /** Ids of files for the next answer, if the leg has ended before it. */
  files?: string[];
  usage?: ResponseUsage;
  /** Whether a decision that no request of this protocol made has started it. */
  elsewhere?: true;
};
