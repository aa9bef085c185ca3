import type { MachineDescription, StateDescription } from './description.ts';
import { nameOf } from './nesting.ts';

/**
 * The colors of a drawn machine, for light and dark pages. Status tags determine the fill of a state, and its outcome
 * that of a final state.
 */

const STATUS_TAGS = ['created', 'running', 'waiting', 'done'] as const;
type StatusTag = (typeof STATUS_TAGS)[number];
type Outcome = 'completed' | 'failed' | 'cancelled';
type Tint = StatusTag | Outcome | 'plain';

/** Outcomes of final states, by name. */
const OUTCOMES: Readonly<Record<Outcome, readonly string[]>> = {
  completed: ['completed', 'succeeded', 'acked', 'answered', 'settled', 'done', 'drained'],
  failed: ['failed', 'blocked', 'rejected', 'refused', 'deadLetter', 'abandoned', 'orphaned', 'timedOut'],
  cancelled: ['cancelled', 'canceled', 'superseded', 'removed', 'deleted', 'forgotten', 'stopped'],
};

const outcomeOf = ({ type, path }: StateDescription): Outcome | undefined => {
  if (type !== 'final') return undefined;
  const name = nameOf(path);
  return (Object.keys(OUTCOMES) as Outcome[]).find((outcome) => OUTCOMES[outcome].includes(name));
};

/** Returns the outcome of a final state, or the status of a state: its own tag, else that of the nearest ancestor. */
export const chooseTint = (machine: MachineDescription, state: StateDescription): Tint => {
  const own = outcomeOf(state) ?? STATUS_TAGS.find((tag) => state.tags.includes(tag));
  if (own) return own;
  const parent = machine.states.find(({ path }) => path === state.parent);
  return parent ? chooseTint(machine, parent) : 'plain';
};

type Colours = Record<
  'paper' | 'ink' | 'soft' | 'line' | 'error' | 'timer' | 'live' | Tint | `${Tint}-line`,
  string
>;

const LIGHT: Colours = {
  paper: '#ffffff',
  ink: '#1f2430',
  soft: '#5b6372',
  line: '#6b7383',
  error: '#b4483c',
  timer: '#7457b8',
  live: '#1f6feb',
  plain: '#f4f5f7',
  'plain-line': '#9aa1ad',
  created: '#f1f3f5',
  'created-line': '#818c99',
  running: '#e7f2fb',
  'running-line': '#5b93c4',
  waiting: '#fbf3e2',
  'waiting-line': '#bd9440',
  done: '#f1f3f5',
  'done-line': '#818c99',
  completed: '#e6f5ec',
  'completed-line': '#5f9a72',
  failed: '#fdecec',
  'failed-line': '#c9635c',
  cancelled: '#f1f3f5',
  'cancelled-line': '#818c99',
};

const DARK: Colours = {
  paper: '#14171d',
  ink: '#e6e9ef',
  soft: '#a3abba',
  line: '#8d95a5',
  error: '#e08477',
  timer: '#ab93e6',
  live: '#6aa9ff',
  plain: '#20242c',
  'plain-line': '#5d6574',
  created: '#1c232c',
  'created-line': '#6b7888',
  running: '#10233a',
  'running-line': '#5a8fc4',
  waiting: '#30281a',
  'waiting-line': '#b58e40',
  done: '#1c232c',
  'done-line': '#6b7888',
  completed: '#12281d',
  'completed-line': '#5a9a70',
  failed: '#2f1618',
  'failed-line': '#c26a64',
  cancelled: '#1c232c',
  'cancelled-line': '#6b7888',
};

const variables = (colours: Colours): string =>
  Object.entries(colours)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(';');

const tints = (['plain', ...STATUS_TAGS, 'completed', 'failed', 'cancelled'] as const)
  .map((tint) => `.${tint}{fill:var(--${tint});stroke:var(--${tint}-line)}`)
  .join('\n');

/** All rules are scoped to one class, so that the picture can be embedded in a page. */
export const STYLE = `
.statechart{${variables(LIGHT)}}
@media (prefers-color-scheme:dark){.statechart{${variables(DARK)}}}
.statechart .paper{fill:var(--paper)}
.statechart text{fill:var(--ink);font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.statechart .name{font-weight:600}
.statechart [data-head] text{paint-order:stroke;stroke:var(--paper);stroke-width:4px}
.statechart .soft{fill:var(--soft)}
.statechart .chip{fill:var(--paper);stroke:var(--line);stroke-opacity:.35;stroke-width:.8}
.statechart .arrow{fill:none;stroke:var(--line);stroke-width:1.2}
.statechart .head,.statechart .dot{fill:var(--line)}
.statechart .inner{fill:none}
.statechart .origin{fill:var(--paper);stroke:var(--line);stroke-dasharray:4 3}
.statechart .folded{stroke-width:2.5}
.statechart .live rect{stroke:var(--live);stroke-width:3}
.statechart .live .name{fill:var(--live)}
.statechart text.error{fill:var(--error)}
.statechart text.timer{fill:var(--timer)}
.statechart .head.error{fill:var(--error)}
.statechart .head.timer{fill:var(--timer)}
.statechart .arrow.error{stroke:var(--error);stroke-dasharray:6 3}
.statechart .arrow.timer{stroke:var(--timer);stroke-dasharray:2 3}
${tints
  .split('\n')
  .map((rule) => `.statechart ${rule}`)
  .join('\n')}
`;
