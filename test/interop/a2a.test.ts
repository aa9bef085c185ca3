import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  type Part,
  SendMessageRequest,
  type StreamResponse,
  SubscribeToTaskRequest,
  type Task,
  TaskPushNotificationConfig,
  TaskState,
} from '@a2a-js/sdk';
import { type Client, ClientFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import t, { type Test } from 'tap';
import { asks } from '../service/models.ts';
import { withTools } from '../service/suspended.ts';
import { eventually } from '../service/troupe.ts';

/** The client of the A2A project against this service (a2a.md 17): card, tasks, streams, push configs. */

const clientFor = async (t: Test) => {
  const { troupe } = await withTools(t, { settings: { default_agent_id: 'echo' } });
  const client = await new ClientFactory({ transports: [new RestTransportFactory()] }).createFromUrl(
    troupe.url,
  );
  return { troupe, client, send: sender(client) };
};

const request = (message: object, more: object = {}): SendMessageRequest =>
  SendMessageRequest.fromJSON({
    message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Hello' }], ...message },
    ...more,
  });

const sender =
  (client: Client) =>
  async (message: object = {}, more: object = {}): Promise<Task> => {
    const answer = await client.sendMessage(request(message, more));
    if (!('status' in answer)) throw new Error('the response to a message is not a task');
    return answer;
  };

const AT_ONCE = { configuration: { returnImmediately: true } };

const textOf = (parts: readonly Part[] = []): string =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');

const all = async (events: AsyncGenerator<StreamResponse, void, undefined>): Promise<StreamResponse[]> => {
  const found: StreamResponse[] = [];
  for await (const event of events) found.push(event);
  return found;
};

const statesIn = (events: readonly StreamResponse[]): (TaskState | undefined)[] =>
  events.flatMap(({ payload }) => {
    if (payload?.$case === 'task') return payload.value.status?.state;
    return payload?.$case === 'statusUpdate' ? payload.value.status?.state : [];
  });

const nameOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error.name;
  }
  return 'no error';
};

t.test('sends, reads, lists and continues a task', async (t) => {
  const { client, send, troupe } = await clientFor(t);
  const done = await send({ contextId: 'c', taskId: 'x' });
  t.equal(done.status?.state, TaskState.TASK_STATE_COMPLETED);
  t.equal(textOf(done.artifacts[0]?.parts), 'echo: Hello');
  const read = await client.getTask(GetTaskRequest.fromJSON({ id: 'x', historyLength: 1 }));
  t.strictSame(
    read.history.map(({ parts }) => textOf(parts)),
    ['echo: Hello'],
  );
  const listed = await client.listTasks(ListTasksRequest.fromJSON({ contextId: 'c', pageSize: 10 }));
  t.match(listed, { totalSize: 1, tasks: [{ id: 'x' }] });
  troupe.models.steps.push(asks(['call-1', 'risky']));
  const waiting = await send({}, { tenant: 'steps' });
  t.equal(waiting.status?.state, TaskState.TASK_STATE_AUTH_REQUIRED);
  t.equal((await send({ taskId: waiting.id })).status?.state, TaskState.TASK_STATE_COMPLETED);
});

t.test('reads a stream to its end, and resumes another one', async (t) => {
  const { client, send, troupe } = await clientFor(t);
  const events = await all(client.sendMessageStream(request({})));
  t.strictSame(statesIn(events), [
    TaskState.TASK_STATE_SUBMITTED,
    TaskState.TASK_STATE_WORKING,
    TaskState.TASK_STATE_COMPLETED,
  ]);
  const { id } = await send({}, { ...AT_ONCE, tenant: 'slow' });
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  const again = client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }));
  const { value: head } = await again.next();
  t.equal(head?.payload?.$case, 'task');
  troupe.models.release();
  t.strictSame(statesIn(await all(again)), [TaskState.TASK_STATE_COMPLETED]);
});

t.test('cancels a task', async (t) => {
  const { client, send } = await clientFor(t);
  const { id } = await send({}, { ...AT_ONCE, tenant: 'slow' });
  await client.cancelTask(CancelTaskRequest.fromJSON({ id }));
  await eventually(
    () => client.getTask(GetTaskRequest.fromJSON({ id })),
    ({ status }) => status?.state === TaskState.TASK_STATE_CANCELED,
  );
});

t.test('throws the errors that the client has classes for', async (t) => {
  const { client, send } = await clientFor(t);
  const { id } = await send();
  const failing = {
    TaskNotFoundError: client.getTask(GetTaskRequest.fromJSON({ id: 'nobody' })),
    TaskNotCancelableError: client.cancelTask(CancelTaskRequest.fromJSON({ id })),
    UnsupportedOperationError: all(client.resubscribeTask(SubscribeToTaskRequest.fromJSON({ id }))),
    RequestMalformedError: send({ parts: [] }),
  };
  for (const [name, promise] of Object.entries(failing)) t.equal(await nameOf(promise), name);
});

t.test('creates, reads, lists and removes push configs', async (t) => {
  const { client, send } = await clientFor(t);
  const { id: taskId } = await send();
  const made = await client.createTaskPushNotificationConfig(
    TaskPushNotificationConfig.fromJSON({ taskId, url: 'http://127.0.0.1:9/hook', token: 'secret' }),
  );
  t.match(made, { taskId, token: 'secret' });
  const named = { taskId, id: made.id };
  const read = await client.getTaskPushNotificationConfig(
    GetTaskPushNotificationConfigRequest.fromJSON(named),
  );
  t.equal(read.url, 'http://127.0.0.1:9/hook');
  const list = () =>
    client.listTaskPushNotificationConfig(ListTaskPushNotificationConfigsRequest.fromJSON({ taskId }));
  t.equal((await list()).configs.length, 1);
  await client.deleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest.fromJSON(named));
  t.equal((await list()).configs.length, 0);
});
