import { type Guarded, list, object, optional, text, withDefault } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';

/** The run machine as the service describes it, to find the ways that a run took between two of its states. */

const State = object({ path: text, initial: optional(text) });
/** `from` is blank where the whole machine takes it. */
const Transition = object({ id: text, from: withDefault(text, ''), to: optional(text), event: text });
const Machine = object({ name: text, states: list(State), transitions: list(Transition) });
export type Machine = Guarded<typeof Machine>;
type Transition = Guarded<typeof Transition>;

export const machines: Resource<Machine[]> = { path: '/v1/system/machines', guard: list(Machine) };

/** What somebody asks for, or what breaks: a run takes these only where nothing else leads there. */
const UNUSUAL = /^(CANCEL|RELEASE|SUPERSEDE|DEAD_LETTER|error\.)/;

type Way = { at: string; transitions: readonly Transition[] };

/** Ways between states are found once. */
export const createWays = ({ states, transitions }: Machine) => {
  const initials = new Map(states.map(({ path, initial }) => [path, initial]));
  const known = new Map<string, readonly Transition[]>();

  /** Whoever enters a state is in the innermost one that it begins with. */
  const leafOf = (path: string): string => {
    const initial = initials.get(path);
    return initial === undefined ? path : leafOf(initial);
  };

  /** Its own before those of the states around it, as the machine takes them. */
  const leaving = (at: string): Transition[] => {
    const names = at.split('.');
    const around = [...names.map((_, index) => names.slice(0, names.length - index).join('.')), ''];
    return around.flatMap((path) => transitions.filter(({ from, to }) => from === path && to !== undefined));
  };

  const search = (from: string, to: string, isUsual: boolean): readonly Transition[] | undefined => {
    const seen = new Set([from]);
    let ways: Way[] = [{ at: from, transitions: [] }];
    while (ways.length > 0) {
      const next: Way[] = [];
      for (const way of ways) {
        for (const transition of leaving(way.at)) {
          if (isUsual && UNUSUAL.test(transition.event)) continue;
          const at = leafOf(transition.to ?? way.at);
          const longer = { at, transitions: [...way.transitions, transition] };
          if (at === to) return longer.transitions;
          if (seen.has(at)) continue;
          seen.add(at);
          next.push(longer);
        }
      }
      ways = next;
    }
    return undefined;
  };

  return {
    leafOf,
    /** The shortest way; none where there is none, or where both are the same. */
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
