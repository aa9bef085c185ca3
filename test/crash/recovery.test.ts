import t from 'tap';
import { createBroken } from './broken.ts';
import { settle } from './check.ts';
import { checkCounters } from './check-runs.ts';
import { createClient } from './client.ts';
import { startGate } from './gate.ts';
import { options } from './options.ts';
import { runsOf, totalOf } from './records.ts';
import { createService } from './service.ts';

/**
 * However many runs a kill has interrupted, the next process listens and responds at once, recovers them concurrently
 * with its requests, and never executes more of them at once than its limit (runtime.md 17).
 */

const { executing } = options;

const LIMIT = Math.min(2000, Math.ceil(executing / 5));

/** CPU time from the first connection to the response of `/health/live`. */
const LIVE_MS = 1000;

/** The additional CPU time that a start may need before it listens, compared to an empty directory. */
const START_MS = 1000;

const SENDERS = 50;

t.setTimeout(300_000 + executing * 200);

t.test(`${executing} runs that a kill interrupted`, async (t) => {
  const gate = await startGate(t);
  const service = await createService(t, {
    gate: gate.url,
    env: { SERVICE_MAX_CONCURRENT_RUNS: String(LIMIT) },
  });
  const client = createClient(service.url);
  const empty = await service.start();
  let next = 0;
  const sender = async (): Promise<void> => {
    while (next < executing) {
      next += 1;
      const thread = `t${next}`;
      const answer = await client.ask('POST', `/v1/threads/${thread}/mailbox`, {
        payload: { text: `[i${thread}] hold 2` },
      });
      if (answer?.status !== 201) t.fail(`${thread}: ${answer?.status} ${answer?.text}`);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  await gate.until(LIMIT);
  t.equal(await totalOf(client, 'running'), LIMIT, 'runs execute up to the limit');
  t.equal(await totalOf(client, 'created'), executing - LIMIT, 'the other runs wait for a slot');
  await service.kill();

  const started = await service.start();
  t.comment(`live after ${Math.round(started.liveMs)} ms, ${started.liveCpuMs} ms of CPU time`);
  t.ok(started.liveCpuMs <= LIVE_MS, `${started.liveCpuMs} ms of CPU time until it said that it lives`);
  const more = started.listeningCpuMs - empty.listeningCpuMs;
  t.ok(more <= START_MS, `${more} ms of CPU time more than on an empty folder until it listened`);

  await gate.until(LIMIT);
  gate.open();
  await settle(client, performance.now() + 60_000 + executing * 100);
  t.ok(gate.most() <= LIMIT, `${gate.most()} executed at once`);
  const runs = await runsOf(client);
  t.equal(runs.length, executing, 'every run is listed once');
  const others = runs.filter(
    ({ status, termination_reason: reason }) => status !== 'done' || reason?.type !== 'natural_end',
  );
  t.strictSame(
    others.map(({ run_id, status }) => `${run_id} is ${status}`),
    [],
    'every run ends without another request',
  );
  const broken = createBroken();
  await checkCounters(broken, client, true);
  t.strictSame(broken.all(), []);
  await service.stop();
});
