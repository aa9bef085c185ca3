import t from 'tap';
import { TroupeError, Unauthorized } from '../../src/client/errors.ts';
import { ModelError } from '../../src/models/errors.ts';
import type { TroupeChat, TroupeChatOptions } from '../../src/react/index.ts';
import { digestOfCall } from '../../src/schema/call-digest.ts';
import { asks } from '../service/models.ts';
import { withTools } from '../service/suspended.ts';
import { eventually } from '../service/troupe.ts';
import { runEcho, withUsers } from '../service/users.ts';
import { openDocument } from './page.ts';
import { partsOf } from './tabs.ts';

/** `useTroupeChat` as React calls it: its return value for a page, and the effects of the page's actions. */

const view = openDocument(t);
const { troupe, tools } = await withTools(t);
const { models } = troupe;

const options = (threadId: string, more: Partial<TroupeChatOptions> = {}): TroupeChatOptions => ({
  url: troupe.url,
  threadId,
  agentId: 'steps',
  refresh: 0,
  ...more,
});

/** The smallest image. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const shown = ({ messages }: TroupeChat): string[] => partsOf(messages);

const shows =
  (...parts: string[]) =>
  (chat: TroupeChat): boolean =>
    !chat.isBusy && JSON.stringify(shown(chat)) === JSON.stringify(parts);

/** `fetch` that records the requested paths. */
const listening = () => {
  const asked: string[] = [];
  const listen: typeof fetch = (target, init) => {
    asked.push(new URL(target instanceof Request ? target.url : target).pathname);
    return fetch(target, init);
  };
  return { asked, fetch: listen };
};

t.test('returns whether the thread is loaded, busy and unanswered', async (t) => {
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const page = await view.open(
    t,
    options('told', {
      agentId: 'slow',
      async fetch(target, init) {
        if (init?.method === 'POST') await answered;
        return fetch(target, init);
      },
    }),
  );
  t.match(page.now(), { threadId: 'told', isLoaded: false, isBusy: false, isUnanswered: false });
  await page.until(({ isLoaded }) => isLoaded);
  page.now().sendMessage({ text: 'hello' });
  await page.until(({ status }) => status === 'submitted');
  t.match(page.now(), { isBusy: true, isUnanswered: false }, 'the response has not started');
  answer();
  await page.until(({ status }) => status === 'streaming');
  t.match(page.now(), { isBusy: true, isUnanswered: false }, 'the response is streamed');
  models.release();
  await page.until(shows('hello', 'partial answer'));
  t.match(page.now(), { isBusy: false, isUnanswered: false, isLoaded: true, error: undefined });
});

t.test('a page that follows an answer is loaded', async (t) => {
  const one = await view.open(t, options('followed', { agentId: 'slow' }));
  await one.until(({ isLoaded }) => isLoaded);
  one.now().sendMessage({ text: 'hello' });
  await one.until((chat) => shown(chat).at(-1) === 'partial');
  const other = await view.open(t, options('followed', { agentId: 'slow' }));
  await other.until((chat) => shown(chat).at(-1) === 'partial');
  t.match(other.now(), { isLoaded: true, isBusy: true });
  models.release();
  await other.until(shows('hello', 'partial answer'));
  await one.until(shows('hello', 'partial answer'));
});

t.test('a failed run leaves the message of the user, which can be sent again', async (t) => {
  const page = await view.open(t, options('failed'));
  models.steps.push(() => {
    throw new ModelError('invalid_request', 'out of ink');
  });
  page.now().sendMessage({ text: 'hello' });
  await page.until(({ error, isUnanswered }) => error !== undefined && isUnanswered);
  t.match(page.now(), { isBusy: false, error: { message: /out of ink/ } });
  page.now().retry();
  await page.until(shows('hello', 'echo: hello'));
  t.match(page.now(), { error: undefined, isUnanswered: false });
  page.now().retry();
  await page.until(shows('hello', 'echo: hello'));
});

t.test('a rejected request is its error until the next attempt', async (t) => {
  const page = await view.open(t, options('refused', { agentId: 'nobody' }));
  page.now().sendMessage({ text: 'hello' });
  await page.until(({ error }) => error !== undefined);
  t.ok(page.now().error instanceof TroupeError, String(page.now().error));
  const away = await view.open(
    t,
    options('refused', { fetch: async () => new Response('{"error":"who?"}', { status: 401 }) }),
  );
  await away.until(({ error }) => error !== undefined);
  t.ok(away.now().error instanceof Unauthorized, String(away.now().error));
  t.equal(away.now().isLoaded, true, 'the hook waits for no other request');

  const stuck = await view.open(t, options('stuck', { fetch: async () => Promise.reject(new Error('no')) }));
  await stuck.until(({ error }) => error !== undefined);
  stuck.now().stop();
  await stuck.until(({ error }) => error?.name === 'ConnectionLost');
});

