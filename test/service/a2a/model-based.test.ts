import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { getShortestPaths } from 'xstate/graph';
import { type A2aTaskEvent, a2aTaskMachine, type TaskState } from '../../../machines/a2a-task.ts';
import { NO_RECORDS } from '../../../src/configuration/records.ts';
import { describeMachine } from '../../../src/diagrams/describe.ts';
import { ModelError } from '../../../src/models/errors.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { startWebhook } from '../../protocols/a2a/webhook.ts';
import { pluginOf } from '../agent-loop/agents.ts';
import { asks, type Inference } from '../models.ts';
import { eventually } from '../troupe.ts';
import { eventShape } from './shapes.ts';
import { a2aFor, stateIn, statesIn, type TaskReader } from './tasks-client.ts';

/**
 * Triggers every transition of the task machine from outside: a task reaches the state on the shortest path of the
 * machine, and each event is an action of a client, the model or an operator. After each event, the task, the task
 * list, a subscriber, a webhook and the actor list must agree.
 */

type Event = A2aTaskEvent['type'];

const EVENTS = ['START', 'ASK_FOR_INPUT', 'ASK_FOR_LOGIN', 'ANSWER', 'CANCEL', 'COMPLETE', 'FAIL', 'REJECT'];

const machine = describeMachine('a2a-task', a2aTaskMachine);

const ways = getShortestPaths(a2aTaskMachine, {
  events: EVENTS.map((type) => ({ type: type as Event })),
});

/** The events of the shortest path to a state. */
const wayTo = (state: string): Event[] =>
  (ways.find((way) => way.state.value === state)?.steps ?? []).flatMap(({ event }) =>
    // The first step of a path starts the machine.
    EVENTS.includes(event.type) ? [event.type as Event] : [],
  );

const nameOf = (state: string): string => {
  const tags = machine.states.find(({ path }) => path === state)?.tags ?? [];
  return tags.find((tag) => tag.startsWith('TASK_STATE_'))?.replace('TASK_STATE_', '') ?? '';
};

/** Blocks `note` only. */
const strict = pluginOf('strict', {
  gate: ({ name }) => (name === 'note' ? { kind: 'block', reason: 'not today' } : { kind: 'proceed' }),
});

/** The plugin of an agent that is missing after a restart. */
const MORTAL = 'mortal';

/** A service whose model executes one inference per order. */
const startWorld = async (t: Test) => {
  const plugins = [strict, pluginOf(MORTAL, {})];
  const agents = [
    { id: 'puppet', model_id: 'steps', plugin_ids: ['strict'] },
    { id: MORTAL, model_id: 'echo', plugin_ids: [MORTAL] },
  ].map((agent) => AgentSpec.parse(agent));
  const client = await a2aFor(t, { app: { plugins, records: { ...NO_RECORDS, agents } } });
  const hook = await startWebhook(t);
  const { models } = client.troupe;
  const orders: ((inference: Inference) => void)[] = [];
  return {
    ...client,
    hook,
    /** Makes the next inference wait for an order. */
    ready: () =>
      models.steps.push((sink, request, signal) => {
        const ordered = new Promise<Inference>((resolve) => orders.push(resolve));
        const aborted = new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(new ModelError('cancelled', '')));
        });
        return Promise.race([ordered.then((inference) => inference(sink, request, signal)), aborted]);
      }),
    async order(inference: Inference): Promise<void> {
      const [give] = await eventually(
        async () => orders,
        ({ length }) => length > 0,
      );
      orders.length = 0;
      give?.(inference);
    },
    forgetMortal(): void {
      plugins.pop();
      agents.pop();
    },
    forget(): void {
      models.steps.length = 0;
      orders.length = 0;
    },
  };
};

type World = Awaited<ReturnType<typeof startWorld>>;

type Walker = { id: string; contextId: string; heard: string[]; calls: number; reader?: TaskReader };

const CANCELS: Record<string, (task: Walker) => string> = {
  'its own cancel': ({ id }) => `/v1/a2a/tasks/${id}:cancel`,
  'the cancel of its run': ({ id }) => `/v1/runs/${id}/cancel`,
  'an interrupt of its thread': ({ contextId }) => `/v1/threads/${contextId}/interrupt`,
};

/** Keeps the context busy with another run, so that the task cannot start. */
const block = async ({ begin, troupe }: World, contextId: string): Promise<void> => {
  await begin({ tenant: 'slow', contextId });
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
};

/** An accepted task that cannot start, with a subscriber and a webhook. */
const beginWalk = async (world: World, contextId: string, agent: string): Promise<Walker> => {
  const { begin, hook } = world;
  await block(world, contextId);
  const taskPushNotificationConfig = { url: `${hook.url}/${contextId}` };
  const { id } = await begin({ tenant: agent, contextId, configuration: { taskPushNotificationConfig } });
  const task: Walker = { id, contextId, heard: [], calls: 0 };
  await listen(world, task);
  return task;
};

const listen = async ({ subscribe }: World, task: Walker): Promise<void> => {
  const reader = await subscribe(task.id);
  task.reader = reader;
  void (async () => {
    for (let event = await reader.next(); event; event = await reader.next())
      task.heard.push(...statesIn([event]));
  })().catch(() => {
    // Its service was removed.
  });
};

const only = (states: readonly string[]): string[] =>
  states.filter((state, i) => state !== 'artifact' && state !== states[i - 1]);

