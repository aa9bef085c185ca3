import { LONG } from '../long.ts';
import { SEED } from '../random.ts';

/**
 * The intensity of the attack. `npm test` executes a short form, and the long one with TROUPE_TEST_LONG. The same for
 * these tests alone, and harder:
 *
 *     npm run build:js && TROUPE_CRASH_KILLS=300 npx tsx test/crash/crash.test.ts
 *     TROUPE_CRASH_LONG=1 npx tsx test/crash/busy.test.ts (restarts.test.ts, recovery.test.ts)
 *
 * A failure names its seed; TROUPE_CRASH_SEED, or TROUPE_TEST_SEED, executes the same plan again, though never with the
 * same timing.
 */

const numberFrom = (name: string, otherwise: number): number => {
  const text = process.env[`TROUPE_CRASH_${name}`]?.trim();
  if (text === undefined || text === '') return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new Error(`TROUPE_CRASH_${name}: '${text}' is no count`);
  return value;
};

const SHORT_ENDS = 3;
const LONG_ENDS = 300;

const kills = numberFrom('KILLS', LONG ? LONG_ENDS : SHORT_ENDS);

const long = kills > SHORT_ENDS || numberFrom('LONG', Number(LONG)) > 0;

export const options = {
  long,
  /** The number of ends of the service: most of them are kills. */
  kills,
  seed: numberFrom('SEED', SEED),
  /** Threads in use at once. More than 32 are needed to find errors of a full actor map. */
  threads: numberFrom('THREADS', long ? 100 : 40),
  clients: numberFrom('CLIENTS', long ? 60 : 40),
  /** Ends between two full checks. Each full check waits until the service is idle, then uses new threads. */
  endsAnEpoch: numberFrom('EPOCH', long ? 10 : SHORT_ENDS),
  /** A process ends after at most this many acknowledged inputs, at the earliest after none. */
  life: numberFrom('LIFE', long ? 250 : 50),
  busyThreads: numberFrom('BUSY', long ? 500 : 36),
  /** Kills and cuts of connections while clients repeat requests with keys. */
  keyedRounds: numberFrom('KEYED', long ? 1_000 : 30),
  /** Kills while clients chat by the id of their chat. */
  chatKills: numberFrom('CHATS', long ? 200 : 3),
  restarts: numberFrom('RESTARTS', long ? 20 : 2),
  executing: numberFrom('RUNS', long ? 20_000 : 150),
};
