import { list, object, optional, text, withDefault } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';

/** The run machine as described by the service, used to find the transitions between two states of a run. */

const State = object({ path: text, initial: optional(text) });
/** `from` is empty for transitions of the whole machine. */
const Transition = object({ id: text, from: withDefault(text, ''), to: optional(text), event: text });
const Machine = object({ name: text, states: list(State), transitions: list(Transition) });
export type Machine = ReturnType<typeof Machine>;
type Transition = ReturnType<typeof Transition>;

export const machines: Resource<Machine[]> = { path: '/v1/system/machines', guard: list(Machine) };

/** External requests and failures. A path contains these transitions only if no other path exists. */
const UNUSUAL = /^(CANCEL|RELEASE|SUPERSEDE|DEAD_LETTER|error\.)/;

type Way = { at: string; transitions: readonly Transition[] };

/** Caches the path between each pair of states. */
export const createWays = ({ states, transitions }: Machine) => {
  const initials = new Map(states.map(({ path, initial }) => [path, initial]));
  const known = new Map<string, readonly Transition[]>();

  const leafOf = (path: string): string => {
    const initial = initials.get(path);
    return initial === undefined ? path : leafOf(initial);
  };

  /** Transitions out of a state before those of its ancestors, in the order in which the machine selects them. */
  const leaving = (at: string): Transition[] => {
    const names = at.split('.');
    const around = [...names.map((_, index) => names.slice(0, names.length - index).join('.')), ''];
    return around.flatMap((path) => transitions.filter(({ from, to }) => from === path && to !== undefined));
  };

  const extended = ({ at, transitions: taken }: Way, isUsual: boolean): Way[] =>
    leaving(at)
      .filter(({ event }) => !isUsual || !UNUSUAL.test(event))
      .map((transition) => ({ at: leafOf(transition.to ?? at), transitions: [...taken, transition] }));

  const search = (from: string, to: string, isUsual: boolean): readonly Transition[] | undefined => {
    const seen = new Set([from]);
    let ways: readonly Way[] = [{ at: from, transitions: [] }];
    while (ways.length > 0) {
      const next: Way[] = [];
      for (const way of ways.flatMap((shorter) => extended(shorter, isUsual))) {
        if (way.at === to) return way.transitions;
        if (seen.has(way.at)) continue;
        seen.add(way.at);
        next.push(way);
      }
      ways = next;
    }
    return undefined;
  };

  return {
    leafOf,
    /** The shortest path; empty if there is none or both states are the same. */
    between(from: string, to: string): readonly Transition[] {
      if (from === to) return [];
      const key = `${from} ${to}`;
      const found = known.get(key) ?? search(from, to, true) ?? search(from, to, false) ?? [];
      known.set(key, found);
      return found;
    },
  };
};
export type Ways = ReturnType<typeof createWays>;
