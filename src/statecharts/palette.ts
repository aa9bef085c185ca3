import type { MachineDescription, StateDescription } from './description.ts';

/** The colours of a drawn machine, for light and for dark pages. Status tags decide what a state is filled with. */

const STATUS_TAGS = ['created', 'running', 'waiting', 'done'] as const;
type StatusTag = (typeof STATUS_TAGS)[number];
type Tint = StatusTag | 'plain';

/** The status that a state stands for: its own tag, else that of the nearest state around it. */
export const tintOf = (machine: MachineDescription, state: StateDescription): Tint => {
  const own = STATUS_TAGS.find((tag) => state.tags.includes(tag));
  if (own) return own;
  const parent = machine.states.find(({ path }) => path === state.parent);
  return parent ? tintOf(machine, parent) : 'plain';
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
  created: '#eef2f8',
  'created-line': '#7d8fae',
  running: '#e9f3ec',
  'running-line': '#5f9a72',
  waiting: '#fbf3e2',
  'waiting-line': '#bd9440',
  done: '#eceaf3',
  'done-line': '#8379a8',
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
  created: '#1d2635',
  'created-line': '#6d84ab',
  running: '#1a2b21',
  'running-line': '#5a9a70',
  waiting: '#30281a',
  'waiting-line': '#b58e40',
  done: '#262333',
  'done-line': '#8b80b4',
};

const variables = (colours: Colours): string =>
  Object.entries(colours)
    .map(([name, colour]) => `--${name}:${colour}`)
    .join(';');

const tints = (['plain', ...STATUS_TAGS] as const)
  .map((tint) => `.${tint}{fill:var(--${tint});stroke:var(--${tint}-line)}`)
  .join('\n');

/** Everything hangs below one class, so that the picture may stand inside a page among others. */
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
