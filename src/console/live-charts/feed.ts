import { framesOf } from '../../client/connection.ts';
import { RequestError } from '../data/error.ts';
import { holdStream, isSeen, type Next } from '../data/hold-stream.ts';
import { createListeners } from '../data/listeners.ts';
import { sendRaw } from '../data/request.ts';
import {
  type Actor,
  ActorPage,
  type Actors,
  actorOf,
  createActors,
  type Frame,
  frameOf,
  take,
} from './actors.ts';

/**
 * Follows the live actors of the service while it is open: their frames alone, or the actors themselves.
 *
 * Guarantees: one connection for all listeners. Frame listeners are called immediately. Other listeners are called at
 * most once per rendered frame, and a few times per second if there are many actors.
 */

export type ActorFilter = {
  machine?: string | undefined;
  run?: string | undefined;
  thread?: string | undefined;
  /** Selects actors that other programs report, instead of those of the service. */
  elsewhere?: boolean | undefined;
};

export type FeedState =
  | { name: 'connecting' }
  | { name: 'live' }
  /** No frames arrive, for example because the page is hidden. */
  | { name: 'cut' }
  | { name: 'refused'; error: unknown };

export type Told = { frame: Frame; actor: Actor };

/** A snapshot of the feed; a new object after each change. */
export type Known = { actors: Actors; state: FeedState };

export type Feed = {
  /** The current actors, mutated in place. */
  readonly actors: Actors;
  known(): Known;
  subscribe(listener: () => void): () => void;
  onFrame(listener: (told: Told) => void): () => void;
  close(): void;
};

const AT_REST_PAGE = 200;

/** Above this number of actors, listeners are called less often, because the changes cannot be read individually. */
const FEW = 200;
const MANY_MS = 150;

type Handlers = {
  onFrame(frame: Frame): void;
  onState(state: FeedState): void;
  /** Called before the first frame of each connection. */
  onStart?(signal: AbortSignal): void;
};

/** Reads the frames without keeping actors, of which there may be thousands. */
export const openFrames = (
  { elsewhere = false, ...filter }: ActorFilter,
  { onFrame, onState, onStart }: Handlers,
): { close(): void } => {
  const read = async (signal: AbortSignal, answered: () => void): Promise<Next> => {
    const path = elsewhere ? '/v1/system/programs/stream' : '/v1/system/actors/stream';
    const response = await sendRaw({ path, query: filter, signal });
    answered();
    onStart?.(signal);
    onState({ name: 'live' });
    for await (const { data } of framesOf(response)) {
      const frame = frameOf(data, 'frame');
      if (frame) onFrame(frame);
    }
    return 'after a pause';
  };

  const failed = (error: unknown): Next => {
    if (!(error instanceof RequestError) || error.failure.kind !== 'http') return 'after a pause';
    onState({ name: 'refused', error });
    return 'nothing';
  };

  return holdStream({ read, failed, onCut: () => onState({ name: 'cut' }) });
};

export const openFeed = (filter: ActorFilter): Feed => {
  const actors = createActors();
  const frameListeners = new Set<(told: Told) => void>();
  let state: FeedState = { name: 'connecting' };
  let known: Known = { actors, state };
  const schedule = (notify: () => void): void => {
    // A hidden page has no animation frames.
    if (actors.live.size <= FEW && isSeen()) requestAnimationFrame(notify);
    else setTimeout(notify, MANY_MS);
  };
  const { changed, subscribe } = createListeners(schedule, () => {
    known = { actors: { ...actors }, state };
  });

  /** Adds waiting runs that are persisted in the store. They have no actor, so the stream does not report them. */
  const readRest = async (signal: AbortSignal): Promise<void> => {
    const { elsewhere, ...others } = filter;
    if (elsewhere || (filter.machine !== undefined && filter.machine !== 'run')) return;
    const query = { ...others, machine: 'run', state: 'waiting', limit: AT_REST_PAGE };
    const response = await sendRaw({ path: '/v1/system/actors', query, signal, quiet: true });
    for (const live of ActorPage(await response.json(), '').items) {
      if (live.at_rest && !actors.live.has(live.id)) actors.live.set(live.id, actorOf(live, true));
    }
    changed();
  };

  const { close } = openFrames(filter, {
    onFrame(frame) {
      const actor = take(actors, frame);
      if (!actor) return;
      for (const listener of frameListeners) listener({ frame, actor });
      changed();
    },
    onState(next) {
      state = next;
      changed();
    },
    onStart(signal) {
      // The stream starts with all live actors; any that it does not repeat has ended in the meantime.
      actors.live.clear();
      void readRest(signal).catch(() => {});
    },
  });
  return {
    actors,
    known: () => known,
    subscribe,
    onFrame(listener) {
      frameListeners.add(listener);
      return () => frameListeners.delete(listener);
    },
    close,
  };
};
