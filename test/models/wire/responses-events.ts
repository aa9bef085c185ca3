import type { JsonObject } from '../../../src/schema/json.ts';
import type { Decoded } from './decode.ts';
import type { Event } from './responses-streams.ts';

/** Minimal events of the Responses protocol for tests of the decoder. */

export const text = (delta: string, output_index = 0): Event => ({
  type: 'response.output_text.delta',
  item_id: `msg_${output_index}`,
  output_index,
  content_index: 0,
  delta,
});
export const summary = (delta: string, output_index = 0): Event => ({
  type: 'response.reasoning_summary_text.delta',
  item_id: `rs_${output_index}`,
  output_index,
  summary_index: 0,
  delta,
});
export const added = (item: JsonObject, output_index = 0): Event => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
export const done = (item: JsonObject, output_index = 0): Event => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
export const message = (said: string, annotations: JsonObject[] = []): JsonObject => ({
  type: 'message',
  id: 'msg_0',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: said, annotations }],
});
export const call = (id: string, args: string, more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'search',
  arguments: args,
  status: 'completed',
  ...more,
});
export const args = (id: string, delta: string, output_index = 0): Event => ({
  type: 'response.function_call_arguments.delta',
  item_id: `fc_${id}`,
  output_index,
  delta,
});
export const reasoning = (
  said: string,
  encrypted_content: string | null = 'ENC',
  id = 'rs_0',
): JsonObject => ({
  type: 'reasoning',
  id,
  summary: said === '' ? [] : [{ type: 'summary_text', text: said }],
  encrypted_content,
});
export const annotation = (given: JsonObject): Event => ({
  type: 'response.output_text.annotation.added',
  item_id: 'msg_0',
  output_index: 0,
  content_index: 0,
  annotation_index: 0,
  annotation: given,
});
export const completed = (more: JsonObject = {}): Event => ({
  type: 'response.completed',
  response: { id: 'r', status: 'completed', incomplete_details: null, output: [], ...more },
});
export const incomplete = (reason: string | null): Event => ({
  type: 'response.incomplete',
  response: { id: 'r', status: 'incomplete', incomplete_details: reason === null ? null : { reason } },
});
export const failed = (error: JsonObject | null, more: JsonObject = {}): Event => ({
  type: 'response.failed',
  sequence_number: 3,
  response: { id: 'r', status: 'failed', error, ...more },
});

export const SOURCE = { type: 'url', id: 'msg_0-1', url: 'https://a.example', title: 'A' } as const;
export const CITATION = {
  type: 'url_citation',
  url: 'https://a.example',
  title: 'A',
  start_index: 0,
  end_index: 1,
};

export const nothing: Decoded = { heard: [], items: [], parts: [], sources: [] };
