import t from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import type { Provider } from '../../src/models/model.ts';
import { startRuntime } from './runtime.ts';

/** The effect of a failed inference on the dispatch and the log (runtime.md 10.4, 13.5; check 36). */

const failing = (failures: ModelError[]): Provider => ({
  id: 'failing',
  model: (spec) => ({
    id: spec.id,
    provider: 'failing',
    upstream: spec.upstream_model,
    async stream(_, sink) {
      sink.text('half');
      const failure = failures.shift();
      if (failure) throw failure;
      sink.text(' and whole');
      return { stop: 'EndTurn' };
    },
  }),
});

const TERMINAL = ['RunFinished', 'RunCancelled', 'RunErrored', 'RunTerminated'];

const runWith = async (t: Parameters<typeof startRuntime>[0], failures: ModelError[]) => {
  const settings = { mailbox: { retry_base_ms: 1, max_attempts: 2 } };
  const { store, submit } = await startRuntime(t, { provider: failing(failures), settings });
  const { accepted, end } = submit('x');
  const { run_id, dispatch_id } = await accepted;
  await end;
  const { rows } = store.events.list('default', { run_id }, 0, 100);
  const kinds = rows.map(({ event }) => event.event_kind);
  return {
    run: store.runs.get('default', run_id),
    dispatch: store.dispatches.get('default', dispatch_id),
    kinds,
    terminal: kinds.filter((kind) => TERMINAL.includes(kind)),
    messages: Array.from(store.messages.range('default', 'T', {}), ({ message }) => message.role),
  };
};

t.test('counts an attempt for a transient failure, and acks the run once', async (t) => {
  const found = await runWith(t, [new ModelError('overloaded', 'busy')]);
  t.match(found.dispatch, { status: 'Acked', attempt_count: 1, run_status: 'done', claim_token: null });
  t.match(found.dispatch?.last_error, /busy/);
  t.strictSame(found.messages, ['user', 'assistant']);
  t.strictSame(found.kinds, [
    'MessageCommitted',
    'ThreadMessagesCheckpointed',
    'RunQueued',
    'RunSubmitted',
    'RunStarted',
    'StreamReset',
    'RunRescheduled',
    'RunSubmitted',
    'InferenceComplete',
    'MessageCommitted',
    'ThreadMessagesCheckpointed',
    'RunFinished',
  ]);
});

t.test('counts no attempt for a run that waits for an open circuit', async (t) => {
  const held = () => new ModelError('unavailable', 'not called', { heldBack: true, retryAfterSeconds: 0.01 });
  const found = await runWith(t, [held(), held(), held()]);
  t.match(found.dispatch, { status: 'Acked', attempt_count: 0, last_error: /not called/ });
  t.match(found.run, { status: 'done', termination_reason: { type: 'natural_end' } });
  t.equal(found.kinds.filter((kind) => kind === 'RunRescheduled').length, 3);
});

t.test('dead-letters a run after the maximum number of transient failures', async (t) => {
  const found = await runWith(t, [new ModelError('provider', '500'), new ModelError('provider', '502')]);
  t.match(found.dispatch, {
    status: 'DeadLetter',
    attempt_count: 2,
    last_error: /502.*max attempts reached$/,
  });
  t.match(found.run, { status: 'done', error_payload: { message: /502/ } });
  t.strictSame(found.terminal, ['RunErrored']);
  t.strictSame(found.messages, ['user']);
});

t.test('dead-letters a run on a permanent failure', async (t) => {
  const found = await runWith(t, [new ModelError('unauthorized', 'bad key')]);
  t.match(found.dispatch, { status: 'DeadLetter', attempt_count: 0, last_error: /bad key/ });
  t.strictSame(found.terminal, ['RunErrored']);
});

t.test('logs the events of a plain run in the order of the contract', async (t) => {
  const found = await runWith(t, []);
  t.strictSame(found.kinds, [
    'MessageCommitted',
    'ThreadMessagesCheckpointed',
    'RunQueued',
    'RunSubmitted',
    'RunStarted',
    'InferenceComplete',
    'MessageCommitted',
    'ThreadMessagesCheckpointed',
    'RunFinished',
  ]);
});
