import { type Asks, pick } from './requests.ts';
import { nextLife, quiet, type Sequence, settle } from './sequence.ts';
import type { Act } from './steps.ts';

/** Actions of models, tools, the disk, time and the process. */

type Happens = Exclude<Act, Asks>;

type Happening = {
  [Name in Happens['do']]: (sequence: Sequence, act: Extract<Happens, { do: Name }>) => Promise<void> | void;
};

const happening: Happening = {
  model: ({ steered }, { which }) => steered.models.open(which, true),
  tool: ({ steered }, { which, well }) => steered.calls.open(which, well),
  write: ({ life }, { count }) => life.gated.write(count),
  flush: ({ life }) => life.gated.flush(),
  time: ({ time }, { ms }) => time.advance(ms, settle),
  async crash(sequence, { written }) {
    const { gated } = sequence.life;
    await gated.write(written);
    gated.end();
    await settle();
    nextLife(sequence);
  },
  async stop(sequence, { patient }) {
    let stopped = false;
    sequence.life.runtime.stop(patient ? 1000 : 0).then(() => {
      stopped = true;
    });
    while (!stopped) {
      await quiet(sequence);
      await sequence.time.advance(20, settle);
      // The last delay of a stop uses real time.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await quiet(sequence);
    sequence.life.gated.end();
    nextLife(sequence);
  },
  async refuse(sequence) {
    sequence.refused = sequence.lives;
    const { gated } = sequence.life;
    gated.refuse();
    await new Promise<void>((resolve) => setImmediate(resolve));
    gated.accept();
  },
  stall: ({ tails }, { thread }) => tails.get(thread)?.stall(),
  drain: ({ tails }, { thread }) => tails.get(thread)?.drain(),
  leave: ({ inputs }, { which }) =>
    pick(
      inputs.filter(({ stream }) => stream && !stream.left),
      which,
    )?.stream?.leave(),
};

export const happen = async (sequence: Sequence, act: Happens): Promise<void> =>
  // The table has one entry for the name of each of these acts.
  (happening[act.do] as (sequence: Sequence, act: Happens) => Promise<void> | void)(sequence, act);
