import t, { type Test } from 'tap';
import { SimulatedClock } from 'xstate';
import { createPost } from '../../../src/protocols/a2a/push/post.ts';
import { createPush, type Push } from '../../../src/protocols/a2a/push/push.ts';
import { BURST, createRetrySlots, INTERVAL_MS } from '../../../src/protocols/a2a/push/retry-slots.ts';
import type { Store } from '../../../src/store/index.ts';
import { defer, settle, when } from '../../http/serve.ts';
import { storeFor } from '../../store/open.ts';
import { createFakeTasks, type FakeTasks } from './fake-tasks.ts';
import { startWebhook, stateIn, type Webhook } from './webhook.ts';

const SCOPE = 'default';
const EPOCH = 1_761_647_400_000;

type Bench = {
  store: Store;
  tasks: FakeTasks;
  hook: Webhook;
  push: Push;
  /** Advances the clock. */
  pass(ms: number): void;
  /** Ends the process and starts another one on its store. */
  restart(): void;
  add(id?: string, more?: object): Promise<void>;
  states(): string[];
  warnings: object[];
};

const bench = async (t: Test, given?: Store): Promise<Bench> => {
  const store = given ?? (await storeFor(t));
  const hook = await startWebhook(t);
  const tasks = createFakeTasks();
  const timers = new SimulatedClock();
  const warnings: object[] = [];
  const start = (): Push => {
    const push = createPush({
      store,
      tasks,
      timers,
      clock: { now: () => EPOCH + timers.now() },
      ids: { uuid: () => 'made-here' },
      post: createPost(),
      judge: () => 'allowed',
      actors: { began: () => () => {} },
      enabled: true,
      log: { warn: (_, fields = {}) => warnings.push(fields) },
    });
    push.start();
    return push;
  };
  let push = start();
  t.teardown(() => push.stop());
  tasks.add('t1');
  const self: Bench = {
    store,
    tasks,
    hook,
    get push() {
      return push;
    },
    pass: (ms) => timers.increment(ms),
    restart() {
      push.stop();
      push = start();
    },
    add: (id = 'c1', more = {}) => push.add(SCOPE, { id, taskId: 't1', url: hook.url, ...more }),
    states: () => hook.calls.map(stateIn),
    warnings,
  };
  return self;
};

const place = (id = 'c1') => ({ scope: SCOPE, task_id: 't1', id });

t.test('sends the current status, then each change and artifact in order, and nothing else', async (t) => {
  const { add, tasks, hook, states, store } = await bench(t);
  await add();
  await when(() => hook.calls.length === 1);
  tasks.move('t1', 'TASK_STATE_WORKING');
  tasks.complete('t1', 'Hello');
  await when(() => hook.calls.length === 4);
  t.same(states(), ['SUBMITTED', 'WORKING', 'artifact', 'COMPLETED']);
  t.match(hook.calls[2]?.body, {
    artifactUpdate: {
      taskId: 't1',
      artifact: { parts: [{ text: 'Hello' }] },
      append: false,
      lastChunk: true,
    },
  });
  for (const { body } of hook.calls) t.equal(Object.keys(body).length, 1);
  await when(() => store.pushOutbox.markOf(place()) === undefined);
  t.equal(tasks.watchers(), 0);
  t.ok(store.pushConfigs.get(place()), 'the config is kept');
});

t.test('sends the final status once for a config of a finished task', async (t) => {
  const { add, tasks, hook, states, store } = await bench(t);
  tasks.complete('t1', 'Hello');
  await add();
  await when(() => store.pushOutbox.markOf(place()) === undefined);
  t.same(states(), ['COMPLETED']);
  t.equal(hook.calls.length, 1);
});

