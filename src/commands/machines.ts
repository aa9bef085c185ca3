import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { drawMachines } from '../statecharts/draw.ts';

/** `troupe machines`: every statechart of the service as a picture or as data. */
export const machinesCommand = new Command('machines')
  .description('draw the statecharts of the service')
  .addOption(
    new Option('--format <format>', 'what to draw').choices(['mermaid', 'json', 'svg']).default('mermaid'),
  )
  .option('--machine <name>', 'only this one')
  .option('--out <folder>', 'one file a machine, instead of standard output')
  .action(async ({ format, machine, out }) => {
    const drawings = await drawMachines({ format, machine });
    if (out === undefined) {
      process.stdout.write(`${drawings.map(({ text }) => text).join('\n')}\n`);
      return;
    }
    mkdirSync(out, { recursive: true });
    for (const { name, text } of drawings)
      writeFileSync(join(out, `${name}.${EXTENSION[format as keyof typeof EXTENSION]}`), text);
  });

const EXTENSION = { mermaid: 'mmd', json: 'json', svg: 'svg' } as const;
