import t from 'tap';
import { agentAt, createTurn } from './peer.ts';
import { startSdkAgent } from './sdk-agent.ts';

/** Against an agent of the official SDK: its validation and its responses (a2a.md 17). */

/** Makes a script wait until the test releases it. */
const gate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

t.test('streams a response while it is created', async (t) => {
  const { open, opened } = gate();
  const { base_url, routes } = await startSdkAgent(t, async (says, text) => {
    says.status('WORKING');
    await opened;
    says.artifact('You said ', { append: false });
    says.artifact(text, { append: true, lastChunk: true });
    says.status('COMPLETED');
  });
  const { turn, deltas, submitted } = createTurn({
    onSnapshot: ({ state }) => state === 'TASK_STATE_WORKING' && open(),
  });
  const outcome = await agentAt(base_url).agent.converse(turn);
  t.match(outcome, { status: 'completed', text: 'You said Hello', task: { task_id: String } });
  t.equal(deltas.join(''), 'You said Hello');
  t.match(submitted, [{ task_id: outcome.task?.task_id, context_id: String }]);
  t.strictSame(routes, ['POST message:send', 'POST task:subscribe']);
});

t.test('polls an agent that does not stream', async (t) => {
  const { open, opened } = gate();
  const { base_url, routes } = await startSdkAgent(
    t,
    async (says) => {
      says.status('WORKING');
      await opened;
      says.artifact('Slow');
      says.status('COMPLETED');
    },
    { streams: false },
  );
  const { turn } = createTurn({ onSnapshot: ({ state }) => state === 'TASK_STATE_WORKING' && open() });
  t.match(await agentAt(base_url).agent.converse(turn), { status: 'completed', text: 'Slow' });
  t.strictSame(routes.slice(0, 4), [
    'POST message:send',
    'POST task:subscribe',
    'GET task:subscribe',
    'GET task',
  ]);
});

t.test('answers a question in the same task', async (t) => {
  const { base_url } = await startSdkAgent(t, async (says, text, turn) => {
    if (turn === 0) return says.status('INPUT_REQUIRED', 'Which city?');
    says.artifact(`${text} it is`);
    says.status('COMPLETED');
  });
  const { agent } = agentAt(base_url);
  const first = await agent.converse(createTurn().turn);
  t.match(first, { status: 'input_required', reason: 'Which city?', text: 'Which city?' });
  const say = {
    message_id: 'm-2',
    content: [{ type: 'text' as const, text: 'Paris' }],
    ...first.task,
  };
  const second = await agent.converse(createTurn({ say }).turn);
  t.match(second, { status: 'completed', text: 'Paris it is', task: { task_id: first.task?.task_id } });
});

t.test('cancels an abandoned task on the remote side', async (t) => {
  const { open, opened } = gate();
  const { base_url, cancelled } = await startSdkAgent(t, async (says) => {
    says.status('WORKING');
    await opened;
  });
  const { turn, abandon, submitted } = createTurn({
    onSnapshot: ({ state }) => state === 'TASK_STATE_WORKING' && abandon(),
  });
  t.match(await agentAt(base_url).agent.converse(turn), { status: 'cancelled' });
  while (cancelled.length === 0) await new Promise(setImmediate);
  t.strictSame(cancelled, [submitted[0]?.task_id]);
  open();
});

t.test('reports the message of a failed agent', async (t) => {
  const { base_url } = await startSdkAgent(t, async (says) => says.status('FAILED', 'no quota'));
  t.match(await agentAt(base_url).agent.converse(createTurn().turn), {
    status: 'failed',
    reason: 'no quota',
  });
});

t.test('reports an unknown task as an error', async (t) => {
  const { base_url } = await startSdkAgent(t, async () => {});
  const say = {
    message_id: 'm',
    content: [{ type: 'text' as const, text: 'x' }],
    task_id: 'nope',
  };
  await t.rejects(agentAt(base_url).agent.converse(createTurn({ say }).turn), {
    message: /^A2A submission rejected: status 404: .*\(TASK_NOT_FOUND\)$/,
  });
  await t.rejects(agentAt(base_url).agent.converse(createTurn({ follow: { task_id: 'nope' } }).turn), {
    message: /^A2A task rejected: status 404: .*\(TASK_NOT_FOUND\)$/,
  });
});
