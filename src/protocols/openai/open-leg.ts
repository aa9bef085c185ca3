import type { Channel } from '../../runtime/index.ts';
import type { Reader } from '../../runtime/run/live-channel.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { StoredResponse } from '../../schema/stored-response.ts';
import { marksOf, outputSoFar } from './open-output.ts';
import { replayEvents } from './replay.ts';
import { type ResponseResource, resourceOf } from './response.ts';
import {
  begin,
  createResponseEncoder,
  heldFrom,
  itemsOf,
  type ResponseEncoder,
  resourceAt,
} from './response-encoder.ts';
import { earlierCalls, type LegStore, stateOf } from './stored-legs.ts';

/** A leg whose end is not stored, with its encoder and its readers (openai-responses.md 7.1). */

export type Leg = {
  readonly scope: string;
  readonly row: StoredResponse;
  readonly encoder: ResponseEncoder;
  /** The status when the request was accepted. */
  readonly accepted: StoredResponse['status'];
  followers: readonly Reader[];
  /** The record of the run with which the leg has ended; an earlier one may be stored later than it was written. */
  last: RunRecord | undefined;
  /** The number of the next event when the row was written. */
  written: number;
  /** The last channel of its run. */
  channel: Channel | undefined;
  endsWithChannel: boolean;
  /** The status with which its readers were ended: no event follows. */
  endedAs: StoredResponse['status'] | undefined;
  /** Resolves with the resource at its end; undefined while nothing waits for it. */
  ended: Promise<ResponseResource> | undefined;
  resolve: ((resource: ResponseResource) => void) | undefined;
  /**
   * The frames since the first event, for a reader that follows in the same event-loop tick, as the request does that
   * began the leg. Undefined afterwards: later readers receive frames that are created again.
   */
  first: Frames | undefined;
};

type Frames = { text: string; count: number };

export type Opened = { row: StoredResponse; run: RunRecord; earlier: readonly StoredResponse[] };

export const createOpenLeg = (store: LegStore, scope: string, { row, run, earlier }: Opened): Leg => ({
  scope,
  row,
  encoder: createResponseEncoder({
    row,
    step: run.steps,
    functions: namesOf(run.activation?.options.frontend_tools),
    earlier: earlierCalls(store, scope, earlier),
    ...(row.events.length > 0 && { begun: stateOf(store, scope, row) }),
  }),
  accepted: row.status,
  followers: NO_READERS,
  last: undefined,
  written: row.next,
  channel: undefined,
  endsWithChannel: false,
  endedAs: undefined,
  ended: undefined,
  resolve: undefined,
  first: row.events.length > 0 ? undefined : { text: '', count: 0 },
});

const NO_READERS: readonly Reader[] = [];

/** Returns the resource as it was when the request was accepted. */
export const acceptedResource = ({ row, accepted }: Leg): ResponseResource => resourceOf(row, [], accepted);

/** Resolves with the resource once the end is stored. */
export const endOf = (leg: Leg): Promise<ResponseResource> => {
  if (leg.endedAs !== undefined) return Promise.resolve(endResource(leg, leg.endedAs));
  leg.ended ??= new Promise((resolve) => {
    leg.resolve = resolve;
  });
  return leg.ended;
};

const endResource = ({ row, encoder }: Leg, status: StoredResponse['status']): ResponseResource =>
  resourceOf(row, outputSoFar(encoder.output), status);

/** Ends the readers of a leg, and the waits for its end, with its output so far. */
export const endReaders = (leg: Leg, status: StoredResponse['status']): void => {
  leg.endedAs = status;
  const { followers } = leg;
  leg.followers = NO_READERS;
  for (const reader of followers) reader.end();
  leg.resolve?.(endResource(leg, status));
};

/** Emits the first events of a leg whose run waits for its turn. */
export const announceLeg = (leg: Leg): void =>
  send(leg, begin(leg.encoder.state, leg.row.status === 'queued'));

/** Passes the reader the events after this number, then the live ones, and its end. Returns a function that detaches it. */
export const followLeg = (leg: Leg, after: number, reader: Reader): (() => void) => {
  const { first, row, encoder } = leg;
  if (first && after < 0) {
    if (first.count > 0) reader.write(first.text, first.count);
    return addFollower(leg, reader);
  }
  const { state, output } = encoder;
  const { kept } = output;
  const all = marksOf(output);
  const held = heldFrom(state);
  const events = held === undefined ? all : all.filter(([, , number]) => number < held);
  const items = itemsOf(state).map((item, index) => (kept[index]?.void ? undefined : item));
  const resource = (status: StoredResponse['status']): ResponseResource => resourceAt(row, output, status);
  const frames = replayEvents({ items, events, status: row.status, resource }, after);
  if (frames.length > 0) reader.write(frames.join(''), frames.length);
  return addFollower(leg, reader);
};

const NO_NAMES: ReadonlySet<string> = new Set();

const namesOf = (tools: readonly { id: string }[] | undefined): ReadonlySet<string> =>
  tools && tools.length > 0 ? new Set(tools.map(({ id }) => id)) : NO_NAMES;

/** The commit that ends a leg may be visible before the request that began it is answered. */
const addFollower = (leg: Leg, reader: Reader): (() => void) => {
  if (leg.endedAs !== undefined) reader.end();
  else leg.followers = [...leg.followers, reader];
  return () => {
    leg.followers = leg.followers.filter((each) => each !== reader);
  };
};

export const send = (leg: Leg, frames: string, count = 1): void => {
  if (frames === '') return;
  const { first, followers } = leg;
  if (first) keepFirst(leg, first, { text: frames, count });
  for (const reader of followers) reader.write(frames, count);
};

const keepFirst = (leg: Leg, first: Frames, { text, count }: Frames): void => {
  if (first.count === 0) {
    setImmediate(() => {
      leg.first = undefined;
    });
  }
  first.text += text;
  first.count += count;
};
