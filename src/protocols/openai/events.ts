import type { ResponseStatus } from '../../../machines/response.ts';
import type { EventMark } from '../../schema/stored-response.ts';
import { begun, type OutputItem, outputText } from './output.ts';
import type { ResponseResource } from './response.ts';
import { encodeWithText } from './shared-text.ts';

/**
 * Events of the stream of a response (openai-responses.md 7.5), each created in one place: the encoder of a live stream and a
 * replay produce the same frames for the same marks.
 *
 * Relies on items being complete when the events that end them are created; those that begin them are derived.
 */

/** The index is the code in the store: kinds are only added at the end. */
export const EVENT_KINDS = [
  'created',
  'queued',
  'in_progress',
  'item_added',
  'item_done',
  'part_added',
  'part_done',
  'text_deltas',
  'annotation',
  'text_done',
  'refusal_deltas',
  'refusal_done',
  'summary_part_added',
  'summary_part_done',
  'summary_deltas',
  'summary_done',
  'arguments_deltas',
  'arguments_done',
  'mcp_in_progress',
  'mcp_arguments_deltas',
  'mcp_arguments_done',
  'mcp_ended',
  'last',
] as const;
export type EventName = (typeof EVENT_KINDS)[number];

export type DeltaName = Extract<EventName, `${string}_deltas`>;

const CODES = new Map(EVENT_KINDS.map((name, code) => [name, code]));

export const codeOf = (name: EventName): number => CODES.get(name) ?? -1;

export const nameOf = ([code]: EventMark): EventName | undefined => EVENT_KINDS[code];

export type OfResponse = Extract<EventName, 'created' | 'queued' | 'in_progress' | 'last'>;

export const isOfResponse = (name: EventName | undefined): name is OfResponse =>
  name === 'created' || name === 'queued' || name === 'in_progress' || name === 'last';

/** Creates the resource with this status, with the output of the time. */
export type CreateResource = (status: ResponseStatus) => ResponseResource;

/** An item with its position in the output. `annotation`: position of the annotation. */
export type EventItem = { item: OutputItem; output_index: number; annotation?: number };

/** One event as text: whole frames only, because some clients lose frames that are split. */
const frame = (type: string, json: string): string => `event: ${type}\ndata: ${json}\n\n`;

/** The end of every complete stream. */
export const DONE = 'data: [DONE]\n\n';

/**
 * Creates an event about the whole response.
 * @param response JSON of the resource, which consecutive events share
 */
export const responseFrame = (type: string, sequence_number: number, response: string): string =>
  frame(type, `{"type":"${type}","sequence_number":${sequence_number},"response":${response}}`);

type ItemEvent = Exclude<EventName, OfResponse | DeltaName>;

/** Creates an event about an item. */
export const itemFrame = (name: ItemEvent, about: EventItem, sequence_number: number): string => {
  if (WITH_TEXT.has(name)) return frameWithText(name, about, sequence_number);
  const event = ITEM_EVENTS[name](about, sequence_number);
  return frame(event.type, JSON.stringify(event));
};

/** Events that contain the text of a message. */
const WITH_TEXT: ReadonlySet<ItemEvent> = new Set(['text_done', 'part_done', 'item_done']);

const frameWithText = (name: ItemEvent, about: EventItem, sequence_number: number): string => {
  const { output_index } = about;
  let type = '';
  const json = encodeWithText(about.item, (item) => {
    const event = ITEM_EVENTS[name]({ item, output_index }, sequence_number);
    type = event.type;
    return JSON.stringify(event);
  });
  return frame(type, json);
};

const textOf = ({ item }: EventItem): string => {
  if (item.type === 'reasoning') return item.summary[0]?.text ?? '';
  if (item.type !== 'message') return '';
  const [part] = item.content;
  if (part === undefined) return '';
  return part.type === 'refusal' ? part.refusal : part.text;
};

const nameIn = ({ item }: EventItem): string => ('name' in item ? item.name : '');
const argumentsIn = ({ item }: EventItem): string => ('arguments' in item ? item.arguments : '');

const emptyPart = ({ item }: EventItem) =>
  item.type === 'message' && item.content[0]?.type === 'refusal'
    ? { type: 'refusal', refusal: '' }
    : outputText('');

const partOf = ({ item }: EventItem) => (item.type === 'message' ? item.content[0] : undefined);

type CreateEvent = (about: EventItem, sequence_number: number) => { type: string };

