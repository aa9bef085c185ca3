import t, { type Test } from 'tap';
import { giveAnswer } from '../../src/models/scripted-answer.ts';
import { catchUp, enter, look, retry } from '../../src/react/catch-up.ts';
import type { ThreadChat } from '../../src/react/thread.ts';
import { startProxy } from '../client/proxy.ts';
import { asks } from '../service/models.ts';
import { withTools } from '../service/suspended.ts';
import { eventually } from '../service/troupe.ts';
import { createLocks, gate, history, lookAround, openTab, rest, shown, type TabOptions } from './tabs.ts';

/** Messages, decisions and results of a tab are never lost, regardless of concurrent events. */

const { troupe, tools } = await withTools(t);
const { models } = troupe;

const open = (t: Test, threadId: string, options?: TabOptions) => openTab(t, troupe, threadId, options);

const statusOf = async (threadId: string): Promise<unknown> =>
  (await troupe.call('GET', `/v1/threads/${threadId}/runs/latest`)).body.status;

const ends = (threadId: string) =>
  eventually(
    () => statusOf(threadId),
    (status) => status === 'done',
  );

const says = (thread: ThreadChat, last: string) =>
  eventually(
    async () => shown(thread),
    (parts) => parts.at(-1) === last,
  );

/** The request has failed, and so has the check of the service's state. */
const fails = async (thread: ThreadChat): Promise<void> => {
  await eventually(
    async () => thread.chat.status,
    (status) => status === 'error',
  );
  await thread.catching?.catch(() => {});
};

/** A connection that can be cut, and the options of a tab that uses it. */
const lineOf = async (t: Test) => {
  const line = await startProxy(t, () => troupe.url);
  return {
    url: line.url,
    cut() {
      line.isDown = true;
      line.cut();
    },
    mend() {
      line.isDown = false;
    },
  };
};

/** The service rejects posted requests while this returns true. */
const refusing =
  (isRefused: () => boolean): typeof fetch =>
  async (target, init) =>
    init?.method === 'POST' && isRefused()
      ? Response.json({ error: 'it stops' }, { status: 503 })
      : fetch(target, init);

t.test('resends the result of a page tool whose connection was cut', async (t) => {
  const line = await lineOf(t);
  const [painted, paint] = gate();
  let count = 0;
  const thread = await open(t, 'result-cut', {
    url: line.url,
    tools: {
      async pick_color() {
        count += 1;
        await painted;
        return 'red';
      },
    },
  });
  models.steps.push(asks(['rc', 'pick_color']));
  await thread.chat.sendMessage({ text: 'paint' });
  await eventually(
    async () => count,
    (executed) => executed === 1,
  );
  line.cut();
  paint();
  await fails(thread);
  line.mend();
  await lookAround(thread);
  await ends('result-cut');
  t.equal(count, 1);
  t.equal(thread.chat.error, undefined);
});

t.test('resends a result that the service rejected temporarily, also by retry', async (t) => {
  let isRefused = false;
  const thread = await open(t, 'result-refused', {
    tools: {
      pick_color() {
        isRefused = true;
        return 'red';
      },
    },
    fetch: refusing(() => isRefused),
  });
  models.steps.push(asks(['rr', 'pick_color']));
  await thread.chat.sendMessage({ text: 'paint' });
  await fails(thread);
  isRefused = false;
  await retry(thread);
  await ends('result-refused');
});

