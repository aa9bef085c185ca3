import { framesOf } from '../../client/connection.ts';
import { RequestError } from '../data/error.ts';
import { holdStream, isSeen, type Next } from '../data/hold-stream.ts';
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
 * Follows the live actors of the service, for as long as somebody looks.
 *
 * Guarantees: one connection, whoever listens. Listeners of frames are told at once, listeners of the whole at most once a rendering, and
 * where many actors live some times a second.
 */

export type ActorFilter = {
  machine?: string | undefined;
  run?: string | undefined;
  thread?: string | undefined;
  /** Not those of the service, but those that other programs report. */
  elsewhere?: boolean | undefined;
};

export type FeedState =
  | { name: 'connecting' }
  | { name: 'live' }
  /** For a while nothing is told, also because nobody sees the page. */
  | { name: 'cut' }
  | { name: 'refused'; error: unknown };

export type Told = { frame: Frame; actor: Actor };

/** All that is known at a moment: another object whenever any of it has changed. */
export type Known = { actors: Actors; state: FeedState };

export type Feed = {
  /** As they are at any moment, changed in place. */
  readonly actors: Actors;
  known(): Known;
  subscribe(listener: () => void): () => void;
  onFrame(listener: (told: Told) => void): () => void;
  close(): void;
};

const AT_REST_PAGE = 200;

/** Of more actors than these the whole is told less often: nobody reads so many. */
const FEW = 200;
const MANY_MS = 150;

export const openFeed = ({ elsewhere = false, ...filter }: ActorFilter): Feed => {
  const actors = createActors();
  const listeners = new Set<() => void>();
  const frameListeners = new Set<(told: Told) => void>();
  let state: FeedState = { name: 'connecting' };
  let known: Known = { actors, state };
  let isDue = false;

  const changed = (): void => {
    if (isDue) return;
    isDue = true;
    const tellAll = (): void => {
      isDue = false;
      known = { actors: { ...actors }, state };
      for (const listener of listeners) listener();
    };
    // Of a page that is not seen nothing is rendered.
    if (actors.live.size <= FEW && isSeen()) requestAnimationFrame(tellAll);
    else setTimeout(tellAll, MANY_MS);
  };

  const settle = (next: FeedState): void => {
    state = next;
    changed();
  };

  const tell = (frame: Frame): void => {
    const actor = take(actors, frame);
    if (!actor) return;
    for (const listener of frameListeners) listener({ frame, actor });
    changed();
  };

  /** Runs that wait in the store have no actor: the stream does not know them. */
  const readRest = async (signal: AbortSignal): Promise<void> => {
    if (elsewhere || (filter.machine !== undefined && filter.machine !== 'run')) return;
    const query = { ...filter, machine: 'run', state: 'waiting', limit: AT_REST_PAGE };
    const response = await sendRaw({ path: '/v1/system/actors', query, signal, quiet: true });
    for (const live of ActorPage(await response.json(), '').items) {
      if (live.at_rest && !actors.live.has(live.id)) actors.live.set(live.id, actorOf(live, true));
    }
    changed();
  };

  const read = async (signal: AbortSignal, answered: () => void): Promise<Next> => {
    const path = elsewhere ? '/v1/system/programs/stream' : '/v1/system/actors/stream';
    const response = await sendRaw({ path, query: filter, signal });
    answered();
    // Whoever is not told of again has ended meanwhile.
    actors.live.clear();
    settle({ name: 'live' });
    void readRest(signal).catch(() => {});
    for await (const { data } of framesOf(response)) {
      const frame = frameOf(data, 'frame');
      if (frame) tell(frame);
    }
    return 'after a pause';
  };

  const failed = (error: unknown): Next => {
    if (!(error instanceof RequestError) || error.failure.kind !== 'http') return 'after a pause';
    settle({ name: 'refused', error });
    return 'nothing';
  };

  const stream = holdStream({ read, failed, onCut: () => settle({ name: 'cut' }) });
  return {
    actors,
    known: () => known,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onFrame(listener) {
      frameListeners.add(listener);
      return () => frameListeners.delete(listener);
    },
    close: stream.close,
  };
};
