import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { randomFrom } from '../../src/load-generator/random.ts';
import { below } from '../crash/random.ts';
import { SEED } from '../random.ts';
import { bundle, PROGRAM } from '../run/bundle.ts';
import { countFrom, testFiles } from '../run/command-line.ts';
import { inProject, Places } from '../run/places.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { nearestTests } from './nearest.ts';
import { type Fate, play } from './play.ts';

/**
 * Checks whether tests detect faults: applies randomly chosen single mutations to a module and runs the nearest tests
 * for each. A survivor indicates a missing test or unneeded code; a mutation that ran out of time must be examined.
 */

const USAGE = `Usage: npm run mutate -- [--count N] [--jobs N] [--at LINE] MODULE ...

  MODULE      a folder of sources such as machines or src/store, or one file
  --count N   mutations per module (default: 25)
  --jobs N    concurrent mutations (default: one per core)
  --at LINE   all mutations of this line, in one file

  TROUPE_TEST_SEED=N   chooses the same mutations again

Fails when more than 5 % of the mutations of a module survive.
`;

const MOST_SURVIVORS = 0.05;

/** The process id separates concurrent runs in one clone. */
const FOLDER = `.tap/mutants-${process.pid}`;

/** @throws Error if the module does not exist */
const sourcesOf = (module: string): string[] => {
  if (!existsSync(inProject(module)))
    throw new Error(`no such module: '${module}'; allowed: machines, src/store, …`);
  return module.endsWith('.ts')
    ? [module]
    : readdirSync(inProject(module), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
        .map((name) => `${module}/${name}`)
        .sort();
};

const mutantsIn = (module: string): Mutant[] =>
  sourcesOf(module).flatMap((file) => mutantsOf(file, readFileSync(inProject(file), 'utf8')));

/** @returns up to `count` mutants, at most one per line */
const choose = (mutants: readonly Mutant[], count: number): Mutant[] => {
  const random = randomFrom(SEED);
  const chosen = new Map<string, Mutant>();
  const left = [...mutants];
  while (chosen.size < count && left.length > 0) {
    const [mutant] = left.splice(below(random, left.length), 1);
    if (mutant && !chosen.has(`${mutant.file}:${mutant.line}`))
      chosen.set(`${mutant.file}:${mutant.line}`, mutant);
  }
  return [...chosen.values()];
};

const placeOf = ({ file, line, name }: Mutant): string => `${file}:${line} ${name}`;

const by = (fate: Fate): string =>
  fate.kind === 'survived' ? '' : `, by ${fate.file}${fate.broken ? ` (${fate.broken})` : ''}`;

const main = async (): Promise<void> => {
  const { values, positionals: modules } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      count: { type: 'string' },
      jobs: { type: 'string' },
      at: { type: 'string' },
    },
  });
  if (values.help || modules.length === 0) return console.log(USAGE);
  const count = countFrom('count', values.count, 25);
  const jobs = countFrom('jobs', values.jobs, availableParallelism());
  const line = values.at === undefined ? undefined : countFrom('at', values.at, 1);
  const sources = modules.map((module) => [module, mutantsIn(module)] as const);
  // Enough sequences to detect faults; the property test is the nearest test of many files.
  process.env.PROPERTY_RUNS ??= '60';
  const places = new Places(inProject(`${FOLDER}/none`));
  const graph = await bundle([...testFiles(), ...PROGRAM], places);
  console.log(`seed ${SEED}`);
  for (const [module, all] of sources) {
    const chosen = line === undefined ? choose(all, count) : all.filter((mutant) => mutant.line === line);
    const tried = chosen.length;
    const left: { mutant: Mutant; fate: Fate }[] = [];
    const work = async (slot: number): Promise<void> => {
      for (let mutant = chosen.shift(); mutant !== undefined; mutant = chosen.shift()) {
        const fate = await play(mutant, nearestTests(mutant.file, graph), `${FOLDER}/${slot}`);
        if (fate.kind !== 'killed') left.push({ mutant, fate });
        console.log(`${fate.kind.padEnd(15)} ${placeOf(mutant)}${by(fate)}`);
      }
    };
    await Promise.all(Array.from({ length: jobs }, (_, slot) => work(slot)));
    const countOf = (kind: Fate['kind']): number => left.filter(({ fate }) => fate.kind === kind).length;
    console.log(
      `${module}: ${countOf('survived')} of ${tried} survived, ${countOf('ran out of time')} ran out of time, of ${all.length} that there are`,
    );
    for (const { mutant, fate } of left) console.log(`  ${placeOf(mutant)}: ${mutant.was} (${fate.kind})`);
    if (countOf('survived') > tried * MOST_SURVIVORS) process.exitCode = 1;
  }
  rmSync(inProject(FOLDER), { recursive: true, force: true });
};

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
