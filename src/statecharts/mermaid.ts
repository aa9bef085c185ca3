import type { MachineDescription, StateDescription } from './description.ts';
import { activitiesAnywhere, activitiesOf, actsAnywhere, arrowsOf, childrenOf, nameOf } from './diagram.ts';

/**
 * A machine as a mermaid `stateDiagram-v2`. Every id carries the name of the machine, so none can be one of
 * mermaid's reserved words; every label is free of the characters that mermaid's grammar gives a meaning to.
 */

/** Characters that end a label, open a comment or start markup, as the entities that mermaid turns back. */
const ESCAPES: Record<string, string> = {
  '#': '#35;',
  ':': '#58;',
  ';': '#59;',
  '%': '#37;',
  '"': '#quot;',
  '<': '#lt;',
  '>': '#gt;',
  '{': '#123;',
  '}': '#125;',
};

const escapeLabel = (label: string): string =>
  label.replace(/[#:;%"<>{}]/g, (character) => ESCAPES[character] ?? character);

const lines = (texts: readonly string[]): string => texts.map(escapeLabel).join('<br/>');

/** `run.running.inferring` becomes `run__running__inferring`. */
const idOf = (machine: MachineDescription, path: string): string =>
  [machine.id, ...path.split('.')].join('__').replace(/\W/g, '_');

const anywhere = (machine: MachineDescription): string => idOf(machine, 'any-state');

const drawState = (machine: MachineDescription, state: StateDescription, indent: string): string[] => {
  const id = idOf(machine, state.path);
  const label = lines([nameOf(state), ...activitiesOf(machine, state)]);
  const declared = `${indent}state "${label}" as ${id}`;
  const inside = childrenOf(machine, state.path);
  if (!inside.length) return [declared, ...(state.type === 'final' ? [`${indent}${id} --> [*]`] : [])];
  return [
    `${declared} {`,
    ...(state.initial === null ? [] : [`${indent}  [*] --> ${idOf(machine, state.initial)}`]),
    ...inside.flatMap((child, index) => [
      ...(state.type === 'parallel' && index > 0 ? [`${indent}  --`] : []),
      ...drawState(machine, child, `${indent}  `),
    ]),
    `${indent}}`,
  ];
};

/** @example const text = toMermaid(describeMachine('run', runMachine)); */
export const toMermaid = (machine: MachineDescription): string =>
  [
    '---',
    `title: ${JSON.stringify(`${machine.name}: ${machine.description}`)}`,
    '---',
    'stateDiagram-v2',
    ...(machine.initial === null ? [] : [`  [*] --> ${idOf(machine, machine.initial)}`]),
    ...childrenOf(machine, null).flatMap((state) => drawState(machine, state, '  ')),
    ...(actsAnywhere(machine)
      ? [`  state "${lines(['any state', ...activitiesAnywhere(machine)])}" as ${anywhere(machine)}`]
      : []),
    ...arrowsOf(machine).map((arrow) => {
      const from = arrow.from === null ? anywhere(machine) : idOf(machine, arrow.from);
      return `  ${from} --> ${idOf(machine, arrow.to)} : ${lines(arrow.lines)}`;
    }),
    '',
  ].join('\n');
