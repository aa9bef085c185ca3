import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { giveAnswer } from '../../src/models/scripted-answer.ts';
import { asks, hangs, type Inference } from '../service/models.ts';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import { ASKS_FIRST } from './ask.ts';
import type { House } from './visit.ts';

/** Chats with a draft, an agent of the playground, and the assistant. */

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const sandbox = (page: Page) =>
  page.locator('aside').filter({ has: page.getByRole('heading', { name: 'Sandbox' }) });

/**
 * Records the bodies of POST requests in the page, because the browser does not report the bodies of streamed requests.
 */
const listen = async (page: Page): Promise<() => Promise<unknown>> => {
  await page.evaluate(`{
    const own = window.fetch;
    window.sent = [];
    window.fetch = async (...given) => {
      const request = new Request(...given);
      if (request.method === 'POST') window.sent.push(await request.clone().text());
      return own(request);
    };
  }`);
  return async () => JSON.parse(String(await page.evaluate('window.sent[0]')));
};

const say = async (where: ReturnType<typeof sandbox>, text: string): Promise<void> => {
  await where.getByPlaceholder('Type a message…').fill(text);
  await where.getByRole('button', { name: 'Send' }).click();
};

export const onChat = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };

  t.test('previews an unsaved draft and decides on its tool calls', async (t) => {
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    const asking = {
      id: 'asking',
      model_id: 'default',
      system_prompt: 'Asks',
      plugin_ids: ['permission'],
      sections: { permission: { default_behavior: 'ask', rules: [] } },
    };
    await troupe.call('POST', '/v1/config/agents', asking, headers);
    await go('/agents/asking');
    await page.getByLabel('System prompt').fill('Of the draft');
    const place = sandbox(page);
    const sent = await listen(page);
    await say(place, 'RUN_WEATHER_TOOL');
    await place.getByTestId('sandbox-approval').waitFor();
    const { agent } = Object(await sent());
    t.match(agent, { id: 'asking', system_prompt: 'Of the draft' });
    t.notOk('backend' in agent);
    t.equal(await place.getByText('get_weather').count(), 1);
    await place.getByTestId('sandbox-approval-allow').click();
    await place.getByText('Done', { exact: true }).first().waitFor();
    await place.getByTestId('sandbox-approval-deny').click();
    await place.getByText('Denied', { exact: true }).first().waitFor();
    await page.goto(`${troupe.url}/agents`).catch(() => {});
  });

  t.test('sends one message for a double click, and does not stop its run', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/playground?agent=bench-paced');
    await page.getByPlaceholder('Type a message…').fill('Count');
    await button(page, 'Send').dblclick();
    await button(page, 'Stop').waitFor();
    await button(page, 'Stop').waitFor({ state: 'detached' });
    t.equal(await page.getByText(/^(token ?){200}$/).count(), 1, 'the response is complete');
    t.equal(await page.getByRole('article').getByText('Count', { exact: true }).count(), 1);
  });

  t.test('supersedes a pending call once another message is sent', async (t) => {
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await troupe.call('POST', '/v1/config/agents', { ...ASKS_FIRST, id: 'asks-anew' }, headers);
    await go('/agents/asks-anew');
    const place = sandbox(page);
    for (const id of ['c1', 'c2']) {
      troupe.models.steps.push(asks([id, 'get_weather', { location: 'Rome' }]));
      await say(place, 'How is the weather?');
      await place.getByTestId('sandbox-approval').waitFor();
    }
    await place.getByText('Superseded', { exact: true }).waitFor();
    await place.getByTestId('sandbox-approval-allow').click();
    await place.getByText('Done', { exact: true }).waitFor();
  });

  t.test('shows a response that arrives at once, and restores it after a reload', async (t) => {
    const words = Array.from({ length: 300 }, (_, at) => `word${at}`);
    const saysThem: Inference = async (sink) => {
      for (const word of words) {
        sink.text(`${word} `);
        await setImmediate();
      }
      return { stop: 'EndTurn' };
    };
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    const main = page.locator('main');
    const whole = main.getByText(words.join(' '), { exact: true });
    const isOver = main.getByRole('button', { name: 'Send' });
    for (const path of ['/agents/steps', '/playground?agent=steps']) {
      troupe.models.steps.push(saysThem);
      await go(path);
      await say(main, 'All at once');
      await whole.waitFor();
      await isOver.waitFor();
    }
    // A reader that joins while the response is written receives the text so far in one piece.
    await button(page, 'New thread').click();
    troupe.models.steps.push(async (sink, ...given) => {
      await saysThem(sink, ...given);
      return hangs()(sink, ...given);
    });
    await say(main, 'And go on');
    await whole.waitFor();
    await page.reload();
    await whole.waitFor();
    await button(page, 'Stop').click();
    await isOver.waitFor();
  });

  t.test('scrolls to a failure in a long conversation', async (t) => {
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 }, noisy: true });
    await go('/agents/steps');
    const place = sandbox(page);
    troupe.models.steps.push((sink) => giveAnswer({ text: 'Another line.\n\n'.repeat(40) }, sink));
    await say(place, 'At length');
    await place.getByText('Another line.').last().waitFor();
    await place.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    await page.route('**/agent-previews/runs', async (route) => {
      await place.getByText('Thinking…').waitFor();
      await route.fulfill({ status: 422, json: { error: 'refused by the test' } });
    });
    await say(place, 'And fail');
    const failure = place.getByText('refused by the test');
    await failure.waitFor();
    const endOf = async (part: typeof failure): Promise<number> => {
      const { y, height } = (await part.boundingBox()) ?? { y: Number.NaN, height: 0 };
      return y + height;
    };
    t.ok((await endOf(failure)) <= (await endOf(place.getByLabel('Conversation', { exact: true }))));
  });

  t.test('limits the number and size of attached files', async (t) => {
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go('/agents/default');
    const place = sandbox(page);
    const chooser = place.locator('input[type="file"]');
    const file = (name: string, bytes: number) => ({
      name,
      mimeType: 'text/plain',
      buffer: Buffer.alloc(bytes, 97),
    });
    await chooser.setInputFiles([1, 2, 3, 4, 5].map((n) => file(`${n}.txt`, 1)));
    await place.getByText('at most 4 files').waitFor();
    // Passed as a path, because Playwright sends buffers to the browser as text.
    const large = join(t.testdir(), 'large.txt');
    writeFileSync(large, Buffer.alloc(9 * 1024 * 1024, 97));
    await chooser.setInputFiles(large);
    await place.getByText('may have at most 8.0 MB').waitFor();
    await chooser.setInputFiles([1, 2, 3, 4].map((n) => file(`${n}.txt`, 100)));
    await place.getByTestId('sandbox-selected-files').waitFor();
    const sent = await listen(page);
    await say(place, 'Read these');
    await place.getByText('Scripted response').waitFor();
    const [message] = Object(await sent()).messages;
    const urls = message.parts.flatMap((part: { url?: string }) => part.url ?? []);
    t.equal(urls.length, 4);
    t.match(urls[0], /^data:text\/plain;base64,/);
  });

  t.test('cancels a stopped response and restores a conversation', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/playground?agent=bench-paced');
    await say(page.locator('main'), 'Go on');
    const cancelled = page.waitForRequest((one) => one.method() === 'POST' && one.url().includes('/cancel'));
    await button(page, 'Stop').click();
    await cancelled;
    await button(page, 'Stop').waitFor({ state: 'detached' });
    const { body } = await troupe.call('GET', '/v1/runs/summary', undefined, headers);
    t.match(body, { running: 0 });

    await go('/playground?agent=default');
    await say(page.locator('main'), 'Remember me');
    await page.getByText('Scripted response to: Remember me').waitFor();
    await page.reload();
    await page.getByText('Scripted response to: Remember me').waitFor();
  });

  t.test(
    'limits the policy of the assistant in bytes, and reports a concurrent change of its settings on saving',
    async (t) => {
      const { page, go } = await house.visit(t, { noisy: true });
      await go('/assistant');
      const policy = page.getByLabel('Preferences');
      await policy.fill(`${'é'.repeat(4096)}x`);
      await page.getByText('8,193').waitFor();
      t.equal(await button(page, 'Save').isDisabled(), true);
      await policy.fill('Be brief');
      const { body } = await troupe.call('GET', '/v1/admin/assistant/config', undefined, headers);
      const theirs = { ...body, policy_prompt: 'Of somebody else' };
      t.equal((await troupe.call('PUT', '/v1/admin/assistant/config', theirs, headers)).status, 200);
      await button(page, 'Save').click();
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      await dialog.getByRole('button').last().click();
      await page.getByText('Of somebody else').waitFor();
    },
  );
};
