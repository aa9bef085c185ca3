import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { below, randomFrom } from '../crash/random.ts';
import { SEED } from '../random.ts';
import { bundle } from '../run/bundle.ts';
import { inProject, Places } from '../run/places.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { nearestTests } from './nearest.ts';
import { play } from './play.ts';

/**
 * Whether tests notice faults: makes single small changes in a room, chosen by chance among those of a table, and
 * runs the nearest tests for each. What survives is a missing test, or code that nothing needs.
 */

const USAGE = `Usage: npm run mutate -- [--count N] [--jobs N] [--at LINE] ROOM ...

  ROOM        a folder of sources such as machines or src/store, or one file
  --count N   changes in each room; 25 unless said
  --jobs N    changes at a time; one for each core unless said
  --at LINE   all changes of this line instead, in one file

  TROUPE_TEST_SEED=N   chooses the same changes again

Fails when more than 5 % of a room's changes survive.
`;

const MOST_SURVIVORS = 0.05;

/** Two runs in one clone do not share it. */
const FOLDER = `.tap/mutants-${process.pid}`;

const sourcesOf = (room: string): string[] =>
  room.endsWith('.ts')
    ? [room]
    : readdirSync(inProject(room), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
        .map((name) => `${room}/${name}`)
        .sort();

const mutantsIn = (room: string): Mutant[] =>
  sourcesOf(room).flatMap((file) => mutantsOf(file, readFileSync(inProject(file), 'utf8')));

/** @returns as many as are asked for, at most one of a line */
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

const main = async (): Promise<void> => {
  const { values, positionals: rooms } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      count: { type: 'string', default: '25' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      at: { type: 'string' },
    },
  });
  if (values.help || rooms.length === 0) return console.log(USAGE);
  // Enough to notice; the test of random sequences is the nearest of much.
  process.env.PROPERTY_RUNS ??= '60';
  const places = new Places(inProject(`${FOLDER}/none`));
  const tests = sourcesOf('test').filter((file) => file.endsWith('.test.ts'));
  const graph = await bundle(tests, places);
  console.log(`seed ${SEED}`);
  for (const room of rooms) {
    const all = mutantsIn(room);
    const line = Number(values.at);
    const chosen = values.at
      ? all.filter((mutant) => mutant.line === line)
      : choose(all, Number(values.count));
    const survivors: Mutant[] = [];
    const work = async (slot: number): Promise<void> => {
      for (let mutant = chosen.shift(); mutant !== undefined; mutant = chosen.shift()) {
        const killer = await play(mutant, nearestTests(mutant.file, graph), `${FOLDER}/${slot}`);
        if (killer === undefined) survivors.push(mutant);
        const { file, line, name } = mutant;
        console.log(
          `${killer === undefined ? 'SURVIVED' : 'killed  '} ${file}:${line} ${name}${killer ? `, by ${killer}` : ''}`,
        );
      }
    };
    const count = chosen.length;
    await Promise.all(Array.from({ length: Number(values.jobs) }, (_, slot) => work(slot)));
    console.log(`${room}: ${survivors.length} of ${count} survived, of ${all.length} that there are`);
    for (const { file, line, name, was } of survivors) console.log(`  ${file}:${line} ${name}: ${was}`);
    if (survivors.length > count * MOST_SURVIVORS) process.exitCode = 1;
  }
  rmSync(inProject(FOLDER), { recursive: true, force: true });
};

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
