import t, { type Test } from 'tap';
import { NotFound, TroupeError, Unavailable } from '../../src/client/errors.ts';
import { ModelError } from '../../src/models/errors.ts';
import { catchUp, enter, isBusy, look, retry, stop } from '../../src/react/catch-up.ts';
import type { PageTools, ThreadChat } from '../../src/react/thread.ts';
import { createThreadChat } from '../../src/react/thread-chat.ts';
import { startProxy } from '../client/proxy.ts';
import { asks, hangs } from '../service/models.ts';
import { withTools } from '../service/suspended.ts';
import { eventually } from '../service/troupe.ts';
import { gate, openTab, shown, type TabOptions } from './tabs.ts';

/** The parts of `useTroupeChat` without a page: threads of a real service in tabs. */

const { troupe, tools } = await withTools(t);
const { models } = troupe;

const open = (t: Test, threadId: string, options?: TabOptions) => openTab(t, troupe, threadId, options);

const shows = (thread: ThreadChat, ...parts: string[]) =>
  eventually(
    async () => (isBusy(thread) ? [] : shown(thread)),
    (seen) => JSON.stringify(seen) === JSON.stringify(parts),
  ).catch(() => t.strictSame(shown(thread), parts));

const say = ({ chat }: ThreadChat, text: string) => chat.sendMessage({ text });

/** The last parts, in order. A single part could belong to an earlier answer. */
const streams = (thread: ThreadChat, ...texts: string[]) =>
  eventually(
    async () => shown(thread),
    (seen) => JSON.stringify(seen.slice(-texts.length)) === JSON.stringify(texts),
  );

const ends = (threadId: string) =>
  eventually(
    async () => (await troupe.call('GET', `/v1/threads/${threadId}/runs/latest`)).body,
    ({ status }) => status === 'done',
  );

const waits = (threadId: string) =>
  eventually(
    async () => (await troupe.call('GET', `/v1/threads/${threadId}/runs/latest`)).body,
    ({ status }) => status === 'waiting',
  );

t.test('a tab that is loaded twice at once sends one request, and shows each response once', async (t) => {
  const one = await open(t, 'twice', { agentId: 'slow' });
  const saying = say(one, 'hello');
  await streams(one, 'hello', 'partial');
  const asked: string[] = [];
  const two = createThreadChat({
    url: troupe.url,
    threadId: 'twice',
    headers: () => ({}),
    tools: () => ({}),
    alone: () => {},
    fetch(target, init) {
      asked.push(new URL(target instanceof Request ? target.url : target).pathname);
      return fetch(target, init);
    },
  });
  const leave = enter(two);
  const first = catchUp(two);
  leave();
  t.teardown(enter(two));
  t.equal(catchUp(two), first);
  await streams(two, 'partial');
  t.strictSame(asked, [
    '/v1/ai-sdk/chat/twice/stream',
    '/v1/ai-sdk/threads/twice/messages',
    '/v1/threads/twice',
    '/v1/threads/twice/runs/active',
    '/v1/ai-sdk/threads/twice/messages',
  ]);
  models.release();
  await saying;
  await shows(one, 'hello', 'partial answer');
  await shows(two, 'hello', 'partial answer');
});

t.test('a question during the initial check keeps its answer', async (t) => {
  const [looking, looks] = gate();
  const [said, isSaid] = gate();
  const [lookedAt, isLookedAt] = gate();
  let isAsked = false;
  let isLooking = false;
  models.steps.push(async (sink) => {
    isAsked = true;
    isSaid();
    await lookedAt;
    sink.toolStart('e1', 'risky');
    sink.toolEnd('e1', '{}');
    return { stop: 'ToolUse' };
  });
  const thread = await open(t, 'early', {
    whileItRuns: true,
    async fetch(target, init) {
      const { pathname } = new URL(target instanceof Request ? target.url : target);
      if (pathname.endsWith('/messages') && isLooking) await waits('early');
      const response = await fetch(target, init);
      if (pathname.endsWith('/stream')) {
        looks();
        await said;
      }
      // The run executes while the tab asks for it, and waits when its messages arrive.
      isLooking ||= pathname.endsWith('/active') && isAsked;
      if (isLooking) isLookedAt();
      return response;
    },
  });
  await looking;
  await say(thread, 'do it');
  await thread.catching;
  await shows(thread, 'do it', 'tool-risky approval-requested');
  await look(thread);
  await shows(thread, 'do it', 'tool-risky approval-requested');
});

