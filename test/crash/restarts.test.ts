import t from 'tap';
import { hasStandby } from '../cluster/mode.ts';
import { createBroken } from './broken.ts';
import { settle } from './check.ts';
import { checkThread } from './check-threads.ts';
import { createClient, textIn } from './client.ts';
import { startGate } from './gate.ts';
import { options } from './options.ts';
import type { Service } from './process.ts';
import { readThread } from './records.ts';
import { createService } from './service.ts';

/**
 * Restarts that lose nothing cost a run no attempt (runtime.md 16, 17, 18.22). The run has at most two attempts, so
 * that a single wrong count is detected.
 */

const { restarts } = options;

t.setTimeout(60_000 + restarts * 120_000);

const ENDS: [what: string, end: (service: Service) => Promise<void>, attempts: number][] = [
  ['graceful restarts', (service) => service.stop(), 0],
  // The executing process is killed once; the failed starts after it have started nothing.
  ['failed starts on a taken port', (service) => service.failStart(), 1],
];

for (const [what, end, attempts] of ENDS) {
  t.test(`completes a run unaffected after ${restarts} ${what}`, async (t) => {
    const gate = await startGate(t);
    const service = await createService(t, {
      gate: gate.url,
      env: { SERVICE_MAILBOX_MAX_ATTEMPTS: '2', SERVICE_SHUTDOWN_TIMEOUT_MS: '0' },
    });
    const client = createClient(service.url);
    await service.start('power');
    const payload = { text: '[i1] hold 2' };
    const accepted = await client.ask('POST', '/v1/threads/T/mailbox', { payload });
    const run_id = textIn(accepted?.body, 'run_id');
    await gate.until(1);
    if (attempts > 0) await service.kill();
    for (let count = 0; count < restarts; count += 1) {
      await end(service);
      // Between two graceful stops the run executes each time.
      if (attempts === 0) {
        await service.start();
        await gate.until(1);
      } else {
        // The standby takes over, and executes the run.
        t.ok(gate.waiting() <= (hasStandby ? 1 : 0), 'a failed start calls no model');
      }
    }
    if (attempts > 0) await service.start();
    gate.open();
    await settle(client);

    const record = await readThread(client, 'T');
    t.strictSame(
      record.messages.map(({ role, content }) => [role, content]),
      [
        ['user', [{ type: 'text', text: '[i1] hold 2' }]],
        ['assistant', [{ type: 'text', text: 'answer to i1 and so on' }]],
      ],
      'the input and the response are stored once',
    );
    t.match(record.runs, [{ run_id, status: 'done', termination_reason: { type: 'natural_end' } }]);
    const [{ status = '', attempt_count = -1 } = {}, ...others] = record.dispatches;
    t.strictSame([status, others], ['Acked', []]);
    t.ok(attempt_count >= attempts, `${attempt_count} attempts`);
    const broken = createBroken();
    checkThread(broken, record, service.crashes());
    t.strictSame(broken.all(), []);
    await service.stop();
  });
}
