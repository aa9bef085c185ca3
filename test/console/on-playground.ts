import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { giveAnswer } from '../../src/models/scripted-answer.ts';
import { asks } from '../service/models.ts';
import { ASKS_FIRST, ask, headers, read } from './ask.ts';
import type { House } from './visit.ts';

/** The playground: the chart next to the conversation, failures, forks, long threads, and the look of answers. */

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const state = (page: Page, text: string | RegExp) =>
  page.getByTestId('thread-chart-state').getByText(text, { exact: true });
const say = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('main').getByPlaceholder('Type a message…').fill(text);
  await page.keyboard.press('Enter');
};

const WIDE = { viewport: { width: 1440, height: 900 } };

/** Each kind of block, in a text that starts from the right. */
const RICH = [
  'مرحبا بالعالم',
  '```ts\nconst answer: number = 42; // why\n```',
  '| item | price |\n|:--|--:|\n| tea | 3 |',
  '![dot](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==)',
].join('\n\n');

/** More messages than the chat reads. */
const MANY = 350;

/** A page of a thread with so many messages. `cursor` is the number of messages after the page. */
const pageOf = (query: URLSearchParams) => {
  const from = Number(query.get('cursor') ?? 0);
  const limit = Number(query.get('limit'));
  const count = Math.min(limit, MANY - from);
  const messages = Array.from({ length: count }, (_, at) => {
    const n = MANY - from - at;
    return {
      id: `m${n}`,
      role: n % 2 ? 'user' : 'assistant',
      parts: [{ type: 'text', text: `Number ${n}` }],
    };
  });
  const next = from + count;
  return { messages, total: MANY, has_more: next < MANY, next_cursor: next < MANY ? String(next) : null };
};