t.test('shows a message from before the history was loaded after the history', async (t) => {
  const [answered, isAnswered] = gate();
  await say(await open(t, 'hasty'), 'one');
  const [reading, reads] = gate();
  const hasty = await open(t, 'hasty', {
    whileItRuns: true,
    async fetch(target, init) {
      const response = await fetch(target, init);
      if (new URL(target instanceof Request ? target.url : target).pathname.endsWith('/messages')) {
        reads();
        await answered;
      }
      return response;
    },
  });
  await reading;
  await say(hasty, 'two');
  t.strictSame(shown(hasty), ['two', 'echo: two']);
  isAnswered();
  await shows(hasty, 'one', 'echo: one', 'two', 'echo: two');
});

for (const [asked, how] of [
  ['/stream', 'after the answer that there is no stream'],
  ['/active', 'after the answer that there is no run'],
] as const) {
  t.test(`follows a run that starts during the initial check, ${how}`, async (t) => {
    const threadId = `between${asked.replace('/', '-')}`;
    const one = await open(t, threadId, { agentId: 'slow' });
    let isFirst = true;
    const two = await open(t, threadId, {
      whileItRuns: true,
      async fetch(target, init) {
        const response = await fetch(target, init);
        const { pathname } = new URL(target instanceof Request ? target.url : target);
        if (isFirst && pathname.endsWith(asked)) {
          isFirst = false;
          say(one, 'hello');
          await streams(one, 'hello', 'partial');
        }
        return response;
      },
    });
    await streams(two, 'hello', 'partial');
    models.release();
    await shows(two, 'hello', 'partial answer');
  });
}

t.test('a tab that is left during an answer closes its stream, and the run continues', async (t) => {
  const thread = createThreadChat({
    url: troupe.url,
    threadId: 'left',
    agentId: 'slow',
    headers: () => ({}),
    fetch,
    tools: () => ({}),
    alone: () => {},
  });
  const leave = enter(thread);
  const saying = say(thread, 'hello');
  await streams(thread, 'partial');
  leave();
  await saying;
  t.equal(thread.chat.status, 'ready');
  models.release();
  t.match(await ends('left'), { termination_reason: { type: 'natural_end' } });
  await catchUp(thread);
  t.strictSame(shown(thread), ['hello', 'partial'], 'a closed page is not updated');
  t.teardown(enter(thread));
  await catchUp(thread);
  await shows(thread, 'hello', 'partial answer');
});

t.test('stop ends the run, even before the response of the service, and keeps the message', async (t) => {
  const [sent, isSent] = gate();
  const [answered, answers] = gate();
  const thread = await open(t, 'stopped', {
    agentId: 'slow',
    async fetch(target, init) {
      if (init?.method !== 'POST') return fetch(target, init);
      isSent();
      await answered;
      return fetch(target, init);
    },
  });
  const saying = say(thread, 'hello');
  await sent;
  t.equal(thread.chat.status, 'submitted');
  const stopping = stop(thread);
  answers();
  await stopping;
  await saying;
  t.match(await ends('stopped'), { termination_reason: { type: 'cancelled' } });
  await stop(thread);
  t.equal(thread.chat.status, 'ready', 'a repeated stop is harmless');
  const again = say(thread, 'again');
  await streams(thread, 'again', 'partial');
  const other = await open(t, 'stopped', { agentId: 'slow', whileItRuns: true });
  await streams(other, 'again', 'partial');
  await stop(other);
  await again;
  const { messages } = (await troupe.call('GET', '/v1/ai-sdk/threads/stopped/messages')).body;
  t.match(JSON.stringify(messages), /again.*partial/);
});