t.test('clears an error when a message is sent', async (t) => {
  let isDown = true;
  const page = await view.open(
    t,
    options('again', {
      fetch: (target, init) =>
        isDown && target instanceof Request && target.url.endsWith('/cancel')
          ? Promise.reject(new Error('down'))
          : fetch(target, init),
    }),
  );
  await page.until(({ isLoaded }) => isLoaded);
  page.now().stop();
  await page.until(({ error }) => error?.name === 'ConnectionLost');
  isDown = false;
  page.now().sendMessage({ text: 'hello' });
  await page.until((chat) => chat.error === undefined && shows('hello', 'echo: hello')(chat));
});

t.test('the page approves, denies and answers calls', async (t) => {
  const page = await view.open(t, options('decided'));
  models.steps.push(asks(['d1', 'risky'], ['d2', 'risky']));
  page.now().sendMessage({ text: 'do it' });
  await page.until(shows('do it', 'tool-risky approval-requested', 'tool-risky approval-requested'));
  page.now().approve({ id: 'perm_d1' });
  page.now().deny({ id: 'perm_d2', reason: 'not this one' });
  await page.until(shows('do it', 'tool-risky output-available', 'tool-risky output-denied', 'echo: do it'));
  t.strictSame(tools.executed, ['d1']);
  t.match(JSON.stringify(models.requests.at(-1)?.request.messages), /not this one/);

  models.steps.push(asks(['d3', 'pick_color']));
  page.now().sendMessage({ text: 'paint' });
  await page.until((chat) => shown(chat).at(-1) === 'tool-pick_color input-available' && !chat.isBusy);
  page.now().answer({ tool: 'pick_color', toolCallId: 'd3', output: { color: 'teal' } });
  await page.until((chat) => shown(chat).at(-1) === 'echo: paint' && !chat.isBusy);
  t.match(JSON.stringify(models.requests.at(-1)?.request.messages), /teal/);

  models.steps.push(asks(['d4', 'pick_color']));
  page.now().sendMessage({ text: 'more' });
  await page.until((chat) => shown(chat).at(-1) === 'tool-pick_color input-available' && !chat.isBusy);
  page.now().answer({ tool: 'pick_color', toolCallId: 'd4', error: 'no paint' });
  await page.until((chat) => shown(chat).at(-1) === 'echo: more' && !chat.isBusy);
  t.match(JSON.stringify(models.requests.at(-1)?.request.messages), /no paint/);
});

t.test('edits a message, and stops a run', async (t) => {
  const page = await view.open(t, options('edited'));
  page.now().sendMessage({ text: 'one' });
  await page.until(shows('one', 'echo: one'));
  const [first] = page.now().messages;
  page.now().edit(String(first?.id), 'two');
  await page.until(shows('two', 'echo: two'));

  const slow = await view.open(t, options('stopped', { agentId: 'slow' }));
  slow.now().sendMessage({ text: 'hello' });
  await slow.until((chat) => shown(chat).at(-1) === 'partial');
  slow.now().stop();
  await slow.until(shows('hello', 'partial'));
  const { body } = await troupe.call('GET', '/v1/threads/stopped/runs/latest');
  t.match(body, { termination_reason: { type: 'cancelled' } });
});

t.test('an edited message keeps its files', async (t) => {
  const page = await view.open(t, options('edited files'));
  const url = `data:image/png;base64,${PNG}`;
  const parts = [
    { type: 'text' as const, text: 'what is' },
    { type: 'file' as const, mediaType: 'image/png', url },
    { type: 'text' as const, text: 'this?' },
  ];
  page.now().sendMessage({ parts });
  await page.until(({ isBusy, messages }) => !isBusy && messages.length === 2);
  const [first] = page.now().messages;
  page.now().edit(String(first?.id), 'who is it?');
  await page.until(({ isBusy, messages }) => !isBusy && /who is it/.test(JSON.stringify(messages)));
  const sent = models.requests.at(-1)?.request.messages.at(-1);
  t.match(sent, { role: 'user', content: [{ text: 'who is it?' }, { type: 'image' }] });
  t.equal(sent?.content.length, 2);
  page.leave();
  const again = await view.open(t, options('edited files'));
  await again.until(({ isLoaded }) => isLoaded);
  t.match(again.now().messages[0]?.parts, [{ type: 'text', text: 'who is it?' }, { type: 'file' }]);
});

