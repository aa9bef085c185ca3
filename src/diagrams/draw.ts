import { Invalid, NotFound } from '../schema/outcome.ts';
import { describeAll } from './describe.ts';
import type { MachineDescription } from './description.ts';
import { pictureOf } from './diagram.ts';
import { type Fold, foldedIn, known } from './fold.ts';
import { toMermaid } from './mermaid.ts';
import { toSvg } from './svg.ts';

/** The drawing function of each format. */
const drawings = {
  mermaid: (machine: MachineDescription, { fold, live }: Look) =>
    toMermaid(pictureOf(machine, foldedIn(machine, fold)), live),
  json: (machine: MachineDescription) => `${JSON.stringify(machine, null, 2)}\n`,
  svg: (machine: MachineDescription, { fold, live }: Look) =>
    toSvg(pictureOf(machine, foldedIn(machine, fold)), live),
} as const;

export type DrawingFormat = keyof typeof drawings;
export type Drawing = { name: string; text: string };

/** `live`: paths of states to mark, each in the state that shows it. */
type Look = { fold: Fold; live: readonly string[] };

const isFormat = (format: string): format is DrawingFormat => Object.hasOwn(drawings, format);

const chosenFrom = (all: readonly MachineDescription[], name: string | undefined): MachineDescription[] => {
  const chosen = all.filter((machine) => name === undefined || machine.name === name);
  if (chosen.length) return chosen;
  throw new NotFound(`unknown machine '${name}': one of ${all.map((machine) => machine.name).join(', ')}`);
};

/** State names are specific to one machine, and JSON output is neither folded nor marked. */
const checkLook = (
  format: DrawingFormat,
  machine: string | undefined,
  { fold, live }: Partial<Look>,
): void => {
  const names = live !== undefined || (typeof fold === 'object' && 'states' in fold);
  if (format === 'json' && (fold !== undefined || names)) {
    throw new Invalid('JSON is the whole machine: only pictures are folded or marked');
  }
  if (names && machine === undefined) throw new Invalid('states are those of one machine: name it');
};

/**
 * Draws one machine of the catalog, or all of them in its order. Large machines are folded unless `fold` is given.
 *
 * @throws Invalid for an unknown format, NotFound for an unknown machine or state; both list the known ones
 * @example const [run] = await drawMachines({ format: 'svg', machine: 'run' });
 */
export const drawMachines = async ({
  format,
  machine,
  fold,
  live,
}: {
  format: DrawingFormat;
  machine?: string | undefined;
  fold?: Fold | undefined;
  live?: readonly string[] | undefined;
}): Promise<Drawing[]> => {
  // The command line and query parameters pass unvalidated text.
  if (!isFormat(format)) {
    throw new Invalid(`unknown format '${format}': one of ${Object.keys(drawings).join(', ')}`);
  }
  checkLook(format, machine, { fold, live });
  const look: Look = { fold: fold ?? 'large', live: live ?? [] };
  return Promise.all(
    chosenFrom(describeAll(), machine).map(async (each) => {
      for (const path of look.live) known(each, path);
      return { name: each.name, text: await drawings[format](each, look) };
    }),
  );
};
