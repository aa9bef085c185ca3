import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ask, begin, headers, read } from './ask.ts';
import type { House } from './visit.ts';

/** Threads: their conversation, their mailbox and forks. */

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
const toast = (page: Page, text: string) => page.getByRole('alert').getByText(text).first().waitFor();
const talk = (page: Page) => page.getByTestId('thread-conversation').first();

/** More messages than the page keeps in memory. */
const MANY = 10_000;

const messageAt = (seq: number) => ({
  id: `m${seq}`,
  role: seq % 2 === 1 ? 'user' : 'assistant',
  content: [{ type: 'text', text: `Message number ${seq}` }],
  metadata: {},
  seq,
  created_at: 1_700_000_000_000 + seq,
});

/** A page of messages as the service returns it. */
const pageOf = (query: URLSearchParams) => {
  const limit = Number(query.get('limit'));
  const before = Number(query.get('before') ?? MANY + 1);
  const after = Number(query.get('after') ?? 0);
  const isNewestFirst = query.get('order') === 'desc';
  const all = Array.from({ length: Math.max(0, before - after - 1) }, (_, at) => after + 1 + at);
  const found = isNewestFirst ? all.reverse().slice(0, limit) : all.slice(0, limit);
  return { messages: found.map(messageAt), has_more: found.length < all.length, total: MANY };
};

