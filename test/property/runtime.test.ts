import t from 'tap';
import { LONG } from '../long.ts';
import fc from '../random.ts';
import { storeFor } from '../store/open.ts';
import { play } from './play.ts';
import { steps } from './steps.ts';

/**
 * Whatever clients, models, tools, the disk and the end of the process do, in whatever order: what the contract
 * promises holds. `model.ts` says what a request leads to while nothing else moves; the checks say what holds at
 * any time, whatever meets on its way. A sequence is played on a real store, behind a gate for its commits, in
 * time that stands still, so that the same sequence always goes the same way.
 *
 * 300 sequences are played, 10,000 with TROUPE_TEST_LONG, or as many as PROPERTY_RUNS says; PROPERTY_SEED plays other
 * ones, PROPERTY_PATH with it only the one that failed.
 */

const { PROPERTY_RUNS, PROPERTY_SEED, PROPERTY_PATH } = process.env;
const RUNS = Number(PROPERTY_RUNS ?? (LONG ? 10_000 : 300));
/** The same sequences for everybody: a change is judged by what it changes. */
const SEED = Number(PROPERTY_SEED ?? 283_066_766);

// The runner is told as well; sequences are many, none of them waits for a clock.
t.setTimeout(300_000 + RUNS * 1000);

t.test('the contract holds for random sequences of what clients and the world do', async (t) => {
  const store = await storeFor(t);
  let played = 0;
  const property = fc.asyncProperty(steps, async (sequence) => {
    played += 1;
    await play({ store, scope: `sequence ${played}`, steps: sequence });
  });
  t.comment(`PROPERTY_SEED=${SEED}`);
  await fc.assert(property, {
    seed: SEED,
    numRuns: RUNS,
    ...(PROPERTY_PATH !== undefined && { path: PROPERTY_PATH }),
  });
  t.ok(played >= RUNS || PROPERTY_PATH !== undefined, `${played} sequences`);
});
