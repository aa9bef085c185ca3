import { Invalid, NotFound } from '../schema/outcome.ts';
import { describeAll } from './describe.ts';
import type { MachineDescription } from './description.ts';
import { toMermaid } from './mermaid.ts';
import { toSvg } from './svg.ts';

/** Every way to show a machine. */
const drawings = {
  mermaid: toMermaid,
  json: (machine: MachineDescription) => `${JSON.stringify(machine, null, 2)}\n`,
  svg: toSvg,
} as const;

export type DrawingFormat = keyof typeof drawings;
export type Drawing = { name: string; text: string };

const isFormat = (format: string): format is DrawingFormat => Object.hasOwn(drawings, format);

/**
 * Draws one machine of the catalogue, or all of them in its order.
 * @throws Invalid for a format, NotFound for a machine that does not exist; both say what does.
 * @example const [run] = await drawMachines({ format: 'svg', machine: 'run' });
 */
export const drawMachines = async ({
  format,
  machine,
}: {
  format: DrawingFormat;
  machine?: string | undefined;
}): Promise<Drawing[]> => {
  // The command line and a query hand over whatever was typed.
  if (!isFormat(format)) {
    throw new Invalid(`unknown format '${format}': one of ${Object.keys(drawings).join(', ')}`);
  }
  const all = describeAll();
  const chosen = machine === undefined ? all : all.filter(({ name }) => name === machine);
  if (!chosen.length) {
    throw new NotFound(`unknown machine '${machine}': one of ${all.map(({ name }) => name).join(', ')}`);
  }
  return Promise.all(chosen.map(async (each) => ({ name: each.name, text: await drawings[format](each) })));
};
