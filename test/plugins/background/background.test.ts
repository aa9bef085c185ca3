import t from 'tap';
import { attempted, failedOf, outboxOf } from '../../../src/plugins/background/outbox.ts';
import { backgroundTasksPlugin } from '../../../src/plugins/background/plugin.ts';
import { messageOutbox } from '../../../src/plugins/background/state.ts';
import { textOf } from '../../../src/schema/message.ts';
import { update } from '../../../src/tools/state.ts';
import { endReportedBy, taskEvent } from '../../../src/tools/task-event.ts';
import { aboutAgent, stateStore } from '../context.ts';

/** The parts of the plugin that need no run: the form of events, and the outbox. agent-loop.md 16. */

const message = (message_id: string, attempts = 0) => ({
  message_id,
  thread_id: 'U',
  agent_id: 'echo',
  sender_agent_id: 'a1',
  text: 'Hello',
  attempts,
});

t.test('provides its three tools and its four state keys', async (t) => {
  const { tools = [] } = backgroundTasksPlugin.parts(aboutAgent());
  t.strictSame(
    tools.map(({ descriptor }) => descriptor.id),
    ['cancel_task', 'send_message', 'recover_failed_messages'],
  );
  t.strictSame(
    backgroundTasksPlugin.state.map(({ key, scope }) => [key, scope]),
    [
      ['background_tasks', 'thread'],
      ['background_task_state', 'thread'],
      ['background_message_outbox', 'thread'],
      ['background_failed_durable_messages', 'thread'],
    ],
  );
});

t.test('formats every event as an internal user message', async (t) => {
  const event = taskEvent('m1', 'completed', 'bg_1', { result: 42 });
  t.match(event, { id: 'm1', role: 'user', visibility: 'internal' });
  t.equal(
    textOf(event.content),
    '<background-task-event kind="completed" task_id="bg_1">\n{"result":42}\n</background-task-event>',
  );
});

t.test('reads the end of a task only from its event', async (t) => {
  t.strictSame(endReportedBy(taskEvent('m1', 'failed', 'bg_2', { error: 'no' })), {
    task_id: 'bg_2',
    status: 'failed',
  });
  t.equal(endReportedBy(taskEvent('m1', 'custom', 'bg_2', {})), undefined);
  const { visibility: _internal, ...said } = taskEvent('m1', 'failed', 'bg_2', {});
  t.equal(endReportedBy(said), undefined);
});

t.test('removes delivered messages from the outbox, and lists those that failed five times', async (t) => {
  const { view, apply } = stateStore();
  apply([
    update(messageOutbox, [message('sent'), message('again', 3), message('given up', 4), message('untried')]),
  ]);
  const error = { error: 'not there' };
  apply(
    attempted(
      view,
      new Map<string, 'delivered' | { error: string }>([
        ['sent', 'delivered'],
        ['again', error],
        ['given up', error],
      ]),
    ),
  );
  t.strictSame(outboxOf(view), [{ ...message('again', 4), last_error: 'not there' }, message('untried')]);
  t.strictSame(failedOf(view), [{ ...message('given up', 5), last_error: 'not there' }]);
});