t.test('a waiting run can be stopped, and leaves no approval open', async (t) => {
  const thread = await open(t, 'given-up');
  models.steps.push(asks(['g1', 'risky']));
  await say(thread, 'do it');
  await shows(thread, 'do it', 'tool-risky approval-requested');
  await stop(thread);
  await shows(thread, 'do it', 'tool-risky input-available');
  t.strictSame(tools.executed, []);
});

t.test('calls can be approved, or denied with a reason, from any tab, and the others show it', async (t) => {
  const one = await open(t, 'approved');
  models.steps.push(asks(['a1', 'risky'], ['a2', 'risky']));
  await say(one, 'do it');
  const other = await open(t, 'approved');
  await shows(other, 'do it', 'tool-risky approval-requested', 'tool-risky approval-requested');
  await look(one);
  await other.chat.addToolApprovalResponse({ id: 'perm_a1', approved: true });
  await other.chat.addToolApprovalResponse({ id: 'perm_a2', approved: false, reason: 'not this one' });
  const all = ['do it', 'tool-risky output-available', 'tool-risky output-denied', 'echo: do it'];
  await shows(other, ...all);
  t.strictSame(tools.executed, ['a1']);
  t.match(JSON.stringify(models.requests.at(-1)?.request.messages), /not this one/);
  await look(one);
  await shows(one, ...all.filter((part) => !part.endsWith('denied')));
  await one.chat.addToolApprovalResponse({ id: 'perm_a1', approved: true });
  t.strictSame(tools.executed, ['a1']);
});

t.test('a late decision shows the actual outcome of the call', async (t) => {
  const [one, other] = [await open(t, 'late'), await open(t, 'late')];
  models.steps.push(asks(['l1', 'risky']));
  await say(one, 'do it');
  await catchUp(other);
  await one.chat.addToolApprovalResponse({ id: 'perm_l1', approved: true });
  await shows(one, 'do it', 'tool-risky output-available', 'echo: do it');
  await other.chat.addToolApprovalResponse({ id: 'perm_l1', approved: true });
  await shows(other, 'do it', 'tool-risky output-available', 'echo: do it');
  t.equal(tools.executed.filter((id) => id === 'l1').length, 1);
});

t.test('executes a page tool when the run waits for it, also in a tab that was loaded later', async (t) => {
  const executed: unknown[] = [];
  const page: PageTools = {
    pick_color(input, { toolCallId }) {
      executed.push([input, toolCallId]);
      return { color: 'red' };
    },
    note: () => t.fail('the tool of the service must not be executed in the page'),
  };
  const one = await open(t, 'page-tool', { tools: page });
  models.steps.push(asks(['p1', 'pick_color'], ['p2', 'note']));
  await say(one, 'paint');
  await shows(one, 'paint', 'tool-pick_color output-available', 'tool-note output-available', 'echo: paint');
  t.strictSame(executed, [[{}, 'p1']]);
  t.match(JSON.stringify(models.requests.at(-1)?.request.messages), /red/);

  const without = await open(t, 'page-tool');
  models.steps.push(asks(['p3', 'pick_color']));
  await say(without, 'more');
  t.equal(shown(without).at(-1), 'tool-pick_color input-available');
  const broken = { pick_color: () => Promise.reject(new Error('no paint')) };
  const since = await open(t, 'page-tool', { tools: broken });
  await eventually(
    async () => shown(since),
    (seen) => seen.at(-1) === 'echo: more',
  );
  t.match(JSON.stringify(models.requests.at(-1)?.request.messages), /no paint/);
});