t.test('keeps decisions on several calls when the tab reads the thread again', async (t) => {
  const two = await open(t, 'two-calls');
  models.steps.push(asks(['tc1', 'risky'], ['tc2', 'risky']));
  await two.chat.sendMessage({ text: 'do' });
  await two.chat.addToolApprovalResponse({ id: 'perm_tc1', approved: true });
  await catchUp(two);
  t.match(shown(two), ['do', 'tool-risky approval-responded', 'tool-risky approval-requested']);
  await two.chat.addToolApprovalResponse({ id: 'perm_tc2', approved: true });
  await ends('two-calls');

  const mixed = await open(t, 'mixed-calls', { tools: { pick_color: () => 'red' } });
  models.steps.push(asks(['mc1', 'pick_color'], ['mc2', 'risky']));
  await mixed.chat.sendMessage({ text: 'paint' });
  await says(mixed, 'tool-risky approval-requested');
  await eventually(
    async () => shown(mixed),
    (parts) => parts.includes('tool-pick_color output-available'),
  );
  await catchUp(mixed);
  await mixed.chat.addToolApprovalResponse({ id: 'perm_mc2', approved: true });
  await ends('mixed-calls');
});

t.test('executes both page tools of one step, and their run continues', async (t) => {
  const executed: string[] = [];
  const thread = await open(t, 'two-tools', {
    tools: { pick_color: (_, { toolCallId }) => void executed.push(toolCallId) },
  });
  models.steps.push(asks(['tt1', 'pick_color'], ['tt2', 'pick_color']));
  await thread.chat.sendMessage({ text: 'paint' });
  await ends('two-tools');
  t.strictSame(executed.sort(), ['tt1', 'tt2']);
});

t.test('sends an offline decision after the network returns', async (t) => {
  const line = await lineOf(t);
  const thread = await open(t, 'decided-offline', { url: line.url });
  models.steps.push(asks(['do1', 'risky']));
  await thread.chat.sendMessage({ text: 'do' });
  await rest(thread);
  line.cut();
  await thread.chat.addToolApprovalResponse({ id: 'perm_do1', approved: true });
  await fails(thread);
  line.mend();
  await lookAround(thread);
  await ends('decided-offline');
});

t.test('only one of several tabs executes a page tool', async (t) => {
  const { alone, closeTab } = createLocks();
  const executed: string[] = [];
  const by = (name: string, answer: () => unknown = () => 'red') => ({
    alone,
    tools: {
      pick_color() {
        executed.push(name);
        return answer();
      },
    },
  });

  await t.test('while its result is being sent', async (t) => {
    const [sent, send] = gate();
    let posts = 0;
    const one = await open(t, 'on-its-way', {
      ...by('one'),
      async fetch(target, init) {
        if (init?.method === 'POST') posts += 1;
        if (posts === 2) await sent;
        return fetch(target, init);
      },
    });
    models.steps.push(asks(['w1', 'pick_color']));
    await one.chat.sendMessage({ text: 'paint' });
    await eventually(
      async () => posts,
      (count) => count === 2,
    );
    const two = await open(t, 'on-its-way', by('two'));
    await lookAround(two);
    send();
    await ends('on-its-way');
    t.strictSame(executed.splice(0), ['one']);
  });

  await t.test('while an approval in the same step is open', async (t) => {
    const one = await open(t, 'beside', by('one'));
    models.steps.push(asks(['b1', 'pick_color'], ['b2', 'risky']));
    await one.chat.sendMessage({ text: 'paint' });
    await eventually(
      async () => executed.length,
      (count) => count === 1,
    );
    const two = await open(t, 'beside', by('two'));
    await lookAround(one, two);
    t.strictSame(executed.splice(0), ['one']);
  });

  await t.test('another tab executes it after the first is closed', async (t) => {
    const one = await open(
      t,
      'closed',
      by('one', () => new Promise(() => {})),
    );
    models.steps.push(asks(['c1', 'pick_color']));
    await one.chat.sendMessage({ text: 'paint' });
    await eventually(
      async () => executed.length,
      (count) => count === 1,
    );
    const two = await open(t, 'closed', by('two'));
    await lookAround(two);
    one.leave();
    closeTab();
    await lookAround(two);
    await ends('closed');
    t.strictSame(executed.splice(0), ['one', 'two']);
  });
});