export const onThreads = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const messagesOf = async (id: string) =>
    Object(await read(troupe, `/v1/threads/${id}/messages?limit=100`)).messages;

  t.test('supersedes queued dispatches when the thread is interrupted', async (t) => {
    const { thread_id: id } = await begin(troupe, 'slow', 'First');
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go(`/threads/${id}`);
    await talk(page).getByText('First').waitFor();
    await tab(page, 'Mailbox').click();
    for (const said of ['Second', 'Third']) {
      await page.getByLabel('Send a message to this thread').fill(said);
      await page.keyboard.press('Enter');
      await toast(page, 'The message is queued');
      await button(page, 'Dismiss').first().click();
    }
    await button(page, 'Push work').click();
    await page.getByLabel('Content for the agent').fill('Fourth');
    await button(page, 'Push').click();
    const queue = page.getByRole('region', { name: 'Queue' });
    const queued = queue.locator('[data-testid^="mailbox-row-"][data-status="Queued"]');
    await queued.nth(2).waitFor();
    const rows = await Promise.all((await queued.all()).map((row) => row.getAttribute('data-testid')));
    t.equal(rows.length, 3);
    await page
      .getByRole('region', { name: 'Executing' })
      .getByText(/^lease ends in/)
      .waitFor();
    await button(page, 'Interrupt').click();
    await toast(page, 'Interrupted; 3 dispatches of the queue were superseded');
    for (const row of rows) await page.locator(`[data-testid="${row}"][data-status="Superseded"]`).waitFor();
    t.equal(await queued.count(), 0);
    await button(page, 'Interrupt').waitFor({ state: 'detached' });
  });

  t.test('forks a conversation without changing the original', async (t) => {
    const { thread_id: id } = await ask(troupe, 'echo', 'Blue or red?');
    await ask(troupe, 'echo', 'Then blue', id);
    const before = await messagesOf(id);
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go(`/threads/${id}`);
    await talk(page).getByText('echo: Then blue').waitFor();
    const said = talk(page)
      .locator('li')
      .filter({ has: page.getByText('Then blue', { exact: true }) });
    await said.getByRole('button', { name: 'Fork here' }).click();
    const dialog = page.getByRole('dialog', { name: 'Continue in a fork' });
    await dialog.getByText('It starts with 2 earlier messages').waitFor();
    const question = dialog.getByLabel('New message');
    t.equal(await question.inputValue(), 'Then blue');
    await question.fill('Then red');
    await dialog.getByRole('button', { name: 'Ask in a fork' }).click();
    await page.waitForURL((url) => url.searchParams.get('beside') === id);
    const fork = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await talk(page).getByText('echo: Then red').waitFor();
    await talk(page).getByText('Blue or red?', { exact: true }).waitFor();
    const other = page.getByRole('region', { name: 'Forked from' });
    await other.getByText('echo: Then blue').waitFor();
    t.strictSame(await messagesOf(id), before, 'the original conversation is unchanged');
    t.match(
      (await messagesOf(fork)).map(({ content }: { content: [{ text: string }] }) => content[0].text),
      ['Blue or red?', 'echo: Blue or red?', 'Then red', 'echo: Then red'],
    );

    await button(page, 'Close the other conversation').click();
    await tab(page, 'Forks').click();
    await page.getByRole('tabpanel').locator(`a[href="/threads/${id}"]`).click();
    await page.waitForURL((url) => url.pathname.endsWith(id));
    await tab(page, 'Forks').click();
    await page.getByRole('tabpanel').locator(`a[href^="/threads/${fork}"]`).waitFor();
    await button(page, 'Rename').click();
    await page.getByLabel('Title').fill('Of colours');
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'Of colours' }).waitFor();

    await go(`/threads?parent=${id}`);
    await page.locator(`tbody a[href="/threads/${fork}"]`).waitFor();
    t.equal(await page.locator('tbody tr[data-row]').count(), 1);
    await go(`/threads/${id}`);
    await button(page, 'Delete thread').click();
    await page.getByRole('dialog').getByText('It has 1 child thread:').waitFor();
    await page.getByLabel('Handling of child threads').selectOption('cascade');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await toast(page, 'The thread is deleted');
    await page.waitForURL((url) => url.pathname === '/threads');
    t.equal((await troupe.call('GET', `/v1/threads/${fork}`, undefined, headers)).status, 404);
  });

  t.test('shows the forks of a chat as a tree, and the requests of a run', async (t) => {
    const chat = { ...headers, 'x-conversation-id': 'chat-with-forks' };
    const say = (content: string) => ({ role: 'user', content });
    const complete = (...messages: object[]) =>
      troupe.call('POST', '/v1/chat/completions', { model: 'echo', messages, user: 'oslo' }, chat);
    const first = await complete(say('Blue or red?'));
    const before = [say('Blue or red?'), Object(first.body).choices[0].message];
    const blue = await complete(...before, say('Blue'));
    const red = await complete(...before, say('Red'));
    const [root, fork] = [blue, red].map((answer) => answer.headers.get('x-troupe-thread-id'));
    const { page, go } = await house.visit(t);
    await go(`/threads/${fork}?tab=lineage`);
    const rows = page.getByRole('tabpanel').getByRole('listitem');
    await rows.nth(1).waitFor();
    t.match(await rows.nth(0).getByRole('link').getAttribute('href'), `/threads/${root}`);
    t.match(await rows.nth(1).textContent(), 'this thread · forked after message 2 · echo');
    await go(`/runs/${red.headers.get('x-troupe-run-id')}?tab=requests`);
    await page.getByText(String(Object(red.body).id)).waitFor();
    await page.getByText('"user": "oslo"').waitFor();
  });

  t.test('shows the chart of the run next to the conversation, and leads to the playground', async (t) => {
    const { thread_id: id } = await ask(troupe, 'echo', 'Move');
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go(`/threads/${id}`);
    await page.getByRole('heading', { name: 'Move', exact: true }).waitFor();
    const state = page.getByTestId('thread-chart-state');
    await state.getByText('completed').waitFor();
    await page.getByLabel('Send a message to this thread').fill('Move again');
    await page.keyboard.press('Enter');
    await talk(page).getByText('echo: Move again').waitFor();
    await state.getByText('completed').waitFor();
    await button(page, 'Chart').click();
    await state.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Continue in playground' }).click();
    await page.waitForURL((url) => url.pathname === '/playground' && url.searchParams.get('thread') === id);
    await page.getByText('echo: Move again').waitFor();
  });

  t.test('finds threads by title and words in the service', async (t) => {
    const { thread_id: id } = await ask(troupe, 'echo', 'The delivery of Ms Okafor');
    const { thread_id: other } = await ask(troupe, 'echo', 'Something else');
    const { page, go, asked } = await house.visit(t);
    await go('/threads');
    await page.locator(`tbody a[href="/threads/${other}"]`).waitFor();
    await page.getByRole('searchbox').fill('okafor');
    await page.locator(`tbody a[href="/threads/${other}"]`).waitFor({ state: 'detached' });
    t.equal(await page.locator(`tbody a[href="/threads/${id}"]`).textContent(), 'The delivery of Ms Okafor');
    t.ok(asked.some((each) => /summaries\?q=okafor/.test(each)));
    await page.getByRole('button', { name: `Actions of ${id}` }).click();
    await page.getByRole('menuitem', { name: 'Show its runs' }).click();
    await page.waitForURL((url) => url.pathname === '/runs' && url.searchParams.get('thread') === id);
    await page.locator('tbody tr[data-row]').first().waitFor();
    t.equal(await page.locator('tbody tr[data-row]').count(), 1);
  });

  t.test(
    'reports that another client deleted the open thread, and keeps the text that is being typed in it',
    async (t) => {
      const { thread_id: id } = await ask(troupe, 'echo', 'Not for long');
      const { page, go } = await house.visit(t, { noisy: true });
      await go(`/threads/${id}`);
      await talk(page).getByText('echo: Not for long').waitFor();
      const composer = page.getByLabel('Send a message to this thread');
      await composer.fill('Half a thought');
      await troupe.call('DELETE', `/v1/threads/${id}`, undefined, headers);
      await page.getByText('This thread was deleted').waitFor();
      t.equal(await composer.inputValue(), 'Half a thought');
      t.ok(await button(page, 'Send').isDisabled());
      t.equal(await button(page, 'Delete thread').count(), 0);
      await go('/threads/nowhere');
      await page.getByText('There is no thread nowhere').waitFor();
    },
  );

  t.test('renders only the visible ones of ten thousand messages', async (t) => {
    const { thread_id: id } = await ask(troupe, 'echo', 'The only one');
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await page.route(`**/v1/threads/${id}/messages?*`, (route) =>
      route.fulfill({ json: pageOf(new URL(route.request().url()).searchParams) }),
    );
    await go(`/threads/${id}`);
    await talk(page).getByText(`Message number ${MANY}`, { exact: true }).waitFor();
    const made = () => talk(page).locator(':scope > li').count();
    t.ok((await made()) < 40);
    /** Scrolling to the start reads the previous page and keeps the scroll position. */
    for (let held = 100; held < 400; held += 100) {
      const asked = page.waitForResponse((one) => one.url().includes(`before=${MANY - held + 1}`));
      await page.evaluate(
        `document.querySelector('section[aria-label="Conversation"]').scrollTo({ top: 0 })`,
      );
      await asked;
      await talk(page)
        .getByText(`Message number ${MANY - held + 1}`, { exact: true })
        .waitFor();
    }
    t.ok((await made()) < 40);
  });
};
