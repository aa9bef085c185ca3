import { flag, type Guard, list, number, object, text, withDefault } from '../data/guard.ts';

/** What is known of live actors, as their stream tells it. Pure: frames in, what they change out. */

export type Step = { event: string; from: string; to: string; transition: string; time: number };

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
export const MOST_STEPS = 400;

/** So many that have ended are kept, the newest. */
export const MOST_ENDED = 100;

export type Actors = Map<string, Actor>;

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
const seen = (actors: Actors, live: LiveActor, isNew: boolean): Actor => {
  const known = actors.get(live.id);
  const actor = actorOf(live, !isNew);
  if (!known || known.hasEnded || isNew) return actor;
  const isSame = known.state.join(' ') === live.state;
  return { ...actor, steps: isSame ? known.steps : [], isCut: !isSame || known.isCut };
};

const stepped = (actor: Actor, { event, from, to, transition, time }: Step): Actor => {
  const isFull = actor.steps.length >= MOST_STEPS;
  return {
    ...actor,
    state: statesOf(to),
    since: from === to ? actor.since : time,
    steps: [
      ...(isFull ? actor.steps.slice(MOST_STEPS / 4) : actor.steps),
      { event, from, to, transition, time },
    ],
    isCut: actor.isCut || isFull,
  };
};

/** Runs go to rest and come back; everything else that ends is gone. */
const ended = (actor: Actor, state: string): Actor => {
  const states = statesOf(state);
  const rests = actor.machine === 'run' && states.some((path) => path.split('.')[0] === 'waiting');
  return { ...actor, state: states, isAtRest: rests, hasEnded: !rests };
};

const forgetOldest = (actors: Actors): void => {
  const over: string[] = [];
  for (const { id, hasEnded } of actors.values()) if (hasEnded) over.push(id);
  for (const id of over.slice(0, -MOST_ENDED)) actors.delete(id);
};

/** Takes a frame in. @returns the actor that it is about, as it is now; undefined for one that is not known */
export const take = (actors: Actors, frame: Frame): Actor | undefined => {
  if ('live' in frame) {
    const actor = seen(actors, frame.live, frame.type === 'began');
    // What begins again goes to the end: the oldest come first.
    if (actors.get(actor.id)?.hasEnded) actors.delete(actor.id);
    actors.set(actor.id, actor);
    return actor;
  }
  const known = actors.get(frame.actor);
  if (!known) return undefined;
  const actor = frame.type === 'ended' ? ended(known, frame.state) : stepped(known, frame);
  if (frame.type === 'ended') actors.delete(actor.id);
  actors.set(actor.id, actor);
  if (actor.hasEnded) forgetOldest(actors);
  return actor;
};

/** How many are in each state and in those around it, of those that live or rest. */
export const countByState = (actors: Iterable<Actor>): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const { state, hasEnded } of actors) {
    if (hasEnded) continue;
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