t.test('does not execute the page tools of a stopped run', async (t) => {
  models.steps.push((sink, request, signal) => {
    sink.toolStart('s1', 'pick_color');
    sink.toolEnd('s1', '{}');
    return hangs()(sink, request, signal);
  });
  const thread = await open(t, 'stopped-tool', {
    tools: { pick_color: () => t.fail('a stopped run must not execute page tools') },
  });
  const saying = say(thread, 'paint');
  await eventually(
    async () => shown(thread),
    ({ length }) => length === 2,
  );
  await stop(thread);
  await saying;
  await catchUp(thread);
  t.strictSame(shown(thread), ['paint']);
});

t.test('shows a regenerated answer and an edited question of another tab', async (t) => {
  const [one, other] = [await open(t, 'again'), await open(t, 'again')];
  await say(one, 'one');
  await look(other);
  await catchUp(other);
  models.steps.push((sink) => {
    sink.text('another');
    return { stop: 'EndTurn' };
  });
  await one.chat.regenerate();
  await look(other);
  await shows(other, 'one', 'another');
  const [question] = one.chat.messages;
  await one.chat.sendMessage({ messageId: String(question?.id), text: 'two' });
  await look(other);
  await shows(other, 'two', 'echo: two');
  await shows(one, 'two', 'echo: two');
});

t.test('does not read an unchanged thread again', async (t) => {
  const paths: string[] = [];
  const thread = await open(t, 'quiet', {
    fetch(target, init) {
      paths.push(new URL(target instanceof Request ? target.url : target).pathname);
      return fetch(target, init);
    },
  });
  await say(thread, 'one');
  await eventually(
    async () => thread.isStale,
    (isStale) => !isStale,
  );
  const messages = thread.chat.messages;
  paths.length = 0;
  await look(thread);
  await look(thread);
  t.strictSame(paths, ['/v1/threads/quiet', '/v1/threads/quiet']);
  t.equal(thread.chat.messages, messages);
});

t.test('a tab receives what it missed during an outage after the connection returns', async (t) => {
  const line = await startProxy(t, () => troupe.url);
  const thread = await open(t, 'cut', { agentId: 'slow', url: line.url });
  const saying = say(thread, 'hello');
  await streams(thread, 'partial');
  line.isDown = true;
  line.cut();
  await saying;
  t.equal(thread.chat.status, 'error');
  await t.rejects(look(thread), { name: 'ConnectionLost' });
  models.release();
  await ends('cut');
  line.isDown = false;
  await look(thread);
  await shows(thread, 'hello', 'partial answer');
  t.equal(thread.chat.error, undefined);
});

t.test('a rejected request throws an error of its class, and a failed run keeps its error', async (t) => {
  const unknown = await open(t, 'refused', { agentId: 'nobody' });
  await say(unknown, 'hello');
  t.ok(unknown.chat.error instanceof TroupeError);
  t.match(unknown.chat.error, {
    status: 400,
    message: /agent not found: nobody/,
    request: 'POST /v1/ai-sdk/chat',
  });

  const busy = await open(t, 'unavailable', {
    fetch: async (target, init) =>
      init?.method === 'POST'
        ? Response.json({ error: 'it stops' }, { status: 503, headers: { 'retry-after': '2' } })
        : fetch(target, init),
  });
  await say(busy, 'hello');
  t.ok(busy.chat.error instanceof Unavailable);
  t.match(busy.chat.error, { retryAfter: 2000, message: 'it stops' });

  const failing = await open(t, 'failing');
  models.steps.push(() => {
    throw new ModelError('invalid_request', 'the provider is down');
  });
  await say(failing, 'hello');
  await look(failing);
  await look(failing);
  t.match(failing.chat.error, { message: /the provider is down/ });
  await retry(failing);
  await shows(failing, 'hello', 'echo: hello');
  t.equal(failing.chat.error, undefined);
  t.notOk(failing.chat.error instanceof NotFound);
});
