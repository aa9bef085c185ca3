import type { MachineDescription, StateDescription, TransitionDescription } from './description.ts';
import { grouped } from './groups.ts';

/**
 * What a picture says in one line, and the rows that a line takes. Transitions with the same guard and the same
 * actions share a line, by the names of their events; each line knows the transitions that it stands for.
 */

/** A failed service and a delay that ends are drawn in other strokes than what is asked for or hoped for. */
export type Kind = 'event' | 'error' | 'timer';

export type Line = {
  text: string;
  kind: Kind;
  /** Names of the states that it holds in; none: wherever it stands. */
  where: readonly string[];
  transitions: readonly TransitionDescription[];
};

export type Row = { text: string; indented: boolean; soft: boolean; line: Line };

/** What a transition is called where its state is drawn beside it. */
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

/** What a transition is for, as a sentence that stands on its own. */
const sentence = (transition: TransitionDescription): string =>
  [transitionLine(transition), transition.description].filter(Boolean).join(': ');

const kindOf = ({ event }: TransitionDescription, state: StateDescription | undefined): Kind => {
  if (event.startsWith('after ')) return 'timer';
  return state?.invokes.some(({ src }) => event === `error.${src}`) ? 'error' : 'event';
};

/** A state with one service says `done` and `error`: the service stands in its box. */
export const speak = (machine: MachineDescription, transition: TransitionDescription): Spoken => {
  const { event, guard, actions } = transition;
  const state = machine.states.find(({ path }) => path === transition.from);
  const [service, ...others] = state?.invokes ?? [];
  const own = service && !others.length ? event.match(/^(done|error)\.(.*)$/s) : null;
  const short = own?.[2] === service?.src ? own?.[1] : undefined;
  const taken = machine.transitions.some(({ from, event: other }) => from === state?.path && other === short);
  return { event: taken ? event : (short ?? event), guard, actions, kind: kindOf(transition, state) };
};

export type Saying = { spoken: Spoken; where: readonly string[]; transition: TransitionDescription };

/** Lines in the order of their first transitions. */
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

/** A line of what no event brings about. */
export const plainLine = (text: string): Line => ({ text, kind: 'event', where: [], transitions: [] });

/** What hovering over lines tells: every transition in full. */
export const explainLines = (lines: readonly Line[]): string =>
  lines
    .flatMap(({ text, transitions }) => (transitions.length ? transitions.map(sentence) : [text]))
    .join('\n');

/** An arrow is of a kind when all that it stands for is. */
export const kindOfAll = ([first, ...others]: readonly Line[]): Kind =>
  first && others.every(({ kind }) => kind === first.kind) ? first.kind : 'event';

const LONGEST = 40;
const INDENT = 2;
const MOST_ROWS = 3;

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** An action stays with the stroke before it. */
const WORDS = /(?<! \/) /;

/** Rows of whole words; what does not fit into the last one ends in an ellipsis. */
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

/** Letters that a row is wide. */
export const lengthOf = ({ text, indented }: Row): number => text.length + (indented ? INDENT : 0);
export const indentOf = ({ indented }: Row): number => (indented ? INDENT : 0);