t.test('sends token and authentication as headers, and neither in the body', async (t) => {
  const { add, hook } = await bench(t);
  await add('c1', { token: 'tok', authentication: { scheme: 'Bearer', credentials: 'secret' } });
  await add('c2', { authentication: { scheme: 'Negotiate' } });
  await when(() => hook.calls.length === 2);
  const [first, second] = hook.calls;
  t.match(first?.headers, {
    'content-type': 'application/a2a+json',
    'x-a2a-notification-token': 'tok',
    authorization: 'Bearer secret',
  });
  t.match(second?.headers, { authorization: 'Negotiate' });
  t.notOk(JSON.stringify(hook.calls.map(({ body }) => body)).includes('secret'));
});

t.test('retries a rejected event after 1 s and 2 s, and delays later events', async (t) => {
  const { add, tasks, hook, states, pass, store } = await bench(t);
  hook.answers.push(500, 302);
  await add();
  await when(() => store.pushOutbox.first(place())?.attempts === 1);
  tasks.complete('t1', 'Hello');
  await settle();
  pass(999);
  await settle();
  t.same(states(), ['SUBMITTED']);
  pass(1);
  await when(() => store.pushOutbox.first(place())?.attempts === 2);
  await settle();
  pass(1999);
  await settle();
  t.equal(hook.calls.length, 2);
  pass(1);
  await when(() => hook.calls.length === 5);
  t.same(states(), ['SUBMITTED', 'SUBMITTED', 'SUBMITTED', 'artifact', 'COMPLETED']);
  t.ok(
    hook.calls.every(({ path }) => path === '/hook'),
    'redirects are not followed',
  );
});

t.test('abandons an event after five attempts and continues with the next one', async (t) => {
  const { add, tasks, hook, states, pass, store, warnings } = await bench(t);
  hook.answers.push(500, 500, 500, 500, 500);
  await add();
  for (const [index, delay] of [1000, 2000, 4000, 8000].entries()) {
    await when(() => store.pushOutbox.first(place())?.attempts === index + 1);
    await settle();
    pass(delay);
  }
  await when(() => store.pushOutbox.buried(place()).length === 1);
  t.match(store.pushOutbox.buried(place()), [{ attempts: 5, last_error: 'Error: status 500' }]);
  t.equal(hook.calls.length, 5);
  await settle();
  t.match(warnings, [{ push_config: 'c1', task_id: 't1' }]);
  tasks.complete('t1', 'Hello');
  await when(() => hook.calls.length === 7);
  t.same(states().slice(5), ['artifact', 'COMPLETED']);
});

t.test('does not delay the events of other configs', async (t) => {
  const { add, tasks, hook, store } = await bench(t);
  hook.answers.push(500);
  await add('c1');
  await when(() => store.pushOutbox.first(place('c1'))?.attempts === 1);
  await add('c2');
  tasks.complete('t1', 'Hello');
  await when(() => hook.calls.length === 4);
  t.equal(store.pushOutbox.count(place('c1')), 3);
});

t.test('continues the attempts and the delay after a restart', async (t) => {
  const { add, hook, pass, store, restart } = await bench(t);
  hook.answers.push(500, 500);
  await add();
  await when(() => store.pushOutbox.first(place())?.attempts === 1);
  await settle();
  pass(600);
  restart();
  await settle();
  pass(399);
  await settle();
  t.equal(hook.calls.length, 1);
  pass(1);
  await when(() => store.pushOutbox.first(place())?.attempts === 2);
  t.equal(hook.calls.length, 2);
});

t.test('sends changes that happened while the process was down once after a restart', async (t) => {
  const { add, tasks, hook, states, push, restart, store } = await bench(t);
  await add();
  await when(() => hook.calls.length === 1 && store.pushOutbox.count(place()) === 0);
  push.stop();
  t.equal(tasks.watchers(), 0);
  tasks.move('t1', 'TASK_STATE_WORKING');
  tasks.complete('t1', 'Hello');
  restart();
  await when(() => store.pushOutbox.markOf(place()) === undefined);
  restart();
  await settle();
  t.same(states(), ['SUBMITTED', 'artifact', 'COMPLETED']);
});

