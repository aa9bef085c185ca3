import { isTerminalLeg } from '../../../machines/response.ts';
import type { Channel } from '../../runtime/index.ts';
import type { Reader } from '../../runtime/run/live-channel.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { StoredResponse } from '../../schema/stored-response.ts';
import { marksOf } from './open-output.ts';
import type { OutputItem } from './output.ts';
import { replayEvents } from './replay.ts';
import { type ResponseResource, resourceOf } from './response.ts';
import { createResponseEncoder, type ResponseEncoder } from './response-encoder.ts';
import { earlierCalls, type LegStore, stateOf } from './stored-legs.ts';

/** A leg whose end is not stored, with its encoder and its readers (openai-responses.md 7.1). */

export type Leg = {
  readonly scope: string;
  readonly row: StoredResponse;
  /** The resource as it was when the request was accepted. */
  accepted(): ResponseResource;
  /** Resolves with the resource once the end is stored. */
  readonly ended: Promise<ResponseResource>;
  /**
   * Passes the reader the events after this number, then the live ones, and its end. Returns a function that detaches it.
   */
  follow(after: number, reader: Reader): () => void;
  /** The number of its readers. */
  readers(): number;
  /** Emits the first events of a leg whose run waits for its turn. */
  announce(): void;
};

export type OpenLeg = Leg & {
  readonly scope: string;
  readonly encoder: ResponseEncoder;
  readonly followers: Set<Reader>;
  resolve(resource: ResponseResource): void;
  /** The record of the run with which the leg has ended; an earlier one may be stored later than it was written. */
  last: RunRecord | undefined;
  /** The number of the next event when the row was written. */
  written: number;
  /** The last channel of its run. */
  channel: Channel | undefined;
  endsWithChannel: boolean;
  /** No event follows. */
  isDropped: boolean;
  /**
   * The frames since the first event, for a reader that follows in the same event-loop tick, as the request does that
   * began the leg. Undefined afterwards: later readers receive frames that are created again.
   */
  first: Frames | undefined;
};

type Frames = { text: string; count: number };

export type Opened = { row: StoredResponse; run: RunRecord; earlier: readonly StoredResponse[] };

export const createOpenLeg = (store: LegStore, scope: string, { row, run, earlier }: Opened): OpenLeg => {
  let resolve: OpenLeg['resolve'] = () => {};
  const ended = new Promise<ResponseResource>((settle) => {
    resolve = settle;
  });
  const followers = new Set<Reader>();
  const resource = (status: StoredResponse['status']): ResponseResource =>
    resourceOf(row, isTerminalLeg(status) ? outputSoFar(encoder) : [], status);
  const encoder = createResponseEncoder({
    run_id: row.run_id,
    step: run.steps,
    functions: namesOf(run.activation?.options.frontend_tools),
    encrypted: row.encrypted === true,
    earlier: earlierCalls(store, scope, earlier),
    calls: row.calls,
    files: row.files ?? [],
    resource,
    ...(row.events.length > 0 && { begun: stateOf(store, scope, row) }),
  });
  const first = row.status;
  const leg: OpenLeg = {
    scope,
    row,
    accepted: () => resourceOf(row, [], first),
    encoder,
    followers,
    ended,
    resolve: (ended) => resolve(ended),
    last: undefined,
    written: row.next,
    channel: undefined,
    endsWithChannel: false,
    isDropped: false,
    first: row.events.length > 0 ? undefined : { text: '', count: 0 },
    readers: () => followers.size,
    announce: () => send(leg, encoder.begin(row.status === 'queued')),
    follow(after, reader) {
      const { first } = leg;
      if (first && after < 0) {
        if (first.count > 0) reader.write(first.text, first.count);
        return addFollower(leg, reader);
      }
      const { kept } = encoder.output;
      const all = marksOf(encoder.output);
      const heldFrom = encoder.heldFrom();
      const events = heldFrom === undefined ? all : all.filter(([, , number]) => number < heldFrom);
      const items = encoder.items().map((item, index) => (kept[index]?.void ? undefined : item));
      const frames = replayEvents({ items, events, status: row.status, resource }, after);
      if (frames.length > 0) reader.write(frames.join(''), frames.length);
      return addFollower(leg, reader);
    },
  };
  return leg;
};

const NO_NAMES: ReadonlySet<string> = new Set();

const namesOf = (tools: readonly { id: string }[] | undefined): ReadonlySet<string> =>
  tools && tools.length > 0 ? new Set(tools.map(({ id }) => id)) : NO_NAMES;

/** The commit that ends a leg may be visible before the request that began it is answered. */
const addFollower = ({ followers, isDropped }: OpenLeg, reader: Reader): (() => void) => {
  if (isDropped) reader.end();
  else followers.add(reader);
  return () => followers.delete(reader);
};

export const outputSoFar = ({ output }: ResponseEncoder): OutputItem[] =>
  output.items.filter((_, index) => output.kept[index]?.void !== true);

export const send = (leg: OpenLeg, frames: string, count = 1): void => {
  if (frames === '') return;
  const { first, followers } = leg;
  if (first) keepFirst(leg, first, { text: frames, count });
  for (const reader of followers) reader.write(frames, count);
};

const keepFirst = (leg: OpenLeg, first: Frames, { text, count }: Frames): void => {
  if (first.count === 0) {
    setImmediate(() => {
      leg.first = undefined;
    });
  }
  first.text += text;
  first.count += count;
};