/** Performs an event from outside. `call` names the suspended call of the task. */
const act = async (world: World, task: Walker, from: string, event: Event, cancel: string): Promise<void> => {
  const { ask, order, ready, troupe } = world;
  const call = `call-${task.calls}`;
  const isSuccess = async (answer: Promise<{ status: number }>): Promise<void> => {
    const { status } = await answer;
    if (status < 200 || status > 299) throw new Error(`${event} got status ${status}`);
  };
  switch (event) {
    case 'START':
      ready();
      if (from === 'submitted') return troupe.models.release();
      return isSuccess(
        troupe.post(`/v1/runs/${task.id}/decision`, {
          toolCallId: call,
          action: 'resume',
          payload: from === 'authRequired' ? { approved: true } : 'red',
        }),
      );
    case 'ASK_FOR_INPUT':
    case 'ASK_FOR_LOGIN': {
      task.calls += 1;
      return order(asks([`call-${task.calls}`, event === 'ASK_FOR_INPUT' ? 'pick_color' : 'risky']));
    }
    case 'ANSWER':
      await block(world, task.contextId);
      return isSuccess(ask({ taskId: task.id, text: 'red', configuration: { returnImmediately: true } }));
    case 'CANCEL':
      return isSuccess(troupe.post(CANCELS[cancel]?.(task) ?? ''));
    case 'COMPLETE':
      return order((sink) => {
        sink.text('done');
        return { stop: 'EndTurn' };
      });
    case 'REJECT':
      return order(asks(['blocked', 'note']));
    case 'FAIL':
      if (from === 'submitted') {
        world.forgetMortal();
        await troupe.restart();
        await listen(world, task);
        return troupe.models.release();
      }
      return order(() => {
        throw new ModelError('invalid_request', 'no such upstream');
      });
  }
};

const listed = async ({ troupe }: World, query: string): Promise<string[]> => {
  const { body } = await troupe.call('GET', `/v1/a2a/tasks?${query}`);
  return (body as { tasks: { id: string }[] }).tasks.map(({ id }) => id);
};

/** Checks that all readers report these states in order, and the last one as current. */
const agree = async (t: Test, world: World, task: Walker, path: readonly string[]): Promise<void> => {
  const { get, hook, troupe } = world;
  const now = path.at(-1) ?? '';
  const state = `TASK_STATE_${now}` as TaskState;
  const isThere = ({ length }: readonly string[]): boolean => length >= path.length;
  await eventually(
    () => get(task.id),
    ({ status }) => status.state === state,
  );
  t.ok(
    (await listed(world, `contextId=${task.contextId}&status=${state}`)).includes(task.id),
    'the list contains the task',
  );
  t.strictSame(
    await eventually(async () => only(task.heard), isThere),
    path,
    'the subscriber received the path',
  );
  const calls = () =>
    only(
      hook.calls
        .filter((each) => each.path.endsWith(task.contextId))
        .map(({ body }) => stateIn(eventShape(body)) ?? 'artifact'),
    );
  t.strictSame(await eventually(async () => calls(), isThere), path, 'the webhook received the path');
  const { body } = await troupe.admin('GET', '/v1/system/actors?machine=a2a-task');
  const { items } = body as { items: { id: string; state: unknown }[] };
  const actor = items.find(({ id }) => id === `a2a-task:${task.id}`);
  const isOver = machine.states.some(({ type, path: each }) => type === 'final' && nameOf(each) === now);
  if (isOver) t.notOk(actor, 'the task has no actor');
  else
    t.match(
      actor,
      { state: machine.states.find(({ path: each }) => nameOf(each) === now)?.path },
      'the actor is in the state of the task',
    );
};

/** Checks that events which the machine does not accept are rejected without effect. */
const refuses = async (t: Test, { ask, troupe }: World, { id }: Walker, from: string): Promise<void> => {
  const takes = (event: string) =>
    machine.transitions.some((each) => each.from === from && each.event === event);
  if (!takes('ANSWER')) t.equal((await ask({ taskId: id })).status, 400, 'a message is rejected');
  if (takes('CANCEL')) return;
  t.equal((await troupe.post(`/v1/a2a/tasks/${id}:cancel`)).status, 409, 'a cancel is rejected');
  t.equal((await troupe.post(`/v1/a2a/tasks/${id}:subscribe`)).status, 400, 'a subscription is rejected');
};

const targetOf = (from: string, event: Event): string => {
  const to = machine.transitions.find((each) => each.from === from && each.event === event)?.to;
  if (!to) throw new Error(`${from} does not take ${event}`);
  return to;
};

t.test('the machine describes all transitions of a task', async (t) => {
  const world = await startWorld(t);
  for (const { id, from, event } of machine.transitions) {
    for (const cancel of event === 'CANCEL' ? Object.keys(CANCELS) : ['']) {
      await t.test(`${id}${cancel && ` by ${cancel}`}`, async (t) => {
        const isMortal = from === 'submitted' && event === 'FAIL';
        const task = await beginWalk(world, randomUUID(), isMortal ? MORTAL : 'puppet');
        let state = 'submitted';
        const path = [nameOf(state)];
        await agree(t, world, task, path);
        for (const next of [...wayTo(from ?? ''), event as Event]) {
          await refuses(t, world, task, state);
          await act(world, task, state, next, cancel);
          state = targetOf(state, next);
          path.push(nameOf(state));
          await agree(t, world, task, path);
        }
        await refuses(t, world, task, state);
        await task.reader?.close();
        world.troupe.models.releaseAll();
        world.forget();
      });
    }
  }
});