t.test('sends nothing after a restart without a change', async (t) => {
  const { add, hook, restart, store } = await bench(t);
  await add();
  await when(() => hook.calls.length === 1 && store.pushOutbox.count(place()) === 0);
  restart();
  await settle();
  t.equal(hook.calls.length, 1);
});

t.test('sends nothing to a removed config, not even queued events', async (t) => {
  const { add, tasks, hook, pass, push, store, restart } = await bench(t);
  hook.answers.push(500);
  await add();
  await when(() => store.pushOutbox.first(place())?.attempts === 1);
  await push.remove([place()]);
  tasks.complete('t1', 'Hello');
  pass(60_000);
  restart();
  await settle();
  t.equal(hook.calls.length, 1);
  t.equal(store.pushOutbox.count(place()), 0);
  t.equal(store.pushConfigs.get(place()), undefined);
});

t.test('sends the status again to the new address of a replaced config', async (t) => {
  const { add, hook, push } = await bench(t);
  await add();
  await when(() => hook.calls.length === 1);
  const other = await startWebhook(t);
  await push.add(SCOPE, { id: 'c1', taskId: 't1', url: other.url });
  await when(() => other.calls.length === 1);
  t.equal(hook.calls.length, 1);
});

t.test('stores a config in the same commit as its message, or not at all', async (t) => {
  const { add, hook, push, store, tasks } = await bench(t);
  const isEmpty = (): boolean => store.pushOutbox.count(place('kept')) === 0;
  await add('kept');
  await when(isEmpty);
  const found = tasks.find(SCOPE, 't1');
  if (!found) throw new Error('there is no task');
  const refused = async (id: string): Promise<void> => {
    const config = { id, taskId: 't1', url: `${hook.url}/other` };
    const commit = push.include(SCOPE, async (alongside) => {
      alongside(config)(store.batch('commons'), found);
      throw new Error('not written');
    });
    await t.rejects(commit, { message: 'not written' });
  };
  await refused('new');
  await refused('kept');
  t.equal(store.pushConfigs.get(place('new')), undefined);
  t.match(store.pushConfigs.get(place('kept')), { url: hook.url });
  await when(() => hook.calls.length > 0);
  tasks.move('t1', 'TASK_STATE_WORKING');
  await when(() => hook.calls.length > 1);
  await when(isEmpty);
  t.strictSame(
    hook.calls.map(stateIn),
    ['SUBMITTED', 'WORKING'],
    'the stored config receives further events',
  );
  await push.include(SCOPE, async (alongside) => {
    const batch = store.batch('commons');
    alongside({ id: 'new', taskId: 't1', url: hook.url })(batch, found);
    await store.commit(batch);
  });
  await when(() => hook.calls.length > 2);
  t.equal(hook.calls.map(stateIn).at(-1), 'WORKING');
});

t.test('counts configs once that can be read before their commit is complete', async (t) => {
  const real = await storeFor(t);
  const isOver = defer();
  const store: Store = Object.create(real, {
    commit: {
      value: (...args: Parameters<Store['commit']>) => real.commit(...args).then(() => isOver.promise),
    },
  });
  const { add } = await bench(t, store);
  const adding = Array.from({ length: 99 }, (_, index) => add(`c${index}`));
  await when(() => [...real.pushConfigs.list(SCOPE, 't1')].length === 99);
  adding.push(add('c0'), add('the last'));
  await t.rejects(add('one too many'), { code: 400 });
  isOver.resolve();
  await t.resolves(Promise.all(adding));
});

t.test('removes a config together with its task', async (t) => {
  const { add, tasks, store, restart, hook } = await bench(t);
  await add();
  await when(() => hook.calls.length === 1);
  tasks.forget('t1');
  restart();
  await when(() => store.pushConfigs.get(place()) === undefined);
  t.same([...store.pushOutbox.followed()], []);
});