t.test('resends a first question that did not arrive', async (t) => {
  const line = await lineOf(t);
  const thread = await open(t, 'first-lost', { url: line.url });
  line.cut();
  await thread.chat.sendMessage({ text: 'one' });
  await thread.catching?.catch(() => {});
  line.mend();
  await look(thread);
  t.ok(thread.chat.error, 'the error is shown until a resend succeeds');
  await retry(thread);
  await rest(thread);
  t.strictSame(shown(thread), ['one', 'echo: one']);
  t.equal(thread.chat.error, undefined);
});

t.test('keeps all offline messages, including an edited one', async (t) => {
  const line = await lineOf(t);
  const thread = await open(t, 'offline', { url: line.url });
  line.cut();
  await thread.chat.sendMessage({ text: 'one' });
  await thread.chat.sendMessage({ text: 'two' });
  await thread.catching?.catch(() => {});
  line.mend();
  await look(thread);
  t.strictSame(shown(thread), ['one', 'two']);
  await retry(thread);
  await rest(thread);
  t.strictSame(shown(thread), ['one', 'two', 'echo: two']);

  line.cut();
  const [first] = thread.chat.messages;
  await thread.chat.sendMessage({ messageId: String(first?.id), text: 'another' });
  await thread.catching?.catch(() => {});
  line.mend();
  await look(thread);
  t.strictSame(shown(thread), ['another']);
  t.ok(thread.chat.error);
  await retry(thread);
  await rest(thread);
  t.strictSame(shown(thread), ['another', 'echo: another']);
});

t.test('delivers a message that was sent just before the page is left', async (t) => {
  const [sent, send] = gate();
  const [asked, isAsked] = gate();
  const thread = await open(t, 'leaving', {
    async fetch(target, init) {
      if (init?.method === 'POST') {
        isAsked();
        await sent;
      }
      return fetch(target, init);
    },
  });
  const saying = thread.chat.sendMessage({ text: 'hello' });
  await asked;
  thread.leave();
  send();
  await saying;
  await ends('leaving');
  t.strictSame(shown(await open(t, 'leaving')), ['hello', 'echo: hello']);
});

t.test('a page that leaves and returns during an answer continues to show it', async (t) => {
  for (const isOwn of [true, false]) {
    const threadId = `back-${isOwn}`;
    const asking = await open(t, threadId, { agentId: 'slow' });
    asking.chat.sendMessage({ text: 'hello' });
    await says(asking, 'partial');
    const thread = isOwn ? asking : await open(t, threadId, { agentId: 'slow', whileItRuns: true });
    await says(thread, 'partial');
    thread.leave();
    t.teardown(enter(thread));
    const caughtUp = catchUp(thread);
    models.release();
    await ends(threadId);
    await caughtUp;
    await rest(thread);
    t.strictSame(shown(thread), ['hello', 'partial answer']);
  }
});

t.test('a tab that follows a run continued or steered by another shows all of it in the end', async (t) => {
  const one = await open(t, 'continued');
  models.steps.push(
    (sink) => giveAnswer({ text: 'round 1', calls: [{ id: 'n1', tool: 'note', args: {} }] }, sink),
    (sink) => giveAnswer({ text: 'round 2', calls: [{ id: 'a1', tool: 'risky', args: {} }] }, sink),
  );
  await one.chat.sendMessage({ text: 'do' });
  const two = await open(t, 'continued');
  const [told, tell] = gate();
  models.steps.push(async (sink) => {
    sink.text('well');
    await told;
    return { stop: 'EndTurn' };
  });
  await two.chat.addToolApprovalResponse({ id: 'perm_a1', approved: true });
  await says(two, 'well');
  const since = await open(t, 'continued', { whileItRuns: true });
  const looking = look(one);
  await says(one, 'well');
  tell();
  await looking;
  await ends('continued');
  await lookAround(one, two, since);
  for (const tab of [one, two, since]) t.strictSame(shown(tab), await history(troupe, 'continued'));

  models.steps.push((sink) =>
    giveAnswer({ text: 'first', calls: [{ id: 'h1', tool: 'hold', args: {} }] }, sink),
  );
  const steered = await open(t, 'steered');
  const saying = steered.chat.sendMessage({ text: 'do' });
  await eventually(
    async () => tools.holding(),
    (calls) => calls.includes('h1'),
  );
  const messages = [{ role: 'user', content: 'and that' }];
  await troupe.post('/v1/threads/steered/messages', { messages, mode: 'steer' });
  const [ended, end] = gate();
  models.steps.push(async (sink) => {
    sink.text('second');
    await ended;
    return { stop: 'EndTurn' };
  });
  tools.release();
  await says(steered, 'second');
  const other = await open(t, 'steered', { whileItRuns: true });
  await says(other, 'second');
  end();
  await saying;
  await lookAround(steered, other);
  for (const tab of [steered, other]) t.strictSame(shown(tab), await history(troupe, 'steered'));
});

