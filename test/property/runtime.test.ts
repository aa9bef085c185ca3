import fc from 'fast-check';
import t from 'tap';
import { storeFor } from '../store/open.ts';
import { play } from './play.ts';
import { step } from './steps.ts';

/**
 * Whatever clients, models, tools, the disk and the end of the process do, in whatever order: what the contract
 * promises holds. PROPERTY_RUNS says how many sequences are played (1000), PROPERTY_SEED repeats a run of them.
 */

const RUNS = Number(process.env.PROPERTY_RUNS ?? 1000);
const SEED = Number(process.env.PROPERTY_SEED ?? Date.now() % 1_000_000_000);

// The runner is told as well; sequences are many, none of them waits for a clock.
t.setTimeout(600_000);

t.test('the contract holds for random sequences of what clients and the world do', async (t) => {
  const store = await storeFor(t);
  let played = 0;
  const property = fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
    played += 1;
    await play({ store, scope: `sequence ${played}`, steps });
  });
  t.comment(`PROPERTY_SEED=${SEED}`);
  await fc.assert(property, {
    seed: SEED,
    numRuns: RUNS,
    ...(process.env.PROPERTY_PATH !== undefined && { path: process.env.PROPERTY_PATH }),
  });
  t.ok(played >= RUNS);
});
