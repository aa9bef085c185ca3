import type { MachineDescription, StateDescription, TransitionDescription } from './description.ts';
import { explainLines, type Line, linesOf, plainLine, speak } from './lines.ts';
import { type Arrow, mergeArrows, type TransitionPath } from './merge.ts';
import { childrenOf, isInside, shownAs } from './nesting.ts';

/**
 * The content of every picture of a machine, in any format: nested states, arrows between them, and inside each state
 * the activities that do not lead to another state (the compartments of UML). A folded state hides the states inside
 * it: arrows to and from them end at its box. Every transition is part of a picture exactly once.
 */

export type Shown = {
  state: StateDescription;
  /** `entry / action`, `do / service`, and the events that do not lead to another state. */
  activities: Line[];
  /** Whether states are drawn inside it. */
  open: boolean;
  folded: boolean;
  /** Paths of the hidden states inside it. */
  hidden: string[];
  /** Transitions between the hidden states. */
  inside: TransitionDescription[];
};

export type Picture = {
  machine: MachineDescription;
  /** In document order, so outer states precede the states inside them. */
  states: Shown[];
  arrows: Arrow[];
  /** Transitions that the machine takes in every state without leaving it. */
  activities: Line[];
};

/** Number of lines that are drawn of a folded state. */
const FEW = 5;

const staysIn = ({ from, to }: TransitionDescription): boolean => to === null || to === from;

const named = (event: string, actions: readonly string[]): Line[] =>
  actions.length ? [plainLine(`${event} / ${actions.join(', ')}`)] : [];

/** A transition to the state itself has a mark. */
const takenIn = (machine: MachineDescription, path: string | null): Line[] =>
  linesOf(
    machine.transitions
      .filter((transition) => transition.from === path && staysIn(transition))
      .map((transition) => {
        const spoken = speak(machine, transition);
        const event = transition.to === null ? spoken.event : `↻ ${spoken.event}`;
        return { spoken: { ...spoken, event }, where: [], transition };
      }),
  );

const few = (lines: readonly Line[]): Line[] => {
  if (lines.length <= FEW + 1) return [...lines];
  const rest = lines.slice(FEW);
  const transitions = rest.flatMap((line) => line.transitions);
  return [...lines.slice(0, FEW), { ...plainLine(`… ${rest.length} more`), transitions }];
};

export const activitiesOf = (machine: MachineDescription, state: StateDescription): Line[] => [
  ...named('entry', state.entry),
  ...named('exit', state.exit),
  ...state.invokes.map(({ src }) => plainLine(`do / ${src}`)),
  ...takenIn(machine, state.path),
];

const showState = (
  machine: MachineDescription,
  state: StateDescription,
  folded: ReadonlySet<string>,
): Shown => {
  const isFolded = folded.has(state.path);
  const activities = activitiesOf(machine, state);
  const { path } = state;
  return {
    state,
    activities: isFolded ? few(activities) : activities,
    open: !isFolded && childrenOf(machine, path).length > 0,
    folded: isFolded,
    hidden: isFolded
      ? machine.states.filter((inner) => isInside(inner.path, path)).map((inner) => inner.path)
      : [],
    inside: isFolded ? machine.transitions.filter((transition) => happensIn(path, transition)) : [],
  };
};

/** Whether the transition starts and ends inside this state, and is not one of the state's own activities. */
const happensIn = (path: string, { from, to }: TransitionDescription): boolean => {
  if (from === null || (from !== path && !isInside(from, path))) return false;
  if (from === path) return to !== null && isInside(to, path);
  return to === null || to === path || isInside(to, path);
};

const waysOf = ({ transitions }: MachineDescription, folded: ReadonlySet<string>): TransitionPath[] =>
  transitions.flatMap((transition) => {
    if (transition.to === null || staysIn(transition)) return [];
    const from = transition.from === null ? null : shownAs(transition.from, folded);
    const to = shownAs(transition.to, folded);
    return from === to ? [] : [{ from, to, transition }];
  });

/** @example const picture = pictureOf(describeMachine('run', runMachine), new Set(['running.retrying'])); */
export const pictureOf = (machine: MachineDescription, folded: ReadonlySet<string> = new Set()): Picture => ({
  machine,
  states: machine.states
    .filter(({ path }) => shownAs(path, folded) === path)
    .map((state) => showState(machine, state, folded)),
  arrows: mergeArrows(machine, waysOf(machine, folded)),
  activities: takenIn(machine, null),
});

/** Returns the tooltip of a state. */
export const explain = ({ state, activities, hidden, inside }: Shown): string =>
  [
    state.description,
    explainLines(activities),
    hidden.length ? `Inside: ${hidden.join(', ')}` : '',
    explainLines(inside.length ? [{ ...plainLine(''), transitions: inside }] : []),
  ]
    .filter(Boolean)
    .join('\n');

/** Whether the state is one of these, or contains one of them folded. */
export const isLive = ({ state, hidden }: Shown, live: readonly string[]): boolean =>
  live.some((path) => path === state.path || hidden.includes(path));