t.test('shows changes by others while the page is visible, and after it becomes visible again', async (t) => {
  const { asked, fetch } = listening();
  const page = await view.open(t, options('others', { refresh: 1, fetch }));
  await page.until(({ isLoaded }) => isLoaded);
  const other = await view.open(t, options('others'));
  other.now().sendMessage({ text: 'one' });
  await other.until(shows('one', 'echo: one'));
  view.turn('hidden');
  view.turn('visible');
  await page.until(shows('one', 'echo: one'));
  await eventually(
    async () => asked.filter((path) => path === '/v1/threads/others').length,
    (looks) => looks > 2,
  );
  other.now().sendMessage({ text: 'two' });
  await page.until(shows('one', 'echo: one', 'two', 'echo: two'));
  const before = asked.length;
  page.show(options('others', { fetch }));
  await eventually(
    async () => asked.length,
    (count) => count > before,
  );
});

t.test('a page retries after the network returns', async (t) => {
  let isDown = true;
  const page = await view.open(
    t,
    options('online', {
      fetch: (target, init) => (isDown ? Promise.reject(new Error('down')) : fetch(target, init)),
    }),
  );
  await page.until(({ error }) => error?.name === 'ConnectionLost');
  isDown = false;
  view.online();
  await page.until(({ error }) => error === undefined);
});

t.test('a hidden page sends no requests, and one without refresh sends one', async (t) => {
  const { asked, fetch } = listening();
  const page = await view.open(t, options('still', { fetch }));
  await page.until(({ isLoaded }) => isLoaded);
  const first = asked.length;
  view.turn('hidden');
  page.show(options('still', { refresh: 1, fetch }));
  const other = await view.open(t, options('elsewhere', { refresh: 1 }));
  other.now().sendMessage({ text: 'time goes by' });
  await other.until(shows('time goes by', 'echo: time goes by'));
  t.equal(asked.length, first);
  view.turn('visible');
  await eventually(
    async () => asked.length,
    (now) => now > first,
  );
});

t.test('changed options apply to later requests, and can show another thread', async (t) => {
  const seen: (string | null)[] = [];
  const noting: typeof fetch = (target, init) => {
    seen.push(new Headers(target instanceof Request ? target.headers : init?.headers).get('x-who'));
    return fetch(target, init);
  };
  const page = await view.open(t, options('changing', { fetch: noting, headers: { 'x-who': 'one' } }));
  await page.until(({ isLoaded }) => isLoaded);
  page.now().sendMessage({ text: 'hello' });
  await page.until(shows('hello', 'echo: hello'));
  t.strictSame([...new Set(seen)], ['one']);
  const { sendMessage } = page.now();
  page.show(options('changing', { fetch: noting, headers: () => ({ 'x-who': 'two' }) }));
  await page.until((now) => now.sendMessage !== sendMessage);
  seen.length = 0;
  page.now().sendMessage({ text: 'again' });
  await page.until(shows('hello', 'echo: hello', 'again', 'echo: again'));
  t.strictSame([...new Set(seen)], ['two']);
  page.show(options('another'));
  await page.until(
    ({ threadId, isLoaded, messages }) => threadId === 'another' && isLoaded && !messages.length,
  );

  const own = await view.open(t, { url: troupe.url, agentId: 'steps', refresh: 0 });
  const { threadId } = own.now();
  own.now().sendMessage({ text: 'mine' });
  await own.until(shows('mine', 'echo: mine'));
  t.equal(own.now().threadId, threadId, 'the thread id is stable');
  t.equal((await troupe.call('GET', `/v1/threads/${threadId}`)).status, 200);
});

t.test('a page that is left closes its stream, and the run continues', async (t) => {
  const page = await view.open(t, options('left', { agentId: 'slow' }));
  page.now().sendMessage({ text: 'hello' });
  await page.until((chat) => shown(chat).at(-1) === 'partial');
  page.leave();
  await eventually(
    async () => models.waiting(),
    (waiting) => waiting === 1,
  );
  models.release();
  const { body } = await eventually(
    () => troupe.call('GET', '/v1/threads/left/runs/latest'),
    ({ body }) => body.status === 'done',
  );
  t.match(body, { termination_reason: { type: 'natural_end' } });
});

for (const isSafe of [true, false]) {
  t.test(`a page tool is executed once, ${isSafe ? 'with' : 'without'} locks`, async (t) => {
    if (!isSafe) view.withoutLocks(t);
    const executed: string[] = [];
    let paint = (): void => {};
    const painted = new Promise<void>((resolve) => {
      paint = resolve;
    });
    const page = await view.open(
      t,
      options(`executed-${isSafe}`, {
        refresh: 1,
        tools: {
          async pick_color(_, { toolCallId }) {
            executed.push(toolCallId);
            await painted;
          },
        },
      }),
    );
    models.steps.push(asks([`e-${isSafe}`, 'pick_color']));
    page.now().sendMessage({ text: 'paint' });
    await eventually(
      async () => executed.length,
      (count) => count > 0,
    );
    // Reads everything again, while the tool is still executing.
    view.turn('hidden');
    view.turn('visible');
    const other = await view.open(t, options(`meanwhile-${isSafe}`, { refresh: 1 }));
    other.now().sendMessage({ text: 'time goes by' });
    await other.until(shows('time goes by', 'echo: time goes by'));
    paint();
    await page.until(shows('paint', 'tool-pick_color output-available', 'echo: paint'));
    t.strictSame(executed, [`e-${isSafe}`]);
    t.match(JSON.stringify(models.requests.at(-1)?.request.messages), /null/);
  });
}

