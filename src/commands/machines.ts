import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';

const levels = (text: string): number => {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('a number of levels, at least 1.');
};

type Folding = { fold?: string[]; depth?: number; whole?: true };

/** By default, large machines are collapsed. */
const foldOf = ({ fold, depth, whole }: Folding) => {
  if (fold) return { states: fold };
  if (depth !== undefined) return { depth };
  return whole ? 'nothing' : undefined;
};

/** `troupe machines`: renders every statechart of the service as a diagram or as data. */
export const machinesCommand = new Command('machines')
  .description('draw the statecharts of the service')
  .addOption(
    new Option('--format <format>', 'output format').choices(['mermaid', 'json', 'svg']).default('mermaid'),
  )
  .option('--machine <name>', 'draw only this statechart')
  .addOption(
    new Option('--fold <states...>', 'collapse these states of the statechart').conflicts(['depth', 'whole']),
  )
  .addOption(
    new Option('--depth <levels>', 'fold states that lie deeper').argParser(levels).conflicts('whole'),
  )
  .option('--whole', 'expand all states; by default large statecharts are collapsed')
  .option('--live <states...>', 'highlight these states of the statechart')
  .option('--out <folder>', 'write one file per statechart instead of standard output')
  .action(async ({ format, machine, live, out, ...folding }) => {
    const { drawMachines } = await import('../diagrams/draw.ts');
    const drawings = await drawMachines({ format, machine, fold: foldOf(folding), live });
    if (out === undefined) {
      process.stdout.write(`${drawings.map(({ text }) => text).join('\n')}\n`);
      return;
    }
    mkdirSync(out, { recursive: true });
    for (const { name, text } of drawings)
      writeFileSync(join(out, `${name}.${EXTENSION[format as keyof typeof EXTENSION]}`), text);
  });

const EXTENSION = { mermaid: 'mmd', json: 'json', svg: 'svg' } as const;
