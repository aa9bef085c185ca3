import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { CHROMIUM, hasChromium } from '../../bench/chromium.ts';
import { ModelError } from '../../src/models/errors.ts';
import { asks, hangs, type Inference } from '../service/models.ts';
import { eventually } from '../service/troupe.ts';
import { headers, read } from './ask.ts';
import { type House, startHouse } from './visit.ts';

/** Conversations that are interrupted: by the user, the network, or a restart of the service. */

type Front = { url: string; cut(): void };

/** A proxy whose address survives restarts of the service, and whose connections can be cut. */
const startFront = async (t: Test, service: () => string): Promise<Front> => {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(new URL(service()).port), '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.pipe(other);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  t.teardown(() => {
    server.close();
    cut();
  });
  // Listening on TCP, so the address is an object.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
};

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const field = (page: Page) => page.getByRole('main').getByPlaceholder('Type a message…');
const say = async (page: Page, text: string): Promise<void> => {
  await field(page).fill(text);
  await page.keyboard.press('Enter');
};

const MANY = 2000;

const testInterruptions = (t: Test, house: House, front: () => Front): void => {
  const { troupe } = house;
  const open = async (t: Test, agent: string) => {
    const visit = await house.visit(t, { viewport: { width: 1440, height: 900 }, noisy: true });
    await visit.load(`/playground?agent=${agent}`);
    await visit.page.getByRole('heading', { name: `Talk to ${agent}` }).waitFor();
    return visit;
  };
  const runsOf = async (page: Page): Promise<{ status: string; outcome?: string }[]> => {
    const thread = new URL(page.url()).searchParams.get('thread');
    return Object(await read(troupe, `/v1/threads/${thread}/runs?limit=50`)).items;
  };
  /** The response to the question is this text, and nothing failed. */
  const isWhole = async (t: Test, page: Page, question: string, text: string): Promise<void> => {
    await page.getByRole('article', { name: 'Agent' }).getByText(text, { exact: true }).waitFor();
    await button(page, 'Stop').waitFor({ state: 'detached' });
    t.equal(await page.getByRole('article', { name: 'Agent' }).count(), 1);
    t.equal(await page.getByRole('article').getByText(question, { exact: true }).count(), 1);
    t.equal(await page.getByRole('main').getByRole('alert').count(), 0);
  };

  t.test('continues a response after a lost connection', async (t) => {
    const { page } = await open(t, 'slow');
    await say(page, 'Think');
    await page.getByText('partial', { exact: true }).waitFor();
    front().cut();
    troupe.models.release();
    await isWhole(t, page, 'Think', 'partial answer');
    t.equal((await runsOf(page)).length, 1);
  });

  t.test('continues a response after a restart of the service', async (t) => {
    const { page } = await open(t, 'slow');
    await say(page, 'Think');
    await page.getByText('partial', { exact: true }).waitFor();
    await troupe.restart();
    await eventually(
      async () => troupe.models.waiting(),
      (count) => count > 0,
    );
    troupe.models.release();
    await isWhole(t, page, 'Think', 'partial answer');
    t.equal((await runsOf(page)).length, 1);
    await say(page, 'Again');
    await page.getByText('partial', { exact: true }).waitFor();
    troupe.models.release();
    await page.getByText('partial answer', { exact: true }).nth(1).waitFor();
  });

  t.test('stops a response at any moment, and continues the conversation', async (t) => {
    const { page } = await open(t, 'steps');
    const fails: Inference = () => {
      throw new ModelError('provider', 'out of order');
    };
    /** Each moment lasts until the run is stopped. */
    const moments: readonly (readonly [moment: string, sign: RegExp, ...steps: Inference[]])[] = [
      ['before its first word', /^Thinking…$/, hangs()],
      ['in the middle of it', /^Half a$/, hangs('Half a')],
      [
        'during a tool call',
        /^progress_demo$/,
        asks(['c1', 'progress_demo', { scenario: 'slow_build' }]),
        hangs(),
      ],
      ['after a failed attempt', /out of order · Trying again/, fails, hangs()],
    ];
    for (const [moment, sign, ...steps] of moments) {
      troupe.models.steps = steps;
      await say(page, `Stop ${moment}`);
      await page.getByText(sign).last().waitFor();
      await button(page, 'Stop').click();
      await button(page, 'Stop').waitFor({ state: 'detached' });
      await page.getByText(/^Stopped by you after /).waitFor();
      await eventually(
        () => runsOf(page),
        (runs) => runs.every(({ status }) => status === 'done'),
      );
    }
    troupe.models.steps = [];
    await say(page, 'And now?');
    await page.getByText('echo: And now?').waitFor();
  });

  t.test('sends a message once for two quick Enters', async (t) => {
    const { page } = await open(t, 'echo');
    await field(page).fill('Once');
    await page.evaluate(`for (const _ of [1, 2])
      document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }),
      )`);
    await page.getByText('echo: Once').waitFor();
    await button(page, 'Stop').waitFor({ state: 'detached' });
    t.equal((await runsOf(page)).length, 1);
    t.equal(await field(page).inputValue(), '');
  });

  t.test('shows, continues and forks a thread of 2,000 messages', async (t) => {
    const id = 'two-thousand';
    const messages = Array.from({ length: MANY - 1 }, (_, at) => ({
      role: at % 2 ? 'assistant' : 'user',
      content: `Number ${at + 1}`,
    }));
    await troupe.runToEnd({ agentId: 'echo', threadId: id, messages });
    const visit = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    const { page } = visit;
    await visit.load(`/playground?agent=echo&thread=${id}`);
    await page.getByText('200 of 2,000 messages').waitFor();
    await page.getByText(`echo: Number ${MANY - 1}`).waitFor();
    await say(page, 'One more');
    await page.getByText('echo: One more').waitFor();
    await page.getByText('202 of 2,002 messages').waitFor();
    await page.getByText(`Number ${MANY - 199}`, { exact: true }).waitFor();
    await button(page, 'Edit and ask again').last().click();
    await page.getByLabel('Edited message').fill('Another one');
    await button(page, 'Ask in a fork').click();
    await page.waitForURL((url) => url.searchParams.get('thread') !== id);
    await page.getByText('echo: Another one').waitFor();
    const fork = new URL(page.url()).searchParams.get('thread');
    // The fork has all messages, also those that were not loaded.
    await eventually(
      () => read(troupe, `/v1/threads/${fork}/messages?limit=1`),
      ({ total }) => total === MANY + 2,
    );
    await visit.load(`/threads/${id}`);
    await page.getByTestId('thread-conversation').getByText('echo: One more').waitFor();
    await troupe.call('DELETE', `/v1/threads/${id}`, undefined, headers);
  });
};

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  let front: Front | undefined;
  const house = await startHouse(t, async (service) => {
    front = await startFront(t, service);
    return front.url;
  });
  testInterruptions(t, house, () => {
    if (!front) throw new Error('the proxy has not been started');
    return front;
  });
}