/** Every event is one literal, because a copy of its fields costs more than their text. */
const ITEM_EVENTS: Readonly<Record<ItemEvent, CreateEvent>> = {
  item_added: ({ item, output_index }, sequence_number) => ({
    type: 'response.output_item.added',
    sequence_number,
    output_index,
    item: begun(item),
  }),
  item_done: ({ item, output_index }, sequence_number) => ({
    type: 'response.output_item.done',
    sequence_number,
    output_index,
    item,
  }),
  part_added: (about, sequence_number) => ({
    type: 'response.content_part.added',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
    content_index: 0,
    part: emptyPart(about),
  }),
  part_done: (about, sequence_number) => ({
    type: 'response.content_part.done',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
    content_index: 0,
    part: partOf(about),
  }),
  annotation: (about, sequence_number) => ({
    type: 'response.output_text.annotation.added',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
    content_index: 0,
    annotation_index: about.annotation ?? 0,
    annotation: annotationOf(about),
  }),
  text_done: (about, sequence_number) => ({
    type: 'response.output_text.done',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
    content_index: 0,
    text: textOf(about),
    logprobs: [],
  }),
  refusal_done: (about, sequence_number) => ({
    type: 'response.refusal.done',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
    content_index: 0,
    refusal: textOf(about),
  }),
  summary_part_added: (about, sequence_number) => ({
    type: 'response.reasoning_summary_part.added',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
    summary_index: 0,
    part: { type: 'summary_text', text: '' },
  }),
  summary_part_done: (about, sequence_number) => ({
    type: 'response.reasoning_summary_part.done',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
    summary_index: 0,
    part: { type: 'summary_text', text: textOf(about) },
  }),
  summary_done: (about, sequence_number) => ({
    type: 'response.reasoning_summary_text.done',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
    summary_index: 0,
    text: textOf(about),
  }),
  arguments_done: (about, sequence_number) => ({
    type: 'response.function_call_arguments.done',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
    name: nameIn(about),
    arguments: argumentsIn(about),
  }),
  mcp_in_progress: (about, sequence_number) => ({
    type: 'response.mcp_call.in_progress',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
  }),
  mcp_arguments_done: (about, sequence_number) => ({
    type: 'response.mcp_call_arguments.done',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
    arguments: argumentsIn(about),
  }),
  mcp_ended: (about, sequence_number) => ({
    type:
      'status' in about.item && about.item.status === 'failed'
        ? 'response.mcp_call.failed'
        : 'response.mcp_call.completed',
    sequence_number,
    item_id: about.item.id,
    output_index: about.output_index,
  }),
};

const annotationOf = (about: EventItem) => {
  const part = partOf(about);
  return part?.type === 'output_text' ? part.annotations[about.annotation ?? 0] : undefined;
};

const DELTAS: Readonly<Record<DeltaName, { type: string; fields: object; logprobs?: true }>> = {
  text_deltas: { type: 'response.output_text.delta', fields: { content_index: 0 }, logprobs: true },
  refusal_deltas: { type: 'response.refusal.delta', fields: { content_index: 0 } },
  summary_deltas: { type: 'response.reasoning_summary_text.delta', fields: { summary_index: 0 } },
  arguments_deltas: { type: 'response.function_call_arguments.delta', fields: {} },
  mcp_arguments_deltas: { type: 'response.mcp_call_arguments.delta', fields: {} },
};

/** Returns the parts around the text of each delta of the item. */
export const deltaFrame = (name: DeltaName, item_id: string, output_index: number): DeltaFrame => {
  const { type, fields } = DELTAS[name];
  const before = JSON.stringify({ type, item_id, output_index, ...fields }).slice(0, -1);
  return { head: `event: ${type}\ndata: ${before},"delta":`, tails: TAILS[name] };
};

export type DeltaFrame = {
  /** Everything before the text. */
  head: string;
  tails: Tails;
};

/** The parts behind the text by the number of the event, which all items share; `after` creates further ones. */
type Tails = { known: string[]; after(sequence_number: number): string };

/** Numbers whose tails are kept: most responses have no more events, and a tail has about 50 characters. */
const KNOWN_NUMBERS = 1024;

/** A join is flat, so that its copies in a stream cost no concatenation. */
const tailsOf = ({ logprobs }: (typeof DELTAS)[DeltaName]): Tails => {
  const middle = `${logprobs ? ',"logprobs":[]' : ''},"sequence_number":`;
  return { known: [], after: (sequence_number) => [middle, sequence_number, '}\n\n'].join('') };
};

const TAILS: Readonly<Record<DeltaName, Tails>> = {
  text_deltas: tailsOf(DELTAS.text_deltas),
  refusal_deltas: tailsOf(DELTAS.refusal_deltas),
  summary_deltas: tailsOf(DELTAS.summary_deltas),
  arguments_deltas: tailsOf(DELTAS.arguments_deltas),
  mcp_arguments_deltas: tailsOf(DELTAS.mcp_arguments_deltas),
};

export const deltaText = ({ head, tails }: DeltaFrame, delta: string, sequence_number: number): string => {
  const { known } = tails;
  const tail =
    sequence_number < known.length ? known[sequence_number] : tailAt(tails, known, sequence_number);
  return head + JSON.stringify(delta) + tail;
};

const tailAt = ({ after }: Tails, known: string[], sequence_number: number): string => {
  if (sequence_number >= KNOWN_NUMBERS) return after(sequence_number);
  while (known.length <= sequence_number) known.push(after(known.length));
  return after(sequence_number);
};

/** Returns the whole text of which deltas of this kind are parts. */
export const deltaSource = (name: DeltaName, about: EventItem): string =>
  name === 'arguments_deltas' || name === 'mcp_arguments_deltas' ? argumentsIn(about) : textOf(about);