export const onPlayground = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;

  t.test('moves the chart of the run next to the conversation, live and from its log', async (t) => {
    const { page, go } = await house.visit(t, { ...WIDE, moves: true });
    await troupe.call('POST', '/v1/config/agents', { ...ASKS_FIRST, id: 'asks-beside' }, headers);
    await go('/playground?agent=asks-beside');
    await page.getByText('The run moves here when you send a message.').waitFor();
    await page.getByRole('heading', { name: 'Talk to asks-beside' }).waitFor();
    troupe.models.steps.push(asks(['c1', 'get_weather', { location: 'Rome' }]));
    await button(page, 'What can you do?').click();
    await state(page, /^waiting\./).waitFor();
    await page.locator('[data-call="approval"]').waitFor();
    await page.locator('[data-state="waiting"][data-lit]').waitFor();
    await page.getByTestId('sandbox-approval-allow').click();
    await state(page, 'completed').waitFor();
    await page.getByText(/^waited .+ · ran /).waitFor();
    await page.getByTestId('taken-transition').getByText('done').waitFor();
    t.ok(await page.locator('[data-state="completed"][data-lit]').count());
    const small = await page.evaluate(`(() => {
      const svg = document.querySelector('[aria-label="Run"] svg');
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      const sizes = [...svg.querySelectorAll('text')].map((text) => parseFloat(getComputedStyle(text).fontSize));
      return Math.min(...sizes) * scale;
    })()`);
    t.ok(Number(small) >= 9.7, `the smallest text has ${small} pixels`);

    await page.reload();
    await state(page, 'completed').waitFor();
    t.ok((await page.locator('[data-passed]').count()) > 3, 'the log has the path');
    await button(page, 'Chart').click();
    await page.getByTestId('thread-chart-state').waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('What can you do?', { exact: true }).last().waitFor();
    t.equal(await page.getByTestId('thread-chart-state').count(), 0, 'the page remembers it');
    await button(page, 'Chart').click();
    await state(page, 'completed').waitFor();
    await page.getByRole('link', { name: 'Open run' }).click();
    await page.waitForURL('**/runs/*');
  });

  t.test('reports retries, a failure with its provider, a stop, and an unreachable service', async (t) => {
    const { page, go } = await house.visit(t, { ...WIDE, noisy: true });
    await go('/playground?agent=steps');
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    troupe.models.steps.push(
      () => {
        throw new ModelError('provider', 'out of order');
      },
      async (sink) => {
        await released;
        return giveAnswer({ text: 'In order' }, sink);
      },
    );
    await say(page, 'First');
    await page.getByText(/^test: .*out of order · Trying again \(2 of 5\)…/).waitFor();
    release();
    await page.getByText('In order').waitFor();
    await page.getByText(/out of order · Attempt 2 of 5 followed/).waitFor();
    await go('/playground?agent=flaky');
    const { failures } = troupe.models;
    failures.push(new ModelError('unauthorized', 'key rejected'));
    await say(page, 'Second');
    await page.getByText('The model did not answer').waitFor();
    const provider = page.getByRole('link', { name: 'Open provider test' });
    t.equal(await provider.getAttribute('href'), '/providers?edit=test');
    await button(page, 'Try again').click();
    await page.getByText('echo: Second').waitFor();

    await page.route('**/v1/ai-sdk/chat', (route) => route.abort());
    await say(page, 'Third');
    await page.getByText('The service is not reachable').first().waitFor();
    await page.getByText('Third', { exact: true }).waitFor();
    await page.unroute('**/v1/ai-sdk/chat');
    await button(page, 'Try again').click();
    await page.getByText('echo: Third').waitFor();

    await go('/playground?agent=bench-paced');
    await say(page, 'Count');
    await button(page, 'Stop').click();
    await page.getByText(/^Stopped by you after /).waitFor();
  });

  t.test('continues an edited message in a fork, and keeps the conversation', async (t) => {
    const { thread_id: id } = await ask(troupe, 'echo', 'Blue or red?');
    await ask(troupe, 'echo', 'Then blue', id);
    const { page, go } = await house.visit(t, WIDE);
    await go(`/playground?agent=echo&thread=${id}`);
    await page.getByText('echo: Then blue').waitFor();
    const recent = page.getByRole('region', { name: 'Recent threads' });
    await recent.getByRole('button', { name: /^Blue or red\?/, pressed: true }).waitFor();
    await button(page, 'Edit and ask again').last().click();
    await page.getByLabel('Edited message').fill('Then red');
    await button(page, 'Ask in a fork').click();
    await page.getByText('echo: Then red').waitFor();
    const fork = new URL(page.url()).searchParams.get('thread');
    t.not(fork, id);
    await page.getByText('echo: Blue or red?').waitFor();
    await recent.locator(`button[aria-pressed="true"][title="${fork}"]`).waitFor();
    await recent.locator(`button[title="${id}"]`).click();
    await page.getByText('echo: Then blue').waitFor();
    const { messages } = await read(troupe, `/v1/threads/${id}/messages?limit=10`);
    t.match(messages, { length: 4, 3: { content: [{ text: 'echo: Then blue' }] } });
  });

  t.test('loads earlier messages at the start of a long thread, and keeps the position', async (t) => {
    const { thread_id: id } = await ask(troupe, 'echo', 'The only one');
    const { page, go } = await house.visit(t, WIDE);
    await page.route(`**/v1/ai-sdk/threads/${id}/messages?*`, (route) =>
      route.fulfill({ json: pageOf(new URL(route.request().url()).searchParams) }),
    );
    await go(`/playground?agent=echo&thread=${id}`);
    await page.getByText(`Number ${MANY}`, { exact: true }).waitFor();
    await page.getByText(`200 of ${MANY} messages`).waitFor();
    const scroll = `document.querySelector('section[aria-label="Conversation"]').scrollTo({ top: 0 })`;
    await page.evaluate(scroll);
    await page.getByText(`300 of ${MANY} messages`).waitFor();
    t.ok(await page.getByText('Number 151', { exact: true }).isVisible());
    await page.evaluate(scroll);
    await page.getByText(`${MANY} of ${MANY} messages`).waitFor();
    await page.evaluate(scroll);
    await page.getByText('Number 1', { exact: true }).waitFor();
    t.equal(await button(page, 'Load earlier messages').count(), 0);
  });

  t.test('draws code with colors, aligned columns, images and text from the right', async (t) => {
    const { page, go } = await house.visit(t, WIDE);
    await go('/playground?agent=steps');
    troupe.models.steps.push((sink) => giveAnswer({ text: RICH }, sink));
    await say(page, 'Everything');
    await page.locator('.hljs-keyword', { hasText: 'const' }).waitFor();
    const style = (selector: string, of: string) =>
      page.evaluate(
        `getComputedStyle(document.querySelector('article[data-role="assistant"] ${selector}')).${of}`,
      );
    t.equal(await style('td:nth-child(2)', 'textAlign'), 'right');
    t.equal(await style('p', 'direction'), 'rtl', 'an Arabic paragraph starts at the right');
    await page.getByRole('img', { name: 'dot' }).waitFor();
    await button(page, 'Use it in code').click();
    const drawer = page.getByRole('dialog', { name: 'Use it in code' });
    await drawer.getByText(/curl -N/).waitFor();
    await drawer.getByRole('heading', { name: 'Client tools' }).waitFor();
  });
};
