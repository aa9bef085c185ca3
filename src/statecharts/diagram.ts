import type { MachineDescription, StateDescription, TransitionDescription } from './description.ts';

/**
 * What every picture of a machine shows, whatever draws it: one arrow for each pair of states with all its
 * transitions as lines, and inside a state what it does without being left (as UML's compartments do).
 * A transition of the machine as a whole starts at a place of its own that stands for every state.
 */

export type Arrow = {
  /** null: every state. */
  from: string | null;
  to: string;
  lines: string[];
  descriptions: string[];
};

/** `EVENT [guard] / action, action` */
export const transitionLine = ({ event, guard, actions }: TransitionDescription): string =>
  [event, guard === null ? '' : ` [${guard}]`, actions.length ? ` / ${actions.join(', ')}` : ''].join('');

/** What a transition is for, as a sentence that stands on its own. */
const sentence = (transition: TransitionDescription): string =>
  [transitionLine(transition), transition.description].filter(Boolean).join(': ');

export const arrowsOf = ({ transitions }: MachineDescription): Arrow[] => {
  const arrows = new Map<string, Arrow>();
  for (const transition of transitions) {
    const { from, to } = transition;
    if (to === null) continue;
    const key = JSON.stringify([from, to]);
    const arrow = arrows.get(key) ?? { from, to, lines: [], descriptions: [] };
    arrow.lines.push(transitionLine(transition));
    arrow.descriptions.push(sentence(transition));
    arrows.set(key, arrow);
  }
  return [...arrows.values()];
};

const named = (event: string, actions: readonly string[]): string[] =>
  actions.length ? [`${event} / ${actions.join(', ')}`] : [];

const internal = (machine: MachineDescription, path: string | null): TransitionDescription[] =>
  machine.transitions.filter(({ from, to }) => from === path && to === null);

/** `entry / action`, `do / service` and the events that a state takes without being left. */
export const activitiesOf = (machine: MachineDescription, state: StateDescription): string[] => [
  ...named('entry', state.entry),
  ...state.invokes.map(({ src }) => `do / ${src}`),
  ...internal(machine, state.path).map(transitionLine),
  ...named('exit', state.exit),
];

/** What the machine takes in every state without leaving it. */
export const activitiesAnywhere = (machine: MachineDescription): string[] =>
  internal(machine, null).map(transitionLine);

/** What hovering over a state tells. */
export const explain = (machine: MachineDescription, state: StateDescription): string =>
  [state.description, ...internal(machine, state.path).map(sentence)].filter(Boolean).join('\n');

export const childrenOf = ({ states }: MachineDescription, parent: string | null): StateDescription[] =>
  states.filter((state) => state.parent === parent);

export const nameOf = ({ path }: StateDescription): string => path.slice(path.lastIndexOf('.') + 1);

/** Has the machine as a whole transitions, so that a picture needs a place for every state? */
export const actsAnywhere = ({ transitions }: MachineDescription): boolean =>
  transitions.some(({ from }) => from === null);
