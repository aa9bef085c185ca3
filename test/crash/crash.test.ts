import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { randomFrom } from '../../src/load-generator/random.ts';
import { startWebhook } from '../protocols/a2a/webhook.ts';
import { checkCopy, copyOf } from './backups.ts';
import { createBroken } from './broken.ts';
import { checkAll, checkRecent, settle } from './check.ts';
import { createClient } from './client.ts';
import { acknowledgedIn, createLedger, type Ledger } from './ledger.ts';
import { options } from './options.ts';
import { endAndStart, playClient } from './plan.ts';
import { below } from './random.ts';
import { createService } from './service.ts';
import { followEvents, type Tail } from './tail.ts';
import type { World } from './world.ts';

/**
 * Accepted work survives: many clients use all features on many threads while the process ends in every way, and
 * afterwards everything acknowledged exists once and completes once.
 */

const { kills, seed, threads, clients, endsAnEpoch } = options;

const HELD = 12;
const TAILS = 8;

/** CPU time from the first connection to the response of `/health/live`. */
const LIVE_MS = 1000;

/** A stream that is open this long after the last input is considered hanging. */
const HANGS_MS = 60_000;

/** The maximum time to wait until a life has had its share of inputs. */
const LIFE_MS = 20_000;

/** Waits until this many more inputs were acknowledged. */
const lived = async (ledger: Ledger, more: number): Promise<void> => {
  const enough = acknowledgedIn(ledger).length + more;
  const deadline = performance.now() + LIFE_MS;
  while (acknowledgedIn(ledger).length < enough && performance.now() < deadline) await pause(5);
};

t.setTimeout(300_000 + kills * 60_000);

t.test(`loses or duplicates no accepted work over ${kills} ends of the process (seed ${seed})`, async (t) => {
  const random = randomFrom(seed);
  const hook = await startWebhook(t);
  const service = await createService(t, { env: { SERVICE_MAILBOX_MAX_ATTEMPTS: '100000' } });
  const client = createClient(service.url);
  const ledger = createLedger();
  const broken = createBroken();
  const heldThreads = Array.from({ length: HELD }, (_, index) => `h${index}`);
  const used: string[] = [...heldThreads];
  const tails: Tail[] = [];
  t.teardown(() => {
    for (const tail of tails) tail.leave();
  });

  await service.start();
  let runs = 0;
  for (let ended = 0; ended < kills; ) {
    const epoch = used.length;
    const impatient = new AbortController();
    setMaxListeners(0, impatient.signal);
    const world: World = {
      patience: impatient.signal,
      service,
      client,
      ledger,
      random,
      threads: Array.from({ length: threads }, (_, index) => `w${epoch}-${index}`),
      heldThreads,
      hookUrl: hook.url,
      isPaused: false,
    };
    used.push(...world.threads);
    tails.push(...world.threads.slice(0, TAILS).map((thread) => followEvents(client, service, thread)));
    let stopped = false;
    const playing = Array.from({ length: clients }, (_, me) => playClient(world, me, () => stopped));
    const last = Math.min(kills, ended + endsAnEpoch);
    for (; ended < last; ended += 1) {
      const copying = copyOf(world);
      await lived(ledger, below(random, options.life));
      world.isPaused = true;
      const copy = await copying;
      world.isPaused = false;
      // The process ends while it is busy.
      await lived(ledger, below(random, clients));
      const { name, durability, started } = await endAndStart(service, random, ended);
      const { liveCpuMs, liveMs } = started;
      if (liveCpuMs > LIVE_MS) broken.note('start', `${name}: live after ${liveCpuMs} ms of CPU time`);
      await checkRecent(broken, client, ledger);
      world.isPaused = true;
      if (copy) await checkCopy(broken, world, copy);
      world.isPaused = false;
      t.comment(
        `${ended + 1} ${name}, ${durability}: live after ${Math.round(liveMs)} ms, ${acknowledgedIn(ledger).length} inputs acknowledged`,
      );
    }
    await lived(ledger, options.life);
    stopped = true;
    const hurry = setTimeout(() => impatient.abort(), HANGS_MS);
    await Promise.all(playing);
    clearTimeout(hurry);
    const settledMs = await settle(client);
    const all = ended >= kills;
    const checked = all ? used : [...heldThreads, ...world.threads];
    runs = await checkAll({
      service,
      client,
      ledger,
      broken,
      hooked: hook.calls,
      threads: checked,
      tails,
      all,
    });
    for (const tail of tails.splice(0)) tail.leave();
    for (const text of broken.all().slice(0, 60)) t.comment(text);
    t.comment(`settled in ${settledMs} ms; ${runs} runs; broken: ${JSON.stringify(broken.counts())}`);
  }

  const acknowledged = acknowledgedIn(ledger);
  t.comment(`answers: ${JSON.stringify(Object.fromEntries([...ledger.answers].toSorted()))}`);
  t.comment(
    `${kills} ends, ${service.crashes()} crashes, ${ledger.inputs.length} inputs, ${acknowledged.length} acknowledged, ${runs} runs, ${ledger.ends.length} streams to their end, ${ledger.decisions.length} decisions, ${ledger.tasks.size} tasks with webhooks, ${ledger.evals.size} evaluations, ${ledger.copies} backups`,
  );
  t.ok(acknowledged.length > kills, `${acknowledged.length} inputs were acknowledged`);
  await service.stop();
  const found = await service.examine();
  if (found !== '') broken.note('kept', `troupe doctor: ${found}`);
  t.strictSame(broken.all().slice(0, 60), [], `seed ${seed}`);
});
