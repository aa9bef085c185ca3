import { flag, type Guard, list, number, object, text, withDefault } from '../data/guard.ts';

/** What is known of live actors, as their stream tells it. Pure: frames in, what they change out. */

export type Step = {
  /** Counts what its actor did since somebody looked. */
  serial: number;
  event: string;
  from: string;
  to: string;
  transition: string;
  time: number;
};

export type Actor = {
  id: string;
  machine: string;
  /** Paths of its states, of parallel regions one each. */
  state: readonly string[];
  since: number;
  parent: string | null;
  children: readonly string[];
  /** It waits in the store: nothing of it lives. */
  isAtRest: boolean;
  hasEnded: boolean;
  /** What it did while somebody looked, the oldest first. */
  steps: readonly Step[];
  /** Older steps than these were let go, or were never told. */
  isCut: boolean;
};

const LiveActor = object({
  id: text,
  machine: text,
  state: text,
  since: number,
  parent: withDefault<string | null>(text, null),
  children: withDefault(list(text), []),
  at_rest: withDefault(flag, false),
});
type LiveActor = ReturnType<typeof LiveActor>;

const Transition = object({
  actor: text,
  machine: text,
  from: text,
  event: text,
  to: text,
  transition: text,
  time: number,
});
const Ended = object({ actor: text, machine: text, state: text, time: number });

export type Frame =
  | { type: 'actor' | 'began'; live: LiveActor }
  | ({ type: 'transition' } & ReturnType<typeof Transition>)
  | ({ type: 'ended' } & ReturnType<typeof Ended>);

/** Undefined: of a kind that this console does not know. @throws ShapeError */
export const frameOf: Guard<Frame | undefined> = (value, at) => {
  const { type } = object({ type: text })(value, at);
  if (type === 'actor' || type === 'began') return { type, live: LiveActor(value, at) };
  if (type === 'transition') return { type, ...Transition(value, at) };
  return type === 'ended' ? { type, ...Ended(value, at) } : undefined;
};

export const ActorPage = object({ items: list(LiveActor) });

const statesOf = (state: string): string[] => state.split(' ').filter(Boolean);

/** So much of what one actor did is kept. */
export const MOST_STEPS = 200;

/** So many that have ended are kept, the newest. */
export const MOST_ENDED = 100;

export type Actors = {
  /** Those that live or rest, in the order in which they were told of. */
  readonly live: Map<string, Actor>;
  /** The newest of those that have ended, the newest last. */
  readonly ended: Map<string, Actor>;
};

export const createActors = (): Actors => ({ live: new Map(), ended: new Map() });

export const findActor = ({ live, ended }: Actors, id: string): Actor | undefined =>
  live.get(id) ?? ended.get(id);

export const actorOf = (live: LiveActor, isCut: boolean): Actor => ({
  id: live.id,
  machine: live.machine,
  state: statesOf(live.state),
  since: live.since,
  parent: live.parent,
  children: live.children,
  isAtRest: live.at_rest,
  hasEnded: false,
  steps: [],
  isCut,
});

/** One that was known keeps what it did; what it missed meanwhile is a cut. */
const seenAgain = (known: Actor, live: LiveActor): Actor => {
  const isSame = known.state.join(' ') === live.state;
  return { ...actorOf(live, !isSame || known.isCut), steps: isSame ? known.steps : [] };
};

const stepped = (actor: Actor, { event, from, to, transition, time }: Omit<Step, 'serial'>): Actor => {
  const isFull = actor.steps.length >= MOST_STEPS;
  return {
    ...actor,
    state: statesOf(to),
    since: from === to ? actor.since : time,
    steps: [
      ...(isFull ? actor.steps.slice(MOST_STEPS / 4) : actor.steps),
      { serial: (actor.steps.at(-1)?.serial ?? 0) + 1, event, from, to, transition, time },
    ],
    isCut: actor.isCut || isFull,
  };
};

/** Runs go to rest and come back; everything else that ends is gone. */
const endedIn = (actor: Actor, state: string): Actor => {
  const states = statesOf(state);
  const rests = actor.machine === 'run' && states.some((path) => path.split('.')[0] === 'waiting');
  return { ...actor, state: states, isAtRest: rests, hasEnded: !rests };
};

const begin = ({ live, ended }: Actors, frame: Extract<Frame, { live: LiveActor }>): Actor => {
  const known = live.get(frame.live.id);
  const isNew = frame.type === 'began' || !known;
  const actor = isNew ? actorOf(frame.live, frame.type !== 'began') : seenAgain(known, frame.live);
  ended.delete(actor.id);
  live.set(actor.id, actor);
  return actor;
};

const end = ({ live, ended }: Actors, actor: Actor): void => {
  if (!actor.hasEnded) {
    live.set(actor.id, actor);
    return;
  }
  live.delete(actor.id);
  ended.set(actor.id, actor);
  const [oldest] = ended.keys();
  if (oldest !== undefined && ended.size > MOST_ENDED) ended.delete(oldest);
};

/** Takes a frame in. @returns the actor that it is about, as it is now; undefined for one that is not known */
export const take = (actors: Actors, frame: Frame): Actor | undefined => {
  if ('live' in frame) return begin(actors, frame);
  const known = actors.live.get(frame.actor);
  if (!known) return undefined;
  const actor = frame.type === 'ended' ? endedIn(known, frame.state) : stepped(known, frame);
  if (frame.type === 'ended') end(actors, actor);
  else actors.live.set(actor.id, actor);
  return actor;
};

/** How many are in each state and in those around it, of those that live or rest. */
export const countByState = ({ live }: Actors): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const { state } of live.values()) {
    const around = new Set(
      state.flatMap((path) => path.split('.').map((_, index, names) => names.slice(0, index + 1).join('.'))),
    );
    for (const path of around) counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  return counts;
};

export const isIn = ({ state }: Pick<Actor, 'state'>, path: string): boolean =>
  state.some((each) => each === path || each.startsWith(`${path}.`));

/** Where it stood after so many of its steps. */
export const stateAfter = (
  { steps, state }: Pick<Actor, 'steps' | 'state'>,
  count: number,
): readonly string[] => {
  if (count >= steps.length) return state;
  const step = steps[count];
  return step ? statesOf(step.from) : state;
};
