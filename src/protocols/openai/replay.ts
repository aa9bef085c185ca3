import type { ResponseStatus } from '../../../machines/response.ts';
import { lastEventOf } from '../../../machines/response.ts';
import type { EventMark } from '../../schema/stored-response.ts';
import {
  type CreateResource,
  type DeltaName,
  DONE,
  deltaFrame,
  deltaSource,
  deltaText,
  type EventItem,
  type EventName,
  isOfResponse,
  itemFrame,
  nameOf,
  type OfResponse,
  responseFrame,
} from './events.ts';
import type { OutputItem } from './output.ts';

/**
 * Creates the events of a leg again, from their marks and its items (openai-responses.md 7.6).
 *
 * Guarantees: the frames are those of the live stream, with the same numbers. A text that was reset and begun again has
 * the deltas of its last beginning only. If a text is not the one that was streamed, because it was cut or its item was
 * deleted in part, it is one delta with the number of its last one; a reader within the deltas receives the rest.
 */

export type Replayed = {
  /** Undefined for an item that was withdrawn or deleted. */
  items: readonly (OutputItem | undefined)[];
  events: readonly EventMark[];
  /** The current status of the leg. */
  status: ResponseStatus;
  resource: CreateResource;
};

/** Returns the frames of the events with a greater number than `after`. */
export const replayEvents = (replayed: Replayed, after: number): string[] => {
  /** The annotations of each item so far. */
  const annotated = new Map<number, number>();
  return replayed.events.flatMap((mark) => framesOf(replayed, mark, annotated, after));
};

const framesOf = (
  replayed: Replayed,
  mark: EventMark,
  annotated: Map<number, number>,
  after: number,
): string[] => {
  const name = nameOf(mark);
  const [, index, number, lengths] = mark;
  if (name === undefined) return [];
  if (isOfResponse(name)) return number <= after ? [] : ofResponse(name, number, replayed);
  const item = replayed.items[index];
  if (!item) return [];
  const about: EventItem = { item, output_index: index, annotation: annotated.get(index) ?? 0 };
  if (isOfDeltas(name)) return deltas(name, about, { number, lengths: numbersIn(lengths) }, after);
  if (name === 'annotation') annotated.set(index, (annotated.get(index) ?? 0) + 1);
  return number <= after ? [] : [itemFrame(name, about, number)];
};

const isOfDeltas = (name: EventName): name is DeltaName => name.endsWith('_deltas');

const ofResponse = (name: OfResponse, number: number, { status, resource, events }: Replayed): string[] => {
  if (name !== 'last') {
    const isQueued = name === 'queued' || (name === 'created' && wasQueued(events));
    return [
      responseFrame(
        `response.${name}`,
        number,
        JSON.stringify(resource(isQueued ? 'queued' : 'in_progress')),
      ),
    ];
  }
  const type = lastEventOf(status);
  return type === undefined ? [] : [responseFrame(type, number, JSON.stringify(resource(status))) + DONE];
};

const wasQueued = (events: readonly EventMark[]): boolean => {
  const [, second] = events;
  return second !== undefined && nameOf(second) === 'queued';
};

/** Rows of earlier versions have numbers. */
const numbersIn = (lengths: EventMark[3] = []): readonly number[] =>
  typeof lengths === 'string' ? Array.from(lengths, (each) => each.charCodeAt(0)) : lengths;

type Run = { number: number; lengths: readonly number[] };

const deltas = (name: DeltaName, about: EventItem, { number, lengths }: Run, after: number): string[] => {
  const { item, output_index } = about;
  const source = deltaSource(name, about);
  const frame = deltaFrame(name, item.id, output_index);
  const last = number + lengths.length - 1;
  if (last <= after) return [];
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (total !== source.length) {
    const had = lengths.slice(0, Math.max(0, after - number + 1)).reduce((sum, length) => sum + length, 0);
    const rest = source.slice(had);
    return rest === '' ? [] : [deltaText(frame, rest, last)];
  }
  const frames: string[] = [];
  let start = 0;
  for (const [offset, length] of lengths.entries()) {
    const end = start + length;
    if (number + offset > after) frames.push(deltaText(frame, source.slice(start, end), number + offset));
    start = end;
  }
  return frames;
};