t.test('shows messages of another tab, whenever they were sent', async (t) => {
  await t.test('on a thread that was empty', async (t) => {
    const [one, two] = [await open(t, 'empty'), await open(t, 'empty')];
    await one.chat.sendMessage({ text: 'hello' });
    await lookAround(two);
    t.strictSame(shown(two), ['hello', 'echo: hello']);
  });

  await t.test('before the first check of this tab, but after its first message', async (t) => {
    const one = await open(t, 'between-looks');
    await one.chat.sendMessage({ text: 'one' });
    await rest(one);
    const two = await open(t, 'between-looks');
    await one.chat.sendMessage({ text: 'two' });
    await two.chat.sendMessage({ text: 'three' });
    await lookAround(one, two);
    for (const tab of [one, two]) t.strictSame(shown(tab), await history(troupe, 'between-looks'));
    t.equal(shown(one).length, 6);
  });

  for (const asked of ['/v1/threads/while-read', '/runs/active', '/messages']) {
    await t.test(`while this one reads ${asked}`, async (t) => {
      const threadId = 'while-read';
      const two = await open(t, threadId);
      let isFirst = true;
      const one = await open(t, threadId, {
        async fetch(target, init) {
          const response = await fetch(target, init);
          const { pathname } = new URL(target instanceof Request ? target.url : target);
          if (isFirst && pathname.endsWith(asked) && init?.method !== 'POST') {
            isFirst = false;
            await catchUp(two);
            await two.chat.sendMessage({ text: `during ${asked}` });
          }
          return response;
        },
      });
      await lookAround(one);
      t.strictSame(shown(one), await history(troupe, threadId));
    });
  }
});

t.test('a service that restarts during an answer resumes it, and so does the tab', async (t) => {
  const here: typeof fetch = (target, init) => {
    const url = new URL(target instanceof Request ? target.url : target);
    url.port = new URL(troupe.url).port;
    return target instanceof Request ? fetch(new Request(url, target)) : fetch(url, init);
  };
  models.steps.push((sink) =>
    giveAnswer({ text: 'before', calls: [{ id: 'r1', tool: 'guarded', args: {} }] }, sink),
  );
  const thread = await open(t, 'restarted', { fetch: here });
  await thread.chat.sendMessage({ text: 'go' });
  await rest(thread);
  const approving = thread.chat.addToolApprovalResponse({ id: 'perm_r1', approved: true });
  await eventually(
    async () => tools.holding(),
    (calls) => calls.includes('r1'),
  );
  await troupe.restart();
  await approving;
  tools.release();
  await ends('restarted');
  await eventually(
    async () => {
      await look(thread).catch(() => {});
      return JSON.stringify(shown(thread)) === JSON.stringify(await history(troupe, 'restarted'));
    },
    (isSame) => isSame,
  );
  t.equal(thread.chat.error, undefined);
});
