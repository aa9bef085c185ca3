import type { MachineDescription } from './description.ts';
import { isLive, type Picture, type Shown } from './diagram.ts';
import type { Line } from './lines.ts';
import type { Arrow } from './merge.ts';
import { nameOf } from './nesting.ts';

/**
 * A picture as a mermaid `stateDiagram-v2`. Every id contains the name of the machine, so none equals a reserved word
 * of mermaid; labels contain none of the characters with a meaning in mermaid's grammar. Mermaid has no arrow from a
 * state to one inside it: such an arrow starts at an additional state in there.
 */

/** Entities for characters that end a label, open a comment or start markup; mermaid decodes them. */
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

const label = (texts: readonly string[]): string => texts.map(escapeLabel).join('<br/>');

/** `run.running.inferring` becomes `run__running__inferring`. */
const idOf = (machine: MachineDescription, path: string): string =>
  [machine.id, ...path.split('.')].join('__').replace(/\W/g, '_');

const originOf = ({ machine, arrows }: Picture, arrow: Arrow): string =>
  idOf(machine, `any-state.${arrows.indexOf(arrow)}`);

const lineText = ({ text, where }: Line): string =>
  where.length ? `${text} (in ${where.join(', ')})` : text;

/** Draws the states inside a state, or the machine, and the origins of arrows that stay inside it. */
const drawInside = (picture: Picture, parent: Shown | undefined, indent: string): string[] => {
  const { machine, states, arrows } = picture;
  const path = parent?.state.path ?? null;
  const initial = parent ? parent.state.initial : machine.initial;
  const children = states.filter(({ state }) => state.parent === path);
  return [
    ...(initial === null ? [] : [`${indent}[*] --> ${idOf(machine, initial)}`]),
    ...children.flatMap((child, index) => [
      ...(parent?.state.type === 'parallel' && index > 0 ? [`${indent}--`] : []),
      ...drawState(picture, child, indent),
    ]),
    ...arrows
      .filter(({ inward, from }) => inward && from === path)
      .map((arrow) => {
        const texts = arrow.lines.map((line) =>
          line.where.length ? lineText(line) : `${line.text} (in every state)`,
        );
        return `${indent}state "${label(texts)}" as ${originOf(picture, arrow)}`;
      }),
  ];
};

const drawState = (picture: Picture, shown: Shown, indent: string): string[] => {
  const { state, activities, hidden, open } = shown;
  const id = idOf(picture.machine, state.path);
  const folded = hidden.length ? [`⊞ ${hidden.length} states`] : [];
  const text = label([nameOf(state.path), ...activities.map(lineText), ...folded]);
  const declared = `${indent}state "${text}" as ${id}`;
  if (open) return [`${declared} {`, ...drawInside(picture, shown, `${indent}  `), `${indent}}`];
  return [declared, ...(state.type === 'final' ? [`${indent}${id} --> [*]`] : [])];
};

const drawArrow = (picture: Picture, arrow: Arrow): string => {
  const to = idOf(picture.machine, arrow.to);
  if (arrow.inward || arrow.from === null) return `  ${originOf(picture, arrow)} --> ${to}`;
  return `  ${idOf(picture.machine, arrow.from)} --> ${to} : ${label(arrow.lines.map(lineText))}`;
};

const drawLive = ({ machine, states }: Picture, live: readonly string[]): string[] => {
  const ids = states.filter((shown) => isLive(shown, live)).map(({ state }) => idOf(machine, state.path));
  if (!ids.length) return [];
  return ['  classDef live stroke-width:4px', `  class ${ids.join(',')} live`];
};

/**
 * `live`: paths of states to mark, each in the state that shows it.
 *
 * @example const text = toMermaid(pictureOf(describeMachine('run', runMachine)));
 */
export const toMermaid = (picture: Picture, live: readonly string[] = []): string => {
  const { machine, activities, arrows } = picture;
  const every = label(['in every state', ...activities.map(lineText)]);
  return [
    '---',
    `title: ${JSON.stringify(`${machine.name}: ${machine.description}`)}`,
    '---',
    'stateDiagram-v2',
    ...drawInside(picture, undefined, '  '),
    ...(activities.length ? [`  state "${every}" as ${idOf(machine, 'any-state')}`] : []),
    ...arrows.map((arrow) => drawArrow(picture, arrow)),
    ...drawLive(picture, live),
    '',
  ].join('\n');
};
