import type { MachineDescription, StateDescription, TransitionDescription } from './description.ts';
import { grouped } from './groups.ts';

/**
 * Formats transitions as lines, and lines as rows. Transitions with the same guard and the same actions share a line
 * with the names of their events; each line references its transitions.
 */

/** Failed services and delays have strokes that differ from those of other events. */
export type Kind = 'event' | 'error' | 'timer';

export type Line = {
  text: string;
  kind: Kind;
  /** Names of the states in which the line applies; empty: in every state at its position. */
  where: readonly string[];
  transitions: readonly TransitionDescription[];
};

export type Row = { text: string; indented: boolean; soft: boolean; line: Line };

/** The display form of a transition next to its state. */
export type Spoken = Pick<TransitionDescription, 'event' | 'guard' | 'actions'> & { kind: Kind };

/** `EVENT [guard] / action, action` */
const wordsOf = (events: readonly string[], { guard, actions }: Pick<Spoken, 'guard' | 'actions'>): string =>
  [
    events.join(', '),
    guard === null ? '' : ` [${guard}]`,
    actions.length ? ` / ${actions.join(', ')}` : '',
  ].join('');

export const transitionLine = (transition: TransitionDescription): string =>
  wordsOf([transition.event], transition);

/** Returns the purpose of a transition as a complete sentence. */
const sentence = (transition: TransitionDescription): string =>
  [transitionLine(transition), transition.description].filter(Boolean).join(': ');

const kindOf = ({ event }: TransitionDescription, state: StateDescription | undefined): Kind => {
  if (event.startsWith('after ')) return 'timer';
  return state?.invokes.some(({ src }) => event === `error.${src}`) ? 'error' : 'event';
};

/** In a state with one service, events are shortened to `done` and `error`, because its box names the service. */
export const speak = (machine: MachineDescription, transition: TransitionDescription): Spoken => {
  const { event, guard, actions } = transition;
  const state = machine.states.find(({ path }) => path === transition.from);
  const [service, ...others] = state?.invokes ?? [];
  const own = service && !others.length ? event.match(/^(done|error)\.(.*)$/s) : null;
  const short = own?.[2] === service?.src ? own?.[1] : undefined;
  const taken = machine.transitions.some(({ from, event: other }) => from === state?.path && other === short);
  return { event: taken ? event : (short ?? event), guard, actions, kind: kindOf(transition, state) };
};

/** `asks for tools` for the guard `asksForTools` */
const spelled = (guard: string): string =>
  guard
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^is /, '')
    .trim();

/**
 * Returns a short name of a transition. The guard names a result of a service, because all of its results have the same
 * event.
 */
export const shortName = (machine: MachineDescription, transition: TransitionDescription): string => {
  const { event, guard } = speak(machine, transition);
  const isResult = event === 'done' || event === 'error';
  return isResult && guard !== null && /^\w+$/.test(guard) ? spelled(guard) : event;
};

export type Saying = { spoken: Spoken; where: readonly string[]; transition: TransitionDescription };

/** Returns lines in the order of their first transitions. */
export const linesOf = (sayings: readonly Saying[]): Line[] =>
  grouped(sayings, ({ spoken, where }) =>
    JSON.stringify([spoken.guard, spoken.actions, spoken.kind, where]),
  ).map((together) => {
    const [{ spoken, where }] = together;
    const events = new Set(together.map((saying) => saying.spoken.event));
    return {
      text: wordsOf([...events], spoken),
      kind: spoken.kind,
      where,
      transitions: together.map(({ transition }) => transition),
    };
  });

/** A line without transitions. */
export const plainLine = (text: string): Line => ({ text, kind: 'event', where: [], transitions: [] });

/** Returns the tooltip of lines: every transition in full. */
export const explainLines = (lines: readonly Line[]): string =>
  lines
    .flatMap(({ text, transitions }) => (transitions.length ? transitions.map(sentence) : [text]))
    .join('\n');

/** An arrow has a kind if all of its lines have it. */
export const kindOfAll = ([first, ...others]: readonly Line[]): Kind =>
  first && others.every(({ kind }) => kind === first.kind) ? first.kind : 'event';

const LONGEST = 40;
const INDENT = 2;
const MOST_ROWS = 3;

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** Keeps an action with the slash before it. */
const WORDS = /(?<! \/) /;

/** Wraps at spaces; an ellipsis replaces text beyond the last row. */
const wrap = (text: string): string[] => {
  const rows: string[] = [];
  for (const word of text.split(WORDS)) {
    const last = rows.at(-1);
    const room = LONGEST - (rows.length > 1 ? INDENT : 0);
    if (last !== undefined && last.length + 1 + word.length <= room)
      rows[rows.length - 1] = `${last} ${word}`;
    else rows.push(cut(word, LONGEST - INDENT));
  }
  if (rows.length <= MOST_ROWS) return rows;
  const end = rows[MOST_ROWS - 1] ?? '';
  return [...rows.slice(0, MOST_ROWS - 1), `${end.slice(0, LONGEST - INDENT - 2)} …`];
};

export const rowsOf = (line: Line): Row[] => [
  ...wrap(line.text).map((text, index) => ({ text, indented: index > 0, soft: false, line })),
  ...(line.where.length ? wrap(`in ${line.where.join(', ')}`) : []).map((text) => ({
    text,
    indented: true,
    soft: true,
    line,
  })),
];

/** Returns the width of a row in characters. */
export const lengthOf = ({ text, indented }: Row): number => text.length + (indented ? INDENT : 0);
export const indentOf = ({ indented }: Row): number => (indented ? INDENT : 0);