t.test('repairs a failed write to the queue a second later', async (t) => {
  const real = await storeFor(t);
  let broken = false;
  const store: Store = Object.create(real, {
    commit: {
      value: (...args: Parameters<Store['commit']>) =>
        broken ? Promise.reject(new Error('disk full')) : real.commit(...args),
    },
  });
  const { add, tasks, hook, states, pass } = await bench(t, store);
  await add();
  await when(() => hook.calls.length === 1 && real.pushOutbox.count(place()) === 0);
  broken = true;
  tasks.move('t1', 'TASK_STATE_WORKING');
  await settle();
  broken = false;
  pass(1000);
  await when(() => hook.calls.length === 2);
  t.same(states(), ['SUBMITTED', 'WORKING']);
});

t.test('fails a webhook that does not respond in time', async (t) => {
  const hook = await startWebhook(t);
  hook.answers.push('silent');
  const post = createPost({ timeoutMs: 20 });
  await t.rejects(post({ url: hook.url }, '{}', new AbortController().signal), {
    message: 'no answer within 20 ms',
  });
});

t.test('does not connect to addresses that the guard rejects', async (t) => {
  const hook = await startWebhook(t);
  const { port } = new URL(hook.url);
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const post = createPost({ guard: { resolve, mayConnect: () => false } });
  const { signal } = new AbortController();
  for (const host of ['127.0.0.1', 'localhost', 'hooks.example']) {
    await t.rejects(
      post({ url: `http://${host}:${port}/` }, '{}', signal),
      /host (has a non-public|is not allowed)/,
    );
  }
  t.equal(hook.calls.length, 0);
});

t.test('sends nothing for a config that is added and removed at once', async (t) => {
  const { add, push, tasks, hook, store } = await bench(t);
  await Promise.all([add(), add(), push.remove([place()])]);
  await settle();
  const heard = hook.calls.length;
  tasks.complete('t1', 'Hello');
  await settle();
  t.equal(hook.calls.length, heard);
  t.equal(tasks.watchers(), 0);
  t.same([store.pushOutbox.count(place()), [...store.pushOutbox.followed()]], [0, []]);
});

t.test('follows a config that is stored again during its last event', async (t) => {
  const { add, tasks, hook, store } = await bench(t);
  tasks.complete('t1', 'Hello');
  await add();
  await when(() => hook.calls.length === 1);
  await add();
  await when(() => store.pushOutbox.markOf(place()) === undefined);
  t.ok(store.pushConfigs.get(place()));
  t.ok(hook.calls.length >= 2);
});

t.test('shares a retry budget per failing receiver, whatever the number of configs', async (t) => {
  const { add, hook, pass, store } = await bench(t);
  const configs = 50;
  hook.answers.push(...Array.from({ length: 10 * configs }, () => 500));
  const names = Array.from({ length: configs }, (_, index) => `c${index}`);
  await Promise.all(names.map((name) => add(name)));
  const settled = () => names.every((name) => (store.pushOutbox.first(place(name))?.attempts ?? 0) > 0);
  await when(() => hook.calls.length === configs && settled());
  for (let second = 0; second < 60; second += 1) {
    pass(1000);
    await settle();
  }
  await when(() => hook.calls.length >= configs + BURST);
  const repeated = hook.calls.length - configs;
  t.ok(repeated >= BURST, `${repeated} repetitions in a minute`);
  t.ok(repeated <= BURST + 60_000 / INTERVAL_MS, `${repeated} repetitions in a minute`);
});

t.test('refills the retry budget of a host on a delivery, with a budget per host', (t) => {
  const slots = createRetrySlots();
  const take = (url: string) => slots.take(url, 1000);
  for (let at = 0; at < BURST; at += 1) t.equal(take('http://a.example/1'), 1000);
  t.equal(take('http://a.example/2'), 1000 + INTERVAL_MS);
  t.equal(take('http://a.example/3'), 1000 + 2 * INTERVAL_MS);
  t.equal(take('http://b.example/'), 1000);
  slots.delivered('http://a.example/2');
  t.equal(take('http://a.example/1'), 1000);
  t.end();
});
