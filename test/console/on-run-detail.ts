import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ADMIN_TOKEN, type Troupe } from '../service/troupe.ts';
import type { House } from './visit.ts';

/** One run: what it does, why it waits, what it was at each moment, and what may be done with it. */

const ASKING = {
  id: 'asks-for-all',
  model_id: 'priced',
  system_prompt: 'Asks',
  plugin_ids: ['permission'],
  max_rounds: 2,
  sections: { permission: { default_behavior: 'ask', rules: [] } },
};

const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** A run that waits for a permission, or has ended. @returns its id */
const runOf = async (troupe: Troupe, agentId: string, content: string): Promise<string> => {
  const response = await fetch(`${troupe.url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agentId, messages: [{ role: 'user', content }] }),
  });
  return /"run_id":"([^"]+)"/.exec(await response.text())?.[1] ?? '';
};

const EVENTS = 4000;
const SAID = 1000;

/** Of a run that calls a tool again and again. */
const eventAt = (at: number) => {
  const isReady = at % 2 === 1;
  const kind = isReady ? 'ToolCallReady' : 'ToolCallDone';
  const [first, last] = [at === 0, at === EVENTS - 1];
  const call = { id: `c${Math.ceil(at / 2)}`, name: 'search', arguments: {}, outcome: 'succeeded' };
  return {
    event_id: `e${at}`,
    event_kind: first ? 'RunQueued' : last ? 'RunFinished' : kind,
    payload: call,
    created_at: 1_700_000_000_000 + at,
    cursors_by_scope: [{ scope: { scope_type: 'run' }, cursor: `${at + 1}` }],
  };
};

const chart = (page: Page, state: string) =>
  page.locator(`[data-testid="run-statechart"][data-state="${state}"]`);
const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

export const onRunDetail = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const priced = {
    id: 'priced',
    provider_id: 'default',
    upstream_model: 'upstream-priced',
    input_token_price_per_million_usd: 1000,
    output_token_price_per_million_usd: 2000,
  };
  await troupe.call('POST', '/v1/config/models', priced, headers);
  await troupe.call('POST', '/v1/config/agents', ASKING, headers);

  t.test('a run that asks is seen waiting, decided, done, and looked back at', async (t) => {
    const id = await runOf(troupe, 'asks-for-all', 'RUN_WEATHER_TOOL');
    const { page, go, asked } = await house.visit(t, { viewport: { width: 1440, height: 1000 } });
    await go(`/runs/${id}`);
    await chart(page, 'waiting').waitFor();
    await page.getByText('Waits for a permission').waitFor();
    await page.evaluate(`{
      const seen = (window.seen = []);
      const chart = document.querySelector('[data-testid="run-statechart"]');
      new MutationObserver(() => seen.push(chart.dataset.path)).observe(chart, { attributes: true });
    }`);
    await button(page, 'Approve').click();
    await chart(page, 'done').waitFor();
    await page.getByText('max_rounds').waitFor();
    // A page that has little time draws some of the states only.
    t.match(
      await page.evaluate('window.seen.join()'),
      /^(running|ending|completed)/,
      'it moved without being asked again',
    );
    t.ok(await page.locator('[data-testid="run-statechart"] [data-passed]').count());

    await tab(page, 'Calls').click();
    const part = page.getByTestId('part-statechart');
    await page
      .getByRole('button', { name: /^get_weather/ })
      .first()
      .click();
    t.equal(await part.getAttribute('data-state'), 'succeeded');
    t.ok(await part.locator('[data-passed]').count(), 'its way is seen in its chart');
    await page.getByRole('button', { name: /^Delivery/ }).click();
    await page.locator('[data-testid="part-statechart"][data-state="acked"]').waitFor();

    await tab(page, 'Events').click();
    await page.getByLabel('Kind').selectOption('MailboxDecisionReceived');
    await page.getByRole('button', { name: /MailboxDecisionReceived/ }).click();
    await chart(page, 'waiting').waitFor();
    await page.getByText('"decision_id"').waitFor();
    await tab(page, 'Conversation').click();
    const messages = page.getByTestId('run-conversation').locator(':scope > li');
    const then = await messages.count();
    const slider = page.getByTestId('time-travel-slider');
    await slider.press('Home');
    await chart(page, 'created').waitFor();
    await button(page, 'Follow live').click();
    await chart(page, 'done').waitFor();
    t.ok((await messages.count()) > then, 'the conversation of a moment ends there');

    await tab(page, 'Usage').click();
    // Two inferences of 10 and 5 tokens: 2 × (10 × 1000 + 5 × 2000) / 1,000,000 USD.
    await page.getByRole('cell', { name: '$0.04' }).first().waitFor();
    await tab(page, 'Timeline').click();
    await page
      .getByTestId('run-timeline')
      .getByRole('button', { name: /^Waits get_weather/ })
      .waitFor();
    await page.waitForLoadState('networkidle');
    const streams = asked.filter((one) => one.includes('/events/stream'));
    t.equal(streams.length, 1, 'one stream, and none any more once the run is done');
  });

  t.test('a log that is cut or that has gone is read on without a gap', async (t) => {
    const id = await runOf(troupe, 'asks-for-all', 'RUN_WEATHER_TOOL');
    const { page, go } = await house.visit(t, { noisy: true });
    let refusals = 0;
    await page.route('**/events/stream*', (route) => {
      refusals += 1;
      if (refusals === 1) return route.abort();
      if (refusals === 2) return route.fulfill({ status: 410, json: { error: 'cursor expired' } });
      return route.continue();
    });
    await go(`/runs/${id}?tab=events`);
    await page.getByText('The service does not keep the older events any more').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const { body } = await troupe.call('GET', `/v1/runs/${id}/events?limit=200`, undefined, headers);
    const before = Object(body).items.length;
    await page.getByText(`${before} events`).waitFor();
    await troupe.call('POST', `/v1/runs/${id}/cancel`, undefined, headers);
    await chart(page, 'done').waitFor();
    await page.getByText('Complete', { exact: true }).waitFor();
    const after = await troupe.call('GET', `/v1/runs/${id}/events?limit=200`, undefined, headers);
    await page.getByText(`${Object(after.body).items.length} events`).waitFor();
    await go('/runs/no-such-run');
    await page.getByText('run not found').waitFor();
  });

  t.test('a page that is opened behind another holds no stream before it is seen', async (t) => {
    const id = await runOf(troupe, 'asks-for-all', 'RUN_WEATHER_TOOL');
    const { page, go, asked, rest } = await house.visit(t);
    const streams = () => asked.filter((one) => /v1.*stream/.test(one));
    const show = (state: string) =>
      page.evaluate(`{
        Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }`);
    await go('/skills');
    await show('hidden');
    await go(`/runs/${id}`);
    await page.getByText('Waits for a permission').waitFor();
    await rest();
    t.strictSame(streams(), []);
    await show('visible');
    await chart(page, 'waiting').waitFor();
    await rest();
    t.equal(streams().length, 2);
    const letGo = Promise.all(
      ['/events/stream', '/actors/stream'].map((path) =>
        page.waitForEvent('requestfailed', (one) => one.url().includes(path)),
      ),
    );
    await show('hidden');
    await letGo;
    await troupe.call('POST', `/v1/runs/${id}/cancel`, undefined, headers);
    await show('visible');
    await chart(page, 'done').waitFor();
  });

  t.test('a run is steered, interrupted, cancelled and asked again', async (t) => {
    const waiting = await runOf(troupe, 'asks-for-all', 'RUN_WEATHER_TOOL');
    const { page, go } = await house.visit(t);
    await go(`/runs/${waiting}`);
    await chart(page, 'waiting').waitFor();
    await page.getByLabel('Why not (optional)').fill('too wet');
    await button(page, 'Refuse').click();
    await chart(page, 'done').waitFor();
    await tab(page, 'Events').click();
    await page.getByLabel('Kind').selectOption('MailboxDecisionReceived');
    await page.getByRole('button', { name: /cancel · too wet/ }).waitFor();

    await button(page, 'Ask again').click();
    const dialog = page.getByRole('dialog');
    t.equal(await dialog.getByLabel('What is asked').inputValue(), 'RUN_WEATHER_TOOL');
    await dialog.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(waiting));
    await chart(page, 'waiting').waitFor();
    await button(page, 'Interrupt thread').click();
    await page.getByText('Interrupted; 0 dispatches').waitFor();
    await chart(page, 'done').waitFor();
  });

  t.test('of a long conversation only what is in view is made, at each moment', async (t) => {
    const id = await runOf(troupe, 'default', 'Hello');
    const { page, go, rest } = await house.visit(t);
    const seqs = Array.from({ length: SAID }, (_, at) => at + 1);
    const committed = (seq: number) => ({
      ...eventAt(seq),
      event_kind: 'MessageCommitted',
      payload: { message_seq: seq },
    });
    const saidAt = (seq: number) => ({
      id: `m${seq}`,
      role: seq % 2 === 1 ? 'assistant' : 'tool',
      content: [{ type: 'text', text: `Said ${seq}` }],
      tool_calls: seq % 2 === 1 ? [{ id: `c${seq}`, name: 'search', arguments: { seq } }] : [],
      seq,
      created_at: seq,
    });
    await page.route(`**/v1/runs/${id}/events?*`, (route) =>
      route.fulfill({ json: { items: [...seqs.map(committed), eventAt(EVENTS - 1)], has_more: false } }),
    );
    await page.route('**/v1/threads/*/messages?*', (route) =>
      route.fulfill({ json: { messages: seqs.map(saidAt), has_more: false } }),
    );
    await go(`/runs/${id}?tab=conversation`);
    const messages = page.getByTestId('run-conversation').locator(':scope > li');
    await messages.first().waitFor();
    t.ok((await messages.count()) < 40);
    const toEnd = async (): Promise<void> => {
      await page.evaluate(`{
        const frame = document.querySelector('[role="tabpanel"] section');
        frame.scrollTo({ top: frame.scrollHeight });
      }`);
      await rest();
    };
    await toEnd();
    await toEnd();
    await page.getByText(`Said ${SAID}`, { exact: true }).waitFor();
    const slider = page.getByTestId('time-travel-slider');
    await slider.press('Home');
    await page.getByText('Said 1', { exact: true }).waitFor();
    t.equal(await messages.count(), 1);
    await slider.press('ArrowRight');
    await page.getByText('Said 2', { exact: true }).waitFor();
    t.equal(await messages.count(), 2);
  });

  t.test('of a run of many events only those in view are made, bars too', async (t) => {
    const id = await runOf(troupe, 'default', 'Hello');
    const { page, go } = await house.visit(t);
    await page.route(`**/v1/runs/${id}/events?*`, (route) => {
      const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
      const items = Array.from({ length: Math.min(200, EVENTS - from) }, (_, at) => eventAt(from + at));
      return route.fulfill({ json: { items, has_more: from + items.length < EVENTS } });
    });
    await go(`/runs/${id}`);
    const bars = page.getByTestId('run-timeline').getByRole('button', { name: /^Tool/ });
    await bars.first().waitFor();
    await page.getByRole('button', { name: 'Follow live' }).waitFor();
    t.ok((await bars.count()) < 60);
    await tab(page, 'Events').click();
    await page.getByText('4,000 events').waitFor();
    const rows = page.getByRole('tabpanel').getByRole('button', { name: /ToolCall/ });
    t.ok((await rows.count()) < 60);
    await page.getByTestId('time-travel-slider').press('End');
    await page.evaluate(`{
      const frame = document.querySelector('[role="tabpanel"] section');
      frame.scrollTo({ top: frame.scrollHeight });
    }`);
    await page
      .getByRole('tabpanel')
      .getByRole('button', { name: /RunFinished/ })
      .waitFor();
    t.ok((await rows.count()) < 60);
  });
};
