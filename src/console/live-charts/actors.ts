import { fields, flag, type Guard, list, number, object, text, withDefault } from '../data/guard.ts';

/** Live actors as reported by their stream. Pure: frames in, changes out. */

export type Step = {
  /** Number of the step since the page began to follow the actor. */
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
  /** Paths of its states, one per parallel region. */
  state: readonly string[];
  since: number;
  parent: string | null;
  children: readonly string[];
  /** The run is persisted in the store and has no actor. */
  isAtRest: boolean;
  hasEnded: boolean;
  /** Steps since the page began to follow the actor, oldest first. */
  steps: readonly Step[];
  /** True if older steps were dropped or were never received. */
  isCut: boolean;
};

const LiveActor = object({
  ...fields(text, 'id', 'machine', 'state'),
  since: number,
  parent: withDefault<string | null>(text, null),
  children: withDefault(list(text), []),
  at_rest: withDefault(flag, false),
});
type LiveActor = ReturnType<typeof LiveActor>;

const Transition = object({
  ...fields(text, 'actor', 'machine', 'from', 'event', 'to', 'transition'),
  time: number,
});
const Ended = object({ actor: text, machine: text, state: text, time: number });

export type Frame =
  | { type: 'actor' | 'began'; live: LiveActor }
  | ({ type: 'transition' } & ReturnType<typeof Transition>)
  | ({ type: 'ended' } & ReturnType<typeof Ended>);

/** Undefined for a kind unknown to this console. @throws ShapeError */
export const frameOf: Guard<Frame | undefined> = (value, at) => {
  const { type } = object({ type: text })(value, at);
  if (type === 'actor' || type === 'began') return { type, live: LiveActor(value, at) };
  if (type === 'transition') return { type, ...Transition(value, at) };
  return type === 'ended' ? { type, ...Ended(value, at) } : undefined;
};

export const ActorPage = object({ items: list(LiveActor) });

const statesOf = (state: string): string[] => state.split(' ').filter(Boolean);

export const MOST_STEPS = 200;

/** Maximum number of ended actors kept; the oldest are dropped first. */
export const MOST_ENDED = 100;

export type Actors = {
  /** Live and persisted actors, in the order in which they were reported. */
  readonly live: Map<string, Actor>;
  /** The last ended actors, newest last. */
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

/**
 * A known actor keeps its steps if its state is unchanged; otherwise, steps were missed and its path is marked as cut.
 */
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

/** A run that ends in a waiting state is persisted and may return; any other actor has ended. */
const endedIn = (actor: Actor, state: string): Actor => {
  const states = statesOf(state);
  const rests = actor.machine === 'run' && states.some((path) => path.split('.')[0] === 'waiting');
  return { ...actor, state: states, isAtRest: rests, hasEnded: !rests };
};

/** A persisted run begins again in the state in which it waited. */
const isResumed = ({ machine, state }: LiveActor): boolean => machine === 'run' && state !== 'created';

const begunFrom = (known: Actor | undefined, { type, live }: Extract<Frame, { live: LiveActor }>): Actor => {
  if (type === 'began' && known?.isAtRest) return { ...actorOf(live, known.isCut), steps: known.steps };
  if (type === 'began' || !known) return actorOf(live, type !== 'began' || isResumed(live));
  return seenAgain(known, live);
};

const begin = ({ live, ended }: Actors, frame: Extract<Frame, { live: LiveActor }>): Actor => {
  const actor = begunFrom(live.get(frame.live.id), frame);
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

/** Applies a frame. @returns the updated actor, or undefined if the actor is unknown */
export const take = (actors: Actors, frame: Frame): Actor | undefined => {
  if ('live' in frame) return begin(actors, frame);
  const known = actors.live.get(frame.actor);
  if (!known) return undefined;
  const actor = frame.type === 'ended' ? endedIn(known, frame.state) : stepped(known, frame);
  if (frame.type === 'ended') end(actors, actor);
  else actors.live.set(actor.id, actor);
  return actor;
};

/** Actors by state, including parent states. */
export type Counts = { actors: number; states: ReadonlyMap<string, number> };

const addCounts = (to: Map<string, number>, states: string, count: number): void => {
  const around = statesOf(states).flatMap((path) =>
    path.split('.').map((_, index, names) => names.slice(0, index + 1).join('.')),
  );
  for (const path of new Set(around)) to.set(path, (to.get(path) ?? 0) + count);
};

/** Live and persisted actors of each machine. There may be thousands of actors, but few distinct states. */
export const countByMachine = ({ live }: Pick<Actors, 'live'>): Map<string, Counts> => {
  const machines = new Map<string, Map<string, number>>();
  for (const { machine, state } of live.values()) {
    const states = machines.get(machine) ?? new Map<string, number>();
    machines.set(machine, states);
    const key = state.length === 1 ? (state[0] ?? '') : state.join(' ');
    states.set(key, (states.get(key) ?? 0) + 1);
  }
  return new Map(
    Array.from(machines, ([machine, of]) => {
      const states = new Map<string, number>();
      let actors = 0;
      for (const [key, count] of of) {
        addCounts(states, key, count);
        actors += count;
      }
      return [machine, { actors, states }];
    }),
  );
};

const NO_COUNTS: Counts = { actors: 0, states: new Map() };

const counted = new WeakMap<Actors, Map<string, Counts>>();

/** The counts of a machine in a snapshot, which is counted once for all machines. */
export const countsOf = (snapshot: Actors, machine: string): Counts => {
  const counts = counted.get(snapshot) ?? countByMachine(snapshot);
  counted.set(snapshot, counts);
  return counts.get(machine) ?? NO_COUNTS;
};

export const isIn = ({ state }: Pick<Actor, 'state'>, path: string): boolean =>
  state.some((each) => each === path || each.startsWith(`${path}.`));

export const stateAfter = (
  { steps, state }: Pick<Actor, 'steps' | 'state'>,
  count: number,
): readonly string[] => {
  if (count >= steps.length) return state;
  const step = steps[count];
  return step ? statesOf(step.from) : state;
};