t.test('draws an answer that arrives all at once', async (t) => {
  const page = await view.open(t, options('burst'));
  const words = Array.from({ length: 300 }, (_, index) => `w${index} `);
  models.steps.push((sink) => {
    for (const word of words) sink.text(word);
    return { stop: 'EndTurn' };
  });
  page.now().sendMessage({ text: 'hello' });
  await page.until(shows('hello', words.join('')));
});

/** A service that accepts the token `t<n>` of the moment, and records those of all requests. */
const guarded = () => {
  const state = { n: 1, seen: [] as string[], fetch: fetch };
  state.fetch = async (target, init) => {
    const head = new Headers(target instanceof Request ? target.headers : init?.headers);
    const given = head.get('authorization') ?? '';
    state.seen.push(given);
    if (given !== `Bearer t${state.n}`) return new Response('{"error":"session has ended"}', { status: 401 });
    return fetch(target, init);
  };
  return state;
};

t.test('sends a token, and requests another one after a 401', async (t) => {
  const service = guarded();
  let asked = 0;
  const given = () =>
    options('with a token', {
      fetch: service.fetch,
      // Each render has another function.
      token: async () => {
        asked += 1;
        return `t${service.n}`;
      },
    });
  const page = await view.open(t, given());
  await page.until(({ isLoaded }) => isLoaded);
  page.now().sendMessage({ text: 'hello' });
  await page.until(shows('hello', 'echo: hello'));
  page.show(given());
  t.equal(asked, 1, 'the token is kept');
  t.strictSame([...new Set(service.seen)], ['Bearer t1']);

  service.n = 2;
  page.now().sendMessage({ text: 'again' });
  await page.until(shows('hello', 'echo: hello', 'again', 'echo: again'));
  t.equal(asked, 2, 'once for all rejected requests');
  t.equal(page.now().error, undefined);
  t.strictSame([...new Set(service.seen)], ['Bearer t1', 'Bearer t2']);
});

t.test('a token as a text applies from the next request on, and an invalid one is an error', async (t) => {
  const service = guarded();
  const page = await view.open(t, options('with a text', { fetch: service.fetch, token: 't0' }));
  await page.until(({ error }) => error instanceof Unauthorized);
  page.show(options('with a text', { fetch: service.fetch, token: 't1', headers: { authorization: 'x' } }));
  page.now().sendMessage({ text: 'hello' });
  await page.until(shows('hello', 'echo: hello'));
  view.turn('hidden');
  view.turn('visible');
  await page.until(({ error }) => error === undefined);
  const bad = await view.open(t, options('bad', { fetch: service.fetch, token: 'a\nb' }));
  await bad.until(({ error }) => error instanceof TypeError);
  t.notMatch(bad.now().error?.message, /a\nb/);
  const failing = await view.open(
    t,
    options('failing', { fetch: service.fetch, token: () => Promise.reject(new Error('signed out')) }),
  );
  await failing.until(({ error }) => error?.message === 'signed out');
});

t.test('a decision in a run of another user has the digest of the shown call', async (t) => {
  const service = await withUsers(t);
  const alice = service.user('alice');
  const ofService = (threadId: string) =>
    options(threadId, { url: service.url, headers: service.user('bob', 'member', 'write:all').head });
  service.models.steps.push(asks(['c1', 'risky'], ['c2', 'risky']));
  await runEcho(alice, 'of-alice', { agentId: 'steps' });
  const page = await view.open(t, ofService('of-alice'));
  await page.until(
    (chat) => shown(chat).filter((part) => part === 'tool-risky approval-requested').length === 2,
  );
  page.now().approve({ id: 'perm_c1' });
  page.now().deny({ id: 'perm_c2' });
  await page.until((chat) => shown(chat).at(-1) === 'echo: Hello' && !chat.isBusy);
  t.equal(page.now().error, undefined);
  t.strictSame(service.tools.executed, ['c1']);
  const { body } = await alice.get('/v1/threads/of-alice/events');
  const decided = (body.items as { event_kind: string; payload: object }[]).filter(
    ({ event_kind }) => event_kind === 'ToolPermissionResolved',
  );
  const digest = digestOfCall({ tool: 'risky', arguments: {} });
  t.match(decided, [{ payload: { decided_by: 'bob', digest } }, { payload: { decided_by: 'bob', digest } }]);
});
